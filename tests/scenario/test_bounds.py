"""The ends of what fields of a scenario take, and what lies beyond them."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.scenario.model import Scenario
from zsim.scenario.one_drive.slow import SlowDrive

MIB, TB = 1 << 20, 10**12


def stated(**fields: Any) -> Scenario:
    return Scenario.from_dict({"layout": "raidz2x6+special:mirror2", **fields})


def read(field: str, value: Any, **more: Any) -> Any:
    """Return a field of a scenario as it is read."""
    return getattr(stated(**{field: value}, **more), "replaced_drives" if field == "replace" else field)


@pytest.mark.parametrize(
    ("field", "least", "most", "below", "above"),
    [
        ("fill", 1e-9, 1.0, 0.0, 1.01),
        ("ashift", 9, 16, 8, 17),
        ("cpus", 1, 4096, 0, 4097),
        ("hz", 10, 100_000, 9, 100_001),
        ("seed", 0, 2**63 - 1, -1, 2**63),
        ("precision", 1e-9, 0.999, 0.0, 1.0),
        ("special_small_blocks", 0, 16 * MIB, -1, 16 * MIB + 1),
        ("special_added_at", 1e-9, 0.999, 0.0, 1.0),
        ("second_at", 0.0, 0.999, -0.1, 1.0),
        ("drive_size", 1, 10**15, 0, 10**15 + 1),
        ("new_drive_size", 1, 10**15, 0, 10**15 + 1),
        ("special_drive_size", 1, 10**15, 0, 10**15 + 1),
        ("memory", 64 * MIB, 1 << 60, 64 * MIB - 1, None),
        ("alloc", 1, 10**15, 0, None),
        ("recordsize", 512, 16 * MIB, 256, 32 * MIB),
        ("replace_in", 0, 1, -1, 2),
        ("frag", 0.0, 1.0, -0.01, 1.01),
    ],
)
def test_numbers_have_ends(field: str, least: Any, most: Any, below: Any, above: Any) -> None:
    for value in (least, most):
        assert read(field, value) == (str(value) if field == "replace_in" else value)
    for value in (below, above):
        if value is not None:
            with pytest.raises(InputError, match=f"^{field} "):
                read(field, value)


def test_counts_of_vdevs_and_of_replaced_drives_have_ends() -> None:
    for vdevs in (1, 10_000):
        assert Scenario.from_dict({"layout": "mirror2", "vdevs": vdevs}).vdevs == vdevs
    for vdevs in (0, 10_001):
        with pytest.raises(InputError, match="^vdevs "):
            Scenario.from_dict({"layout": "mirror2", "vdevs": vdevs})
    wide: dict[str, Any] = {"layout": "mirror255", "old_drive": "online"}
    for count in (1, 255):
        assert Scenario.from_dict({**wide, "replace": count}).replaced_drives == count
    for count in (0, 256):
        with pytest.raises(InputError, match="^replace "):
            Scenario.from_dict({**wide, "replace": count})


@pytest.mark.parametrize(
    "field",
    ["drive", "new_drive", "special_drive", "release", "product", "enclosure", "history", "block_list",
     "blocks", "metaslabs"],
)  # fmt: skip
def test_a_name_has_a_letter_at_least(field: str) -> None:
    with pytest.raises(InputError, match=f"^{field} ''"):
        read(field, "")


@pytest.mark.parametrize("field", ["drive", "history", "block_list", "blocks", "metaslabs", "new_drive"])
def test_a_name_of_one_letter_is_one(field: str) -> None:
    assert read(field, "x") == "x"


# --- evidence


RUNNING = {"what": "running", "kind": "scrub"}
FINISHED = {"what": "finished", "kind": "scrub", "duration": 1.0}
DRIVE = {"what": "drive", "drive": "sda"}
BENCHMARK = {"what": "benchmark", "access": "random-read"}
CLASS = {"what": "class", "alloc_class": "special", "held": 1}


@pytest.mark.parametrize(
    ("whole", "fields"),
    [
        (RUNNING, ("elapsed", "scanned", "issued", "processed", "scan_rate", "issue_rate", "to_go")),
        (FINISHED, ("processed", "errors")),
        (DRIVE, ("leaf", "reads", "writes", "read_rate", "write_rate", "service", "queue", "read_errors",
                 "write_errors", "checksum_errors", "slow_ios")),
    ],
)  # fmt: skip
def test_what_was_counted_or_timed_may_be_nothing_and_no_less(
    whole: dict[str, Any], fields: tuple[str, ...]
) -> None:
    for field in fields:
        (found,) = stated(evidence=[{**whole, field: 0}]).evidence or ()
        assert getattr(found, field) == 0
        with pytest.raises(InputError):
            stated(evidence=[{**whole, field: -1}])


@pytest.mark.parametrize(
    ("whole", "fields", "least"),
    [
        (RUNNING, ("resolution",), 0.5), (RUNNING, ("total", "total_issue", "vdevs"), 1),
        (FINISHED, ("duration", "resolution"), 0.5), (FINISHED, ("alloc", "drives"), 1),
        (DRIVE, ("read_request", "write_request"), 1), (BENCHMARK, ("rate", "operations"), 0.5),
        (BENCHMARK, ("size", "depth"), 1), (CLASS, ("held", "alloc"), 1),
    ],
)  # fmt: skip
def test_what_is_there_is_more_than_nothing(
    whole: dict[str, Any], fields: tuple[str, ...], least: float
) -> None:
    for field in fields:
        (found,) = stated(evidence=[{**whole, field: least}]).evidence or ()
        assert getattr(found, field) == least
        with pytest.raises(InputError):
            stated(evidence=[{**whole, field: 0}])


def test_rows_of_a_histogram_grow_and_names_are_short() -> None:
    for step in (1.5, 16.0):
        (found,) = stated(evidence=[{**DRIVE, "step": step}]).evidence or ()
        assert found.step == step  # type: ignore[union-attr]
    for wrong in ({"step": 1.0}, {"step": 16.1}, {"drive": ""}, {"drive": "x" * 301}, {"source": "x" * 301}):
        with pytest.raises(InputError):
            stated(evidence=[{**DRIVE, **wrong}])
    (named,) = stated(evidence=[{**DRIVE, "drive": "x" * 300, "source": "y" * 300}]).evidence or ()
    assert len(named.source) == 300


def test_what_is_not_said_of_a_scan_is_a_second_and_one_vdev() -> None:
    (running, finished) = stated(evidence=[RUNNING, FINISHED]).evidence or ()
    assert (running.resolution, running.vdevs) == (1.0, 1)  # type: ignore[union-attr]
    assert finished.resolution == 1.0  # type: ignore[union-attr]


# --- what is said of one drive


@pytest.mark.parametrize(
    ("text", "factor", "share", "seconds"),
    [
        ("0:x1000", 1000.0, 0.0, 0.0), ("0:2.5x", 2.5, 0.0, 0.0), ("0:100%@1h", 1.0, 1.0, 3600.0),
        ("0:x2, 0.5%@20ms", 2.0, 0.005, 0.02), ("0:0%@0s", 1.0, 0.0, 0.0),
    ],
)  # fmt: skip
def test_a_slow_drive_takes_longer_always_or_now_and_then(
    text: str, factor: float, share: float, seconds: float
) -> None:
    found = SlowDrive.model_validate(text)
    assert (found.factor, found.stutter_share, found.stutter_s) == (factor, share, seconds)
    assert SlowDrive.model_validate(str(found)) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1:x0.5", "factor"), ("1:x1001", "factor"), ("1:101%@1s", "stutter_share"),
        ("1:1%@3601s", "stutter_s"), ("1:1%@0s", "needs how long they take"), ("1:fast", "xFACTOR"),
        ("1:on=2h,off=3h", "spells have"), ("1:x2,on=2h", "spells have"), ("1:x2,off=2h", "spells have"),
        ("1:x2,on=0s,off=2h", "on_s"), ("1:x2,on=2h,off=0s", "off_s"), ("x2", "DRIVE:xFACTOR"),
    ],
)  # fmt: skip
def test_what_is_no_slow_drive_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        stated(slow=[text], old_drive="online")


def test_how_slow_a_drive_is_stands_beside_its_model() -> None:
    words = {text: SlowDrive.model_validate(f"3:{text}").words for text in (
        "x1", "x2.5", "x5,on=2h,off=20h", "1%@200ms", "x3,2%@1s"
    )}  # fmt: skip
    assert words == {
        "x1": "", "x2.5": "2.5x slower", "x5,on=2h,off=20h": "5x slower at times",
        "1%@200ms": "1 % of reads take 200 ms", "x3,2%@1s": "3x slower, 2 % of reads take 1 s",
    }  # fmt: skip
    texts = ("3:x1", "3:x2.5,1%@200ms", "3:x5,on=7200s,off=72000s", "3:1%@1s", "3:1%@1.5s")
    assert [str(SlowDrive.model_validate(text)) for text in texts] == list(texts)


def test_bad_sectors_are_counted_to_a_thousand_million_and_a_limit_is_a_time_or_none() -> None:
    for count in (1, 10**9):
        (found,) = stated(bad_sectors=[{"drive": 3, "count": count}]).bad_sectors or ()
        assert str(found) == f"3:{count}"
    for count in (0, 10**9 + 1):
        with pytest.raises(InputError, match="count"):
            stated(bad_sectors=[{"drive": 3, "count": count}])
    assert (stated(erc="7s").erc, stated(erc="None").erc, stated(erc=0.5).erc) == (7.0, 0.0, 0.5)
    with pytest.raises(InputError, match="^erc "):
        stated(erc=[7])


def test_exchanged_drives_have_a_model_or_a_size() -> None:
    texts = {"0:mg08aca16": ("mg08aca16", None), "0:@8TB": (None, 8 * TB), "5:x@1TB": ("x", TB)}
    for text, wanted in texts.items():
        (found,) = stated(exchanged=[text]).exchanged or ()
        assert (found.model, found.size, str(found)) == (*wanted, text)
    for wrong in ("0:", "0", "0:@0TB", "x:y"):
        with pytest.raises(InputError):
            stated(exchanged=[wrong])


# --- loads


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        ({"rate": 1e9}, True), ({"rate": 1.1e9}, False), ({"rate": 0}, False), ({"threads": 1}, True),
        ({"threads": 10_000}, True), ({"threads": 10_001}, False), ({"threads": 0}, False),
        ({"share": 1.0}, True), ({"share": 0}, False), ({"bandwidth": 0.5}, True), ({"bandwidth": 0}, False),
        ({"rate": 1, "size": 512}, True), ({"rate": 1, "size": 511}, False),
        ({"rate": 1, "size": 1 << 30}, True), ({"rate": 1, "size": (1 << 30) + 1}, False),
        ({"rate": 1, "threads": 1}, False), ({}, False), ({"rate": 1, "think": 1.0}, False),
        ({"threads": 2, "think": 1.0}, True),
    ],
)  # fmt: skip
def test_a_load_has_one_amount_within_its_ends(more: dict[str, Any], fits: bool) -> None:
    load = {"kind": "random-read", **more}
    if fits:
        (found,) = stated(load=[load]).load or ()
        assert {name: getattr(found, name) for name in more} == more
    else:
        with pytest.raises(InputError):
            stated(load=[load])
