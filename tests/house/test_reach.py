"""What vdevs and drives are described by is simulated with: every public function there is called by zsim."""

from __future__ import annotations

import ast
from pathlib import Path

import zsim

PACKAGE = Path(zsim.__file__).parent
ROOMS = ("vdevs", "drives")
HELPERS: set[str] = set()
"""For people who read and try things: nothing of zsim calls them."""


def used(tree: ast.Module) -> set[str]:
    """Return the names that a module reads, by themselves or as attributes; imports alone do not count."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_every_public_function_of_vdevs_and_drives_is_reached() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    known = set().union(*(used(tree) for tree in trees.values()))
    public = {
        node.name
        for path, tree in trees.items()
        if path.relative_to(PACKAGE).parts[0] in ROOMS
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert public - known == HELPERS


def test_a_function_that_nobody_calls_would_be_seen() -> None:
    assert "f" not in used(ast.parse("from a import f\ndef f(): pass"))
    assert {"f", "g"} <= used(ast.parse("f(1); a.g"))
