"""RAID-Z expansion: what is moved, how far it may go, and that both engines agree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.engine.codes import SYNC_WRITE
from zsim.engine.model import NOT_REPAIRED, ClientModel
from zsim.engine.reference.plane import ReferencePlane
from zsim.operation.background.copying import with_clients
from zsim.operation.background.expansion import (
    SCRATCH_BYTES,
    ExpansionWork,
    Reflow,
    ReflowScan,
    reflow_of,
    with_maps,
)
from zsim.operation.rules import scan_rules
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.operation.txg import vdev_asize
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import whole_setup
from zsim.scan.items import plain_items
from zsim.scenario.model import Scenario

KIB, MIB = 1 << 10, 1 << 20
OLD, NEW = 3, 4


@cache
def setup(blocks: int = 2_000, release: str = "openzfs-2.3") -> RunSetup:
    """A raidz1 of three small drives, and a fourth."""
    stated = {"layout": "raidz1x3", "fill": 0.5, "drive_size": "20GB", "write_cache": False}
    case = resolve(Scenario.from_dict({**stated, "release": release}))
    model = plane_model(case)
    healthy = replace(model.vdevs[0], read_leaf=(0, 1, 2), write_leaf=(NOT_REPAIRED,) * OLD)
    model = replace(model, vdevs=(healthy,), scan=scan_rules(case.release, "expand"))
    whole = whole_setup(case, miniature(case, blocks=blocks).table, model)
    return replace(whole, operation="expand", records=1 << 18)


@cache
def done(blocks: int = 2_000) -> tuple[RunResult, ReflowScan]:
    run = Run(setup(blocks))
    result = run.execute()
    assert isinstance(run.scan, ReflowScan)
    return result, run.scan


def test_an_expansion_has_a_map_of_moved_blocks_and_two_without_parity() -> None:
    """Blocks keep their data and parity columns at the new width; sectors go one by one over all children."""
    (before, moved, plain, wide) = with_maps(setup()).model.vdevs
    assert before == setup().model.vdevs[0]
    assert (moved.parity, moved.data, moved.grown, moved.children) == (1, OLD - 1, 1, NEW)
    assert (moved.read_leaf, set(moved.write_leaf)) == ((0, 1, 2, 3), {NOT_REPAIRED})
    assert (plain.parity, plain.data, plain.read_leaf) == (0, OLD, (0, 1, 2))
    assert (wide.parity, wide.data, wide.write_leaf) == (0, NEW, (0, 1, 2, 3))
    again = replace(setup().model, vdevs=(replace(before, grown=1),))
    assert with_maps(replace(setup(), model=again)).model.vdevs[1].grown == 2


@pytest.mark.parametrize(("position", "reached"), [(0, 5), (1, 10), (2, 20), (3, 30), (4, 5)])
def test_copying_has_reached_the_end_of_the_last_move_that_is_done(position: int, reached: int) -> None:
    scan: Any = object.__new__(ReflowScan)
    scan.ends, scan.reached = np.array([10, 20, 30]), 5
    scan.control = SimpleNamespace(plane=SimpleNamespace(positions=lambda: (position,)))
    scan._reach()
    assert scan.reached == reached


def test_what_a_txg_writes_where_the_copying_has_passed_is_written_at_the_new_width() -> None:
    scan: Any = object.__new__(ReflowScan)
    scan.reflow, scan.reached, scan.moved = SimpleNamespace(vdev=1), 100, 7
    places = [scan._place(vdev, offset) for vdev, offset in ((1, 99), (1, 100), (0, 99), (2, 0))]
    assert places == [(7, 99), (1, 100), (0, 99), (2, 0)]


@pytest.mark.parametrize(("most", "size"), [(100, 4), (5_000, 4), (10_000, 8), (12_288, 12), (1 << 40, 28)])
def test_a_move_is_of_whole_sectors_and_ends_with_its_range_and_the_limit(most: int, size: int) -> None:
    """Of 28K, 12K that are free and 28K, up to a limit of 60K; one sector at the least [K]."""
    scan: Any = object.__new__(ReflowScan)
    begin, end = np.array([0, 40]) * KIB, np.array([28, 68]) * KIB
    scan.reflow = Reflow(vdev=0, begin=begin, end=end, children=3, ashift=12)
    scan.pool = SimpleNamespace(release=SimpleNamespace(tunables={"raidz_expand_max_copy_bytes": most}))
    scan.range, scan.at = 0, 0
    moves = (scan._moves(60 * KIB) // KIB).tolist()
    wanted = [[at, min(at + size, stop)] for first, stop in ((0, 28), (40, 60))
              for at in range(first, stop, size)]  # fmt: skip
    assert moves == wanted


def test_every_allocated_sector_is_read_once_and_written_once() -> None:
    result, scan = done()
    moved = scan.reflow.bytes
    once = scan.reflow.begin < scan.reflow.scratch_bytes
    first = int((np.minimum(scan.reflow.end, scan.reflow.scratch_bytes) - scan.reflow.begin)[once].sum())
    read, written = result.leaves["scan_read_bytes"], result.leaves["scan_write_bytes"]
    # The first part is moved whole, allocated or not, to the boot areas and from there on.
    assert read[:OLD].sum() >= moved - first + scan.reflow.scratch_bytes
    assert written.sum() == moved - first + 2 * scan.reflow.scratch_bytes
    assert read[NEW - 1] == 0
    assert np.ptp(written) <= 0.01 * written.mean()


def test_both_engines_agree() -> None:
    small = setup(300)
    one, two = (Run(replace(small, **plane)).finish() for plane in ({}, {"plane": ReferencePlane}))
    assert one.end == two.end
    assert np.array_equal(one.records, two.records)


def test_nothing_is_overwritten_before_the_disks_say_that_it_has_moved() -> None:
    """A write begins only when all that lies where it goes has been read, in a txg before."""
    result, _ = done()
    label = setup().model.label_bytes
    scan = result.records[(result.records["scan"] == 1) & (result.records["offset"] >= label)]
    for leaf in range(OLD):
        mine = scan[scan["leaf"] == leaf]
        reads, writes = mine[mine["write"] == 0], mine[mine["write"] == 1]
        order = np.argsort(reads["offset"])
        ends = np.maximum.accumulate((reads["offset"] + reads["length"])[order])
        for write in writes[:: max(1, len(writes) // 200)]:
            before = reads[reads["done"] <= write["started"]]
            held = ends[np.searchsorted(reads["offset"][order], write["offset"] + write["length"]) - 1]
            assert before["offset"].max() + SCRATCH_BYTES >= min(held, write["offset"] + write["length"])


def test_how_far_it_may_go() -> None:
    reflow = Reflow(0, np.array([0]), np.array([1 << 40]), children=4, ashift=12)
    assert reflow.scratch_bytes == 5 * 3584 * KIB
    # As in a run of 2.3.9: the second read of each drive is of 1,142,784 bytes, a sector less than a quarter.
    more = reflow.limit(reflow.scratch_bytes) - reflow.scratch_bytes
    assert more == 4 * (1_142_784 + 4096) - 4 * 4096
    synced, syncs = reflow.scratch_bytes, 0
    while synced < 1 << 40:
        synced, syncs = reflow.limit(synced), syncs + 1
    assert syncs == pytest.approx(np.log((1 << 40) / reflow.scratch_bytes) / np.log(1.25), abs=1.5)


def test_it_waits_for_txgs_where_it_starts_and_not_far_from_there() -> None:
    result, scan = done()
    far = ExpansionWork(with_maps(setup()), reflow_of(setup()), freely=True)
    run = Run(setup(), work=far)
    freely = run.execute()
    assert scan.starting_txgs > 10
    assert isinstance(run.scan, ReflowScan)
    assert run.scan.starting_txgs == 0
    assert freely.txgs < result.txgs
    assert freely.end < result.end


def test_a_smaller_limit_of_what_is_outstanding_makes_it_slower() -> None:
    release = setup().release.with_tunables({"raidz_expand_max_copy_bytes": MIB})
    narrow = Run(replace(setup(), release=release)).finish()
    assert narrow.end > 1.05 * done()[0].end


def test_the_class_of_removals_holds_it() -> None:
    release = setup().release.with_tunables({"zfs_vdev_removal_max_active": 1})
    assert Run(replace(setup(), release=release)).finish().end != done()[0].end


def test_the_last_sector_of_every_metaslab_moves_too() -> None:
    found, shift = reflow_of(setup()), setup().metaslab_shift_of(setup().model.vdevs[0])
    covered = np.zeros(int(found.end[-1] >> shift) + 1, bool)
    ends = found.end[found.end % (1 << shift) == 0] >> shift
    covered[ends] = True
    assert covered[1:].all()
    assert (found.begin[1:] >= found.end[:-1]).all()


def test_what_moves_is_what_is_allocated_and_the_last_sector_of_every_metaslab() -> None:
    found, blocks, model = reflow_of(setup()), setup().blocks, setup().model
    sector, shift = 4096, setup().metaslab_shift_of(model.vdevs[0])
    moved = np.zeros(vdev_asize(model, model.vdevs[0]) // sector, bool)
    for begin, size in zip(blocks.dva_offset.ravel(), blocks.dva_asize.ravel(), strict=True):
        moved[begin // sector : (begin + size) // sector] = True
    slabs = len(moved) * sector >> shift
    moved[np.arange(1, slabs + 1) * (1 << shift) // sector - 1] = True
    counted = np.zeros(len(moved), int)
    for begin, end in zip(found.begin, found.end, strict=True):
        counted[begin // sector : end // sector] += 1
        # No range spans two metaslabs.
        assert begin >> shift == (end - 1) >> shift
    assert np.array_equal(counted, moved.astype(int))


def test_an_empty_vdev_moves_the_last_sectors_alone() -> None:
    empty = replace(setup(), blocks=setup().blocks.take(np.zeros(0, np.int64)))
    found, shift = reflow_of(empty), empty.metaslab_shift_of(empty.model.vdevs[0])
    slabs = vdev_asize(empty.model, empty.model.vdevs[0]) >> shift
    assert found.end.tolist() == [number << shift for number in range(1, slabs + 1)]
    assert (found.end - found.begin == 4096).all()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_only_where_there_are_clients_the_blocks_of_the_pool_stand_behind_what_is_moved(count: int) -> None:
    given = setup(300)
    group = ClientModel(count=count, think_s=0.1, seed=1)
    model = replace(given.model, clients=(group,) if count else ())
    copies = plain_items(*(np.arange(7) for _ in range(3)))
    items, readable, log = with_clients(copies, replace(given, model=model), given.model.vdevs)
    data = np.flatnonzero(~given.blocks.is_metadata)
    assert readable.tolist() == ((data + 7).tolist() if count else [])
    assert len(items) == 7 + (len(given.blocks.psize) if count else 0)
    assert len(log) == 0


@pytest.mark.parametrize("kind", ["random-read", "sync-write"])
def test_clients_read_and_write_blocks_not_what_is_moved(kind: str) -> None:
    group = ClientModel(count=4, think_s=0.02, seed=1, kind=kind)  # type: ignore[arg-type]
    busy = Run(replace(setup(), model=replace(setup().model, clients=(group,)))).finish()
    quiet = done()[0]
    answered = sum(number for number, _ in busy.clients)
    name = "read_bytes" if kind == "random-read" else "write_bytes"
    more = float(busy.leaves[name].sum() - quiet.leaves[name].sum())
    largest = int(setup().blocks.psize.max())
    assert answered > 50
    # With parity where it is written, and what is still under way at the end.
    assert 0 < more < 2 * largest * (answered + group.count) + 4 * MIB


def test_its_txgs_have_no_new_configuration() -> None:
    """Whoever began it has waited for that txg before: the labels' lists of 112 KiB are not written."""
    records = done()[0].records
    labels = records[(records["write"] == 1) & (records["scan"] == 0) & (records["klass"] == SYNC_WRITE)]
    assert len(labels) > 0
    assert labels["length"].max() < 112 * KIB
