"""The drive files: every number sourced, every drive usable, wrong files refused by name."""

import importlib.util
import math
import sys
import time

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.drives import catalogue
from zsim.drives.catalogue import UNITS, drive_from_table, list_drives, load_drive
from zsim.drives.models.model import seek_curve, zone_rates
from zsim.drives.models.parameters import MAX_SEGMENTS

WANTED = (
    "hd103uj", "hd754jj", "hds721010cla332", "hds722020ala330", "wd30efrx", "wd30ezrx", "st5000dm000",
    "generic-7200rpm-cmr", "generic-5400rpm-cmr", "generic-sata-ssd", "generic-nvme-ssd",
)  # fmt: skip


def table(name="generic-7200rpm-cmr"):
    return model_data.load("drives", name)


def changed(key, value, name="generic-7200rpm-cmr"):
    data = table(name)
    data["parameters"][key]["value"] = value
    return drive_from_table(data, model_data.find("drives", name))


def test_there_are_forty_drives_and_those_asked_for():
    assert len([name for name in list_drives() if not name.startswith("generic")]) >= 40
    assert set(WANTED) <= set(list_drives())


@pytest.mark.parametrize("name", list_drives())
def test_every_number_of_a_drive_has_unit_kind_and_a_resolved_source(name):
    data = table(name)
    assert unsourced_numbers(data) == []
    drive = load_drive(name)
    for quantity in (*drive.quantities.values(), *drive.observed.values(), *drive.drive_to_drive.values()):
        assert " " in quantity.source, f"{quantity.source} is a key without its text"
        estimated = quantity.kind in ("fitted", "assumed") and quantity.unit in ("MB/s", "ms", "us")
        assert quantity.uncertainty > 0 or not estimated or "8b/10b" in quantity.note


@pytest.mark.parametrize("name", list_drives())
def test_every_drive_gives_parameters_that_are_physically_possible(name):
    drive = load_drive(name)
    parameters = drive.parameters()
    assert parameters.capacity_bytes == drive.capacity_bytes > 10e9
    if parameters.kind == "flash":
        assert parameters.flash_latency_min_s > 0
        return
    assert all(a >= b > 0 for a, b in zip(parameters.zone_rates, parameters.zone_rates[1:], strict=False))
    assert 0 < parameters.seek_short_a_s < parameters.seek_long_c_s + parameters.seek_long_e_s < 0.05


def test_no_number_comes_from_memory():
    survey = (model_data.models_directory() / "drives" / "survey.json").read_text()
    assert "recalled" not in survey


def test_the_committed_files_are_what_the_generator_writes():
    path = model_data.models_directory() / "drives" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate_drives", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate_drives"] = module
    spec.loader.exec_module(module)
    written = module.all_models()
    assert set(written) == {f"{name}.toml" for name in list_drives()}
    for name, text in written.items():
        assert (path.parent / name).read_text() == text, f"run generate.py: {name} differs"


@pytest.mark.parametrize(
    ("name", "stem"),
    [("HD103UJ", "hd103uj"), ("SAMSUNG HD103UJ", "hd103uj"), ("ST5000DM000-1FK178", "st5000dm000"),
     ("WDC WD40EFRX-68N32N0", "wd40efrx")],
)  # fmt: skip
def test_a_drive_is_found_under_the_name_that_smartctl_prints(name, stem):
    assert load_drive(name).name == stem


@pytest.mark.parametrize(
    "name", ["WDC WD40EFAX-68JH4N1", "wd40 efax", "wd40efax", "ata-WDC_WD40EFAX-68JH4N1_WD1"]
)
def test_a_drive_is_found_by_whole_words_of_its_name(name):
    assert load_drive(name).name == "wd40efax"


@pytest.mark.parametrize("name", ["WD40EFAXX", "XWD40EFAX", "WD40EFA"])
def test_a_drive_is_not_found_by_part_of_a_word(name):
    with pytest.raises(InputError, match=name):
        load_drive(name)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="st5000dm000"):
        load_drive("st5000dm00x1")


def test_a_short_alias_counts_alone_and_a_longer_one_within_a_name(monkeypatch):
    """Six letters or more; of several the longest, whatever its words."""
    known = {"abcde": "short", "abcdef": "six", "seven77": "seven"}
    monkeypatch.setattr(catalogue, "_aliases", lambda: known)
    named = ("abcde", "AB-CDE", "my abcde", "my abcdef", "ab cdef 1", "abcdef seven77", "seven 77 of", "none")
    assert [catalogue._stem_of_alias(name) for name in named] == [
        "short", "short", None, "six", "six", "seven", "seven", None,
    ]  # fmt: skip


def test_reading_the_whole_takes_as_long_as_under_the_smooth_law():
    outer, k = 180e6, 0.48
    rates = zone_rates(outer, k, 30)
    seconds = sum(1 / 30 / rate for rate in rates)
    assert seconds == pytest.approx(1 / ((outer + k * outer) / 2), rel=1e-12)
    assert rates[0] < outer
    assert rates[-1] > k * outer


def test_zones_without_loss_have_one_rate():
    assert zone_rates(100e6, 1.0, 4) == (100e6,) * 4


def test_the_seek_curve_passes_through_the_published_figures():
    track, average, full, knee = 0.25e-3, 8.4e-3, 16.4e-3, 0.15
    a, b, c, e = seek_curve(track, average, full, knee)

    def seek(d):
        return a + b * math.sqrt(d) if d < knee else c + e * d

    count = 200_000
    mean = sum(2 * (1 - d) * seek(d) for d in ((i + 0.5) / count for i in range(count))) / count
    assert mean == pytest.approx(average, rel=1e-4)
    assert (a, c + e) == pytest.approx((track, full))
    assert a + b * math.sqrt(knee) == pytest.approx(c + e * knee)


@pytest.mark.parametrize(
    ("key", "value"),
    [("inner_rate", 500), ("rotation", 0), ("rotation", -1), ("seek_track", 12), ("seek_average", 40),
     ("seek_full", 8), ("physical_sector", 256), ("zones", 1000), ("seek_knee", 1.5), ("outer_rate", 0),
     ("capacity", 0), ("write_cache", 1e6), ("outer_rate", 1e6), ("queue_depth", 2.5), ("read_ahead", 1e12),
     ("rotation", 1e9), ("read_overhead", 1e5)],
)  # fmt: skip
def test_an_absurd_number_is_refused_with_the_name_of_its_field(key, value):
    with pytest.raises(InputError) as caught:
        changed(key, value)
    assert key in str(caught.value)


def test_a_missing_number_is_refused_by_name():
    data = table()
    del data["parameters"]["seek_full"]
    with pytest.raises(InputError, match="seek_full is missing"):
        drive_from_table(data, model_data.find("drives", "generic-7200rpm-cmr"))


def test_an_unknown_number_suggests_the_one_that_was_meant():
    data = table()
    data["parameters"]["seek_averge"] = data["parameters"]["seek_average"]
    with pytest.raises(InputError, match="seek_average"):
        drive_from_table(data, model_data.find("drives", "generic-7200rpm-cmr"))


def test_a_wrong_unit_is_refused():
    data = table()
    data["parameters"]["seek_full"]["unit"] = "s"
    with pytest.raises(InputError, match="ms"):
        drive_from_table(data, model_data.find("drives", "generic-7200rpm-cmr"))


def test_a_generic_drive_scales_and_a_particular_one_does_not():
    generic = load_drive("generic-7200rpm-cmr")
    large = generic.with_capacity(3 * generic.capacity_bytes)
    assert large.capacity_bytes == 3 * generic.capacity_bytes
    assert large.parameters().zone_rates[0] > 1.1 * generic.parameters().zone_rates[0]
    with pytest.raises(InputError, match="1000204886016"):
        load_drive("hd103uj").with_capacity(2 * 10**12)
    with pytest.raises(InputError, match="positive"):
        generic.with_capacity(0)


def test_the_factors_of_an_ensemble_move_what_they_name():
    drive = load_drive("hd103uj")
    base = drive.parameters()
    moved = drive.parameters(outer_rate=1.1, seek=1.2, overhead=1.5)
    assert moved.zone_rates[0] == pytest.approx(1.1 * base.zone_rates[0])
    assert moved.seek_short_b_s == pytest.approx(1.2 * base.seek_short_b_s)
    assert moved.read_overhead_s == pytest.approx(1.5 * base.read_overhead_s)
    assert drive.parameters(inner_ratio=1.1).zone_rates[-1] > base.zone_rates[-1]
    assert load_drive("generic-sata-ssd").parameters(outer_rate=0.5).flash_read_rate < 540e6


def test_the_spread_of_a_drive_is_what_its_file_says():
    spread = load_drive("st5000dm000").spread()
    assert spread.outer_rate == pytest.approx(0.16)
    assert spread.drive_rate > 0
    assert load_drive("hd103uj").spread().outer_rate < 0.05


def test_shingled_and_flash_drives_tell_what_they_add():
    assert load_drive("st8000as0002").smr().persistent_cache_bytes == 20 * 10**9
    assert load_drive("hd103uj").smr() is None
    flash = load_drive("870-qvo-4tb").flash()
    assert flash.write_rate_after_cache < flash.write_rate
    assert load_drive("generic-sata-ssd").flash().slc_cache_bytes == 0
    assert load_drive("hd103uj").flash() is None


def test_every_unit_is_used_by_some_drive():
    used = {
        key for name in list_drives() for key in (*load_drive(name).quantities, *load_drive(name).observed)
    }
    assert used == set(UNITS)


def test_a_drive_keeps_as_many_read_ahead_segments_as_its_buffer_holds():
    for name in ("hd754jj", "wd30efrx", "generic-7200rpm-cmr"):
        model = load_drive(name)
        free = model.quantities["cache"].si - model.quantities["write_cache"].si
        drive = model.parameters()
        assert 1 < drive.read_segments <= MAX_SEGMENTS
        assert 2 * drive.read_segments * drive.read_pass_under_bytes <= free


SI = {
    "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GB": 10**9, "MB/s": 10**6, "us": 1e-6, "ms": 1e-3, "s": 1,
    "min": 60, "1/s": 1, "rpm": 1, "1": 1, "commands": 1, "writes": 1, "extents": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(UNITS))
def test_a_unit_is_worth_what_it_is_everywhere(name):
    unit, factor = UNITS[name]
    assert factor == SI[unit]


def test_a_name_of_thousands_of_words_is_refused_at_once():
    began = time.process_time()
    with pytest.raises(InputError, match="no such drive"):
        load_drive("generic nvme\n" * 1000)
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize(
    "name",
    ["WDC WD80EFBX-68AZZN0", "ata-WDC_WD101EFBX-68B0AN0_VCJP0MJP", "WDC_WD120EFBX", "WD140EFGX-68B0GN0"],
)
def test_red_plus_of_8_to_14_tb_turn_at_7200_rpm_with_the_rate_of_5400(name: str) -> None:
    """As they report themselves since November 2020; before, they were sold as of the 5400 rpm class."""
    found = load_drive(name)
    numbers = found.parameters()
    assert numbers.revolution_s == pytest.approx(60 / 7200)
    generic = load_drive("generic-5400rpm-cmr").with_capacity(found.capacity_bytes).parameters()
    assert max(numbers.zone_rates) == pytest.approx(max(generic.zone_rates), rel=0.01)
