"""Rules of how much a pool holds, how large its drives are, what is replaced, and what its blocks tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.observe.pool_import import blocks, classes, layout, space, vdev_sizes
from zsim.observe.pool_import.find_drives import drives_of, find_new_size
from zsim.observe.pool_import.finding import Evidence
from zsim.observe.pool_import.given.files import PoolFiles
from zsim.observe.pool_import.layout import Tops
from zsim.observe.zdb.blocks import BlockStatistics, SizeRow, TypeRow
from zsim.observe.zdb.pointers import PointerSummary
from zsim.observe.zpool import datasets
from zsim.observe.zpool.listing import PoolList, Space
from zsim.observe.zpool.properties import FullestRecordSize, KnownProperty, record_of, small_blocks_of
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import Vdev
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import pool_size, vdev_asize
from zsim.scenario.releases.profile import DEFAULT_RELEASE, load_release

TB = 10**12
RELEASE = load_release(DEFAULT_RELEASE)


def disk(name: str = "d", state: str = "ONLINE", note: str = "", **more: Any) -> Vdev:
    """Return a drive."""
    return Vdev(name, "disk", state, note, **more)


def group(text: str, number: int = 0, **more: Any) -> Vdev:
    """Return a vdev as a layout has it, all its drives healthy."""
    spec = Layout.parse(text).vdevs[0]
    children = tuple(disk(f"{number}.{each}") for each in range(spec.children))
    name = f"{spec.kind}{spec.parity or ''}-{number}"
    return Vdev(name, spec.kind, "ONLINE", "", spec.parity, children=children, **more)


def pair(old: Vdev, new: Vdev, kind: str = "replacing") -> Vdev:
    """Return an old drive and its successor."""
    return Vdev(f"{kind}-0", kind, "DEGRADED", children=(old, new))


def with_child(vdev: Vdev, *children: Vdev) -> Vdev:
    """Return a vdev whose first children are others."""
    return replace(vdev, children=(*children, *vdev.children[len(children) :]))


def listed(*rows: tuple[Vdev, Space], exact: bool = False, **whole: Any) -> PoolList:
    """Return what zpool list shows."""
    return PoolList("tank", Space(**whole), rows, {}, exact, frozenset())


def evidence_of(*vdevs: Vdev, scan: Scan | None = None, **more: Any) -> Evidence:
    """Return the evidence of a pool with a status that shows these vdevs."""
    status = PoolStatus("tank", "ONLINE", vdevs, scan=scan, scans=(scan,) if scan else ())
    return Evidence(PoolFiles(), status, statuses=[status], **more)


def values(evidence: Evidence) -> dict[str, object]:
    """Return what was found, by field."""
    return {name: found.value for name, found in evidence.findings.items()}


# How large the drives are.


@pytest.mark.parametrize("text", ["mirror2", "raidz2x6", "2*raidz1x4", "mirror2+raidz2x6"])
@pytest.mark.parametrize("drive", [4 * TB, 931 * 10**9 + 512])
def test_the_smallest_drive_is_the_least_that_gives_the_space(text: str, drive: int) -> None:
    specs = Layout.parse(text).vdevs
    total = sum(vdev_asize(spec, drive) for spec in specs)
    found = vdev_sizes.smallest_drive(specs, total)
    assert found <= drive
    assert sum(vdev_asize(spec, found) for spec in specs) >= total
    assert sum(vdev_asize(spec, found - 1) for spec in specs) < total


def drive_for(total: int, *vdevs: Vdev, rounded: bool = False) -> tuple[int, bool]:
    """Return the drive that is taken for a pool of a size."""
    evidence = evidence_of(*vdevs)
    return space._drive_for(evidence, Tops(vdevs, "zpool status", evidence), total, rounded)


def test_a_size_near_that_of_a_usual_drive_is_that_drive() -> None:
    """Space is cut to whole metaslabs: a little less than 4 TB is 4 TB, and 3.9 TB are not."""
    total = pool_size(Layout.parse("raidz2x6"), 4 * TB, RELEASE)
    assert drive_for(total, group("raidz2x6")) == (4 * TB, True)
    assert drive_for(round(total * 0.99), group("raidz2x6")) == (4 * TB, True)
    smaller, nominal = drive_for(round(total * 0.975), group("raidz2x6"))
    assert smaller == pytest.approx(3.9 * TB, rel=0.002)
    assert not nominal
    larger, nominal = drive_for(round(total * 1.02), group("raidz2x6"))
    assert larger == pytest.approx(4.08 * TB, rel=0.002)
    assert not nominal
    # What zdb says is exact.
    exact = vdev_asize(Layout.parse("raidz2x6").vdevs[0], 4 * TB)
    found, nominal = drive_for(exact, group("raidz2x6", asize=exact))
    assert (found, nominal) == (vdev_sizes.smallest_drive(Layout.parse("raidz2x6").vdevs, exact), False)
    beyond, nominal = drive_for(2 * 100 * TB, group("mirror2"))
    assert beyond > 100 * TB
    assert not nominal


def test_the_space_of_the_pool_is_told_by_the_best_output_there_is() -> None:
    vdevs = (group("mirror2", 0), group("mirror2", 1))
    rows = [(vdevs[0], Space(size=3 * TB, alloc=TB)), (vdevs[1], Space(size=4 * TB, alloc=2 * TB))]

    def total(*tops: Vdev, shown: PoolList | None = None) -> tuple[int | None, str, bool]:
        evidence = evidence_of(*tops)
        evidence.listed = shown
        return space._total(evidence, Tops(tops, "zpool status", evidence))

    assert total(*vdevs) == (None, "metaslabs of zdb -m", False)
    assert total(*vdevs, shown=listed(*rows, size=9 * TB)) == (7 * TB, "SIZE of zpool list -v", True)
    assert total(*vdevs, shown=listed(*rows, exact=True, size=9 * TB))[2] is False
    assert total(*vdevs, shown=listed(size=9 * TB)) == (9 * TB, "SIZE of zpool list", True)
    unknown = [rows[0], (vdevs[1], Space(alloc=1))]
    assert total(*vdevs, shown=listed(*unknown, size=9 * TB))[:2] == (9 * TB, "SIZE of zpool list")
    asizes = [replace(vdev, asize=5 * TB) for vdev in vdevs]
    assert total(*asizes, shown=listed(*rows)) == (10 * TB, "asize of zdb -C", False)
    # Of drives of different sizes the smallest counts.
    sized = [replace(vdev, children=(disk(size=2 * TB), disk(size=TB))) for vdev in vdevs]
    mirror = Layout.parse("mirror2").vdevs[0]
    assert total(*sized) == (2 * vdev_asize(mirror, TB), "zpool status -j", False)
    tiny = [replace(vdev, children=(disk(size=1), disk(size=1))) for vdev in vdevs]
    assert total(*tiny)[0] == 2 * vdev_asize(mirror, 64 << 20)


def test_what_is_allocated_is_told_by_the_best_output_there_is() -> None:
    vdevs = (group("mirror2", 0), group("mirror2", 1))
    rows = [(vdevs[0], Space(alloc=TB)), (vdevs[1], Space(alloc=2 * TB))]

    def alloc(shown: PoolList | None = None, scan: Scan | None = None) -> tuple[int | None, str]:
        evidence = evidence_of(*vdevs, scan=scan)
        evidence.listed = shown
        return space._alloc(evidence, Tops(vdevs, "zpool status", evidence))

    scrub = Scan("scrub", "running", total=5 * TB)
    assert alloc() == (None, "")
    assert alloc(listed(*rows, alloc=9 * TB), scrub) == (3 * TB, "ALLOC of zpool list -v")
    assert alloc(listed((vdevs[0], Space()), rows[1], alloc=9 * TB), scrub) == (9 * TB, "ALLOC of zpool list")
    assert alloc(listed(alloc=9 * TB), scrub) == (9 * TB, "ALLOC of zpool list")
    assert alloc(None, scrub) == (5 * TB, "what the scan of zpool status has to examine")
    removal = Scan("remove", "running", total=5 * TB)
    assert alloc(None, removal) == (10 * TB, "what the removal has to copy, on every vdev")


def test_vdevs_of_drives_of_several_sizes_are_told_where_they_are_taken_as_one() -> None:
    spec = Layout.parse("mirror2").vdevs[0]

    def notes(*drives: int) -> int:
        vdevs = tuple(group("mirror2", n, asize=vdev_asize(spec, size)) for n, size in enumerate(drives))
        evidence = evidence_of(*vdevs)
        space._note_mixed(evidence, Tops(vdevs, "zpool status", evidence))
        return len(evidence.notes)

    assert notes(4 * TB, 4 * TB) == 0
    assert notes(4 * TB, round(4.1 * TB)) == 0
    assert notes(4 * TB, round(4.2 * TB)) == 1


def test_drives_of_other_classes_have_their_own_size() -> None:
    special = Layout.parse("mirror2").vdevs[0]

    def size(asize: int | None = None, listed_size: int | None = None) -> object:
        evidence = evidence_of(group("raidz2x6"))
        tops = Tops(evidence.status.vdevs, "zpool status", evidence)  # type: ignore[union-attr]
        tops.classes.vdevs = [group("mirror2", 1, asize=asize)]
        tops.classes.specs = [replace(special, alloc_class="special")]
        tops.classes.spaces = [Space(size=listed_size)]
        space.find_class_drives(evidence, tops)
        found = evidence.findings.get("special_drive_size")
        return (found.value, found.inferred, found.source) if found else None

    usual = vdev_asize(special, 480 * 10**9)
    assert size(asize=usual) == (480 * 10**9, True, "asize of zdb -C")
    assert size(listed_size=usual) == (480 * 10**9, True, "SIZE of zpool list -v")
    odd = size(asize=vdev_asize(special, 700 * 10**9))
    assert odd == (pytest.approx(700 * 10**9, rel=0.001), False, "asize of zdb -C")
    assert size() is None


# Bytes of a resilver.


def test_a_resilver_that_runs_tells_by_its_share_and_one_that_is_over_by_its_bytes() -> None:
    def told(*scans: Scan, named: int | None = 4 * TB) -> tuple[int | None, str]:
        statuses = [PoolStatus("tank", "", (), scans=(each,)) for each in scans]
        evidence = Evidence(PoolFiles(), statuses=statuses, named_size=named)
        return space.resilvered_alloc(evidence, Layout.parse("raidz2x6"))

    over = Scan("resilver", "finished", repaired=TB, date="Sun Nov 15")
    assert told(over) == (6 * TB, "as much on every drive as the resilver on Sun Nov 15 put on one")
    # The last one counts, and one that healed does not: a fiftieth of a drive.
    assert told(over, Scan("resilver", "finished", repaired=2 * TB))[0] == 12 * TB
    assert told(over, Scan("resilver", "finished", repaired=4 * TB // 50 - 1))[0] == 6 * TB
    assert told(over, Scan("resilver", "finished", repaired=4 * TB // 50))[0] == 6 * 4 * TB // 50
    # Where no size is known, what is below 64 GiB may be anything.
    assert told(Scan("resilver", "finished", repaired=1 << 36), named=None)[0] == 6 << 36
    assert told(Scan("resilver", "finished", repaired=(1 << 36) - 1), named=None) == (None, "")
    runs = Scan("resilver", "running", repaired=TB, done=0.25)
    assert told(runs)[0] == 24 * TB
    assert told(runs, Scan("resilver", "running", repaired=TB, done=0.5))[0] == 12 * TB
    assert told(runs, Scan("scrub", "running", repaired=TB, done=0.5))[0] == 24 * TB
    assert told() == (None, "")


def test_the_new_drive_has_a_size_of_its_own_where_it_is_larger() -> None:
    def size(new: int, old: object = 4 * TB, target: object = None) -> object:
        swap = with_child(group("mirror2"), pair(disk("a"), disk("b", size=new)))
        evidence = evidence_of(swap)
        evidence.find("drive_size", old, "")
        evidence.find("target", target, "")
        space._find_new_size(evidence)
        return evidence.value("new_drive_size")

    assert size(8 * TB) == 8 * TB
    assert size(round(4.13 * TB)) == round(4.13 * TB)
    assert size(round(4.11 * TB)) is None
    assert size(8 * TB, target="distributed-spare") is None
    assert size(8 * TB, old=None) is None


def test_a_new_drive_has_the_size_of_its_name() -> None:
    def size(
        new: int | None, old: int | None = 4 * TB, drive: str | None = None, known: object = None
    ) -> object:
        evidence = Evidence(PoolFiles(), named_size=old, new_named_size=new)
        evidence.find("new_drive", drive, "")
        evidence.find("new_drive_size", known, "")
        find_new_size(evidence)
        return evidence.value("new_drive_size")

    assert size(8 * TB) == 8 * TB
    assert size(round(4.11 * TB)) is None
    assert size(round(4.13 * TB)) == round(4.13 * TB)
    assert size(None) is None
    assert size(8 * TB, old=None) is None
    assert size(8 * TB, known=6 * TB) == 6 * TB
    # ZFS takes no drive that is smaller: of two of one nominal size the new one is as large as the old.
    assert size(4 * TB - 1, drive="generic-5400rpm-cmr") == 4 * TB
    assert size(4 * TB + 1, drive="generic-5400rpm-cmr") == 4 * TB + 1
    assert size(4 * TB, drive="wd40efrx") is None
    assert size(4 * TB, old=round(4.1 * TB), drive="wd40efrx") == round(4.1 * TB)


# What is replaced.


def replacement(*vdevs: Vdev, scan: Scan | None = None) -> tuple[int, dict[str, object], list[str]]:
    """Return the place of the vdev that is repaired, what was found and what was said."""
    evidence = evidence_of(*vdevs, scan=scan)
    tops = Tops(vdevs, "zpool status", evidence)
    place = layout._find_replacement(evidence, tops)
    return place, values(evidence), evidence.notes


RUNS = Scan("resilver", "running")
GONE = disk("a", "UNAVAIL")


def test_a_successor_beside_an_old_drive_tells_whether_that_is_there() -> None:
    online = with_child(group("raidz2x6", 1), pair(disk("a"), disk("b")))
    place, found, _ = replacement(group("raidz2x6"), online, scan=RUNS)
    assert (place, found) == (1, {"operation": "resilver", "old_drive": "online", "replace": 1})
    gone = with_child(group("raidz2x6"), pair(GONE, disk("b")))
    assert replacement(gone, scan=RUNS)[1]["old_drive"] == "missing"
    mixed = with_child(gone, pair(GONE, disk("b")), pair(disk("c"), disk("d")))
    place, found, notes = replacement(mixed, scan=RUNS)
    assert (found["old_drive"], found["replace"]) == ("missing", 2)
    assert any("some of the replaced drives are gone" in note for note in notes)


def test_no_more_are_replaced_than_the_vdev_can_lose_unless_the_old_ones_are_there() -> None:
    online = [pair(disk(f"a{n}"), disk(f"b{n}")) for n in range(3)]
    assert replacement(with_child(group("raidz2x6"), *online), scan=RUNS)[1]["replace"] == 3
    gone = [pair(GONE, disk(f"b{n}")) for n in range(3)]
    _, found, notes = replacement(with_child(group("raidz2x6"), *gone), scan=RUNS)
    assert found["replace"] == 2
    assert any("of which raidz2x6 can lose 2" in note for note in notes)
    assert not any("can lose" in note for note in replacement(with_child(group("raidz2x6"), *gone[:2]))[2])


def test_a_spare_in_use_is_a_pair_while_a_scan_runs() -> None:
    spare = with_child(group("raidz2x6"), pair(GONE, disk("s"), "spare"))
    assert replacement(spare, scan=RUNS)[1] == {"operation": "resilver", "old_drive": "missing", "replace": 1}
    _, found, notes = replacement(spare)
    # When it is over, the replacement is copied from the spare.
    assert found == {"old_drive": "online", "replace": 1}
    assert any("s stands in for a drive that is gone" in note for note in notes)
    off = with_child(group("raidz2x6"), pair(GONE, disk("s", "OFFLINE"), "spare"))
    assert replacement(off)[1]["old_drive"] == "missing"


def test_drives_that_resilver_without_an_old_one_stand_for_one_that_was_lost() -> None:
    repaired = disk("x", note="(resilvering)")
    place, found, _ = replacement(group("raidz2x6"), with_child(group("raidz2x6", 1), repaired), scan=RUNS)
    assert (place, found) == (1, {"operation": "resilver", "old_drive": "missing", "replace": 1})
    three = with_child(group("raidz2x6"), repaired, repaired, repaired)
    assert replacement(three, scan=RUNS)[1]["replace"] == 2
    # Where nothing runs, they are not asked for.
    assert replacement(with_child(group("raidz2x6"), repaired))[1] == {}


def test_drives_that_are_gone_and_not_replaced_are_asked_for_in_the_vdev_that_lost_most() -> None:
    one, two = with_child(group("raidz2x6"), GONE), with_child(group("raidz2x6", 1), GONE, GONE)
    place, found, notes = replacement(one, two)
    assert (place, found) == (1, {"old_drive": "missing", "replace": 2})
    assert not notes, "what is gone is told with its vdev, by `find_observations`"
    assert replacement(with_child(group("raidz1x4"), GONE, GONE))[1]["replace"] == 1
    scrub = Scan("scrub", "running")
    assert replacement(group("raidz2x6"), two, scan=scrub)[:2] == (0, {"operation": "scrub"})


def test_what_awaits_a_resilver_of_its_own_is_not_in_this_one() -> None:
    waits = pair(disk("a"), disk("b", note="(awaiting resilver)"))
    runs = pair(disk("c"), disk("d", note="(resilvering)"))
    vdev = with_child(group("raidz2x6"), waits, runs)
    _, found, notes = replacement(vdev, scan=RUNS)
    assert found["replace"] == 1
    assert any(note.startswith("1 drive awaits a resilver") for note in notes)
    _, found, notes = replacement(with_child(group("raidz2x6"), waits, waits), scan=RUNS)
    assert found["replace"] == 2
    assert any(note.startswith("2 drives await a resilver") for note in notes)


def test_replacements_in_several_vdevs_are_told_and_one_is_simulated() -> None:
    swap = pair(disk("a"), disk("b"))
    one, two = with_child(group("raidz2x6"), swap), with_child(group("raidz2x6", 1), swap, swap)
    place, found, notes = replacement(one, two, scan=RUNS)
    assert (place, found["replace"]) == (1, 2)
    assert any("drives of several vdevs are being replaced" in note for note in notes)
    both = [
        with_child(group("raidz2x6", n), pair(disk("a"), disk("b", note="(resilvering)"))) for n in (0, 1)
    ]
    _, _, notes = replacement(*both, scan=RUNS)
    assert any("drives of 2 vdevs are resilvered at once" in note for note in notes)
    assert not any("several vdevs" in note for note in notes)


def test_distributed_spares_and_drives_of_draid_have_their_target() -> None:
    draid = Vdev("draid1:2d:6c:1s-0", "draid", "ONLINE", "", 1, 2, 1, 6, children=(disk(),) * 6)
    spare = pair(GONE, Vdev("draid1-0-0", "distributed-spare", "ONLINE"), "spare")
    assert replacement(with_child(draid, spare), scan=RUNS)[1]["target"] == "distributed-spare"
    swap = pair(GONE, disk("b"))
    assert replacement(with_child(draid, swap), scan=RUNS)[1]["target"] == "new-drive"
    assert "target" not in replacement(with_child(group("raidz2x6"), swap), scan=RUNS)[1]


def test_names_of_drives_without_those_that_replace() -> None:
    swap = with_child(group("mirror2"), pair(disk("old"), disk("new")))
    found = drives_of([swap, with_child(group("mirror2", 1), GONE)])
    assert (found.old, found.new, found.gone) == (("old", "0.1", "a", "1.1"), ("new",), 1)


def test_the_vdev_that_is_repaired_has_redundancy() -> None:
    mirror, single = group("mirror2"), disk("lone")
    evidence = evidence_of(single, mirror)
    tops = Tops((single, mirror), "zpool status", evidence)
    assert layout._redundant(tops, 0, evidence) == 1
    assert layout._redundant(tops, 1, evidence) == 1
    evidence.find("operation", "scrub", "")
    assert layout._redundant(tops, 0, evidence) == 0


def test_numbers_of_vdevs_are_the_ends_of_their_names_unless_two_are_alike() -> None:
    def ids(*names: str) -> list[int]:
        vdevs = tuple(replace(group("mirror2"), name=name) for name in names)
        return Tops(vdevs, "zpool status", evidence_of(*vdevs)).ids

    assert ids("mirror-0", "mirror-2") == [0, 2]
    assert ids("mirror-1", "mirror-1") == [0, 1]
    assert ids("a", "mirror-7") == [0, 7]


# Classes.


def test_drives_of_caches_and_spares_are_counted() -> None:
    sections = {"cache": (disk(), disk()), "spares": (disk(), Vdev("draid1-0-0", "distributed-spare"))}
    status = PoolStatus("tank", "ONLINE", (group("mirror2"),), sections)
    found = classes.ClassTops(Evidence(PoolFiles(), status))
    assert (found.cache, found.spares) == (2, 1)


def test_the_repair_of_a_special_vdev_is_one_of_its_drives() -> None:
    def found(*children: Vdev, known: dict[str, object] | None = None) -> dict[str, object]:
        special = with_child(group("mirror3", 1), *children)
        status = PoolStatus("tank", "ONLINE", (group("mirror2"),), {"special": (special,)})
        evidence = Evidence(PoolFiles(), status)
        for name, value in (known or {}).items():
            evidence.find(name, value, "")
        classes.find_special_repair(evidence, classes.ClassTops(evidence))
        return values(evidence)

    asked = {"replace_in": "special", "replace": 1, "old_drive": "missing"}
    assert found() == {}
    assert found(GONE) == asked
    assert found(disk("x", note="(resilvering)")) == asked
    assert found(pair(disk("a"), disk("b"))) == asked | {"old_drive": "online"}
    assert found(pair(GONE, disk("b"))) == asked
    assert found(GONE, GONE) == asked | {"replace": 2}
    assert found(GONE, GONE, GONE)["replace"] == 2
    assert found(GONE, known={"replace": 1}) == {"replace": 1}
    assert found(GONE, known={"operation": "scrub"}) == {"operation": "scrub"}


@pytest.mark.parametrize(
    ("shares", "fills"),
    [
        ((0.50, 0.56), [0.5, 0.56]), ((0.50, 0.54), None), ((0.5, 1.0), None), ((0.5, 0.0), None),
        ((0.5,), None), ((0.5, None), None), ((0.12349, 0.5), [0.123, 0.5]),
    ],
)  # fmt: skip
def test_vdevs_that_are_not_equally_full_are_told_one_by_one(shares: Any, fills: Any) -> None:
    spaces = [Space(size=10**9, alloc=None if each is None else round(each * 10**9)) for each in shares]
    evidence = Evidence(PoolFiles())
    assert classes.find_fills(evidence, spaces) is (fills is not None)
    assert evidence.value("vdev_fills") == fills
    assert len(evidence.notes) == (fills is not None)


def test_vdevs_of_drives_that_differ_have_the_largest_and_each_its_fill() -> None:
    small, large = group("mirror2", 0), group("mirror2", 1)
    spec = Layout.parse("mirror2").vdevs[0]

    def found(sizes: tuple[int, int], allocs: tuple[int, int]) -> dict[str, object]:
        rows = [
            vdev_sizes.DataVdev(vdev, spec, Space(size=vdev_asize(spec, size), alloc=alloc))
            for vdev, size, alloc in zip((small, large), sizes, allocs, strict=True)
        ]
        evidence = Evidence(PoolFiles())
        assert vdev_sizes.find_unequal(evidence, rows, sum(allocs)) is bool(evidence.findings)
        return values(evidence)

    both = found((2 * TB, 4 * TB), (TB, 3 * TB))
    assert both["drive_size"] == 4 * TB
    assert both["vdev_fills"] == pytest.approx([0.25, 0.75], abs=0.004)
    assert found((4 * TB, 4 * TB), (TB, 3 * TB)) == {}
    assert found((4 * TB, round(4.11 * TB)), (TB, 3 * TB)) == {}
    assert found((2 * TB, 4 * TB), (0, 3 * TB)) == {}
    assert found((2 * TB, 4 * TB), (TB, 5 * TB)) == {}
    one = [vdev_sizes.DataVdev(small, spec, Space(size=TB, alloc=1))]
    assert not vdev_sizes.find_unequal(Evidence(PoolFiles()), one, 1)


# Blocks.


def sizes(**more: Any) -> blocks.DataSizes:
    """Return sizes of blocks of whole records of 128K."""
    usual = {"recordsize": 1 << 17, "mean_lsize": float(1 << 17), "mean_psize": 1e5, "volume_share": 0.0,
             "metadata_share": 0.0, "source": "zdb"}  # fmt: skip
    return blocks.DataSizes(**(usual | more))


@pytest.mark.parametrize(
    ("more", "history"),
    [
        ({}, None), ({"volume_share": 0.51}, "vm-host"), ({"volume_share": 0.5}, None),
        ({"mean_lsize": 1e4, "mean_psize": 49151.0, "metadata_share": 0.011}, "maildir"),
        ({"mean_lsize": 1e4, "mean_psize": 49152.0, "metadata_share": 0.011}, None),
        ({"mean_lsize": 1e4, "mean_psize": 49151.0, "metadata_share": 0.01}, None),
        ({"mean_psize": 49151.0, "metadata_share": 0.011}, None),
        ({"recordsize": 1 << 14, "mean_lsize": 16384.0}, "database"),
        ({"recordsize": 1 << 15, "mean_lsize": 32768.0}, None),
        ({"recordsize": 1 << 14, "mean_lsize": 14745.0}, None),
        ({"recordsize": 1 << 19}, "media-server"), ({"recordsize": 1 << 18}, None),
    ],
)  # fmt: skip
def test_blocks_suggest_a_use(more: dict[str, Any], history: str | None) -> None:
    assert blocks.history_of(sizes(**more)) == history


def test_records_are_whole_if_nine_tenths_of_their_bytes_are_there() -> None:
    assert sizes(mean_lsize=0.9 * (1 << 17)).whole_records
    assert not sizes(mean_lsize=0.89 * (1 << 17)).whole_records


def test_sizes_of_a_list_of_pointers_are_those_of_its_data() -> None:
    """Two files of 128K at 100 and 50 KB, one volume block of 16K at 10 KB, metadata of 40 KB allocated."""
    found = PointerSummary()
    found.blocks[:] = (9, 2, 1)
    found.lsize[:] = (7, 2 << 17, 1 << 14)
    found.psize[:] = (7, 150_000, 10_000)
    found.asize[:] = (40_000, 300_000, 60_000)
    found.lsizes[1, 17], found.lsizes[2, 14], found.lsizes[0, 20] = 2 << 17, 1 << 14, 1 << 40
    told = blocks.data_sizes(Evidence(PoolFiles(pointers=found)))
    assert told is not None
    assert (told.recordsize, told.source) == (1 << 17, "zdb -Lbbbbb")
    assert told.mean_lsize == pytest.approx((2 * 131072 + 16384) / 3.0)
    assert told.mean_psize == pytest.approx(160_000 / 3.0)
    assert (told.volume_share, told.metadata_share) == (pytest.approx(1.0 / 16.0), pytest.approx(0.1))
    found.blocks[1:] = 0
    assert blocks.data_sizes(Evidence(PoolFiles(pointers=found))) is None


def rows(*data: tuple[str, int, int, int, int], total: int | None = None) -> list[TypeRow]:
    """Return rows of zdb -b: type, blocks, lsize, psize and asize."""
    found = [TypeRow(kind, None, count, lsize, psize, asize) for kind, count, lsize, psize, asize in data]
    return [*found, TypeRow("Total", None, 99, 0, 0, total)] if total is not None else found


def test_sizes_of_statistics_are_those_of_the_type_with_most_bytes() -> None:
    file, volume = (
        ("ZFS plain file", 4, 4 << 17, 300_000, 600_000),
        ("zvol object", 10, 10 << 13, 50_000, 150_000),
    )
    told = blocks._sizes_of_statistics(
        BlockStatistics(tuple(rows(file, volume, total=10**6)), (), None, None)
    )
    assert told is not None
    assert (told.recordsize, told.mean_lsize, told.source) == (1 << 17, float(1 << 17), "zdb -b")
    assert told.mean_psize == pytest.approx(350_000 / 14.0)
    assert told.volume_share == pytest.approx(1.0 / 7.0)
    assert told.metadata_share == pytest.approx(0.25)
    alone = blocks._sizes_of_statistics(BlockStatistics(tuple(rows(file)), (), None, None))
    assert alone is not None
    assert (alone.volume_share, alone.metadata_share) == (0.0, 0.0)
    assert blocks._sizes_of_statistics(BlockStatistics((), (), None, None)) is None


@pytest.mark.parametrize(
    ("mean", "buckets", "record"),
    [
        (100_000.0, (), 1 << 17), (131072.0, (), 1 << 17), (131072.0 * 1.02, (), 1 << 17),
        (131072.0 * 1.03, (), 1 << 18), (100.0, (), 512),
        # Most bytes are in the larger of two buckets: 4 x 128K against 20 x 16K.
        (16384.0, ((1 << 14, 20), (1 << 17, 4)), 1 << 17),
        (16384.0, ((1 << 14, 40), (1 << 17, 4)), 1 << 14),
        (131072.0, ((1 << 14, 40),), 1 << 17),
        (131072.0, ((1 << 20, 0),), 1 << 17),
    ],
)  # fmt: skip
def test_the_record_size_is_that_of_most_bytes_and_no_less_than_the_mean(
    mean: float, buckets: tuple[tuple[int, int], ...], record: int
) -> None:
    found = BlockStatistics((), tuple(SizeRow(size, 0, count, 0) for size, count in buckets), None, None)
    assert blocks._record_of(found, mean) == record


def known(name: str, value: int, dataset: str = "tank") -> KnownProperty:
    """Return a property of a dataset."""
    return KnownProperty(dataset, name, value)


def test_of_several_datasets_the_fullest_tells_and_of_those_that_none_weighs_none() -> None:
    sizes = [known("recordsize", 1 << 17), known("volblocksize", 1 << 14, "tank/vm")]
    assert record_of(sizes, "tank") == FullestRecordSize(None, "tank", True, False)
    used = [known("usedbydataset", 5, "tank"), known("usedbydataset", 6, "tank/vm")]
    assert record_of([*sizes, *used], "tank") == FullestRecordSize(1 << 14, "tank/vm", True, True)
    assert record_of(sizes[:1], "tank") == FullestRecordSize(1 << 17, "tank", False, False)
    assert record_of(sizes, "other") is None
    assert record_of([*sizes[:1], known("recordsize", 512, "other")], "") == FullestRecordSize(
        None, "tank", True, False
    )


def test_datasets_of_one_size_count_together_and_inherit_from_above() -> None:
    sizes = [known("recordsize", 1 << 17), known("recordsize", 1 << 20, "tank/films")]
    used = [("tank/films", 5), ("tank/a", 3), ("tank/b/c", 4)]
    held = [known("usedbydataset", count, name) for name, count in used]
    assert record_of([*sizes, *held], "tank") == FullestRecordSize(1 << 17, "tank/b/c", True, True)
    assert record_of(
        [*sizes, *held, known("usedbydataset", 9, "tank/films/new")], "tank"
    ) == FullestRecordSize(1 << 20, "tank/films/new", True, True)


def test_volumes_do_not_inherit_the_record_size_of_their_parent() -> None:
    """Of a host of virtual machines the root shows 128K, and all data lie in volumes of 8K or 16K."""
    held = [known("usedbydataset", 5, "tank/vm-1"), known("volume", 1, "tank/vm-1")]
    assert record_of([known("recordsize", 1 << 17), *held], "tank") == FullestRecordSize(
        None, "tank/vm-1", False, True
    )
    told = [known("recordsize", 1 << 17), known("volblocksize", 1 << 14, "tank/vm-1"), *held]
    assert record_of(told, "tank") == FullestRecordSize(1 << 14, "tank/vm-1", True, True)


LISTED = """NAME                      USED  AVAIL  REFER  MOUNTPOINT
tank                      655G   245G   104K  /tank
tank/data                 640G   245G    96K  /tank/data
tank/data/vm-100-disk-0   120G   245G   120G  -
tank/data@monday            0B      -    96K  -

rest
"""


def test_zfs_list_tells_what_each_dataset_holds_and_which_are_volumes() -> None:
    assert datasets.recognises(LISTED)
    assert not datasets.recognises("NAME   SIZE  ALLOC   FREE\ntank  1T  1T  1T\n")
    assert [(each.of, each.name, each.value) for each in datasets.read(LISTED, "")] == [
        ("tank", "usedbydataset", 104 * 1024),
        ("tank/data", "usedbydataset", 96 * 1024),
        ("tank/data/vm-100-disk-0", "usedbydataset", 120 * 1024**3),
        ("tank/data/vm-100-disk-0", "volume", 1),
    ]
    space = (
        "NAME  AVAIL  USED  USEDSNAP  USEDDS  USEDREFRESERV  USEDCHILD\ntank  1T  2T  1T  500G  0B  500G\n"
    )
    assert [(each.name, each.value) for each in datasets.read(space, "")] == [
        ("usedbydataset", 500 * 1024**3)
    ]


def test_what_special_vdevs_take_is_that_of_the_fullest_dataset() -> None:
    small = [known("special_small_blocks", 0), known("special_small_blocks", 1 << 15, "tank/a")]
    assert small_blocks_of(small, "tank") == 1 << 15
    assert small_blocks_of([*small, known("usedbydataset", 1)], "tank") == 0
    assert small_blocks_of(small, "other") is None


@pytest.mark.parametrize(
    ("size", "found"), [(512, 512), (511, None), (1 << 20, 1 << 20), (3 << 17, None), (1 << 24, 1 << 24),
                        (1 << 25, None)]
)  # fmt: skip
def test_a_stated_record_size_is_a_power_of_two_that_zfs_takes(size: int, found: int | None) -> None:
    evidence = Evidence(PoolFiles(facts=[known("recordsize", size)]), PoolStatus("tank", "", ()))
    blocks._find_stated_record(evidence)
    assert evidence.value("recordsize") == found


def test_blocks_tell_a_use_and_the_record_size_unless_files_are_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def found(told: blocks.DataSizes | None, release: str = "openzfs-2.3") -> Evidence:
        monkeypatch.setattr(blocks, "data_sizes", lambda evidence: told)
        evidence = Evidence(
            PoolFiles(facts=[known("recordsize", 1 << 16)]), PoolStatus("tank", "", (group("mirror2"),))
        )
        evidence.find("release", release, "")
        blocks.find_blocks(evidence, Tops((group("mirror2"),), "zpool status", evidence))
        return evidence

    def values(told: blocks.DataSizes | None, release: str = "openzfs-2.3") -> tuple[Any, Any, int]:
        evidence = found(told, release)
        return evidence.value("history"), evidence.value("recordsize"), len(evidence.notes)

    assert values(None) == (None, 1 << 16, 0), "what a dataset is said to have"
    assert values(sizes()) == (None, 1 << 17, 0)
    assert values(sizes(volume_share=0.9)) == ("vm-host", 1 << 17, 0)
    small = {"recordsize": 1 << 16, "mean_lsize": 1e4}
    assert values(sizes(**small)) == (None, None, 1)
    assert "smaller than a record" in found(sizes(**small)).notes[0]
    # Records of the usual size are those of files of any size.
    assert values(sizes(mean_lsize=1e4)) == (None, 1 << 17, 0)
    assert values(sizes(recordsize=1 << 8, mean_lsize=256.0))[1] == 512
    assert values(sizes(recordsize=1 << 20), "freebsd-9.1") == ("media-server", 1 << 17, 1)
    assert found(sizes(recordsize=1 << 20), "freebsd-9.1").notes[0].startswith("blocks of 1024K are in zdb,")


def test_sectors_are_those_of_zdb_then_of_zpool_get() -> None:
    def found(*shifts: int | None, stated: int | None = None) -> tuple[object, int]:
        vdevs = tuple(group("mirror2", n, ashift=shift) for n, shift in enumerate(shifts))
        facts = [known("ashift", stated)] if stated is not None else []
        evidence = Evidence(PoolFiles(facts=list(facts)), PoolStatus("tank", "", vdevs))
        blocks._find_ashift(evidence, Tops(vdevs, "zdb -C", evidence))
        return evidence.value("ashift"), len(evidence.notes)

    assert found(12, 12, stated=9) == (12, 0)
    assert found(9, 12) == (9, 1)
    assert found(None, stated=13) == (13, 0)
    assert found(8, stated=12) == (12, 0)
    assert found(16) == (16, 0)
    assert found(17, stated=0) == (None, 0)


def test_sectors_smaller_than_those_of_the_drives_are_told_by_the_status() -> None:
    vdev = group("mirror2")
    note = "block size: 512B configured, 4096B native"
    odd = with_child(vdev, disk("d", note=note))

    def found(*vdevs: Vdev, **more: Any) -> object:
        evidence = Evidence(
            PoolFiles(facts=[known("ashift", 12)] if more else []), PoolStatus("t", "", vdevs)
        )
        blocks._find_ashift(evidence, Tops(vdevs, "zpool status", evidence))
        return evidence.value("ashift")

    assert found(vdev) is None
    assert found(odd) == 9
    assert found(odd, stated=True) == 12


def test_fragmentation_is_told_by_the_list_and_has_four_digits() -> None:
    evidence = Evidence(PoolFiles(), PoolStatus("tank", "", (group("mirror2"),)))
    evidence.listed = listed(frag=0.123456)
    blocks._find_frag(evidence, Tops((group("mirror2"),), "zpool status", evidence))
    assert evidence.value("frag") == 0.1235
    old = Evidence(PoolFiles(), PoolStatus("tank", "", (group("mirror2"),)))
    old.listed = listed(frag=0.5)
    old.find("release", "freebsd-9.1", "")
    blocks._find_frag(old, Tops((group("mirror2"),), "zpool status", old))
    assert old.value("frag") is None
    assert "FRAG is known, but freebsd-9.1 has none" in old.notes[0]


def test_an_lsize_counts_under_the_power_of_two_it_does_not_exceed() -> None:
    kernel = pytest.importorskip("zsim.observe.zdb.pointer_kernel")
    from zsim.observe.zdb.pointers import _Summing

    row = np.zeros((5, kernel.COLUMNS), np.int64)
    row[:, [kernel.VDEV_1, kernel.VDEV_2]] = -1
    row[:, kernel.KIND] = kernel.FILE
    row[:, kernel.LSIZE] = (1, 513, 1 << 17, (1 << 17) + 1, 1 << 30)
    row[:, kernel.PSIZE] = (0, 512, 1023, 1 << 40, 16 << 20)
    row[:, kernel.ASIZE_0] = (4096, 8192, 12288, 4096, 4096)
    row[:, kernel.PLACE_0] = (0, 4096, 12288, 40960, 90000)
    row[:, kernel.BIRTH] = (7, 3, 9, 5, 6)
    summing = _Summing()
    summing._sum(row)
    found = summing.summary
    assert np.flatnonzero(found.lsizes[kernel.FILE]).tolist() == [0, 10, 17, 18, 24], (
        "the largest of all in the last"
    )
    assert np.flatnonzero(found.psizes[kernel.FILE]).tolist() == [0, 1, (16 << 20) // 512]
    assert (found.unit, found.births) == (4096, (3, 9))
    assert found.vdev_asize == {0: 32768}
    summing._sum(row[:1] + np.array([0] * kernel.COLUMNS))
    assert (found.births, found.vdev_asize) == ((3, 9), {0: 36864})
