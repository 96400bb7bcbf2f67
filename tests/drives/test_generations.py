"""Drives by capacity and time: platters, and what they make of the rate."""

from __future__ import annotations

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.drives.catalogue import load_drive
from zsim.drives.models.generations import LATEST, first_year, outer_rate, platters_in_use

TB = 10**12


def test_every_number_has_a_source() -> None:
    data = model_data.load_toml(model_data.models_directory() / "platters" / "hard-disks.toml")
    assert unsourced_numbers(data, free=("year",)) == []
    for table in ("platter", "most_platters"):
        years = [each["year"] for each in data[table]]
        assert years == sorted(years)


@pytest.mark.parametrize(
    ("capacity", "year"), [(TB, 2007), (2 * TB, 2009), (3 * TB, 2010), (6 * TB, 2014), (12 * TB, 2017)]
)
def test_when_a_capacity_appeared(capacity: int, year: int) -> None:
    assert first_year(capacity) == year


def test_the_years_begin_with_the_first_platter_and_end_with_the_latest() -> None:
    data = model_data.load_toml(model_data.models_directory() / "platters" / "hard-disks.toml")
    first = data["platter"][0]
    assert first_year(1e6) == first_year(first["size"]["value"] * 1e9) == first["year"]
    assert first_year(1e18) == LATEST


def test_drives_of_a_capacity_have_fewer_platters_as_time_goes_on() -> None:
    assert min(platters_in_use(2 * TB, 2010)) == pytest.approx(0.5 * TB)
    assert set(platters_in_use(2 * TB, 2020)) == {1.0 * TB}
    assert len(platters_in_use(2 * TB, 2010)) == len(platters_in_use(2 * TB, 2020))


def test_the_law_meets_drives_it_was_not_fitted_to() -> None:
    """Mean rate of an ST2000DM001 (survey); rate of a Toshiba HDWR480 of 2021, 8 TB on five platters."""
    generic = load_drive("generic-7200rpm-cmr")
    rates = generic.with_capacity(2 * TB, 2014).parameters().zone_rates
    assert len(rates) / sum(1 / rate for rate in rates) == pytest.approx(156e6, rel=0.2)
    assert generic.with_capacity(8 * TB, 2023).quantities["outer_rate"].si == pytest.approx(248e6, rel=0.05)


def test_the_rate_follows_the_platter() -> None:
    assert outer_rate(TB, 2020, 200e6, 0.5) == pytest.approx(200e6)
    assert outer_rate(16 * TB, 2020, 200e6, 0.5) > outer_rate(16 * TB, 2020, 200e6, 0.4)
