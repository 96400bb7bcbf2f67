"""What real drives have beyond mechanics, worked out by hand on both engines, and what a user sees of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.cli.main import main
from zsim.drives.catalogue import load_drive
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.physics.mechanics import extras_of
from zsim.engine.codes import EXIT_GROUP, EXIT_STALLED, SYNC_READ, SYNC_WRITE
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.model import LeafModel, PlaneModel, QueueRules, ScanRules, VdevModel
from zsim.engine.reference.plane import ReferencePlane
from zsim.engine.single_drive import run_alone
from zsim.scan.items import ScanItems

ENGINES = pytest.mark.parametrize("engine", [CompiledPlane, ReferencePlane])
MIRROR = VdevModel(kind="mirror", parity=0, ashift=9, read_leaf=(0, -1), write_leaf=(-1, 1))
MB = 1_000_000
DISK = DriveParameters(
    capacity_bytes=1000 * MB,
    revolution_s=0.01,
    zone_rates=(100e6,),
    interface_rate=1000e6,
    read_pass_under_bytes=MB,
)
FLASH = DriveParameters(
    capacity_bytes=1000 * MB,
    kind="flash",
    revolution_s=0.0,
    parallel_commands=4,
    flash_latency_min_s=0.001,
    flash_latency_max_s=0.001,
    flash_read_rate=100e6,
    flash_write_rate=100e6,
    rotating=False,
)


def no_items() -> ScanItems:
    none = np.zeros(0, np.int64)
    return ScanItems(
        vdev=none,
        offset=none,
        psize=none,
        level0=np.zeros(0, bool),
        copies=none,
        copy_count=none,
        copy_vdev=none,
        copy_offset=none,
        prefetch_first=none,
        prefetch_next=none,
        in_memory=np.zeros(0, bool),
    )


def plane_of(engine: Any, drive: DriveParameters) -> Any:
    rules = QueueRules(non_interactive=False, aggregation_limit=0, aggregation_limit_flash=0)
    leaves = (LeafModel(drive=drive), LeafModel(drive=drive))
    model = PlaneModel(leaves=leaves, vdevs=(MIRROR,), scan=ScanRules(), queue=rules)
    return engine(model, no_items(), records=100)


def run(plane: Any, write: bool, *places: tuple[int, int]) -> float:
    """Run I/Os at (offset, length) all at once; return how long they take [s]."""
    begin = plane.now
    klass = SYNC_WRITE if write else SYNC_READ
    plane.submit_group(np.array([(0, klass, int(write), at, length) for at, length in places], np.int64))
    assert plane.advance(np.inf) == EXIT_GROUP
    return float(plane.now - begin)


@ENGINES
def test_what_was_read_ahead_while_idle_comes_from_the_buffer(engine: Any) -> None:
    plane = plane_of(engine, replace(DISK, read_segments=1))
    run(plane, False, (0, 100_000))
    plane.advance(plane.now + 0.1)
    assert run(plane, False, (100_000, 100_000)) == pytest.approx(100_000 / 1000e6)
    assert run(plane, False, (1_000_000, 50_000)) == pytest.approx(50_000 / 1000e6)
    # Beyond the segment the medium is needed, and some of a turn.
    assert run(plane, False, (1_200_000, 100_000)) > 100_000 / 100e6


@ENGINES
def test_without_segments_nothing_is_kept(engine: Any) -> None:
    plane = plane_of(engine, DISK)
    run(plane, False, (0, 100_000))
    plane.advance(plane.now + 0.1)
    assert run(plane, False, (100_000, 100_000)) >= 100_000 / 100e6


@ENGINES
def test_latencies_overlap_and_data_share_the_rate(engine: Any) -> None:
    shared = plane_of(engine, replace(FLASH, flash_shares_rate=True))
    places = [(number * MB, 100_000) for number in range(4)]
    assert run(shared, False, *places) == pytest.approx(0.001 + 4 * 0.001)
    alone = plane_of(engine, FLASH)
    assert run(alone, False, *places) == pytest.approx(0.001 + 0.001)


@ENGINES
def test_writes_beyond_the_fast_region_are_slow_until_it_has_rested(engine: Any) -> None:
    drive = replace(FLASH, flash_latency_min_s=0.0, flash_latency_max_s=0.0, flash_write_latency_s=0.0)
    plane = plane_of(engine, replace(drive, slc_cache_bytes=2 * MB, slc_rate_after=10e6))
    assert run(plane, True, (0, MB)) == pytest.approx(0.01)
    assert run(plane, True, (MB, MB)) == pytest.approx(0.01)
    assert run(plane, True, (2 * MB, MB)) == pytest.approx(0.1)
    plane.advance(plane.now + 0.2)
    assert run(plane, True, (3 * MB, MB)) == pytest.approx(0.01)


@ENGINES
def test_a_write_may_have_another_latency_than_a_read(engine: Any) -> None:
    plane = plane_of(engine, replace(FLASH, flash_write_latency_s=0.003))
    assert run(plane, False, (0, 100_000)) == pytest.approx(0.002)
    assert run(plane, True, (0, 100_000)) == pytest.approx(0.004)


SHINGLED = replace(DISK, smr_band_bytes=10 * MB, smr_cache_bytes=2 * MB, smr_cached_writes=100)


@ENGINES
def test_a_full_persistent_cache_makes_a_write_wait_for_a_band(engine: Any) -> None:
    plane = plane_of(engine, SHINGLED)
    places = [(number * 50 * MB + 4096, MB) for number in range(1, 4)]
    _, second, third = (run(plane, True, place) for place in places)
    assert second == pytest.approx(MB / 100e6)
    # A band of 10 MB is read and written again at 100 MB/s.
    assert third > 0.2 > second
    assert plane.leaves["cleaning"][0] == pytest.approx(third, rel=0.15)


@ENGINES
def test_an_idle_shingled_drive_empties_its_cache(engine: Any) -> None:
    plane = plane_of(engine, SHINGLED)
    for number in range(1, 3):
        run(plane, True, (number * 50 * MB + 4096, MB))
    plane.advance(plane.now + 10.0)
    assert run(plane, True, (400 * MB + 4096, MB)) < 0.05


@ENGINES
def test_the_engine_serves_shingled_writes_as_the_drive_alone_does(engine: Any) -> None:
    drive = load_drive("st8000as0002").parameters()
    drive = replace(drive, write_overhead_s=0.0, write_cache_bytes=0, smr_cached_writes=10)
    places = np.arange(1, 31, dtype=np.int64) * 3_000_000_000 + 8192
    plane = plane_of(engine, drive)
    took = [run(plane, True, (int(place), 4096)) for place in places]
    lengths, writes = np.full(len(places), 4096, np.int64), np.ones(len(places), np.bool_)
    alone = run_alone(drive, places + plane.model.label_bytes, lengths, writes)
    assert took == pytest.approx(alone.service.tolist(), rel=1e-9)
    assert alone.cleaning > 0.9 * sum(took)
    assert 1.0 / np.mean(took[10:]) < 10.0


@ENGINES
def test_a_flush_waits_until_the_cache_is_empty(engine: Any) -> None:
    plane = plane_of(engine, replace(DISK, write_cache_bytes=4 * MB, flush_each_txg=True))
    answered = run(plane, True, (0, MB))
    plane.flush()
    assert plane.advance(np.inf) == EXIT_GROUP
    assert plane.now > 5 * answered
    assert plane.leaves["cached"].tolist() == [0, 0]
    plane.flush()
    assert plane.advance(np.inf) == EXIT_GROUP


@ENGINES
def test_cached_writes_wait_for_reads_where_the_drive_is_told_so(engine: Any) -> None:
    ends = {}
    for policy in ("queue", "idle"):
        drive = replace(
            DISK, write_cache_bytes=100 * MB, queue_policy="c-look", destage=policy, seek_short_a_s=0.001
        )
        plane = plane_of(engine, drive)
        rows = [(0, SYNC_WRITE, 1, number * MB, 500_000) for number in range(8)]
        rows += [(0, SYNC_READ, 0, number * MB, 100_000) for number in range(500, 505)]
        plane.submit_group(np.array(rows, np.int64))
        assert plane.advance(np.inf) == EXIT_GROUP
        records = plane.records
        ends[policy] = float(records["done"][records["write"] == 0].max())
        assert plane.advance(np.inf) == EXIT_STALLED
    assert ends["idle"] < ends["queue"]


def test_a_plain_disk_goes_the_short_way() -> None:
    assert extras_of(DISK) == 0
    assert extras_of(load_drive("hd103uj").parameters()) > 0


@pytest.mark.slow
def test_a_shingled_new_drive_takes_as_long_as_one_did(capsys: Any) -> None:
    """15:34:45 onto a shingled drive of 6 TB; 6:49:36 onto one of its own kind, January 2023.

    Nobody says which drives it had; its scrub of 5:36:58, 81 MB/s, is that of 5400 and not of 7200 rpm.
    """
    words = ["predict", "--layout", "mirror2", "--alloc", "1638272325386", "--drive-size", "2000398893056"]
    words += ["--drive", "generic-5400rpm-cmr", "--frag", "5%", "--json"]
    onto_shingled = ["--new-drive", "generic-5400rpm-smr", "--new-drive-size", "6001175085056"]
    answers = []
    for more in (onto_shingled, [], ["--operation", "scrub"]):
        main([*words, *more])
        answers.append(json.loads(capsys.readouterr().out)["resilver_s"])
    shingled, plain, scrub = answers
    assert shingled["p10"] < 56085 < shingled["p90"]
    assert plain["p10"] < 24576 < plain["p90"]
    assert scrub["p10"] < 20218 < scrub["p90"]
    assert shingled["p90"] / shingled["p10"] > plain["p90"] / plain["p10"]
