"""Platter generations: how fast a drive is of which only capacity, spindle speed and year are known.

The data rate of a track follows the linear density of its platter, and that the capacity per platter, which
grew tenfold in fifteen years: a 2 TB drive of 2009 has four or five platters, one of 2013 two, and is 1.4
times as fast.  The platters are those of ``models/platters/hard-disks.toml``; what a platter makes of the
rate is fitted over the surveyed drives (``density_rate`` and ``density_exponent`` of the generic drives).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TypeVar

from zsim.base import model_data
from zsim.base.parsed import tables, value_of, whole

LATEST = 2025
"""The year taken where none is told."""
FITS = 1.01
"""Capacities are rounded: so much may lie on a platter beyond its nominal size."""
GIGABYTE = 1e9

Steps = tuple[tuple[int, float], ...]
T = TypeVar("T")


@functools.cache
def _history() -> tuple[Steps, Steps, int, int]:
    """Return sizes of a platter [GB], most platters in a drive, years of use, years of redesign."""
    path = model_data.models_directory() / "platters" / "hard-disks.toml"
    data = model_data.load_toml(path)

    def steps(table: str) -> Steps:
        return tuple((whole(each, "year"), value_of(each, "size")) for each in tables(data, table))

    def years(key: str) -> int:
        return int(model_data.quantity_of(data, f"in_use.{key}", path, "years").value)

    return steps("platter"), steps("most_platters"), years("age"), years("redesigned")


def _at(steps: Sequence[tuple[int, T]], year: int) -> T:
    """Return the value of a year: that of the last step before it, or of the first."""
    return next((value for begin, value in reversed(steps) if begin <= year), steps[0][1])


def first_year(capacity_bytes: float) -> int:
    """Return the year in which the most and largest platters first made up a capacity."""
    sizes, most, _, _ = _history()
    years = range(sizes[0][0], LATEST + 1)
    gigabytes = capacity_bytes / GIGABYTE
    return next((year for year in years if _at(sizes, year) * _at(most, year) * FITS >= gigabytes), LATEST)


def platters_in_use(capacity_bytes: float, year: int = LATEST) -> tuple[float, ...]:
    """Return what a platter holds in drives of a capacity that are in use in a year.

    Parameters
    ----------
    capacity_bytes : float
        [bytes]
    year : int

    Returns
    -------
    tuple of float
        One for each year in which the drive may have been bought, all alike in weight [bytes].
    """
    sizes, _, age, redesigned = _history()
    first, gigabytes = first_year(capacity_bytes), capacity_bytes / GIGABYTE
    designed = (min(max(bought, first), first + redesigned) for bought in range(year - age, year + 1))
    return tuple(
        capacity_bytes / max(1, math.ceil(gigabytes / (_at(sizes, each) * FITS))) for each in designed
    )


def outer_rate(capacity_bytes: float, year: int, rate: float, exponent: float) -> float:
    """Return the rate of the outermost tracks of a typical drive: the geometric mean over the drives in use.

    Parameters
    ----------
    capacity_bytes : float
        [bytes]
    year : int
    rate : float
        Of a drive with platters of 1 TB, at its speed of rotation [bytes/s].
    exponent : float
        With which it grows with the capacity of a platter.

    Returns
    -------
    float
        [bytes/s]
    """
    platters = platters_in_use(capacity_bytes, year)
    mean = math.fsum(math.log(each / 1e12) for each in platters) / len(platters)
    return rate * math.exp(exponent * mean)
