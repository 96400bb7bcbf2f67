"""The blocks that a sampled sorted scan visits, and what the ends of txgs free of its queue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.operation.blocks import ScanBlocks
from zsim.operation.sources import FreedEntries, WholeVisits
from zsim.prediction.runs.sampling.windows import SampledStream

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


class SampledEntries:
    """What the end of each txg frees, of entries that are queued and of streams that are issued from samples.

    Parameters
    ----------
    blocks : ScanBlocks
        With a queue.  Of a pool that stands for itself: in many tiles the few entries are not missed.
    """

    def __init__(self, blocks: ScanBlocks) -> None:
        assert blocks.queue is not None
        self._freed = FreedEntries(blocks)
        self._entry_of = np.zeros(len(blocks.items), np.int64)
        self._entry_of[blocks.queue.item] = np.arange(len(blocks.queue))
        self.gone: NDArray[np.bool_] = np.zeros(len(blocks.queue), bool)

    def end_txg(self, queued: I64) -> bool:
        """Free what the next txg does of the entries that are queued; tell whether there were any."""
        freed = self._freed.end_txg(queued)
        self.gone[queued] |= freed
        return bool(freed.any())

    def end_issue_txg(self, streams: Sequence[SampledStream], done: Sequence[int]) -> bool:
        """Free what the next txg does of what is not issued yet, stream by stream, in place."""
        left = [self._entries(each, begin) for each, begin in zip(streams, done, strict=True)]
        if not self.end_txg(np.concatenate(left)):
            return False
        for stream, begin, entries in zip(streams, done, left, strict=True):
            kept = np.concatenate((np.ones(begin, bool), ~self.gone[entries]))
            _keep(stream, kept)
        return True

    def _entries(self, stream: SampledStream, begin: int) -> I64:
        return self._entry_of[stream.program.item[begin:]]


class SampledVisits(WholeVisits):
    """The metadata of a sampled sorted scan: all of it is visited before anything is issued."""

    waiting = 0
    freeing: SampledEntries | None = None

    def note_txg(self) -> None:
        """Free what the end of a txg does of all that was visited."""
        if self.freeing is not None:
            self.freeing.end_txg(np.arange(self.visited))

    def used_bytes(self) -> float:
        """Return no memory: what is visited is issued from samples."""
        return 0.0

    def load_entries(self, *, by_address: bool) -> Sequence[int]:
        """Load nothing: windows are loaded already."""
        return ()

    def note_entries(self) -> None:
        """Do nothing."""


def _keep(stream: SampledStream, kept: NDArray[np.bool_]) -> None:
    """Leave operations out of a stream."""
    if kept.all():
        return
    stream.program = stream.program.part(kept)
    stream.work, stream.known = _sums(stream.work, kept), _sums(stream.known, kept)


def _sums(sums: F64, kept: NDArray[np.bool_]) -> F64:
    """Return sums before each operation of those that are kept."""
    each = np.diff(sums, axis=0)[kept]
    return np.concatenate((sums[:1], sums[0] + np.cumsum(each, axis=0)))
