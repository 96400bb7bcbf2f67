"""``zsim eta`` on what people paste: quoted, cut off, with drives that wait or that nobody names."""

import re
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.base.reading import read_toml
from zsim.case.resolve import COMMON_DRIVE_BYTES
from zsim.planning.eta.reading import read_paste
from zsim.planning.eta.reasons import worries
from zsim.planning.eta.records import Span
from zsim.prediction.api import case_of
from zsim.prediction.progress.moments import CHECKPOINT
from zsim.scenario.evidence import RunningScan

TWO = """\
  pool: data
 state: DEGRADED
  scan: resilver in progress since Sun Nov 22 10:00:00 2026
        18.2T / 44.1T scanned at 2.1G/s, 3.10T / 44.1T issued at 350M/s
        401G resilvered, 7.03% done, 1 days 09:58:02 to go
config:

        NAME              STATE     READ WRITE CKSUM
        data              DEGRADED     0     0     0
          raidz2-0        DEGRADED     0     0     0
            sda           ONLINE       0     0     0
            replacing-1   DEGRADED     0     0     0
              sdb         OFFLINE      0     0     0
              sdg         ONLINE       0     0     0  (resilvering)
            sdc           ONLINE       0     0     0
            replacing-3   DEGRADED     0     0     0
              sdd         FAULTED     12     4     0  too many errors
              sdh         ONLINE       0     0     0  (awaiting resilver)
            sde           ONLINE       0     0     0
            sdf           ONLINE       0     0     0

errors: No known data errors
"""


@pytest.mark.parametrize("mark", ["> ", ">", "> > ", ">> "])
def test_a_mail_may_quote_a_status(mark):
    quoted = "On Sunday somebody wrote:\n" + re.sub("^", mark, TWO, flags=re.MULTILINE)
    plain, read = read_paste(TWO), read_paste(quoted)
    assert read.scenario == plain.scenario
    assert read.scans == plain.scans


def test_a_text_that_quotes_no_status_keeps_its_signs():
    assert read_paste("> not of zpool\n" + TWO).scenario == read_paste(TWO).scenario
    with pytest.raises(InputError, match="zpool status"):
        read_paste("> a mail\n> about pools\n")


def test_a_drive_that_awaits_a_resilver_is_not_of_this_one():
    paste = read_paste(TWO)
    assert paste.scenario.replaced_drives == 1
    assert any(
        note.startswith("1 drive awaits a resilver that begins when this one is over") for note in paste.notes
    )
    together = read_paste(TWO.replace("awaiting resilver", "resilvering"))
    assert together.scenario.replaced_drives == 2
    assert not any("awaits" in note for note in together.notes)


def test_when_a_drive_that_awaits_a_resilver_is_done_too_is_said_first():
    """It was a note at the end, without a date; what replacing another would do was told instead."""
    told = str(zsim.eta(TWO))
    words = " ".join(told.split())
    assert (
        "NOT IN THIS ANSWER: 1 drive awaits a resilver that begins when this one is over: both are" in words
    )
    assert told.index("NOT IN THIS") < told.index("zpool says")
    assert "replacing a second drive" not in words
    assert words.count("1 drive awaits") == 1
    together = zsim.eta(TWO.replace("awaiting resilver", "resilvering"))
    assert "replacing a further drive now" in " ".join(str(together).split())


def test_drives_that_nobody_names_are_a_common_size_that_is_told_and_varied():
    paste = read_paste(TWO)
    assert paste.scenario.drive_size is None
    case = case_of(paste.scenario)
    assert case.drive_size in COMMON_DRIVE_BYTES
    assert "drive_size" in {each.field for each in case.assumptions}
    assert "how large the drives are" in " ".join(paste.notes)


def test_a_status_that_is_cut_off_says_so():
    note = read_paste(TWO[: TWO.index("replacing-1")]).notes[0]
    assert "raidz2-0 has (zpool status is cut off: no more than 1 of its drives are shown)" in note


def running(issued):
    return RunningScan(kind="resilver", format="2.2+", scanned=10, issued=issued, total=100)


@pytest.mark.parametrize(
    ("issued", "elapsed", "said"),
    [
        (0, CHECKPOINT + 60.0, "nothing has been issued after 2 h 1 min"),
        (0, CHECKPOINT - 600.0, "until about 00:10; worry if that has not changed by 00:10"),
        (1, CHECKPOINT + 60.0, "until about 03:00; worry if that has not changed by 06:00"),
        (0, None, "until about 03:00; worry if that has not changed by 06:00"),
    ],
)
def test_a_scan_that_issues_nothing_is_normal_until_a_checkpoint_is_due(issued, elapsed, said):
    found = SimpleNamespace(parts={"metadata scan": timedelta(hours=3).total_seconds()})
    left = Span(3.6e4, 7.2e4, 14.4e4)
    words = worries(found, "metadata scan", left, datetime(2026, 11, 22), running(issued), elapsed)
    assert said in words[0]
    assert len(words) == 2


@pytest.mark.parametrize("mark", ["", "> ", ">> "])
def test_a_status_given_as_a_scenario_is_told_where_it_belongs(mark, tmp_path):
    given = tmp_path / "pool.toml"
    given.write_text(re.sub("^", mark, TWO, flags=re.MULTILINE))
    with pytest.raises(InputError, match="zsim eta FILE says when"):
        read_toml(given)


def test_scan_lines_with_their_vdevs_tell_the_layout():
    bare = TWO.replace("  pool: data\n state: DEGRADED\n", "")
    paste = read_paste(bare)
    assert paste.scenario.layout == read_paste(TWO).scenario.layout
    assert paste.scenario.stated()["replace"] == 1
    assert not any("is assumed" in note for note in paste.notes)
