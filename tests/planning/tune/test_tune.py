"""Which knobs shorten a resilver: effects on common worlds, only those larger than their error."""

from __future__ import annotations

import re
from functools import cache

import pytest

from zsim import Scenario, predict
from zsim.case.resolve import resolve
from zsim.planning.tune.api import tune
from zsim.planning.tune.records import Tuning
from zsim.planning.tune.settings import Setting
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
    ends = [each.ratio for each in found.settings if each.name == "zfs_resilver_min_time_ms"]
    assert all(ratio > 0.97 for ratio in ends), "a txg of an idle pool ends within a tenth of a second"
    assert all(each.p99_ratio is None for each in found.settings)


def test_the_time_with_the_defaults_is_that_of_a_prediction() -> None:
    pool = Scenario.from_dict(POOL | {"release": "openzfs-2.3"})
    assert answer("openzfs-2.3").default_s == predict(pool, portion="row").resilver_s.p50


def test_only_knobs_that_the_release_has_are_tried() -> None:
    names = {each.name for each in answer("openzfs-2.3").settings} | set(answer("openzfs-2.3").without_effect)
    assert not names & {"zfs_resilver_delay", "zfs_top_maxinflight"}
    old = answer("zol-0.7.13")
    assert "zfs_resilver_delay" in {each.name for each in old.settings} | set(old.without_effect)


def test_each_effect_says_where_it_is_from() -> None:
    settings = answer("openzfs-2.3", "random-read,threads=2,think=5ms").settings
    assert {each.label for each in settings} == {"measured", "modelled"}
    for each in settings:
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


@pytest.mark.parametrize(
    ("stated", "system"),
    [
        ({"product": "freebsd-14.3"}, "freebsd"), ({"product": "debian-12"}, "linux"),
        ({"platform": "freebsd"}, "freebsd"), ({}, "linux"),
        ({"release": "freebsd-9.2"}, "freebsd"), ({"release": "solaris-11.1"}, "illumos"),
        ({"release": "freebsd-9.2", "platform": "linux"}, "linux"),
    ],
)  # fmt: skip
def test_lines_are_those_of_the_system_that_is_stated(stated: dict[str, str], system: str) -> None:
    assert resolve(Scenario.from_dict(POOL | stated)).platform == system


@pytest.mark.parametrize(
    ("system", "line"),
    [
        ("linux", "echo 0 > /sys/module/zfs/parameters/zfs_resilver_delay"),
        ("freebsd", "sysctl vfs.zfs.resilver_delay=0"),
        ("illumos", "echo zfs_resilver_delay/W0t0 | mdb -kw"),
    ],
)
def test_a_line_is_as_its_system_takes_it(system: str, line: str) -> None:
    each = Setting("zfs_resilver_delay", 0, 2, 0.5, 0.01, None, None, "modelled", "", "")
    assert each.line(system, each.value) == line


def test_a_factor_shows_that_it_is_larger_than_its_error() -> None:
    each = Setting("zfs_txg_timeout", 1, 5, 0.9941, 0.0035, None, None, "modelled", "", "", on_front=True)
    table = str(Tuning("The resilver", 100.0, None, "linux", (each,), (), 4))
    assert "x0.994 +/- 0.35 %" in table
    assert "front: nothing tried is quicker." in table
    assert "measured" not in table
    assert "clients" not in table


def test_a_measured_effect_says_that_its_factor_is_modelled_all_the_same() -> None:
    each = Setting("zfs_txg_timeout", 1, 5, 0.9, 0.01, None, None, "measured", "somebody, in a thread", "")
    table = str(Tuning("The resilver", 100.0, None, "linux", (each,), (), 4))
    assert "measured: on another pool, see the source; every factor above is modelled for this one." in table


def advised(**stated: object) -> list[str]:
    return [each.action for each in predict(Scenario.from_dict(POOL | stated)).advice]


def test_a_prediction_under_load_tells_the_knob_that_helps_most_and_its_price() -> None:
    load = {"load": "random-read,threads=2,think=5ms", "release": "openzfs-2.3"}
    found = predict(Scenario.from_dict(POOL | load))
    first = found.advice[0]
    assert first.action == "set zfs_vdev_scrub_min_active=2"
    assert first.saves_s == pytest.approx(0.6 * found.resilver_s.p50, rel=0.15)
    now = found.clients[0].during
    assert now is not None
    then = re.search(r"clients is then ([\d.]+) (m?s), ([\d.]+) times what it is now", first.why)
    assert then is not None, first.why
    then_s = float(then[1]) * (1e-3 if then[2] == "ms" else 1.0)
    assert then_s == pytest.approx(float(then[3]) * now.p99, rel=0.05)
    tuned = next(each for each in answer("openzfs-2.3", load["load"]).settings if each.value == 2)
    assert 1.0 - first.saves_s / found.resilver_s.p50 == pytest.approx(tuned.ratio)


def test_no_knob_is_advised_without_a_load_or_where_it_is_stated() -> None:
    assert not any("zfs_" in each for each in advised(release="openzfs-2.3"))
    stated = {"tunables": {"zfs_vdev_scrub_min_active": 3}, "load": "random-read,threads=2,think=5ms"}
    assert not any("scrub_min_active" in each for each in advised(release="openzfs-2.3", **stated))
