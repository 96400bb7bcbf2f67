"""Lists of free space by hand: how large metaslabs are, what is refused and why, which stand for which."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.pool.test_statistics_by_hand import KIB, MIB, table
from zsim.base.errors import InputError
from zsim.pool.measured import free_space
from zsim.pool.measured.free_space import GOLDEN, FreeSpace, matched_places, placed_by, read_free_space
from zsim.pool.miniature.shape import Miniature
from zsim.pool.recipes.recipe import PoolRecipe, TopLevel, pool_of
from zsim.scenario.layout import VdevSpec

HEAD = "vdev,metaslab,offset,free,fragmentation"


def read(tmp_path: Path, *rows: str, head: str = HEAD) -> FreeSpace:
    path = tmp_path / "m.csv"
    path.write_text("\n".join([head, *rows, ""]))
    return read_free_space(path)


def test_metaslabs_are_as_large_as_the_least_distance_between_two(tmp_path: Path) -> None:
    """Those of the first vdev lie 100 apart, one is missing; rows come in any order."""
    known = read(tmp_path, "1,1,70,0,", "0,0,0,25,10", "0,3,300,100,", "1,0,20,50,", "0,1,100,60,30")
    assert known.vdev.tolist() == [0, 0, 0, 1, 1]
    assert known.offset.tolist() == [0, 100, 300, 20, 70]
    assert known.size.tolist() == [100, 100, 100, 50, 50]
    assert known.fill.tolist() == pytest.approx([0.75, 0.4, 0.0, 0.0, 1.0])
    assert known.alloc == 75 + 40 + 50
    assert known.frag == pytest.approx((0.1 + 0.3) / 5), "unknown counts as none"
    assert [math.isnan(each) for each in known.fragmentation] == [False, False, True, True, True]
    assert read(tmp_path, "0,0,0,1,", "0,1,9,1,").frag is None
    led = known.led_by(1)
    assert (led.vdev.tolist(), led.offset.tolist()) == ([0, 0, 1, 1, 1], [20, 70, 0, 100, 300])
    assert (led.size.tolist(), led.free.tolist()) == ([50, 50, 100, 100, 100], [50, 0, 25, 60, 100])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((), "it holds no metaslabs"),
        (("0,0,0,1,",), "vdev 0 needs at least two metaslabs"),
        (("0,0,0,1,", "0,1,9,1,", "2,0,5,1,"), "vdev 2 needs at least two metaslabs"),
        (("0,0,5,1,", "0,1,5,1,"), "each with an offset of its own"),
        (("0,0,0,5,", "0,1,5,9,", "0,2,10,7,"), "the metaslab at 5 has more free space than its 5 bytes"),
        (("0,0,0,1,", "0,1,x,1,"), "m.csv line 3: offset 'x'"),
        (("0,0,0,1,", "0,1,1000000000000000000,1,"), "m.csv line 3: offset"),
        (("0,0,0,-1,",), "m.csv line 2: free '-1'"),
        (("0,0,0,1,101", "0,1,9,1,"), "m.csv line 2: fragmentation '101'"),
        (("0,0,0,1,1 %", "0,1,9,1,"), "m.csv line 2: fragmentation '1 %'"),
        (("0,0,0,1,0000999", "0,1,9,1,"), "m.csv line 2: fragmentation '0000999'"),
        (("0,0,0,1,", f"0,1,9,1,0000{'9' * 400}"), "m.csv line 3: fragmentation '0000999"),
    ],
)
def test_what_no_pool_has_is_refused_by_its_line(rows: tuple[str, ...], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, *rows)


def test_what_any_pool_may_have_is_read(tmp_path: Path) -> None:
    """One byte apart, all free, wholly in pieces, and numbers of eighteen digits."""
    known = read(tmp_path, "0,0,0,1,100", "0,1,1,1,0")
    assert (known.fragmentation.tolist(), known.alloc) == ([1.0, 0.0], 0)
    assert read(tmp_path, "0,0,0,1,", "0,1,999999999999999999,1,").offset[1] > 9.99e17
    with pytest.raises(InputError, match="it has no column free"):
        read(tmp_path, "0,0,0", head="vdev,metaslab,offset")


def test_a_list_has_so_many_rows_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_space, "MAX_ROWS", 3)
    rows = [f"0,{number},{9 * number},1," for number in range(4)]
    assert len(read(tmp_path, *rows[:3]).offset) == 3
    with pytest.raises(InputError, match="it has more than 3 rows"):
        read(tmp_path, *rows)


def test_the_emptiest_stands_for_one_of_the_emptiest() -> None:
    """Six metaslabs in three pairs by how full they are; which of a pair, steps of the golden ratio say."""
    real = np.array([0.5, 0.1, 0.9, 0.2, 0.6, 0.8])
    offset = np.arange(6) * 10
    pairs = [[10, 30], [0, 40], [20, 50]]
    chosen = [pairs[rank][int((0.5 + rank * GOLDEN) % 1.0 * 2)] for rank in range(3)]
    assert chosen == [30, 0, 50], "at 0.5, 0.118 and 0.736"
    fills = np.array([0.7, 0.0, 0.3])
    assert matched_places(fills, offset, real).tolist() == [chosen[2], chosen[0], chosen[1]]


def known_of(*rows: tuple[int, int, float]) -> FreeSpace:
    """Return metaslabs of 16 MiB from (vdev, number, fill)."""
    vdev, number, fill = np.array(rows).T
    size = np.full(len(rows), 16 * MIB)
    return FreeSpace(
        vdev.astype(np.int64), (number * 16 * MIB).astype(np.int64),
        np.round((1.0 - fill) * 16 * MIB).astype(np.int64), np.zeros(len(rows)), size,
    )  # fmt: skip


def test_metaslabs_of_a_miniature_stand_where_real_ones_as_full_stand() -> None:
    """Of two the first is half full, the second an eighth.  The emptiest two of four real ones begin at 0 and
    32 MiB, of which the later is taken, the fullest at 16 and 48, of which the former is."""
    level = TopLevel(VdevSpec.mirror(2), 12, MIB, 2)
    longer = replace(level, slab_count=3, stands_for=16 * MIB)
    blocks = table((0, 0, 512), (0, 1024 + 256, 128), (3, 1024, 4), (3, 8, 4))
    vdev, offset = blocks.dva_vdev.copy(), blocks.dva_offset.copy()
    vdev[2, 1], offset[2, 1] = 0, (1024 + 512) * KIB
    blocks = replace(blocks, dva_vdev=vdev, dva_offset=offset)
    pool = replace(PoolRecipe(*pool_of("2*mirror2", 10**12, "2.3.9")), vdevs=(level, longer))
    rows = [(0, 0, 0.1), (0, 1, 0.9), (0, 2, 0.2), (0, 3, 0.8), (3, 0, 0.5), (3, 1, 0.5)]
    found = placed_by(Miniature(blocks, 2.0, pool, (0, 3)), known_of(*rows))
    first, second = found.recipe.vdevs
    assert (first.starts, first.stands_for) == ((16 * MIB, 32 * MIB), MIB)
    assert second is longer, "of three, two are known: it stays as it is"
    assert (found.table.dva_offset[:, 0] // KIB).tolist() == [16 * 1024, 32 * 1024 + 256, 1024, 8]
    assert found.table.dva_offset[2, 1] == (32 * 1024 + 512) * KIB, "further copies go with them"
    assert found.table.dva_offset[0, 1] == 0
    both = placed_by(Miniature(blocks, 2.0, pool, (0, 3)), known_of(*rows, (3, 2, 0.5)))
    assert both.recipe.vdevs[1].starts == (0, 16 * MIB, 32 * MIB)
    assert both.recipe.vdevs[1].stands_for == 16 * MIB
    assert (both.table.dva_offset[2:, 0] % (16 * MIB) // KIB).tolist() == [0, 8]


def test_metaslabs_begin_at_whole_allocations() -> None:
    """On a RAID-Z2 with 4K sectors, of three: 16 MiB are 1365 of 12 KiB and a third."""
    level = TopLevel(VdevSpec.raidz(2, 6), 12, 128 * 12 * KIB, 2)
    pool = replace(PoolRecipe(*pool_of("raidz2x6", 10**12, "2.3.9")), vdevs=(level,))
    small = Miniature(table((0, 0, 12)), 1.0, pool, (0,))
    found = placed_by(small, known_of((0, 1, 0.5), (0, 2, 0.5)))
    assert found.recipe.vdevs[0].starts == (1365 * 12 * KIB, 2730 * 12 * KIB)
    assert found.table.dva_offset[0, 0] in found.recipe.vdevs[0].starts
