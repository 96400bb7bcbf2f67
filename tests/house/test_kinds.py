"""What a kind of vdev is stands in one file: nothing else asks which kind it has before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import zsim
from zsim.vdevs.kind import KINDS_PACKAGE, kinds

PACKAGE = Path(zsim.__file__).parent
# Where people's own words for layouts are read, and where files of vectors of two kinds are checked.
MAY_NAME_KINDS = {
    "observe/pool_import/given/other_languages.py",
    "validation/field_reports/layout_words.py",
    "validation/formats/geometry.py",
}
MAPS = {f"zsim.vdevs.{name}" for name in ("raidz", "draid", "permutations")}
MODULES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text())
    for path in sorted(PACKAGE.rglob("*.py"))
    if "_data" not in path.parts and path.relative_to(PACKAGE).parts[0] != "vdevs"
}


def passed_over(tree: ast.Module) -> set[int]:
    """Docstrings and annotations: they decide nothing."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            found |= {id(node.value)}
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            found |= {id(each) for each in ast.walk(part)} if isinstance(part, ast.AST) else set()
    return found


def named_kinds(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of whatever names a kind: a string, a constant such as KIND_RAIDZ, its map."""
    left_out = passed_over(tree)
    constants = {f"{before}{name.upper()}" for name in kinds() for before in ("", "KIND_", "IS_")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in kinds() and id(node) not in left_out:
            yield node.lineno, repr(node.value)
        elif isinstance(node, ast.Name) and node.id in constants:
            yield node.lineno, node.id
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
            for module in modules:
                if module in MAPS or module.startswith(f"{KINDS_PACKAGE}."):
                    yield node.lineno, module


@pytest.mark.parametrize("name", sorted(MODULES.keys() - MAY_NAME_KINDS))
def test_no_kind_is_named(name: str) -> None:
    found = [f"line {line}: {text}" for line, text in named_kinds(MODULES[name])]
    assert not found, f"ask `zsim.vdevs.kind.kind_of` instead: {found}"


@pytest.mark.parametrize("name", sorted(MAY_NAME_KINDS))
def test_who_may_name_kinds_does(name: str) -> None:
    assert len(MAY_NAME_KINDS) <= 3
    assert list(named_kinds(MODULES[name]))


@pytest.mark.parametrize(
    "text",
    [
        'if vdev.kind == "mirror": pass',
        'x = {"raidz": 1}[spec.kind]',
        'y = kind in ("draid",)',
        "z = vdev.kind == KIND_RAIDZ",
        "from zsim.vdevs import draid",
        'name.startswith("mirror")',
    ],
)
def test_a_branch_would_be_seen(text: str) -> None:
    assert list(named_kinds(ast.parse(text)))
