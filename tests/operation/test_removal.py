"""Removal of a top-level vdev: what is copied, where it goes, and that both engines agree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.engine.reference.plane import ReferencePlane
from zsim.operation.background.removal import (
    OUTSTANDING,
    RemovalScan,
    evacuation_of,
    segments,
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


def test_each_side_is_read_and_written_to_the_side_of_the_same_number() -> None:
    result, scan = done()
    moved = int(scan.evacuation.pieces.size.sum())
    read, written = result.leaves["scan_read_bytes"], result.leaves["scan_write_bytes"]
    assert read.tolist() == [moved, moved, 0, 0]
    assert written.tolist() == [0, 0, moved, moved]
    assert moved >= scan.evacuation.bytes
