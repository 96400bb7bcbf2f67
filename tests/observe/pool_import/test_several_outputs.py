"""Rules of scans that several outputs tell of: which are the same, in which order, and which one runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.observe.pool_import.test_import_rules import NOON
from zsim.observe.pool_import import gather
from zsim.observe.pool_import.gather import same_scan, with_alloc
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import PoolStatus
from zsim.scenario.evidence import FinishedScan, RunningScan

# Scans that several outputs tell of.


def over(
    kind: str = "scrub", seconds: float = 3600.0, end: datetime | None = NOON, **more: Any
) -> FinishedScan:
    return FinishedScan(kind=kind, duration=seconds, end=end, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (over(), over(end=NOON + timedelta(seconds=180)), True),
        (over(), over(end=NOON + timedelta(seconds=181)), False),
        (over(), over(seconds=3600.0 * 1.019), True),
        (over(), over(seconds=3600.0 * 1.03), False),
        (over(seconds=10.0), over(seconds=39.0), True),  # half a minute of slack
        (over(seconds=10.0), over(seconds=41.0), False),
        (over(resolution=600.0), over(seconds=4190.0, end=NOON + timedelta(seconds=590)), True),
        (over("resilver"), over("scrub"), False),
        (over("resilver"), over("rebuild"), True),
        (over("resilver"), over("heal"), True),
        (over(end=None), over(end=None), True),
        (over(end=None), over(), False),
    ],
)
def test_two_outputs_tell_of_one_scan_if_end_and_length_agree(
    one: FinishedScan, other: FinishedScan, same: bool
) -> None:
    assert same_scan(one, other) is same_scan(other, one) is same


def test_what_only_one_output_tells_is_added() -> None:
    first = over("resilver", processed=None, errors=0)
    found = gather._completed(first, over("rebuild", processed=7, errors=3, drives=2))
    assert (found.kind, found.processed, found.errors, found.drives) == ("rebuild", 7, 0, 2)
    assert gather._completed(first, over("heal")).kind == "heal"
    assert gather._completed(over("heal"), over("resilver")).kind == "heal"
    assert gather._completed(over(), over()).kind == "scrub"


def status(at: datetime | None = None, **scan: Any) -> PoolStatus:
    found = Scan(**({"function": "scrub", "state": "running"} | scan))
    return PoolStatus("tank", "ONLINE", (), scan=found, scans=(found,), at=at)


def test_a_scan_has_the_alloc_of_a_running_one_of_those_days() -> None:
    near = status(at=NOON, total=5, since=NOON - timedelta(days=6), state="paused")
    far = status(at=NOON, total=9, since=NOON - timedelta(days=8), state="paused")
    assert with_alloc(over(), [far, near]).alloc == 5
    assert with_alloc(over(), [far]).alloc is None
    assert with_alloc(over(alloc=3), [near]).alloc == 3
    assert with_alloc(over(end=None), [near]).alloc is None
    assert with_alloc(over(), [status(at=NOON, total=5, since=NOON, state="finished")]).alloc is None


@pytest.mark.parametrize(
    ("hours", "ahead"),
    [(2.0, 2.0), (-5.5, -5.5), (5.75, 5.75), (14.0, 14.0), (14.25, None), (0.0, None), (0.3, None)],
)
def test_json_in_utc_is_moved_by_whole_quarters_of_an_hour(hours: float, ahead: float | None) -> None:
    json = Scan("scrub", "finished", form="json", at=NOON)
    text = replace(json, form="2.0", at=NOON + timedelta(hours=hours))
    found = gather._zone(json, [replace(text, function="resilver"), text])
    assert found == (None if ahead is None else timedelta(hours=ahead))
    assert gather._zone(replace(json, at=None), [text]) is None


def test_statuses_are_put_in_order_by_date_and_then_by_how_far_they_are() -> None:
    later, early = status(at=NOON), status(at=NOON - timedelta(hours=1))
    more, less = status(issued=9, scanned=1), status(issued=2, scanned=5)
    assert gather.in_order([later, early]) == [early, later]
    assert gather.in_order([later, more, less]) == [less, more, later]
    done = PoolStatus("t", "", (), scan=Scan("scrub", "finished", at=NOON))
    assert gather.in_order([done, early]) == [early, done]


@pytest.mark.parametrize(
    ("since", "kind", "same"),
    [
        (NOON - timedelta(hours=1), "scrub", True),
        (NOON - timedelta(hours=1, seconds=179), "scrub", True),
        (NOON - timedelta(hours=1, seconds=200), "scrub", False),
        (NOON - timedelta(hours=1), "resilver", False),
        (None, "scrub", False),
    ],
)
def test_a_running_scan_is_one_that_ended_if_it_began_then(
    since: datetime | None, kind: str, same: bool
) -> None:
    state = RunningScan(kind=kind, since=since)  # type: ignore[arg-type]
    assert gather._is_of(state, over()) is same
    assert gather._is_of(state, over(end=None)) is False


def test_a_scan_that_ended_before_it_could_begin_is_another() -> None:
    """A damaged date and 100 years of it: there is no date so long before the year 1."""
    state = RunningScan(kind="scrub", since=NOON)  # type: ignore[arg-type]
    assert gather._is_of(state, over(seconds=3.2e9, end=datetime(9, 1, 1))) is False


def test_only_the_scan_that_began_last_runs() -> None:
    first, last, undated = (
        RunningScan(kind="scrub", since=since) for since in (NOON - timedelta(days=1), NOON, None)
    )
    assert gather._of_the_last([first, last, undated]) == [last, undated]
    assert gather._of_the_last([undated]) == [undated]
