"""What nothing names or bounds is said first, with the flag that settles it."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.case.case import Case
from zsim.prediction import missing as said_first
from zsim.prediction.api import case_of
from zsim.prediction.inputs import scan_memory
from zsim.prediction.inputs.ensemble import unknowns
from zsim.prediction.missing import (
    missing,
    missing_of_all,
    missing_ports,
    record_sizes,
    record_span,
)
from zsim.scan.sorted import DVA_BYTES, SIO_BYTES
from zsim.scenario.model import Scenario

KIB, MIB = 1 << 10, 1 << 20


def case(**stated: Any) -> Case:
    return case_of(Scenario.from_dict({"layout": "raidz2x6", **stated}))


def said(**stated: Any) -> list[str]:
    """Return which of the three are said to be missing."""
    known = case(**stated)
    words = {"the size": "size", "how full": "fill", "the record": "records"}
    return [words[" ".join(each.split()[:2])] for each in missing(known, unknowns(known))]


@pytest.mark.parametrize(
    ("stated", "left"),
    [
        ({}, ["size", "fill", "records"]),
        ({"drive_size": "4TB"}, ["fill", "records"]),
        ({"fill": 0.5}, ["size", "records"]),
        ({"fill": 0.5, "drive_size": "4TB"}, []),  # sizes of records alone are said in the table of inputs
        ({"fill": 0.5, "recordsize": "1M"}, ["size"]),
        ({"fill": 0.5, "history": "vm-host"}, ["size"]),
        ({"alloc": "6T", "drive_size": "4TB"}, []),
    ],
)
def test_what_is_stated_is_not_missing(stated: dict[str, Any], left: list[str]) -> None:
    assert said(**stated) == left


def test_each_names_its_flag_and_the_span_that_is_sampled() -> None:
    known = case()
    size, fill, records = missing(known, unknowns(known))
    assert size.endswith(": give --drive or --drive-size)")
    assert fill.endswith(": give --alloc or --fill)")
    assert records.endswith(f"(sampled, {record_span(known)}: give --history or --recordsize)")
    assert all("sampled, " in each and " to " in each for each in (size, fill, records))


def test_an_exact_run_says_what_it_took() -> None:
    known = case(exact=True, alloc="40G")
    (size,) = missing(known, unknowns(known)) or ("",)
    assert size == "the size of the drives (default used: 4 TB: give --drive or --drive-size)"
    fill = case(exact=True, drive_size="20GB")
    (full,) = missing(fill, unknowns(fill))
    assert full.startswith("how full the pool is (default used: ")


def test_of_several_scenarios_only_what_all_leave_out_is_missing() -> None:
    both = case(), case(layout="mirror2")
    assert missing_of_all(both) == missing(both[0], unknowns(both[0]))
    one = missing_of_all([case(), case(drive_size="4TB")])
    assert [each.split(" (")[0] for each in one] == ["how full the pool is", "the record sizes"]
    assert missing_of_all([case(), case(drive_size="4TB", fill=0.5)]) == ()
    assert missing_of_all([]) == ()


def test_records_are_as_large_as_the_release_and_the_pool_allow() -> None:
    """Large blocks came with the feature large_blocks: to FreeBSD 9.1 no record is above 128K."""
    new, old = case(), case(release="freebsd-9.1")
    assert record_sizes(new) == sorted(set(record_sizes(new)))
    assert max(record_sizes(new)) > 128 * KIB
    assert max(record_sizes(old)) == 128 * KIB
    assert set(record_sizes(old)) == {min(size, 128 * KIB) for size in record_sizes(new)}


def test_a_stated_use_has_its_own_records() -> None:
    stated = case(history="vm-host", fill=0.5)
    own = {kind.recordsize for kind in stated.history.records}
    assert set(record_sizes(stated)) == {min(size, stated.largest_record) for size in own}
    assert set(record_sizes(stated)) <= set(record_sizes(case()))
    assert record_sizes(case(), stated.history) == record_sizes(stated)


def test_one_size_is_no_span() -> None:
    stated = case(history="vm-host", fill=0.5)
    assert (" to " in record_span(stated)) is (len(record_sizes(stated)) > 1)
    assert record_span(case()).count(" to ") == 1


@pytest.mark.parametrize(
    ("stated", "vdevs"),
    [
        ({}, 1), ({"layout": "3*raidz2x6"}, 3), ({"layout": "3*raidz2x6", "operation": "scrub"}, 1),
        ({"layout": "3*raidz2x6", "memory": "64G"}, None), ({"release": "zol-0.7"}, None),
        ({"layout": "mirror2", "operation": "rebuild"}, None),
    ],
)  # fmt: skip
def test_a_sorted_scan_that_needs_more_memory_than_is_common_says_how_much(
    monkeypatch: pytest.MonkeyPatch, stated: dict[str, Any], vdevs: int | None
) -> None:
    """Records of 16 KiB take 32 with their parity; of 3 TiB each vdev that is repaired has as many."""
    monkeypatch.setattr(scan_memory, "history_recipe", lambda *given: None)
    monkeypatch.setattr(scan_memory, "mean_block_asize", lambda recipe: 32.0 * KIB)
    monkeypatch.setattr(said_first, "format_bytes", str)
    usual = {"drive_size": "4TB", "alloc": "3T", "release": "openzfs-2.3", "history": "vm-host"}
    known = case(**(usual | stated))
    factor = known.release.tunables.get("zfs_scan_mem_lim_fact", 1)
    needed = (3 << 40) // (vdevs or 1) // (32 * KIB) * (SIO_BYTES + DVA_BYTES) * factor
    for common in (needed, needed + 1):
        monkeypatch.setattr(said_first, "COMMON_MEMORY", common)
        told = missing(known, unknowns(known))
        words = f"; with less than {needed} a sorted scan cannot sort all at once: give --memory)"
        sampled = "the memory of the host (sampled, mostly "
        found = [each.startswith(sampled) and each.endswith(words) for each in told]
        assert found == [True] * (common == needed and vdevs is not None)


def test_of_a_flash_pool_enough_memory_is_assumed_and_said() -> None:
    known = case(drive="generic-sata-ssd", alloc="3T", history="vm-host")
    (told,) = missing(known, unknowns(known))
    assert told.startswith("the memory of the host (assumed to be enough; with less than ")


@pytest.mark.parametrize(
    ("stated", "rate", "is_said"),
    [
        ({"layout": "8*raidz2x8"}, 8.5e9, True),
        ({"layout": "8*raidz2x8"}, 4.7e9, False),
        ({"layout": "8*raidz2x8", "enclosure": "jbod-60"}, 8.5e9, False),
        ({"layout": "6*mirror2", "drive": "generic-nvme-ssd"}, 2e10, False),  # lanes of their own
    ],
)
def test_disks_that_move_more_than_a_cable_carries_ask_for_their_ports(
    stated: dict[str, Any], rate: float, is_said: bool
) -> None:
    found = missing_ports(case(operation="scrub", **stated), rate)
    assert bool(found) == is_said
    assert all(each.endswith("carries 4.8 GB/s: give --enclosure)") for each in found)
