"""What a scan that runs is compared as, and a stretch in which clients are watched, without a run."""

from __future__ import annotations

import math
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tests.prediction.samples import disks as case
from zsim.prediction.evidence import comparable
from zsim.prediction.evidence.comparable import AT_ITS_PACE, Comparison, NotCompared
from zsim.prediction.evidence.probes import ScanProbe
from zsim.prediction.evidence.under_way import OwnPace
from zsim.prediction.runs import waits
from zsim.scenario.evidence import RunningScan

NOON = datetime(2026, 11, 20, 12)


def compared(
    monkeypatch: pytest.MonkeyPatch, pace: OwnPace | None, *scans: RunningScan, **fields: Any
) -> tuple[Comparison | NotCompared, list[Any]]:
    """Return what statuses are compared as, where they tell a pace, and of which scan it was asked."""
    asked: list[Any] = []
    monkeypatch.setattr(comparable, "as_it_was", lambda *given: asked.append(given[1:]))
    monkeypatch.setattr(comparable, "own_pace", lambda one, statuses: pace)
    monkeypatch.setattr(comparable, "event_of", lambda one: 0.3)
    monkeypatch.setattr(comparable, "_unlike", lambda one, like: (1.2,))
    monkeypatch.setattr(comparable, "_fullest", lambda one, like: like.duration / 1000.0)
    return comparable.under_way(case(**fields), scans), asked


@pytest.mark.parametrize(
    ("kind", "operation", "replaced", "sigma"),
    [
        ("resilver", "resilver", 1, 0.5), ("scrub", "scrub", 0, 0.5), ("scrub", "resilver", 0, 1.3),
        ("resilver", "scrub", 1, 1.3),
    ],
)  # fmt: skip
def test_a_scan_that_runs_counts_as_what_it_takes_in_all(
    monkeypatch: pytest.MonkeyPatch, kind: Any, operation: str, replaced: int, sigma: float
) -> None:
    """0.3 of the event and 0.4 of its pace are 0.5; beside another operation there is 1.2 more."""
    first = RunningScan(kind=kind, since=NOON)
    last = RunningScan(kind=kind, since=NOON, at=NOON.replace(day=21))
    found, asked = compared(monkeypatch, OwnPace(500.0, 0.4), first, last, operation=operation)
    assert isinstance(found, Comparison)
    assert asked == [(kind, replaced)]
    assert found.probe == ScanProbe(kind, replaced)
    assert (found.kind, found.unit, found.observed) == (f"running {kind}", "s", 500.0)
    assert (found.seen.log, found.seen.sigma) == (math.log(500.0), pytest.approx(sigma))
    assert (found.shift, found.when, found.phrase) == (0.5, "21 November 2026", AT_ITS_PACE)


@pytest.mark.parametrize(
    ("scan", "why"),
    [
        ({"kind": "heal"}, "it says little about a whole scan"),
        ({"kind": "expand"}, "its pace is not weighed here; zsim eta"),
        ({"kind": "remove"}, "its pace is not weighed here; zsim eta"),
        ({"kind": "resilver"}, "it has repaired nothing yet, or nothing shows when it began"),
        ({"kind": "scrub", "processed": 10**12}, "it repaired 909.49 GiB"),
    ],
)
def test_a_scan_that_tells_nothing_says_why(
    monkeypatch: pytest.MonkeyPatch, scan: dict[str, Any], why: str
) -> None:
    pace = None if scan == {"kind": "resilver"} else OwnPace(500.0, 0.4)
    found, _ = compared(monkeypatch, pace, RunningScan(since=NOON, elapsed=60.0, **scan))
    assert isinstance(found, NotCompared)
    assert (found.kind, found.observed, found.when) == (f"running {scan['kind']}", 60.0, "20 November 2026")
    assert found.why.startswith(why.split(" 909", maxsplit=1)[0])
    undated, _ = compared(monkeypatch, pace, RunningScan(**scan))
    assert (undated.observed, undated.when) == (None, ""), "nobody has observed 0 s"
    dated, _ = compared(monkeypatch, pace, RunningScan(since=NOON, at=NOON.replace(hour=15), **scan))
    assert dated.observed == 3 * 3600.0


# How long clients are watched.


@pytest.mark.parametrize(
    ("answered", "end", "seconds"),
    [
        # A quarter of what is wanted was answered in 100 s.
        (waits.WATCHED_REQUESTS / 4, 100.0, 400.0),
        # At least so many times as a drive lets a read wait.
        (waits.WATCHED_REQUESTS, 1.0, waits.STARVATIONS * 11.0),
        (0, 1e9, waits.LONGEST_S),
    ],
)
def test_clients_are_watched_until_enough_are_answered(answered: float, end: float, seconds: float) -> None:
    drives = [(11.0, True), (99.0, False), (5.0, True)]
    leaves = [SimpleNamespace(drive=SimpleNamespace(queue_max_age_s=s, rotating=r)) for s, r in drives]
    counts = [(answered / 2, None), (answered / 2, None)]
    made: Any = SimpleNamespace(
        model=SimpleNamespace(leaves=leaves), run=SimpleNamespace(clients=counts, end=end)
    )
    expected = min(waits.LONGEST_S, max(waits.SHORTEST_S, seconds))
    assert waits._seconds(made) == pytest.approx(expected)
    made.model.leaves = []
    made.run.end, counts[:] = 0.5, [(waits.WATCHED_REQUESTS, None)]
    assert waits._seconds(made) == waits.SHORTEST_S


@pytest.mark.parametrize(
    ("fields", "end", "shown", "blocks"),
    [
        ({}, 20.0, True, 2500), ({}, 3.0, True, 9000), ({}, 50.0, True, 0), ({}, 20.0, False, 0),
        ({"operation": "scrub"}, 20.0, True, 2500), ({"load": "none"}, 20.0, True, 0),
        ({"layout": "mirror2", "operation": "rebuild"}, 20.0, True, 0),
    ],
)  # fmt: skip
def test_a_longer_stretch_is_run_where_the_one_that_is_there_is_too_short(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], end: float, shown: bool, blocks: int
) -> None:
    """Fifty seconds are wanted of a run of 1000 blocks: as many more as it ends too early, 9000 at most."""
    asked: list[Any] = []

    class Longer:
        def __init__(self, setup: Any) -> None:
            asked.append(setup)

        def execute_for(self, seconds: float) -> str:
            asked.append(seconds)
            return "longer"

        def forget_blocks(self) -> None:
            """Nothing is kept."""

        def release(self) -> None:
            asked.append("released")

    monkeypatch.setattr(waits, "_seconds", lambda result: 50.0)
    monkeypatch.setattr(waits, "_most_blocks", lambda one: 9000)
    monkeypatch.setattr(waits, "miniature", lambda one, blocks: blocks)
    monkeypatch.setattr(waits, "setup_of", lambda one, pool, model: pool)
    monkeypatch.setattr(waits, "Run", Longer)
    load = [{"kind": "random-read", "rate": 60, "size": "128K"}]
    result = SimpleNamespace(run=SimpleNamespace(end=end), model="plane")
    other = SimpleNamespace(run=result.run)
    baseline: Any = SimpleNamespace(
        case=case(**({"load": load} | fields)), result=result, shown=result if shown else other,
    )  # fmt: skip
    found = waits.run_for_waits(baseline, 1000)
    assert found == ("longer" if blocks else result.run)  # type: ignore[comparison-overlap]
    assert asked == ([blocks, 100.0, "released"] if blocks else [])
