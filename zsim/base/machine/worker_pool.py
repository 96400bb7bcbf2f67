"""Processes that share the work of one command; on Ctrl-C the first process answers and ends the others."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from types import TracebackType
from typing import ParamSpec, TypeVar

from zsim.base.machine.processes import interrupts_blocked

P = ParamSpec("P")
T = TypeVar("T")


class WorkerPool(ProcessPoolExecutor):
    """A pool of `jobs` processes; an error that leaves its block ends them in the middle of their work.

    Parameters
    ----------
    jobs : int
        Processes, at most.

    Notes
    -----
    Ctrl-C goes to all processes of a terminal.  A worker of the standard library shows where it was then, and
    takes the next piece of work; the first process would wait for that.
    """

    def __init__(self, jobs: int) -> None:
        self._others = {process.pid for process in multiprocessing.active_children()}
        super().__init__(jobs, multiprocessing.get_context("spawn"), _leave_interrupts)

    def submit(self, work: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> Future[T]:
        """Hand out one piece of work; processes that begin with it are never interrupted."""
        with interrupts_blocked():
            return super().submit(work, *given, **named)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for process in multiprocessing.active_children():
                if process.pid not in self._others:
                    process.kill()
        super().__exit__(kind, error, trace)


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
