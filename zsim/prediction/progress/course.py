"""The course of one world: a metadata phase, an issue phase in cells of work, and a tail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.operation.result import RunResult

F64 = NDArray[np.float64]
VISIT_CELLS, POINTS = whole_constant("progress.visit_cells"), whole_constant("progress.points")
FIRST_EDGE, EVEN_FROM = constant("progress.first_edge"), constant("progress.even_from")
EARLY_EDGES, LATE_EDGES = whole_constant("progress.early_edges"), whole_constant("progress.late_edges")


def _edges() -> F64:
    early = np.geomspace(FIRST_EDGE, EVEN_FROM, EARLY_EDGES)
    return np.concatenate(([0.0], early, np.linspace(EVEN_FROM, 1.0, LATE_EDGES)[1:]))


EDGES: F64 = _edges()
"""Of the issue phase's cells, as shares of its work: finer at the begin, where little says much."""
CELLS = VISIT_CELLS + len(EDGES)
"""Of a course: metadata phase, issue, and one for the tail."""
FEWEST = whole_constant("progress.fewest")


@dataclass(frozen=True, slots=True)
class Shape:
    """How the issue phase gets on.

    Attributes
    ----------
    share, moment : ndarray of float
        Share of the work done at shares of the time, both rising from 0 to 1.
    tail : float
        What follows the last I/O until the scan is over, over the time of the issue.
    """

    share: F64
    moment: F64
    tail: float = 0.0

    def at(self, shares: F64) -> F64:
        """Return when shares of the work are done.

        Parameters
        ----------
        shares : ndarray of float, shape (n,)
            Of the work, from 0 to 1.

        Returns
        -------
        ndarray of float, shape (n,)
            Shares of the time, straight between what is known.
        """
        return np.interp(shares, self.share, self.moment)


class OpenShare(NamedTuple):
    """How little is known of the share of ALLOC that a vdev holds.

    Attributes
    ----------
    spread : float
        Standard deviation of its logarithm; 0 where it is known.
    most : float
        What fits on the vdev, as a share of ALLOC.
    """

    spread: float = 0.0
    most: float = 1.0


KNOWN_SHARE = OpenShare()


@dataclass(frozen=True, slots=True)
class Course:
    """The course of one world.

    Attributes
    ----------
    visit_s : float
        Metadata phase, with its txgs; 0 for a scan that has none [s].
    issue_s : float
        From there to the last I/O [s].
    tail_s : float
        From there until the scan is over: the last txgs [s].
    shape : Shape
        Of the issue phase.
    repaired : float
        Bytes that are resilvered in the end, as zpool counts them [bytes].
    needed : float
        Share of ALLOC that has to be issued: the rest is skipped.
    window : float
        Bytes issued that are under way, as a share of those to be issued.
    drifts : float
        How much of the drift of a scan by address it has, from 0 to 1.
    births : float
        The same of a scan by object.
    unlike : float
        Probability that the drives are none of those that are simulated.
    loose : float
        Standard deviation of the logarithm of the pace that not knowing the drives leaves, beyond the worlds.
    discrepancy : float
        Standard deviation of the logarithm by which the answer of such worlds is off, beside the noise of a
        run: the larger, the more the pool's own mean pace counts.
    tilt : float
        Of how much the drives get slower or faster from the begin to the end of the work, where that is known
        to be more than of others.
    name : str
        Which world, for people.
    vdevs : int
        Top-level vdevs that hold data.
    first : float
        Share of ALLOC that lies on the first of them, the one under repair.
    open_share : OpenShare
        How far `needed` is known.
    suspect : bool
        Whether a drive that is read has failed or delayed I/Os: then a slow pace may be its.
    transfer : float
        Share of `issue_s` in which the drive with most to move would move it sequentially, at the rate of its
        medium: no scan on such drives takes less.  0: not known.
    named : bool
        Whether the model of the drives is known: then none of them is faster than it.
    likely : float
        Logarithm of how likely other evidence makes the world.
    other_scans : tuple of (float, float)
        Other scans of the pool: logarithm of how much longer than in this world they took, and its
        standard deviation.
    at_once : float
        Which share of all that is to be issued fits into memory at once; infinite where that is not asked.
    """

    visit_s: float
    issue_s: float
    tail_s: float
    shape: Shape
    repaired: float
    needed: float = 1.0
    window: float = 0.0
    drifts: float = 0.0
    name: str = ""
    other_scans: tuple[tuple[float, float], ...] = ()
    births: float = 0.0
    unlike: float = 0.0
    loose: float = 0.0
    tilt: float = 0.0
    discrepancy: float = 0.0
    vdevs: int = 1
    first: float = 1.0
    open_share: OpenShare = KNOWN_SHARE
    transfer: float = 0.0
    named: bool = False
    likely: float = 0.0
    suspect: bool = False
    at_once: float = math.inf

    @property
    def total_s(self) -> float:
        """From the begin of the scan to its end [s]."""
        return self.visit_s + self.issue_s + self.tail_s

    def seconds(self, drift: float = 0.0, by_birth: float = 0.0) -> F64:
        """Return how long each cell of work takes: metadata phase, issue, tail [s].

        Parameters
        ----------
        drift : float
            By how much a scan by address gets slower than in the world, from its begin to its end
            (logarithm): on real pools what lies behind is younger and in smaller holes.
        by_birth : float
            The same of a scan by object, whose last files are the least rewritten: it gets faster.
        """
        issue = np.maximum(np.diff(self.shape.at(EDGES)), 1e-9)
        slope = self.drifts * drift + self.births * by_birth
        slower = issue * np.exp(slope * (0.5 * (EDGES[:-1] + EDGES[1:]) - 0.5))
        issue = slower * issue.sum() / slower.sum() * self.issue_s
        visit = np.full(VISIT_CELLS, max(self.visit_s, 1e-9) / VISIT_CELLS)
        return np.concatenate((visit, issue, [max(self.tail_s, 1e-9)]))


def done_cells(visited: float, issued: float) -> F64:
    """Return the share of each cell that is done.

    Parameters
    ----------
    visited, issued : float
        Shares of the metadata phase and of the issue that are done.

    Returns
    -------
    ndarray of float, shape (cells,)
        From 0 to 1: cells of the metadata phase, then of the issue between `EDGES`, then the tail, of which
        nothing is done while the scan runs.
    """
    visit = np.clip(visited * VISIT_CELLS - np.arange(VISIT_CELLS), 0.0, 1.0)
    issue = np.clip((issued - EDGES[:-1]) / np.diff(EDGES), 0.0, 1.0)
    return np.concatenate((visit, issue, [0.0]))


def straight() -> Shape:
    """Return the shape of work that goes evenly."""
    line = np.linspace(0.0, 1.0, FEWEST)
    return Shape(line, line)


def sampled_shape(result: RunResult) -> Shape:
    """Return the shape that a run has as sampled while it ran.

    Parameters
    ----------
    result : RunResult
        Its curve or, without one, the bytes issued at the ends of its slices.

    Returns
    -------
    Shape
        A straight one of fewer than `FEWEST` samples.
    """
    samples = result.curve or [
        (sample.time, sample.issued_bytes) for sample in result.progress if sample.phase != "visit"
    ]
    if len(samples) < FEWEST:
        return straight()
    times = np.array([each[0] for each in samples])
    issued = np.array([float(each[1]) for each in samples])
    return _shape(times, issued, _begin_of_issue(result), result.end)


def recorded_shape(result: RunResult) -> Shape:
    """Return the shape of a run from its I/Os, each counted when it is done.

    Parameters
    ----------
    result : RunResult
        With records.  Of its I/Os after the metadata phase the repairs count, or reads where there are none.

    Returns
    -------
    Shape
        At `POINTS` moments at most; a straight one of fewer than `FEWEST` I/Os.
    """
    records = result.records[result.records["scan"] != 0]
    records = records[records["done"] > _begin_of_issue(result)]
    repairs = records[records["write"] == 1]
    records = repairs if len(repairs) else records
    if len(records) < FEWEST:
        return straight()
    order = np.argsort(records["done"], kind="stable")
    done, sizes = records["done"][order], np.cumsum(records["length"][order].astype(np.float64))
    keep = np.unique(np.linspace(0, len(done) - 1, POINTS).astype(np.int64))
    return _shape(done[keep], sizes[keep], _begin_of_issue(result), result.end)


def _begin_of_issue(result: RunResult) -> float:
    """Return when the last metadata phase was over [s]; 0 for a scan that has none."""
    return max((end for name, _, end in result.phases if name == "visit"), default=0.0)


def _shape(times: F64, amounts: F64, begin: float, end: float) -> Shape:
    """Return the shape of amounts done at moments, as far as they rise."""
    last = int(np.argmax(amounts >= amounts[-1] * (1.0 - 1e-9)))
    times, amounts = times[: last + 1], amounts[: last + 1]
    span = float(times[-1]) - begin
    if span <= 0.0 or amounts[-1] <= 0.0:
        return straight()
    share = np.concatenate(([0.0], amounts / amounts[-1]))
    moment = np.maximum.accumulate(np.concatenate(([0.0], np.clip((times - begin) / span, 0.0, 1.0))))
    share, keep = np.unique(np.maximum.accumulate(share), return_index=True)
    return Shape(share, moment[keep], max(0.0, end - float(times[-1])) / span)


def with_zones(shape: Shape, rates: tuple[float, ...], transfer: float, reach: float = 1.0) -> Shape:
    """Return a shape with the zones of the drive: a scan by address begins on the outer, faster tracks.

    Parameters
    ----------
    shape : Shape
        Of a run at the mean rate of the drive.
    rates : tuple of float
        Media rate by zone, outermost first [bytes/s].
    transfer : float
        Share of the time in which data is moved, which goes with the rate.
    reach : float
        How far in the data lies, as a share of the drive.

    Returns
    -------
    Shape
        At share s of the work its moment is that of `shape`, later by what the integral of
        ``transfer * (1 / rate) / mean(1 / rate) + 1 - transfer`` up to s is more than s.
    """
    grid = np.linspace(0.0, 1.0, POINTS)
    zone = np.minimum(grid * reach * len(rates), len(rates) - 1).astype(np.int64)
    pace = 1.0 / np.array(rates)[zone]
    slope = transfer * pace / pace.mean() + (1.0 - transfer)
    zoned = np.concatenate(([0.0], np.cumsum(slope[:-1]) / slope[:-1].sum()))
    moment = np.maximum.accumulate(np.clip(shape.at(grid) + zoned - grid, 0.0, 1.0))
    return Shape(grid, moment, shape.tail)
