"""Populations of pools that were expanded: which blocks have the old width, and where they lie."""

from __future__ import annotations

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.prediction.inputs.population import miniature
from zsim.scan.program import DamagedVdev, columns_of
from zsim.scenario.model import Scenario
from zsim.vdevs.arrays import fits_on


def population(layout: str, fill: float, **stated: object):  # type: ignore[no-untyped-def]
    """Return vdev, blocks and data columns (0: as new) of each."""
    given = {
        "layout": layout, "fill": fill, "drive": "generic-7200rpm-cmr", "drive_size": "4TB",
        "history": "home-nas", "recordsize": "128K", "release": "openzfs-2.3",
    }  # fmt: skip
    case = resolve(Scenario.from_dict(given | stated))
    vdev, table = case.layout.vdevs[0], miniature(case, blocks=4_000).table
    damaged = DamagedVdev(vdev.kind, vdev.children, vdev.parity, 12, (0,), vdev.data, 0, vdev.grown)
    return vdev, table, columns_of(table, (damaged,))[:, 0]


def share_of_old(table, columns) -> float:  # type: ignore[no-untyped-def]
    data = ~table.is_metadata
    asize = table.dva_asize[data, 0]
    return float(asize[columns[data] > 0].sum() / asize.sum())


def test_nothing_written_since_is_all_old_and_in_the_old_space() -> None:
    vdev, table, columns = population("raidz1x4+1", 0.4)
    assert share_of_old(table, columns) == 1.0
    assert table.dva_offset[:, 0].max() < 0.8 * 4e12 * vdev.children
    assert fits_on(vdev, table.psize, table.dva_asize[:, 0], 12).all()


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_a_share_that_was_rewritten_has_the_new_width(share: float) -> None:
    vdev, table, columns = population("raidz1x4+1", 0.4, rewritten=share)
    assert share_of_old(table, columns) == pytest.approx(1 - share, abs=0.08)
    assert fits_on(vdev, table.psize, table.dva_asize[:, 0], 12).all()
    end = table.dva_offset[:, 0] + table.dva_asize[:, 0]
    order = np.argsort(table.dva_offset[:, 0])
    assert (end[order][:-1] <= table.dva_offset[order, 0][1:]).all()


def test_a_pool_that_holds_more_than_the_old_drives_was_expanded_on_the_way() -> None:
    _, table, columns = population("raidz1x4+1", 0.75)
    assert 0.3 < share_of_old(table, columns) < 0.9
    assert table.dva_offset[:, 0].max() > 0.85 * 4e12 * 5
