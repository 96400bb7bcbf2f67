"""A public class is named once: a name that is read or searched for means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import zsim

PACKAGE = Path(zsim.__file__).parent


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert places
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
