"""Many predictions at once: one process a core, results as they come, in any order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from zsim.base.errors import InputError
from zsim.planning.table import Row, answer_row, refused_row
from zsim.scenario.model import Scenario

FEW = 4
"""So many scenarios are run in this process: starting others would take longer."""


def answer(stated: dict[str, Any]) -> Row:
    """Return the answer of one scenario (as `Scenario.stated` gives it), or why it is refused."""
    from zsim.prediction.api import predict

    try:
        return answer_row(predict(Scenario.from_dict(stated)))
    except InputError as error:
        return refused_row(str(error))


def answers(scenarios: Sequence[dict[str, Any]], jobs: int | None = None) -> Iterator[tuple[int, Row]]:
    """Yield the place and the answer of each scenario, as they are done.

    Parameters
    ----------
    scenarios : sequence of dict
        As `Scenario.stated` gives them.
    jobs : int, optional
        Processes; by default one a core, and none but this one for a few scenarios.

    Notes
    -----
    An answer depends on its scenario alone, so it is the same for every number of processes.
    """
    if jobs is None:
        jobs = 1 if len(scenarios) <= FEW else min(available_cores(), len(scenarios))
    if jobs <= 1:
        yield from ((place, answer(stated)) for place, stated in enumerate(scenarios))
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=context, initializer=_leave_interrupts)
    try:
        futures = {pool.submit(answer, stated): place for place, stated in enumerate(scenarios)}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        # Leaving a `with` would wait for all that is still to come.
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts() -> None:
    """Let Ctrl-C, which the terminal sends to all processes, be the first one's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def available_cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
