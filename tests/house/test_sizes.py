"""Folders hold about a dozen files and files a few hundred lines, so that one look shows what is there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import zsim

PACKAGE = Path(zsim.__file__).parent
TESTS = Path(__file__).parents[1]
FILES = [path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts]
MOST_FILES, MOST_LINES = 16, 600


@pytest.mark.parametrize("root", [PACKAGE, TESTS], ids=["zsim", "tests"])
def test_no_folder_is_a_heap(root: Path) -> None:
    paths = (path for path in root.rglob("*.py") if path.stem != "__init__" and "_data" not in path.parts)
    count = Counter(path.parent.relative_to(root).as_posix() for path in paths)
    assert {folder: files for folder, files in count.items() if files > MOST_FILES} == {}


def test_no_file_is_a_book() -> None:
    lines = {path.relative_to(PACKAGE).as_posix(): path.read_text().count("\n") for path in FILES}
    assert {name: length for name, length in lines.items() if length > MOST_LINES} == {}
