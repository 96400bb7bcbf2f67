"""Where on the drives the data of a miniature lie: where those of the pool do that is built whole."""

from __future__ import annotations

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.prediction.inputs.population import pool_miniature
from zsim.scenario.model import Scenario

GB = 10**9
WHOLE = 10**9
"""Blocks: more than any of these pools has."""


def mean_place(fields: dict[str, object], blocks: int, seed: int) -> float:
    """Return the mean address of the records, as a share of the vdev."""
    case = resolve(Scenario.from_dict({"drive": "st4000vn008", "load": (), "seed": seed, **fields}))
    table = pool_miniature(case, blocks=blocks)[0].table
    records = table.take(~table.is_metadata & (table.dva_vdev[:, 0] == 0))
    place = np.average(records.dva_offset[:, 0], weights=records.dva_asize[:, 0])
    return float(place / (case.vdevs[0].slab_bytes * case.vdevs[0].slab_count))


def assert_as_whole(fields: dict[str, object], within: float) -> None:
    whole = mean_place(fields, WHOLE, 1)
    for blocks in (9_375, 75_000):
        found = [mean_place(fields, blocks, seed) for seed in range(6)]
        assert np.mean(found) == pytest.approx(whole, abs=within), blocks


def test_data_written_once_lie_where_the_allocator_of_the_whole_pool_puts_them() -> None:
    fields: dict[str, object] = {"layout": "raidz1x5", "history": "write-once-archive", "fill": 0.5}
    # 0.35; of 75,000 blocks 0.49 where too few third copies of the MOS are written.
    assert_as_whole({**fields, "drive_size": 250 * GB}, 0.06)


@pytest.mark.slow
@pytest.mark.parametrize("release", ["openzfs-2.3", "openzfs-2.1", "openzfs-0.8"])
@pytest.mark.parametrize("layout", ["raidz2x6", "mirror2", "2*mirror2"])
@pytest.mark.parametrize("history", ["home-nas", "write-once-archive", "backup-target"])
@pytest.mark.parametrize("fill", [0.3, 0.6])
def test_other_data_too(release: str, layout: str, history: str, fill: float) -> None:
    fields: dict[str, object] = {"layout": layout, "history": history, "fill": fill, "release": release}
    assert_as_whole({**fields, "drive_size": 120 * GB}, 0.06)
