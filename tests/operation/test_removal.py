"""Removal of a top-level vdev: what is copied, where it goes, and that both engines agree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.operation.test_cursors import table
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.engine.codes import SYNC_WRITE
from zsim.engine.model import NOT_REPAIRED, ClientModel
from zsim.engine.reference.plane import ReferencePlane
from zsim.operation.background.removal import (
    LAST_TXGS,
    RemovalScan,
    copies_of,
    evacuation_of,
    segments,
    with_leaves,
)
from zsim.operation.rules import scan_rules
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import whole_setup
from zsim.scan.rebuild import allocated_ranges
from zsim.scenario.model import Scenario

KIB, MIB = 1 << 10, 1 << 20


@cache
def setup(layout: str = "2*mirror2", blocks: int = 2_000, fill: float = 0.3) -> RunSetup:
    """A pool of small drives that is simulated whole."""
    stated = {"layout": layout, "fill": fill, "drive_size": "20GB", "write_cache": False}
    case = resolve(Scenario.from_dict({**stated, "release": "openzfs-2.3", "operation": "remove"}))
    model = replace(plane_model(case), scan=scan_rules(case.release, "remove"))
    whole = whole_setup(case, miniature(case, blocks=blocks).table, model)
    return replace(whole, operation="remove", records=1 << 18)


@cache
def done(layout: str = "2*mirror2") -> tuple[RunResult, RemovalScan]:
    run = Run(setup(layout))
    result = run.execute()
    assert isinstance(run.scan, RemovalScan)
    return result, run.scan


def tuned(**tunables: int) -> RunResult:
    release = setup().release.with_tunables(tunables)
    return Run(replace(setup(), release=release)).finish()


def test_each_side_goes_to_the_side_of_the_same_number() -> None:
    result, scan = done()
    moved = int(scan.evacuation.pieces.size.sum())
    read, written = result.leaves["scan_read_bytes"], result.leaves["scan_write_bytes"]
    assert read.tolist() == [moved, moved, 0, 0]
    assert written.tolist() == [0, 0, moved, moved]
    # All that is allocated, and the small holes between.
    assert scan.evacuation.bytes < moved < 1.5 * scan.evacuation.bytes


def test_sides_that_the_other_vdev_has_not_are_dropped_or_read_twice() -> None:
    read = done("mirror3+mirror2")[0].leaves["scan_read_bytes"]
    assert read[0] == read[1] > 0 == read[2]
    read = done("mirror2+mirror3")[0].leaves["scan_read_bytes"]
    assert read[0] == 2 * read[1] > 0


def test_both_engines_agree() -> None:
    small = setup(blocks=300)
    one, two = (Run(replace(small, **plane)).finish() for plane in ({}, {"plane": ReferencePlane}))
    assert one.end == two.end
    assert np.array_equal(one.records, two.records)


def test_pieces_lie_in_space_that_was_free_and_on_none_of_the_others() -> None:
    pieces = evacuation_of(setup("3*mirror2")).pieces
    assert set(pieces.vdev.tolist()) == {1, 2}
    for number in (1, 2):
        mine = pieces.vdev == number
        begin, end = allocated_ranges(setup("3*mirror2").blocks, number)
        low, high = pieces.offset[mine], pieces.offset[mine] + pieces.size[mine]
        assert (np.searchsorted(end, low, side="right") == np.searchsorted(begin, high)).all()
        # Holes that were copied are free again after a few transaction groups: pieces may share those alone.
        order = np.argsort(low)
        shared = np.maximum(0, high[order][:-1] - low[order][1:]).sum()
        assert shared < 0.2 * pieces.size.sum()
    assert abs(int(pieces.size[pieces.vdev == 1].sum()) / int(pieces.size.sum()) - 0.5) < 0.1


def test_pieces_cover_what_is_allocated_once() -> None:
    pieces = evacuation_of(setup()).pieces
    begin, end = allocated_ranges(setup().blocks, 0)
    assert (pieces.source[1:] >= (pieces.source + pieces.size)[:-1]).all()
    first = np.searchsorted(pieces.source, begin, side="right") - 1
    last = np.searchsorted(pieces.source, end) - 1
    covered = [int(pieces.size[low : high + 1].sum()) for low, high in zip(first, last, strict=True)]
    assert (np.array(covered) >= end - begin).all()


def test_what_is_copied_together() -> None:
    begin = np.array([0, 40, 140, 1000, 2600]) * KIB
    end = np.array([20, 100, 150, 2500, 2610]) * KIB
    low, high, number = segments(begin, end, 2048 * KIB, 200 * KIB, 32 * KIB)
    # Holes of 20K are spanned, one of 40K is not; 1500K are cut, at the edge of a metaslab too.
    assert number[:3].tolist() == [0, 0, 1]
    sizes = [int(high[number == each][-1] - low[number == each][0]) // KIB for each in np.unique(number)]
    assert sizes[:2] == [100, 10]
    assert max(sizes) == 200
    assert sum(sizes[2:-1]) == 1500
    assert not ((low < 2048 * KIB) & (high > 2048 * KIB)).any()


@pytest.mark.parametrize(
    ("ranges", "most", "span", "together"),
    [
        ([(1024, 3072)], 8192, 0, [0, 1]),  # one range over the edge of a metaslab
        ([(0, 2048), (2048, 2100)], 8192, 32, [0, 1]),
        ([(0, 100), (132, 140)], 8192, 32, [0, 0]),  # a hole as long as may be
        ([(0, 100), (133, 140)], 8192, 32, [0, 1]),
        ([(0, 100), (110, 200)], 200, 32, [0, 0]),  # as long together as may be
        ([(0, 100), (110, 201)], 200, 32, [0, 1]),
        ([(0, 400)], 200, 32, [0, 1]),
        ([(4096, 4100), (4110, 4120)], 8192, 32, [0, 0]),  # two metaslabs on
    ],
)
def test_a_segment_ends_with_its_metaslab_its_length_or_a_long_hole(
    ranges: list[tuple[int, int]], most: int, span: int, together: list[int]
) -> None:
    """Metaslabs of 2 MiB; all in KiB."""
    begin, end = np.array(ranges).T * KIB
    low, high, number = segments(begin, end, 2048 * KIB, most * KIB, span * KIB)
    assert number.tolist() == together
    # What is allocated is there, whole and once.
    assert int((high - low).sum()) == int((end - begin).sum())
    assert (low[1:] >= high[:-1]).all()


def test_what_lies_over_the_edge_of_a_metaslab_is_copied_in_two_pieces() -> None:
    edge = 1 << setup().metaslab_shift_of(setup().model.vdevs[0])
    blocks = table([(0, edge - 4 * KIB, 4 * KIB)], [(0, edge, 8 * KIB)], [(0, 2 * edge - 8 * KIB, 4 * KIB)])
    pieces = evacuation_of(replace(setup(), blocks=blocks)).pieces
    assert pieces.source.tolist() == [edge - 4 * KIB, edge, 2 * edge - 8 * KIB]
    assert pieces.size.tolist() == [4 * KIB, 8 * KIB, 4 * KIB]


def test_segments_are_whole_sectors_and_one_at_least() -> None:
    for most in (1, 64 * KIB + 1):
        release = setup().release.with_tunables({"zfs_remove_max_segment": most})
        pieces = evacuation_of(replace(setup(), release=release)).pieces
        assert pieces.size.max() == max(4 * KIB, most // (4 * KIB) * 4 * KIB)
        assert (pieces.source % (4 * KIB) == 0).all()


@pytest.mark.parametrize("leaving", [0, 1])
def test_a_vdev_that_is_not_the_first_may_leave_as_well(leaving: int) -> None:
    """Each of its pieces is read from the side of the same number and written to both sides of the other."""
    given = setup()
    evacuation = evacuation_of(given, vdev=leaving)
    model = with_leaves(given, leaving).model
    copies = copies_of(evacuation, model)
    count = len(evacuation.pieces.size)
    assert len(copies) == 2 * count
    assert set(evacuation.pieces.vdev.tolist()) == {1 - leaving}
    read, written = copies.vdev - len(given.model.vdevs), copies.copy_vdev - len(given.model.vdevs)
    assert set(zip(read.tolist(), written.tolist(), strict=True)) == {
        (2 * leaving + side, 2 * (1 - leaving) + side) for side in (0, 1)
    }
    assert np.array_equal(copies.psize[::2], evacuation.pieces.size)
    # The maps of single leaves read where data leaves, and write elsewhere.
    for leaf, map_of in enumerate(model.vdevs[len(given.model.vdevs) :]):
        leaves = leaf // 2 == leaving
        assert (map_of.read_leaf, map_of.write_leaf) == (
            ((leaf,), (NOT_REPAIRED,)) if leaves else ((NOT_REPAIRED,), (leaf,))
        )


@pytest.mark.parametrize(("missing", "source"), [(0, 1), (1, 0)])
def test_a_side_that_cannot_be_read_is_copied_from_the_other(missing: int, source: int) -> None:
    given = setup()
    sides = tuple(-1 if side == missing else side for side in (0, 1))
    model = with_leaves(given).model
    broken = replace(model, vdevs=(replace(model.vdevs[0], read_leaf=sides), *model.vdevs[1:]))
    copies = copies_of(evacuation_of(given), broken)
    assert set((copies.vdev - len(given.model.vdevs)).tolist()) == {source}
    assert set((copies.copy_vdev - len(given.model.vdevs)).tolist()) == {2, 3}


def test_the_last_txgs_end_after_all_is_copied() -> None:
    """One when all is copied, three for frees, configuration and labels (vdev_remove_complete)."""
    result, _ = done()
    [(_, _, copied_s)] = result.phases
    labels = result.records[(result.records["klass"] == SYNC_WRITE) & (result.records["done"] > copied_s)]
    assert len(labels) >= LAST_TXGS * 4 * len(setup().model.leaves)
    assert result.end > copied_s
    assert result.curve[-1][1] == result.issued_bytes


def test_tunables_of_removals() -> None:
    assert tuned(vdev_removal_max_span=0).leaves["scan_write_bytes"].sum() == 2 * done()[1].evacuation.bytes
    assert tuned(zfs_remove_max_segment=64 * KIB).issued_blocks > 2 * done()[0].issued_blocks
    assert tuned(zfs_vdev_removal_max_active=1).span != done()[0].span


def test_nothing_new_is_written_to_the_vdev_that_leaves() -> None:
    result, _ = done()
    records = result.records
    written = records[(records["write"] == 1) & (records["leaf"] < 2)]
    ends = setup().model.label_bytes
    # Labels alone.
    assert (written["offset"] < ends).sum() + (written["offset"] > 19e9).sum() == len(written)


def test_clients_go_on() -> None:
    group = ClientModel(count=4, think_s=0.02, seed=1, kind="random-read")
    busy = Run(replace(setup(), model=replace(setup().model, clients=(group,)))).finish()
    assert sum(number for number, _ in busy.clients) > 50
    assert busy.end > done()[0].end


def test_no_room() -> None:
    """The metaslabs of a miniature that is 70 % full: nothing else is free."""
    stated = {"layout": "2*mirror2", "fill": 0.7, "drive_size": "4TB", "release": "openzfs-2.3"}
    case = resolve(Scenario.from_dict({**stated, "operation": "remove"}))
    pool = miniature(case, blocks=1_000)
    whole = whole_setup(case, pool.table, plane_model(case))
    with pytest.raises(InputError, match="no room"):
        evacuation_of(whole, pool.levels, case.allocator)


def test_its_txgs_have_no_new_configuration() -> None:
    """Whoever began it has waited for that txg before: the labels' lists of 112 KiB are not written."""
    records = done()[0].records
    labels = records[(records["write"] == 1) & (records["scan"] == 0) & (records["klass"] == SYNC_WRITE)]
    assert len(labels) > 0
    assert labels["length"].max() < 112 * KIB
