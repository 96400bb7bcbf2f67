"""Removals at the size of a real pool, and what is refused."""

from __future__ import annotations

import pytest

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.case import worlds
from zsim.case.resolve import resolve
from zsim.prediction.answer.wording import volume
from zsim.prediction.api import predict
from zsim.scenario.model import Scenario
from zsim.scenario.releases.capacity import free_to_remove, pool_size, slop_space
from zsim.scenario.releases.profile import load_release

STATED = {
    "layout": "3*mirror2", "fill": 0.5, "drive": "generic-7200rpm-cmr", "drive_size": "1TB", "load": "none",
    "history": "home-nas", "recordsize": "128K", "release": "openzfs-2.3", "operation": "remove",
}  # fmt: skip


def scenario(**changes: object) -> Scenario:
    return Scenario.from_dict({key: value for key, value in {**STATED, **changes}.items() if value != "none"})


def test_one_vdev_is_read_and_the_others_written() -> None:
    answer = predict(scenario())
    rows = {row.role: row for row in answer.leaves}
    assert rows["source"].count == 2
    assert rows["target"].count == 4
    assert rows["source"].utilisation > 0.9
    # Both sides of half a terabyte, in little more time than reading it takes.
    assert answer.read_bytes == pytest.approx(2 * 0.5e12, rel=0.05)
    assert answer.written_bytes == pytest.approx(answer.read_bytes, rel=0.02)
    assert [phase.name for phase in answer.phases] == ["copying"]
    assert answer.alternatives == ()
    assert answer.advice == ()
    assert "the mapping of moved blocks takes" in volume(answer)
    assert answer.mapping_bytes is not None


def test_fragments_take_longer_and_a_larger_mapping() -> None:
    usual, small = predict(scenario()), predict(scenario(recordsize="16K", history="vm-host"))
    assert small.resilver_s.p50 > 1.5 * usual.resilver_s.p50
    assert (small.mapping_bytes or 0) > 2 * (usual.mapping_bytes or 0) > 0


def test_the_vdev_that_is_removed_can_be_another_one() -> None:
    first, last = (
        predict(scenario(layout="mirror2+mirror2+mirror3", replace_in=each)) for each in ("0", "2")
    )
    assert {row.role: row.count for row in first.leaves} == {"source": 2, "target": 5}
    # The sides of two mirrors are written, so that one of the three is not read.
    assert {row.role: row.count for row in last.leaves} == {"source": 2, "target": 4}


def test_how_much_must_be_free() -> None:
    eldest, old, new = (load_release(f"openzfs-{version}") for version in ("0.8", "2.1", "2.2"))
    layout, terabyte = scenario().pool_layout, 10**12
    assert slop_space(1 << 50, eldest) == 1 << 45
    assert slop_space(1 << 50, new) == 128 << 30
    slop = slop_space(pool_size(layout, terabyte, new), new)
    vdev = pool_size(layout, terabyte, new) // 3
    assert free_to_remove(layout, terabyte, new) == vdev + slop
    assert free_to_remove(layout, terabyte, old) == vdev + 2 * slop


def test_worlds_in_which_it_would_be_refused_are_none() -> None:
    case = resolve(Scenario.from_dict({"layout": "3*mirror2", "fill": 0.4, "operation": "remove"}))
    assert max(float(each.value) for each in worlds.fills(case)) < 2 / 3  # type: ignore[arg-type]
    known = resolve(Scenario.from_dict({"layout": "3*mirror2", "alloc": "5T", "operation": "remove"}))
    sizes = [int(each.value) for each in worlds.drive_sizes(known)]  # type: ignore[call-overload]
    other = resolve(Scenario.from_dict({"layout": "3*mirror2", "alloc": "5T"}))
    assert min(sizes) > min(int(each.value) for each in worlds.drive_sizes(other))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"layout": "mirror2"}, "layout"),
        ({"layout": "2*raidz1x4"}, "layout"),
        ({"layout": "mirror2+raidz1x4"}, "layout"),
        ({"layout": "raidz1x4+mirror2"}, "layout"),
        ({"layout": "2*mirror2"}, "fill"),
        ({"fill": 0.66}, "fill"),
        ({"release": "zol-0.7"}, "operation"),
        ({"replace": 1}, "replace"),
        ({"second_at": 0.5}, "second_at"),
        ({"old_drive": "online"}, "old_drive"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        predict(scenario(**changes))
    assert caught.value.field == field


def test_what_is_not_simulated_is_refused() -> None:
    with pytest.raises(NotSimulatedYet, match="only data vdevs"):
        predict(scenario(layout="2*mirror2+special:mirror2", replace_in="special"))


def test_a_special_vdev_can_be_removed_in_zfs_whatever_else_there_is() -> None:
    """Of a single mirror beside it, what is on it had "to go to another one": it goes to the mirror."""
    with pytest.raises(NotSimulatedYet, match="only data vdevs are removed here; name a data vdev"):
        predict(scenario(layout="mirror2+special:mirror2", replace_in="special"))
