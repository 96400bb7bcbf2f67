"""Random numbers for the files of a history; those of a seed are kept for the next pool.

Which class a file is of depends on the shares of the classes alone, and a larger deviate makes a larger file
whatever the mean size is.  So the numbers are sorted once, and pools of other sizes, layouts or mean sizes of
files take them as they are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.pool.recipes.recipe import FileSizes

DRAWN = 20_000
"""Files whose pieces a miniature is drawn from."""
MOST_KEPT = 64
"""Seeds and shares whose numbers are kept, 180 KB each."""

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FileNumbers:
    """Numbers that files are drawn with; those of a seed are one object.

    Attributes
    ----------
    kind : ndarray of integers, shape (n,)
        Record class of each file.
    deviate : ndarray of float64, shape (n,)
        How large it is: a deviate of the standard normal distribution, or from 0 to 1 of the uniform one.
    place : float
        Where the first piece lies among all of them, 0 to 1.
    """

    kind: NDArray[np.integer]
    deviate: F64
    place: float = 0.0


def draw_numbers(
    generator: np.random.Generator, count: int, shape: str, shares: tuple[float, ...]
) -> FileNumbers:
    """Draw numbers for so many files, in the order in which they are written.

    Parameters
    ----------
    generator : Generator
    count : int
    shape : {"lognormal", "uniform", "fixed"}
        Of the distribution of sizes.
    shares : tuple of float
        Of the record classes, in files.
    """
    # As `Generator.choice` does it, which checks the shares for as long as that takes.
    bounds = np.cumsum(np.array(shares) / np.array(shares).sum())
    at, kind = generator.random(count), np.zeros(count, np.int8)
    for bound in (bounds / bounds[-1])[:-1]:  # they are few: half the time of a search
        kind += at >= bound
    if shape == "lognormal":
        return FileNumbers(kind, generator.standard_normal(count))
    return FileNumbers(kind, generator.random(count) if shape == "uniform" else np.zeros(count))


def draw_sorted(
    generator: np.random.Generator, count: int, shape: str, shares: tuple[float, ...]
) -> FileNumbers:
    """Draw numbers for files that are cut into pieces.

    Parameters
    ----------
    generator : numpy.random.Generator
    count : int
        Files.
    shape : str
        Of the distribution of sizes.
    shares : tuple of float
        Of the record classes.

    Returns
    -------
    FileNumbers
        By class, in each the deviates of the smallest file first.
    """
    drawn = draw_numbers(generator, count, shape, shares)
    each = [np.sort(drawn.deviate[drawn.kind == kind]) for kind in range(len(shares))]
    kind = np.repeat(np.arange(len(shares), dtype=np.int8), [len(deviates) for deviates in each])
    return FileNumbers(kind, np.concatenate(each), generator.random())


def kept_numbers(seed: int, turn: int, shape: str, shares: tuple[float, ...]) -> FileNumbers:
    """Return the numbers of `DRAWN` files of a seed, sorted as in `draw_sorted`.

    Parameters
    ----------
    seed : int
    turn : int
        How many times as many files were drawn before.
    shape, shares
        See `draw_numbers`.
    """
    return _kept(seed, turn, shape, shares)[0]


@functools.lru_cache(maxsize=MOST_KEPT)
def _kept(
    seed: int, turn: int, shape: str, shares: tuple[float, ...]
) -> tuple[FileNumbers, dict[str, object]]:
    """Return the numbers, and the state of the generator behind them."""
    generator = np.random.default_rng(seed)
    if turn > 0:
        generator.bit_generator.state = _kept(seed, turn - 1, shape, shares)[1]
    found = draw_sorted(generator, DRAWN, shape, shares)
    for column in (found.kind, found.deviate):
        column.flags.writeable = False
    return found, dict(generator.bit_generator.state)


def forget_numbers() -> None:
    """Let go of the numbers that are kept, some 10 MB: they are drawn again when asked for."""
    _kept.cache_clear()


def sizes_of(deviate: F64, sizes: FileSizes) -> F64:
    """Return file sizes from their deviates [bytes].

    Parameters
    ----------
    deviate : ndarray of float, shape (files,)
        Standard normal where sizes are log-normal, uniform in 0 to 1 where they are uniform.
    sizes : FileSizes
        Shape, mean, spread and limits.

    Returns
    -------
    ndarray of float, shape (files,)
        [bytes], cut to `low` and `high`.

    Notes
    -----
    A log-normal distribution of mean m and standard deviation s of the logarithm has the median m exp(-s^2/2)
    (file sizes: Douceur and Bolosky, SIGMETRICS 1999).
    """
    if sizes.shape == "uniform":
        drawn = sizes.low + (sizes.high - sizes.low) * deviate
    elif sizes.shape == "lognormal":
        drawn = sizes.sigma * deviate
        drawn += np.log(sizes.mean) - sizes.sigma**2 / 2
        np.exp(drawn, out=drawn)
    else:
        drawn = np.full(len(deviate), float(sizes.mean))
    return np.clip(drawn, sizes.low, sizes.high, out=drawn)
