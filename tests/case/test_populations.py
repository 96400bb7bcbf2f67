"""The population of a case: its own blocks where a list is known, else a miniature by its history."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from tests.pool.conftest import LISTS
from zsim.case.case import Case
from zsim.case.population import populate
from zsim.case.resolve import resolve
from zsim.pool.measured.bps import read_block_list
from zsim.scenario.model import Scenario

RAIDZ = LISTS / "raidz2x6-aged-2.3.9.csv.zst"


def case(**stated: Any) -> Case:
    return resolve(Scenario.from_dict({"layout": "raidz2x6", "drive_size": 1 << 30, **stated}))


def test_a_list_of_blocks_is_the_population() -> None:
    known, real = case(block_list=str(RAIDZ)), read_block_list(RAIDZ).table
    found = populate(known, max_blocks=10 * len(real))
    assert found.miniature.scale == 1.0
    assert np.array_equal(np.sort(found.miniature.table.dva_offset[:, 0]), np.sort(real.dva_offset[:, 0]))
    assert found.miniature.recipe.vdevs == known.vdevs
    assert found.miniature.vdevs == (0,)
    assert known.alloc == real.allocated_bytes
    assert found.fill == known.fill == known.alloc / known.pool_size
    assert found.rounds == 0.0
    assert math.isnan(found.frag), "a list does not say it"
    assert not {"fill", "frag", "history", "recordsize"} & {each.field for each in known.assumptions}


def test_of_a_long_list_windows_stand_for_it() -> None:
    known = case(block_list=str(RAIDZ))
    found = populate(known, max_blocks=1500)
    (vdev,) = found.miniature.recipe.vdevs
    assert len(found.miniature.table) < 2500
    assert found.miniature.scale > 1.5
    assert vdev.stands_for == known.vdevs[0].slab_bytes > vdev.slab_bytes
    assert len(vdev.starts) == vdev.slab_count


def test_a_miniature_has_the_fill_the_records_and_the_seed_of_its_case() -> None:
    known = case(fill=0.4, recordsize="64K", history="media-server", seed=5)
    found = populate(known, max_blocks=1500)
    data = found.miniature.table.take(~found.miniature.table.is_metadata)
    assert abs(found.fill - 0.4) < 0.03
    assert data.lsize.max() == 64 << 10
    again, other = populate(known, max_blocks=1500), populate(replace(known, seed=6), max_blocks=1500)
    assert np.array_equal(found.miniature.table.dva_offset, again.miniature.table.dva_offset)
    assert len(other.miniature.table) != len(again.miniature.table) or not np.array_equal(
        other.miniature.table.dva_offset, again.miniature.table.dva_offset
    )
