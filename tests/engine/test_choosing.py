"""A drive's choice among what it holds (bounds of times, zones), and a mirror's among its sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.test_reference import ENGINES, FLASH, MIRROR, far_apart, issue_all, mirror_model
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.physics.bounds import LANES, bearing_of, reach_bounds
from zsim.drives.physics.mechanics import (
    drive_table,
    reach_time,
    track_angle,
    zone_at,
    zone_of,
    zone_table,
)
from zsim.engine.codes import (
    EXIT_DRAINED,
)
from zsim.engine.model import (
    LeafModel,
    QueueRules,
    VdevModel,
)
from zsim.scan.items import ScanItems
from zsim.vdevs.mirror import BY_OFFSET, BY_PENDING

from .strategies import DRIVE, MIB

DRIVES = st.builds(DriveParameters, **DRIVE)
ROOMY = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=150)
SHARES = st.lists(st.floats(0.0, 0.999), min_size=LANES, max_size=LANES)


@settings(ROOMY)
@given(DRIVES, SHARES, st.floats(0.0, 0.999), st.floats(0.0, 1e7), st.booleans(), st.booleans())
def test_no_bound_is_above_the_time_and_few_are_far_below(
    drive: DriveParameters, shares: list[float], head_share: float, at: float, near: bool, write: bool
) -> None:
    table, rates = drive_table([drive])
    record, sector = table[0], drive.logical_sector_bytes
    span = min(drive.capacity_bytes, 1 << 24) if near else drive.capacity_bytes
    offsets = [int(share * span) // sector * sector for share in shares]
    head = int(head_share * span) // sector * sector
    zones = [zone_of(record, offset) for offset in offsets]
    angles = [track_angle(record, rates[0, zone], each) for zone, each in zip(zones, offsets, strict=True)]
    places = np.array(offsets, np.int64) >> int(record["unit_bits"])
    bearings = np.array([bearing_of(record, angle, write) for angle in angles], np.float32)
    bounds = np.full(LANES, -1.0, np.float32)
    reach_bounds(record, places.astype(np.int32), bearings, LANES, head, at, bounds)
    overhead = drive.write_overhead_s if write else drive.read_overhead_s
    begin = at + (0.0 if drive.overhead_overlaps else overhead)
    times = [
        reach_time(record, rates[0, zone], angle, head, begin, offset, write, np.inf)
        for zone, angle, offset in zip(zones, angles, offsets, strict=True)
    ]
    assert (bounds <= np.array(times) * (1.0 + 1e-6)).all()
    if not near:
        # Close, but where the wait is next to none, and at the knee of a curve whose pieces do not meet.
        close = np.array(times) - bounds < 1e-3 * drive.revolution_s
        assert close.sum() >= LANES // 2


@settings(ROOMY)
@given(DRIVES, st.floats(0.0, 1.0))
def test_the_zone_of_the_table_is_the_one_computed(drive: DriveParameters, share: float) -> None:
    table, rates = drive_table([drive])
    record, zones = table[0], zone_table(table, rates)[0]
    firsts = [int(first) for first in zones["first"][: len(drive.zone_rates)]]
    for offset in (int(share * drive.capacity_bytes), *(f + step for f in firsts for step in (-1, 0, 1))):
        if offset < 0:
            continue
        zone = zone_at(record, zones, offset)
        assert zone == zone_of(record, offset)
        angle = (offset - zones[zone]["start"]) / zones[zone]["turn_bytes"]
        assert angle == track_angle(record, rates[0, zone], offset)


# Mirrors, on both engines.


def read_by_leaf(engine: Any, rules: QueueRules, items: ScanItems, window: int = 1) -> list[int]:
    """Return how many blocks are read from each leaf of a 3-way mirror whose first child is a new drive."""
    vdev = VdevModel(kind="mirror", parity=0, ashift=12, read_leaf=(-1, 1, 2), write_leaf=(0, -1, -1))
    leaves = tuple(LeafModel(drive=FLASH) for _ in range(3))
    plane = engine(mirror_model(leaves=leaves, vdevs=(vdev,), queue=rules), items, records=10_000)
    issue_all(plane, len(items), window=window)
    assert plane.advance(np.inf) == EXIT_DRAINED
    return [int(count) for count in plane.leaves["reads"]]


@ENGINES
@pytest.mark.parametrize("rule", [BY_OFFSET, BY_PENDING])
def test_to_0_6_5_the_side_behind_a_new_drive_reads_twice_as_much(engine: Any, rule: int) -> None:
    # A block takes 2 ms, read and write, so that turns of 10 ms go round with every fifth.
    items = replace(far_apart(90), offset=np.arange(90, dtype=np.int64) * 2 * MIB)
    rules = QueueRules(non_interactive=False, mirror_rule=rule)
    # Rounding decides on which side of the end of a turn a block is read.
    assert read_by_leaf(engine, rules, items) == pytest.approx([0, 60, 30], abs=2)


@ENGINES
def test_flash_weighs_a_jump_as_one_waiting_command(engine: Any) -> None:
    # Leaf 1 has read block 0 and is read on; at a seek cost of 5 it would be, with two more waiting.
    items = replace(far_apart(4), offset=np.array([0, 1, 2, 3], np.int64) * 24 * 4096)
    rules = QueueRules(non_interactive=False, aggregation_limit_flash=0, maximum=(10, 10, 3, 2, 9, 3))
    items = replace(items, psize=np.full(4, 24 * 4096))
    assert read_by_leaf(engine, rules, items, window=4) == [0, 2, 2]
    assert read_by_leaf(engine, replace(rules, mirror_flash_seek_cost=5), items, window=4) == [0, 4, 0]


@ENGINES
def test_mirrors_read_and_write_whole_sectors(engine: Any) -> None:
    vdev = replace(MIRROR, ashift=12)
    plane = engine(mirror_model(vdevs=(vdev,)), far_apart(5, psize=1024), records=100)
    issue_all(plane, 5, window=2)
    assert plane.advance(np.inf) == EXIT_DRAINED
    assert plane.records["length"].tolist() == [4096] * 10
