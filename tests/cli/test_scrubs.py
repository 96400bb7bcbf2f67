"""A scrub that runs: what decide, timeline and risk say of plain disks and of a drive that is slow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import zsim
from tests import pastes
from zsim.cli.main import main

Capture = pytest.CaptureFixture[str]
SCRUB = (
    "scrub in progress since Fri Nov 27 05:30:00 2026\n"
    "\t5.00T / 5.00T scanned, 2.10T / 5.00T issued at 188M/s\n"
    "\t0B repaired, 42.00% done, 04:24:00 to go"
)
POOLS = {
    "disks": "sda\nsdb\nsdc\nsdd\nsde\nsdf",
    "raidz2": "raidz2-0\n  sda\n  sdb\n  sdc\n  sdd\n  sde\n  sdf",
}


@pytest.fixture
def status(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "status.txt"
    path.write_text(pastes.status(SCRUB, POOLS[request.param], state="ONLINE"))
    return str(path)


def answer(capsys: Capture, *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("status", POOLS, indirect=True)
def test_whether_to_stop_a_load_is_answered_while_a_scrub_runs(status: str, capsys: Capture) -> None:
    found = answer(capsys, "decide", status, "--load", "backup 100MB/s")
    names = [each["alternative"] for each in found["alternatives"]]  # type: ignore[attr-defined]
    assert names == ["stop the load now", "wait"]


@pytest.mark.parametrize("status", ["disks"], indirect=True)
@pytest.mark.parametrize("memory", ["16G", "1T"])
def test_what_a_scrub_showed_beside_a_load_is_not_taken_for_its_pace_without(
    status: str, memory: str, capsys: Capture
) -> None:
    """What is seen leaves 4.3 h; the load is half of that, whatever the host has."""
    found = answer(capsys, "decide", status, "--load", "backup 100MB/s", "--memory", memory)
    over = {each["alternative"]: each["over_s"]["p50"] for each in found["alternatives"]}  # type: ignore[attr-defined]
    assert over["wait"] == pytest.approx(4.4 * 3600.0, rel=0.1)
    assert 0.35 < over["stop the load now"] / over["wait"] < 0.8


def test_plain_disks_are_scrubbed_by_flags_too(capsys: Capture) -> None:
    pool = ["--layout", "2*disk", "--fill", "10%", "--drive-size", "1TB"]
    words = ["decide", *pool, "--running", "scrub", "--done", "30%"]
    assert len(answer(capsys, *words, "--load", "backup 100MB/s")["alternatives"]) == 2  # type: ignore[arg-type]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "all you can do is wait" in told
    assert "--load" in told
    assert "--replace-too" not in told


@pytest.mark.parametrize("status", ["disks"], indirect=True)
def test_a_timeline_takes_a_scrub_of_plain_disks(status: str, capsys: Capture) -> None:
    assert main(["timeline", status]) == 0
    assert "whole all the time; the scrub ends after" in capsys.readouterr().out


@pytest.mark.parametrize("status", ["raidz2"], indirect=True)
def test_a_slow_drive_may_be_taken_offline_for_a_scrub(status: str, capsys: Capture) -> None:
    found = answer(capsys, "decide", status, "--slow", "1:3")
    names = [each["alternative"] for each in found["alternatives"]]  # type: ignore[attr-defined]
    assert names == ["wait", "take drive 1 offline until the pass has ended"]


@pytest.mark.parametrize("status", ["raidz2"], indirect=True)
@pytest.mark.parametrize("slow", [[], pytest.param(["--slow", "1:3"], marks=pytest.mark.slow)])
def test_a_risk_is_answered_while_a_scrub_runs(status: str, slow: list[str], capsys: Capture) -> None:
    found = answer(capsys, "risk", status, *slow)
    assert found["window_of"] == "scrub"
    window, year = found["window"], found["per_year"]
    assert 0.0 < window["vdev"]["p"] < 0.01 * year["vdev"]["p"]  # type: ignore[index]
    assert main(["risk", status, *slow]) == 0
    assert "during this scrub" in capsys.readouterr().out


@pytest.mark.parametrize("status", ["disks"], indirect=True)
def test_the_risk_of_plain_disks_says_what_it_is(status: str, capsys: Capture) -> None:
    found = answer(capsys, "risk", status)
    window, year = found["window"], found["per_year"]
    assert found["window_of"] == "scrub"
    # Any of six drives takes the pool with it.
    assert 6 * 0.005 < year["vdev"]["p"] < 6 * 0.03  # type: ignore[index]
    assert 0.0 < window["vdev"]["p"] < 0.01 * year["vdev"]["p"]  # type: ignore[index]
    assert main(["risk", status]) == 0
    assert "during this scrub" in capsys.readouterr().out


def test_a_scrub_is_asked_of_as_any_operation() -> None:
    assert zsim.risk("raidz2x6", fill="10%", drive_size="1TB", operation="scrub").window_of == "scrub"
