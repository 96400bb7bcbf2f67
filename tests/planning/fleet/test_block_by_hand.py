"""The arrays behind a fleet, each against a few failures by hand: queues, overlaps, losses, sums."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.planning.fleet.test_fleet import kind as any_kind
from tests.planning.fleet.test_fleet import site as any_site
from zsim.case.resolve import resolve
from zsim.planning.fleet import block
from zsim.planning.fleet.alike import AlikeVdevs, alike_vdevs
from zsim.planning.fleet.api import (
    FAILURES_A_BLOCK,
    FleetWorlds,
    _added,
    _answer,
    _blocks,
    _enough,
    _losses,
    _merged,
    _scores,
    _worlds,
)
from zsim.planning.fleet.block import Kind, Site, Sums, _Events, run_block
from zsim.planning.fleet.ends import ManyWorlds, rate_of_loss
from zsim.planning.fleet.response import FillResponse
from zsim.planning.fleet.spec import Fleet
from zsim.planning.risk.evaluate import DrawnWorlds
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Group, Repair, one_world
from zsim.planning.risk.one_vdev.latent import mean_present, on_any, pool_gone, present, tripped
from zsim.prediction.answer.records import Quantiles

DAY = 24 * HOUR


def kind(**changes: Any) -> Kind:
    """Return vdevs of four drives, one of which may be missing."""
    return any_kind(**{"group": Group(children=4, tolerance=1), **changes})


def site(**changes: Any) -> Site:
    """Return a hundred days."""
    return any_site(**{"horizon": 100 * DAY, **changes})


def events(*days: tuple[int, float], kinds: Any = None, vdevs: Any = None, gone: Any = None) -> _Events:
    """Return failures: history and day of each; of kind 0 and vdev 0 where nothing else is said."""
    count = len(days)
    return _Events(
        history=np.array([history for history, _ in days], dtype=np.int64),
        kind=np.array(kinds or [0] * count, dtype=np.int64),
        vdev=np.array(vdevs or [0] * count, dtype=np.int64),
        time=np.array([day * DAY for _, day in days]),
        hazard=np.ones(count),
        gone=np.array(gone or [1] * count, dtype=np.int64),
    )


SIX = ((0, 0.0), (0, 1.0), (0, 2.0), (0, 30.0), (1, 0.5), (1, 14.5))


@pytest.mark.parametrize(
    ("spares", "ready"),
    [
        (None, [1, 2, 3, 31, 1.5, 15.5]),
        # None on the shelf: each is ordered, once it is known.
        (0, [15, 16, 17, 45, 15.5, 29.5]),
        # One: the second failure takes what the first has ordered, and so on; each history has a full shelf.
        (1, [1, 15, 16, 31, 1.5, 15.5]),
        (2, [1, 2, 15, 31, 1.5, 15.5]),
    ],
)
def test_a_failure_takes_the_drive_ordered_as_many_failures_ago_as_the_shelf_holds(
    spares: int | None, ready: list[float]
) -> None:
    """Orders take 14 days; a failure is known after one."""
    found, waited, demand = block._spares(events(*SIX), site(spares=spares, detect=DAY), 2)
    assert found / DAY == pytest.approx(ready)
    assert waited / DAY == pytest.approx([each - day - 1 for each, (_, day) in zip(ready, SIX, strict=True)])
    # Within 14 days before them, the day itself counted: 0, 1, 2, 0 in one history, 0, 1 in the other.
    assert demand.tolist() == [3, 2, 1]


def test_one_crew_goes_from_drive_to_drive_and_two_take_turns() -> None:
    """Visits of a day: drives that are ready at 0, 0.5 and 3 days are begun at 0, 1 and 3."""
    some = events((0, 0.0), (0, 0.5), (0, 3.0), (1, 0.0))
    begun, waited, busy = block._crews(some, site(crews=1, visit=DAY), some.time)
    assert begun / DAY == pytest.approx([0, 1, 3, 0])
    assert waited / DAY == pytest.approx([0, 0.5, 0, 0])
    # What it would take: at 0.5 days another one is being replaced, whoever has to wait for whom.
    assert busy.tolist() == [3, 1]
    five = events(*[(0, 0.0)] * 5)
    begun, _, busy = block._crews(five, site(crews=2, visit=DAY), five.time)
    assert busy.tolist() == [1, 1, 1, 1, 1], "five crews would do, of which four others have one"
    assert begun / DAY == pytest.approx([0, 0, 1, 1, 2])
    late = events((0, 0.0), (0, 1.0))
    assert (block._crews(late, site(crews=1, visit=DAY), late.time + 5 * DAY)[1] == 0).all()


def test_crews_of_one_history_do_not_wait_for_those_of_another() -> None:
    """Two crews: of the three drives at once in each history the last waits a day."""
    some = events((0, 0.0), (0, 0.0), (0, 0.0), (1, 0.0), (1, 0.0), (1, 0.0), (2, 0.0))
    begun = block._crews(some, site(crews=2, visit=DAY), some.time)[0]
    assert begun / DAY == pytest.approx([0, 0, 1, 0, 0, 1, 0])


def test_crews_that_are_enough_are_told_whatever_there_are_now() -> None:
    """Two drives at once and, a day later, one alone as the visits have ended: two crews are enough."""
    some = events((0, 0.0), (0, 0.0), (0, 1.0))
    counts = [block._crews(some, site(crews=crews, visit=DAY), some.time)[2] for crews in (None, 1, 2)]
    assert [each.tolist() for each in counts] == [[2, 1]] * 3
    assert [_enough(counts[0], share) for share in (0.6, 0.7)] == [1, 2]
    # Visits that take no time are never at the same time.
    assert block._crews(some, site(), some.time)[2].tolist() == [3]


def test_without_a_limit_crews_begin_at_once_and_are_counted() -> None:
    some = events((0, 0.0), (0, 0.5), (0, 0.75), (0, 3.0), (1, 0.0))
    begun, waited, busy = block._crews(some, site(visit=DAY), some.time)
    assert (begun == some.time).all()
    assert (waited == 0).all()
    assert busy.tolist() == [3, 1, 1]


def test_a_running_maximum_begins_anew_with_each_run() -> None:
    values, runs = np.array([3.0, 1.0, 4.0, -1.0, -2.0, 5.0]), np.array([7, 7, 7, 8, 8, 2])
    assert block._running_maximum(values, runs).tolist() == pytest.approx([3, 3, 4, -1, -1, 5])
    assert len(block._running_maximum(values[:0], runs[:0])) == 0


def test_the_hours_of_a_repair_are_those_of_the_fill_its_pool_has_then() -> None:
    """From 20 % to 60 % within the horizon: 10 to 40 hours, and half-way 20; beyond full it is full."""
    growing = kind(fills=(0.2, 0.6), table_fills=np.array([0.2, 0.6]), table_hours=np.array([10.0, 40.0]))
    over = kind(
        fills=(0.5, 1.5), table_fills=np.array([0.0, 1.0, 2.0]), table_hours=np.array([1.0, 10.0, 99.0])
    )
    under = kind(
        fills=(0.5, -0.5), table_fills=np.array([-1.0, 0.0, 1.0]), table_hours=np.array([9.0, 1.0, 4.0])
    )
    some = events((0, 0.0), (0, 50.0), (0, 100.0), (0, 100.0), (0, 100.0), (0, 0.0), kinds=[0, 0, 0, 1, 2, 2])
    found = block._hours((growing, over, under), site(), some)
    assert found.tolist() == pytest.approx([10, 20, 40, 10, 1, 2])


def test_a_distributed_spare_takes_over_while_it_is_free() -> None:
    """One spare a vdev, in use for 17 days until somebody has replaced the drive; a rebuild takes 12 h."""
    spared = kind(spares=1, takeover=300.0)
    some = events(
        (0, 0.0), (0, 10.0), (0, 27.0), (0, 27.0), (1, 5.0), (1, 6.0),
        kinds=[0, 0, 0, 0, 0, 1], vdevs=[0, 0, 0, 1, 0, 2],
    )  # fmt: skip
    missing, hours = np.full(6, 17 * DAY), np.full(6, 12 * HOUR)
    found = block._taken_over((spared, kind()), some, missing, hours)
    quick = (12 * HOUR + 300) / DAY
    # The second finds it in use, the third comes as the second is replaced; other vdevs have their own.
    assert found / DAY == pytest.approx([quick, 17, quick, quick, quick, 17])
    two = block._taken_over((kind(spares=2, takeover=300.0), kind()), some, missing, hours)
    assert two[1] / DAY == pytest.approx(quick)
    short = block._taken_over((spared, kind()), some, np.full(6, HOUR), hours)
    assert (short == HOUR).all(), "never longer than without it"
    assert block._taken_over((kind(), kind()), some, missing, hours) is missing


def test_hot_spares_take_over_in_any_vdev_of_their_pool() -> None:
    """One for two vdevs: while the first has it the second waits, and another pool has its own."""
    hot = kind(pools=2, vdevs=2, spares=1, takeover=300.0, are_hot=True)
    some = events((0, 0.0), (0, 10.0), (0, 10.0), (0, 40.0), kinds=[0] * 4, vdevs=[0, 1, 2, 1])
    found = block._taken_over((hot,), some, np.full(4, 17 * DAY), np.full(4, 12 * HOUR))
    quick = (12 * HOUR + 300) / DAY
    assert found / DAY == pytest.approx([quick, 17, quick, quick])


def test_so_many_of_the_others_fail_by_the_binomial_law() -> None:
    """Two or more of four, a chance of a tenth each: 1 - 0.9**4 - 4 * 0.1 * 0.9**3 = 0.0523."""
    one = np.array([0.1])
    apart = Group(children=5, tolerance=2)
    assert block._at_least(apart, 2, 4, one)[0] == pytest.approx(0.0523)
    assert block._at_least(apart, 1, 4, one)[0] == pytest.approx(1 - 0.9**4)
    assert block._at_least(apart, 0, 4, one).tolist() == [1.0]
    # Where each begins anew the next three have the whole time again.
    again = Group(children=5, tolerance=2, discipline="restart")
    assert block._at_least(again, 2, 4, one)[0] == pytest.approx((1 - 0.9**4) * (1 - 0.9**3))


@pytest.mark.parametrize("shape", [1.0, 2.0, 0.5])
def test_the_rate_of_a_drive_is_what_its_hazard_grows_by(shape: float) -> None:
    """A mean life of 20 years, whatever the shape: over a year what fails adds up, with what replaces it.

    Against 2,000,000 drives that are drawn one life after the other.
    """
    aged = kind(group=Group(children=4, tolerance=1, shape=shape, age=3 * YEAR))
    scale = 20 * YEAR / math.gamma(1 + 1 / shape)
    times = (np.arange(1000) + 0.5) / 1000 * YEAR
    random, drives = np.random.default_rng(3), 2_000_000
    spent = (3 * YEAR / scale) ** shape + random.standard_exponential(drives)
    left, failed = scale * spent ** (1 / shape) - 3 * YEAR, 0
    while len(left := left[left < YEAR]):
        failed += len(left)
        left = left + scale * random.standard_exponential(len(left)) ** (1 / shape)
    assert float(block._rate(aged, times).mean()) * YEAR == pytest.approx(failed / drives, rel=0.01)


def test_drives_that_die_young_have_a_rate_from_the_first_moment_on() -> None:
    """Of shape a half the rate is endless at an age of nothing: the mean over the first step is taken."""
    young = kind(group=Group(children=4, tolerance=1, shape=0.5))
    scale, step = 20 * YEAR / math.gamma(3), YEAR / block.STEPS
    assert block._rate(young, np.array([0.0, YEAR]))[0] == pytest.approx(
        -math.expm1(-((step / scale) ** 0.5)) / step, rel=1e-6
    )
    assert len(block._rate(young, np.zeros(0))) == 0


def test_a_failure_counts_the_chance_of_others_while_it_is_missing() -> None:
    """4 drives, one may go, none with latent errors: any of three within 2 days of a rate of 5 % a year."""
    one = events((0, 1.0))
    failing = 1 - math.exp(-0.05 / YEAR * 2 * DAY)
    files, vdev, pool = block._lost(kind(), one, np.array([2 * DAY]), np.array([DAY]))[0]
    assert vdev == pytest.approx(1 - (1 - failing) ** 3)
    assert files == pytest.approx(vdev), "nothing else is lost where nothing is latent"
    gone = pool_gone(kind().group, np.array([0.5]), 300.0)[0]
    assert pool == pytest.approx(vdev * gone)
    assert 0.0 < gone < 1.0
    # A vdev whose hazard is thrice as high.
    thrice = one._replace(hazard=np.array([3.0]))
    found = block._lost(kind(), thrice, np.array([2 * DAY]), np.array([DAY]))[0, 1]
    assert found == pytest.approx(1 - math.exp(-3 * 3 * 0.05 / YEAR * 2 * DAY))


def test_latent_errors_lose_files_where_no_redundancy_is_left() -> None:
    """A share of latent * removal / (1 + latent * removal) of drives; three are read, all is exposed."""
    world = one_world(0.05 / YEAR, DAY, latent=0.25 / DAY, removal=DAY)
    errors = kind(world=world)
    files, vdev, _ = block._lost(errors, events((0, 1.0)), np.array([2 * DAY]), np.array([DAY]))[0]
    hit = 1 - (1 - 0.2) ** 3
    assert files == pytest.approx(vdev + (1 - vdev) * hit)
    # ZED faults every damaged drive: of five of which two may go, two at once unless the other four are
    # whole, and the first of three that fails is the last.  Else any two of the four, or one with damage.
    both = kind(world=replace(world, tripping=np.ones(1)), group=Group(children=5, tolerance=2))
    trips = 1 - 0.8**4
    failing = 1 - math.exp(-0.05 / YEAR * 2 * DAY)
    three, two_of_four = 1 - (1 - failing) ** 3, 1 - (1 - failing) ** 4 - 4 * failing * (1 - failing) ** 3
    one_of_four = 1 - (1 - failing) ** 4
    for drawn in (1, 2):
        some = events((0, 1.0), gone=[drawn])
        files, vdev, _ = block._lost(both, some, np.array([2 * DAY]), np.array([DAY]))[0]
        assert vdev == pytest.approx(trips * three + (1 - trips) * two_of_four), "whatever was drawn"
        exposed = (1 - 0.2 * 0.75) ** 3  # half of what is away is waited for, and half repaired by then
        by_errors = trips * hit + (1 - trips) * one_of_four * (1 - exposed)
        assert files == pytest.approx(vdev + (1 - vdev) * by_errors, rel=1e-3)
    # One that ZED faulted is counted with its cause.
    none = block._lost(both, events((0, 1.0), gone=[0]), np.array([2 * DAY]), np.array([DAY]))[0]
    assert none.tolist() == [0.0, 0.0, 0.0]


def test_every_failure_may_trip_another_drive_as_long_as_the_vdev_can_do_without_it() -> None:
    """Triple parity, one drive in four damaged, ZED faults half of those: the second trips one of ten."""
    world = one_world(1e-12, DAY, latent=1 / (3 * YEAR), removal=YEAR, tripping=0.5)
    three = kind(world=world, group=Group(children=12, tolerance=3))
    trips = 1 - (1 - 0.25 * 0.5) ** 10
    # Of the ten left after the second failure one is faulted: the third is one of nine, of ten counted.
    assert block._further(three, 0.25, 1, 11) == pytest.approx([0.0, trips, 1 - trips])
    assert block._further(three, 0.25, 2, 10) == pytest.approx([0.0, 1.0])
    assert block._further(three, 0.25, 3, 9) == [1.0]
    four = kind(world=world, group=Group(children=5, tolerance=4))
    second, third = 1 - (1 - 0.125) ** 3, 1 - (1 - 0.125) ** 2
    # 1, 2, 3, 4 by three failures; 1, 3, 4, where the last is one of two drives, not of three; 1, 2, 4.
    by_two = second * 2 / 3 + (1 - second) * third
    assert block._further(four, 0.25, 1, 4) == pytest.approx([0.0, 0.0, by_two, (1 - second) * (1 - third)])


def test_time_is_booked_at_the_number_of_drives_that_are_missing() -> None:
    """0 to 10, 4 to 6 and 5 to 30 days of a horizon of 18; alone in other vdevs and histories."""
    some = events(
        (0, 0.0), (0, 4.0), (0, 5.0), (0, 2.0), (0, 5.0), (1, 0.0), (1, 1.0),
        kinds=[0, 0, 0, 1, 1, 0, 1], vdevs=[0, 0, 0, 1, 1, 0, 2],
    )  # fmt: skip
    missing = np.array([10.0, 2.0, 25.0, 3.0, 4.0, 7.0, 2.0]) * DAY
    found = block._levels((kind(), kind()), site(horizon=18 * DAY), some, missing) / DAY
    # One missing from 0 to 4 and 10 to 18, two from 4 to 5 and 6 to 10, three from 5 to 6; 7 days elsewhere.
    assert found[0].tolist() == pytest.approx([12 + 7, 5, 1, 0])
    # Where one is back as the next goes, there is no overlap.
    assert found[1].tolist() == pytest.approx([3 + 4 + 2, 0, 0, 0])


def test_more_than_three_missing_are_one_level() -> None:
    some = events(*[(0, float(day)) for day in range(6)])
    found = block._levels((kind(),), site(), some, np.full(6, 6.0) * DAY) / DAY
    # One from 0 to 1 and 10 to 11, two and three likewise, and from day 3 to day 8 more.
    assert found[0].tolist() == pytest.approx([2, 2, 2, 5])
    nothing = block._levels((kind(),), site(), events(), np.zeros(0))
    assert nothing.tolist() == [[0.0] * 4]


def test_a_block_sums_what_becomes_of_its_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six failures: known after a day, with one spare on the shelf and one crew that takes a day."""
    some = events(*SIX, kinds=[0, 1, 0, 0, 1, 1], vdevs=[0, 1, 0, 0, 1, 1])
    monkeypatch.setattr(block, "_drawn", lambda *_: some)
    found = run_block(
        (kind(), kind()), site(horizon=32 * DAY, detect=DAY, visit=DAY, spares=1, crews=1), 2, (1,)
    )
    assert found.failures.tolist() == [3, 3]
    # Replaced and repaired in two days from when both are there: at 3, 17, 18, 33, 3.5 and 17.5 days, but one
    # is still missing at the end of the 32.
    assert (found.missing / DAY).tolist() == pytest.approx([3 + 16 + 2, 16 + 3 + 3])
    assert found.waits[:2] / DAY == pytest.approx([13 + 13, 0.0])
    assert found.waits[2:].tolist() == [2, 0]
    assert (found.demand.tolist(), found.busy.tolist()) == ([3, 2, 1], [6])
    missing = np.array([3, 16, 16, 3, 3, 3]) * DAY
    lost = 1 - np.exp(-3 * 0.05 / YEAR * missing)
    assert found.vdev.tolist() == pytest.approx([lost[[0, 2, 3]].sum(), lost[[1, 4, 5]].sum()])
    assert found.losses[:, 1].tolist() == pytest.approx([lost[:4].sum(), lost[4:].sum()])
    assert found.losses.shape == (2, 3)
    assert (found.files >= found.vdev).all()
    assert (found.vdev > found.pool).all()
    assert found.losses[:, 2].sum() == pytest.approx(found.pool.sum())


def test_what_waits_a_second_or_less_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    some = events((0, 0.0), (0, 0.0))
    monkeypatch.setattr(block, "_drawn", lambda *_: some)
    for visit, waiting in ((0.9, 0), (1.1, 1)):
        assert run_block((kind(),), site(visit=visit, crews=1), 1, (1,)).waits[3] == waiting
        assert run_block((kind(),), site(lead_time=visit, spares=1), 1, (1,)).waits[2] == waiting


def test_failures_are_drawn_at_the_rate_of_their_drives() -> None:
    """Two kinds of 8 and 12 drives a history, 5 % and 10 % a year, half a year: 2 and 6 of ten histories."""
    kinds = (
        kind(pools=2),
        kind(vdevs=3, world=one_world(0.10 / YEAR, DAY)),
    )
    found = block._drawn(kinds, site(horizon=YEAR / 2), 4000, np.random.default_rng(1))
    count = np.bincount(found.kind)
    assert count == pytest.approx([800, 2400], rel=0.1)
    assert set(found.vdev[found.kind == 0]) == {0, 1}
    assert set(found.vdev[found.kind == 1]) == {2, 3, 4}
    assert found.time.min() >= 0
    assert found.time.max() <= YEAR / 2
    assert found.time.mean() == pytest.approx(YEAR / 4, rel=0.05)
    assert (np.diff(found.history) >= 0).all()
    same = np.diff(found.history) == 0
    assert (np.diff(found.time)[same] >= 0).all()
    assert (found.hazard == 1.0).all()
    assert (found.gone == 1).all()


def test_aged_drives_are_drawn_at_the_hazard_of_the_years_to_come() -> None:
    """Shape two, a mean life of 20 years, from 10 years of age to 15: what fails is replaced by a new one."""
    aged = kind(vdevs=2, group=Group(children=6, tolerance=2, shape=2.0, age=10 * YEAR))
    found = block._drawn((aged,), site(horizon=5 * YEAR), 2000, np.random.default_rng(4))
    scale = 20 / math.gamma(1.5)
    first = 1 - math.exp(-(15**2 - 10**2) / scale**2)
    moments = (np.arange(1000) + 0.5) / 200  # years; of those that fail then, some of the new ones fail too
    density = 2 * (10 + moments) / scale**2 * np.exp(-((10 + moments) ** 2 - 10**2) / scale**2)
    again = float((density * -np.expm1(-(((5 - moments) / scale) ** 2))).mean() * 5)
    assert len(found.time) == pytest.approx(2000 * 12 * (first + again), rel=0.03)
    assert (found.time.min() >= 0, found.time.max() <= 5 * YEAR) == (True, True)
    assert found.history.max() < 2000
    assert len(set(found.history)) > 1800, "three failures each"
    # The later half of the years: of what is left of the first drives (15**2 - 12.5**2) of their hazard.
    later = math.exp(-(12.5**2 - 10**2) / scale**2) - math.exp(-(15**2 - 10**2) / scale**2)
    assert np.mean(found.time > 2.5 * YEAR) == pytest.approx(later / first, abs=0.02)


def test_each_kind_of_pools_has_losses_of_its_own() -> None:
    safe = kind(world=one_world(1e-12 / YEAR, DAY))
    some = events((0, 0.0), (0, 1.0), (0, 2.0), kinds=[0, 1, 0], vdevs=[0, 1, 0])
    missing, hours = np.full(3, 2 * DAY), np.full(3, DAY)
    lost = block._losses((kind(), safe), some, missing, hours)[:, 1]
    assert 0.0 < lost[1] < 1e-12
    assert lost[0] == lost[2] == pytest.approx(1 - math.exp(-3 * 0.05 / YEAR * 2 * DAY))


def test_without_scrubs_latent_errors_gather_with_the_age_at_the_failures() -> None:
    """Two years old, and half-way through the second of two failures a year apart: 2.5 years on average."""
    world = one_world(1e-12, DAY, latent=0.1 / YEAR)
    never = kind(world=world, group=Group(children=4, tolerance=1, age=2 * YEAR))
    some = events((0, 0.0), (0, 365.25))
    files = block._lost(never, some, np.full(2, 2 * DAY), np.full(2, DAY))[:, 0]
    assert files == pytest.approx([1 - math.exp(-0.1 * 2.5 * 3)] * 2, rel=1e-6)


def test_losses_of_few_histories_are_told_with_their_sampling_error() -> None:
    """0.1 and 0.3 in two histories: 0.2, with a standard error of 0.1 / sqrt(2), 35 % of it."""
    one = np.array([[0.1, 0.04, 0.0], [0.3, 0.04, 0.0]])
    known = worlds_of(1.0, kinds=1)
    found = _losses(rate_of_loss, [0.5 * one], known.many, known.expected)
    assert found.files.p == pytest.approx(0.1)
    error = 0.1 / math.sqrt(2) / 0.2
    assert (found.files.low, found.files.high) == pytest.approx(
        (0.1 * math.exp(-1.96 * error), 0.1 * math.exp(1.96 * error)), rel=0.02
    )
    assert found.vdev.is_exact
    assert found.pool.p == 0.0


def test_drives_of_a_vdev_share_a_hazard_of_mean_one_and_the_variance_of_their_correlation() -> None:
    """A correlation of three: failures find a hazard of three on average, as vdevs with more have more."""
    wide = kind(world=one_world(0.2 / YEAR, DAY, correlation=3.0))
    assert wide.variance == pytest.approx(2.0)
    found = block._drawn((wide,), site(horizon=YEAR), 20_000, np.random.default_rng(3))
    assert len(found.time) == pytest.approx(16_000, rel=0.05)
    assert found.hazard.mean() == pytest.approx(3.0, rel=0.05)


def test_a_failure_that_trips_another_takes_two_at_one_moment() -> None:
    """All drives have latent errors and ZED faults each that is read: three of four go on to trip."""
    world = one_world(0.05 / YEAR, DAY, latent=1e9 / DAY, removal=DAY, tripping=1.0)
    double = kind(world=world, group=Group(children=4, tolerance=2))
    found = block._drawn((double,), site(horizon=YEAR), 500, np.random.default_rng(1))
    first, second = found.time[0::2], found.time[1::2]
    assert (first == second).all()
    assert (found.gone[0::2] == 2).all()
    assert (found.gone[1::2] == 0).all()
    single = kind(world=world, group=Group(children=4, tolerance=1))
    assert (block._drawn((single,), site(horizon=YEAR), 500, np.random.default_rng(1)).gone == 1).all()


def test_latent_errors_are_there_as_long_as_no_scrub_has_found_them() -> None:
    """A burst in 10 days, found after 5: a third of the time; without scrubs 1 - exp(-age / 10 days)."""
    scrubbed = one_world(1e-9, DAY, latent=0.1 / DAY, removal=5 * DAY)
    assert present(scrubbed, 99 * DAY)[0] == pytest.approx(0.5 / 1.5)
    never = one_world(1e-9, DAY, latent=0.1 / DAY)
    assert present(never, 20 * DAY)[0] == pytest.approx(1 - math.exp(-2))
    assert mean_present(never, 20 * DAY, 0.0)[0] == pytest.approx(1 - math.exp(-2))
    # Over ten days from then on: 1 - 10 (exp(-2) - exp(-3)) / 10.
    assert mean_present(never, 20 * DAY, 10 * DAY)[0] == pytest.approx(
        1 - math.exp(-2) + math.exp(-3), rel=1e-4
    )
    assert on_any(np.array([0.1]), 3)[0] == pytest.approx(1 - 0.9**3)


def test_zed_faults_none_that_the_vdev_cannot_do_without() -> None:
    world = one_world(1e-9, DAY, tripping=0.5)
    group, share = Group(children=8, tolerance=3), np.array([0.2])
    assert tripped(group, world, share, 0)[0] == pytest.approx(1 - 0.9**7)
    assert tripped(group, world, share, 1)[0] == pytest.approx(1 - 0.9**6)
    assert tripped(group, world, share, 2)[0] == 0.0


def test_what_is_gone_of_a_pool_is_what_no_repair_has_reached() -> None:
    """One critical block of three copies: gone with the cube of the share that is not repaired.

    With one drive that may go the second comes evenly over the absence; after a wait of nothing the mean of
    (1 - u)**3 is a quarter, after half of it 1/2 + 1/2 * 1/4.  With two, of density 2u, it is a tenth.
    """
    nothing, half = np.array([0.0]), np.array([0.5])
    one = Group(children=4, tolerance=1)
    assert pool_gone(one, nothing, 1.0)[0] == pytest.approx(1 / 4, rel=1e-3)
    assert pool_gone(one, half, 1.0)[0] == pytest.approx(5 / 8, rel=1e-3)
    two = Group(children=6, tolerance=2)
    assert pool_gone(two, nothing, 1.0)[0] == pytest.approx(1 / 10, rel=1e-2)
    again = Group(children=6, tolerance=2, discipline="restart")
    random = Group(children=6, tolerance=2, repair=Repair(minimum=0.0))
    assert (
        pool_gone(again, nothing, 1.0) == pool_gone(random, nothing, 1.0) == pytest.approx([1 / 4], rel=1e-3)
    )


SITE = {"years": 10, "trials": 5, "spares": 3, "crews": None}


def fleet_of(*pools: dict[str, Any], **given: Any) -> Fleet:
    return Fleet.from_dict({**SITE, **given, "pool": list(pools)})


def sums(scale: int) -> Sums:
    """Return sums of a world with as many histories as `scale`, everything in proportion to it."""
    unit = float(scale)
    return Sums(
        failures=np.array([20.0, 5.0]) * unit,
        missing=np.array([40.0, 15.0]) * unit * DAY,
        files=np.array([0.4, 0.2]) * unit,
        vdev=np.array([0.3, 0.1]) * unit,
        pool=np.array([0.2, 0.0]) * unit,
        levels=np.array([[30.0, 6.0, 3.0, 1.0], [10.0, 0.0, 0.0, 0.0]]) * unit * DAY,
        waits=np.array([50.0 * DAY, 10.0 * DAY, 5.0, 2.0]) * unit,
        demand=np.array([15, 10][:scale], dtype=np.int64) * scale,
        busy=np.array([25], dtype=np.int64) * scale,
        losses=np.tile([0.6, 0.4, 0.2], (scale, 1)),
        hazards=-np.log1p(-np.tile([0.5, 0.3, 0.1], (scale, 1))),
    )


def parts_of(asked: Fleet) -> list[AlikeVdevs]:
    """Return the vdevs of a fleet, whose repairs take a second where no hours are stated."""
    cases = [resolve(each.scenario) for each in asked.pool]
    return alike_vdevs(asked, cases, lambda _: Quantiles(p50=1.0), lambda *_: None)


def worlds_of(*weights: float, kinds: int = 2) -> FleetWorlds:
    """Return worlds in which as much is expected to be lost."""
    alike = np.ones(len(weights))
    many = ManyWorlds(np.zeros((len(weights), 0)), np.arange(len(weights)), np.array(weights))
    return FleetWorlds([], many, [(alike, alike)] * kinds)


def test_the_answer_counts_a_year_of_the_fleet_and_of_each_pool() -> None:
    """Two worlds of two and three histories, ten years, three pools of one kind and seven of another."""
    pools = ({"name": "a", "count": 3, "layout": "mirror2", "hours": 20, "fill": 0.4},
             {"name": "b", "count": 7, "layout": "raidz2x6", "hours": 30})  # fmt: skip
    asked = fleet_of(*pools)
    parts = parts_of(asked)
    one = np.array([0.5])
    table = FillResponse(one, 10 * HOUR + one, 30 * HOUR + 0 * one, 90 * HOUR + one, 0.04)
    parts[1] = parts[1]._replace(table=table)
    found = _answer(asked, parts, worlds_of(0.4, 0.6), [sums(2), sums(3)], [2, 3])
    assert [row.table_error for row in found.pools] == [0.0, 0.04]
    assert (found.years, found.trials, found.pool_years) == (10, 5, 10 * 10 * 5)
    assert found.failures_per_year == pytest.approx(25 / 10)
    assert found.degraded_s_per_pool_year == pytest.approx(50 * DAY / 10 / 10, rel=1e-2)
    # Losses of each history: 0.6, 0.4 and 0.2 within the ten years, in every world alike.
    year, any_ = found.losses_per_year, found.any_loss
    assert [year.files.p, year.vdev.p, year.pool.p] == pytest.approx([0.06, 0.04, 0.02])
    assert [any_.files.p, any_.vdev.p, any_.pool.p] == pytest.approx([0.5, 0.3, 0.1])
    first, second = found.pools
    assert [row.name for row in found.pools] == ["a", "b"]
    assert (first.pools, second.pools) == (3, 7)
    assert (first.failures_per_year, second.failures_per_year) == (2.0, 0.5)
    assert (first.hours_s, second.hours_s) == (20 * HOUR, 30 * HOUR)
    assert [row.missing_s for row in found.pools] == pytest.approx([2 * DAY, 3 * DAY], rel=1e-2)
    assert first.degraded_s == pytest.approx([each * DAY / 30 for each in (30, 6, 3, 1)], rel=1e-2)
    assert second.degraded_s == pytest.approx([10 * DAY / 70, 0, 0, 0], rel=1e-2)
    assert [row.losses_per_year.files.p for row in found.pools] == pytest.approx([0.04, 0.02])
    assert [row.losses_per_year.pool.p for row in found.pools] == pytest.approx([0.02, 0.0])
    assert [row.share for row in found.pools] == [0.75, 0.25]
    spares, crews = found.spares, found.crews
    assert (spares.have, crews.have) == (3, None)
    assert (spares.waited, crews.waited) == pytest.approx((5 / 25, 2 / 25))
    assert (spares.mean_wait_s, crews.mean_wait_s) == pytest.approx((2 * DAY, 0.4 * DAY), rel=1e-2)
    assert (spares.enough, crews.enough) == (
        {"95 %": 2, "99 %": 2, "99.9 %": 2},
        {"95 %": 1, "99 %": 1, "99.9 %": 1},
    )


def test_no_failure_and_no_loss_are_zeros() -> None:
    asked = fleet_of({"name": "a", "layout": "mirror2", "hours": 20})
    nothing = Sums(*(np.zeros(1) for _ in range(5)), np.zeros((1, 4)), np.zeros(4), np.zeros(1, np.int64),
                   np.zeros(1, np.int64), np.zeros((5, 3)), np.zeros((5, 3)))  # fmt: skip
    found = _answer(asked, parts_of(asked), worlds_of(1.0, kinds=1), [nothing], [5])
    assert (found.pools[0].share, found.pools[0].missing_s) == (0.0, 0.0)
    assert (found.any_loss.vdev.p, found.spares.waited, found.spares.enough["95 %"]) == (0.0, 0.0, 0)


def test_blocks_of_a_world_are_summed_and_counts_are_as_long_as_the_longest() -> None:
    assert _added([np.array([1, 2, 3]), np.array([10]), np.array([0, 5])]).tolist() == [11, 7, 3]
    found = _merged([sums(1), sums(2)])
    assert found.failures.tolist() == [60.0, 15.0]
    assert found.demand.tolist() == [15 + 30, 20]
    assert found.losses.shape == (3, 3)
    assert found.levels[0].tolist() == (np.array([30.0, 6.0, 3.0, 1.0]) * 3 * DAY).tolist()


def blocks_of(**given: Any) -> list[Any]:
    asked = fleet_of(
        {"name": "a", "count": 10, "layout": "2*draid1:4d:12c:1s", "hours": 20, "fill": 0.3,
         "fill_per_year": 0.05},
        **given,
    )  # fmt: skip
    parts = parts_of(asked)
    return list(_blocks(asked, parts, _worlds(asked, parts).drawn))


def test_histories_are_shared_out_evenly_among_the_worlds() -> None:
    found = blocks_of(trials=160, visit=7200.0 / HOUR, detect=2, lead_time=3)
    assert [each.histories for each in found] == [3] * 32 + [2] * 32
    assert [each.world for each in found] == list(range(64))
    assert {each.seed for each in found} == {(1, world, 0) for world in range(64)}
    assert [each.histories for each in blocks_of(trials=3)] == [1, 1, 1], "one world a history at least"
    one = found[0]
    assert one.site == Site(10 * YEAR, 2 * HOUR, 2 * HOUR, 3 * DAY, 3, None)
    (only,) = one.kinds
    assert (only.pools, only.vdevs, only.group.children, only.spares) == (10, 2, 12, 1)
    assert only.fills == pytest.approx((0.3, 0.8))
    assert only.table_hours == pytest.approx([20 * HOUR])
    rates = {float(each.kinds[0].world.rate[0]) for each in found}
    assert 50 < len(rates) <= 64, "the worst may be chosen several times"


def test_hours_that_are_stated_are_the_same_in_every_world() -> None:
    def drawn(**stated: Any) -> DrawnWorlds:
        asked = fleet_of({"layout": "mirror2", **stated}, trials=100)
        return _worlds(asked, parts_of(asked)).drawn[0]

    stated = drawn(hours=20)
    assert len(stated.worlds) == 64
    assert (_scores(stated) == 0.0).all()
    assert len(set(_scores(drawn()))) == 64


def test_a_block_holds_as_many_failures_as_are_borne_at_once() -> None:
    """10 pools of 24 drives over 10 years: some tens of failures a history, of 200,000 a block."""
    found = [each for each in blocks_of(trials=64 * 40_000) if each.world == 5]
    assert sum(each.histories for each in found) == 40_000
    assert [each.seed for each in found] == [(1, 5, number) for number in range(len(found))]
    kind_ = found[0].kinds[0]
    expected = 240 * float(kind_.world.rate[0]) * 10 * YEAR
    assert len({each.histories for each in found[:-1]}) == 1
    # A fiftieth of a failure a drive is added for what fails early.
    assert found[0].histories == int(FAILURES_A_BLOCK / (expected + 240 * 0.02))
