"""Capacities that drives are sold with."""

from __future__ import annotations

USUAL_GB = (
    40, 60, 80, 120, 128, 160, 200, 240, 250, 256, 300, 320, 400, 480,
    500, 512, 600, 640, 750, 800, 900, 960, 1000, 1200, 1500, 1600, 1800, 1920,
    2000, 2400, 2500, 3000, 3200, 3840, 4000, 5000, 6000, 6400, 7680, 8000, 10000, 12000,
    14000, 15360, 16000, 18000, 20000, 22000, 24000, 26000, 28000, 30000, 30720, 32000, 36000,
)  # fmt: skip
"""Capacities that drives are sold with [GB]: a size of three digits is taken to one of them."""
USUAL_WITHIN = 0.015
"""A size is taken for that of a drive on sale which is so near."""
ROUNDED_UP = 0.003
"""What follows from sizes that are printed with three digits is too large by so much at most."""


def usual_bytes(size: int) -> int:
    """Return the capacity that drives are sold with nearest to one of three digits [bytes], or itself."""
    nearest = min(USUAL_GB, key=lambda gb: abs(gb * 10**9 / size - 1)) * 10**9
    return nearest if abs(nearest / size - 1) < USUAL_WITHIN else size


def sold_as(size: int) -> int | None:
    """Return the capacity on sale next above a size that ZFS uses of a drive; None where none is near.

    Parameters
    ----------
    size : int
        As it follows from the space of a vdev [bytes].

    Returns
    -------
    int or None
        [bytes]
    """
    found = next((gb * 10**9 for gb in USUAL_GB if gb * 10**9 >= size * (1 - ROUNDED_UP)), None)
    return found if found is not None and found <= size * (1 + USUAL_WITHIN) else None
