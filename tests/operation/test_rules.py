"""Rules of queue, scan, window and txg that follow from a release: what OpenZFS of that release does."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.case.resolve import resolve
from zsim.engine.codes import ASYNC_READ, ASYNC_WRITE, REBUILD, SCRUB
from zsim.engine.model import VdevModel
from zsim.operation.rules import (
    data_children,
    pool_window,
    queue_rules,
    rebuild_window,
    scan_rules,
    sit_out_rules,
    txg_rules,
    vdev_window,
)
from zsim.prediction.inputs.hardware import plane_model
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import load_release

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ONE_DRIVE = VdevModel(kind="mirror", parity=0, ashift=12, read_leaf=(0,), write_leaf=(-1,))


def raidz(parity: int, children: int, dead: int = 0) -> VdevModel:
    """A raidz whose last children are dead and have no replacement."""
    read = tuple(range(children - dead)) + (-1,) * dead
    return VdevModel(kind="raidz", parity=parity, ashift=12, read_leaf=read, write_leaf=(-1,) * children)


MIRROR3 = VdevModel(kind="mirror", parity=0, ashift=12, read_leaf=(0, 1, -1), write_leaf=(-1, -1, 2))


@pytest.mark.parametrize(("operation", "ticks"), [("resilver", 2), ("scrub", 4)])
@pytest.mark.parametrize(("release", "hz"), [("freebsd-9.2", 1000), ("zol-0.7", 250)])
def test_the_legacy_scan_sleeps_ticks_while_clients_were_active(
    operation: str, ticks: int, release: str, hz: int
) -> None:
    """zfs_resilver_delay 2, zfs_scrub_delay 4, zfs_scan_idle 50, all in ticks of 1/hz; gone with 0.8."""
    rules = scan_rules(load_release(release), operation)  # type: ignore[arg-type]
    assert rules.delay_ticks == ticks
    assert rules.tick_s == 1.0 / hz
    assert rules.idle_window_s == pytest.approx(50 / hz)
    assert rules.scrub is (operation == "scrub")
    gone = scan_rules(load_release("openzfs-0.8"), operation)  # type: ignore[arg-type]
    assert (gone.delay_ticks, gone.idle_window_s) == (0, 0.0)


def test_metadata_is_read_ahead_by_a_thread_of_its_own_from_0_8_on_unless_switched_off() -> None:
    new = load_release("openzfs-2.3")
    assert scan_rules(new, "resilver").prefetch_recursive
    assert scan_rules(new, "resilver").metadata_class == SCRUB
    without = new.with_tunables({"zfs_no_scrub_prefetch": 1})
    assert not scan_rules(without, "resilver").prefetch_recursive
    old = scan_rules(load_release("zol-0.7"), "resilver")
    assert not old.prefetch_recursive
    assert old.metadata_class == ASYNC_READ


@pytest.mark.parametrize(
    ("release", "operation", "scan", "repair"),
    [
        ("openzfs-2.3", "resilver", SCRUB, ASYNC_WRITE),
        ("zol-0.7", "resilver", SCRUB, ASYNC_WRITE),
        ("freebsd-9.1", "resilver", SCRUB, SCRUB),  # v28: repair writes have the priority of the scan
        ("openzfs-2.3", "rebuild", REBUILD, REBUILD),
        ("openzfs-2.3", "expand", REBUILD, REBUILD),
        ("openzfs-2.3", "remove", REBUILD, REBUILD),
    ],
)
def test_classes_of_a_scan_and_of_its_repair(release: str, operation: str, scan: int, repair: int) -> None:
    rules = scan_rules(load_release(release), operation)  # type: ignore[arg-type]
    assert (rules.scan_class, rules.repair_class) == (scan, repair)


def test_only_the_legacy_scan_pauses_at_data_blocks_alone() -> None:
    assert scan_rules(load_release("zol-0.7"), "resilver").pause_level0_only
    assert not scan_rules(load_release("openzfs-2.3"), "resilver").pause_level0_only


@pytest.mark.parametrize(
    ("release", "seconds"),
    [("freebsd-9.1", 0.064), ("freebsd-9.2", 2**29 / 1e9), ("openzfs-2.3", 2**29 / 1e9)],
)
def test_deadlines_are_sorted_into_buckets_of_64_ticks_or_half_a_second(release: str, seconds: float) -> None:
    """v28 shifts a clock of ticks by 6 (64 ms at 1000 Hz), later code one of ns by 29."""
    assert queue_rules(load_release(release)).bucket_seconds == pytest.approx(seconds)


def test_the_shift_of_deadlines_is_of_ns_from_twenty_on() -> None:
    old = load_release("freebsd-9.1")
    ticks, ns = (old.with_tunables({"zfs_vdev_time_shift": shift}) for shift in (19, 20))
    assert queue_rules(ticks).bucket_seconds == pytest.approx(2**19 / 1000)
    assert queue_rules(ns).bucket_seconds == pytest.approx(2**20 / 1e9)


@pytest.mark.parametrize(
    ("release", "aggregate", "flash"),
    [("zol-0.7", 128 * KIB, 128 * KIB), ("openzfs-0.8", MIB, 128 * KIB), ("openzfs-2.3", MIB, 128 * KIB)],
)
def test_how_much_is_aggregated(release: str, aggregate: int, flash: int) -> None:
    rules = queue_rules(load_release(release))
    assert (rules.aggregation_limit, rules.aggregation_limit_flash) == (aggregate, flash)
    assert rules.read_gap == 32 * KIB


def test_a_legacy_scan_aggregates_no_more_than_a_block_may_have() -> None:
    """To 0.7 the limit is clamped to the largest block of the pool; a scan in order of addresses is not."""
    more = {"zfs_vdev_aggregation_limit": 16 * MIB}
    assert queue_rules(load_release("zol-0.7").with_tunables(more)).aggregation_limit == 128 * KIB
    assert queue_rules(load_release("openzfs-2.3").with_tunables(more)).aggregation_limit == 16 * MIB


def test_the_queue_of_v28_has_one_limit_for_all_classes() -> None:
    old, new = (queue_rules(load_release(each)) for each in ("freebsd-9.1", "openzfs-2.3"))
    assert old.single
    assert (old.max_pending, old.min_pending, old.ramp) == (10, 4, 2)
    assert min(*old.minimum, *old.maximum) > 1_000_000
    assert not new.single
    assert (new.max_pending, new.min_pending, new.ramp) == (0, 0, 0)


def test_repair_writes_have_two_places_on_an_idle_pool() -> None:
    """Nothing is dirty, so that asynchronous writes have their least as their most; all others 1 to 3."""
    rules = queue_rules(load_release("openzfs-2.3"))
    assert rules.minimum[ASYNC_WRITE] == rules.maximum[ASYNC_WRITE] == 2
    assert (rules.minimum[SCRUB], rules.maximum[SCRUB]) == (1, 3)
    assert (rules.minimum[REBUILD], rules.maximum[REBUILD]) == (1, 3)
    assert (rules.minimum[ASYNC_READ], rules.maximum[ASYNC_READ]) == (1, 3)
    assert (rules.nia_credit, rules.nia_delay) == (5, 5)


def test_how_a_mirror_chooses() -> None:
    """To 0.6.1 by offset >> 21; from 0.7 load and seeks: 5 beyond 1 MiB, on flash 1."""
    assert queue_rules(load_release("freebsd-9.1")).mirror_shift == 21
    rules = queue_rules(load_release("openzfs-2.3"))
    assert (rules.mirror_seek_cost, rules.mirror_flash_seek_cost, rules.mirror_near) == (5, 1, MIB)
    assert queue_rules(load_release("zol-0.6.5")).mirror_switch_s == pytest.approx(0.010)


@pytest.mark.parametrize(
    ("vdev", "per_leaf", "per_data"),
    [
        (raidz(2, 8), 8, 6),
        (raidz(2, 8, dead=1), 7, 6),
        (raidz(1, 3), 3, 2),
        (MIRROR3, 3, 1),  # the replaced side counts too, of two that are read
        (ONE_DRIVE, 1, 1),
    ],
)
def test_windows_count_leaves_in_0_8_and_drives_less_parity_from_2_1_on(
    vdev: VdevModel, per_leaf: int, per_data: int
) -> None:
    old, new = load_release("openzfs-2.0"), load_release("openzfs-2.3")
    assert (data_children(vdev, old), data_children(vdev, new)) == (per_leaf, per_data)
    assert vdev_window(vdev, old).limit == per_leaf * 4 * MIB
    assert vdev_window(vdev, new).limit == per_data * 16 * MIB
    assert pool_window([vdev, raidz(1, 3)], new).limit == (per_data + 2) * 16 * MIB


def test_a_window_has_a_megabyte_at_least() -> None:
    small = load_release("openzfs-2.3").with_tunables({"zfs_scan_vdev_limit": 64 * KIB})
    assert vdev_window(raidz(2, 8), small).limit == MIB
    assert pool_window([raidz(2, 8)], small).limit == MIB
    assert vdev_window(raidz(1, 18), small).limit == 17 * 64 * KIB


def test_the_legacy_scan_has_32_blocks_in_flight_for_each_vdev() -> None:
    window = pool_window([raidz(2, 8), raidz(2, 8), ONE_DRIVE], load_release("zol-0.7"))
    assert window.limit == 96
    assert window.counts_blocks
    assert not pool_window([ONE_DRIVE], load_release("openzfs-2.3")).counts_blocks


def test_the_window_of_a_rebuild() -> None:
    """2.0: 20 I/Os; 2.2: 64 MiB a child, of all vdevs together half the ARC, which has half the memory."""
    scenario = Scenario.from_dict(
        {"layout": "2*mirror2", "fill": 0.5, "drive_size": "1TB", "release": "openzfs-2.2"}
    )
    model = plane_model(resolve(scenario))
    assert rebuild_window(model, 0, load_release("openzfs-2.0"), 64 * GIB).limit == 20
    assert rebuild_window(model, 0, load_release("openzfs-2.0"), 64 * GIB).counts_blocks
    new = load_release("openzfs-2.2")
    assert rebuild_window(model, 0, new, 64 * GIB).limit == 2 * 64 * MIB
    assert rebuild_window(model, 0, new, 512 * MIB).limit == 64 * MIB
    alone = replace(model, vdevs=model.vdevs[:1])
    assert rebuild_window(alone, 0, new, 256 * MIB).limit == 64 * MIB
    assert rebuild_window(alone, 0, new, MIB).limit == MIB


def test_children_sit_out_from_2_4_on() -> None:
    """vdev_read_sit_out_secs 600, checked every 1000 ms, insensitivity 50."""
    rules = sit_out_rules(load_release("openzfs-2.4"))
    assert rules is not None
    assert (rules.seconds, rules.interval_s, rules.insensitivity) == (600.0, 1.0, 50)
    assert sit_out_rules(load_release("openzfs-2.3")) is None
    never = load_release("openzfs-2.4").with_tunables({"vdev_read_sit_out_secs": 0})
    assert sit_out_rules(never) is None


@pytest.mark.parametrize(
    ("release", "allocators", "rotates"),
    [("zol-0.7", 1, False), ("openzfs-2.1", 3, False), ("openzfs-2.3", 3, True)],
)
def test_what_a_txg_writes_goes_to_one_allocator_or_to_several(
    release: str, allocators: int, rotates: bool
) -> None:
    """One to 0.7, four from 0.8 on, of which three are seen to be written; from 2.3 on they take turns."""
    rules = txg_rules(load_release(release), "resilver")
    assert 1 + len(rules.further_blocks) == allocators
    assert rules.rotates is rotates
    assert all(len(each) == len(rules.pass_blocks) for each in rules.further_blocks)


def test_the_first_txg_of_a_legacy_scan_loads_space_maps_and_writes_labels() -> None:
    old, new = (txg_rules(load_release(each), "resilver") for each in ("zol-0.7", "openzfs-2.3"))
    assert old.first_labels
    assert old.first_reads > 0
    assert not new.first_labels
    assert new.first_reads == 0
    assert new.first_slice_s == new.slice_s
    # zfs_resilver_min_time_ms of the txg that the attach waits for.
    assert old.first_slice_s == 3.0


@pytest.mark.parametrize(
    ("release", "scan_s", "scrub_s", "with_data", "percent"),
    [
        ("0.6.5.11", 3.0, 1.0, False, 30),
        ("0.7.13", 3.0, 1.0, False, 30),
        ("0.8.6", 3.0, 1.0, True, 30),
        ("2.1.5", 3.0, 1.0, True, 30),
        # From 2.1.6 on a txg with zfs_dirty_data_sync_percent is waited for.
        ("2.1.6", 3.0, 1.0, True, 20),
        ("2.4.0", 3.0, 1.0, True, 20),
        ("2.4.1", 1.5, 0.75, True, 20),
    ],
)
def test_how_a_scan_gives_way_to_writers_by_release(
    release: str, scan_s: float, scrub_s: float, with_data: bool, percent: int
) -> None:
    profile = load_release(release)
    assert txg_rules(profile, "resilver").least_s == scan_s
    assert txg_rules(profile, "scrub").least_s == scrub_s
    assert txg_rules(profile, "resilver").with_data is with_data
    # A tenth of 20 GiB may be dirty.
    assert profile.busy_dirty(20 << 30) == (2 << 30) * percent / 100


def test_before_dirty_data_was_limited_a_scan_gives_way_to_none() -> None:
    assert load_release("freebsd-9.1").busy_dirty(20 << 30) == math.inf


@pytest.mark.parametrize(
    ("release", "gib"),
    # Of 32 GiB: 64 MiB a child of 60; a quarter of half of it; half of half of it; half of all but 1 GiB.
    [
        ("2.1.11", 60 / 32),
        ("2.1.12", 2),
        ("2.1.16", 2),
        ("2.2.0", 60 / 16),
        ("2.3.0", 60 / 16),
        ("2.4.4", 60 / 16),
    ],
)
def test_what_rebuilds_have_in_flight_by_release_and_memory(release: str, gib: float) -> None:
    """In two vdevs; of 8 GiB: 0.5, 1 and 1.75 GiB each (vr_bytes_inflight_max)."""
    profile = load_release(release)
    model: Any = SimpleNamespace(vdevs=[SimpleNamespace(read_leaf=range(60))] * 2)
    assert rebuild_window(model, 0, profile, 32 * GIB).limit == gib * GIB
    small = {(2, 1): 0.5, (2, 2): 1.0, (2, 3): 1.75, (2, 4): 1.75}[profile.openzfs_version[:2]]
    wanted = gib if release == "2.1.11" else small
    assert rebuild_window(model, 0, profile, 8 * GIB).limit == wanted * GIB
