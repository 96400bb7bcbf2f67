"""Pools that were aged lately are kept, whole and as they were."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import numpy as np
import pytest

from zsim.pool.blocks import BlockTable
from zsim.pool.miniature import ageing
from zsim.prediction.api import case_of, predict_case
from zsim.prediction.inputs.population import pool_miniature
from zsim.scenario.model import Scenario

STATED = {"layout": "raidz1x4", "fill": 0.4, "drive_size": "1TB", "history": "vm-host"}


@pytest.fixture(autouse=True)
def runs(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nothing kept at first; the fills of the histories that are run."""
    found: list[float] = []
    aged = ageing._aged
    monkeypatch.setattr(ageing, "_aged", lambda run: found.append(run.fill) or aged(run))
    monkeypatch.setattr(ageing, "_kept", type(ageing._kept)())
    return found


@pytest.mark.parametrize("changes", [{}, {"frag": 0.3}, {"operation": "scrub"}, {"operation": "rebuild"}])
def test_predictions_leave_the_pools_as_they_were(changes: dict[str, object], runs: list[float]) -> None:
    stated = {**STATED, "layout": "mirror2", **changes}
    first = predict_case(case_of(Scenario.from_dict(stated)), portion="row")
    ran = len(runs)
    assert ran > 0
    again = predict_case(case_of(Scenario.from_dict(stated)), portion="row")
    assert len(runs) == ran
    assert again.model_dump() == first.model_dump()


def test_a_pool_is_run_again_where_anything_about_it_differs(runs: list[float]) -> None:
    case = case_of(Scenario.from_dict(STATED))
    first, _ = pool_miniature(case, blocks=2_000)
    for other in (
        case,
        replace(case, memory=case.memory * 2),
        case_of(Scenario.from_dict({**STATED, "tunables": {"zfs_vdev_scrub_max_active": 7}})),
    ):
        again = pool_miniature(other, blocks=2_000)[0]
        assert replace(again, table=first.table) == first
        assert not _differ(again.table, first.table)
    assert len(runs) == 1
    for number, other in enumerate((replace(case, seed=5), replace(case, fill=0.41)), 2):
        table = pool_miniature(other, blocks=2_000)[0].table
        assert _differ(table, first.table)
        assert len(runs) == number


def _differ(left: BlockTable, right: BlockTable) -> list[str]:
    """Return the columns that differ, in what they hold or in its type."""
    names = [each.name for each in fields(left)]
    pairs = [(name, getattr(left, name), getattr(right, name)) for name in names]
    return [name for name, one, other in pairs if one.dtype != other.dtype or not np.array_equal(one, other)]


def test_what_is_kept_takes_a_third_of_the_memory(runs: list[float]) -> None:
    del runs
    for scenario in (
        STATED,
        {**STATED, "layout": "2*mirror2", "history": "home-nas", "release": "zol-0.7.13"},
    ):
        table = pool_miniature(case_of(Scenario.from_dict(scenario)), blocks=5_000)[0].table
        (kept,) = ageing._kept.values()
        assert kept.blocks.nbytes < sum(getattr(table, each.name).nbytes for each in fields(table)) / 2.6
        assert not _differ(kept.blocks.table(), table)
        ageing._kept.clear()


def test_few_are_kept_and_none_that_is_large(runs: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ageing, "MOST_KEPT", 2)
    monkeypatch.setattr(ageing, "_leaving", random.Random(0))
    case = case_of(Scenario.from_dict(STATED))
    for seed, ran in ((1, 1), (2, 2), (1, 2), (2, 2), (3, 3), (3, 3)):
        pool_miniature(replace(case, seed=seed), blocks=2_000)
        assert len(runs) == ran
    assert len(ageing._kept) == 2
    # Where more than a pool's blocks are too many together, but one is kept.
    monkeypatch.setattr(ageing, "MOST_TOGETHER", len(pool_miniature(case, blocks=2_000)[0].table) * 3 // 2)
    runs.clear()
    for seed in (7, 8, 8, 7):
        pool_miniature(replace(case, seed=seed), blocks=2_000)
    assert len(runs) == 3
    runs.clear()
    monkeypatch.setattr(ageing, "MOST_BLOCKS_KEPT", 1)
    pool_miniature(replace(case, seed=9), blocks=2_000)
    pool_miniature(replace(case, seed=9), blocks=2_000)
    assert len(runs) == 2


def test_pools_that_come_round_in_one_order_are_kept_in_part(
    runs: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its load, a prediction asks for the same pools again, and first for those used longest ago."""
    monkeypatch.setattr(ageing, "MOST_KEPT", 5)
    monkeypatch.setattr(ageing, "_leaving", random.Random(0))
    case = case_of(Scenario.from_dict(STATED))
    for seed in (*range(6), *range(6)):
        pool_miniature(replace(case, seed=seed), blocks=1_000)
    assert 6 < len(runs) <= 9
    for seed in range(10, 40):
        pool_miniature(replace(case, seed=seed), blocks=1_000)
    assert not {run.seed for run in ageing._kept} & set(range(6))


def test_a_history_that_finds_no_room_is_not_run_again(
    runs: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ageing, "_found_no_room", {})
    monkeypatch.setattr(ageing, "MOST_KEPT", 40)
    full = case_of(Scenario.from_dict({**STATED, "history": "maildir", "fill": 0.97, "drive_size": "2GB"}))
    first, note = pool_miniature(full, blocks=2_000)
    ran = len(runs)
    assert "beyond that, blocks have to be split" in note
    assert ran > 1
    again, same = pool_miniature(full, blocks=2_000)
    assert (len(runs), same) == (ran, note)
    # What was written in vain counts as work, whether it is known already or not.
    assert again.written == first.written > 2 * len(first.table)
    assert not _differ(again.table, first.table)
    # Few are remembered: the oldest is run again.
    monkeypatch.setattr(ageing, "MOST_KEPT", 0)
    pool_miniature(replace(full, seed=9), blocks=2_000)
    assert not ageing._found_no_room
