"""The child permutations of a dRAID, as its on-disk format fixes them."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from zsim.base.model_data import load_toml, models_directory
from zsim.base.parsed import table, text

Permutations = NDArray[np.int64]

FIRST_SEED = 0xD7A1D5EED
MASK = (1 << 64) - 1


def permutation_count(children: int) -> int:
    """Return how many base permutations a dRAID has.

    Parameters
    ----------
    children : int
        Drives of the vdev, spares included.

    Returns
    -------
    int
        256 up to 31 children, 512 above.

    Notes
    -----
    OpenZFS 2.1 vdev_draid.c, the table draid_maps.
    """
    return 256 if children <= 31 else 512


@functools.cache
def known_seeds() -> dict[int, int]:
    """Return the seeds of the on-disk format by number of children (models/draid/seeds.toml)."""
    seeds = table(load_toml(models_directory() / "draid" / "seeds.toml"), "seeds")
    return {int(children): int(text(table(seeds, children), "seed"), 16) for children in seeds}


@functools.cache
def draid_permutations(children: int) -> Permutations:
    """Return the base permutations of a dRAID of so many children.

    Parameters
    ----------
    children : int
        2 to 255.

    Returns
    -------
    ndarray of int64, shape (permutations, children)
        Read-only; row after row, each the Fisher-Yates shuffle of the one before.

    Notes
    -----
    OpenZFS module/zfs/vdev_draid.c:vdev_draid_generate_perms with xoroshiro128++ (Blackman and Vigna, public
    domain) seeded by a constant and by the map's seed for the number of children.
    """
    random = xoroshiro128pp(FIRST_SEED, known_seeds()[children])
    row = list(range(children))
    rows = np.empty((permutation_count(children), children), dtype=np.int64)
    for index in range(len(rows)):
        for last in range(children - 1, 0, -1):
            other = next(random) % (last + 1)
            row[last], row[other] = row[other], row[last]
        rows[index] = row
    rows.setflags(write=False)
    return rows


def xoroshiro128pp(state_0: int, state_1: int) -> Iterator[int]:
    """Yield the numbers of xoroshiro128++.

    Parameters
    ----------
    state_0, state_1 : int
        64 bits each, not both 0.

    Yields
    ------
    int
        0 to 2**64 - 1.

    Notes
    -----
    Blackman and Vigna, Scrambled linear pseudorandom number generators, ACM TOMS 47, 2021.  The on-disk
    format of dRAID rests on it (OpenZFS vdev_draid.c:vdev_draid_rand).
    """
    while True:
        yield rotate_left((state_0 + state_1) & MASK, 17) + state_0 & MASK
        state_1 ^= state_0
        state_0 = rotate_left(state_0, 49) ^ state_1 ^ (state_1 << 21 & MASK)
        state_1 = rotate_left(state_1, 28)


def rotate_left(word: int, bits: int) -> int:
    """Return a 64-bit word turned left by `bits`."""
    return (word << bits | word >> (64 - bits)) & MASK
