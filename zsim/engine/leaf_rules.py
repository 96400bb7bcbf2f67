"""Rules of leaf queues, write caches and links that both engines apply, each in numbers alone."""

from __future__ import annotations

from zsim.base.jit import njit
from zsim.drives.physics.draws import mixed
from zsim.engine.codes import (
    ASYNC_WRITE,
    BINS_A_DOUBLING,
    LATENCY_BINS,
    MAX_CACHED,
    SCRUB,
    SYNC_READ,
    SYNC_WRITE,
)

# Unit of the narrowest bins of what clients wait, about a microsecond [1/s].
TO_WAIT = 1048576.0

# Priorities of the single queue, added to the deadline (OpenZFS 0.6.1 zio.c:zio_priority_table).
SINGLE_SYNC, SINGLE_ASYNC_READ, SINGLE_ASYNC_WRITE, SINGLE_RESILVER, SINGLE_SCRUB = 0, 6, 4, 10, 20


@njit
def address_rank(stamp: int) -> float:
    """Return the rank of a child I/O among those queued at the same offset, 0 to 1.

    OpenZFS orders them by the address of the zio (vdev_queue.c:vdev_queue_offset_compare, TREE_PCMP), and
    memory allocators hand addresses out in no order: a random number of the I/O, from its number of arrival.
    """
    return float(mixed(0, stamp))


@njit
def class_minimum(klass: int, minimum: int, throttles: bool, interactive: int, credit: int) -> int:
    """Return how many I/Os of a class are issued before any other class gets its turn.

    Parameters
    ----------
    klass : int
        From SCRUB on (scrub, rebuild) they are non-interactive.
    minimum : int
        The class's tunable.
    throttles : bool
        Whether the release throttles non-interactive classes (2.0.1 and later).
    interactive : int
        Interactive I/Os active on the leaf.
    credit : int
        Of the non-interactive classes on that leaf.

    Notes
    -----
    Source: OpenZFS 2.0.1+ vdev_queue.c:vdev_queue_class_min_active (non-interactive classes get the credit
    while interactive I/O is active); before: the tunable alone.
    """
    if throttles and klass >= SCRUB and interactive > 0:
        return min(minimum, credit)
    return minimum


@njit
def class_maximum(
    klass: int, minimum: int, maximum: int, throttles: bool, interactive: int, credit: int, delay: int
) -> int:
    """Return how many I/Os of a class may be active on a leaf; see `class_minimum`.

    `delay` is zfs_vdev_nia_delay.  Source: OpenZFS 2.0.1+ vdev_queue.c:vdev_queue_class_max_active; before:
    the tunable alone.
    """
    if not throttles or klass < SCRUB:
        return maximum
    if interactive > 0:
        return min(minimum, credit)
    return max(1, minimum) if credit < delay else maximum


@njit
def credit_at_issue(klass: int, interactive: int, credit: int) -> int:
    """Return a leaf's credit once an I/O is issued; `interactive` were active before.

    Source: OpenZFS vdev_queue.c:vdev_queue_pending_add.
    """
    if klass < SCRUB:
        return 1 if interactive == 0 else credit
    return credit - 1 if interactive > 0 else credit


@njit
def credit_at_end(klass: int, interactive: int, credit: int, earned: int) -> int:
    """Return a leaf's credit once an I/O is done; `interactive` were active before.

    `earned` is zfs_vdev_nia_credit.  Source: OpenZFS vdev_queue.c:vdev_queue_pending_remove.
    """
    if klass < SCRUB:
        return 0 if interactive == 1 else earned
    return credit + 1 if interactive == 0 else credit


@njit
def single_priority(klass: int, scrubs: bool, repairs: bool) -> int:
    """Return what the single queue of ZFS v28 adds to the deadline of an I/O.

    Parameters
    ----------
    klass : int
    scrubs : bool
        Whether the scan is a scrub, not a resilver.
    repairs : bool
        Whether it is a repair write.

    Notes
    -----
    Source: OpenZFS 0.6.1 zio.c:zio_priority_table, vdev_queue.c:vdev_queue_io_add.
    """
    if klass == SCRUB or repairs:
        return SINGLE_SCRUB if scrubs else SINGLE_RESILVER
    if klass == ASYNC_WRITE:
        return SINGLE_ASYNC_WRITE
    return SINGLE_SYNC if klass in (SYNC_READ, SYNC_WRITE) else SINGLE_ASYNC_READ


@njit
def fits_cache(length: int, cached: int, held: int, cache_bytes: int, flushing: bool) -> bool:
    """Tell whether a drive takes a write into its cache.

    Parameters
    ----------
    length : int
        Of the write [bytes].
    cached : int
        What lies in the cache [bytes].
    held : int
        Commands that the drive holds, this one too.
    cache_bytes : int
        Of the cache, 0: none [bytes].
    flushing : bool
        Whether the drive executes a FLUSH CACHE: until that is done, nothing is cached.
    """
    return cache_bytes > 0 and not flushing and cached + length <= cache_bytes and held < MAX_CACHED


@njit
def answer_time(now: float, overhead: float, length: int, interface_rate: float) -> float:
    """Return when a write that goes to a drive's cache is answered [s].

    Parameters
    ----------
    now : float
        When the drive takes the command [s].
    overhead : float
        Of the command [s].
    length : int
        Data of the command [bytes].
    interface_rate : float
        Between host and drive [bytes/s].

    Returns
    -------
    float
        ``now + overhead + length / interface_rate``: the heads have no part in it.
    """
    return now + overhead + length / interface_rate


@njit
def crossing_time(per_command: float, length: int, rate: float) -> float:
    """Return how long the data of a command take across a shared link [s].

    Parameters
    ----------
    per_command : float
        Overhead of a command on the link [s].
    length : int
        Data of the command [bytes].
    rate : float
        Of the link [bytes/s].

    Returns
    -------
    float
        ``per_command + length / rate``.
    """
    return per_command + length / rate


@njit
def waits_since(ended: float, first_arrived: float) -> float:
    """Return since when a drive waits for a command-based link [s].

    From its first command, or from the end of its last turn: drives with work take turns.
    """
    return max(ended, first_arrived)


@njit
def wait_bin(seconds: float) -> int:
    """Return the bin of what a client waited [s]: each doubling has 16 bins of one width.

    A quantile read off the middle of its bin is wrong by a thirty-second at most.  Source: the layout of
    HdrHistogram (Tene, 2012), in integers, so that every engine counts alike.
    """
    left, doublings = int(seconds * TO_WAIT), 0
    while left >= 2 * BINS_A_DOUBLING:
        left >>= 1
        doublings += 1
    return min(BINS_A_DOUBLING * doublings + left, LATENCY_BINS - 1)


def wait_of_bin(number: int) -> float:
    """Return the middle of a bin of `wait_bin` [s].

    Parameters
    ----------
    number : int
        0 to LATENCY_BINS - 1.

    Returns
    -------
    float
        [s]; off what was counted by a thirty-second of it at most.

    Examples
    --------
    >>> from zsim.engine.leaf_rules import wait_bin, wait_of_bin
    >>> abs(wait_of_bin(wait_bin(0.010)) / 0.010 - 1) < 1 / 32
    True
    """
    doublings = max(0, number // BINS_A_DOUBLING - 1)
    return float((number - BINS_A_DOUBLING * doublings + 0.5) * 2.0**doublings / TO_WAIT)
