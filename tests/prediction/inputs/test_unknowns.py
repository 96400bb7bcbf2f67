"""What nobody states: numbers with a source, and sector sizes of old pools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.case import worlds
from zsim.drives.models.generations import LATEST
from zsim.prediction.api import case_of
from zsim.prediction.inputs import ensemble
from zsim.prediction.inputs.ensemble import member_at, unknowns
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import load_release

OLD = {"layout": "raidz2x6", "release": "freebsd-9.1", "alloc": "6T", "drive_size": "2TB", "load": []}


def names(**changes: Any) -> list[str]:
    return [each.name for each in unknowns(case_of(Scenario.from_dict(OLD | changes)))]


def test_every_number_has_a_source() -> None:
    assert unsourced_numbers(model_data.load_toml(worlds.MODEL)) == []
    assert worlds.assumption("share.write_cache_on") == worlds.CACHE_ON
    assert worlds.assumption("spread.churn") == ensemble.CHURN_SPREAD


@pytest.mark.parametrize("table", [worlds.LOADS, worlds.DRIVE_CLASSES])
def test_shares_sum_to_one(table: tuple[tuple[object, float], ...]) -> None:
    assert sum(share for _, share in table) == pytest.approx(1.0)


def test_the_sector_size_is_unknown_where_zfs_takes_the_logical_one() -> None:
    drive = {"drive": "generic-5400rpm-cmr"}
    assert "ashift" in names(**drive)
    assert "ashift" not in names(**drive, ashift=12)
    assert "ashift" not in names(**drive, release="openzfs-2.2")
    assert "ashift" not in names(**drive, drive_size="500GB", alloc="1T")
    assert "ashift" not in names(**drive, drive_size="1TB", new_drive_size="4TB", alloc="3T")


def test_a_member_has_one_of_both_sector_sizes() -> None:
    resolved = case_of(Scenario.from_dict(OLD | {"drive": "generic-5400rpm-cmr"}))
    (unknown,) = [each for each in unknowns(resolved) if each.name == "ashift"]
    sizes = [worlds.in_world(resolved, member_at((unknown,), (score,))).ashift for score in (-1.0, 1.0)]
    assert sizes == [12, 9]


def test_how_bands_are_rewritten_is_unknown_of_a_shingled_drive_that_is_written_to() -> None:
    """A scrub writes next to nothing, and old drives are only read."""
    shingled, plain = {"drive": "generic-5400rpm-smr"}, {"drive": "generic-5400rpm-cmr"}
    assert "shingling" in names(**shingled)
    assert "shingling" not in names(**shingled, operation="scrub")
    assert "shingling" not in names(**plain)
    assert "shingling" in names(**plain, new_drive="generic-5400rpm-smr")
    assert "shingling" not in names(**shingled, new_drive="generic-5400rpm-cmr")


def test_what_is_not_known_of_drives_is_settled_by_their_name_or_else_by_measuring() -> None:
    """Once its class is named, drives of it differ still: that tells a measurement alone."""

    def words(**changes: Any) -> dict[str, str]:
        found = unknowns(case_of(Scenario.from_dict(OLD | changes)))
        return {each.name: each.words for each in found}

    unnamed, named = words(), words(drive="generic-7200rpm-cmr")
    for name, what in (("inner_ratio", "inner tracks"), ("seek", "seek times"), ("overhead", "small reads")):
        assert unnamed[name] == "name the drive (--drive)"
        assert named[name] == f"measure the drive's {what}"
    assert unnamed["outer_rate"] == unnamed["seek"]
    assert named["outer_rate"] == "fit the drive to your own measurements"


def test_freebsd_10_is_of_its_time() -> None:
    years = [load_release(name).year for name in ("freebsd-9.2", "freebsd-10.3")]
    assert years[0] < years[1] < LATEST
