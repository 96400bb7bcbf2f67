"""The scan window: how much of the scan may be in flight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
