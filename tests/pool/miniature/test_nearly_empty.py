"""Large pools with next to nothing on them: small files, less than a few transaction groups."""

import pytest

from zsim.pool.miniature.ageing import aged_pool
from zsim.pool.miniature.shape import LEAST_TXGS, MiniatureSize
from zsim.pool.simulator.files import expansion
from zsim.prediction.api import case_of, predict
from zsim.scenario.model import Scenario

SMALL = {"layout": "40*mirror2", "drive_size": "4TB", "recordsize": 16384}


@pytest.mark.parametrize(
    "more",
    [
        {"fill": 0.01, "release": "openzfs-2.3", "history": "maildir"},
        {"fill": 0.01, "release": "zol-0.7", "history": "small-files", "layout": "10*raidz2x8", "ashift": 9},
        {"fill": 0.001, "history": "small-files", "layout": "80*disk", "operation": "scrub"},
    ],
)  # fmt: skip
def test_eighty_drives_of_small_files_are_answered(more):
    answer = predict(Scenario.from_dict(SMALL | more)).resilver_s
    assert 0.0 < answer.p10 <= answer.p50 <= answer.p90


@pytest.mark.parametrize("layout", ["mirror2", "raidz2x6", "draid2:8d:41c:2s"])
@pytest.mark.parametrize("fill", [0.0001, 0.005, 0.02])
def test_the_last_txg_takes_a_pool_little_beyond_its_fill(layout, fill):
    case = case_of(Scenario(layout=layout, fill=fill, history="maildir", drive_size="64GB"))
    pool = aged_pool(case.history, case.empty_pool, fill, size=MiniatureSize(5000))
    recipe = pool.miniature.recipe
    assert recipe.txg_bytes * expansion(recipe) * LEAST_TXGS <= fill * recipe.space
    assert fill <= pool.fill < 1.12 * fill
