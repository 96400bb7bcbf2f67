"""From a model name to a drive of the catalogue, or the generic one of its series, and its capacity."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.drives.catalogue import load_drive
from zsim.drives.names import (
    FAST,
    NVME,
    SATA_FLASH,
    SHINGLED,
    SLOW,
    bytes_in_name,
    named_drives,
    series_of,
    written_bytes,
)

SLOW_RPM = 6500
NEAR = 0.03
ORDER = (SHINGLED, SLOW, FAST, SATA_FLASH, NVME)
"""From the slowest to the fastest: a stripe waits for the slowest of its drives."""

_FLASH_SIZE = re.compile(
    r"(12(?=T8)|15(?=T3)|30(?=T7)|61(?=T4)|[1-9])T(\d{1,2})(?!\d)|(\d{3,4})G\b|(?<!\d)([1-9]\d?)TB?\b"
)
_FLASH_TB = {"1T9": 1.92, "3T8": 3.84, "7T6": 7.68, "15T3": 15.36, "30T7": 30.72, "61T4": 61.44}
"""Of names that cut the last digit off, as in MZQL23T8HCLS."""
_FLASH_GB = frozenset((1000, 1024, 1600, 1920, 2000, 2048, 3200, 3840, 4000, 4096, 6400, 7680, 8192))
"""Of four digits before a G those that are a capacity; else a series ends in the first of them."""
_VENDOR_WORDS = re.compile(r"^(?:ATA|WDC|HGST|HITACHI|Hitachi|TOSHIBA|SEAGATE|Seagate|HP|DELL)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Model:
    """What the name of a model tells.

    Attributes
    ----------
    name : str
        As printed.
    drive : str or None
        A drive of the catalogue: the model itself, else the generic one of its series.
    known : bool
        Whether the catalogue has the model itself.
    size : int or None
        Capacity [bytes].
    generic : str or None
        The generic drive of its series.
    """

    name: str
    drive: str | None
    known: bool
    size: int | None
    generic: str | None


@functools.lru_cache(maxsize=1024)
def model_of(
    name: str,
    size: int | None = None,
    rpm: int | None = None,
    flash: bool | None = None,
    *,
    nvme: bool = False,
) -> Model:
    """Return what a model's name tells.

    Parameters
    ----------
    name : str
    size : int, optional
        Capacity that the drive itself tells [bytes].
    rpm : int, optional
        Its speed of rotation.
    flash : bool, optional
        Whether it says that it does not rotate.
    nvme : bool
        Whether it is one by its own word, or that of its name.
    """
    words = " ".join(name.split())[:200]
    named = size or size_in_name(words, flash=nvme or bool(flash))
    generic = NVME if nvme else _generic(words, rpm, flash)
    try:
        # A name of a file is none of a drive: nothing a pool prints may open one.
        found = load_drive(words) if words and not words.endswith((".toml", ".json")) else None
    except InputError:
        found = None
    if found is not None and not found.is_generic and _near(found.capacity_bytes, named):
        return Model(words, found.name, True, size or found.capacity_bytes, generic)
    return Model(words, generic, False, named, generic)


def _near(capacity: int, named: int | None) -> bool:
    return named is None or abs(capacity / named - 1) < NEAR


def _generic(words: str, rpm: int | None, flash: bool | None) -> str | None:
    """Return the generic drive by series; by rotation where no series is known or the drive denies it."""
    drives = named_drives(_VENDOR_WORDS.sub("", words))
    series = next((drive.generic for drive in drives), None) or series_of(words)
    if flash:
        return NVME if series == NVME or "nvme" in words.lower() else SATA_FLASH
    if rpm and series != SHINGLED:
        return SLOW if rpm < SLOW_RPM else FAST
    return None if flash is False and series in (NVME, SATA_FLASH) else series


def size_in_name(words: str, *, flash: bool = False) -> int | None:
    """Return the capacity that a model's name holds [bytes]: 4e12 of WD40EFRX, 3.84e12 of MZQL23T8HCLS.

    Parameters
    ----------
    words : str
    flash : bool
        Whether it is known to be a solid-state drive, though its series is not.
    """
    token = next(
        (size for word in words.split() if (size := bytes_in_name(word.partition("-")[0]))), None
    ) or bytes_in_name(words)
    known = flash or series_of(words) in (NVME, SATA_FLASH)
    return token or written_bytes(words) or (_flash_bytes(words) if known else None)


def _flash_bytes(words: str) -> int | None:
    found = _FLASH_SIZE.search(words)
    if found is None:
        return None
    if found[1]:
        return round(_FLASH_TB.get(f"{found[1]}T{found[2]}", float(f"{found[1]}.{found[2]}")) * 1e12)
    # S37240G has 240 GB: a series stands before it.
    if found[3]:
        digits = int(found[3])
        return (digits if digits in _FLASH_GB else digits % 1000) * 10**9
    return int(found[4]) * 10**12


def slowest_of(models: tuple[Model, ...]) -> str | None:
    """Return the generic drive of the slowest of several models."""
    kinds = {model.generic for model in models}
    return next((generic for generic in ORDER if generic in kinds), None)
