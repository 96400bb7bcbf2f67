"""What texts name is there: modules, functions and fields as ``zsim.a.b``, files by their paths."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"`(zsim(?:\.\w+)+)")
FILE = re.compile(r"(?<![\w/.])(?:zsim|tests|docs|models)/[\w./-]*\.(?:py|md|toml|svg)\b")
EXAMPLES = {
    "models/drives/st6000vn001.toml",
    "models/releases/openzfs-2.5.toml",
    "zsim/observe/pool_import/given/lsmem.py",
    "zsim/observe/traces/sector_log.py",
    "zsim/vdevs/kinds/raid4.py",
}
"""Files that a page says how to write."""


def texts() -> Iterator[tuple[Path, str]]:
    paths = [*(ROOT / "zsim").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    paths += [ROOT / "noxfile.py", *(ROOT / "models").rglob("*.toml")]
    yield from (
        (path, path.read_text(encoding="utf-8"))
        for path in paths
        if path.name != "CHANGELOG.md" and "_data" not in path.parts
    )


def is_there(name: str) -> bool:
    """Tell whether a dotted name is a module, or something of one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        return has(found, parts[count:])
    return False


def has(found: object, parts: list[str]) -> bool:
    for part in parts:
        if part in getattr(found, "__annotations__", {}):  # a field, of which a class has no attribute
            return True
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def test_what_has_a_name_is_there() -> None:
    named = {(name, path.name) for path, text in texts() for name in NAME.findall(text)}
    assert len(named) > 100
    assert {each for each in named if not is_there(each[0])} == set()


def test_files_are_where_they_are_said_to_be() -> None:
    named = {(name, path.name) for path, text in texts() for name in FILE.findall(text)}
    assert len(named) > 100
    assert {each for each in named if not (ROOT / each[0]).exists() and each[0] not in EXAMPLES} == set()


def test_a_name_that_is_gone_is_found() -> None:
    assert is_there("zsim.planning.sweep.sweep")
    assert is_there("zsim.pool.blocks.BlockTable.psize")
    assert not is_there("zsim.planning.sweep.gone")
    assert not is_there("zsim.gone")
