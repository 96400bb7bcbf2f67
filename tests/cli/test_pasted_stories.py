"""What a pasted status begins a story or a choice with: the pass that runs, or the drives that are gone."""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import pastes
from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.cli.pools.pasted import pasted_pool, place_of
from zsim.observe.pool_import.importing import import_pasted
from zsim.planning.timeline.api import timeline
from zsim.planning.timeline.decisions import AT_ONCE, alternatives
from zsim.planning.timeline.passes import facts
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.rules import rules_of
from zsim.planning.timeline.state import replaced_now
from zsim.scenario.model import Scenario

HEAD = "  pool: tank\n state: DEGRADED\n  scan: {scan}\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n"
RUNS = """resilver in progress since Sun Nov 22 21:14:03 2026
\t14.2T / 22.4T scanned at 2.31G/s, 3.81T / 22.4T issued at 634M/s
\t471G resilvered, 17.0% done, 08:24:10 to go"""
SCRUBBED = "scrub repaired 0B in 19:44:02 with 0 errors on Sun Nov  8 20:08:05 2026"
ROWS = """\ttank           DEGRADED     0     0     0
\t  raidz2-0     ONLINE       0     0     0
\t    sda        ONLINE       0     0     0
\t    sdb        ONLINE       0     0     0
\t    sdc        ONLINE       0     0     0
\t    sdd        ONLINE       0     0     0
\t  raidz2-1     DEGRADED     0     0     0
\t    sde        ONLINE       0     0     0
\t    {old}
\t    sdg        ONLINE       0     0     0
\t    sdh        ONLINE       0     0     0

errors: No known data errors
"""
PAIR = """replacing-1  DEGRADED     0     0     0
\t      sdf      OFFLINE      0     0     0
\t      sdz1     ONLINE       0     0     0  (resilvering)"""
RUNNING = HEAD.format(scan=RUNS) + ROWS.format(old=PAIR)
DEGRADED = HEAD.format(scan=SCRUBBED) + ROWS.format(old="sdf        REMOVED      0     0     0")
KNOWN = ["--drive-size", "8TB", "--recordsize", "128K"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Note the plans that `timeline` is called with, in its place."""
    # A module that is imported only now would keep what stands in its place.
    importlib.import_module("zsim.planning.timeline.decisions")
    plans: list[Plan] = []

    def told(plan: Plan, **_: object) -> None:
        plans.append(plan)
        raise InputError("story", None, "it was asked for", "read it")

    monkeypatch.setattr("zsim.planning.timeline.api.timeline", told)
    return plans


def paste(tmp_path: Path, text: str) -> str:
    (tmp_path / "status.txt").write_text(text, encoding="utf-8")
    return str(tmp_path / "status.txt")


def test_a_story_begins_with_the_resilver_that_runs(tmp_path: Path, asked: list[Plan]) -> None:
    """It was refused, or began with a whole pool."""
    for where in ([paste(tmp_path, RUNNING)], ["--scenario", paste(tmp_path, RUNNING)]):
        assert main(["timeline", *where, *KNOWN]) == 2
    first, second = asked
    assert first == second
    running = first.running
    assert running is not None
    assert (running.kind, running.drives, running.old_drive) == ("resilver", (0,), "missing")
    assert 0.1 < running.done < 0.5
    assert running.left is not None
    low, middle, high = running.left
    assert 3600 < low < middle < high
    assert running.elapsed is not None
    assert first.title == "tank"
    assert first.vdev_names == ("raidz2-1", "raidz2-0"), "the vdev under repair comes first, by its own name"
    assert not first.events


def test_what_follows_is_of_the_pass_that_runs_and_names_drives(tmp_path: Path, asked: list[Plan]) -> None:
    where = paste(tmp_path, RUNNING)
    second = ["--second-fails-at", "60%", "--second-replace-after", "1h"]
    assert main(["timeline", where, *KNOWN, *second, "--reboot-at", "2h"]) == 2
    assert main(["timeline", where, *KNOWN, "--fail", "sdh", "--fail", "/dev/sdb"]) == 2
    fails, replaces, reboots = asked[0].events
    assert (fails.do, fails.vdev, fails.drive, fails.at and fails.at.share) == ("fail", 0, 1, 0.6)
    assert (replaces.do, replaces.drive, replaces.after) == ("replace", 1, 3600.0)
    assert reboots.do == "reboot"
    # The vdev under repair is the first of the scenario, and the drive that is replaced the first of its.
    assert [(each.vdev, each.drive) for each in asked[1].events] == [(0, 3), (1, 1)]


def test_a_story_may_be_piped(asked: list[Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUNNING.encode())))
    assert main(["timeline", "-", *KNOWN]) == 2
    assert asked[0].running is not None


def test_where_nothing_runs_what_is_gone_is_replaced(
    tmp_path: Path, asked: list[Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timeline", paste(tmp_path, DEGRADED), "--fill", "60%", *KNOWN]) == 2
    told = capsys.readouterr().err
    assert "no event is stated: the missing drives are replaced at once" in told
    assert (
        "sdf of raidz2-1 is REMOVED and not replaced yet: 1 more of that vdev's drives may fail" not in told
    )
    assert [(each.do, each.vdev, each.numbers) for each in asked[0].events] == [("replace", 0, (0,))]
    sound = DEGRADED.replace("REMOVED ", "ONLINE  ")
    assert main(["timeline", paste(tmp_path, sound), "--fill", "60%", *KNOWN]) == 2
    assert "no drive of it is missing" in capsys.readouterr().err
    assert len(asked) == 1


SEVERAL = DEGRADED.replace("    sdb        ONLINE ", "    sdb        UNAVAIL")


def test_drives_that_are_gone_in_several_vdevs_are_all_replaced(
    tmp_path: Path, asked: list[Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    """The story said that the pool is whole when the first vdev was."""
    assert main(["timeline", paste(tmp_path, SEVERAL), "--fill", "60%", *KNOWN]) == 2
    assert "the missing drives are replaced at once" in capsys.readouterr().err
    assert asked[0].vdev_names == ("raidz2-0", "raidz2-1")
    assert [(each.do, each.vdev, each.numbers) for each in asked[0].events] == [
        ("replace", 0, (0,)), ("replace", 1, (1,)),
    ]  # fmt: skip


def test_a_drive_that_is_gone_elsewhere_stays_so_while_a_resilver_runs(tmp_path: Path) -> None:
    text = RUNNING.replace("    sdb        ONLINE ", "    sdb        UNAVAIL")
    found = timeline(pasted_pool([paste(tmp_path, text)], {"drive_size": "8TB"}, "a timeline").plan)
    assert found.whole_s["p50"] is None, "nothing replaces sdb"
    assert {(level.vdev, level.left) for level in found.redundancy if level.to_s > level.from_s} >= {
        ("raidz2-0", 1), ("raidz2-1", 1),
    }  # fmt: skip


def test_drives_of_several_vdevs_may_be_replaced_at_once_or_vdev_by_vdev(tmp_path: Path) -> None:
    """It was refused: there was one way only."""
    pasted = pasted_pool([paste(tmp_path, SEVERAL)], {"drive_size": "8TB", "fill": "60%"}, "a choice")
    now = Plan.from_dict({**pasted.plan, "events": replaced_now(pasted.plan), "zed": False})
    case = facts(now.pool)
    ways = alternatives(now, rules_of(case.release, case.release.order))
    assert list(ways) == [AT_ONCE, "replace one vdev after the other"]
    assert ways["replace one vdev after the other"]["events"] == [
        {"do": "replace", "vdev": 0, "drives": [0]},
        {"do": "replace", "vdev": 1, "drives": [1], "when": "quiet"},
    ]
    both = SEVERAL.replace("    sdb        UNAVAIL", "    sdb        ONLINE ").replace(
        "sdg        ONLINE ", "sdg        OFFLINE"
    )
    pasted = pasted_pool([paste(tmp_path, both)], {"drive_size": "8TB", "fill": "60%"}, "a choice")
    now = Plan.from_dict({**pasted.plan, "events": replaced_now(pasted.plan), "zed": False})
    assert list(alternatives(now, rules_of(case.release, case.release.order))) == [
        AT_ONCE, "replace one drive after the other",
    ]  # fmt: skip


def test_a_procedure_may_follow_on_a_pasted_pool(tmp_path: Path, asked: list[Plan]) -> None:
    where = paste(tmp_path, DEGRADED.replace("REMOVED ", "ONLINE  "))
    assert main(["timeline", where, "--procedure", "grow-vdev", "--fill", "60%", *KNOWN]) == 2
    assert asked[0].scenario["layout"] == "2*raidz2x4"
    assert any(each.each for each in asked[0].events)


@pytest.mark.parametrize(
    ("scan", "words"),
    [
        (RUNS.replace("in progress since", "paused since").replace("resilver", "scrub", 1), "is paused"),
        (SCRUBBED + "\n  expand: expansion of raidz2-1 in progress since Tue Nov 24 19:11:02 2026\n"
         "\t9.63T / 22.4T copied at 141M/s, 42.9% done, 1 days 01:51:04 to go", "an expansion is running"),
    ],
)  # fmt: skip
def test_what_no_story_can_be_made_of_is_pointed_to_eta(
    tmp_path: Path, scan: str, words: str, asked: list[Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    text = HEAD.format(scan=scan) + ROWS.format(old="sdf        ONLINE       0     0     0")
    assert main(["timeline", paste(tmp_path, text), *KNOWN]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "zsim eta, given the same files" in told
    assert not asked


def test_drives_are_named_as_the_status_does() -> None:
    places = import_pasted(RUNNING).places
    assert places["sdf"] == places["sdz1"] == (0, 0)
    assert [places[name] for name in ("sde", "sdg", "sdh", "sda")] == [(0, 1), (0, 2), (0, 3), (1, 0)]
    assert place_of("1:2", "--fail", places) == (1, 2)
    assert place_of("sdz", "--fail", places) == (0, 0)
    with pytest.raises(InputError, match="the pool has sdf, sdz1, sde"):
        place_of("sdq", "--fail", places)
    with pytest.raises(InputError, match="a drive's number, or vdev:drive"):
        place_of("sdq", "--fail", {})


def test_a_choice_names_drives_and_begins_with_what_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[dict[str, object], int | None]] = []

    def told(plan: dict[str, object], replace_too: int | None = None, **_: object) -> None:
        asked.append((plan, replace_too))
        raise InputError("choice", None, "it was asked for", "read it")

    monkeypatch.setattr("zsim.planning.timeline.decisions.decide", told)
    running, degraded = paste(tmp_path, RUNNING), tmp_path / "degraded.txt"
    degraded.write_text(DEGRADED, encoding="utf-8")
    assert main(["decide", running, *KNOWN, "--replace-too", "sdg"]) == 2
    assert asked[-1][1] == 2
    assert main(["decide", running, *KNOWN, "--replace-too", "sda"]) == 2
    assert "another vdev than the one under repair" in capsys.readouterr().err
    assert main(["decide", str(degraded), "--fill", "60%", *KNOWN]) == 2
    assert asked[-1][0]["events"] == [{"do": "replace", "vdev": 0, "drives": [0]}]


def test_the_status_of_a_degraded_pool_says_which_drive_and_what_is_left() -> None:
    """It said "1 drive of a vdev is gone", and neither which nor that no further one may fail."""
    notes = import_pasted(DEGRADED).notes
    words = (
        "sdf of raidz2-1 is REMOVED and not replaced yet: 1 more of that vdev's drives may fail until it is"
    )
    assert any(note.startswith(words) and "(zpool online)" in note for note in notes)
    faulted = DEGRADED.replace("REMOVED", "FAULTED").replace("sdg        ONLINE ", "sdg        FAULTED")
    told = [note for note in import_pasted(faulted).notes if note.startswith("NO REDUNDANCY: ")]
    assert (
        "sdf, sdg of raidz2-1 are FAULTED and not replaced yet: no other drive of that vdev may fail"
        in told[0]
    )
    assert "zpool online" not in told[0]


def test_a_new_drive_that_is_gone_is_told() -> None:
    """Old drive online, new one UNAVAIL: a replacement was predicted without a word."""
    pair = PAIR.replace("sdf      OFFLINE", "sdf      ONLINE ").replace(
        "ONLINE       0     0     0  (res", "UNAVAIL      0     0     0  (res"
    )
    text = HEAD.format(scan=SCRUBBED) + ROWS.format(old=pair.replace("  (resilvering)", "  was /dev/sdz1"))
    assert any("sdz1, which was to take the place of sdf, is UNAVAIL" in n for n in import_pasted(text).notes)


@pytest.mark.parametrize("command", ["risk", "tune"])
def test_files_are_given_to_every_command_alike(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`zsim tune status.txt` was an unexpected argument."""
    asked: list[Scenario | dict[str, object]] = []

    def told(scenario: Scenario | dict[str, object], *_: object, **__: object) -> None:
        asked.append(scenario)
        raise InputError("answer", None, "it was asked for", "read it")

    module = importlib.import_module(f"zsim.planning.{command}.api")
    monkeypatch.setattr(module, command, told)
    where = paste(tmp_path, DEGRADED)
    for given in ([where], ["--scenario", where]):
        assert main([command, *given, "--fill", "60%", *KNOWN]) == 2
    assert asked[0] == asked[1]
    layout = asked[0]["layout"] if isinstance(asked[0], dict) else str(asked[0].pool_layout)
    assert layout == "2*raidz2x4"
    assert main([command, where, "--scenario", where]) == 2
    assert "--scenario" in capsys.readouterr().err


def test_a_story_names_vdevs_as_the_status_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The vdev that is repaired was called by the number of the first, which was sound."""
    mirrors = pastes.status(
        "none requested", "mirror-0\n  sda\n  sdb\nmirror-1 DEGRADED\n  sdc\n  sdd FAULTED"
    )
    stated = ["--fill", "1%", "--release", "zol-0.7", *KNOWN, "--history", "media-server"]
    assert main(["timeline", paste(tmp_path, mirrors), "--fail", "sdb", *stated]) == 0
    told = capsys.readouterr()
    assert "sdb is drive 1 of mirror-0 in this timeline" in told.err
    assert "drive 0 of mirror-1 (sdd) is missing" in told.out
    assert "drive 1 of mirror-0 fails" in told.out
    assert main(["decide", paste(tmp_path, mirrors), *stated]) == 2
    assert "replaced in one way only, by a resilver" in capsys.readouterr().err


def test_files_of_a_risk_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no repair runs they were read to see that, and again for the pool."""
    read: list[object] = []
    importing = importlib.import_module("zsim.observe.pool_import.importing")

    def counted(*given: Any, **more: Any) -> Any:
        read.append(given)
        return read_files(*given, **more)

    read_files = importing.read_files
    monkeypatch.setattr(importing, "read_files", counted)
    status = paste(tmp_path, DEGRADED)
    assert isinstance(risk_asked(monkeypatch, status, *KNOWN), dict)
    assert len(read) == 1


PAUSED = RUNNING.replace("resilver in progress since", "resilver paused since")


def test_a_risk_of_a_resilver_that_runs_is_of_what_is_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`zsim risk status.txt` asked for --hours, which `zsim eta` tells of the same status."""
    status = paste(tmp_path, RUNNING)
    left = running_left(status)
    plan = risk_asked(monkeypatch, status, *KNOWN)
    assert isinstance(plan, Plan)
    assert plan.running is not None
    assert plan.running.left == left
    assert plan.vdev_names == ("raidz2-1", "raidz2-0"), "the one under repair comes first"
    assert (plan.title, plan.events) == ("tank", ())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUNNING.encode())))
    piped = risk_asked(monkeypatch, "-", *KNOWN)
    assert isinstance(piped, Plan)
    assert piped.running == plan.running


def test_what_a_status_tells_stands_over_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[Plan]
) -> None:
    """A default fill replaced the ALLOC that a status shows in all but `zsim predict`."""
    own = tmp_path / "own.toml"
    own.write_text('[scenario]\nfill = "30%"\nrecordsize = "1M"\n')
    monkeypatch.setenv("ZSIM_CONFIG", str(own))
    status = paste(tmp_path, RUNNING)
    main(["timeline", status, "--reboot-at", "2h"])
    stated = asked[0].pool
    assert (stated.fill, stated.alloc is not None, stated.recordsize) == (None, True, 1 << 20)
    main(["timeline", status, "--reboot-at", "2h", "--fill", "30%"])
    assert (asked[1].pool.fill, asked[1].pool.alloc) == (0.3, None)
    plan = risk_asked(monkeypatch, status)
    assert isinstance(plan, Plan)
    assert plan.pool.fill is None
    assert main(["eta", status, "--json"]) == 0


def running_left(status: str) -> tuple[float, float, float]:
    from zsim.planning.eta.api import eta

    found = eta(Path(status).read_text(), stated={"drive_size": "8TB", "recordsize": "128K"}).remaining_s
    assert found.p10 is not None
    assert found.p90 is not None
    return found.p10, found.p50, found.p90


def risk_asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    """Return what `risk` is asked of."""
    asked: list[object] = []
    importlib.import_module("zsim.planning.risk.api")

    def told(scenario: object, *_: object, **__: object) -> None:
        asked.append(scenario)
        raise InputError("risk", None, "it was asked for", "read it")

    monkeypatch.setattr("zsim.planning.risk.api.risk", told)
    assert main(["risk", *words]) == 2
    return asked[0] if asked else None


@pytest.mark.parametrize(
    "flags", [["--hours", "10"], ["--mttr", "10"], ["--bad-sectors", "3:500"], ["--replace", "1"]]
)
def test_what_flags_state_of_the_repair_is_asked_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    for text in (RUNNING, DEGRADED):
        assert isinstance(risk_asked(monkeypatch, paste(tmp_path, text), *KNOWN, *flags), dict)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUNNING.encode())))
    assert isinstance(risk_asked(monkeypatch, "-", *KNOWN, *flags), dict), "what was piped is read once"


def test_a_risk_of_a_pool_on_which_nothing_goes_on_is_of_a_whole_repair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (DEGRADED, PAUSED):
        found = risk_asked(monkeypatch, paste(tmp_path, text), *KNOWN)
        assert found is None or isinstance(found, dict)


def test_a_risk_of_a_pool_that_is_scrubbed_is_of_this_scrub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scrubbed = RUNNING.replace("resilver in", "scrub in").replace("resilvered", "repaired")
    assert isinstance(risk_asked(monkeypatch, paste(tmp_path, scrubbed), *KNOWN), Plan)
