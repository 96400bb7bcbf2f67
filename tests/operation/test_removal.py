"""Removal of a top-level vdev: what is copied, where it goes, and that both engines agree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.engine.model import ClientModel
from zsim.engine.reference.plane import ReferencePlane
from zsim.operation.background.removal import RemovalScan, evacuation_of, segments
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


def test_tunables_of_removals() -> None:
    assert tuned(vdev_removal_max_span=0).leaves["scan_write_bytes"].sum() == 2 * done()[1].evacuation.bytes
    assert tuned(zfs_remove_max_segment=64 * KIB).issued_blocks > 2 * done()[0].issued_blocks
    assert tuned(zfs_vdev_removal_max_active=1).end != done()[0].end


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
