"""Which top-level vdev a block lands on: allocation classes, the throttle, vdevs that were added later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from zsim.case.case import Case
from zsim.case.population import populate
from zsim.pool.blocks import BlockTable
from zsim.pool.fragmentation import frag_weights, pool_fragmentation
from zsim.pool.miniature.ageing import AgedPool, aged_pool
from zsim.pool.miniature.shape import MiniatureSize
from zsim.pool.recipes.recipe import (
    AddVdev,
    FileSizes,
    Fill,
    Overwrite,
    PoolRecipe,
    RecordClass,
    Remove,
    Step,
    pool_of,
    small_blocks,
)
from zsim.pool.simulator.population import build_population
from zsim.prediction.api import case_of
from zsim.prediction.inputs.population import history_of
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import load_release

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SPECIAL = 1


def recipe(
    layout: str,
    release: str = "2.3.9",
    *,
    steps: tuple[Step, ...] = (Fill(0.5), Overwrite(0.25), Remove(0.05), Fill(0.5)),
    records: tuple[RecordClass, ...] = (RecordClass(),),
    small: int = 0,
) -> PoolRecipe:
    vdevs, style = pool_of(layout, GIB, release)
    return PoolRecipe(
        vdevs,
        style,
        records=records,
        files=FileSizes("uniform", 4 * MIB, MIB, 7 * MIB),
        steps=steps,
        txg_bytes=16 * MIB,
        txg_step=3,
        small_blocks=small_blocks(load_release(release), small),
    )


def bytes_on(table: BlockTable, vdev: int) -> int:
    return int(table.dva_asize[table.dva_vdev == vdev].sum())


def homes(table: BlockTable, rows: np.ndarray) -> set[int]:
    found = table.dva_vdev[rows]
    return set(found[found >= 0].tolist())


def test_metadata_goes_to_the_special_vdev_and_data_does_not() -> None:
    table = build_population(recipe("raidz2x6+special:mirror2"))
    assert homes(table, table.is_metadata) == {SPECIAL}
    assert homes(table, ~table.is_metadata) == {0}
    assert set(table.dva_count[table.is_metadata].tolist()) == {2, 3}


@pytest.mark.parametrize(("release", "volume", "goes"), [
    ("2.3.9", False, True), ("2.3.9", True, False), ("2.4.4", True, True),
])  # fmt: skip
def test_small_blocks_go_there_and_those_of_volumes_from_2_4(release: str, volume: bool, goes: bool) -> None:
    records = RecordClass(16 * KIB, volume=volume), RecordClass(128 * KIB, volume=volume)
    table = build_population(
        recipe("raidz2x6+special:mirror2", release, steps=(Fill(0.1),), records=records, small=32 * KIB)
    )
    small = ~table.is_metadata & (table.psize <= 32 * KIB)
    assert homes(table, small) == ({SPECIAL} if goes else {0})
    assert homes(table, ~table.is_metadata & ~small) == {0}


def test_small_blocks_leave_a_quarter_of_the_class_to_metadata() -> None:
    mixed = RecordClass(16 * KIB), RecordClass(128 * KIB)
    made = recipe("raidz2x6+special:mirror2", steps=(Fill(0.4),), records=mixed, small=32 * KIB)
    table = build_population(made)
    small = ~table.is_metadata & (table.psize <= 32 * KIB)
    assert homes(table, small) == {0, SPECIAL}
    space = made.vdevs[SPECIAL].slab_bytes * made.vdevs[SPECIAL].slab_count
    assert bytes_on(table, SPECIAL) / space == pytest.approx(0.75, abs=0.03)


def test_metadata_that_finds_the_class_full_goes_to_the_data_vdevs() -> None:
    made = recipe("raidz2x6+special:mirror2", records=(RecordClass(4 * KIB),), steps=(Fill(0.3),))
    tiny = replace(made.vdevs[SPECIAL], slab_bytes=MIB, slab_count=4)
    table = build_population(replace(made, vdevs=(made.vdevs[0], tiny)))
    assert homes(table, table.is_metadata) == {0, SPECIAL}


def test_a_special_vdev_added_later_has_what_was_written_since() -> None:
    steps = Fill(0.3), AddVdev(SPECIAL), Fill(0.5)
    table = build_population(recipe("raidz2x6+special:mirror2", steps=steps))
    meta = table.is_metadata & (table.objset != 0)
    there = table.dva_vdev[:, 0] == SPECIAL
    assert table.birth[meta & there].min() > table.birth[meta & ~there].max()
    assert (meta & there).any()
    assert (meta & ~there).any()


def share(layout: str, release: str, steps: tuple[Step, ...] | None = None) -> list[float]:
    made = recipe(layout, release) if steps is None else recipe(layout, release, steps=steps)
    table = build_population(made)
    held = [bytes_on(table, number) for number in range(len(made.vdevs))]
    return [used / (vdev.slab_bytes * vdev.slab_count) for used, vdev in zip(held, made.vdevs, strict=True)]


def test_the_queue_of_a_slow_vdev_fills_it_first() -> None:
    """Seen in 2.3.9: 46 % of the RAID-Z and 71 % of the mirror; by free space alone it would be 58 and 12."""
    raidz, mirror = share("raidz1x5+mirror2", "2.3.9")
    assert raidz < 0.52
    assert mirror > 0.6


def test_without_the_throttle_the_bias_alone_decides() -> None:
    made = recipe("raidz1x5+mirror2")
    table = build_population(replace(made, style=replace(made.style, throttle=0)))
    assert bytes_on(table, 1) < 0.3 * GIB


def test_2_4_fills_vdevs_of_any_size_alike() -> None:
    raidz, mirror = share("raidz1x5+mirror2", "2.4.4")
    assert raidz == pytest.approx(mirror, abs=0.1)


@pytest.mark.parametrize("release", ["0.6.5.11", "2.3.9", "2.4.4"])
def test_a_vdev_added_later_gets_more_but_stays_emptier(release: str) -> None:
    old, new = share("raidz2x6+raidz2x6", release, (Fill(0.6), AddVdev(1), Fill(0.5), Fill(0.55)))
    assert old > new > 0.25


def test_equal_vdevs_get_equal_shares() -> None:
    for release in ("0.7.13", "2.3.9", "2.4.4"):
        first, second = share("mirror2+mirror2", release)
        assert first == pytest.approx(second, abs=0.03)


def test_snapshots_leave_room_before_a_vdev_is_added() -> None:
    pair = {"layout": "2*mirror2", "drive_size": "4TB", "vdev_fills": [0.427, 0.853]}
    case = case_of(Scenario.from_dict({**pair, "history": "backup-target", "seed": 1}))
    aged = aged_pool(history_of(case), case.empty_pool, case.fill, size=MiniatureSize(1500), seed=1)
    assert aged.fill == pytest.approx(case.fill, abs=0.02)


GROWN = {"layout": "3*raidz2x6", "drive_size": "4TB", "vdev_fills": [0.8, 0.8, 0.3], "seed": 1}


def made_of(**stated: object) -> tuple[AgedPool, Case]:
    case = case_of(Scenario.from_dict({**GROWN, **stated}))
    return populate(case, max_blocks=6000), case


@pytest.mark.parametrize("frag", [0.05, 0.1, 0.2])
def test_frag_that_is_stated_is_that_after_a_vdev_was_added(frag: float) -> None:
    aged, case = made_of(frag=frag)
    # A third of the pool has come since it was aged: 5 % before were 12 % in the end.
    assert aged.frag == pytest.approx(frag, abs=0.011)
    used = np.bincount(aged.miniature.table.dva_vdev[:, 0], aged.miniature.table.dva_asize[:, 0])
    assert used[2] < 0.5 * used[0]
    assert case.frag_of == ()


def test_frag_stated_of_each_vdev_is_that_of_the_vdev_under_repair() -> None:
    pair = {"layout": "2*raidz2x6", "vdev_fills": None, "fill": 0.7}
    low, case = made_of(**pair, vdev_frags=[0.12, 0.3])
    high, other = made_of(**pair, vdev_frags=[0.12, 0.3], replace_in="1")
    assert (case.frag, other.frag) == (0.12, 0.3)
    assert case.frag_of == other.frag_of == (0,), "the vdev under repair leads"
    assert low.frag == pytest.approx(0.12, abs=0.02)
    assert high.frag == pytest.approx(0.3, abs=0.04)
    scrub, whole = made_of(**pair, vdev_frags=[0.12, 0.3], operation="scrub")
    assert whole.frag == pytest.approx(0.21)
    assert scrub.frag == pytest.approx(0.21, abs=0.02)


def test_frag_of_a_vdev_that_was_added_comes_of_its_being_filled() -> None:
    _, case = made_of(vdev_frags=[0.3, 0.2, 0.02], replace_in="2")
    assert case.frag_of == (1, 2), "the newest leads, and those before it were aged"
    assert case.frag == pytest.approx(0.25)


def test_frag_of_a_pool_is_that_of_its_data_vdevs() -> None:
    vdevs = recipe("mirror2+special:mirror2").vdevs
    release = load_release("2.3.9")
    assert frag_weights(vdevs, release).sizes[SPECIAL] == 0.0 < frag_weights(vdevs, release).sizes[0]
    slabs = [vdev.slab_count for vdev in vdevs]
    holes = np.zeros((sum(slabs), 48), np.int64)
    holes[: slabs[0], 30], holes[slabs[0] :, 9] = 1, 1
    assert pool_fragmentation(holes, np.zeros(sum(slabs), bool), vdevs, release) < 0.1
    assert pool_fragmentation(holes, np.zeros(sum(slabs), bool), vdevs, release, of=(SPECIAL,)) == 1.0
