"""``zsim compare`` and ``zsim sweep``: words to axes, outputs, bad input.  The engine is replaced."""

from __future__ import annotations

import csv
import json
import shlex
import sys
import types
from pathlib import Path

import pytest

from zsim.cli import computing
from zsim.cli import main as entry
from zsim.cli.forecasts import compare as compare_module
from zsim.cli.forecasts import sweep as sweep_module
from zsim.cli.pools.decide import _is_sick
from zsim.planning.risk.api import risk
from zsim.planning.risk.question import RiskInputs
from zsim.prediction.answer.prediction import Prediction
from zsim.scenario.model import Scenario

COMMANDS = {"compare": compare_module.command, "sweep": sweep_module.command}


@pytest.fixture
def asked(prediction: Prediction, monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """The scenarios that an engine was asked for, which gives them all the same answer."""
    seen: list[Scenario] = []

    def predict_case(scenario: Scenario, portion: str = "") -> Prediction:
        seen.append(scenario)
        return prediction

    module = types.ModuleType("zsim.prediction.api")
    module.case_of = lambda scenario: scenario  # type: ignore[attr-defined]
    module.predict_case = predict_case  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "zsim.prediction.api", module)
    monkeypatch.setattr(computing, "NOTICE_AFTER_S", 1000.0)
    return seen


def zsim(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(entry.cli, "get_command", lambda context, name: COMMANDS[name])
    return entry.main(shlex.split(line))


def test_compare_prints_a_row_each(
    asked: list[Scenario], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert zsim("compare raidz2x6 mirror2 --drives 12 --fill 60% --jobs 1", monkeypatch) == 0
    out = capsys.readouterr().out
    assert "2*raidz2x6" in out
    assert "6*mirror2" in out
    assert [(str(each.layout), each.fill) for each in asked] == [("2*raidz2x6", 0.6), ("6*mirror2", 0.6)]


def test_compare_json_is_alone_on_stdout(
    asked: list[Scenario], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert zsim("compare raidz2x6 mirror2 --usable 20T --json --jobs 1", monkeypatch) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["p50_s"] for row in rows] == [61200.0, 61200.0]


def test_compare_takes_what_is_known_of_failures(
    asked: list[Scenario], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The chance is that of `zsim.risk`, and it is told what it rests on; any such flag shows it."""
    pool = "raidz2x6 --drive-size 4TB --fill 60%"
    assert zsim(f"compare {pool} --afr 2% --spare hot --no-latent --jobs 1 --json", monkeypatch) == 0
    table = json.loads(capsys.readouterr().out)
    inputs = RiskInputs(hours=61200.0, afr=0.02, spare="hot", latent=False)
    known = risk("raidz2x6", inputs, drive_size="4TB", fill=0.6).per_year.vdev
    assert table["rows"][0]["vdev_per_year"] == pytest.approx(known.p, rel=0.15)
    words = "annual failure rate 2 %; no latent errors; spare hot"
    assert table["notes"] == [f"Vdev lost in a year, with {words}."]
    assert zsim(f"compare {pool} --risk --jobs 1", monkeypatch) == 0
    assert "not stated (--afr)" in " ".join(capsys.readouterr().out.split())
    assert zsim(f"compare {pool} --seed 3 --jobs 1", monkeypatch) == 0
    assert "lost" not in capsys.readouterr().out


def test_sizes_of_pools_written_as_those_of_drives_are_told(
    asked: list[Scenario], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """500TB, as the labels of drives have it, are 550 of their TB: a tenth more than may be meant."""
    assert zsim("compare raidz2x6 --usable 500TB --drive-size 24TB --fill 60% --jobs 1", monkeypatch) == 0
    told = "--usable 500TB: sizes of pools are in powers of 1024, as zfs list has them: 550 TB of powers"
    err = " ".join(capsys.readouterr().err.split())
    assert told in err
    assert "write 455T for 500TB of those" in err
    for size in ("500T", "500TiB", "455T"):
        assert zsim(f"compare raidz2x6 --usable {size} --drive-size 24TB --jobs 1", monkeypatch) == 0
        assert "powers" not in capsys.readouterr().err


def test_sweep_asks_for_every_combination(
    asked: list[Scenario],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    line = "sweep --width 4..6..2 --parity 1,2 --fill 25%..75%..25% --seed 5 --jobs 1"
    line += " -o table.csv --plot table.svg --store answers.jsonl --load random-read,rate=5"
    assert zsim(line, monkeypatch) == 0
    assert len(asked) == 12
    assert {(str(each.layout), each.fill, each.seed) for each in asked} == {
        (f"raidz{p}x{w}", f, 5) for p in (1, 2) for w in (4, 6) for f in (0.25, 0.5, 0.75)
    }
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as stream:
        assert [float(row["p50_s"]) for row in csv.DictReader(stream)] == [61200.0] * 12
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv", "table.svg", "answers.jsonl"}
    assert zsim(line, monkeypatch) == 0  # all answers are kept
    assert len(asked) == 12


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("compare", "compare"),
        ("compare raidz2x1", "layout"),
        ("compare raidz2x6 --drives 5", "drives"),
        ("compare raidz2x6 --drives none", "--drives"),
        ("compare raidz2x6 --drives 12 --usable 3T", "--usable"),
        ("compare raidz2x6 --usable lots", "--usable"),
        ("compare raidz2x6 --layout mirror2", "layout"),
        ("compare raidz2x6 --jobs 0", "--jobs"),
        ("compare raidz2x6 --fill 7", "fill"),
        ("compare nowhere.toml", "nowhere.toml"),
        ("sweep", "layout"),
        ("sweep --width 4..", "width"),
        ("sweep --width 4 --parity x", "parity"),
        ("sweep --width 4", "parity"),
        ("sweep --layout mirror2 --fill 90%..10%", "fill"),
        ("sweep --layout mirror2 -o table.xls", "table.xls"),
        ("sweep --layout mirror2 --store nowhere/a.jsonl", "a.jsonl"),
        ("sweep --layout mirror2 --seed 1..9999 --cpus 1..100", "combinations"),
    ],
)
def test_absurd_plans_get_one_sentence(
    asked: list[Scenario],
    line: str,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert zsim(line, monkeypatch) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert named in err
    assert asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("words", "retries"), [
    ((), False), (("--erc", "7s"), False), (("--erc", "none"), True), (("--no-erc",), True),
])  # fmt: skip
def test_drives_without_erc_trip_over_more_latent_errors(
    words: tuple[str, ...], retries: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    from zsim.cli.main import main

    asked = ["risk", "--layout", "raidz1x4", "--fill", "0.3", "--hours", "9", "--json"]
    assert main([*asked, *words]) == 0
    assert f'"erc": {"false" if retries else "true"}' in capsys.readouterr().out


@pytest.mark.parametrize("hours", ["\x1f9", " 9 "])
def test_blanks_about_a_number_are_no_part_of_it(hours: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["risk", "--layout", "raidz1x4", "--fill", "0.3", "--hours", hours, "--json"]) == 0
    assert "repair 9 h" in json.loads(capsys.readouterr().out)["stated"]


def test_a_seed_of_thousands_of_digits_is_refused_as_any_other_that_is_too_large(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        entry.main(["risk", "--layout", "mirror2", "--fill", "0.3", "--hours", "9", "--seed", "7" * 5001])
        == 2
    )
    assert capsys.readouterr().err.startswith("zsim: seed ")


def test_a_tunable_named_as_a_field_is_told_as_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    words = "sweep --width 3,4 --parity 1 --fill 0.3 --drive-size 20GB --tunable fill=inf"
    assert entry.main(words.split()) == 1, "all rows are refused"
    assert "tunables fill inf; fill 30 %" in capsys.readouterr().out


@pytest.mark.parametrize("field", ["slow", "attached", "bad_sectors"])
def test_to_decide_about_a_sick_drive_a_repair_has_just_begun(field: str) -> None:
    assert _is_sick({"scenario": {"layout": "raidz2x6", field: ["3:5"]}})
    assert not _is_sick({"scenario": {"layout": "raidz2x6", "fill": 0.5}})
    assert not _is_sick({"scenario": {"layout": "raidz2x6", field: []}})
