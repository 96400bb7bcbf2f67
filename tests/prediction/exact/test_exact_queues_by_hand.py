"""Queues of an exact run and regions of their ready entries, on a handful of blocks at known places."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.prediction.exact.test_exact_by_hand import lists, records, rows, tile
from zsim.prediction.exact import sorted as tiles_sorted
from zsim.prediction.exact.queues import PreparedQueue, TileQueues, Waiting
from zsim.prediction.exact.sorted import Regions, SortedTiles

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
