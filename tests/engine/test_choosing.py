"""A drive's choice among what it holds: bounds of the times to reach commands, and the zone of an address."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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

from .strategies import DRIVE

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
