"""Which processes zsim can start, on how many cores, and what they are told."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import zsim
from zsim.base.machine import processes
from zsim.base.machine.worker_pool import WorkerPool
from zsim.planning.running import can_share_out


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {process, 3, 5}, raising=False)
    assert processes.available_cores() == 3, "asked of this process, which is 0"
    monkeypatch.delattr(os, "sched_getaffinity")
    for known, cores in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda known=known: known)
        assert processes.available_cores() == cores


def test_a_python_that_cannot_start_another_answers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.can_start_others()
    assert can_share_out() == (sys.platform != "win32")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not processes.can_start_others()
    assert not can_share_out()
    monkeypatch.delattr(sys, "frozen")
    monkeypatch.setattr(sys, "executable", "")
    assert not processes.can_start_others()


def test_a_process_that_is_started_finds_this_zsim_and_knows_that_it_is_not_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(processes.WORKER, raising=False)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert processes.is_first()
    told = processes.worker_environment()
    here = str(Path(zsim.__file__).parents[1])
    assert told["PYTHONPATH"].split(os.pathsep) == [here, "elsewhere"]
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert not processes.is_first()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_process_begun_while_interrupts_are_blocked_never_gets_one() -> None:
    tells = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    command = [sys.executable, "-c", tells]
    with processes.interrupts_blocked():
        assert subprocess.check_output(command, text=True) == "True\n"
    assert subprocess.check_output(command, text=True) == "False\n"


def interrupted(jobs: int, count: int) -> None:
    """Let a pool work for minutes; interrupt its processes, then this one, as a terminal does."""
    with WorkerPool(jobs) as pool:
        for _ in range(count):
            pool.submit(time.sleep, 100.0)
        for process in multiprocessing.active_children():
            os.kill(process.pid or 0, signal.SIGINT)
        raise KeyboardInterrupt


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_pool_that_is_interrupted_ends_at_once_and_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Its processes showed where they were, and each took one more piece of work, which was waited for."""
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted(2, 8)
    assert time.monotonic() - begun < 50.0
    assert not multiprocessing.active_children()
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_pool_leaves_alone_the_processes_of_others() -> None:
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(100.0,))
    with processes.interrupts_blocked():
        other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted(1, 1)
        assert multiprocessing.active_children() == [other]
    finally:
        other.kill()
        other.join()


def test_a_pool_does_all_its_work() -> None:
    with WorkerPool(2) as pool:
        assert list(pool.map(abs, [-1, 2, -3])) == [1, 2, 3]
