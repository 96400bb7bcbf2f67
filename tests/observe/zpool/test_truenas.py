"""``midclt call pool.query`` of TrueNAS, and parts of ``zpool status -j`` as filters leave them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.truenas import read_pool, recognises
from zsim.planning.eta.reading import read_paste

TB = 10**12
JSON_STATUS = Path(__file__).parents[1] / "fixtures" / "status-2.3.json"


def leaf(name: str, disk: str | None = None, status: str = "ONLINE", **stats: int) -> dict[str, object]:
    device = None if disk is None else f"{disk}1"
    known = {"name": name, "type": "DISK", "status": status, "path": f"/dev/disk/by-partuuid/{name}"}
    return {**known, "device": device, "disk": disk, "stats": stats, "children": []}


def pool(scan: dict[str, object] | None, **others: object) -> dict[str, object]:
    pair = {"name": "replacing-1", "type": "REPLACING", "status": "DEGRADED", "stats": {},
            "children": [leaf("b", status="OFFLINE"), leaf("c", "sdn")]}  # fmt: skip
    drives = [leaf("a", "sdl"), pair, leaf("d", "sdm", checksum_errors=1), leaf("e", "sdo")]
    vdev = {"name": "raidz1-0", "type": "RAIDZ1", "status": "DEGRADED", "stats": {}, "children": drives}
    topology = {"data": [vdev], "log": [], "cache": [], "spare": [], "special": [], "dedup": []}
    known = {"id": 1, "name": "apps", "status": "DEGRADED", "size": 16 * TB, "allocated": 8 * TB,
             "free": 8 * TB, "fragmentation": "12", "scan": scan, "topology": topology}  # fmt: skip
    return {**known, **others}


RUNS: dict[str, object] = {
    "function": "RESILVER", "state": "SCANNING", "start_time": {"$date": 1790000000000}, "end_time": None,
    "percentage": 25.0, "bytes_to_process": 2 * TB, "bytes_processed": 8 * TB, "bytes_issued": 2 * TB,
    "pause": None, "errors": 0, "total_secs_left": 14400,
}  # fmt: skip


def test_a_pool_of_truenas_is_read_with_its_drives_and_space() -> None:
    text = "root@nas[~]# midclt call pool.query\n" + json.dumps([pool(RUNS)])
    found = import_pasted(text)
    stated = found.scenario.stated()
    assert (found.pool, stated["layout"], stated["alloc"]) == ("apps", "raidz1x4", 8 * TB)
    assert (stated["old_drive"], stated["replace"], stated["frag"]) == ("missing", 1, 0.12)
    assert found.places["sdn1"] == found.places["b"] == (0, 0)
    assert found.contents == {"text": ["midclt call pool.query"]}


def test_what_its_counters_say_is_not_what_they_are_called() -> None:
    """``bytes_processed`` is what there is to examine; read by name it would be what is done."""
    scan = next(each.scan for each in read_pool(json.dumps(pool(RUNS))) if isinstance(each, PoolStatus))
    assert scan is not None
    assert (scan.total, scan.issued, scan.done, scan.to_go) == (8 * TB, 2 * TB, 0.25, 14400.0)
    assert scan.issue_rate == round(6 * TB / 14400)
    found = zsim.eta(json.dumps([pool(RUNS)]))
    assert found.done == pytest.approx(0.25, abs=0.01)
    assert found.remaining_s.p50 == pytest.approx(14400, rel=0.25)
    assert found.elapsed_s == pytest.approx(4800, rel=0.1)


def test_its_scans_that_are_over_or_paused() -> None:
    def scan(**others: object) -> object:
        status = next(iter(read_pool(json.dumps(pool({**RUNS, **others})))))
        assert isinstance(status, PoolStatus)
        return status.scan

    over = scan(state="FINISHED", end_time={"$date": 1790003600000})
    assert (over.state, over.elapsed) == ("finished", 3600.0)  # type: ignore[attr-defined]
    held = scan(function="SCRUB", pause={"$date": 1790003600000})
    assert (held.state, held.since.hour) == ("paused", 14)  # type: ignore[attr-defined]
    assert scan(function=None) is None
    texts = scan(
        state="FINISHED", start_time="2026-08-20T01:00:00+00:00", end_time="2026-08-20T04:30:00+00:00"
    )
    assert texts.elapsed == 12600.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("change", [{"topology": None}, {"name": ""}, {"topology": {}}])
def test_what_is_no_pool_is_left_out(change: dict[str, object]) -> None:
    assert not [*read_pool(json.dumps(pool(RUNS, **change)))]
    with pytest.raises(InputError):
        import_pasted(json.dumps([pool(RUNS, **change)]))


def test_numbers_that_are_none_are_passed_over() -> None:
    broken = {**RUNS, "bytes_issued": "x", "bytes_processed": -1, "total_secs_left": True, "start_time": 1e30}
    status = next(iter(read_pool(json.dumps(pool(broken, size=None)))))
    assert isinstance(status, PoolStatus)
    assert status.scan is not None
    assert (status.scan.total, status.scan.issued, status.scan.at) == (None, None, None)
    assert not recognises('{"name": "x"}')


@pytest.mark.parametrize("way", ["pool", "list", "pools as a list", "behind its command"])
def test_parts_of_a_status_in_json_are_read(way: str) -> None:
    """``jq .pools.tank`` and ``jq .pools[]`` were refused, and a prompt before the document as well."""
    whole = json.loads(JSON_STATUS.read_text())
    one = next(iter(whole["pools"].values()))
    made = {
        "pool": json.dumps(one),
        "list": json.dumps([one], indent=2),
        "pools as a list": json.dumps({"pools": [one]}),
        "behind its command": "# zpool status -j\n" + json.dumps(whole),
    }
    assert read_paste(made[way]).scans == read_paste(json.dumps(whole)).scans
    assert import_pasted(made[way]).scenario == import_pasted(json.dumps(whole)).scenario


def test_json_that_breaks_off_is_called_so() -> None:
    with pytest.raises(InputError, match="whole JSON is expected"):
        zsim.eta(JSON_STATUS.read_text()[:900])
