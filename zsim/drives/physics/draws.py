"""Counter-based random numbers: the same for every slicing of time and every order of creation."""

from __future__ import annotations

import numpy as np

from zsim.base.jit import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / 9007199254740992.0


@njit
def mixed(seed: int, counter: int) -> float:
    """Return a uniform number in (0, 1) from a seed and a counter (SplitMix64: Steele et al., 2014)."""
    value = np.uint64(seed) + np.uint64(counter + 1) * _GOLDEN
    value = (value ^ (value >> np.uint64(30))) * _FIRST
    value = (value ^ (value >> np.uint64(27))) * _SECOND
    value = value ^ (value >> np.uint64(31))
    return (float(value >> np.uint64(11)) + 0.5) * _TO_UNIT
