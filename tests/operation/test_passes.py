"""What a pool does between slices, txgs and passes, and what of a run is noted."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.operation.scripted import LABELS, ScriptedPlane, control_of, let
from tests.operation.test_cursors import table
from tests.operation.test_pool import RECORDS, small
from zsim.case.resolve import resolve
from zsim.engine.codes import LEAF_DTYPE
from zsim.engine.model import NOT_REPAIRED, VdevModel
from zsim.operation.ledger import PhaseLedger
from zsim.operation.pool import LOOK_S, SimulatedPool, changed
from zsim.operation.result import followed, seconds_of
from zsim.operation.run import Run, RunResult
from zsim.operation.setup import SecondReplacement, freed_by_txgs, plain_prefetch, wanted_blocks
from zsim.operation.txg import TxgRules
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import whole_setup
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import load_release


class Children(ScriptedPlane):
    """Notes which leaves each vdev reads and writes, and the rules of the scan."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self.children: dict[int, tuple[list[int], list[int]]] = {}
        self.cut = 0
        self.rules: list[Any] = []

    def set_children(self, number: int, read: list[int], write: list[int]) -> None:
        self.children[number] = list(read), list(write)

    def cut_short(self) -> None:
        self.cut += 1

    def set_rules(self, _queue: Any, scan: Any) -> None:
        self.rules.append(scan)

    def want_below(self) -> None:
        self.asked.append((self.now, "below"))


def two_vdevs() -> tuple[VdevModel, ...]:
    """Two raidz1 of three drives; leaf 7 replaces the second of the second."""
    first = VdevModel(kind="raidz", parity=1, ashift=12, read_leaf=(0, 1, 2), write_leaf=(NOT_REPAIRED,) * 3)
    return first, replace(first, read_leaf=(3, -1, 5), write_leaf=(NOT_REPAIRED, 7, NOT_REPAIRED))


def pool(release: str = "openzfs-2.3", share: float = 0.5, **setup: Any) -> tuple[SimulatedPool, Children]:
    plane = Children(group_s=1.0)
    given = replace(small(release), **setup)
    given = replace(given, model=replace(given.model, vdevs=two_vdevs()))
    control = control_of(plane)
    return SimulatedPool(control.environment, control, given, lambda: share), plane


@pytest.mark.parametrize(
    ("release", "share", "again"),
    [
        ("zol-0.7", 0.9, True),
        ("openzfs-2.1", 0.01, False),
        ("openzfs-2.3", 0.0999, True),
        ("openzfs-2.3", 0.1, False),
        ("openzfs-2.3", 0.9, False),
    ],
)
def test_a_drive_that_is_attached_starts_the_scan_again_as_the_release_does(
    release: str, share: float, again: bool
) -> None:
    """To 0.7 always, from 0.8 never, from 2.3 while less than zfs_resilver_defer_percent (10) is done."""
    one, plane = pool(release, share)
    assert not one.starts_again()
    one.replace(4, 9)
    assert plane.cut == 1
    assert one.starts_again() is again
    # It is asked once.
    assert not one.starts_again()


def test_txgs_are_short_while_the_command_that_attaches_waits() -> None:
    """The txg of the attach and three after it (TXG_CONCURRENT_STATES): zfs_resilver_min_time_ms, 3 s."""
    one, _ = pool()
    assert one.slice_s(5.0) == 5.0
    one.control.txgs = 20
    one.replace(4, 9)
    one.starts_again()
    slices = []
    for _ in range(6):
        slices.append(one.slice_s(5.0))
        one.control.txgs += 1
    assert slices == [3.0] * 4 + [5.0] * 2
    one.control.txgs = 20
    assert one.slice_s(2.0) == 2.0


@pytest.mark.parametrize(("waits", "seconds"), [(True, 3.0), (False, 5.0)])
def test_a_drive_attached_before_the_scan_is_repaired_in_its_first_pass(waits: bool, seconds: float) -> None:
    one, plane = pool()
    one.attach_before(0, 9, waits=waits)
    assert plane.children == {
        0: ([0, 1, 2], [9, NOT_REPAIRED, NOT_REPAIRED]),
        1: ([3, -1, 5], [NOT_REPAIRED, 7, NOT_REPAIRED]),
    }
    assert one.slice_s(5.0) == seconds


def test_a_pass_of_its_own_begins_three_txgs_and_the_open_one_later_and_reads_what_the_last_one_wrote() -> (
    None
):
    """Leaves are numbered through the vdevs as the pool was built: 5 is the third of the second."""
    one, plane = pool()
    one.attach_at_last(5, 9)
    one.attach_at_last(5, 8)  # It is there already.
    assert let(one.control, one.next_pass(again={})) is True
    assert one.control.txgs == 3
    assert [what for _, what in plane.asked].count(LABELS) == 3
    # Three groups of a second each (and two reads of space maps in the first), and zfs_txg_timeout.
    assert plane.now == 3 * 3.0 + 2.0 + 5.0
    nothing = [NOT_REPAIRED] * 3
    assert plane.children == {0: ([0, 1, 2], nothing), 1: ([3, 7, 5], [NOT_REPAIRED, NOT_REPAIRED, 9])}
    # No other one follows.
    assert let(one.control, one.next_pass(again={})) is False


def test_a_command_that_still_waits_puts_the_next_pass_off_by_a_txg() -> None:
    one, plane = pool()
    one.attach_before(5, 9, waits=True)
    let(one.control, one.next_pass(again={5: 9}))
    assert plane.now == 3 * 3.0 + 2.0 + 2 * 5.0
    assert plane.children[1] == ([3, 7, 9], [NOT_REPAIRED] * 3)


def test_a_scan_that_starts_again_repairs_both_drives_at_once() -> None:
    one, plane = pool("zol-0.7")
    one.replace(5, 9)
    one.starts_again()
    assert let(one.control, one.next_pass(again={})) is True
    assert (plane.now, one.control.txgs) == (0.0, 0)
    assert plane.children[1] == ([3, -1, 5], [NOT_REPAIRED, 7, 9])
    assert not one.restarted


def test_the_same_drive_is_not_replaced_twice() -> None:
    one, plane = pool()
    for _ in range(2):
        one.replace(5, 9)
    assert plane.cut == 1


def test_a_paused_scan_stands_still_until_it_is_resumed() -> None:
    one, plane = pool()
    let(one.control, one.standing_still())
    assert plane.now == 0.0

    def awake() -> Any:
        yield one.environment.timeout(30.0)
        one.resume()

    one.pause()
    one.pause()
    one.happen(awake())
    let(one.control, one.standing_still())
    assert plane.now == 30.0
    one.resume()  # Nothing stands still.


def test_moments_count_from_the_start_of_the_scan_and_shares_are_looked_at_each_second() -> None:
    one, plane = pool()
    one.start = one.environment.now - 100.0
    let(one.control, one.at(107.0))
    assert one.environment.now == 7.0
    let(one.control, one.at(20.0))
    assert one.environment.now == 7.0
    one.share = lambda: 0.1 * (one.environment.now - 7.0) / LOOK_S
    let(one.control, one.at_share(0.45))
    assert one.environment.now == 7.0 + 5 * LOOK_S
    plane.now = 13.0
    assert one.elapsed == 113.0


def test_metadata_is_read_ahead_from_the_txg_on_that_is_stated() -> None:
    one, plane = pool(prefetch_from=2)
    for txgs in (1, 2, 3):
        one.control.txgs = txgs
        one.txg_ended()
    assert [rules.prefetch_recursive for rules in plane.rules] == [True]
    assert [what for _, what in plane.asked] == ["below"]


def test_a_slice_is_booked_with_what_all_streams_have_issued() -> None:
    one, plane = pool()
    plane.place, plane.issued = [0, 0], [30, 12]
    one.start, plane.now = 100.0, 107.0
    one.book("visit", 2.0)
    assert one.phases == [("visit", 2.0, 7.0)]
    [sample] = one.progress
    assert (sample.time, sample.issued_bytes, sample.phase) == (7.0, 42, "visit")


def test_phases_share_what_the_leaves_did() -> None:
    """Whatever is booked, and whenever: the parts sum to the counters."""
    ledger, leaves = PhaseLedger(), np.zeros(2, LEAF_DTYPE)
    for number, phase in enumerate(("visit", "issue", "visit")):
        leaves["busy"] += [1.0, 0.5]
        leaves["read_bytes"] += [10 * (number + 1), 0]
        leaves["write_bytes"] += [0, 100]
        ledger.book(phase, leaves)
    assert ledger.by_phase() == {
        "visit": ((2.0, 40.0, 0.0), (1.0, 0.0, 200.0)),
        "issue": ((1.0, 20.0, 0.0), (0.5, 0.0, 100.0)),
    }


def test_rules_that_are_changed_keep_what_the_change_does_not_touch() -> None:
    """A run may have rules of its own: a tunable changes what of them comes from it."""
    own = TxgRules(slice_s=9.0, pass_blocks=(1,))
    before, after = TxgRules(slice_s=5.0), TxgRules(slice_s=2.0)
    assert changed(own, before, after) == TxgRules(slice_s=2.0, pass_blocks=(1,))
    assert changed(own, before, before) == own


def test_slices_of_a_phase_are_summed_without_what_lies_between() -> None:
    slices = [("visit", 0.0, 2.0), ("issue", 3.0, 7.0), ("visit", 8.0, 8.5)]
    assert seconds_of(slices, "visit") == 2.5
    assert seconds_of(slices, "issue") == 4.0
    assert followed(slices, 10.0) == [3.0, 8.0, 10.0]


@pytest.mark.parametrize(
    ("at", "together", "early"),
    [(0.0, False, True), (-3.0, False, True), (0.5, False, False), (9.0, True, True)],
)
def test_a_second_replacement_is_early_if_nothing_has_been_issued(
    at: float, together: bool, early: bool
) -> None:
    assert SecondReplacement(child=0, leaf=4, at=at, together=together).early is early


@pytest.mark.parametrize(
    ("release", "tunables", "plain"),
    [
        ("zol-0.7", {}, True),
        ("zol-0.7", {"zfs_no_scrub_prefetch": 1}, False),
        ("openzfs-2.3", {}, False),
    ],
)
def test_old_releases_prefetch_what_lies_below_a_visited_block_unless_switched_off(
    release: str, tunables: dict[str, int], plain: bool
) -> None:
    assert plain_prefetch(load_release(release).with_tunables(tunables)) is plain


def test_a_scrub_reads_all_that_stays_and_a_resilver_what_a_replaced_drive_misses() -> None:
    given = small()
    scrub = wanted_blocks(replace(given, operation="scrub"))
    mine = wanted_blocks(given)
    assert not (mine & ~scrub).any()
    assert 0 < mine.sum() < scrub.sum() < len(scrub)
    # Without the test of columns (to 0.6.5) every block of the vdev.
    old = wanted_blocks(replace(given, release=load_release("zol-0.6.5")))
    assert old.sum() == scrub.sum()
    healthy = replace(given.model.vdevs[0], read_leaf=(0, 1, 2), write_leaf=(NOT_REPAIRED,) * 3)
    whole = replace(given, model=replace(given.model, vdevs=(healthy,)))
    assert not wanted_blocks(whole).any()


@pytest.mark.parametrize(
    ("release", "imported", "allocators"),
    [("openzfs-2.3", True, 4), ("openzfs-2.3", False, 1), ("zol-0.7", True, 1)],
)
def test_after_an_import_allocators_begin_in_their_best_metaslabs_else_where_the_mos_is(
    release: str, imported: bool, allocators: int
) -> None:
    place = 5 << 30
    blocks = table([(0, place, 4096)], mos=[0])
    cursors = replace(small(release), blocks=blocks, imported=imported).first_cursors()
    assert len(cursors) == allocators
    if allocators == 1:
        assert cursors == [[(0, place)]]
    else:
        # The first metaslab is empty, as all but one are.
        assert cursors[0][0] == (0, 0)
    stated = replace(small(release), blocks=blocks, imported=imported, cursors=((0, 77),))
    assert stated.first_cursors() == [[(0, 77)]]


@pytest.mark.parametrize(
    ("release", "logged"), [("openzfs-2.3", True), ("openzfs-2.0", True), ("zol-0.7", False)]
)
def test_txgs_free_old_blocks_of_the_mos_those_of_the_start_last(release: str, logged: bool) -> None:
    """With a log of space maps (2.0) each txg writes out the oldest; two pass before a scan visits."""
    births = [3, 4, 5, 6, 6]
    rows = [[(0, number << 30, 4096)] for number in range(6)]
    blocks = replace(table(*rows, birth=[*births, 9], mos=range(6)), object=np.full(6, 20))
    turns = freed_by_txgs(replace(small(release), blocks=blocks))
    assert [turn.tolist() for turn in turns] == ([[2], [3, 4], [0], [1]] if logged else [])


@cache
def at_clock(release: str, clock_s: float) -> RunResult:
    return Run(replace(small(release), clock_s=clock_s)).finish()


@pytest.mark.parametrize("release", ["openzfs-2.3", "zol-0.7"])
@pytest.mark.parametrize("clock_s", [0.0, 4_096.0])
def test_times_of_a_result_begin_with_the_scan_whatever_the_clock_of_the_host(
    release: str, clock_s: float
) -> None:
    result = at_clock(release, clock_s)
    assert 0.0 <= result.first_scan_s < 1.0
    assert 0.0 < result.visit <= result.end
    assert result.first_scan_s + result.span <= result.end
    assert result.end == pytest.approx(at_clock(release, 0.0).end, rel=0.05)
    assert len(result.records) < RECORDS
    scan = result.records[result.records["scan"] == 1]
    assert scan["submitted"].min() == pytest.approx(result.first_scan_s, abs=1e-6)
    assert scan["done"].max() == pytest.approx(result.first_scan_s + result.span, abs=1e-6)
    assert (result.records["submitted"] <= result.records["done"]).all()
    assert result.records["done"].max() <= result.end
    moments = [each.time for each in result.progress]
    assert moments == sorted(moments)
    assert moments == [end for _, _, end in result.phases]
    busy = np.array([[leaf[0] for leaf in leaves] for leaves in result.by_phase.values()]).sum(axis=0)
    assert busy == pytest.approx(result.leaves["busy"])


def test_a_run_that_is_broken_off_ends_then_and_has_the_share_that_was_issued() -> None:
    run = Run(small())
    result = run.execute_for(5.0)
    assert result.end == pytest.approx(5.0, abs=0.5)
    every = int(small().blocks.psize[wanted_blocks(small())].sum())
    assert run.share() == pytest.approx(result.issued_bytes / every, rel=0.05)
    assert 0.2 < run.share() < 0.6


@pytest.mark.parametrize("release", ["openzfs-2.3", "zol-0.7.13"])
def test_a_run_without_its_table_of_blocks_is_the_same(release: str) -> None:
    setup = replace(small(), release=load_release(release))
    run = Run(setup)
    run.forget_blocks()
    assert len(run.setup.blocks) == len(run.pool.setup.blocks) == len(run.work.setup.blocks) == 0
    found, whole = run.execute(), Run(setup).execute()
    assert (found.end, found.children, found.issued_bytes) == (whole.end, whole.children, whole.issued_bytes)


def test_a_scan_of_next_to_nothing_spans_from_its_first_io_to_its_last() -> None:
    """However short: nothing is rounded up to a second."""
    result = Run(small(blocks=40)).finish()
    scan = result.records[result.records["scan"] == 1]
    assert 0.0 < result.span < 1.0
    assert result.span == pytest.approx(scan["done"].max() - scan["submitted"].min())
    assert 0.0 <= result.visit < 1.0


@pytest.mark.parametrize("clock_s", [0.0, 4_096.0])
def test_a_scan_without_any_io_begins_with_itself_and_spans_nothing(clock_s: float) -> None:
    result = Run(replace(small(blocks=1), clock_s=clock_s)).finish()
    assert (result.records["scan"] == 1).sum() == 0
    assert (result.first_scan_s, result.span, result.issued_bytes) == (0.0, 0.0, 0)
    assert 0.0 < result.end < 5.0


def test_clients_alone_leave_the_scan_where_it_is() -> None:
    run = Run(small())
    result = run.watch(3.0)
    assert result.end == 3.0
    assert result.issued_bytes == 0
    assert result.client_latency_s == 0.0


def test_a_special_vdev_is_repaired_only_where_it_is_damaged() -> None:
    stated = {
        "layout": "raidz1x3+special:mirror2",
        "fill": 0.3,
        "drive_size": "20GB",
        "release": "openzfs-2.3",
    }
    case = resolve(Scenario.from_dict(stated))
    setup = whole_setup(case, miniature(case, blocks=1_000).table, plane_model(case))
    damaged = [bool(vdev.damaged) for vdev in setup.model.vdevs]
    wanted = wanted_blocks(setup)
    for number, is_damaged in enumerate(damaged):
        here = (setup.blocks.dva_vdev == number).any(axis=1)
        elsewhere = (setup.blocks.dva_vdev[:, 0] == number) & (setup.blocks.dva_count == 1)
        assert wanted[here].any() or not is_damaged
        assert is_damaged or not wanted[elsewhere].any()
