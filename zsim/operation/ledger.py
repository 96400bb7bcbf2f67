"""Counters of the leaves by phase of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import Rows

ByPhase = dict[str, tuple[tuple[float, ...], ...]]
COUNTED = ("busy", "read_bytes", "write_bytes")


class PhaseLedger:
    """Counters of the leaves by phase.

    Attributes
    ----------
    done : dict of str to ndarray of float, shape (leaves, 3)
        Busy time [s], bytes read, bytes written of each leaf; what the ends of txgs do counts with the phase
        that follows, and in the end with the last.
    """

    def __init__(self) -> None:
        self.done: dict[str, NDArray[np.float64]] = {}
        self._before: NDArray[np.float64] | None = None

    def book(self, phase: str, leaves: Rows) -> None:
        """Count what was done since the last booking for a phase."""
        now = np.column_stack([leaves[name].astype(np.float64) for name in COUNTED])
        done = now if self._before is None else now - self._before
        self._before = now
        self.done[phase] = self.done[phase] + done if phase in self.done else done

    def by_phase(self) -> ByPhase:
        """Return what was booked, as plain numbers."""
        return {phase: tuple(map(tuple, done.tolist())) for phase, done in self.done.items()}
