"""The scan window: how much of the scan may be in flight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALL_SHARE = 8
MIN_SLOTS, MAX_SLOTS = 64, 60_000


@dataclass(frozen=True, slots=True)
class Window:
    """Limit of a scan stream.

    Attributes
    ----------
    limit : int
        Blocks, or bytes of psize.
    counts_blocks : bool
        Which of the two (releases to 0.7 count blocks).
    """

    limit: int
    counts_blocks: bool

    def most_blocks(self, psize: NDArray[np.int64]) -> int:
        """Return how many of these blocks can be in flight at once: the smallest; the last goes over it."""
        if self.counts_blocks:
            return self.limit
        return int(np.searchsorted(np.cumsum(np.sort(psize)), self.limit)) + 1


def slots_for(windows: list[Window], psize: NDArray[np.int64]) -> int:
    """Return how many blocks the windows can hold.

    Parameters
    ----------
    windows : list of Window
        In blocks, or in bytes of psize.
    psize : ndarray of int64, shape (blocks,)
        Of the blocks that are read [bytes].

    Returns
    -------
    int
        Places to keep: small blocks are taken as an eighth of the mean, of at least 512 bytes, so that a
        window of bytes has room for a run of them; MIN_SLOTS to MAX_SLOTS.
    """
    # Windows of bytes hold mostly blocks of the usual size; a run of small ones may need many times as many
    # slots.
    small = max(512.0, float(np.mean(psize)) / SMALL_SHARE) if len(psize) else 4096.0
    blocks = max(window.limit if window.counts_blocks else window.limit / small for window in windows)
    return int(min(MAX_SLOTS, max(MIN_SLOTS, blocks + 2)))
