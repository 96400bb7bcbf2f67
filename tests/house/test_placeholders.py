"""Texts: what stands in braces and names something of the module is filled in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import zsim

PACKAGE = Path(zsim.__file__).parent
NAMED = re.compile(r"\{([A-Za-z_]\w*)")


def forgotten(tree: ast.Module) -> Iterator[str]:
    """Yield the texts without an f before them in which a name of the module stands in braces."""
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    names |= {alias.asname or alias.name for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)
              for alias in each.names}  # fmt: skip
    parts = {id(part) for each in ast.walk(tree) if isinstance(each, ast.JoinedStr) for part in each.values}
    parts |= {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        plain = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        if plain and any(name.isupper() and name in names for name in NAMED.findall(node.value)):
            yield node.value


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()))
def test_no_placeholder_is_printed(room: str) -> None:
    texts = [
        f"{path.relative_to(PACKAGE)}: {text}"
        for path in (PACKAGE / room).rglob("*.py")
        for text in forgotten(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert texts == []


def test_a_forgotten_f_is_found() -> None:
    tree = ast.parse('LIMIT = 3\nsaid = ("at most " "{LIMIT:g} times")\nfine = f"{LIMIT} {{LIMIT}}"\n')
    assert list(forgotten(tree)) == ["at most {LIMIT:g} times"]
