"""A part of an operation that is long enough to measure client latencies."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.operation.result import RunResult
from zsim.operation.run import Run, RunSetup
from zsim.prediction.inputs.clients import Latency, fewer, latencies
from zsim.prediction.inputs.population import miniature
from zsim.prediction.inputs.room import make_room
from zsim.prediction.inputs.unlike import scrubs_some
from zsim.prediction.runs.member import MemberResult, setup_of
from zsim.prediction.runs.what_if import Baseline
from zsim.vdevs.kind import kind_of

WATCHED_BLOCKS, WATCHED_REQUESTS = (
    whole_constant("clients.watched_blocks"), whole_constant("clients.percentile_requests")
)  # fmt: skip
SHORTEST_S, LONGEST_S = constant("clients.shortest_watch_s"), constant("clients.longest_watch_s")
WATCHED_CHILDREN = whole_constant("clients.watched_children")
STARVATIONS = constant("clients.starvations")


def client_waits(baseline: Baseline, blocks: int) -> tuple[Latency, ...]:
    """Return what clients wait before, during and after the operation; see `latencies`."""
    setup = setup_of(baseline.case, baseline.pool, baseline.result.model)
    if baseline.pool.walked == 1.0 or not _scrubs_several(baseline.case):
        return latencies(setup, run_for_waits(baseline, blocks))
    here = on_simulated(setup, baseline.pool.walked)
    found = latencies(here, _run_long_enough(baseline, blocks) or _ran(here))
    return tuple(replace(each, rate=each.rate * baseline.pool.walked) for each in found)


def _scrubs_several(case: Case) -> bool:
    """Tell whether a scrub may be simulated on a few of its vdevs, and clients would find the others idle."""
    return len(case.layout.data) > 1 and scrubs_some(case)


def on_simulated(setup: RunSetup, times: float) -> RunSetup:
    """Return the run with clients that read on the simulated vdevs alone, which `times` as many stand for."""
    asked = setup.asked
    if asked is not None:
        asked = asked.take(np.isin(asked.dva_vdev[:, 0], np.unique(setup.blocks.dva_vdev[:, 0])))
    return replace(setup, asked=asked, model=replace(setup.model, clients=fewer(setup.model.clients, times)))


def _ran(setup: RunSetup) -> RunResult:
    return Run(setup).finish()


def run_for_waits(baseline: Baseline, blocks: int) -> RunResult:
    """Return a run of the operation that is long enough for what clients wait.

    A drive serves a stream before a read elsewhere until that is as old as its limit of seconds, and a
    small population has no stream that lasts so long: the 99th percentile of what they wait beside 24,000
    blocks is up to 1.7 times that beside 400,000, which is within a tenth of that beside a million.  What
    counts is the time, so as many blocks are run as take it: more of them would be watched in their metadata
    phase alone.  Of clients that nobody stated, and that one of the possible worlds happens to have, the run
    that is there says enough.

    Parameters
    ----------
    baseline : Baseline
    blocks : int
        Its population was asked for with so many.
    """
    return _run_long_enough(baseline, blocks) or baseline.shown.run


def _run_long_enough(baseline: Baseline, blocks: int) -> RunResult | None:
    """Return a longer run than there is; None where that one says enough."""
    case = baseline.case
    stretched = case.operation in ("resilver", "scrub") and case.scenario.load
    wanted = _seconds(baseline.result) if stretched else 0.0
    if baseline.shown is not baseline.result or baseline.shown.run.end >= wanted:
        return None
    more = min(_most_blocks(case), math.ceil(blocks * wanted / baseline.shown.run.end))
    make_room(more)
    # The pool is not kept: of so many blocks, the places that are not run are some megabytes.
    pool = miniature(case, blocks=more)
    setup = setup_of(case, pool, baseline.result.model)
    longer = Run(on_simulated(setup, pool.walked) if _scrubs_several(case) else setup)
    del pool, setup
    longer.forget_blocks()
    result = longer.execute_for(2.0 * wanted)
    longer.release()
    return result


def _most_blocks(case: Case) -> int:
    """Return of how many blocks the run may be: in a dRAID the smallest lies on all drives of a stripe."""
    vdev = case.layout.vdevs[0]
    kind = kind_of(vdev.kind)
    return min(WATCHED_BLOCKS, WATCHED_CHILDREN // kind.columns(vdev)) if kind.has_groups else WATCHED_BLOCKS


def _seconds(member: MemberResult) -> float:
    """Return how long clients are to be watched [s]: until enough of them were answered for a percentile."""
    drives = [leaf.drive for leaf in member.model.leaves]
    limit = max((drive.queue_max_age_s for drive in drives if drive.rotating), default=0.0)
    answered = sum(count for count, _ in member.run.clients)
    asked = WATCHED_REQUESTS * member.run.end / max(1, answered)
    return min(LONGEST_S, max(SHORTEST_S, STARVATIONS * limit, asked))
