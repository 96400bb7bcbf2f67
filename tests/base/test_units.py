"""Units: what the tools print is read, and what is printed can be read again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base import units
from zsim.base.errors import InputError

sizes = st.integers(0, units.MAX_BYTES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0), ("512", 512), ("128K", 131072), ("128k", 131072), ("128KB", 131072), ("128KiB", 131072),
        ("1M", 2**20), ("1.5TiB", 3 * 2**39), ("2.84T", round(2.84 * 2**40)), ("580G", 580 * 2**30),
        ("0B", 0), ("1 G", 2**30), (".5K", 512), ("7E", 7 * 2**60), (131072, 131072), (4096.0, 4096),
    ],
)  # fmt: skip
def test_zfs_sizes_are_powers_of_1024(text: str | float, expected: int) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4TB", 4 * 10**12), ("4T", 4 * 10**12), ("1.5TB", 1500 * 10**9), ("750GB", 750 * 10**9),
        ("4tb", 4 * 10**12), ("3.64TiB", round(3.64 * 2**40)), ("1000204886016", 1000204886016),
    ],
)  # fmt: skip
def test_capacities_of_drives_are_powers_of_1000_unless_the_i_is_there(text: str, expected: int) -> None:
    assert units.parse_drive_size(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "K",
        "12Q",
        "1.2.3K",
        "-5",
        "1e3",
        "5iB",
        "128 K B",
        "0x10",
        "١٢K",
        "9E9",
        True,
        math.nan,
        math.inf,
        "8E",
    ],
)
def test_what_is_no_size_is_refused(text: str | float) -> None:
    with pytest.raises(InputError, match="recordsize"):
        units.parse_bytes(text, "recordsize")


@given(sizes)
def test_an_exact_size_reads_back(size: int) -> None:
    assert units.parse_bytes(units.format_bytes_exactly(size)) == size
    assert units.parse_drive_size(units.format_drive_size_exactly(size)) == size


@given(st.integers(0, 7 * 2**60))
def test_a_printed_size_is_within_half_a_digit(size: int) -> None:
    text = units.format_bytes(size)
    assert len(text) <= 5
    assert units.parse_bytes(text) == pytest.approx(size, rel=5.1e-3, abs=0.5)


@given(st.integers(0, 9 * 10**18), st.integers(0, 9 * 10**18))
def test_printed_capacities_keep_their_order(one: int, other: int) -> None:
    low, high = sorted((one, other))
    read = [
        units.parse_drive_size(units.format_drive_size(size)[:-1].replace(" ", "") + "B")
        for size in (low, high)
    ]
    assert read[0] <= read[1]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (131072, "128K"), (3122613023703, "2.84T"), (622770257920, "580G"), (0, "0"), (1023, "1023"),
        (1024, "1K"), (1048575, "1M"), (57.1 * 2**20, "57.1M"), (-2048, "-2K"),
    ],
)  # fmt: skip
def test_sizes_print_as_zpool_list_does(size: float, text: str) -> None:
    assert units.format_bytes(size) == text


def test_an_ambiguous_size_is_echoed_in_both_systems() -> None:
    assert units.format_both(4e12) == "4 TB (3.64 TiB)"
    assert units.format_both(500) == "500 B (500 B)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("180MB/s", 180e6), ("180M/s", 180e6), ("171MiB/s", 171 * 2**20), ("6Gbit/s", 750e6),
        ("500", None), ("6Gb/s", None), ("fast", None), ("-1MB/s", None), (2.5e6, 2.5e6),
        ("1.5GB/sec", 1.5e9),
        ("100Mbitps", 12.5e6), (-3, None), ("5iB/s", None),
    ],
)  # fmt: skip
def test_rates_of_drives_and_links(text: str | float, expected: float | None) -> None:
    if expected is None:
        with pytest.raises(InputError):
            units.parse_rate(text)
    else:
        assert units.parse_rate(text) == pytest.approx(expected, rel=1e-12)


def test_rates_of_the_zfs_tools_are_powers_of_1024() -> None:
    assert units.parse_zfs_rate("57.1M/s") == pytest.approx(57.1 * 2**20)
    assert units.format_rate(57.1e6) == "57.1 MB/s"
    assert units.format_rate(5000) == "5 kB/s"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("62%", 0.62),
        ("62 %", 0.62),
        ("0.62", 0.62),
        (0.62, 0.62),
        ("1", 1),
        ("100%", 1),
        ("0", 0),
        (".5", 0.5),
        (1, 1),
    ],
)
def test_fractions(value: str | float, expected: float) -> None:
    assert units.parse_fraction(value) == expected


@pytest.mark.parametrize("value", ["62", 62, "101%", "-1%", -0.1, "abc", "", math.nan, None, [0.5]])
def test_what_is_no_fraction_is_refused(value: str | float) -> None:
    with pytest.raises(InputError, match="percentage"):
        units.parse_fraction(value)


def test_a_number_that_was_meant_as_percentage_is_answered_with_both_forms() -> None:
    with pytest.raises(InputError, match=r"write 62% or 0\.62\.$"):
        units.parse_fraction("62")


@given(st.floats(0, 1))
def test_a_fraction_given_as_number_stays_exactly_itself(value: float) -> None:
    assert units.parse_fraction(value) == value


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("16h55m", 60900), ("16 h 55 min", 60900), ("2d 03:04:05", 183845), ("2 days 03:04:05", 183845),
        ("03:04:05", 11045), ("00:07:43", 463), ("90s", 90), ("250ms", 0.25), ("8us", 8e-6), ("1.5h", 5400),
        ("1w", 604800), ("3h", 10800), ("1d2h3m4s", 93784), (90, 90), (0.5, 0.5), ("2 hours 5 minutes", 7500),
    ],
)  # fmt: skip
def test_durations(text: str | float, seconds: float) -> None:
    assert units.parse_duration(text) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["", "3600", "5x", "1m2h", "1h1h", "h", "1:2:3:4", "03:61", "-5s", -1, math.inf, "1 2"]
)
def test_what_is_no_duration_is_refused(text: str | float) -> None:
    with pytest.raises(InputError):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (60900, "16 h 55 min"), (0, "0 s"), (8.3e-3, "8.3 ms"), (5e-5, "50 us"), (45, "45 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"), (3599.7, "1 h"), (172799, "2 d"), (200000, "2 d 8 h"),
        (86340, "23 h 59 min"), (86399, "1 d"), (144000, "1 d 16 h"),
        (0.9999, "1 s"),
        (-90, "-1 min 30 s"),
    ],
)  # fmt: skip
def test_durations_are_printed_for_a_person(seconds: float, text: str) -> None:
    assert units.format_duration(seconds) == text


@given(st.floats(1e-6, 1e9))
def test_a_printed_duration_reads_back_nearly(seconds: float) -> None:
    read = units.parse_duration(units.format_duration(seconds))
    assert read == pytest.approx(seconds, rel=0.021)  # half an hour of a day


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(91020, "1 d 1 h 17 min"), (183845, "2 d 3 h 4 min 5 s"), (0.01, "10 ms"), (60, "1 min")],
)
def test_a_stated_duration_is_printed_to_the_second(seconds: float, text: str) -> None:
    assert units.format_duration_exactly(seconds) == text
    assert units.parse_duration(text) == seconds


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_has_no_printed_form(value: float) -> None:
    for form in (units.format_bytes, units.format_duration, units.format_fraction, units.format_rate):
        with pytest.raises(ValueError, match="printed form"):
            form(value)


def test_fractions_print_as_percentages() -> None:
    assert [units.format_fraction(each) for each in (0.62, 0.005, 1, 0)] == ["62 %", "0.5 %", "100 %", "0 %"]


@given(st.text(max_size=20))
def test_no_text_ends_in_anything_but_a_number_or_an_input_error(text: str) -> None:
    for parse in (
        units.parse_bytes,
        units.parse_drive_size,
        units.parse_rate,
        units.parse_fraction,
        units.parse_duration,
    ):
        try:
            assert parse(text) >= 0
        except InputError as error:
            assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    "value", ["9" * 400 + "h", "9" * 308 + "d", 10**400], ids=["hours", "days", "seconds"]
)
def test_a_duration_beyond_what_a_number_holds_is_refused(value: float | str) -> None:
    with pytest.raises(InputError, match="so large"):
        units.parse_duration(value, "at")


def test_a_rate_beyond_what_a_number_holds_is_refused() -> None:
    with pytest.raises(InputError, match="so large"):
        units.parse_rate("9" * 400 + "MB/s", "rate")


def test_a_long_number_without_a_unit_is_not_repeated_in_the_remedy() -> None:
    with pytest.raises(InputError, match=r"write 12\.5s or 12\.5h"):
        units.parse_duration("12.5")
    with pytest.raises(InputError) as caught:
        units.parse_duration("0." + "9" * 400)
    assert len(str(caught.value)) < 300
    assert "write 16h55m or 90s" in str(caught.value)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2402.0, "40 min"), (600.0, "10 min"), (571.0, "9 min 31 s"), (12_345.0, "3 h 26 min"), (45.0, "45 s")],
)
def test_what_is_known_roughly_has_no_seconds_beside_minutes(seconds: float, text: str) -> None:
    assert units.format_duration_roughly(seconds) == text
