"""The nomenclature holds every term of the simulator: the names of its public classes are made of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "nomenclature.md"
ROOMS = ("case", "engine", "operation", "prediction", "planning")
NOT_TERMS = ("Error", "Interrupted")
"""Ends of the names of exceptions, which say themselves what they are."""


def terms() -> list[str]:
    """Return the terms of the page: what stands in the first column of its tables, at the commas."""
    rows = re.findall(r"^\| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [term for row in rows for term in row.replace("`", "").lower().split(", ") if term.strip("- ")]


def words_of(name: str) -> list[str]:
    """Return the words of a class name, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z][a-z0-9]*", name)]


def singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


def is_known(name: str, known: set[str]) -> bool:
    """Tell whether a name, or what its last words name, is a term."""
    words = words_of(name)
    ends = (words[start:] for start in range(len(words)))
    return any(" ".join(each) in known for end in ends for each in (end, [*end[:-1], singular(end[-1])]))


def classes(room: str) -> Iterator[str]:
    for path in sorted((ROOT / "zsim" / room).rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name


@pytest.mark.parametrize("room", ROOMS)
def test_public_classes_are_named_by_terms(room: str) -> None:
    known = set(terms())
    names = [name for name in classes(room) if not name.endswith(NOT_TERMS)]
    assert names
    missing = [name for name in names if not is_known(name, known)]
    assert not missing, f"no entry in {PAGE.name}: {', '.join(missing)}"


def test_a_name_of_no_term_is_found() -> None:
    assert is_known("SampledRun", {"run"})
    assert is_known("TileQueues", {"queue"})
    assert not is_known("RunThing", {"run"})


def test_a_term_has_one_row_in_a_table() -> None:
    for table in PAGE.read_text(encoding="utf-8").split("\n#"):
        found = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        assert len(found) == len(set(found))
