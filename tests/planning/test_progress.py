"""What the questions of planning report on their way: the share done, and what is being done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.planning import running
from zsim.planning.compare import compare
from zsim.planning.design import facts, one_layout, search
from zsim.planning.risk.question import RiskInputs
from zsim.planning.store.study import study
from zsim.planning.sweep import sweep
from zsim.planning.table import NOT_RUN, TableInterrupted
from zsim.planning.timeline.plan import Plan
from zsim.planning.tune import api as tuning
from zsim.prediction.runs.knobs import Knob, KnobEffect

HOUR = 3600.0
POOLS: dict[str, Any] = {"layout": ["mirror2", "mirror3", "raidz1x3"], "drive_size": ["4TB"]}


class Reports(list[tuple[float, str]]):
    """What was reported, in order; called as `on_progress` is."""

    def __call__(self, share: float, words: str) -> None:
        self.append((share, words))

    @property
    def shares(self) -> list[float]:
        return [share for share, _ in self]


def of(count: int, total: int) -> tuple[float, str]:
    return count / total, f"{count} of {total}"


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer every scenario in this process with one hour."""

    def answer(stated: dict[str, Any]) -> dict[str, Any]:
        return {"p10_s": HOUR, "p50_s": HOUR, "p90_s": HOUR}

    monkeypatch.setattr(running, "answer", answer)


@pytest.mark.usefixtures("answered")
def test_a_sweep_counts_what_its_store_has_and_what_cannot_be_as_done(tmp_path: Path) -> None:
    store, known, whole = tmp_path / "s.jsonl", Reports(), Reports()
    sweep(**{**POOLS, "layout": "mirror2"}, store=store, on_progress=known)
    assert known == [of(1, 1)]
    layouts = ["mirror2", "mirror3", "raidz1x1", "raidz1x3"]
    sweep(**{**POOLS, "layout": layouts}, store=store, on_progress=whole)
    assert whole == [of(3, 4), of(4, 4)]


@pytest.mark.usefixtures("answered")
def test_a_comparison_names_what_was_done_last() -> None:
    told = Reports()
    compare("mirror2", "raidz1x3", drive_size="4TB", fill=0.5, on_progress=told)
    assert told == [(0.5, "mirror2"), (1.0, "raidz1x3")]


@pytest.mark.usefixtures("answered")
def test_a_study_counts_what_is_known_and_further_seeds_with_it(tmp_path: Path) -> None:
    first, again, finer = Reports(), Reports(), Reports()
    path = tmp_path / "s.sqlite"
    study(path, {**POOLS, "layout": ["mirror2"]}, on_progress=first)
    assert first == [of(1, 1)]
    table = study(path, {**POOLS, "fill": ["30%"]}, on_progress=again)
    assert again == [of(1, 3), of(2, 3), of(3, 3)]
    assert table["fill"] == [0.3] * 3, "a value is told as the scenario has it"
    # Medians that agree take four seeds each, of which one is known.
    study(path, {**POOLS, "fill": ["30%"]}, jobs=1, refine=0.1, on_progress=finer)
    assert finer == [of(count, 12) for count in range(4, 13)]


class Cluster(Executor):
    """Answers the first scenario at once, and none of the others."""

    def __init__(self) -> None:
        self.given: list[Future[Any]] = []

    def submit(self, work: Any, /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if not self.given:
            future.set_result(work(*given))
        self.given.append(future)
        return future


@pytest.mark.usefixtures("answered")
def test_what_has_not_begun_elsewhere_is_called_off_on_an_interrupt(tmp_path: Path) -> None:
    def stop(share: float, words: str) -> None:
        raise KeyboardInterrupt

    cluster = Cluster()
    with pytest.raises(TableInterrupted) as stopped:
        study(tmp_path / "s.sqlite", POOLS, executor=cluster, on_progress=stop)
    assert [future.cancelled() for future in cluster.given] == [False, True, True]
    assert sorted(str(row["refused"]) for row in stopped.value.partial) == ["None", NOT_RUN, NOT_RUN]


def test_half_of_a_plan_is_screening_and_half_the_full_predictions(simulated: list[str]) -> None:
    told = Reports()
    asked: dict[str, Any] = {"drive_size": "4TB", "kinds": ("raidz",), "confirm": 2}
    search.plan_layouts(12, **asked, on_progress=told)
    screening = len(simulated) - 2
    expected = [0.5 * (place + 1) / screening for place in range(screening)] + [0.75, 1.0]
    assert told.shares == pytest.approx(expected)
    assert [words for _, words in told] == simulated


def test_each_width_and_fill_that_is_tried_is_named(simulated: list[str]) -> None:
    """Of widths five from end to end, then halves of what is between; of fills both ends, then halves.

    1.5 (2 n + 30) < 100 h holds up to 18 drives of 4 to 20, 1.5 (24 + 60 fill) < 80 h up to 48 %.
    """
    widths, fills = Reports(), Reports()
    wide = one_layout.plan_width("raidz2x6", ["p90 < 100h"], fill=0.5, on_progress=widths)
    tried = (4, 8, 12, 16, 20, 18, 19)
    told = [(pytest.approx(k / 9), f"raidz2x{width}") for k, width in enumerate(tried)]
    assert widths == [*told, (1.0, wide.answer)]
    assert [row["drives"] for row in wide.rows] == sorted(tried)
    full = one_layout.plan_fill("raidz2x12", ["p90 < 80h"], on_progress=fills)
    shares = (5, 95, 50, 27, 38, 44, 47, 48, 49)
    told = [(pytest.approx(k / 9), f"{fill} % full") for k, fill in enumerate(shares)]
    assert fills == [*told, (1.0, full.answer)]
    assert [row["fill"] for row in full.rows] == [fill / 100 for fill in sorted(shares)]


def test_what_a_change_is_worth_takes_one_prediction(simulated: list[str]) -> None:
    told = Reports()
    one_layout.plan_worth("raidz1x4", RiskInputs(afr=0.02), on_progress=told)
    assert told == [(0.1, "raidz1x4"), (1.0, "raidz1x4")]
    assert simulated == ["raidz1x4"]


ASKS = (
    lambda **more: search.plan_layouts(6, **more),
    lambda **more: one_layout.plan_width("raidz2x6", ["p90 < 1h"], **more),
    lambda **more: one_layout.plan_fill("raidz2x6", ["p90 < 1h"], **more),
    lambda **more: one_layout.plan_worth("raidz2x6", **more),
)


@pytest.mark.parametrize("ask", ASKS)
def test_what_cannot_be_called_is_refused_before_anything_is_simulated(
    ask: Any, simulated: list[str]
) -> None:
    with pytest.raises(InputError, match="on_progress"):
        ask(on_progress="loud")
    assert simulated == []


def refused(scenarios: Sequence[dict[str, Any]], jobs: int | None = None) -> Iterator[tuple[int, Any]]:
    for place, _ in enumerate(scenarios):
        yield place, {"p50_s": None, "refused": "not simulated yet"}


def test_a_layout_that_is_not_simulated_is_refused_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "answers", refused)
    for ask in ASKS[1:]:
        with pytest.raises(InputError, match="not simulated yet"):
            ask()
    assert search.plan_layouts(6, kinds=("raidz",)).rows == (), "nothing is known of them"


# --- knobs

DEFAULT = {"zfs_vdev_scrub_max_active": 3, "zfs_txg_timeout": 5, "zfs_vdev_scrub_min_active": 1}
EFFECTS = {
    ("zfs_vdev_scrub_max_active", 8): KnobEffect(0.9, 0.02, None, None),
    ("zfs_vdev_scrub_max_active", 1): KnobEffect(1.01, 0.02, None, None),
    ("zfs_txg_timeout", 1): KnobEffect(1.01, 0.02, None, None),
    ("zfs_txg_timeout", 9): KnobEffect(1.0, 0.02, None, None),
    ("zfs_vdev_scrub_min_active", 2): KnobEffect(0.7, 0.02, None, None),
}


@pytest.fixture
def knobs(monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """Worlds of two, three and seven hours, on which knobs do what `EFFECTS` says."""
    worlds = [SimpleNamespace(time_s=hours * HOUR, p99_s=None) for hours in (2, 3, 7)]
    tried = [Knob(name, value, "", "") for name, value in EFFECTS]
    monkeypatch.setattr(tuning, "worlds_of", lambda case: worlds)
    monkeypatch.setattr(tuning, "knobs_of", lambda case: tried)
    monkeypatch.setattr(tuning, "tried", lambda knob, worlds: EFFECTS[knob.name, knob.value])
    monkeypatch.setattr(tuning, "quantiles_s", lambda case: (4 * HOUR, 5 * HOUR, 6 * HOUR))
    return worlds


STATED = {"layout": "mirror2", "drive_size": "4TB", "fill": 0.5, "release": "openzfs-2.3"}


def test_knobs_that_matter_come_quickest_first_and_the_others_are_named_once(knobs: list[Any]) -> None:
    told = Reports()
    found = tuning.tune(STATED, told)
    assert told == [(pytest.approx(k / 5), name) for k, (name, _) in enumerate(EFFECTS, 1)]
    assert [(each.name, each.value, each.default, each.on_front) for each in found.settings] == [
        ("zfs_vdev_scrub_min_active", 2, 1, True), ("zfs_vdev_scrub_max_active", 8, 3, False),
    ]  # fmt: skip
    assert found.without_effect == ("zfs_txg_timeout",), "of the other a value has an effect"
    assert (found.worlds, found.default_p99_s, found.system) == (3, None, "linux")
    assert tuning.tune(STATED, system="freebsd").system == "freebsd"


def test_the_time_with_the_defaults_is_predicted_or_of_exact_runs_the_middle_world(knobs: list[Any]) -> None:
    def hours(**more: Any) -> list[float | None]:
        found = tuning.tune({**STATED, **more})
        ends = (found.default_p10_s, found.default_s, found.default_p90_s)
        return [None if each is None else each / HOUR for each in ends]

    assert hours() == [4, 5, 6]
    assert hours(exact=True, drive_size="1GB") == [None, 3, None]


def test_waits_of_clients_are_those_of_the_worlds_that_have_them(knobs: list[Any]) -> None:
    for world, wait in zip(knobs, (0.02, None, 0.04), strict=True):
        world.p99_s = wait
    assert tuning.tune(STATED).default_p99_s == pytest.approx(0.03)


def test_where_a_value_was_measured_is_in_its_label(
    knobs: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Knob("zfs_vdev_scrub_max_active", 8, "somebody", "")
    monkeypatch.setattr(tuning, "knobs_of", lambda case: [source, replace(source, source="")])
    assert [each.label for each in tuning.tune(STATED).settings] == ["measured", "modelled"]


PASTE = "\n".join(
    (
        "  scan: resilver in progress since Sun Nov 22 08:11:03 2026",
        "\t1.20T / 1.20T scanned, 310G / 1.20T issued at 141M/s",
        "\t155G resilvered, 25.23% done, 01:51:40 to go",
        "config:\n\n\tNAME            STATE     READ WRITE CKSUM",
        "\ttank            DEGRADED     0     0     0",
        "\t  mirror-0      DEGRADED     0     0     0",
        "\t    sda         ONLINE       0     0     0",
        "\t    sdb         ONLINE       0     0     0  (resilvering)",
        "\nerrors: No known data errors\n",
    )
)
SMALL: dict[str, Any] = {"layout": "mirror2", "drive_size": "100GB", "fill": 0.1}


@pytest.mark.parametrize("ask", [
    lambda told: zsim.risk(SMALL, RiskInputs(afr=0.02, correlation=1.0), on_progress=told),
    lambda told: zsim.risk(zsim_plan(), RiskInputs(afr=0.02, correlation=1.0), on_progress=told),
    lambda told: zsim.timeline(zsim_plan(), on_progress=told),
    lambda told: zsim.decide({"scenario": SMALL, "running": {"done": "30%"}}, reboot=True, on_progress=told),
    lambda told: zsim.eta(PASTE, on_progress=told),
])  # fmt: skip
def test_every_bar_rises_and_ends_full(ask: Any) -> None:
    told = Reports()
    ask(told)
    assert told.shares == sorted(told.shares)
    assert told.shares[-1] == 1.0


def zsim_plan() -> Plan:
    events = [{"do": "replace", "drive": 0}, {"do": "replace", "drive": 1, "when": "quiet"}, {"do": "scrub"}]
    return Plan.from_dict({"scenario": SMALL, "events": events})
