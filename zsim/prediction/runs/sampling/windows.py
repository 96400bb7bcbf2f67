"""The parts of a sampled run: txgs, streams and windows, and how much to simulate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.engine.codes import BUDGET
from zsim.operation.control import Plane
from zsim.prediction.runs.sampling.rounds import ScanMemory
from zsim.scan.program import Program

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
NOTE_EVENTS = whole_constant("sampling.note_events")
"""Events between two notes of how far the scan has come."""
SATURATED = constant("sampling.saturated")


class Note(NamedTuple):
    """How far a scan has come.

    Attributes
    ----------
    moment : float
        [s]
    position, in_flight : ndarray of int64, shape (streams,)
        Of every stream: its next operation, and what its window counts of those under way.
    busy_s : ndarray of float64, shape (leaves,)
        How long each leaf has been busy so far, all its servers together [s].
    """

    moment: float
    position: I64
    in_flight: I64
    busy_s: F64


class CourseNotes:
    """Notes of how far the streams of a plane are, at the same events however time is sliced.

    Parameters
    ----------
    plane : Plane
    """

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        self.notes: list[Note] | None = None

    def events_left(self) -> int:
        """Return after how many events the next note is due."""
        if self.notes is None:
            return BUDGET
        return NOTE_EVENTS - int(self.plane.general("events")) % NOTE_EVENTS

    def came_back(self) -> None:
        """Note where the streams are if that is due."""
        if self.notes is not None and int(self.plane.general("events")) % NOTE_EVENTS == 0:
            self.note()

    def note(self) -> None:
        """Note how far the scan has come."""
        assert self.notes is not None
        self.notes.append(Note(*self.plane.course(), self.plane.leaves["busy"].copy()))

    def begin(self) -> None:
        """Begin to take notes."""
        self.notes = []

    def end(self) -> list[Note]:
        """Take the last note; return all since the beginning."""
        self.note()
        found, self.notes = self.notes or [], None
        return found


@dataclass(slots=True)
class Period:
    """One txg of the issue: a slice of the scan, its drain, and the txg's own writes.

    Attributes
    ----------
    begin, drained, end : float
        [s]
    notes : list of Note
    whole, last : bool
        Whether the slice was as long as it may be, and whether it came to the end of what was loaded.
    """

    begin: float
    drained: float
    end: float
    notes: list[Note]
    whole: bool
    last: bool

    @property
    def ended(self) -> float:
        """How long the txg took to end [s]."""
        return self.end - self.drained

    def waited(self, number: int, work: F64, first: int, servers: F64) -> tuple[float, float]:
        """Return for how long a stream was issued, and what was lost while its last blocks were awaited.

        Parameters
        ----------
        number : int
            Of the stream.
        work : ndarray of float64, shape (n + 1,)
            Before each of its operations.
        first : int
            Position of the first of them.
        servers : ndarray of float64, shape (leaves,)
            Commands that each leaf serves at a time.

        Returns
        -------
        issuing, idle : float
            What these blocks took beyond what they would at the pace before them [s].  The write caches of
            leaves may have lent that pace: it is no more than the time in which the leaf that limits the scan
            stood idle.
        """
        place = np.array([each.position[number] for each in self.notes]) - first
        last = self.notes[min(int(np.searchsorted(place, place[-1])), len(place) - 1)]
        issuing, flight = last.moment - self.begin, float(last.in_flight[number])
        done = float(work[place[-1]] - work[place[0]]) - flight
        if done <= flight:
            return issuing, 0.0
        idle = max(0.0, self.drained - self.begin - issuing - flight * issuing / done)
        return issuing, min(idle, self._stood_idle(last, servers))

    def _stood_idle(self, last: Note, servers: F64) -> float:
        """Return how long the busiest leaf was idle behind `last`; all of it if none was busy before [s].

        A leaf that was busy for `SATURATED` of the slice goes on with what it has to do whatever is issued.
        """
        issuing, waited = last.moment - self.begin, self.drained - last.moment
        share = (last.busy_s - self.notes[0].busy_s) / (servers * max(issuing, 1e-9))
        busiest = int(np.argmax(share))
        if share[busiest] < SATURATED:
            return waited
        behind = float(self.notes[-1].busy_s[busiest] - last.busy_s[busiest]) / float(servers[busiest])
        return max(0.0, waited - behind)


@dataclass(slots=True)
class Windows:
    """Windows of one stream that were simulated together, and where they stand in what was loaded."""

    starts: I64
    begins: I64
    rows: I64


@dataclass(slots=True)
class SampledStream:
    """What one stream issues: all of it, and what is known of it.

    Attributes
    ----------
    program : Program
    work : ndarray of float, shape (n + 1,)
        Blocks or bytes before each operation, as the window counts them.
    known : ndarray of float, shape (n + 1, columns)
        Sums over the operations before each one, see `operation_sums`.
    head : int
        Operations done in the beginning.
    found : list of (start, seconds, period)
        Windows measured, and the period that the middle of each lies in.
    """

    program: Program
    work: F64
    known: F64
    head: int = 0
    found: list[tuple[int, float, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.program)

    def known_at(self, places: I64) -> F64:
        """Return what is known before some operations; `known` may be kept column after column."""
        return np.ascontiguousarray(self.known[places])


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPlan:
    """How much of a run to simulate.

    Attributes
    ----------
    precision : float
        Half the 95 % interval to reach, as a share of the duration.
    operations, most : int
        To simulate in windows, warming up included, at most where the interval is narrower than `wide`, and
        at most in any case; at least the first set of windows is.
    wide : float
        Share of the duration.
    whole : int
        Programs up to this length are run whole.
    times, visits : float
        The pool has so many times the operations, and so many times the metadata phase.
    memory : ScanMemory, optional
        Of a sorted scan that is short of it.
    """

    precision: float = 0.02
    operations: int = 40_000
    most: int = 120_000
    wide: float = 0.05
    whole: int = 20_000
    times: float = 1.0
    visits: float = 1.0
    memory: ScanMemory | None = None
