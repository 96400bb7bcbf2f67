"""How a risk is printed, block by block."""

from __future__ import annotations

import math
from collections.abc import Callable

from zsim.base.units import format_drive_size, format_duration
from zsim.planning.risk.records import Chance, Mover, Risk, rounded
from zsim.prediction.answer.sections import WARNINGS, Section, filled
from zsim.prediction.answer.tables import Grid

LIKELY = 0.095
LEAST_PERCENT = 0.001
"""From here on a range that ends with percent begins with percent, too."""
NARROW = 1.2
"""Ends of a range that differ by less are told with three digits."""
LEAST_FACTOR = 1.1
"""What moves the chance by less is no source of uncertainty worth a row."""
GRADES = (("files", "some files lost"), ("vdev", "vdev suspended"), ("pool", "pool lost"))
FIELDS = {
    "rate": "how often the drives fail",
    "age_factor": "how old the drives are",
    "correlation": "how strongly failures are correlated",
    "latent": "how many drives get latent errors",
    "delay": "how soon the repair begins",
    "hours": "how long the repair takes",
}
REMEDIES = {
    "rate": "--afr 1.5%, or a drive model such as --afr ST16000NM001G",
    "age_factor": "--age-factor 2 for aged drives, 0.7 for young ones",
    "correlation": "--correlation 1, 3, 6 or 10",
    "latent": "--latent-incidence 0.3%",
    "delay": "--detect 12h, or --spare hot",
    "hours": "state more of the pool, or --hours 24",
}
CLOSING = ("Fire, theft, operator errors and software defects are not included: redundancy is no backup.",)


def odds(value: float, digits: int = 1) -> str:
    """Return a chance in words: ``1 in 4,000``, or ``23 %`` where it is likely; never zero."""
    if value >= LIKELY:
        return f"{_plain_number(rounded(100 * value, max(2, digits)))} %"
    if value <= 0.0:
        return "too small to tell"
    whole = rounded(1.0 / value, digits)
    if whole < 1e6:
        return f"1 in {whole:,.0f}"
    for size, name in ((1e6, "million"), (1e9, "billion"), (1e12, "trillion")):
        if whole < 1000 * size:
            return f"1 in {_plain_number(rounded(whole / size, digits))} {name}"
    return f"1 in 10^{round(-math.log10(value))}"


def share_words(share: float) -> str:
    """Return a share in percent with two digits; where that says nothing, as one of how many; never zero."""
    return f"{_plain_number(rounded(100 * share, 2))} %" if share >= LEAST_PERCENT else odds(share)


def _plain_number(value: float) -> str:
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def between(chance: Chance) -> str:
    """Return a chance as a range; as one figure where nothing is open."""
    if chance.is_exact:
        return odds(chance.p, 3)
    digits = 3 if chance.high < NARROW * chance.low else 1
    if chance.high >= LIKELY > chance.low >= LEAST_PERCENT:
        return f"{share_words(rounded(chance.low, digits))} to {odds(chance.high, digits)}"
    low, high = odds(chance.low, digits), odds(chance.high, digits)
    return low if low == high else f"{low} to {high}"


WINDOWS = {
    "repair": "during this repair",
    "plan": "during this plan",
    "rest": "before this repair ends",
    "scrub": "during this scrub",
    "failure": "when a drive fails",
}
"""The time of the first column, by what it spans."""


def headline(answer: Risk) -> str:
    """Return the answer in one line: the vdev within this repair; of plain disks the pool within a year."""
    found, what = answer.window.vdev, "the vdev" if answer.window_of == "repair" else "a vdev"
    when = WINDOWS[answer.window_of]
    if answer.window_of == "failure":
        found, what, when = answer.per_year.pool, "the pool", "within a year"
    begin = f"Chance of losing {what} {when}: {between(found)}"
    return f"{begin}." if found.is_exact else f"{begin} (on average {odds(found.p, 2)})."


def grid_of(answer: Risk) -> Grid:
    """Return the table of ranges: a row a grade, a column a period."""
    return _grid(answer, between)


def means_grid(answer: Risk) -> Grid:
    """Return the same table with the averages."""
    return _grid(answer, lambda chance: odds(chance.p, 2))


def _grid(answer: Risk, told: Callable[[Chance], str]) -> Grid:
    periods = (answer.window, answer.per_year, answer.years)
    rows = tuple((words, *(told(getattr(period, name)) for period in periods)) for name, words in GRADES)
    years = f"{answer.horizon_years:g} years"
    return Grid(("", WINDOWS[answer.window_of], "within a year", f"within {years}"), rows)


def lost_bytes(answer: Risk) -> str:
    """Say what is expected to be lost of each TB in a year."""
    lost = answer.bytes_lost_per_tb_year
    if lost.is_exact:
        return f"Expected loss: {_amount(lost.p, 3)} a year per TB of data."
    digits = 3 if lost.high < NARROW * lost.low else 1
    low, high, mean = _amount(lost.low, digits), _amount(lost.high, digits), _amount(lost.p, max(2, digits))
    if low == high == mean:
        return f"Expected loss: {mean} a year per TB of data."
    return f"Expected loss: {low} to {high} a year per TB of data (on average {mean})."


def _amount(lost: float, digits: int) -> str:
    return format_drive_size(rounded(lost, digits)) if lost >= 1.0 else "less than a byte"


def _counts(mover: Mover) -> bool:
    return max(mover.factor, 1.0 / mover.factor) >= LEAST_FACTOR if mover.factor else True


def mover_row(mover: Mover, window_of: str) -> tuple[str, ...]:
    """Return the table row of an input that is not known."""
    remedy = REMEDIES[mover.field]
    if mover.field == "hours" and window_of != "repair":
        remedy = "state more of the pool"
    factor = mover.factor if mover.factor >= 1 else 1 / mover.factor
    return FIELDS[mover.field], f"x {_plain_number(rounded(factor, 2))}", remedy


def sections(answer: Risk) -> tuple[Section, ...]:
    """Return the whole answer, block by block, empty blocks left out."""
    missing = f"; a failed drive is missing for {format_duration(answer.missing_s)} on average"
    nine = "Each range is a 90 % interval; its width comes from what is not known."
    exact = all(period.vdev.is_exact for period in (answer.window, answer.per_year, answer.years))
    movers = Grid(
        ("not known", "changes the chance by", "state it with"),
        tuple(mover_row(each, answer.window_of) for each in answer.movers if _counts(each)),
        frozenset({1}),
    )
    told = (f"Stated: {'; '.join(answer.stated)}.",) if answer.stated else ()
    every = (
        Section("", (f"{answer.subject}{missing if answer.missing_s else ''}.", *told)),
        Section(WARNINGS, answer.warnings),
        Section("How likely", () if exact else (nine,), grid_of(answer)),
        Section("On average", (), None if exact else means_grid(answer)),
        Section("Data", (lost_bytes(answer),)),
        Section("Main sources of uncertainty", grid=movers),
        Section("Assumed", tuple(f"{each.text}." for each in answer.assumptions)),
        Section("Not counted", CLOSING),
    )
    return filled(every)
