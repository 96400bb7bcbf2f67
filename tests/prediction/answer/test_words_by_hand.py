"""What an answer says at the edges of its rules, and what goes with it: subject, models, warnings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.prediction.answer.test_wording import answer, leaf
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.prediction import api
from zsim.prediction.answer import wording
from zsim.prediction.answer.records import (
    BEYOND,
    Advice,
    Alternative,
    Assumption,
    Bottleneck,
    Clients,
    Driver,
    EvidenceUsed,
    Phase,
    Quantiles,
    Stated,
    Uncertainty,
    Waits,
)
from zsim.prediction.answer.tables import Grid, html_table
from zsim.scenario.model import Scenario

WAITS = Waits(p50=0.01, p90=0.02, p99=0.08, max=0.5)


def case(**fields: Any) -> Any:
    return resolve(Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, "drive_size": "4TB", **fields}))


# The first lines.


@pytest.mark.parametrize(
    ("quiet", "words"),
    [
        (32_401.0, ""),
        (32_400.0, " under the stated load, 9 h without it"),
        (9_000.0, " under the stated load, 2 h 30 min without it"),
        (7_200.0, ": OVERLOAD by the stated load, 5 times as long as without it (2 h)"),
    ],
)
def test_a_load_is_named_from_a_tenth_on_and_loud_beyond_four_times(quiet: float, words: str) -> None:
    assert wording.headline(answer(unloaded_s=quiet)) == f"Resilver: 10 h{words}"


def test_a_load_beyond_the_drives_is_loud_whatever_it_costs() -> None:
    warned = answer(unloaded_s=18_000.0, warnings=("other", f"reads ask for 2 {BEYOND}"))
    assert wording.headline(warned) == "Resilver: 10 h: OVERLOAD by the stated load, 5 h without it"
    calm = answer(unloaded_s=18_000.0, warnings=("other",))
    assert "OVERLOAD" not in wording.headline(calm)


@pytest.mark.parametrize(
    ("operation", "word"), [("expand", "Expansion"), ("remove", "Removal"), ("rebuild", "Rebuild")]
)
def test_an_operation_is_called_as_one_speaks_of_it(operation: str, word: str) -> None:
    assert wording.headline(answer(operation=operation)) == f"{word}: 10 h"
    found = Bottleneck(resource="a link", utilisation=0.5, without_it_s=36.0)
    told = wording.bottleneck(answer(operation=operation, bottleneck=found))
    assert told[-1] == f"With a link infinitely fast, the {word.lower()} would take 36 s."


def test_less_than_a_thousandth_is_left_out_and_a_slow_drive_is_tried_with_its_peers() -> None:
    found = Bottleneck(resource="the slow source drive", utilisation=0.5, without_it_s=36.0)
    assert wording.bottleneck(answer(bottleneck=found)) == (
        "The slow source drive, busy 50 % of the time.",
        "With all source drives infinitely fast, the resilver would take 36 s.",
    )
    less = found.model_copy(update={"without_it_s": 35.9})
    assert wording.bottleneck(answer(bottleneck=less)) == ("The slow source drive, busy 50 % of the time.",)


def test_what_was_stated_is_echoed_in_words() -> None:
    told = (
        Stated(field="drive_size", value=4e12, text="4 TB"),
        Stated(field="fill", value=0.5, text="50 %"),
    )
    assert wording.stated(answer(stated=told)) == ("Stated: drive size 4 TB; fill 50 %.",)
    assert wording.stated(answer()) == ()


@pytest.mark.parametrize(
    ("whose", "said"),
    [
        ("the source drives", "As the source drives spend it."),
        ("the link", "As the link spends it."),
        ("the link behind the source drives", "As the link behind the source drives spends it."),
        ("the source drives behind hba0", "As the source drives behind hba0 spend it."),
    ],
)
def test_one_spends_and_several_spend(whose: str, said: str) -> None:
    assert wording.breakdown_of(answer(breakdown_of=whose)) == (said,)
    assert wording.breakdown_of(answer()) == ()


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        # 360 GiB in 36000 s are 10.74 MB/s, a TiB is 30.54 MB/s.
        ("resilver", "360G repaired at 10.7 MB/s on average; 1T read and 360G written in 12,345 I/Os."),
        ("scrub", "1T read at 30.5 MB/s on average in 12,345 I/Os."),
        ("expand", "1T of allocated space copied at 30.5 MB/s on average in 12,345 I/Os."),
        (
            "remove",
            "1T read and 360G written at 10.7 MB/s on average in 12,345 I/Os; the mapping of moved blocks"
            " takes 3M of memory permanently.",
        ),
    ],
)  # fmt: skip
def test_each_operation_tells_its_own_bytes_and_pace(operation: str, said: str) -> None:
    assert wording.volume(answer(operation=operation, mapping_bytes=3 << 20)) == said


def test_without_a_mapping_it_takes_nothing_and_without_a_time_the_pace_is_of_a_second() -> None:
    assert "takes 0 of memory" in wording.volume(answer(operation="remove"))
    assert "360G repaired at 387 GB/s" in wording.volume(answer(resilver_s=Quantiles(p50=0.0)))


# Tables.


def test_a_world_within_two_per_cent_is_the_answer() -> None:
    assert wording.whose_rows(answer(leaves_of_s=36_720.0)) == ()
    assert wording.whose_rows(answer(leaves_of_s=35_280.0)) == ()
    assert wording.whose_rows(answer(leaves_of_s=36_780.0)) == (
        "In the simulated pool shown, which takes 10 h 13 min.",
    )


def test_a_row_of_drives_is_in_the_units_of_its_columns() -> None:
    one = leaf(
        name="d", count=3, utilisation=0.25, mean_io_bytes=131071.6, iops=12.6, mean_service_ms=8.25,
        queue=1.26, read_rate=3e6, write_rate=1e6,
    )  # fmt: skip
    grid = wording.leaf_grid([one])
    assert grid.rows == (("source", "d", "3", "25 %", "13", "128K", "4 MB/s", "8.2 ms", "1.3"),)
    assert grid.numeric == {2, 3, 4, 5, 6, 7, 8}


@pytest.mark.parametrize(
    ("role", "twice"),
    [("source", False), ("slow source", True), ("exchanged source", True), ("source behind hba0", True),
     ("behind", False), ("slowest", False)],
)  # fmt: skip
def test_a_slow_drive_and_those_behind_a_link_are_in_the_row_of_their_role_too(
    role: str, twice: bool
) -> None:
    assert wording.is_counted_twice(leaf(role=role)) is twice
    said = ("Also counted in the row of all such drives: " + role + ".",) if twice else ()
    assert wording.counted_twice([leaf(role="source"), leaf(role=role)]) == said


def test_phases_without_bytes_have_empty_cells() -> None:
    phases = (
        Phase(name="repair", duration_s=7200.0, read_bytes=1 << 40, written_bytes=1 << 30, bound_by="drives"),
        Phase(name="verifying scrub", start_s=7200.0, duration_s=3600.0),
    )
    assert wording.phase_grid(answer(phases=phases)).rows == (
        ("repair", "2 h", "1T", "1G", "drives"),
        ("verifying scrub", "1 h", "", "", ""),
    )
    assert wording.milestones(answer(operation="expand", phases=phases)) == (
        "The new space is available after 2 h, verified after 3 h by the scrub that follows: "
        "copying does not verify checksums.",
    )


def test_waits_are_told_where_before_and_during_are_known_and_the_load_was_stated() -> None:
    known = {"rate": 5.0, "before_s": 0.01, "during_s": 0.03, "after_s": 0.01}
    both = Clients(kind="random-read", before=WAITS, during=WAITS, **known)  # type: ignore[arg-type]
    half = Clients(kind="sync-write", before=WAITS, **known)  # type: ignore[arg-type]
    assert wording.waits(answer(clients=(both, half))) == (
        "Client latency: random-read 30 ms on average while it runs, p99 80 ms (10 ms and 80 ms before).",
    )
    assert wording.waits(answer(clients=(half,))) == ()
    drawn = Assumption(field="load", value=None, why="")
    assert wording.waits(answer(clients=(both,), assumptions=(drawn,))) == ()


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (36_000.0, ", about the same"),
        (37_700.0, ", about the same"),
        (37_900.0, ", 1.1 times longer"),
        (34_200.0, ", 1.1 times shorter"),
        (90_000.0, ", 2.5 times longer"),
    ],
)
def test_durations_within_a_twentieth_are_about_the_same(there: float, words: str) -> None:
    other = Alternative(name="legacy", resilver_s=Quantiles(p50=there))
    assert wording.alternative_sentence(answer(), other).endswith(f"{words}.")


def test_an_answer_of_no_time_is_compared_with_nothing() -> None:
    other = Alternative(name="legacy", resilver_s=Quantiles(p50=60.0))
    assert wording.alternative_sentence(answer(resilver_s=Quantiles(p50=0.0)), other) == "legacy: 1 min."
    assert wording.alternatives(answer(alternatives=(other,)))[0] == "as asked: 10 h (simulated here)."


def test_advice_that_saves_nothing_names_no_saving() -> None:
    given = (Advice(action="a", saves_s=0.0), Advice(action="b", saves_s=-5.0), Advice(action="c", saves_s=1))
    assert wording.advice(answer(advice=given)) == ("1. a", "2. b", "3. c (saves about 1 s)")


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [(7200.0, "s", "2 h"), (5e7, "B/s", "50 MB/s"), (1048575.6, "B", "1M"), (0.256, "1", "26 %"),
     (12.345, "1/s", "12.3/s")],
)  # fmt: skip
def test_values_have_the_form_of_their_unit(value: float, unit: str, words: str) -> None:
    assert wording.shown(value, unit) == words


# What the pool has shown, and what is not known.


def used(kind: str = "scrub", **fields: Any) -> EvidenceUsed:
    usual = {"observed": 7200.0, "expected": 3600.0, "expected_p10": 1800.0, "expected_p90": 5400.0}
    return EvidenceUsed(**{"kind": kind, "weight": 0.5, "narrows": 0.0} | usual | fields)


def test_evidence_is_a_row_of_what_was_seen_and_what_was_expected() -> None:
    rows = wording.evidence_grid(
        answer(
            evidence=(
                used(when="3 May", narrows=0.2),
                used(expected=None, expected_p10=None, expected_p90=None, weight=0.0),
                used(expected_p10=None, weight=1.0),
            )
        )
    ).rows
    assert rows == (
        ("scrub, 3 May", "2 h", "30 min to 1 h 30 min", "50 %", "20 %"),
        ("scrub", "2 h", "", "not used", ""),
        ("scrub", "2 h", "", "100 %", ""),
    )


def test_the_number_of_worlds_left_goes_before_the_notes() -> None:
    known = Uncertainty(members=64, effective_members=12.34)
    evidence = (used(note="too long"), used("running scrub"))
    assert wording.evidence_notes(answer(uncertainty=known, evidence=evidence)) == (
        "Effective sample size with this evidence: 12.3 of 64 simulated pools.",
        "Too long.",
        "A running scan counts with its total duration at the pace so far.",
    )
    unused = used("running scrub", expected=None)
    assert wording.evidence_notes(answer(uncertainty=Uncertainty(members=64), evidence=(unused,))) == ()


def test_what_no_world_explains_counts_little_and_scans_that_do_not_count_are_named() -> None:
    evidence = (
        used(note="far too long", weight=0.02),
        used("running resilver", expected=None, note="a load ran", when="3 May"),
        used("heal", expected=None, note="it was stopped"),
        used("running expand", expected=None, note="elsewhere"),
        used("read rate", expected=None, note="no scan"),
        used(),
    )
    assert wording.contradictions(answer(evidence=evidence)) == (
        "NOT EXPLAINED: far too long. It counts 2.0 % here.",
        "NOT COUNTED: the running resilver of 3 May: a load ran.",
        "NOT COUNTED: the heal: it was stopped.",
        "NOT COUNTED: the running expansion: elsewhere.",
    )


def test_unknowns_are_named_that_narrow_by_half_a_per_cent_or_move_by_a_tenth() -> None:
    drivers = (
        Driver(field="a", low_s=1.0, high_s=9.0, narrows=0.005),
        Driver(field="b", low_s=1.0, high_s=9.0, narrows=0.0049),
        Driver(field="c", low_s=100.0, high_s=111.0, sampled=False, words="say it: 1M 2 h"),
        Driver(field="d", low_s=100.0, high_s=109.0, sampled=False),
    )
    known = Uncertainty(drivers=drivers)
    assert [each.field for each in wording.strongest(known)] == ["a", "c"]
    told = wording.unknowns_grid(answer(uncertainty=known))
    assert told.rows == (
        ("a", "1 s to 9 s", "0.5 %", ""),
        ("c", "1 min 40 s to 1 min 51 s", "not sampled", "say it"),
    )
    assert wording.missing(answer(uncertainty=known, missing=("the drive",))) == (
        "NOT STATED: the drive; the c, which the interval does not vary (1M 2 h): say it.",
    )


# What goes with it.


def test_warnings_are_of_shingled_drives_caches_full_pools_and_loads_beyond_them() -> None:
    def told(**fields: Any) -> list[str]:
        return [each.partition(":")[0] for each in api.warnings(case(**fields))]

    smr, cached = (
        "one of the drives is shingled (SMR)",
        "the simulated write caches acknowledge synchronous writes at ",
    )
    assert told() == []
    assert told(drive="st8000dm004", drive_size="8TB") == [smr]
    assert told(new_drive="st8000dm004", drive_size="8TB") == [smr]
    assert told(load=["sync-write,rate=1"], write_cache=True) == [cached + "once"]
    assert told(load=["sync-write,rate=1"], write_cache=False) == []
    assert told(load=["random-read,rate=1"], write_cache=True) == []
    assert told(fill=0.95) == []
    assert told(fill=0.96) == ["the pool is nearly full"]
    assert told(operation="expand") == [
        "the pace of an expansion depends on the length of the allocated runs, which no command prints"
    ]
    (beyond,) = told(load=["random-read,rate=100000"])
    assert beyond.startswith("the stated random-read asks for ")


def test_the_models_an_answer_rests_on_are_each_named_once() -> None:
    known = case(drive="wd40efrx", history="media-server", release="openzfs-2.3")
    assert api.models_used(known) == [
        ("drives", known.drive.name),
        *(("enclosures", each.name) for each in known.ports[:1]),
        ("histories", "media-server"),
        ("releases", known.release.series),
    ]
    other = case(drive="wd40efrx", new_drive="st8000dm004")
    names = [name for kind, name in api.models_used(other) if kind == "drives"]
    assert names == [other.drive.name, other.new_drive.name]
    assert sum(kind == "histories" for kind, _ in api.models_used(other)) > 1


@pytest.mark.parametrize(("asked", "half_width", "said"), [(None, 0.5, 0), (0.05, 0.05, 0), (0.05, 0.08, 1)])
def test_what_was_reached_of_a_precision_is_named(asked: float | None, half_width: float, said: int) -> None:
    scenario = SimpleNamespace(precision=asked)
    work: Any = SimpleNamespace(case=SimpleNamespace(scenario=scenario), half_width=half_width, worlds=9)
    found = api._short_of_precision(work)
    assert len(found) == said
    words = "requested precision is 5 %, the one reached is 8 % with 9 simulated pools"
    assert all(words in each for each in found)


def test_records_of_another_size_span_the_answer_but_are_not_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reads that fail on top of each, as of the answer."""
    monkeypatch.setattr(api, "other_records", lambda baseline: {1 << 20: 0.5 * 3600.0, 4096: 9 * 3600.0})
    monkeypatch.setattr(api, "record_span", lambda case, history: "128K")
    asked: list[float] = []
    baseline = SimpleNamespace(
        case=SimpleNamespace(history=SimpleNamespace(name="media")), scaled_to=asked.append
    )
    work: Any = SimpleNamespace(
        baseline=baseline,
        sound_quantiles=(3000.0, 3600.0, 4000.0),
        quantiles=(3600.0, 4200.0, 4600.0),
        with_errors=lambda time_s: time_s + 600.0,
    )
    (driver,) = api._of_records(work)
    assert (driver.field, driver.low_s, driver.high_s, driver.sampled) == (
        "recordsize",
        2400.0,
        33_000.0,
        False,
    )
    assert asked == [3600.0]
    words = "state it (--recordsize): assumed: 128K, as in media; with 1M 40 min, 4K 9 h 10 min"
    assert driver.words == words
    monkeypatch.setattr(api, "other_records", lambda baseline: {})
    assert api._of_records(work) == ()


def test_counts_of_an_answer_may_be_nothing_but_not_less() -> None:
    nothing = {"resilvered_bytes": 0, "read_bytes": 0, "written_bytes": 0, "mapping_bytes": 0, "io_count": 0}
    assert answer(**nothing).written_bytes == 0
    assert answer(written_bytes=0, mapping_bytes=None).mapping_bytes is None
    for name in nothing:
        with pytest.raises(InputError, match=f"{name} -1 cannot be used: it is at least 0"):
            answer(**{name: -1})


def test_numbers_stand_to_the_right_in_tables_of_a_page() -> None:
    page = html_table(Grid(("a<b", "n"), (("x", "1"), ("y", "20")), frozenset({1})))
    left, right = '<td style="text-align:left">', '<td style="text-align:right">'
    assert f"<tr>{left}x</td>{right}1</td></tr><tr>{left}y</td>{right}20</td></tr>" in page
    head = page[page.index("<thead>") : page.index("</thead>")]
    assert head.endswith(
        '<tr><th style="text-align:left">a&lt;b</th><th style="text-align:right">n</th></tr>'
    )


def test_the_last_few_predictions_keep_their_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_HELD", type(api._HELD)())
    monkeypatch.setattr(api, "MOST_HELD", 2)
    works: list[Any] = [object(), object(), object()]
    found = [api.held(answer(), work) for work in works]
    assert [each._held is not None and each._held.runs for each in found] == [None, works[1], works[2]]


def test_an_extent_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match='known are "all", "first screen", "row"'):
        api.predict({"layout": "mirror2"}, portion="most")  # type: ignore[arg-type]
