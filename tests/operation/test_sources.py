"""What a scan is handed, txg by txg: entries that wait, the order of visits and issues, and that all is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operation.scripted import ScriptedPlane, control_of, let
from tests.operation.test_pool import plain, small
from tests.scan.test_scan_program import SECTOR, table
from zsim.engine.model import ClientModel
from zsim.operation.blocks import KeptTables, PendingEntries, ScanBlocks, split_walk
from zsim.operation.memory_limit import MemoryLimit
from zsim.operation.run import Run, RunResult, WholeWork
from zsim.operation.scans import LegacyScan, SortedScan
from zsim.operation.sources import FreedEntries, WholeQueues
from zsim.scan.program import OP_ISSUE, OP_VISIT, Program
from zsim.scan.sorted import ScanQueue, queue_entries

MIB = 1 << 20
ENTRY, EXTENT = 120 + 16, 48
"""An entry of one DVA, and an extent (dsl_scan.c: scan_io_t and dva_t, range_seg_gap_t) [bytes]."""


def entries(*places: tuple[int, int]) -> ScanQueue:
    """Return entries of a sector each, at a vdev and a sector."""
    vdev, sector = np.array(places, np.int64).reshape(-1, 2).T
    count = len(places)
    return ScanQueue(
        item=np.arange(count), copy=np.zeros(count, np.int64), vdev=vdev, offset=sector * SECTOR,
        asize=np.full(count, SECTOR), record_bytes=np.full(count, ENTRY),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("places", "extents"),
    [
        ([], 0),
        ([(0, 5)], 1),
        ([(0, 5), (0, 6)], 1),
        ([(0, 0), (0, 1 + 4)], 1),  # a gap of four sectors is spanned
        ([(0, 0), (0, 1 + 5)], 2),
        ([(0, 0), (1, 1)], 2),  # extents end with their vdev
        ([(1, 3), (0, 9), (0, 8), (1, 40)], 3),  # in whatever order they were visited
    ],
)
def test_entries_take_memory_and_so_do_the_extents_that_neighbours_form(
    places: list[tuple[int, int]], extents: int
) -> None:
    pending = PendingEntries(entries(*places), 4 * SECTOR)
    assert pending.used_bytes(np.arange(len(places))) == ENTRY * len(places) + EXTENT * extents


@given(
    st.lists(st.sampled_from(range(12))), st.integers(0, 12), st.integers(0, 12), st.sets(st.integers(0, 11))
)
def test_what_waits_is_a_set_of_entries(issued: list[int], one: int, other: int, above: set[int]) -> None:
    """Visited ones come in, issued ones go out; one that is still queued is not queued twice."""
    pending = PendingEntries(entries(*((0, number) for number in range(12))), SECTOR)
    first, end = min(one, other), max(one, other)
    pending.rows = pending.with_visited(0, first, np.zeros(0, np.int64))
    pending.rows = pending.with_visited(first, end, np.array(sorted(above), np.int64))
    waits = {*range(end), *above}
    assert pending.rows.tolist() == sorted(waits)
    gone = sorted(waits & set(issued))
    pending.drop([np.array(gone[:2], np.int64), np.array(gone[2:], np.int64)])
    assert pending.rows.tolist() == sorted(waits - set(gone))


def test_visits_are_told_apart_from_issues_with_the_entries_before_each() -> None:
    """A block of three copies is three entries."""
    blocks = replace(table([(0, SECTOR), (SECTOR, SECTOR)]), dva_count=np.array([2, 1, 3, 1], np.int16))
    walk = Program(
        np.array([OP_VISIT, OP_VISIT, OP_ISSUE, OP_VISIT, OP_ISSUE, OP_ISSUE, OP_ISSUE]),
        np.array([0, 1, 2, 1, 3, 1, 0]),
    )
    visits, before = split_walk(walk, blocks)
    assert visits.item.tolist() == [0, 1, 1]
    assert (visits.code == OP_VISIT).all()
    assert before.tolist() == [0, 0, 3]


def whole_queues(**tunables: int) -> tuple[Any, WholeQueues]:
    """Return a run of a small pool and its source."""
    setup = small()
    run = Run(replace(setup, release=setup.release.with_tunables(tunables)))
    scan: Any = run.scan
    return run, scan.source


def test_where_visits_stop_the_blocks_above_are_queued_on_the_way_up() -> None:
    """dsl_scan_visitbp returns through the callbacks of all levels; of a block at the top there are none."""
    _, source = whole_queues()
    rows, unwind = source.blocks.rows, source.blocks.unwind
    assert unwind is not None
    tops = 0
    for stopped in range(0, len(rows), 97):
        above, row = [], int(unwind[rows[stopped]])
        while row >= 0:
            above.append(row)
            row = int(unwind[row])
        found = source._way_up(stopped)
        # All copies of each of them, and none of any other.
        copies = int(source.blocks.setup.blocks.dva_count[above].sum())
        assert len(found) == len(set(found.tolist())) == copies
        assert set(rows[found].tolist()) == set(above)
        tops += not above
    root = int(np.flatnonzero(unwind[rows] < 0)[0])
    assert len(source._way_up(root)) == 0
    assert len(source._way_up(len(rows))) == 0
    assert tops < 5


def test_tables_of_a_scan_are_kept_for_the_same_blocks_until_what_they_follow_from_is_another() -> None:
    """Where clients read, the scan also counts what they have read: its tables are others."""
    setup, kept = small(), KeptTables()
    found = kept.of(setup, queued=True)
    assert kept.of(replace(setup, memory=1 << 40, txg=replace(setup.txg_rules, slice_s=1.0)), True) is found
    client = replace(setup.model, clients=(ClientModel(count=2),))
    for other in (
        replace(setup, seed=setup.seed + 1), replace(setup, model=client),
        replace(setup, blocks=setup.blocks.take(np.arange(len(setup.blocks)) > 0)),
    ):  # fmt: skip
        assert kept.of(other, True) is not found
        found = kept.of(setup, True)
        assert kept.of(setup, True) is found
    assert kept.of(setup, False) is not found
    found = kept.of(setup, True)
    kept.forget()
    assert kept.of(setup, True) is not found


def test_what_is_issued_of_each_vdev_leaves_its_queue_and_nothing_else() -> None:
    """Positions are counted over the programs of all vdevs, one after the other."""
    _, source = whole_queues()
    rows = np.arange(len(source.queue))
    first, second = rows[:5], rows[5:9]
    source._orders = [first, second]
    source._programs = [Program(rows, rows) for rows in source._orders]
    dropped: list[int] = []
    stub: Any = source
    stub.pending = SimpleNamespace(drop=lambda parts: dropped.extend(np.concatenate(parts).tolist()))
    # Nothing; two of the first; of the four of the second, which now begin behind three, three.
    for positions, gone in (((0, 5), []), ((2, 5), [0, 1]), ((0, 6), [5, 6, 7])):
        dropped.clear()
        stub.pool = SimpleNamespace(plane=SimpleNamespace(positions=lambda at=positions: at))
        source.note_entries()
        assert dropped == gone
    assert [each.tolist() for each in source._orders] == [[2, 3, 4], [8]]
    assert [each.item.tolist() for each in source._programs] == [[2, 3, 4], [8]]


LITTLE = {"zfs_scan_mem_lim_min": 1, "zfs_scan_mem_lim_soft_fact": 20}


def limited(slice_s: float = 5.0, **tunables: int) -> RunResult:
    """Return a run whose queues have 40 kB of memory: a tenth of what all entries take."""
    setup = small()
    release = setup.release.with_tunables({**LITTLE, **tunables})
    txg = replace(setup.txg_rules, slice_s=slice_s)
    return Run(replace(setup, release=release, memory=20 * 40_000, txg=txg)).finish()


def turns(run: RunResult) -> int:
    """Return how often a run went from visiting to issuing."""
    names = [name for name, _, _ in run.phases]
    return sum(one == "visit" and two == "issue" for one, two in pairwise(names))


@pytest.mark.parametrize(
    ("slice_s", "tunables"),
    [
        (0.05, {}),
        (0.05, {"zfs_scan_issue_strategy": 1}),
        (0.05, {"zfs_scan_issue_strategy": 2}),
        (0.05, {"zfs_scan_checkpoint_intval": 1}),
        (5.0, {"zfs_scan_strict_mem_lim": 1}),
    ],
)
def test_whatever_the_memory_and_the_order_nothing_is_left_out(
    slice_s: float, tunables: dict[str, int]
) -> None:
    """Only what lies above the places where visits were suspended may be issued once more."""
    whole, parts = plain(), limited(slice_s, **tunables)
    assert turns(whole) == 1 < turns(parts)
    suspended, levels = turns(parts) - 1, 8
    assert whole.issued_blocks <= parts.issued_blocks <= whole.issued_blocks + levels * suspended
    # What was replaced is written whole whatever the order.
    written = [run.leaves["scan_write_bytes"].sum() for run in (parts, whole)]
    assert written[0] == pytest.approx(written[1], rel=0.01)
    if "zfs_scan_strict_mem_lim" in tunables:
        assert turns(parts) >= ENTRY * whole.issued_blocks // 40_000


def test_a_scan_of_one_turn_issues_its_queue_in_the_order_of_addresses() -> None:
    run = plain()
    scan = run.records[(run.records["scan"] == 1) & (run.records["write"] == 0) & (run.records["leaf"] == 0)]
    issue = min(begin for name, begin, _ in run.phases if name == "issue")
    late = scan[scan["submitted"] >= issue]
    order = np.argsort(late["submitted"], kind="stable")
    assert (np.diff(late["offset"][order]) >= -16 * MIB).all()


class Turns:
    """A source of so many visits, one a slice, each of some entries; one entry is issued a slice."""

    def __init__(self, visits: int, entries: int, each_bytes: float = 10.0) -> None:
        self.left, self.entries, self.each_bytes = visits, entries, each_bytes
        self.waiting, self.seen = 0, []  # type: int, list[Any]

    @property
    def visited_all(self) -> bool:
        return self.left == 0

    def used_bytes(self) -> float:
        return self.waiting * self.each_bytes

    def begin(self) -> None:
        self.seen.append("begin")

    def load_visits(self, _limit: MemoryLimit) -> Sequence[int]:
        self.seen.append("visit")
        return ()

    def note_visits(self) -> None:
        self.left, self.waiting = self.left - 1, self.waiting + self.entries

    def load_entries(self, *, by_address: bool) -> Sequence[int]:
        self.seen.append("address" if by_address else "extent")
        return ()

    def note_entries(self) -> None:
        self.waiting -= 1

    def note_txg(self) -> None:
        self.seen.append("txg")


def stub_pool(plane: ScriptedPlane, **tunables: int) -> Any:
    """Return as much of a pool as the strategies ask for, with slices of five seconds and one of three."""
    control = control_of(plane, slice_s=5.0, first_slice_s=3.0)
    pool = SimpleNamespace(
        control=control, plane=plane, txg=control.txg, visit_end=0.0, on_tunables=[], phases=[],
        release=small().release.with_tunables(tunables), setup=SimpleNamespace(memory=20 * 100),
        standing_still=lambda: iter(()), slice_s=lambda seconds: seconds, txg_ended=lambda: None,
        starts_again=lambda: False, note_visited=lambda: None,
    )  # fmt: skip
    pool.book = lambda phase, begin: pool.phases.append((phase, begin, plane.now))
    # The time of the pool is that of its plane.
    type_of_pool: Any = type("Pool", (SimpleNamespace,), {"elapsed": property(lambda self: self.plane.now)})
    return type_of_pool(**vars(pool))


def order_of(source: Turns, **tunables: int) -> list[str]:
    """Return what a sorted scan asks of a source, with a hard limit of 100 bytes."""
    pool = stub_pool(ScriptedPlane(group_s=0.0, drain_s=0.0), **LITTLE, **tunables)
    let(pool.control, SortedScan(pool, source, 1 << 40).steps())  # type: ignore[arg-type]
    seen: list[str] = source.seen
    assert seen[0] == "begin"
    # Each slice is of a txg of its own.
    assert seen[2::2] == ["txg"] * (len(seen) // 2)
    assert pool.control.txgs == len(seen) // 2
    return seen[1::2]


def test_collecting_and_issuing_take_turns_as_memory_allows() -> None:
    """Hard limit 100 bytes, soft 95: ten entries of 10 fill it, nine are below; the rest goes by address."""
    assert order_of(Turns(2, 10)) == ["visit", "extent", "visit", *["address"] * 19]
    assert order_of(Turns(3, 3)) == ["visit"] * 3 + ["address"] * 9


def test_a_checkpoint_issues_all_that_waits_by_address_and_the_next_one_comes_an_interval_later() -> None:
    """In slices of 5 s and 12 s after all was issued: what 15 s collect is issued, then it goes on."""
    seen = order_of(Turns(7, 1), zfs_scan_checkpoint_intval=12)
    assert seen == [*["visit"] * 3, *["address"] * 3, *["visit"] * 3, *["address"] * 3, "visit", "address"]


def test_a_scan_that_is_to_start_again_ends_with_the_txg_that_is_open() -> None:
    """Whatever is still to be visited or issued: the next pass begins from the start."""
    pool, source = stub_pool(ScriptedPlane(group_s=0.0, drain_s=0.0), **LITTLE), Turns(5, 1)
    pool.starts_again = lambda: True
    let(pool.control, SortedScan(pool, source, 1 << 40).steps())  # type: ignore[arg-type]
    assert source.seen == ["begin", "visit", "txg"]


def test_a_scan_without_entries_ends_with_its_visits() -> None:
    assert order_of(Turns(2, 0)) == ["visit", "visit"]


class Parts(Turns):
    """Of whose streams more is loaded when they are used up."""

    def load_visits(self, limit: MemoryLimit) -> Sequence[int]:
        super().load_visits(limit)
        return (0,)


def test_what_was_loaded_in_part_is_followed_by_more_within_the_slice() -> None:
    plane = ScriptedPlane(group_s=0.0, drain_s=0.0, scan_s=2.0)
    pool, source = stub_pool(plane, **LITTLE), Parts(3, 0)
    let(pool.control, SortedScan(pool, source, 1 << 40).visit())  # type: ignore[arg-type]
    # Twice two seconds, and of the third time one is left of five.
    assert [moment for moment, what in plane.asked if what == "resume"] == [0.0, 2.0, 4.0]
    assert plane.now == 5.0
    assert source.seen == ["visit"] * 3
    assert pool.phases == [("visit", 0.0, 5.0)]


def test_the_first_slice_of_a_legacy_scan_is_that_of_the_attach() -> None:
    """It is over when its one stream is, and a txg ends after each slice."""
    plane = ScriptedPlane(group_s=0.0)
    pool = stub_pool(plane)
    pool.release = small("zol-0.7").release

    class Walk:
        def begin(self) -> None:
            plane.scan_s = 100.0

    def resumed(pause_at: float) -> None:
        plane.scan_s = 2.0 if plane.now >= 8.0 else 100.0
        ScriptedPlane.resume(plane, pause_at)

    plane.resume = resumed  # type: ignore[method-assign]
    let(pool.control, LegacyScan(pool, Walk()).steps())
    assert pool.phases == [("issue", 0.0, 3.0), ("issue", 3.0, 8.0), ("issue", 8.0, 10.0)]
    assert pool.control.txgs == 3


def test_the_end_of_each_txg_frees_what_its_turn_is_and_of_what_is_queued_alone() -> None:
    freed = FreedEntries(WholeWork(small()).blocks)
    freed._turns = iter([np.array([4, 7]), np.array([9])])
    freed._rows = np.array([4, 4, 7, 8, 9, 9])
    queued = np.array([0, 1, 3, 5])
    assert freed.end_txg(queued).tolist() == [True, True, False, False]
    assert freed.end_txg(queued).tolist() == [False, False, False, True]
    assert freed.end_txg(queued).tolist() == [False] * 4


@pytest.mark.parametrize("blocks", [1, 2])
def test_entries_stand_in_the_order_of_visits_with_all_copies_of_a_block_together(blocks: int) -> None:
    dva_count = np.array([1, 1, 3, 2], np.int16)
    stored = replace(table([(0, SECTOR), (SECTOR, SECTOR)]), dva_count=dva_count)
    found = queue_entries(stored, np.array([3, 2, 0])[: blocks + 1])
    assert found.item.tolist() == [3, 3, 2, 2, 2, 0][: [0, 5, 6][blocks]]


def planes(setup: Any) -> dict[str, Any]:
    """Return what a data plane is asked to have room for."""
    asked: dict[str, Any] = {}

    def made(model: Any, items: Any, **room: Any) -> Any:
        asked.update(room, model=model, items=items)
        return SimpleNamespace(set_general=lambda name, value: asked.update({name: value}))

    blocks = WholeWork(setup).blocks
    blocks.setup = replace(setup, plane=made)
    blocks.items = ScanBlocks(setup).items
    blocks.plane()
    return asked | {"blocks": blocks}


@pytest.mark.parametrize("blocks", [1, 40, 3_000])
@pytest.mark.parametrize("release", ["openzfs-2.3", "zol-0.7"])
def test_a_plane_has_room_for_all_that_may_be_in_flight(release: str, blocks: int) -> None:
    """As many blocks as the windows allow, or all there are; and for the longest program."""
    asked = planes(small(release, blocks=blocks))
    queue = asked["blocks"].queue
    assert asked["slots"] >= min(asked["blocks"].slots(), len(asked["items"]))
    assert asked["program_length"] >= max(len(asked["blocks"].walk), 0 if queue is None else len(queue))
    windows = asked["blocks"].windows or [asked["blocks"].pool_window]
    sizes = asked["items"].psize if queue is None else asked["items"].psize[queue.item]
    assert asked["leaf_slots"] == max(window.most_blocks(sizes) for window in windows)
    assert asked["above"] is None
    assert len(asked["client_items"]) == 0
    rules, visits = asked["model"].scan, int((asked["blocks"].walk.code == OP_VISIT).sum())
    pointers = len(asked["blocks"].setup.blocks)
    assert asked["visit_s"] * max(1, visits) == pytest.approx(rules.pointer_s * pointers)


@pytest.mark.parametrize("count", [1, 3])
def test_clients_read_data_and_find_their_metadata_in_memory_but_after_an_import(count: int) -> None:
    setup = small(blocks=40)
    group = ClientModel(count=count, think_s=0.1, seed=1)
    busy = replace(setup, model=replace(setup.model, clients=(group,)))
    asked = planes(busy)
    assert asked["client_items"].tolist() == np.flatnonzero(~setup.blocks.is_metadata).tolist()
    assert asked["above"] is None
    assert planes(replace(busy, imported=True))["above"] is not None
    assert planes(replace(setup, imported=True))["above"] is None


def test_what_clients_were_answered_is_noted_once_all_metadata_are_visited() -> None:
    """Of a scan with clients, by the end of the slice that visits the last of them."""
    setup = small(blocks=400)
    group = ClientModel(count=3, think_s=0.001, seed=1)
    for clients in ((group,), ()):
        run = Run(replace(setup, model=replace(setup.model, clients=clients)))
        found = run.execute()
        if not clients:
            assert found.visited is None
            continue
        assert found.visited is not None
        assert 0.0 < found.visited.time < found.end
        every, before = (sum(count for count, _ in each.clients) for each in (found, found.visited))
        assert 0 < before < every
        assert found.visited.waits.sum() == before
