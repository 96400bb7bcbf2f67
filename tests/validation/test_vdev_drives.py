"""Which drives each vdev has, and which vdev an event is about, as rows say it in words."""

import json
from pathlib import Path

import pytest

from zsim.scenario.layout import Layout
from zsim.validation.field_reports.layout_words import layout_text, layouts_of_unknown_kind
from zsim.validation.field_reports.layouts import layouts_of
from zsim.validation.field_reports.vdev_drives import event_vdev, shares_of_data, unequal_vdevs, vdev_drives
from zsim.validation.progress.pairs import capacity_in, fields_before, shingled_in
from zsim.validation.progress.rows import layout_of

PAIRS = Path(__file__).parents[2] / "validation" / "running-scans" / "pairs.jsonl"
TB = 10**12


@pytest.mark.parametrize(
    ("layout", "words", "drives"),
    [
        ("2*mirror2", "2x Toshiba MD04ACA400, 2x DT01ACA200 (+WD80EMAZ)", (4 * TB, 2 * TB)),
        ("2*mirror2", "mirror-0: 2x Toshiba MD04ACA400 (4 TB); mirror-1: DT01ACA200", (4 * TB, 2 * TB)),
        ("2*mirror2", "WD40EFRX+ST4000VN008 | WD20EARX+ST2000DM001", (4 * TB, 2 * TB)),
        ("raidz1x3+raidz1x4", "3x 4 TB, 4 * WD20EARX", (4 * TB, 2 * TB)),
        ("mirror2+mirror2", "2x 8 TB; WD40EFRX and WD20EARX", (8 * TB, 2 * TB)),
        ("2*mirror2", "2x Toshiba MD04ACA400", None),
        ("2*mirror2", "2x Toshiba MD04ACA400, two others", None),
        ("3*mirror2", "mirror-1: DT01ACA200", None),
    ],
)
def test_drives_are_told_vdev_by_vdev(layout, words, drives):
    assert vdev_drives(words, Layout.parse(layout)) == drives


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("mirror-1 only, the emptier one", 1),
        ("the emptier one", 1),
        ("the larger mirror", 0),
        ("second mirror only", 1),
        ("the last vdev", 2),
        ("vdev 2", 2),
        ("raidz2-0", 0),
        ("mirror-7", None),
        ("one of two mirrors", None),
        ("target SMR", None),
    ],
)
def test_words_name_the_vdev_of_an_event(words, number):
    layout = Layout.parse("3*mirror2")
    assert event_vdev(words, layout, (4 * TB, 2 * TB, 3 * TB)) == number


def test_equal_drives_leave_the_emptier_vdev_open():
    assert event_vdev("the emptier one", Layout.parse("2*mirror2"), (TB, TB)) is None
    assert event_vdev("the emptier one", Layout.parse("2*mirror2")) is None


def test_data_goes_by_space():
    layout = Layout.parse("mirror2+mirror2")
    assert shares_of_data(layout, (4 * TB, 2 * TB)) == pytest.approx([2 / 3, 1 / 3])
    assert shares_of_data(layout, (4 * TB, 3 * TB)) is None
    fields = {"alloc": 3 * TB, "release": "openzfs-2.1", "operation": "resilver", "layout": "mirror2"}
    found = unequal_vdevs(fields, layout, (4 * TB, 2 * TB), 1)
    assert found["vdev_fills"] == pytest.approx([0.5, 0.25], abs=0.005)
    assert (found["layout"], found["drive_size"], found["replace_in"]) == ("2*mirror2", 4 * TB, 1)
    assert "alloc" not in found
    assert "replace_in" not in unequal_vdevs(fields | {"operation": "scrub"}, layout, (4 * TB, 2 * TB), 1)
    # More than the vdevs hold is not divided.
    assert unequal_vdevs(fields | {"alloc": 9 * TB}, layout, (4 * TB, 2 * TB), 1) is None


def test_a_resilver_of_the_emptier_mirror_is_asked_for():
    row = next(each for each in map(json.loads, PAIRS.read_text().splitlines()) if each["id"] == "ko-vault")
    fields = fields_before(row, row["events"], 1)
    assert (fields["replace_in"], fields["layout"]) == (1, "2*mirror2")
    # Of 4.64T the mirror of 2 TB drives holds a third; the resilver wrote 1.36T.
    assert fields["vdev_fills"][1] * 2 == pytest.approx(fields["vdev_fills"][0], rel=1e-3)
    assert "replace_in" not in fields_before(row, row["events"], 2)


def test_vdevs_of_no_kind_stand_for_each_that_has_their_width():
    assert layouts_of_unknown_kind("3 vdevs of 6") == ("3*raidz1x6", "3*raidz2x6")
    assert layouts_of_unknown_kind("two vdevs of 2 drives") == ("2*mirror2",)
    assert layouts_of_unknown_kind("3 vdevs of 6, raidz2") == ()
    assert layouts_of({"vdev": "3 vdevs of 6"}) == ("3*raidz1x6", "3*raidz2x6")
    assert layout_of("3 vdevs of 6") == "3*raidz2x6"
    assert layout_text(layout_of("raidz2, 3 vdevs of 6")) == "3*raidz2x6"


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("2 TB CMR, then 6 TB SMR", 2 * TB),
        ("WD60EFRX/WD60EFAX, target WD80EFZZ", 6 * TB),
        ("HTS547550A9E384 + ST9500325AS / ST3500418AS", TB / 2),
        ("ST12000NM005G", 12 * TB),
        ("same disks, 2 GB partitions", 2e9),
        ("WD60EFRX / WD60EFAX partitions", None),
        ("SAS HDD", None),
    ],
)
def test_names_tell_the_capacity_of_the_drives_a_pool_began_with(words, size):
    assert capacity_in(words) == size


def test_a_shingled_drive_that_came_later_has_its_own_size():
    words, fields = "2 TB CMR, then 6 TB SMR", {"drive_size": 2 * TB}
    assert shingled_in(words, "target SMR", fields)["new_drive_size"] == 6 * TB
    both = shingled_in(words, "source and target SMR", fields)
    assert (both["drive"], both["drive_size"]) == ("generic-5400rpm-smr", 6 * TB)
    assert shingled_in(words, "CMR pair", fields) == {}
    assert shingled_in("WD40EFAX", "target SMR", fields)["new_drive_size"] == 2 * TB
