"""Rules of what was measured or listed by hand: fio and dd, fits, replays, lists, tables of zdb, words."""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.drives.catalogue import load_drive
from zsim.observe import cleaning, documents, texts
from zsim.observe.drives import fit, samples
from zsim.observe.drives.fit import Measurement
from zsim.observe.evidence import benchmarks
from zsim.observe.evidence.benchmarks import read_benchmarks
from zsim.observe.pool_import import importing, release
from zsim.observe.pool_import.finding import Finding, PoolOutputs
from zsim.observe.pool_import.given import files, host_facts
from zsim.observe.pool_import.given.files import PoolFiles
from zsim.observe.traces.replay import Replay
from zsim.observe.traces.trace import Request, trace_of
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import Vdev, named_vdev

TB = 10**12


# fio and dd.


def fio(options: dict[str, Any], common: dict[str, Any] | None = None, **job: Any) -> list[Any]:
    """Return what one job of fio's JSON tells."""
    data = {
        "fio version": "3",
        "global options": common or {},
        "jobs": [{"jobname": "j", "job options": options, **job}],
    }
    return read_benchmarks(json.dumps(data))[0]


def test_a_job_of_fio_has_its_options_and_those_of_all() -> None:
    read = {"bw_bytes": 2e8, "bw": 1, "iops": 50.0}
    [one] = fio(
        {"rw": "randread", "bs": "8k", "iodepth": "4", "numjobs": "3"},
        {"filename": "/dev/sda", "bs": "4k"},
        read=read,
    )
    assert (one.access, one.of, one.rate, one.operations) == ("random-read", "drive", 2e8, 50.0)
    assert (one.size, one.depth, one.source) == (8192, 12, "fio, job j")
    # The rate in KiB/s counts where there is no other; a sum of nothing is none.
    [old] = fio({"rw": "read"}, read={"bw": 1000, "iops": 0})
    assert (old.rate, old.operations, old.size, old.depth) == (1024000.0, None, 4096, 1)
    assert fio({"rw": "read"}, read={"bw": 0, "iops": 0.0}) == []
    both = fio({"readwrite": "randrw"}, read=read, write={"iops": 5.0})
    assert [(each.access, each.operations) for each in both] == [("random-read", 50.0), ("random-write", 5.0)]
    assert fio({"rw": "trim"}, read=read) == []
    assert fio({"rw": "read"}, read={"iops": 1e15}) == []
    assert fio({"rw": "read"}, read={"iops": True}) == []


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("/dev/sda", "drive"),
        ("", "drive"),
        ("/dev/zvol/tank/x", "pool"),
        ("/dev/zd0", "pool"),
        ("/tank/x", "pool"),
    ],
)
def test_only_a_device_is_a_drive(name: str, of: str) -> None:
    assert benchmarks._of(name) == of


@pytest.mark.parametrize(
    ("options", "depth"),
    [({}, 1), ({"iodepth": "8", "numjobs": 2}, 16), ({"iodepth": "0"}, 1), ({"iodepth": "x"}, None),
     ({"iodepth": "100000"}, None), ({"iodepth": "99999"}, 99999)],
)  # fmt: skip
def test_a_depth_is_of_all_processes(options: dict[str, Any], depth: int | None) -> None:
    assert benchmarks._depth(options) == depth


def test_text_of_fio_has_units_of_its_era() -> None:
    head = "a: (g=0): rw=read, bs=(R) 1024KiB-1024KiB, ioengine=libaio, iodepth=8\n"
    new = head + "  read: IOPS=1.5k, BW=2GiB/s (1MB/s)(1MiB/1msec)\n"
    [one] = read_benchmarks(new)[0]
    assert (one.rate, one.operations, one.size, one.depth) == (2.0 * 2**30, 1500.0, 1 << 20, 8)
    [old] = read_benchmarks(head + "  read : io=1MB, bw=3KB/s, iops=7\n")[0]
    assert (old.rate, old.operations) == (3.0 * 1024, 7.0)
    [million] = read_benchmarks(head + "  read: IOPS=2M, BW=5iB/s (x)\n")[0]
    assert (million.rate, million.operations) == (5.0, 2e6)
    # A result of writes belongs to no job that reads.
    assert read_benchmarks(head + "  write: IOPS=1, BW=1MiB/s (x)\n")[0] == []


def test_a_run_of_dd_is_a_rate_with_its_command_and_a_second_at_least() -> None:
    line = "10000000 bytes (10 MB) copied, {} s, 1 MB/s\n"
    [read] = read_benchmarks("$ dd if=/dev/sda of=/dev/null bs=1M\n" + line.format("2.5"))[0]
    assert (read.access, read.of, read.rate, read.depth) == ("sequential-read", "drive", 4e6, 1)
    [write] = read_benchmarks("$ dd of=/tank/x if=/dev/zero\n" + line.format("1,0"))[0]
    assert (write.access, write.of, write.rate) == ("sequential-write", "pool", 1e7)
    found, notes = read_benchmarks("$ dd if=/dev/sda of=/dev/null\n" + line.format("0.99"))
    assert (found, len(notes)) == ([], 1)
    far = "$ dd if=/dev/sda of=/dev/null\n" + "x" * 2001 + line.format("2")
    assert read_benchmarks(far)[0] == []
    # Of several commands the last one before it.
    two = "$ dd if=/dev/sda of=/dev/null\n$ dd if=/dev/zero of=/dev/sdb\n" + line.format("2")
    assert [each.access for each in read_benchmarks(two)[0]] == ["sequential-write"]


# Samples of a drive.


def logged(text: str) -> list[Measurement]:
    """Return the samples of a bandwidth log of a drive of 1 TB."""
    return list(samples._fio_log(text, Path("x"), TB))


def test_a_bandwidth_log_goes_on_where_it_was_whatever_was_written_between() -> None:
    """1000 KiB/s for a second each: the third row begins 2 MB in."""
    found = logged("1000, 1000, 0, 4096\n\n2000, 1000, 1, 4096\n3000, 1000, 0, 4096\n3500, 0, 0, 4096\n")
    assert [each.start * TB for each in found] == pytest.approx([0.0, 2 * 1024000.0], abs=1.0)
    assert [each.value for each in found] == [1024000.0] * 2
    assert found[0].span == pytest.approx(1024000.0 / TB)
    # A clock that goes back adds nothing.
    back = logged("1000, 1000, 0, 4096\n500, 1000, 0, 4096\n")
    assert [each.start * TB for each in back] == pytest.approx([0.0, 1024000.0], abs=1.0)
    assert back[1].span == 1 / TB


@pytest.mark.parametrize(
    ("value", "size"), [("10%", TB // 10), ("1g", 1 << 30), ("5000", 5000), (7, 7), ("2.5%", TB // 40)]
)
def test_sizes_of_jobs_are_bytes_or_shares(value: object, size: int) -> None:
    assert samples._fio_size(value, TB, "x") == size


def test_random_reads_are_placed_and_have_the_depth_of_all_processes() -> None:
    job = {"read": {"iops": 100.0}, "jobname": "j"}
    options = {"rw": "randread", "bs": "8k,4k", "offset": "50%", "size": "80%", "iodepth": 4, "numjobs": "2"}
    [found] = samples._fio_job(options, job, Path("x"), TB)
    assert (found.kind, found.value, found.size, found.depth) == ("random", 100.0, 8192, 8)
    assert (found.start, found.span) == (0.5, 0.5)
    for depth in (0, samples.DEEPEST + 1):
        with pytest.raises(InputError, match="deep"):
            samples._depth({"iodepth": depth}, "x")
    assert samples._depth({"iodepth": samples.DEEPEST}, "x") == samples.DEEPEST
    [whole] = samples._fio_job({"rw": "read"}, {"read": {"iops": 1, "bw": 3}}, Path("x"), TB)
    assert (whole.value, whole.start, whole.span) == (3072.0, 0.0, 1.0)
    end = samples._sequential(1.0, TB - 1, 1000, TB, "x")
    assert end.span == 1 / TB
    with pytest.raises(InputError, match="bytes"):
        samples._sequential(1.0, TB, 1000, TB, "x")


BASE = load_drive("generic-7200rpm-cmr")


def test_rates_of_two_places_tell_outer_rate_and_ratio_and_how_well() -> None:
    truth = BASE.parameters(outer_rate=1.1, inner_ratio=0.9)
    places = (0.0, 0.01, 0.98, 0.99)
    wanted = [Measurement("sequential", 1.0, place, 0.001) for place in places]
    measured = [Measurement("sequential", fit.predict(truth, each), each.start, 0.001) for each in wanted]
    found = fit.fit_drive(BASE, measured)
    by_name = {each.name: each for each in found.factors}
    assert by_name["outer_rate"].value == pytest.approx(1.1, abs=0.01)
    assert by_name["inner_ratio"].value == pytest.approx(0.9, abs=0.01)
    # Two samples of 3 % each tell the outer rate to 3 % over the root of two.
    assert by_name["outer_rate"].standard_error == pytest.approx(1.1 * 0.03 / math.sqrt(2.0), rel=0.1)
    assert (by_name["seek"].identified, by_name["seek"].value) == (False, pytest.approx(1.0))
    assert by_name["seek"].standard_error == pytest.approx(fit._prior(BASE)[2])
    assert (found.samples, found.residual) == (4, pytest.approx(0.0, abs=0.005))
    assert 1.0 <= found.condition < 10.0


def test_the_condition_is_of_the_factors_that_move_a_sample() -> None:
    assert fit._condition(np.array([[3.0, 0.0], [0.0, 0.5]])) == pytest.approx(6.0)
    assert fit._condition(np.array([[2.0, 0.005], [1.0, 0.005]])) == pytest.approx(1.0)
    assert fit._condition(np.array([[1.0, 1.0], [1.0, 1.0]])) == math.inf
    assert fit._condition(np.array([[1.0, 2.0]])) == math.inf
    assert fit._condition(np.zeros((2, 2))) == math.inf
    assert (fit._prior(BASE) >= fit.PRIOR_AT_LEAST).all()


def test_the_same_question_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(fit, "random_rate", lambda drive, *each: asked.append(each) or 7.0)
    mixed = [Measurement("random", 1.0, 0.1, 0.2, 512, 3), Measurement("sequential", 1.0, 0.0, 0.001)]
    found = fit._Asked([*mixed, mixed[0]]).of(BASE.parameters())
    assert asked == [(512, 3, 0.1, 0.2)]
    assert (found[0], found[2]) == (7.0, 7.0)
    assert found[1] > 1e8


# Replays.


def replayed(begin: list[float], service: list[float], rows: list[Request], elapsed: float = 10.0) -> Replay:
    """Return a run of requests that began and took so long."""
    start, took = np.array(begin), np.array(service)
    run: Any = SimpleNamespace(
        start=start,
        service=took,
        completion=start + took,
        arrival=np.zeros(len(rows)),
        elapsed=elapsed,
        cleaning=0.5,
    )
    return Replay(trace_of(rows, "x"), run)


def test_a_drive_is_busy_while_it_serves_anything() -> None:
    """From 0 to 3 two at once, and from 5 to 6: 4 s of 10."""
    rows = [Request(0.0, "d", False, 0, 512)] * 3
    found = replayed([0.0, 1.0, 5.0], [2.0, 2.0, 1.0], rows)
    assert found.utilisation == pytest.approx(0.4)
    assert replayed([5.0, 0.0, 1.0], [1.0, 3.0, 1.0], rows).utilisation == pytest.approx(0.4)
    # What a cache answered may be written after the last answer.
    assert replayed([0.0, 1.0, 5.0], [1.0, 1.0, 15.0], rows).utilisation == pytest.approx(17.0 / 20.0)


def test_requests_are_sequential_where_one_begins_at_the_end_of_the_one_before() -> None:
    rows = [Request(0.0, "d", False, place, 512) for place in (0, 512, 1024, 4096, 4608)]
    assert replayed([0.0] * 5, [1.0] * 5, rows).sequential_share == 0.75
    assert replayed([0.0], [1.0], rows[:1]).sequential_share == 0.0


def test_stretches_of_writes_have_as_many_bytes_each() -> None:
    """Four writes of 1 KiB and one of 4 in two stretches: the first four, then the large one."""
    rows = [Request(0.0, "d", True, 0, 1024)] * 4 + [
        Request(0.0, "d", True, 0, 4096),
        Request(0.0, "d", False, 0, 1 << 20),
    ]
    found = replayed([3.0, 0.0, 1.0, 2.0, 4.0, 0.5], [1.0, 1.0, 1.0, 1.0, 2.0, 9.0], rows)
    one, two = found.stretches(2)
    assert (one["written_bytes"], one["writes"], one["service_s"]) == (4096, 4, 1.0)
    assert one["bytes_per_s"] == pytest.approx(1024.0)
    assert one["response_s"] == pytest.approx((4.0 + 1.0 + 2.0 + 3.0) / 4.0)
    assert (two["written_bytes"], two["writes"], two["bytes_per_s"]) == (8192, 1, 2048.0)
    summary = found.summary()
    assert (summary["requests"], summary["reads"], summary["writes"]) == (6, 1, 5)
    assert summary["requests_per_s"] == pytest.approx(0.6)
    assert summary["bytes_per_s"] == pytest.approx((8192 + (1 << 20)) / 10.0)


# Hosts and releases.


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("MemTotal:       16384 kB\n", (None, 16384 * 1024, None)), ("hw.physmem: 17179869184\n", (None, 1 << 34, None)),  # noqa: E501
        ("CPU(s):    8\n", (None, None, 8)), ("CPU(s):    4096\n", (None, None, 4096)), ("CPU(s):    4097\n", (None, None, None)),  # noqa: E501
        ("CPU(s):    0\n", (None, None, None)), ("zfs-2.1.5-1\nzfs-kmod-2.2.0-1\n", ("2.2.0", None, None)),
    ],
)  # fmt: skip
def test_what_tells_of_the_host(text: str, facts: tuple[Any, ...]) -> None:
    found = host_facts.read_host(text)
    assert (found.version or None, found.memory, found.cpus) == facts


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("2.1.5", "openzfs-2.1"),
        ("0.7.13", "zol-0.7"),
        ("0.8.3", "openzfs-0.8"),
        ("freebsd-9.1", "freebsd-9.1"),
        ("9.9.9", ""),
    ],
)
def test_a_version_is_the_release_of_its_series(version: str, name: str) -> None:
    assert host_facts.known_release(version).startswith(name)
    assert bool(host_facts.known_release(version)) is bool(name)


def test_facts_of_several_texts_complete_each_other() -> None:
    first = host_facts.HostFacts("2.1.5", "", None, 8)
    other = host_facts.HostFacts("9", "x", 5, 4)
    assert first.completed(other) == host_facts.HostFacts("2.1.5", "", 5, 8)
    assert host_facts.HostFacts().completed(other) == other


def legacy(*names: str, **more: Any) -> str | None:
    """Return the release taken for a status of before 0.8."""
    status = PoolStatus("tank", "ONLINE", tuple(named_vdev(name, "ONLINE") for name in names), **more)
    outputs = PoolOutputs(PoolFiles(), status)
    release._find_legacy(outputs)
    return outputs.text("release")


def test_a_release_before_0_8_is_told_by_units_tabs_and_names() -> None:
    assert legacy("sda", with_bytes=True) == "zol-0.7"
    assert legacy("sda", tabbed=True) == "zol-0.7"
    assert legacy("ada0", tabbed=True) == "freebsd-9.2"
    assert legacy("c0t0d0") == "solaris-11.1"
    assert legacy("sda") == "zol-0.6.5"
    dated = Scan("scrub", "finished", at=datetime(2026, 1, 1))
    later = legacy("ada0", scan=dated)
    assert later is not None
    assert later.startswith("freebsd-")
    assert release._nearest_freebsd("FreeBSD 9.1") == "freebsd-9.1"
    assert release._nearest_freebsd("FreeBSD 1.0") == release._nearest_freebsd("2.1.5") == ""


def test_a_form_is_of_the_latest_release_that_was_there_when_it_was_printed() -> None:
    def taken(year: int | None) -> str:
        at = datetime(year, 6, 1) if year else None
        outputs = PoolOutputs(PoolFiles(), PoolStatus("tank", "", (), at=at))
        return release._in_time(outputs, "openzfs-2.3", "says", "openzfs-2.2")[0]

    assert taken(None) == "openzfs-2.3"
    assert taken(2023) == "openzfs-2.2"
    assert taken(2030) == "openzfs-2.3"


# Texts and documents.


def test_documents_and_what_stands_around_them_are_parted() -> None:
    text = 'a\n{"x": 1}\nb\n  {"y": [1, {"z": 2}]} c\n{\nno: json\n{}\n'
    found, rest = documents.split_dated(text)
    assert [each for each, _ in found] == ['{"x": 1}', '{"y": [1, {"z": 2}]}']
    assert rest == "a\n\nb\n   c\n{\nno: json\n{}\n"
    morning, noon = datetime(2026, 11, 24, 7, 30), datetime(2026, 11, 24, 12, 0)
    dates = "Tue Nov 24 07:30:00 UTC 2026\n{}\nTue Nov 24 12:00:00 UTC 2026\n{}"
    assert documents.split_dated(dates.format('{"x": 1}', '{"y": 1}'))[0] == [
        ('{"x": 1}', morning), ('{"y": 1}', noon),
    ]  # fmt: skip
    assert documents.split_dated(dates.format("", '{"y": 1}'))[0] == [('{"y": 1}', noon)]
    assert documents.split_dated('{"y": 1}\nTue Nov 24 12:00:00 UTC 2026')[0] == [('{"y": 1}', noon)]
    assert documents.split_dated('{"y": 1}')[0] == [('{"y": 1}', None)]
    most = '{"x": 1}\n' * (documents.MOST_DOCUMENTS + 1)
    assert len(documents.split_dated(most)[0]) == documents.MOST_DOCUMENTS


def test_lines_may_be_so_long_and_no_longer() -> None:
    most = cleaning.LONGEST_LINE
    assert cleaning.are_lines("x" * most)
    assert not cleaning.are_lines("x" * (most + 1))
    assert cleaning.are_lines("x" * most + "\n" + "y" * most)
    assert not cleaning.are_lines("a\n" + "x" * (most + 1) + "\nb")
    # Marks of web pages are not searched for in what has a longer line, which took seconds for one of 30 MB.
    assert texts.tidied("x" * (most - 4) + "<br>") == "x" * (most - 4) + "\n"
    longer = "x" * (most - 3) + "<br>"
    assert texts.tidied(longer) == longer


def test_frames_and_marks_around_a_status_are_taken_off() -> None:
    assert texts._unframed("| pool: tank |") == " pool: tank "
    assert texts._unframed("pool: tank  ") == "pool: tank"
    assert texts.tidied("a\r\nb\rc\u00a0d") == "a\nb\nc d"
    assert texts.tidied("> pool: tank\n> state: x\n") == "pool: tank\nstate: x\n"
    assert texts.tidied("\x1b[31mred\x1b[0m") == "red"
    assert texts.whole_text("x", SimpleNamespace(read=lambda count: b"def"), b"abc") == "abcdef"  # type: ignore[arg-type]


def test_progress_is_the_share_of_a_file_and_of_a_packed_one_an_eighth(tmp_path: Path) -> None:
    told: list[float] = []
    for name in ("x", "x.gz", "x.zst"):
        path = tmp_path / name
        path.write_bytes(b"0" * 100)
        tell = files._teller(path, lambda share, words: told.append(share))
        assert tell is not None
        tell(80)
        tell(2000)
    assert told == [0.8, 1.0, 0.1, 1.0, 0.1, 1.0]
    (tmp_path / "none").write_bytes(b"")
    assert files._teller(tmp_path / "x", None) is None


# What an import says.


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("fill", 0.62, "62 %"), ("frag", 0.05, "5 %"), ("vdev_fills", [0.5, 0.25], "50 %, 25 %"), ("layout", "mirror2", "mirror2"),  # noqa: E501
        ("recordsize", 131072, "128K"), ("memory", 1 << 34, "16G"), ("drive_size", 4 * TB, None), ("replace", 2, "2"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_finding_is_shown_in_its_unit(field: str, value: object, text: str | None) -> None:
    shown = importing.found_text(Finding(field, value, "x"))
    assert shown.replace("iB", "").replace(" G", "G").replace(" K", "K") == text if text else "TB" in shown


def test_evidence_is_counted_by_kind() -> None:
    stated = (
        [{"what": "finished"}] * 2 + [{"what": "running"}] + [{"what": "drive"}] * 3 + [{"what": "class"}] * 2
    )
    assert importing.evidence_words(stated) == (
        "2 finished scans, 1 state of a running scan, 3 drives observed, 2 classes of vdevs"
    )
    assert importing.evidence_words([{"what": "running"}] * 2) == "2 states of a running scan"


def test_a_scan_is_told_in_one_line() -> None:
    runs = Scan("resilver", "running", date="Sun Nov 15", scanned=1 << 40, issued=1 << 39, total=1 << 41, repaired=1 << 30,  # noqa: E501
                done=0.25, to_go=3600.0)  # fmt: skip
    words = importing.scan_words(runs)
    assert words.startswith("resilver running since Sun Nov 15, ")
    for part in ("scanned", "issued", "resilvered", "25 % done", "1 h to go by zpool's estimate"):
        assert part in words
    over = importing.scan_words(Scan("scrub", "finished", date="Sun Nov 15", repaired=0, elapsed=3600.0))
    assert over.startswith("scrub finished on Sun Nov 15, ")
    assert over.endswith("repaired, took 1 h")


def test_drives_that_wait_are_those_of_the_vdev_under_repair() -> None:
    waits, runs, idle = (Vdev(name, "disk", note=note) for name, note in
                         (("a", "(awaiting resilver)"), ("b", "(resilvering)"), ("c", "")))  # fmt: skip

    def waiting(*rows: tuple[Vdev, ...]) -> int:
        return importing._waiting(
            PoolStatus("t", "", tuple(Vdev("m", "mirror", children=row) for row in rows))
        )

    assert waiting((waits, idle), (runs, waits, waits)) == 2
    assert waiting((waits, idle)) == 0
    assert importing._waiting(None) == 0
    # At its begin no drive is called resilvering; what does not wait is under repair.
    pairs = [Vdev("replacing-0", "replacing", children=(Vdev("o", "disk"), new)) for new in (idle, waits)]
    begun = PoolStatus(
        "t", "", (Vdev("m", "raidz", children=tuple(pairs)),), scan=Scan("resilver", "running")
    )
    assert importing._waiting(begun) == 1


def test_the_pool_in_trouble_is_the_one_that_is_scanned_or_the_only_one_not_online() -> None:
    def trouble(*rows: tuple[str, str, bool]) -> str:
        statuses = [
            PoolStatus(name, state, (), scans=(Scan("scrub", "running"),) if runs else ())
            for name, state, runs in rows
        ]
        return importing._asked_of(PoolFiles(facts=list(statuses)))[0]

    assert trouble(("a", "ONLINE", False), ("b", "ONLINE", True)) == "b"
    assert trouble(("a", "DEGRADED", False), ("b", "ONLINE", True)) == "b"
    assert trouble(("a", "DEGRADED", False), ("b", "ONLINE", False)) == "a"
    assert trouble(("a", "DEGRADED", False), ("b", "DEGRADED", False)) == ""
    assert trouble(("a", "ONLINE", False), ("b", "", False)) == ""
    assert trouble(("a", "ONLINE", True), ("b", "ONLINE", True)) == ""
    first, last = PoolStatus("a", "", ()), PoolStatus("a", "", (), scan=Scan("scrub", "running"))
    assert importing._latest([last, first]) is last
    assert importing._latest([first, first]) is first
    assert importing._latest([]) is None
