"""The size of the miniature does not matter: halved, the predicted time stays within its stated error."""

from __future__ import annotations

import math

import pytest

from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.pool.recipes.histories import history_names
from zsim.prediction import work
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs import middle_world as middle
from zsim.prediction.runs.member import run_member
from zsim.scenario.model import Scenario

MEMORY = 1 << 50
"""So much that the sorted scan never runs short of it, which is no question of the population."""


def resolved_for(history: str, release: str, **more: object) -> Case:
    fields = {"layout": "raidz2x6", "fill": 0.6, "drive": "wd40efrx", "write_cache": True, "load": ()}
    scenario = Scenario.from_dict(
        {**fields, "memory": MEMORY, "history": history, "release": release, **more}
    )
    return resolve(scenario)


def predicted(resolved: Case) -> tuple[float, float]:
    """Return the time in the middle world, and its stated error [s]."""
    run = work.Work(resolved, lambda share, what: None)
    run.inputs, run.members = (), ()
    run.run()
    middle_s = run.quantiles[1]
    return middle_s, run.half_width * middle_s


def halved(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEMBER_BLOCKS", "LARGE_BLOCKS", "SMALL_TILE_BLOCKS"):
        monkeypatch.setattr(work, name, getattr(work, name) // 2)
    monkeypatch.setattr(middle, "SMALL_TILE_BLOCKS", middle.SMALL_TILE_BLOCKS // 2)


def beyond(history: str, release: str, monkeypatch: pytest.MonkeyPatch) -> float:
    """Return how far halving moves the time, in units of the stated error of the difference."""
    resolved = resolved_for(history, release)
    full, error = predicted(resolved)
    with monkeypatch.context() as patch:
        halved(patch)
        half, other = predicted(resolved)
    return abs(half - full) / math.hypot(error, other)


FEW = [
    ("media-server", "openzfs-2.3"),
    ("home-nas", "openzfs-2.3"),
    ("small-files", "openzfs-2.3"),
    ("home-nas", "zol-0.7"),
]


@pytest.mark.parametrize("which", ["few", pytest.param("every", marks=pytest.mark.slow)])
def test_halving_the_miniature(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stated error is that of 95 in 100: of few or eighteen one may lie outside, and none far outside."""
    every = [(history, release) for history in history_names() for release in ("openzfs-2.3", "zol-0.7")]
    moved = {each: beyond(*each, monkeypatch) for each in (FEW if which == "few" else every)}
    assert sum(each > 1.0 for each in moved.values()) <= 1, moved
    assert max(moved.values()) <= 2.0, moved


@pytest.mark.parametrize("order", ["sorted", "legacy"])
def test_exact_and_miniature_agree_on_a_pool_small_enough_for_both(order: str) -> None:
    resolved = resolved_for("media-server", "openzfs-2.3", order=order, drive_size=32 << 30)
    whole = miniature(resolved, blocks=10_000_000)
    # Every metaslab is there; the last file, written to its end, makes it a little fuller than asked.
    assert whole.scale == pytest.approx(1.0, rel=0.1)
    exact = run_member(resolved, pool=whole).time_s
    answer, error = predicted(resolved)
    assert len(whole.table) > 8 * work.MEMBER_BLOCKS
    assert abs(answer - exact) <= max(error, 0.05 * exact), (answer / exact - 1, error / exact)
