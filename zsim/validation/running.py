"""Run validation cases, one process per core; every case gets its claims, even if it fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

from zsim.base.machine.processes import available_cores
from zsim.base.machine.worker_pool import WorkerPool
from zsim.validation.discovery import sentence
from zsim.validation.frame import TIME, Claim, Options, ValidationCase, format_named, refused

Report = Callable[[float, str], None]
FEW = 4
"""So many cases are run in this process: starting others would take longer."""


def run_case(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claims of one case; whatever goes wrong is a failing claim with the reason.

    Returns
    -------
    list of Claim
        At least one; exactly one ``time`` for a case that has a duration.
    """
    if case.problem:
        return [refused(case, case.problem)]
    try:
        return complete(case, format_named(case.format).load().run(case, options))
    except Exception as error:  # one broken case must not end the others
        return [refused(case, sentence(error))]


def complete(case: ValidationCase, claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims, checked, with the main one added where a format left it out."""
    timed = sum(claim.claim == TIME for claim in claims)
    if case.claim == TIME and timed != 1:
        reason = f"the case gave {timed} claims 'time' in place of one"
        claims = [refused(case, reason), *(claim for claim in claims if claim.claim != TIME)]
    return [_checked(claim) for claim in claims] or [refused(case, "the case gave no claim")]


def _checked(claim: Claim) -> Claim:
    """Return the claim, failing where it has a tolerance but no number."""
    values = (claim.observed, claim.predicted, claim.p10, claim.p90, claim.error)
    if any(value is not None and not math.isfinite(value) for value in values):
        raise ValueError(f"{claim.case}, {claim.claim}: a claim holds a number that is not finite")
    if claim.verdict == "info" and claim.tolerance is not None:
        return replace(
            claim, verdict="fail", reason=claim.reason or "a claim with a tolerance is not information"
        )
    return claim


def run_cases(
    cases: Sequence[ValidationCase], options: Options, jobs: int | None = None, report: Report | None = None
) -> list[Claim]:
    """Return the claims of all cases, in the order of the cases.

    Parameters
    ----------
    cases : sequence of ValidationCase
    options : Options
    jobs : int, optional
        Number of processes; by default one per core, and none but this where there are few cases.
    report : callable, optional
        Called with the share done and the name of the case done last.
    """
    if jobs is None:
        jobs = 1 if len(cases) <= FEW else min(available_cores(), math.ceil(len(cases) / 2))
    results = _here(cases, options) if jobs <= 1 else _in_processes(cases, options, jobs)
    done: dict[int, list[Claim]] = {}
    for index, claims in results:
        done[index] = claims
        if report is not None:
            report(len(done) / len(cases), cases[index].name)
    return [claim for index in range(len(cases)) for claim in done[index]]


def _here(cases: Sequence[ValidationCase], options: Options) -> Iterator[tuple[int, list[Claim]]]:
    for index, case in enumerate(cases):
        yield index, run_case(case, options)


def _in_processes(
    cases: Sequence[ValidationCase], options: Options, jobs: int
) -> Iterator[tuple[int, list[Claim]]]:
    with WorkerPool(min(jobs, len(cases))) as pool:
        futures: dict[Future[list[Claim]], int] = {
            pool.submit(run_case, case, options): index for index, case in enumerate(cases)
        }
        for future in as_completed(futures):
            index = futures[future]
            yield index, _outcome(future, cases[index])


def _outcome(future: Future[list[Claim]], case: ValidationCase) -> list[Claim]:
    try:
        return future.result()
    except BrokenProcessPool:
        return [
            refused(
                case, "the process that ran this case, or one beside it, was killed; run it with --jobs 1"
            )
        ]
