"""Knobs of ZFS: which are tried, what two settings on common worlds say, and which one is advised."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.base.units import format_duration
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.prediction.answer.records import Clients, Waits
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.runs import knobs
from zsim.prediction.runs.knobs import LEAST, STUDENT, WORTH_SAYING, Knob, KnobEffect, KnobWorld
from zsim.scenario.model import Scenario
from zsim.scenario.parts import Hours
from zsim.scenario.releases.products import Timed

LOAD = "random-read,threads=2,think=5ms"
KNOB = Knob("zfs_vdev_scrub_max_active", 8, "", "")


def case(**stated: Any) -> Case:
    known = {"layout": "mirror2", "fill": 0.5, "drive_size": "1TB", "release": "openzfs-2.3"}
    return resolve(Scenario.from_dict({**known, **stated}))


def test_a_knob_at_the_value_it_has_is_not_tried() -> None:
    for release in ("openzfs-2.3", "zol-0.7", "freebsd-9.1"):
        known = case(release=release)
        tried = knobs.knobs_of(known)
        assert tried
        assert all(knob.name in known.release.tunables for knob in tried)
        assert all(knob.value != known.release.tunables[knob.name] for knob in tried)
    values = {knob.value for knob in knobs.knobs_of(case()) if knob.name == "zfs_vdev_scrub_max_active"}
    other = case(tunables={"zfs_vdev_scrub_max_active": 8})
    now = {knob.value for knob in knobs.knobs_of(other) if knob.name == "zfs_vdev_scrub_max_active"}
    assert 8 in values
    assert now == values - {8}


def test_of_each_prediction_fewer_are_tried_and_none_that_is_stated() -> None:
    every = {(knob.name, knob.value) for knob in knobs.knobs_of(case())}
    advised = {(knob.name, knob.value) for knob in knobs.knobs_of(case(), advised=True)}
    assert advised
    assert advised < every
    name, value = next(iter(advised))
    stated = case(tunables={name: value + 1})
    assert name not in {knob.name for knob in knobs.knobs_of(stated, advised=True)}
    assert (name, value) in {(knob.name, knob.value) for knob in knobs.knobs_of(stated)}


def worlds(times_s: list[float], p99_s: list[float | None]) -> list[KnobWorld]:
    known = case()
    pool: Any = SimpleNamespace()
    model = plane_model(known)
    return [
        KnobWorld(replace(known, seed=number), pool, model, time_s, wait)
        for number, (time_s, wait) in enumerate(zip(times_s, p99_s, strict=True))
    ]


def with_runs(patch: pytest.MonkeyPatch, times_s: list[float], p99_s: list[float | None]) -> list[Case]:
    """Let runs of world n take so long, and their clients wait so long; return what is run."""
    seen: list[Case] = []

    def run(asked: Case, *_: Any) -> Any:
        seen.append(asked)
        return SimpleNamespace(time_s=times_s[asked.seed])

    patch.setattr(knobs, "run_pool", run)
    patch.setattr(knobs, "_p99", lambda asked, *_: p99_s[asked.seed])
    return seen


def test_an_effect_is_the_geometric_mean_of_ratios_on_common_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = with_runs(monkeypatch, [50.0, 80.0, 60.0], [0.3, 0.4, 0.2])
    effect = knobs.tried(KNOB, worlds([100.0, 100.0, 240.0], [0.1, 0.2, 0.2]))
    ratios = np.array([0.5, 0.8, 0.25])
    assert effect.ratio == pytest.approx(float(np.prod(ratios)) ** (1 / 3))
    # The standard error of the mean of logarithms, times Student's t.
    logs = np.log(ratios)
    deviation = math.sqrt(((logs - logs.mean()) ** 2).sum() / 2)
    assert effect.error == pytest.approx(STUDENT * deviation / math.sqrt(3))
    assert effect.p99_s == pytest.approx(0.3)
    assert effect.p99_ratio == pytest.approx((3.0 + 2.0 + 1.0) / 3)
    assert [each.release.tunables[KNOB.name] for each in seen] == [8, 8, 8]
    assert [each.seed for each in seen] == [0, 1, 2]


def test_no_effect_is_known_better_than_the_engine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with_runs(monkeypatch, [50.0, 50.0], [None, None])
    effect = knobs.tried(KNOB, worlds([100.0, 100.0], [None, None]))
    assert (effect.ratio, effect.error) == (pytest.approx(0.5), LEAST)
    assert effect.p99_ratio is None
    assert effect.p99_s is None


def test_worlds_without_answers_of_clients_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with_runs(monkeypatch, [50.0, 50.0], [None, 0.8])
    effect = knobs.tried(KNOB, worlds([100.0, 100.0], [0.2, 0.2]))
    assert (effect.p99_ratio, effect.p99_s) == (pytest.approx(4.0), pytest.approx(0.8))
    assert knobs.tried(KNOB, worlds([100.0, 100.0], [0.2, None])).p99_ratio is None


def test_clients_are_watched_on_what_is_advised_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two settings the second saves half; a hundredth is too little to say, and nobody is watched."""
    watched: list[int] = []

    def wait(asked: Case, *_: Any) -> float:
        watched.append(asked.release.tunables[KNOB.name])
        return 0.1 * watched[-1]

    times = {1: 95.0, 8: 50.0}
    monkeypatch.setattr(knobs, "WORLDS", 2)
    monkeypatch.setattr(knobs, "miniature", lambda asked, blocks: None)
    monkeypatch.setattr(
        knobs,
        "run_pool",
        lambda asked, *_: SimpleNamespace(time_s=times.get(asked.release.tunables[KNOB.name], 100.0)),
    )
    monkeypatch.setattr(knobs, "_p99", wait)
    monkeypatch.setattr(knobs, "knobs_of", lambda *_, **__: [replace(KNOB, value=n) for n in (1, 8)])
    loaded = case(load=LOAD)
    usual = loaded.release.tunables[KNOB.name]
    [found] = knobs.knob_advice(loaded, 1000.0, ())
    assert f"is then {8 / usual:.2g} times what it is now" in found.why
    assert watched == [usual, usual, 8, 8]
    watched.clear()
    times.update({1: 99.5, 8: 99.0})
    assert knobs.knob_advice(loaded, 1000.0, ()) == ()
    assert watched == []


@pytest.mark.parametrize(
    ("saved", "worlds_run", "advised"),
    [((0.0, 0.0), 2, False), ((0.0, 0.3), 4, True), ((0.021, 0.021), 4, False), ((0.019, 0.019), 2, False)],
)
def test_what_saves_nothing_on_two_worlds_is_tried_on_no_others(
    saved: tuple[float, float], worlds_run: int, advised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two percent are half of what is worth saying; that one of two knobs saves them is enough."""
    made: list[int] = []
    pair = [replace(KNOB, value=1), replace(KNOB, value=2)]

    def world(asked: Case) -> Any:
        made.append(asked.seed)
        return asked.seed

    monkeypatch.setattr(knobs, "_world", world)
    monkeypatch.setattr(knobs, "_watched", lambda known: known)
    monkeypatch.setattr(knobs, "with_waits", lambda effect, knob, known: effect)
    monkeypatch.setattr(
        knobs, "_logarithms", lambda knob, known: np.log([1.0 - saved[knob.value - 1]] * len(known))
    )
    monkeypatch.setattr(knobs, "knobs_of", lambda *_, **__: pair)
    loaded = case(load=LOAD)
    found = knobs.knob_advice(loaded, 1000.0, ())
    assert made == [loaded.seed + number for number in range(worlds_run)]
    assert [each.saves_s for each in found] == ([pytest.approx(300.0)] if advised else [])


def test_with_hours_a_tunable_is_held_at_what_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = (Timed(Hours.parse("mon-fri 08:00-18:00"), ((KNOB.name, 1), ("zfs_scan_vdev_limit", 1 << 20))),)
    seen = with_runs(monkeypatch, [50.0, 60.0], [None, None])
    known = [replace(each, case=replace(each.case, timed=timed)) for each in worlds([100.0] * 2, [None] * 2)]
    knobs.tried(KNOB, known)
    assert [dict(each.values) for run in seen for each in run.timed] == [{"zfs_scan_vdev_limit": 1 << 20}] * 2


def clients(*p99_s: float) -> list[Clients]:
    waits = [Waits(p50=p99 / 4, p90=p99 / 2, p99=p99, max=2 * p99) for p99 in p99_s]
    return [
        Clients(kind="random-read", rate=10.0, before_s=0.1, during_s=0.1, after_s=0.1, during=each)
        for each in waits
    ]


def advice(
    patch: pytest.MonkeyPatch, effects: list[KnobEffect], seen: list[Clients] | None = None, **stated: Any
) -> list[tuple[str, str, float | None]]:
    patch.setattr(knobs, "_effects", lambda *_: ([], effects))
    patch.setattr(knobs, "knobs_of", lambda *_, **__: [replace(KNOB, value=n) for n in range(len(effects))])
    found = knobs.knob_advice(case(**{"load": LOAD, **stated}), 1000.0, seen or [])
    return [(each.action, each.why, each.saves_s) for each in found]


def test_the_knob_that_saves_most_is_advised_with_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    effects = [
        KnobEffect(0.9, 0.01, 1.5, 0.3),
        KnobEffect(0.6, 0.02, 2.0, 0.4),
        KnobEffect(1.4, 0.01, 0.5, 0.1),
    ]
    [(action, why, saves_s)] = advice(monkeypatch, effects, clients(0.2))
    assert action == f"set {KNOB.name}=1"
    assert saves_s == pytest.approx(400.0)
    assert why.startswith("the p99 latency of clients is then ")
    assert f"is then {format_duration(0.4)}, 2 times what it is now; " in why
    assert "known to 2 % of the time" in why


def test_several_loads_have_a_ratio_and_no_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    [(_, why, _)] = advice(monkeypatch, [KnobEffect(0.6, 0.02, 2.0, 0.4)], clients(0.2, 0.9))
    assert "is then 2 times what it is now" in why
    [(_, why, _)] = advice(monkeypatch, [KnobEffect(0.05, 0.9, None, None)])
    assert why.startswith("the saving is known to 90 % of the time")


@pytest.mark.parametrize(
    ("ratio", "error", "stated", "is_said"),
    [
        (1.0 - 1.01 * WORTH_SAYING, 0.001, {}, True),
        (1.0 - 0.99 * WORTH_SAYING, 0.001, {}, False),  # too little
        (0.8, 0.19, {}, True),
        (0.8, 0.21, {}, False),  # not known to be one
        (1.2, 0.001, {}, False),
        (0.5, 0.01, {"load": []}, False),  # nothing is held back for clients
        (0.5, 0.01, {"operation": "rebuild"}, False),
        (0.5, 0.01, {"operation": "scrub"}, True),
    ],
)
def test_what_is_worth_saying(
    monkeypatch: pytest.MonkeyPatch, ratio: float, error: float, stated: dict[str, Any], is_said: bool
) -> None:
    assert bool(advice(monkeypatch, [KnobEffect(ratio, error, None, None)], **stated)) is is_said
