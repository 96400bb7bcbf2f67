"""What nobody waits for any more stops: worlds beside the one that Ctrl-C came in, answers that take long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from zsim.base.machine.stopping import Stopped, stop_if_asked, stopped_by
from zsim.prediction import api
from zsim.prediction.answer.prediction import PredictionInterrupted
from zsim.prediction.runs.together import together
from zsim.prediction.work import Work
from zsim.scenario.model import Scenario

LONG_S = 60.0


def asks_until_stopped(begun: threading.Event, ended: list[str]) -> None:
    """Ask as a run does at each decision."""
    until = time.monotonic() + LONG_S
    begun.set()
    try:
        while time.monotonic() < until:
            stop_if_asked()
            time.sleep(0.001)
        ended.append("ran to its end")
    except Stopped:
        ended.append("stopped")
        raise


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever follows the first item is done in them."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("zsim.prediction.runs.together.WORTH_A_THREAD_S", -1.0)


@pytest.mark.usefixtures("two_threads")
def test_what_runs_beside_an_interrupt_stops() -> None:
    begun, ended = threading.Event(), list[str]()

    def work(item: int) -> int:
        if item == 1:
            begun.wait(LONG_S)
            raise KeyboardInterrupt
        if item == 2:
            asks_until_stopped(begun, ended)
        return item

    with pytest.raises(KeyboardInterrupt):
        list(together(work, range(3)))
    assert ended == ["stopped"]


@pytest.mark.usefixtures("two_threads")
def test_what_stops_a_thread_stops_those_that_it_waits_for() -> None:
    ended: list[str] = []

    def work(item: int) -> None:
        if item:
            asks_until_stopped(threading.Event(), ended)

    with pytest.raises(Stopped), stopped_by(lambda: True):
        list(together(work, range(3)))
    assert set(ended) == {"stopped"}
    stop_if_asked()  # behind it nothing is asked any more


def test_nested_stops_both_count() -> None:
    with stopped_by(lambda: True), stopped_by(lambda: False), pytest.raises(Stopped):
        stop_if_asked()


@pytest.mark.parametrize("patience_s", [0.0, 300.0])
def test_an_answer_is_made_of_what_was_run_if_that_takes_no_longer_than_one_waits(
    patience_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in what is looked at last; what other scan orders and knobs would do are further runs."""

    def interrupted(work: Work) -> None:
        raise KeyboardInterrupt

    def never(*given: object) -> None:
        raise AssertionError(given)

    monkeypatch.setattr(Work, "_look_closer", interrupted)
    monkeypatch.setattr(api, "PATIENCE_S", patience_s)
    further: dict[str, Callable[..., None]] = {"other_order": never, "knob_advice": never, "unloaded": never}
    for name, each in further.items():
        monkeypatch.setattr(api, name, each)
    with pytest.raises(PredictionInterrupted) as stop:
        api.predict(Scenario(layout="mirror2", fill=0.3, drive_size="8GB", history="home-nas"))
    partial = stop.value.partial
    assert (partial is None) == (patience_s == 0.0)
    assert partial is None or partial.resilver_s.p50 > 0.0
