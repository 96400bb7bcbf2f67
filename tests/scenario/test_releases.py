"""Release profiles: sourced, selected by patch level, and equal to what the running code said."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import leaf_asize, pool_size, vdev_asize, vdev_capacity
from zsim.scenario.releases.profile import ReleaseProfile, Tunables, load_release, release_names

RUNNING: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "openzfs_running_values.json").read_text()
)
SERIES = (
    "freebsd-9.1", "freebsd-9.2", "freebsd-10.3", "openzfs-0.8", "openzfs-2.0", "openzfs-2.1", "openzfs-2.2",
    "openzfs-2.3", "openzfs-2.4", "solaris-11.1", "solaris-11.2", "zol-0.6.5", "zol-0.7",
)  # fmt: skip


def test_every_series_is_there() -> None:
    assert release_names() == SERIES


@pytest.mark.parametrize("name", SERIES)
def test_every_number_has_unit_and_source_and_every_choice_a_source(name: str) -> None:
    data = model_data.load("releases", name)
    assert unsourced_numbers(data) == []
    for part in (data, *data.get("patch", [])):
        for key, table in part.get("behaviour", {}).items():
            assert set(table) == {"choice", "source", "kind"}, key
            assert table["kind"] in model_data.SOURCE_KINDS


@pytest.mark.parametrize("name", SERIES)
def test_every_patch_changes_something_and_patches_ascend(name: str) -> None:
    data = model_data.load("releases", name)
    first = "0.6.5.0" if name == "zol-0.6.5" else data["first"]  # plain 0.6.5 means the last of that series
    levels = [first, *(patch["from"] for patch in data.get("patch", []))]
    profiles = [load_release(f"{data['family']}-{level}") for level in levels]
    assert [profile.version for profile in profiles] == levels
    for before, after in itertools.pairwise(profiles):
        same = (before.tunables, _behaviour(before)) == (after.tunables, _behaviour(after))
        assert not same, after.name


def _behaviour(profile: ReleaseProfile) -> dict[str, Any]:
    from zsim.scenario.releases.profile import BEHAVIOURS

    return {name: getattr(profile, name) for name in BEHAVIOURS}


@pytest.mark.parametrize("version", sorted(RUNNING["tunables"]))
def test_values_equal_those_of_the_running_code(version: str) -> None:
    profile = load_release(version)
    values = dict(RUNNING["tunables"][version])
    dirty = values.pop("zfs_dirty_data_max", None)
    assert len(values) >= 19
    assert {name: profile.tunables[name] for name in values} == values
    if dirty is not None:
        memory = RUNNING["physmem_pages"][version] * 4096 // 2
        assert profile.dirty_data_max(memory) == dirty


@pytest.mark.parametrize("row", RUNNING["capacities"], ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}")
def test_metaslabs_and_allocators_equal_those_of_the_running_code(row: list[Any]) -> None:
    version, layout, leaf, count, shift, allocators, cpus = row
    profile = load_release(version)
    capacity = vdev_capacity(Layout.parse(layout).vdevs[0], leaf << 20, profile)
    assert (capacity.metaslab_count, capacity.metaslab_shift) == (count, shift)
    assert profile.allocator_count(cpus) == allocators


def test_the_size_of_a_real_pool() -> None:
    size = pool_size(Layout.parse("raidz2x5"), 10**12, load_release("freebsd-9.1"))
    assert size / 2**40 == pytest.approx(4.53, abs=0.005)  # zpool list of the N36L: 4.53T


def test_a_large_vdev_has_metaslabs_of_16_gib() -> None:
    capacity = vdev_capacity(Layout.parse("raidz2x6").vdevs[0], 8 * 10**12, load_release("2.3.9"))
    assert capacity.metaslab_shift == 34
    assert 0 <= capacity.asize - capacity.size < 16 << 30


def test_drives_too_small_are_refused() -> None:
    with pytest.raises(InputError, match="64 MiB"):
        leaf_asize(63 << 20)
    for layout in ("mirror2", "raidz3x9", "draid1:1d:2c"):  # the smallest drives still give a metaslab
        assert (
            vdev_capacity(Layout.parse(layout).vdevs[0], 64 << 20, load_release("2.3.9")).metaslab_count >= 1
        )
    assert vdev_asize(Layout.parse("mirror2").vdevs[0], 64 << 20) == (64 << 20) - (5 << 20) + (512 << 10)


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("openzfs-2.3", "openzfs-2.3.9"), ("2.3", "openzfs-2.3.9"), ("2.1.5", "openzfs-2.1.5"),
        ("zol-0.7.13", "zol-0.7.13"),
        ("0.7.13", "zol-0.7.13"), ("0.6.5.9", "zol-0.6.5.9"), ("zol-0.6.5", "zol-0.6.5.11"),
        ("ZFS-2.3.9", "openzfs-2.3.9"),
        ("freebsd-9.1", "freebsd-9.1"), ("FreeBSD-9.1-RELEASE-p7", "freebsd-9.1"),
        ("zfs-2.1.5-1ubuntu6", "openzfs-2.1.5"),
        ("zol-0.8.6", "openzfs-0.8.6"), ("solaris-11.2", "solaris-11.2"), ("v2.2.0", "openzfs-2.2.0"),
        ("0.6.5", "zol-0.6.5.11"),
    ],
)  # fmt: skip
def test_a_patch_level_is_selected(name: str, full: str) -> None:
    assert load_release(name).name == full


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("openzfs-2.9", "openzfs-2.4"),
        ("2.3.99", "2.3.0 to 2.3.9"),
        ("linux", "known are"),
        ("", "known are"),
        ("freebsd-14.0", "freebsd"),
        ("../x", "known are"),
    ],
)
def test_an_unknown_release_is_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(InputError, match="^release") as caught:
        load_release(name)
    assert hint in str(caught.value)


MIB = 1 << 20


@pytest.mark.parametrize(
    ("name", "tunable", "value"),
    [
        ("2.1.11", "zfs_scan_vdev_limit", 4 * MIB), ("2.1.12", "zfs_scan_vdev_limit", 16 * MIB),
        ("2.1.11", "zfs_rebuild_vdev_limit", 32 * MIB), ("2.1.12", "zfs_rebuild_vdev_limit", 64 * MIB),
        ("2.0.0", "zfs_vdev_scrub_max_active", 2), ("2.0.1", "zfs_vdev_scrub_max_active", 3),
        ("0.6.5.10", "zfs_vdev_async_write_min_active", 1),
        ("0.6.5.11", "zfs_vdev_async_write_min_active", 2),
        ("2.1.5", "metaslab_aliquot", MIB // 2), ("2.1.6", "metaslab_aliquot", MIB),
        ("2.4.0", "metaslab_aliquot", 2 * MIB),
        ("2.4.0", "zfs_resilver_min_time_ms", 3000), ("2.4.1", "zfs_resilver_min_time_ms", 1500),
        ("2.4.1", "zfs_scrub_min_time_ms", 750),
        ("2.2.9", "zfs_vdev_async_read_max_active", 3), ("zol-0.7", "zfs_vdev_aggregation_limit", 128 << 10),
        ("0.8.0", "zfs_vdev_aggregation_limit", MIB), ("freebsd-9.1", "zfs_vdev_time_shift", 6),
        ("freebsd-9.2", "zfs_vdev_time_shift", 29), ("freebsd-9.1", "zfs_vdev_max_pending", 10),
        ("freebsd-9.1", "zfs_top_maxinflight", 32),
        ("0.6.5", "metaslab_df_alloc_threshold", 16 * MIB),
        ("0.7.0", "metaslab_df_alloc_threshold", 128 << 10),
        ("2.3.0", "zfs_metaslab_fragmentation_threshold", 70),
        ("2.3.1", "zfs_metaslab_fragmentation_threshold", 77),
    ],
)  # fmt: skip
def test_values_that_moved_between_releases(name: str, tunable: str, value: int) -> None:
    assert load_release(name).tunables[tunable] == value


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        (
            "scan",
            {
                "freebsd-9.1": "legacy",
                "0.7.13": "legacy",
                "0.8.0": "sorted",
                "solaris-11.1": "legacy",
                "solaris-11.2": "sorted",
            },
        ),
        ("queue", {"freebsd-9.2": "single", "0.6.5": "classes", "solaris-11.2": "single"}),
        ("queue_time_buckets", {"freebsd-9.1": True, "0.7.13": False, "2.1.16": False, "2.2.0": True}),
        ("non_interactive_throttle", {"2.0.0": False, "2.0.1": True}),
        ("class_selection", {"freebsd-9.1": "none", "2.0.0": "priority", "2.0.1": "round-robin"}),
        ("inflight", {"0.7.13": "blocks", "2.0.7": "bytes_per_leaf", "2.1.0": "bytes_per_data_child"}),
        ("column_test", {"0.6.5.11": False, "0.7.0": True}),
        ("repair_write_class", {"freebsd-9.1": "resilver", "0.6.5": "async_write"}),
        ("extent_score", {"0.7.13": "none", "2.1.5": "exact", "2.1.6": "power-of-two"}),
        ("metaslab_weight", {"0.6.5": "space", "0.7.0": "segment"}),
        (
            "metaslab_fill",
            {
                "freebsd-9.1": "until-unfit",
                "0.6.5": "until-fragmented",
                "2.3.0": "switch-threshold",
                "2.3.1": "contiguous-first",
            },
        ),
        ("metaslab_fit", {"0.8.2": "first-fit", "0.8.3": "bounded-first-fit"}),
        (
            "fragmentation_table",
            {"freebsd-9.1": "none", "0.6.5": "to-16M", "2.3.0": "to-16M", "2.3.1": "to-512M"},
        ),
        ("mirror_choice", {"freebsd-9.1": "offset", "0.6.5": "fewest-active", "0.7.0": "load-and-seek"}),
        ("scan_phase_arc_clamp", {"2.1.11": False, "2.1.12": True}),
        ("rebuild", {"0.8.6": "none", "2.0.0": "mirror", "2.1.0": "mirror-draid"}),
        ("resilver_restart", {"0.7.13": "restart", "0.8.0": "defer", "2.3.0": "defer-unless-early"}),
        ("indirect_shift", {"freebsd-9.1": 14, "0.6.5": 14, "0.7.0": 17, "2.3.9": 17}),
        ("hz", {"freebsd-9.1": 1000, "solaris-11.1": 100, "0.7.13": 250}),
    ],
)
def test_behaviour_by_release(attribute: str, expected: dict[str, Any]) -> None:
    assert {name: getattr(load_release(name), attribute) for name in expected} == expected


@pytest.mark.parametrize(
    ("name", "operation", "idle", "busy"),
    [
        ("freebsd-9.1", "resilver", 6, 3),
        ("freebsd-9.1", "scrub", 6, 1),
        ("0.6.5", "resilver", 5, 3),
        ("0.7.13", "scrub", 5, 1),
        ("2.3.9", "resilver", 5, 3),
        ("2.4.1", "resilver", 5, 1.5),
        ("2.4.1", "scrub", 5, 0.75),
        ("2.4.0", "scrub", 5, 1),
    ],
)
def test_txg_slices(name: str, operation: Any, idle: float, busy: float) -> None:
    profile = load_release(name)
    assert (profile.txg_slice(operation), profile.txg_slice(operation, busy=True)) == (idle, busy)


def test_a_long_minimum_outlasts_the_timeout_in_the_sorted_scan_only() -> None:
    long = {"zfs_resilver_min_time_ms": 9000}
    assert load_release("2.3.9").with_tunables(long).txg_slice() == 9
    assert load_release("0.7.13").with_tunables(long).txg_slice(busy=True) == 5


def test_allocators_follow_the_processors_from_2_3() -> None:
    assert [load_release("2.3.9").allocator_count(cpus) for cpus in (1, 4, 8, 64)] == [1, 1, 2, 4]
    assert load_release("2.2.0").allocator_count(1) == 4
    assert load_release("0.7.13").allocator_count(64) == 1


def test_limits_on_dirty_data() -> None:
    gib = 1 << 30
    assert load_release("2.3.9").dirty_data_max(16 * gib) == 16 * gib // 10
    assert load_release("2.3.9").dirty_data_max(128 * gib) == 4 * gib
    assert load_release("0.6.5.9").dirty_data_max(128 * gib) == 128 * gib // 10
    assert load_release("2.3.9").with_tunables({"zfs_dirty_data_max": "1G"}).dirty_data_max(gib) == gib
    with pytest.raises(InputError, match="limits writes"):
        load_release("freebsd-9.1").dirty_data_max(8 * gib)


def test_tunables_can_be_set_by_name_sysctl_and_unit() -> None:
    profile = load_release("freebsd-9.1").with_tunables(
        {
            "vfs.zfs.vdev.max_pending": "20",
            "vfs.zfs.txg.timeout": 10,
            "zfs_resilver_delay": 0,
            "vfs.zfs.no_scrub_prefetch": "on",
        }
    )
    names = ("zfs_vdev_max_pending", "zfs_txg_timeout", "zfs_resilver_delay", "zfs_no_scrub_prefetch")
    assert [profile.tunables[name] for name in names] == [20, 10, 0, 1]
    assert (
        load_release("2.3.9").with_tunables({"zfs_scan_vdev_limit": "32M"}).tunables["zfs_scan_vdev_limit"]
        == 32 << 20
    )
    assert load_release("freebsd-9.1").tunables["zfs_vdev_max_pending"] == 10  # the original is untouched


def test_every_sysctl_of_freebsd_leads_to_its_tunable() -> None:
    data = model_data.load("releases", "freebsd-9.1")["tunables"]
    profile = load_release("freebsd-9.1")
    named = {name: entry["sysctl"] for name, entry in data.items() if "sysctl" in entry}
    assert len(named) >= 25
    assert {name: profile.tunable_name(sysctl) for name, sysctl in named.items()} == {
        name: name for name in named
    }


@pytest.mark.parametrize(
    ("release", "name", "instead"),
    [
        ("2.3.9", "zfs_resilver_delay", "use zfs_vdev_scrub_max_active"),
        ("2.3.9", "vfs.zfs.top_maxinflight", "use zfs_scan_vdev_limit"),
        ("2.3.9", "zfs_vdev_max_pending", "use zfs_vdev_scrub_max_active"),
        ("freebsd-9.1", "zfs_vdev_scrub_max_active", "use zfs_vdev_max_pending"),
        ("zol-0.7", "zfs_scan_vdev_limit", "use zfs_top_maxinflight"),
        ("2.1.0", "zfs_rebuild_queue_limit", "use zfs_rebuild_vdev_limit"),
        ("2.0.0", "zfs_rebuild_vdev_limit", "use zfs_rebuild_queue_limit"),
        ("2.3.9", "spa_allocators", "use spa_num_allocators"),
        ("0.7.13", "zfs_scan_legacy", "always legacy"),
        ("0.7.13", "zfs_vdev_nia_delay", "openzfs-2.0"),
        ("2.3.9", "zfs_vdev_scrub_max_actve", "try zfs_vdev_scrub_max_active"),
        ("2.3.9", "nonsense", "known are"),
    ],
)
def test_a_tunable_the_release_lacks_is_refused_with_what_replaced_it(
    release: str, name: str, instead: str
) -> None:
    with pytest.raises(InputError, match="^tunable") as caught:
        load_release(release).with_tunables({name: 1})
    assert instead in str(caught.value)
    assert name in str(caught.value)


def test_what_replaced_a_tunable_always_exists_in_the_release() -> None:
    from zsim.scenario.releases.renamed import _REPLACED, what_replaced

    for series in SERIES:
        profile = load_release(series)
        for name in _REPLACED:
            answer = what_replaced(name, profile.tunables, one_queue=profile.queue == "single")
            if answer and "use " in answer and name not in profile.tunables:
                assert answer.rpartition("use ")[2] in profile.tunables, (series, name)


@pytest.mark.parametrize("value", ["many", -1, 1.5, float("nan"), float("inf"), "1e3", "", 2**70, -(10**400)])
def test_values_that_are_no_tunable_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="zfs_txg_timeout"):
        load_release("2.3.9").with_tunables({"zfs_txg_timeout": value})


def test_a_switch_is_on_or_off() -> None:
    with pytest.raises(InputError, match="0 or 1"):
        load_release("2.3.9").with_tunables({"zfs_scan_legacy": 2})
    assert load_release("2.3.9").with_tunables({"zfs_scan_legacy": True}).order == "legacy"
    assert load_release("2.3.9").order == "sorted"


def test_a_profile_cannot_be_changed_and_survives_pickling() -> None:
    profile = load_release("2.3.9")
    with pytest.raises(AttributeError):
        profile.hz = 100  # type: ignore[misc]
    with pytest.raises(TypeError):
        profile.tunables["zfs_txg_timeout"] = 1  # type: ignore[index]
    twin = pickle.loads(pickle.dumps(profile))
    assert twin == profile
    assert hash(twin.tunables) == hash(profile.tunables)
    assert profile.details["zfs_txg_timeout"].unit == "s"


def test_a_damaged_profile_is_refused_by_file_and_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = model_data.find("releases", "openzfs-0.8").read_text()
    folder = tmp_path / "models" / "releases"
    folder.mkdir(parents=True)
    (folder / "mine-1.0.toml").write_text(source.replace('choice = "sorted"', 'choice = "random"'))
    monkeypatch.setattr(model_data, "models_directory", lambda: tmp_path / "models")
    with pytest.raises(InputError, match=r"mine-1\.0\.toml: behaviour\.scan\.choice 'random'"):
        load_release("mine-1.0")


def test_a_tunable_that_a_release_of_a_user_lacks_is_named_with_what_to_do(tmp_path: Path) -> None:
    known = load_release("openzfs-0.8").tunables
    few = Tunables({name: value for name, value in known.items() if name != "zfs_vdev_max_ms_shift"})
    assert "zfs_vdev_max_ms_shift" not in few
    assert few.get("zfs_vdev_max_ms_shift", 7) == 7
    with pytest.raises(InputError, match=r"zfs_vdev_max_ms_shift is missing.*\[tunables\] of its file"):
        few["zfs_vdev_max_ms_shift"]
    shipped = model_data.models_directory() / "releases" / "openzfs-0.8.toml"
    name = "zfs_vdev_default_ms_shift"
    lines = [each for each in shipped.read_text().splitlines() if not each.startswith(name)]
    path = tmp_path / "m.toml"
    path.write_text("\n".join(lines))
    words = [
        "predict",
        "--layout",
        "raidz1x4",
        "--fill",
        "0.2",
        "--drive-size",
        "20GB",
        "--release",
        str(path),
    ]
    assert main(words) == 2
