"""How far readers look: lines and words up to a length, rows up to a number; errors name the line."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.observe.devices.labels import MAX_NAME, device_of
from zsim.observe.devices.listings import lsblk_drives
from zsim.observe.devices.models import model_of
from zsim.observe.devices.of_zfs import MOST_DEPTH, zfs_devids, zpool_columns
from zsim.observe.devices.reports import hdparm_drives, smartctl_drives
from zsim.observe.devices.sentences import LONGEST, MOST_LINES, said_drives
from zsim.observe.drives.samples import dd_samples, fio_samples
from zsim.observe.evidence.activity import MOST_SAMPLES, Samples
from zsim.observe.evidence.benchmarks import MOST_JOBS, read_benchmarks
from zsim.observe.evidence.host_iostat import read_host_iostat
from zsim.observe.evidence.pool_iostat import read_iostat
from zsim.observe.evidence.scans import PoolThen, finished, running
from zsim.observe.pool_import import gather
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.given.files import MAX_FILES, PoolFiles, paths_of
from zsim.observe.pool_import.given.host_facts import VERSION_DOCUMENT
from zsim.observe.texts import duration, plain, whole
from zsim.observe.traces.trace import Request, Trace, bad_line, lines_of, trace_of
from zsim.observe.zdb.blocks import MAX_ROWS, read_statistics
from zsim.observe.zdb.configuration import parse
from zsim.observe.zdb.metaslabs import read_metaslabs
from zsim.observe.zpool import listing, listing_json, status_json
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import read_scan, read_status
from zsim.observe.zpool.vdev_tree import MAX_DEPTH, named_vdev, nested
from zsim.scenario.evidence import FinishedScan

NOON = datetime(2026, 11, 15, 12, 0, 0)


# Errors name the line.

METASLAB = "\tmetaslab      0   offset            0   spacemap    7   free     512M\n"
TABLE = "Blocks\tLSIZE\tPSIZE\tASIZE\t  avg\t comp\t%Total\tType\n"
ROW = "     2\t 256K\t   8K\t  24K\t  12K\t32.00\t  0.02\tfile\n"
STATUS = "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE  0 0 0\n"


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (read_metaslabs, f"head\n{METASLAB}{METASLAB.replace('512M', '512Q')}", 3),
        (read_metaslabs, f"{METASLAB.replace('            0 ', ' 4000000000000000 ')}", 1),
        (read_statistics, f"a\nb\n{TABLE}{ROW * (MAX_ROWS + 1)}", 3 + MAX_ROWS + 1),
        (read_status, f"{STATUS}\t  {'x' * 1025}  ONLINE  0 0 0\n", 7),
        (listing.read_list, "a\n\nNAME SIZE ALLOC FREE HEALTH\ntank 4T - 3T ONLINE\n", 4),
    ],
)
def test_an_error_names_the_line_counted_from_one(read: Any, text: str, line: int) -> None:
    with pytest.raises(InputError, match=f"line {line}\\b"):
        read(text)


def test_samples_and_traces_name_the_line_too(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("offset,rate\n0,100MB/s\n0,fast\n")
    with pytest.raises(InputError, match="line 3"):
        dd_samples(path, 10**12)
    path.write_text("1000, 1000, 0, 4096\n\n1000, x, 0, 4096\n")
    with pytest.raises(InputError, match="line 3"):
        fio_samples(path, 10**12)
    path.write_text("# one\n\na\n b \n")
    assert list(lines_of(path)) == [(3, "a"), (4, "b")]
    assert "line 7" in str(bad_line(path, 7, "x", "form"))
    with pytest.raises(InputError, match="request 2"):
        trace_of([Request(0.0, "d", False, 0, 512), Request(0.0, "d", False, 0, 0)], "x")


def test_so_many_rows_are_read_and_no_more() -> None:
    assert len(read_statistics(f"{TABLE}{ROW * MAX_ROWS}").rows) == MAX_ROWS
    found = Samples("x")
    for number in range(MOST_SAMPLES + 2):
        found.put("a", {"reads": float(number)})
    assert len(found.samples) == MOST_SAMPLES
    job = {"jobname": "j", "job options": {"rw": "read"}, "read": {"iops": 1.0}}
    text = json.dumps({"fio version": "3", "jobs": [job] * (MOST_JOBS + 1)})
    assert len(read_benchmarks(text)[0]) == MOST_JOBS
    # A job of two directions is two results: of all so many are kept.
    both = job | {"job options": {"rw": "rw"}, "write": {"iops": 1.0}}
    text = json.dumps({"fio version": "3", "jobs": [both] * MOST_JOBS})
    assert len(read_benchmarks(text)[0]) == MOST_JOBS


def test_directories_hold_so_many_files_at_most(tmp_path: Path) -> None:
    one = tmp_path / "x"
    one.write_text("x")
    assert len(paths_of([one] * MAX_FILES)) == MAX_FILES
    for count in (0, MAX_FILES + 1):
        with pytest.raises(InputError, match="files"):
            paths_of([one] * count)


# Lines and words.


def test_a_row_of_a_status_has_a_name_of_so_many_letters_and_notes_behind_its_counters() -> None:
    [status] = read_status(f"{STATUS}\t  {'x' * 1024}  ONLINE  0 0 0\n")
    assert len(status.vdevs[0].name) == 1024
    rows = (
        "\t  sda  ONLINE  1 2 3  (resilvering)\n\t  sdb  ONLINE  was /dev/sdx\n\t  sdc  ONLINE  1 2 3\n"
        "\t  sdd  ONLINE\n\t  sde  NOSTATE  0 0 0\n\t  sdf  ONLINE  1 2 x\n"
    )
    [status] = read_status(STATUS + rows)
    assert [(leaf.name, leaf.note, tuple(leaf.errors)[:3]) for leaf in status.vdevs] == [
        ("sda", "(resilvering)", (1, 2, 3)), ("sdb", "was /dev/sdx", (0, 0, 0)), ("sdc", "", (1, 2, 3)),
        ("sdd", "", (0, 0, 0)), ("sdf", "", (0, 0, 0)),
    ]  # fmt: skip
    slow = STATUS.replace("CKSUM", "CKSUM SLOW") + "\t  sda  ONLINE  1 2 3 4\n"
    assert tuple(read_status(slow)[0].vdevs[0].errors) == (1, 2, 3, 4)


def test_scan_lines_name_the_vdev_that_is_rebuilt_and_the_date_alone_before_a_comma() -> None:
    named = read_scan(["resilver (draid1:2d:4c:1s-0) in progress since Sun Nov 15 12:00:00 2026"])
    assert named is not None
    assert (named.function, named.vdev, named.at) == ("rebuild", "draid1:2d:4c:1s-0", NOON)
    plain_one = read_scan(
        ["resilver in progress since Sun Nov 15 12:00:00 2026, 1T scanned out of 4T, 25% done"]
    )
    assert plain_one is not None
    assert (plain_one.function, plain_one.vdev, plain_one.at, plain_one.total) == (
        "resilver",
        "",
        NOON,
        4 << 40,
    )
    assert read_scan([]) is None
    assert read_scan(["none requested"]) is None
    assert read_scan(["error scrub in progress since Sun Nov 15 12:00:00 2026"]) is None
    # Up to three lines belong to the progress.
    lines = [
        "scrub in progress since Sun Nov 15 12:00:00 2026",
        "a",
        "b",
        "1T scanned out of 4T",
        "25% done, 1h0m to go",
    ]
    found = read_scan(lines)
    assert found is not None
    assert (found.scanned, found.to_go) == (1 << 40, None)


@pytest.mark.parametrize(("blanks", "drives"), [(980, 1), (1001, 0)])
def test_rows_of_lists_are_a_thousand_letters_long_at_most(blanks: int, drives: int) -> None:
    row = "sda ONLINE 0 0 0  NOBODY  4T"
    text = f"NAME STATE READ WRITE CKSUM  model size\n{row}{' ' * (blanks - len(row))}\n"
    assert len(list(zpool_columns(text))) == drives
    lsblk = f"NAME MODEL\nsda  NOBODY{' ' * (blanks - 11)}\n"
    assert len(list(lsblk_drives(lsblk))) == drives
    iostat = f"Device r/s w/s %util\nsda 1 2 3{' ' * (blanks - 9)}\n"
    assert len(read_host_iostat(f"iostat -xy\n{iostat}").usable) == drives


def test_rows_of_iostat_are_two_thousand_letters_long_at_most() -> None:
    head = "        capacity     operations     bandwidth\npool  alloc  free  read  write  read  write\ntank 1T 2T 3 4 5 6\n"  # noqa: E501
    row = "  sda - - 3 4 5 6"
    for blanks, drives in ((2000, 1), (2001, 0)):
        samples = read_iostat(f"{head}{row}{' ' * (blanks - len(row))}\n").samples
        assert sum(map(len, samples)) == drives


def test_sentences_have_some_letters_and_no_more_than_a_line() -> None:
    words = "all drives are WD40EFPX"
    for length, said in ((LONGEST, 1), (LONGEST + 1, 0)):
        assert len(list(said_drives(words.ljust(length)))) == said
    assert len(list(said_drives("4x WD40 hdd"))) <= 1
    below = "x\n" * (MOST_LINES - 1) + words
    assert len(list(said_drives(below))) == 1
    assert list(said_drives(f"x\n{below}")) == []


def test_names_are_cut_where_no_tool_prints_more() -> None:
    assert len(device_of("x" * (MAX_NAME + 5))) == MAX_NAME
    assert len(model_of("A " + "x" * 300).name) == 200
    assert plain("x" * 81)[-3:] == "..."
    assert whole("9" * 19) is None
    assert whole("1" * 19) == int("1" * 19)
    assert duration("1h" + " " * 27 + "1m") is None or len("1h" + " " * 27 + "1m") >= 30
    assert len(status_json._text("x" * 2000)) == 1024
    assert status_json._text((1 << 64) - 1) == str((1 << 64) - 1)
    assert status_json._text(1 << 64) == ""
    assert status_json._text(-(1 << 64)) == ""


def test_the_begin_of_a_document_tells_what_it_is() -> None:
    def list_of(blanks: int) -> str:
        return '{"x": "' + " " * (blanks - 7) + '", "command": "zpool list"}'

    assert listing_json.recognises(list_of(100))
    assert not listing_json.recognises(list_of(5000))
    pools = '{"pools": {"tank": {"x": "' + "y" * 60_000 + '", "allocated": 1}}}'
    assert listing_json.recognises(pools)
    assert not listing_json.recognises(pools.replace("y" * 60_000, "y" * 70_000))
    assert status_json.recognises('  {"output_version": 1}')
    assert status_json.recognises('{"pools": {}}')
    assert not status_json.recognises('{"x": 1}')
    assert not status_json.recognises('"pools"')
    assert VERSION_DOCUMENT.recognises('{"kernel": "zfs-kmod-2.3.0-1"}')
    assert not VERSION_DOCUMENT.recognises('{"x": "' + "y" * 5000 + '", "kernel": "zfs-kmod-2.3.0-1"}')


def test_reports_are_read_as_far_as_they_are_long() -> None:
    def smart(gap: int) -> list[Any]:
        head = "/dev/sda\n=== START OF INFORMATION SECTION ===\n"
        return list(
            smartctl_drives(f"{head}Device Model:     NOBODY\n{'x' * gap}\nSerial Number:    AB123456\n")
        )

    assert smart(7000)[0].serial == "AB123456"
    assert smart(9000)[0].serial == ""
    far = "/dev/sda\n" + "x" * 700 + "\n=== START OF INFORMATION SECTION ===\nDevice Model:     NOBODY\n"
    assert next(smartctl_drives(far)).device == ""
    text = "/dev/sda:\n\tModel Number:       NOBODY\n{}\n\tSerial Number:      AB123456\n"
    assert next(hdparm_drives(text.format("x" * 11_000))).serial == "AB123456"
    assert next(hdparm_drives(text.format("x" * 13_000))).serial == ""


def test_trees_are_so_deep_and_no_deeper() -> None:
    def devids(depth: int) -> int:
        data: dict[str, Any] = {"name": "sda", "devid": "ata-NOBODY_4000_AB123456"}
        for _ in range(depth):
            data = {"x": data}
        return len(list(zfs_devids(json.dumps(data))))

    assert (devids(MOST_DEPTH), devids(MOST_DEPTH + 1)) == (1, 0)
    rows = [(number, named_vdev(f"x{number}")) for number in range(MAX_DEPTH + 3)]
    depth, [vdev] = 1, nested(rows)
    while vdev.children:
        depth, vdev = depth + 1, vdev.children[0]
    assert depth == MAX_DEPTH
    children: object = {"sda": {"vdev_type": "disk"}}
    assert len(status_json._children(children, MAX_DEPTH)) == 1
    assert status_json._children(children, MAX_DEPTH + 1) == ()
    text = "".join(f"{' ' * number}a{number}:\n" for number in range(40))
    node, tables = parse(text, "x"), 0
    while node.tables:
        tables, node = tables + 1, node.tables[0][1]
    assert tables == 2 * MAX_DEPTH


# Evidence.


def test_sources_are_told_once_and_five_of_them() -> None:
    found = [SimpleNamespace(source=f"s{n}, more") for n in (1, 1, 2, 3, 4, 5, 6)]
    assert gather.sources_of(found) == "s1, s2, s3, s4, s5"
    assert gather.sources_of([SimpleNamespace(source="")]) == ""
    long = finished(Scan("scrub", "finished", elapsed=1.0), PoolThen(), "x" * 400)
    assert long is not None
    assert len(long.source) == 300
    runs = running(Scan("scrub", "running"), None, PoolThen(), "x" * 400)
    assert runs is not None
    assert len(runs.source) == 300


def test_so_many_states_of_a_scan_are_kept_and_those_of_one_that_is_over_are_counted() -> None:
    from zsim.observe.zpool.status import PoolStatus

    def states(count: int, over: tuple[FinishedScan, ...] = ()) -> tuple[int, list[str]]:
        statuses = [
            PoolStatus("t", "", (), at=NOON + timedelta(minutes=n),
                       scans=(Scan("scrub", "running", form="2.2", at=NOON, issued=n + 1, total=10**9),))
            for n in range(count)
        ]  # fmt: skip
        outputs = PoolOutputs(PoolFiles(), statuses=statuses)
        return len(gather._running(outputs, PoolThen(), over)), outputs.notes

    assert states(3) == (3, [])
    assert states(gather.MOST_RUNNING + 1)[0] == gather.MOST_RUNNING
    ended = FinishedScan(kind="scrub", duration=3600.0, end=NOON + timedelta(hours=1))
    count, [note] = states(1, (ended,))
    assert count == 0
    assert note.startswith("1 status of a scan that is over by another output is left out")
    assert states(2, (ended,))[1][0].startswith(
        "2 statuses of a scan that is over by another output are left"
    )


def test_a_trace_names_its_devices_and_takes_the_only_one() -> None:
    two = trace_of([Request(5.0, "a", False, 0, 512), Request(7.0, "b", True, 512, 1024)], "x")
    one = two.of_device("b")
    assert (one.arrival.tolist(), one.devices, one.end) == ([0.0], ("b",), 1536)  # type: ignore[union-attr]
    assert one.of_device(None).devices == ("b",)
    for name in (None, "c"):
        with pytest.raises(InputError, match="a, b"):
            two.of_device(name)
    untimed = Trace(None, two.offset, two.length, two.is_write, two.device, two.devices)
    assert [each.arrival for each in untimed.requests()] == [0.0, 0.0]
