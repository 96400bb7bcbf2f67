"""The txgs of a run at another size: what happens once per txg, and what grows with the work.

A slice of the scan ends with a drain, with what the txg writes of its own, and with a flush of the drives'
write caches.  A small run may be shorter than one slice.  What the scan left in the caches is work that the
slice would have taken had they been smaller, so that it grows with the bytes; the rest comes once a txg.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from zsim.base.constants import whole_constant
from zsim.operation.control import ScanControl

if TYPE_CHECKING:
    from zsim.operation.control import Steps

QUIET_TXGS = whole_constant("sampling.quiet_txgs")


def quiet_end(control: ScanControl, cached: bool, ends: Sequence[float]) -> Steps[float]:
    """Let txgs end in which the scan has left nothing in the caches; return how long one takes [s].

    Parameters
    ----------
    control : ScanControl
        Of a scan that is over.
    cached : bool
        Whether write caches are flushed at the end of a txg; without, `ends` are as quiet as any.
    ends : sequence of float
        How long txgs of the scan took to end [s].
    """
    found = [] if cached else list(ends)
    for _ in range(QUIET_TXGS):
        begin = control.plane.now
        yield from control.sync()
        found.append(control.plane.now - begin)
    return float(np.mean(found))
