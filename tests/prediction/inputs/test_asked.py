"""What clients read of a pool of which a population has some top-level vdevs only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.prediction.samples import disks
from zsim.case.case import Case
from zsim.prediction.inputs.asked import on_all_vdevs
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.one_tile import run_world

READS = 10
"""A second and vdev."""
BLOCKS, MANY_BLOCKS = 4000, 40_000


def busy(layout: str, vdevs: int, **fields: Any) -> Case:
    load = [{"kind": "random-read", "rate": READS * vdevs}]
    usual = {"history": "home-nas", "write_cache": True, "frag": 0.1, "seed": 3, "load": load}
    return disks(**({"layout": layout} | usual | fields))


def reads_by_vdev(case: Case) -> np.ndarray:
    pool = miniature(case, blocks=BLOCKS)
    assert pool.asked is not None
    data = pool.asked.take(~pool.asked.is_metadata)
    return np.bincount(data.dva_vdev[:, 0], minlength=len(case.layout.vdevs))


def test_each_data_vdev_of_a_large_pool_is_read() -> None:
    found = reads_by_vdev(busy("10*mirror2", 10))
    assert len(found) == 10
    assert found.min() > 0.9 * found.max()


def test_a_file_goes_from_vdev_to_vdev() -> None:
    """A stream read all that is on the simulated vdevs before it came to the others."""
    pool = miniature(busy("16*mirror2", 16), blocks=BLOCKS)
    assert pool.asked is not None
    vdevs = pool.asked.dva_vdev[:, 0]
    for part in np.array_split(vdevs, 8):
        assert np.bincount(part, minlength=16).min() > 0


def test_of_many_vdevs_some_stretches_are_read() -> None:
    case = busy("64*mirror2", 64)
    pool = miniature(case, blocks=BLOCKS)
    assert pool.asked is not None
    data = int((~pool.table.is_metadata).sum())
    found = reads_by_vdev(case)
    assert found.sum() < 4.5 * data
    assert len(found) == 64
    assert found.min() > 0.5 * found.mean()
    whole = pool.table.take(~pool.table.is_metadata)
    order = {
        tuple(row): at for at, row in enumerate(zip(whole.objset, whole.object, whole.blkid, strict=True))
    }
    asked = pool.asked
    places = np.array([order[row] for row in zip(asked.objset, asked.object, asked.blkid, strict=True)])
    assert float(np.mean(np.diff(places) == 1)) > 0.9


def test_vdevs_stand_for_others_of_their_shape() -> None:
    case = busy("6*mirror2+3*raidz1x3", 9)
    pool = miniature(case, blocks=BLOCKS)
    own = np.unique(pool.table.dva_vdev[~pool.table.is_metadata, 0])
    shapes = {case.layout.vdevs[number] for number in own.tolist()}
    found = reads_by_vdev(case)
    expected = {number for number, vdev in enumerate(case.layout.vdevs) if vdev in shapes}
    assert set(np.flatnonzero(found).tolist()) == expected


def test_small_blocks_on_a_special_vdev_are_as_large_a_share_of_a_large_pool() -> None:
    case = busy("8*mirror2+special:mirror2", 8)
    pool = miniature(case, blocks=BLOCKS)
    number = case.layout.vdevs.index(
        next(vdev for vdev in case.layout.vdevs if vdev.alloc_class == "special")
    )
    table = pool.table.take(~pool.table.is_metadata)
    some = np.flatnonzero(np.arange(len(table)) % 7 == 0)
    table.dva_vdev[some, 0] = number
    found = on_all_vdevs(table, case.layout.vdevs)
    share = [float(np.mean(each.dva_vdev[:, 0] == number)) for each in (table, found)]
    assert len(found) == pytest.approx(2 * len(table))
    assert share[0] == pytest.approx(share[1])


def test_a_population_of_all_vdevs_is_what_clients_read() -> None:
    pool = miniature(busy("2*mirror2", 2, load=[]), blocks=BLOCKS)
    assert pool.asked is None
    assert on_all_vdevs(pool.table, busy("2*mirror2", 2).layout.vdevs) is pool.table


@pytest.mark.parametrize(
    ("operation", "few", "many"),
    [("resilver", 4, 16), ("scrub", 4, 16), ("rebuild", 1, 4), ("rebuild", 4, 12), ("remove", 4, 12)],
)
def test_as_many_reads_on_each_vdev_hold_up_pools_of_any_size_alike(
    operation: str, few: int, many: int
) -> None:
    """Seconds beside clients over those without; single runs scatter by some 3 %."""

    def slowed(vdevs: int) -> float:
        layout = f"{vdevs}*mirror2" if vdevs > 1 else "mirror2"
        case = busy(layout, vdevs, operation=operation)
        idle = busy(layout, vdevs, operation=operation, load=[])
        busy_s, idle_s = (run_world(each, MANY_BLOCKS, plane_model).time_s for each in (case, idle))
        return busy_s / idle_s

    assert slowed(many) == pytest.approx(slowed(few), rel=0.1)
    assert slowed(many) > 1.02
