"""Lists of a host's drives: lsblk, camcontrol, geom, glabel, iostat -En, ls -l /dev/disk/by-id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

from zsim.observe.devices.identity import Identity
from zsim.observe.devices.labels import label_of, wide_digits
from zsim.observe.texts import first_document, nice_bytes, plain, whole, with_rest

MOST_ROWS = 20_000
MOST_TABLES = 1000
MOST_DEPTH = 12
_PAIR = re.compile(r'([A-Z][A-Z0-9:_%-]{1,15})="([^"\n]{0,200})"')
_PAIRS_LINE = re.compile(r'^[ \t]{0,8}[A-Z][A-Z0-9:_%-]{1,15}="[^"\n]{0,200}" .{0,2000}$', re.MULTILINE)
_HEADER = re.compile(
    r"^[ \t]{0,8}(?:K?NAME|PATH)\b"
    r"(?=[^\n]{0,1500}\b(?:MODEL|SERIAL|ROTA|LOG-SEC|PHY-SEC|PARTUUID|MAJ:MIN)\b)[^\n=]{0,2000}$",
    re.MULTILINE,
)
_BLKID = re.compile(
    r'^[ \t]{0,8}/dev/([\w-]{2,40}): [^\n]{0,400}\bPARTUUID="([0-9a-fA-F-]{8,40})"', re.MULTILINE | re.ASCII
)
_LEFT = frozenset((
    "NAME", "KNAME", "PATH", "MODEL", "SERIAL", "WWN", "TYPE", "TRAN", "VENDOR", "STATE", "FSTYPE", "LABEL",
    "UUID", "MOUNTPOINT", "MOUNTPOINTS", "PARTUUID", "PARTLABEL", "HCTL", "REV", "SCHED", "OWNER", "GROUP",
    "MODE", "MAJ:MIN",
))  # fmt: skip
_Columns = list[tuple[str, int, int]]
"""Name, begin and end of each."""
_BRANCHES = "|`├└│"
_TREE = re.compile(r"^[\s|`├└│─-]+")
_CAM = re.compile(
    r"^[ \t]{0,20}<([^>\n]{3,120})>[ \t]{1,60}at [^\n(]{3,80}\(([\w,]{3,60})\)", re.MULTILINE | re.ASCII
)
_ILLUMOS = re.compile(
    r"^(?:(c\d{1,4}\w{2,40})[ \t]+Soft Errors:[^\n]{0,200}\n)?"
    r"Vendor:[ \t]{1,20}(\S{0,20})[ \t]{1,20}Product:[ \t]{1,20}(\S[^\n]{0,40}?)"
    r"[ \t]{1,20}Revision:[ \t]{1,20}\S{0,20}"
    r"(?:[ \t]{1,20}Serial No:[ \t]{1,20}(\S{0,40}))?[^\n]{0,80}"
    r"(?:\n(?:Size|[^\n]{0,80} Size):[ \t]{1,20}[^\n<]{1,40}<(\d{4,20}) bytes>)?",
    re.MULTILINE | re.ASCII,
)
_GEOM = re.compile(r"^Geom name: (\S{1,60})[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"(?:^|\s)(\S{4,200}) -> (?:\.\./){1,3}([\w-]{2,40})[ \t]*$", re.MULTILINE | re.ASCII)
_GLABEL = re.compile(
    r"^[ \t]{0,20}((?:gptid|gpt|label|diskid|ufsid)/\S{1,120})"
    r"[ \t]{1,80}(?:N/A|[A-Z]{2,12})[ \t]{1,40}(\w{3,40})[ \t]*$",
    re.MULTILINE | re.ASCII,
)


def aliases_of(text: str) -> dict[str, str]:
    """Return other names of devices: of ``ls -l /dev/disk/by-id``, ``glabel status``, blkid and lsblk."""
    found = {match[1].rsplit("/", 1)[-1]: match[2] for match in _LINK.finditer(text)}
    found |= {match[1]: match[2] for match in _GLABEL.finditer(text)}
    found |= {match[2]: match[1] for match in _BLKID.finditer(text)}
    return dict(_lsblk_aliases(text)) | found


def _lsblk_aliases(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands on the drives of ``lsblk``: numbers of partitions, names of the device mapper."""
    for drive, cells in _below_drives(text):
        name = _TREE.sub("", cells.get("NAME") or cells.get("KNAME") or cells.get("PATH") or "")
        mapped = name if cells.get("TYPE") in ("crypt", "mpath", "lvm") else ""
        yield from ((each, drive or name) for each in (cells.get("PARTUUID"), mapped) if each)


def _below_drives(text: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the rows of ``lsblk`` below a drive, with the drive; of -P, which shows no tree, all without."""
    stripped = text.lstrip()
    if stripped.startswith("{") and '"blockdevices"' in stripped[:200]:
        for row in _rows_of_json(stripped):
            yield from _children(_cells_of(row)["NAME"], row, 0)
        return
    yield from (("", cells) for cells in _lsblk_pairs(text))
    for columns, lines in _lsblk_tables(text):
        drive = ""
        for line in lines:
            cells = _cells(columns, line)
            if line.strip()[0] in _BRANCHES:
                yield drive, cells
            else:
                drive = cells.get(columns[0][0], "")


def _children(drive: str, row: Mapping[str, object], depth: int) -> Iterator[tuple[str, Mapping[str, str]]]:
    children = row.get("children")
    for child in children if isinstance(children, list) and depth < MOST_DEPTH else ():
        if isinstance(child, Mapping):
            yield drive, _cells_of(child)
            yield from _children(drive, child, depth + 1)


def lsblk_drives(text: str) -> Iterator[Identity]:
    """Yield the whole drives of ``lsblk`` in any of its forms: columns, -P, -J."""
    stripped = text.lstrip()
    if stripped.startswith("{") and '"blockdevices"' in stripped[:200]:
        for row in _rows_of_json(stripped):
            yield from _lsblk_row(_cells_of(row))
        return
    for cells in _lsblk_pairs(text):
        yield from _lsblk_row(cells)
    for columns, lines in _lsblk_tables(text):
        for line in lines:
            if line.strip()[0] not in _BRANCHES:
                yield from _lsblk_row(_cells(columns, line))


def _lsblk_pairs(text: str) -> Iterator[dict[str, str]]:
    for match in _PAIRS_LINE.finditer(text):
        cells = {key.replace("_", "-"): value for key, value in _PAIR.findall(match[0])}
        if "NAME" in cells or "KNAME" in cells or "PATH" in cells:
            yield cells


def _rows_of_json(text: str) -> Iterator[Mapping[str, object]]:
    data = first_document(text)
    rows = data.get("blockdevices") if isinstance(data, Mapping) else None
    yield from (
        row for row in (rows[:MOST_ROWS] if isinstance(rows, list) else ()) if isinstance(row, Mapping)
    )


def _cells_of(row: Mapping[str, object]) -> dict[str, str]:
    return {"NAME": "", **{str(key).upper(): _text(value) for key, value in row.items()}}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value)[:300] if isinstance(value, str | int) else ""


def _lsblk_tables(text: str) -> Iterator[tuple[_Columns, list[str]]]:
    """Yield the columns of each table and its rows; a model has blanks, so cells are found by their place."""
    for header, rest in with_rest(_HEADER, text, MOST_TABLES):
        columns = [(match[0], match.start(), match.end()) for match in re.finditer(r"\S+", header[0])]
        lines = rest[1:].split("\n")[:MOST_ROWS]
        rows = takewhile(lambda line: bool(line.strip()) and len(line) <= 1000, lines)
        yield columns, [line for line in rows if _cells(columns, line).get(columns[0][0])]


def _cells(columns: _Columns, line: str) -> dict[str, str]:
    starts: list[int] = []
    for name, start, end in columns:
        if name in _LEFT:
            starts.append(start)
        else:
            token = re.search(r"\S+$", line[:end]) if len(line) >= end else None
            starts.append(min(token.start(), start) if token else start)
    starts[0] = 0
    ends = [*starts[1:], len(line)]
    return {
        name: line[begin:stop].strip()
        for (name, _, _), begin, stop in zip(columns, starts, ends, strict=True)
    }


def _lsblk_row(cells: Mapping[str, str]) -> Iterator[Identity]:
    name = _TREE.sub("", cells.get("NAME") or cells.get("KNAME") or cells.get("PATH") or "")
    if not name or cells.get("TYPE", "disk") not in ("disk", "") or name.startswith(("loop", "zram", "sr")):
        return
    printed = cells.get("SIZE", "")
    rotates = cells.get("ROTA", "")
    yield Identity(
        device=plain(name.rsplit("/", 1)[-1]),
        model=plain(cells.get("MODEL", "").replace("_", " ")),
        serial=plain(cells.get("SERIAL", "")),
        size=nice_bytes(printed) or None,
        rounded=not printed.isdigit(),
        rpm=0 if rotates == "0" else None,
        logical=whole(cells.get("LOG-SEC")),
        physical=whole(cells.get("PHY-SEC")),
        wide=wide_digits(cells.get("WWN", "")),
        source="lsblk",
    )


def camcontrol_drives(text: str) -> Iterator[Identity]:
    """Yield the drives of ``camcontrol devlist``: ``<WDC WD40EFRX-68W 0A82>  at scbus0 ... (pass0,ada0)``."""
    for match in _CAM.finditer(text):
        device = next((name for name in match[2].split(",") if not name.startswith("pass")), "")
        # The last word is the revision of the firmware.
        model = match[1].rsplit(" ", 1)[0] if " " in match[1].strip() else match[1]
        if device and not device.startswith(("cd", "ses")):
            yield Identity(device, plain(model.removeprefix("ATA ")), source="camcontrol devlist")


def illumos_drives(text: str) -> Iterator[Identity]:
    """Yield the drives of ``iostat -En``, whose first line for each may have been filtered out."""
    for match in _ILLUMOS.finditer(text):
        device = plain(match[1] or "")
        vendor = "" if match[2] in ("", "ATA") else f"{match[2]} "
        yield Identity(
            device,
            plain(vendor + match[3]),
            plain(match[4] or ""),
            size=whole(match[5]) or None,
            wide=label_of(device).wide,
            source="iostat -En",
        )


def geom_drives(text: str) -> Iterator[Identity]:
    """Yield the drives of ``geom disk list``."""
    starts = [*_GEOM.finditer(text)][:MOST_ROWS]
    for match, following in zip(starts, [*starts[1:], None], strict=False):
        body = text[match.end() : following.start() if following else match.end() + 2000]
        values = dict(re.findall(r"^[ \t]{1,8}(\w{3,16}): ([^\n]{0,120})$", body, re.MULTILINE))
        if "Mediasize" not in values and "descr" not in values:
            continue
        rpm = values.get("rotationrate", "")
        yield Identity(
            device=plain(match[1]),
            model=plain(values.get("descr", "").removeprefix("ATA ")),
            serial=plain(values.get("ident", "")).replace("(null)", ""),
            size=whole(values.get("Mediasize", "").split(" ")[0]) or None,
            rpm=whole(rpm),
            logical=whole(values.get("Sectorsize")),
            physical=whole(values.get("Stripesize")) or None,
            wide=wide_digits(values.get("lunid", "")),
            source="geom disk list",
        )
