"""What runs tell at any moment: quantiles with their errors, what evidence and bad sectors do to them."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.prediction import results
from zsim.prediction.answer.records import EvidenceUsed, Quantiles
from zsim.prediction.api import case_of
from zsim.prediction.inputs.bad_sectors import LostTime
from zsim.prediction.results import EnsembleResult
from zsim.prediction.statistics.level import DurationLevel, with_sampling
from zsim.prediction.statistics.response import Response
from zsim.scenario.model import Scenario


def ensemble(**fields: Any) -> EnsembleResult:
    """Return what sixteen worlds showed: half an hour on small populations, twice that in the pool."""
    known = EnsembleResult(case_of(Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, **fields})))
    known.small = np.geomspace(900.0, 3600.0, len(known.members)).tolist()
    known.anchors = known.small
    known.response = Response(1000.0, 1800.0, 3200.0, 0.03, np.array(known.small))
    known.level = DurationLevel(2.0, 0.04)
    return known


def test_quantiles_are_those_of_small_populations_at_the_size_of_the_pool() -> None:
    known = ensemble()
    low, middle, high = known.quantiles
    assert middle == pytest.approx(3600.0)
    assert known.half_width == pytest.approx(0.05), "two independent errors"
    assert low == pytest.approx(3600.0 * with_sampling(1000.0 / 1800.0, 0.05))
    assert high == pytest.approx(3600.0 * with_sampling(3200.0 / 1800.0, 0.05))
    assert low < 2000.0
    assert high > 6400.0, "the error of the median widens the interval"


def test_an_exact_run_is_the_answer_and_has_no_sampling_error() -> None:
    known = ensemble()
    known.exact = SimpleNamespace(time_s=5000.0)  # type: ignore[assignment]
    assert known.quantiles == (5000.0, 5000.0, 5000.0)
    assert known.half_width == 0.0


def test_worlds_on_larger_populations_count_once() -> None:
    known = ensemble()
    members = len(known.members)
    assert known.worlds == members
    larger: Any = [object()] * 5
    known.larger, known._baselines = larger, larger[:2]
    assert known.worlds == members + 3, "the two near the median are members"


# Bad sectors.


def lost(seconds: float, faulted: float | None) -> LostTime:
    return LostTime(3, seconds, 10, seconds / 10, faulted)


def test_waits_for_bad_sectors_come_on_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        results, "recovery", lambda case, sound_s, known: (lost(300.0, None), lost(60.0, None))
    )
    assert ensemble().with_errors(3600.0) == pytest.approx(3960.0)
    assert ensemble().quantiles[1] == pytest.approx(3960.0)
    assert ensemble().sound_quantiles[1] == pytest.approx(3600.0)


def test_a_slow_drive_that_is_faulted_holds_nothing_up_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faulted after 1000 s, 100 of them waits: a quarter is done, the rest goes twice as fast."""
    monkeypatch.setattr(results, "recovery", lambda case, sound_s, known: (lost(100.0, 1000.0),))
    known = ensemble()
    known.without_faulted = 0.5
    assert known.with_errors(3600.0) == pytest.approx(3600.0 * (0.25 + 0.75 * 0.5) + 100.0)
    known.without_faulted = 1.0
    assert known.with_errors(3600.0) == pytest.approx(3700.0)


def test_a_drive_faulted_after_the_end_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "recovery", lambda case, sound_s, known: (lost(100.0, 9000.0),))
    known = ensemble()
    known.without_faulted = 0.5
    assert known.with_errors(3600.0) == pytest.approx(3700.0)


# Evidence.


def weighed(known: EnsembleResult, weights: np.ndarray, *, far: bool = False) -> None:
    adjusted = np.log(np.full(len(known.small), 4000.0))

    def moved(times: list[float]) -> list[float]:
        return times if far else np.exp(adjusted).tolist()

    posterior = SimpleNamespace(weights=SimpleNamespace(weights=weights), moved=moved)
    known.weighing = SimpleNamespace(posterior=posterior)  # type: ignore[assignment]


def test_without_evidence_no_number_of_worlds_is_told() -> None:
    assert ensemble().effective is None
    assert ensemble().times_given == ensemble().times


def test_equal_worlds_all_count_and_one_alone_is_one() -> None:
    known = ensemble()
    count = len(known.small)
    weighed(known, np.full(count, 1.0 / count))
    assert known.effective == pytest.approx(count)
    weighed(known, np.eye(count)[0])
    assert known.effective == pytest.approx(1.0)


def test_a_member_with_its_cache_either_way_is_one_world() -> None:
    known = ensemble()
    count = len(known.small)
    weighed(known, np.concatenate([np.full(count, 0.9), np.full(count, 0.1)]) / count)
    assert known.effective == pytest.approx(count)


def test_what_moves_the_answer_is_told_of_worlds_as_the_evidence_leaves_them() -> None:
    known = ensemble()
    weighed(known, np.full(len(known.small), 1.0 / len(known.small)))
    assert known.times_given == pytest.approx([4000.0] * len(known.small))
    assert all(math.isclose(each.low_s, each.high_s) for each in known.drivers())
    assert any(each.high_s > 1.5 * each.low_s for each in ensemble().drivers())


def test_the_records_of_a_use_are_told_where_uses_are_drawn() -> None:
    drawn, stated = ensemble(), ensemble(history="vm-host")
    assert drawn._record_sizes([each.history for each in drawn.members]) is not None
    assert stated._record_sizes([each.history for each in stated.members]) is None
    fields = {each.field for each in drawn.drivers()}
    assert "recordsize" in fields
    assert "recordsize" not in {each.field for each in stated.drivers()}


def test_fewer_worlds_than_unknowns_tell_nothing_of_what_moves_the_answer() -> None:
    known = ensemble()
    known.anchors = known.anchors[: len(known.inputs)]
    assert known.drivers() == ()


def test_one_world_alone_has_no_interval() -> None:
    known = EnsembleResult(replace(ensemble().case, exact=True))
    assert known.members == ()
    assert not known.has_interval
    assert ensemble().has_interval


def test_an_interval_has_both_ends_and_evidence_that_is_not_used_narrows_nothing() -> None:
    assert Quantiles(p10=1.0, p50=2.0, p90=3.0).has_interval
    assert not Quantiles(p10=1.0, p50=2.0).has_interval
    assert not Quantiles(p50=2.0, p90=3.0).has_interval
    assert EvidenceUsed(kind="heal", observed=12.0, weight=0.0).narrows == 0.0
