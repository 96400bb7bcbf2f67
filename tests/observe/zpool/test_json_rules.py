"""Rules of zpool status in JSON: counters, pauses, rebuilds, vdevs, moments."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from zsim.observe.zpool import status_json

# JSON.


def test_counters_of_json_are_bytes_and_its_times_seconds() -> None:
    base = {"function": "RESILVER", "state": "SCANNING", "start_time": "1700000000",
            "examined": "10G", "issued": "4G", "to_examine": "20G", "skipped": "12G",
            "processed": "1G", "errors": "3"}  # fmt: skip
    begun = datetime(2023, 11, 14, 22, 13, 20)
    told = status_json._scan(base)
    assert told is not None
    assert (told.function, told.state, told.at, told.since) == ("resilver", "running", begun, None)
    assert (told.scanned, told.issued, told.total, told.repaired) == (10 << 30, 4 << 30, 20 << 30, 1 << 30)
    assert (told.total_issued, told.done, told.errors, told.elapsed) == (8 << 30, 0.5, 3, None)
    beyond = status_json._scan(base | {"issued": "9G"})
    assert beyond is not None
    assert beyond.done == 1.0
    nothing_due = status_json._scan(base | {"skipped": "21G"})
    assert nothing_due is not None
    assert (nothing_due.total_issued, nothing_due.done) == (0, None)
    over = status_json._scan(base | {"state": "FINISHED", "end_time": "1700003600"})
    assert over is not None
    assert (over.elapsed, over.at) == (3600.0, begun + timedelta(hours=1))
    at_once = status_json._scan(base | {"state": "FINISHED", "end_time": "1700000000"})
    assert at_once is not None
    assert at_once.elapsed == 0.0
    back = status_json._scan(base | {"state": "FINISHED", "end_time": "1699999999"})
    assert back is not None
    assert back.elapsed is None
    assert status_json._scan(base | {"function": "NONE"}) is None
    assert status_json._scan(base | {"state": "NONE"}) is None


def test_a_pause_in_json_is_the_end_of_what_it_ran() -> None:
    base = {"function": "SCRUB", "state": "SCANNING", "start_time": "1700000000"}
    for word in ("-", "0", ""):
        told = status_json._scan(base | {"scrub_pause": word})
        assert told is not None
        assert told.state == "running"
    paused = status_json._scan(base | {"scrub_pause": "1700007200", "scrub_spent_paused": "3600"})
    assert paused is not None
    assert (paused.state, paused.since) == ("paused", datetime(2023, 11, 14, 22, 13, 20))
    assert paused.at == datetime(2023, 11, 15, 0, 13, 20)
    assert paused.elapsed == 3600.0
    longer = status_json._scan(base | {"scrub_pause": "1700007200", "scrub_spent_paused": "9000"})
    assert longer is not None
    assert longer.elapsed == 0.0
    at_start = status_json._scan(base | {"scrub_pause": "1700000000", "scrub_spent_paused": "0"})
    assert at_start is not None
    assert at_start.elapsed is None


def test_a_rebuild_in_json_has_the_rates_of_its_pass() -> None:
    base = {"state": "ACTIVE", "start_time": "1700000000", "scanned": "10G", "issued": "4G", "to_scan": "20G",
            "pass_skipped": "5G", "rebuilt": "1G", "scan_time": "7s", "errors": "0", "pass_time": "2s",
            "pass_scanned": "6G", "pass_issued": "3G"}  # fmt: skip
    told = status_json._rebuild(base)
    assert told is not None
    assert (told.function, told.state, told.elapsed, told.done) == ("rebuild", "running", 7.0, 0.5)
    assert (told.scan_rate, told.issue_rate, told.total_issued) == (3 << 30, 3 << 29, 15 << 30)
    assert (told.scanned, told.issued, told.total, told.repaired) == (10 << 30, 4 << 30, 20 << 30, 1 << 30)
    beyond = status_json._rebuild(base | {"scanned": "30G", "pass_skipped": "30G", "pass_time": "0s"})
    assert beyond is not None
    assert (beyond.done, beyond.total_issued, beyond.scan_rate) == (1.0, 0, None)
    over = status_json._rebuild(base | {"state": "COMPLETE", "end_time": "1700003600"})
    assert over is not None
    assert (over.state, over.at, over.done, over.scan_rate) == (
        "finished", datetime(2023, 11, 14, 23, 13, 20), None, None,
    )  # fmt: skip
    assert status_json._rebuild(base | {"state": "NONE"}) is None
    both = status_json._rebuilds({"a": base | {"state": "COMPLETE"}, "b": base, "c": {"state": "NONE"}})
    assert [each.state for each in both] == ["running", "finished"]
    assert status_json._rebuilds("none") == []


def test_what_is_copied_in_json_is_a_scan_while_it_goes_on() -> None:
    base = {"name": "raidz2-0", "state": "SCANNING", "start_time": "1700000000", "reflowed": "5G",
            "to_reflow": "20G", "copied": "1G", "to_copy": "4G", "waiting_for_resilver": "0"}  # fmt: skip
    grows, leaves_ = status_json._expansion(base), status_json._removal(base)
    assert grows is not None
    assert grows.scan is not None
    assert (grows.vdev, grows.scan.function, grows.scan.state, grows.scan.form) == (
        "raidz2-0", "expand", "running", "json",
    )  # fmt: skip
    assert (grows.scan.issued, grows.scan.total, grows.scan.done) == (5 << 30, 20 << 30, 0.25)
    assert leaves_ is not None
    assert leaves_.scan is not None
    assert (leaves_.scan.function, leaves_.scan.form, leaves_.scan.done) == ("remove", "", 0.25)
    waits = status_json._expansion(base | {"waiting_for_resilver": "1"})
    assert waits is not None
    assert waits.scan is not None
    assert waits.scan.state == "paused"
    over = status_json._expansion(base | {"state": "FINISHED"})
    assert over is not None
    assert over.scan is None
    assert status_json._removal(base | {"state": "FINISHED"}) is None
    assert status_json._expansion({"state": "SCANNING"}) is None
    done = status_json._copied(base | {"reflowed": "30G"}, "expand", "reflowed", "to_reflow")
    assert done is not None
    assert done.done == 1.0
    empty = status_json._copied(base | {"to_reflow": "0"}, "expand", "reflowed", "to_reflow")
    assert empty is not None
    assert empty.done is None


def test_vdevs_in_json_have_class_size_errors_and_whether_they_are_written() -> None:
    leaf = {"name": "sda", "vdev_type": "disk", "state": "ONLINE", "scan_processed": "7G",
            "rep_dev_size": "4T", "read_errors": "1", "write_errors": "2",
            "checksum_errors": "3", "slow_ios": "4"}  # fmt: skip
    found = status_json._vdev("sda", leaf, 2)
    assert (found.kind, found.note, found.size) == ("disk", "(resilvering)", 4 << 40)
    assert tuple(found.errors) == (1, 2, 3, 4)
    assert status_json._vdev("sda", leaf | {"scan_processed": "0"}, 2).note == ""
    assert status_json._vdev("sda", leaf | {"class": "special"}, 1).note == "special"
    group = {"name": "raidz2-0", "vdev_type": "raidz", "class": "normal", "scan_processed": "7G",
             "rep_dev_size": "4T", "vdevs": {"sda": leaf}}  # fmt: skip
    vdev = status_json._vdev("raidz2-0", group, 1)
    assert (vdev.kind, vdev.parity, vdev.note, vdev.size, vdev.drives) == ("raidz", 2, "normal", None, 1)
    assert status_json._vdev("raidz2-0", group, 2).note == ""
    # A name that tells nothing: the kind is what the type says, with the least parity.
    assert status_json._vdev("17", group | {"name": "17"}, 1).parity == 1
    assert status_json._vdev("17", {"vdev_type": "replacing"}, 2).kind == "replacing"
    assert status_json._vdev("draid1-0-0", {"vdev_type": "disk"}, 2).kind == "distributed-spare"


@pytest.mark.parametrize(
    ("value", "when"),
    [
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20)), (1700000000, datetime(2023, 11, 14, 22, 13, 20)),
        ("0", None), (1, datetime(1970, 1, 1, 0, 0, 1)), (1 << 36, None), ("Tue Nov 14 22:13:20 2023",
         datetime(2023, 11, 14, 22, 13, 20)), (True, None), (None, None), (1.5, None), ("-", None),
    ],
)  # fmt: skip
def test_moments_in_json_are_seconds_or_a_date(value: object, when: datetime | None) -> None:
    assert status_json._moment(value) == when
