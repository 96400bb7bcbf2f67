"""Which processes zsim can start, on how many cores, and what they are told."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import zsim
from zsim.base.machine import processes
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
