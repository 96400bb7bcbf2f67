"""A drive of a special vdev is replaced: what lies there is a thousandth of the pool."""

from __future__ import annotations

import pytest

from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import in_world
from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import MOST_BLOCKS, REPAIRED_BYTES, miniature
from zsim.prediction.runs.one_tile import run_pool
from zsim.scenario.model import Scenario


def world(history: str, order: str, **fields: object) -> Case:
    known = {
        "layout": "raidz2x6+special:mirror2", "drive": "generic-7200rpm-cmr",
        "drive_size": "8TB", "fill": 0.6, "replace_in": "special", "special_drive": "generic-nvme-ssd",
        "special_drive_size": "1TB",
    }  # fmt: skip
    stated = Scenario.from_dict(known | fields | {"history": history, "order": order})
    return in_world(case_of(stated), Member())


def seconds(case: Case, blocks: int) -> float:
    return run_pool(case, miniature(case, blocks=blocks), plane_model(case)).time_s


@pytest.mark.parametrize("history", ["home-nas", "small-files"])
@pytest.mark.parametrize("order", ["sorted", "legacy"])
def test_a_small_population_tells_what_a_large_one_does(history: str, order: str) -> None:
    """A legacy resilver took 26 ms for 2 min: all it had to repair fitted into what may be under way."""
    case = world(history, order)
    assert seconds(case, 5_000) == pytest.approx(seconds(case, MOST_BLOCKS), rel=0.3)


def test_enough_lies_on_the_special_vdev() -> None:
    case = world("small-files", "sorted")
    held = miniature(case, blocks=5_000).table
    assert held.dva_asize[held.dva_vdev == 0].sum() > 0.7 * REPAIRED_BYTES
    disks = world("small-files", "sorted", replace_in=0)
    assert len(miniature(disks, blocks=5_000).table) < 10_000
