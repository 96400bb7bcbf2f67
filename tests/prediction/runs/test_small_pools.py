"""Of pools of few blocks the worlds near the median are run whole, as an exact run is, or on large tiles."""

from __future__ import annotations

import pytest

from zsim.prediction.api import case_of
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.inputs.population import TILE_BLOCKS, WHOLE_BLOCKS
from zsim.prediction.runs.middle_world import SMALL_TILE_BLOCKS, middle_world
from zsim.scenario.model import Scenario


@pytest.mark.parametrize(
    ("drive_size", "in_tiles", "whole", "tiled", "blocks"),
    [
        ("20GB", False, True, False, None),  # 130,000 blocks
        ("20GB", True, False, True, TILE_BLOCKS),
        ("200GB", False, False, True, TILE_BLOCKS),
        ("4TB", False, False, True, SMALL_TILE_BLOCKS),
    ],
)
def test_a_pool_of_few_blocks_is_run_whole_and_one_of_few_tiles_in_large_ones(
    drive_size: str, in_tiles: bool, whole: bool, tiled: bool, blocks: int | None
) -> None:
    fields = {"layout": "mirror2", "fill": 0.6, "history": "home-nas", "load": [], "drive_size": drive_size}
    made = middle_world(case_of(Scenario.from_dict(fields)), in_tiles=in_tiles)
    assert made is not None
    assert (made.whole, made.in_tiles) == (whole, tiled)
    assert made.blocks == (blocks or len(made.pool.table))
    if whole:
        assert TILE_BLOCKS < made.blocks < WHOLE_BLOCKS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "drive_size", "fill"),
    [("mirror2", "40GB", 0.6), ("raidz2x6", "20GB", 0.5), ("raidz1x4", "100GB", 0.3)],
)
def test_the_world_in_the_middle_takes_as_long_as_the_exact_run(
    layout: str, drive_size: str, fill: float
) -> None:
    stated = {
        "layout": layout, "drive_size": drive_size, "fill": fill, "history": "home-nas", "load": [],
        "write_cache": True, "drive": "generic-7200rpm-cmr", "recordsize": "128K",
    }  # fmt: skip
    asked = case_of(Scenario.from_dict(stated))
    exact = ExactRun(asked, lambda share, what: None).execute().time_s
    middle = middle_world(asked)
    assert middle is not None
    middle.execute()
    assert middle.time_s == pytest.approx(exact, rel=0.02)
