"""Enclosures: files, trees, and what a shared link does to drives."""

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.drives.catalogue import load_drive
from zsim.drives.models.links import enclosure_from_table, load_enclosure
from zsim.validation.formats.drive_runs import random_behind, random_contrast, streams_behind

WANTED = {
    "hp-microserver", "sas-expander", "jbod-60", "sata-card-x1", "usb-dock", "port-multiplier-cbs",
    "port-multiplier-fis", "direct",
}  # fmt: skip


@pytest.mark.parametrize("name", model_data.names("enclosures"))
def test_every_number_of_an_enclosure_is_sourced_and_the_tree_is_whole(name):
    data = model_data.load("enclosures", name)
    assert unsourced_numbers(data) == []
    enclosure = load_enclosure(name)
    flat = enclosure.flatten()
    assert flat[0].parent == -1
    assert all(0 <= each.parent < place for place, each in enumerate(flat) if place)
    assert len(enclosure.attach(enclosure.bays)) == enclosure.bays > 0
    assert all(" " in source for source in enclosure.sources)


def test_the_enclosures_asked_for_are_there():
    assert set(model_data.names("enclosures")) >= WANTED
    assert load_enclosure("jbod-60").bays == 60
    assert load_enclosure("sas-expander").bays == 24


def test_bays_fill_in_order_and_no_more_drives_than_bays():
    box = load_enclosure("hp-microserver")
    assert box.attach(6) == (0, 0, 0, 0, 2, 2)
    assert box.flatten()[2].link.command_based
    with pytest.raises(InputError, match="8 bays"):
        box.attach(9)


def changed(change):
    data = model_data.load("enclosures", "hp-microserver")
    change(data)
    return enclosure_from_table(data, model_data.find("enclosures", "hp-microserver"))


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda d: d["links"]["card"].pop("rate"), "rate"),
        (lambda d: d["links"]["card"]["rate"].update(value=0), "slower than 1 MB/s"),
        (lambda d: d["links"]["card"]["rate"].update(unit="B/s"), "MB/s"),
        (lambda d: d["links"]["card"].update(switching="magic"), "switching"),
        (lambda d: d["links"]["card"].pop("parent"), "no parent"),
        (lambda d: d["links"]["card"].update(parent="multiplier"), "hangs from the root"),
        (lambda d: d["links"]["card"].update(parent="none"), "parent"),
        (lambda d: d["links"]["card"]["per_command"].update(value=-1), "not below zero"),
        (lambda d: d.pop("links"), "links"),
    ],
)
def test_a_wrong_enclosure_is_refused_with_the_field(change, names):
    with pytest.raises(InputError, match=names):
        changed(change)


def test_an_unknown_enclosure_suggests_the_nearest():
    with pytest.raises(InputError, match="port-multiplier-cbs"):
        load_enclosure("port-multiplier-cb")


def test_command_based_switching_lets_one_drive_work_at_a_time():
    alone, one_by_one, together = (
        random_behind("wd10eacs", enclosure, drives)
        for enclosure, drives in (("direct", 1), ("port-multiplier-cbs", 5), ("port-multiplier-fis", 5))
    )
    # A drive that waits for its turn has its command already: the overhead is hidden.
    assert alone < one_by_one < 1.1 * alone
    assert together == pytest.approx(5 * alone, rel=0.03)
    slow, fast = (
        streams_behind("wd10eacs", f"port-multiplier-{switching}", 5) for switching in ("cbs", "fis")
    )
    assert slow < 0.5 * fast


def test_two_commands_a_drive_gain_where_drives_wait_for_their_turn():
    """The drive picks the nearer of two in its turn; one that works all the time has but one to pick."""
    enclosures = ["port-multiplier-fis", "port-multiplier-cbs"]
    contrast = [random_contrast("wd10eacs", enclosures, [0.1, 0.1], 5, depth, 512) for depth in (1, 2)]
    assert contrast[1] < contrast[0]
    assert contrast[1] == pytest.approx(419 / 100, rel=0.1)


def test_a_wide_link_is_not_felt_and_a_lane_is_shared():
    rate = load_drive("generic-7200rpm-cmr").parameters().zone_rates[0]
    assert streams_behind("generic-7200rpm-cmr", "direct", 4) == pytest.approx(4 * rate, rel=0.02)
    assert streams_behind("generic-7200rpm-cmr", "sata-card-x1", 4) < 500e6
