"""Rules of the tables of what drives do: samples and their means, columns and units, histograms."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.observe.dates import Dates, date_line
from zsim.observe.evidence import host_iostat, pool_histograms, pool_iostat
from zsim.observe.evidence.activity import MOST_DRIVES, ActivityRow, Samples, mean_of, summed, weighted
from zsim.observe.evidence.host_iostat import read_host_iostat
from zsim.observe.evidence.pool_iostat import read_iostat, time_of

# Samples.


def rows_of(samples: Samples) -> list[dict[str, dict[str, float]]]:
    """Return samples as plain data."""
    return [{name: dict(row.values) for name, row in sample.items()} for sample in samples.samples]


def test_a_drive_that_comes_again_begins_another_sample_and_an_empty_one_is_not_doubled() -> None:
    found = Samples("x")
    found.begin()
    found.begin()
    found.put("a", {"reads": 1.0})
    found.put("b", {"reads": 2.0})
    found.put("a", {"reads": 3.0})
    assert rows_of(found) == [{"a": {"reads": 1.0}, "b": {"reads": 2.0}}, {"a": {"reads": 3.0}}]
    unbegun = Samples("x")
    unbegun.put("a", {})
    assert rows_of(unbegun) == [{"a": {}}]


def test_the_first_full_sample_is_left_out_if_it_is_since_the_start_of_the_host() -> None:
    found = Samples("x")
    for reads in (1.0, 2.0, 4.0):
        found.put("a", {"reads": reads})
    found.samples.insert(0, {})
    assert [mean.reads for mean in found.means()] == [3.0]
    found.from_boot = False
    assert [mean.reads for mean in found.means()] == [pytest.approx(7.0 / 3.0)]
    # One sample alone tells of no time of its own.
    assert Samples("x", [{"a": ActivityRow({"reads": 1.0})}]).means() == []


def test_a_sample_holds_so_many_drives_at_most() -> None:
    found = Samples("x")
    for number in range(MOST_DRIVES + 1):
        found.put(f"d{number}", {})
    assert [len(sample) for sample in found.samples] == [MOST_DRIVES]


def test_a_mean_is_over_the_samples_that_have_the_field_and_service_is_weighed_by_operations() -> None:
    """(10 ms x 100 + 30 ms x 300) / 400 = 25 ms; a count of requests stands before reads and writes."""
    found = Samples("x", from_boot=False)
    found.put("a", {"reads": 60.0, "writes": 40.0, "service": 0.010, "busy": 1.2})
    found.put("a", {"reads": 300.0, "service": 0.030, "busy": 1.4})
    found.put("a", {"queue": 7.0})
    [mean] = found.means()
    assert (mean.reads, mean.writes, mean.queue) == (180.0, 40.0, 7.0)
    assert mean.service == pytest.approx(0.025)
    assert mean.busy == 1.0
    assert mean.source == "x, mean of 3 samples"
    counted = Samples("x", from_boot=False)
    counted.put("a", {"service": 0.010, "count": 3.0, "reads": 1e6})
    counted.put("a", {"service": 0.050, "count": 1.0})
    [mean] = counted.means()
    assert mean.service == pytest.approx(0.020)
    idle = Samples("x", from_boot=False)
    idle.put("a", {"reads": 0.0, "service": 0.010})
    [mean] = idle.means()
    assert (mean.service, mean.source) == (None, "x, mean of 1 sample")
    assert mean_of([ActivityRow({"reads": 1.0})], "writes") is None
    # One that only writes has no more operations than its writes: (10 ms x 1 + 40 ms x 2) / 3.
    writing = Samples("x", from_boot=False)
    writing.put("a", {"writes": 1.0, "service": 0.010})
    writing.put("a", {"reads": 2.0, "service": 0.040})
    [mean] = writing.means()
    assert (mean.service, mean.source) == (pytest.approx(0.030), "x, mean of 2 samples")


@pytest.mark.parametrize(
    ("read", "write", "mean"),
    [
        ((0.010, 1.0), (0.040, 2.0), 0.030),
        ((0.010, 1.0), (None, 2.0), 0.010),
        ((0.010, 0.0), (0.040, 2.0), 0.040),
        ((0.010, 0.5), (0.040, 0.0), 0.010),
        ((None, 1.0), (None, 2.0), None),
        ((0.010, 0.0), (0.040, 0.0), None),
    ],
)
def test_reads_and_writes_have_one_mean_by_their_numbers(read: Any, write: Any, mean: float | None) -> None:
    assert weighted(read, write) == (None if mean is None else pytest.approx(mean))


def test_columns_are_summed_as_far_as_they_can_be_read() -> None:
    cells = {"a_pend": "2", "b_pend": "3", "c_pend": "-", "a": "100"}
    number = {"2": 2.0, "3": 3.0, "100": 100.0}.get
    assert summed(cells, lambda name: name.endswith("pend"), number) == 5.0
    assert summed(cells, lambda name: name.endswith("c_pend"), number) is None


# zpool iostat.

WIDE = """\
$ zpool iostat -vlq{flags} tank 5 2
                   capacity     operations     bandwidth    total_wait     disk_wait    syncq_wait    asyncq_wait  scrub   trim  syncq_read    syncq_write
pool             alloc   free   read  write   read  write   read  write   read  write   read  write   read  write   wait   wait   pend  activ   pend  activ
------           -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
tank             1.00T  2.00T    300    100    30M    10M   20ms   50ms   10ms   40ms    1us    2us    3us    4us      -      -      9      9      9      9
  mirror-0       1.00T  2.00T    300    100    30M    10M   20ms   50ms   10ms   40ms    1us    2us    3us    4us      -      -      9      9      9      9
    sda              -      -    {reads}    100    30M    10M   20ms   50ms   10ms   40ms    1us    2us    3us    4us      -      -      1      2      3      4
logs                 -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -
    sdz              -      -    {reads}    100    30M    10M   20ms   50ms   10ms   40ms    1us    2us    3us    4us      -      -      1      2      3      4
------           -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
"""  # noqa: E501


def test_columns_of_waits_and_queues_stand_under_their_titles() -> None:
    """(10 ms x 300 + 40 ms x 100) / 400 = 17.5 ms at the disk; 1 + 2 + 3 + 4 requests in the queues."""
    found = read_iostat(WIDE.format(flags="y", reads="300"))
    assert not found.from_boot
    [sample] = found.usable
    assert list(sample) == ["sda", "sdz"]
    values = sample["sda"].values
    assert (values["reads"], values["writes"]) == (300.0, 100.0)
    assert (values["read_rate"], values["write_rate"]) == (30.0 * 2**20, 10.0 * 2**20)
    assert values["service"] == pytest.approx(0.0175)
    assert values["queue"] == 10.0


def test_a_table_printed_again_is_the_next_sample() -> None:
    text = WIDE.format(flags="", reads="100") + WIDE.format(flags="", reads="500").partition("\n")[2]
    found = read_iostat(text)
    assert found.from_boot
    assert [each["sda"].values["reads"] for each in found.samples] == [100.0, 500.0]
    assert [each.reads for each in found.means()] == [500.0, 500.0]


def test_rows_that_are_not_of_numbers_or_too_short_are_passed_over() -> None:
    head = "pool  alloc  free  read  write  read  write\n"
    upper = "        capacity     operations     bandwidth\n"
    rows = [
        "tank 1T 2T 3 4 5 6", "  sda - - 3 4 5 6", "  sdb - - x 4 5 6", "  sdc - - 3 4 5",
        "  sdd - - 3 - 5 6", "  sde x - 3 4 5 6",
    ]  # fmt: skip
    [sample] = read_iostat(upper + head + "\n".join(rows)).samples
    assert {name: dict(row.values) for name, row in sample.items()} == {
        "sda": {"reads": 3.0, "writes": 4.0, "read_rate": 5.0, "write_rate": 6.0},
        "sdd": {"reads": 3.0, "read_rate": 5.0, "write_rate": 6.0},
    }


def test_rows_before_the_header_tell_nothing_and_a_drive_may_have_the_name_of_the_pool() -> None:
    head = "        capacity     operations     bandwidth\npool  alloc  free  read  write  read  write\n"
    stray = "tank 1T 2T 9 9 9 9\n  sdx - - 9 9 9 9\nits capacity\n"
    [sample] = read_iostat(f"{stray}{head}tank 1T 2T 3 4 5 6\n  sda - - 3 4 5 6\n").samples
    assert list(sample) == ["sda"]
    rows = "tank\t1T\t2T\t3\t4\t5\t6\n\ttank\t-\t-\t3\t4\t5\t6\n\tsda\t-\t-\t3\t4\t5\t6\n"
    assert [list(each) for each in read_iostat(rows * 2).samples] == [["tank", "sda"]] * 2


def test_a_time_without_operations_beside_it_does_not_count() -> None:
    values = pool_iostat._values({"reads": "2", "disk_read": "10ms", "writes": "-", "disk_write": "40ms"})
    assert values["service"] == pytest.approx(0.010)
    values = pool_iostat._values({"reads": "-", "disk_read": "10ms", "writes": "2", "disk_write": "40ms"})
    assert values["service"] == pytest.approx(0.040)


def test_titles_that_nobody_knows_have_two_columns_each() -> None:
    columns = pool_iostat._columns("   capacity operations bandwidth scrub newq")
    assert columns == (
        "alloc", "free", "reads", "writes", "read_rate", "write_rate", "scrub_wait", "newq_pend",
        "newq_activ",
    )  # fmt: skip
    assert pool_iostat._columns("") == columns[:6]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7e-9), ("7ns", 7e-9), ("7us", 7e-6), ("7ms", 7e-3), ("1.5s", 1.5), ("2m", 120.0),
        ("2h", 7200.0), ("-", None), ("", None), ("7d", None),
    ],
)  # fmt: skip
def test_times_have_their_unit_and_are_nanoseconds_without_one(text: str, seconds: float | None) -> None:
    assert time_of(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("tank\t1T\t2T\t3\t4\t5\t6\nsda\t-\t-\t3\t4\t5\t6\n", True),
        ("tank\t1T\t2T\t3\t4\t5\t6\nsda\t1\t-\t3\t4\t5\t6\n", False),
        ("sda\t-\t-\t3\t4\t5\t6\n", False),
        ("   capacity   operations   bandwidth\n", True),
        ("capacity of bandwidth\n", False),
    ],
)
def test_a_table_is_known_by_its_titles_or_by_drives_without_capacity(text: str, known: bool) -> None:
    assert pool_iostat.recognises(text) is known


# iostat -x and gstat.


def host_values(header: str, row: str) -> dict[str, float]:
    """Return what one row tells, of the second sample: the first is since the start of the host."""
    text = f"{header}\nfirst {row.split(None, 1)[1]}\n{header}\n{row}\n"
    [sample] = read_host_iostat(text).usable
    [values] = [dict(each.values) for each in sample.values()]
    return values


def test_the_columns_of_every_iostat_have_their_units() -> None:
    """KiB, MiB and sectors of 512 bytes; percents; milliseconds, of reads and writes by their numbers."""
    linux = host_values(
        "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util",
        "sda 30.00 10.00 2.00 3.00 5.00 9.00 1.50 25.00",
    )
    assert linux == pytest.approx({
        "reads": 30.0, "writes": 10.0, "read_rate": 2048.0, "write_rate": 3072.0, "queue": 1.5, "busy": 0.25,
        "service": (30.0 * 0.005 + 10.0 * 0.009) / 40.0,
    })  # fmt: skip
    assert host_values("Device: rMB/s wMB/s r/s w/s %util", "sda 2 3 1 0 7") == pytest.approx({
        "read_rate": 2.0 * 2**20, "write_rate": 3.0 * 2**20, "reads": 1.0, "writes": 0.0, "busy": 0.07
    })  # fmt: skip
    sectors = host_values("Device: rsec/s wsec/s r/s w/s avgqu-sz await %util", "sda 2 3 1 1 4 8 9")
    assert sectors == pytest.approx({
        "read_rate": 1024.0, "write_rate": 1536.0, "reads": 1.0, "writes": 1.0, "queue": 4.0, "busy": 0.09,
        "service": 0.008,
    })  # fmt: skip
    freebsd = host_values("device r/s w/s kr/s kw/s ms/r ms/w ms/o ms/t qlen %b", "da0 1 3 2 4 10 2 0 0 5 50")
    assert freebsd == pytest.approx({
        "reads": 1.0, "writes": 3.0, "read_rate": 2048.0, "write_rate": 4096.0, "queue": 5.0, "busy": 0.5,
        "service": (0.010 + 3.0 * 0.002) / 4.0,
    })  # fmt: skip
    assert host_values("Device r/s r_await w_await %util", "sda 1 8 9 0")["service"] == 0.008
    # Of a drive that does nothing the time of all its requests tells nothing.
    assert "service" not in host_values("Device: r/s w/s await %util", "sda 0 0 8 0")
    assert host_values("Device: r/s w/s await %util", "sda 0 0,5 8 0")["service"] == 0.008


def test_rows_of_iostat_have_all_columns_and_a_name_that_is_no_number() -> None:
    head = "Device r/s w/s %util\n"
    text = head + "sda 1 2 3\nsdb 1 2\n5 1 2 3\nsdc x 2 3\n" + "sdd 1 2 3" + " " * 1000 + "\n" + "sde 4 x 6\n"
    found = read_host_iostat(f"iostat -xy 5\n{text}")
    assert not found.from_boot
    assert rows_of(found) == [{
        "sda": {"reads": 1.0, "writes": 2.0, "busy": 0.03}, "sde": {"reads": 4.0, "busy": 0.06},
    }]  # fmt: skip
    # A command with other options is one since the start of the host; that of zpool is not this one.
    assert read_host_iostat(f"iostat -xm 5\n{text}").from_boot
    assert read_host_iostat(f"zpool iostat -xy 5\n{text}").from_boot
    # The form of Solaris has the name at the end.
    solaris = "r/s w/s kr/s kw/s wait actv wsvc_t asvc_t %w %b device\n1 2 3 4 0 0 0 20 0 50 c0t0d0\n"
    assert rows_of(read_host_iostat(solaris)) == [{
        "c0t0d0": {"reads": 1.0, "writes": 2.0, "read_rate": 3072.0, "write_rate": 4096.0, "busy": 0.5,
                   "service": 0.020},
    }]  # fmt: skip


GSTAT = "dT: 1.0s  w: 1.0s\n L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name\n"


def test_gstat_has_its_columns_by_their_places_and_no_sample_since_the_start() -> None:
    found = read_host_iostat(
        GSTAT + "    4    150    100   2000   10.0     50   1000    4.0   97.5| ada0\n"
        "    0      0      0      0    0.0      0      0    0.0    0.0| ada1\n"
        "    x    150    100   2000   10.0     50   1000    4.0   97.5| ada2\n"
        "    4    150    100   2000   10.0     50   1000    4.0| ada3\n"
        "    4    150    100   2000   10.0     50   1000      -   97.5| ada4\n"
        "    4    150    100   2000   10.0     50   1000    4.0      -| ada5\n"
    )
    assert (found.command, found.from_boot) == ("gstat", False)
    [sample] = rows_of(found)
    assert list(sample) == ["ada0", "ada1", "ada5"]
    assert sample["ada5"]["busy"] == 0.0
    assert sample["ada0"] == pytest.approx({
        "queue": 4.0, "reads": 100.0, "writes": 50.0, "read_rate": 2000.0 * 1024, "write_rate": 1000.0 * 1024,
        "busy": 0.975, "service": (100.0 * 0.010 + 50.0 * 0.004) / 150.0,
    })  # fmt: skip
    assert "service" not in sample["ada1"]
    assert host_iostat.recognises(GSTAT)
    assert not host_iostat.recognises("L(q) is a queue, Device too")


# Histograms.


def histogram(titles: str, label: str, rows: list[str], name: str = "sda") -> str:
    """Return one histogram of a vdev."""
    lines = [f"{name}  {titles}", f"{label}  read write", "-----  ----- -----", *rows, "-----"]
    return "\n".join(lines) + "\n\n"


def test_a_wait_lies_between_a_row_and_half_of_it_and_only_the_disk_counts() -> None:
    """Rows are named by their end: the middle of 2 to 4 ms is 4 / sqrt(2) ms."""
    titles = "total_wait disk_wait syncq_wait asyncq_wait scrub trim rebuild"
    rows = ["4ms  9 9  3 1  9 9  9 9  9 9 9", "8ms  9 9  2 2  9 9  9 9  9 9 9", "16ms 0 0 0 0 0 0 0 0 0 0 0"]
    text = histogram(titles, "latency", rows, "tank") + histogram(titles, "latency", rows)
    remark, samples = pool_histograms.read(text, "x")
    assert "disk_wait" in remark.text
    values = samples.samples[-1]["sda"].values
    assert values["count"] == 8.0
    assert values["service"] == pytest.approx((4.0 * 4e-3 + 4.0 * 8e-3) / 8.0 / 2**0.5)
    assert (values["step"], samples.from_boot) == (2.0, True)
    _, skipped = pool_histograms.read(f"zpool iostat -wvy tank 5 1\n{text}", "x")
    assert not skipped.from_boot


def test_a_size_lies_between_a_row_and_twice_that_and_only_the_scan_counts() -> None:
    """Rows are named by their begin, ind and agg side by side: scrub reads, async_write writes."""
    titles = "sync_read sync_write async_read async_write scrub trim rebuild"
    rows = ["4K  9 9  9 9  9 9  1 0  2 1  9 9  0 0", "8K  9 9  9 9  9 9  0 1  0 1  9 9  0 2"]
    text = histogram(titles, "req_size", rows, "tank") + histogram(titles, "req_size", rows)
    _, samples = pool_histograms.read(text, "x")
    values = samples.samples[-1]["sda"].values
    # Reads: 3 of 4K, 1 of 8K by scrub and 2 by rebuild; writes: 1 of 4K, 1 of 8K, 2 of 8K by rebuild.
    assert values["read_request"] == pytest.approx((3.0 * 4096 + 3.0 * 8192) / 6.0 * 2**0.5)
    assert values["write_request"] == pytest.approx((1.0 * 4096 + 3.0 * 8192) / 4.0 * 2**0.5)
    assert values["count"] == 10.0


def test_histograms_of_the_whole_pool_are_told_of_and_do_not_count() -> None:
    text = histogram("total_wait disk_wait", "latency", ["4ms 1 1 1 1"], "tank")
    [remark] = pool_histograms.read(text, "x")
    assert "Add -v" in remark.text
    assert "zpool iostat -w" in remark.text
    mirror = text + histogram("total_wait disk_wait", "latency", ["4ms 1 1 1 1"], "mirror-0")
    assert len(pool_histograms.read(mirror, "x")) == 1


def test_a_histogram_ends_where_no_row_follows() -> None:
    table = pool_histograms._Table("sda", ("total_wait", "disk_wait"))
    row = pool_histograms._row
    assert row("", table)
    assert row("latency  read write", table)
    assert row("-----  -----", table)
    assert row("4ms 1 2 3 4", table)
    assert not row("", table)
    assert not row("4ms 1", table)
    assert not row("x 1 2 3 4", table)
    assert not row("4ms 1 x 3 4", table)
    assert table.rows == [(pytest.approx(4e-3 / 2**0.5), [1, 2, 3, 4])]


def test_a_row_that_ends_early_counts_as_far_as_it_goes() -> None:
    table = pool_histograms._Table("sda", ("total_wait", "disk_wait"))
    assert pool_histograms._row("4ms 9 9", table)
    assert pool_histograms._row("8ms 9 9 3", table)
    assert pool_histograms._mean(table, ("disk_wait",)) == (pytest.approx(8e-3 / 2**0.5), 3.0)


def test_columns_of_a_histogram_by_title() -> None:
    waits: Any = SimpleNamespace(titles=("total_wait", "disk_wait", "scrub", "trim"), of_waits=True)
    assert [pool_histograms._columns(waits, each) for each in waits.titles] == [[0, 1], [2, 3], [4], [5]]
    sizes: Any = SimpleNamespace(titles=("sync_read", "scrub", "trim"), of_waits=False)
    assert [pool_histograms._columns(sizes, each) for each in sizes.titles] == [[0, 1], [2, 3], [4, 5]]
    assert pool_histograms._columns(sizes, "rebuild") == []


# Dates between outputs.


def test_a_date_belongs_to_what_follows_it_unless_none_stands_before() -> None:
    lines = ["Mon Jul 17 20:00:00 2023", "a", "Mon Jul 17 21:00:00 2023", "b", "c"]
    text = "\n".join(lines)
    before = Dates(text, 2)
    assert [found.hour if (found := before.at(number)) else None for number in range(1, 6)] == [
        None, 20, 20, 21, 21
    ]  # fmt: skip
    behind = Dates("\n".join(["a", *lines]), 1)
    assert [found.hour if (found := behind.at(number)) else None for number in range(1, 7)] == [
        20, 20, 21, 21, None, None
    ]  # fmt: skip
    assert Dates("a\nb", 1).at(1) is None


@pytest.mark.parametrize(
    ("line", "when"),
    [
        ("1500000000", datetime(2017, 7, 14, 2, 40)), ("  1500000000  ", datetime(2017, 7, 14, 2, 40)),
        ("2500000000", None), ("15000000000", None),
        ("date: Mon Jul 17 20:00:00 2023", datetime(2023, 7, 17, 20)),
        ("2023-07-17", None), ("Mon Jul 17 20:00:00 2023" + " " * 70, None),
        ("Mon Jul 17 20:00:00 2023 tank", None),
    ],
)  # fmt: skip
def test_a_line_that_holds_a_date_and_nothing_else(line: str, when: datetime | None) -> None:
    assert date_line(line) == when
