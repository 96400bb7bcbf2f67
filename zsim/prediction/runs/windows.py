"""What a sampled run is made of: its txgs, its streams, the windows of them, and how much to simulate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.engine.codes import BUDGET
from zsim.engine.compiled.plane import CompiledPlane
from zsim.scan.program import Program

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
NOTE_EVENTS = 512
"""Events between two notes of how far the scan has come."""


class NotingPlane(CompiledPlane):
    """A compiled plane that notes how far its streams are, at the same events however time is sliced."""

    notes: list[tuple[Any, ...]] | None = None

    def advance(self, until: float, budget: int = BUDGET) -> int:
        """Advance as `CompiledPlane.advance` does; come back where a note is due."""
        if self.notes is None:
            return super().advance(until, budget)
        due = NOTE_EVENTS - int(self.general("events")) % NOTE_EVENTS
        reason = super().advance(until, min(budget, due))
        if int(self.general("events")) % NOTE_EVENTS == 0:
            self.note()
        return reason

    def note(self) -> None:
        """Note the moment, and position and what is in flight of every stream."""
        assert self.notes is not None
        streams = self.memory.streams
        self.notes.append((self.now, streams["position"].copy(), streams["inflight"].copy()))


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
    notes: list[tuple[Any, ...]]
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
        Sums over the operations before each one, see `_columns`.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
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
    """

    precision: float = 0.02
    operations: int = 40_000
    most: int = 120_000
    wide: float = 0.05
    whole: int = 20_000
    times: float = 1.0
    visits: float = 1.0
