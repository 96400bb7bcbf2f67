"""Run many predictions: one process a core, results in the order in which they are done."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from multiprocessing.connection import Connection, wait

from zsim.base.errors import InputError, ZsimError, check_jobs
from zsim.base.machine.lightly import begin_lightly
from zsim.base.machine.processes import (
    available_cores,
    can_start_others,
    interrupts_blocked,
    worker_environment,
)
from zsim.planning.rows import Row, answer_row, refused_row
from zsim.planning.sharing import ScenarioQueue
from zsim.scenario.model import Scenario

PROGRAM = "from zsim.planning.running import work; work()"
FEW = 4
"""So many scenarios are run in this process: starting others would take longer."""


class WorkerError(ZsimError):
    """A process that was to answer scenarios failed: a fault of zsim, or too little memory."""

    exit_code = 70


def answer(stated: dict[str, object]) -> Row:
    """Return the answer of one scenario (as `Scenario.stated` gives it), or why it is refused."""
    from zsim.prediction.api import case_of, predict_case

    try:
        return answer_row(predict_case(case_of(Scenario.from_dict(stated)), portion="row"))
    except InputError as error:
        return refused_row(str(error))


def answers(
    scenarios: Sequence[dict[str, object]], jobs: int | None = None, executor: Executor | None = None
) -> Iterator[tuple[int, Row]]:
    """Yield the place and the answer of each scenario, as they are done.

    Parameters
    ----------
    scenarios : sequence of dict
        As `Scenario.stated` gives them.
    jobs : int, optional
        Number of processes; by default one per core, and none but this one for a few scenarios.
    executor : Executor, optional
        Whatever has ``submit``, in place of processes: a dask cluster for instance.

    Notes
    -----
    An answer depends on its scenario alone, so it is the same for every number of processes.
    """
    check_jobs(jobs)
    if executor is not None:
        yield from _submitted(scenarios, executor)
        return
    if jobs is None:
        jobs = 1 if len(scenarios) <= FEW else min(available_cores(), len(scenarios))
    waiting = ScenarioQueue(scenarios)
    if jobs <= 1 or not can_share_out():
        name = None
        while (following := waiting.next_for(name)) is not None:
            name, place, stated = following
            yield place, answer(stated)
        return
    from zsim.base.jit import of_this_machine

    of_this_machine().prepare()
    yield from _shared_out(waiting, min(jobs, len(scenarios)))


def _submitted(scenarios: Sequence[dict[str, object]], executor: Executor) -> Iterator[tuple[int, Row]]:
    """Yield answers of an executor; what has not begun when nobody waits any more is called off."""
    futures = {executor.submit(answer, stated): place for place, stated in enumerate(scenarios)}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def _shared_out(waiting: ScenarioQueue, jobs: int) -> Iterator[tuple[int, Row]]:
    """Yield answers of other processes, each of which has one scenario at a time."""
    workers = [_Worker() for _ in range(jobs)]
    try:
        busy = {worker.answers: worker for worker in workers if worker.goes_on(waiting)}
        while busy:
            for ready in wait(list(busy)):
                worker = busy[ready]  # type: ignore[index]
                place, row = worker.answered()
                if not worker.goes_on(waiting):
                    del busy[worker.answers]
                yield place, row
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that answers scenarios until its standard input ends, as it does when this process dies.

    It runs a program of its own and not the caller's again, as processes of `multiprocessing` do: so scripts
    need no ``if __name__ == "__main__"``.
    """

    def __init__(self) -> None:
        with interrupts_blocked():  # Ctrl-C goes to all processes of a terminal: the first answers
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM],
                env=worker_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.questions = self.process.stdin
        # Frames of its own, as text: what a worker says is data, never code.
        self.answers = Connection(os.dup(self.process.stdout.fileno()), writable=False)
        self.process.stdout.close()
        self.place = -1
        self.blocks: str | None = None

    def goes_on(self, waiting: ScenarioQueue) -> bool:
        """Give it the scenario that it is to answer next; tell whether there is one."""
        following = waiting.next_for(self.blocks)
        if following is None:
            return False
        self.blocks, place, stated = following
        self.ask(place, stated)
        return True

    def ask(self, place: int, stated: dict[str, object]) -> None:
        """Give it a scenario."""
        self.place = place
        with contextlib.suppress(BrokenPipeError):  # it has died, as `answered` will say
            self.questions.write(json.dumps(stated).encode() + b"\n")
            self.questions.flush()

    def answered(self) -> tuple[int, Row]:
        """Return the place of the scenario and its answer.

        Raises
        ------
        WorkerError
            When the process failed or was ended.
        """
        try:
            said = json.loads(self.answers.recv_bytes())
        except EOFError as error:
            raise WorkerError(f"a process ended with code {self.process.wait()} before its answer") from error
        if "fault" in said:
            raise WorkerError(said["fault"])
        return self.place, said["row"]

    def end(self) -> None:
        """End it at once: what it has answered is here, and what it is at can be asked again."""
        self.process.kill()
        self.process.wait()
        self.answers.close()
        with contextlib.suppress(OSError):
            self.questions.close()


def work() -> None:
    """Answer the scenarios of standard input, a line each; end with it, in the middle of one if need be."""
    begin_lightly()
    answers = Connection(os.dup(1), readable=False)
    os.dup2(2, 1)  # whatever prints does not disturb the answers
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        said: dict[str, object]
        try:
            said = {"row": answer(json.loads(asked.get()))}
        except Exception as error:  # the first process shows it
            said = {"fault": f"{type(error).__name__}: {error}"}
        answers.send_bytes(json.dumps(said).encode())


def _listen(asked: queue.SimpleQueue[bytes]) -> None:
    """Pass lines on; when there are no more, the first process is gone."""
    for line in sys.stdin.buffer:
        asked.put(line)
    os._exit(0)


def can_share_out() -> bool:
    """Tell whether others can answer: connections over standard streams are those of POSIX."""
    return sys.platform != "win32" and can_start_others()
