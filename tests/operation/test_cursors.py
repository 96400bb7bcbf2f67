"""Where writes of a txg, of a writer and of the intent log go: metaslabs by weight, allocators, copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.engine.model import ClientModel, PlaneModel
from zsim.operation.cursors import (
    ALLOCATION_REGION,
    LOG_BLOCKS,
    allocator_rank,
    best_places,
    data_cursors,
    imported_cursors,
    log_places,
    metadata_vdevs,
    mos_cursors,
    owners,
    with_log,
)
from zsim.operation.txg import vdev_asize
from zsim.pool.blocks import BlockTable
from zsim.prediction.inputs.hardware import plane_model
from zsim.scan.items import plain_items
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import load_release
from zsim.vdevs.kind import LOG, SPECIAL

KIB, MIB = 1 << 10, 1 << 20
Copies = Sequence[tuple[int, int, int]]


def table(
    *blocks: Copies, birth: Sequence[int] = (), mos: Sequence[int] = (), metadata: Sequence[int] = ()
) -> BlockTable:
    """Blocks with their copies (vdev, offset, asize); rows of the MOS and of metadata by their numbers."""
    count = len(blocks)
    vdev, offset, asize = (
        np.full((count, 3), -1, np.int32),
        np.zeros((count, 3), np.int64),
        np.zeros((count, 3), np.int64),
    )
    for row, copies in enumerate(blocks):
        for copy, (number, place, size) in enumerate(copies):
            vdev[row, copy], offset[row, copy], asize[row, copy] = number, place, size
    rows = np.arange(count)
    return BlockTable(
        objset=np.where(np.isin(rows, mos), 0, 54).astype(np.int64),
        object=np.ones(count, np.int64),
        level=np.zeros(count, np.int16),
        blkid=rows.astype(np.int64),
        is_metadata=np.isin(rows, [*mos, *metadata]),
        birth=np.array(birth or [5] * count, np.int64),
        psize=asize[:, 0],
        lsize=asize[:, 0],
        dva_count=(vdev >= 0).sum(axis=1).astype(np.int16),
        dva_vdev=vdev,
        dva_offset=offset,
        dva_asize=asize,
    )


@cache
def pool(layout: str = "2*mirror2", size: str = "20GB") -> PlaneModel:
    case = resolve(Scenario.from_dict({"layout": layout, "fill": 0.5, "drive_size": size, "release": "2.3"}))
    return plane_model(case)


def test_what_is_not_allocated_is_free_up_to_the_end_of_the_vdev() -> None:
    blocks = table([(0, 8, 8)], [(0, 16, 4)], [(1, 0, 50)], [(0, 40, 10)])
    assert best_places(blocks, 0, 100, 10).tolist() == [0, 20, 30, 50, 60, 70, 80, 90]
    assert best_places(blocks, 1, 50, 10).tolist() == []
    assert best_places(blocks, 2, 50, 10).tolist() == [0, 10, 20, 30, 40]
    assert best_places(blocks, 0, 9, 10).tolist() == [], "no whole metaslab"


def test_the_best_metaslab_has_the_largest_power_of_two_free_and_then_most_of_it() -> None:
    """metaslab_segment_weight: of segments of one power of two the number counts, not their sizes."""
    blocks = table(
        [(0, 0, 1)], [(0, 9, 1)],  # metaslab 0: 8 and 6 free: a power of 8, once
        [(0, 16, 4)], [(0, 24, 4)],  # 1: 4 and 4: a power of 4, twice
        [(0, 32, 16)],  # 2: nothing
        [(0, 48, 4)], [(0, 60, 5)],  # 3: 8
        [(0, 69, 4)],  # 4: 4 and 7: a power of 4, twice
        [(0, 80, 4)], [(0, 88, 8)],  # 5: 4, once
    )  # fmt: skip
    # What is left behind the last whole metaslab is not used.
    assert best_places(blocks, 0, 6 * 16 + 8, 16).tolist() == [1, 52, 20, 65, 84]
    # A free range that spans metaslabs is one segment of each.
    assert best_places(blocks, 1, 48, 16).tolist() == [0, 16, 32]


@pytest.mark.parametrize(
    ("metaslabs", "one_for_all", "each_third"),
    [(1, 1, 1), (2, 1, 1), (3, 1, 1), (5, 1, 1), (6, 1, 2), (11, 1, 3), (12, 4, 4), (200, 4, 4)],
)
def test_allocators_have_metaslabs_of_their_own_if_there_are_three_for_each(
    metaslabs: int, one_for_all: int, each_third: int
) -> None:
    """Four allocators: with less than twelve metaslabs one; from 2.4 on one for each three."""
    assert owners(metaslabs, each_third=False) == one_for_all
    assert owners(metaslabs, each_third=True) == each_third


def test_each_allocator_takes_the_best_that_is_nobodys() -> None:
    """Primary and secondary metaslabs of four: eight in turn; all third copies go to the ninth."""
    ranks = [[allocator_rank(4, allocator, role, 3) for role in range(3)] for allocator in range(4)]
    assert ranks == [[0, 1, 8], [2, 3, 8], [4, 5, 8], [6, 7, 8]]
    # Of one copy a vdev there is no secondary.
    assert [allocator_rank(4, allocator, 0, 1) for allocator in range(4)] == [0, 1, 2, 3]
    # Those without metaslabs of their own share the first one's.
    assert [allocator_rank(1, allocator, 0, 2) for allocator in range(4)] == [0] * 4
    assert [allocator_rank(2, allocator, 1, 3) for allocator in range(4)] == [1, 3, 1, 1]
    assert allocator_rank(2, 3, 2, 3) == 4


def test_metadata_goes_to_special_vdevs_where_there_are_any() -> None:
    assert metadata_vdevs(pool()) == [0, 1]
    vdevs = (pool().vdevs[0], replace(pool().vdevs[1], alloc_class=SPECIAL))
    assert metadata_vdevs(replace(pool(), vdevs=vdevs)) == [1]
    logs = (pool().vdevs[0], replace(pool().vdevs[1], alloc_class=LOG))
    assert metadata_vdevs(replace(pool(), vdevs=logs)) == [0]


def test_copies_go_round_the_vdevs() -> None:
    """Of three copies on two vdevs the first and third lie on one vdev, in two metaslabs."""
    shift = 28
    cursors = imported_cursors(table(), pool(), [shift, shift])
    assert [[vdev for vdev, _ in allocator] for allocator in cursors] == [[0, 1, 0]] * 4
    # On an empty pool all metaslabs are alike: by number, those of vdev 0 two a turn, those of vdev 1 one.
    slabs = [[offset >> shift for _, offset in allocator] for allocator in cursors]
    assert slabs == [[0, 0, 1], [2, 1, 3], [4, 2, 5], [6, 3, 7]]
    # Metaslabs so large that there are less than twelve: one allocator.
    few = imported_cursors(table(), pool(), [31, 31])
    assert len(few) == 1
    assert len(imported_cursors(table(), pool(), [31, 31], each_third=True)) == 4


def test_a_full_vdev_has_no_cursors() -> None:
    model = pool()
    full = table([(0, 0, vdev_asize(model, model.vdevs[0]))])
    assert imported_cursors(full, model, [28, 28]) == []


def test_copies_of_one_vdev_lie_in_the_metaslabs_that_are_left() -> None:
    """Less metaslabs with free space than ranks: the last one serves."""
    model = pool("mirror2")
    asize = vdev_asize(model, model.vdevs[0])
    shift = 33
    count = asize >> shift
    assert count == 2
    [cursors] = imported_cursors(table(), model, [shift])
    assert cursors == [(0, 0), (0, 1 << shift), (0, 1 << shift)]


def test_the_youngest_mos_blocks_tell_where_the_next_ones_go() -> None:
    far = 2 * ALLOCATION_REGION
    blocks = table(
        [(0, 4096, 4096)],  # older
        [(0, far, 4096), (1, far + 8, 4096)],
        [(0, far + 4096, 4096), (1, far + 4104, 4096)],
        [(0, 5 * far, 4096)],
        [(0, 5 * far + 4096, 4096)],
        [(0, 9 * far, 4096)],  # alone: tells nothing
        [(0, 7 * far, 4096)],  # no block of the MOS
        birth=[8, 9, 9, 9, 9, 9, 9],
        mos=range(6),
    )
    assert mos_cursors(blocks) == [[(0, far), (1, far + 8)], [(0, 5 * far)]]
    assert mos_cursors(table([(0, 4096, 4096)])) == [[(0, 0)]]


def test_a_writer_goes_on_behind_the_youngest_data_of_the_normal_class() -> None:
    blocks = table(
        [(1, 5 * MIB, 8 * KIB)],
        [(1, 2 * MIB, 4 * KIB)],
        [(0, 9 * MIB, 4 * KIB)],  # metadata
        birth=[7, 6, 9],
        metadata=[2],
    )
    assert data_cursors(blocks, pool()) == [(1, 5 * MIB + 8 * KIB), (0, 0)]
    special = (pool().vdevs[0], replace(pool().vdevs[1], alloc_class=SPECIAL))
    assert data_cursors(blocks, replace(pool(), vdevs=special)) == [(0, 0)]


@pytest.mark.parametrize("size", [f"{gb}GB" for gb in range(20, 28)])
def test_the_log_lies_on_log_vdevs_or_else_on_every_vdev_for_data(size: str) -> None:
    model = pool(size=size)
    asize = vdev_asize(model, model.vdevs[0])
    places = log_places(model, load_release("openzfs-2.3"))
    assert [number for number, _ in places] == [0, 1]
    # Half way, at a whole sector.
    assert all(0 <= asize / 2 - place < 4096 and place % 4096 == 0 for _, place in places)
    own = replace(model, vdevs=(model.vdevs[0], replace(model.vdevs[1], alloc_class=LOG)))
    assert [number for number, _ in log_places(own, load_release("openzfs-2.3"))] == [1]


def test_blocks_of_the_log_lie_one_behind_the_other_and_take_turns_on_vdevs() -> None:
    empty = plain_items(*(np.zeros(0, np.int64) for _ in range(3)))
    assert len(with_log(pool(), load_release("openzfs-2.3"), 10_000, empty)[1]) == 0
    client = ClientModel(kind="sync-write", blocks=1, count=1, think_s=0.0, seed=1)
    model = replace(pool(), clients=(client,))
    items, rows = with_log(model, load_release("openzfs-2.3"), 10_000, empty)
    assert len(items) == len(rows) == 2 * LOG_BLOCKS
    # A block has whole sectors: 12 KiB of 4 KiB ones; a mirror allocates what it stores.
    assert set(items.psize.tolist()) == {12 * KIB}
    assert set(np.diff(items.offset[:LOG_BLOCKS]).tolist()) == {12 * KIB}
    assert rows[:4].tolist() == [0, LOG_BLOCKS, 1, LOG_BLOCKS + 1]


@pytest.mark.parametrize(
    ("release", "classes", "holds"),
    [
        ("openzfs-2.3", ("normal", SPECIAL), [0]),
        ("openzfs-2.4", ("normal", SPECIAL), [1]),
        ("openzfs-2.4", ("normal", SPECIAL, "log"), [2]),
        ("openzfs-2.4", ("normal", "normal"), [0, 1]),
    ],
)
def test_the_log_lies_on_special_vdevs_from_2_4_on(
    release: str, classes: tuple[str, ...], holds: list[int]
) -> None:
    vdev = pool().vdevs[0]
    vdevs = tuple(replace(vdev, alloc_class=each) for each in classes)
    places = log_places(replace(pool(), vdevs=vdevs), load_release(release))
    assert [number for number, _ in places] == holds
