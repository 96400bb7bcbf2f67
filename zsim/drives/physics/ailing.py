"""The service time of a drive with faults, shared by both engines.

Every function takes a record of `HEALTH_DTYPE`, which holds what ails the drive and the state that it is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from zsim.base.arrays import F64, I64, Float64, Int64, Rows, dtype_of
from zsim.base.jit import njit
from zsim.drives.models.health import MOST_FAILURES, DriveHealth
from zsim.drives.physics.draws import mixed

NOT_FAULTED = np.inf


class HealthRecord:
    """What ails a drive, and the state that it is in."""

    ails: Int64
    stutter_share: Float64
    stutter: Float64
    spell_factor: Float64
    spell: Float64
    between: Float64
    recovery: Float64
    fault_after: Int64
    fault_window: Float64
    fault_delay: Float64
    # Its part of the table of bad sectors.
    first_bad: Int64
    end_bad: Int64
    seed: Int64
    # State: reads drawn for, stutters, whether a spell is on and until when; errors, reports of them, bytes
    # of the reads, what the rule has counted, when the drive is faulted; what services lost.
    reads: Int64
    stutters: Int64
    slow: Int64
    spells: Int64
    changes: Float64
    errors: Int64
    reported: Int64
    failed_bytes: Int64
    reports: Int64
    faulted: Float64
    lost: Float64


HEALTH_DTYPE = dtype_of(HealthRecord)


def health_table(healths: Sequence[DriveHealth]) -> tuple[Rows, I64]:
    """Pack what ails drives into the arrays that the engines read.

    Parameters
    ----------
    healths : sequence of DriveHealth
        One entry a leaf.

    Returns
    -------
    table : ndarray of HEALTH_DTYPE, shape (n_leaves,)
    bad : ndarray of int64, shape (2 * n_bad,)
        Of each bad sector its place [bytes], rising on each leaf, and whether it has been written again.
    """
    table = np.zeros(len(healths), HEALTH_DTYPE)
    bad = [place for health in healths for place in sorted(health.bad_sectors)]
    first = 0
    for place, health in enumerate(healths):
        if place and health is healths[place - 1] and not bad:
            table[place] = table[place - 1]
            continue
        row = table[place]
        row["ails"], row["seed"] = not health.is_sound, health.seed
        row["stutter_share"], row["stutter"] = health.stutter_share, health.stutter_s
        row["spell_factor"], row["spell"] = health.spell_factor, health.spell_s
        row["between"], row["recovery"] = health.between_s, health.recovery_s
        row["fault_after"], row["fault_window"] = (
            min(health.fault_after, MOST_FAILURES),
            health.fault_window_s,
        )
        row["fault_delay"] = health.fault_delay_s
        row["first_bad"], row["end_bad"] = first, first + len(health.bad_sectors)
        row["faulted"] = NOT_FAULTED
        first += len(health.bad_sectors)
        if health.spell_factor != 1.0:
            whole = health.spell_s + health.between_s
            row["slow"] = mixed(health.seed, 0) * whole < health.spell_s
            row["changes"] = -log(mixed(health.seed, 1)) * (
                health.spell_s if row["slow"] else health.between_s
            )
    places = np.zeros(2 * max(1, len(bad)), np.int64)
    places[: 2 * len(bad) : 2] = bad
    return table, places


@njit
def ailing_time(
    health: HealthRecord,
    bad: I64,
    failures: F64,
    at: float,
    offset: int,
    length: int,
    is_write: bool,
    merged: int,
    waits: float,
    sound: float,
) -> float:
    """Return how long a drive is busy with a command that would take `sound` were nothing wrong [s].

    Parameters
    ----------
    health : record of HEALTH_DTYPE
        Its state goes on.
    bad : ndarray of int64, shape (2 * n_bad,)
        See `health_table`.
    failures : ndarray of float64, shape (MOST_FAILURES,)
        When its last errors were [s].
    at : float
        When the service begins [s].
    offset, length : int
        [bytes]
    is_write : bool
        Sectors that are written can be read again: the drive puts others in their place.
    merged : int
        I/Os that the command was made of.
    waits : float
        Of that, the part in which it waits for a channel that other commands have [s].
    sound : float
        [s]
    """
    if at >= health.faulted:
        return 0.0
    busy = sound
    if health.spell_factor != 1.0 and _is_slow(health, at):
        busy = waits + (busy - waits) * health.spell_factor
    if health.stutter_share > 0.0 and not is_write:
        health.reads += 1
        if mixed(health.seed, 2 * health.reads) < health.stutter_share:
            health.stutters += 1
            # A stutter never makes a read quicker than a sound one.
            busy = max(busy, waits + health.stutter)
    if _rewritten(health, bad, offset, offset + length) > 0 and not is_write:
        busy += health.recovery
        # Of an aggregated read the aggregate and each I/O in it post an error of their own (zio.c:zio_done).
        reports = merged + 1 if merged > 1 else 1
        health.reported += reports
        health.failed_bytes += length
        _count_error(health, failures, at + busy, reports)
    health.lost += busy - sound
    return float(busy)


@njit
def _is_slow(health: HealthRecord, at: float) -> bool:
    """Tell whether a slow spell is on."""
    while at >= health.changes:
        health.spells += 1
        health.slow = 1 - health.slow
        mean = health.spell if health.slow != 0 else health.between
        health.changes += -log(mixed(health.seed, 2 * health.spells + 1)) * mean
    return bool(health.slow != 0)


@njit
def _rewritten(health: HealthRecord, bad: I64, begin: int, end: int) -> int:
    """Return how many bad sectors lie in [begin, end); they are good from now on.

    What a read could not give is rebuilt and written back (OpenZFS vdev_raidz.c:vdev_raidz_io_done,
    vdev_mirror.c:vdev_mirror_io_done), within the time that the read lost.
    """
    low, high = health.first_bad, health.end_bad
    while low < high:
        middle = (low + high) >> 1
        if bad[2 * middle] < begin:
            low = middle + 1
        else:
            high = middle
    found = 0
    while low < health.end_bad and bad[2 * low] < end:
        found += 1 if bad[2 * low + 1] == 0 else 0
        bad[2 * low + 1] = 1
        low += 1
    return found


@njit
def _count_error(health: HealthRecord, failures: F64, when: float, reports: int) -> None:
    """Count an error; the last of so many reports within the window fault the drive, after the delay."""
    health.errors += 1
    after = health.fault_after
    if after == 0 or health.faulted != NOT_FAULTED:
        return
    for _ in range(min(reports, after)):
        failures[health.reports % MOST_FAILURES] = when
        health.reports += 1
    if health.reports >= after:
        first = failures[(health.reports - after) % MOST_FAILURES]
        if when - first <= health.fault_window:
            health.faulted = when + health.fault_delay
