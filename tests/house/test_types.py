"""`Any` says nothing: how often the code still says it."""

from __future__ import annotations

import re
from pathlib import Path

import zsim

PACKAGE = Path(zsim.__file__).parent
MOST = 120
"""Words, imports included: it falls with every room that gets real types, and never rises."""
SAID = re.compile(r"\bAny\b")


def test_any_is_said_seldom() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): len(SAID.findall(path.read_text(encoding="utf-8")))
        for path in PACKAGE.rglob("*.py")
        if "_data" not in path.parts
    }
    worst = sorted(((count, name) for name, count in found.items() if count), reverse=True)
    assert sum(found.values()) <= MOST, worst[:10]
