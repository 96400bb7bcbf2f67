"""The drive models of ``models/drives``: found by name, read and checked.

A drive file has one table a number (``value``, ``unit``, ``kind``, ``source``, and ``uncertainty`` where it
is an estimate); what becomes of them is `zsim.drives.models.model`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from pathlib import Path, PurePath

from zsim.base import model_data
from zsim.base.errors import InputError, check_kind
from zsim.base.parsed import rows, table, texts
from zsim.base.reading import understood
from zsim.drives.models.model import DriveModel, DriveQuantity
from zsim.drives.models.parameters import MAX_ZONES

UNITS: dict[str, tuple[str, float]] = {
    "capacity": ("B", 1), "rotation": ("rpm", 1), "outer_rate": ("MB/s", 1e6), "inner_rate": ("MB/s", 1e6),
    "zones": ("1", 1), "seek_track": ("ms", 1e-3), "seek_average": ("ms", 1e-3), "seek_full": ("ms", 1e-3),
    "seek_knee": ("1", 1), "write_settle": ("ms", 1e-3), "read_overhead": ("ms", 1e-3),
    "write_overhead": ("ms", 1e-3), "queue_depth": ("commands", 1), "queue_max_age": ("s", 1),
    "cache": ("MiB", 2**20), "write_cache": ("MiB", 2**20), "read_ahead": ("KiB", 1024),
    "interface_rate": ("MB/s", 1e6), "logical_sector": ("B", 1),
    "physical_sector": ("B", 1), "density_exponent": ("1", 1), "density_rate": ("MB/s", 1e6),
    "persistent_cache": ("GB", 1e9),
    "cached_writes": ("writes", 1), "cached_extents": ("extents", 1),
    "band": ("MiB", 2**20), "idle_before_cleaning": ("s", 1), "read_rate": ("MB/s", 1e6),
    "write_rate": ("MB/s", 1e6), "read_latency": ("us", 1e-6), "write_latency": ("us", 1e-6),
    "parallel_commands": ("1", 1), "slc_cache": ("GB", 1e9), "write_rate_after_cache": ("MB/s", 1e6),
    "mean_rate": ("MB/s", 1e6), "write_outer_rate": ("MB/s", 1e6), "write_mean_rate": ("MB/s", 1e6),
    "access_time": ("ms", 1e-3), "random_read_iops": ("1/s", 1), "random_write_iops": ("1/s", 1),
    "self_test": ("min", 60),
}  # fmt: skip
"""Unit of each number of a drive file, and its value in SI."""

WHOLE = frozenset((
    "zones", "queue_depth", "parallel_commands", "logical_sector", "physical_sector", "cached_writes",
    "cached_extents",
))  # fmt: skip
"""Numbers that count something."""
LIMITS: dict[str, tuple[float, float]] = {
    "capacity": (1e9, 1e16), "rotation": (1000, 50_000), "outer_rate": (0.1, 10_000),
    "inner_rate": (0.1, 10_000), "seek_track": (0, 1000), "seek_average": (0.01, 1000),
    "seek_full": (0.01, 1000), "write_settle": (0, 1000), "read_overhead": (0, 1000),
    "write_overhead": (0, 1000), "queue_depth": (1, 65_536), "queue_max_age": (1e-3, 1e6),
    "cache": (0, 1e6), "read_ahead": (0, 1e6), "interface_rate": (1, 1e6), "logical_sector": (512, 1 << 16),
    "physical_sector": (512, 1 << 16), "cached_writes": (1, 1e9), "cached_extents": (1, 1e6),
    "band": (1, 65_536), "idle_before_cleaning": (1e-3, 1e6), "read_rate": (1, 1e6), "write_rate": (1, 1e6),
    "read_latency": (0.01, 1e6), "write_latency": (0.01, 1e6), "parallel_commands": (1, 4096),
    "write_rate_after_cache": (0.1, 1e6),
}  # fmt: skip
"""What is allowed at least and at most, in the units of `UNITS`: beyond these a number is a slip."""

SHARED = ("capacity", "queue_depth", "interface_rate", "logical_sector", "physical_sector")
MECHANICAL = (
    *SHARED, "rotation", "outer_rate", "inner_rate", "zones", "seek_track", "seek_average", "seek_full",
    "seek_knee", "write_settle", "read_overhead", "write_overhead", "queue_max_age", "cache", "write_cache",
    "cached_extents", "read_ahead",
)  # fmt: skip
FLASH = (*SHARED, "read_rate", "write_rate", "read_latency", "write_latency", "parallel_commands")
SHORTEST_PART = 6  # letters of an alias that is found inside a longer name
SMR = ("persistent_cache", "cached_writes", "band", "idle_before_cleaning")


def list_drives() -> tuple[str, ...]:
    """Return the names of the drives in the catalogue, sorted."""
    return model_data.names("drives")


def load_drive(name: str | Path) -> DriveModel:
    """Return a drive of the catalogue, or the one of a file.

    Parameters
    ----------
    name : str or Path
        Name (``hd103uj``), alias or model code as smartctl prints it (``ST5000DM000-1FK178``), or the path
        of a drive file (``.toml``) or of a DiskSim extraction (``.json``, fitted in parametric form).

    Raises
    ------
    InputError
        With the nearest names, when there is none; naming file and field, when it is wrong.

    Examples
    --------
    >>> load_drive("ST4000VN008-2DR166").capacity_bytes
    4000787030016
    """
    check_kind("drive", name, (str, PurePath), "it is a name or the path of a file", "see zsim drives list")
    plain = str(name).strip()
    return _load(plain, model_data.state_of(plain, "drive"))


def sized(model: DriveModel, capacity: int, year: int) -> DriveModel:
    """Return a drive, a generic one with a capacity [bytes] and the platters of its time."""
    return model.with_capacity(capacity, year) if model.is_generic else model


class Shelf:
    """Drives in use in one year, each looked up once and scaled once to a capacity.

    Parameters
    ----------
    year : int
    """

    def __init__(self, year: int) -> None:
        self.year = year
        self._named: dict[str, DriveModel] = {}
        self._sized: dict[tuple[str, int], DriveModel] = {}

    @property
    def drives(self) -> tuple[DriveModel, ...]:
        """All that have been looked up."""
        return tuple(self._named.values())

    def named(self, name: str) -> DriveModel:
        """Return a drive as `load_drive` gives it."""
        if name not in self._named:
            self._named[name] = load_drive(name)
        return self._named[name]

    def sized(self, name: str, capacity: int) -> DriveModel:
        """Return a drive, a generic one with a capacity [bytes] and the platters of its time."""
        model = self.named(name)
        if (name, capacity) not in self._sized:
            self._sized[name, capacity] = sized(model, capacity, self.year)
        return self._sized[name, capacity]


@functools.lru_cache(maxsize=64)
def _load(name: str, _state: str) -> DriveModel:
    """Return a drive; `_state` is the hash of its file, if the name is that of a file."""
    if name.endswith(".json"):
        from zsim.drives.disksim.parametric import drive_from_tracks  # noqa: PLC0415 - needs scipy and compiled code

        with understood(name, "drive"):
            return drive_from_tracks(Path(name).expanduser())
    path = _find(name)
    with understood(path, "drive"):
        return drive_from_table(model_data.load_toml(path, "drive"), path)


def _find(name: str) -> Path:
    try:
        return model_data.find("drives", name)
    except InputError:
        stem = _stem_of_alias(name)
        if stem is None:
            raise
        return model_data.find("drives", stem)


def _stem_of_alias(name: str) -> str | None:
    """Return the drive whose name or alias the given one has in it, whole words of it, the longest first.

    So are found ``WDC WD40EFAX-68JH4N1`` and ``wd40 efax``, but not ``WD40EFAXX``.
    """
    words = [folded for word in re.split(r"[^0-9A-Za-z]+", name) if (folded := _folded(word))]
    known, whole = _aliases(), _folded(name)
    # No span of more words than the longest alias has letters is one.
    most = max(map(len, known))
    spans = {
        "".join(words[first:last])
        for first in range(len(words))
        for last in range(first + 1, min(first + most, len(words)) + 1)
    }
    found = [span for span in spans & known.keys() if span == whole or len(span) >= SHORTEST_PART]
    return known[max(found, key=lambda span: (len(span), span))] if found else None


@functools.cache
def _aliases() -> dict[str, str]:
    """Return every folded name and alias of the catalogue."""
    known = {}
    for stem in list_drives():
        data = model_data.load("drives", stem)
        for each in (stem, *rows(data, "aliases")):
            known[_folded(str(each))] = stem
    return known


def _folded(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def drive_from_table(data: Mapping[str, object], path: Path) -> DriveModel:
    """Check the content of a drive file and return the model.

    Raises
    ------
    InputError
        Naming file and field.
    """
    kind = model_data.text_of(data, "kind", path, ("mechanical", "flash"))
    recording = model_data.text_of(data, "recording", path, ("cmr", "smr", "flash"))
    policy = model_data.text_of(data, "queue_policy", path, ("fcfs", "c-look", "sptf"))
    quantities = _quantities(data, "parameters", path)
    _check_presence(quantities, kind, recording, path)
    _check_limits(quantities, path)
    _check_order(quantities, path)
    drive = DriveModel(
        name=path.stem,
        vendor=model_data.text_of(data, "vendor", path),
        model=model_data.text_of(data, "model", path),
        drive_class=model_data.text_of(data, "class", path),
        note=str(data.get("note", "")),
        aliases=texts(data, "aliases"),
        kind=kind,  # type: ignore[arg-type]
        recording=recording,  # type: ignore[arg-type]
        queue_policy=policy,  # type: ignore[arg-type]
        quantities=quantities,
        observed=_quantities(data, "observed", path),
        drive_to_drive=_quantities(data, "spread", path),
    )
    drive.parameters()
    return drive


def _quantities(data: Mapping[str, object], name: str, path: Path) -> dict[str, DriveQuantity]:
    return {key: _quantity(data, name, key, path) for key in table(data, name)}


def _quantity(data: Mapping[str, object], name: str, key: str, path: Path) -> DriveQuantity:
    if name != "spread" and key not in UNITS:
        raise InputError(
            f"{path.name}: {name}", key, "a drive has no such number", model_data.suggest(key, UNITS)
        )
    unit, scale = ("1", 1.0) if name == "spread" else UNITS[key]
    number = model_data.quantity_of(data, f"{name}.{key}", path, unit)
    entry = table(table(data, name), key)
    uncertainty = entry.get("uncertainty", 0.0)
    if not isinstance(number.value, int | float) or not math.isfinite(number.value) or number.value < 0:
        raise _refused(path, f"{name}.{key}", number.value, "it is a number not below zero")
    if not isinstance(uncertainty, int | float) or not 0 <= uncertainty <= 2:
        raise _refused(
            path, f"{name}.{key}.uncertainty", uncertainty, "it is a relative standard deviation, 0 to 2"
        )
    source = str(table(data, "references").get(number.source, number.source))
    return DriveQuantity(
        number.value,
        unit,
        number.kind,
        source,
        float(uncertainty),
        str(entry.get("note", "")),
        number.value * scale,
    )


def _check_presence(quantities: Mapping[str, DriveQuantity], kind: str, recording: str, path: Path) -> None:
    needed = FLASH if kind == "flash" else MECHANICAL
    if recording == "smr":
        needed = (*needed, *SMR)
    missing = next((key for key in needed if key not in quantities), None)
    if missing:
        raise InputError(
            f"{path.name}: parameters.{missing}", None, f"every {kind} {recording} drive has it", "add it"
        )
    may_be_zero = {
        "write_settle", "read_overhead", "write_overhead", "write_cache", "read_ahead",
        "cache", "seek_track", "density_exponent",
    }  # fmt: skip
    for key, each in quantities.items():
        if each.value <= 0 and key not in may_be_zero:
            raise _refused(path, f"parameters.{key}", each.value, "it is above zero")


def _check_limits(quantities: Mapping[str, DriveQuantity], path: Path) -> None:
    """Refuse slips of the keyboard: a number no drive can have, a part of something that is counted."""
    for key, each in quantities.items():
        least, most = LIMITS.get(key, (0.0, math.inf))
        if not least <= each.value <= most:
            unit = "" if each.unit == "1" else f" {each.unit}"
            raise _refused(path, f"parameters.{key}", each.value, f"it is {least:,g} to {most:,g}{unit}")
        if key in WHOLE and not float(each.value).is_integer():
            raise _refused(path, f"parameters.{key}", each.value, "it is a whole number")


def _check_order(quantities: Mapping[str, DriveQuantity], path: Path) -> None:
    """Refuse what no drive can have: an inner rate above the outer, a seek curve that falls, odd sectors."""
    values = {key: each.si for key, each in quantities.items()}
    rules = (
        ("inner_rate", "outer_rate", "the inner rate is not above the outer rate"),
        ("seek_track", "seek_average", "a seek of one track is not longer than the average"),
        ("seek_average", "seek_full", "the average seek is not longer than the full stroke"),
        ("logical_sector", "physical_sector", "the logical sector is not larger than the physical one"),
        ("write_cache", "cache", "the part for writes is not larger than the cache"),
        ("write_rate_after_cache", "write_rate", "writing is not faster after the cache is full"),
        ("persistent_cache", "capacity", "a part of the drive is not larger than the whole"),
        ("slc_cache", "capacity", "a part of the drive is not larger than the whole"),
    )
    for low, high, rule in rules:
        if low in values and high in values and values[low] > values[high]:
            raise _refused(
                path,
                f"parameters.{low}",
                quantities[low].value,
                f"{rule} ({high} is {quantities[high].value:g})",
            )
    if values.get("seek_knee", 0.5) >= 1:
        raise _refused(
            path, "parameters.seek_knee", quantities["seek_knee"].value, "it is a fraction below 1"
        )
    if values.get("zones", 1) > MAX_ZONES:
        raise _refused(path, "parameters.zones", quantities["zones"].value, f"it is at most {MAX_ZONES}")


def _refused(path: Path, field: str, value: object, allowed: str) -> InputError:
    return InputError(f"{path.name}: {field}", value, allowed, "put the number right")
