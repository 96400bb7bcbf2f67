"""What a docstring lists is what there is: every parameter of the signature, every field of the record."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import zsim

PACKAGE = Path(zsim.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts)
FREE = {"GroupedCommand"}
"""Passes everything on to a class of click."""
Named = ast.FunctionDef | ast.ClassDef


def listed(node: Named, section: str) -> set[str]:
    """Return the names that a section of a docstring lists; none without it."""
    text = ast.get_docstring(node) or ""
    found = re.search(rf"^{section}\n-+\n(.*?)(?:\n\n[A-Z][\w ]+\n-+|\Z)", text, re.DOTALL | re.MULTILINE)
    lines = found[1].split("\n") if found is not None else []
    heads = (line.split(" : ")[0] for line in lines if line and not line.startswith(" "))
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def nodes() -> Iterator[tuple[str, Named]]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Named) and node.name not in FREE:
                yield f"{path.relative_to(PACKAGE)}: {node.name}", node


def parameters(node: Named) -> set[str] | None:
    """Return the parameters of a function or of a class's `__init__`; None where it has none of its own."""
    if isinstance(node, ast.ClassDef):
        own = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        return parameters(own[0]) if own else None
    given = node.args
    more = [each for each in (given.vararg, given.kwarg) if each is not None]
    every = (*given.posonlyargs, *given.args, *given.kwonlyargs, *more)
    return {each.arg for each in every} - {"self", "cls"}


def fields(node: ast.ClassDef) -> set[str]:
    own = (each for each in node.body if isinstance(each, ast.AnnAssign))
    named = [each.target for each in own if "ClassVar" not in ast.unparse(each.annotation)]
    return {each.id for each in named if isinstance(each, ast.Name) and not each.id.startswith("_")}


def test_parameters_that_are_listed_are_those_of_the_signature() -> None:
    wrong = {}
    for place, node in nodes():
        told, there = listed(node, "Parameters"), parameters(node)
        if told and there is not None and told != there:
            wrong[place] = sorted(told ^ there)
    assert wrong == {}


def test_records_that_list_attributes_list_every_field() -> None:
    wrong = {}
    for place, node in nodes():
        told = listed(node, "Attributes")
        if isinstance(node, ast.ClassDef) and told and (missing := fields(node) - told):
            wrong[place] = sorted(missing)
    assert wrong == {}
