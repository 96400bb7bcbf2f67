"""What a pool has already shown, from outputs of every era: scans, activity, benchmarks."""

from datetime import datetime
from pathlib import Path

import pytest

from zsim.observe.dates import date_line
from zsim.observe.evidence.benchmarks import read_benchmarks
from zsim.observe.evidence.host_iostat import read_host_iostat
from zsim.observe.evidence.pool_events import read_events
from zsim.observe.evidence.pool_history import read_history
from zsim.observe.evidence.pool_iostat import read_iostat, time_of
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.texts import nice_bytes
from zsim.observe.zpool.status import read_scan
from zsim.prediction.api import case_of
from zsim.scenario.model import Scenario

STATUS = """\
  pool: tank
 state: ONLINE
  scan: {scan}
config:

\tNAME                                 STATE     READ WRITE CKSUM
\ttank                                 ONLINE       0     0     0
\t  raidz2-0                           ONLINE       0     0     0
{rows}

errors: No known data errors
"""
DRIVES = [f"ata-ST18000NM000J-2TV103_ZR52AAA{n}" for n in range(8)]


def status(scan, names=DRIVES):
    return STATUS.format(scan=scan, rows="\n".join(f"\t    {name}  ONLINE  0 0 0" for name in names))


def evidence(text, **more):
    return import_pasted(text, **more).scenario.evidence or ()


@pytest.mark.parametrize(
    ("line", "kind", "seconds", "resolution", "end"),
    [
        ("scrub repaired 0B in 1 days 01:17:42 with 0 errors on Sun Nov 15 01:17:43 2026", "scrub", 91062, 1,
         datetime(2026, 11, 15, 1, 17, 43)),
        ("resilvered 1.36T in 0 days 02:58:47 with 0 errors on Sat Jan  4 02:07:21 2020", "resilver", 10727, 1,  # noqa: E501
         datetime(2020, 1, 4, 2, 7, 21)),
        ("resilvered (mirror-0) 1.36T in 02:58:47 with 0 errors on Sat Jan  4 02:07:21 2020", "rebuild", 10727, 1,  # noqa: E501
         datetime(2020, 1, 4, 2, 7, 21)),
        ("rebuilt 1.36T in 02:58:47 with 0 errors on Sat Jan  4 02:07:21 2020", "rebuild", 10727, 1,
         datetime(2020, 1, 4, 2, 7, 21)),
        ("resilvered 6.38T in 72h58m with 0 errors on Sat Dec  2 12:52:16 2023", "resilver", 262680, 60,
         datetime(2023, 12, 2, 12, 52, 16)),
        ("scrub repaired 0 in 0h4m with 0 errors on Tue Jun 10 04:09:48 2014", "scrub", 240, 60,
         datetime(2014, 6, 10, 4, 9, 48)),
        ("scrub completed after 5h3m with 0 errors on Sun Mar  7 11:03:22 2010", "scrub", 18180, 60,
         datetime(2010, 3, 7, 11, 3, 22)),
        ("resilver completed after 0h51m with 0 errors on Sun Mar  7 11:03:22 2010", "resilver", 3060, 60,
         datetime(2010, 3, 7, 11, 3, 22)),
        ("scrub repaired 0B in 3 days 19:15:21 with 0 errors on Fri 21 Jul 2023 11:43:09 AM CEST", "scrub", 328521,  # noqa: E501
         1, datetime(2023, 7, 21, 11, 43, 9)),
    ],
)  # fmt: skip
def test_every_finished_scan(line, kind, seconds, resolution, end):
    (scan,) = evidence(status(line))
    assert (scan.kind, scan.duration, scan.resolution, scan.end) == (kind, seconds, resolution, end)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (
            "resilver in progress since Mon Jul 17 16:27:48 2023\n"
            "\t1.78T scanned at 1.30G/s, 315G issued at 231M/s, 32.1T total\n"
            "\t50.2G resilvered, 0.96% done, 1 days 16:09:43 to go",
            ("resilver", "0.8-2.1", "1.78T", "315G", "32.1T", 0.0096, 144583),
        ),
        (
            "resilver in progress since Thu Nov  2 18:20:13 2023\n"
            "\t407G / 9.68T scanned, 108G / 9.68T issued at 221M/s\n"
            "\t40.8G resilvered, 1.09% done, 12:36:19 to go",
            ("resilver", "2.2+", "407G", "108G", "9.68T", 0.0109, 45379),
        ),
        (
            "resilver in progress since Fri Aug  1 13:41:48 2014\n"
            "        14.2T scanned out of 37.5T at 775M/s, 8h45m to go\n"
            "        2.24T resilvered, 37.87% done",
            ("resilver", "legacy", "14.2T", "14.2T", "37.5T", 0.3787, 31500),
        ),
        (
            "resilver (draid2:4d:8c:0s-0) in progress since Thu Nov  2 18:20:13 2023\n"
            "\t33.4T scanned at 2.13G/s, 30.6T issued 1.95G/s, 35.9T total\n"
            "\t13.9T resilvered, 92.97% done, 03:22:35 to go",
            ("rebuild", "rebuild", "33.4T", "30.6T", "35.9T", 0.9297, 12155),
        ),
        (
            "resilver in progress since Thu Nov  2 18:20:13 2023\n"
            "\t1.76T scanned at 139G/s, 324K issued at 24.9K/s, 12.3T total\n"
            "\t0B resilvered, 0.00% done, no estimated completion time",
            # Nothing stands in a pair, so that no drive is replaced: one was away.
            ("heal", "0.8-2.1", "1.76T", "324K", "12.3T", 0.0, None),
        ),
        (
            "resilver in progress for 0h2m, 4.89% done, 0h53m to go\n\t2.95G resilvered",
            ("resilver", "legacy", None, None, None, 0.0489, 3180),
        ),
    ],
)
def test_every_running_scan(lines, wanted):
    kind, form, scanned, issued, total, done, to_go = wanted
    text = status(lines).replace("raidz2-0", "draid2:4d:8c:0s-0" if "(draid" in lines else "raidz2-0")
    (scan,) = [each for each in evidence(text) if each.what == "running"]
    assert (scan.kind, scan.format) == (kind, form)
    assert (scan.scanned, scan.issued, scan.total) == tuple(map(nice_bytes, (scanned, issued, total)))
    assert (scan.done, scan.to_go) == (done, to_go)


@pytest.mark.parametrize(("printed", "seconds"), [("0h0m", 30.0), ("0h2m", 150.0), ("1h0m", 3630.0)])
def test_full_minutes_that_are_over_are_half_a_minute_more_in_the_middle(printed, seconds):
    (scan,) = evidence(
        status(f"resilver in progress for {printed}, 4.89% done, 0h53m to go\n\t2G resilvered")
    )
    assert (scan.elapsed, scan.resolution) == (seconds, 60.0)


def test_a_line_that_was_wrapped_and_one_that_was_paused():
    wrapped = ["scrub repaired 0B in 1 days 01:17:42 with 0 errors on Sun Nov", "  15 01:17:43 2026"]
    assert read_scan(wrapped).at == datetime(2026, 11, 15, 1, 17, 43)
    paused = read_scan(["scrub paused since Sun Nov 15 01:17:43 2026", "\tscrub started on Sat Nov 14 00:00:00 2026",  # noqa: E501
                        "\t1.50T scanned, 1.00T issued, 3.00T total"])  # fmt: skip
    assert (paused.state, paused.since) == ("paused", datetime(2026, 11, 14))
    assert paused.issued == 1 << 40


def test_a_small_repair_is_a_heal():
    listed = "tank\t144000000000000\t33000000000000\t111000000000000\t-\t-\t5\t22\t1.00\tONLINE\t-\n"
    text = status("resilvered 1.20G in 00:00:40 with 0 errors on Sun Nov 15 01:17:43 2026") + listed
    assert [each.kind for each in evidence(text)] == ["heal"]
    full = status("resilvered 4.02T in 09:00:40 with 0 errors on Sun Nov 15 01:17:43 2026") + listed
    assert [each.kind for each in evidence(full)] == ["resilver"]
    alone = status("resilvered 1.20G in 00:00:40 with 0 errors on Sun Nov 15 01:17:43 2026")
    assert [each.kind for each in evidence(alone)] == ["heal"]


def test_bytes_of_a_resilver_bound_size_and_alloc():
    line = "resilvered 12.1T in 1 days 10:00:00 with 0 errors on Sun Nov 15 01:17:43 2026"
    stated = import_pasted(status(line, [f"sd{c}" for c in "abcdefgh"])).scenario
    assert stated.drive_size is None
    assert case_of(stated).drive_size >= 16 * 10**12
    assert stated.alloc == pytest.approx(8 * nice_bytes("12.1T"), rel=0.01)
    named = import_pasted(status(line))
    assert named.scenario.drive_size == 18000207937536
    assert next(each.inferred for each in named.findings if each.field == "alloc")


RUN = (
    "resilver in progress since Mon Jul 17 16:00:00 2023\n"
    "\t{scanned}T scanned at 1.30G/s, {issued}G issued at 231M/s, 32.1T total\n"
    "\t50.2G resilvered, {done}% done, 1 days 16:09:43 to go"
)


def test_statuses_with_dates_are_put_in_order_of_time():
    late = "Mon Jul 17 20:00:00 CEST 2023\n" + status(RUN.format(scanned="9.78", issued="900", done="2.96"))
    early = "Mon Jul 17 17:00:00 CEST 2023\n" + status(RUN.format(scanned="1.78", issued="315", done="0.96"))
    found = [each for each in evidence(late + early) if each.what == "running"]
    assert [each.elapsed for each in found] == [3600, 14400]
    assert [each.issued for each in found] == [nice_bytes("315G"), nice_bytes("900G")]
    undated = status(RUN.format(scanned="9.78", issued="900", done="2.96")) + status(
        RUN.format(scanned="1.78", issued="315", done="0.96")
    )
    assert [each.done for each in evidence(undated)] == [0.0096, 0.0296]


def test_a_date_behind_the_statuses_belongs_to_the_one_before():
    text = status(RUN.format(scanned="1.78", issued="315", done="0.96")) + "\nMon Jul 17 17:00:00 CEST 2023\n"
    assert evidence(text)[0].elapsed == 3600


def test_a_running_scan_that_ended_is_told_once():
    end = status("resilvered 5.65T in 1 days 00:00:00 with 0 errors on Tue Jul 18 16:00:00 2023")
    found = import_pasted(status(RUN.format(scanned="1.78", issued="315", done="0.96")) + end)
    assert [each.what for each in found.scenario.evidence] == ["finished"]
    assert found.scenario.evidence[0].alloc == nice_bytes("32.1T")
    assert any("is over by another output" in note for note in found.notes)


def test_json_in_utc_and_text_in_local_time_are_one_scan():
    line = "scrub repaired 0B in 01:00:00 with 0 errors on Sun Nov 15 02:00:00 2026"
    document = (OUTPUTS / "scrub-utc.json").read_text()
    found = evidence(document + "\n" + status(line))
    assert [(each.kind, each.duration, each.end) for each in found] == [
        ("scrub", 3600, datetime(2026, 11, 15, 2, 0))
    ]


OUTPUTS = Path(__file__).parents[1] / "fixtures" / "outputs"
HISTORY = (OUTPUTS / "history.txt").read_text()
HISTORY_28 = (OUTPUTS / "history-28.txt").read_text()


def test_history_tells_dates_and_durations():
    (history,) = read_history(HISTORY)
    assert [(each.kind, each.duration, each.drives) for each in history.scans] == [
        ("scrub", 91062, None), ("resilver", 31200, 1), ("heal", 40, None),
    ]  # fmt: skip
    assert (history.begun, history.kind) == (datetime(2024, 1, 2), "scrub")
    (old,) = read_history(HISTORY_28)
    assert [(each.kind, each.duration) for each in old.scans] == [("scrub", 18000)]


EVENTS = (OUTPUTS / "events.txt").read_text()


def test_events_tell_dates_and_durations():
    tank, other = read_events(EVENTS)
    assert [(each.kind, each.duration, each.end) for each in tank.scans] == [
        ("resilver", 31200, datetime(2023, 11, 3, 3, 0, 13))
    ]
    assert (other.name, [each.kind for each in other.scans]) == ("other", ["rebuild"])


def test_one_scan_in_three_outputs_is_one_observation():
    line = "resilvered 4.02T in 08:40:00 with 0 errors on Fri Nov  3 03:00:13 2023"
    found = evidence(status(line) + HISTORY + EVENTS, pool="tank")
    assert [each.kind for each in found] == ["scrub", "resilver", "heal"]
    assert (found[1].processed, found[1].drives, found[1].source) == (nice_bytes("4.02T"), 1, "zpool status")


def test_a_history_without_internal_lines_is_no_evidence():
    plain = "History for 'tank':\n2023-01-01.10:00:00 zpool create tank raidz2 a b c d\n"
    assert evidence(status("none requested") + plain) == ()


IOSTAT = (OUTPUTS / "iostat.txt").read_text()


def test_zpool_iostat_without_the_time_since_the_start_of_the_host():
    (drive,) = read_iostat(IOSTAT).means()
    assert drive.drive == "ata-ST18000NM000J-2TV103_ZR52AAA0"
    assert (drive.reads, drive.read_rate, drive.writes) == (200, 150 << 20, 0)
    assert drive.service == pytest.approx((100 * 12e-3 + 300 * 16e-3) / 400)
    assert drive.queue == pytest.approx(14)


def test_zpool_iostat_in_other_forms():
    rows = ["tank\t100\t200\t7\t8\t9\t10", "raidz2-0\t100\t200\t7\t8\t9\t10", "sda\t-\t-\t7\t8\t1048576\t10"]
    once = "\n".join(rows) + "\n"
    assert read_iostat(once).means() == []
    (drive,) = read_iostat(once + once).means()
    assert (drive.drive, drive.reads, drive.read_rate) == ("sda", 7, 1048576)
    first = "\n".join(["$ zpool iostat -vy tank 10 1", *IOSTAT.splitlines()[1:7]])
    (drive,) = read_iostat(first).means()
    assert drive.reads == 7
    assert [time_of(text) for text in ("12ms", "1us", "1000000", "-")] == [0.012, 1e-6, 1e-3, None]


def test_activity_is_numbered_by_the_layout():
    running = status(RUN.format(scanned="9.78", issued="900", done="2.96"))
    drive = next(each for each in evidence(running + IOSTAT) if each.what == "drive")
    assert (drive.leaf, drive.role) == (0, "source")
    idle = import_pasted(status("none requested") + IOSTAT)
    assert not idle.scenario.evidence
    assert any("iostat is ignored: no scan is running" in note for note in idle.notes)


IOSTAT_X = (OUTPUTS / "iostat-x.txt").read_text()
IOSTAT_OLD = (OUTPUTS / "iostat-old.txt").read_text()
GSTAT = (OUTPUTS / "gstat.txt").read_text()


def test_iostat_of_the_host():
    (drive,) = read_host_iostat(IOSTAT_X).means()
    assert (drive.drive, drive.reads, drive.read_rate, drive.busy) == ("sda", 100, 102400 * 1024, 0.995)
    assert (drive.service, drive.queue) == (0.02, 2)
    (old,) = read_host_iostat(IOSTAT_OLD).means()
    assert (old.drive, old.busy, old.read_rate) == ("sdb", 1.0, 80000 * 1024)
    (freebsd,) = read_host_iostat(GSTAT).means()
    assert (freebsd.drive, freebsd.reads, freebsd.busy, freebsd.queue) == ("ada0", 150, 0.975, 4)


def test_a_drive_of_the_host_is_found_in_the_pool_by_its_serial_number():
    running = status(RUN.format(scanned="9.78", issued="900", done="2.96"))
    lsblk = 'NAME="sda" MODEL="ST18000NM000J-2TV103" SERIAL="ZR52AAA3" SIZE="18000207937536" ROTA="1"\n'
    drive = next(each for each in evidence(running + lsblk + IOSTAT_X) if each.what == "drive")
    assert (drive.drive, drive.leaf) == ("sda", 3)
    unknown = import_pasted(running + IOSTAT_X)
    assert any("add the output of lsblk" in note for note in unknown.notes)


FIO_JSON = (OUTPUTS / "fio-json.json").read_text()
FIO_TEXT = (OUTPUTS / "fio-text.txt").read_text()
DD = (OUTPUTS / "dd.txt").read_text()


def test_benchmarks():
    ((rand,), _) = read_benchmarks(FIO_JSON)
    assert (rand.access, rand.of, rand.operations, rand.size, rand.depth) == (
        "random-read",
        "drive",
        195.3,
        4096,
        4,
    )
    ((seq,), _) = read_benchmarks(FIO_TEXT)
    assert (seq.access, seq.rate, seq.operations, seq.size, seq.depth) == (
        "sequential-read",
        250 << 20,
        250,
        1 << 20,
        8,
    )
    ((read, write), _) = read_benchmarks(DD)
    assert (read.access, read.of, round(read.rate)) == ("sequential-read", "drive", 200_000_000)
    assert (write.access, write.of, round(write.rate)) == ("sequential-write", "pool", 500_000_000)
    found, notes = read_benchmarks("10485760000 bytes (10 GB, 9.8 GiB) copied, 52.4288 s, 200 MB/s\n")
    assert (found, len(notes)) == ([], 1)


def test_everything_in_one_paste_and_back_through_toml():
    running = status(RUN.format(scanned="9.78", issued="900", done="2.96"))
    found = import_pasted(FIO_JSON + "\n" + running + HISTORY + EVENTS + IOSTAT + DD, pool="tank")
    kinds = [each.what for each in found.scenario.evidence]
    assert kinds == ["finished"] * 3 + ["running", "drive"] + ["benchmark"] * 3
    assert Scenario.from_dict(found.scenario.stated()) == found.scenario
    assert "[[evidence]]" in found.to_toml()


@pytest.mark.parametrize(
    ("line", "when"),
    [
        ("Sat Nov 21 10:00:00 UTC 2026", datetime(2026, 11, 21, 10)),
        ("Sat 21 Nov 2026 10:00:00 PM CET", datetime(2026, 11, 21, 22)),
        ("2026-11-21T10:00:00+01:00", datetime(2026, 11, 21, 10)),
        ("=== Sat Nov 21 10:00:00 2026 ===", datetime(2026, 11, 21, 10)),
        ("  scan: scrub repaired 0B in 00:00:01 with 0 errors on Sat Nov 21 10:00:00 2026", None),
        ("Version of Sat Nov 21 10:00:00 2026", None),
    ],
)
def test_lines_with_a_date_alone(line, when):
    assert date_line(line) == when


@pytest.mark.parametrize(
    "line",
    [
        "Di 24. Nov 07:30:00 CET 2026", "mar. 24 nov. 2026 07:30:00 CET", "mar 24 nov 2026 07:30:00 CET",
        "di 24 nov 2026 07:30:00 CET", "mar 24 nov 2026, 07:30:00, CET", "ter 24 nov 2026 07:30:00 -03",
        "Dienstag, 24. November 2026, 07:30:00 CET", "martes, 24 de noviembre de 2026, 07:30:00 CET",
        "Вт 24 ноя 2026 07:30:00 MSK", "вт, 24 лис 2026 07:30:00 EET", "wto, 24 lis 2026, 07:30:00 CET",
        "2026年 11月 24日 火曜日 07:30:00 JST", "2026年 11月 24日 星期二 07:30:00 CST",
        "2026年11月24日 7时30分0秒",
        "2026年 11月 24日 火曜日 午前 7:30:00", "2026. 11. 24. (화) 07:30:00 KST",
    ],
)  # fmt: skip
def test_a_date_is_read_in_the_languages_of_hosts(line: str) -> None:
    assert date_line(line) == datetime(2026, 11, 24, 7, 30)


@pytest.mark.parametrize(
    ("line", "when"),
    [
        ("Mi 4. Mär 08:00:00 CET 2026", datetime(2026, 3, 4, 8)),
        ("sam. 1 août 2026 08:00:00 CEST", datetime(2026, 8, 1, 8)),
        ("Do 15. Okt 08:00:00 CEST 2026", datetime(2026, 10, 15, 8)),
        ("lun 12 gen 2026, 08:00:00, CET", datetime(2026, 1, 12, 8)),
        ("2026年 8月 1日 土曜日 午後 8:00:00", datetime(2026, 8, 1, 20)),
        ("2026. 8. resilver 08:00:00", None),
        ("1 мая 2026 08:00:00", datetime(2026, 5, 1, 8)), ("12 раз 2026 08:00:00", None),
        ("in 12 Tagen 2026 08:00:00", None), ("12 von 24 fertig 08:00:00", None),
    ],
)  # fmt: skip
def test_months_of_other_languages_are_known_and_other_words_are_not(line: str, when: object) -> None:
    assert date_line(line) == when
