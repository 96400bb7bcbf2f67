"""What `zsim.eta` says: when it is done, what zpool says, what is left, and the pace so far."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from zsim.planning.eta.answer import Eta
from zsim.planning.eta.reasons import FAST, SLOW
from zsim.planning.eta.records import Span, Weighed, later
from zsim.planning.eta.wording import as_text, lines

HOUR = 3600.0
AT = datetime(2026, 11, 25, 14, 0, 0)
ANSWER = Eta(
    pool="tank",
    subject="resilver of raidz2x6",
    total_s=Span(4 * HOUR, 5 * HOUR, 7 * HOUR),
    remaining_s=Span(2 * HOUR, 3 * HOUR, 5 * HOUR),
    elapsed_s=2 * HOUR,
    at=AT,
    phase="repair",
    done=0.4,
    parts={"metadata scan": 0.5, "repair": 3 * HOUR},
    zpool_remaining_s=None,
    zpool_total_s=None,
    zpool_why="",
    pace=1.0,
)


def said(**changes: Any) -> list[str]:
    return [text for text, _ in lines(replace(ANSWER, **changes))]


def one(start: str, **changes: Any) -> str:
    (found,) = [text for text in said(**changes) if text.startswith(start)]
    return found


def test_the_first_line_says_when_it_is_done() -> None:
    first, second, third, *_ = said()
    assert first == "tank: done about Wed 25 Nov 17:00, 3 h after this status."
    assert "Wed 25 Nov 16:00 to Wed 25 Nov 19:00 (2 h to 5 h to go)" in second
    assert second.endswith("Status of Wed 25 Nov 2026 14:00.")
    assert third == "Pool: resilver of raidz2x6."


@pytest.mark.parametrize("pool", ["", "unknown"])
def test_a_pool_without_a_name_is_not_named(pool: str) -> None:
    assert said(pool=pool)[0].startswith("done about ")


def test_without_a_date_there_are_durations_alone() -> None:
    first, second, *_ = said(at=None)
    assert first == "tank: 3 h to go after this status."
    assert second == "80 % interval (p10-p90): 2 h to 5 h. The status carries no date."
    assert json.loads(replace(ANSWER, at=None).to_json())["finish"] == {"p10": None, "p50": None, "p90": None}


def test_what_no_calendar_has_is_said_so() -> None:
    assert later(AT, 1e12) is None
    assert later(None, 1.0) is None
    assert later(AT, 60.0) == datetime(2026, 11, 25, 14, 1)
    assert "after the year 9999" in said(remaining_s=Span(HOUR, 2 * HOUR, 1e12))[1]


@pytest.mark.parametrize(
    ("seconds", "why", "words"),
    [
        (None, "", "zpool gives no estimate."),
        (None, "it has not begun", "zpool gives no estimate: it has not begun."),
        (3 * HOUR, "", "zpool says 3 h, which agrees."),
        (2 * HOUR, "it counts what is skipped", "zpool says 2 h, too little: it counts what is skipped."),
        (4 * HOUR, "it counts what is skipped", "zpool says 4 h, too much: it counts what is skipped."),
    ],
)
def test_what_zpool_says_is_held_against_the_answer(seconds: float | None, why: str, words: str) -> None:
    assert one("zpool ", zpool_remaining_s=seconds, zpool_why=why) == words


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (HOUR, "zpool says less than a minute, sooner than expected here, but within the interval."),
        (60.0, "zpool says less than a minute, which agrees."),
    ],
)
def test_no_minute_to_go_is_less_than_a_minute(left: float, words: str) -> None:
    changes = {"zpool_remaining_s": 30.0, "remaining_s": Span(left / 2, left, 2 * left)}
    assert one("zpool ", zpool_says_no_minute=True, **changes) == words
    assert one("zpool ", **changes).startswith("zpool says 30 s, ")


def test_what_is_left_is_told_by_parts_that_count() -> None:
    assert one("Now: ") == "Now: repair, 40 % done; 2 h elapsed; left: 3 h repair."
    assert "left: 1 s metadata scan, " in one("Now: ", parts={"metadata scan": 1.0, "repair": 60.0})
    assert "left: 1 h repair." in one("Now: ", parts={"metadata scan": 0.9, "repair": HOUR})
    assert "left: 1 h repair." in one("Now: ", parts={"repair": HOUR, "tail": 6.0})
    assert one("Now: ", parts={}).endswith("left: the last txg syncs.")
    assert "elapsed" not in one("Now: ", elapsed_s=None)


def test_a_repair_is_called_what_it_is() -> None:
    """An expansion copies, a rebuild rebuilds, a scrub reads."""
    assert "left: 3 h copying" in one("Now: ", phase="copying")
    assert "left: 3 h rebuild" in one("Now: ", phase="rebuild")
    scrub = Weighed("running scrub", 1.0, 1.0, 1.0, 0.0)
    assert one("Now: ", evidence=(scrub,)).startswith("Now: reading, ")
    assert "left: 3 h reading" in one("Now: ", evidence=(scrub,))
    other = replace(scrub, kind="scrub")
    assert one("Now: ", evidence=(other,)).startswith("Now: repair, ")


@pytest.mark.parametrize(
    ("pace", "words"),
    [
        (1.0, "Pace: as expected for a pool like this one."),
        (SLOW, "Pace: 1.3 times slower than the median simulated pool."),
        (SLOW - 0.001, "Pace: as expected for a pool like this one."),
        (12.4, "Pace: 12 times slower than the median simulated pool."),
        (10.4, "Pace: 10 times slower than the median simulated pool."),
        (9.94, "Pace: 9.9 times slower than the median simulated pool."),
        (FAST, "Pace: 1.3 times faster than the median simulated pool."),
        (FAST + 0.001, "Pace: as expected for a pool like this one."),
        (0.5, "Pace: 2.0 times faster than the median simulated pool."),
        (None, "Pace: too early to tell whether it is slower or faster than pools like this one."),
    ],
)
def test_the_pace_so_far(pace: float | None, words: str) -> None:
    assert one("Pace: ", pace=pace) == words
    assert replace(ANSWER, pace=pace).pace_tells is (pace is not None)


def test_a_pace_that_nothing_tells_is_not_called_early() -> None:
    assert one("Pace: ", elapsed_s=None, pace=None).startswith("Pace: not known: nothing shows how long")


def test_loud_notes_and_defaults_that_matter_come_before_the_rest() -> None:
    assumed = (
        {"field": "drive_size", "text": "4 TB", "why": "the usual"},
        {"field": "memory", "text": "16G", "why": "a common size"},
    )
    found = said(
        assumptions=assumed,
        notes=("NOT KNOWN: the drives", "a line was cut."),
        reasons=("one drive is slow",),
        pace=2.0,
    )
    places = {text.split(":")[0]: number for number, text in enumerate(found)}
    assert places["Default used, and it matters"] < places["NOT KNOWN"] < places[""] < places["Reason"]
    assert places["Reason"] < places["Note"]
    assert found[places["Note"]] == "Note: a line was cut."
    assert "Default used, and it matters: drive size 4 TB (the usual)." in found
    assert not any("16G" in text for text in found), "worlds differ in it"


def test_the_text_is_wrapped_and_whole() -> None:
    text = as_text(replace(ANSWER, worry=("word " * 60,), consequences=("it starts again",)))
    assert max(map(len, text.splitlines())) <= 100
    assert "If you step in: it starts again." in text
    assert text.count("word") == 60


def test_moments_are_the_status_and_what_is_left() -> None:
    found = json.loads(ANSWER.to_json())
    assert found["finish"] == {
        "p10": "2026-11-25T16:00:00", "p50": "2026-11-25T17:00:00", "p90": "2026-11-25T19:00:00",
    }  # fmt: skip
    assert (found["at"], found["remaining_s"]["p50"], found["pace_tells"]) == (
        "2026-11-25T14:00:00", 3 * HOUR, True,
    )  # fmt: skip
