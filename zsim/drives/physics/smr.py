"""Drive-managed shingled recording: a persistent cache, bands rewritten whole, cleaning when idle or full.

After Aghayev and Desnoyers (Skylight, FAST 2015), who drew these mechanisms from drives of 5 and 8 TB:

* a write that goes on where the last one in its band ended, from the start of the band, goes straight there;
* any other write is appended to the persistent cache, which holds a number of bytes and of separate writes;
* when that is full, every further write first waits until the band that has waited longest has been read,
  merged with everything cached for it, and written back; a drive idle for a while does the same unasked.
"""

from __future__ import annotations

import numpy as np

from zsim.base.arrays import F64, I64
from zsim.base.jit import njit
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.physics.mechanics import DriveRecord, seek_time, zone_of

# Places in the counters.
(
    CACHED_BYTES,
    CACHED_WRITES,
    OLDEST,
    NEWEST,
    HEAD,
    CLEANED,
    STREAM_BAND,
    STREAM_END,
    LAST_BAND,
    PRIOR_BYTES,
    PRIOR_WRITES,
    SQUARES,
) = range(12)
COUNTERS = 12
# Places in the sizes.
BAND, CACHE, WRITES = range(3)
# Rows of the table of bands.
BYTES, PIECES, RUNS = range(3)
IN_CACHE = -1
"""Where the head stands after an append to the persistent cache, and after a band was cleaned."""

Shingles = tuple[I64, I64, I64]
Sizes = tuple[int, int, int]


def smr_bands(drive: DriveParameters) -> int:
    """Return the bands of a drive, 0 where it is not shingled."""
    return -(-drive.capacity_bytes // drive.smr_band_bytes) if drive.smr_band_bytes > 0 else 0


def shingles_at_first(drive: DriveParameters) -> Shingles:
    """Return the state in which a drive begins, with no bands if it is not shingled.

    Returns
    -------
    counters : ndarray of int64, shape (COUNTERS,)
    bands : ndarray of int64, shape (3, n_bands)
        Bytes, writes, and stretches of the log that are cached for each band.
    queue : ndarray of int64, shape (n_bands,)
        Bands that wait to be cleaned, oldest first, as a ring.
    """
    bands = smr_bands(drive)
    return counters_at_first(drive), np.zeros((3, bands), dtype=np.int64), np.zeros(bands, dtype=np.int64)


def counters_at_first(drive: DriveParameters) -> I64:
    """Return the counters with which a drive begins, shape (COUNTERS,)."""
    counters = np.zeros(COUNTERS, dtype=np.int64)
    counters[STREAM_BAND] = counters[LAST_BAND] = -1
    counters[PRIOR_BYTES] = int(drive.smr_cache_bytes * drive.smr_prior)
    counters[PRIOR_WRITES] = int(drive.smr_cached_writes * drive.smr_prior)
    return counters


@njit
def reach_of_shingled(drive: DriveRecord, head: int, offset: int) -> float:
    """Return how long the arm takes to a write, as `smr_parts` counts it for one in its place.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    head : int
        Where the last write ended [bytes].
    offset : int
        Where this one begins [bytes].

    Returns
    -------
    float
        ``seek(|offset - head|) + revolution / 2`` [s]; 0 where it goes on at the head, so that streams come
        before all others and stay whole.
    """
    if offset == head:
        return 0.0
    return float(seek_time(drive, abs(offset - head), True) + drive.revolution / 2.0)


@njit
def rate_of_band(drive: DriveRecord, rates: F64, band: int, band_size: int) -> float:
    """Return the media rate at the beginning of a band.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rates : ndarray of float64, shape (n_zones,)
        [bytes/s]
    band, band_size : int
        Number of the band, and its size [bytes].

    Returns
    -------
    float
        [bytes/s]: that of its first byte's zone, taken for the whole band.
    """
    return float(rates[zone_of(drive, band * band_size)])


@njit
def clean_band(drive: DriveRecord, rates: F64, state: Shingles, band_size: int) -> float:
    """Read, merge and rewrite the band that has waited longest; return what that takes.

    Parameters
    ----------
    drive, rates, band_size
        As `rate_of_band` takes them.
    state : tuple of ndarray
        As `shingles_at_first` made it; changed in place.

    Returns
    -------
    float
        From `rewrite_time` [s]; 0 where no band waits.

    Notes
    -----
    First in, first out over bands, not over writes: everything that is cached for the band is freed at once.
    Cached pieces that were written one after the other are read in one go.
    """
    counters, bands, queue = state
    if counters[OLDEST] == counters[NEWEST]:
        return 0.0
    band = queue[counters[OLDEST] % bands.shape[1]]
    counters[OLDEST] += 1
    seconds = rewrite_time(drive, rates, band, band_size, bands[RUNS, band], bands[BYTES, band])
    counters[CACHED_BYTES] -= bands[BYTES, band]
    counters[CACHED_WRITES] -= bands[PIECES, band]
    for row in range(len(bands)):
        bands[row, band] = 0
    counters[HEAD] = IN_CACHE
    counters[CLEANED] += 1
    return float(seconds)


@njit
def rewrite_time(drive: DriveRecord, rates: F64, band: int, band_size: int, runs: int, cached: int) -> float:
    """Return how long a band takes to be cleaned [s].

    Parameters
    ----------
    drive, rates, band, band_size
        As `rate_of_band` takes them.
    runs, cached : int
        Runs of its data in the persistent cache, and their bytes.

    Notes
    -----
    The cached runs are gathered (a short seek, half a turn each), the arm goes to the band and back to where
    the log goes on, and the band is read and written once (read-modify-write: Aghayev & Desnoyers, Skylight,
    FAST 2015).  `smr_cleaning` is the factor that reports of such drives leave open.  A band that stands for
    a part of a real one has that part of what is once a band (`smr_fixed`).
    """
    rate = rate_of_band(drive, rates, band, band_size)
    turn, share = drive.revolution / 2.0, drive.smr_fixed
    gather = (runs - 1 + share) * (seek_time(drive, 0, False) + turn) + cached / rates[0]
    travel = share * (2.0 * seek_time(drive, band * band_size, False) + drive.write_settle + turn)
    rewrite = 2.0 * (share * turn + band_size / rate)
    return float(drive.smr_cleaning * (gather + travel + rewrite))


@njit
def clean_prior_band(
    drive: DriveRecord, rates: F64, state: Shingles, sizes: Sizes, band: int, length: int
) -> float:
    """Clean a band cached before the run, filled like those of the run; return what that takes [s].

    A run that begins in the middle of a long one finds the cache full of bands like its own.  How full those
    are is the mean over the bytes, so that the little bands of txg writes count for little; until there is
    enough to judge by, they are taken as full.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rates : ndarray of float64, shape (n_zones,)
        [bytes/s]
    state : Shingles
        Of this drive.
    sizes : Sizes
    band : int
        Being written to: the others are near it.
    length : int
        Of the write that waits [bytes].
    """
    counters, bands, _ = state
    taken, pieces = sizes[BAND], max(sizes[BAND] // length, 1)
    typical = counters[SQUARES] // max(counters[CACHED_BYTES], 1)
    if 0 < 2 * typical <= counters[CACHED_BYTES]:
        taken = typical
        pieces = max(typical * counters[CACHED_WRITES] // counters[CACHED_BYTES], 1)
    seconds = rewrite_time(drive, rates, band, sizes[BAND], max(bands[RUNS, band], 1), taken)
    counters[HEAD] = IN_CACHE
    counters[CLEANED] += 1
    counters[PRIOR_BYTES] = max(counters[PRIOR_BYTES] - taken, 0)
    counters[PRIOR_WRITES] = max(counters[PRIOR_WRITES] - pieces, 0)
    # Whichever of the two held more bands than the other: the last one is gone.
    if counters[PRIOR_BYTES] == 0 or counters[PRIOR_WRITES] == 0:
        counters[PRIOR_BYTES] = counters[PRIOR_WRITES] = 0
    return float(seconds)


@njit
def is_full(counters: I64, sizes: Sizes, length: int) -> bool:
    """Tell whether the persistent cache has no room for another write.

    Parameters
    ----------
    counters : ndarray of int64, shape (COUNTERS,)
    sizes : tuple of int
        Band [bytes], persistent cache [bytes], writes that it holds.
    length : int
        Of the write [bytes].

    Returns
    -------
    bool
        Either limit is reached, bytes or number of writes; what was cached before the run counts in both.
    """
    return bool(
        counters[CACHED_BYTES] + counters[PRIOR_BYTES] + length > sizes[CACHE]
        or counters[CACHED_WRITES] + counters[PRIOR_WRITES] >= sizes[WRITES]
    )


@njit
def smr_parts(
    drive: DriveRecord, rates: F64, state: Shingles, sizes: Sizes, offset: int, length: int, again: bool
) -> tuple[float, float, float]:
    """Return how long a write waits for bands to be cleaned, is positioned and transferred; change the state.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rates : ndarray of float64, shape (n_zones,)
    state : tuple of ndarray
        As `shingles_at_first` made it.
    sizes : tuple of int
        Band [bytes], persistent cache [bytes], writes that it holds.
    offset, length : int
        [bytes]; a write that crosses into another band counts as one of the band it begins in, one past the
        nominal end of the drive (pools are rounded, drives hold a little more) as one of the last band, one
        before its beginning as one of the first.
    again : bool
        Whether it is one of those that come again in every transaction group, on a drive whose persistent
        cache is reduced: it takes room, but none of its own band is cleaned for it.

    Returns
    -------
    cleaning, reach, transfer : float
        [s]
    """
    counters, bands, queue = state
    # Kernels do not check indices: a place off the drive would change memory that is not the table's.
    band = min(max(offset // sizes[BAND], 0), bands.shape[1] - 1)
    goes_on = band == counters[STREAM_BAND] and offset == counters[STREAM_END]
    if (goes_on or offset == band * sizes[BAND]) and bands[PIECES, band] == 0:
        return _stream(drive, rates, counters, sizes[BAND], offset, length)
    cleaning = reach = 0.0
    while counters[CACHED_WRITES] + counters[PRIOR_WRITES] > 0 and is_full(counters, sizes, length):
        if counters[PRIOR_WRITES] > 0:
            cleaning += clean_prior_band(drive, rates, state, sizes, band, length)
        else:
            cleaning += clean_band(drive, rates, state, sizes[BAND])
    if counters[HEAD] != IN_CACHE:
        reach = seek_time(drive, counters[HEAD], True) + drive.revolution / 2.0
    if again and counters[NEWEST] > counters[OLDEST]:
        band = queue[(counters[NEWEST] - 1) % bands.shape[1]]
    if bands[PIECES, band] == 0:
        queue[counters[NEWEST] % bands.shape[1]] = band
        counters[NEWEST] += 1
    bands[RUNS, band] += 1 if counters[LAST_BAND] != band or bands[PIECES, band] == 0 else 0
    if counters[PRIOR_WRITES] > 0:
        counters[SQUARES] += length * (2 * bands[BYTES, band] + length)
    bands[BYTES, band] += length
    bands[PIECES, band] += 1
    counters[CACHED_BYTES] += length
    counters[CACHED_WRITES] += 1
    counters[HEAD], counters[LAST_BAND] = IN_CACHE, band
    return float(cleaning), float(reach), float(length / rates[0])


@njit
def _stream(
    drive: DriveRecord, rates: F64, counters: I64, band_size: int, offset: int, length: int
) -> tuple[float, float, float]:
    """Write straight to the band; return what that takes, as `smr_parts` does."""
    head = counters[HEAD]
    reach = 0.0
    if head != offset:
        distance = offset if head == IN_CACHE else abs(head - offset)
        reach = seek_time(drive, distance, True) + drive.revolution / 2.0
    counters[HEAD] = counters[STREAM_END] = offset + length
    counters[STREAM_BAND] = (offset + length) // band_size
    return 0.0, float(reach), float(length / rate_of_band(drive, rates, offset // band_size, band_size))


@njit
def smr_idle(
    drive: DriveRecord, rates: F64, state: Shingles, sizes: Sizes, idle_before: float, idle: float
) -> float:
    """Clean bands while the drive is idle; return how long it is busy beyond the end of the idle time.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rates : ndarray of float64, shape (n_zones,)
        [bytes/s]
    state : tuple of ndarray
        As `shingles_at_first` made it; changed in place.
    sizes : tuple of int
        Band [bytes], persistent cache [bytes], writes that it holds.
    idle_before : float
        How long the drive rests before it begins to clean [s].
    idle : float
        Time without a command [s].

    Returns
    -------
    float
        [s]: a band that is being cleaned is finished, and the next command waits for that.
    """
    left = idle - idle_before
    while left > 0.0 and state[0][CACHED_WRITES] > 0:
        left -= clean_band(drive, rates, state, sizes[BAND])
    return float(max(-left, 0.0)) if idle > idle_before else 0.0
