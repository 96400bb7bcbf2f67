"""Simulations in threads."""

from __future__ import annotations

import threading

import pytest

from zsim.base.machine.kernel_cache import WORKER
from zsim.prediction.runs.together import together

LONG_S = 60.0


def test_one_of_several_processes_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKER, "1")
    here = threading.get_ident()
    assert set(together(lambda _: threading.get_ident(), range(4))) == {here}


@pytest.mark.parametrize(("worth_s", "here"), [(LONG_S, 4), (-1.0, 1)])
def test_what_takes_little_time_is_done_in_this_thread(
    monkeypatch: pytest.MonkeyPatch, worth_s: float, here: int
) -> None:
    """The first item tells."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("zsim.prediction.runs.together.WORTH_A_THREAD_S", worth_s)
    found = list(together(lambda _: threading.get_ident(), range(4)))
    assert found.count(threading.get_ident()) == here


def test_what_is_not_asked_for_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    monkeypatch.setattr("zsim.prediction.runs.together.WORTH_A_THREAD_S", LONG_S)
    assert next(iter(together(done.append, range(4)))) is None
    assert done == [0]


def test_results_come_in_the_order_of_the_items(monkeypatch: pytest.MonkeyPatch) -> None:
    first = threading.Event()
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("zsim.prediction.runs.together.WORTH_A_THREAD_S", -1.0)

    def work(item: int) -> int:
        if item == 1:
            first.wait(0.05)
        return item

    assert list(together(work, range(6))) == list(range(6))
