"""The order in which blocks of a txg get their places: on an empty mirror that of addresses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.pool.kernels.pools import FAN, RECORD, check_whole, ran, recipe
from tests.pool.kernels.spaces import space
from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import FileSizes, Fill, IssueOrder, MetadataSizes, PoolRecipe
from zsim.pool.recipes.styles import BY_NUMBER
from zsim.pool.simulator.memory import HistoryMemory
from zsim.pool.simulator.population import HistoryRun
from zsim.pool.simulator.syncing import DNODES_PER_BLOCK, is_earlier, sort_waiting

Block = tuple[int, int, int]
ONE_ALLOCATOR = "0.7.13"


def made(
    records: int,
    count: int,
    issue: IssueOrder | None = None,
    release: str = ONE_ALLOCATOR,
    fill: float = 0.02,
) -> PoolRecipe:
    """Return a pool whose first txg takes so many files of so many records."""
    return recipe(
        Fill(fill), release=release, units=1000, slabs=4, txg_bytes=records * count * RECORD,
        files=FileSizes("fixed", records * RECORD), issue=issue or IssueOrder(),
    )  # fmt: skip


def first_txg(table: BlockTable) -> BlockTable:
    """Return what the first txg that has data wrote, by address."""
    born = table.take(table.birth == table.birth[~table.is_metadata].min())
    return born.take(np.argsort(born.dva_offset[:, 0]))


def of_files(table: BlockTable) -> list[Block]:
    """Return object, level and number of the blocks of files, by address."""
    born = first_txg(table)
    files = born.take((born.objset != 0) & (born.object > 0))
    return list(zip(files.object.tolist(), files.level.tolist(), files.blkid.tolist(), strict=True))


def test_of_each_object_the_records_come_in_order_and_indirect_blocks_behind_their_last_child() -> None:
    blocks = of_files(ran(made(300, 2)).table())
    for item, own in ((item, [each for each in blocks if each[0] == item]) for item in (1, 2)):
        assert blocks[blocks.index(own[0]) :][: len(own)] == own, "one object after the other"
        wanted = []
        for record in range(300):
            wanted.append((item, 0, record))
            if record % FAN == FAN - 1 or record == 299:
                wanted.append((item, 1, record // FAN))
        assert own == [*wanted, (item, 2, 0)]


def test_behind_the_objects_come_their_dnodes_the_levels_above_the_root_and_the_mos() -> None:
    whole = ran(made(2, 70, fill=0.06)).table()
    table = first_txg(whole)
    mine = (table.objset != 0) & (table.object == 0)
    place = np.arange(len(table))
    assert place[mine].min() > place[(table.objset != 0) & (table.object > 0)].max()
    assert place[table.objset == 0].min() > place[mine].max()
    levels = table.level[mine].tolist()
    assert levels == [0] * (70 // DNODES_PER_BLOCK + 1) + [*range(1, max(levels) + 1), -1]
    last = whole.take((whole.objset == 0) & (whole.birth == whole.birth.max()))
    mos = last.take(np.argsort(last.dva_offset[:, 0]))
    assert mos.level[-2:].tolist() == [1, -1], "its root is the last of all"


def test_an_object_lies_in_its_block_of_dnodes() -> None:
    history = ran(made(1, 40))
    table = history.table()
    before = table.birth.max()
    dnodes = {}
    memory = history._memory
    file = int(np.flatnonzero(memory.files["item"] == 35)[0])
    history.run(Fill(0.0))
    assert int(memory.files["item"][file]) // DNODES_PER_BLOCK == 1
    rows = history.table()
    for row in np.flatnonzero((rows.objset != 0) & (rows.object == 0) & (rows.level == 0)):
        behind = rows.object[row + 1 :]
        stop = np.argmax(np.append(behind, 0) == 0)
        dnodes[int(rows.blkid[row])] = behind[:stop].tolist()
    assert set(dnodes) == {0, 1}
    assert dnodes[0] == list(range(1, DNODES_PER_BLOCK))
    assert dnodes[1] == list(range(DNODES_PER_BLOCK, 41))
    assert before >= table.birth[0]


def expected(stream: list[Block], window: int, group: int, straight: int, *, late: bool) -> list[Block]:
    """Return the order of places by the rule: a window, then groups of what waits, sorted by bookmark."""
    left = {item: sum(each[0] == item for each in stream) for item, _, _ in stream}
    waiting = sorted(stream[window:])
    groups = [[each] for each in stream[:window]]
    for low in range(0, len(waiting), group):
        part = waiting[low : low + group]
        groups.append(part[:straight] + part[straight:][::-1])
    found: list[Block] = []
    for part in groups:
        above: list[Block] = []
        for each in part:
            found.append(each)
            left[each[0]] -= 1
            if left[each[0]] == 0:
                (above if late else found).append((each[0], 1, 0))
        found += above
    return found


@pytest.mark.parametrize(("window", "group", "straight"), [(5, 4, 1), (1, 7, 0), (12, 3, 3), (3, 100, 2)])
@pytest.mark.parametrize("late", [False, True])
def test_what_the_throttle_holds_back_goes_by_bookmark_in_groups(
    window: int, group: int, straight: int, late: bool
) -> None:
    stream = [each for each in of_files(ran(made(6, 5)).table()) if each[1] == 0]
    issue = IssueOrder(throttled=True, window=window, group=group, straight=straight, late_indirects=late)
    assert of_files(ran(made(6, 5, issue)).table()) == expected(stream, window, group, straight, late=late)


def test_the_window_is_the_room_of_the_queue_and_commands_that_are_done_let_the_rest_go_in_order() -> None:
    """One record a file: no indirect blocks take places in the queue."""
    plain = made(1, 24, release="2.1.5")
    style = replace(
        plain.style, allocators=1, throttle=BY_NUMBER, first_depth=7, most_depth=7, aggregated=RECORD
    )
    stream = of_files(ran(replace(plain, style=style)).table())
    held = replace(plain, style=style, issue=IssueOrder(throttled=True))
    assert of_files(ran(held).table()) == stream[:7] + sorted(stream[7:])


@pytest.mark.parametrize("release", ["2.1.5", "2.3.9"])
@pytest.mark.parametrize("issue", [
    IssueOrder(throttled=True), IssueOrder(throttled=True, late_indirects=True),
    IssueOrder(throttled=True, window=3, group=5, straight=1, late_indirects=True),
])  # fmt: skip
def test_several_allocators_serve_all_that_waits(release: str, issue: IssueOrder) -> None:
    """Each has a queue of its own; every record is placed, once."""
    pool = recipe(Fill(0.2), release=release, slabs=13, units=90, issue=issue, datasets=2)
    history = HistoryRun(replace(pool, style=replace(pool.style, allocators=4)), 1)
    history.run(*pool.steps)
    table = check_whole(history)
    born = table.take(~table.is_metadata)
    slabs = pool.vdevs[0].slab_of(born.dva_offset[:, 0])
    assert len(set(slabs.tolist())) >= 3


def stream_of(files: list[int], records: list[int], items: list[int]) -> HistoryMemory:
    memory = space()
    memory.files["item"][: len(items)] = items
    memory.lists["stream_file"][: len(files)] = files
    memory.lists["stream_record"][: len(records)] = records
    return memory


def test_a_bookmark_is_the_object_then_the_record() -> None:
    memory = stream_of([0, 1, 1, 0], [9, 2, 3, 9], [7, 5])
    found = [[bool(is_earlier(memory.table, one, other)) for other in range(4)] for one in range(4)]
    assert found == [
        [False, False, False, False], [True, False, True, True], [True, False, False, True], [False] * 4,
    ]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 37])
def test_only_what_waits_is_sorted(count: int) -> None:
    generator = np.random.default_rng(count)
    files, records = generator.integers(0, 3, count + 4), generator.integers(0, 9, count + 4)
    memory = stream_of(files.tolist(), records.tolist(), [5, 3, 4])
    sort_waiting(memory.table, 2, 2 + count)
    found = list(zip(memory.lists["stream_file"], memory.lists["stream_record"], strict=True))[: count + 4]
    before = list(zip(files, records, strict=True))
    assert found[:2] == before[:2]
    assert found[2 + count :] == before[2 + count :]
    wanted = sorted(before[2 : 2 + count], key=lambda each: ([5, 3, 4][each[0]], each[1]))
    assert found[2 : 2 + count] == wanted


def test_metadata_sizes_are_those_that_are_stated() -> None:
    sizes = MetadataSizes(pointers=FAN, dnode_block=8192, objset_root=1024, space_map=12288, mos_static=5)
    table = ran(replace(made(3, 5), metadata=sizes)).table()
    mine = table.take(table.object == 0)
    roots, dnodes = mine.level == -1, mine.level == 0
    assert set(mine.psize[roots].tolist()) == {1024}
    assert set(mine.psize[dnodes].tolist()) == {8192}
    # Of dnode blocks, objects that each txg writes and those written once, and a space map a metaslab.
    objects = (table.objset == 0) & (table.object > 0)
    assert objects.sum() >= sizes.mos_each_txg + sizes.mos_static
