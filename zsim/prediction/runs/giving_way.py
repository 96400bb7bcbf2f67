"""Scans that give way to clients (to 0.7), on populations that are through before clients have paused often.

Such a scan is fast while no client has asked lately, and waits some ticks before each block otherwise.  A
small population on flash fits into one pause of the clients, or between two of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from zsim.base.constants import constant
from zsim.engine.model import PlaneModel
from zsim.prediction.inputs.clients import request_rate
from zsim.prediction.runs.member import MemberResult
from zsim.vdevs.kind import LOG

PAUSES = constant("clients.pauses")
"""Pauses of the clients that a run has at least, if their share of its time is to be that of the pool's."""
LEAST_SHARE = constant("clients.least_pause")
"""Of the time: where pauses are rarer, no run is made of what the scan does in them."""


def rate_given_way_to(model: PlaneModel) -> float:
    """Return how often clients ask for what a scan gives way to [1/s]: not for a log device's writes."""
    logs = any(vdev.alloc_class == LOG for vdev in model.vdevs)
    return request_rate(group for group in model.clients if not (logs and group.kind == "sync-write"))


def run_giving_way(run: Callable[[PlaneModel], MemberResult], model: PlaneModel) -> MemberResult:
    """Return what a scan takes that gives way to clients, in the mean over many of their pauses.

    Parameters
    ----------
    run : callable
        From a data plane to what a population takes on it.
    model : PlaneModel

    Returns
    -------
    MemberResult
        Of `run` as it is, if the scan gives way to nobody, a drive rotates or the run has enough pauses; else
        with the duration ``1 / (p / fast + (1 - p) / slow)`` of a scan that is in pauses for the share p of
        the time, and with the rest of the run that counts for more of it.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_scrub_cb (to 0.7): the scan waits where clients asked within the last
    ``zfs_scan_idle`` w.  Requests come at random, r a second, so that none came in the last w seconds for
    ``p = exp(-r w)`` of the time (Ross, Introduction to Probability Models, 2014, section 5.3), and r p
    pauses begin in a second.  On disks what is in flight takes longer than a pause, so that there is no time
    of which it could be said that the scan is fast; there populations are through after many pauses.
    """
    rules = model.scan
    flash = not any(leaf.drive.rotating for leaf in model.leaves)
    rate = rate_given_way_to(model) if flash and rules.delay_ticks > 0 else 0.0
    found = run(model)
    if rate == 0.0:
        return found
    pauses = math.exp(-rate * rules.idle_window_s)
    if rate * pauses * found.run.end >= PAUSES:
        return found
    slow = run(replace(model, scan=replace(rules, idle_window_s=math.inf)))
    if pauses < LEAST_SHARE:
        return _of(slow, model, slow.time_s)
    fast = run(replace(model, scan=replace(rules, delay_ticks=0)))
    time_s = 1.0 / (pauses / fast.time_s + (1.0 - pauses) / slow.time_s)
    return _of(fast if pauses > 0.5 else slow, model, time_s)


def _of(result: MemberResult, model: PlaneModel, time_s: float) -> MemberResult:
    """Return a result with another duration, on the plane that was asked for."""
    times = time_s / result.time_s
    return replace(
        result,
        time_s=time_s,
        visit_s=result.visit_s * times,
        issue_s=result.issue_s * times,
        sync_s=result.sync_s * times,
        model=model,
    )
