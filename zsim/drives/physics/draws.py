"""Counter-based random numbers: independent of time slices and of the order of creation."""

from __future__ import annotations

import numpy as np

from zsim.base.jit import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / 9007199254740992.0


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
