"""The scan window: how much of the scan may be in flight."""

from __future__ import annotations

from dataclasses import dataclass


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
