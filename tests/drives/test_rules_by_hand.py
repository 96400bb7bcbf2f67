"""Rules of drives, links and files against arithmetic by hand, on toys of round numbers."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.drives.test_mechanics_by_hand import PLAIN, bound_of, buffered
from tests.drives.test_mechanics_by_hand import made as mechanical
from tests.drives.test_physics_by_hand import BAND, SIZES, ailing, row
from tests.drives.test_physics_by_hand import made as shingled
from tests.drives.test_tracks_by_hand import one_zone, toy
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.jit import IS_COMPILING
from zsim.base.plain_views import Row
from zsim.drives import catalogue
from zsim.drives.catalogue import Shelf, drive_from_table, load_drive
from zsim.drives.derived import MAX_OFFSET, mean_seek, rate_profile, seek_profile
from zsim.drives.disksim import parametric
from zsim.drives.models import generations
from zsim.drives.models.files import drive_text
from zsim.drives.models.generations import LATEST, first_year, outer_rate, platters_in_use
from zsim.drives.models.health import DriveHealth
from zsim.drives.models.links import Enclosure, enclosure_from_table
from zsim.drives.models.model import DriveQuantity
from zsim.drives.models.parameters import MAX_ZONES, DriveParameters
from zsim.drives.physics.bounds import LANES, bearing_of, reach_bounds
from zsim.drives.physics.mechanics import drive_table, zone_at, zone_table
from zsim.drives.physics.smr import (
    CACHED_BYTES,
    CACHED_WRITES,
    PRIOR_BYTES,
    PRIOR_WRITES,
    SQUARES,
    clean_band,
    clean_prior_band,
    rewrite_time,
    smr_parts,
)

DISK = "generic-7200rpm-cmr"
GB = 1e9


# --- enclosures


def number(value: float, unit: str, source: str = "own", **more: Any) -> dict[str, Any]:
    return {"value": value, "unit": unit, "kind": "assumed", "source": source, **more}


def box(**changes: dict[str, Any]) -> Enclosure:
    """Return an enclosure of a root, a link below it and one below that; `changes` are of links by name."""
    links: dict[str, dict[str, Any]] = {
        "root": {
            "switching": "shared",
            "rate": number(2000, "MB/s", "board", uncertainty=0.1),
            "per_command": number(3, "us"),
        },
        "card": {
            "parent": "root",
            "switching": "fis",
            "rate": number(500, "MB/s", uncertainty=0.3),
            "per_command": number(0, "us"),
            "bays": number(2, "drives"),
        },
        "tail": {
            "parent": "card",
            "switching": "command",
            "rate": number(1, "MB/s"),
            "per_command": number(50, "us"),
            "bays": number(5, "drives"),
        },
    }
    for name, change in changes.items():
        links[name] = {**links.get(name, {}), **change}
    data = {"title": "A box", "links": links, "references": {"board": "The board's manual, page 3"}}
    return enclosure_from_table(data, Path("box.toml"))


def test_the_numbers_of_an_enclosure_are_read_in_si() -> None:
    """MB are 10**6 bytes; a link without bays has none; the spread is that of the worst known rate."""
    found = box()
    flat = found.flatten()
    assert [(each.link.name, each.parent) for each in flat] == [("root", -1), ("card", 0), ("tail", 1)]
    assert [each.link.rate for each in flat] == [2e9, 5e8, 1e6]
    assert [each.link.per_command_s for each in flat] == pytest.approx([3e-6, 0.0, 5e-5])
    assert [each.link.bays for each in flat] == [0, 2, 5]
    assert found.attach(7) == (1, 1, 2, 2, 2, 2, 2)
    assert (found.name, found.title, found.note, found.rate_spread) == ("box", "A box", "", 0.3)
    assert found.sources == ("The board's manual, page 3", "own")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tail": {"rate": number(0.999, "MB/s")}}, "links.tail.rate"),
        ({"tail": {"per_command": number(-1e-3, "us")}}, "links.tail.per_command"),
        ({"other": {"switching": "fis", "rate": number(9, "MB/s")}}, "root, other"),
        ({"root": {"parent": "tail"}}, "exactly one link has no parent"),
        # Two that hang from each other hang from no root.
        ({"card": {"parent": "tail"}}, "every link hangs from the root"),
    ],
)
def test_an_enclosure_is_one_tree_of_links_that_were_sold(changes: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        box(**changes)


# --- platters by their time


@pytest.fixture
def toy_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """Platters of 100 GB from 2000 on and of 1,000 from 2010 on; two in a drive, five from 2015 on."""
    steps = ((2000, 100.0), (2010, 1000.0)), ((2000, 2.0), (2015, 5.0))
    monkeypatch.setattr(generations, "_history", lambda: (*steps, 3, 11))


@pytest.mark.usefixtures("toy_history")
@pytest.mark.parametrize(
    ("gigabytes", "year"),
    # A hundredth more than the nominal size still fits: capacities are rounded.
    [
        (1, 2000),
        (200, 2000),
        (202, 2000),
        (202.1, 2010),
        (2020, 2010),
        (2021, 2015),
        (5050, 2015),
        (5051, LATEST),
    ],
)
def test_a_capacity_appears_with_the_platters_that_hold_it(gigabytes: float, year: int) -> None:
    assert first_year(gigabytes * GB) == year


@pytest.mark.usefixtures("toy_history")
def test_drives_in_use_are_of_the_years_of_their_age_and_redesigned_after_some() -> None:
    """Bought in the last three years or this one; eleven years after its first a design is the last."""
    # 2008 and 2009 two platters of 100 GB each, from 2010 on one.
    assert platters_in_use(200 * GB, 2011) == pytest.approx((100 * GB, 100 * GB, 200 * GB, 200 * GB))
    # None before 2010, whatever year it is: two platters that hold up to 1,010 GB each.
    assert platters_in_use(2020 * GB, 2005) == pytest.approx((1010 * GB,) * 4)
    assert platters_in_use(1011 * GB, 2012) == pytest.approx((505.5 * GB,) * 4)
    # In use in 2003 were drives of two platters only.
    assert platters_in_use(150 * GB, 2003) == pytest.approx((75 * GB,) * 4)
    # The geometric mean of 0.1, 0.1, 0.2 and 0.2 TB is the root of 0.02; the rate goes with its root.
    assert outer_rate(200 * GB, 2011, 200e6, 0.5) == pytest.approx(200e6 * 0.02**0.25)


def test_a_design_is_the_last_so_many_years_after_its_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redesigned once after five years: a drive of 2000 keeps the platters of 2005."""
    steps = tuple((year, 10.0 * (year - 1999)) for year in range(2000, 2012))
    monkeypatch.setattr(generations, "_history", lambda: (steps, ((2000, 6.0),), 0, 5))
    assert platters_in_use(60 * GB, 2005) == platters_in_use(60 * GB, 2011) == (60 * GB,)
    # In 2004 platters hold 50 GB (50.5): two are needed.
    assert platters_in_use(60 * GB, 2004) == (30 * GB,)


# --- files


def test_a_drive_is_written_with_what_is_known_of_it_and_no_more() -> None:
    """An uncertainty and a note stand there where there are some; a table of what was observed likewise."""
    known = DriveQuantity(5.0, "ms", "measured", "a bench", 0.2, "by hand", 0.005)
    plain = DriveQuantity(7.0, "MB/s", "datasheet", "a sheet", 0.0, "", 7e6)
    drive = replace(
        load_drive("hd103uj"), quantities={"seek_full": known, "outer_rate": plain}, drive_to_drive={},
        observed={},
    )  # fmt: skip
    written = tomllib.loads(drive_text(drive))
    assert written["parameters"] == {
        "seek_full": {
            "value": 5.0, "unit": "ms", "kind": "measured", "source": "a bench", "uncertainty": 0.2,
            "note": "by hand",
        },
        "outer_rate": {"value": 7.0, "unit": "MB/s", "kind": "datasheet", "source": "a sheet"},
    }  # fmt: skip
    assert written["spread"] == {}
    assert "observed" not in written
    again = tomllib.loads(drive_text(replace(drive, observed={"outer_rate": plain})))
    assert again["observed"]["outer_rate"]["value"] == 7.0


# --- what is taken where nothing is said


def test_a_drive_of_which_nothing_is_said_ails_from_nothing() -> None:
    """Faults are counted over the ten minutes of ZED (10 I/O errors in 600 s, zfs_diagnosis.c)."""
    assert asdict(DriveHealth()) == {
        "stutter_share": 0, "stutter_s": 0, "spell_factor": 1, "spell_s": 0, "between_s": 0,
        "bad_sectors": (), "recovery_s": 0, "fault_after": 0, "fault_window_s": 600, "fault_delay_s": 0,
        "seed": 0,
    }  # fmt: skip


def test_profiles_have_four_hundred_places_unless_told_otherwise() -> None:
    drive = DriveParameters(capacity_bytes=10**12)
    for places, _ in (rate_profile(drive), seek_profile(drive)):
        assert len(places) == 400
        assert (places[0], places[-1]) == pytest.approx((1 / 800, 799 / 800))


# --- the catalogue


def test_a_shelf_takes_each_drive_from_the_catalogue_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def looked_up(name: str) -> Any:
        asked.append(name)
        return load_drive(name)

    monkeypatch.setattr(catalogue, "load_drive", looked_up)
    shelf = Shelf(2020)
    assert shelf.named(DISK) is shelf.named(DISK)
    assert shelf.sized(DISK, 10**12) is shelf.sized(DISK, 10**12)
    assert asked == [DISK]
    assert shelf.sized(DISK, 2 * 10**12).capacity_bytes == 2 * 10**12


def from_file(name: str = DISK, **changes: float) -> Any:
    data: Any = model_data.load("drives", name)
    for key, value in changes.items():
        data["parameters"][key]["value"] = value
    return drive_from_table(data, Path("x.toml"))


@pytest.mark.parametrize(
    ("name", "key", "least", "below"),
    [
        # No queueing in the drive, one sector of the oldest size, one channel, one band of a MiB.
        (DISK, "queue_depth", 1, 0.5), (DISK, "logical_sector", 512, 511),
        ("generic-sata-ssd", "parallel_commands", 1, 0.5), ("st8000as0002", "band", 1, 0.99),
        ("st8000as0002", "cached_writes", 1, 0.5), (DISK, "rotation", 1000, 999),
        (DISK, "cached_extents", 1, 0.5), (DISK, "interface_rate", 1, 0.99),
    ],
)  # fmt: skip
def test_a_number_may_be_the_least_that_a_drive_can_have(
    name: str, key: str, least: float, below: float
) -> None:
    assert from_file(name, **{key: least}).quantities[key].value == least
    with pytest.raises(InputError, match=key):
        from_file(name, **{key: below})


def test_a_file_is_read_as_what_its_name_ends_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive of tracks is JSON; whatever else a path names is a file of the catalogue's form."""
    (tmp_path / "own.toml").write_text(drive_text(load_drive(DISK)))
    assert load_drive(str(tmp_path / "own.toml")).parameters() == load_drive(DISK).parameters()
    (tmp_path / "own.json").write_text("{}")
    monkeypatch.setattr(parametric, "drive_from_tracks", lambda path: f"tracks of {path.name}")
    assert load_drive(str(tmp_path / "own.json")) == "tracks of own.json"  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("name", [DISK, "generic-sata-ssd"])
def test_a_drive_that_is_not_shingled_has_nothing_of_it(name: str) -> None:
    found = load_drive(name).parameters()
    assert (found.smr_band_bytes, found.smr_cache_bytes, found.smr_cached_writes) == (0, 0, 0)
    assert (found.smr_idle_s, found.smr_prior, found.smr_cleaning) == (1.0, 0.0, 1.0)


def test_the_smallest_drive_of_tracks_has_one_block() -> None:
    assert toy(**one_zone(lbn_count=1)).capacity_bytes == 512
    without: tuple[dict[str, Any], ...] = (
        {"zones": []},
        {"seek": {"form": "piecewise_linear", "points_cyl_ms": []}},
    )
    for wrong in without:
        with pytest.raises(InputError, match="at least one entry"):
            toy(**wrong)


def test_factors_of_an_ensemble_multiply_what_was_measured() -> None:
    """Twice all seeks and the settling, four times the overheads, half the rates."""
    measured = replace(PLAIN, read_overhead_s=0.001, write_overhead_s=0.003)
    drive = replace(load_drive("hd103uj"), measured=measured)
    assert drive.parameters(outer_rate=0.5, seek=2.0, overhead=4.0) == replace(
        measured,
        zone_rates=(62.5e6,),
        seek_short_a_s=0.002,
        seek_short_b_s=0.016,
        seek_long_c_s=0.004,
        seek_long_e_s=0.008,
        write_settle_s=0.001,
        read_overhead_s=0.004,
        write_overhead_s=0.012,
    )
    assert drive.parameters() == measured


# --- seeks at the knee


def test_from_its_knee_on_a_seek_is_of_the_long_branch() -> None:
    """At the only place, half a stroke, where the knee lies: c + e / 2, and so the mean of density 1."""
    drive = replace(PLAIN, seek_knee=0.5)
    assert seek_profile(drive, 1)[1].tolist() == pytest.approx([0.002 + 0.004 / 2])
    assert mean_seek(drive, 1.0, 1) == pytest.approx(0.002 + 0.004 / 2)


def test_a_curve_without_a_short_branch_is_bounded_by_the_long_one() -> None:
    """Its knee is 0: the nearest place that needs the arm is 1 ms away, not the 10 ms of the other branch."""
    drive, _ = drive_table([replace(PLAIN, seek_knee=0.0, seek_short_a_s=0.010, seek_long_c_s=0.001)])
    bounds = np.empty(LANES, np.float32)
    bearing = np.full(LANES, 0.001 / PLAIN.revolution_s + 0.5, np.float32)
    reach_bounds(row(drive), np.full(LANES, 98, np.int32), bearing, LANES, 100 << 11, 0.0, bounds)
    assert bounds == pytest.approx(0.001 + 0.5 * PLAIN.revolution_s, rel=1e-3)


@pytest.mark.parametrize("write", [False, True])
def test_what_goes_on_at_the_head_is_bounded_by_no_time_even_where_no_gap_is_bridged(write: bool) -> None:
    """A bridge of 0 bytes: the next block passes at once, whatever its angle says."""
    drive, _ = mechanical(read_pass_under_bytes=0, write_pass_under_bytes=0)
    bound, time = bound_of(drive, 0, 0.9, write=write)
    assert time == 0.0
    assert bound <= 0.0


def test_an_overhead_that_overlaps_turns_no_platter() -> None:
    """At 9 ms a turn, of which a second is no whole number."""
    drive, _ = mechanical(revolution_s=0.009, read_overhead_s=0.003, write_overhead_s=0.003)
    assert [bearing_of(drive, 0.25, write) for write in (False, True)] == pytest.approx([0.25, 1.25])


def test_a_drive_of_as_many_zones_as_there_may_be_ends_in_its_last() -> None:
    table, rates = drive_table([replace(PLAIN, zone_rates=(1e8,) * MAX_ZONES)])
    zones = zone_table(table, rates)[0]
    places: Any = zones if IS_COMPILING else [Row(each) for each in zones]
    for offset in (PLAIN.capacity_bytes - 1, PLAIN.capacity_bytes):
        assert zone_at(row(table), places, offset) == MAX_ZONES - 1


# --- read-ahead and shingles


@pytest.mark.parametrize("since", [0.0, 0.5])
def test_a_drive_reads_on_from_the_beginning_of_time(since: float) -> None:
    """100 bytes a second: 200 of them have passed after two seconds; the link gives them in 0.2."""
    assert buffered(5000, 200, 5.0, since)[0] == pytest.approx((5.2, 5200, since + 2.0))


def test_how_full_bands_are_is_the_mean_over_their_bytes_while_some_are_from_before() -> None:
    """8 and 4 KiB in two bands: squares of 80 KiB**2, also while one write is left; none without."""
    for prior, squares in ((2, 8192**2 + 4096**2), (1, 8192**2 + 4096**2), (0, 0)):
        drive, rates, state = shingled()
        state[0][PRIOR_BYTES], state[0][PRIOR_WRITES] = prior * 4096, prior
        for place in (4096, 8192, BAND + 4096):
            smr_parts(drive, rates, state, SIZES, place, 4096, False)
        assert state[0][SQUARES] == squares
        assert state[0][CACHED_BYTES] == 3 * 4096


def test_two_bands_alike_are_enough_to_judge_by() -> None:
    drive, rates, state = shingled(smr_prior=0.5)
    for band in (3, 5):
        smr_parts(drive, rates, state, SIZES, band * BAND + 4096, 8192, False)
    expected = rewrite_time(drive, rates, 30, BAND, 1, 8192)
    assert clean_prior_band(drive, rates, state, SIZES, 30, 4096) == pytest.approx(expected)


def test_a_band_that_was_cleaned_takes_a_stream_again() -> None:
    drive, rates, state = shingled()
    smr_parts(drive, rates, state, SIZES, 3 * BAND + 4096, 4096, False)
    clean_band(drive, rates, state, BAND)
    assert not state[1].any(), "nothing is cached for any band"
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (0, 0)
    smr_parts(drive, rates, state, SIZES, 3 * BAND, 4096, False)
    assert state[0][CACHED_WRITES] == 0


# --- ailing drives


def stays(seed: int, **ails: Any) -> tuple[bool, float, Any, Any]:
    """Return whether a drive begins slow, its first stay [s], the call that reads on, and its table."""
    read, table = ailing(spell_factor=3.0, seed=seed, **ails)
    slow, first = bool(table["slow"][0]), float(table["changes"][0])
    return slow, first, read, table


def test_slow_spells_and_the_time_between_them_follow_one_another() -> None:
    """10 ms when sound and 30 in a spell, whichever a drive begins with."""
    for seed in range(20):
        is_slow, end, read, table = stays(seed, spell_s=1.0, between_s=1.0)
        for _ in range(4):
            assert read(at=end - 1e-9) == pytest.approx(0.03 if is_slow else 0.01)
            assert read(at=end) == pytest.approx(0.01 if is_slow else 0.03)
            is_slow, end = not is_slow, float(table["changes"][0])


def test_the_first_stay_is_as_long_as_any_other_whatever_it_is() -> None:
    """Exponential stays have no memory: what is left of a spell of 1 s is 1 s, between them 3 s."""
    found = [stays(seed, spell_s=1.0, between_s=3.0)[:2] for seed in range(600)]
    for is_slow, mean in ((True, 1.0), (False, 3.0)):
        of_kind = [first for slow, first in found if slow == is_slow]
        # Of some 150 and 450 exponential lengths the mean lies within 8 and 5 %: three times that.
        assert np.mean(of_kind) == pytest.approx(mean, rel=0.25 if is_slow else 0.15)


def test_no_two_stays_nor_stutters_are_of_one_draw() -> None:
    """The second stay tells nothing of the first, nor of whether the first or second read stutters."""
    firsts, seconds, stutters = [], [], []
    for seed in range(400):
        _, first, read, table = stays(seed, spell_s=1.0, between_s=1.0, stutter_share=0.25, stutter_s=9.0)
        stutters.append([read(at=0.0) == 9.0, read(at=0.0) == 9.0])
        read(at=first, write=True)
        firsts.append(first)
        seconds.append(float(table["changes"][0]) - first)
    assert abs(np.corrcoef(firsts, seconds)[0, 1]) < 0.2
    for each in np.array(stutters).T:
        # A hundred exponential lengths of a second: a tenth of a second, three times.
        assert np.array(seconds)[each].mean() == pytest.approx(1.0, abs=0.3)


# --- numbers by which kernels know things


def test_kinds_policies_and_ways_to_destage_are_told_apart() -> None:
    drives = [replace(PLAIN, kind=kind) for kind in ("mechanical", "flash")]
    drives += [replace(PLAIN, queue_policy=policy) for policy in ("fcfs", "c-look", "sptf")]
    drives += [replace(PLAIN, destage=way) for way in ("queue", "idle")]
    table, _ = drive_table(drives)
    assert len(set(table["kind"][:2].tolist())) == 2
    assert len(set(table["queue_policy"][2:5].tolist())) == 3
    assert len(set(table["destage"][5:].tolist())) == 2


def test_bounds_are_made_in_vectors_of_the_widest_registers() -> None:
    """512 bits of 32-bit numbers."""
    assert LANES * 32 == 512


def test_a_drive_of_tracks_has_thirty_zones_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as most files of the catalogue have."""
    monkeypatch.setattr(parametric, "_sampled_moves", lambda _drive, seed: (seed, seed))
    monkeypatch.setattr(parametric, "_fit_seek_curve", lambda _far, _times: (0.001, 0.002, 0.003, 0.004, 0.5))
    drive = parametric.fit_parametric(toy(**one_zone()))
    assert len(drive.zone_rates) == 30
    assert len(load_drive(DISK).parameters().zone_rates) == 30
    assert (drive.seek_short_a_s, drive.seek_short_b_s) == (0.001, 0.002)
    assert (drive.seek_long_c_s, drive.seek_long_e_s, drive.seek_knee) == (0.003, 0.004, 0.5)


def test_twice_an_offset_that_is_taken_fits_64_bits() -> None:
    """They are compared with twice a capacity; a pool of exabytes is taken."""
    assert 2 * (MAX_OFFSET - 1) < 2**63 <= 2 * MAX_OFFSET
