"""The package itself: light to import, honest about what it has, provenance of results."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import zsim
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.provenance import code_text_hash, kernel_text_hash, provenance, version

HEAVY = ("numba", "scipy.stats", "pandas", "matplotlib", "numpy", "pydantic", "scipy", "simpy", "rich")


def _loaded_after(code: str) -> set[str]:
    program = f"{code}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout)) & set(HEAVY)


def test_importing_zsim_loads_nothing_heavy() -> None:
    assert _loaded_after("import zsim; zsim.__version__") == set()


def test_a_scenario_needs_pydantic_but_no_compiled_code() -> None:
    code = "import zsim; zsim.Scenario(layout='raidz2x6', fill=0.62).stated()"
    assert _loaded_after(code) <= {"pydantic"}


def test_provenance_needs_no_compiled_code() -> None:
    assert _loaded_after("from zsim.base.provenance import provenance; provenance()") == set()


def test_provenance_hashes_the_rooms_that_are_compiled() -> None:
    from zsim.base import provenance as module
    from zsim.base.machine import kernel_cache

    modules = kernel_cache.kernel_modules(kernel_cache.package_sources())
    rooms = {name.split(".")[1] for name in modules if "." in name}
    assert rooms - {"observe"} <= {"base", *module.KERNEL_ROOMS, *module.OTHER_ROOMS}


def test_every_public_name_exists_where_it_is_said_to_be() -> None:
    from zsim import _EXPORTS

    for name, module in _EXPORTS.items():
        assert hasattr(importlib.import_module(module), name), (module, name)
        assert name in dir(zsim)


def test_names_that_are_not_there_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = zsim.nonsense  # type: ignore[attr-defined]
    assert not hasattr(zsim, "nonsense")


def test_functions_are_functions_and_no_package_bears_their_name() -> None:
    import inspect

    import zsim.prediction.api
    import zsim.validation.api

    assert inspect.isfunction(zsim.predict)
    assert inspect.isfunction(zsim.validate)
    assert not set(dir(zsim)) & {"annotations", "importlib", "TYPE_CHECKING"}


def test_the_docstring_shows_the_pipeline() -> None:
    assert "Scenario ──> Pool population ──> Scan order" in (zsim.__doc__ or "")


def test_provenance_says_what_a_result_depends_on() -> None:
    scenario = zsim.Scenario(layout="mirror2", fill=0.5).stated()
    record = provenance(scenario, seed=3, models=[("releases", "openzfs-2.3"), ("drives", "hd103uj")])
    json.dumps(record)
    assert record["scenario"] == {"layout": "mirror2", "fill": 0.5}
    assert record["seed"] == 3
    assert record["libraries"]["numba"] == version("numba")
    assert record["models"]["releases/openzfs-2.3"] == model_data.model_hash("releases", "openzfs-2.3")
    assert record["kernels"] == kernel_text_hash()
    assert len(record["kernels"]) == 16
    assert version("no-such-distribution") is None
    with pytest.raises(InputError):
        provenance(models=[("drives", "no-such-drive")])


def test_sources_are_read_once_and_numbers_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_text_hash(), kernel_text_hash()
    read: list[str] = []

    def read_bytes(path: Path) -> bytes:
        read.append(path.suffix)
        return b"others"

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert kernel_text_hash() == before[1]
    assert code_text_hash() != before[0]
    assert set(read) == {".toml"}
