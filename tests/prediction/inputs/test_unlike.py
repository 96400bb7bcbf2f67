"""Scrubs of pools of which some vdevs are simulated: others may be unlike them, or share their links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.prediction.samples import disks
from zsim.case.case import Case
from zsim.engine.model import LinkModel, PlaneModel
from zsim.pool.blocks import BlockTable
from zsim.pool.miniature.shape import _chosen_vdevs
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.inputs.unlike import MOST_UNLIKE, vdevs_apart, with_links_shared
from zsim.prediction.runs.one_tile import run_world

BLOCKS = 9375


def scrub(layout: str, **fields: Any) -> Case:
    usual = {"operation": "scrub", "history": "media-server", "write_cache": True, "load": [], "seed": 3}
    return disks(**({"layout": layout} | usual | fields))


def seconds(layout: str, **fields: Any) -> float:
    return run_world(scrub(layout, **fields), BLOCKS, plane_model).time_s


@pytest.mark.parametrize(
    ("layout", "fields", "found"),
    [
        ("12*mirror2", {}, (0,)),
        ("mirror2", {}, ()),
        ("12*mirror2", {"slow": "21:x4"}, (10, 0)),
        ("12*mirror2", {"attached": "21:usb2"}, (10, 0)),
        ("12*mirror2", {"slow": "21:x4", "operation": "resilver"}, ()),
        ("6*mirror2+raidz1x3", {}, (0, 6)),
        ("6*mirror2+raidz1x3+special:mirror2", {"slow": "9:x2"}, (4, 0, 6)),
        ("8*mirror2", {"fill": None, "vdev_fills": [0.4, 0.4, 0.4, 0.4, 0.4, 0.9, 0.4, 0.4]}, (5,)),
        ("8*mirror2", {"exchanged": "5:mg08aca16"}, (0, 2)),
        ("8*mirror2", {"ports": "port-multiplier-fis:0-3"}, (0, 2)),
    ],
)
def test_vdevs_for_which_no_others_stand(layout: str, fields: dict[str, Any], found: tuple[int, ...]) -> None:
    assert vdevs_apart(scrub(layout, **fields)) == found


def test_no_more_of_them_than_have_enough_blocks() -> None:
    every = [{"drive": 2 * number, "factor": 2.0} for number in range(16)]
    assert vdevs_apart(scrub("16*mirror2", slow=every)) == tuple(range(MOST_UNLIKE))


@pytest.mark.parametrize(
    ("count", "vdev", "most", "wanted", "chosen"),
    [
        (12, 0, 4, (), (0, 3, 6, 9)),
        (12, 0, 4, (10, 0), (0, 3, 6, 10)),
        (12, 5, 4, (5,), (2, 5, 8, 11)),
        (12, 0, 2, (1, 2, 7), (0, 1, 2, 7)),
        (3, 0, 4, (2,), (0, 1, 2)),
    ],
)
def test_wanted_vdevs_take_the_places_of_others(
    count: int, vdev: int, most: int, wanted: tuple[int, ...], chosen: tuple[int, ...]
) -> None:
    assert _chosen_vdevs(count, vdev, most, wanted) == chosen


@pytest.mark.parametrize(
    ("operation", "layout"), [("scrub", "8*mirror2+raidz2x10"), ("resilver", "9*mirror2")]
)
def test_a_pool_holds_what_is_stated_where_each_vdev_holds_as_much_as_its_like(
    operation: str, layout: str
) -> None:
    case = scrub(layout, operation=operation)
    pool = miniature(case, blocks=BLOCKS)
    held = np.bincount(pool.table.dva_vdev[:, 0], pool.table.dva_asize[:, 0], minlength=9)
    extra = [held[number] for number in (8,) if "raidz" in layout]
    mirrors = [each for each in held[: 9 - len(extra)] if each > 0]
    whole = (9 - len(extra)) * float(np.mean(mirrors)) + sum(extra)
    copies = pool.table.dva_asize.sum() / pool.table.dva_asize[:, 0].sum()
    assert pool.scale * whole * copies == pytest.approx(case.alloc, rel=0.02)
    assert not extra or extra[0] > 2.0 * np.mean(mirrors)


def test_what_others_take_of_a_link_is_not_there() -> None:
    """Two of eight drives behind the one half of a box are simulated, of sixteen behind its adapter four."""
    case = scrub("8*mirror2", enclosure="jbod-60")
    model = plane_model(case)
    pool = miniature(case, blocks=BLOCKS)
    table: BlockTable = pool.table
    assert sorted(np.unique(table.dva_vdev[table.dva_vdev >= 0]).tolist()) == [0, 2, 4, 6]
    found = with_links_shared(model, table)

    def behind(plane: PlaneModel, link: LinkModel, lies: set[int]) -> list[bool]:
        number, here = plane.links.index(link), []
        for vdev, each in enumerate(plane.vdevs):
            for leaf in each.read_leaf:
                up = plane.leaves[leaf].link
                while up not in (number, -1):
                    up = plane.links[up].parent
                here += [vdev in lies] if up == number else []
        return here

    for before, after in zip(model.links, found.links, strict=True):
        share = behind(model, before, {0, 2, 4, 6})
        if any(share):
            assert after.rate == pytest.approx(before.rate * np.mean(share))
            assert after.per_command_s == pytest.approx(before.per_command_s / np.mean(share))
        else:
            assert after == before
    whole = scrub("4*mirror2", enclosure="jbod-60")
    assert with_links_shared(plane_model(whole), miniature(whole, blocks=BLOCKS).table) == plane_model(whole)


@pytest.mark.parametrize("release", ["openzfs-2.3", "zol-0.7"])
@pytest.mark.parametrize(("vdevs", "drive"), [(4, 1), (10, 1), (10, 15)])
def test_a_scrub_takes_as_long_as_the_vdev_with_the_slow_drive(vdevs: int, drive: int, release: str) -> None:
    """Each vdev holds as much; the others have long been through."""
    alone = seconds("mirror2", slow="1:x4", release=release)
    assert seconds(f"{vdevs}*mirror2", slow=f"{drive}:x4", release=release) == pytest.approx(alone, rel=0.12)
    assert alone > 3.5 * seconds("mirror2", release=release)


def test_a_scrub_takes_as_long_as_the_fullest_vdev() -> None:
    """Of eight mirrors the sixth is 90 % full, as each of two mirrors is; media rates differ a little."""
    fills = [0.4, 0.4, 0.4, 0.4, 0.4, 0.9, 0.4, 0.4]
    found = seconds("8*mirror2", fill=None, vdev_fills=fills)
    assert found == pytest.approx(seconds("2*mirror2", fill=0.9), rel=0.12)
    case = scrub("8*mirror2", fill=None, vdev_fills=fills)
    pool = miniature(case, blocks=BLOCKS)
    held = np.bincount(pool.table.dva_vdev[:, 0], pool.table.dva_asize[:, 0], minlength=8)
    assert pool.scale * held[5] == pytest.approx(case.alloc * case.data_shares[5], rel=0.04)


def test_a_scrub_collects_on_all_vdevs_and_a_resilver_on_one() -> None:
    pool = miniature(scrub("12*mirror2"), blocks=BLOCKS)
    assert (pool.collected("scrub"), pool.collected("resilver")) == (3.0, 1.0)


def test_a_scrub_of_twice_as_many_vdevs_takes_twice_as_long_where_the_controller_limits_it() -> None:
    few, many = (seconds(f"{vdevs}*mirror2", drive="860-evo-1tb", drive_size=None) for vdevs in (5, 10))
    assert many == pytest.approx(2.0 * few, rel=0.05)
