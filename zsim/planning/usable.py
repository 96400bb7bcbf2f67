"""How much data a layout holds, and how many vdevs are needed for an amount of data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from zsim.base.errors import InputError
from zsim.base.units import format_both, format_bytes
from zsim.case.case import Case
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.releases.capacity import pool_size, slop_space
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.arrays import asizes_on

DEFLATED_RECORD = 128 << 10
"""Size of the records by whose space on a vdev ZFS counts (OpenZFS vdev.c vdev_set_deflate_ratio) [bytes]."""


def data_share(vdev: VdevSpec, recordsize: int, ashift: int) -> float:
    """Return the share of a vdev's raw space that full records leave for data, padding included.

    Parameters
    ----------
    vdev : VdevSpec
        A top-level vdev.
    recordsize : int
        [bytes], not compressed.
    ashift : int
        [log2(bytes)]

    Notes
    -----
    ``zpool list`` counts a mirror once, so its share is 1 (less the rounding of records to sectors).
    """
    record = np.array([recordsize], dtype=np.int64)
    return recordsize / float(asizes_on(vdev, record, ashift)[0])


def usable_bytes(case: Case) -> int:
    """Return how much data ZFS lets a case's pool hold in full records [bytes].

    Notes
    -----
    Less what ZFS keeps free (slop) of the space that it reckons with, which is that of records of 128 KiB
    (OpenZFS spa_misc.c spa_get_slop_space, vdev.c vdev_set_deflate_ratio).
    """
    whole = _room(case.layout, case, case.recordsize)
    counted = _room(case.layout, case, DEFLATED_RECORD)
    return max(0, int(whole * (1.0 - slop_space(int(counted), case.release) / counted)))


def stated_usable_bytes(case: Case) -> int | None:
    """Return `usable_bytes` where the size of the drives is stated; else nobody knows it."""
    return None if case.assumed("drive") and case.assumed("drive_size") else usable_bytes(case)


def data_bytes(case: Case) -> int:
    """Return how much data a case's pool holds as full as it is, all of it in full records [bytes]."""
    return round(case.fill * _room(case.layout, case, case.recordsize))


def alloc_of(case: Case, data: int) -> int:
    """Return the ALLOC of a case's pool that holds so much data in full records [bytes].

    Raises
    ------
    InputError
        When it holds less.
    """
    room = usable_bytes(case)
    if data > room:
        allowed = f"{case.layout} of {format_both(case.drive_size)} drives holds {format_bytes(room)}"
        raise InputError("data", format_bytes(data), allowed, "give more or larger drives")
    return round(case.pool_size * (data / _room(case.layout, case, case.recordsize)))


def _room(layout: Layout, case: Case, recordsize: int) -> float:
    """Return how much data in records of a size would fill the data vdevs, nothing kept free [bytes]."""
    release: ReleaseProfile = case.release
    total = 0.0
    for vdev in layout.data:
        share = data_share(vdev, recordsize, case.ashift)
        total += pool_size(Layout((vdev,)), case.drive_size, release) * share
    return total


def one_vdev(layout: Layout) -> Layout:
    """Return the vdev that a layout consists of, once: a count of its own gives way to the one wanted.

    Raises
    ------
    InputError
        When its vdevs are not all alike.
    """
    if len(set(layout.vdevs)) > 1:
        raise InputError(
            "layout", str(layout), "vdevs of different kinds cannot be repeated to a size", "name one vdev"
        )
    return Layout(layout.vdevs[:1])


def repeated_for_drives(layout: Layout, drives: int) -> Layout:
    """Return as many of a layout's vdev as `drives` drives allow.

    Raises
    ------
    InputError
        When its vdevs are not all alike, or one needs more drives than there are.
    """
    one = one_vdev(layout)
    count = drives // one.leaves
    if count < 1:
        allowed = f"{one} alone needs {one.leaves} drives"
        raise InputError("drives", drives, allowed, "give more drives or a narrower layout")
    return one.repeated(count)


def repeated_for_usable(case: Case, wanted: int) -> Layout:
    """Return as few of a case's vdev as hold `wanted` bytes of data.

    Raises
    ------
    InputError
        When its vdevs are not all alike, or too many would be needed.
    """
    one = one_vdev(case.layout)
    count = max(1, math.ceil(wanted / max(1.0, _room(one, case, case.recordsize))))
    # What ZFS keeps free makes it some vdevs more.
    while usable_bytes(replace(case, layout=one.repeated(count))) < wanted:
        count += 1
    return one.repeated(count)
