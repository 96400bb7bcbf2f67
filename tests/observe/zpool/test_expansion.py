"""Expansions in zpool status and zdb -C: pools that were expanded, and one that is."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from tests import pastes
from zsim.observe.pool_import.importing import import_pool
from zsim.observe.zdb.configuration import read_config
from zsim.observe.zpool.expansion import read_removal
from zsim.observe.zpool.status import read_status
from zsim.planning.eta.api import eta
from zsim.planning.eta.reading import read_paste

RUNS = """\
expand: expansion of raidz2-0 in progress since Sun Nov 22 02:00:00 2026
\t6.52T / 12.1T copied at 160M/s, 53.88% done, 10:10:04 to go
"""
WAITS = """\
expand: expansion of raidz2-0 in progress since Sun Nov 22 02:00:00 2026
\t6.52T / 12.1T copied at 160M/s, 53.88% done, paused for resilver or clear
"""
OVER = "expand: expanded raidz2-0 copied 12.1T in 20:10:04, on Sun Nov 22 02:00:00 2026\n"
STATUS = """\
  pool: tank
 state: ONLINE
  scan: scrub repaired 0B in 04:12:08 with 0 errors on Sun Nov  8 04:36:09 2026
{expand}config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        ONLINE       0     0     0
\t  raidz2-0  ONLINE       0     0     0
{drives}
errors: No known data errors
"""
DRIVES = "".join(f"\t    sd{letter}     ONLINE       0     0     0\n" for letter in "abcdefg")


def status(expand: str) -> str:
    return STATUS.format(expand=expand, drives=DRIVES)


def imported(tmp_path: Path, text: str, *more: str):  # type: ignore[no-untyped-def]
    files = []
    for number, each in enumerate((text, *more)):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text(each)
    return import_pool(files).scenario


def test_what_the_lines_say() -> None:
    found = read_status(status(RUNS))[0]
    assert found.expansion is not None
    scan = found.expansion.scan
    assert scan is not None
    assert (found.expansion.vdev, scan.function, scan.state) == ("raidz2-0", "expand", "running")
    assert scan.since == datetime(2026, 11, 22, 2, 0)
    assert (scan.done, scan.to_go) == (pytest.approx(0.5388), 10 * 3600 + 10 * 60 + 4)
    assert scan.issued == pytest.approx(6.52 * 2**40, rel=1e-6)
    assert scan.total == pytest.approx(12.1 * 2**40, rel=1e-6)
    assert found.scan is scan
    waiting = read_status(status(WAITS))[0].expansion
    assert waiting is not None
    assert waiting.scan is not None
    assert waiting.scan.state == "paused"
    over = read_status(status(OVER))[0]
    assert over.expansion is not None
    assert over.expansion.scan is None
    assert over.scan is not None
    assert over.scan.function == "scrub"


def test_one_that_runs_is_imported_as_it_was_before(tmp_path: Path) -> None:
    scenario = imported(tmp_path, status(RUNS))
    assert (str(scenario.layout), scenario.operation) == ("raidz2x6", "expand")


PAUSED = "scrub paused since Sun Nov 22 02:00:00 2026\n\tscrub started on Sat Nov 21 01:00:00 2026"
PAUSED += "\n\t2T / 8T scanned, 1T / 8T issued\n\t0B repaired, 12.50% done"


@pytest.mark.parametrize(
    ("text", "function", "since"),
    [
        (status(RUNS), "expand", "2026-11-22T02:00:00"),
        (pastes.status(PAUSED, pastes.MIRRORS, state="ONLINE"), "scrub", "2026-11-21T01:00:00"),
    ],
    ids=["expansion", "paused scrub"],
)
def test_the_progress_of_an_import_is_json(tmp_path: Path, text: str, function: str, since: str) -> None:
    (tmp_path / "status.txt").write_text(text)
    progress = json.loads(json.dumps(import_pool([tmp_path / "status.txt"]).to_dict()))["progress"]
    assert (progress["function"], progress["at"]) == (function, "2026-11-22T02:00:00")
    assert progress["since"] == since


def test_an_expansion_tells_the_release_whatever_the_year(tmp_path: Path) -> None:
    """TrueNAS 24.10 expanded with what became 2.3; a status of 2024 was taken for 2.2, and refused."""
    scenario = imported(tmp_path, status(RUNS).replace("2026", "2024"))
    assert scenario.release == "openzfs-2.3"


def test_one_that_is_over_leaves_an_expanded_pool(tmp_path: Path) -> None:
    scenario = imported(tmp_path, status(OVER))
    assert (str(scenario.layout), scenario.operation) == ("raidz2x6+1", None)
    assert str(imported(tmp_path, status("")).layout) == "raidz2x7"


CONFIG = """
MOS Configuration:
        version: 5000
        name: 'tank'
        vdev_children: 1
        vdev_tree:
            type: 'root'
            id: 0
            children[0]:
                type: 'raidz'
                id: 0
                nparity: 1
                ashift: 12
                asize: 5345116160
                raidz_expand_txgs[0]: 666
                raidz_expand_txgs[1]: 999
{children}"""
CHILD = """                children[{number}]:
                    type: 'disk'
                    id: {number}
                    path: '/dev/sd{number}1'
"""


def test_zdb_tells_how_often_it_was_expanded() -> None:
    text = CONFIG.format(children="".join(CHILD.format(number=number) for number in range(6)))
    config = read_config(text)[0]
    assert config.grown == (2,)


def test_an_expansion_that_runs_gets_a_finish_time() -> None:
    known = ["drive_size=6TB", "fill=50%", "drive=generic-7200rpm-cmr", "history=home-nas"]
    found = eta(status(RUNS), overrides=known)
    assert found.phase == "copying"
    assert found.done == pytest.approx(0.5388, abs=0.02)
    assert 0.0 < found.remaining_s.p10 < found.remaining_s.p50 < found.remaining_s.p90
    assert found.zpool_remaining_s == 10 * 3600 + 10 * 60 + 4
    assert not any("sweep" in reason for reason in map(str, found.reasons))


REMOVED = pastes.status(
    "scrub repaired 0B in 05:00:00 with 0 errors on Sun Nov  8 05:24:01 2026\n"
    "remove: Evacuation of mirror-1 in progress since Sun Nov 22 08:11:03 2026\n"
    "\t1.20T copied out of 5.60T at 94.5M/s, 21.43% done, 13h33m to go",
    pastes.MIRRORS,
    state="ONLINE",
)
SCRUB = """  scan: scrub in progress since Sun Nov 22 08:11:03 2026
\t2.10T / 6.00T scanned at 400M/s, 1.50T / 6.00T issued at 300M/s
\t0B repaired, 25.00% done, 04:22:00 to go
"""


def test_a_removal_that_runs_is_followed() -> None:
    found = eta(REMOVED, now=datetime(2026, 11, 22, 12, 0))
    assert found.phase == "copying"
    assert found.done == pytest.approx(0.2143, abs=0.01)
    assert found.zpool_remaining_s == 13 * 3600 + 33 * 60
    assert found.remaining_s.p10 < 13.5 * 3600 < 2.0 * found.remaining_s.p90
    assert "mirror2 removed" in found.subject
    assert any("zpool remove -s ends it" in words for words in found.consequences)
    # Of its lines alone: two mirrors are assumed, each with what is copied of the one.
    lines = "".join(REMOVED.splitlines(keepends=True)[3:5])
    paste = read_paste(lines)
    assert (str(paste.scenario.layout), paste.scenario.operation) == ("2*mirror2", "remove")
    assert paste.scenario.alloc == pytest.approx(2 * 5.6 * 2**40, rel=0.01)


def test_the_vdev_that_is_removed_stands_first(tmp_path: Path) -> None:
    single = (
        REMOVED.replace("mirror-1", "sdc")
        .replace("\t  sdc   ", "\t  sdc")
        .replace("\t    sdc     ONLINE       0     0     0\n\t    sdd     ONLINE       0     0     0\n", "")
    )
    for text, layout in ((REMOVED, "2*mirror2"), (single, "disk+mirror2")):
        found = imported(tmp_path, text)
        assert (str(found.layout), found.operation) == (layout, "remove")
        assert found.alloc == pytest.approx(2 * 5.6 * 2**40, rel=0.01)


def test_a_scrub_beside_a_removal_has_a_note() -> None:
    finished = next(line for line in REMOVED.splitlines(keepends=True) if "scan:" in line)
    found = eta(REMOVED.replace(finished, SCRUB), now=datetime(2026, 11, 22, 9, 41))
    assert any("the removal of mirror-1 at 21.43 % that is running too" in note for note in found.notes)


@pytest.mark.parametrize("line", [
    "Removal of vdev 0 copied 1.78T in 5h53m, completed on Mon Feb 10 12:00:00 2020",
    "Removal of mirror-1 canceled on Mon Feb 10 12:00:00 2020",
])  # fmt: skip
def test_a_removal_that_is_over_runs_no_more(line: str) -> None:
    assert read_removal([line, "2.11M memory used for removed device mappings"]) is None
