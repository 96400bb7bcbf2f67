"""What was stated and assumed, in words; an answer weighed anew; the same pool without what slows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.prediction.answer.test_wording import answer
from zsim.case.resolve import resolve
from zsim.case.worlds import Choice
from zsim.prediction import paired, reweighed, simulated
from zsim.prediction.answer.records import (
    Advice,
    Alternative,
    Bottleneck,
    Driver,
    Phase,
    ProgressPoint,
    Quantiles,
    Uncertainty,
)
from zsim.prediction.inputs.ensemble import Unknown
from zsim.prediction.runs import knobs
from zsim.scenario.model import Scenario


def case(**fields: Any) -> Any:
    return resolve(Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, "drive_size": "4TB", **fields}))


# Values in words.


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("drive_size", 8 * 10**12, "8TB"),
        ("drive_size", 1 << 40, "1TiB"),
        ("drive_size", 10**9 * (1 << 30), "1.07 EB"),
        ("drive_size", 8_001_563_222_016, "8 TB"),
        ("alloc", 5 << 40, "5T"),
        ("alloc", (5 << 40) + 1, "5T"),
        ("alloc", 1_234_567, "1234567"),
        ("alloc", 123_456_789, "118M"),
        ("fill", 0.625, "62.5 %"),
        ("recordsize", 131_073, "131073"),
        ("duration", 90_061, "1 d 1 h 1 min 1 s"),
        ("read_rate", 5e7, "50 MB/s"),
        ("write_cache", True, "on"),
        ("write_cache", False, "off"),
        ("spare", True, "yes"),
        ("spare", False, "no"),
        ("drives", 5, "5"),
        ("factor", 2.5, "2.5"),
        ("vdev_fills", [0.5, 0.25], "50 %; 25 %"),
        ("load", [], "none"),
        ("other", {"a": 1, "b": None, "c": "", "fill": 0.5}, "a 1, fill 50 %"),
        ("load", {"kind": "random-read", "rate": 50.0, "size": 65536, "hours": None},
         "random-read,rate=50,size=64K"),
        ("ports", {"enclosure": "hba0", "drives": [0, 1]}, "hba0:0,1"),
        ("exact", False, "no"),
        ("fill", 0.62, "62 %"),
        ("recordsize", 131_072, "128K"),
        ("replace", 2, "2"),
        ("tunables", {"a": 1, "b": None, "c": ""}, "a 1"),
    ],
)  # fmt: skip
def test_values_are_told_as_a_person_states_them(name: str, value: Any, words: str) -> None:
    assert simulated.text_of(name, value) == words


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ({"what": "finished", "kind": "scrub", "duration": 33_120, "end": "2026-05-03T10:11:12"},
         "scrub of 9 h 12 min, ended 2026-05-03"),
        ({"what": "finished", "kind": "resilver", "duration": 3600}, "resilver of 1 h"),
        ({"what": "running", "kind": "scrub", "done": 0.0}, "running scrub, 0 % done"),
        ({"what": "running", "kind": "scrub"}, "running scrub"),
        ({"what": "drive", "drive": "sda", "read_errors": 3}, "errors of sda"),
        ({"what": "drive", "drive": "sda", "slow_ios": 3}, "errors of sda"),
        ({"what": "drive", "drive": "sda", "busy": 0.5}, "activity of sda"),
        ({"what": "class", "held": 55 << 30, "alloc_class": "special"}, "55G on the special vdevs"),
        ({"what": "measured", "access": "reads", "of": "drive", "rate": 5e7}, "reads of one drive at 50 MB/s"),  # noqa: E501
        ({"what": "measured"}, "measurement of one drive"),
        ({"what": "finished", "kind": "scrub", "duration": 36000.0, "end": "2026-05-03T10:00"},
         "scrub of 10 h, ended 2026-05-03"),
        ({"what": "running", "kind": "resilver", "done": 0.0}, "running resilver, 0 % done"),
        ({"what": "drive", "drive": "sda", "reads": 7}, "activity of sda"),
        ({"what": "benchmark", "access": "random-read", "of": "drive"}, "random-read of one drive"),
    ],
)  # fmt: skip
def test_what_the_pool_has_shown_is_told_in_a_few_words(seen: dict[str, Any], words: str) -> None:
    assert simulated.text_of("evidence", seen) == words


def test_many_drives_are_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "NAMED_EACH", 2)
    two = [{"what": "drive", "drive": name, "busy": 0.5} for name in ("sda", "sdb", "sdb")]
    scan = {"what": "running", "kind": "scrub"}
    assert simulated.text_of("evidence", [*two, scan]) == ("activity of sda; activity of sdb; running scrub")
    more = [*two, {"what": "drive", "drive": "sda", "read_errors": 1}, scan]
    assert simulated.text_of("evidence", more) == "running scrub; activity or errors of 2 drives"


# Assumptions.


def unknowns(*given: Unknown) -> dict[str, Unknown]:
    return {each.name: each for each in given}


def drawn(name: str, *values: Any) -> Unknown:
    return Unknown(name, name, "say it", choices=tuple(Choice(value, 1.0) for value in values))


def spread(name: str, by: float) -> Unknown:
    return Unknown(name, name, "say it", by)


def test_what_is_varied_is_told_by_its_ends_or_its_names() -> None:
    world = case()

    def said(field: str, *given: Unknown) -> str:
        return simulated._range_of(field, world, unknowns(*given))

    assert said("drive_size", drawn("drive_size", 4e12, 18e12, 1e12)) == "1 TB to 18 TB"
    assert said("fill", drawn("fill", 0.3, 0.8)) == "30 % to 80 %"
    assert said("history", drawn("history", "a", "b", "c")) == "3 uses, a to c"
    assert said("write_cache", drawn("write_cache", True, False)) == "on or off"
    assert said("load", drawn("load", 0.0, 20.0, 5.0)) == "none to 20 reads/s per drive"
    assert said("drive", drawn("drive", "a", "b")) == "a, b"
    assert said("new_drive", drawn("drive", "a", "b")) == "a, b"
    # The larger of what spreads: a factor of e ** 0.4 either way.
    assert said("drive", spread("outer_rate", 0.2), spread("seek", 0.4)) == "a factor of 1.5 either way"
    assert said("frag", spread("churn", 0.7)) == "a factor of 2 either way"
    assert said("ashift", spread("seek", 0.4)) == ""
    assert said("recordsize", drawn("history", "a", "b")) == simulated.record_span(world)
    assert said("recordsize") == ""


def test_a_replacement_that_is_named_is_not_like_the_others() -> None:
    world = case(new_drive="st4000vn008")
    assert simulated._range_of("new_drive", world, unknowns(drawn("drive", "a", "b"))) == ""


def test_assumptions_are_those_of_the_world_shown() -> None:
    world = case(history="vm-host", write_cache=False, release="openzfs-2.3")

    def shown(field: str) -> tuple[object, str]:
        default: Any = SimpleNamespace(field=field, value="before", text="as before", why="because")
        return simulated._in_world(default, world)

    assert shown("drive_size") == (4 * 10**12, "4 TB")
    assert shown("fill")[1] == "50 %"
    assert shown("write_cache") == (False, "off")
    assert shown("ashift") == (12, "12 (4096 bytes)")
    assert shown("history") == ("vm-host", "vm-host")
    assert shown("load") == ([], "none")
    assert shown("cpus") == ("before", "as before")
    loads: Any = [
        SimpleNamespace(kind="random-read", rate=12.34),
        SimpleNamespace(kind="sync-write", rate=None),
    ]
    assert simulated._loads(loads) == "random-read, 12/s"


def test_the_reason_of_an_assumption_is_why_it_is_sampled_where_it_is() -> None:
    world = case()

    def why(field: str, *given: Unknown) -> str:
        default: Any = SimpleNamespace(field=field, value=None, text="", why="as usual")
        return simulated._simulated(default, world, unknowns(*given)).why

    assert why("drive") == "as usual"
    assert why("drive", drawn("drive", "a", "b")) == "no drive was named"
    assert why("cpus", drawn("cpus", 1, 2)) == "as usual"
    assert why("recordsize") == f"as {world.history.name} has them"


# Weighed anew.


def test_an_answer_weighed_anew_is_stretched_in_all_its_durations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty hours in place of ten: what is told in seconds is doubled, the rest stays."""
    monkeypatch.setattr(reweighed.wording, "notes", lambda known: ("old", "new"))
    monkeypatch.setattr(reweighed.wording, "records", lambda known: ())
    before = answer(
        uncertainty=Uncertainty(
            members=16,
            drivers=(
                Driver(field="drive", low_s=1.0, high_s=2.0),
                Driver(field="recordsize", low_s=3.0, high_s=4.0, sampled=False),
            ),
        ),
        unloaded_s=100.0,
        phases=(Phase(name="repair", start_s=5.0, duration_s=7.0, read_bytes=9),),
        alternatives=(Alternative(name="legacy", resilver_s=Quantiles(p10=1.0, p50=11.0, p90=99.0)),),
        progress=(ProgressPoint(time_s=13.0, fraction=0.5), ProgressPoint(time_s=14.0, fraction=0.6, zpool_eta_s=1.0)),  # noqa: E501
        advice=(Advice(action="a", saves_s=17.0), Advice(action="b")),
        breakdown={"seek": 19.0},
        bottleneck=Bottleneck(resource="r", utilisation=0.5, without_it_s=23.0),
        warnings=("first", "old"),
    )  # fmt: skip
    work: Any = SimpleNamespace(
        quantiles=(60_000.0, 72_000.0, 90_000.0), half_width=0.5, effective=3.5, evidence=None,
        case=SimpleNamespace(scenario=Scenario.from_dict({"layout": "mirror2"})),
        drivers=lambda: (Driver(field="fill", low_s=8.0, high_s=9.0),),
    )  # fmt: skip
    found = reweighed.reweighed(before, work, {"a": 1})
    assert found.resilver_s == Quantiles(p10=60_000.0, p50=72_000.0, p90=90_000.0)
    known = found.uncertainty
    assert known is not None
    assert (known.sampling_half_width_s, known.effective_members, known.members) == (36_000.0, 3.5, 16)
    assert [(each.field, each.low_s, each.high_s) for each in known.drivers] == [
        ("fill", 8.0, 9.0), ("recordsize", 6.0, 8.0),
    ]  # fmt: skip
    assert found.unloaded_s == 200.0
    assert (found.phases[0].start_s, found.phases[0].duration_s, found.phases[0].read_bytes) == (
        10.0,
        14.0,
        9,
    )
    assert found.alternatives[0].resilver_s == Quantiles(p50=22.0), "its interval is of the worlds before"
    assert [(each.time_s, each.zpool_eta_s) for each in found.progress] == [(26.0, None), (28.0, 2.0)]
    assert [each.saves_s for each in found.advice] == [34.0, None]
    assert found.breakdown == {"seek": 38.0}
    assert found.bottleneck.without_it_s == 46.0
    assert found.warnings == ("first", "old", "new")
    assert found.provenance == {"a": 1}
    bare = reweighed.reweighed(
        before.model_copy(update={"unloaded_s": None, "bottleneck": Bottleneck(resource="r", utilisation=0.5)}),  # noqa: E501
        work, {},
    )  # fmt: skip
    assert (bare.unloaded_s, bare.bottleneck.without_it_s) == (None, None)


# Without what slows it.


def test_the_same_pool_is_predicted_without_its_load_and_each_slow_drive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paired, "MOST_DRIVES", 2)
    monkeypatch.setattr(paired, "median_s", lambda given: 42.0 if given == "quiet" else 0.0)
    monkeypatch.setattr(paired, "_without_load", lambda given: "quiet")
    monkeypatch.setattr(paired, "without_slow", lambda given, leaves: leaves[0])
    monkeypatch.setattr(
        paired, "_run", lambda leaf: SimpleNamespace(sound_quantiles=(0.0, 100.0 + leaf, 0.0))
    )

    def found(slow: tuple[int, ...], load: Any = None, *, exact: bool = False) -> paired.PairedMedians:
        monkeypatch.setattr(paired, "slow_leaves", lambda given: slow)
        one: Any = SimpleNamespace(exact=exact, scenario=SimpleNamespace(load=load))
        return paired.paired_medians(one)

    assert found((5, 2)) == paired.PairedMedians(None, {2: 102.0, 5: 105.0})
    assert found((5, 2), ["a load"]) == paired.PairedMedians(42.0, {2: 102.0, 5: 105.0})
    assert found((5, 2, 1), ["a load"]) == paired.PairedMedians(42.0, {})
    assert found((5, 2), ["a load"], exact=True) == paired.PairedMedians()


def test_what_a_knob_does_is_the_mean_over_worlds_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Durations of 0.5 and 2 times as long: the same in the mean of logarithms, spread by their ln 4."""
    monkeypatch.setattr(knobs, "run_pool", lambda given, pool, model: SimpleNamespace(time_s=pool))
    monkeypatch.setattr(knobs, "under", lambda model, given: model)
    monkeypatch.setattr(knobs, "_p99", lambda given, pool, model: model)
    monkeypatch.setattr(knobs, "STUDENT", 3.0)
    one = case(release="openzfs-2.3")
    knob = knobs.Knob("zfs_vdev_scrub_max_active", 8, "", "")
    worlds: list[Any] = [
        knobs.KnobWorld(one, 50.0, 0.3, 100.0, 0.1),  # type: ignore[arg-type]
        knobs.KnobWorld(one, 400.0, 0.1, 200.0, 0.1),  # type: ignore[arg-type]
        knobs.KnobWorld(one, 100.0, None, 100.0, 0.1),  # type: ignore[arg-type]
    ]
    found = knobs.tried(knob, worlds)
    assert found.ratio == pytest.approx(1.0)
    assert found.error == pytest.approx(3.0 * 0.6931472 / 3**0.5)  # sd of -ln 2, ln 2 and 0
    assert found.p99_ratio == pytest.approx(2.0)
    assert found.p99_s == pytest.approx(0.2)
    alike = knobs.tried(knob, [worlds[2], worlds[2]])
    assert (alike.error, alike.p99_ratio, alike.p99_s) == (knobs.LEAST, None, None)


@pytest.mark.parametrize(
    ("ratio", "error", "advised"),
    [(0.75, 0.1, True), (0.75, 0.25, True), (0.75, 0.26, False), (0.96, 0.0, True), (0.98, 0.0, False)],
)
def test_a_knob_is_advised_that_saves_more_than_its_error_and_enough(
    monkeypatch: pytest.MonkeyPatch, ratio: float, error: float, advised: bool
) -> None:
    monkeypatch.setattr(knobs, "WORTH_SAYING", 0.03)
    pair = [knobs.Knob("zfs_a", 1, "", ""), knobs.Knob("zfs_b", 2, "", "")]
    effects = {
        "zfs_a": knobs.KnobEffect(0.99, 0.0, None, None),
        "zfs_b": knobs.KnobEffect(ratio, error, 1.5, 0.2),
    }
    monkeypatch.setattr(knobs, "knobs_of", lambda given, advised: pair)
    monkeypatch.setattr(knobs, "_effects", lambda given, tried: ([], [effects[each.name] for each in tried]))
    monkeypatch.setattr(knobs, "with_waits", lambda effect, knob, worlds: effect)
    busy = case(load=["random-read,rate=5"])
    found = knobs.knob_advice(busy, 1000.0, ())
    assert [each.action for each in found] == (["set zfs_b=2"] if advised else [])
    for each in found:
        assert each.saves_s == pytest.approx(1000.0 * (1.0 - ratio))
        assert each.why.startswith("the p99 latency of clients is then 1.5 times what it is now; ")
        assert f"known to {100 * error:.0f} % of the time" in each.why
    assert knobs.knob_advice(case(), 1000.0, ()) == ()
    assert (
        knobs.knob_advice(case(layout="mirror2", operation="rebuild", load=["random-read,rate=5"]), 1.0, ())
        == ()
    )


def test_what_clients_then_wait_is_told_of_one_load_alone() -> None:
    def waits(p99: float | None) -> Any:
        return SimpleNamespace(during=None if p99 is None else SimpleNamespace(p99=p99))

    assert knobs._cost(2.0, [waits(0.05), waits(None)]).endswith("is then 100 ms, 2 times what it is now")
    assert knobs._cost(2.0, [waits(0.05), waits(0.07)]).endswith("is then 2 times what it is now")
