"""The bookkeeping of what follows the possible worlds: windows, tiles, and the regression over worlds."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.test_work_rules import CACHE, RATE, work
from zsim.case.resolve import resolve
from zsim.case.worlds import Choice
from zsim.prediction import api, reweighed
from zsim.prediction import work as working
from zsim.prediction.answer.records import EvidenceUsed
from zsim.prediction.inputs.ensemble import Unknown, normal_strata
from zsim.prediction.runs import middle_world as middle
from zsim.prediction.runs.middle_world import MiddleWorld
from zsim.prediction.runs.sampling.run import WARM_BLOCKS, SampledRun
from zsim.prediction.runs.sampling.windows import SampledStream
from zsim.prediction.statistics import response as regression
from zsim.prediction.statistics.drawn_worlds import SHORT_BLOCKS
from zsim.prediction.statistics.level import with_sampling
from zsim.prediction.statistics.sampling import student
from zsim.prediction.work import (
    Work,
)
from zsim.scan.program import OP_ISSUE, Program
from zsim.scenario.model import Scenario

# Windows and tiles.


def test_before_a_window_goes_what_may_be_in_flight() -> None:
    """A window of 1000 bytes over operations of 20 bytes in the mean holds 50 of them."""
    sizes = np.array([10.0, 30.0] * 50)
    work_before = np.concatenate(([0.0], np.cumsum(sizes)))
    program = Program(np.full(100, OP_ISSUE, np.int64), np.arange(100))
    run: Any = object.__new__(SampledRun)
    run.streams = [SampledStream(program, work_before, work_before[:, None])]
    run.limits = [SimpleNamespace(limit=1000)]
    assert run._warm(0) == WARM_BLOCKS + 50
    assert run.streams[0].head == 0
    nothing = Program(np.zeros(0, np.int64), np.zeros(0, np.int64))
    run.streams = [SampledStream(nothing, np.zeros(1), np.zeros((1, 1)))]
    assert run._warm(0) == WARM_BLOCKS + 1000


def tiles(times: list[float], small: list[float], scale: float, blocks: int) -> Any:
    world: Any = object.__new__(MiddleWorld)
    world.runs = [SimpleNamespace(known=True, time_s=time, half_width_s=0.0, covered=1.0) for time in times]
    world.small, world.pool = small, SimpleNamespace(scale=scale, table=range(blocks))
    return world


def test_populations_that_were_not_run_leave_their_spread() -> None:
    """Student's t times the spread over the root of their number, and the root of the share unseen."""
    times, seen = [100.0, 120.0, 90.0], 3
    spread = float(np.std(np.log(times), ddof=1))
    scale = min(middle.POPULATIONS, 12.0)
    expected = student(2) * spread / math.sqrt(3) * math.sqrt(1.0 - seen / scale)
    assert tiles(times, [], scale, 10)._between() == pytest.approx(expected)
    assert tiles(times, [], 3.0, 10)._between() == 0.0
    one = tiles([100.0], times, scale, 4 * middle.SMALL_BLOCKS)
    # Of one tile four times as large as the small miniatures: half of their spread.
    assert one._between() == pytest.approx(student(2) * spread * 0.5 * math.sqrt(1.0 - 1.0 / scale))
    assert tiles([100.0], [100.0], scale, 10)._between() == 0.0
    assert tiles([100.0], times, scale, 1)._between() == pytest.approx(
        student(2) * spread * math.sqrt(1 - 1 / scale)
    )


@pytest.mark.parametrize(
    ("stated", "whole", "precise_from", "populations"),
    [
        (None, False, 0, 1),  # nobody asked for a precision: one population, and small ones beside it
        (None, True, 0, 1),
        (0.01, True, 9, 1),  # of a pool that is run whole there is no other
        (0.01, False, 0, 2),  # two at least, for one tells nothing of others
        (0.01, False, 3, 3),
        (0.01, False, 99, middle.POPULATIONS),
    ],
)
def test_populations_are_run_until_the_precision_asked_for_is_reached(
    stated: float | None, whole: bool, precise_from: int, populations: int
) -> None:
    class Stub(MiddleWorld):
        whole = property(lambda self: stated_whole)  # type: ignore[assignment]
        in_tiles = property(lambda self: False)  # type: ignore[assignment]
        _is_light = property(lambda self: False)  # type: ignore[assignment]

        def _executed(self, number: int, plan: Any) -> Any:
            self.runs.append(SimpleNamespace(crowded=False))  # type: ignore[arg-type]
            return f"run {number}"

        def _precise(self, wanted: float) -> bool:
            return len(self.runs) >= precise_from

        def _run_small(self) -> None:
            self.small = [1.0]

    stated_whole = whole
    world: Any = object.__new__(Stub)
    world.case = SimpleNamespace(scenario=SimpleNamespace(precision=stated), precision=0.01)
    world.plan, world.runs, world.small, world.first, world.progress = None, [], [], None, None
    world.execute()
    assert len(world.runs) == populations
    assert world.first == "run 0"
    assert bool(world.small) is (stated is None and not whole)


@pytest.mark.parametrize(
    ("exact", "precision", "baseline", "again"),
    [
        (False, None, "baseline", True),
        (True, None, "baseline", False),
        (False, 0.05, "baseline", False),
        (False, None, None, False),
    ],
)
def test_more_evidence_weighs_the_runs_that_are_there_unless_they_were_run_for_a_precision(
    monkeypatch: pytest.MonkeyPatch, exact: bool, precision: float | None, baseline: str | None, again: bool
) -> None:
    asked: list[str] = []
    made = work(baseline=baseline)
    made.case = SimpleNamespace(exact=exact)
    made.given = lambda scenario: SimpleNamespace(case=None)
    monkeypatch.setattr(
        reweighed, "with_evidence", lambda prediction, evidence: SimpleNamespace(precision=precision)
    )
    monkeypatch.setattr(api, "predict", lambda scenario: asked.append("anew"))
    monkeypatch.setattr(reweighed, "reweighed", lambda *given: None)
    monkeypatch.setattr(api, "provenance_of", lambda case: None)
    monkeypatch.setattr(api, "held", lambda prediction, work: asked.append("again"))
    api._given(None, made, None)  # type: ignore[arg-type]
    assert asked == ["again" if again else "anew"]


def test_a_share_may_be_expected_below_one() -> None:
    """Whatever is compared: seconds, rates, or the share of time that a drive is busy."""
    few = {"observed": 0.3, "expected": 0.2, "expected_p10": 0.1, "expected_p90": 0.4}
    used = EvidenceUsed(kind="busy share of the source drives", unit="1", weight=0.5, **few)
    assert {name: getattr(used, name) for name in few} == few


# The regression over worlds.


def test_heaps_of_worlds_stay_heaps_of_their_width_and_the_whole_keeps_its_variance() -> None:
    """A third of Silverman's width, 0.9 min(s, IQR / 1.34) n^-1/5, and shrunk as he has it."""
    logs = np.repeat([0.0, 10.0], 8)
    values = regression._smoothed(logs)
    assert values.mean() == pytest.approx(5.0)
    assert values.std() == pytest.approx(5.0, rel=1e-3)
    width = 0.9 * min(5.0, 10.0 / 1.34) * 16**-0.2 / 3.0
    heap = values[values < 5.0]
    assert heap.std() == pytest.approx(width / math.sqrt(1.0 + (width / 5.0) ** 2), rel=1e-2)
    # Where half of the worlds are alike, the quartiles tell the width.
    mostly = np.array([0.0] * 3 + [1.0] * 10 + [9.0] * 3)
    quartiles = np.percentile(mostly, (25, 75))
    assert quartiles[1] - quartiles[0] < mostly.std()
    assert regression._smoothed(mostly).mean() == pytest.approx(mostly.mean())


def by_hand(
    design: np.ndarray, rest: np.ndarray, prior: float
) -> tuple[float, np.ndarray, float, np.ndarray]:
    """Return evidence, slopes, noise and covariance of a ridge regression, all by their primal formulas."""
    count, columns = design.shape
    variance = np.eye(count) + prior * design @ design.T
    spread = float(rest @ np.linalg.solve(variance, rest))
    evidence = -0.5 * np.linalg.slogdet(variance)[1] - 0.5 * (count - 1) * math.log(spread)
    inverse = np.linalg.inv(design.T @ design + np.eye(columns) / prior)
    noise = spread / (count - 1)
    return evidence, inverse @ design.T @ rest, noise, noise * inverse


@pytest.mark.parametrize("columns", [2, 9])
def test_a_regression_has_the_prior_of_most_evidence_and_its_posterior(columns: int) -> None:
    rng = np.random.default_rng(4)
    design = rng.standard_normal((7, columns))
    logs = design @ rng.standard_normal(columns) + 0.1 * rng.standard_normal(7)
    design -= design.mean(axis=0)
    fit = regression._fitted(design, logs)
    rest = logs - logs.mean()
    best = max(regression.PRIORS, key=lambda prior: by_hand(design, rest, prior)[0])
    _, slopes, noise, covariance = by_hand(design, rest, best)
    assert fit.slopes == pytest.approx(slopes)
    assert (fit.mean, fit.noise, fit.count) == (pytest.approx(logs.mean()), pytest.approx(noise), 7)
    assert fit.root @ fit.root.T == pytest.approx(covariance)


def test_worlds_drawn_anew_scatter_by_slopes_level_and_noise() -> None:
    fit = regression._Fit(5.0, np.array([2.0]), np.array([[0.3]]), 0.16, 4)
    drawn = normal_strata(512)[:, None]
    known = np.full(512, 0.7)
    values, medians = regression._predicted(fit, drawn, known)
    assert values.mean() == pytest.approx(5.7, abs=0.1)
    # Of the world 2, of the slope 0.3, of the level 0.16 / 4, of chance 0.16.
    assert values.var() == pytest.approx(4.0 + 0.09 + 0.04 + 0.16, rel=0.05)
    assert np.std(medians) == pytest.approx(0.2, rel=0.3)


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_the_middle_of_each_column_is_its_median(count: int) -> None:
    every = np.random.default_rng(1).standard_normal((count, 6))
    assert regression._middle(every) == pytest.approx(np.median(every, axis=0))


def test_choices_have_a_column_each_and_two_that_act_on_each_other_one_for_each_pair() -> None:
    history = Unknown("history", "history", "say so", choices=tuple(Choice(name, 1 / 3) for name in "abc"))
    scores = np.array([[-2.0, -2.0], [2.0, 0.0], [2.0, 2.0]])
    found = regression._features((CACHE, history), scores)
    assert found.shape == (3, 2 + 2 + 3 + 6)
    cache, uses, pairs = found[:, 2:4], found[:, 4:7], found[:, 7:].reshape(3, 2, 3)
    assert cache.tolist() == [[1, 0], [0, 1], [0, 1]]
    assert uses.tolist() == np.eye(3).tolist()
    for row, one, other in itertools.product(range(3), range(2), range(3)):
        assert pairs[row, one, other] == cache[row, one] * uses[row, other]
    assert regression._features((CACHE, RATE), scores).shape == (3, 2 + 2)


def test_an_error_is_added_to_a_quantile_as_variances_are() -> None:
    assert with_sampling(math.exp(0.3), 0.4 * 1.959964 / 1.281552) == pytest.approx(math.exp(0.5), rel=1e-5)
    assert with_sampling(math.exp(-0.3), 0.4 * 1.959964 / 1.281552) == pytest.approx(math.exp(-0.5), rel=1e-5)


@pytest.mark.parametrize(
    ("stated", "part"),
    [
        ({"layout": "raidz2x6"}, 1), ({"layout": "raidz3x40"}, 1), ({"layout": "raidz3x41"}, 2),
        ({"layout": "raidz2x6", "recordsize": "4M"}, 1), ({"layout": "raidz2x6", "recordsize": "8M"}, 2),
        ({"layout": "raidz2x41", "recordsize": "16K"}, 2),
    ],
)  # fmt: skip
def test_members_are_half_as_large_where_a_block_is_a_lot_of_work(stated: dict[str, str], part: int) -> None:
    """Children times megabytes of a stated record: up to 40, and beyond."""
    case = resolve(Scenario.from_dict({**stated, "fill": 0.5, "memory": "16T"}))
    found = Work(case, lambda share, doing: None)
    assert found.member_blocks == working.MEMBER_BLOCKS // part


@pytest.mark.parametrize("stated", [{}, {"memory": "16G"}, {"recordsize": "16K", "memory": "64G"}])
def test_members_are_larger_where_a_sorted_scan_may_be_short_of_memory(stated: dict[str, str]) -> None:
    case = resolve(Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, "drive_size": "8TB", **stated}))
    assert Work(case, lambda share, doing: None).member_blocks == SHORT_BLOCKS
    legacy = resolve(Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, "release": "zol-0.7", **stated}))
    assert Work(legacy, lambda share, doing: None).member_blocks == working.MEMBER_BLOCKS
