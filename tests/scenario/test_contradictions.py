"""What cannot be true together, and what next to it can: each rule on both of its sides."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.scenario.asked import scenario_of
from zsim.scenario.model import Scenario

SPECIAL = "raidz2x6+special:mirror2"
WIDE = {"layout": "mirror3", "old_drive": "online"}


@pytest.mark.parametrize(
    "fields",
    [
        {"vdev_fills": "80%,30%", "layout": "2*mirror2"}, {"vdev_fills": "1%,99%", "layout": "2*mirror2"},
        {"vdev_fills": "50%", "layout": "mirror2+log:disk"}, {"vdev_frags": "0%,100%", "layout": "2*mirror2"},
        {"fill": 0.5}, {"alloc": "1T"}, {"block_list": "x"},
        {"special_small_blocks": "32K", "layout": SPECIAL}, {"special_added_at": 0.5, "layout": SPECIAL},
        {"special_drive": "x", "layout": "raidz2x6+log:disk"},
        {"special_drive_size": "1TB", "layout": SPECIAL},
        {"replace_in": 1, "layout": SPECIAL}, {"replace_in": "special", "layout": SPECIAL},
        {"replace_in": 0, "layout": "mirror2+log:mirror2"},
        {"recordsize": "1M", "release": "solaris-11.1"}, {"recordsize": "128K", "release": "freebsd-9.1"},
        {"recordsize": "16M"}, {"recordsize": 512},
        {"order": "sorted"}, {"order": "legacy", "tunables": {"zfs_scan_legacy": 1}},
        {"order": "sorted", "tunables": {"zfs_scan_legacy": 0}},
        {"layout": SPECIAL, "release": "openzfs-0.8"}, {"layout": "raidz2x6+log:disk", "release": "zol-0.7"},
        {"layout": "mirror2", "operation": "rebuild", "release": "openzfs-2.0"},
        {"layout": "draid1:4d:8c:1s", "operation": "rebuild", "release": "openzfs-2.1"},
        {"layout": SPECIAL, "operation": "rebuild", "replace_in": "special"},
        {"layout": "raidz1x4+1", "rewritten": 0.5}, {"layout": "mirror2+raidz1x4+1", "rewritten": 0.5},
        {"layout": "disk", "operation": "scrub"}, {"layout": "mirror2+disk"},
        {"old_drive": "overwritten", "operation": "scrub"},
        {"layout": "mirror2", "second_at": 0.5}, {**WIDE, "replace": 2, "second_at": 0.5},
        {"layout": "draid2:4d:9c:2s", "target": "distributed-spare", "replace": 2},
        {"replace": 2}, {"replace": 6, "old_drive": "online"}, {"layout": "mirror3", "replace": 2},
        {"autosit": True, "release": "openzfs-2.4", "layout": "raidz1x5"},
        {"autosit": False, "release": "openzfs-2.3"},
        {"slow": "1:x2"}, {"slow": "6:x2"}, {"slow": "0:x2", "old_drive": "online"},
        {"slow": "7:x2", "replace": 2}, {"slow": "0:x2", "operation": "scrub"},
        {"slow": "2:x2", "replace": 2}, {"slow": "4:x2", "layout": "raidz1x4", "operation": "expand"},
        {"slow": "0:x2", "layout": "raidz1x4", "operation": "expand"},
        {"slow": "5:x2", "layout": "3*mirror2", "operation": "remove"},
        {"slow": ["1:x2", "2:x2"], "bad_sectors": "1:5", "attached": "1:no-ncq"},
        {"exchanged": "0:@8TB"}, {"exchanged": ["5:@8TB", "4:@8TB"]},
        {"ports": "pm:0-5,new"}, {"ports": ["pm:0", "pm:1"]}, {"ports": "pm:6"},
        {"ports": "pm:7", "replace": 2}, {"ports": "pm:0-5", "operation": "scrub"},
        {"drive_size": "1000TB"}, {"memory": "64M"},
        {"load": "random-read,rate=1,hours=8-18", "begins": "fri 13:41"},
        {"tunables": {"zfs_txg_timeout": "8 22:00-06:00"}, "begins": "fri 13:41"},
    ],
)  # fmt: skip
def test_what_can_be_true_together(fields: dict[str, Any]) -> None:
    scenario = Scenario.from_dict({"layout": "raidz2x6", **fields})
    assert Scenario.from_dict(scenario.stated()) == scenario


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"vdev_fills": "80%,30%,1%", "layout": "2*mirror2"}, "vdev_fills .*has 2 data vdevs, 3 shares"),
        ({"vdev_fills": "0%,30%", "layout": "2*mirror2"}, "vdev_fills .*above 0 and below 1"),
        ({"vdev_fills": "100%,30%", "layout": "2*mirror2"}, "vdev_fills .*above 0 and below 1"),
        ({"vdev_fills": "50%", "fill": 0.5}, "fill .*vdev_fills says how full"),
        ({"vdev_fills": "50%", "alloc": "1T"}, "alloc .*vdev_fills says how full"),
        ({"vdev_fills": "50%", "block_list": "x"}, "block_list .*vdev_fills says how full"),
        ({"vdev_frags": "5%", "block_list": "x"}, "block_list .*vdev_frags says"),
        ({"vdev_frags": "5%,101%", "layout": "2*mirror2"}, "vdev_frags"),
        ({"fill": 0.5, "block_list": "x"}, "fill .*block_list says how full"),
        ({"special_small_blocks": "32K"}, "special_small_blocks .*has no special vdev"),
        ({"special_added_at": 0.5, "layout": "raidz2x6+log:disk"}, "special_added_at .*no special vdev"),
        ({"special_drive": "x"}, "special_drive .*data vdevs only"),
        ({"special_drive_size": "1TB"}, "special_drive_size .*data vdevs only"),
        ({"replace_in": 2, "layout": SPECIAL}, "replace_in .*vdevs 0 to 1"),
        ({"replace_in": "special", "layout": SPECIAL, "operation": "scrub"}, "a scrub replaces nothing"),
        ({"replace_in": 1, "layout": "mirror2+log:mirror2"}, "vdev 1 of .* is for the intent log"),
        ({"history": "a\x1bb"}, "history .*characters that are not printed"),
        ({"ports": "a\u202eb:1"}, "ports .*characters that are not printed"),
        ({"recordsize": "256K", "release": "freebsd-9.1"}, "512 to 128K"),
        ({"recordsize": "2M", "release": "solaris-11.1"}, "512 to 1M"),
        ({"recordsize": 768}, "power of two"),
        ({"order": "sorted", "tunables": {"zfs_scan_legacy": "on"}}, "zfs_scan_legacy=1 contradicts"),
        ({"order": "sorted", "tunables": {"zfs_scan_legacy": "true"}}, "zfs_scan_legacy=1 contradicts"),
        ({"layout": SPECIAL, "release": "zol-0.7"}, "no allocation classes"),
        ({"layout": "raidz2x6+dedup:mirror2", "release": "zol-0.7"}, "no allocation classes"),
        ({"layout": "draid1:4d:8c:1s", "operation": "rebuild", "release": "openzfs-2.0"}, "has no dRAID"),
        ({"layout": SPECIAL, "operation": "rebuild"}, "RAID-Z has no sequential rebuild"),
        ({"rewritten": 0.5}, "rewritten .*no vdev of raidz2x6 was expanded"),
        ({"layout": "disk"}, "a single drive has nothing to resilver from"),
        ({"layout": "disk+mirror2"}, "a single drive has nothing to resilver from"),
        ({"old_drive": "overwritten"}, "only a scrub repairs"),
        ({"layout": "mirror2", "operation": "rebuild", "second_at": 0.5}, "join a healing resilver"),
        ({"layout": "draid2:4d:9c:2s", "target": "distributed-spare", "second_at": 0.5}, "healing resilver"),
        ({**WIDE, "replace": 3, "second_at": 0.5}, "mirror3 has no drive left"),
        ({"layout": "draid2:4d:9c:2s", "target": "distributed-spare", "replace": 3}, "2 distributed spares"),
        ({"layout": "draid2:4d:9c:2s", "target": "distributed-spare", "new_drive_size": "1TB"}, "no drive"),
        ({"replace": 3}, "at most 2 can be replaced at once, else its data is lost; set old_drive to online"),
        ({"replace": 7, "old_drive": "online"}, "at most 6 can be replaced at once"),
        ({"layout": "mirror2", "replace": 2}, "at most 1 can be replaced"),
        ({"autosit": True, "release": "openzfs-2.3"}, "openzfs-2.3.* has no autosit"),
        ({"autosit": True, "release": "openzfs-2.4", "layout": "raidz1x4"}, "five drives or more"),
        ({"autosit": True, "release": "openzfs-2.4", "layout": "mirror5"}, "five drives or more"),
        ({"slow": "0:x2"}, "the one that failed"), ({"slow": "1:x2", "replace": 2}, "the one that failed"),
        ({"slow": "7:x2"}, "counted from 0 to 6"), ({"slow": "8:x2", "replace": 2}, "counted from 0 to 7"),
        ({"slow": "6:x2", "operation": "scrub"}, "counted from 0 to 5"),
        ({"slow": "5:x2", "layout": "raidz1x4", "operation": "expand"}, "counted from 0 to 4"),
        ({"slow": "6:x2", "layout": "3*mirror2", "operation": "remove"}, "counted from 0 to 5"),
        ({"bad_sectors": ["1:5", "1:6"]}, "drive 1 is named twice"),
        ({"attached": ["1:no-ncq", "1:no-ncq"]}, "drive 1 is named twice"),
        ({"exchanged": "6:@8TB"}, "counted from 0 to 5"),
        ({"exchanged": ["5:@8TB", "5:@9TB"]}, "drive 5 is named twice"),
        ({"ports": "pm:7"}, "are 0 to 5 and new"), ({"ports": "pm:6", "operation": "scrub"}, "are 0 to 5"),
        ({"ports": ["pm:new", "pm:6"]}, "drive 6 is behind pm:new already"),
        ({"drive_size": "1001TB"}, "there is no drive beyond"), ({"memory": "63M"}, "64M or more"),
        ({"tunables": {"zfs_txg_timeout": "8 22:00-06:00"}}, "begins .*a tunable with hours"),
        ({"layout": "2*mirror2+special:mirror2", "operation": "remove", "replace_in": "special"},
         "only data vdevs are removed"),
        ({"layout": "2*mirror2", "operation": "remove", "block_list": "x"}, "block_list .*not simulated yet"),
        ({"layout": "2*mirror2", "operation": "remove", "metaslabs": "x"}, "metaslabs .*not simulated yet"),
    ],
)  # fmt: skip
def test_what_cannot_be_true_together(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Scenario.from_dict({"layout": "raidz2x6", **fields})


REPLACED = {
    "replace": 1, "second_at": 0.5, "old_drive": "online", "target": "new-drive", "new_drive": "x",
    "new_drive_size": "8TB",
}  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "layout", "words", "told"),
    [
        ("scrub", "raidz2x6", "a scrub replaces nothing", 6),
        ("expand", "raidz2x6", "adds one drive and replaces none", 4),
        ("remove", "3*mirror2", "a removal replaces no drive", 4),
    ],
)
def test_what_replaces_nothing_says_so_of_all_that_is_replaced(
    operation: str, layout: str, words: str, told: int
) -> None:
    """Nothing that is replaced can be stated; of a scrub not even which drive would replace it."""
    for field, value in list(REPLACED.items())[:told]:
        with pytest.raises(InputError, match=f"^{field} .*{words}"):
            Scenario.from_dict({"layout": layout, "operation": operation, field: value})
    if operation != "scrub":
        with pytest.raises(InputError, match=f"^old_drive .*{words}"):
            Scenario.from_dict({"layout": layout, "operation": operation, "old_drive": "overwritten"})
    plain = Scenario.from_dict({"layout": layout, "operation": operation})
    assert plain.operation == operation


SAID_OTHERWISE: list[dict[str, object]] = [
    {"fill": 0.6},
    {"alloc": "20T"},
    {"vdev_fills": [0.8, 0.3]},
]


@pytest.mark.parametrize("before", SAID_OTHERWISE)
@pytest.mark.parametrize("after", SAID_OTHERWISE)
def test_how_full_a_pool_is_is_set_otherwise_by_any_of_its_fields(
    before: dict[str, object], after: dict[str, object]
) -> None:
    plain: dict[str, object] = {"layout": "2*raidz1x5", "drive_size": "8TB"}
    base, wanted = Scenario.from_dict(plain | before), Scenario.from_dict(plain | after)
    assert base.changed(after) == scenario_of(base, after) == scenario_of(plain | before, after) == wanted
    (name, value), *_ = after.items()
    assert base.with_overrides([f"{name}={value}"]) == wanted


def test_a_product_that_is_stated_brings_its_own_release() -> None:
    base = Scenario(layout="mirror2", release="openzfs-2.3")
    assert scenario_of(base, {"product": "freebsd-14.3"}).stated() == {
        "layout": "mirror2",
        "product": "freebsd-14.3",
    }
    with pytest.raises(InputError, match="ships openzfs-2.2.7"):
        Scenario(layout="mirror2", release="openzfs-2.3", product="freebsd-14.3")
