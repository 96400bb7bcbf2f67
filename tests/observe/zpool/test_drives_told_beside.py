"""Words and commands beside a status: whether a drive that stands alone is new, was away, or was detached."""

from __future__ import annotations

import pytest

from tests.pastes import status
from zsim.observe.evidence.detached import nothing_marked, targets_detached
from zsim.observe.evidence.scans import repaired_as
from zsim.observe.zpool.status import read_status
from zsim.observe.zpool.told import told_of_drive
from zsim.planning.eta.api import eta
from zsim.planning.eta.reading import read_paste

RUNS = """resilver in progress since Sun Nov 22 08:11:03 2026
\t3.20T / 4.20T scanned at 1.2G/s, 1.10T / 4.20T issued at 341M/s
\t250G resilvered, 26.2% done, 02:41:40 to go"""
JUST_BEGUN = """resilver in progress since Sun Nov 22 08:11:03 2026
\t1.20T / 4.20T scanned at 1.2G/s, 0B / 4.20T issued
\t0B resilvered, 0.00% done, no estimated completion time"""
LONE = "raidz1-0 DEGRADED\n  sda\n  sdb\n  sdx (resilvering)\n  sdd\n"
SOUND = "raidz1-0\n  sda\n  sdb\n  sdc\n  sdd\n"
PAIR = """\
raidz1-0 DEGRADED
  sda
  sdb
  replacing-2 DEGRADED
    sdc OFFLINE
    sdx (resilvering)
  sdd
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("I replaced the failed drive last night and now it crawls.", "replaced"),
        ("A new 8TB disk went in.", "replaced"),
        ("The drive was swapped by the data centre.", "replaced"),
        ("Die Festplatte wurde getauscht.", "replaced"),
        ("I reseated the drive.", "returned"),
        ("Someone pulled the cables, then it came back.", "returned"),
        ("I replaced the drive, but it was the cable, so I put the old drive back in.", ""),
        ("My pool resilvers.", ""),
        ("action: Online the device using 'zpool online' or replace the device with\n\t'zpool replace'.", ""),
        ("status: One or more devices\n\twas replaced, a new drive is there.", ""),
    ],
)
def test_prose_tells_a_new_drive_from_one_that_was_away(words: str, told: str) -> None:
    assert told_of_drive(words) == told


@pytest.mark.parametrize(
    ("before", "kind"),
    [("I replaced the dead disk yesterday:\n", "resilver"), ("", "heal"), ("I reseated it:\n", "heal")],
)
@pytest.mark.parametrize("tree", [LONE.replace(" (resilvering)", ""), LONE])
def test_a_lone_drive_in_its_first_minutes_is_what_the_words_say(before: str, kind: str, tree: str) -> None:
    assert read_paste(before + status(JUST_BEGUN, tree)).scans[-1].kind == kind


def test_a_drive_that_commands_bring_back_is_not_called_new_by_words() -> None:
    said = "I was told to buy a new drive, but:\n# zpool online tank sdx\n"
    assert repaired_as(read_status(said + status(JUST_BEGUN, LONE))[0]) == "returned"


@pytest.mark.parametrize(
    ("commands", "tree", "gone"),
    [
        ("# zpool detach tank sdx\n", SOUND, True),
        ("# zpool replace tank sdc sdx\n# zpool detach tank sdx\n", SOUND, True),
        ("# zpool detach tank sdc\n", PAIR, False),
        ("# zpool replace tank sdc sdx\n# zpool detach tank sdc\n", SOUND.replace("sdc", "sdx"), False),
        ("# zpool detach tank sdx\n# zpool replace tank sdc sdy\n", PAIR.replace("sdx", "sdy"), False),
        ("# zpool detach tank sdc\n", SOUND.replace("  sdc", "  sdc OFFLINE"), True),
        ("2026-10-01.10:00:00 zpool detach tank sdx\n", SOUND, False),
        ("", SOUND, False),
    ],
)
def test_a_pass_whose_drive_was_detached_is_known_by_the_command(
    commands: str, tree: str, gone: bool
) -> None:
    assert targets_detached(read_status(commands + status(RUNS, tree))[0]) is gone


def test_a_status_that_shows_the_drive_was_printed_before_it_was_detached_or_after_it_came_back() -> None:
    detach, shown = "# zpool detach tank sdx\n", status(RUNS, PAIR)
    assert targets_detached(read_status(shown + detach)[0])
    # What stands above a status was run before it: the drive is filled once more.
    assert not targets_detached(read_status(detach + shown)[0])
    twice = read_status(shown + detach + shown)
    assert [targets_detached(each) for each in twice] == [True, False]


def test_a_pass_without_its_drive_issues_what_it_has_collected_and_is_over() -> None:
    text = status(RUNS, SOUND, state="ONLINE")
    alone, whole = eta(f"# zpool detach tank sdx\n{text}"), eta(text)
    # 2.1T of the 3.1T that were left is collected.
    assert 0.55 < alone.remaining_s.p50 / whole.remaining_s.p50 < 0.75
    assert alone.notes[0].startswith("NO DATA: the drive that was resilvered has been detached")
    assert not any(note.startswith("NOT A WHOLE") for note in alone.notes)


def test_a_pass_without_its_drive_and_with_nothing_collected_reads_metadata_alone() -> None:
    runs = RUNS.replace("1.10T / 4.20T issued", "3.20T / 4.20T issued").replace("250G", "790G")
    paste = read_paste(f"# zpool detach tank sdx\n{status(runs, SOUND, state='ONLINE')}")
    assert paste.log_alone


def test_a_resilver_that_marks_no_drive_is_said_to_be_odd() -> None:
    found = read_status(status(RUNS, SOUND, state="ONLINE"))[0]
    assert nothing_marked(found)
    assert not nothing_marked(read_status(status(RUNS, LONE))[0])
    assert not nothing_marked(read_status(status(RUNS, PAIR.replace(" (resilvering)", "")))[0])
    assert any("no drive is marked" in each for each in read_paste(status(RUNS, SOUND)).notes)
