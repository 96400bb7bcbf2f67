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
from zsim.prediction.exact import sorted as tiles_sorted
from zsim.prediction.exact.queues import PreparedQueue, TileQueues, Waiting
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.exact.sorted import Regions, SortedTiles, Visits
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


# Queues.


def prepared(*slabs: Any, extents: Any = (), count: int = 6, turn: int = 0, vdev: int = 0) -> Any:
    """Return a population with entries of one vdev by metaslab, each taking ten bytes more than the last."""
    return SimpleNamespace(
        by_address={vdev: list(slabs)},
        by_extent=lambda asked: extents if asked == vdev else [],
        turn=turn,
        queue=range(count),
        entry_bytes=10.0 * np.arange(count),
    )


def test_a_tile_is_done_when_all_was_visited_taken_and_issued() -> None:
    def waiting(visited: int, taken: int, waits: list[bool]) -> bool:
        held = np.array(waits)
        return Waiting(tile(0), prepared(), held, visited, taken).done

    assert waiting(2, 0, [False, False])
    assert waiting(3, 0, [False, False])
    assert not waiting(1, 0, [False, False])
    assert not waiting(2, 1, [False, False])
    assert not waiting(2, 0, [False, True])


def test_visits_queue_what_they_come_to_once_and_never_go_back() -> None:
    queues = TileQueues(1)
    queues.begin(tile(5), prepared())
    queues.visit(5, 3)
    assert (queues.count, queues.bytes) == (3, 30.0)
    queues.visit(5, 2)
    assert queues.tiles[5].visited == 3
    queues.visit(5, 5)
    assert (queues.count, queues.bytes) == (5, 100.0)
    assert queues.take(5, rows(1, 4, 5)).tolist() == [1, 4]
    assert queues.tiles[5].taken == 2
    queues.issued(5, rows(1, 4))
    assert (queues.count, queues.bytes, queues.tiles[5].taken) == (3, 50.0, 0)
    queues.put_back(5, rows(0, 4))
    assert (queues.count, queues.bytes) == (4, 90.0)


def two_tiles() -> TileQueues:
    """Return queues of a pool of three vdevs; vdev 2 is vdev 1 of tile 7, and vdev 2 of tile 3."""
    queues = TileQueues(3)
    queues.begin(
        tile(7, turn=1, shift=(0, 0, 50)),
        prepared(rows(0, 1), rows(2), extents=[(-9, 0, rows(0)), (-4, 1, rows(2, 1))], vdev=1),
    )
    queues.begin(
        tile(3, shift=(0, 0, 20)),
        prepared(
            rows(3), rows(4), rows(5), extents=[(-9, 0, rows(3)), (-4, 0, rows(5)), (-1, 2, rows(4))], vdev=2
        ),
    )
    return queues


def test_entries_go_metaslab_by_metaslab_in_each_by_the_shift_of_their_tiles() -> None:
    queues = two_tiles()
    del queues.tiles[7].prepared.by_address[1][2:]
    queues.tiles[7].prepared.by_address[1].append(rows())
    assert lists(queues.in_address_order(2)) == [
        (3, [3]), (7, [0, 1]), (3, [4]), (7, [2]), (3, [5]), (7, []),
    ]  # fmt: skip
    assert lists(queues.in_address_order(0)) == []


def test_a_population_that_was_turned_before_is_found_by_the_name_it_has_there() -> None:
    queues = TileQueues(3)
    queues.begin(tile(0, turn=2, shift=(0, 0, 0)), prepared(rows(0), turn=1, vdev=1))
    assert [lists(queues.in_address_order(vdev)) for vdev in range(3)] == [[], [], [(0, [0])]]


def test_extents_go_by_score_then_metaslab_then_place_of_the_tile() -> None:
    assert lists(two_tiles().in_extent_order(2)) == [
        (3, [3]), (7, [0]), (3, [5]), (7, [2, 1]), (3, [4]),
    ]  # fmt: skip


def test_blocks_above_the_one_where_visits_stop_are_issued_from_below_up() -> None:
    """Entry 3 is of item 4; above it is item 2 (entries 1 and 2), above that item 0 (none of its own)."""
    held: Any = SimpleNamespace(
        queue=SimpleNamespace(item=rows(9, 2, 2, 4)), unwind=np.array([-1, -1, 0, -1, 2, -1, -1, -1, -1, -1])
    )
    held.queue.__len__ = None

    class Queue:
        item = held.queue.item

        def __len__(self) -> int:
            return 4

    held.queue = Queue()
    assert PreparedQueue.way_up(held, 3).tolist() == [1, 2]
    assert PreparedQueue.way_up(held, 0).tolist() == []
    assert PreparedQueue.way_up(held, 4).tolist() == []
    held.unwind = None
    assert PreparedQueue.way_up(held, 3).tolist() == []


def test_further_copies_are_two_places_of_which_some_are_empty() -> None:
    held: Any = SimpleNamespace(
        _copies=np.array([[[1, 10, 0], [2, 20, 3]], [[0, 30, 0], [0, 0, 0]]]), _copies_at=rows(0, 0, 1)
    )
    assert PreparedQueue.copies_of(held, rows(2, 1)).tolist() == [
        [0, 30, 0], [0, 0, 0], [1, 10, 0], [2, 20, 3],
    ]  # fmt: skip


# Regions of ready entries.


def regions(streams: int = 2, region: int = 4) -> Any:
    made: Any = object.__new__(Regions)
    count = streams * region
    copies = np.zeros(2 * count, [("vdev", np.int64), ("offset", np.int64), ("columns", np.int64)])
    memory = SimpleNamespace(items=records(count), copies=copies)
    made.plane = SimpleNamespace(
        memory=memory, model=SimpleNamespace(vdevs=range(3)), set_general=lambda *given: None
    )
    made.streams, made.region = streams, region
    made.at = region * np.arange(streams)
    made.end = made.at.copy()
    made.source = np.zeros((count, 2), np.int64)
    return made


def entries(count: int, **columns: Any) -> Any:
    held = records(count, **columns)
    return SimpleNamespace(
        entries=held,
        turn=1,
        copies_of=lambda some: np.array([[[2, 7, 5], [0, 8, 6]] for _ in some]).reshape(-1, 3),
    )


def test_entries_that_stand_ready_are_put_where_their_tile_lies() -> None:
    made = regions()
    there = tile(9, turn=2, shift=(100, 200, 300))
    given = entries(5, vdev=[0, 1, 2, 0, 1], offset=[1, 2, 3, 4, 5], copy_count=[0, 0, 0, 2, 0])
    made.add(1, there, given, rows(4, 3))
    assert made.end.tolist() == [0, 6]
    assert made.source[4:6].tolist() == [[9, 4], [9, 3]]
    items, copies = made.plane.memory.items, made.plane.memory.copies
    assert items["vdev"][4:6].tolist() == [2, 1]
    assert items["offset"][4:6].tolist() == [305, 204]
    assert items["copies"][4:6].tolist() == [8, 10]
    # Copies of the second, on vdevs 2 and 0, go one vdev on: 0 and 1.
    assert copies["vdev"][10:12].tolist() == [0, 1]
    assert copies["offset"][10:12].tolist() == [107, 208]
    assert copies["columns"].tolist() == [0] * 10 + [5, 6] + [0] * 4


def test_what_is_left_of_a_region_moves_to_its_front_with_its_copies() -> None:
    made = regions()
    memory = made.plane.memory
    memory.items["offset"] = np.arange(8) * 11
    memory.copies["offset"] = np.arange(16)
    made.source[:, 1] = np.arange(8)
    made.at[1], made.end[1] = 6, 8
    assert made.room(1) == 2
    assert (made.at[1], made.end[1]) == (4, 6)
    assert memory.items["offset"].tolist() == [0, 11, 22, 33, 66, 77, 66, 77]
    assert memory.items["copies"][4:6].tolist() == [8, 10]
    assert memory.copies["offset"][8:12].tolist() == [12, 13, 14, 15]
    assert made.source[4:6, 1].tolist() == [6, 7]
    memory.items["copies"] = 99
    assert made.room(1) == 2
    assert (memory.items["copies"] == 99).all(), "what stands at the front stays"
    made.start_over()
    assert made.at.tolist() == made.end.tolist() == [0, 4]


def test_entries_are_made_ready_as_far_as_there_is_room_and_the_rest_is_kept() -> None:
    added: list[tuple[int, list[int]]] = []
    taken = iter([(3, rows(0, 1, 2)), (7, rows(5, 6, 7, 8))])
    space: Any = SimpleNamespace(
        at=rows(0), end=rows(0), room=lambda stream: 5,
        add=lambda stream, each, held, part: added.append((each, part.tolist())),
    )  # fmt: skip
    made: Any = SimpleNamespace(
        regions=space, _order=[None], most_issued=100, _rest={}, _taken=lambda stream: next(taken, None),
        queues=SimpleNamespace(tiles={n: SimpleNamespace(tile=n, prepared=None) for n in (3, 7)}),
    )  # fmt: skip
    assert SortedTiles._ready(made, 0) is True
    assert added == [(3, [0, 1, 2]), (7, [5, 6])]
    assert made._rest[0][0] == 7
    assert made._rest[0][1].tolist() == [7, 8]
    assert SortedTiles._ready(made, 0) is False
    assert added[2:] == [(7, [7, 8])]
    assert made._rest == {}


def test_enough_that_stands_ready_is_not_added_to() -> None:
    """Half of what is to stand ready for the next slice is enough."""
    ahead = tiles_sorted.AHEAD
    space: Any = SimpleNamespace(at=rows(10), end=rows(10 + 4 * ahead), room=lambda stream: 1000)
    asked: list[int] = []
    made: Any = SimpleNamespace(regions=space, _order=[None], most_issued=8, _rest={}, _taken=asked.append)
    assert SortedTiles._ready(made, 0) is True
    assert asked == []
    space.end[0] -= 1
    assert SortedTiles._ready(made, 0) is False
    assert asked == [0]


def test_what_was_issued_is_told_tile_by_tile_and_counted() -> None:
    told: list[tuple[int, list[int]]] = []
    space: Any = SimpleNamespace(
        at=rows(2), source=np.array([[0, 0], [0, 0], [3, 5], [3, 6], [7, 1], [3, 9]], np.int64)
    )
    queues = SimpleNamespace(issued=lambda number, part: told.append((number, part.tolist())))
    made: Any = SimpleNamespace(regions=space, queues=queues, _issued_entries=10)
    assert SortedTiles._issued(made, 0, 5) == 3
    assert told == [(3, [5, 6]), (7, [1])]
    assert space.at[0] == 5
    assert made._issued_entries == 13
    assert SortedTiles._issued(made, 0, 5) == 0
    made.mean_entries, made.tiling = 10, SimpleNamespace(count=4)
    assert SortedTiles.share(made) == 13 / 40


def test_what_stands_ready_goes_back_to_the_queues_with_what_was_kept_for_later() -> None:
    told: list[tuple[str, int, list[int]]] = []
    space: Any = SimpleNamespace(
        streams=2, region=4, at=rows(1, 4), end=rows(3, 4),
        source=np.array([[9, 9], [3, 5], [7, 1], [9, 9], [9, 9]], np.int64),
    )  # fmt: skip
    queues = SimpleNamespace(
        issued=lambda number, part: told.append(("issued", number, part.tolist())),
        put_back=lambda number, part: told.append(("back", number, part.tolist())),
    )
    made: Any = SimpleNamespace(regions=space, queues=queues, _rest={0: (3, rows(8))}, _order=[1, 2])
    SortedTiles._put_back(made)
    assert told == [("issued", 3, [5, 8]), ("back", 3, [5, 8]), ("issued", 7, [1]), ("back", 7, [1])]
    assert made._order is None
    assert made._rest == {}
    assert space.at.tolist() == space.end.tolist() == [0, 4]


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
