"""What people write in rows, in one form: numbers in SI units, and layouts as zsim reads them.

Numbers come as numbers, as text with a unit ("3.64T", "4 TB", "62%") or not at all; a number that cannot be
what its column says is refused with its name, never guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from zsim.base.errors import InputError
from zsim.base.units import parse_bytes
from zsim.validation.field_reports.layouts import single_text

Row = Mapping[str, object]

SIZES = ("drive_bytes", "alloc_bytes", "pool_size_bytes", "resilvered_bytes", "scanned_bytes")
COUNTS = ("n_vdevs", "replaced_drives")
LEAST_DRIVE, MOST_BYTES, MOST_COUNT = 1e9, 1e19, 10_000
OTHER_VDEVS = re.compile(
    r"^\W*(?:\d+\s*[*x]?\s*)?(?:special|log|slog|cache|l2arc|spare|hot.?spare|dedup)s?\b"
)
BETWEEN_VDEVS = re.compile(r"\+|[,;](?![^(]*\))|\band\b(?![^(]*\))")
VDEV = re.compile(r"\braid-?z-?([123])?(?![\d:])|\bz([123])\b|\bmirrors?(?=\d|\b)")
WIDTH = re.compile(
    r"\b(\d+)[ -]*(?:wide|way|drives?|disks?|devices?)\b|\(\s*(\d+)\s*\)|\bwidth[ =]*(\d+)"
    r"|\b(\d+) ?x ?[\d.]+ ?[tg]b\b"
)


def clean(row: Row) -> dict[str, object]:
    """Return a row with numbers as numbers, and nothing where it says nothing.

    Parameters
    ----------
    row : Mapping
        One line of the observed rows.

    Raises
    ------
    InputError
        When a number is not what its column says.
    """
    found = {key: None if value in ("", "null", "unknown", "n/a") else value for key, value in row.items()}
    for key in SIZES:
        found[key] = size_of(key, found.get(key))
    for key in COUNTS:
        found[key] = count_of(key, found.get(key))
    found["rpm"] = speed_of(found.get("rpm"))
    found["fill_fraction"] = share_of("fill_fraction", found.get("fill_fraction"), 1.0)
    found["frag_percent"] = share_of("frag_percent", found.get("frag_percent"), 100.0)
    size = found["drive_bytes"]
    if isinstance(size, int | float) and size < LEAST_DRIVE:
        raise InputError("drive_bytes", size, "a drive has at least 1e9 bytes", "give the size in bytes")
    return found


def size_of(key: str, value: object) -> int | None:
    """Return a size [bytes]; text may have a unit, of 1000 for a drive and of 1024 for all else."""
    if value is None:
        return None
    vendor = (
        re.fullmatch(r"\s*([\d.]+)\s*([tg])b?\s*", value, re.IGNORECASE) if isinstance(value, str) else None
    )
    if vendor and key == "drive_bytes":
        return round(_number(key, vendor[1]) * (1e12 if vendor[2] in "tT" else 1e9)) or None
    plain = isinstance(value, str) and not re.fullmatch(r"[\d.]+(e\d+)?", value.strip())
    number = parse_bytes(str(value), key) if plain else _number(key, value)
    if not 0 <= number <= MOST_BYTES:
        raise InputError(key, value, "a size is between 0 and 1e19 bytes", "give it in bytes")
    return round(number) or None


def count_of(key: str, value: object) -> int | None:
    """Return a whole number of things from 1 on; 0 tells as little as nothing."""
    if value is None:
        return None
    number = _number(key, value)
    if number != int(number) or not 0 <= number <= MOST_COUNT:
        raise InputError(
            key, value, f"it is a whole number from 1 to {MOST_COUNT}", "leave it out if unknown"
        )
    return int(number) or None


def speed_of(value: object) -> float | None:
    """Return the speed of rotation [1/min]; text may say "7200 rpm"."""
    if value is None:
        return None
    text = re.match(r"\s*(\d+)", value) if isinstance(value, str) else None
    number = float(text[1]) if text else _number("rpm", value)
    return number if number >= 1000.0 else None


def share_of(key: str, value: object, whole: float) -> float | None:
    """Return a share of `whole`; a percentage where one of 1 is wanted is taken as such."""
    if value is None:
        return None
    text = value.strip().rstrip("%") if isinstance(value, str) else value
    number = _number(key, text)
    if whole == 1.0 and 1.0 < number <= 100.0:
        number /= 100.0
    if not 0.0 <= number <= whole:
        raise InputError(key, value, f"it is a number from 0 to {whole:g}", "leave it out if unknown")
    return number


def _number(key: str, value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(key, value, "it is a number", "leave it out if unknown")
    return number


def layout_text(stated: object) -> str:
    """Return a layout in zsim's words, from one as people write it.

    ``mirror`` alone is of two drives, ``3-way mirror`` of three, ``raidz`` is raidz1; ``6-wide raidz2``,
    ``raidz2 (6 drives)``, ``raidz2-6`` and ``raidz2 x 6`` are raidz2x6; ``2x raidz2x6`` and
    ``2 vdevs of raidz2x6`` are two of them.  Special, log, cache and spare vdevs are left out: they hold
    little of what is scanned.  What is not understood is left to `Layout.parse`, which refuses it.
    """
    text = str(stated).lower().replace("\u00d7", "x").replace("draid*", "draid2")
    if "draid" in text:
        counted = re.search(r"\((\d+) (?:drives|children), (\d+) spares?\)", text)
        bare = re.sub(r"\(.*?\)", "", text).strip()
        return f"{bare}:{counted[1]}c:{counted[2]}s" if counted and ":" not in bare else bare
    parts: list[str] = []
    for part in BETWEEN_VDEVS.split(text):
        if OTHER_VDEVS.match(part) or not part.strip():
            continue
        if parts and not VDEV.search(part) and WIDTH.search(part):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
    return "+".join(_vdev_text(part) for part in parts) if parts else text


def _vdev_text(part: str) -> str:
    """Return one vdev, or a number of equal ones."""
    kind = VDEV.search(part)
    if kind is None and (single := single_text(part)) is not None:
        return single
    if kind is None:
        return re.sub(r"\(.*?\)", "", part).strip()
    name = "mirror" if "mirror" in kind[0] else f"raidz{kind[1] or kind[2] or 1}"
    plain = re.sub(r"\(.*?\)", " ", part[kind.end() :])
    joined = re.match(r"(?:\s*[x_-]\s*|\s*)(\d+)\b(?!\s*-?\s*way)(?:\s*[x*]\s*(\d+)\b)?", plain)
    wide, times = (joined[1], joined[2]) if joined else (None, None)
    if name == "mirror" and joined and not plain[:1].isdigit():
        wide, times = None, joined[1]
    said = WIDTH.search(part[: kind.start()]) or WIDTH.search(part[kind.end() :])
    if wide is None and said is not None:
        wide = next(group for group in said.groups() if group)
    before = re.match(r"\s*(\d+)\s*(?:[x*]|vdevs?(?: of)?)?\s*$", part[: kind.start()])
    times = times or (before[1] if before else None)
    wide = wide or ("2" if name == "mirror" else None)
    one = name if wide is None else f"{name}{'' if name == 'mirror' else 'x'}{wide}"
    return f"{times}*{one}" if times else one
