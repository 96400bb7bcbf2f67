"""A validation at a glance: kinds, cases, and failures with their reasons."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from zsim.validation.frame import ValidationCase, judge, ordered
from zsim.validation.report import overview, wording

SEED = ValidationCase("b-seed", "seed", "case", Path("s"), title="A pool that was watched")
RUN = ValidationCase("a-run", "zfs-run", "zfs-run", Path("r"), category="legacy")
CLAIMS = (
    judge(RUN, "time", 100.0, 104.0, 0.08, unit="s"),
    judge(RUN, "reads", 10.0, 30.0, None),
    judge(SEED, "time", 3600.0, 3000.0, 0.1, p10=2800, p90=3900, unit="s", reason="Seen twice."),
    ordered(SEED, "wide is slower", False, "not reproduced"),
    judge(SEED, "rate", 10e6, 10.5e6, 0.1, unit="B/s"),
)


def test_glance_counts_each_kind_the_published_ones_first() -> None:
    grid = overview.glance_grid(CLAIMS)
    assert [row[0].partition(":")[0] for row in grid.rows] == ["seed", "zfs-run"]
    assert grid.rows[0][2:] == ("1", "1", "2", "0", "16.7 %", "16.7 %")
    assert grid.rows[1][2:] == ("1", "1", "0", "1", "4 %", "4 %")


def test_failures_say_why() -> None:
    told = replace(CLAIMS[2], why="Its reads are\nshort.")
    grid = overview.failures_grid((*CLAIMS[:2], told, *CLAIMS[3:]))
    assert [row[1] for row in grid.rows] == ["time", "wide is slower"]
    assert [row[-1] for row in grid.rows] == ["Its reads are short.", "see the residuals"]
    assert grid.rows[1][2:5] == ("holds", "does not hold", "-")


def test_a_case_is_one_row_with_its_duration() -> None:
    grid = overview.cases_grid(CLAIMS)
    assert [row[0] for row in grid.rows] == ["b-seed", "a-run"]
    assert grid.rows[0][1:] == (
        "A pool that was watched", "1 h", "50 min", "46 min 40 s - 1 h 5 min", "-17 %", "1 of 3", "0",
    )  # fmt: skip
    assert grid.rows[1][1] == "legacy"


def test_case_names_that_two_kinds_share_stay_apart() -> None:
    twin = ValidationCase("a-run", "observed", "observed", Path("o"))
    grid = overview.cases_grid((*CLAIMS, judge(twin, "time", 10.0, 20.0, None, unit="s")))
    assert [row[0] for row in grid.rows] == ["b-seed", "a-run", "a-run"]
    assert [row[2] for row in grid.rows] == ["1 h", "10 s", "1 min 40 s"]


def test_what_was_not_predicted_says_so() -> None:
    claim = judge(SEED, "time", 10.0, None, 0.1, unit="s", reason="No such drive. Try another.")
    assert overview.why(claim) == "No such drive"


def test_many_small_cases_stand_apart() -> None:
    told, alike = overview.apart(CLAIMS)
    assert {claim.kind for claim in told} == {"seed"}
    assert {claim.kind for claim in alike} == {"zfs-run"}


def test_long_reasons_are_cut_at_a_word() -> None:
    text = overview.first_sentence("word " * 100)
    assert len(text) <= overview.LONGEST_REASON
    assert text.endswith("word ...")


def test_a_column_left_out() -> None:
    grid = wording.without(overview.cases_grid(CLAIMS), "what")
    assert grid.head == ("case", "observed", "predicted", "p10 - p90", "error", "passed", "info")
    assert grid.numeric == frozenset(range(1, 7))


REPORT = ValidationCase("pool-a", "observed", "observed", Path("f"), experiment="a", category="sorted")
OTHER = ValidationCase("pool-b", "observed", "observed", Path("f"), experiment="b", category="sorted")
FIELD = (
    judge(REPORT, "time", 3600.0, 4000.0, 0.3, p10=3000, p90=5000, unit="s"),
    judge(OTHER, "time", 3600.0, 9000.0, 0.3, p10=5000, p90=20000, unit="s"),
    judge(replace(OTHER, name="pool-c", claim="progress"), "progress", 10.0, 30.0, None, unit="s"),
)


def test_field_reports_are_judged_in_all_and_shown_one_by_one() -> None:
    grid = overview.field_grid((*CLAIMS, *FIELD))
    assert [row[1] for row in grid.rows] == ["pool-b", "pool-a"]
    assert [row[-1] for row in grid.rows] == ["no", "yes"]
    assert [row[-2] for row in grid.rows] == ["+150 %", "+11 %"]
    assert all(row[0] != "pool-b" for row in overview.failures_grid((*CLAIMS, *FIELD)).rows)
    told, alike = overview.apart((*CLAIMS, *FIELD))
    assert {claim.kind for claim in (*told, *alike)} == {"seed", "zfs-run"}


def test_a_field_report_without_a_prediction_stands_first() -> None:
    refused = judge(REPORT, "time", 10.0, None, 0.3, reason="No width is given.")
    assert overview.field_grid((*FIELD, refused)).rows[0][-2:] == ("-", "-")


def test_median_error_of_field_reports_counts_experiments_once() -> None:
    more = tuple(replace(FIELD[1], case=f"pool-{n}") for n in range(5))
    row = next(row for row in overview.glance_grid((FIELD[0], *more)).rows if row[0].startswith("observed"))
    assert row[-2] == "66.7 %"
