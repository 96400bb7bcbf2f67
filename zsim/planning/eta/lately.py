"""What the last two statuses of a scan show alone: a change of pace that the mean of the whole hides."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zsim.planning.eta.reasons import zpool_remaining
from zsim.planning.eta.records import Lately
from zsim.prediction.progress.moments import WHOLE, clock_of
from zsim.scenario.evidence import MOVES, RunningScan

CHANGED = 2.0
"""From such a factor on a change of pace is told: pools at work vary by less from hour to hour."""
SHORTEST_S = 120.0
"""Some twenty txgs of five seconds, at the end of each of which a scan stops: less tells no pace [s]."""
SURE = 4.0
"""So many times its rounding a difference of two counters has to be, to tell a rate."""
DIGITS = 3


def lately_of(scans: Sequence[RunningScan]) -> Lately | None:
    """Return what was done between the last two statuses, where the pace has changed; None where not.

    Parameters
    ----------
    scans : sequence of RunningScan
        Of one scan, in order of time, with the times of `zsim.prediction.progress.moments.with_clocks`.

    Returns
    -------
    Lately or None
        None also while metadata is scanned, and where the counters are too coarse to tell.
    """
    if len(scans) < 2 or not all(map(_repairs, scans[-2:])):
        return None
    (before, clock), (now, same) = (clock_of(scan) for scan in scans[-2:])
    then, last = (_counter(scan) for scan in scans[-2:])
    if before is None or now is None or then is None or last is None or clock != same:
        return None
    seconds, done, rounding = now - before, last - then, _rounding(last)
    if seconds < SHORTEST_S or before <= 0.0 or then <= 0.0 or done < 0.0:
        return None
    usual = then / before
    if done < SURE * rounding:
        # So little may be rounding: it tells something only where far more was to be expected.
        return Lately(seconds, 0.0, None, None) if done == 0.0 and _stands(usual, seconds, rounding) else None
    slower = usual * seconds / done
    if 1.0 / CHANGED < slower < CHANGED:
        return None
    rates = {"to_go": None, "issue_rate": done / seconds, "scan_rate": done / seconds}
    return Lately(seconds, done, slower, zpool_remaining(scans[-1].model_copy(update=rates)))


def _stands(usual: float, seconds: float, rounding: float) -> bool:
    return usual * seconds >= SURE * rounding


def _by_scan(scan: RunningScan) -> bool:
    return scan.format in ("legacy", "rebuild") and scan.kind not in MOVES


def _repairs(scan: RunningScan) -> bool:
    """Tell whether all metadata is scanned, so that the counters of the issue are those of the work."""
    if _by_scan(scan) or scan.kind in MOVES:
        return True
    return (scan.scanned or 0.0) >= WHOLE * (scan.total or math.inf)


def _counter(scan: RunningScan) -> float | None:
    return scan.scanned if _by_scan(scan) and scan.scanned is not None else scan.issued


def _rounding(value: float) -> float:
    """Return the last digit of a counter that is printed with three of them [bytes]."""
    if value < 1024.0:
        return 1.0
    unit = 1024.0 ** math.floor(math.log(value, 1024.0))
    return float(unit * 10.0 ** (math.floor(math.log10(value / unit)) + 1 - DIGITS))
