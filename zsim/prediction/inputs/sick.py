"""Sick drives of a case: what the engine is given of them, and what sectors that cannot be read cost.

A bad sector costs seconds, its neighbours milliseconds: a sample of the run has too few of them, so their
time is counted one after the other, in the order in which the scan comes by (`recovery`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base import model_data
from zsim.case.case import Case
from zsim.drives.models.health import SOUND, DriveHealth
from zsim.drives.models.model import DriveModel
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.models.slowed import slowed
from zsim.scenario.one_drive.sick import NO_LIMIT, sickness
from zsim.scenario.one_drive.slow import SlowDrive


def _number(file: str, name: str) -> float:
    path = model_data.models_directory() / "sickness" / f"{file}.toml"
    return float(model_data.quantity_of(sickness(file), name, path).value)


def slow_drive(case: Case, leaf: int) -> SlowDrive | None:
    """Return what is said of a drive that is slow, None where nothing is."""
    if not case.scenario.slow:
        return None
    drive = case.scenario.drive_of(leaf)
    return next((each for each in case.scenario.slow if each.drive == drive), None)


def attachment(case: Case, leaf: int) -> str | None:
    """Return how a drive is attached otherwise than its model, None where nobody says so."""
    if not case.scenario.attached:
        return None
    drive = case.scenario.drive_of(leaf)
    return next((each.how for each in case.scenario.attached if each.drive == drive), None)


def slow_leaves(case: Case) -> frozenset[int]:
    """Return the leaves that are stated to be slow, or attached in a slow way."""
    stated = case.scenario
    named = {each.drive for each in stated.slow or ()} | {each.drive for each in stated.attached or ()}
    return frozenset(map(stated.leaf_of, named))


def without_slow(case: Case, leaves: Collection[int]) -> Case:
    """Return the case with some drives as good as their peers.

    Parameters
    ----------
    case : Case
    leaves : collection of int

    Returns
    -------
    Case
        Nothing is stated of their slowness or their attachment, and they do not sit out; their bad sectors
        stay.
    """
    drives = {case.scenario.drive_of(leaf) for leaf in leaves}
    stated = case.scenario.model_copy(
        update={
            name: tuple(each for each in getattr(case.scenario, name) or () if each.drive not in drives)
            for name in ("slow", "attached")
        }
    )
    return replace(case, scenario=stated, sitting=case.sitting - frozenset(leaves))


def numbers_of(case: Case, leaf: int, sound: DriveParameters) -> DriveParameters:
    """Return the engine's numbers of one drive, as slow and as badly attached as it is stated to be.

    Parameters
    ----------
    case : Case
    leaf : int
    sound : DriveParameters
        Of a drive of its model.

    Returns
    -------
    DriveParameters
        Rates no higher than those of its link; then all times of service longer by the stated factor, where
        that is constant (spells are in `health_of`).
    """
    numbers, slow, how = sound, slow_drive(case, leaf), attachment(case, leaf)
    if how is not None:
        numbers = _attached(numbers, how)
    if slow is not None and slow.constant is not None:
        numbers = slowed(numbers, slow.constant)
    return numbers


def _attached(numbers: DriveParameters, how: str) -> DriveParameters:
    """Return a drive behind a slower link of its own, or without a queue.

    The buffer of the drive decouples its medium from the link, so that a stream runs at the slower of both.
    """
    told = sickness("attachments")[how]
    if "rate" in told:
        rate = _number("attachments", f"{how}.rate")
        numbers = replace(
            numbers,
            zone_rates=tuple(min(each, rate) for each in numbers.zone_rates),
            interface_rate=min(numbers.interface_rate, rate),
            flash_read_rate=min(numbers.flash_read_rate, rate),
            flash_write_rate=min(numbers.flash_write_rate, rate),
            slc_rate_after=min(numbers.slc_rate_after, rate),
        )
    if "queue_depth" in told:
        numbers = replace(numbers, queue_depth=int(_number("attachments", f"{how}.queue_depth")))
    return numbers


def health_of(case: Case, leaf: int) -> DriveHealth:
    """Return what ails a drive beyond constant slowness.

    Spells are made short, in the same proportion: a sample of the run then sees many of them.
    """
    slow = slow_drive(case, leaf)
    if slow is None or (slow.stutter_share == 0.0 and slow.on_s is None):
        return SOUND
    on, off = slow.on_s or 0.0, slow.off_s or 0.0
    short = min(1.0, _number("recovery", "spells.longest_s") / max(on, 1e-9))
    return DriveHealth(
        stutter_share=slow.stutter_share,
        stutter_s=slow.stutter_s,
        spell_factor=slow.factor if slow.on_s is not None else 1.0,
        spell_s=on * short,
        between_s=off * short,
        seed=case.seed + leaf,
    )


EXCHANGED = " (exchanged)"


def name_of(case: Case, leaf: int, model: DriveModel) -> str:
    """Return the name of a drive as the answer shows it: a sick one stands apart from its peers."""
    slow, how = slow_drive(case, leaf), attachment(case, leaf)
    words = [model.name if case.exchanged_model(leaf) is None else f"{model.name}{EXCHANGED}"]
    if slow is not None:
        words.append(slow.words)
    if how is not None:
        words.append(str(sickness("attachments")[how]["text"]))
    return ", ".join(words)


def sick_leaves(case: Case) -> tuple[int, ...]:
    """Return the drives of the pool that are stated to be slow, badly attached, or to have bad sectors."""
    stated = case.scenario
    named = {each.drive for each in stated.slow or ()}
    named |= {each.drive for each in stated.attached or ()}
    named |= {each.drive for each in stated.bad_sectors or ()}
    return tuple(sorted(stated.leaf_of(drive) for drive in named if drive < case.leaves))


def spare_children(case: Case) -> int:
    """Return how many more drives the damaged vdev could lose without losing data.

    Parameters
    ----------
    case : Case

    Returns
    -------
    int
        Its redundancy less the drives that are replaced, unless these are still read.
    """
    vdev = case.layout.vdevs[0]
    gone = 0 if case.old_drive == "online" or case.operation == "scrub" else case.replace
    return vdev.tolerance - gone


# Sectors that cannot be read.


class LostTime(NamedTuple):
    """What the bad sectors of one drive cost.

    Attributes
    ----------
    drive : int
        Its leaf.
    seconds : float
        Time that the scan waits for it [s].
    errors : int
        Reads that fail.
    each_s : float
        What one of them takes [s].
    faulted_s : float or None
        When ZED faults the drive [s after the start]; None: it stays.
    """

    drive: int
    seconds: float
    errors: int
    each_s: float
    faulted_s: float | None


def error_seconds(case: Case, *, redundant: bool) -> float:
    """Return how long the scan waits for a read that fails.

    Parameters
    ----------
    case : Case
    redundant : bool
        Whether something is left to rebuild the block from.

    Returns
    -------
    float
        The drive's limit (ERC) or, where that is longer or none, the timeouts of the platform with its
        retries [s]; twice that without redundancy.

    Notes
    -----
    Where something is left to rebuild from, one attempt: what an aggregate could not read is rebuilt from
    parity.  Else the block is read once more (zio.c:zio_vdev_io_assess retries at the logical level only).
    """
    limit = case.scenario.erc
    if limit is None:
        limit = _number("recovery", "erc.usual_s")
    timeout = _number("recovery", f"{case.platform}.timeout_s")
    once = limit
    if limit == NO_LIMIT or limit > timeout:
        once = timeout * _number("recovery", f"{case.platform}.attempts")
    return once if redundant else 2.0 * once


def recovery(case: Case, sound_s: float) -> tuple[LostTime, ...]:
    """Return what the bad sectors of each drive cost, those first that fail most.

    Parameters
    ----------
    case : Case
    sound_s : float
        Duration were there none [s].

    Notes
    -----
    The tenth I/O error within 600 s faults a drive as long as its vdev can do without it
    (cmd/zed/agents/zfs_diagnosis.c, vdev.c:vdev_fault); a resilver does not stop that, and what is left is
    read from the others.
    """
    if not case.scenario.bad_sectors:
        return ()
    damaged = range(case.layout.vdevs[0].children)
    left, found = spare_children(case), []
    sick = [each for each in case.scenario.bad_sectors if each.drive < case.leaves]
    for each in sorted(sick, key=lambda sick: -sick.count):
        leaf = case.scenario.leaf_of(each.drive)
        if leaf not in damaged and case.operation != "scrub":
            found.append(LostTime(leaf, 0.0, 0, 0.0, None))
            continue
        spare = left > 0
        cost = error_seconds(case, redundant=spare)
        moments = failing_reads(case, leaf, each.count) * sound_s
        lost = _waited(leaf, moments, cost, spare)
        left -= lost.faulted_s is not None
        found.append(lost)
    return tuple(found)


def failing_reads(case: Case, drive: int, count: int) -> NDArray[np.float64]:
    """Return where in the scan failing reads lie.

    Parameters
    ----------
    case : Case
    drive : int
        With the seed of the case it decides the places.
    count : int
        Bad sectors.

    Returns
    -------
    ndarray of float, shape (reads,)
        Shares of the scan, rising, from 0 to 1; sectors close by fail in one read.  In legacy order the same
        number of places, anywhere.

    Notes
    -----
    Bad sectors come in clusters: the next one lies near the last with a probability of one half.
    """
    generator = np.random.Generator(np.random.Philox(key=case.seed + drive))
    near = generator.random(count) < _number("recovery", "sectors.cluster_share")
    near[0] = False
    space = case.fill * case.drive_size
    first = generator.random(count) * space
    steps = generator.random(count) * _number("recovery", "sectors.cluster_span")
    heads = np.maximum.accumulate(np.where(near, 0, np.arange(count)))
    walked = np.cumsum(np.where(near, steps, 0.0))
    places = first[heads] + walked - walked[heads]
    reads = np.unique((places % space) // _number("recovery", "sectors.read"))
    shares = np.sort(reads) * _number("recovery", "sectors.read") / space
    if case.release.order == "legacy":
        shares = np.sort(generator.random(len(shares)))
    return np.minimum(shares, 1.0)


def _waited(drive: int, moments: NDArray[np.float64], cost: float, spare: bool) -> LostTime:
    """Return what failing reads cost, one after the other, until ZED faults the drive if it may."""
    most = round(_number("recovery", "zed.errors") / _number("recovery", "zed.counted"))
    window = _number("recovery", "zed.window_s")
    seconds, times = 0.0, []
    for moment in moments.tolist():
        seconds += cost
        times.append(moment + seconds)
        if spare and len(times) >= most and times[-1] - times[-most] <= window:
            return LostTime(drive, seconds, len(times), cost, times[-1])
    return LostTime(drive, seconds, len(times), cost, None)
