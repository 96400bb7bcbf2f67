"""Rows reported by strangers: scenario by rule alone, claims, rules of thumb."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.scenario.model import Scenario
from zsim.validation import running
from zsim.validation.field_reports import rows, rules
from zsim.validation.frame import Claim, Options

TB = 10**12


def row(**changes: Any) -> dict[str, Any]:
    """Return a row that states what good rows state."""
    stated: dict[str, Any] = {
        "id": "someone-2019", "kind": "resilver", "vdev": "raidz2x6", "n_vdevs": 1, "drive_model": None,
        "drive_type": "CMR HDD", "drive_bytes": 4 * TB, "rpm": None, "alloc_bytes": 12 * TB,
        "pool_size_bytes": None, "fill_fraction": None, "frag_percent": None, "zfs_version": None,
        "platform": "Linux", "resilvered_bytes": None, "duration_s": 40_000, "replaced_drives": 1,
        "concurrent_load": "unknown", "tunables": None, "notes": "", "evidence": "", "confidence": "high",
        "date": "2019-05-01", "partial": False, "partial_progress": None, "scan_algorithm": "sorted",
        "experiment": None,
    }  # fmt: skip
    return stated | changes


def fields(**changes: Any) -> dict[str, Any]:
    found = rules.reading_of(row(**changes)).fields
    Scenario.from_dict(found)
    return found


def claim(directory: Path, predictor: Any, **changes: Any) -> Claim:
    path = directory / "rows.jsonl"
    stated = row(**changes)
    path.write_text(json.dumps(stated) + "\n")
    (case,) = rows.discover(path)
    return rows.claim_of(case, stated, predictor, Options())


def fake(_: Mapping[str, Any], __: Options) -> dict[str, Any]:
    points = [{"time_s": 0.0, "issued_bytes": 0}, {"time_s": 50_000.0, "issued_bytes": 10 * TB}]
    return {"resilver_s": {"p10": 30_000.0, "p50": 50_000.0, "p90": 70_000.0}, "progress": points}


def refusing(_: Mapping[str, Any], __: Options) -> dict[str, Any]:
    raise NotSimulatedYet("layout", "draid", "it is not there")


@pytest.mark.parametrize(
    ("changes", "layout"),
    [
        ({"vdev": "raidz2x6", "n_vdevs": 3}, "3*raidz2x6"),
        ({"vdev": "raidz2x6", "n_vdevs": None}, "raidz2x6"),
        ({"vdev": "mirror2 (to 3-way)"}, "mirror3"),
        ({"vdev": "mirror2+mirror2 (mirror-1 grown to 3-way)", "n_vdevs": 2}, "mirror2+mirror3"),
        ({"vdev": "draid2:9d:90c", "kind": "draid_rebuild"}, "draid2:9d:90c"),
        ({"vdev": "draid*:9d:90c", "kind": "draid_rebuild"}, "draid2:9d:90c"),
        ({"vdev": "draid1 (17 drives, 2 spares)"}, "draid1:8d:17c:2s"),
    ],
)
def test_layouts(changes: dict[str, Any], layout: str) -> None:
    assert rules.reading_of(row(**changes)).fields["layout"] == layout


@pytest.mark.parametrize("vdev", [None, "raidz3"])
def test_a_layout_without_a_width_is_refused(vdev: str | None) -> None:
    with pytest.raises(InputError, match=r"vdev|number of drives"):
        fields(vdev=vdev)


@pytest.mark.parametrize(
    ("changes", "release", "order"),
    [
        ({}, "openzfs-0.8", None),
        ({"zfs_version": "2.1.5"}, "openzfs-2.1", None),
        ({"platform": "Ubuntu 22.04, ZFS 2.1.x", "date": "2023-06-01"}, "openzfs-2.1", None),
        ({"date": "2024-06-01"}, "openzfs-2.2", None),
        ({"date": None, "id": "x-2024"}, "openzfs-2.2", None),
        ({"date": None, "id": "x"}, "openzfs-2.1", None),
        ({"scan_algorithm": "legacy", "date": "2015-01-01"}, "zol-0.6.5.6", None),
        ({"scan_algorithm": "legacy", "date": "2017-07-20"}, "zol-0.6.5", None),
        ({"scan_algorithm": "legacy", "zfs_version": "0.6.5", "date": "2016-03"}, "zol-0.6.5.6", None),
        ({"scan_algorithm": "legacy", "platform": "Linux, ZoL 0.7.x"}, "zol-0.7", None),
        ({"scan_algorithm": "legacy", "platform": "FreeBSD", "date": "2013-02-01"}, "freebsd-9.1", None),
        ({"platform": "FreeBSD 13"}, "openzfs-2.1", None),
        ({"platform": "Solaris 10", "scan_algorithm": "legacy"}, "solaris-11.1", None),
        ({"vdev": "draid1:4d:11c:1s", "scan_algorithm": "legacy"}, "openzfs-2.1", "legacy"),
    ],
)
def test_releases(changes: dict[str, Any], release: str, order: str | None) -> None:
    found = fields(**changes)
    assert found["release"] == release
    assert found.get("order") == order


def test_data_comes_from_what_was_resilvered_then_from_alloc() -> None:
    assert fields(resilvered_bytes=2 * TB)["alloc"] == 12 * TB
    assert fields(resilvered_bytes=2 * TB, replaced_drives=2)["alloc"] == 6 * TB
    assert fields(vdev="mirror2", n_vdevs=2, resilvered_bytes=TB, alloc_bytes=None)["alloc"] == 2 * TB
    assert fields()["alloc"] == 12 * TB
    assert fields(alloc_bytes=None, fill_fraction=0.5)["fill"] == 0.5
    assert "alloc" not in fields(alloc_bytes=None)
    assert "fill" not in fields(alloc_bytes=None)
    assert fields(kind="scrub", resilvered_bytes=TB)["alloc"] == 12 * TB


@pytest.mark.parametrize("key", ["duration_s", "evidence", "partial_progress", "confidence"])
def test_no_duration_and_no_rate_is_an_input(key: str) -> None:
    other = {
        "duration_s": 1,
        "evidence": "58 MB/s",
        "partial_progress": {"issued_rate_bytes_s": 1},
        "confidence": "low",
    }
    assert rules.reading_of(row(**{key: other[key]})) == rules.reading_of(row())


def test_drives_by_model_by_series_or_not_at_all() -> None:
    assert fields(drive_model="3x WD40EFRX-68WT0N0")["drive"] == "wd40efrx"
    assert "drive_size" not in fields(drive_model="WD40EFRX")
    series = fields(drive_model="WD60EFZX", drive_bytes=6 * TB)
    assert (series["drive"], series["drive_size"]) == ("generic-5400rpm-cmr", 6 * TB)
    assert (
        fields(drive_model="HUH721212ALE601", drive_bytes=12 * TB, rpm=7200)["drive"] == "generic-7200rpm-cmr"
    )
    assert "drive" not in fields()
    assert fields(drive_type="SATA SSD")["drive"] == "generic-sata-ssd"
    assert fields(drive_type="SMR HDD")["drive"] == "generic-5400rpm-smr"


def test_a_larger_new_drive_is_told_by_the_size_of_the_pool() -> None:
    found = fields(
        vdev="mirror2", alloc_bytes=int(1.6 * TB), pool_size_bytes=1_990_116_046_275, drive_bytes=6 * TB,
        drive_type="target 6 TB SMR HDD; source 2 TB CMR HDD",
    )  # fmt: skip
    assert (found["drive_size"], found["new_drive"]) == (2 * TB, "generic-5400rpm-smr")
    assert found["new_drive_size"] == 6 * TB


def test_unknown_capacity_follows_from_the_data() -> None:
    assert fields(drive_bytes=None)["drive_size"] == 3 * TB


def test_load_and_tunables_as_far_as_they_are_told() -> None:
    heavy = fields(concurrent_load="heavy: production", tunables="zfs_txg_timeout=15, zfs_no_such_thing=1")
    # 20 I/Os a second on each of six drives; a record touches the four data drives.
    assert heavy["load"] == [{"kind": "random-read", "rate": 30.0}]
    assert heavy["tunables"] == {"zfs_txg_timeout": 15}
    assert fields(concurrent_load="none (idle)")["load"] == []
    assert "load" not in fields()


@pytest.mark.parametrize(
    ("changes", "category"),
    [
        ({}, "sorted"),
        ({"scan_algorithm": "legacy"}, "legacy"),
        ({"scan_algorithm": None}, "unknown"),
        ({"concurrent_load": "heavy: production"}, "loaded"),
        ({"drive_type": "SMR HDD", "concurrent_load": "heavy"}, "SMR"),
        ({"drive_type": "NVMe SSD"}, "SSD"),
        ({"kind": "draid_rebuild", "scan_algorithm": "sequential"}, "rebuild"),
    ],
)
def test_classes(changes: dict[str, Any], category: str) -> None:
    assert rules.category_of(row(**changes)) == category


def test_a_distributed_spare_is_the_target() -> None:
    found = fields(
        vdev="draid2:8d:24c:2s", kind="draid_rebuild", alloc_bytes=None, scan_algorithm="sequential"
    )
    assert (found["target"], found["operation"], found["fill"]) == ("distributed-spare", "rebuild", 0.98)


def test_short_absence_is_refused() -> None:
    with pytest.raises(NotSimulatedYet, match="short absence"):
        fields(notes="Partial (dirty time log) resilver after a short absence")


def test_time_carries_interval_experiment_class_and_rules(tmp_path: Path) -> None:
    notes = "231M/s after 2 h 24 min, ETA then 1 day 16 h, took longer"
    made = claim(tmp_path, fake, experiment="lab", resilvered_bytes=2 * TB, notes=notes)
    assert (made.claim, made.observed, made.predicted, made.p10, made.p90) == (
        "time",
        40_000,
        50_000,
        30_000,
        70_000,
    )
    assert (made.experiment, made.category, made.tolerance, made.verdict) == ("lab", "sorted", 0.3, "pass")
    assert made.details["rule_status_eta"] == 2.4 * 3600 + 40 * 3600
    rate = made.details["rule_average_rate"]
    assert rate is not None
    assert 10_000 < rate < 20_000
    assert made.to_dict()["class"] == "sorted"


@pytest.mark.parametrize("changes", [{"confidence": "low"}, {"partial": True}])
def test_weak_rows_are_for_information(tmp_path: Path, changes: dict[str, Any]) -> None:
    made = claim(tmp_path, fake, **changes)
    assert (made.claim, made.verdict) == ("time-low", "info")


def test_progress_is_compared_at_the_bytes_issued(tmp_path: Path) -> None:
    progress = {"issued_bytes": 2 * TB, "issued_rate_bytes_s": 100e6}
    made = claim(tmp_path, fake, duration_s=None, partial=True, partial_progress=progress)
    assert (made.claim, made.observed, made.predicted, made.verdict) == ("progress", 20_000, 10_000, "info")


def test_what_cannot_be_modelled_fails_as_time_and_informs_else(tmp_path: Path) -> None:
    strong = claim(tmp_path, refusing, resilvered_bytes=TB)
    assert (strong.verdict, strong.predicted) == ("fail", None)
    assert "not simulated yet" in strong.reason
    assert strong.details["rule_average_rate"] is not None
    assert claim(tmp_path, refusing, confidence="low").verdict == "info"


def test_impossible_rows_say_why(tmp_path: Path) -> None:
    stated = {"drive_model": "HUS724040ALE640", "rpm": 7200, "resilvered_bytes": 2 * TB}
    made = claim(tmp_path, fake, duration_s=4000, **stated)
    assert "2000 GB a drive in that time are 500 MB/s" in made.reason
    assert made.verdict != "info"
    assert claim(tmp_path, fake, duration_s=20_000, **stated).reason == ""


def test_unreadable_lines_fail_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "{broken\n\n" + json.dumps({"id": "a", "kind": "scrub"}) + "\n" + json.dumps(row()) + "\n"
    )
    cases = rows.discover(path)
    assert [case.name for case in cases] == ["rows-line-1", "rows-line-3", "someone-2019"]
    assert "not JSON" in cases[0].problem
    assert "'confidence'" in cases[1].problem
    assert [c.verdict for case in cases[:2] for c in running.run_case(case, Options())] == ["fail", "fail"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("315G issued at 231M/s after 2 h 24 min, ETA then 1 day 16 h, took 3 days 19 h.", 152_640.0),
        ("52.2T/6 = 8.7T. ETA 23 min in (690G issued at 490M/s): 1 day 6.6 h; took 4 days", 111_540.0),
        ("ETA unknown", None),
        ("", None),
    ],
)
def test_eta_of_zpool_status(text: str, seconds: float | None) -> None:
    assert rows.status_eta(text) == seconds


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        ({"drive_model": "ST4000DM000"}, True),
        ({"drive_model": "HGST HUH721212ALE601", "rpm": 7200, "drive_bytes": 12 * TB}, True),
        ({}, False),
        ({"drive_model": "ST4000DM000", "alloc_bytes": None}, False),
    ],
)
def test_what_counts_as_stated(changes: dict[str, Any], stated: bool) -> None:
    assert rules.reading_of(row(**changes)).stated is stated


def test_a_scrub_of_unequal_vdevs_is_that_of_the_largest() -> None:
    named = "mirror-0: 2x MD04ACA400 (4 TB); mirror-1: 2x DT01ACA200 (2 TB)"
    changes = {
        "vdev": "mirror2",
        "n_vdevs": 2,
        "drive_model": named,
        "drive_bytes": None,
        "alloc_bytes": 3 * TB,
    }
    found = fields(kind="scrub", **changes)
    assert (found["layout"], found["alloc"], found["drive_size"]) == ("mirror2", 2 * TB, 4 * TB)
    assert fields(**changes)["layout"] == "2*mirror2"
    same = {**changes, "drive_model": named.replace("(2 TB)", "(4 TB)")}
    assert fields(kind="scrub", **same)["layout"] == "2*mirror2"
