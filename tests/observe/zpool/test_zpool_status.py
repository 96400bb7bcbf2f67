"""zpool status: every form of the scan line, the tree of vdevs, and pastes that lost something."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from zsim.base.errors import InputError
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.texts import decoded, moment, nice_bytes
from zsim.observe.zpool.status import read_scan, read_status, recognises
from zsim.observe.zpool.status_json import read_status_json

FIXTURES = Path(__file__).parents[1] / "fixtures"
G, T = 1 << 30, 1 << 40


def status(name):
    return read_status(decoded((FIXTURES / name).read_bytes()), name)[0]


def shape(vdev):
    return (vdev.kind, [shape(child) for child in vdev.children]) if vdev.children else vdev.kind


def test_version_28_of_freebsd():
    pool = status("status-freebsd-9.1-running.txt")
    assert (pool.name, pool.state, pool.complete, pool.tabbed) == ("export", "DEGRADED", True, False)
    assert shape(pool.vdevs[0]) == (
        "raidz",
        [("replacing", ["disk", "disk"]), "disk", "disk", "disk", "disk"],
    )
    assert pool.vdevs[0].parity == 2
    old, new = pool.vdevs[0].children[0].children
    assert (old.state, old.note, new.resilvering) == ("UNAVAIL", "was /dev/ada5p1", True)
    scan = pool.scan
    assert (scan.function, scan.state, scan.form) == ("resilver", "running", "legacy")
    assert (scan.scanned, scan.total) == (248 * G, nice_bytes("2.84T"))
    assert (scan.repaired, scan.done, scan.to_go) == (nice_bytes("49.4G"), 0.0853, 13 * 3600 + 14 * 60)
    assert scan.scan_rate == nice_bytes("57.1M")
    assert scan.at == datetime(2014, 8, 1, 13, 41, 48)


def test_a_resilver_that_is_over():
    scan = status("status-freebsd-9.1-done.txt").scan
    assert (scan.state, scan.repaired, scan.elapsed, scan.errors) == ("finished", 580 * G, 60900, 0)
    assert (scan.form, scan.at) == ("legacy", datetime(2014, 8, 2, 6, 37, 2))


def test_solaris_and_blanks_that_do_not_break():
    pool = status("status-solaris-v35-six.txt")
    assert [child.kind for child in pool.vdevs[0].children] == ["replacing"] * 6
    assert pool.scan.form == "solaris"
    assert (pool.scan.total, pool.scan.repaired) == (nice_bytes("12.9T"), nice_bytes("7.49T"))
    assert pool.scan.issue_rate == 124 << 20
    assert status("status-solaris-v34.txt").scan.form == "legacy"


@pytest.mark.parametrize(
    ("name", "form", "scanned", "issued", "total", "to_go"),
    [
        ("status-0.7.txt", "legacy", "1.02T", None, "8.12T", 45660),
        ("status-0.8.txt", "0.8", "3.81T", "3.18T", "5.50T", 19931),
        ("status-2.1.txt", "2.0", "18.1T", "13.3T", "20.3T", 463),
        ("status-rebuild-2.1.txt", "2.0", "1.20T", "1.10T", "4.00T", 1071),
        ("raidz2-2.2/status.txt", "2.2", "9.71T", "3.04T", "13.5T", 14771),
    ],
)
def test_every_form_of_progress(name, form, scanned, issued, total, to_go):
    scan = status(name).scan
    assert scan.form == form
    assert (scan.scanned, scan.total) == (nice_bytes(scanned), nice_bytes(total))
    assert scan.issued == (nice_bytes(issued) if issued else None)
    assert scan.to_go == to_go


def test_0_7_is_tabbed_and_has_other_sections():
    pool = status("status-0.7.txt")
    assert pool.tabbed
    assert [shape(vdev) for vdev in pool.vdevs] == [
        ("mirror", ["disk", ("replacing", ["disk", "disk"])]),
        ("mirror", ["disk", "disk"]),
    ]
    assert {key: len(vdevs) for key, vdevs in pool.sections.items()} == {"logs": 1, "cache": 1, "spares": 1}


def test_spare_special_and_draid():
    assert shape(status("status-0.8.txt").vdevs[0])[1][0] == ("spare", ["disk", "disk"])
    assert set(status("status-2.1.txt").sections) == {"special"}
    draid = status("status-rebuild-2.1.txt")
    assert draid.scan.function == "rebuild"
    assert (draid.vdevs[0].parity, draid.vdevs[0].data, draid.vdevs[0].spares) == (2, 4, 1)
    assert draid.vdevs[0].drives == 11
    assert shape(draid.vdevs[0])[1][1] == ("spare", ["disk", "distributed-spare"])


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["none requested"], None),
        (["resilver canceled on Mon Mar  5 09:12:44 2018"], ("resilver", "canceled", "")),
        (["scrub paused since Mon Mar 5 2018", "1T scanned out of 2T"], ("scrub", "paused", "legacy")),
        (["resilvered 1.5T in 0 days 01:02:03 with 0 errors on x"], ("resilver", "finished", "0.8")),
        (["resilvered 1.5T in 01:02:03 with 0 errors on x"], ("resilver", "finished", "2.0+")),
        (["scrub repaired 0B in 2 days 03:07:51 with 0 errors on x"], ("scrub", "finished", "")),
        (["resilvered (mirror-0) 1.5T in 00:40:00 with 0 errors on x"], ("rebuild", "finished", "2.0+")),
        (["resilver in progress since x", "1T / 2T scanned, 1T / 2T issued",
          "0B resilvered, 1.00% done, no estimated completion time"], ("resilver", "running", "2.2")),
        (["resilver in progress since x",
          "248G scanned out of 2.84T at 5M/s, (scan is slow, no estimated time)"],
         ("resilver", "running", "legacy")),
        (["resilver in progress since x", "1T scanned at 1G/s, 1T issued at 1G/s, 2T total",
          "1G resilvered, 5.00% done, 2 days 01:00:00 to go"], ("resilver", "running", "0.8+")),
    ],
)  # fmt: skip
def test_other_scan_lines(lines, wanted):
    scan = read_scan(lines)
    assert (scan and (scan.function, scan.state, scan.form)) == wanted


def test_comma_decimals_are_points():
    text = (FIXTURES / "status-freebsd-9.1-running.txt").read_text().replace("2.84T", "2,84T")
    text = text.replace("49.4G resilvered, 8.53%", "49,4G resilvered, 8,53%").replace("57.1M", "57,1M")
    assert read_status(text)[0].scan == status("status-freebsd-9.1-running.txt").scan


@pytest.mark.parametrize(
    "date",
    [
        "Fri Aug  1 13:41:48 2014",
        "Fri 01 Aug 2014 01:41:48 PM CEST",
        "2014-08-01 13:41:48",
        "Fr 1. Aug 13:41:48 2014",
        "1 August 2014 13:41:48",
    ],
)
def test_dates_in_any_order(date):
    assert moment(date) == datetime(2014, 8, 1, 13, 41, 48)


@pytest.mark.parametrize(
    "date", ["", "yesterday", "Fri Aug 41 13:41:48 2014", "Fri Aug 1 99:41:48 2014", "٣:٤"]
)
def test_what_is_no_date_is_none(date):
    assert moment(date) is None


def test_a_paste_without_indentation_keeps_its_tree():
    lines = (FIXTURES / "status-freebsd-9.1-running.txt").read_text().splitlines()
    flat = "\n".join(" ".join(line.split()) for line in lines)
    assert shape(read_status(flat)[0].vdevs[0]) == shape(status("status-freebsd-9.1-running.txt").vdevs[0])


PASTED = """  pool: bigdata
 state: DEGRADED
config:

{rows}

errors: No known data errors
"""


@pytest.mark.parametrize(
    ("rows", "tree"),
    [
        (
            "0 bigdata / 0 raidz1-0 / 4 replacing-0 / 4 ada0 / 4 ada1  (resilvering) / 4 ada2 / 4 ada3",
            ("raidz", [("replacing", ["disk", "disk"]), "disk", "disk"]),
        ),
        ("0 devel / 8 mirror-0 / 4 ada0 / 4 ada1", ("mirror", ["disk", "disk"])),
        (
            "0 tank / 0 draid1:2d:4c:1s-0 / 0 spare-0 / 0 replacing-0 / 0 ada0/old / 0 ada0 / 0 draid1-0-0"
            " / 0 ada1 / 0 ada2 / 0 ada3",
            (
                "draid",
                [("spare", [("replacing", ["disk", "disk"]), "distributed-spare"]), "disk", "disk", "disk"],
            ),
        ),
        (
            "0 tank / 2 raidz1-0 / 4 ada0 / 4 spare-1 / 4 ada1 / 4 replacing-1 / 4 ada2 / 4 ada3 / 4 ada4",
            ("raidz", ["disk", ("spare", ["disk", ("replacing", ["disk", "disk"])]), "disk"]),
        ),
    ],
    ids=["pair level with its drives", "group further in than its drives", "pair in a pair", "pair last"],
)
def test_rows_whose_indentation_was_damaged_keep_their_tree(rows, tree):
    lines = []
    for row in rows.split(" / "):
        indent, name, *note = row.split(maxsplit=2)
        lines.append(f"{' ' * (8 + int(indent))}{name}  ONLINE  0  0  0  {''.join(note)}")
    assert shape(read_status(PASTED.format(rows="\n".join(lines)))[0].vdevs[0]) == tree


def test_several_pools_and_prose_around_them():
    one, two = (FIXTURES / "status-0.7.txt").read_text(), (FIXTURES / "status-2.1.txt").read_text()
    pools = read_status(f"$ zpool status\n{one}\nsome words ONLINE\n{two}\nmore words")
    assert [len(pool.vdevs) for pool in pools] == [2, 1]
    assert pools[1].vdevs[0].drives == 7


def test_a_cut_output_is_not_complete():
    text = (FIXTURES / "status-2.1.txt").read_text()
    assert not read_status(text[: text.index("sdf")])[0].complete


def test_other_text_is_not_recognised():
    assert not recognises("pool: maybe")
    assert not recognises("A swimming\n pool: blue\n")
    with pytest.raises(InputError, match="pool: NAME"):
        read_status("nothing")


def test_json_as_text_and_as_numbers():
    text = (FIXTURES / "status-2.3.json").read_text()
    pool = read_status_json(text)[0]
    assert shape(pool.vdevs[0]) == (
        "raidz",
        ["disk", "disk", ("replacing", ["disk", "disk"]), "disk", "disk", "disk"],
    )
    assert pool.vdevs[0].parity == 2
    assert pool.vdevs[0].children[2].children[1].resilvering
    assert (pool.scan.function, pool.scan.state, pool.scan.form) == ("resilver", "running", "json")
    assert (pool.scan.total, pool.scan.total_issued) == (nice_bytes("13.5T"), 12 * T)
    assert pool.scan.done == 0.25
    numbers = text.replace('"13.5T"', str(nice_bytes("13.5T"))).replace(
        '"Tue Mar 11 20:02:11 2025"', "1741723331"
    )
    again = read_status_json(numbers)[0]
    assert (again.scan.total, again.scan.at) == (pool.scan.total, datetime(2025, 3, 11, 20, 2, 11))


def rebuilding(**told):
    row = {
        "name": "draid2:4d:9c:1s-0", "state": "ACTIVE", "start_time": "1741723331", "end_time": "0",
        "scan_time": 7_190_000_000_000, "scanned": "3.6T", "issued": "3.2T", "rebuilt": "640G",
        "to_scan": "9T", "errors": "0", "pass_time": 3_600_000_000_000, "pass_scanned": 1800 << 30,
        "pass_issued": 1600 << 30, "pass_skipped": "1T",
    }  # fmt: skip
    stats = {"function": "SCRUB", "state": "FINISHED", "start_time": "1741000000", "end_time": "1741003600"}
    stats["rebuild_stats"] = {"draid2:4d:9c:1s-0": row | told}
    leaves = {name: {"name": name, "vdev_type": "disk", "state": "ONLINE"} for name in "abcdefghi"}
    vdev = {"name": "draid2:4d:9c:1s-0", "vdev_type": "draid", "state": "DEGRADED", "vdevs": leaves}
    pool = {"name": "t", "state": "DEGRADED", "scan_stats": stats, "vdevs": {"t": {
        "name": "t", "vdev_type": "root", "state": "DEGRADED", "vdevs": {vdev["name"]: vdev}}}}  # fmt: skip
    return json.dumps({"output_version": {}, "pools": {"t": pool}})


def test_json_tells_of_a_sequential_rebuild():
    pool = read_status_json(rebuilding())[0]
    scan = pool.scan
    assert (scan.function, scan.state, scan.at) == ("rebuild", "running", datetime(2025, 3, 11, 20, 2, 11))
    assert (scan.scanned, scan.total, scan.done) == (nice_bytes("3.6T"), 9 * T, pytest.approx(0.4))
    assert (scan.scan_rate, scan.issue_rate, scan.elapsed) == (1 << 29, round((1600 << 30) / 3600), 7190.0)
    assert (scan.total_issued, scan.repaired) == (8 * T, 640 << 30)
    assert [(each.function, each.state) for each in pool.scans] == [
        ("rebuild", "running"),
        ("scrub", "finished"),
    ]
    over = read_status_json(rebuilding(state="COMPLETE", end_time="1741730521"))[0].scans[0]
    assert (over.state, over.elapsed, over.at) == ("finished", 7190.0, datetime(2025, 3, 11, 22, 2, 1))
    assert all(each.function == "scrub" for each in read_status_json(rebuilding(state="NONE"))[0].scans)


@pytest.mark.parametrize(("told", "seconds"), [("523s", 523.0), ("-", None), ("7?", None), ("80ms", 0.08)])
def test_times_in_json_are_read_where_they_are_whole(told, seconds):
    assert read_status_json(rebuilding(scan_time=told))[0].scan.elapsed == pytest.approx(seconds)


def test_flat_json_is_nested_by_parents():
    flat = """{"output_version": {}, "pools": {"t": {"name": "t", "state": "ONLINE", "vdevs": {
      "t": {"name": "t", "vdev_type": "root", "state": "ONLINE"},
      "mirror-0": {"name": "mirror-0", "vdev_type": "mirror", "class": "normal", "parent": "t"},
      "sda": {"name": "sda", "vdev_type": "disk", "parent": "mirror-0"},
      "sdb": {"name": "sdb", "vdev_type": "disk", "parent": "mirror-0"}}}}}"""
    assert [shape(vdev) for vdev in read_status_json(flat)[0].vdevs] == [("mirror", ["disk", "disk"])]


@pytest.mark.parametrize(
    "text",
    [
        '{"pools": ',
        '{"pools": {}}',
        '{"pools": {"a": 1}}',
        "[" * 100_000,
        '{"pools": ' + "9" * 5000 + "}",
        "{}",
    ],
)
def test_bad_json_is_one_sentence(text):
    with pytest.raises(InputError) as caught:
        read_status_json(text, "status.json")
    assert str(caught.value).startswith("status.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "-", "1.2.3K", "1e9", "٣K", "9" * 30, "99999E", "K", "-5G"])
def test_what_is_no_size_is_none(text):
    assert nice_bytes(text) is None


BEFORE_28 = """\
  pool: tank
 state: DEGRADED
 scrub: resilver in progress for 1h2m, 35.10% done, 3h10m to go
config:

        NAME         STATE     READ WRITE CKSUM
        tank         DEGRADED     0     0     0
          mirror-0   DEGRADED     0     0     0
            c0t0d0   ONLINE       0     0     0
            c0t1d0   ONLINE       0     0     0  12.5G resilvered
          mirror-1   ONLINE       0     0     0
            c0t2d0   ONLINE       0     0     0  3.1G resilvered
            c0t3d0   ONLINE       0     0     0

errors: No known data errors
"""


def test_before_version_28_the_rows_of_drives_tell_what_was_resilvered():
    (scan,) = read_status(BEFORE_28)[0].scans
    assert (scan.form, scan.done, scan.elapsed, scan.to_go) == ("legacy", 0.351, 3720.0, 11400.0)
    assert scan.repaired == 12.5 * G
    (scrub,) = read_status(BEFORE_28.replace("scrub: resilver", "scrub: scrub"))[0].scans
    assert scrub.repaired is None


def test_a_thousand_pools_are_read_and_no_more():
    one = "  pool: tank{}\n state: ONLINE\n"
    text = "".join(one.format(number) for number in range(1000))
    assert len(read_status(text)) == 1000
    with pytest.raises(InputError, match="the status of at most 1000 pools"):
        read_status(text + one.format(1000))


SPARED = """\
  pool: tank
 state: DEGRADED
  scan: {scan}
config:

\tNAME                  STATE     READ WRITE CKSUM
\ttank                  DEGRADED     0     0     0
\t  {kind}              DEGRADED     0     0     0
\t    spare-0           DEGRADED     0     0     0
{old}
\t      {spare}         ONLINE       0     0     0
\t    sdb               ONLINE       0     0     0
\t    sdc               ONLINE       0     0     0
\t    sdd               ONLINE       0     0     0
\t    sde               ONLINE       0     0     0
\t    sdf               ONLINE       0     0     0
\tspares
\t  {spare}             INUSE     currently in use

errors: No known data errors
"""
RUNS = """resilver in progress since Tue Jan 21 06:44:45 2025
\t8.1T / 8.1T scanned, 1.4T / 3.1T issued at 129M/s
\t240G resilvered, 45.16% done, 03:50:15 to go"""
OVER = "resilvered 1.71T in 05:12:33 with 0 errors on Mon Nov 17 08:22:11 2025"
SUCCEEDED = """\
\t      replacing-0     DEGRADED     0     0     0
\t        ata-WDC_WD40EFRX-68N32N0_WD-W1  OFFLINE      0     0     0
\t        ata-ST16000NM001G-2KK103_Z1     ONLINE       0     0     0  (resilvering)"""
GONE = "\t      ata-WDC_WD40EFRX-68N32N0_WD-W1  FAULTED     19     2     0  too many errors"


def spared(kind, spare, old, scan):
    stated = import_pasted(
        SPARED.format(kind=kind, spare=spare, old=old, scan=scan), overrides=["drive_size=4TB"]
    )
    return stated.scenario.stated(), stated.notes


def test_a_drive_that_is_replaced_behind_its_spare_is_written_alone():
    stated, _ = spared("draid1:2d:6c:1s-0", "draid1-0-0", SUCCEEDED, RUNS)
    assert (stated["target"], stated["old_drive"], stated["replace"]) == ("new-drive", "missing", 1)
    stated, _ = spared("raidz2-0", "sdz", SUCCEEDED, RUNS)
    assert (stated["old_drive"], stated["new_drive"]) == ("online", "st16000nm001g")
    resilvers = SPARED.format(kind="draid1:2d:6c:1s-0", spare="draid1-0-0", old=GONE, scan=RUNS)
    row = "draid1-0-0         ONLINE       0     0     0"
    into_spare = import_pasted(resilvers.replace(row, f"{row}  (resilvering)"), overrides=["drive_size=4TB"])
    assert into_spare.scenario.stated()["target"] == "distributed-spare"


def test_a_spare_that_stands_in_is_told_and_holds_the_data():
    stated, notes = spared("raidz2-0", "sdz", GONE, OVER)
    assert (stated["old_drive"], stated["replace"]) == ("online", 1)
    assert any("sdz has replaced a missing drive" in note for note in notes)
    assert not any("not replaced yet" in note for note in notes)
    stated, _ = spared("draid1:2d:6c:1s-0", "draid1-0-0", GONE, OVER)
    assert (stated["target"], stated["old_drive"]) == ("new-drive", "missing")
