"""Sampled runs: estimates of the exact one, whose interval holds it as often as it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.statistical import coverage
from tests.statistical.coverage import PLAN, summary, trial, trials
from zsim.case.resolve import resolve
from zsim.engine.compiled import plane
from zsim.planning.compare import compare
from zsim.prediction import api
from zsim.prediction.answer.prediction import PredictionInterrupted
from zsim.prediction.api import predict
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.runs.middle_world import TILES, MiddleWorld, middle_world
from zsim.prediction.statistics.sampling import student, whole_from_windows, window_starts
from zsim.prediction.work import Work
from zsim.scenario.model import Scenario

FEW = (10, 11, 12, 15, 16, 17)


def sampled(number: int, **plan: float) -> MiddleWorld:
    middle = middle_world(coverage.scenario_of(number), blocks=coverage.WHOLE)
    assert middle is not None
    middle.plan = replace(PLAN, **plan)
    middle.execute()
    return middle


def test_student_has_its_known_quantiles() -> None:
    known = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 7: 2.365, 15: 2.131, 60: 2.000}
    for freedom, quantile in known.items():
        assert student(freedom) == pytest.approx(quantile, rel=3e-3)


def test_windows_lie_one_in_each_part_that_has_none() -> None:
    starts = window_starts(100, 16_100, 16, 300, np.array([150, 5_200]), seed=1)
    assert len(starts) == 14
    parts = (starts - 100) // 1_000
    assert len(set(parts.tolist())) == 14
    assert ((starts - 100) % 1_000 <= 700).all()


def test_what_is_known_of_every_block_is_used() -> None:
    generator = np.random.default_rng(1)
    size = generator.lognormal(size=10_000)
    seconds = 0.002 + 0.003 * size
    known = np.cumsum(np.stack([np.ones(10_000), size], axis=1), axis=0)
    known = np.concatenate((np.zeros((1, 2)), known))
    starts = window_starts(0, 10_000, 16, 100, np.zeros(0, np.int64), seed=2)
    columns = known[starts + 100] - known[starts]
    taken = [float(seconds[start : start + 100].sum()) for start in starts]
    found = whole_from_windows(taken, columns, known[-1], 100.0, 0.16)
    assert found.total == pytest.approx(float(seconds.sum()), rel=1e-6)
    assert found.half_width < 1e-6 * found.total


def test_the_interval_of_windows_holds_the_whole_as_often_as_it_says() -> None:
    held = 0
    for number in range(400):
        generator = np.random.default_rng(number)
        trend = np.linspace(1.0, 2.0, 20_000)
        seconds = trend * np.repeat(generator.lognormal(0.0, 0.4, 200), 100)
        known = np.arange(20_001, dtype=float)[:, None]
        starts = window_starts(0, 20_000, 20, 200, np.zeros(0, np.int64), seed=number)
        taken = [float(seconds[start : start + 200].sum()) for start in starts]
        columns = known[starts + 200] - known[starts]
        found = whole_from_windows(taken, columns, known[-1], 100.0, 0.2)
        held += abs(found.total - float(seconds.sum())) <= found.half_width
    assert 0.91 * 400 <= held <= 0.99 * 400


@pytest.mark.parametrize("number", [0, 1])
def test_a_small_pool_is_run_whole_and_is_the_exact_one(number: int) -> None:
    one = coverage.scenario_of(number)
    exact = ExactRun(one, lambda share, words: None, whole=coverage.WHOLE).execute()
    middle = sampled(number, whole=10**9)
    assert middle.time_s == exact.time_s
    assert middle.half_width_s == 0.0


def test_intervals_hold_the_exact_answers_of_a_few_scenarios() -> None:
    found = [each for each in (trial(number, {}) for number in FEW) if each is not None]
    assert len(found) == len(FEW)
    one = summary(found)
    assert one.covered >= one.band[0]
    assert abs(one.bias) < 0.02


def test_more_precision_costs_more_and_narrows_the_interval() -> None:
    coarse, fine = sampled(16, precision=0.5), sampled(16, precision=0.01, operations=60_000)
    assert fine.runs[0].simulated > 1.5 * coarse.runs[0].simulated
    assert fine.half_width_s < coarse.half_width_s


@pytest.mark.parametrize("number", [10, 16])
def test_time_may_be_sliced_in_any_way(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sampled(number)
    advance = plane.CompiledPlane.advance
    monkeypatch.setattr(
        plane.CompiledPlane,
        "advance",
        lambda self, until, budget=plane.BUDGET: advance(self, until, min(budget, 97)),
    )
    again = sampled(number)
    assert again.time_s == whole.time_s
    assert again.half_width_s == whole.half_width_s


BY_NIGHT = "backup 100MB/s 22:00-06:00"


@pytest.mark.parametrize(
    ("precision", "load", "calls"),
    [(None, None, 1), ("1%", None, 1), ("1%", None, 2), (None, BY_NIGHT, 1)],
    ids=[
        "learned",
        "learned, precise",
        "learned, in the second round",
        "by the hour",
    ],
)
def test_an_interrupted_prediction_has_an_interval(
    precision: str | None, load: str | None, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted once a world near the median is run: in what is run to know it better."""
    monkeypatch.setattr(api, "PATIENCE_S", 300.0)
    ran: list[int] = []
    for name in ("_run_telling", "_made_baseline"):
        real = getattr(Work, name)

        def stopped(work: Work, *given: int, real: Callable[..., object] = real) -> object:
            ran.append(1)
            if len(ran) > calls:
                raise KeyboardInterrupt
            return real(work, *given)

        monkeypatch.setattr(Work, name, stopped)
    stated = {"layout": "mirror2", "fill": 0.5, "history": "home-nas", "precision": precision}
    stated |= {"load": [load], "begins": "fri 17:30"} if load else {}
    scenario = Scenario.from_dict({name: value for name, value in stated.items() if value is not None})
    shares: list[float] = []
    with pytest.raises(PredictionInterrupted) as stop:
        predict(scenario, lambda share, words: shares.append(share))
    assert shares == sorted(shares)
    partial = stop.value.partial
    assert partial is not None
    assert partial.resilver_s.has_interval
    assert (partial.uncertainty.sampling_half_width_s or 0.0) > 0.0


def test_the_same_bits_on_one_core_and_on_two() -> None:
    asked = [{"layout": layout, "history": "home-nas"} for layout in ("mirror2", "raidz1x3")]
    tables = [compare(*map(Scenario.from_dict, asked), fill=0.4, jobs=jobs) for jobs in (1, 2)]
    assert tables[0].rows == tables[1].rows


def test_small_tiles_agree_with_the_exact_run() -> None:
    """A pool of 17 times a small tile; the interval holds the exact answer, and is no excuse."""
    stated = {"layout": "raidz2x6", "fill": 0.62, "drive_size": "40GB", "history": "home-nas"}
    one = resolve(Scenario.from_dict(stated))
    world = middle_world(one)
    assert world is not None
    world.execute()
    exact = ExactRun(one, lambda share, words: None).execute().time_s
    assert len(world.runs) == TILES
    assert abs(world.time_s - exact) <= world.half_width_s < 0.15 * exact


@pytest.mark.slow
def test_intervals_hold_the_exact_answers_of_generated_scenarios() -> None:
    found = [each for each in trials(range(330)) if each.kind != "tiles"]
    assert len(found) >= 200
    one = summary(found)
    assert one.band[0] <= one.covered <= one.band[1]
    assert abs(one.bias) < 0.005


@pytest.mark.slow
def test_intervals_of_small_tiles_hold_the_exact_answers() -> None:
    tiled = summary(trials(range(4, 400, 5)))
    assert tiled.covered >= tiled.band[0]
