"""Simulations in threads."""

from __future__ import annotations

import threading

import pytest

from zsim.base.machine.kernel_cache import WORKER
from zsim.prediction.runs.together import together


def test_one_of_several_processes_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKER, "1")
    here = threading.get_ident()
    assert set(together(lambda _: threading.get_ident(), range(4))) == {here}


def test_results_come_in_the_order_of_the_items() -> None:
    first = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            first.wait(0.05)
        return item

    assert list(together(work, range(6))) == list(range(6))
