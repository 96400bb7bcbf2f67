"""Parse and print bytes, rates, durations and fractions.

Inside zsim everything is SI: bytes as int, seconds, bytes per second, fractions from 0 to 1.  At the edges
the unit is decided by *what is measured*, as the tools of each side do it:

=====================  ======================================  =============================
quantity               ``K M G T P`` and ``KB MB GB TB PB``    ``KiB MiB GiB TiB PiB``
=====================  ======================================  =============================
ZFS (pools, records)   powers of 1024, as ``zfs`` reads them   powers of 1024
drives (capacity)      powers of 1000, as on the label         powers of 1024
rates                  powers of 1000                          powers of 1024
=====================  ======================================  =============================

So ``4T`` and ``4TB`` are 4e12 bytes for a drive and 4398046511104 bytes for a pool; what is ambiguous is
echoed back in both forms by `format_both`.
"""

from __future__ import annotations

import contextlib
import math
import re
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import NoReturn, TypeAlias

from zsim.base.errors import InputError

Duration: TypeAlias = float | str | timedelta
"""A time [s], or text such as ``"16h55m"``."""
PREFIXES = ("", "K", "M", "G", "T", "P", "E")
MAX_BYTES = 2**63 - 1
MINUTE = 60
HOUR = 3600
DAY = 86400
YEAR = 365.25 * DAY
MOST_ECHOED = 20
"""Letters of a number up to which a remedy repeats it."""

_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_SIZE = re.compile(rf"({_NUMBER})\s*([kmgtpe]?)(i?)(b|bytes?)?", re.ASCII | re.IGNORECASE)
_RATE = re.compile(
    rf"({_NUMBER})\s*([kmgtpe]?)(i?)(B|b|bit|bits|bytes?)?(/s|/sec|/second|ps)", re.ASCII | re.IGNORECASE
)
_PERCENT = re.compile(rf"({_NUMBER})\s*(%|percent)?", re.ASCII)
_PIECE = re.compile(
    rf"({_NUMBER})\s*(weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|min|m|seconds?|secs?|sec|s|ms|us)(?![a-z])",
    re.ASCII,
)
_CLOCK = re.compile(r"(?:(\d+)\s*(?:days?|d)\s+)?(\d+):([0-5]?\d)(?::([0-5]?\d(?:\.\d*)?))?", re.ASCII)
_PIECE_SECONDS = {
    "w": Decimal(7 * DAY), "d": Decimal(DAY), "h": Decimal(HOUR), "m": Decimal(MINUTE), "s": Decimal(1),
    "ms": Decimal("0.001"), "us": Decimal("0.000001"),
}  # fmt: skip


def parse_bytes(value: str | float, field: str = "size") -> int:
    """Read a ZFS size: ``128K``, ``2.84T``, ``1.5TiB``, ``131072``; all prefixes are powers of 1024.

    Parameters
    ----------
    value : str or int or float
        A number is taken as bytes.
    field : str
        Name for the message.

    Returns
    -------
    int
        [bytes]

    Raises
    ------
    InputError
        When it is not a size, negative, or beyond 2**63.

    Examples
    --------
    >>> parse_bytes("128K"), parse_bytes("1.5KiB"), parse_bytes("2.84T")
    (131072, 1536, 3122613022884)
    """
    return _parse_size(value, 1024, field, "a size such as 128K, 1M, 2.84T or 1.5TiB (powers of 1024)")


def parse_drive_size(value: str | float, field: str = "drive size") -> int:
    """Read the capacity of a drive: ``4TB`` and ``4T`` are 4e12 bytes, ``3.64TiB`` is in powers of 1024.

    Parameters, return value and exceptions are those of `parse_bytes`.

    Examples
    --------
    >>> parse_drive_size("4TB"), parse_drive_size("4T"), parse_drive_size("1TiB")
    (4000000000000, 4000000000000, 1099511627776)
    """
    return _parse_size(value, 1000, field, "a capacity such as 4TB, 500GB (powers of 1000) or 3.64TiB")


def parse_rate(value: str | float, field: str = "rate") -> float:
    """Read the rate of a drive or link: ``180MB/s``, ``180M/s`` (powers of 1000), ``171MiB/s``, ``6Gbit/s``.

    A number is taken as bytes per second.  ``6Gb/s`` is refused, because it may mean bits or bytes.

    Returns
    -------
    float
        [bytes/s]

    Raises
    ------
    InputError
        When it is not a rate.
    """
    return _parse_rate(value, 1000, field)


def parse_zfs_rate(value: str | float, field: str = "rate") -> float:
    """Read a rate as the ZFS tools print it: ``57.1M/s`` is 57.1 * 2**20 bytes per second.

    Return value and exceptions are those of `parse_rate`.
    """
    return _parse_rate(value, 1024, field)


def parse_fraction(value: str | float, field: str = "fraction") -> float:
    """Read a fraction: ``62%`` or ``0.62``; ``62`` is refused.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    InputError
        When it is not a fraction or lies outside 0 to 1.

    Examples
    --------
    >>> parse_fraction("62%"), parse_fraction("0.62"), parse_fraction(0.62)
    (0.62, 0.62, 0.62)
    """
    allowed = "a fraction from 0 to 1 or a percentage from 0% to 100%"
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value.strip())
        if match is None:
            _refuse(field, value, f"it is not {allowed}", "write 62% or 0.62")
        number = Decimal(match[1]) / (100 if match[2] else 1)
    else:
        number = _decimal(value, field, allowed)
    if not 0 <= number <= 1:
        # A number from 2 on was meant in percent; what 1.62 was meant to be, nobody knows.
        bare = number <= 100 and "%" not in str(value)
        remedy = f"write {number}% or {number / 100}" if bare and number >= 2 else "write 62% or 0.62"
        remedy = f"write {number}% if that is meant" if bare and 1 < number < 2 else remedy
        _refuse(field, value, f"it is not {allowed}", remedy)
    return float(number)


def parse_duration(value: Duration, field: str = "duration") -> float:
    """Read a duration: ``16h55m``, ``2d 03:04:05``, ``03:04:05``, ``2 days``, ``90s``, ``250ms``.

    A number is taken as seconds, a `datetime.timedelta` as what it is; text without a unit is refused.

    Returns
    -------
    float
        [s]

    Raises
    ------
    InputError
        When it is not a duration.

    Examples
    --------
    >>> parse_duration("16h55m"), parse_duration("2d 03:04:05"), parse_duration("250ms")
    (60900.0, 183845.0, 0.25)
    """
    allowed = "a duration such as 16h55m, 2d 03:04:05, 90s or 250ms"
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if not isinstance(value, str):
        number = _decimal(value, field, allowed)
        if number < 0:
            _refuse(field, value, f"it is not {allowed}", "")
        return _as_float(number, value, field)
    text = value.strip().lower()
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = (Decimal(part or 0) for part in clock.groups())
        return _as_float(days * DAY + hours * HOUR + minutes * MINUTE + seconds, value, field)
    return _as_float(_sum_of_pieces(text, value, field, allowed), value, field)


def _as_float(number: Decimal | int, value: object, field: str) -> float:
    """Return a number as a float; one beyond its range is refused."""
    if not math.isfinite(found := float(number)):
        _refuse(field, value, "no number here is so large")
    return found


def format_bytes(size: float) -> str:
    """Print a ZFS size in powers of 1024 with three significant digits, as ``zpool list`` does.

    Parameters
    ----------
    size : float
        [bytes]

    Examples
    --------
    >>> format_bytes(131072), format_bytes(3122613022884), format_bytes(622770257920), format_bytes(0)
    ('128K', '2.84T', '580G', '0')
    """
    number, prefix = _scaled(size, 1024)
    return f"{number}{prefix}"


def format_bytes_exactly(size: int) -> str:
    """Print a ZFS size so that `parse_bytes` gives back the same number: ``128K``, ``22.4T``, ``131073``."""
    with contextlib.suppress(InputError):  # rounded up beyond the largest size
        if parse_bytes(short := format_bytes(size)) == size:
            return short
    power = 0
    while size and size % 1024 == 0 and power < len(PREFIXES) - 1:
        size, power = size // 1024, power + 1
    return f"{size}{PREFIXES[power]}"


def format_drive_size(size: float) -> str:
    """Print the capacity of a drive in powers of 1000: ``4 TB``, ``1.5 TB``, ``750 GB``.

    Parameters
    ----------
    size : float
        [bytes]
    """
    number, prefix = _scaled(size, 1000)
    return f"{number} {_si(prefix)}B"


def format_drive_size_exactly(size: int) -> str:
    """Print a capacity so that `parse_drive_size` gives back the same number: ``4TB``, ``1000204886016``.

    Parameters
    ----------
    size : int
        [bytes]
    """
    power = 0
    while size and size % 1000 == 0 and power < len(PREFIXES) - 1:
        size, power = size // 1000, power + 1
    return f"{size}{PREFIXES[power]}B" if power else str(size)


def format_both(size: float) -> str:
    """Print a size in both systems, for an echo: ``4 TB (3.64 TiB)``."""
    number, prefix = _scaled(size, 1024)
    binary = f"{prefix}iB" if prefix else "B"
    return f"{format_drive_size(size)} ({number} {binary})"


def format_rate(rate: float) -> str:
    """Print a rate in powers of 1000: ``57.1 MB/s``.

    Parameters
    ----------
    rate : float
        [bytes/s]
    """
    return f"{format_drive_size(rate)}/s"


def format_fraction(fraction: float) -> str:
    """Print a fraction as a percentage: ``62 %``, ``0.5 %``."""
    return f"{_three_digits(100 * _finite(fraction))} %"


def format_percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent: ``62 %``."""
    return f"{100.0 * share:.{decimals}f} %"


def format_duration(seconds: float) -> str:
    """Print a duration for a person, two units at most: ``16 h 55 min``, ``1 d 3 h``, ``45 s``, ``8.3 ms``.

    From 24 hours on it counts days, as ``zpool status`` does.

    Parameters
    ----------
    seconds : float
        [s]
    """
    seconds = _finite(seconds)
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    if round(seconds) < MINUTE:
        return _short_duration(seconds)
    if round(seconds) < HOUR:
        return _two_units(round(seconds), MINUTE, "min", "s")
    if round(seconds / MINUTE) < DAY // MINUTE:
        return _two_units(round(seconds / MINUTE), HOUR // MINUTE, "h", "min")
    return _two_units(round(seconds / HOUR), DAY // HOUR, "d", "h")


def format_duration_roughly(seconds: float) -> str:
    """Print a duration that is known roughly: from 10 minutes on without seconds.

    Parameters
    ----------
    seconds : float
        [s]
    """
    known = _finite(seconds)
    return format_duration(known if abs(known) < 10 * MINUTE else MINUTE * round(known / MINUTE))


def format_duration_exactly(seconds: float) -> str:
    """Print a duration that was stated, to the second: ``1 d 1 h 17 min``.

    Parameters
    ----------
    seconds : float
        [s]
    """
    left = round(_finite(seconds))
    if left < MINUTE:
        return format_duration(seconds)
    parts = []
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1, "s")):
        count, left = divmod(left, size)
        parts += [f"{count} {unit}"] if count else []
    return " ".join(parts)


def _two_units(count: int, ratio: int, large: str, small: str) -> str:
    high, low = divmod(count, ratio)
    return f"{high} {large} {low} {small}" if low else f"{high} {large}"


def _short_duration(seconds: float) -> str:
    if seconds == 0:
        return "0 s"
    for limit, scale, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit * (1 - 5e-4):
            return f"{_three_digits(seconds * scale)} {unit}"
    return f"{_three_digits(seconds)} s"


def _parse_size(value: str | float, base: int, field: str, allowed: str) -> int:
    if isinstance(value, str):
        match = _SIZE.fullmatch(value.strip())
        if match is None or (match[3] and not match[2]):
            _refuse(field, value, f"it is not {allowed}")
        size = Decimal(match[1]) * (1024 if match[3] else base) ** _power(match[2])
    else:
        size = _decimal(value, field, allowed)
    if not 0 <= size <= MAX_BYTES:
        _refuse(field, value, "a size lies between 0 and 2**63 - 1 bytes")
    return int(size.to_integral_value())


def _parse_rate(value: str | float, base: int, field: str) -> float:
    allowed = "a rate such as 180MB/s, 171MiB/s or 6Gbit/s"
    if not isinstance(value, str):
        rate = _decimal(value, field, allowed)
    else:
        match = _RATE.fullmatch(value.strip())
        if match is None or (match[3] and not match[2]):
            _refuse(field, value, f"it is not {allowed}")
        unit = match[4] or "B"
        if unit == "b":
            _refuse(field, value, "a small b may mean bits or bytes", "write 6Gbit/s or 600MB/s")
        rate = Decimal(match[1]) * (1024 if match[3] else base) ** _power(match[2])
        rate /= 8 if unit.lower().startswith("bit") else 1
    if rate < 0:
        _refuse(field, value, f"it is not {allowed}")
    return _as_float(rate, value, field)


def _sum_of_pieces(text: str, value: str, field: str, allowed: str) -> Decimal:
    """Return the seconds of ``16h55m``: every piece a number and a unit, the units descending."""
    total, position, last = Decimal(0), 0, Decimal("Infinity")
    while position < len(text):
        match = _PIECE.match(text, position)
        if match is None:
            short = len(text) <= MOST_ECHOED and _is_number(text)
            remedy = f"write {text}s or {text}h" if short else "write 16h55m or 90s"
            _refuse(field, value, f"it is not {allowed}", remedy)
        scale = _PIECE_SECONDS[match[2] if match[2] in ("ms", "us") else match[2][0]]
        if scale >= last:
            _refuse(field, value, "the units of a duration descend, each once", "write 2d 3h 4m 5s")
        total, last, position = total + Decimal(match[1]) * scale, scale, match.end()
        position += len(text[position:]) - len(text[position:].lstrip())
    if position == 0:
        _refuse(field, value, f"it is not {allowed}", "write 16h55m or 90s")
    return total


def _is_number(text: str) -> bool:
    return re.fullmatch(_NUMBER, text, re.ASCII) is not None


def _power(prefix: str) -> int:
    return PREFIXES.index(prefix.upper())


def _decimal(value: object, field: str, allowed: str) -> Decimal:
    """Return a plain finite number as it is printed (0.62 stays 0.62)."""
    if isinstance(value, bool):
        _refuse(field, value, f"it is not {allowed}")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        _refuse(field, value, f"it is not {allowed}")
    if not number.is_finite():
        _refuse(field, value, f"it is not {allowed}")
    return number


def _finite(value: float) -> float:
    if not math.isfinite(value):
        msg = f"{value} has no printed form"
        raise ValueError(msg)
    return float(value)


def _scaled(size: float, base: int) -> tuple[str, str]:
    """Return `size` with three significant digits, and its prefix."""
    if _finite(size) < 0:
        number, prefix = _scaled(-size, base)
        return f"-{number}", prefix
    power, scaled = 0, float(size)
    while power < len(PREFIXES) - 1 and float(_three_digits(scaled)) >= base:
        power, scaled = power + 1, scaled / base
    return _three_digits(scaled), PREFIXES[power]


def _three_digits(value: float) -> str:
    """Return three significant digits (more before the point), without trailing zeros after it."""
    magnitude = abs(value)
    places = 0 if magnitude >= 99.95 else 1 if magnitude >= 9.995 else 2 if magnitude >= 0.9995 else 3
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _si(prefix: str) -> str:
    return "k" if prefix == "K" else prefix


def _refuse(field: str, value: object, allowed: str, remedy: str = "") -> NoReturn:
    raise InputError(field, value, allowed, remedy)
