"""The pace between the last two statuses of a scan, which the mean over the whole scan hides."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zsim.planning.eta.reasons import zpool_remaining
from zsim.planning.eta.records import RecentPace
from zsim.prediction.progress.moments import WHOLE, clock_of
from zsim.scenario.evidence import MOVES, RunningScan

CHANGED = 2.0
"""From such a factor on a change of pace is told: pools at work vary by less from hour to hour."""
SHORTEST_S = 120.0
"""Some twenty txgs of five seconds, at the end of each of which a scan stops: less tells no pace [s]."""
SURE = 4.0
"""So many times its rounding a difference of two counters has to be, to tell a rate."""
DIGITS = 3


STANDS_S = 600.0
"""A scan that has done nothing for so long does not go on by itself [s]."""


def lately_of(scans: Sequence[RunningScan]) -> RecentPace | None:
    """Return what was done since the status before, where the pace has changed; None where it has not.

    Parameters
    ----------
    scans : sequence of RunningScan
        Of one scan, in order of time, with the times of `zsim.prediction.progress.moments.with_clocks`.

    Returns
    -------
    RecentPace or None
        Since the latest status that is old enough for its counters to tell; None also while metadata is
        scanned.
    """
    still = standing(scans)
    if len(still) < len(scans) and (found := _between(still[-1], scans[-1])) is not None:
        return found if found.slower is None else None
    found = next((each for scan in scans[-2::-1] if (each := _between(scan, scans[-1])) is not None), None)
    return None if found is None or 1.0 / CHANGED < (found.slower or math.inf) < CHANGED else found


def standing(scans: Sequence[RunningScan]) -> tuple[RunningScan, ...]:
    """Return the statuses up to the first that shows what the last one does."""
    same = [place for place, scan in enumerate(scans) if _shown(scan) == _shown(scans[-1])]
    return tuple(scans[: same[0] + 1])


def told_once(scans: Sequence[RunningScan], stands: bool) -> tuple[RunningScan, ...]:
    """Return the statuses that tell when what was done: of equal ones the last, or the first if it stands."""
    if stands:
        return standing(scans)
    following = [*map(_shown, scans[1:]), None]
    return tuple(scan for scan, then in zip(scans, following, strict=True) if _shown(scan) != then)


def stands_still(found: RecentPace | None) -> bool:
    """Tell whether a scan does not go on."""
    return found is not None and found.slower is None and found.seconds >= STANDS_S


def _shown(scan: RunningScan) -> tuple[float | None, ...]:
    return scan.scanned, scan.issued, scan.processed


def _between(earlier: RunningScan, later: RunningScan) -> RecentPace | None:
    """Return what was done between two statuses; None where the counters are too coarse to tell."""
    (before, clock), (now, same) = clock_of(earlier), clock_of(later)
    then, last = _counter(earlier), _counter(later)
    if not (_repairs(earlier) and _repairs(later)) or clock != same:
        return None
    if before is None or now is None or then is None or last is None:
        return None
    seconds, done = now - before, last - then
    if seconds < SHORTEST_S or before <= 0.0 or then <= 0.0 or done < 0.0:
        return None
    expected, sure = then / before * seconds, SURE * _rounding(last)
    if done < sure:
        # So little may be rounding: it tells something only where far more was to be expected.
        return RecentPace(seconds, 0.0, None, None) if done == 0.0 and expected >= sure else None
    rates = {"to_go": None, "issue_rate": done / seconds, "scan_rate": done / seconds}
    return RecentPace(seconds, done, expected / done, zpool_remaining(later.model_copy(update=rates)))


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
