"""The tables and the files that a validation is shown in, and its command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from zsim.base.errors import InputError
from zsim.cli.tools.validate import command
from zsim.validation.api import Validation
from zsim.validation.frame import ValidationCase, judge
from zsim.validation.report import document, wording
from zsim.validation.report.scores import summarise


def outcome() -> Validation:
    """Return a validation with every kind of verdict."""
    run = ValidationCase("run", "zfs-run", "zfs-run", Path("run"), category="legacy")
    row = ValidationCase("row", "observed", "observed", Path("rows"), experiment="e", category="sorted")
    claims = (
        judge(run, "time", 3600.0, 3700.0, 0.08, unit="s"),
        judge(run, "rate", 10e6, 20e6, 0.1, unit="B/s", reason="cache | missing"),
        judge(
            row,
            "time",
            7200.0,
            7000.0,
            None,
            p10=6000,
            p90=9000,
            unit="s",
            details={"rule_average_rate": 3000.0},
        ),
    )
    return Validation(claims, summarise(claims))


def test_a_validation_is_read_again_from_its_json(tmp_path: Path) -> None:
    found = outcome()
    found = replace(found, claims=(replace(found.claims[0], title="A run", why="a cache"), *found.claims[1:]))
    found.save(tmp_path / "kept.json")
    again = Validation.load(tmp_path / "kept.json")
    assert again.claims == found.claims
    assert (str(again), again.to_json(), again.passed) == (str(found), found.to_json(), found.passed)
    again.save(tmp_path / "again.html")
    found.save(tmp_path / "found.html")
    assert (tmp_path / "again.html").read_text() == (tmp_path / "found.html").read_text()
    for damaged in ('{"schema_version": 1}', '{"schema_version": 1, "cases": [{}], "summary": {"fail": 0}}'):
        with pytest.raises(InputError, match=r"kept: cases is missing|kept: case is missing: every Claim"):
            Validation.from_json(damaged, "kept")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (60900.0, "s", "16 h 55 min"),
        (None, "s", "-"),
        (57e3, "B", "55.7K"),
        (10e6, "B/s", "10 MB/s"),
        (3000, "1", "3000"),
        (0.123456, "1", "0.123"),
        (172.0, "1/s", "172 1/s"),
    ],
)
def test_quantities_in_readable_units(value: float | None, unit: str, text: str) -> None:
    assert wording.quantity(value, unit) == text


def test_signs_and_tolerances() -> None:
    assert [wording.signed_percent(x) for x in (None, 0.0, 0.004, -0.05, 0.5)] == [
        "-", "0 %", "+0.40 %", "-5.0 %", "+50 %",
    ]  # fmt: skip
    assert [wording.tolerance_text(x) for x in (None, 0.0, 0.15)] == ["-", "exact", "15 %"]


def test_report_is_the_same_every_time_and_names_no_path(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "a.html", "b.html"):
        outcome().save(tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    text = (tmp_path / "a.md").read_text()
    assert text.replace("a.svg", "b.svg") == (tmp_path / "b.md").read_text()
    assert str(tmp_path) not in text
    assert "| run | rate | 10 MB/s | 20 MB/s | - | +100 % | 10 % | fail |" in text
    assert "cache | missing" in text


def test_report_in_the_terminal_and_its_sentences() -> None:
    from zsim.cli.common import console

    with console().capture() as capture:
        pass
    assert capture.get() == ""
    sentences = wording.score_sentences(outcome().summary)
    assert any("bytes per drive / average rate" in line for line in sentences)
    assert wording.headline(outcome().summary) == "3 claims of 2 cases: 1 pass, 1 fail, 1 info."
    assert document.claims_table(outcome().claims).row_count == 3


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.md or \.html"):
        outcome().save(tmp_path / "report.pdf")


def test_command_prints_json_only() -> None:
    result = CliRunner().invoke(command, ["--json", "raidz_map_vectors"], standalone_mode=False)
    data = json.loads(result.stdout)
    assert result.return_value == 0
    assert [entry["case"] for entry in data["cases"]] == ["raidz_map_vectors"]
    assert data["summary"]["pass"] == 1


def test_command_fails_with_one_if_a_claim_fails(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text("nonsense")
    result = CliRunner().invoke(command, ["--cases", str(tmp_path)], standalone_mode=False)
    assert result.return_value == 1
    assert "fail" in result.stdout


def test_command_lists_without_running(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text("nonsense")
    result = CliRunner().invoke(command, ["--cases", str(tmp_path), "--list"], standalone_mode=False)
    assert result.return_value == 0
    assert "TOML" in result.stdout


def test_command_refuses_a_report_before_running(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--report", str(tmp_path / "x.txt")], standalone_mode=False)
    assert isinstance(result.exception, InputError)
