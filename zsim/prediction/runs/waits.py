"""A part of an operation that is long enough to measure client latencies."""

from __future__ import annotations

import math

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.operation.result import RunResult
from zsim.operation.run import Run
from zsim.prediction.inputs.population import miniature
from zsim.prediction.inputs.room import make_room
from zsim.prediction.runs.member import MemberResult, setup_of
from zsim.prediction.runs.what_if import Baseline
from zsim.vdevs.kind import kind_of

WATCHED_BLOCKS, WATCHED_REQUESTS = (
    whole_constant("clients.watched_blocks"), whole_constant("clients.percentile_requests")
)  # fmt: skip
SHORTEST_S, LONGEST_S = constant("clients.shortest_watch_s"), constant("clients.longest_watch_s")
WATCHED_CHILDREN = whole_constant("clients.watched_children")
STARVATIONS = constant("clients.starvations")


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
    case, run = baseline.case, baseline.shown.run
    stretched = case.operation in ("resilver", "scrub") and case.scenario.load
    wanted = _seconds(baseline.result) if stretched else 0.0
    if baseline.shown is not baseline.result or run.end >= wanted:
        return run
    more = min(_most_blocks(case), math.ceil(blocks * wanted / run.end))
    make_room(more)
    # The pool is not kept: of so many blocks, the places that are not run are some megabytes.
    longer = Run(setup_of(case, miniature(case, blocks=more), baseline.result.model))
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
