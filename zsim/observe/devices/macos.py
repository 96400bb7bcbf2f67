"""Drives as macOS lists them: ``diskutil list``, and ``diskutil info`` of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zsim.observe.devices.identity import Identity
from zsim.observe.texts import plain, whole, with_rest

MOST_DRIVES = 1000
_LISTED = re.compile(
    r"^[ \t]{0,8}/dev/(disk\d{1,4})"
    r"(?: \((?![^)\n]{0,80}(?:synthesized|virtual|disk image))[^)\n]{0,80}\))?:?[ \t\r]*\n"
    r"[ \t]{0,8}#:[^\n]{0,200}\n"
    r"[ \t]{0,8}0:[^\n]{0,120}?\*([\d.,]{1,8} [KMGTPE]?B)[ \t]+\1[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
_INFO = re.compile(
    r"^[ \t]{0,20}Device Identifier:[ \t]{1,40}(disk\d{1,4})[ \t\r]*$", re.MULTILINE | re.ASCII
)
_LINE = re.compile(r"^[ \t]{0,20}([A-Z][\w /]{2,40}):[ \t]{1,60}(\S[^\n]{0,200})$", re.MULTILINE | re.ASCII)
_BYTES = re.compile(r"\((\d{4,20}) Bytes\)", re.ASCII)


def diskutil_drives(text: str) -> Iterator[Identity]:
    """Yield the drives of ``diskutil info``, then those of ``diskutil list``: it tells no model."""
    known = set()
    for found, rest in with_rest(_INFO, text, MOST_DRIVES):
        lines = _LINE.finditer(rest[:6000].split("\n\n\n")[0])
        values = {match[1].strip(): match[2].strip() for match in lines}
        size = next((values[key] for key in ("Disk Size", "Total Size") if key in values), "")
        exact = _BYTES.search(size)
        if exact is None:
            continue
        known.add(found[1])
        yield Identity(
            device=found[1],
            model=plain(values.get("Device / Media Name", "")),
            size=whole(exact[1]),
            rpm=0 if values.get("Solid State") == "Yes" else None,
            source="diskutil info",
        )
    for match in [*_LISTED.finditer(text)][:MOST_DRIVES]:
        size = _decimal(match[2])
        if size and match[1] not in known:
            yield Identity(device=match[1], size=size, rounded=True, source="diskutil list")


def _decimal(text: str) -> int | None:
    """Return a size of powers of 1000, which macOS prints [bytes]."""
    number, _, unit = text.partition(" ")
    power = "KMGTPE".find(unit[:1]) + 1 if len(unit) > 1 else 0
    try:
        return round(float(number.replace(",", ".")) * 1000.0**power)
    except ValueError:
        return None
