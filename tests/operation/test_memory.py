"""What a run takes in memory is given back with it, without waiting for the collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.operation.run import Run, WholeWork
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import whole_setup
from zsim.prediction.runs.one_tile import tile_run, whole_plan
from zsim.scenario.model import Scenario


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def case_of(layout: str, release: str, operation: str) -> Case:
    stated = {"layout": layout, "fill": 0.4, "drive_size": "60GB", "release": release, "operation": operation}
    return resolve(Scenario.from_dict(stated))


def run_of(layout: str, release: str, operation: str) -> Run:
    case = case_of(layout, release, operation)
    return Run(whole_setup(case, miniature(case, blocks=1_000).table, plane_model(case)))


def large_of(run: Run) -> list[weakref.ref[Any]]:
    """Return what a run holds that is large, without holding it."""
    assert isinstance(run.work, WholeWork)
    return [
        weakref.ref(run.work.blocks.walk.item),
        weakref.ref(run.setup.blocks.psize),
        weakref.ref(run.plane),
    ]


@pytest.mark.parametrize(
    ("layout", "release", "operation"),
    [
        ("raidz1x3", "zol-0.7.13", "resilver"),
        ("raidz1x3", "openzfs-2.3", "resilver"),
        ("mirror2", "openzfs-2.3", "scrub"),
        ("mirror2", "openzfs-2.3", "rebuild"),
    ],
)
def test_a_run_that_is_done_leaves_nothing_behind(layout: str, release: str, operation: str) -> None:
    run = run_of(layout, release, operation)
    large = large_of(run)
    result = run.finish()
    del run
    assert result.end > 0
    assert [each() for each in large] == [None] * len(large)


@pytest.mark.parametrize("release", ["zol-0.7.13", "openzfs-2.3"])
def test_a_tile_that_is_done_leaves_nothing_behind(release: str) -> None:
    case = case_of("raidz1x3", release, "resilver")
    pool = miniature(case, blocks=1_000)
    run = tile_run(case, plane_model(case), pool, whole_plan(case, pool))
    large: list[weakref.ref[Any]] = [weakref.ref(pool.table.psize), weakref.ref(run.plane)]
    run.finish()
    assert run.time_s > 0
    del run, pool
    assert [each() for each in large] == [None] * len(large)


@pytest.mark.parametrize(
    ("layout", "release", "operation"),
    [
        ("raidz1x3", "zol-0.7.13", "resilver"),
        ("mirror2", "openzfs-2.3", "resilver"),
        ("mirror2", "openzfs-2.3", "rebuild"),
    ],
)
def test_a_run_that_is_broken_off_leaves_nothing_behind(layout: str, release: str, operation: str) -> None:
    run = run_of(layout, release, operation)
    large = large_of(run)
    result = run.execute_for(0.5)
    run.release()
    del run
    assert 0 < result.end < 1
    assert [each() for each in large] == [None] * len(large)
