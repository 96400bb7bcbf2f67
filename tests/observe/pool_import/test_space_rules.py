"""Rules of how much a pool holds, how large its drives are, what is replaced, and what its blocks tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from zsim.observe.pool_import import classes, layout, space, vdev_sizes
from zsim.observe.pool_import.find_drives import drives_of, find_new_size
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.given.files import PoolFiles
from zsim.observe.pool_import.layout import Tops
from zsim.observe.zpool.listing import PoolList, Space
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


def outputs_of(*vdevs: Vdev, scan: Scan | None = None, **more: Any) -> PoolOutputs:
    """Return the evidence of a pool with a status that shows these vdevs."""
    status = PoolStatus("tank", "ONLINE", vdevs, scan=scan, scans=(scan,) if scan else ())
    return PoolOutputs(PoolFiles(), status, statuses=[status], **more)


def values(outputs: PoolOutputs) -> dict[str, object]:
    """Return what was found, by field."""
    return {name: found.value for name, found in outputs.findings.items()}


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
    outputs = outputs_of(*vdevs)
    return space._drive_for(outputs, Tops(vdevs, "zpool status", outputs), total, rounded)


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
        outputs = outputs_of(*tops)
        outputs.listed = shown
        return space._total(outputs, Tops(tops, "zpool status", outputs))

    assert total(*vdevs)[0] is None
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
        outputs = outputs_of(*vdevs, scan=scan)
        outputs.listed = shown
        return space._alloc(outputs, Tops(vdevs, "zpool status", outputs))

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
        outputs = outputs_of(*vdevs)
        space._note_mixed(outputs, Tops(vdevs, "zpool status", outputs))
        return len(outputs.notes)

    assert notes(4 * TB, 4 * TB) == 0
    assert notes(4 * TB, round(4.1 * TB)) == 0
    assert notes(4 * TB, round(4.2 * TB)) == 1


def test_drives_of_other_classes_have_their_own_size() -> None:
    special = Layout.parse("mirror2").vdevs[0]

    def size(asize: int | None = None, listed_size: int | None = None) -> object:
        outputs = outputs_of(group("raidz2x6"))
        tops = Tops(outputs.status.vdevs, "zpool status", outputs)  # type: ignore[union-attr]
        tops.classes.vdevs = [group("mirror2", 1, asize=asize)]
        tops.classes.specs = [replace(special, alloc_class="special")]
        tops.classes.spaces = [Space(size=listed_size)]
        space.find_class_drives(outputs, tops)
        found = outputs.findings.get("special_drive_size")
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
        outputs = PoolOutputs(PoolFiles(), statuses=statuses, named_size=named)
        return space.resilvered_alloc(outputs, Layout.parse("raidz2x6"))

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
        outputs = outputs_of(swap)
        outputs.find("drive_size", old, "")
        outputs.find("target", target, "")
        space._find_new_size(outputs)
        return outputs.value("new_drive_size")

    assert size(8 * TB) == 8 * TB
    assert size(round(4.13 * TB)) == round(4.13 * TB)
    assert size(round(4.11 * TB)) is None
    assert size(8 * TB, target="distributed-spare") is None
    assert size(8 * TB, old=None) is None


def test_a_new_drive_has_the_size_of_its_name() -> None:
    def size(
        new: int | None, old: int | None = 4 * TB, drive: str | None = None, known: object = None
    ) -> object:
        outputs = PoolOutputs(PoolFiles(), named_size=old, new_named_size=new)
        outputs.find("new_drive", drive, "")
        outputs.find("new_drive_size", known, "")
        find_new_size(outputs)
        return outputs.value("new_drive_size")

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
    outputs = outputs_of(*vdevs, scan=scan)
    tops = Tops(vdevs, "zpool status", outputs)
    place = layout._find_replacement(outputs, tops)
    return place, values(outputs), outputs.notes


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
    assert any("s has replaced a missing drive" in note for note in notes)
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
    outputs = outputs_of(single, mirror)
    tops = Tops((single, mirror), "zpool status", outputs)
    assert layout._redundant(tops, 0, outputs) == 1
    assert layout._redundant(tops, 1, outputs) == 1
    outputs.find("operation", "scrub", "")
    assert layout._redundant(tops, 0, outputs) == 0


def test_numbers_of_vdevs_are_the_ends_of_their_names_unless_two_are_alike() -> None:
    def ids(*names: str) -> list[int]:
        vdevs = tuple(replace(group("mirror2"), name=name) for name in names)
        return Tops(vdevs, "zpool status", outputs_of(*vdevs)).ids

    assert ids("mirror-0", "mirror-2") == [0, 2]
    assert ids("mirror-1", "mirror-1") == [0, 1]
    assert ids("a", "mirror-7") == [0, 7]


# Classes.


def test_drives_of_caches_and_spares_are_counted() -> None:
    sections = {"cache": (disk(), disk()), "spares": (disk(), Vdev("draid1-0-0", "distributed-spare"))}
    status = PoolStatus("tank", "ONLINE", (group("mirror2"),), sections)
    found = classes.ClassTops(PoolOutputs(PoolFiles(), status))
    assert (found.cache, found.spares) == (2, 1)


def test_the_repair_of_a_special_vdev_is_one_of_its_drives() -> None:
    def found(*children: Vdev, known: dict[str, object] | None = None) -> dict[str, object]:
        special = with_child(group("mirror3", 1), *children)
        status = PoolStatus("tank", "ONLINE", (group("mirror2"),), {"special": (special,)})
        outputs = PoolOutputs(PoolFiles(), status)
        for name, value in (known or {}).items():
            outputs.find(name, value, "")
        classes.find_special_repair(outputs, classes.ClassTops(outputs))
        return values(outputs)

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
    outputs = PoolOutputs(PoolFiles())
    assert classes.find_fills(outputs, spaces) is (fills is not None)
    assert outputs.value("vdev_fills") == fills
    assert len(outputs.notes) == (fills is not None)


def test_vdevs_of_drives_that_differ_have_the_largest_and_each_its_fill() -> None:
    small, large = group("mirror2", 0), group("mirror2", 1)
    spec = Layout.parse("mirror2").vdevs[0]

    def found(sizes: tuple[int, int], allocs: tuple[int, int]) -> dict[str, object]:
        rows = [
            vdev_sizes.DataVdev(vdev, spec, Space(size=vdev_asize(spec, size), alloc=alloc))
            for vdev, size, alloc in zip((small, large), sizes, allocs, strict=True)
        ]
        outputs = PoolOutputs(PoolFiles())
        assert vdev_sizes.find_unequal(outputs, rows, sum(allocs)) is bool(outputs.findings)
        return values(outputs)

    both = found((2 * TB, 4 * TB), (TB, 3 * TB))
    assert both["drive_size"] == 4 * TB
    assert both["vdev_fills"] == pytest.approx([0.25, 0.75], abs=0.004)
    assert found((4 * TB, 4 * TB), (TB, 3 * TB)) == {}
    assert found((4 * TB, round(4.11 * TB)), (TB, 3 * TB)) == {}
    assert found((2 * TB, 4 * TB), (0, 3 * TB)) == {}
    assert found((2 * TB, 4 * TB), (TB, 5 * TB)) == {}
    one = [vdev_sizes.DataVdev(small, spec, Space(size=TB, alloc=1))]
    assert not vdev_sizes.find_unequal(PoolOutputs(PoolFiles()), one, 1)
