"""The fleet event by event, with the moments of failures and the chances written down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.planning.fleet.event_by_event import Counts, simulate_events
from zsim.planning.fleet.block import Kind, Site
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Group, one_world

DAY = 24 * HOUR
FAR = 1e9


class Script:
    """Stands for a generator of random numbers: waits for the next failure [h], then chances in turn."""

    def __init__(self, waits: Iterator[float], chances: Iterator[float]) -> None:
        self.waits, self.chances = waits, chances
        self.means: list[float] = []

    def exponential(self, mean: float) -> float:
        self.means.append(mean)
        return next(self.waits, FAR) * HOUR

    def random(self) -> float:
        return next(self.chances, 0.999)

    def gamma(self, shape: float, scale: float) -> float:
        return shape * scale * 2.0


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    def made(waits: tuple[float, ...], *chances: float, hours: float = 24.0, **changes: Any) -> Counts:
        """Return what a vdev counts that loses drives after these waits [h]; a repair takes `hours`."""
        script = Script(iter(waits), iter(chances))
        monkeypatch.setattr(np.random, "default_rng", lambda _seed: script)
        site = {"horizon": 100 * DAY, "detect": HOUR, "visit": 2 * HOUR, "lead_time": 14 * DAY,
                "spares": None, "crews": None}  # fmt: skip
        kind: dict[str, Any] = {
            "pools": 1, "vdevs": 1, "group": Group(children=4, tolerance=1),
            "world": one_world(0.05 / YEAR, DAY), "fills": (0.5, 0.5), "table_fills": np.zeros(1),
            "table_hours": np.array([DAY]), "critical": 300.0,
        }  # fmt: skip
        for name, value in changes.items():
            (site if name in site else kind)[name] = value
        kind["spares"] = kind.pop("distributed", 0)
        found = simulate_events((Kind(**kind),), Site(**site), lambda *_: hours * HOUR, 1)
        made.means = script.means  # type: ignore[attr-defined]
        return found

    return made


def hours(found: Counts) -> list[float]:
    return [each / HOUR for each in found.levels[0]]


def test_a_drive_is_missing_until_it_is_known_replaced_and_resilvered(run: Any) -> None:
    found = run((24.0,))
    assert (found.failures, found.files, found.vdev) == ([1], [0], [0])
    assert found.missing[0] / HOUR == pytest.approx(1 + 2 + 24)
    assert hours(found) == pytest.approx([27, 0, 0, 0])
    assert (found.spare_wait, found.crew_wait) == (0.0, 0.0)
    # Four drives at 5 % a year each.
    assert run.means == pytest.approx([5 * YEAR] * 2)


def test_a_vdev_that_loses_too_many_is_lost_and_taken_as_restored_at_once(run: Any) -> None:
    found = run((24.0, 10.0))
    assert (found.failures, found.files, found.vdev) == ([2], [1], [1])
    assert hours(found) == pytest.approx([10, 0, 0, 0])
    # Alone again later: it has all its drives.
    again = run((24.0, 10.0, 200.0))
    assert (again.failures, again.vdev) == ([3], [1])
    assert hours(again) == pytest.approx([10 + 27, 0, 0, 0])


@pytest.mark.parametrize(("drawn", "failures"), [(0.24, 1), (0.25, 2)])
def test_a_drive_that_is_missing_does_not_fail_again(run: Any, drawn: float, failures: int) -> None:
    """One of four is: a quarter of the draws mean it.  The first two draws are of the first failure."""
    assert run((24.0, 10.0), 0.999, 0.999, drawn).failures == [failures]


def test_two_missing_are_a_level_of_their_own(run: Any) -> None:
    found = run((24.0, 10.0), group=Group(children=5, tolerance=2))
    assert hours(found) == pytest.approx([10 + 10, 17, 0, 0])
    assert found.missing[0] / HOUR == pytest.approx(54)
    assert found.vdev == [0]


def test_what_is_still_missing_at_the_end_is_booked_until_then(run: Any) -> None:
    found = run((90 * 24.0,), horizon=90 * DAY + 5 * HOUR)
    assert hours(found) == pytest.approx([5, 0, 0, 0])


@pytest.mark.parametrize(("spares", "wait"), [(None, 0), (0, 28), (1, 13), (2, 0)])
def test_a_failure_waits_for_the_drive_that_was_ordered_for_the_one_before(
    run: Any, spares: int | None, wait: float
) -> None:
    found = run((24.0, 24.0), group=Group(children=5, tolerance=2), spares=spares)
    assert found.spare_wait / DAY == pytest.approx(wait)


@pytest.mark.parametrize(("crews", "wait"), [(None, 0), (1, 24), (2, 0)])
def test_a_failure_waits_for_a_crew(run: Any, crews: int | None, wait: float) -> None:
    found = run((24.0, 24.0), group=Group(children=5, tolerance=2), crews=crews, visit=2 * DAY)
    assert found.crew_wait / HOUR == pytest.approx(wait)
    assert found.missing[0] / HOUR == pytest.approx(2 * (1 + 48 + 24) + wait)


def test_a_distributed_spare_takes_over_while_one_is_free(run: Any) -> None:
    """Rebuilt an hour after the failure; the second one, a day later, finds it in use until hour 27."""
    kind = {"group": Group(children=5, tolerance=2), "distributed": 1, "takeover": HOUR}
    assert run((24.0,), **kind).missing[0] / HOUR == pytest.approx(25)
    site = {"detect": 40 * HOUR}
    found = run((24.0, 24.0), **kind)
    assert found.missing[0] / HOUR == pytest.approx(25 + 27)
    # What is on the shelf is asked of the site, not of the vdev.
    assert run((24.0, 28.0), **kind).missing[0] / HOUR == pytest.approx(50)
    assert run((24.0, 28.0), **kind, **site).missing[0] / HOUR == pytest.approx(25 + 66)


LATENT = one_world(0.05 / YEAR, DAY, latent=0.25 / DAY, removal=DAY, tripping=0.5)


@pytest.mark.parametrize(("drawn", "files"), [(0.48, 1), (0.49, 0)])
def test_files_are_lost_where_a_survivor_is_damaged(run: Any, drawn: float, files: int) -> None:
    """A fifth of the drives are: of three survivors one or more with 1 - 0.8**3 = 0.488."""
    found = run((24.0,), 0.999, drawn, world=LATENT)
    assert (found.files, found.vdev) == ([files], [0])


@pytest.mark.parametrize(("drawn", "files"), [(0.27, 1), (0.28, 0)])
def test_what_the_first_repair_has_done_is_not_exposed(run: Any, drawn: float, files: int) -> None:
    """The second of five goes halfway through the 24 hours of the first: 1 - (1 - 0.1)**3 = 0.271."""
    found = run(
        (24.0, 3.0 + 12.0), 0.999, 0.999, 0.999, drawn, group=Group(children=5, tolerance=2), world=LATENT
    )
    assert found.files == [files]


@pytest.mark.parametrize(("drawn", "failures"), [(0.34, 2), (0.35, 1)])
def test_zed_faults_a_drive_that_is_damaged_where_one_may_go(run: Any, drawn: float, failures: int) -> None:
    """A tenth of the drives are damaged and faulted: of four survivors 1 - 0.9**4 = 0.344."""
    found = run((24.0,), 0.999, drawn, group=Group(children=5, tolerance=2), world=LATENT)
    assert found.failures == [failures]
    assert found.vdev == [0]
    alone = run((24.0,), 0.999, 0.999, 0.0, world=LATENT)
    assert alone.failures == [1], "not where it is the last that may go"


def test_a_shared_hazard_makes_all_drives_of_a_vdev_fail_sooner(run: Any) -> None:
    """Here twice the mean of one."""
    run((24.0,), world=one_world(0.05 / YEAR, DAY, correlation=3.0))
    assert run.means == pytest.approx([2.5 * YEAR] * 2)


def test_drives_that_never_fail_are_not_waited_for(run: Any) -> None:
    assert run((24.0,), world=one_world(0.0, DAY)).failures == [0]
