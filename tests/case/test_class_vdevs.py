"""Vdevs of other classes than data, and data vdevs that are not alike."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.scenario.model import Scenario

TB = 10**12


def case(layout: str, **stated: Any) -> Case:
    known = {"layout": layout, "drive_size": "4TB", "fill": 0.5}
    return resolve(Scenario.from_dict({**known, **stated}))


def test_a_pool_of_data_vdevs_alone_has_no_other_drives() -> None:
    assert case("2*mirror2").classes.drive is None
    assert case("2*mirror2").classes.growth.stages == ()


def test_special_vdevs_have_drives_as_stated_or_such_as_are_common() -> None:
    assumed = case("raidz2x6+special:mirror2").classes.drive
    assert assumed is not None
    assert (assumed.capacity_bytes, assumed.kind) == (TB, "flash")
    sized = case("raidz2x6+special:mirror2", special_drive_size="2TB").classes.drive
    assert sized is not None
    assert sized.capacity_bytes == 2 * TB
    named = case("raidz2x6+special:mirror2", special_drive="generic-nvme-ssd").classes.drive
    assert named is not None
    assert named.capacity_bytes != 2 * TB
    fields = {each.field for each in case("raidz2x6+special:mirror2").assumptions}
    assert {"special_drive", "special_drive_size"} <= fields
    told = case("raidz2x6+special:mirror2", special_drive="generic-nvme-ssd").assumptions
    assert not {"special_drive", "special_drive_size"} & {each.field for each in told}


def test_a_special_vdev_was_added_before_the_pool_was_as_full_as_now() -> None:
    grown = case("raidz2x6+special:mirror2", special_added_at=0.3)
    assert grown.classes.growth.stages == ((0.3, (1,)),)
    for added in (0.5, 0.6):
        with pytest.raises(InputError, match="give a lower share"):
            case("raidz2x6+special:mirror2", special_added_at=added)


def test_what_was_added_later_is_ordered_by_when() -> None:
    """Of vdevs 80 and 20 % full, the second came when the first was 60 % full or so."""
    both = {"fill": None, "vdev_fills": [0.8, 0.2]}
    early = case("2*mirror2+special:mirror2", special_added_at=0.1, **both).classes.growth.stages
    late = case("2*mirror2+special:mirror2", special_added_at=0.45, **both).classes.growth.stages
    assert early[0] == (0.1, (2,))
    assert early[1:] == case("2*mirror2+special:mirror2", **both).classes.growth.stages
    assert (0.45, (2,)) in late
    assert len(early) == len(late) == 2


def test_the_fill_of_unlike_vdevs_is_that_of_their_space() -> None:
    assert case("2*mirror2", fill=None, vdev_fills=[0.8, 0.2]).fill == pytest.approx(0.5)
    # A raidz1x3 counts three drives of raw space, a mirror one.
    unlike = case("raidz1x3+mirror2", fill=None, vdev_fills=[0.8, 0.2]).fill
    assert unlike == pytest.approx((3 * 0.8 + 0.2) / 4, abs=0.002)


def wanted(
    operation: str, fills: list[float] | None, frags: list[float]
) -> tuple[float | None, tuple[int, ...]]:
    full = {"fill": None, "vdev_fills": fills} if fills else {}
    found = case("2*mirror2", operation=operation, vdev_frags=frags, **full)
    return found.frag, found.frag_of


def test_frag_is_that_of_the_vdev_under_repair_and_of_a_scrub_the_mean() -> None:
    assert wanted("resilver", None, [0.4, 0.2]) == (0.4, (0,))
    frag, of = wanted("scrub", None, [0.4, 0.2])
    assert (frag, of) == (pytest.approx(0.3), (0, 1))


def test_a_vdev_that_was_added_later_has_what_comes_of_being_filled() -> None:
    assert wanted("scrub", [0.8, 0.2], [0.4, 0.2]) == (pytest.approx(0.4), (0,))
    # The one under repair is the later one: the others count.
    assert wanted("resilver", [0.2, 0.8], [0.2, 0.4]) == (pytest.approx(0.4), (1,))


def test_one_frag_is_that_of_the_pool() -> None:
    found = case("mirror2", frag=0.3)
    assert (found.frag, found.frag_of) == (0.3, ())
