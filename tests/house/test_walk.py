"""The way of one run through the rooms is no longer than the map of the house says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.walk import stays, told

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_walk_of_a_prediction_is_as_the_architecture_tells_it() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    written = re.search(r"\| stays, rooms, returns \| (\d+), (\d+), (\d+) \|", text)
    assert written is not None
    command = [sys.executable, "-m", "tests.house.walk"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    last = done.stdout.strip().splitlines()[-1]
    walked = [int(each) for each in re.findall(r"\d+", last)[:3]]
    assert walked == [int(each) for each in written.groups()], last


def test_a_room_that_is_entered_again_is_told_from_a_call_that_comes_back() -> None:
    walked = [
        ("zsim.cli.main", "main", set[str]()),
        ("zsim.base.units", "parse", {"cli"}),
        ("zsim.pool.ageing", "aged", {"cli"}),
        ("zsim.vdevs.arrays", "asizes", {"cli", "pool"}),
        ("zsim.pool.census", "thinned", {"cli", "pool"}),
        ("zsim.vdevs.dispatch", "touched", {"cli"}),
    ]
    found = stays(walked)
    assert [room for room, _ in found] == ["cli", "pool", "vdevs", "pool", "vdevs"]
    assert told(found) == "5 stays in 3 rooms, 2 returns: 1 calls come back, 1 rooms are entered again"
