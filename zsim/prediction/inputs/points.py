"""The coordinates of a world in the regression over many scenarios."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.case.worlds import USES, memory_share
from zsim.drives.models.model import DriveModel
from zsim.prediction.inputs.ensemble import Unknown, places_of
from zsim.prediction.inputs.scan_memory import needed_by_use, tells
from zsim.vdevs.kind import kind_of

F64 = NDArray[np.float64]
USUAL_FILL, USUAL_SIZE, USUAL_RECORD = (
    constant("response.usual_fill"), constant("response.usual_size"), constant("response.usual_record"),
)  # fmt: skip
"""What columns are counted from: where they are 0."""
SIZES = (constant("response.least_size"), constant("response.largest_size"))
"""Of drives: beyond these nothing was learned of how the capacity matters."""
USUAL_HZ = constant("response.usual_hz")
"""Ticks a second of the kernels whose delays of a scan are the least."""
OTHERWISE_IN_LEGACY = ("flash", "replicated", "columns", "sectors", "scrub", "record", "vdevs", "position")
"""What tells on scans in the order of the traversal in a way of its own."""
FACTORS = ("outer_rate", "inner_ratio", "seek", "overhead", "new_rate", "host")
SLOWER_CLASS = "generic-5400rpm-cmr"


def values_of(unknown: Unknown, scores: F64) -> list[object]:
    """Return the value that each world has of an unknown that is a choice.

    Parameters
    ----------
    unknown : Unknown
    scores : ndarray of float, shape (worlds,)
        Standard normal scores.

    Returns
    -------
    list, one value a world
    """
    return [unknown.choices[place].value for place in places_of(unknown, scores)]


def points(case: Case, inputs: Sequence[Unknown], scores: F64) -> dict[str, F64]:
    """Return what is known of worlds before they are run, one value a world and name.

    Parameters
    ----------
    case : Case
    inputs : sequence of Unknown
    scores : ndarray of float, shape (worlds, unknowns)
        Standard normal scores.

    Returns
    -------
    dict
        ``data``: logarithm of what is allocated [log(bytes)]; ``use``: place in `USES`; ``fill`` and
        ``size``: fill and logarithm of the capacity of a drive, less the usual ones; logarithms of the
        factors; ``scarce``: logarithm of the memory that a sorted scan needs over what the host has, 0 where
        that is enough; 1 where ``cache_off``, ``slower_class`` and ``large_sectors`` hold; ``load``:
        logarithm of 1 and the reads a second and drive.
    """
    count = len(scores)
    drawn = {unknown.name: scores[:, place] for place, unknown in enumerate(inputs)}
    named = {unknown.name: unknown for unknown in inputs}

    def chosen(name: str, default: object) -> list[object]:
        return values_of(named[name], drawn[name]) if name in named else [default] * count

    def numbers(name: str, default: float) -> F64:
        return np.array(chosen(name, default), dtype=np.float64)

    sizes = numbers("drive_size", case.drive_size)
    larger = np.log(sizes / case.drive_size)
    keeps = case.scenario.alloc is not None
    fill = numbers("fill", case.fill) * (np.exp(-larger) if keeps else 1.0)
    data = np.full(count, math.log(case.alloc))
    if not keeps:
        data = data + larger + np.log(fill / case.fill)
    stated_load = math.fsum(each.rate or 0.0 for each in case.load) / case.leaves
    found = {
        "data": data,
        "use": np.array([_place(name, case.use) for name in chosen("history", case.history.name)]),
        "fill": np.minimum(fill, 1.0) - USUAL_FILL,
        "size": np.log(np.clip(sizes, *SIZES) / USUAL_SIZE),
        "cache_off": 1.0 - numbers("write_cache", case.write_cache),
        "load": np.log1p(numbers("load", stated_load)),
        "shingling": np.log(numbers("shingling", 1.0)),
        "large_sectors": (numbers("ashift", 0.0) == 12.0).astype(np.float64),
        "slower_class": np.array([float(name == SLOWER_CLASS) for name in chosen("drive", "")]),
    }
    memory = numbers("memory", float(case.scan_memory or 0))
    if "memory" in named:
        memory = memory * _memory_shares(case)[found["use"]]
    found["scarce"] = _scarce(case, found["use"], data, memory)
    for name in ("churn", "file_size", *FACTORS):
        spread = named[name].spread if name in named else 0.0
        found[name] = spread * drawn.get(name, np.zeros(count))
    return found


def _memory_shares(case: Case) -> F64:
    """Return how much memory hosts of each use have, one value a use."""
    known = not case.assumed("history")
    return np.array([memory_share(case.history.name if known else name) for name in USES])


def _scarce(case: Case, use: NDArray[np.int64], data: F64, memory: F64) -> F64:
    """Return the logarithm of what a sorted scan needs over the memory there is; 0 where that is enough."""
    if not tells(case) or not memory.any():
        return np.zeros(len(use))
    needed = np.log(needed_by_use(case))[use] + data - math.log(case.alloc)
    return np.maximum(0.0, needed - np.log(memory))


def _place(name: object, otherwise: int) -> int:
    """Return the place of a use in `USES`; `otherwise` of a history that is none of them."""
    return USES.index(str(name)) if name in USES else otherwise


def _position(drive: DriveModel) -> float:
    """Return the logarithm of what a disk moves in a revolution [log(MB)]: what a jump costs, in data."""
    if drive.kind != "mechanical":
        return 0.0
    known = drive.parameters()
    return math.log(known.revolution_s * known.zone_rates[0] / 1e6)


def kind_of_scenario(case: Case) -> Mapping[str, float]:
    """Return what tells scenarios of different kinds apart.

    Returns
    -------
    mapping of str to float
        How far each property holds, 0 in the usual scenario: the columns of the regression of
        ``models/response/worlds.json``, whose ``any`` is 1 throughout.
    """
    vdev, release = case.layout.data[0], case.release
    flash = float("flash" in (case.drive.kind, case.new_drive.kind))
    stated = not case.assumed("recordsize")
    legacy = float(release.order == "legacy")
    found = {
        "any": 1.0,
        "legacy": legacy,
        "scrub": float(case.operation == "scrub"),
        "rebuild": float(case.operation == "rebuild"),
        "flash": flash,
        "shingled": float(case.new_drive.recording == "smr"),
        "replicated": float(kind_of(vdev.kind).is_replicated),
        "groups": float(kind_of(vdev.kind).has_groups),
        "columns": math.log2(max(1, vdev.data)) / 2.0 - 0.7,
        "parity": vdev.parity / 2.0 - 0.7,
        "record_stated": float(stated),
        "record": stated * math.log2(case.recordsize / USUAL_RECORD),
        "frag_stated": float(not case.assumed("frag")),
        "position": _position(case.drive),
        "vdevs": math.log2(len(case.layout.data)) / 2.0,
        "sectors": float(case.ashift == 12),
        "flash_scrub": flash * (case.operation == "scrub"),
        "one_queue": float(release.queue == "single"),
        "ticks": legacy * math.log10(USUAL_HZ / release.hz),
        "every_column": legacy * (1.0 - release.column_test),
    }
    return found | {f"legacy_{name}": legacy * found[name] for name in OTHERWISE_IN_LEGACY}
