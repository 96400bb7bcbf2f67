"""Pools that are described in a sentence on the command line, in a file, or piped."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.cli.design.plan import _take_words
from zsim.cli.flags import in_words, is_layout, stated_fields, take_files
from zsim.cli.forecasts.compare import _scenarios
from zsim.cli.forecasts.sweep import _take_base, axes_of
from zsim.cli.main import main
from zsim.cli.pools.pasted import pasted_pool
from zsim.observe.pool_import.given.pool_in_words import as_flags, pool_in_words
from zsim.scenario.model import Scenario

SENTENCE = "8x 16TB in raidz2, 60% full"
FIELDS = {"layout": "raidz2x8", "drive_size": 16 * 10**12, "fill": 0.6}
Capture = pytest.CaptureFixture[str]


def given(**flags: object) -> dict[str, object]:
    from zsim.cli.flags import FLAGS, REPEATED, SWITCHES

    single = dict.fromkeys([flag.field for flag in FLAGS] + [name for name, _ in SWITCHES])
    many: dict[str, object] = dict.fromkeys([flag.field for flag in REPEATED], ())
    return {**single, **many, "file": None, "settings": (), "tunable": (), **flags}


@pytest.mark.parametrize("names", [(SENTENCE,), tuple(SENTENCE.split())])
def test_a_sentence_stands_where_files_do(names: tuple[str, ...], capsys: Capture) -> None:
    flags = given()
    take_files(names, flags)
    assert stated_fields(flags) == FIELDS
    assert capsys.readouterr().err == "zsim: read as --layout raidz2x8 --drive-size 16TB --fill 60%.\n"


def test_a_sentence_may_be_piped_or_stand_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "pool.txt").write_text(f"{SENTENCE}\non 10GbE\n")
    assert stated_fields(given(file=(str(tmp_path / "pool.txt"),))) == FIELDS
    assert "NOT UNDERSTOOD, and ignored: '10GbE'." in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SENTENCE.encode())))
    assert stated_fields(given(file=("-",))) == FIELDS


def test_flags_stand_over_what_a_sentence_says_but_for_its_layout() -> None:
    assert stated_fields(given(file=(SENTENCE,), drive_size="18TB", alloc="40T")) == {
        "layout": "raidz2x8",
        "drive_size": "18TB",
        "alloc": "40T",
    }
    assert stated_fields(given(file=("8x 16TB",), layout="raidz1x8"))["layout"] == "raidz1x8"
    with pytest.raises(InputError, match="is a layout too; give one of the two"):
        stated_fields(given(file=(SENTENCE,), layout="raidz2x6"))


def test_a_word_is_a_layout_or_the_name_of_a_file() -> None:
    assert is_layout("raidz2x8")
    assert is_layout("4 * raidz2x6")
    assert not is_layout("raidz2 of 8 drives")
    assert stated_fields(given(file=("2xraidz2x6",))) == {"layout": "2*raidz2x6"}
    with pytest.raises(InputError, match="there is no such file"):
        stated_fields(given(file=("raidz2.txt",)))
    with pytest.raises(InputError, match="no such file"):
        stated_fields(given(file=("status.txt", "in", "raidz2x8")))


def test_how_full_a_pool_is_is_said_in_percent_or_as_data(capsys: Capture) -> None:
    stated_fields(given(file=("mirror of 2 8TB drives, 3TB used",)))
    assert "--alloc 2.73T.\n" in capsys.readouterr().err
    stated_fields(given(file=("raidz2 of 6 8TB drives, 3TB used",)))
    assert "--alloc 4.09T (3TB of data, and their parity).\n" in capsys.readouterr().err
    stated_fields(given(file=("mirror of 2 8TB drives, 3TB free",)))
    assert "--alloc 4.54T.\n" in capsys.readouterr().err
    stated_fields(given(file=("raidz2 of 6 8TB drives, 3TB free",)))
    assert " (3TB of data and their parity are free).\n" in capsys.readouterr().err
    stated_fields(given(file=("mirror of 2 8TB drives, 9TB free",)))
    assert "'9TB free' (how full it is: '62% full', or --alloc" in capsys.readouterr().err
    stated_fields(given(file=("mirror of 2 8TB drives, 50% full, 3TB used",)))
    assert "'3TB used'." in capsys.readouterr().err


def test_decide_and_timeline_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for names, noted in (((SENTENCE,), {"file": (SENTENCE,)}), (("raidz2x8",), {"layout": "raidz2x8"})):
        found = in_words(names, given())
        assert {name: value for name, value in found.items() if value} == noted
    assert in_words(("status.txt",), given()) == {}
    assert in_words(("replace-one",), given()) == {}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SENTENCE.encode())))
    piped = pasted_pool(("-",), {"recordsize": "1M"}, "a timeline").plan
    assert piped == {"scenario": {**FIELDS, "recordsize": 1 << 20}}


def test_layouts_beside_the_one_pool_described_have_its_drives(capsys: Capture) -> None:
    asked = _scenarios((f"{SENTENCE}, 2 drives failed", "mirror3"), {"fill": "70%"}, stores=False)
    stated: list[dict[str, Any]] = [each.stated() for each in asked]  # type: ignore[attr-defined]
    assert stated[0] == {**FIELDS, "replace": 2}
    assert stated[1] == {"layout": "mirror3", "drive_size": FIELDS["drive_size"]}, "flags come on top"
    assert "taken for mirror3 too: --drive-size 16TB." in capsys.readouterr().err
    stores = _scenarios((SENTENCE, "mirror3"), {}, stores=True)
    assert "fill" not in stores[1].stated()  # type: ignore[attr-defined]
    assert _scenarios(("raidz2x6", "mirror3"), {}, stores=False) == ["raidz2x6", "mirror3"]


def swept(*words: str, **flags: object) -> dict[str, list[object]]:
    noted = given(**flags)
    _take_base(words, noted)
    return axes_of(None, None, stated_fields(noted), {"layout", "fill", "recordsize"})


def test_what_a_sweep_has_in_common_may_be_a_sentence_or_layouts(capsys: Capture) -> None:
    common = {"layout": ["raidz2x8"], "drive_size": [FIELDS["drive_size"]]}
    assert swept(SENTENCE, fill="20%,40%") == common | {"fill": ["20%", "40%"]}
    assert "read as --layout raidz2x8 --drive-size 16TB --fill 60%." in capsys.readouterr().err
    assert swept("raidz2x8", "4*mirror2") == {"layout": ["raidz2x8", "4*mirror2"]}
    assert swept("raidz2x8,mirror2", recordsize="16K")["layout"] == ["raidz2x8", "mirror2"]
    for words, told in (
        (("raidz2x6", "--layout", "raidz2x7"), "it excludes LAYOUT"),
        (("staus", "a.sqlite"), "what can be done with stores is status, merge, export"),
        (("foo",), "there is no such file"),
    ):
        assert main(["sweep", *words]) == 2
        assert told in capsys.readouterr().err


def test_plan_takes_the_drives_there_are(capsys: Capture) -> None:
    flags = given(drives=None, budget=None)
    _take_words("24x 16TB, 60% full", flags)
    assert (flags["drives"], flags["drive_size"], flags["fill"]) == ("24", FIELDS["drive_size"], 0.6)
    assert "read as 24 drives, --drive-size 16TB --fill 60%." in capsys.readouterr().err
    wanted = given(drives=None, budget=None, usable=None)
    _take_words("36 bays of 20TB, need 400TB usable", wanted)
    assert (wanted["drives"], wanted["usable"]) == ("36", "400TB")
    assert "NOT UNDERSTOOD" not in capsys.readouterr().err
    more = given(drives="36", budget=None, drive_size="18TB")
    _take_words("24x 16TB", more)
    assert (more["drives"], more["drive_size"]) == ("36", "18TB")
    assert main(["plan", SENTENCE, "--require", "p90 < 48h"]) == 2
    assert "this search finds the layout" in capsys.readouterr().err
    assert main(["plan", "hello"]) == 2
    assert "it mentions neither drives nor vdevs" in capsys.readouterr().err


def test_a_sentence_is_answered(capsys: Capture) -> None:
    assert main(["scenario", "show", "--scenario", SENTENCE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenario"] == FIELDS
    assert main(["predict", "8x", "16TB"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "nothing says how the drives are combined; write for instance '8x 16TB in raidz2'" in told


def test_a_sentence_says_how_far_a_scan_is() -> None:
    def evidence(text: str) -> dict[str, object]:
        said = pool_in_words(text)
        assert said is not None
        return said.fields

    found = evidence("raidz2 of 8x 16TB, 60% full, resilver 34% done after 12 h")
    scan = {"what": "running", "kind": "resilver", "done": 0.34, "elapsed": 12 * 3600}
    assert found == {**FIELDS, "evidence": [scan]}
    assert as_flags(found).endswith("--fill 60%, a resilver 34 % done after 12 h")
    scrub = evidence("8x 16TB in raidz2, scrub 40.5% complete in 2 days")
    assert scrub["evidence"] == [{"what": "running", "kind": "scrub", "done": 0.405, "elapsed": 2 * 86400}]
    assert scrub["operation"] == "scrub"
    assert evidence("8x 16TB in raidz2, 7% done")["evidence"] == [
        {"what": "running", "kind": "resilver", "done": 0.07}
    ]
    assert "evidence" not in evidence("8x 16TB in raidz2, 34% full, resilver")


def test_what_is_left_of_a_scan_that_is_said_is_the_same_in_all_commands(capsys: Capture) -> None:
    said = "2x 1TB mirror, 1% full, resilver 34% done after 2 min"
    left = {}
    for command in ("eta", "timeline"):
        assert main([command, said, "--drive-size", "1TB", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        left[command] = found["remaining_s" if command == "eta" else "whole_s"]
    assert left["timeline"]["p50"] == pytest.approx(left["eta"]["p50"], rel=0.01)
    assert main(["risk", said, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["window_of"] == "rest"
    assert main(["eta", "2x 1TB mirror"]) == 2
    assert "say how far it is, such as 'resilver 34% done after 12 h'" in capsys.readouterr().err


def test_import_writes_a_sentence_as_a_scenario(tmp_path: Path, capsys: Capture) -> None:
    assert main(["import", f"{SENTENCE} on 10GbE", "-o", str(tmp_path / "pool.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scenario"] == FIELDS
    assert found["notes"] == ["not understood, and ignored: 10GbE"]
    assert {each["source"] for each in found["findings"]} == {"the sentence"}
    assert {each["field"] for each in found["assumptions"]} >= {"release", "recordsize"}
    assert Scenario.read(tmp_path / "pool.toml").stated() == FIELDS
    assert main(["import", *SENTENCE.split(), "--set", "fill=0.7", "-o", "-"]) == 0
    assert "fill = 0.7" in capsys.readouterr().out
    assert main(["import", "8x 16TB"]) == 2
    assert main(["import", "no-file.txt"]) == 2


def test_a_fleet_may_be_a_sentence_with_its_site_in_flags(tmp_path: Path, capsys: Capture) -> None:
    """The same fleet as its file says, to the bit."""
    flags = ["--pools", "30", "--hours", "24", "--afr", "2%"]
    site = ["--spares", "1", "--lead-time", "7d", "--visit", "2h", "--trials", "20", "--json"]
    assert main(["fleet", SENTENCE, *flags, *site]) == 0
    said = json.loads(capsys.readouterr().out)
    file = tmp_path / "fleet.toml"
    file.write_text(
        'trials = 20\nspares = 5\nlead_time = 7\nvisit = "2h"\n[[pool]]\ncount = 30\nlayout = "raidz2x8"\n'
        'drive_size = "16TB"\nfill = 0.6\nhours = 24\nafr = "2%"\n'
    )
    assert main(["fleet", str(file), "--spares", "1", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert said["any_loss"] == read["any_loss"]
    assert said["spares"] == read["spares"]
    assert said["pools"][0]["pools"] == 30
    assert main(["fleet", str(file), "--pools", "3"]) == 2
    assert "--pools '3' cannot be used" in capsys.readouterr().err
    assert main(["fleet", str(tmp_path / "none.toml")]) == 2
