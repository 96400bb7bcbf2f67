"""Of small pools the worlds near the median are run on tiles as large as those of an exact run."""

from __future__ import annotations

import pytest

from zsim.prediction.api import case_of
from zsim.prediction.exact.run import TILE_BLOCKS, ExactRun
from zsim.prediction.runs.middle_world import SMALL_TILE_BLOCKS, middle_world
from zsim.scenario.model import Scenario


def test_a_pool_of_few_tiles_is_sampled_in_large_ones() -> None:
    fields = {"layout": "mirror2", "fill": 0.6, "history": "home-nas", "load": []}
    small = middle_world(case_of(Scenario.from_dict({**fields, "drive_size": "40GB"})))
    large = middle_world(case_of(Scenario.from_dict({**fields, "drive_size": "4TB"})))
    assert small is not None
    assert large is not None
    assert (small.in_tiles, small.blocks) == (True, TILE_BLOCKS)
    assert (large.in_tiles, large.blocks) == (True, SMALL_TILE_BLOCKS)


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
