"""Rules of leaf queues, write caches and links that both engines apply, each in numbers alone."""

from __future__ import annotations

from zsim.base.jit import njit
from zsim.engine.codes import SCRUB


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
def answer_time(now: float, overhead: float, length: int, interface_rate: float) -> float:
    """Return when a write that goes to a drive's cache is answered [s]: overhead, then its data cross."""
    return now + overhead + length / interface_rate


@njit
def crossing_time(per_command: float, length: int, rate: float) -> float:
    """Return how long the data of a command take across a shared link [s]."""
    return per_command + length / rate


@njit
def waits_since(ended: float, first_arrived: float) -> float:
    """Return since when a drive waits for a command-based link [s].

    From its first command, or from the end of its last turn: drives with work take turns.
    """
    return max(ended, first_arrived)
