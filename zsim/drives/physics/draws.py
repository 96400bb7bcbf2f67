"""Counter-based random numbers: independent of time slices and of the order of creation."""

from __future__ import annotations

import numpy as np

from zsim.base.jit import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / 9007199254740992.0
# Levels of strata: any 4,096 successive numbers have one in each 4,096th.
_LEVELS = 12


@njit
def mixed(seed: int, counter: int) -> float:
    """Return a uniform random number that is a function of a seed and a counter alone.

    Parameters
    ----------
    seed : int
        Of the component and purpose.
    counter : int
        Number of the draw, from 0.

    Returns
    -------
    float
        ``(k + 1/2) / 2**53`` with k the upper 53 bits of the hash: never 0 and never 1, so that its logarithm
        is finite.

    Notes
    -----
    The finaliser of SplitMix64 at state ``seed + (counter + 1) * 0x9E3779B97F4A7C15`` (Steele, Lea and Flood,
    Fast splittable pseudorandom number generators, OOPSLA 2014).  Nothing is remembered between draws, so
    that neither the order of events nor the number of processes changes a result.

    Examples
    --------
    >>> 0.0 < mixed(1, 0) < 1.0, mixed(1, 0) == mixed(1, 0), mixed(1, 0) == mixed(2, 0)
    (True, True, False)
    """
    value = np.uint64(seed) + np.uint64(counter + 1) * _GOLDEN
    value = (value ^ (value >> np.uint64(30))) * _FIRST
    value = (value ^ (value >> np.uint64(27))) * _SECOND
    value = value ^ (value >> np.uint64(31))
    return (float(value >> np.uint64(11)) + 0.5) * _TO_UNIT


@njit
def evenly(seed: int, stream: int, number: int) -> float:
    """Return a uniform random number of a sequence that fills the unit interval evenly.

    Parameters
    ----------
    seed : int
        Of the component.
    stream : int
        For what it draws: streams of a seed have nothing to do with each other.
    number : int
        Number of the draw, from 0.

    Returns
    -------
    float
        Between 0 and 1, neither of both.  Of the draws from ``k * 2**n`` on, the next ``2**n`` (n up to 12)
        lie in a stratum of width ``2**-n`` each, in random order.

    Notes
    -----
    A scrambled van der Corput sequence: the bits of the number in reverse, each flipped by a hash of those
    before it (Owen, Randomly permuted (t, m, s)-nets and (t, s)-sequences, Monte Carlo and Quasi-Monte Carlo
    Methods in Scientific Computing, 1995), of a number whose bits were flipped by a hash of the higher ones
    (Burley, Practical hash-based Owen scrambling, Journal of Computer Graphics Techniques 9, 2020), so that
    streams are independent.  Beyond the strata it is `mixed`.

    Examples
    --------
    >>> sorted(int(4 * evenly(1, 0, number)) for number in range(8, 12))
    [0, 1, 2, 3]
    """
    first, value, width = 4 * stream, 0.0, 0.5
    shuffled = 0
    for level in range(_LEVELS):
        above = number >> level
        flipped = (above & 1) ^ int(2.0 * mixed(seed + first, 16 * (above >> 1) + level))
        shuffled |= flipped << level
    for level in range(_LEVELS):
        before = (1 << level) | (shuffled & ((1 << level) - 1))
        digit = ((shuffled >> level) & 1) ^ int(2.0 * mixed(seed + first + 1, before))
        value += digit * width
        width *= 0.5
    return float(value + 2.0 * width * mixed(seed + first + 2, number))
