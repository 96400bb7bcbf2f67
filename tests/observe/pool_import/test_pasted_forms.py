"""Statuses in one line, lines of progress alone, TrueNAS' pages, layouts that a sentence names."""

from __future__ import annotations

import pytest

from zsim.base.errors import InputError
from zsim.observe.pool_import.given.layout_words import SaidLayout, said_layouts
from zsim.observe.pool_import.given.pasted_forms import as_status_of_page, as_status_of_progress, unfolded
from zsim.observe.pool_import.importing import import_pasted
from zsim.planning.eta.reading import read_paste

STATUS = """\
  pool: tank
 state: DEGRADED
  scan: resilver in progress since Sat Oct 14 10:12:15 2023
\t19.6T scanned at 3.11G/s, 2.05T issued at 333M/s, 41.2T total
\t171G resilvered, 4.98% done, 1 days 10:15:26 to go
config:

\tNAME           STATE     READ WRITE CKSUM
\ttank           DEGRADED     0     0     0
\t  raidz2-0     DEGRADED     0     0     0
\t    sda        ONLINE       0     0     0
\t    sdb        ONLINE       0     0 1.21K
\t    replacing-2  DEGRADED   0     0     0
\t      sdc      OFFLINE      0     0     0
\t      sdz      ONLINE       0     0     0  (resilvering)
\t    sdd        ONLINE       0     0     0
\t    sde        ONLINE       0     0     0
\tlogs
\t  nvme0n1      ONLINE       0     0     0
\tspares
\t  sdq          AVAIL

errors: No known data errors
"""


def test_a_status_in_one_line_is_read_as_in_many() -> None:
    """Chats and pages without code tags make one line of it; the layout was assumed, or cut."""
    whole, folded = read_paste(STATUS), read_paste(" ".join(STATUS.split()))
    assert folded.pool == "tank"
    assert folded.scenario == whole.scenario
    assert folded.scans == whole.scans
    assert unfolded(STATUS) == STATUS


LOG = """\
2012-07-19-13:55:09     1.59T scanned out of 29.9T at 286M/s, 28h49m to go
2012-07-19-13:55:39     1.60T scanned out of 29.9T at 286M/s, 28h48m to go
2012-07-19-13:56:09     53.7M scanned out of 29.9T at 1.99M/s, (scan is slow, no estimated time)
2012-07-19-13:56:39     89.4M scanned out of 29.9T at 1.57M/s, (scan is slow, no estimated time)
"""


def test_lines_of_progress_alone_are_statuses() -> None:
    """They were refused; bytes over rate tell when the scan began, and that it has begun again."""
    paste = read_paste(LOG)
    assert [(scan.scanned or 0) >> 20 for scan in paste.scans] == [53, 89]
    assert paste.scans[-1].since is not None
    assert f"{paste.scans[-1].since:%H:%M:%S}" == "13:55:43"
    assert any(note.startswith("an earlier resilver began on Thu 19 Jul 12:18") for note in paste.notes)
    assert as_status_of_progress("nothing of the kind") is None
    undated = read_paste("3.1T scanned out of 12.7T at 52.2M/s, 53h26m to go\n")
    assert undated.scans[-1].total == pytest.approx(12.7 * 2**40, rel=0.001)
    assert (
        read_paste("zpool scrub\n3.1T scanned out of 12.7T at 52.2M/s, 53h26m to go\n").scans[-1].kind
        == "scrub"
    )


SCALE = """\
Topology
Data VDEVs: 1 x RAIDZ2 | 8 wide | 14.55 TiB
Log VDEVs: VDEVs not assigned
ZFS Health
Pool Status: Degraded
{label} 23.45%
1 day 10 hours 23 minutes 4 seconds remaining
"""
CORE = """\
RESILVER
Status: SCANNING
Completed: 23.45%
Time Remaining: 0 days, 10:23:11
Errors: 0
Date: 2024-02-03 10:22:45

Name\tRead\tWrite\tChecksum\tStatus
tank\t0\t0\t0\tDEGRADED
RAIDZ2\t0\t0\t0\tDEGRADED
sda\t0\t0\t0\tONLINE
sdb\t0\t0\t0\tONLINE
REPLACING\t0\t0\t0\tDEGRADED
sdc\t0\t0\t0\tREMOVED
sdg\t0\t0\t0\tONLINE
sdd\t0\t0\t0\tONLINE
sde\t0\t0\t0\tONLINE
"""


@pytest.mark.parametrize(
    ("label", "kind"),
    [("Resilvering:", "resilver"), ("Resilvering:\n", "resilver"), ("Scrub In Progress:", "scrub")],
)
def test_the_dashboard_of_truenas_scale_is_read(label: str, kind: str) -> None:
    paste = read_paste(SCALE.format(label=label))
    scan = paste.scans[-1]
    assert (scan.kind, scan.done, scan.to_go) == (kind, 0.2345, 86400 + 37384)
    assert str(paste.scenario.layout) == "raidz2x8"
    assert paste.scenario.drive_size == 16 * 10**12
    assert str(paste.scenario.release).startswith("openzfs-2.")


def test_the_pool_status_page_of_truenas_core_is_read() -> None:
    paste = read_paste(CORE)
    scan = paste.scans[-1]
    assert (scan.kind, scan.done, scan.to_go) == ("resilver", 0.2345, 37391)
    assert str(scan.since) == "2024-02-03 10:22:45"
    assert paste.at is not None
    assert paste.at > scan.since, "its date is that of the begin"
    stated = paste.scenario.stated()
    assert (stated["layout"], stated["old_drive"], stated["replace"]) == ("raidz2x5", "missing", 1)
    assert as_status_of_page(CORE.replace("SCANNING", "FINISHED")) is None
    seconds = read_paste(CORE.replace("0 days, 10:23:11", "37391 Seconds")).scans[-1]
    assert seconds.to_go == 37391


PROXMOX = """\
Health: DEGRADED
Scan: resilver in progress since Fri Mar 7 18:20:08 2025 1.92T / 5.11T scanned at 911M/s, \
401G / 5.11T issued at 186M/s 198G resilvered, 7.66% done, 07:24:48 to go
Errors: No known data errors
Name\tHealth\tREAD\tWRITE\tCKSUM\tMessage
hdd\tDEGRADED\t0\t0\t0
mirror-0\tDEGRADED\t0\t0\t0
ata-WDC_WD80EFZX-68UW8N0_VK0A1\tONLINE\t0\t0\t0
replacing-1\tDEGRADED\t0\t0\t0
old\tREMOVED\t0\t0\t0
ata-WDC_WD80EFZX-68UW8N0_VK0A9\tONLINE\t0\t0\t0\t(resilvering)
"""


def test_the_details_of_a_pool_in_proxmox_are_read() -> None:
    paste = read_paste(PROXMOX)
    assert paste.pool == "hdd"
    stated = paste.scenario.stated()
    assert (stated["layout"], stated["old_drive"], stated["drive_size"]) == ("mirror2", "missing", 8 * 10**12)
    assert (paste.scans[-1].issued or 0) >> 30 == 401


@pytest.mark.parametrize(
    ("words", "layout"),
    [
        ("it is going up since yesterday: 8x 16TB Exos in raidz2, truenas scale", "raidz2x8"),
        ("I have a raidz2 of 6 drives, all WD Red", "raidz2x6"),
        ("12 wide raidz3, nothing else", "raidz3x12"),
        ("my RAIDZ with 5 disks is slow", "raidz1x5"),
        ("4x 4TB IronWolf in mirrors", "2*mirror2"),
        ("two raidz2 vdevs of 6 drives", ""),
        ("raidz2 is better than raidz1 with 3 drives or 4", "raidz1x3"),
        ("I replaced 2 drives of it", ""),
        ("Data VDEVs: 2 x RAIDZ1 | 5 wide | 3.64 TiB", "2*raidz1x5"),
    ],
)
def test_a_sentence_may_name_the_layout(words: str, layout: str) -> None:
    found = [each.layout for each in said_layouts(words) if isinstance(each, SaidLayout)]
    assert found == ([layout] if layout else [])


SCAN = """\
scan: resilver in progress since Mon Sep 16 08:42:11 2024
        38.4T / 71.9T scanned at 1.62G/s, 9.11T / 71.9T issued at 394M/s
        1.11T resilvered, 12.67% done, 1 days 22:24:01 to go
"""


def test_what_a_sentence_says_of_a_pool_that_is_not_shown_is_taken() -> None:
    found = import_pasted(f"{SCAN}it goes up!! 8x 16TB Exos in raidz2, truenas scale 24.04\n")
    stated = found.scenario.stated()
    assert (stated["layout"], stated["drive_size"]) == ("raidz2x8", 16 * 10**12)
    assert "the layout is the one that the text names: raidz2x8" in found.notes
    assert "the drives are those that the text names: 16 TB Exos" in found.notes
    two = import_pasted(f"{SCAN}8x 16TB in raidz2\nthe other one is 6x 4TB in raidz1\n")
    assert any(note.startswith("NOT KNOWN: the layout") for note in two.notes)
    assert any("the text names several layouts (raidz2x8, raidz1x6)" in note for note in two.notes)
    shown = import_pasted(f"{STATUS}\nit is 8x 16TB Exos in raidz2\n")
    assert str(shown.scenario.layout).startswith("raidz2x5"), "what is shown comes first"


IOSTAT = """\
Device            r/s     rkB/s r_await     w/s     wkB/s w_await  aqu-sz  %util
sda             84.20  17012.80    6.12    4.20     52.80    0.61    0.52  31.20
sdb             83.80  16984.00    5.98    4.20     52.80    0.64    0.50  30.80
sdd             85.00  17104.80  {}    4.00     51.20   12.20    8.66  99.80
sde             84.60  17033.60    6.01    4.20     52.80    0.60    0.51  31.00
"""


@pytest.mark.parametrize(("await_ms", "told"), [("101.30", True), ("  9.30", False)])
def test_a_drive_that_stands_out_even_in_the_mean_since_the_start_is_named(await_ms: str, told: bool) -> None:
    notes = import_pasted(f"{STATUS}\n{IOSTAT.format(await_ms)}").notes
    (note,) = (each for each in notes if "has one sample" in each)
    assert ("sdd stands out" in note) is told


def test_a_text_about_nothing_is_refused_as_before() -> None:
    with pytest.raises(InputError, match="zpool status"):
        read_paste("Storage is nice, 8x 16TB Exos in raidz2\n")


def test_a_sentence_names_the_layout_beside_a_list_without_vdevs() -> None:
    listed = (
        "NAME  SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT\n"
        "tank  116T  62.4T  53.7T        -         -     9%    53%  1.00x    ONLINE  -\n"
    )
    stated = import_pasted(f"{listed}it is 8x 16TB Exos in raidz2\n").scenario.stated()
    assert (stated["layout"], stated["drive_size"]) == ("raidz2x8", 16 * 10**12)
    with pytest.raises(InputError, match="no file shows the vdevs"):
        import_pasted(f"{listed}it is 8x 16TB in raidz2\nor 6x 16TB in raidz2\n")
