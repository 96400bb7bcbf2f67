"""What users write passes strict type checkers, and the types name every field."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.scenario.asked import scenario_of
from zsim.scenario.model import Scenario

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).parent / "typed" / "user_script.py"


def check_with(tool: str, script: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    flags = {
        "mypy": ("--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache"), str(script)),
        "pyright": ("--pythonpath", sys.executable, "--project", str(tmp_path)),
    }
    setting = f'{{"typeCheckingMode": "strict", "include": ["{script}"], "extraPaths": ["{ROOT}"]}}'
    (tmp_path / "pyrightconfig.json").write_text(setting)
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", tool, *flags[tool]]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path, timeout=300
    )


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_a_users_script_passes_strictly(tool: str, tmp_path: Path) -> None:
    if tool == "pyright" and shutil.which("pyright") is None:
        pytest.skip("pyright is not installed")
    script = tmp_path / "user_script.py"
    script.write_text(SCRIPT.read_text())
    found = check_with(tool, script, tmp_path)
    assert found.returncode == 0, found.stdout


@pytest.mark.slow
def test_a_value_of_the_wrong_type_is_found(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(
        'import zsim\n\nzsim.Scenario(layout="raidz2x6", fill=[1])\nzsim.predict(layuot="raidz2x6")\n'
    )
    found = check_with("mypy", script, tmp_path)
    assert "fill" in found.stdout
    assert "layuot" in found.stdout


# Scenarios, changed and asked for.


def test_a_change_is_checked() -> None:
    scenario = Scenario(layout="raidz2x6", fill="62%", drive_size="18TB")
    assert scenario.replaced_by(fill="80%").fill == 0.8
    assert scenario.replaced_by(fill=None).fill is None
    with pytest.raises(InputError, match="fill"):
        scenario.replaced_by(fill="180%")


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is of Python 3.13")
def test_copy_replace_is_checked_too() -> None:
    scenario = Scenario(layout="raidz2x6", fill="62%")
    assert copy.replace(scenario, fill="80%").fill == 0.8  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="fill"):
        copy.replace(scenario, fill="180%")  # type: ignore[attr-defined]


def test_a_scenario_shows_what_is_stated() -> None:
    assert repr(Scenario(layout="raidz2x6", fill="62%")) == "Scenario(layout='raidz2x6', fill=0.62)"
    assert eval(
        repr(Scenario(layout="mirror2", load=["random-read,rate=5"])), {"Scenario": Scenario}
    ) == Scenario(layout="mirror2", load=["random-read,rate=5"])


def test_what_is_asked_may_be_a_layout_a_file_a_scenario_or_fields(tmp_path: Path) -> None:
    whole = Scenario(layout="raidz2x6", fill=0.5)
    whole.write(tmp_path / "pool.toml")
    assert scenario_of("raidz2x6", {"fill": 0.5}) == whole
    assert scenario_of(tmp_path / "pool.toml", {}) == whole
    assert scenario_of(str(tmp_path / "pool.toml"), {"fill": "50%"}) == whole
    assert scenario_of(Scenario(layout="raidz2x6", alloc="1T"), {"fill": 0.5}) == whole
    assert scenario_of(None, {"layout": "raidz2x6", "fill": 0.5}) == whole
    with pytest.raises(InputError, match="layout"):
        scenario_of(None, {"fill": 0.5})
    with pytest.raises(InputError, match="layout"):
        scenario_of("raidz2x6", {"layout": "mirror2"})


def test_predict_takes_fields() -> None:
    with pytest.raises(InputError, match="layout"):
        zsim.predict(fill=0.5)
    with pytest.raises(InputError, match="layuot"):
        zsim.predict("mirror2", layuot="raidz2x6")  # type: ignore[call-arg]
