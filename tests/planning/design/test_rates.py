"""Upper bounds of what the drives of a layout deliver, by hand; how much data a layout holds."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.drives.derived import random_service, sequential_rate
from zsim.planning.design.rates import rates
from zsim.planning.usable import (
    alloc_of,
    data_bytes,
    data_share,
    one_vdev,
    repeated_for_drives,
    repeated_for_usable,
    stated_usable_bytes,
    usable_bytes,
)
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario

KIB, TB = 1 << 10, 10**12


def case(layout: str, **stated: Any) -> Case:
    known = {"layout": layout, "fill": 0.5, "drive_size": "4TB", "recordsize": "128K", "ashift": 12}
    return resolve(Scenario.from_dict({**known, **stated}))


@pytest.mark.parametrize(
    ("layout", "read", "degraded", "written"),
    [
        ("mirror2", 2, 1, 1),  # every side reads; all write the same
        ("mirror3", 3, 2, 1),
        ("raidz1x5", 4, 4 * 4 / 5, 4),  # a fifth of what each drive passes is parity
        ("raidz2x6", 4, 5 * 4 / 6, 4),
        ("3*raidz2x6", 12, 8 + 5 * 4 / 6, 12),
        ("2*mirror2", 4, 3, 2),
    ],
)
def test_streams_have_the_rate_of_the_drives_that_hold_data(
    layout: str, read: float, degraded: float, written: float
) -> None:
    known = case(layout)
    one = sequential_rate(known.drive.parameters(), 0.0, 0.5)
    found = rates(known)
    assert found["read_rate"] / one == pytest.approx(read)
    assert found["read_rate_degraded"] / one == pytest.approx(degraded)
    assert found["write_rate"] / one == pytest.approx(written)


def test_distributed_spares_are_not_written() -> None:
    """Of 24 drives two are spare space, and of each ten columns eight are data."""
    known = case("draid2:8d:24c:2s")
    one = sequential_rate(known.drive.parameters(), 0.0, 0.5)
    assert rates(known)["write_rate"] / one == pytest.approx(22 * 8 / 10)


@pytest.mark.parametrize(
    ("layout", "recordsize", "columns", "size"),
    [
        ("raidz2x6", "128K", 4, 32 * KIB),
        ("raidz2x6", "8K", 2, 4 * KIB),  # two sectors: two columns
        ("raidz1x4", "128K", 3, 43_691),  # a third of it, rounded up
        ("mirror2", "128K", 1, 128 * KIB),
    ],
)
def test_a_random_read_keeps_a_drive_for_each_data_column_busy(
    layout: str, recordsize: str, columns: int, size: int
) -> None:
    known = case(layout, recordsize=recordsize)
    each = 1.0 / random_service(known.drive.parameters(), size, 0.0, 0.5)
    children = known.layout.data[0].children
    found = rates(known)
    assert found["random_reads"] == pytest.approx(children / columns * each)
    assert found["random_reads_degraded"] == pytest.approx((children - 1) / columns * each)
    both = rates(case(f"2*{layout}", recordsize=recordsize))
    assert both["random_reads"] == pytest.approx(2 * found["random_reads"])
    assert both["random_reads_degraded"] == pytest.approx(
        found["random_reads"] + found["random_reads_degraded"]
    )


def test_a_nearly_empty_pool_is_taken_to_span_a_twentieth_of_its_drives() -> None:
    assert rates(case("mirror2", fill=0.001)) == rates(case("mirror2", fill=0.05))
    assert rates(case("mirror2", fill=0.001))["read_rate"] > rates(case("mirror2", fill=0.06))["read_rate"]


def test_a_solid_state_drive_reads_at_its_latency_and_rate() -> None:
    known = case("mirror2", drive="generic-sata-ssd", drive_size="1TB")
    drive = known.drive.parameters()
    service = drive.read_overhead_s + 128 * KIB / sequential_rate(drive, 0.0, 0.5)
    assert rates(known)["random_reads"] == pytest.approx(2 / service)


@pytest.mark.parametrize(
    ("layout", "ashift", "recordsize", "share"),
    [
        # vdev_raidz_asize against 128K records, by which `zpool list` and `zfs list` differ.
        ("raidz2x6", 12, 128 * KIB, 32 / 48),  # 32 data and 16 parity sectors, a multiple of 3
        ("raidz1x5", 12, 128 * KIB, 32 / 40),
        ("raidz1x4", 12, 128 * KIB, 32 / 44),  # 32 and 11 sectors, 43 padded to 44
        ("raidz2x6", 9, 128 * KIB, 256 / 384),
        ("raidz2x6", 12, 4 * KIB, 1 / 3),
        ("raidz2x6", 12, 8 * KIB, 2 / 6),  # 2 and 2, padded from 4 to 6
        ("mirror3", 12, 128 * KIB, 1.0),
    ],
)
def test_the_share_of_raw_space_that_is_data(layout: str, ashift: int, recordsize: int, share: float) -> None:
    assert data_share(Layout.parse(layout).vdevs[0], recordsize, ashift) == pytest.approx(share)


def test_usable_space_is_that_of_the_data_vdevs_less_what_zfs_keeps_free() -> None:
    """A thirty-second of the space, and from 2.0 on no more than 128 GiB: what `zfs list` shows as AVAIL."""
    one = usable_bytes(case("raidz2x6"))
    whole = case("raidz2x6").pool_size * 2 / 3
    assert one == pytest.approx(whole - 128 * 2**30, abs=3)
    assert usable_bytes(case("3*raidz2x6")) == pytest.approx(3 * whole - 128 * 2**30, abs=3)
    assert usable_bytes(case("raidz2x6+log:disk")) == one
    old = resolve({"layout": "raidz2x6", "drive_size": "4TB", "release": "0.7.13"})
    assert usable_bytes(old) == pytest.approx(old.pool_size * 2 / 3 * 31 / 32, abs=3)
    small = resolve({"layout": "mirror2", "drive_size": "2TB"})
    assert usable_bytes(small) / 2**40 == pytest.approx(1.76, abs=0.01), "as every mirror of 2 TB shows"
    # ZFS counts by records of 128 KiB, whatever size there is: larger ones take less beside the data.
    large = resolve({"layout": "raidz1x5", "drive_size": "4TB", "recordsize": "1M"})
    kept = 128 * 2**30 / (large.pool_size * 0.8)
    assert usable_bytes(large) == pytest.approx(large.pool_size * 256 / 320 * (1 - kept), rel=1e-3)
    assert data_bytes(small) == pytest.approx(0.5 * small.pool_size, abs=1), "half full, slop or not"


def test_space_is_told_only_of_drives_whose_size_is_known() -> None:
    known = resolve(Scenario.from_dict({"layout": "mirror2", "drive": "wd40efrx"}))
    assert stated_usable_bytes(known) == usable_bytes(known)
    assert stated_usable_bytes(case("mirror2")) == usable_bytes(case("mirror2"))
    assert stated_usable_bytes(resolve(Scenario.from_dict({"layout": "mirror2"}))) is None


def test_what_data_allocate() -> None:
    """ALLOC counts parity and padding: a raidz2x6 allocates half as much again."""
    known = case("raidz2x6")
    assert alloc_of(known, 4 * TB) == pytest.approx(6 * TB, rel=0.01)
    room = usable_bytes(known)
    assert alloc_of(known, room) == pytest.approx(known.pool_size - 1.5 * 128 * 2**30, abs=3)
    with pytest.raises(InputError, match="give more or larger drives"):
        alloc_of(known, room + 1)


def test_a_vdev_is_repeated_as_often_as_drives_or_data_ask_for() -> None:
    layout = Layout.parse("3*raidz2x6")
    assert str(one_vdev(layout)) == "raidz2x6"
    assert [str(repeated_for_drives(layout, drives)) for drives in (6, 11, 12, 13)] == [
        "raidz2x6", "raidz2x6", "2*raidz2x6", "2*raidz2x6",
    ]  # fmt: skip
    with pytest.raises(InputError, match="needs 6 drives"):
        repeated_for_drives(layout, 5)
    with pytest.raises(InputError, match="name one vdev"):
        one_vdev(Layout.parse("raidz2x6+mirror2"))
    known = case("raidz2x6")
    room = usable_bytes(known)
    two = usable_bytes(case("2*raidz2x6"))
    wanted = {
        1: "raidz2x6",
        room: "raidz2x6",
        room + 1: "2*raidz2x6",
        two: "2*raidz2x6",
        two + 1: "3*raidz2x6",
    }
    assert {each: str(repeated_for_usable(known, each)) for each in wanted} == wanted
