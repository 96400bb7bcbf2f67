"""Errors that zpool status counts by drive: read from text and JSON, kept as evidence, and said."""

from __future__ import annotations

import json

import pytest

from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import read as read_text
from zsim.observe.zpool.vdev_tree import ErrorCounts
from zsim.prediction.api import case_of
from zsim.prediction.evidence.comparable import comparable
from zsim.prediction.evidence.wording import notes
from zsim.scenario.evidence import DriveActivity, missing_drives, missing_elsewhere

HEAD = "NAME          STATE     READ WRITE CKSUM"
ROWS = """\
\t{head}
\ttank          DEGRADED     0     0     0
\t  raidz2-0    DEGRADED     0     0     0
\t    sda       ONLINE       {sda}
\t    spare-1   DEGRADED     0     0    12
\t      sdb     FAULTED     44   210     0  too many errors
\t      sdf     ONLINE       0     0     0  (resilvering)
\t    sdc       ONLINE       {sdc}
\t    sdd       ONLINE       0     0     0
"""


def status(sda: str = "3     0     0", sdc: str = "0     0     0", head: str = HEAD) -> str:
    rows = ROWS.format(head=head, sda=sda, sdc=sdc)
    return (
        f"  pool: tank\n state: DEGRADED\n  scan: resilver in progress since Sat Nov 21 10:02:11 2026\n"
        "\t8.1T / 8.1T scanned, 3.0T / 8.1T issued at 214M/s\n\t0.7T resilvered, 37.0% done, 05:12:45 to go\n"
        f"config:\n\n{rows}\nerrors: No known data errors\n"
    )


def shown(text: str) -> list[DriveActivity]:
    found = import_pasted(text).scenario.evidence or ()
    return [each for each in found if isinstance(each, DriveActivity)]


def test_a_source_drive_with_errors_is_evidence_and_a_faulted_one_is_not() -> None:
    (seen,) = shown(status())
    assert (seen.drive, seen.leaf, seen.role) == ("sda", 1, "source")
    assert (seen.read_errors, seen.write_errors, seen.checksum_errors) == (3, None, None)
    assert shown(status(sda="0     0     0")) == []


FAULTED = "\t    sdc       FAULTED      9     0     0  too many errors"


def test_a_drive_that_is_gone_beside_the_one_under_repair_is_told() -> None:
    text = status(sda="0     0     0").replace("\t    sdc       ONLINE       0     0     0", FAULTED)
    found = import_pasted(text)
    (seen,) = shown(text)
    assert (seen.drive, seen.leaf, seen.missing, seen.read_errors) == ("sdc", 2, "FAULTED", None)
    told = "NO REDUNDANCY: sdc of raidz2-0 is FAULTED and nothing replaces it: no other drive of that vdev"
    (said,) = (note for note in found.notes if note.startswith("NO RED"))
    assert said == f"{told} may fail until the repair ends"
    assert comparable(case_of(found.scenario.replace(evidence=[seen]))) == ((), ())
    # Without a scan and a successor its replacement is what is asked.
    idle = text.replace("  scan: resilver in progress since", "  scan: none, since")
    asked = import_pasted(idle.replace("sdb     FAULTED", "sdb     ONLINE ").replace("  (resilvering)", ""))
    assert asked.scenario.replaced_drives == 1
    assert not any("REDUNDANCY" in note for note in asked.notes)


def test_a_successor_that_has_failed_is_not_under_repair() -> None:
    failed = (
        "\t    replacing-2 UNAVAIL    0     0     0  insufficient replicas\n"
        "\t      sdc     UNAVAIL      0     0     0\n\t      sdg     FAULTED      0   120     0"
    )
    text = status(sda="0     0     0").replace("\t    sdc       ONLINE       0     0     0", failed)
    found = import_pasted(text)
    assert found.scenario.replaced_drives == 1
    (seen,) = shown(text)
    assert (seen.drive, seen.missing) == ("sdg", "FAULTED")
    assert any(note.startswith("NO REDUNDANCY: sdg of raidz2-0 is FAULTED") for note in found.notes)


def test_a_spare_that_has_all_its_data_is_not_under_repair() -> None:
    done = (
        "\t    spare-2   DEGRADED     0     0     0\n\t      sdc     FAULTED      3     8     0\n"
        "\t      sdg     ONLINE       0     0     0"
    )
    text = status(sda="0     0     0").replace("\t    sdc       ONLINE       0     0     0", done)
    found = import_pasted(text)
    assert (found.scenario.replaced_drives, found.scenario.old_drive) == (1, "missing")
    assert not any("REDUNDANCY" in note for note in found.notes)
    # In its first minutes no drive is called resilvering: both may be.
    begun = import_pasted(text.replace("  (resilvering)", ""))
    assert begun.scenario.replaced_drives == 2


def test_a_drive_whose_replacement_is_asked_is_the_first_of_its_vdev() -> None:
    """Where nothing runs, the repair that is asked for is of it, and it is not missing beside that."""
    scan = status(sda="0     0     0").partition("  scan: ")[0] + "  scan: none requested\nconfig:\n\n"
    rows = ROWS.format(head=HEAD, sda="0     0     0", sdc="0     0     0")
    spare = rows[rows.index("\t    spare-1") : rows.index("\t    sdc")]
    text = scan + rows.replace(spare, "\t    sdb     FAULTED     44   210     0  too many errors\n") + "\n"
    found = import_pasted(text).scenario
    (seen,) = shown(text)
    assert (seen.drive, seen.leaf, seen.missing, seen.asked) == ("sdb", 0, "FAULTED", True)
    assert (found.replaced_drives, found.old_drive) == (1, "missing")
    assert missing_drives(found.evidence or (), 4) == ()


def test_drives_of_other_vdevs_and_old_ones_that_wait_are_told() -> None:
    rows = (
        "\t  mirror-1    DEGRADED     0     0     0\n\t    sdx       ONLINE       0     0     0\n"
        "\t    sdy       REMOVED      0     0     0\n\nerrors"
    )
    text = status(sda="0     0     0").replace("\nerrors", rows)
    (elsewhere,) = shown(text)
    assert (elsewhere.drive, elsewhere.leaf, elsewhere.missing) == ("sdy", 5, "REMOVED")
    assert missing_drives((elsewhere,), 4) == ()
    assert missing_elsewhere((elsewhere,), 4) == (elsewhere,)
    assert any(
        note.startswith("NO REDUNDANCY: sdy of mirror-1 is REMOVED") for note in import_pasted(text).notes
    )
    waits = (
        "\t    replacing-2 DEGRADED   0     0     0\n\t      sdc     OFFLINE      0     0     0\n"
        "\t      sdg     ONLINE       0     0     0  (awaiting resilver)"
    )
    text = status(sda="0     0     0").replace("\t    sdc       ONLINE       0     0     0", waits)
    (seen,) = shown(text)
    assert (seen.drive, seen.missing) == ("sdc", "OFFLINE")


@pytest.mark.parametrize(
    ("row", "counts"),
    [
        ("1.21K   0     2", ErrorCounts(1239, 0, 2)),
        ("0     0     7   (repairing)", ErrorCounts(0, 0, 7)),
        ("-     -     -", ErrorCounts()),
    ],
)
def test_counters_are_read_as_they_are_printed(row: str, counts: ErrorCounts) -> None:
    (pool,) = read_text(status(sda=row), "status")
    assert next(leaf for leaf in pool.vdevs[0].leaves() if leaf.name == "sda").errors == counts


def test_slow_requests_are_read_where_their_column_is_printed() -> None:
    wide = status(sda="0     0     0    19", head=f"{HEAD}  SLOW")
    (seen,) = shown(wide)
    assert (seen.slow_ios, seen.read_errors) == (19, None)
    assert shown(status(sda="0     0     0    19")) == []


def test_the_answer_names_the_drive_and_what_it_may_mean() -> None:
    case = case_of(import_pasted(status(sdc="0     0     5")).scenario)
    said = notes(case)
    assert any("sda has shown 3 read errors" in each and "--slow 1:x3" in each for each in said)
    assert any("sdc has shown 5 checksum errors" in each and "its cable" in each for each in said)


def test_errors_alone_are_compared_with_no_world() -> None:
    scenario = import_pasted(status()).scenario
    alone = scenario.replace(evidence=shown(status()))
    assert comparable(case_of(alone)) == ((), ())


def test_json_has_the_same_counters() -> None:
    leaf = {
        "vdev_type": "disk",
        "state": "ONLINE",
        "read_errors": "0",
        "write_errors": "0",
        "checksum_errors": "0",
    }
    drives = {name: {"name": name, **leaf} for name in ("sda", "sdb", "sdc")}
    drives["sdb"] |= {"write_errors": "2", "slow_ios": "1.5K"}
    raidz = {"name": "raidz1-0", "vdev_type": "raidz", "state": "ONLINE", "vdevs": drives}
    root = {"name": "tank", "vdev_type": "root", "state": "ONLINE", "vdevs": {"raidz1-0": raidz}}
    pool = {"name": "tank", "state": "ONLINE", "vdevs": {"tank": root}}
    document = {"output_version": {"command": "zpool status"}, "pools": {"tank": pool}}
    (seen,) = shown(json.dumps(document))
    assert (seen.drive, seen.write_errors, seen.slow_ios, seen.read_errors) == ("sdb", 2, 1536, None)
