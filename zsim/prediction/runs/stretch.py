"""A stretch of an operation that is long enough to tell what clients wait meanwhile."""

from __future__ import annotations

from zsim.base.constants import constant, whole_constant
from zsim.operation.result import RunResult
from zsim.operation.run import Run
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import setup_of
from zsim.prediction.runs.what_if import Baseline

LEAST_BLOCKS, MOST_BLOCKS = whole_constant("work.large_blocks"), whole_constant("clients.watched_blocks")
WATCHED_S, MARGIN = constant("clients.longest_watch_s"), constant("clients.watched_margin")


def stretch(bench: Baseline) -> RunResult:
    """Run a stretch of the operation that is long enough for what clients wait.

    A drive serves a stream before a read elsewhere until that is as old as its limit of seconds, and a
    small population has no stream that lasts so long.  Of clients that nobody stated, and that one of the
    possible worlds happens to have, the run that is there says enough.
    """
    case, model = bench.case, bench.result.model
    stretched = case.operation in ("resilver", "scrub") and case.scenario.load
    if not stretched or bench.shown is not bench.result:
        return bench.shown.run
    # The pool is not kept: of so many blocks, the places that are not run are some megabytes.
    run = Run(setup_of(case, miniature(case, blocks=blocks_to_watch(bench)), model, case.release))
    result = run.execute_for(WATCHED_S)
    run.release()
    return result


def blocks_to_watch(bench: Baseline) -> int:
    """Return how many blocks last for as long as clients are watched, at the mean pace of the operation."""
    a_second = len(bench.pool.table) * bench.pool.scale / max(bench.result.time_s, 1e-9)
    return int(min(MOST_BLOCKS, max(LEAST_BLOCKS, MARGIN * WATCHED_S * a_second)))
