"""Numbers that predictions choose, or that were fitted for them, stand in models/prediction."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import zsim
from tests.sourced import unsourced_numbers
from zsim.base import constants as numbers
from zsim.base import model_data
from zsim.base.errors import InputError

ROOM = Path(zsim.__file__).parent / "prediction"
DRAWN = {"answer/drawing.py", "answer/panels.py"}
"""Pictures: their numbers are sizes and shades."""
FILES = sorted(numbers.directory().glob("*.toml"))
# What nobody chose by looking at results: formats, seeds and their steps, quantiles, facts of ZFS, mechanics.
NOT_CHOSEN = {
    "SCHEMA_VERSION", "TEXT_WIDTH", "MAX_POINTS", "POINTS", "Share",
    "SEED_STEP", "BATCH_STEP", "DRAW_SEED", "PHASE_STEP",
    "SHARES", "PART", "KERNEL",
    "LOGICAL_SECTOR", "LARGEST_LOG_BLOCK", "LOG_HEADER", "LARGEST_OLD_RECORD", "MOST_COPIES", "LEAST_RATE",
    "TILES", "_NONE", "FILLS", "BINARY", "GAP", "EASY", "_CHOICES", "LINES", "STRONGEST", "LONGEST_WARNING",
}  # fmt: skip


def bare_numbers(tree: ast.Module) -> set[str]:
    """Names bound at module level to an expression with a number in it."""
    found: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        pairs = (
            list(zip(target.elts, node.value.elts, strict=True))
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            else [(target, node.value)]
        )
        for name, value in pairs:
            numbers_in = [each for each in ast.walk(value) if isinstance(each, ast.Constant)]
            if any(type(each.value) in (int, float) for each in numbers_in):
                found.add(ast.unparse(name))
    return found


@pytest.mark.parametrize("path", sorted(ROOM.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOM)))
def test_no_number_is_chosen_in_the_code(path: Path) -> None:
    drawn = path.relative_to(ROOM).as_posix() in DRAWN
    assert drawn or bare_numbers(ast.parse(path.read_text())) <= NOT_CHOSEN, "move it to models/prediction"


def asked_for() -> set[str]:
    """Return the names that the code asks for."""
    return {
        node.args[0].value
        for path in ROOM.parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"constant", "whole_constant"}
        and isinstance(node.args[0], ast.Constant)
    }


def test_every_number_of_the_files_is_used_and_has_a_source() -> None:
    there = set()
    for path in FILES:
        data = model_data.load_toml(path)
        assert unsourced_numbers(data) == []
        there |= {f"{path.stem}.{key}" for key in data}
    assert there == asked_for()


def test_a_missing_number_is_refused_by_file_and_name() -> None:
    with pytest.raises(InputError, match=r"statistics\.toml: nonsense"):
        numbers.constant("statistics.nonsense")
    with pytest.raises(TypeError, match="no whole number"):
        numbers.whole_constant("statistics.noise")


def test_a_number_chosen_in_the_code_would_be_seen() -> None:
    assert bare_numbers(ast.parse("A, B = 0.07, constant('x.y')\nC = 1 << 20")) == {"A", "C"}
