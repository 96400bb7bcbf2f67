"""What a sampled run is made of: its txgs, its streams, the windows of them, and how much to simulate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import whole_constant
from zsim.engine.codes import BUDGET
from zsim.operation.control import Plane
from zsim.prediction.runs.sampling.rounds import ScanMemory
from zsim.scan.program import Program

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Note = tuple[float, I64, I64]
"""A moment [s], and position and what is in flight of every stream."""
NOTE_EVENTS = whole_constant("sampling.note_events")
"""Events between two notes of how far the scan has come."""


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
        """Note the moment, and position and what is in flight of every stream."""
        assert self.notes is not None
        self.notes.append(self.plane.course())

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
    notes : list of (moment, positions, in flight)
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
