"""What a removed vdev holds on the vdevs that stay, and histories run until they have the FRAG asked for."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from tests.pool.kernels.pools import RECORD, recipe
from tests.pool.kernels.spaces import KIB, lengths, set_free, space
from zsim.pool.fragmentation import frag_weights, pool_fragmentation
from zsim.pool.recipes.recipe import Fill, Overwrite, Remove, Step, TopLevel
from zsim.pool.recipes.styles import AllocatorStyle
from zsim.pool.simulator.evacuating import Pieces, evacuate, piece_end
from zsim.pool.simulator.population import HistoryRun
from zsim.pool.simulator.rounds import metaslab_frag, pool_frag
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.profile import load_release

SECTOR = 4 * KIB
STYLE = AllocatorStyle(allocators=1)
Range = tuple[int, int, int]
"""Begin and end of what is allocated, and its segment [sectors]."""


def level(units: int = 32, slabs: int = 3, spec: VdevSpec | None = None) -> TopLevel:
    made = TopLevel(spec or VdevSpec.mirror(2), 12, 0, slabs)
    return replace(made, slab_bytes=units * made.unit)


def moved(ranges: list[Range], taken: list[tuple[int, int]] | None = None, *, vdevs: int = 1,
          staying: TopLevel | None = None) -> Pieces | None:  # fmt: skip
    """Move ranges onto vdevs of which some are taken [sectors]."""
    columns = np.array(ranges, np.int64).reshape(-1, 3).T
    used = np.array(taken or [], np.int64).reshape(-1, 2).T * SECTOR
    levels = {number: staying or level() for number in range(1, vdevs + 1)}
    places = {number: (used[0], used[1]) if number == 1 else (used[0][:0], used[1][:0]) for number in levels}
    return evacuate(levels, places, STYLE, (columns[0] * SECTOR, columns[1] * SECTOR, columns[2]), SECTOR)


def covered(pieces: Pieces) -> set[int]:
    """Return the sectors that pieces read; each is read once."""
    found = [sector for source, size in zip(pieces.source, pieces.size, strict=True)
             for sector in range(source // SECTOR, (source + size) // SECTOR)]  # fmt: skip
    assert len(set(found)) == len(found)
    return set(found)


def spots(pieces: Pieces) -> list[tuple[tuple[int, int], int]]:
    """Return for each sector copied its vdev and place there, and which of the source it is."""
    columns = (column.tolist() for column in (pieces.source, pieces.vdev, pieces.offset, pieces.size))
    return [
        ((vdev, offset // SECTOR + k), source // SECTOR + k)
        for source, vdev, offset, size in zip(*columns, strict=True)
        for k in range(size // SECTOR)
    ]


RANGES = [(0, 3, 0), (5, 6, 0), (20, 28, 1), (40, 41, 2), (44, 46, 2), (47, 50, 2)]


def test_every_range_is_copied_and_a_segment_goes_in_one_piece_with_its_holes() -> None:
    pieces = moved(RANGES)
    assert pieces is not None
    assert len(pieces) == 3
    assert (pieces.source // SECTOR).tolist() == [0, 20, 40]
    assert (pieces.size // SECTOR).tolist() == [6, 8, 10]
    assert set(pieces.vdev.tolist()) == {1}


def test_nothing_is_placed_where_something_is() -> None:
    taken = [(0, 9), (12, 20), (30, 40), (70, 75)]
    pieces = moved(RANGES, taken)
    assert pieces is not None
    held = {sector for begin, end in taken for sector in range(begin, end)}
    data = {sector for begin, end, _ in RANGES for sector in range(begin, end)}
    assert data <= covered(pieces)
    places = {place for (_, place), source in spots(pieces) if source in data}
    assert len(places) == len(data)
    assert not places & held
    assert max(places) < 3 * 32


def test_holes_are_free_again_at_the_new_place() -> None:
    """Of forty segments of two sectors, two holes apart, all eighty sectors find room on ninety-six."""
    ranges = [(8 * k + 3 * half, 8 * k + 3 * half + 1, k) for k in range(40) for half in (0, 1)]
    pieces = moved(ranges)
    assert pieces is not None
    data = {begin for begin, _, _ in ranges}
    assert data <= covered(pieces)
    places = [place for place, source in spots(pieces) if source in data]
    assert len(set(places)) == len(places) == len(data)


def test_the_emptier_vdev_gets_more() -> None:
    """Of two mirrors one is three quarters full: the bias gives it a quarter of the other's share or so."""
    staying = level(units=1024, slabs=2)
    ranges = [(80 * k, 80 * k + 64, k) for k in range(20)]
    pieces = moved(ranges, [(0, 768), (1024, 1024 + 768)], vdevs=2, staying=staying)
    assert pieces is not None
    first = int(pieces.size[pieces.vdev == 1].sum())
    assert 0 < first < 0.4 * pieces.size.sum()
    even = moved(ranges, [], vdevs=2, staying=staying)
    assert even is not None
    assert 0.3 < even.size[even.vdev == 1].sum() / even.size.sum() < 0.7


def test_a_segment_is_cut_where_no_hole_is_large_enough() -> None:
    """Free are four sectors at a time: eight go in two pieces, each a half in whole sectors."""
    taken = [(4 + 8 * k, 8 + 8 * k) for k in range(12)]
    pieces = moved([(0, 8, 0), (8, 13, 1)], taken)
    assert pieces is not None
    assert (pieces.size // SECTOR).max() <= 4
    assert covered(pieces) == set(range(13))
    assert (np.diff(pieces.source) > 0).all(), "in the order of addresses"
    assert moved([(0, 8, 0)], [(0, 96)]) is None
    assert moved([(0, 3, 0)], [(1, 2), (3, 32), (32, 64), (64, 96)]) is None, "two free sectors hold no three"
    assert moved([(0, 2, 0)], [(1, 2), (3, 32), (32, 64), (64, 96)]) is not None


@pytest.mark.parametrize(("largest", "end", "behind"), [
    (3, 3, 1), (4, 3, 1), (5, 3, 1), (6, 6, 2), (20, 9, 3), (2, 2, 0),
])  # fmt: skip
def test_a_piece_ends_with_a_range_where_it_can(largest: int, end: int, behind: int) -> None:
    low, high = np.array([0, 5, 8]), np.array([3, 6, 9])
    assert tuple(piece_end(low, high, 0, 2, 0, largest)) == (end, behind)


def test_several_vdevs_that_stay_share_what_comes() -> None:
    pieces = moved([(40 * k, 40 * k + 20, k) for k in range(7)], vdevs=3)
    assert pieces is not None
    assert set(pieces.vdev.tolist()) == {1, 2, 3}
    assert covered(pieces) == {40 * k + at for k in range(7) for at in range(20)}


ROUND: tuple[Step, ...] = (Overwrite(0.05), Remove(0.05), Fill(0.3))


@pytest.mark.parametrize("release", ["2.3.9", "2.4.4"])
def test_frag_of_kernels_is_frag_of_arrays(release: str) -> None:
    profile = load_release(release)
    history = HistoryRun(recipe(Fill(0.3), *ROUND, release=release, vdevs=2, units=60), 1)
    history.run(Fill(0.3))
    of = frag_weights(history.recipe.vdevs, profile)
    found = pool_frag(history._memory.table, of.weights, of.sizes, int(of.by_space))
    wanted = pool_fragmentation(
        history.segments, history.untouched, history.recipe.vdevs, profile, history.free_bytes
    )
    assert found == pytest.approx(wanted, rel=1e-12)
    assert 0.0 < found < 1.0


def test_frag_of_a_pool_is_the_mean_of_its_metaslabs_or_of_their_free_space() -> None:
    """Holes of 4K are 95 % fragmented, one of 64K 60 %, an untouched metaslab not at all."""
    memory = space(units=64, slabs=4, vdevs=2, spec=VdevSpec.mirror(2))
    lengths(memory, 0, [1] * 4)
    lengths(memory, 1, [16])
    set_free(memory, 2, [False] * 64)
    for slab in (4, 5, 6, 7):
        lengths(memory, slab, [1] * 8)
    weights = frag_weights(
        (TopLevel(VdevSpec.mirror(2), 12, 64 * SECTOR, 4),) * 2, load_release("2.2.9")
    ).weights
    first, alone = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    pool = memory.table
    assert metaslab_frag(pool, 2, weights[0]) == 0.0
    assert pool_frag(pool, weights, first, 0) == pytest.approx((0.95 + 0.6 + 0.0 + 0.0) / 4)
    assert pool_frag(pool, weights, first, 1) == pytest.approx(
        (4 * 0.95 + 16 * 0.6) / (4 + 16 + 64), rel=1e-3
    )
    assert pool_frag(pool, weights, alone, 0) == pytest.approx(0.95)
    assert pool_frag(pool, weights, np.array([1.0, 3.0]), 0) == pytest.approx((0.3875 + 3 * 0.95) / 4)
    assert pool_frag(pool, weights[:0], first[:0], 0) == 0.0


AGEING = recipe(Fill(0.3), *ROUND * 3, units=40, txg_bytes=8 * RECORD)


def filled() -> HistoryRun:
    history = HistoryRun(AGEING, 1)
    history.run(Fill(0.3))
    return history


@functools.lru_cache(maxsize=1)
def frags() -> list[float]:
    """Return FRAG before the first round, and after each of two."""
    history, profile = filled(), load_release("2.3.9")
    found = []
    for turn in range(3):
        if turn:
            history.run(*ROUND)
        now = history.segments, history.untouched, AGEING.vdevs, profile, history.free_bytes
        found.append(pool_fragmentation(*now))
    return found


@pytest.mark.parametrize(
    ("wanted", "least", "most"), [("highest", 0, 2), (0.0, 0, 2), (0.0, 1, 2), (2.0, 0, 2)]
)
def test_rounds_are_run_until_frag_is_reached_at_least_so_many_and_at_most(
    wanted: float | str, least: int, most: int
) -> None:
    known = frags()
    aim = max(known) if isinstance(wanted, str) else wanted
    rounds = max(least, next((k for k, frag in enumerate(known) if frag >= aim), most))
    found, before, after = filled().run_until(
        ROUND, aim, frag_weights(AGEING.vdevs, load_release("2.3.9")), least, most
    )
    assert found == rounds
    assert (before, after) == (pytest.approx(known[0]), pytest.approx(known[rounds]))


def test_a_history_can_be_looked_at_until_its_last_table() -> None:
    history = HistoryRun(recipe(Fill(0.2)), 1)
    history.run(Fill(0.2))
    plain, last = history.table(), history.last_table()
    assert np.array_equal(plain.dva_offset, last.dva_offset)
    assert np.array_equal(plain.birth, last.birth)
    assert np.array_equal(plain.blkid, last.blkid)
    with pytest.raises(RuntimeError, match="no step can follow"):
        history.run(Fill(0.3))
