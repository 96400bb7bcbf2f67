"""What ZFS refuses of an expansion and of a removal; slow drives as they are written."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.scenario.model import Scenario
from zsim.scenario.one_drive.slow import SlowDrive


def stated(**fields: Any) -> Scenario:
    return Scenario.from_dict({"fill": 0.3, "drive_size": "4TB", **fields})


@pytest.mark.parametrize(
    ("layout", "operation", "more", "words"),
    [
        ("mirror2", "expand", {}, "only a RAID-Z can be expanded"),
        ("draid1:4d:11c:1s", "expand", {}, "only a RAID-Z can be expanded"),
        ("raidz2x255", "expand", {}, "a vdev has at most 255 drives"),
        ("raidz1x4", "expand", {"release": "openzfs-2.2"}, "cannot expand a RAID-Z"),
        ("3*mirror2", "remove", {"release": "zol-0.7"}, "cannot remove a top-level vdev"),
        ("3*raidz1x4", "remove", {}, "vdevs are all mirrors or single drives"),
        ("mirror2", "remove", {}, "has to go to another one"),
        ("mirror2+special:mirror2", "remove", {}, "has to go to another one"),
    ],
)
def test_what_zfs_refuses(layout: str, operation: str, more: dict[str, str], words: str) -> None:
    """Expansion came with 2.3, removal with 0.8 (spa_vdev_remove_top_check)."""
    with pytest.raises((InputError, NotSimulatedYet), match=words):
        stated(layout=layout, operation=operation, **more)


@pytest.mark.parametrize(
    ("layout", "operation", "release"),
    [
        ("raidz1x4", "expand", "openzfs-2.3"),
        ("raidz2x254", "expand", "openzfs-2.3"),
        ("2*mirror2", "remove", "openzfs-0.8"),
        ("disk+mirror2", "remove", "openzfs-2.3"),
    ],
)
def test_what_zfs_does(layout: str, operation: str, release: str) -> None:
    assert stated(layout=layout, operation=operation, release=release).operation == operation


@pytest.mark.parametrize(
    ("text", "constant"),
    [("3:x3", 3.0), ("3:x1", None), ("3:2%@1s", None), ("3:x3,on=10s,off=30s", None), ("3:x3,2%@1s", 3.0)],
)
def test_a_factor_is_constant_unless_it_comes_in_spells(text: str, constant: float | None) -> None:
    (slow,) = stated(layout="raidz2x6", slow=[text]).slow or ()
    assert isinstance(slow, SlowDrive)
    assert slow.constant == constant
    assert stated(layout="raidz2x6", slow=[str(slow)]).slow == (slow,)


@pytest.mark.parametrize("where", [1, "1", "dedup"])
def test_a_dedup_vdev_is_not_repaired_and_says_why(where: object) -> None:
    with pytest.raises(InputError, match="not simulated yet: no simulated pool holds a dedup table"):
        Scenario.from_dict({"layout": "raidz2x8+dedup:mirror2", "replace_in": where})


@pytest.mark.parametrize(
    ("layout", "where", "why"),
    [
        ("raidz2x8+log:mirror2", "log", "is for the intent log, which is not resilvered"),
        ("raidz2x8+special:mirror2", "dedup", "has no dedup vdev"),
        ("raidz2x8", "special", "has no special vdev"),
    ],
)
def test_a_class_to_repair_is_one_that_is_there(layout: str, where: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        Scenario.from_dict({"layout": layout, "replace_in": where})
