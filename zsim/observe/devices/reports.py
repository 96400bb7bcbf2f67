"""What a drive reports about itself: smartctl, hdparm, sdparm, camcontrol identify, and /sys/block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from zsim.observe.devices.identity import Identity
from zsim.observe.devices.labels import wide_digits
from zsim.observe.texts import first_document, plain, whole, with_rest

MOST_REPORTS = 5000
_LINE = re.compile(
    r"^[ \t]{0,8}([A-Z][A-Za-z0-9 /()-]{2,40}?)(?: is)?:[ \t]{1,40}(\S[^\n]{0,200})$", re.MULTILINE
)
_SMART = re.compile(r"^=== START OF INFORMATION SECTION ===[ \t]*$", re.MULTILINE)
_DEVICE = re.compile(r"/dev/(?:disk/by-id/)?([\w.:-]{2,120})", re.ASCII)
_BYTES = re.compile(r"([\d,.'\u202f ]{4,40}?) ?bytes")
_SECTORS = re.compile(r"(\d{3,5}) bytes(?: logical/physical| logical(?:, (\d{3,5}) bytes physical)?)?")
_SPEED = re.compile(r"(?<![\d.])(\d{1,2}(?:\.\d)?) ?Gb/s")
_CURRENT = re.compile(r"current: (\d{1,2}(?:\.\d)?) ?Gb/s")
_HDPARM = re.compile(r"^(/dev/[\w/.:-]{2,160}):[ \t]*$", re.MULTILINE | re.ASCII)
_SDPARM = re.compile(r"^[ \t]{0,8}/dev/([\w./:-]{2,160}): (\S[^\n]{3,80})$", re.MULTILINE | re.ASCII)
_SYSFS = re.compile(
    r"/sys/block/([\w-]{2,40})/queue/write_cache[: \t]{1,4}(write (?:back|through))", re.ASCII
)
LONGEST_REPORT = 60_000
_PENDING = re.compile(
    r"^[ \t]{0,4}197 Current_Pending_Sector[ \t][^\n]{10,120}?[ \t]-[ \t]{1,12}(\d{1,9})\b",
    re.MULTILINE | re.ASCII,
)
_RECOVERY = re.compile(
    r"SCT Error Recovery Control"
    r"(?: command not supported|:\s{1,40}Read:[ \t]{1,20}(?:Disabled|(\d{1,5}) \())"
)
_OF_SMARTCTL = ('"smartctl"', '"json_format_version"')
"""What stands at the begin of its JSON, the second where a tool has sorted the keys."""
_MODELS = ("Device Model", "Model Number", "Product")
_WIDE = ("LU WWN Device Id", "Logical Unit id", "Namespace 1 IEEE EUI-64")


def smartctl_drives(text: str) -> Iterator[Identity]:
    """Yield the drives of ``smartctl -i`` (or -a, -x), one after the other or as JSON."""
    stripped = text.lstrip()
    if stripped.startswith("{") and any(sign in stripped[:2000] for sign in _OF_SMARTCTL):
        yield from _smartctl_json(stripped)
        return
    before = 0
    for match, rest in with_rest(_SMART, text, MOST_REPORTS):
        body, whole_report = rest[:8000], rest[:LONGEST_REPORT]
        named = _DEVICE.findall(text[max(before, match.start() - 600) : match.start()])
        before = match.end()
        found = _report(dict(reversed(_LINE.findall(body))), named[-1] if named else "", "smartctl")
        yield replace(found, pending=_pending(whole_report), recovery=_recovery(whole_report))


def _pending(report: str) -> int | None:
    found = _PENDING.search(report)
    return int(found[1]) if found else None


def _recovery(report: str) -> float | None:
    """Return the limit that a drive has for reading a sector, which is printed in tenths of a second."""
    found = _RECOVERY.search(report)
    return None if found is None else int(found[1]) / 10.0 if found[1] else 0.0


def _report(values: Mapping[str, str], device: str, source: str) -> Identity:
    model = next((values[key] for key in _MODELS if values.get(key)), "")
    serial = values.get("Serial Number") or values.get("Serial number") or ""
    size = _BYTES.search(values.get("User Capacity") or _nvme_size(values) or "")
    sectors = _SECTORS.search(values.get("Sector Sizes") or values.get("Sector Size") or "")
    rate = values.get("Rotation Rate", "")
    speed = values.get("SATA Version") or values.get("Transport protocol") or ""
    current, limits = _CURRENT.search(speed), _SPEED.findall(speed)
    cache = values.get("Write cache") or values.get("Writeback Cache") or ""
    return Identity(
        device=plain(device),
        model=plain(model),
        serial=plain(serial),
        size=_number(size[1]) if size else None,
        rpm=0 if "Solid" in rate else whole(rate.split(" ")[0]),
        logical=int(sectors[1]) if sectors else None,
        physical=int(sectors[2] or sectors[1]) if sectors else None,
        nvme="NVMe Version" in values or "Total NVM Capacity" in values,
        write_cache={"Enabled": True, "Disabled": False}.get(cache.split(" ")[0].rstrip(",")),
        link=float(current[1]) if current else None,
        link_limit=float(limits[0]) if limits else None,
        wide=wide_digits(next((values[key] for key in _WIDE if values.get(key)), "")),
        source=source,
    )


def _nvme_size(values: Mapping[str, str]) -> str:
    total = values.get("Total NVM Capacity") or values.get("Namespace 1 Size/Capacity") or ""
    return re.sub(r"(\d) ?\[.*", r"\1 bytes", total)


def _number(text: str) -> int | None:
    return whole("".join(sign for sign in text if sign.isdigit())) or None


def _smartctl_json(text: str) -> Iterator[Identity]:
    data = first_document(text)
    if not isinstance(data, Mapping):
        return
    rate, cache = data.get("rotation_rate"), _inner(data, "write_cache", "enabled")
    naa, oui, number = (_whole(_inner(data, "wwn", key), 0) for key in ("naa", "oui", "id"))
    yield Identity(
        device=plain(str(_inner(data, "device", "name") or "").removeprefix("/dev/")),
        model=plain(str(data.get("model_name") or data.get("scsi_model_name") or data.get("product") or "")),
        serial=plain(str(data.get("serial_number") or "")),
        size=_whole(_inner(data, "user_capacity", "bytes")) or _whole(data.get("nvme_total_capacity")),
        rpm=_whole(rate, 0),
        logical=_whole(data.get("logical_block_size")),
        physical=_whole(data.get("physical_block_size")),
        nvme=_inner(data, "device", "protocol") == "NVMe",
        write_cache=cache if isinstance(cache, bool) else None,
        link=_speed(_inner(data, "interface_speed", "current")),
        link_limit=_speed(_inner(data, "interface_speed", "max")),
        pending=_attribute(data, 197),
        recovery=_limit(_inner(data, "ata_sct_erc", "read")),
        wide=wide_digits(f"{naa:x}{oui or 0:06x}{number or 0:09x}") if naa else "",
        source="smartctl -j",
    )


def _attribute(data: Mapping[str, object], number: int) -> int | None:
    """Return the raw value of a SMART attribute; None where it is not told."""
    rows = _inner(data, "ata_smart_attributes", "table")
    found = (row for row in rows if isinstance(row, Mapping)) if isinstance(rows, list) else iter(())
    return next((_whole(_inner(row, "raw", "value"), 0) for row in found if row.get("id") == number), None)


def _limit(read: object) -> float | None:
    if not isinstance(read, Mapping):
        return None
    return (_whole(read.get("deciseconds")) or 0) / 10.0 if read.get("enabled") else 0.0


def _inner(data: Mapping[str, object], *keys: str) -> object:
    found: object = data
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _whole(value: object, least: int = 1) -> int | None:
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 62 else None
    )


def _speed(value: object) -> float | None:
    found = _SPEED.search(str(_inner(value, "string"))) if isinstance(value, Mapping) else None
    return float(found[1]) if found else None


def hdparm_drives(text: str) -> Iterator[Identity]:
    """Yield the drives of ``hdparm -I`` and ``-W``."""
    for match, rest in with_rest(_HDPARM, text, MOST_REPORTS):
        body = rest[:12_000]
        set_to = re.search(r"write-caching =[ \t]*([01]) ", body)
        if set_to is None and "Model Number:" not in body:
            continue
        values = dict(reversed(_LINE.findall(body.replace("\t", " "))))
        listed = re.search(r"^([ \t*]{1,16})Write cache[ \t]*$", body, re.MULTILINE)
        cache = set_to[1] == "1" if set_to else "*" in listed[1] if listed else None
        size = re.search(r"device size with M = 1000\*1000:[ \t]*(\d{3,12}) MBytes", body)
        yield Identity(
            device=plain(match[1].rsplit("/", 1)[-1]),
            model=plain(values.get("Model Number", "")),
            serial=plain(values.get("Serial Number", "")),
            size=int(size[1]) * 10**6 if size else None,
            rounded=size is not None,
            rpm=whole(values.get("Nominal Media Rotation Rate")),
            write_cache=cache,
            source="hdparm",
        )


def sdparm_drives(text: str) -> Iterator[Identity]:
    """Yield the write caches that ``sdparm --get WCE`` shows."""
    starts = [*_SDPARM.finditer(text)][:MOST_REPORTS]
    for match, following in zip(starts, [*starts[1:], None], strict=False):
        body = text[match.end() : following.start() if following else match.end() + 4000]
        cache = re.search(r"^[ \t]{0,8}WCE[ \t:]{1,20}([01])\b", body, re.MULTILINE)
        if cache is not None:
            words = match[2].removeprefix("ATA").split()
            yield Identity(
                plain(match[1].rsplit("/", 1)[-1]), plain(" ".join(words[:-1])),
                write_cache=cache[1] == "1", source="sdparm",
            )  # fmt: skip


def sysfs_drives(text: str) -> Iterator[Identity]:
    """Yield the write caches of ``grep . /sys/block/*/queue/write_cache``."""
    for match in _SYSFS.finditer(text):
        yield Identity(match[1], write_cache=match[2] == "write back", source="/sys/block")
