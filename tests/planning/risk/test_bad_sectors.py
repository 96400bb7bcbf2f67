"""Bad sectors that are stated: what is lost for certain, and which drives count as missing."""

from __future__ import annotations

from typing import Any

import pytest

import zsim
from zsim import RiskInputs, Scenario

HOUR = 3600.0
FIXED = RiskInputs(hours=24 * HOUR, afr=0.02, correlation=1.0, latent=False, detect=0.0, age_factor=1.0)


def asked(**stated: Any) -> Any:
    pool = {"drive_size": "4TB", "fill": 0.5, "seed": 1, "release": "openzfs-2.4", "recordsize": "128K"}
    return zsim.risk(Scenario.from_dict({**pool, **stated}), FIXED)


def test_what_cannot_be_rebuilt_is_lost_for_certain_and_no_more_than_files() -> None:
    sound, sick = asked(layout="raidz1x5"), asked(layout="raidz1x5", bad_sectors="3:500")
    assert (sick.window.files.p, sick.window.files.low, sick.window.files.high) == (1.0, 1.0, 1.0)
    assert sick.window.vdev == sound.window.vdev
    assert sick.per_year == sound.per_year
    assert any("up to 500 blocks of files are lost for certain" in each for each in sick.warnings)


def test_a_drive_that_is_faulted_for_its_errors_is_missing_as_one_that_has_failed() -> None:
    """With two of a raidz2 missing the next failure loses it: as --replace 2 says."""
    sick, two = asked(layout="raidz2x6", bad_sectors="3:500"), asked(layout="raidz2x6", replace=2)
    assert sick.window.vdev.p == pytest.approx(two.window.vdev.p)
    assert sick.window.vdev.p > 20 * asked(layout="raidz2x6").window.vdev.p
    assert any("drive 3 is faulted for its bad sectors" in each for each in sick.warnings)
    # On FreeBSD before 11 nobody faults it.
    old = asked(layout="raidz2x6", bad_sectors="3:500", release="freebsd-10.3")
    assert old.window.vdev.p == pytest.approx(asked(layout="raidz2x6", release="freebsd-10.3").window.vdev.p)
