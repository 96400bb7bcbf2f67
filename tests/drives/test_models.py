"""From the numbers of a drive's file to those the engines take, and what follows from these by arithmetic."""

from __future__ import annotations

import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.drives.catalogue import Shelf, drive_from_table, list_drives, load_drive, sized
from zsim.drives.derived import (
    mean_seek,
    random_service,
    rate_profile,
    seconds_to_read_all,
    sequential_rate,
    sequential_rates,
)
from zsim.drives.models.generations import LATEST
from zsim.drives.models.model import DriveModel
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.names import (
    FAST,
    NVME,
    SATA_FLASH,
    SHINGLED,
    SLOW,
    bytes_in_name,
    named_drives,
    slowest,
    written_bytes,
)

DISK, SHINGLED_DISK, SSD, CLIFF = "generic-7200rpm-cmr", "st8000as0002", "generic-sata-ssd", "870-qvo-4tb"
TRACKS = Path("validation/disksim-vectors/drives/barracuda.json")

SAME: dict[str, dict[str, float]] = {
    "capacity_bytes": {"capacity": 1}, "write_settle_s": {"write_settle": 1e-3},
    "read_overhead_s": {"read_overhead": 1e-3}, "write_overhead_s": {"write_overhead": 1e-3},
    "seek_knee": {"seek_knee": 1}, "seek_short_a_s": {"seek_track": 1e-3},
    "read_pass_under_bytes": {"read_ahead": 1024}, "queue_depth": {"queue_depth": 1},
    "queue_max_age_s": {"queue_max_age": 1}, "write_cache_bytes": {"write_cache": 1 << 20},
    "interface_rate": {"interface_rate": 1e6}, "physical_sector_bytes": {"physical_sector": 1},
    "logical_sector_bytes": {"logical_sector": 1}, "smr_band_bytes": {"band": 1 << 20},
    "smr_cache_bytes": {"persistent_cache": 1e9}, "smr_cached_writes": {"cached_writes": 1},
    "smr_idle_s": {"idle_before_cleaning": 1}, "flash_latency_min_s": {"read_latency": 1e-6},
    "flash_latency_max_s": {"read_latency": 1e-6}, "flash_write_latency_s": {"write_latency": 1e-6},
    "flash_read_rate": {"read_rate": 1e6}, "flash_write_rate": {"write_rate": 1e6},
    "slc_cache_bytes": {"slc_cache": 1e9}, "slc_rate_after": {"write_rate_after_cache": 1e6},
    "parallel_commands": {"parallel_commands": 1},
}  # fmt: skip
"""Fields that are a number of the file as it stands, and its unit in SI."""


@pytest.mark.parametrize("name", [*list_drives()])
def test_what_stands_in_the_file_reaches_the_engines_in_si(name: str) -> None:
    data = model_data.load("drives", name)["parameters"]
    given = asdict(load_drive(name).parameters())
    for field, source in SAME.items():
        [(key, unit)] = source.items()
        if key in data:
            assert given[field] == pytest.approx(data[key]["value"] * unit), field
    if "rotation" in data:
        assert given["revolution_s"] * data["rotation"]["value"] == pytest.approx(60.0)
        assert given["seek_long_c_s"] + given["seek_long_e_s"] == pytest.approx(
            data["seek_full"]["value"] / 1e3
        )
        assert len(given["zone_rates"]) == data["zones"]["value"]
        # A gap of a track needs no arm: a good part of what passes in one turn.
        turn = data["outer_rate"]["value"] * 1e6 * given["revolution_s"]
        assert 0.5 * turn < given["seekless_bytes"] < turn
    else:
        assert (given["revolution_s"], given["rotating"], given["flash_shares_rate"]) == (0.0, False, True)
    assert (given["smr_band_bytes"] > 0) == ("band" in data)


MOVED = {
    "outer_rate": ("zone_rates", "seekless_bytes", "flash_read_rate", "flash_write_rate", "slc_rate_after"),
    "inner_ratio": ("zone_rates",),
    "seek": ("seek_short_a_s", "seek_short_b_s", "seek_long_c_s", "seek_long_e_s", "write_settle_s"),
    "overhead": (
        "read_overhead_s", "write_overhead_s", "flash_latency_min_s", "flash_latency_max_s",
        "flash_write_latency_s",
    ),
}  # fmt: skip


@pytest.mark.parametrize("factor", [0.9, 1.1])
@pytest.mark.parametrize("name", [DISK, SHINGLED_DISK, SSD, CLIFF, "tracks"])
@pytest.mark.parametrize("what", MOVED)
def test_each_factor_of_an_ensemble_moves_what_it_names_and_nothing_else(
    what: str, name: str, factor: float
) -> None:
    drive = load_drive(str(TRACKS)) if name == "tracks" else load_drive(name)
    before, after = asdict(drive.parameters()), asdict(drive.parameters(**{what: factor}))
    for field, value in after.items():
        of_others = field.startswith(("flash", "slc")) != (drive.kind == "flash")
        if field not in MOVED[what] or of_others:
            assert value == before[field], field
        elif field == "zone_rates" and what == "inner_ratio":
            ratio = [new / old for new, old in zip(value, before[field], strict=True)]
            # The inner tracks change by the factor, the outer ones hardly, those between in turn.
            assert ratio[0] == pytest.approx(1.0, abs=0.01)
            assert ratio[-1] == pytest.approx(factor, abs=0.02)
            assert ratio == sorted(ratio, reverse=factor < 1)
        elif field == "seekless_bytes" and name == "tracks":
            assert value == before[field]
        else:
            assert value == pytest.approx(np.multiply(before[field], factor), rel=1e-6), field


def test_tracks_further_in_are_never_faster() -> None:
    rates = load_drive(DISK).parameters(inner_ratio=9.0).zone_rates
    assert len(set(rates)) == 1


@pytest.mark.parametrize("name", [DISK, SSD])
def test_a_larger_drive_of_a_class_differs_in_capacity_and_a_disk_in_its_rates_alike(name: str) -> None:
    drive = load_drive(name)
    larger = drive.with_capacity(4 * drive.capacity_bytes)
    assert drive.with_capacity(drive.capacity_bytes) is drive
    changed = {key: each.si / drive.quantities[key].si for key, each in larger.quantities.items()
               if each != drive.quantities[key]}  # fmt: skip
    assert changed.pop("capacity") == 4.0
    if name == DISK:
        rate = changed.pop("outer_rate")
        # What is read ahead is a track: that of a drive of few bytes would take hundreds of turns otherwise.
        assert [changed.pop("inner_rate"), changed.pop("read_ahead")] == pytest.approx([rate, rate])
        older = drive.with_capacity(drive.capacity_bytes, LATEST - 10)
        assert older.capacity_bytes == drive.capacity_bytes
        assert older.parameters().zone_rates[0] < drive.parameters().zone_rates[0]
    assert changed == {}
    for key, each in larger.quantities.items():
        assert each.si == pytest.approx(each.value * drive.quantities[key].si / drive.quantities[key].value)
        assert (each.kind == "derived") == (each != drive.quantities[key]) or drive.quantities[
            key
        ].kind == "derived"
    assert float(larger.quantities["capacity"].value).is_integer()


def test_particular_drives_keep_their_size_on_the_shelf_and_are_looked_up_once() -> None:
    shelf = Shelf(LATEST)
    own = load_drive("hd103uj")
    assert sized(own, 7 * own.capacity_bytes, LATEST) is own
    assert shelf.sized("hd103uj", 7 * own.capacity_bytes).capacity_bytes == own.capacity_bytes
    large = shelf.sized(DISK, 7 * own.capacity_bytes)
    assert large.capacity_bytes == 7 * own.capacity_bytes
    assert shelf.sized(DISK, 7 * own.capacity_bytes) is large
    assert [each.name for each in shelf.drives] == ["hd103uj", DISK]


@pytest.mark.parametrize("name", list_drives())
def test_spread_and_extras_are_those_of_the_file(name: str) -> None:
    data, drive = model_data.load("drives", name), load_drive(name)
    spread, numbers = drive.spread(), data["parameters"]

    def uncertain(key: str) -> float:
        return float(numbers.get(key, {}).get("uncertainty", 0.0))

    flash = drive.kind == "flash"
    assert spread.outer_rate == uncertain("read_rate" if flash else "outer_rate")
    assert spread.overhead == uncertain("read_latency" if flash else "read_overhead")
    assert (spread.inner_ratio, spread.seek) == (uncertain("inner_rate"), uncertain("seek_average"))
    between = {key: each["value"] for key, each in data.get("spread", {}).items()}
    assert spread.drive_rate == between.get("rate", 0.0)
    assert (spread.drive_seek, spread.drive_overhead) == (
        between.get("seek", 0.0),
        between.get("overhead", 0.0),
    )
    assert (drive.flash() is not None, drive.smr() is not None) == (flash, drive.recording == "smr")
    own = drive.flash()
    if own is not None and "slc_cache" not in numbers:
        assert own.write_rate_after_cache == own.write_rate


def segments(cache: float, write_cache: float, read_ahead: float) -> int:
    data = copy.deepcopy(model_data.load("drives", DISK))
    stated = {"cache": cache, "write_cache": write_cache, "read_ahead": read_ahead}
    for key, value in stated.items():
        data["parameters"][key]["value"] = value
    return drive_from_table(data, Path("x.toml")).parameters().read_segments


def test_the_buffer_that_writes_leave_is_divided_into_stretches_of_twice_the_read_ahead() -> None:
    """16 MiB less 8 for writes, of 1 MiB of read-ahead: four; one at least, 16 at most, none without it."""
    assert segments(16, 8, 1024) == 4
    assert segments(16, 8, 1025) == 3
    assert segments(16, 16, 1024) == 1
    assert segments(256, 0, 256) == 16
    assert segments(16, 8, 0) == 0


def from_file(**changes: float) -> DriveModel:
    data: Any = copy.deepcopy(model_data.load("drives", DISK))
    for key, value in changes.items():
        data["parameters"][key]["value"] = value
    return drive_from_table(data, Path("x.toml"))


@pytest.mark.parametrize(
    ("low", "high", "value"),
    [
        ({"inner_rate": 100}, {"inner_rate": 100.1}, {"outer_rate": 100}),
        ({"logical_sector": 4096}, {"logical_sector": 8192}, {"physical_sector": 4096}),
        ({"write_cache": 64}, {"write_cache": 65}, {"cache": 64}),
        ({"seek_knee": 0.3}, {"seek_knee": 1.0}, {}),
        ({"zones": 64}, {"zones": 65}, {}),
    ],
)
def test_what_cannot_be_larger_may_be_as_large(
    low: dict[str, float], high: dict[str, float], value: dict[str, float]
) -> None:
    from_file(**value, **low)
    with pytest.raises(InputError, match=next(iter(high))):
        from_file(**value, **high)


@pytest.mark.parametrize(
    "key", ["write_settle", "read_overhead", "write_overhead", "write_cache", "read_ahead", "seek_track"]
)
def test_what_a_drive_may_be_without_is_zero(key: str) -> None:
    from_file(**{key: 0.0})


@pytest.mark.parametrize("uncertainty", [-0.1, 2.1, "much"])
def test_an_uncertainty_is_a_share_of_the_number(uncertainty: Any) -> None:
    data: Any = copy.deepcopy(model_data.load("drives", DISK))
    for allowed in (0, 2):
        data["parameters"]["outer_rate"]["uncertainty"] = allowed
        assert drive_from_table(data, Path("x.toml")).spread().outer_rate == allowed
    data["parameters"]["outer_rate"]["uncertainty"] = uncertainty
    with pytest.raises(InputError, match=r"outer_rate\.uncertainty"):
        drive_from_table(data, Path("x.toml"))


STEPS = DriveParameters(
    capacity_bytes=4 * 10**9, zone_rates=(200e6, 100e6), interface_rate=160e6, revolution_s=0.01,
    read_overhead_s=0.002,
    seek_short_a_s=0.001, seek_short_b_s=0.004, seek_long_c_s=0.003, seek_long_e_s=0.006, seek_knee=1.0,
)  # fmt: skip
LINEAR = replace(STEPS, seek_knee=0.0)
FLASH = DriveParameters(capacity_bytes=10**9, kind="flash", flash_read_rate=500e6, interface_rate=400e6)


def test_reading_all_takes_the_sum_of_the_zones_at_what_medium_or_link_gives() -> None:
    """2 GB at 160 MB/s of the link, 2 GB at 100 MB/s of the medium."""
    assert seconds_to_read_all(STEPS) == pytest.approx(2e9 / 160e6 + 2e9 / 100e6)
    assert seconds_to_read_all(FLASH) == pytest.approx(1e9 / 400e6)
    assert set(rate_profile(FLASH, 7)[1]) == {400e6}


def test_the_rate_over_a_stretch_is_bytes_over_time() -> None:
    """Of any two stretches side by side the times sum to that of both."""
    assert sequential_rate(STEPS, 0.0, 1.0) == pytest.approx(4e9 / seconds_to_read_all(STEPS))
    assert sequential_rate(STEPS, 0.0, 0.5) == pytest.approx(160e6)
    assert sequential_rate(STEPS, 0.5, 0.5) == pytest.approx(100e6)
    begins, spans = np.array([0.1, 0.4, 0.7]), np.array([0.3, 0.3, 0.2])
    rates = sequential_rates(STEPS, begins, spans)
    assert float((spans / rates).sum()) == pytest.approx(0.8 / sequential_rate(STEPS, 0.1, 0.8), rel=1e-3)
    # A quarter of a stretch lies on the slow half: (0.75 / 160 + 0.25 / 100) s a megabyte.
    assert sequential_rate(STEPS, 0.2, 0.4) == pytest.approx(1e6 / (0.75 / 160 + 0.25 / 100), rel=1e-3)


def test_a_stretch_of_nearly_nothing_has_the_rate_of_its_place() -> None:
    places = np.array([0.0, 0.00005, 0.4999, 0.50001, 0.99999, 1.0])
    rates = sequential_rates(STEPS, places, np.full(6, 1e-9))
    assert rates.tolist() == [160e6, 160e6, 160e6, 100e6, 100e6, 100e6]


@pytest.mark.parametrize("span", [1.0, 0.25])
def test_the_mean_seek_between_random_places_is_that_of_its_integral(span: float) -> None:
    """Mean distance is a third of the stretch; of its root 8/15 (density 2 (1 - u))."""
    assert mean_seek(LINEAR, span) == pytest.approx(0.003 + 0.006 * span / 3, rel=1e-4)
    assert mean_seek(STEPS, span) == pytest.approx(0.001 + 0.004 * span**0.5 * 8 / 15, rel=1e-4)


def test_a_random_read_is_overhead_seek_half_a_turn_and_the_transfer() -> None:
    size = 1 << 20
    for start, rate in ((0.0, 160e6), (0.5, 100e6)):
        expected = 0.002 + mean_seek(STEPS, 0.25) + 0.005 + size / rate
        assert random_service(STEPS, size, start, 0.25) == pytest.approx(expected)
    point = random_service(STEPS, size, 0.75, 1e-9)
    assert point == pytest.approx(0.002 + mean_seek(STEPS, 1e-9) + 0.005 + size / 100e6)


@pytest.mark.parametrize(
    ("name", "generic", "terabytes"),
    [
        ("WDC WD40EFAX-68JH4N1", SHINGLED, 4),
        ("WDC WD40EFZX", SLOW, 4),
        ("WDC WD84PURZ-85B2YY0", SLOW, 8),
        ("WDC WD121PURP-85B5SY0", FAST, 12),
        ("WD Purple Pro 10TB", FAST, None),
        ("WDC WD101KRYZ", FAST, 10),
        ("WD10EZEX-08WN4A0", FAST, 1),
        ("WD5000AAKX", FAST, 0.5),
        ("WDC WD3200AVJS", SLOW, 0.32),
        ("WD2003FYYS", FAST, 2),
        ("WD15EARS", SLOW, 1.5),
        ("ST8000DM004-2CX188", SHINGLED, 8),
        ("ST4000VN008-2DR166", SLOW, 4),
        ("ST18000NM000J", FAST, 18),
        ("ST3500418AS", FAST, 0.5),
        ("ST31000528AS", FAST, 1),
        ("ST9500325AS", SLOW, 0.5),
        ("ST2000DL003-9VT166", SLOW, 2),
        ("ST3500312CS", SLOW, 0.5),
        ("SAMSUNG HD204UI", SLOW, 2),
        ("SAMSUNG HD103SJ", FAST, 1),
        ("SAMSUNG HD753LJ", FAST, 0.75),
        ("HGST HUS726T4TALA6L4", FAST, 4),
        ("HGST HUH721212ALE600", FAST, 12),
        ("WUH721818ALE6L4", FAST, 18),
        ("Hitachi HDS722020ALA330", FAST, 2),
        ("Hitachi HDS721050CLA362", FAST, 0.5),
        ("Hitachi HDT725032VLA360", FAST, 0.32),
        ("Hitachi HDS722525VLSA80", FAST, 0.25),
        ("Hitachi HDS721616PLA380", FAST, 0.16),
        ("Hitachi HDS721075KLA330", FAST, 0.75),
        ("Hitachi HDS5C3020ALA632", SLOW, 2),
        ("APPLE HDD HTS547550A9E384", SLOW, 0.5),
        ("HGST HTS541010A9E680", SLOW, 1),
        ("HGST HTS725050A7E630", FAST, 0.5),
        ("HGST HTS721010A9E630", FAST, 1),
        ("Hitachi HTE545032B9A300", SLOW, 0.32),
        ("WDC WD10JPVX-22JC3T0", SLOW, 1),
        ("MB4000GDUPB", FAST, 4),
        ("TOSHIBA MG07ACA14TE", FAST, 14),
        ("TOSHIBA MG04ACA400E", FAST, None),
        ("TOSHIBA DT01ACA300", FAST, 3),
        ("TOSHIBA HDWG11A", FAST, 10),
        ("TOSHIBA HDWG21C", FAST, 12),
        ("TOSHIBA HDWG21E", FAST, 14),
        ("TOSHIBA HDWG31G", FAST, 16),
        ("TOSHIBA HDWG51J", FAST, 18),
        ("TOSHIBA HDWD130", FAST, 3),
        ("CT1000MX500SSD1", SATA_FLASH, 1),
        ("CT2000P3SSD8", NVME, 2),
        ("WDS500G2B0A", SATA_FLASH, 0.5),
        ("WDS100T3X0C", NVME, 1),
        ("INTEL SSDSC2BB480G7", SATA_FLASH, 0.48),
        ("INTEL SSDPE2KX040T8", NVME, 4),
        ("INTEL SSDSC2KB019T8", SATA_FLASH, 1.92),
        ("INTEL SSDSC2KG076T8", SATA_FLASH, 7.68),
        ("INTEL SSDSC2CW240A3", SATA_FLASH, 0.24),
        ("INTEL SSDPF2KX153T1", NVME, 15.36),
        ("Micron 5200 MTFDDAK960TDD", SATA_FLASH, 0.96),
        ("Micron 2200 MTFDHBA512TCK", NVME, 0.512),
        ("WDC WDBNCE0010PNC", SATA_FLASH, 1),
        ("WDC WDBNCE2500PNC", SATA_FLASH, 0.25),
        ("WDC WD1002FB9YZ-09H1JL1", FAST, 1),
        ("WDC WD4000F9YZ-09N20L0", FAST, 4),
    ],
)
def test_names_tell_series_and_capacity_by_the_schemes_of_their_vendors(
    name: str, generic: str, terabytes: float | None
) -> None:
    [found] = named_drives(name)
    assert found.generic == generic
    if terabytes is not None:
        assert found.capacity == bytes_in_name(name) == round(terabytes * 1e12)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("WD Red 4 TB", 4e12), ("870 EVO 500GB", 5e11), ("1.5tb Green", 1.5e12), ("v1.5TB", None),
        ("0.5 GB", None),
        ("1 GB", 1e9), ("1000 TB", 1e15), ("1001 TB", None), ("4 TBx", None), ("none", None),
    ],
)  # fmt: skip
def test_a_capacity_that_is_written_out_is_read_if_a_drive_can_have_it(text: str, size: float | None) -> None:
    assert written_bytes(text) == (None if size is None else round(size))


def test_of_several_series_the_slowest_counts() -> None:
    drives = named_drives("WD40EFAX and WD40EFRX and ST18000NM000J and CT1000MX500SSD1")
    assert slowest(drives) == SHINGLED
    assert slowest(drives[1:]) == SLOW
    assert slowest(drives[2:]) == FAST
    assert slowest(drives[3:]) == SATA_FLASH
    assert slowest(()) is None
