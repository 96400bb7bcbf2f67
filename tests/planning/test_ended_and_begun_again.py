"""Statuses of several moments: of a scan that has ended since, or has begun again; and the kernel's log."""

from __future__ import annotations

import pytest

import zsim
from tests.pastes import status
from zsim.base.errors import InputError
from zsim.observe.evidence import kernel_log
from zsim.observe.pool_import.given.host_facts import read_host

STATUS = status("{scan}")
STATED = {"drive": "st8000dm004", "recordsize": "1M", "history": "media-server"}


def runs(at: str, since: str, issued: str, share: str) -> str:
    scan = (
        f"resilver in progress since {since}\n\t20.1T / 20.1T scanned, {issued}T / 20.1T issued at 300M/s\n"
        f"\t980G resilvered, {share}% done, 13:41:00 to go"
    )
    return f"{at}\n{STATUS.format(scan=scan, mark='(resilvering)')}"


FIRST, AGAIN = "Wed Nov 25 02:00:00 2026", "Thu Nov 26 02:00:00 2026"
LATE = runs("Thu Nov 26 08:00:00 2026", AGAIN, "6.00", "29.85")


def ended(at: str, took: str = "19:31:02") -> str:
    return STATUS.format(scan=f"resilvered 3.30T in {took} with 0 errors on {at}", mark="")


@pytest.mark.parametrize("order", [0, 1])
def test_a_scan_that_another_status_shows_ended_runs_no_more(order: int) -> None:
    """It was answered as done half an hour before the end that the same paste shows."""
    both = [LATE, ended("Thu Nov 26 21:31:02 2026")]
    with pytest.raises(InputError, match="resilver finished on Thu Nov 26 21:31:02 2026"):
        zsim.eta("\n".join(both[::-1] if order else both), stated=STATED)


def test_an_earlier_scan_that_ended_is_another_one() -> None:
    found = zsim.eta("Wed Nov 25 00:00:00 2026\n" + ended("Tue Nov 24 21:31:02 2026") + LATE, stated=STATED)
    assert found.elapsed_s == 6 * 3600
    assert not any("an earlier" in note for note in found.notes)


def test_a_scan_that_has_begun_again_says_so() -> None:
    """Two days of work were left out of the answer without a word."""
    found = zsim.eta(runs("Wed Nov 25 20:00:00 2026", FIRST, "15.0", "74.63") + LATE, stated=STATED)
    (note,) = [each for each in found.notes if "an earlier" in each]
    assert note.startswith(
        "an earlier resilver began on Wed 25 Nov 02:00 and was 74.6 % done at Wed 25 Nov 20:00; this one"
        " began on Thu 26 Nov 02:00: it has restarted, or is a further pass"
    )


LOG = """[Thu Nov 26 09:12:11 2026] ata3: SATA link up 1.5 Gbps (SStatus 113 SControl 310)
[Thu Nov 26 09:12:11 2026] ata4.00: failed command: READ FPDMA QUEUED
[Thu Nov 26 09:12:11 2026] ata4: hard resetting link
[Thu Nov 26 09:12:12 2026] ata4.00: limiting SATA link speed to 1.5 Gbps
[Thu Nov 26 09:12:13 2026] ata4: hard resetting link
[Thu Nov 26 09:12:14 2026] blk_update_request: I/O error, dev sdd, sector 7814037168
(ada3:ahcich3:0:0:0): CAM status: Uncorrectable parity/CRC error
"""


def test_the_kernels_log_is_a_reason() -> None:
    """It was asked for ("look for link resets (dmesg)") where it had been given."""
    (remark,) = kernel_log.read(LOG, "")
    assert remark.text.startswith(
        "the kernel log shows 2 resets of the link of ata4; the link of ata4 limited to 1.5 Gb/s; 1"
        " failed request of sdd; 1 failed request of ada3: a scan waits for each"
    )
    assert not kernel_log.recognises(LOG.splitlines()[0])
    found = zsim.eta(LATE + LOG, stated=STATED)
    assert [each[:17] for each in found.reasons if "kernel" in each] == ["the kernel log sh"]
    assert not any(each.startswith("nothing known") for each in found.reasons)
    assert not any("kernel" in each for each in found.notes)


@pytest.mark.parametrize(
    ("line", "memory"),
    [
        ("Mem:            31Gi        20Gi       1.1Gi       121Mi        10Gi        10Gi\n", 31 << 30),
        ("Mem:          62.7G         20G        1.1G        121M         10G         10G\n", 67323612365),
        ("Mem:       32614404    20614404      614404        1044      2614404     2614404\n", None),
    ],
)
def test_memory_by_free(line: str, memory: int | None) -> None:
    assert read_host(line).memory == memory
