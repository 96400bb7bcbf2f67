"""What stands in the plane of an exact run, and where, on a handful of records placed by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.exact.test_exact_by_hand import records, rows, tile, visits
from zsim.base.errors import NotSimulatedYet
from zsim.engine.codes import EXIT_DRAINED, STREAM_READY
from zsim.prediction.exact import hours, legacy, queues
from zsim.prediction.exact import sorted as tiles_sorted
from zsim.prediction.exact.queues import MOST_COPIES, PreparedQueue
from zsim.prediction.exact.sorted import Regions, SortedTiles
from zsim.prediction.exact.tiles import Prepared
from zsim.scan.program import OP_ISSUE, Program

OPERATION = [("code", np.int64), ("item", np.int64)]


class Plane(SimpleNamespace):
    """A plane that keeps what it is told."""

    def general(self, name: str) -> int:
        return int(self.told[name])

    def set_general(self, name: str, value: int) -> None:
        self.told[name] = value


def plane(items: int, operations: int, copies: int = 0) -> Any:
    further = np.zeros(copies, [("vdev", np.int64), ("offset", np.int64), ("columns", np.int64)])
    memory = SimpleNamespace(
        items=records(items), program=np.zeros(operations, OPERATION), heap=np.zeros(8, np.int64),
        copies=further, streams=np.zeros(2, [("position", "i8"), ("end", "i8"), ("state", "i8")]),
    )  # fmt: skip
    model = SimpleNamespace(vdevs=[None], client_count=0)
    return Plane(memory=memory, told={"heap_size": 0}, model=model)


# The visited blocks of a few tiles.


def visiting(count: int) -> tuple[Any, list[int]]:
    """Return visits of tiles of three items and four operations, of which two fit, and the tiles begun."""
    begun: list[int] = []
    held = SimpleNamespace(
        visited_records=records(3, offset=[1, 2, 3], prefetch_first=[-1, 0, 2], prefetch_next=[1, -1, -1]),
        visits=Program(rows(5, 6, 7, 8), rows(0, 1, 1, 2)), turn=0,
    )  # fmt: skip
    made = visits()
    made.regions = SimpleNamespace(visit_items=100, visit_room=8, program_room=50)
    made.plane = plane(120, 120)
    made.preparer = SimpleNamespace(prepared=lambda each: held)
    made.queues = SimpleNamespace(begin=lambda each, prepared: begun.append(each.number))
    made.tiles = iter([tile(n, shift=(10 * n,)) for n in range(count)])
    made._next = next(made.tiles)
    made.begun = 0
    return made, begun


def test_tiles_to_be_visited_stand_one_behind_the_other_as_far_as_there_is_room() -> None:
    made, begun = visiting(3)
    made.load()
    assert begun == [0, 1]
    assert made.begun == 2
    assert [(each.item, each.operation, each.end) for each in made.loaded] == [
        (100, 100, 104),
        (103, 104, 108),
    ]
    items, program = made.plane.memory.items[100:106], made.plane.memory.program[100:108]
    assert items["offset"].tolist() == [1, 2, 3, 11, 12, 13]
    assert items["prefetch_first"].tolist() == [-1, 100, 102, -1, 103, 105]
    assert items["prefetch_next"].tolist() == [101, -1, -1, 104, -1, -1]
    assert program["code"].tolist() == [5, 6, 7, 8] * 2
    assert program["item"].tolist() == [100, 101, 101, 102, 103, 104, 104, 105]
    made.position = 103
    made.load()
    assert begun == [0, 1], "the last but one is under way"


def test_the_tile_under_way_moves_to_the_front_and_the_next_stands_behind_it() -> None:
    """Two of its four operations are done; of the read-ahead only what is its own waits on."""
    made, begun = visiting(3)
    made.load()
    made.position = 106
    made.plane.memory.heap[:4] = (101, 105, 103, 104)
    made.plane.told["heap_size"] = 3
    made.load()
    assert begun == [0, 1, 2]
    assert made.position == 102
    assert [(each.item, each.operation, each.end) for each in made.loaded] == [
        (100, 100, 104),
        (103, 104, 108),
    ]
    items, program = made.plane.memory.items[100:106], made.plane.memory.program[100:108]
    assert items["offset"].tolist() == [11, 12, 13, 21, 22, 23]
    assert items["prefetch_first"].tolist() == [-1, 100, 102, -1, 103, 105]
    assert program["item"].tolist() == [100, 101, 101, 102, 103, 104, 104, 105]
    assert made.plane.general("heap_size") == 2
    assert made.plane.memory.heap[:2].tolist() == [100, 102]
    assert not made.more


def test_the_first_tile_stays_where_it_is_and_after_the_last_the_place_is_the_first_again() -> None:
    made, _ = visiting(1)
    made.load()
    made.position, made.plane.told["heap_size"] = 102, 5
    made.load()
    assert (made.position, made.loaded[0].item, made.plane.general("heap_size")) == (102, 100, 5)
    made.position = 104
    made.load()
    assert (made.position, made.loaded, made.plane.general("heap_size")) == (100, [], 0)


def test_a_tile_is_loaded_as_the_last_one_begins() -> None:
    made, begun = visiting(3)
    made.load()
    made.position = 104
    made.load()
    assert begun == [0, 1, 2]


# The plane's regions.


@pytest.mark.parametrize(("streams", "region", "clients"), [(2, 6, 3), (4, 5, 3), (2, 6, 0)])
def test_a_plane_has_a_region_a_stream_then_visits_then_clients_then_the_log(
    monkeypatch: pytest.MonkeyPatch, streams: int, region: int, clients: int
) -> None:
    """Of twelve entries that stand ready each has its part, at least five; twice 1.5 times the first tile
    and 64 are room for visits: 94 items and 124 operations."""
    for name, value in (("READY", 12), ("LEAST_READY", 5), ("MARGIN", 1.5), ("CLIENT_ITEMS", 3)):
        monkeypatch.setattr(tiles_sorted, name, value)
    asked: dict[str, Any] = {}

    def made_plane(model: Any, items: Any, **known: Any) -> Any:
        asked.update(known)
        return plane(known["room"].items, known["program_length"])

    monkeypatch.setattr(tiles_sorted, "CompiledPlane", made_plane)
    sample: Any = SimpleNamespace(
        visited_records=range(10), visits=range(20), items=None, records=records(7, offset=np.arange(7)),
        blocks=SimpleNamespace(is_metadata=np.array([True] + [False] * 6)),
    )  # fmt: skip
    monkeypatch.setattr(tiles_sorted, "visit_seconds", lambda setup, visits: 0.25)
    setup: Any = SimpleNamespace(model=SimpleNamespace(vdevs=range(streams), client_count=clients))
    made = Regions(setup, sample, 77, records(2, offset=[50, 51]))
    ready = streams * region
    assert (asked["streams"], asked["slots"], asked["program_length"]) == (streams, 77, ready + 124)
    assert asked["client_items"].tolist() == [ready + 94 + k for k in range(clients)]
    log = ready + 94 + clients
    assert asked["log_items"].tolist() == [log, log + 1]
    assert (asked["room"].items, asked["room"].copies) == (log + 2, MOST_COPIES * ready)
    memory = made.plane.memory
    # Three of the six blocks of data, from all over the tile.
    assert memory.items["offset"].tolist() == [0] * (ready + 94) + [1, 3, 5][:clients] + [50, 51]
    assert memory.program["item"].tolist() == [*range(ready), *[0] * 124]
    assert set(memory.program["code"][:ready].tolist()) == {OP_ISSUE}
    assert made.at.tolist() == made.end.tolist() == [k * region for k in range(streams)]
    assert made.source.shape == (ready, 2)


@pytest.mark.parametrize(("rotates", "vdevs"), [(False, [0, 2, 0]), (True, [0, 3, 2])])
def test_clients_read_on_all_vdevs_that_tiles_lie_on_in_turn(
    monkeypatch: pytest.MonkeyPatch, rotates: bool, vdevs: list[int]
) -> None:
    monkeypatch.setattr(tiles_sorted, "CLIENT_ITEMS", 3)
    monkeypatch.setattr(
        tiles_sorted,
        "CompiledPlane",
        lambda *given, room, program_length, **more: plane(room.items, program_length),
    )
    sample: Any = SimpleNamespace(
        visited_records=[], visits=[], items=None, records=records(3, vdev=[0, 2, 0]),
        blocks=SimpleNamespace(is_metadata=np.zeros(3, bool)),
    )  # fmt: skip
    monkeypatch.setattr(tiles_sorted, "visit_seconds", lambda setup, visits: 0.25)
    setup: Any = SimpleNamespace(model=SimpleNamespace(vdevs=range(4), client_count=1))
    made = Regions(setup, sample, 77, records(1), rotates=rotates)
    assert made.plane.memory.items["vdev"][made.client_first :][:3].tolist() == vdevs


def test_streams_go_on_from_where_they_were_told() -> None:
    made: Any = object.__new__(Regions)
    made.plane = plane(4, 4)
    told: list[Any] = []
    made.plane.load_streams = lambda programs, windows: told.append((list(map(len, programs)), windows))
    made.plane.memory.streams["end"] = 99
    made.start_streams(rows(3), rows(7), ["window"])
    assert told == [([0], ["window"])]
    assert made.plane.memory.streams["position"].tolist() == [3, 0]
    assert made.plane.memory.streams["end"].tolist() == [7, 99]


# The sorted scan over all tiles.


def test_entries_are_ordered_anew_where_another_order_is_asked_for() -> None:
    told: list[Any] = []
    made: Any = SimpleNamespace(
        regions=SimpleNamespace(
            streams=2, at="at", end="end", start_streams=lambda *given: told.append(given)
        ),
        queues=SimpleNamespace(
            in_address_order=lambda vdev: ("address", vdev), in_extent_order=lambda vdev: ("extent", vdev)
        ),
        _order=None, _addressed=False, windows="windows",
        _put_back=lambda: told.append("back"), _ready=lambda stream: stream == 1,
    )  # fmt: skip
    assert SortedTiles.load_entries(made, by_address=True) == [1]
    assert made._order == [("address", 0), ("address", 1)]
    assert told == ["back", ("at", "end", "windows")]
    made._order = "kept"
    SortedTiles.load_entries(made, by_address=True)
    assert made._order == "kept"
    SortedTiles.load_entries(made, by_address=False)
    assert made._order == [("extent", 0), ("extent", 1)]
    assert told.count("back") == 2


@pytest.mark.parametrize("more", [True, False])
def test_visits_are_loaded_behind_what_is_put_back(more: bool) -> None:
    told: list[Any] = []
    made: Any = SimpleNamespace(
        _put_back=lambda: told.append("back"), pool_window="window", note=None,
        visits=SimpleNamespace(load=lambda: told.append("load"), position=5, end=9, more=more),
        regions=SimpleNamespace(
            start_streams=lambda start, end, windows: told.append((start.tolist(), end.tolist(), windows))
        ),
    )  # fmt: skip
    assert SortedTiles.load_visits(made, None) == ([0] if more else [])  # type: ignore[arg-type]
    assert told == ["back", "load", ([5], [9], ["window"])]


def test_the_most_a_slice_has_issued_is_remembered() -> None:
    forgotten: list[int] = []
    made: Any = SimpleNamespace(
        plane=SimpleNamespace(positions=lambda: [4, 9, 99]), regions=SimpleNamespace(streams=2),
        _issued=lambda stream, position: 10 * stream + position, most_issued=12,
        queues=SimpleNamespace(forget_done=lambda: forgotten.append(1), count=3, bytes=7.9),
    )  # fmt: skip
    SortedTiles.note_entries(made)
    assert (made.most_issued, forgotten) == (19, [1])
    made.most_issued = 50
    SortedTiles.note_entries(made)
    assert made.most_issued == 50
    assert SortedTiles.used_bytes(made) == 7
    made._issued_entries, made.mean_entries, made.tiling = 2, 0, SimpleNamespace(count=4)
    assert SortedTiles.share(made) == 2.0, "of one at least"


def test_what_of_a_piece_waits_no_more_is_passed_over() -> None:
    waits = {1: rows(), 2: rows(7)}
    made: Any = SimpleNamespace(
        _order=[iter([(1, rows(3)), (2, rows(6, 7)), (1, rows(4))])],
        queues=SimpleNamespace(take=lambda number, part: waits[number]),
    )
    number, found = SortedTiles._taken(made, 0)  # type: ignore[misc]
    assert (number, found.tolist()) == (2, [7])
    assert SortedTiles._taken(made, 0) is None


@pytest.mark.parametrize(
    ("stated", "hard", "is_refused"), [("1G", 120.0, True), ("1G", 121.0, False), (None, 1.0, False)]
)
def test_a_scan_whose_records_do_not_fit_a_stated_memory_is_refused(
    monkeypatch: pytest.MonkeyPatch, stated: str | None, hard: float, is_refused: bool
) -> None:
    """Two entries of 10 and 20 bytes in each of four tiles: 120 bytes."""
    sample = SimpleNamespace(queue=range(2), entry_bytes=np.array([10.0, 20.0]), slim=lambda: "slim")
    makers: list[Any] = []

    def preparer(tiling: Any, setup: Any, make: Any) -> Any:
        makers.append(make)
        return SimpleNamespace(prepared=lambda each: sample)

    def queue(part: Any, turn: int, starts: Any, rules: Any) -> Any:
        return SimpleNamespace(given=(part, turn, starts(0), rules), slim=lambda: "slim")

    def regions(*given: Any, rotates: bool) -> Any:
        assert rotates
        return SimpleNamespace(plane="plane", given=given, start_over=lambda: None)

    blocks = SimpleNamespace(items=None, log_items=rows(1), windows=[], pool_window=None, slots=lambda: 5)
    for name, value in (
        ("Preparer", preparer), ("PreparedQueue", queue), ("extent_rules", lambda release: "rules"),
        ("ScanBlocks", lambda setup, queued: blocks), ("item_records", lambda items: records(2)),
        ("MemoryLimit", lambda *given: SimpleNamespace(hard=hard)),
        ("Regions", regions), ("Visits", lambda *given: None),
    ):  # fmt: skip
        monkeypatch.setattr(tiles_sorted, name, value)
    levels = [SimpleNamespace(slab_starts=lambda n=n: f"starts {n}") for n in range(2)]
    tiling: Any = SimpleNamespace(
        first=SimpleNamespace(vdevs=(0, 1), recipe=SimpleNamespace(vdevs=levels)), vdevs=3,
        count=4, share=2.0 / 3.0, tiles=lambda: iter([tile(0)]),
        resolved=SimpleNamespace(alloc=1, scan_memory=stated),
    )  # fmt: skip
    setup: Any = SimpleNamespace(release=None, memory=1 << 30)
    if is_refused:
        with pytest.raises(NotSimulatedYet, match="leave --exact out"):
            SortedTiles(tiling, setup)
        return
    made: Any = SortedTiles(tiling, setup)
    assert made.regions.given[2:] == (5, made.regions.given[3])
    assert len(made.regions.given[3]) == 1, "the log alone"
    # Turned by two of three, vdev 1 of the population is vdev 0 of the pool.
    assert makers[0]("part", 2) == "slim", "the first was the sample"


# Populations of the sorted scan.


def test_visited_blocks_have_numbers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five blocks 1, 2 and 4 are visited: they become 0, 1 and 2, what they name with them."""
    monkeypatch.setattr(queues, "is_traversed", lambda blocks: np.array([False, True, True, False, True]))
    made: Any = SimpleNamespace(
        blocks=None,
        records=records(
            5, offset=np.arange(5), prefetch_first=[9, 4, -1, 9, 2], prefetch_next=[9, -1, 4, 9, 1]
        ),
        visits=Program(rows(7, 8, 9), rows(4, 1, 2)),
    )
    PreparedQueue._name_visited(made)
    found = made.visited_records
    assert found["offset"].tolist() == [1, 2, 4]
    assert found["prefetch_first"].tolist() == [2, -1, 1]
    assert found["prefetch_next"].tolist() == [-1, 2, 0]
    assert made.visits.item.tolist() == [2, 0, 1]
    assert made.visits.code.tolist() == [7, 8, 9]


def ordered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return entries 4, 2, 0, 1, 3 by address, at 5, 15, 20, 35 and 49, in metaslabs from 0, 20 and 40 on.

    They make up four extents: (4, 2) scored 3, (0,) 8, (1,) 8, and (3,) 3.
    """
    monkeypatch.setattr(queues, "address_order", lambda queue, vdev: rows(4, 2, 0, 1, 3))
    extents = rows(0, 0, 1, 2, 3)
    monkeypatch.setattr(queues, "extents_of", lambda queue, part, rules: extents)
    monkeypatch.setattr(queues, "scored_extents", lambda queue, part, rules: (extents, rows(3, 8, 8, 3)))
    made: Any = object.__new__(PreparedQueue)
    made.queue = SimpleNamespace(offset=rows(20, 35, 15, 49, 5))
    made.rules, made.extents, made.by_address, made._by_extent = None, 1, {}, {}
    made.slab_starts = lambda vdev: rows(0, 20, 40)
    return made


def test_entries_lie_in_the_metaslab_that_begins_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ordered(monkeypatch)
    made._order(6, rows(0, 20, 40))
    assert [each.tolist() for each in made.by_address[6]] == [[4, 2], [0, 1], [3]]
    assert made.extents == 5


def test_extents_of_one_score_and_metaslab_are_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ordered(monkeypatch)
    found = made.by_extent(6)
    assert [(score, slab, part.tolist()) for score, slab, part in found] == [
        (-8, 1, [0, 1]), (-3, 0, [4, 2]), (-3, 2, [3]),
    ]  # fmt: skip
    assert made.by_extent(6) is found


# The legacy scan's rings.


def a_ring(tiles: int) -> Any:
    """Return rings of a pool of one vdev whose tiles have three records, a walk of four and two copies."""
    held: Any = object.__new__(Prepared)
    held.turn, held.vdevs = 0, 1
    held.records = records(3, offset=[1, 2, 3], copies=[0, 0, 1], prefetch_first=[-1, 0, 1])
    held.records["prefetch_next"] = held.records["unwind"] = -1
    held.walk = Program(rows(5, 6, 7, 8), rows(0, 1, 1, 2))
    held.copy_vdev, held.copy_offset, held.copy_columns = rows(0, 0), rows(30, 40), rows(1, 2)
    held.data_rows = rows(0)
    made: Any = object.__new__(legacy.LegacyTiles)
    made.plane = plane(16, 16, 8)
    made.preparer = SimpleNamespace(prepared=lambda each: held)
    made.tiling = SimpleNamespace(tiles=lambda: iter([tile(n, shift=(100 * n,)) for n in range(tiles)]))
    made._log = records(1, offset=99)
    made._start_over()
    return made


def test_tiles_of_the_traversal_follow_one_another_with_a_log_each() -> None:
    made = a_ring(2)
    assert made.feed()
    assert made.feed()
    assert made._ends == [(0, 0, 0), (4, 4, 2), (8, 8, 4)]
    memory = made.plane.memory
    assert memory.items["offset"][:8].tolist() == [1, 2, 3, 99, 101, 102, 103, 99]
    assert memory.items["copies"][:7].tolist() == [0, 0, 1, 0, 2, 2, 3]
    assert memory.items["prefetch_first"][4:7].tolist() == [-1, 4, 5]
    assert memory.copies["offset"][:4].tolist() == [30, 40, 130, 140]
    assert memory.copies["columns"][:4].tolist() == [1, 2, 1, 2]
    assert memory.program["code"][:8].tolist() == [5, 6, 7, 8] * 2
    assert memory.program["item"][:8].tolist() == [0, 1, 1, 2, 4, 5, 5, 6]
    assert memory.streams["end"].tolist() == [8, 0]
    assert made.plane.general("refill") == 4, "the next is put there as the last one begins"
    assert not made.feed()
    assert made.plane.general("refill") == -1


@pytest.mark.parametrize(
    ("tiles", "reason", "state"),
    [(3, EXIT_DRAINED, STREAM_READY), (3, EXIT_DRAINED + 1, 77), (2, EXIT_DRAINED, 77)],
)
def test_a_walk_that_came_to_the_end_of_what_was_loaded_goes_on(tiles: int, reason: int, state: int) -> None:
    made = a_ring(tiles)
    windows: list[Any] = []
    made.window = "window"
    made.plane.load_streams = lambda programs, given: windows.append((len(programs[0]), given))
    made.begin()
    assert windows == [(0, ["window"])]
    assert len(made._ends) == 3
    made.plane.memory.streams["state"] = 77
    assert made.feed_on(reason) is (tiles == 3)
    assert made.plane.memory.streams["state"].tolist() == [state, 77]


class Items(SimpleNamespace):
    """Forty items."""

    def __len__(self) -> int:
        return 40


def test_rings_have_room_for_three_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of copies and operations with a margin, of items for the largest population, each with its log."""
    tiles, margin = legacy.TILES, legacy.MARGIN
    asked: dict[str, Any] = {}
    blocks = SimpleNamespace(
        items=Items(copy_vdev=range(50)), log_items=rows(0, 1), walk=range(70), pool_window="window",
        client_items=lambda: range(10_000_000),
    )  # fmt: skip
    monkeypatch.setattr(legacy, "ScanBlocks", lambda setup: blocks)
    monkeypatch.setattr(legacy, "item_records", lambda items: records(4, offset=np.arange(4)))
    monkeypatch.setattr(legacy, "slots_for", lambda windows, psize: (windows, psize))
    made_plane = SimpleNamespace(set_general=lambda name, value: asked.update({name: value}))
    monkeypatch.setattr(
        legacy, "CompiledPlane", lambda model, items, **known: asked.update(known) or made_plane
    )
    monkeypatch.setattr(legacy, "visit_seconds", lambda setup, walk: 0.25)
    monkeypatch.setattr(legacy, "power_of_two", lambda least: least)
    setup: Any = SimpleNamespace(
        model=SimpleNamespace(vdevs=()), blocks=SimpleNamespace(psize="sizes")
    )  # fmt: skip
    tiling: Any = SimpleNamespace(most_rows=60, tiles=lambda: iter(()), vdevs=1)
    made = legacy.LegacyTiles(tiling, setup)
    assert asked["room"] == (tiles * (60 + 2), int(tiles * margin * 50))
    assert asked["program_length"] == int(tiles * margin * 70)
    assert asked["visit_s"] == 0.25
    assert (asked["streams"], asked["slots"]) == (1, (["window"], "sizes"))
    assert len(asked["client_items"]) == legacy.CLIENT_ITEMS
    assert made._log["offset"].tolist() == [0, 1]


# Hours of the week.


def test_clients_the_writer_and_tunables_follow_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads by day, a writer that asks of no drive, clients always; of two tunables one is as it was."""
    told: list[Any] = []
    monkeypatch.setattr(hours, "are_on", lambda case, moment: [moment > 0.0, True, True])
    monkeypatch.setattr(hours, "now_at", lambda case, moment: SimpleNamespace(loads=moment))
    monkeypatch.setattr(hours, "writer", lambda case: SimpleNamespace(rate=case.load + 7.0))
    monkeypatch.setattr(hours, "replace", lambda case, load: SimpleNamespace(load=load))
    monkeypatch.setattr(hours, "next_change", lambda case, moment: moment + 30.0)
    ruled = SimpleNamespace(tunables={"a": 5, "b": 3, "unasked": 9})
    monkeypatch.setattr(hours, "set_by", lambda release, now: ruled)
    pool: Any = SimpleNamespace(
        set_clients=lambda group, on: told.append((group, on)),
        set_writer=lambda rate: told.append(("writer", rate)),
        set_tunable=lambda name, value: told.append((name, value)),
        at=lambda moment: iter([moment]),
        release=SimpleNamespace(tunables={"a": 1, "b": 3, "unasked": 1}),
    )
    kinds = [SimpleNamespace(kind=kind) for kind in ("random-read", "async-write", "sync-write")]
    timed = [SimpleNamespace(values=[("b", 3), ("a", 5), ("no-such-name", 1)])]
    case: Any = SimpleNamespace(load=kinds, timed=timed, release=None)
    steps = hours.by_the_hour(pool, case)
    assert next(steps) == 30.0
    assert told == [(0, False), (1, True), ("writer", 7.0), ("a", 5)]
    told.clear()
    assert next(steps) == 60.0
    assert told == [(0, True), (1, True), ("writer", 37.0), ("a", 5)]
