"""Drives that stutter, are slow for spells or have bad sectors, and children that sit out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from zsim.base.model_data import validation_directory
from zsim.drives.models.health import DriveHealth
from zsim.drives.models.slowed import slowed
from zsim.drives.physics.ailing import ailing_time, health_table
from zsim.engine.leaf_rules import wait_bin, wait_of_bin
from zsim.engine.model import SitOutRules
from zsim.engine.sit_out import outlying
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.validation.formats.zfs_config import EmulatedRun, setup_of
from zsim.validation.formats.zfs_runs import given_population

SLOW, SICK, SEEDS = "zfs-slow", 3, 3
MS, MIB = 1_000_000, 1 << 20
ERC_S = 7.0


def setup(name: str, seed: int = 1) -> RunSetup:
    path = validation_directory() / SLOW / name
    config, result = (json.loads((path / file).read_text()) for file in ("config.json", "result.json"))
    return setup_of(EmulatedRun(config, result), given_population(path), seed)


def seen(name: str) -> float:
    return float(json.loads((validation_directory() / SLOW / name / "result.json").read_text())["resilver_s"])


def sound() -> RunSetup:
    """The run of 2.4.4 with the leaf that was slow as fast as the others."""
    slow = setup("v244-slow3x-raidz2x6-s1")
    leaves = list(slow.model.leaves)
    leaves[SICK] = replace(leaves[SICK], drive=slowed(leaves[SICK].drive, 1 / 3))
    return replace(slow, model=replace(slow.model, leaves=tuple(leaves)))


def with_leaf(before: RunSetup, *, factor: float = 1.0, health: DriveHealth | None = None) -> RunSetup:
    leaves = list(before.model.leaves)
    leaf = leaves[SICK]
    leaves[SICK] = replace(leaf, drive=slowed(leaf.drive, factor), health=health or leaf.health)
    return replace(before, model=replace(before.model, leaves=tuple(leaves)))


def with_vdev(before: RunSetup, **changes: object) -> RunSetup:
    vdevs = tuple(replace(vdev, **changes) for vdev in before.model.vdevs)  # type: ignore[arg-type]
    return replace(before, model=replace(before.model, vdevs=vdevs))


def offline(before: RunSetup) -> RunSetup:
    vdev = before.model.vdevs[0]
    read = tuple(-1 if leaf == SICK else leaf for leaf in vdev.read_leaf)
    return with_vdev(before, read_leaf=read)


def ran(of: RunSetup) -> tuple[RunResult, Run]:
    run = Run(of)
    return run.execute(), run


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("slow3x-raidz2x6-s1", 1),
        ("v244-slow3x-raidz2x6-s1", 1),
        ("v244-slow3x-sitout-raidz2x6-s1", 1),
        ("tail1pc200-raidz2x6-s1", 5),
        ("v244-tail1pc200-raidz2x6-s1", 5),
        ("v244-tail1pc200-autosit-raidz2x6-s1", 5),
    ],
)
def test_real_resilvers_past_a_slow_drive(name: str, seeds: int) -> None:
    times = [ran(setup(name, seed))[0].end for seed in range(1, seeds + 1)]
    assert np.mean(times) == pytest.approx(seen(name), rel=0.08)


def test_autosit_ends_the_wait_for_a_leaf_three_times_slower() -> None:
    kept, sat = setup("v244-slow3x-raidz2x6-s1"), setup("v244-slow3x-sitout-raidz2x6-s1")
    middle, run = ran(with_vdev(kept, autosit=SitOutRules()))
    assert run.plane.sat_out == [(0, 0, 0, 1, 0, 0)]
    assert ran(sat)[0].end < middle.end < ran(kept)[0].end
    # Real 2.4.4 had it sit out about 16 s after the attach, and took 16.9 s from the first visit.
    assert middle.end == pytest.approx(16.9, rel=0.12)


def test_autosit_never_fires_for_a_leaf_that_stutters() -> None:
    for seed in range(1, SEEDS + 1):
        assert ran(setup("v244-tail1pc200-autosit-raidz2x6-s1", seed))[1].plane.sat_out == [(0,) * 6]


def test_autosit_does_not_help_where_no_parity_is_left() -> None:
    kept = offline_first(setup("v244-slow3x-raidz2x6-s1"))
    found, run = ran(with_vdev(kept, autosit=SitOutRules()))
    assert run.plane.sat_out == [(0,) * 6]
    assert found.end == ran(kept)[0].end


def offline_first(before: RunSetup) -> RunSetup:
    """The same with another child missing, so that every column is needed."""
    vdev = before.model.vdevs[0]
    return with_vdev(before, read_leaf=(vdev.read_leaf[0], -1, *vdev.read_leaf[2:]))


def test_one_source_at_a_tenth_of_the_speed_sets_the_pace() -> None:
    slow, run = ran(with_leaf(sound(), factor=10.0))
    busy = run.plane.leaves["busy"][SICK] / slow.end
    healthy = ran(sound())[0]
    # Nearly all of the time is that drive's own: about ten times as long as before, for its commands are as
    # many or more (real runs past a leaf three times slower: reads half as large).
    assert busy > 0.9
    assert 10.0 * healthy.leaves["busy"][SICK] < slow.end < 12.0 * healthy.end


def test_taking_the_slow_drive_offline_is_faster_than_keeping_it() -> None:
    slow = with_leaf(sound(), factor=3.0)
    assert ran(offline(slow))[0].end < 0.7 * ran(slow)[0].end


def scattered(count: int, span: int) -> tuple[int, ...]:
    return tuple(4 * MIB + place * (span // count) // 4096 * 4096 for place in range(count))


def test_bad_sectors_without_redundancy_cost_two_recoveries_each() -> None:
    bare = offline_first(sound())
    health = DriveHealth(bad_sectors=scattered(200, 512 * MIB), recovery_s=2 * ERC_S)
    found, run = ran(with_leaf(bare, health=health))
    errors = int(run.plane.health["errors"][SICK])
    assert 20 < errors <= 200
    assert found.end - ran(bare)[0].end == pytest.approx(errors * 2 * ERC_S, rel=0.02)


def test_ten_reports_in_ten_minutes_fault_a_source_that_is_not_needed() -> None:
    """Each read that fails is reported for the aggregate and for each I/O in it: ten are a few reads."""
    health = DriveHealth(bad_sectors=scattered(200, 512 * MIB), recovery_s=ERC_S, fault_after=10)
    found, run = ran(with_leaf(sound(), health=health))
    state = run.plane.health[SICK]
    assert 1 <= state["errors"] < 10 <= state["reported"]
    assert found.end < ran(sound())[0].end + 11 * ERC_S


def test_a_sector_that_was_rewritten_reads_well() -> None:
    table, bad = health_table([DriveHealth(bad_sectors=(8192,), recovery_s=1.0)])
    failures = np.zeros(16)
    times = [
        ailing_time(table[0], bad, failures, float(n), 4096, 8192, False, 1, 0.0, 0.01) for n in range(2)
    ]
    assert times == [pytest.approx(1.01), pytest.approx(0.01)]


def test_slow_spells_last_and_return_as_stated() -> None:
    table, bad = health_table([DriveHealth(spell_factor=4.0, spell_s=2.0, between_s=6.0, seed=5)])
    failures, moments = np.zeros(16), np.arange(0.0, 40_000.0, 0.5)
    times = [ailing_time(table[0], bad, failures, at, 0, 4096, False, 1, 0.0, 1.0) for at in moments]
    assert np.mean(np.array(times) > 1.0) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(
    ("latencies", "expected"),
    [
        ([0, MS, MS, MS, MS, 13 * MS], 0),
        ([0, MS, MS, MS, MS, 14 * MS], 2),
        ([0, MS, MS, MS, MS, 99 * MS], 5),
        ([MS] * 6, 0),
    ],
)
def test_outliers_lie_beyond_fifty_interquartile_ranges(latencies: list[int], expected: int) -> None:
    assert outlying(np.array(latencies), len(latencies), 50) == expected


@pytest.mark.parametrize("seconds", [1e-6, 3.3e-5, 0.0123, 0.5, 7.0, 4000.0])
def test_a_bin_of_waits_is_narrow(seconds: float) -> None:
    assert wait_of_bin(wait_bin(seconds)) == pytest.approx(seconds, rel=1 / 32, abs=1e-6)
