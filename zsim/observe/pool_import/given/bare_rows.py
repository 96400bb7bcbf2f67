"""Rows of vdevs that stand in a text without the header of their table, and without the row of their pool."""

from __future__ import annotations

import re

from zsim.observe.pool_import.given.pasted_forms import STATES, UNKNOWN
from zsim.observe.zpool.vdev_tree import GROUPS, named_vdev

_HEADER = re.compile(r"^[ \t]{0,12}NAME[ \t]+STATE\b", re.MULTILINE)
_ROW = re.compile(
    rf"^(?P<indent>[ \t]{{0,60}})(?P<name>[\w/%:.-]{{1,255}})[ \t]+(?:{STATES})"
    r"(?:[ \t]+\d[\d.]{0,8}[KMGT]?){3}(?=[ \t]|$)[^\n]{0,300}$",
    re.MULTILINE,
)
_TABLE = "config:\n\nNAME STATE READ WRITE CKSUM\n"


def with_table(text: str) -> str:
    """Return a text with the header of a table, and a row for the pool, before rows of vdevs without them."""
    if _HEADER.search(text):
        return text
    rows = [match for _, match in zip(range(2), _ROW.finditer(text), strict=False)]
    if not rows:
        return text
    pool = "" if _is_pool(*rows) else f"{UNKNOWN} ONLINE 0 0 0\n"
    begin = rows[0].start()
    return f"{text[:begin]}{_TABLE}{pool}{text[begin:]}"


def _is_pool(first: re.Match[str], second: re.Match[str] | None = None) -> bool:
    """Tell whether the first of two rows is that of the pool: the other is a vdev that stands in it."""
    if second is None or named_vdev(first["name"]).kind != "disk":
        return False
    deeper = len(second["indent"].expandtabs(8)) > len(first["indent"].expandtabs(8))
    return deeper or named_vdev(second["name"]).kind in GROUPS
