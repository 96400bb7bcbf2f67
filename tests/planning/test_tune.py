"""Which knobs shorten a resilver: effects on common worlds, only those larger than their error."""

from __future__ import annotations

from functools import cache

import pytest

from zsim import Scenario
from zsim.planning.tune.api import tune
from zsim.planning.tune.records import Tuning
from zsim.scenario.releases.renamed import sysctl_name

POOL = {
    "layout": "raidz2x6", "drive_size": "4TB", "fill": 0.5, "recordsize": "128K", "history": "home-nas",
    "drive": "generic-7200rpm-cmr",
}  # fmt: skip


@cache
def answer(release: str, load: str | None = None) -> Tuning:
    stated = POOL | {"release": release} | ({"load": load} if load else {})
    return tune(Scenario.from_dict(stated))


def test_under_load_a_share_for_the_scan_shortens_it_and_costs_clients() -> None:
    found = answer("openzfs-2.3", "random-read,threads=2,think=5ms")
    best = found.settings[0]
    assert best.name == "zfs_vdev_scrub_min_active"
    assert best.ratio < 0.7
    assert best.p99_ratio is not None
    assert best.p99_ratio > 1.2
    assert str(found).startswith(f"{best.name}={best.value} helps most")
    assert f"echo {best.value} > /sys/module/zfs/parameters/{best.name}" in str(found)


def test_only_effects_larger_than_their_error_are_told() -> None:
    found = answer("openzfs-2.3")
    assert all(abs(each.ratio - 1.0) > each.error for each in found.settings)
    assert "zfs_resilver_min_time_ms" in found.without_effect, "nothing syncs on an idle pool"
    assert all(each.p99_ratio is None for each in found.settings)


def test_only_knobs_that_the_release_has_are_tried() -> None:
    names = {each.name for each in answer("openzfs-2.3").settings} | set(answer("openzfs-2.3").without_effect)
    assert not names & {"zfs_resilver_delay", "zfs_top_maxinflight"}
    old = answer("zol-0.7.13")
    assert "zfs_resilver_delay" in {each.name for each in old.settings} | set(old.without_effect)


def test_each_effect_says_where_it_is_from() -> None:
    for each in answer("openzfs-2.3").settings:
        assert (each.label == "measured") == bool(each.source)


@pytest.mark.parametrize(
    ("name", "sysctl"),
    [
        ("zfs_vdev_scrub_max_active", "vfs.zfs.vdev.scrub_max_active"),
        ("zfs_scan_vdev_limit", "vfs.zfs.scan_vdev_limit"),
    ],
)
def test_names_on_freebsd(name: str, sysctl: str) -> None:
    assert sysctl_name(name) == sysctl
