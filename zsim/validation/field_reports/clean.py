"""Reported values in one form: numbers in SI units.

Numbers come as numbers, as text with a unit ("3.64T", "4 TB", "62%") or not at all; a number that cannot be
what its column says is refused with its name, never guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from zsim.base.errors import InputError
from zsim.base.units import parse_bytes

Row = Mapping[str, object]

SIZES = ("drive_bytes", "alloc_bytes", "pool_size_bytes", "resilvered_bytes", "scanned_bytes")
COUNTS = ("n_vdevs", "replaced_drives")
LEAST_DRIVE, MOST_BYTES, MOST_COUNT = 1e9, 1e19, 10_000


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
