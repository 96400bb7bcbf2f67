"""What the project says it needs: lower bounds in one place, the versions that were tested in another."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINTERS = {"mypy", "ruff", "scipy-stubs"}
"""What reads the sources, and is no part of a test run."""


def bounds() -> dict[str, str]:
    """Return the lower bound of every dependency of a test run."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = (*project["dependencies"], *project["optional-dependencies"]["test"])
    found = dict(re.match(r"([\w.-]+)>=([\d.]+)", each).groups() for each in asked)  # type: ignore[union-attr]
    return {name: version for name, version in found.items() if name not in LINTERS}


def pinned(path: str) -> dict[str, str]:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_lower_bounds_are_those_that_are_tested() -> None:
    assert pinned("tests/lower-bounds.txt") == bounds()


def test_tested_versions_lie_above_the_lower_bounds() -> None:
    def numbers(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split(".") if part.isdigit())

    tested = {name.lower(): version for name, version in pinned("constraints.txt").items()}
    for name, version in bounds().items():
        assert numbers(tested[name]) >= numbers(version), name


def test_numba_is_bounded_by_what_was_tried() -> None:
    """It compiles from Python bytecode, and is gone into deeply: a release is tried before it is allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (asked,) = [each for each in project["dependencies"] if each.startswith("numba")]
    above = re.search(r"<0\.(\d+)", asked)
    assert above is not None
    tested = int(pinned("constraints.txt")["numba"].split(".")[1])
    assert tested < int(above[1]) <= tested + 2


def test_numba_stands_behind_one_door() -> None:
    package = ROOT / "zsim"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"^\s*(import|from) (numba|llvmlite)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {name for name in found if not name.startswith("base/machine/")} <= {"base/jit.py"}
