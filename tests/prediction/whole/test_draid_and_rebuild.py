"""dRAID, distributed spares and sequential rebuilds as a user asks for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.refusals import refuse_what_is_missing
from zsim.case.resolve import resolve
from zsim.drives.catalogue import load_drive
from zsim.engine.model import TO_SPARE
from zsim.prediction.groups import degraded_share
from zsim.prediction.inputs.clients import repaired
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import MemberResult, run_member
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario

DRAID = "draid2:8d:24c:2s"


def resolved(layout: str, **fields: Any) -> Case:
    known = {
        "layout": layout,
        "fill": 0.5,
        "drive_size": "4TB",
        "history": "media-server",
        "load": [],
        "release": "openzfs-2.2",
    }
    return resolve(Scenario.from_dict(known | fields))


def member_of(asked: Case, blocks: int = 3000) -> MemberResult:
    return run_member(asked, pool=miniature(asked, blocks=blocks))


def test_a_failed_drive_of_a_draid_goes_to_its_spare_by_a_rebuild() -> None:
    asked = resolved(DRAID)
    assert (asked.target, asked.operation) == ("distributed-spare", "rebuild")
    assert asked.assumed("target")
    assert asked.assumed("operation")


@pytest.mark.parametrize(
    ("layout", "fields"),
    [
        ("draid2:8d:24c", {}),
        (DRAID, {"new_drive_size": "8TB"}),
        (DRAID, {"old_drive": "online"}),
        (DRAID, {"replace": 2}),
        ("mirror2", {}),
    ],
)
def test_otherwise_the_data_goes_to_a_new_drive_by_a_resilver(layout: str, fields: dict[str, Any]) -> None:
    asked = resolved(layout, **fields)
    assert (asked.target, asked.operation) == ("new-drive", "resilver")


def test_raidz_has_no_rebuild_and_says_so_in_one_sentence() -> None:
    with pytest.raises(InputError, match="RAID-Z has no sequential rebuild"):
        resolved("raidz2x6", operation="rebuild")


def test_two_drives_are_rebuilt_into_two_distributed_spares() -> None:
    """Twice the data is written, and as much more time goes by as there are more groups that miss something.

    Of groups of 6 on 14 drives 6/14 miss one given drive, and 1 - 8 x 7 / (14 x 13) = 69 % one of two.
    """
    two = resolved("draid2:4d:14c:2s", target="distributed-spare", replace=2)
    one = resolved("draid2:4d:14c:2s")
    assert plane_model(two).vdevs[0].write_leaf[:3] == (TO_SPARE, TO_SPARE - 1, -1)
    assert (two.operation, two.new_drives) == ("rebuild", 0)
    refuse_what_is_missing(two)
    first, both = member_of(one), member_of(two)

    def written(result: MemberResult) -> float:
        return float(result.run.leaves["scan_write_bytes"].sum()) * result.scale

    assert written(both) == pytest.approx(2.0 * written(first), rel=0.1)
    assert both.time_s / first.time_s == pytest.approx(0.692 / 0.429, rel=0.15)
    assert (both.run.leaves["scan_read_bytes"][:2] == 0).all()
    whole = repaired(plane_model(two)).vdevs[0].read_leaf
    assert whole[:3] == (TO_SPARE, TO_SPARE - 1, 2)


def test_no_more_drives_are_rebuilt_than_there_are_spares() -> None:
    with pytest.raises(InputError, match="has 2 distributed spares"):
        resolved(DRAID, target="distributed-spare", replace=3)


@pytest.mark.parametrize("failed", [1, 2])
def test_the_degraded_share_is_what_the_permutations_give(failed: int) -> None:
    from zsim.scan.program import DamagedVdev, touched

    spec = Layout.parse("draid2:4d:14c:1s").vdevs[0]
    group = (spec.data + spec.parity) * (16 << 20)
    offsets = np.arange(40_000, dtype=np.int64) * group
    damaged = DamagedVdev("draid", 14, 2, 12, tuple(range(failed)), 4, 1)
    seen = touched(offsets, np.ones_like(offsets), damaged).mean()
    assert degraded_share(spec, failed) == pytest.approx(seen, rel=0.02)


@pytest.mark.parametrize(
    ("layout", "fields"),
    [
        (DRAID, {}),
        (DRAID, {"target": "new-drive", "operation": "rebuild"}),
        ("mirror2", {"operation": "rebuild"}),
    ],
)
def test_a_rebuild_writes_what_was_on_the_drive(layout: str, fields: dict[str, Any]) -> None:
    asked = resolved(layout, **fields)
    result = member_of(asked)
    on_drive = asked.alloc / (24 if layout == DRAID else 1)
    written = float(result.run.leaves["scan_write_bytes"].sum()) * result.scale
    assert written == pytest.approx(on_drive, rel=0.02)


def test_no_drive_is_faster_than_its_platter() -> None:
    """A new drive takes all of a drive's data; into spares each survivor moves its part of the reads."""
    fastest = load_drive("generic-7200rpm-cmr").with_capacity(4 * 10**12).parameters().zone_rates[0]
    asked = resolved(DRAID)
    on_drive = asked.alloc / 24
    spare = member_of(asked)
    moved = on_drive * 10 / 23
    assert spare.time_s > moved / fastest
    drive = member_of(resolved(DRAID, target="new-drive", operation="rebuild"))
    assert drive.time_s > on_drive / fastest
    assert spare.time_s < drive.time_s


@pytest.mark.parametrize("release", ["openzfs-2.2", "openzfs-2.3.9"])
def test_the_time_does_not_depend_on_the_size_of_the_sample(release: str) -> None:
    asked = resolved(DRAID, release=release)
    # As small as a member; one population differs from the next by 4 %.
    small = sum(member_of(replace(asked, seed=seed), 6000).time_s for seed in range(3)) / 3
    large = member_of(asked, 24_000).time_s
    assert small == pytest.approx(large, rel=0.10)


def test_a_rebuild_takes_time_in_proportion_to_what_is_allocated() -> None:
    half, quarter = (member_of(resolved(DRAID, fill=fill)).time_s for fill in (0.5, 0.25))
    assert half / quarter == pytest.approx(2.0, rel=0.15)


def test_a_spare_rebuild_grows_with_the_data_drives_and_a_new_drive_does_not() -> None:
    """The dRAID chart of the OpenZFS documentation: about an hour a data drive, against a flat line."""

    def hours(data: int, target: str) -> float:
        asked = resolved(
            f"draid1:{data}d:90c:1s", fill=1.0, drive_size="16TB", operation="rebuild", target=target,
            release="openzfs-2.1", memory="256G", write_cache=True,
        )  # fmt: skip
        # One population differs from the next by 3 %.
        return sum(member_of(replace(asked, seed=seed), 12_000).time_s for seed in range(3)) / 3 / 3600

    narrow, wide = hours(4, "distributed-spare"), hours(12, "distributed-spare")
    assert 0.6 < (wide - narrow) / 8 < 1.2
    assert hours(4, "new-drive") == pytest.approx(hours(12, "new-drive"), rel=0.05)
    assert hours(12, "new-drive") > 1.8 * wide


def test_only_the_damaged_vdev_repairs() -> None:
    for fields in ({"operation": "rebuild"}, {}):
        asked = resolved("3*mirror2", drive_size="1TB", **fields)
        result = member_of(asked)
        moved = result.run.leaves["scan_write_bytes"] + result.run.leaves["scan_read_bytes"]
        assert moved[1] > 0
        assert moved[6] > 0
        assert (result.run.leaves["scan_write_bytes"][:6] == 0).all()
        alone = member_of(resolved("mirror2", drive_size="1TB", **fields))
        assert result.time_s == pytest.approx(alone.time_s, rel=0.25)


def test_a_repaired_pool_reads_from_the_spare() -> None:
    model = plane_model(resolved(DRAID))
    assert model.vdevs[0].write_leaf[0] == TO_SPARE
    whole = repaired(model)
    assert whole.vdevs[0].read_leaf[0] == TO_SPARE
    assert not whole.vdevs[0].damaged


def test_both_engines_rebuild_alike() -> None:
    asked = resolved("draid1:2d:6c:1s", drive_size="2GB", fill=0.3, release="openzfs-2.1")
    slow = replace(asked, engine="reference")
    pool = miniature(asked, blocks=60)
    times = [run_member(each, pool=pool).time_s for each in (asked, slow)]
    assert times[0] == times[1]
