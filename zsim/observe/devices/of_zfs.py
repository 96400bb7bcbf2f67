"""Drives in the output of ZFS's own commands: columns of ``zpool status -c``, the devid of JSON and zdb."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from zsim.observe.devices.identity import Identity
from zsim.observe.devices.labels import device_of, label_of
from zsim.observe.texts import first_document, nice_bytes, plain, whole, with_rest

MOST_ROWS, MOST_DEPTH = 20_000, 12
_HEADER = re.compile(
    r"^[ \t]{0,40}NAME[ \t]{1,200}STATE[ \t]{1,40}READ[ \t]{1,40}WRITE[ \t]{1,40}CKSUM"
    r"(?P<slow>[ \t]{1,40}SLOW)?[ \t]{2,200}(?P<more>[a-z][^\n]{1,600})$",
    re.MULTILINE,
)
_COUNTS, _SLOW, _MORE = (
    r"[ \t]{0,200}(?P<name>\S{1,300})[ \t]{1,200}[A-Z]{4,8}(?:[ \t]{1,40}[\d.]{1,8}[KMGTPE]?){3}",
    r"[ \t]{1,40}(?:[\d.]{1,8}[KMGTPE]?|-)",
    r"[ \t]{2,200}(?P<more>\S[^\n]{0,600})",
)
_ROWS = {
    False: re.compile(_COUNTS + _MORE, re.ASCII),
    True: re.compile(_COUNTS + _SLOW + _MORE, re.ASCII),
}
"""By whether the header has SLOW: what the first column of a script shows may look like its counter."""
_MAIL = re.compile(
    r"^[ \t]{0,8}vpath: (/dev/\S{2,300})[ \t\r]*\n(?:[ \t]{0,8}v\w{3,5}:[^\n]{0,300}\n){0,4}"
    r"[ \t]{0,8}devid: (\S{4,300})[ \t\r]*$",
    re.MULTILINE,
)
"""Of ZED (zed.d/statechange-notify.sh)."""
_ZDB = re.compile(r"^\s{0,200}path: '([^'\n]{2,300})'\s{1,200}devid: '([^'\n]{4,300})'", re.MULTILINE)


def zpool_columns(text: str) -> Iterator[Identity]:
    """Yield the drives of ``zpool status -c model,size,...``: each has a column, blanks within a cell.

    Scripts and their columns: OpenZFS cmd/zpool/zpool.d; cells stand two blanks apart (print_cmd_columns).
    """
    for header, rest in with_rest(_HEADER, text, 1000):
        columns = re.split(r"[ \t]{1,200}", header["more"].strip())
        for line in rest[1:].split("\n")[:MOST_ROWS]:
            if not line.strip() or len(line) > 1000:
                break
            yield from _row(line, columns, header["slow"] is not None)


def _row(line: str, columns: list[str], slow: bool) -> Iterator[Identity]:
    match = _ROWS[slow].match(line)
    cells = re.split(r"[ \t]{2,200}", match["more"].strip()) if match else []
    if match is None or len(cells) < len(columns):
        return
    values = dict(zip(columns, ("" if cell == "-" else cell for cell in cells), strict=False))
    size = nice_bytes(values.get("size"))
    if not size and not any(values.get(name) for name in ("model", "serial")):
        return
    yield Identity(
        device=device_of(match["name"]),
        model=plain(values.get("model", "")),
        serial=plain(values.get("serial", "")),
        size=size or None,
        rounded=size is not None,
        rpm=0 if values.get("media") == "ssd" else whole(values.get("rotation")),
        source="zpool status -c",
    )


def zfs_devids(text: str) -> Iterator[Identity]:
    """Yield the drives whose devid ``zpool status -j``, ``zdb -C`` or a mail of ZED tells: udev's name."""
    stripped = text.lstrip()
    if stripped.startswith("{"):
        if '"devid"' in stripped:
            yield from _in_json(stripped)
        return
    for match in [*_ZDB.finditer(text)][:MOST_ROWS]:
        yield from _named(match[1], match[2], None, "zdb -C")
    for match in [*_MAIL.finditer(text)][:MOST_ROWS]:
        yield from _named(match[1], match[2], None, "mail of ZED")


def _in_json(text: str) -> Iterator[Identity]:
    for leaf in _leaves(first_document(text), 0):
        space = str(leaf.get("phys_space", ""))
        yield from _named(
            str(leaf.get("name", "")), str(leaf["devid"]), whole(space), "devid of zpool status -j"
        )


def _leaves(data: object, depth: int) -> Iterator[Mapping[str, object]]:
    if not isinstance(data, Mapping) or depth > MOST_DEPTH:
        return
    if isinstance(data.get("devid"), str):
        yield data
    for each in data.values():
        yield from _leaves(each, depth + 1)


def _named(name: str, devid: str, size: int | None, source: str) -> Iterator[Identity]:
    label = label_of(devid)
    if label.model or label.serial or label.wide:
        yield Identity(
            device_of(name),
            plain(label.model),
            plain(label.serial),
            size=size,
            wide=label.wide,
            source=source,
        )
