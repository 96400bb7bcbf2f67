"""The package itself: light to import, honest about what it has, provenance of results."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

import zsim
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.provenance import kernel_text_hash, provenance, version

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
    from zsim.base import jit
    from zsim.base import provenance as module

    assert module.KERNEL_ROOMS == jit.KERNEL_ROOMS


def test_every_public_name_exists_where_it_is_said_to_be() -> None:
    from zsim import _EXPORTS, _exists

    present = {name: module for name, module in _EXPORTS.items() if _exists(module)}
    assert {"Scenario", "Layout", "InputError", "load_release", "resolve"} <= set(present)
    for name, module in present.items():
        assert hasattr(importlib.import_module(module), name), (module, name)
        assert name in dir(zsim)


def test_names_that_are_not_there_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = zsim.nonsense  # type: ignore[attr-defined]
    assert not hasattr(zsim, "nonsense")


def test_a_room_with_the_name_of_a_function_is_both() -> None:
    import zsim.validation.report.wording
    from zsim.validation.api import validate

    assert callable(zsim.validate)
    assert zsim.validate.__wrapped__ is validate  # type: ignore[attr-defined]
    assert zsim.validation.report.wording.__name__ == "zsim.validation.report.wording"


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
