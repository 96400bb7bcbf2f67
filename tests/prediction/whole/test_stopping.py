"""What nobody waits for any more stops: answers that take long."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from zsim.base.machine.stopping import Stopped, stop_if_asked, stopped_by
from zsim.prediction import api
from zsim.prediction.answer.prediction import PredictionInterrupted
from zsim.prediction.work import Work
from zsim.scenario.model import Scenario


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
    further: dict[str, Callable[..., None]] = {"alternatives": never, "knob_advice": never, "unloaded": never}
    for name, each in further.items():
        monkeypatch.setattr(api, name, each)
    with pytest.raises(PredictionInterrupted) as stop:
        api.predict(Scenario(layout="mirror2", fill=0.3, drive_size="8GB", history="home-nas"))
    partial = stop.value.partial
    assert (partial is None) == (patience_s == 0.0)
    assert partial is None or partial.resilver_s.p50 > 0.0
