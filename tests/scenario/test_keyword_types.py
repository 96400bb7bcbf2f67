"""What users write passes strict type checkers, and the types name every field."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.scenario.asked import scenario_of
from zsim.scenario.model import Scenario

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).parent / "typed" / "user_script.py"


def check_with(
    tool: str, script: Path, tmp_path: Path, python: str = sys.executable, tree: Path | None = ROOT
) -> subprocess.CompletedProcess[str]:
    """Check a script as a user of one Python does; `tree`: where zsim is, None: as installed there."""
    paths = [] if tree is None else [str(tree)]
    flags = {
        "mypy": ("--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache"),
                 "--python-executable", python, str(script)),
        "pyright": ("--pythonpath", python, "--project", str(tmp_path)),
    }  # fmt: skip
    setting = {"typeCheckingMode": "strict", "include": [script.name], "extraPaths": paths}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(setting))
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", tool, *flags[tool]]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path, timeout=300
    )


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_a_users_script_passes_strictly(tool: str, tmp_path: Path) -> None:
    if tool == "pyright":
        pytest.importorskip("pyright")
    script = tmp_path / "user_script.py"
    script.write_text(SCRIPT.read_text())
    found = check_with(tool, script, tmp_path)
    assert found.returncode == 0, found.stdout


@pytest.fixture(scope="module")
def wheel_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a Python that has zsim from a wheel alone, and what it depends on from the one that tests."""
    pytest.importorskip("hatchling")
    place = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "-q")
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(place), str(ROOT))
    subprocess.run(build, check=True, timeout=120)
    (wheel,) = place.glob("zsim-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True)
    python = place / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    inside = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(inside)
    others = [each for each in sys.path if each and Path(each).resolve() != ROOT]
    (inside / "others.pth").write_text("\n".join(others) + "\n")
    return str(python)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_a_users_script_passes_strictly_from_the_wheel(tool: str, wheel_python: str, tmp_path: Path) -> None:
    if tool == "pyright":
        pytest.importorskip("pyright")
    asked = [wheel_python, "-c", "import zsim; print(zsim.__file__)"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout.startswith(str(Path(wheel_python).parents[1])), "zsim is that of the wheel"
    script = tmp_path / "user_script.py"
    script.write_text(SCRIPT.read_text())
    checked = check_with(tool, script, tmp_path, wheel_python, tree=None)
    assert checked.returncode == 0, checked.stdout
    script.write_text("import zsim\n\nzsim.no_such_name\n")
    assert check_with(tool, script, tmp_path, wheel_python, tree=None).returncode != 0


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
    assert scenario.replace(fill="80%").fill == 0.8
    assert scenario.replace(fill=None).fill is None
    with pytest.raises(InputError, match="fill"):
        scenario.replace(fill="180%")
    with pytest.raises(InputError, match=r"fil 0\.5 cannot be used: there is no such field; try fill"):
        scenario.replace(fil=0.5)  # type: ignore[call-arg]
    assert scenario.replaced_by(fill="80%") == scenario.replace(fill="80%")


def test_drives_replaced_are_stated_as_replace_and_read_by_another_name() -> None:
    scenario = Scenario(layout="raidz2x6", replace=2)
    assert scenario.replaced_drives == 2
    assert scenario.stated()["replace"] == 2
    assert Scenario.from_dict(scenario.stated()) == scenario
    assert "replace" in Scenario.json_schema()["properties"]  # type: ignore[operator]
    assert scenario.replace(replace=None).replaced_drives is None
    # So pydantic's own dump has it.
    assert Scenario(layout="raidz2x6", replaced_drives=2) == scenario  # type: ignore[call-arg]


def test_pydantics_way_to_change_is_checked_too() -> None:
    scenario = Scenario(layout="raidz2x6", fill="62%")
    assert scenario.model_copy() == scenario
    assert scenario.model_copy(update={"fill": "80%"}).fill == 0.8
    with pytest.raises(InputError, match="fill"):
        scenario.model_copy(update={"fill": "180%"})


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
    assert scenario_of({"layout": "raidz2x6", "alloc": "1T"}, {"fill": 0.5}) == whole
    with pytest.raises(InputError, match="layout"):
        scenario_of(None, {"fill": 0.5})
    with pytest.raises(InputError, match="layout"):
        scenario_of("raidz2x6", {"layout": "mirror2"})


def test_predict_takes_fields() -> None:
    with pytest.raises(InputError, match="layout"):
        zsim.predict(fill=0.5)
    with pytest.raises(InputError, match="layuot"):
        zsim.predict("mirror2", layuot="raidz2x6")  # type: ignore[call-arg]


WRONG = (5, 1.5, True, b"x", ["mirror2"], ("mirror2",), {1, 2}, object())


NAMES = (
    "predict", "resolve", "risk", "tune", "timeline", "decide", "fleet", "eta", "Layout", "load_drive",
    "load_release",
)  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", NAMES)
def test_what_stands_for_nothing_is_refused_in_a_sentence(name: str, wrong: object) -> None:
    with pytest.raises(zsim.InputError, match=r"cannot be used: .*[.?]$"):
        getattr(zsim, name)(wrong)


def test_other_wrong_types_are_refused_in_a_sentence() -> None:
    for field, asked in (
        ("case", lambda: zsim.validate([5])),  # type: ignore[list-item]
        ("drives", lambda: zsim.plan_layouts(drives="12", drive_size="20GB")),  # type: ignore[arg-type]
        ("spares", lambda: zsim.plan_layouts(drives=12, spares="2")),  # type: ignore[arg-type]
    ):
        with pytest.raises(zsim.InputError, match=f"^{field} .*cannot be used: .*[.?]$"):
            asked()
