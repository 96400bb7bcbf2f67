"""The time that unreadable sectors cost a scan.

A bad sector costs seconds, its neighbours milliseconds: a sample of the run has too few of them.  What one
of them does is simulated (`zsim.prediction.runs.sick_drives.read_errors`); over the whole scan they are
counted one after the other, in the order in which it comes by (`recovery`).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.case.case import Case
from zsim.engine.model import VdevModel
from zsim.prediction.inputs.fault_rules import FaultRule, fault_rule
from zsim.prediction.inputs.sick import sickness_number
from zsim.scenario.layout import VdevSpec
from zsim.scenario.one_drive.sick import NO_LIMIT


def place_of_leaf(vdevs: Iterable[VdevModel | VdevSpec], leaf: int) -> tuple[int, int]:
    """Return the number of the vdev that a leaf of a layout is in, and which of its children it is."""
    first = 0
    for number, vdev in enumerate(vdevs):
        if leaf < first + vdev.children:
            return number, leaf - first
        first += vdev.children
    raise ValueError(leaf)


def spare_children(case: Case, leaf: int = 0) -> int:
    """Return how many more drives the vdev of a leaf could lose without losing data.

    Parameters
    ----------
    case : Case
    leaf : int
        By default one of the damaged vdev.

    Returns
    -------
    int
        Its redundancy less the drives that are replaced, unless these are still read.
    """
    number, _ = place_of_leaf(case.layout.vdevs, leaf)
    whole = number > 0 or case.old_drive == "online" or case.operation == "scrub"
    return case.layout.vdevs[number].tolerance - (0 if whole else case.replace)


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
        How long the drive is busy with one of them [s].
    faulted_s : float or None
        When it is faulted [s after the start]; None: it stays.
    blocks : int
        Blocks that cannot be read, since nothing is left to rebuild them from.
    """

    drive: int
    seconds: float
    errors: int
    each_s: float
    faulted_s: float | None
    blocks: int = 0


class ReadErrors(NamedTuple):
    """What a read of a bad sector does to a scan.

    Attributes
    ----------
    wait_s : float
        By how much it makes the scan longer [s].
    each_s : float
        How long the drive is busy with it [s].
    reports : int
        I/O errors that are reported of it: of an aggregate one more than the I/Os in it.
    read_bytes : float
        Length of such a read: bad sectors within it fail together [bytes].
    share : float
        Share of the bad sectors that the scan reads.
    blocks : float
        Blocks of which there is no other copy, in which bad sectors lie that the scan reads, over the number
        of all bad sectors.
    """

    wait_s: float
    each_s: float
    reports: int
    read_bytes: float
    share: float
    blocks: float


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
        limit = sickness_number("recovery", "erc.usual_s")
    timeout = sickness_number("recovery", f"{case.platform}.timeout_s")
    once = limit
    if limit == NO_LIMIT or limit > timeout:
        once = timeout * sickness_number("recovery", f"{case.platform}.attempts")
    return once if redundant else 2.0 * once


def reckoned(case: Case, leaf: int = 0) -> ReadErrors:
    """Return what a read of a bad sector does where none was simulated.

    Parameters
    ----------
    case : Case
    leaf : int
        That has it; by default one of the damaged vdev.

    Returns
    -------
    ReadErrors
        The scan stands still for as long as the drive is busy; reads of a sorted scan are as large as
        aggregates may be, every bad sector is read, and lies in a block of its own.
    """
    vdev = case.layout.vdevs[place_of_leaf(case.layout.vdevs, leaf)[0]]
    read = sickness_number("recovery", "sectors.read")
    each_s = error_seconds(case, redundant=spare_children(case, leaf) > 0)
    merged = 1
    if case.release.order == "sorted":
        merged = max(1, int(read * max(1, vdev.data) / max(1, case.recordsize)))
    return ReadErrors(each_s, each_s, merged + 1 if merged > 1 else 1, read, 1.0, 1.0)


def sick_order(case: Case) -> list[tuple[int, int]]:
    """Return the leaf and the number of bad sectors of each drive that has some, most first."""
    sick = [each for each in case.scenario.bad_sectors or () if each.drive < case.leaves]
    sick.sort(key=lambda each: -each.count)
    return [(case.scenario.leaf_of(each.drive), each.count) for each in sick]


def sick_that_are_read(case: Case) -> dict[int, int]:
    """Return those that the operation reads, by leaf: drives of the damaged vdev, of a scrub all."""
    sick, every = sick_order(case), case.operation == "scrub"
    return {leaf: count for leaf, count in sick if every or leaf < case.layout.vdevs[0].children}


def recovery(
    case: Case, sound_s: float, known: Mapping[int, ReadErrors] | None = None
) -> tuple[LostTime, ...]:
    """Return what the bad sectors of each drive cost, those first that fail most.

    Parameters
    ----------
    case : Case
    sound_s : float
        Duration were there none [s].
    known : mapping of int to ReadErrors, optional
        What a read that fails does, by leaf, as it was simulated; `reckoned` where it was not.

    Notes
    -----
    A drive is faulted for its errors (`zsim.prediction.inputs.fault_rules`) as long as its vdev can do
    without it (vdev.c:vdev_fault); a resilver does not stop that, and what is left is read from the others.
    """
    if not case.scenario.bad_sectors:
        return ()
    found, faulted = [], list[int]()
    read = sick_that_are_read(case)
    of = {leaf: (known or {}).get(leaf) or reckoned(case, leaf) for leaf in read}
    moments = {
        leaf: failing_reads(case, leaf, round(of[leaf].share * count), of[leaf].read_bytes) * sound_s
        for leaf, count in read.items()
    }
    for leaf, count in sick_order(case):
        if leaf not in read:
            found.append(LostTime(leaf, 0.0, 0, 0.0, None))
            continue
        vdev, _ = place_of_leaf(case.layout.vdevs, leaf)
        left = spare_children(case, leaf) - faulted.count(vdev)
        cost = error_seconds(case, redundant=left > 0)
        wait = of[leaf].wait_s * cost / of[leaf].each_s
        rule = fault_rule(case) if left > 0 else None
        others = [
            each
            for other, each in moments.items()
            if other != leaf and place_of_leaf(case.layout.vdevs, other)[0] == vdev
        ]
        lost = _waited(leaf, moments[leaf], wait, of[leaf].reports, rule, _before(rule, others))
        blocks = 0 if left > 0 else math.ceil(of[leaf].blocks * count)
        faulted += [vdev] * (lost.faulted_s is not None)
        found.append(lost._replace(each_s=cost, blocks=blocks))
    return tuple(found)


def _before(rule: FaultRule | None, others: Sequence[NDArray[np.float64]]) -> float:
    """Return until when a rule may fault a drive: the first error of another, if that hinders it [s]."""
    if rule is None or not rule.alone:
        return math.inf
    return min((float(each[0]) for each in others if len(each)), default=math.inf)


def clustered(generator: np.random.Generator, count: int, space: float) -> NDArray[np.float64]:
    """Return places of bad sectors, in clusters.

    Parameters
    ----------
    generator : Generator
    count : int
    space : float
        In which they lie [bytes].

    Returns
    -------
    ndarray of float, shape (count,)
        Each lies near the last one with the probability that is measured, else anywhere [bytes].
    """
    near = generator.random(count) < sickness_number("recovery", "sectors.cluster_share")
    near[:1] = False
    first = generator.random(count) * space
    steps = generator.random(count) * sickness_number("recovery", "sectors.cluster_span")
    heads = np.maximum.accumulate(np.where(near, 0, np.arange(count)))
    walked = np.cumsum(np.where(near, steps, 0.0))
    places: NDArray[np.float64] = (first[heads] + walked - walked[heads]) % space
    return places


def generator_of(case: Case, leaf: int) -> np.random.Generator:
    """Return what the bad sectors of a leaf are drawn with; the seed of the case decides."""
    return np.random.Generator(np.random.Philox(key=case.seed + leaf))


def failing_reads(case: Case, drive: int, count: int, read_bytes: float) -> NDArray[np.float64]:
    """Return where in the scan failing reads lie.

    Parameters
    ----------
    case : Case
    drive : int
        With the seed of the case it decides the places.
    count : int
        Bad sectors.
    read_bytes : float
        Length of a read; sectors within one fail together [bytes].

    Returns
    -------
    ndarray of float, shape (reads,)
        Shares of the scan, rising, from 0 to 1.  In legacy order the same number of places, anywhere.
    """
    generator, space = generator_of(case, drive), case.fill * case.drive_size
    if count > sickness_number("recovery", "trial.placed"):
        # So many that they are told apart by their number alone: what is left of all reads by chance.
        whole = space / read_bytes
        hit = int(whole * -math.expm1(-count / whole))
        return np.linspace(0.5 / hit, 1.0 - 0.5 / hit, hit)
    reads = np.unique(clustered(generator, count, space) // read_bytes)
    shares = np.sort(reads) * read_bytes / space
    if case.release.order == "legacy":
        shares = np.sort(generator.random(len(shares)))
    return np.minimum(shares, 1.0)


def _waited(
    drive: int,
    moments: NDArray[np.float64],
    wait: float,
    reports: int,
    rule: FaultRule | None,
    until: float = math.inf,
) -> LostTime:
    """Return what failing reads cost, one after the other, until the drive is faulted where a rule may do so.

    Each is reported as often as `reports` says; a rule fires once, and before `until` [s].
    """
    if rule is None:
        return LostTime(drive, wait * len(moments), len(moments), wait, None)
    seconds, counted, faulted_s = 0.0, deque[float](maxlen=rule.errors), None
    for number, moment in enumerate(moments.tolist()):
        if faulted_s is not None and moment + seconds >= faulted_s:
            return LostTime(drive, seconds, number, wait, faulted_s)
        seconds += wait
        now = moment + seconds
        counted.extend([now] * min(reports, rule.errors))
        within = len(counted) == rule.errors and now - counted[0] <= rule.window_s
        if faulted_s is None and within and now < until:
            faulted_s = now + rule.delay_s
    return LostTime(drive, seconds, len(moments), wait, faulted_s)
