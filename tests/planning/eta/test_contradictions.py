"""Evidence that no drive can have given, and what is left then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import zsim
from zsim.drives.catalogue import load_drive
from zsim.planning.eta.contradictions import contradictions
from zsim.prediction.api import case_of
from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.moments import PoolFacts
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.evidence import RunningScan
from zsim.scenario.model import Scenario

SAID = "8x 16TB in raidz2, 60% full, resilver 50% done after {after}"
WORLD = Course(
    60.0, 36_000.0, 1.0, straight(), repaired=1e13, needed=1.0, window=0.01, drifts=0.0, transfer=0.8,
    unlike=0.3, named=True,
)  # fmt: skip
SCAN = RunningScan(kind="resilver", format="2.2+", total=1e13, issued=5e12, scanned=1e13, elapsed=3600.0)


def test_what_is_left_takes_as_long_as_the_named_drives_need() -> None:
    """Half of a drive of 16 TB, 60 % full, in an hour: over 1 GB/s, where its outer tracks move 0.26."""
    named = {"drive": "st16000nm001g"}
    found = zsim.eta(SAID.format(after="1 h"), stated=named)
    rate = max(load_drive("st16000nm001g").parameters().zone_rates)
    assert found.remaining_s.p10 > 0.9 * 0.49 * 0.6 * 16e12 / rate
    (told,) = [note for note in found.notes if note.startswith("CONTRADICTS")]
    assert told.startswith("CONTRADICTS: 50 % of the resilver in 1 h is faster than the drives move data")
    assert "not taken to be faster than these drives" in told
    possible = zsim.eta(SAID.format(after="8 h"), stated=named)
    assert not any(note.startswith("CONTRADICTS") for note in possible.notes)


def test_drives_that_nobody_named_may_be_faster_ones() -> None:
    """What an hour was enough for contradicts a named drive alone: others may move as much in the next."""
    known, open_ = (remaining([replace(WORLD, named=named)], [SCAN], PoolFacts()) for named in (True, False))
    least = 0.8 * 36_000.0 * 0.5
    assert known.left()[0] > 0.9 * least
    assert open_.left()[0] < 0.7 * least
    case = case_of(Scenario(layout="raidz2x8"))
    (told,) = contradictions(case, [replace(WORLD, named=False)], known.state, SCAN)
    assert "name the drives if they are faster ones (--drive)" in told


@pytest.mark.parametrize(
    ("more", "hours", "told"),
    [
        ({}, 6.0, True), ({}, 7.0, False), ({"alloc": 5 * 10**12}, 3.5, False),
        ({"processed": 5 * 10**12}, 3.5, False), ({"processed": 5 * 10**12}, 3.0, True),
        ({"kind": "scrub"}, 6.0, True), ({"kind": "heal"}, 1.0, False),
    ],
)  # fmt: skip
def test_a_scan_that_is_over_was_no_faster_than_its_drives(
    more: dict[str, Any], hours: float, told: bool
) -> None:
    """Of 8 h at the least of the whole, below 0.8 of it is told: of half the data, of half of that."""
    over = {"what": "finished", "kind": "resilver", "duration": hours * 3600.0, **more}
    case = case_of(Scenario(layout="raidz2x8", alloc=10**13, drive_size="16TB", evidence=[over]))
    found = contradictions(case, [WORLD], None, SCAN)
    assert bool(found) == told
    assert all("that is over in" in each for each in found)
