"""What an import makes of outputs that contradict, repeat or leave out."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.observe.devices.identity import Identity, Inventory
from zsim.observe.devices.usual_sizes import sold_as, usual_bytes
from zsim.observe.evidence.benchmarks import read_benchmarks
from zsim.observe.pool_import import blocks, find_drives, vdev_sizes
from zsim.observe.pool_import.find_drives import PoolDrives, drives_of, find_sizes
from zsim.observe.pool_import.gaps import GAPS, is_gap, unknown_notes
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.pool_import.space import resilvered_alloc
from zsim.observe.texts import duration, moment, nice_bytes, percentage, plain, whole
from zsim.observe.zdb.metaslabs import read_metaslabs
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import read_status
from zsim.observe.zpool.vdev_tree import Vdev
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import vdev_asize

NOON = datetime(2026, 11, 15, 12, 0, 0)
POOL = """\
  pool: tank
 state: ONLINE
  scan: {scan}
config:

\tNAME  STATE  READ WRITE CKSUM
\ttank  ONLINE  0 0 0
{rows}
{end}"""
IDLE, WHOLE = "none requested", "\nerrors: No known data errors\n"
RUNS = (
    "resilver in progress since Sat May 12 19:45:12 2018\n\t6.18T scanned at 644M/s, 4.26T issued at 444M/s,"
    " 6.42T total\n\t123G resilvered, 66.46% done, 0 days 01:24:38 to go"
)


def vdev(kind: str, *rows: str) -> str:
    """Return a vdev and its drives, each a name and what stands behind its counters."""
    named = (row.partition(" ") for row in rows)
    drives = (
        f"\t    {name}  {(note.split() or ['ONLINE'])[0]}  0 0 0  {' '.join(note.split()[1:])}"
        for name, _, note in named
    )
    return "\n".join([f"\t  {kind}  ONLINE  0 0 0", *drives])


def pasted(*vdevs: str, scan: str = IDLE, end: str = WHOLE, more: str = "") -> Any:
    return import_pasted(POOL.format(scan=scan, rows="\n".join(vdevs), end=end) + more)


def names(count: int, begin: str = "sd") -> list[str]:
    return [f"{begin}{chr(97 + number)}" for number in range(count)]


# Vdevs.


def test_a_vdev_that_is_cut_off_is_like_the_last_one_that_may_be_its_like() -> None:
    """Of the same kind and parity, and wider than what is shown."""
    wide, wider, mirror = (
        vdev("raidz2-0", *names(6)),
        vdev("raidz2-1", *names(8, "a")),
        vdev("mirror-2", *names(2, "m")),
    )
    cut = vdev("raidz2-3", *names(5, "b"))
    found = pasted(wide, wider, mirror, cut, end="")
    assert str(found.scenario.layout) == "raidz2x6+raidz2x8+mirror2+raidz2x8"
    assert any("as many drives as raidz2-1, 8" in note for note in found.notes)
    # One that is as wide as all others is taken as it is shown; so is any of an output that is whole.
    assert str(pasted(wide, vdev("raidz2-1", *names(6, "b")), end="").scenario.layout) == "2*raidz2x6"
    assert str(pasted(wide, vdev("raidz1-1", *names(3, "b")), end="").scenario.layout) == "raidz2x6+raidz1x3"
    assert str(pasted(wide, vdev("raidz2-1", *names(5, "b"))).scenario.layout) == "raidz2x6+raidz2x5"
    # That it may be cut off is said of such an output alone.
    for end, said in (("", True), (WHOLE, False)):
        notes = pasted(wide, end=end).notes
        assert any("vdevs may be cut off" in note for note in notes) is said


def test_the_vdev_with_most_to_repair_comes_first_and_others_are_told() -> None:
    one = vdev("raidz2-0", *names(5), "x ONLINE (resilvering)")
    two = vdev("raidz2-1", *names(4, "b"), "y ONLINE (resilvering)", "z ONLINE (resilvering)")
    plain_one = vdev("mirror-2", *names(2, "m"))
    found = pasted(plain_one, one, two, scan=RUNS)
    assert found.scenario.layout.vdevs[0].children == 6
    assert found.scenario.replaced_drives == 2
    assert any("drives of 2 vdevs are resilvered at once" in note for note in found.notes)


LISTED = """NAME           SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
tank            103T  61.0T  42.0T        -         -    12%    59%  1.00x  DEGRADED  -
  raidz2-0     43.6T  21.2T  22.4T        -         -    11%  48.6%      -  DEGRADED
  raidz2-1     58.2T  39.8T  18.4T        -         -    13%  68.4%      -  DEGRADED
"""


def test_of_vdevs_that_are_filled_at_once_the_slowest_is_simulated() -> None:
    """3.5T lie on each drive of the first and 5T on each of the second: the pool's repair ends with that."""
    one = vdev("raidz2-0", *names(5), "x ONLINE (resilvering)")
    two = vdev("raidz2-1", *names(7, "b"), "y ONLINE (resilvering)")
    found = pasted(one, two, scan=RUNS, more=LISTED)
    assert str(found.scenario.layout) == "raidz2x8+raidz2x6"
    (note,) = (each for each in found.notes if "resilvered at once" in each)
    assert "the repair of raidz2-1, which has most to copy to each new drive, is simulated" in note
    assert "--replace-in" not in note


@pytest.mark.parametrize(
    ("gone", "replaced", "note"),
    [
        (1, 1, "is UNAVAIL and not replaced yet: 1 more"),
        (2, 2, "are UNAVAIL and not replaced yet: no other"),
        (0, None, ""),
    ],
)
def test_drives_that_are_gone_are_asked_for(gone: int, replaced: int | None, note: str) -> None:
    rows = [f"{name} UNAVAIL" if place < gone else name for place, name in enumerate(names(6))]
    found = pasted(vdev("raidz2-0", *names(6, "o")), vdev("raidz2-1", *rows))
    assert found.scenario.stated().get("replace") == replaced
    assert any(note in each for each in found.notes)


@pytest.mark.parametrize(
    ("scan", "operation"),
    [
        ("scrub repaired 0B in 01:00:00 with 0 errors on Sun Nov 15 01:17:43 2026", None),
        ("resilvered 1.36T in 02:58:47 with 0 errors on Sat Jan  4 02:07:21 2020", None),
        ("scrub canceled on Sun Nov 15 01:17:43 2026", None),
        ("scrub in progress since Sun Nov 15 01:17:43 2026", "scrub"),
        (RUNS, "resilver"),
    ],
)
def test_what_runs_is_asked_for_and_what_is_over_is_not(scan: str, operation: str | None) -> None:
    rows = [*names(5), "x ONLINE (resilvering)"] if operation == "resilver" else names(6)
    found = pasted(vdev("raidz2-0", *rows), scan=scan)
    assert found.scenario.operation == operation
    assert [each.field for each in found.findings if each.field == "operation"] == ["operation"] * bool(
        operation
    )


def test_no_more_drives_are_replaced_than_a_vdev_can_lose() -> None:
    rows = [f"{name} UNAVAIL" for name in names(3)] + names(3, "b")
    assert pasted(vdev("raidz1-0", *rows)).scenario.replaced_drives == 1


# Sizes.


@pytest.mark.parametrize(
    ("size", "usual"),
    [
        (4 * 10**12, 4 * 10**12), (round(3.94e12), round(3.94e12)), (round(3.95e12), 4 * 10**12),
        (round(4.05e12), 4 * 10**12), (round(4.07e12), round(4.07e12)), (round(1.92e12), 1920 * 10**9),
    ],
)  # fmt: skip
def test_a_size_of_three_digits_is_taken_to_one_that_is_sold(size: int, usual: int) -> None:
    assert usual_bytes(size) == usual


@pytest.mark.parametrize(
    ("size", "sold"),
    [
        (round(3.99e12), 4 * 10**12), (round(4.01e12), 4 * 10**12), (round(4.02e12), None),
        (round(3.93e12), None), (40 * 10**12, None),
    ],
)  # fmt: skip
def test_what_is_used_of_a_drive_is_at_most_its_capacity_but_for_rounding(
    size: int, sold: int | None
) -> None:
    assert sold_as(size) == sold


def told(named: int | None) -> Any:
    return SimpleNamespace(named_size=named, notes=[])


@pytest.mark.parametrize(
    ("named", "size", "found", "notes"),
    [
        (4 * 10**12, round(3.9e12), 4 * 10**12, 0),
        (4 * 10**12, round(4.1e12), 4 * 10**12, 0),
        (4 * 10**12, 2 * 10**12, None, 1),
        (4 * 10**12, None, 4 * 10**12, 0),
        (None, 2 * 10**12, None, 0),
    ],
)
def test_names_tell_the_size_unless_the_pool_shows_another(
    named: int | None, size: int | None, found: int | None, notes: int
) -> None:
    evidence = told(named)
    assert find_sizes(evidence, size) == found
    assert len(evidence.notes) == notes


def test_what_is_allocated_is_divided_as_the_space_is_where_no_row_tells() -> None:
    specs = Layout.parse("mirror2+raidz2x6").vdevs
    data = [vdev_sizes.DataVdev(Vdev("", ""), spec, None) for spec in specs]
    drives = [4 * 10**12, 2 * 10**12]
    spaces = [vdev_asize(spec, drive) for spec, drive in zip(specs, drives, strict=True)]
    held, how = vdev_sizes._held(data, drives, 10**12)
    assert sum(held) == pytest.approx(10**12)
    assert held[0] / held[1] == pytest.approx(spaces[0] / spaces[1])
    assert "divided" in how
    assert vdev_sizes._held(data, drives, None) == ([], "")
    listed = [
        replace(each, space=SimpleNamespace(alloc=alloc)) for each, alloc in zip(data, (7, 0), strict=True)
    ]
    assert vdev_sizes._held(listed, drives, 10**12) == ([7.0, 0.0], "ALLOC of zpool list -v")


def frags(*shares: float | None) -> list[float] | None:
    found: list[float] = []
    evidence: Any = SimpleNamespace(
        find=lambda _name, value, _how: found.extend(value),
        named_source="",
        files=SimpleNamespace(inventory=Inventory),
    )
    spec = Layout.parse("mirror2").vdevs[0]
    rows = [
        vdev_sizes.DataVdev(Vdev("m", "mirror"), spec, SimpleNamespace(frag=share, size=10**12))  # type: ignore[arg-type]
        for share in shares
    ]
    return found if vdev_sizes.find_frags(evidence, rows) else None


def test_fragmentation_is_told_by_vdev_where_all_have_it_and_it_differs() -> None:
    assert frags(0.35, 0.04) == [0.35, 0.04]
    assert frags(0.35, 0.34) is None
    assert frags(0.35, 0.33) == [0.35, 0.33]
    assert frags(0.35, None) is None
    assert frags(0.35) is None


# Drives.


def test_of_a_drive_that_is_gone_the_name_it_was_known_by_counts() -> None:
    [status] = read_status(
        POOL.format(
            scan=RUNS, end=WHOLE,
            rows="\t  mirror-0  DEGRADED 0 0 0\n\t    sda  ONLINE 0 0 0\n\t    replacing-1  DEGRADED 0 0 0\n"
            "\t      1234567890123456789  UNAVAIL 0 0 0  was /dev/disk/by-id/ata-OLD\n"
            "\t      sdc  ONLINE 0 0 0  (resilvering)",
        )
    )  # fmt: skip
    gone = "/dev/disk/by-id/ata-OLD"
    assert drives_of(status.vdevs) == PoolDrives(("sda", gone), ("sdc",), 1, frozenset({gone}))


def host(*models: tuple[str, int]) -> Any:
    listed = [Identity(f"sd{number}{model}", model) for model, count in models for number in range(count)]
    return SimpleNamespace(files=SimpleNamespace(inventory=lambda: Inventory(listed)), notes=[])


@pytest.mark.parametrize(
    ("models", "drives", "gone", "taken"),
    [
        ([("A", 4)], 4, 0, "A"),
        ([("A", 6), ("B", 2)], 4, 0, "A"),
        ([("A", 3), ("B", 2)], 4, 0, None),  # not enough
        ([("A", 4), ("B", 4)], 4, 0, None),  # either
        ([("A", 3)], 4, 1, "A"),  # one is gone, and listed no more
        ([("A", 5), ("B", 3)], 4, 1, None),
        ([("A", 5), ("B", 2)], 4, 1, "A"),
        ([], 4, 0, None),
        ([("A", 4)], 0, 0, None),
    ],
)
def test_drives_without_a_name_are_those_of_which_the_host_alone_has_enough(
    models: list[tuple[str, int]], drives: int, gone: int, taken: str | None
) -> None:
    evidence = host(*models)
    found = find_drives._by_number(evidence, PoolDrives(("gptid/x",) * drives, (), gone))
    assert {each.model for each in found} == ({taken} if taken else set())
    assert len(found) <= drives
    # Where some are listed and none is taken, this is said.
    assert len(evidence.notes) == (not found and bool(models) and drives > 0)


@pytest.mark.parametrize(
    ("on", "off", "state"), [(3, 0, True), (0, 3, False), (2, 1, True), (1, 2, False), (1, 1, False)]
)
def test_most_drives_decide_of_the_write_cache(on: int, off: int, state: bool) -> None:
    found: list[Any] = []
    files = SimpleNamespace(inventory=Inventory)
    evidence: Any = SimpleNamespace(find=lambda *given: found.append(given[:2]), notes=[], files=files)
    known = [Identity(write_cache=each) for each in [True] * on + [False] * off + [None]]
    find_drives._find_write_cache(evidence, known)
    assert found == [("write_cache", state)]
    assert len(evidence.notes) == (on > 0 and off > 0)
    find_drives._find_write_cache(evidence, known[-1:])
    assert len(found) == 1


def test_links_below_what_the_drive_could_are_told_with_what_they_carry() -> None:
    """Ten bits a byte: 1.5 Gb/s carry 150 MB/s."""
    evidence: Any = SimpleNamespace(notes=[])
    links = [(1.5, 6.0), (6.0, 6.0), (None, 6.0), (3.0, None), (3.0, 6.0)]
    known = [Identity(f"sd{n}", link=link, link_limit=limit) for n, (link, limit) in enumerate(links)]
    find_drives._tell_links(evidence, known)
    assert [(note.split()[0], "150 MB/s" in note, "300 MB/s" in note) for note in evidence.notes] == [
        ("sd0", True, False), ("sd4", False, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scan", "alloc"),
    [
        # A tenth of a drive is 40 GB, so that each has 400; a raidz2 of six holds six times that.
        ({"state": "running", "done": 0.1, "repaired": 40 * 10**9}, 6 * 400 * 10**9),
        ({"state": "running", "done": 0.02, "repaired": 10**9}, 6 * 50 * 10**9),
        ({"state": "running", "done": 0.002, "repaired": 10**8}, 6 * 50 * 10**9),
        ({"state": "running", "done": 0.0009, "repaired": 10**8}, None),  # one digit tells nothing yet
        ({"state": "running", "done": None, "repaired": 10**9}, None),
        ({"state": "finished", "repaired": 400 * 10**9}, 6 * 400 * 10**9),
        ({"state": "finished", "repaired": (1 << 36) - 1}, None),  # so little may be a heal
        ({"state": "finished", "function": "scrub", "repaired": 400 * 10**9}, None),
    ],
)
def test_bytes_of_a_resilver_tell_what_all_drives_hold(scan: dict[str, Any], alloc: int | None) -> None:
    told = Scan(**({"function": "resilver"} | scan))
    evidence: Any = SimpleNamespace(statuses=[SimpleNamespace(scans=[told])], named_size=None)
    assert resilvered_alloc(evidence, Layout.parse("raidz2x6"))[0] == alloc


# What blocks tell.


def asked(**known: Any) -> Any:
    """Return evidence in which so much is known; `named_size` and `files` besides."""
    files = SimpleNamespace(pointers=known.pop("pointers", None), statistics=known.pop("statistics", None))
    return SimpleNamespace(
        value=known.get, named_size=known.pop("named_size", None), files=files, notes=[], found=[],
        status=None, listed=None, built=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("known", "open_"),
    [
        ({}, ["drive_size", "fill", "recordsize"]),
        ({"drive": "wd40efrx"}, ["fill", "recordsize"]),
        ({"drive": "generic-nvme-ssd"}, ["drive_size", "fill", "recordsize"]),
        ({"drive": "generic-nvme-ssd", "named_size": 10**12}, ["fill", "recordsize"]),
        ({"drive_size": 10**12, "alloc": 5}, ["recordsize"]),
        ({"drive_size": 10**12, "vdev_fills": (0.1, 0.2)}, ["recordsize"]),
        ({"drive_size": 10**12, "fill": 0.5, "pointers": "a list"}, []),
        ({"drive_size": 10**12, "fill": 0.5, "statistics": "sums"}, []),
        ({"drive_size": 10**12, "pointers": "a list"}, ["fill"]),
        ({"recordsize": 4096, "fill": 0.5}, ["drive_size"]),
    ],
)
def test_what_is_open_is_said_in_one_sentence_with_the_commands_that_tell(
    known: dict[str, Any], open_: list[str]
) -> None:
    notes = unknown_notes(asked(**known))
    assert len(notes) == bool(open_)
    for note in notes:
        assert is_gap(note)
        assert [field for field, *_ in GAPS if f"--set {field}=" in note] == open_
        for field, _, words, command in GAPS:
            assert (words in note) is (command in note) is (field in open_)


@pytest.mark.parametrize(
    ("layout", "unit", "ashift"),
    [
        ("mirror2", 4096, 12),
        ("mirror2", 512, 9),
        ("raidz2x6", 3 * 4096, 12),  # one more than its parity: no block takes less
        ("raidz2x6", 4096, None),
        ("raidz1x3", 2 * 8192, 13),
        ("mirror2", 3 * 4096, None),
        ("mirror2", 0, None),
        ("raidz2x6+mirror2", 3 * 4096, None),
    ],
)
def test_what_divides_all_allocations_tells_the_sector(layout: str, unit: int, ashift: int | None) -> None:
    specs = Layout.parse(layout).vdevs
    found: list[Any] = []
    evidence: Any = SimpleNamespace(
        find=lambda *given: found.append(given[1]),
        status=None,
        files=SimpleNamespace(pointers=SimpleNamespace(unit=unit), of=lambda kind: []),
    )
    tops: Any = SimpleNamespace(vdevs=[Vdev("", "")], uniform=len(set(specs)) == 1, specs=specs)
    blocks._find_ashift(evidence, tops)
    assert found == ([] if ashift is None else [ashift])


FIO_JOB = (
    "{name}: (g=0): rw={mode}, bs=(R) {size}-{size}, "
    "(W) {size}-{size}, (T) {size}-{size}, ioengine=libaio, iodepth={depth}\n"
)
FIO_RESULT = "   read: IOPS={count}, BW={rate}MiB/s (1MB/s)(1MiB/1msec)\n"


def jobs(*rows: tuple[str, str, str, int]) -> str:
    return "".join(
        FIO_JOB.format(name=name, mode=mode, size=size, depth=depth) for name, mode, size, depth in rows
    )


def test_jobs_of_fio_have_their_results_in_the_same_order() -> None:
    heads = jobs(("one", "randread", "4096B", 1), ("two", "read", "1024KiB", 8))
    results = FIO_RESULT.format(count=100, rate=2) + FIO_RESULT.format(count=50, rate=50)
    (first, second), _ = read_benchmarks(heads + results)
    assert (first.access, first.size, first.depth, first.operations) == ("random-read", 4096, 1, 100)
    assert (second.access, second.size, second.depth, second.rate) == (
        "sequential-read",
        1 << 20,
        8,
        50 << 20,
    )
    # Where there are more heads than results, a result belongs to the last head before it.
    more = heads + results + jobs(("three", "read", "4096B", 1))
    assert [each.access for each in read_benchmarks(more)[0]] == ["sequential-read"] * 2


# Texts.


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2.84T", round(2.84 * 2**40)), ("2,5K", 2560), ("1.48K", 1516), ("7", 7), ("0", 0), ("1z", 2**70),
        ("1E", 2**60),
        ("12MiB", 12 * 2**20), ("3B", 3), ("", None), ("-1", None), ("1.5.2K", None), ("1KK", None),
        ("9E", None),
        ("x", None),
    ],
)  # fmt: skip
def test_sizes_as_zfs_prints_them(text: str, size: int | None) -> None:
    expected = None if size is not None and size > 2**63 - 1 else size
    found = nice_bytes(text)
    assert found == expected if expected is None else found is not None and abs(found - expected) <= 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        (" 12 ", 12),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), None),
        ("1" * 20, None),
        ("1.0", None),
        ("٣", None),
    ],
)
def test_whole_numbers_fit_64_bits(text: str, number: int | None) -> None:
    assert whole(text) == number


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("23%", 0.23),
        ("23", 0.23),
        ("8,53%", 0.0853),
        ("100%", 1.0),
        ("101%", None),
        ("0.000001%", 1e-8),
        ("%", None),
        ("-1%", None),
    ],
)
def test_shares_are_fractions_of_one(text: str, share: float | None) -> None:
    assert percentage(text) == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("Fri Aug  1 12:41:48 AM 2014", (2014, 8, 1, 0, 41, 48)),
        ("Fri Aug  1 12:41:48 PM 2014", (2014, 8, 1, 12, 41, 48)),
        ("Fri Aug  1 01:41 pm 2014", (2014, 8, 1, 13, 41, 0)),
        ("2014-08-31 23:59:59", (2014, 8, 31, 23, 59, 59)),
        ("Dec 31 1999 00:00", (1999, 12, 31, 0, 0, 0)),
        ("x" * 60 + " 2014-08-31 23:59", (2014, 8, 31, 23, 59, 0)),
        ("x" * 63 + " 2014-08-31 23:59", (2014, 8, 31, 23, 59, 0)),
        ("x" * 64 + " 2014-08-31 23:59", None),  # no line of any tool has its date so far in
        ("2014-02-30 10:00", None),
        ("2014-02-28 24:00", None),
        ("2014-02-28", None),
    ],
)
def test_dates_are_those_of_a_calendar_and_a_clock(text: str, when: tuple[int, ...] | None) -> None:
    assert moment(text) == (None if when is None else datetime(*when))  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1h30m", 5400.0), ("2 days 03:04:05", 183845.0), ("x" * 30, None), ("", None), ("٣h", None)],
)
def test_durations_as_zpool_prints_them(text: str, seconds: float | None) -> None:
    assert duration(text) == seconds


def test_text_of_others_is_shown_in_one_line_of_bounded_length() -> None:
    assert plain("a\n\tb\x1b[1m") == "a b [1m"
    assert plain("x" * 80) == "x" * 80
    assert plain("x" * 81) == "x" * 77 + "..."
    assert plain("abcdef", 5) == "ab..."


METASLAB = "        metaslab {number}   offset {offset:x}   spacemap 0   free {free}\n"


def test_metaslabs_tell_size_alloc_and_mean_fragmentation() -> None:
    """Two of 1 GiB: the distance of their offsets; what is not free is allocated; none known counts as 0."""
    row = "     fragmentation {share}%\n"
    text = "Metaslabs:\n\tvdev          0   ms_unflushed_phys object 5\n" + METASLAB.format(
        number=0, offset=0, free="256M"
    )
    text += row.format(share=30) + METASLAB.format(number=1, offset=1 << 30, free="1.00G")
    found = read_metaslabs(text)
    assert (found.size, found.alloc) == (2 << 30, (2 << 30) - (1 << 30) - (256 << 20))
