"""What zpool printed, where a command expects a scenario file."""

from __future__ import annotations

import io
import json
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.pastes import status
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.cli.flags import stated_fields
from zsim.cli.given_files import fields_in
from zsim.cli.main import main
from zsim.planning.timeline.plan import Plan
from zsim.prediction.simulated import scenario_words
from zsim.scenario.model import Scenario

STATUS = """\
  pool: tank
 state: DEGRADED
  scan: scrub repaired 0B in 19:44:02 with 0 errors on Sun Nov  8 20:08:05 2026
config:

\tNAME          STATE     READ WRITE CKSUM
\ttank          DEGRADED     0     0     0
\t  raidz1-0    DEGRADED     0     0     0
\t    sda       ONLINE       0     0     0
\t    sdb       ONLINE       0     0     0
\t    1234567   UNAVAIL      0     0     0  was /dev/sdc1
\t    sdd       ONLINE       0     0     0

errors: No known data errors
"""
LIST = """\
NAME     SIZE  ALLOC   FREE  FRAG    CAP  DEDUP  HEALTH  ALTROOT
tank    29.1T  22.4T  6.7T    9%    77%  1.00x  DEGRADED  -
"""


def test_a_pasted_status_is_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pasted = tmp_path / "status.txt"
    pasted.write_text(STATUS + "\n" + LIST, encoding="utf-8")
    found = fields_in((str(pasted),))
    assert found["layout"] == "raidz1x4"
    assert found["alloc"] == 24629060462182
    assert found["old_drive"] == "missing"
    assert "NOT KNOWN: the record size" in capsys.readouterr().err


def test_of_what_is_stated_beside_a_status_nothing_is_called_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pasted = tmp_path / "status.txt"
    pasted.write_text(STATUS, encoding="utf-8")
    fields_in((str(pasted),), ("drive_size",))
    told = capsys.readouterr().err
    assert "NOT KNOWN: how full the pool is and the record size" in told
    fields_in((str(pasted),), ("drive", "alloc", "recordsize"))
    assert "NOT KNOWN" not in capsys.readouterr().err


def test_outputs_in_several_files_are_one_pool(tmp_path: Path) -> None:
    (tmp_path / "status.txt").write_text(STATUS, encoding="utf-8")
    (tmp_path / "list.txt").write_text(LIST, encoding="utf-8")
    together = fields_in([str(tmp_path / "status.txt"), str(tmp_path / "list.txt")])
    (tmp_path / "both.txt").write_text(STATUS + "\n" + LIST, encoding="utf-8")
    assert together == fields_in([str(tmp_path / "both.txt")])


def test_standard_input_may_be_a_status_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STATUS.encode())))
    assert fields_in(("-",))["layout"] == "raidz1x4"


def test_a_running_scan_is_pointed_to_eta(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running = STATUS.replace(
        "scrub repaired 0B in 19:44:02 with 0 errors on Sun Nov  8 20:08:05 2026",
        "resilver in progress since Sun Nov 22 21:14:03 2026\n"
        "\t14.2T / 22.4T scanned at 2.31G/s, 3.81T / 22.4T issued at 634M/s\n"
        "\t471G resilvered, 17.0% done, 08:24:10 to go",
    )
    (tmp_path / "status.txt").write_text(running, encoding="utf-8")
    assert fields_in([str(tmp_path / "status.txt")])["evidence"]
    assert "a resilver runs on this pool: zsim eta" in capsys.readouterr().err


@pytest.mark.parametrize("by_hand", [["--operation", "scrub"], ["--set", "operation=scrub"]])
def test_a_scrub_of_a_pool_with_a_failed_drive_may_be_asked_for(
    tmp_path: Path, by_hand: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "status.txt").write_text(STATUS + "\n" + LIST, encoding="utf-8")
    command = ["scenario", "show", "--json", "--scenario", str(tmp_path / "status.txt")]

    def told(*more: str) -> dict[str, object]:
        assert main([*command, *more]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)["scenario"]
        return found

    asked = told(*by_hand)
    assert (asked["operation"], asked["layout"]) == ("scrub", "raidz1x4")
    assert not {"replace", "old_drive"} & set(asked)
    assert {"replace", "old_drive"} <= set(told())
    assert main([*command, *by_hand, "--replace", "1"]) == 2, "what is stated is refused"


def test_an_expansion_that_runs_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expands = "expand: expansion of raidz1-0 in progress since Tue Nov 24 19:11:02 2026\n"
    expands += "\t9.63T / 22.4T copied at 141M/s, 42.9% done, 1 days 01:51:04 to go\nconfig:"
    running = STATUS.replace("1234567   UNAVAIL ", "sdc       ONLINE  ").replace("  was /dev/sdc1", "")
    (tmp_path / "status.txt").write_text(running.replace("config:", expands), encoding="utf-8")
    stated = fields_in([str(tmp_path / "status.txt")])
    assert "an expansion runs on this pool: zsim eta" in capsys.readouterr().err
    assert any("running expansion" in words for words in scenario_words(Scenario.from_dict(stated)))


def test_a_story_of_a_pasted_pool_begins_without_the_drives_that_are_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "status.txt").write_text(STATUS + "\n" + LIST, encoding="utf-8")
    asked: list[Plan] = []

    def told(plan: Plan, **_: object) -> None:
        asked.append(plan)
        raise InputError("story", None, "it was asked for", "read it")

    monkeypatch.setattr("zsim.planning.timeline.api.timeline", told)
    command = ["timeline", "--scenario", str(tmp_path / "status.txt"), "--fail", "0"]
    assert main(command) == 2
    assert [event.do for event in asked[0].events] == ["fail"]
    assert (asked[0].scenario["layout"], "replace" in asked[0].scenario) == ("raidz1x4", False)
    told_of = "the timeline begins without the missing drives: the repair shown in the file is not part of it"
    assert told_of in capsys.readouterr().err
    for by_hand in (["--replace", "1"], ["--set", "replace=1"]):
        assert main([*command, *by_hand]) == 2
        assert "use --fail or --replace-drives" in capsys.readouterr().err
    assert len(asked) == 1


@pytest.mark.parametrize("text", ["layout = raidz2x6", "NAME SIZE\nsda 4T\n", "#!/bin/sh\necho pool:\n"])
def test_what_is_neither_is_refused_as_toml(tmp_path: Path, text: str) -> None:
    (tmp_path / "case.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="it is not TOML"):
        fields_in([str(tmp_path / "case.txt")])


def test_a_scenario_file_is_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text('layout = "raidz2x6"\nmetaslabs = "free.csv"\n', encoding="utf-8")
    assert fields_in([str(tmp_path / "case.toml")]) == {
        "layout": "raidz2x6",
        "metaslabs": str(tmp_path / "free.csv"),
    }


GET = """NAME  PROPERTY       VALUE   SOURCE
tank  size           21.8T   -
tank  allocated      12.0T   -
tank  fragmentation  10%     -
tank  ashift         12      local
"""


@pytest.mark.parametrize("flags", [["--layout", "raidz2x6"], ["--set", "layout=raidz2x6"]])
def test_properties_alone_are_a_scenario_where_the_layout_stands_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    """21.8T over six drives are drives of 4 TB; 12T of them are 55 %."""
    path = tmp_path / "get.txt"
    path.write_text(GET)
    assert main(["-q", "scenario", "show", "--scenario", str(path), "--json"]) == 2
    assert "no file shows the vdevs of the pool" in capsys.readouterr().err
    assert main(["-q", "scenario", "show", "--scenario", str(path), *flags, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["scenario"]
    assert (told["layout"], told["drive_size"], told["alloc"]) == ("raidz2x6", 4e12, 12 * 2**40)
    assert (told["frag"], told["ashift"]) == (0.1, 12)


def test_a_size_larger_than_the_replacement_that_is_named_is_refused_by_its_own_name() -> None:
    """Nobody stated the size of the replacement: that is its model's."""
    stated = {"layout": "raidz2x6", "drive_size": "8TB", "new_drive": "st4000vn008"}
    with pytest.raises(InputError, match=r"drive_size .8 TB .* and st4000vn008 has 4 TB"):
        resolve(stated)
    assert resolve({**stated, "new_drive_size": "8TB"}).new_drive_size == 8 * 10**12


WAITS = status(
    "resilver in progress since Wed Nov 25 08:00:00 2026\n"
    "\t7T / 7T scanned, 2T / 7T issued at 650M/s\n"
    "\t487G resilvered, 28.57% done, 02:14:21 to go",
    """
raidz2-0 DEGRADED
  sda
  sdb
  replacing-2 DEGRADED
    sdc UNAVAIL
    sdx (resilvering)
  replacing-3 DEGRADED
    sdd UNAVAIL
    sdy (awaiting resilver)
""",
    state="{state}",
)


@pytest.mark.parametrize("way", ["file", "flag", "pipe", "both"])
def test_a_decision_takes_a_status_in_every_way(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `--scenario` the drive that waits was lost ("nothing waits for it"), and `-` was no file."""
    status, drives = tmp_path / "status.txt", tmp_path / "lsblk.txt"
    status.write_text(WAITS.format(state="DEGRADED"))
    drives.write_text("NAME MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS\nsda    8:0    0  3.6T  0 disk\n")
    piped = io.TextIOWrapper(io.BytesIO(status.read_bytes()))
    monkeypatch.setattr(sys, "stdin", piped)
    words = {
        "file": [str(status)],
        "flag": ["--scenario", str(status)],
        "pipe": ["-"],
        "both": ["-", str(drives)],
    }
    assert main(["decide", *words[way], "--recordsize", "1M", "--history", "media-server", "--json"]) == 0
    names = {each["alternative"] for each in json.loads(capsys.readouterr().out)["alternatives"]}
    assert names == {"wait", "restart now (zpool resilver)"}


def test_a_decision_about_a_suspended_pool_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = tmp_path / "status.txt"
    status.write_text(WAITS.format(state="SUSPENDED"))
    assert main(["decide", str(status)]) == 2
    assert "the pool is suspended, and nothing continues until" in capsys.readouterr().err.replace("\n", " ")
    assert main(["decide", str(status), "--scenario", str(status)]) == 2


SCRUBS = WAITS.replace("resilver in progress", "scrub in progress").replace("487G resilvered", "0B repaired")


def test_a_replacement_beside_a_scrub_is_a_resilver(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--replace 1` was refused ("a scrub replaces nothing: leave it out"), which nobody had asked for."""
    status = tmp_path / "status.txt"
    status.write_text(SCRUBS.format(state="DEGRADED"))

    def stated(**flags: str) -> dict[str, object]:
        given: dict[str, object] = defaultdict(lambda: None, file=str(status), **flags)
        return stated_fields(given)

    assert "operation" not in stated(replace="1")
    assert stated()["operation"] == "scrub"
    assert stated(operation="scrub", replace="1")["operation"] == "scrub"
    assert main(["predict", str(status), "--operation", "scrub", "--replace", "1"]) == 2


def test_a_pasted_status_stands_beside_layouts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`zsim compare status.txt mirror3` was refused: "'status.txt' is no vdev"."""
    status = tmp_path / "status.txt"
    status.write_text(STATUS + LIST)
    assert (
        main(["compare", str(status), "mirror3", "--recordsize", "1M", "--history", "media-server", "--json"])
        == 0
    )
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["layout"] for row in rows] == ["raidz1x4", "mirror3"]


def test_what_a_pool_has_shown_does_not_count_for_another_layout(capsys: pytest.CaptureFixture[str]) -> None:
    pasted = str(Path(__file__).parents[2] / "docs" / "examples" / "zpool-status.txt")
    said = "the evidence is of raidz2x8, and does not count for 4*mirror2."
    for layout, told in (("4*mirror2", True), ("raidz2x8", False)):
        fields = stated_fields(defaultdict(lambda: None, {"file": (pasted,), "layout": layout}))
        assert ("evidence" in fields) is not told
        assert (said in capsys.readouterr().err) is told
