"""Stories of real pools, told again by the rules of their releases."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.planning.timeline.telling import PASS_BYTES, KnownPasses, hours, tell, told
from tests.planning.timeline.test_rules import FAIL, REPLACE, SECOND
from zsim.base import model_data
from zsim.planning.timeline.passes import WORLDS, PassTimes

# --- truth


def seen(name: str) -> float:
    path = model_data.validation_directory() / "zfs-sorted" / name / "result.json"
    return float(json.loads(path.read_text())["resilver_s"])


def test_two_passes_of_a_real_run() -> None:
    """OpenZFS 2.3.9, two drives replaced one after another: two passes, with a wait between them."""
    passes = KnownPasses()
    passes._of = lambda _: PassTimes(np.full(WORLDS, seen("raidz2x6-a12-f50-aged")))  # type: ignore[method-assign]
    # In a pool this small more than a tenth is done when the second command is served.
    pool = tell([REPLACE, {**SECOND, "at": "20%"}], "openzfs-2.3.9", passes=passes)
    assert pool.history[-1].ends == pytest.approx(seen("raidz2x6-two-aged"), rel=0.1)


def test_six_drives_on_solaris() -> None:
    """Five more drives replaced at 80 %: it began again (the seed's author saw it)."""
    events = [REPLACE, {"do": "replace", "drives": [1, 2, 3, 4, 5], "at": "80%"}]
    pool = tell(events, "solaris-11.2")
    assert hours(pool) == [(0, 8), (8, 18)]
    assert len(pool.history[-1].targets) == 6


def test_a_drive_that_comes_back_wipes_what_was_done_on_0_6() -> None:
    """A report of openzfs/zfs issue 840: at 5.35 % it began again after a read error of a third disk."""
    events = [
        FAIL,
        {"do": "replace", "drives": [0, 1]},
        {"do": "offline", "drive": 2, "at": "5.35%"},
        {"do": "online", "drive": 2, "after": 30},
    ]
    pool = tell(events, "zol-0.6.5", passes=KnownPasses(31.0), churn="100G")
    assert hours(pool) == [(0, 1.7), (1.7, 32.7)]
    assert pool.redone == pytest.approx(0.0535 * PASS_BYTES, abs=1)
    assert len(hours(tell(events, "openzfs-2.1", passes=KnownPasses(31.0), churn="100G"))) == 2
    assert tell(events, "openzfs-2.1", passes=KnownPasses(31.0), churn="100G").redone == 0


def test_a_second_replacement_that_waits_on_2_1() -> None:
    """Open Food Facts, August 2025: at 38.33 % a second replace was "awaiting resilver"."""
    pool = tell([FAIL, REPLACE, {**SECOND, "at": "38.33%"}], "openzfs-2.1")
    assert told(pool, "waits for its own pass; the running one is 38 % done")
    assert hours(pool) == [(0, 10), (10, 20)]


def test_reboots_and_three_more_replacements_on_2_1() -> None:
    """Open Food Facts, August 2025: a reboot, then three more replacements while the resilver ran.

    Seen were the reboot behind 3.84 %, and that the one asked for at 38.33 % had to wait; the rest
    are the rules.
    """
    events = [
        FAIL,
        REPLACE,
        {"do": "reboot", "at": "3.84%", "takes": "1h"},
        {**SECOND, "at": "38.33%"},
        {"do": "replace", "drives": [2, 3], "at": "38.38%"},
    ]
    pool = tell(events, "openzfs-2.1", passes=KnownPasses(collecting=0.02))
    assert len(pool.history) == 2
    assert pool.history[0].completed
    assert len(pool.history[1].targets) == 3
    assert pool.redone == pytest.approx(0.0384 * PASS_BYTES, abs=25)
