"""``zsim eta``: from a pasted status to a finish time."""

import json
import re
import subprocess
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.planning.eta.reading import in_order, read_paste
from zsim.planning.eta.reasons import METASLABS, OTHER_GROUPS, telling_pace, zpool_remaining, zpool_why
from zsim.planning.eta.records import Span
from zsim.planning.eta.watching import log_line, prometheus_text, status_of, watched
from zsim.prediction.answer.drawing import DARK_GROUND
from zsim.prediction.api import case_of
from zsim.prediction.progress.moments import clock_of

EXAMPLE = (Path(__file__).parents[3] / "docs" / "examples" / "zpool-status.txt").read_text()
NOW = datetime(2026, 11, 22, 11, 52, 40)
FAST = ("drive=generic-7200rpm-cmr",)
SMALL = """\
  pool: rpool
 state: DEGRADED
  scan: resilver in progress since Sun Nov 22 11:40:00 2026
\t{scanned} / 200G scanned at 1G/s, {issued} / 200G issued at 100M/s
\t{issued} resilvered, {percent}% done, 00:20:00 to go
config:

\tNAME                  STATE     READ WRITE CKSUM
\trpool                 DEGRADED     0     0     0
\t  mirror-0            DEGRADED     0     0     0
\t    sda               ONLINE       0     0     0
\t    replacing-1       DEGRADED     0     0     0
\t      sdb             OFFLINE      0     0     0
\t      sdc             ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""


def small(issued=50, scanned=200):
    return SMALL.format(scanned=f"{scanned}G", issued=f"{issued}G", percent=issued / 2)


@pytest.fixture(scope="module")
def answer():
    return zsim.eta(EXAMPLE)


def test_the_answer_has_what_the_interface_promises(answer):
    data = answer.to_dict()
    for name in ("total_s", "remaining_s", "finish"):
        assert list(data[name]) == ["p10", "p50", "p90"]
    assert data["remaining_s"]["p10"] < data["remaining_s"]["p50"] < data["remaining_s"]["p90"]
    assert data["elapsed_s"] == 3 * 3600 + 41 * 60 + 37
    assert data["zpool"]["remaining_s"] == 18 * 3600 + 54 * 60 + 57
    assert datetime.fromisoformat(data["finish"]["p50"]) > NOW
    assert {"kind", "observed", "expected", "weight", "narrows"} == set(data["evidence"][0])
    assert json.loads(answer.to_json()) == data


def test_the_answer_is_drawn_in_dark_and_in_light_ink(answer, tmp_path):
    answer.save_plot(tmp_path / "light.svg")
    answer.save_plot(tmp_path / "dark.svg", dark=True)
    assert DARK_GROUND not in (tmp_path / "light.svg").read_text()
    assert DARK_GROUND in (tmp_path / "dark.svg").read_text()


def test_the_whole_is_what_is_gone_and_what_is_left(answer):
    assert answer.total_s.p50 == pytest.approx(answer.elapsed_s + answer.remaining_s.p50, rel=0.02)


def test_the_words_name_finish_zpool_and_what_a_step_would_cost(answer):
    words = str(answer)
    assert "done about" in words
    assert "80 % interval (p10-p90)" in words
    assert "zpool says 18 h 55 min" in words
    assert "replacing a second drive now does not disturb" in " ".join(words.split())
    assert "a reboot during the repair can restart it from zero" in " ".join(words.split())


def test_a_finished_scan_is_a_sentence(capsys, monkeypatch, tmp_path):
    path = tmp_path / "status.txt"
    done = "  scan: scrub repaired 0B in 05:00:00 with 0 errors on Sun Nov 22 05:24:01 2026\n"
    path.write_text(re.sub(r"  scan: .*?config:", done + "config:", EXAMPLE, flags=re.DOTALL))
    assert main(["eta", str(path)]) == 2
    assert "a running scan is expected" in capsys.readouterr().err


def test_a_table_whose_scan_line_is_left_out_asks_for_it():
    pair = "replacing-3 DEGRADED 0 0 0\n        old OFFLINE 0 0 0\n        sdx ONLINE 0 0 0\n"
    rows = "config:\n\n  NAME STATE READ WRITE CKSUM\n  tank DEGRADED 0 0 0\n    raidz1-0 DEGRADED 0 0 0\n"
    rows += f"      sda ONLINE 0 0 0\n      sdb ONLINE 0 0 0\n      {pair}"
    with pytest.raises(InputError, match="scan: is missing: .* how far the repair of sdx is"):
        read_paste(f"  pool: tank\n state: DEGRADED\n{rows}\nerrors: No known data errors\n")


def test_no_scan_is_a_sentence():
    with pytest.raises(InputError, match="a running scan is expected"):
        read_paste(
            "  pool: a\n state: ONLINE\n  scan: none requested\nconfig:\n\nerrors: No known data errors\n"
        )


def test_a_scan_in_one_line_of_a_message_gets_an_answer():
    said = (
        "Hi, my pool says resilver in progress since Mon Feb 10 22:54:23 2020, 5.25T scanned at 642M/s, "
        "3.20T issued at 391M/s, 21.3T total, 546G resilvered, 15.02% done, 13:29:01 to go. Is that normal?"
    )
    paste = read_paste(said)
    (scan,) = paste.scans
    assert (scan.kind, scan.format, scan.done) == ("resilver", "0.8-2.1", pytest.approx(0.1502))
    assert scan.issued == pytest.approx(3.2 * 2**40, rel=0.01)
    assert scan.processed == 546 * 2**30
    assert scan.to_go == 13 * 3600 + 29 * 60 + 1


def test_what_does_not_go_on_is_said_first():
    suspended = read_paste(small().replace("state: DEGRADED", "state: SUSPENDED"))
    assert suspended.notes[0].startswith("HALTED: the pool is suspended")
    paused = read_paste(
        small().replace("resilver in progress since", "scrub paused since").replace("resilvered", "repaired")
    )
    assert paused.paused
    assert paused.notes[0].startswith("HALTED: the scan is paused")
    assert not any(note.startswith("HALTED") for note in read_paste(small()).notes)


def test_scan_lines_alone_get_an_answer():
    lines = re.search(r"  scan: .*?to go\n", EXAMPLE, re.DOTALL)[0]
    paste = read_paste(lines, now=NOW)
    # An eighth of what was issued was resilvered: each of eight drives holds as much.
    assert str(paste.scenario.layout) == "raidz2x8"
    assert paste.scans[-1].issued == pytest.approx(9.84 * 2**40, rel=1e-3)
    assert "is assumed" in paste.notes[0]


REBUILD = """\
  scan: resilver ({}-0) in progress since Sun Nov 15 10:00:00 2026
\t1.10T scanned at 1.52G/s, 410G issued 566M/s, 6.42T total
\t102G resilvered, 6.38% done, 03:05:43 to go
"""


@pytest.mark.parametrize(
    ("vdev", "layout"),
    [("draid1:4d:11c:1s", "draid1:4d:11c:1s"), ("mirror", "mirror2"), ("draid1:4d", "mirror2")],
)
def test_a_rebuild_names_its_draid_and_is_never_of_raidz(vdev, layout):
    paste = read_paste(REBUILD.format(vdev))
    assert (str(paste.scenario.layout), paste.scenario.operation) == (layout, "rebuild")
    assert paste.notes[0].startswith("NOT KNOWN: the layout")
    assert f"{layout} is assumed" in paste.notes[0]


def test_groups_that_lost_no_drive_make_the_estimate_of_a_rebuild_too_long():
    paste = read_paste(REBUILD.format("draid1:4d:11c:1s"))
    case, scan = case_of(paste.scenario), paste.scans[-1]
    said = zpool_remaining(scan)
    assert said is not None
    for left, words in (((1.0, 2.0, 3.0), OTHER_GROUPS), ((1e6, 2e6, 3e6), METASLABS)):
        assert zpool_why(scan, said, Span(*left), 0.17, case, "repair") == words


def test_statuses_are_put_in_order_whatever_order_they_come_in():
    early, late = small(20), small(50)
    dated = f"Sun Nov 22 11:55:00 UTC 2026\n{late}\nSun Nov 22 11:46:00 UTC 2026\n{early}"
    paste = read_paste(dated)
    assert [scan.issued for scan in paste.scans] == sorted(scan.issued for scan in paste.scans)
    assert paste.at == datetime(2026, 11, 22, 11, 55)
    assert in_order([*reversed(paste.scans)]) == list(paste.scans)


def test_a_status_of_another_day_is_dated_by_its_counters():
    paste = read_paste(small(50, 100), now=datetime(2027, 6, 1))
    assert paste.at is not None
    assert paste.at.date() == datetime(2026, 11, 22).date()


def test_a_piped_status_is_of_now():
    paste = read_paste(small(50), now=datetime(2026, 11, 22, 11, 48, 30))
    assert paste.at == datetime(2026, 11, 22, 11, 48, 30)


def test_a_watched_scan_narrows_and_ends_with_the_scan():
    texts = iter([small(20), small(50), small(90), "  pool: rpool\n state: ONLINE\n  scan: none requested\n"])
    times = iter(datetime(2026, 11, 22, 11, minute) for minute in (44, 50, 58, 59))
    found = list(
        watched("rpool", 60.0, status=lambda _: next(texts), sleep=lambda _: None, clock=lambda: next(times))
    )
    assert len(found) == 3
    assert [each.done for each in found] == sorted(each.done for each in found)
    assert found[-1].remaining_s.p90 < found[0].remaining_s.p90
    assert json.loads(log_line(found[-1]))["pool"] == "rpool"
    text = prometheus_text(found[-1])
    assert re.search(r'^zsim_scan_remaining_seconds\{pool="rpool",quantile="0.9"\} \d', text, re.MULTILINE)
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+\{[^}]*\} [-+.\deE]+", line)


def test_a_pool_that_does_not_answer_is_asked_again():
    said = [small(20), None, small(50), small(90), "  pool: rpool\n state: ONLINE\n  scan: none requested\n"]
    times, texts = iter(datetime(2026, 11, 22, 11, minute) for minute in (44, 47, 50, 58, 59)), iter(said)
    missed: list[str] = []

    def status(pool: str) -> str:
        text = next(texts)
        if text is None:
            raise InputError("--pool", pool, "zpool status -v rpool: no answer within 60 s", "wait")
        return text

    found = list(
        watched(
            "rpool", 60.0, missed=lambda error: missed.append(error.allowed), status=status,
            sleep=lambda _: None, clock=lambda: next(times),
        )
    )  # fmt: skip
    assert len(found) == 3
    assert missed == ["zpool status -v rpool: no answer within 60 s"]


def test_a_pool_that_never_answered_is_not_watched():
    def status(pool: str) -> str:
        raise InputError("--pool", pool, "zpool status -v rpool: no such pool", "zpool list names the pools")

    with pytest.raises(InputError, match="no such pool"):
        next(watched("rpool", 60.0, status=status, sleep=lambda _: None))


def test_the_command_goes_on_watching_where_a_status_or_a_line_of_its_log_is_missing(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "status").write_text(small(20))
    fake = tmp_path / "zpool"
    fake.write_text(
        f"#!/bin/sh\ncd {tmp_path}\necho >> asked\n"
        "case $(wc -l < asked) in\n"
        "1) cat status;; 2) rm log; mkdir log; cat status;; 3) echo 'pool I/O is suspended' >&2; exit 1;;\n"
        "*) echo '  pool: rpool'; echo ' state: ONLINE'; echo '  scan: none requested';; esac\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("zsim.planning.eta.watching.watched", partial(watched, sleep=lambda _: None))
    assert main(["eta", "--pool", "rpool", "--watch", "60", "--log", str(tmp_path / "log")]) == 0
    told = capsys.readouterr()
    assert told.out.count('"pool": "rpool"') == 2
    first, second, last = told.err.splitlines()[-3:]
    assert "is a directory" in first
    assert "pool I/O is suspended" in second
    assert first.endswith("the next attempt is in 60 s")
    assert second.endswith("the next attempt is in 60 s")
    assert last == "zsim: no scan is running on rpool any more"


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ((), "interrupted; the scan itself goes on"),
        (("--log", "a"), "interrupted; the answers so far are in a"),
    ],
)
def test_ctrl_c_ends_watching_and_says_what_is_kept(kept, told, tmp_path, monkeypatch, capsys):
    """It said that nothing was written, beside the log that it had written."""

    def interrupted(*_args, **_more):
        raise KeyboardInterrupt
        yield

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("zsim.planning.eta.watching.watched", interrupted)
    assert main(["eta", "--pool", "rpool", "--watch", "60", *kept]) == 130
    assert capsys.readouterr().err == f"zsim: {told}\n"


def test_a_pool_is_asked_without_a_shell(tmp_path, monkeypatch):
    fake = tmp_path / "zpool"
    fake.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/asked\nprintf 'status'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert status_of("my tank") == "status"
    assert (tmp_path / "asked").read_text() == "status -v my tank\n"


@pytest.mark.parametrize("name", ["-x", "", "tank; rm", "a\0b", "a\ud800", "x" * 300_000, "\u202e"])
def test_what_is_no_name_of_a_pool_is_refused_before_anything_runs(name, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *args, **more: pytest.fail("it was run"))
    with pytest.raises(InputError, match="a pool's name begins with a letter"):
        status_of(name)


@pytest.mark.parametrize(
    ("script", "mode", "said"),
    [
        ("exit 3", 0o755, "ended with 3 and printed nothing"),
        ("echo 'cannot open: \033[2Jno such pool' >&2; exit 1", 0o755, "no such pool"),
        ("exit 0", 0o644, "zpool status -v tank: "),
        ("printf '\377\376 pool'", 0o755, None),
    ],
)
def test_a_zpool_that_fails_is_told_of_in_a_sentence(script, mode, said, tmp_path, monkeypatch):
    fake = tmp_path / "zpool"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(mode)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    if said is None:
        assert status_of("tank").endswith("pool")
        return
    with pytest.raises(InputError, match=said) as caught:
        status_of("tank")
    assert "\x1b" not in str(caught.value)


def test_json_is_all_that_is_on_stdout_and_files_are_written(tmp_path, capsys, monkeypatch):
    path, log, prom = tmp_path / "status.txt", tmp_path / "log.jsonl", tmp_path / "zsim.prom"
    path.write_text(f"Sun Nov 22 11:48:30 UTC 2026\n{small(50)}")
    assert main(["eta", str(path), "--json", "--log", str(log), "--prometheus", str(prom)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert json.loads(log.read_text())["total_s"] == data["total_s"]
    assert prom.read_text().startswith("# HELP zsim_scan_remaining_seconds")


def test_watching_needs_a_pool(capsys):
    assert main(["eta", "--watch", "5"]) == 2
    assert "it needs a pool to ask" in capsys.readouterr().err


DRIVES = """
Device            r/s     rkB/s  r_await rareq-sz     w/s     wkB/s  w_await wareq-sz  aqu-sz  %util
sda             10.00   1000.00    10.00   100.00    0.00      0.00     0.00     0.00    0.10  10.00
sdc              0.00      0.00     0.00     0.00   50.00   1000.00     1.00    20.00    0.10  10.00

Device            r/s     rkB/s  r_await rareq-sz     w/s     wkB/s  w_await wareq-sz  aqu-sz  %util
sda             20.00   2560.00   {wait}   128.00    0.00      0.00     0.00     0.00    2.80  {busy}
sdc              0.00      0.00     0.00     0.00   50.00   6400.00     2.00   128.00    0.10  20.00
"""


@pytest.mark.parametrize(("wait", "busy", "is_slow"), [("140.00", "99.00", True), ("9.00", "18.00", False)])
def test_a_drive_slower_than_its_model_allows_is_a_reason(wait, busy, is_slow):
    """A mirror has no peers to compare: 20 reads a second keep the one source busy."""
    found = zsim.eta(small() + DRIVES.format(wait=wait, busy=busy), overrides=FAST, now=NOW)
    told = [each for each in found.reasons if each.startswith("sda spends 49.5 ms on a request of")]
    assert bool(told) == is_slow
    assert all("--slow 1:x3." in each for each in told)


SOLARIS_10 = """\
  pool: rpool
 state: ONLINE
 scrub: resilver in progress for 0h1m, 11.50% done, 0h11m to go
config:

        NAME          STATE     READ WRITE CKSUM
        rpool         ONLINE       0     0     0
          mirror-0    ONLINE       0     0     0
            c0t0d0s0  ONLINE       0     0     0
            c0t1d0s0  ONLINE       0     0     0  1.38G resilvered

errors: No known data errors
"""


def test_a_share_and_the_bytes_of_a_row_tell_how_much_there_is():
    paste = read_paste(SOLARIS_10)
    assert paste.scenario.alloc == pytest.approx(12 * 2**30, rel=0.01)
    assert (paste.scans[-1].elapsed, paste.scans[-1].resolution) == (90.0, 60.0)
    assert not any("how full" in note for note in paste.notes)


NVME = """\
  pool: zroot
 state: ONLINE
  scan: resilver in progress since Tue Nov 21 09:12:10 2023
\t355G scanned at 71.0G/s, 984K issued at 197K/s, {total} total
\t0B resilvered, 0.00% done, no estimated completion time
config:

\tNAME              STATE     READ WRITE CKSUM
\tzroot             ONLINE       0     0     0
\t  mirror-0        ONLINE       0     0     0
\t    {names[0]}  ONLINE       0     0     0
\t    {names[1]}  ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""


@pytest.mark.parametrize("names", [("nda0p4", "nda1p4"), ("nvme0n1p3", "nvme1n1p3"), ("nvd0", "nvd1")])
def test_names_of_nvme_devices_tell_the_class_of_the_drives(names):
    # 3.2T on a mirror: more than the class's usual capacity holds.
    paste = read_paste(NVME.format(names=names, total="3.20T"))
    assert paste.scenario.drive == "generic-nvme-ssd"
    assert case_of(paste.scenario).drive_size >= 4e12
    assert any("how large the drives are" in note for note in paste.notes)
    assert read_paste(NVME.format(names=("nda0", "da1"), total="432G")).scenario.drive is None


def test_seconds_of_a_metadata_phase_are_no_pace():
    found = zsim.eta(NVME.format(names=("nda0p4", "nda1p4"), total="432G"))
    assert found.pace is None
    assert (found.to_dict()["pace"], found.to_dict()["pace_tells"]) == (None, False)
    assert "zsim_scan_pace_ratio" not in prometheus_text(found)
    assert "too early to tell" in str(found)
    assert not any("explains the slow pace" in reason for reason in found.reasons)


BESIDE = {
    "logs": "\tlogs\n\t  nvme0n1p1             ONLINE       0     0     0\n",
    "special": "\tspecial\n\t  mirror-1              ONLINE       0     0     0\n"
    "\t    nvme0n1             ONLINE       0     0     0\n"
    "\t    nvme1n1             ONLINE       0     0     0\n",
}


@pytest.fixture(scope="module")
def alone():
    return zsim.eta(small(), overrides=FAST)


@pytest.mark.parametrize("beside", BESIDE)
def test_vdevs_beside_the_data_are_no_part_of_it(alone, beside):
    # A quarter of the data is issued, whether the pool has a log or not: with one it was called half.
    found = zsim.eta(small().replace("\nerrors", f"{BESIDE[beside]}\nerrors"), overrides=FAST)
    assert found.remaining_s.p50 == pytest.approx(alone.remaining_s.p50, rel=0.15)
    assert found.done == pytest.approx(alone.done, abs=0.03)
    assert "other top-level vdevs" not in found.zpool_why


SECOND_VDEV = """\
\t  mirror-1            {state}     0     0     0
\t    sdd               ONLINE       0     0     0
\t    sde               ONLINE       0     0     0{note}
"""


def test_vdevs_that_are_resilvered_at_once_count_together():
    def of_two(note, counters):
        rows = SECOND_VDEV.format(state="ONLINE  ", note=note)
        return zsim.eta(counters.replace("\nerrors", f"{rows}\nerrors"), overrides=FAST)

    both = of_two("  (resilvering)", small(scanned=150))
    # A quarter of all is issued, and both vdevs are due: three quarters are left of each.
    assert both.done == pytest.approx(0.25, abs=0.03)
    assert any("drives of 2 vdevs are resilvered at once" in note for note in both.notes)
    one = of_two("", small(scanned=150))
    assert one.done == pytest.approx(0.5, abs=0.05)
    assert one.remaining_s.p50 < 0.7 * both.remaining_s.p50
    assert not any("at once" in note for note in one.notes)


SECONDS_OLD = """\
  pool: devel
 state: ONLINE
  scan: resilver in progress since Fri Apr  5 22:39:37 2019
    50.0M scanned out of 132G at 2.94M/s, 12h42m to go
    48.6M resilvered, 0.04% done
config:

        NAME        STATE     READ WRITE CKSUM
        devel       ONLINE       0     0     0
          mirror-0  ONLINE       0     0     0
            da0p2   ONLINE       0     0     0
            da1p2   ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""


def test_seconds_of_a_legacy_scan_are_no_pace():
    # 26 times slower than simulated after 17 s; such scans end at the usual rate.
    found = zsim.eta(SECONDS_OLD)
    assert found.elapsed_s < 20.0
    assert found.pace is None
    assert not any("slow pace" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("pace", "changed", "share", "elapsed", "told"),
    [
        (1.1, 1.0, 0.5, 9000.0, 1.1),
        (1.1, 1.0, 0.0001, 10.0, None),
        (1.1, 1.0, 0.0001, 300.0, 1.1),
        (1.1, 1.0, 0.5, None, None),
        (26.0, 3.0, 0.0004, 17.0, None),
        (26.0, 3.0, 0.0004, 1700.0, 26.0),
        (26.0, 1.2, 0.0004, 1700.0, None),
        (4.0, 3.0, 0.2, 17.0, 4.0),
        # Of a small pool much is done within two transaction groups.
        (4.0, 3.0, 0.2, 8.0, None),
        (1.8, 1.1, 0.9, 160000.0, 1.1),
    ],
)
def test_when_a_pace_tells(pace, changed, share, elapsed, told):
    assert telling_pace(pace, changed, share, elapsed) == told


CUT_OFF = """\
  pool: merced
 state: DEGRADED
  scan: resilver in progress since Tue Jan 21 06:44:45 2025
\t1.38P / 1.38P scanned, 144T / 177T issued at 1.29G/s
\t43.4T resilvered, 81.21% done, 07:21:15 to go
config:

\tNAME                  STATE     READ WRITE CKSUM
\tmerced                DEGRADED     0     0     0
\t  draid2:1d:4c:1s-0   DEGRADED     0     0     0
\t    sda               ONLINE       0     0     0
\t    sdb               ONLINE       0     0     0
\t    sdc               ONLINE       0     0     0
\t    replacing-3       DEGRADED     0     0     0
\t      sdd/old         FAULTED      0     0     0
\t      sdd             ONLINE       0     0     0  (resilvering)
"""


def test_a_pool_with_more_data_than_its_vdevs_shown_hold_has_more_of_them():
    paste = read_paste(CUT_OFF)
    assert paste.scenario.layout is not None
    assert str(paste.scenario.layout).endswith("*draid2:1d:4c:1s")
    assert case_of(paste.scenario).alloc == paste.scenario.alloc > 1.3 * 2**50
    assert any("1.38P" in note and "is assumed" in note for note in paste.notes)
    nothing_else = read_paste(CUT_OFF[: CUT_OFF.index("config:")])
    assert str(nothing_else.scenario.layout).endswith("*raidz2x6")
    assert case_of(nothing_else.scenario).alloc > 1.3 * 2**50


EXPANDS = """\
  pool: tank
 state: ONLINE
  scan: scrub repaired 0B in 09:12:31 with 0 errors on Sun May  3 09:36:32 2026
expand: expansion of raidz1-0 in progress since Tue May 12 09:12:10 2026
\t2.10T / 11.2T copied at 96.4M/s, 18.75% done, 1 days 03:30:00 to go
config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        ONLINE       0     0     0
\t  raidz1-0  ONLINE       0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     0     0
\t    sdc     ONLINE       0     0     0
\t    sdd     ONLINE       0     0     0

errors: No known data errors
"""


def test_an_expansion_goes_on_at_its_own_pace():
    found = zsim.eta(EXPANDS)
    # The middle world copies at several times that rate: length of allocated runs, which nobody tells.
    assert found.pace > 2.0
    assert found.remaining_s.p10 < 27.5 * 3600 < found.remaining_s.p90
    assert "metadata" not in found.zpool_why
    assert "left: 1 d " in str(found)
    assert "copying" in str(found).partition("left: ")[2].partition(".")[0]


FIXTURES = Path(__file__).parents[2] / "observe" / "fixtures"


def test_json_of_a_status_is_followed():
    paste = read_paste((FIXTURES / "status-2.3.json").read_text())
    assert (str(paste.scenario.layout), paste.scans[-1].kind) == ("raidz2x6", "resilver")
    assert paste.scans[-1].issued == 3 * 2**40


def as_json(**stats):
    leaves = {
        name: {"name": name, "vdev_type": "disk", "state": "ONLINE", "class": "normal"} for name in "abcd"
    }
    tops = {
        f"mirror-{number}": {
            "name": f"mirror-{number}", "vdev_type": "mirror", "state": "ONLINE", "class": "normal",
            "vdevs": {name: leaves[name] for name in names},
        }
        for number, names in enumerate(("ab", "cd"))
    }  # fmt: skip
    root = {"tank": {"name": "tank", "vdev_type": "root", "state": "ONLINE", "vdevs": tops}}
    pool = {"name": "tank", "state": "ONLINE", "vdevs": root, **stats}
    return json.dumps({"output_version": {"command": "zpool status"}, "pools": {"tank": pool}})


def test_json_of_a_rebuild_is_followed():
    row = {
        "state": "ACTIVE", "start_time": "1763805600", "scan_time": 3600 * 10**9, "scanned": "1T",
        "issued": "1T", "rebuilt": "500G", "to_scan": "4T", "pass_time": "7?",
    }  # fmt: skip
    paste = read_paste(as_json(scan_stats={"rebuild_stats": {"mirror-0": row}}))
    assert (paste.scenario.operation, paste.scans[-1].format) == ("rebuild", "rebuild")
    assert clock_of(paste.scans[-1]) == (3600.0, "scan")
    assert paste.scans[-1].done == pytest.approx(0.25)


def test_json_of_a_removal_is_followed():
    text = as_json(removal_stats={
        "name": "mirror-1", "state": "SCANNING", "removing_vdev": "1",
        "start_time": "Sun Nov 22 08:11:03 2026", "end_time": "-", "to_copy": "1.20T", "copied": "210G",
    })  # fmt: skip
    paste = read_paste(text, now=NOW)
    assert (paste.scenario.operation, paste.scans[-1].kind) == ("remove", "remove")
    assert paste.scans[-1].done == pytest.approx(0.171, abs=0.001)
    over = text.replace("SCANNING", "FINISHED")
    with pytest.raises(InputError, match="a running scan is expected"):
        read_paste(over)


def test_both_stages_of_solaris_11_2_are_told_apart():
    first, second = (
        read_paste((FIXTURES / f"status-solaris-v35-stage{number}.txt").read_text()) for number in (1, 2)
    )
    assert first.scenario.release == second.scenario.release == "solaris-11.2"
    collecting, resilvering = first.scans[-1], second.scans[-1]
    assert (collecting.issued, clock_of(collecting)[1]) == (0, "scan")
    assert collecting.scanned == pytest.approx(4.58 * 2**40, rel=1e-3)
    # 29.01 % of what is resilvered at 129M/s, which count from the begin of the second stage.
    assert (resilvering.issued or 0) / (resilvering.total_issue or 1) == pytest.approx(0.2901)
    assert clock_of(resilvering) == (pytest.approx(0.2901 * 12.9 * 2**20 / 129, rel=1e-3), "pass")
    found = zsim.eta((FIXTURES / "status-solaris-v35-stage2.txt").read_text(), overrides=FAST)
    assert found.remaining_s.p10 < found.zpool_remaining_s < 2.0 * found.remaining_s.p90
    assert found.done == pytest.approx(0.29, abs=0.02)


def test_a_scrub_reads_and_repairs_nothing():
    found = zsim.eta((FIXTURES / "status-freebsd-9.2-scrub.txt").read_text())
    assert found.phase == "repair"
    assert "Now: reading, 43.4 % done" in str(found)
    assert "repair." not in str(found)
    # A status without a clock is none of the evidence.
    assert "Now: reading, 43.4 % done" in str(replace(found, evidence=()))


def test_what_may_hold_up_a_scan_is_no_reason_of_a_pace_that_is_not_slow():
    found = zsim.eta((FIXTURES / "status-freebsd-9.2-scrub.txt").read_text())
    sick = replace(found, reasons=("sda has shown 3 read errors",))
    for pace, label in ((2.0, "Reason"), (0.5, "Watch"), (1.0, "Watch"), (None, "Watch")):
        assert f"\n{label}: sda has shown 3 read errors." in str(replace(sick, pace=pace))


def test_a_drive_file_that_is_edited_between_two_questions_is_read_anew(tmp_path):
    """Courses are kept between questions about a pool; not those of a drive file as it was."""
    mine = tmp_path / "mine.toml"
    text = (Path(__file__).parents[3] / "models" / "drives" / "generic-7200rpm-cmr.toml").read_text()
    mine.write_text(text)
    stated = {"drive": str(mine), "drive_size": "500GB"}
    before = zsim.eta(small(50), stated=stated, now=datetime(2026, 11, 22, 11, 55))
    mine.write_text(re.sub(r"(outer_rate = \{ value = )[\d.]+", r"\g<1>480", text))
    after = zsim.eta(small(50), stated=stated, now=datetime(2026, 11, 22, 11, 55))
    assert after.provenance["models"] != before.provenance["models"]
    assert after.total_s != before.total_s


def test_a_moment_with_a_time_zone_is_one_of_this_machine():
    zone = timezone(timedelta(hours=-9))
    local = datetime(2026, 11, 22, 11, 55)
    aware = local.astimezone(zone)
    plain = zsim.eta(small(50), now=local)
    assert zsim.eta(small(50), now=aware).finish == plain.finish
    finish = plain.to_dict()["finish"]
    assert {name: at.isoformat(timespec="seconds") for name, at in plain.finish.items()} == finish


@pytest.mark.parametrize("now", ["2026-11-22 11:55", date(2026, 11, 22), 3])
def test_a_moment_that_is_none_is_a_sentence(now):
    with pytest.raises(InputError, match=r"now .* cannot be used: it is a datetime"):
        zsim.eta(small(50), now=now)


def test_a_pool_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(InputError, match="pool 'tonk' cannot be used: what is given is of rpool"):
        zsim.eta(small(50), pool="tonk")


def test_a_single_override_may_be_text():
    one = zsim.eta(small(50), overrides="recordsize=1M", now=datetime(2026, 11, 22, 11, 55))
    assert one == zsim.eta(small(50), overrides=["recordsize=1M"], now=datetime(2026, 11, 22, 11, 55))
