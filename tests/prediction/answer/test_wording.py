"""An answer in words: every sentence and table, and what is left out where there is nothing to say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from zsim.prediction.answer import brief, wording
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import (
    Advice,
    Alternative,
    Assumption,
    Bottleneck,
    Clients,
    Driver,
    Leaf,
    Phase,
    Quantiles,
    Stated,
    Uncertainty,
    Waits,
    share_of_total,
)


def answer(**fields: Any) -> Prediction:
    """Return a short answer of ten hours."""
    usual: dict[str, Any] = {
        "resilver_s": Quantiles(p50=36_000.0),
        "resilvered_bytes": 360 << 30,
        "read_bytes": 1 << 40,
        "written_bytes": 360 << 30,
        "io_count": 12_345,
        "bottleneck": Bottleneck(resource="the replacement drive", utilisation=0.85),
    }
    return Prediction(**usual | fields)


def leaf(**fields: Any) -> Leaf:
    usual = {"role": "source", "utilisation": 0.5, "mean_io_bytes": 0.0, "iops": 1.0, "mean_service_ms": 1.0}
    return Leaf(**usual | {"queue": 0.5} | fields)  # type: ignore[arg-type]


def test_rows_of_drives_say_whose_they_are() -> None:
    assert wording.whose_rows(answer(leaves_of_s=39_600.0)) == (
        "In the simulated pool shown, which takes 11 h.",
    )
    assert wording.whose_rows(answer(leaves_of_s=36_100.0)) == wording.whose_rows(answer()) == ()


# The headline.


def test_the_headline_is_operation_subject_and_time() -> None:
    assert wording.headline(answer(subject="raidz2x6, 62% full")) == "Resilver of raidz2x6, 62% full: 10 h"
    assert wording.headline(answer(operation="scrub")) == "Scrub: 10 h"


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (0.004, "0.4 %"), (0.0994, "9.9 %"), (0.0996, "10 %"), (1.0, "100 %")]
)
def test_shares_have_a_decimal_below_ten(share: float, text: str) -> None:
    assert wording.percent(share) == text


def test_the_interval_is_said_and_so_is_its_absence() -> None:
    known = answer(resilver_s=Quantiles(p10=28_800.0, p50=36_000.0, p90=72_000.0))
    assert wording.interval(known) == "80 % interval (p10-p90): 8 h to 20 h."
    assert wording.interval(answer()).startswith("No 80 % interval (p10-p90)")


def test_the_error_of_sampling_is_told_apart() -> None:
    exact = answer(uncertainty=Uncertainty(sampling_half_width_s=600.0))
    assert wording.interval(exact).endswith("Sampling error: +/- 10 min (95 %).")
    assert wording.sampling(exact) == ()


def test_an_interval_that_holds_the_error_of_sampling_leaves_it_to_the_details() -> None:
    known = answer(
        resilver_s=Quantiles(p10=28_800.0, p50=36_000.0, p90=72_000.0),
        uncertainty=Uncertainty(sampling_half_width_s=600.0),
    )
    assert wording.interval(known) == "80 % interval (p10-p90): 8 h to 20 h."
    assert wording.sampling(known) == ("Sampling error: +/- 10 min (95 %).",)
    assert any("Sampling error: +/- 10 min (95 %)." in each.sentences for each in wording.rest(known))


def test_the_volume_of_a_scrub_has_no_repairs() -> None:
    assert "repaired" in wording.volume(answer())
    scrub = wording.volume(answer(operation="scrub"))
    assert "repaired" not in scrub
    assert "12,345 I/Os" in scrub


def test_an_answer_of_no_time_has_a_pace_all_the_same() -> None:
    assert wording.volume(answer(resilver_s=Quantiles(p50=0.0)))


# What holds it up.


def test_the_bottleneck_is_a_sentence_with_what_would_be_left() -> None:
    found = Bottleneck(
        resource="the replacement drive", utilisation=0.85, why="it seeks.", without_it_s=18_000.0
    )
    assert wording.bottleneck(answer(bottleneck=found)) == (
        "The replacement drive, busy 85 % of the time.",
        "It seeks.",
        "With the replacement drive infinitely fast, the resilver would take 5 h.",
    )


def test_where_nothing_is_left_without_it_that_is_no_news() -> None:
    found = Bottleneck(resource="the source drives", utilisation=0.5, without_it_s=1.0)
    told = wording.bottleneck(answer(bottleneck=found))
    assert told == ("The source drives, busy 50 % of the time.",)


def test_a_row_of_drives_has_as_many_cells_as_the_table_has_columns() -> None:
    grid = wording.leaf_grid([leaf(name="wd40efrx", count=5, read_rate=1e6, write_rate=2e6)])
    assert len(grid.rows[0]) == len(grid.head)
    row = dict(zip(grid.head, grid.rows[0], strict=True))
    assert (row["number"], row["busy"], row["rate"]) == ("5", "50 %", "3 MB/s")


def test_causes_are_listed_the_largest_first() -> None:
    grid = wording.breakdown_grid({"seek": 100.0, "transfer": 300.0})
    assert [row[0] for row in grid.rows] == ["transfer", "seek"]
    assert [row[2] for row in grid.rows] == ["75 %", "25 %"]


def test_shares_of_nothing_are_nothing() -> None:
    assert share_of_total({}) == share_of_total({"seek": 0.0}) == {}


# Phases and clients.


def test_a_rebuild_is_verified_later_than_redundancy_is_back() -> None:
    phases = (
        Phase(name="sequential rebuild", duration_s=3600.0, read_bytes=1 << 30),
        Phase(name="verifying scrub", start_s=3600.0, duration_s=7200.0),
    )
    (said,) = wording.milestones(answer(phases=phases))
    assert "after 1 h, verified after 3 h" in said
    grid = wording.phase_grid(answer(phases=phases))
    assert grid.rows[1][2:4] == ("", ""), "the scrub has no counts of its own"
    assert wording.milestones(answer(phases=phases[:1])) == ()


CLIENT = Clients(
    kind="random-read", rate=5.0, before_s=0.01, during_s=0.0345, after_s=0.009,
    before=Waits(p50=0.008, p90=0.02, p99=0.05, max=2.0),
)  # fmt: skip


def test_latencies_are_in_milliseconds() -> None:
    before, during, after = wording.clients_grid(answer(clients=(CLIENT,))).rows
    assert before == ("random-read", "5/s", "before", "10 ms", "8 ms", "20 ms", "50 ms", "2 s")
    assert during == ("", "", "during", "34.5 ms", "", "", "", "")
    assert after[3] == "9 ms"


def test_clients_that_nobody_stated_are_explained() -> None:
    load = Assumption(field="load", value=None, why="")
    assert wording.whose_load(answer(clients=(CLIENT,), assumptions=(load,)))
    assert wording.whose_load(answer(clients=(CLIENT,))) == ()
    assert wording.whose_load(answer(assumptions=(load,))) == ()


# Alternatives and advice.


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (72_000.0, "2 times longer"),
        (18_000.0, "2 times shorter"),
        (36_100.0, "about the same"),
        (0.0, "0 s."),
    ],
)
def test_alternatives_are_compared(there: float, words: str) -> None:
    other = Alternative(name="legacy", resilver_s=Quantiles(p50=there))
    assert words in wording.alternative_sentence(answer(), other)


def test_an_alternative_is_told_with_its_error() -> None:
    other = Alternative(name="legacy", resilver_s=Quantiles(p50=72_000.0), half_width_s=7200.0, note="why")
    told = wording.alternative_sentence(answer(), other)
    assert told == "legacy: 20 h +/- 2 h, 2 times longer (why)."
    near = other.model_copy(update={"resilver_s": Quantiles(p50=39_600.0)})
    assert wording.alternative_sentence(answer(), near) == (
        "legacy: 11 h +/- 2 h, which is within that error of it (why)."
    )


def test_the_orders_begin_with_the_one_simulated() -> None:
    other = Alternative(
        name="legacy", resilver_s=Quantiles(p10=1.0, p50=72_000.0, p90=90_000.0), note="why not"
    )
    first, second = wording.alternatives(answer(order="sorted", alternatives=(other,)))
    assert first == "sorted: 10 h (simulated here)."
    assert second.startswith("legacy: 20 h (1 s to 1 d 1 h)")
    assert second.endswith("(why not).")
    assert wording.alternatives(answer()) == ()


def test_the_first_screen_says_what_helps_most_and_what_it_costs() -> None:
    """The first that saves time; none where nothing is known to."""
    given = (
        Advice(action="or that"),
        Advice(action="do this", saves_s=3600.0, why="clients wait twice as long"),
    )
    told = " ".join(brief.brief_text(answer(advice=given)).split())
    assert "What helps most: do this (saves about 1 h): clients wait twice as long." in told
    assert "What helps most" not in brief.brief_text(answer(advice=given[:1]))
    other = Alternative(name="legacy", resilver_s=Quantiles(p50=36_000.0))
    idle = " ".join(brief.brief_text(answer(alternatives=(other,))).split())
    assert "What helps most: faster drives; no change of write cache or ports saves more" in idle
    assert brief.brief_text(answer(advised=True)) == brief.brief_text(answer(alternatives=(other,)))
    old = " ".join(brief.brief_text(answer(advised=True, order="legacy")).split())
    assert "no change of scan order, write cache or ports saves more" in old
    cache = Driver(
        field="write_cache", low_s=30_000.0, high_s=32_000.0, narrows=0.005, sampled=True, words="check it"
    )
    little = cache.model_copy(update={"high_s": 31_000.0, "narrows": 0.2})
    still = answer(alternatives=(other,), uncertainty=Uncertainty(drivers=(little,)))
    assert "write cache or ports saves more" in " ".join(brief.brief_text(still).split())
    unknown = answer(alternatives=(other,), uncertainty=Uncertainty(drivers=(cache,)))
    assert "or write caches switched on where they are off; no change of ports" in " ".join(
        brief.brief_text(unknown).split()
    )


def test_advice_is_numbered_with_what_it_saves() -> None:
    given = (Advice(action="do this", saves_s=3600.0, why="it helps"), Advice(action="or that"))
    assert wording.advice(answer(advice=given)) == (
        "1. do this (saves about 1 h): it helps",
        "2. or that",
    )


# What is not known.


def test_what_hardly_narrows_the_interval_is_left_out() -> None:
    drivers = (
        Driver(field="drive", low_s=30_000.0, high_s=40_000.0, narrows=0.2, words="name it"),
        Driver(field="ports", low_s=35_900.0, high_s=36_100.0, narrows=0.001),
    )
    known = answer(uncertainty=Uncertainty(drivers=drivers))
    assert [row[0] for row in wording.unknowns_grid(known).rows] == ["drive"]
    assert wording.unknowns_grid(answer()).rows == ()


def test_assumptions_say_which_were_varied() -> None:
    known = answer(
        uncertainty=Uncertainty(drivers=(Driver(field="drive", low_s=1.0, high_s=2.0),)),
        assumptions=(
            Assumption(field="drive", value="generic", text="generic", sampled="a, b", why="none named"),
            Assumption(field="cpus", value=8, why="common"),
        ),
    )
    rows = wording.assumption_grid(known).rows
    assert rows == (("drive", "generic", "a, b", "none named"), ("processors", "8", "not varied", "common"))


# The whole.


def test_sections_with_nothing_in_them_are_left_out() -> None:
    assert [section.title for section in wording.sections(answer())] == ["", "Bottleneck"]


def test_warnings_come_before_everything_else_that_is_said() -> None:
    titles = [section.title for section in wording.sections(answer(warnings=("careful",)))]
    assert titles[1] == "Warnings"


def test_text_and_html_say_the_same() -> None:
    known = answer(warnings=("1 < 2 & so on",), leaves=(leaf(),))
    text, page = wording.as_text(known), brief.brief_html(known)
    assert "1 < 2 & so on" in text
    assert "1 &lt; 2 &amp; so on" in page
    for section in wording.sections(known):
        assert section.title in text
        assert section.title in page


@pytest.mark.parametrize("width", [40, 60, 100])
def test_text_is_no_wider_than_asked_for(width: int) -> None:
    long = answer(warnings=("a sentence that goes on and on " * 10,))
    assert max(map(len, wording.as_text(long, width).splitlines())) <= width


def test_a_prediction_prints_itself() -> None:
    assert str(answer()) == brief.brief_text(answer())
    assert answer().explain() == wording.as_text(answer())
    assert answer()._repr_html_() == brief.brief_html(answer())
    assert repr(answer()) == "<Prediction: Resilver: 10 h>"


# The first screen.


def test_a_load_that_costs_much_is_said_in_the_first_line() -> None:
    slow = answer(unloaded_s=9_000.0)
    assert wording.headline(slow) == "Resilver: 10 h under the stated load, 2 h 30 min without it"
    assert wording.headline(answer(unloaded_s=35_900.0)) == "Resilver: 10 h"


def test_the_finish_is_told_for_a_moment() -> None:
    known = answer(resilver_s=Quantiles(p10=28_800.0, p50=36_000.0, p90=72_000.0))
    begins = datetime(2026, 5, 3, 12, 0)
    assert brief.finish(known, begins) == (
        "If started now: done about Sun 03 May 22:00 (Sun 03 May 20:00 to Mon 04 May 08:00).",
    )
    assert brief.finish(answer(), begins) == ("If started now: done about Sun 03 May 22:00.",)
    assert brief.finish(known, None) == ()


@pytest.mark.parametrize(
    ("begins", "begun", "done"),
    [
        ("fri 17:30", "Fri 08 May 17:30", "Sat 09 May 03:30"),
        ("sun 11:49", "Sun 10 May 11:49", "Sun 10 May 21:49"),
        ("sun 12:00", "Sun 03 May 12:00", "Sun 03 May 22:00"),
        ("mon 00:00", "Mon 04 May 00:00", "Mon 04 May 10:00"),
    ],
)
def test_the_finish_is_told_for_the_stated_moment_of_the_week(begins: str, begun: str, done: str) -> None:
    """Of the week to come, so that the hours of loads and tunables are those of the finish."""
    said = answer(stated=(Stated(field="begins", value=begins, text=begins),))
    assert brief.finish(said, datetime(2026, 5, 3, 12, 0)) == (f"If started {begun}: done about {done}.",)


def test_the_first_screen_has_the_loudest_warning_and_counts_the_others() -> None:
    text = str(answer(warnings=("first", "second")))
    assert "WARNING: first. (1 more with --why)" in text
    assert "second" not in text


def test_the_first_screen_names_three_uncertainties() -> None:
    drivers = tuple(
        Driver(field=f"field{number}", low_s=1.0, high_s=9.0 - number, narrows=0.2) for number in range(5)
    )
    text = str(answer(uncertainty=Uncertainty(drivers=drivers)))
    assert [f"field{number}" in text for number in range(5)] == [True, True, True, False, False]


def test_what_the_interval_does_not_contain_is_said_first() -> None:
    driver = Driver(field="recordsize", low_s=9.0, high_s=36_000.0, sampled=False, words="state it")
    known = answer(uncertainty=Uncertainty(drivers=(driver,)))
    assert wording.missing(known) == (
        "NOT STATED: the record size, which the interval does not vary: state it.",
    )
    assert wording.unknowns_grid(known).rows[0][2] == "not sampled"
