"""Tiles, queues and rings of an exact run, on a handful of blocks whose places are worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.runs.test_tiles import blocks
from zsim.base.errors import NotSimulatedYet
from zsim.engine.compiled.records import ITEM_DTYPE
from zsim.prediction.exact import legacy, run, tiles
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.exact.sorted import Visits
from zsim.prediction.exact.tiles import Prepared, Preparer, Tile, Tiling, shift_records, turned
from zsim.scenario.layout import Layout


def tile(number: int, *, turn: int = 0, shift: tuple[int, ...] = (0,), rows: int = 0, base: int = 0) -> Tile:
    return Tile(number, base, turn, np.array(shift, np.int64), rows)


def rows(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def lists(found: Any) -> list[tuple[Any, ...]]:
    return [(*rest, part.tolist()) for *rest, part in found]


# Tiles.


def tiling(alloc: int, *, first: int = 10, later: int = 4, **more: Any) -> Any:
    """Return a tiling whose first tile has blocks of a MiB as stated, and later ones fewer."""
    made = object.__new__(Tiling)
    table = blocks(later)
    known: dict[str, Any] = {
        "resolved": SimpleNamespace(alloc=alloc << 20),
        "_first_bytes": first << 20,
        "first": SimpleNamespace(table=blocks(first)),
        "_rows_of": [(later << 20, later), (later << 20, later)],
        "populations": 2,
        "share": 1.0,
        "vdevs": 1,
        "_shift": rows,
        "table": lambda base, first=False: table,
    }
    for name, value in (known | more).items():
        setattr(made, name, value)
    made.count = 1 + made._behind_the_first(made.resolved.alloc - made._first_bytes)
    return made


@pytest.mark.parametrize(
    ("alloc", "held"), [(10, [10]), (11, [10, 1]), (14, [10, 4]), (18, [10, 4, 4]), (21, [10, 4, 4, 3])]
)
def test_tiles_follow_one_another_until_all_is_there(alloc: int, held: list[int]) -> None:
    """A first one of 10 MiB, then such of 4 MiB, of the last of which there is what is left."""
    made = tiling(alloc)
    found = list(made.tiles())
    assert [each.rows for each in found] == held
    assert [each.number for each in found] == list(range(len(held)))
    assert [each.base for each in found] == [number % 2 for number in range(len(held))]
    assert [each.turn for each in found] == [0] * len(held)


@pytest.mark.parametrize(
    ("more", "count"), [(0, 0), (1, 1), (3, 1), (4, 2), (7, 2), (8, 3), (10, 3), (14, 4), (15, 5)]
)
def test_populations_take_turns_until_their_own_bytes_are_enough(more: int, count: int) -> None:
    """Behind the first come such of 3 and of 4 MiB: 3, 7, 10, 14 ..."""
    made = tiling(30, _rows_of=[(4 << 20, 4), (3 << 20, 3)])
    assert made._behind_the_first(more << 20) == count


def test_a_tile_of_which_no_block_fits_is_none() -> None:
    """Half a block is left of the pool: the tile would have no row."""
    made = tiling(10)
    made.resolved.alloc += 1 << 19
    made.count = 1 + made._behind_the_first(1 << 19)
    assert made.count == 2
    assert [each.rows for each in made.tiles()] == [10]


def test_tiles_turn_where_a_population_has_fewer_vdevs_than_the_pool() -> None:
    made = tiling(30, share=0.4, vdevs=5)
    assert [each.turn for each in made.tiles()] == [0, 1, 2, 3, 4, 0]


def test_the_first_tile_has_the_rows_of_the_first_and_others_those_of_their_population() -> None:
    made = tiling(30, _rows_of=[(1, 7), (1, 9)])
    assert [made.rows_of(tile(number, base=base)) for number, base in ((0, 0), (1, 1), (2, 0))] == [10, 9, 7]


def test_a_population_that_is_prepared_is_kept_only_for_the_last_tile() -> None:
    made = tiling(21)  # four tiles, the last of population 1
    made._built = {0: "a", 1: "b"}
    made.forget(1)
    made.forget(0)
    made.forget(0)
    assert made._built == {1: "b"}


def shift_of(
    tile: int, alloc: int, vdevs: int, share: float, behind: Callable[[int, float], float]
) -> list[int]:
    """Return how far a tile lies behind, on each vdev: a first one of 10 bytes, such of 4 on two vdevs."""
    level = SimpleNamespace(behind=behind)
    tiles = SimpleNamespace(
        vdevs=vdevs, share=share, resolved=SimpleNamespace(alloc=alloc), _first_bytes=10, _rows_of=[(4, 1)],
        geometry=SimpleNamespace(vdevs=(0, 1), recipe=SimpleNamespace(vdevs=(level, level))),
    )  # fmt: skip
    return Tiling._shift(tiles, tile).tolist()  # type: ignore[arg-type]


def test_tiles_of_whole_pools_lie_one_behind_the_other_on_every_vdev() -> None:
    """Level k says how far the tile of that number lies behind the first; the last, a part, has no place."""
    asked: list[tuple[int, float]] = []

    def behind(number: int, count: float) -> int:
        asked.append((number, count))
        return 100 * number

    assert shift_of(3, 30, 2, 1.0, behind) == [300, 300]
    assert asked == [(3, 6.0), (3, 6.0)]  # 1 + (30 - 10) / 4 tiles


def test_where_a_population_has_fewer_vdevs_each_is_as_far_as_tiles_lie_on_it() -> None:
    """Two of five vdevs: tile 7 has had one whole round, and two more of turns 0 and 1."""

    def behind(number: int, count: float) -> float:
        return 100 * number + count

    # 0.4 of 21 tiles lie on a vdev; vdev 0 has turn 0 (its first), vdev 1 turns 0 and 1, vdev 2 turn 1.
    assert shift_of(7, 90, 5, 0.4, behind) == [308, 408, 308, 208, 208]
    assert shift_of(0, 14, 5, 0.1, behind) == [1] * 5


def test_turned_blocks_keep_copies_that_are_not_there_absent() -> None:
    table = blocks(4)
    assert turned(table, 0, 5, 4) is table
    assert len(turned(table, 0, 5, 3)) == 3
    moved = turned(table, 5, 3, 2)
    assert moved.dva_vdev.tolist() == [[2, -1, -1]] * 2, "five on, of three"
    assert moved.dva_vdev.dtype == np.int32
    assert table.dva_vdev[:, 0].tolist() == [0] * 4


def records(count: int, **columns: Any) -> Any:
    made = np.zeros(count, ITEM_DTYPE)
    for name, values in columns.items():
        made[name] = values
    return made


def test_records_turn_on_from_where_they_were_turned_to_and_move_with_their_vdev() -> None:
    """Turned by 1 before, by 3 now: vdevs go on by 2 of 4, and each block by what its new vdev is shifted."""
    made = records(3, vdev=[1, 2, 3], offset=[10, 20, 30])
    shift_records(made, tile(0, turn=3, shift=(100, 200, 300, 400)), 1, 4)
    assert made["vdev"].tolist() == [3, 0, 1]
    assert made["offset"].tolist() == [410, 120, 230]
    one = records(2, offset=[1, 2])
    shift_records(one, tile(0, shift=(7,)), 0, 1)
    assert one["offset"].tolist() == [8, 9]


def test_numbers_of_a_moved_tile_begin_behind_those_before_it() -> None:
    prepared: Any = SimpleNamespace(
        turn=0, vdevs=2, copy_vdev=rows(0, 1), copy_offset=rows(5, 6), copy_columns=rows(0, 0)
    )
    made = records(2, copies=[0, 1], prefetch_first=[-1, 0], prefetch_next=[1, -1], unwind=[-1, 1])
    there = tile(1, turn=1, shift=(100, 200))
    Prepared.move(prepared, made, there, 50, 9)
    assert made["copies"].tolist() == [9, 10]
    assert made["prefetch_first"].tolist() == [-1, 50]
    assert made["prefetch_next"].tolist() == [51, -1]
    assert made["unwind"].tolist() == [-1, 51]
    vdev, offset = Prepared.moved_copies(prepared, there)
    assert vdev.tolist() == [1, 0]
    assert offset.tolist() == [205, 106]


def test_a_population_is_prepared_anew_where_its_damaged_vdev_has_another_role() -> None:
    """Of a pool of three vdevs, populations have two; turned, the damaged vdev is another of them, or none."""  # noqa: E501
    made: list[tuple[int, int]] = []
    setup: Any = SimpleNamespace(model=SimpleNamespace(vdevs=[SimpleNamespace(damaged=d) for d in (0, 1, 0)]))
    tiles: Any = SimpleNamespace(
        vdevs=3,
        first=SimpleNamespace(vdevs=(0, 1)),
        rows_of=lambda each: 4,
        table=lambda base, first: (base, first),
        forget=lambda base: made.append((-1, base)),
    )
    preparer: Any = Preparer(tiles, setup, lambda part, turn: None)
    preparer._make = lambda table, each: made.append((each.number, each.turn)) or len(made)
    asked = [tile(n, turn=n % 3, rows=4) for n in range(7)]
    found = [preparer.prepared(each) for each in asked]
    # Vdev 1 is role 1 unturned, role 0 turned by one, role 2 (not held) turned by two; tile 0 has the MOS.
    assert found == [1, 2, 3, 4, 2, 3, 4]
    assert made == [(0, 0), (1, 1), (2, 2), (3, 0)]
    cut = tile(8, turn=2, rows=3)
    assert preparer.prepared(cut) == 5
    assert preparer.prepared(cut) == 6, "a part of a tile is never kept"


def test_a_pool_of_one_vdev_lets_go_of_what_is_prepared_but_the_first() -> None:
    gone: list[int] = []
    setup: Any = SimpleNamespace(model=SimpleNamespace(vdevs=[SimpleNamespace(damaged=True)]))
    tiles: Any = SimpleNamespace(
        vdevs=1, first=SimpleNamespace(vdevs=(0,)), rows_of=lambda each: 4, forget=gone.append,
        table=lambda base, first: base,
    )  # fmt: skip
    preparer: Any = Preparer(tiles, setup, lambda part, turn: None)
    preparer._make = lambda table, each: each.number
    assert [preparer.prepared(tile(n, base=n % 2, rows=4)) for n in range(4)] == [0, 1, 2, 1]
    assert gone == [1, 0]


# Visits.


def visits(*lengths: int, position: int = 100, first: int = 100) -> Any:
    """Return visits of loaded tiles of so many operations each; before operation k, k entries are queued."""
    made: Any = object.__new__(Visits)
    made._first_operation, made.position, made.loaded, made._next = first, position, [], None
    begin = first
    for number, length in enumerate(lengths):
        held = SimpleNamespace(before=np.arange(length), queue=range(length + 1), way_up=rows)
        made.loaded.append(SimpleNamespace(
            tile=tile(number), prepared=held, item=0, operation=begin, end=begin + length
        ))  # fmt: skip
        begin += length
    return made


def test_visits_are_done_at_the_end_of_the_last_tile() -> None:
    made = visits(5, 5)
    assert made.end == 110
    assert not made.done
    made.position = 110
    assert made.done
    assert not made.more
    made._next = tile(3)
    assert made.more
    assert not made.done
    assert visits().end == 100
    assert visits().done


def test_entries_of_visited_tiles_are_queued_and_of_the_one_under_way_the_blocks_above() -> None:
    told: list[Any] = []
    made = visits(5, 5, 5)
    made.queues = SimpleNamespace(
        visit=lambda number, until: told.append((number, until)),
        put_back=lambda number, part: told.append((number, part.tolist())),
    )
    made.came_to(107)
    assert made.position == 107
    assert told == [(0, 6), (1, 2), (1, [2])]
    told.clear()
    made.came_to(110)
    assert told == [(0, 6), (1, 6)]


def test_another_tile_is_loaded_only_while_there_is_room_for_it() -> None:
    made = visits()
    made.regions = SimpleNamespace(visit_items=40, visit_room=10, program_room=20)

    def fits(items: int, operations: int) -> bool:
        return bool(made._fits(SimpleNamespace(visited_records=range(items), visits=range(operations))))

    assert fits(10, 20)
    for items, operations in ((11, 20), (10, 21)):
        with pytest.raises(RuntimeError, match="much larger"):
            fits(items, operations)
    made.loaded = [
        SimpleNamespace(item=44, end=112, prepared=SimpleNamespace(visited_records=range(3)))
    ]  # 7 items and 12 operations are taken
    assert made._ends() == (47, 112)
    assert fits(3, 8)
    assert not fits(4, 8)
    assert not fits(3, 9)


# The legacy scan's rings.


def test_what_does_not_fit_the_end_of_a_ring_goes_on_at_its_front() -> None:
    ring = np.zeros(8, np.int64)
    first, second = legacy._put(ring, 8 * 5 + 6, rows(1, 2, 3))
    assert ring.tolist() == [3, 0, 0, 0, 0, 0, 1, 2]
    assert (first.tolist(), second.tolist()) == ([1, 2], [3])
    second[:] = 9
    assert ring[0] == 9, "they are the ring's own"
    first, second = legacy._put(ring, 16, rows(4, 5))
    assert ring[:2].tolist() == [4, 5]
    assert len(second) == 0


def test_three_tiles_have_to_fit_a_ring() -> None:
    def check(ends: list[int]) -> None:
        memory = SimpleNamespace(program=range(10), items=range(100), copies=range(100))
        made: Any = SimpleNamespace(
            plane=SimpleNamespace(memory=memory), _ends=[(end, end, end) for end in ends]
        )
        legacy.LegacyTiles._check_room(made)

    check([0, 10])
    check([0, 10, 10, 11, 20])
    for ends in ([0, 11], [0, 9, 10, 11, 20]):
        with pytest.raises(RuntimeError, match="much larger"):
            check(ends)


def test_the_share_of_a_walk_is_of_all_tiles_as_long_as_those_loaded() -> None:
    made: Any = object.__new__(legacy.LegacyTiles)
    made._ends = [(0, 0, 0), (100, 0, 0), (300, 0, 0)]
    made.tiling = SimpleNamespace(count=8)
    made.plane = SimpleNamespace(positions=lambda: [240, 999])
    assert made.mean_program == 150.0
    assert made.share() == 0.2
    made._start_over = None
    made._ends = [(0, 0, 0)]
    assert made.mean_program == 0.0
    assert made.share() == 240.0


def test_clients_read_from_blocks_all_over_the_tile_and_write_behind_its_records() -> None:
    made: Any = SimpleNamespace(_log=range(2), plane=SimpleNamespace(
        model=SimpleNamespace(client_count=1), memory=SimpleNamespace(client_items=np.zeros(6, np.int64))
    ))  # fmt: skip
    held: Any = SimpleNamespace(records=range(20), data_rows=rows(1, 2, 4, 6, 8, 10, 12, 14))
    legacy.LegacyTiles._give_clients(made, held, 100)
    # Every second of eight blocks for four places; the log lies behind the twenty records.
    assert made.plane.memory.client_items.tolist() == [101, 104, 108, 112, 120, 121]
    held.data_rows = rows()
    legacy.LegacyTiles._give_clients(made, held, 200)
    assert made.plane.memory.client_items.tolist() == [101, 104, 108, 112, 220, 221]
    made.plane.model.client_count = 0
    legacy.LegacyTiles._give_clients(made, held, 300)
    assert made.plane.memory.client_items[-1] == 221


# The run.


def test_an_exact_run_points_to_its_time_over_the_share_that_is_issued() -> None:
    now = SimpleNamespace(plane="there", elapsed=50.0, share=lambda: 0.25)
    made: Any = SimpleNamespace(_known=(80.0, 1.0), run=now)
    assert ExactRun.estimate(made) == 200.0
    now.share = lambda: 0.0
    assert ExactRun.estimate(made) is None
    now.plane = None  # type: ignore[assignment]
    assert ExactRun.estimate(made) == 80.0


def test_ends_of_txgs_are_what_the_phases_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    result: Any = SimpleNamespace(
        end=100.0, phases=[("visit", 0.0, 20.0), ("issue", 20.0, 80.0), ("visit", 80.0, 90.0)]
    )
    found = run.member_result(result, SimpleNamespace(model="model"))  # type: ignore[arg-type]
    assert (found.time_s, found.visit_s, found.issue_s, found.sync_s, found.scale) == (
        100.0, 30.0, 60.0, 10.0, 1.0,
    )  # fmt: skip


def test_an_exact_run_tells_no_more_than_all() -> None:
    told: list[float] = []
    made: Any = SimpleNamespace(progress=lambda share, doing: told.append(share))
    ExactRun._report(made, 5.0, 0.5)
    ExactRun._report(made, 5.0, 1.2)
    assert told == [0.5, 1.0]


@pytest.mark.parametrize(
    ("layout", "held", "is_refused"),
    [("3*mirror2", 2, False), ("2*mirror2+raidz1x3", 2, True), ("2*mirror2+raidz1x3", 3, False)],
)
def test_some_vdevs_stand_for_all_where_all_are_equal(
    monkeypatch: pytest.MonkeyPatch, layout: str, held: int, is_refused: bool
) -> None:
    class TakenError(Exception):
        """The population is taken."""

    def passed(*given: Any, **named: Any) -> Any:
        raise TakenError

    first = SimpleNamespace(scale=9.0, vdevs=range(held))
    monkeypatch.setattr(tiles, "pool_miniature", lambda given, blocks: (first, ""))
    monkeypatch.setattr(tiles, "evenly", lambda pool: pool)
    monkeypatch.setattr(Tiling, "_bytes", passed)
    one: Any = SimpleNamespace(layout=Layout.parse(layout))
    with pytest.raises(NotSimulatedYet if is_refused else TakenError):
        Tiling(one, 10, 1)
