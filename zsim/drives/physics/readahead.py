"""Read-ahead: the drive continues to read behind a request, and serves later ones from its buffer.

Scalar functions over plain numbers and one small array, for any engine to call.
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit

NOT_AHEAD = -1.0
# Columns of a segment table.
FIRST, END, USED = range(3)


@njit
def read_so_far(head: int, since: float, at: float, segment: int, rate: float) -> int:
    """Return the byte up to which the drive has read ahead.

    Parameters
    ----------
    head : int
        Byte behind the last one that was asked for [bytes].
    since : float
        When it began to read on [s]; negative: it does not.
    at : float
        The time it is [s].
    segment : int
        How far it reads on at most [bytes].
    rate : float
        Media rate there [bytes/s].
    """
    if since < 0.0:
        return head
    return head + min(segment, int(max(at - since, 0.0) * rate))


@njit
def reads_on(head: int, end: int, segment: int) -> bool:
    """Tell whether a drive that rests with a full buffer reads on from `head`: half of it has been asked for.

    Parameters
    ----------
    head : int
        Up to here it has read [bytes].
    end : int
        Of the request it has just given from the buffer [bytes].
    segment : int
        How far it reads ahead [bytes].
    """
    return 0 <= head - end <= segment // 2


@njit
def buffered_read(
    segments: I64,
    head: int,
    since: float,
    begin: float,
    offset: int,
    length: int,
    segment: int,
    rate: float,
    interface_rate: float,
    clock: int,
) -> tuple[float, int, float]:
    """Return when the buffer has given a read, and where the read-ahead then is.

    The drive reads on behind a read until `segment` bytes are buffered, then rests until half of them have
    been asked for (`reads_on`) or a read misses; a read in the stretch on which it is at work waits for the
    medium, one in a stored stretch only for the interface.  A segment holds what is read ahead and as much
    of what lies before it.

    Parameters
    ----------
    segments : ndarray of int64, shape (n_segments, 3)
        What is stored; changed in place.
    head : int
        Byte behind the last one that was asked for and read from the medium.
    since : float
        When that byte had been read; negative: nothing is read ahead [s].
    begin : float
        When the command is ready to be served [s].
    offset, length : int
        [bytes]
    segment : int
        Size of a segment [bytes].
    rate, interface_rate : float
        Media rate, and rate out of the buffer [bytes/s].
    clock : int
        Rising number.

    Returns
    -------
    done : float
        Time of completion [s]; `NOT_AHEAD` if the read has to go to the medium: what had been read ahead is
        stored.
    head : int
    since : float
        As above, from now on.
    """
    handed_over = begin + length / interface_rate
    end = offset + length
    if since >= 0.0 and begin < since + segment / rate and 0 <= offset - head <= segment:
        passed = since + (end - head) / rate
        keep_segment(segments, head, end, segment, clock)
        return max(handed_over, passed), end, passed
    reached = read_so_far(head, since, begin, segment, rate)
    if reached > head:
        keep_segment(segments, head, reached, segment, clock)
    if since >= 0.0 and begin >= since + segment / rate:
        head, since = reached, -1.0
    place = segment_with(segments, offset, length)
    if place < 0:
        return NOT_AHEAD, head, since
    segments[place, USED] = clock
    return handed_over, head, since


@njit
def segment_with(segments: I64, offset: int, length: int) -> int:
    """Return the buffer segment that holds a whole request, -1 if none does.

    Parameters
    ----------
    segments : ndarray of int64, shape (n_segments, 3)
        First byte, byte behind the last, time of last use (any rising clock).
    offset, length : int
        [bytes]
    """
    for number in range(len(segments)):
        if segments[number, FIRST] <= offset and offset + length <= segments[number, END]:
            return number
    return -1


@njit
def keep_segment(segments: I64, first: int, end: int, size: int, clock: int) -> int:
    """Remember what was read, in the segment it continues or else in the one unused for longest.

    Parameters
    ----------
    segments : ndarray of int64, shape (n_segments, 3)
        Changed in place.
    first, end : int
        Stretch read [bytes].
    size : int
        How far the drive reads ahead; twice as much stays in a segment [bytes].
    clock : int
        Rising number.

    Returns
    -------
    int
        The segment.
    """
    chosen = 0
    for number in range(len(segments)):
        if segments[number, FIRST] <= first <= segments[number, END] and segments[number, END] > 0:
            chosen = number
            break
        if segments[number, USED] < segments[chosen, USED]:
            chosen = number
    goes_on = segments[chosen, FIRST] <= first <= segments[chosen, END] and segments[chosen, END] > 0
    low = segments[chosen, FIRST] if goes_on else first
    high = max(segments[chosen, END], end) if goes_on else end
    segments[chosen, FIRST] = max(low, high - 2 * size)
    segments[chosen, END] = high
    segments[chosen, USED] = clock
    return chosen
