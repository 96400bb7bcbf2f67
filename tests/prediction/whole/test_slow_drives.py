"""Drives that answer more slowly than their model."""

from __future__ import annotations

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.drives.models.slowed import slowed
from zsim.prediction.inputs.hardware import plane_model

BASE = {"layout": "raidz2x6", "fill": 0.3, "drive": "st4000vn008", "history": "home-nas"}


def test_one_slow_source_makes_a_resilver_much_longer_and_stands_apart() -> None:
    """A source three times slower makes a raidz2x6 2.8 times longer on real OpenZFS (zfs-more, slow3x)."""
    sound = zsim.predict(zsim.Scenario.from_dict(BASE))
    slow = zsim.predict(zsim.Scenario.from_dict({**BASE, "slow": "3:x3"}))
    assert 2.0 < slow.resilver_s.p50 / sound.resilver_s.p50 < 3.2
    rows = {leaf.role: leaf for leaf in slow.leaves}
    assert rows["slow source"].count == 1
    assert rows["slow source"].utilisation > 0.9 > rows["source"].utilisation


def test_the_plane_has_one_slow_leaf() -> None:
    case = resolve(zsim.Scenario.from_dict({**BASE, "slow": ["2:x2", "6:x4"]}))
    sound = plane_model(resolve(zsim.Scenario.from_dict(BASE)))
    plane = plane_model(case)
    for leaf, factor in ((2, 2.0), (6, 4.0)):
        assert plane.leaves[leaf].drive == slowed(sound.leaves[leaf].drive, factor)
    assert plane.leaves[1] == sound.leaves[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("7:x2", "counted from 0 to 6"),
        ("0:x2", "the one that failed"),
        ("3", "not DRIVE:xFACTOR"),
        ("3:x0.5", "3:x0.5|factor"),
        ("new:x2", "not DRIVE:xFACTOR"),
    ],
)
def test_what_cannot_be_slow_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        zsim.Scenario.from_dict({**BASE, "slow": text})


@pytest.mark.parametrize("text", ["3:x2.5", "3:2.5x", "3:2.5"])
def test_a_slow_drive_reads_back(text: str) -> None:
    scenario = zsim.Scenario.from_dict({**BASE, "slow": text})
    assert zsim.Scenario.from_dict(scenario.stated()) == scenario
    assert [str(each) for each in scenario.slow or ()] == ["3:x2.5"]


def test_a_connection_that_is_not_known_is_told_by_which_names_others_go() -> None:
    with pytest.raises(InputError, match=r"one of sata1 \(sata-1\.5g\), sata2 \(sata-3g\), no-ncq, usb2"):
        zsim.Scenario.from_dict({**BASE, "attached": "3:usb"})
