"""The second process of a first run compiles just what the first will call."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from zsim.engine.compiled import kernel, warm
from zsim.engine.compiled.plane import CompiledPlane

from .playing import build, play
from .strategies import Scenario, scenarios

CALLED = ("advance", "flush_caches", "start_clients")


@pytest.mark.skipif(not hasattr(kernel.advance, "native"), reason="numba is switched off")
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_calls_find_what_was_compiled_ahead(scenario: Scenario) -> None:
    warm.compile_kernels()
    play(build(CompiledPlane, scenario), scenario)
    found = {name: len(getattr(kernel, name)._native) for name in CALLED}
    assert found == dict.fromkeys(CALLED, 1)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Two cores and nothing compiled; every process that is started just ends, in failure."""
    commands: list[list[str]] = []
    start = warm.subprocess.Popen

    def note(command: list[str], **options: Any) -> Any:
        commands.append(command)
        return start([sys.executable, "-c", "raise SystemExit(3)"], **options)

    monkeypatch.setattr(warm, "_begun", [])
    monkeypatch.setattr(warm, "IS_COMPILING", True)
    monkeypatch.setattr(warm, "available_cores", lambda: 2)
    monkeypatch.setattr(warm, "kernels_are_cached", lambda: False)
    monkeypatch.setattr(warm.subprocess, "Popen", note)
    return commands


def test_one_process_is_started_and_waited_for(started: list[list[str]]) -> None:
    warm.begin_compiling()
    warm.begin_compiling()
    assert started == [[sys.executable, "-c", warm.PROGRAM]]
    warm.finish_compiling()
    warm.finish_compiling()
    assert [process.returncode for process in warm._begun] == [3]


@pytest.mark.parametrize("reason", ["cached", "one core", "frozen", "no interpreter", "a child itself"])
def test_no_process_without_need(reason: str, started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason == "cached":
        monkeypatch.setattr(warm, "kernels_are_cached", lambda: True)
    elif reason == "one core":
        monkeypatch.setattr(warm, "available_cores", lambda: 1)
    elif reason == "frozen":
        monkeypatch.setattr(warm.sys, "frozen", True, raising=False)
    elif reason == "no interpreter":
        monkeypatch.setattr(warm.sys, "executable", "")
    else:
        monkeypatch.setattr(warm, "is_first", lambda: False)
    warm.begin_compiling()
    assert not started
