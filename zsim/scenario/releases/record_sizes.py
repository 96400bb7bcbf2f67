"""Allowed record sizes, and their maximum by release."""

from __future__ import annotations

from zsim.scenario.releases.profile import ReleaseProfile

MIN_RECORD = 512
DEFAULT_RECORD = 128 << 10
"""Of a dataset whose recordsize nobody has set, and the largest before there was the feature large_blocks."""
MAX_RECORD = 16 << 20


def is_record_size(size: int, most: int = MAX_RECORD) -> bool:
    """Tell whether a size [bytes] is one that records can have."""
    return MIN_RECORD <= size <= most and size & (size - 1) == 0


def largest_record(release: ReleaseProfile) -> int:
    """Return the largest record size that a release takes [bytes].

    Notes
    -----
    Source: Solaris pool version 32 (blocks of 1 MB); feature large_blocks (OpenZFS 0.6.5, FreeBSD 10).
    """
    if release.family == "solaris":
        return MAX_RECORD >> 4
    return DEFAULT_RECORD if release.queue == "single" else MAX_RECORD
