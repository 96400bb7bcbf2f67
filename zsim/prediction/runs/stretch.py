"""A stretch of an operation that is long enough to tell what clients wait meanwhile."""

from __future__ import annotations

from zsim.base.constants import constant, whole_constant
from zsim.operation.result import RunResult
from zsim.operation.run import Run
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import setup_of
from zsim.prediction.runs.what_if import Baseline

WATCHED_BLOCKS, WATCHED_S = whole_constant("clients.watched_blocks"), constant("clients.longest_watch_s")


def stretch(bench: Baseline) -> RunResult:
    """Run a stretch of the operation that is long enough for what clients wait.

    A drive serves a stream before a read elsewhere until that is as old as its limit of seconds, and a
    small population has no stream that lasts so long: the 99th percentile of what they wait beside 24,000
    blocks is up to 1.7 times that beside 400,000, which is within a tenth of that beside a million.  Of
    clients that nobody stated, and that one of the possible worlds happens to have, the run that is there
    says enough.
    """
    case, model = bench.case, bench.result.model
    stretched = case.operation in ("resilver", "scrub") and case.scenario.load
    if not stretched or bench.shown is not bench.result:
        return bench.shown.run
    # The pool is not kept: of so many blocks, the places that are not run are some megabytes.
    run = Run(setup_of(case, miniature(case, blocks=WATCHED_BLOCKS), model, case.release))
    result = run.execute_for(WATCHED_S)
    run.release()
    return result
