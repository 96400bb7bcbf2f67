"""``zpool iostat -w`` and ``-r``: what the histogram of a drive says of a scan, and what does not count."""

import math

import pytest

from tests.pastes import status
from zsim.observe.evidence import pool_histograms
from zsim.observe.evidence.activity import Samples
from zsim.observe.outputs import Remark
from zsim.observe.pool_import.importing import import_pasted

STATUS = status(
    "resilver in progress since Sun Nov 22 08:11:03 2026\n"
    "\t1.20T / 1.20T scanned, 310G / 1.20T issued at 141M/s\n"
    "\t155G resilvered, 25.23% done, 01:51:40 to go",
    "mirror-0 DEGRADED\n  sda\n  sdb (resilvering)",
)
WAITS = """\
{name}         total_wait     disk_wait    syncq_wait    asyncq_wait
latency      read  write   read  write   read  write   read  write  scrub   trim  rebuild
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
4ms             9      0      0      0      0      0      0      0      0      0      0
8ms             0      7    {reads}      0      0      0      0      0    999      0      0
16ms            0      0      0    {writes}      0      0      0      0      0      0      0
137s            0      0      0      0      0      0      0      0      0      0      0
--------------------------------------------------------------------------------------
"""
SIZES = """\
{name}          sync_read    sync_write    async_read    async_write      scrub         trim         rebuild
req_size      ind    agg    ind    agg    ind    agg    ind    agg    ind    agg    ind    agg    ind    agg
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
4K           1.5K      0      0      0      0      0      0      0      0      0      0      0      0      0
128K            0      0      0      0      0      0      0    {w}  {ind}      0      0      0      0      0
1M              0      0      0      0      0      0      0      0      0  {agg}      0      0      0      0
16M             0      0      0      0      0      0      0      0      0      0      0      0      0      0
------------------------------------------------------------------------------------------------------------
"""
COMMANDS = "# zpool iostat -vwy tank 15 1\n", "# zpool iostat -vry tank 15 1\n"
WAIT = COMMANDS[0] + "".join(
    WAITS.format(name=name, reads=reads, writes=writes)
    for name, reads, writes in (("tank", 5, 5), ("mirror-0", 5, 5), ("sda", 300, 100), ("sdb", 0, 50))
)
SIZE = COMMANDS[1] + "".join(
    SIZES.format(name=name, ind=ind, agg=agg, w=w)
    for name, ind, agg, w in (("tank", 9, 9, 9), ("mirror-0", 9, 9, 9), ("sda", 10, 30, 0), ("sdb", 0, 0, 7))
)


def drives(text: str) -> dict[str, dict[str, object]]:
    stated = import_pasted(text).scenario.stated()
    evidence = stated["evidence"]
    assert isinstance(evidence, list)
    return {each["drive"]: each for each in evidence if each["what"] == "drive"}


def test_the_time_at_the_disk_is_that_between_two_rows() -> None:
    found = drives(STATUS + WAIT)
    # Rows are named by their ends: 4 to 8 ms and 8 to 16 ms.
    read, write = 0.008 / math.sqrt(2.0), 0.016 / math.sqrt(2.0)
    assert found["sda"]["service"] == pytest.approx(0.75 * read + 0.25 * write)
    assert found["sdb"]["service"] == pytest.approx(write)
    assert (found["sda"]["role"], found["sdb"]["role"]) == ("source", "target")
    assert found["sda"]["step"] == 2.0
    assert "reads" not in found["sda"]


def test_sizes_of_the_scan_are_told_and_those_of_clients_are_not() -> None:
    found = drives(STATUS + SIZE)
    # Rows are named by their begins: 128K to 256K and 1M to 2M.
    mean = (10 * (1 << 17) + 30 * (1 << 20)) / 40 * math.sqrt(2.0)
    assert found["sda"]["read_request"] == pytest.approx(mean, rel=1e-6)
    assert found["sdb"]["write_request"] == pytest.approx((1 << 17) * math.sqrt(2.0), rel=1e-5)
    assert "write_request" not in found["sda"]


def test_it_says_what_was_read_and_does_not_count() -> None:
    notes = " ".join(import_pasted(STATUS + WAIT + SIZE).notes)
    assert "only the time at the disk (disk_wait) counts" in notes
    assert "only the sizes of the scan's own requests count" in notes
    alone = WAITS.format(name="tank", reads=5, writes=5) + SIZES.format(name="tank", ind=1, agg=1, w=1)
    notes = " ".join(import_pasted(STATUS + alone).notes)
    assert "histograms of zpool iostat -w are read and do not count: they are of the whole pool" in notes
    assert "histograms of zpool iostat -r are read and do not count" in notes
    assert not drives(STATUS + alone)


def test_all_since_the_boot_of_the_host_says_nothing_of_a_scan() -> None:
    since = WAIT.replace(" -vwy tank 15 1", " -vw tank")
    notes = " ".join(import_pasted(STATUS + since).notes)
    assert "zpool iostat -w has one sample, the mean since the host was started" in notes
    assert not drives(STATUS + since)
    twice = since + WAIT.partition("\n")[2].replace("300", "100")
    assert drives(STATUS + twice)["sda"]["service"] == pytest.approx((0.008 + 0.016) / math.sqrt(8.0))


def test_a_histogram_may_be_cut_off_or_broken() -> None:
    for end in range(0, len(WAIT), 37):
        found = pool_histograms.read(WAIT[:end], "x")
        assert all(isinstance(each, Samples | Remark) for each in found)
    assert not pool_histograms.recognises(STATUS)
    odd = WAIT.replace("8ms             0      7    300", "8ms             0      7    x")
    (samples,) = (each for each in pool_histograms.read(odd, "x") if isinstance(each, Samples))
    assert "service" not in samples.usable[0].get("sda", samples.usable[0]["sdb"]).values
