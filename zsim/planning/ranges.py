"""Lists and ranges as axes of a sweep: ``1,2,3``, ``4..12``, ``4..12..2``, ``25%..90%``."""

from __future__ import annotations

import re
from decimal import Decimal

from zsim.base.errors import InputError

POINTS = 5
"""Values of a range without a step, where its ends are no whole numbers."""
MAX_VALUES = 10_000

_RANGE = re.compile(r"(\d+(?:\.\d+)?)(%?)\.\.(\d+(?:\.\d+)?)(%?)(?:\.\.(\d+(?:\.\d+)?)(%?))?", re.ASCII)
_FORMS = "it takes one value, a list such as 1,2,3 or a range such as 4..12, 4..12..2 or 25%..90%"


def values_of(text: str, field: str) -> list[str]:
    """Return the values of an axis as text, each as a user would give it alone.

    Parameters
    ----------
    text : str
        Values and ranges, separated by commas.
    field : str
        Name of the axis, for the message.

    Raises
    ------
    InputError
        When a range has no end, runs backwards, or mixes percentages with numbers.

    Examples
    --------
    >>> values_of("4..7", "width"), values_of("1,3", "parity"), values_of("25%..75%..25%", "fill")
    (['4', '5', '6', '7'], ['1', '3'], ['25%', '50%', '75%'])
    """
    found: list[str] = []
    for item in (each.strip() for each in text.split(",")):
        if not item:
            raise InputError(field, text, _FORMS, "remove the empty place")
        found += _range(item, field) if ".." in item else [item]
        if len(found) > MAX_VALUES:
            raise InputError(field, text, f"at most {MAX_VALUES} values", "take a larger step")
    return found


def _range(item: str, field: str) -> list[str]:
    match = _RANGE.fullmatch(item)
    if match is None:
        raise InputError(field, item, _FORMS, "list other values with commas")
    first, last = Decimal(match[1]), Decimal(match[3])
    units = {match[2], match[4], *([match[6]] if match[5] else [])}
    if len(units) > 1:
        raise InputError(field, item, "percentages and numbers do not mix in a range", "write 25%..90%")
    if last < first:
        raise InputError(field, item, "it runs backwards", "put the lower end first")
    step = Decimal(match[5]) if match[5] else _step(first, last, bool(match[2]))
    if step <= 0 and last > first:
        raise InputError(field, item, "its step is not above 0", "write for instance 4..12..2")
    count = int((last - first) / step) + 1 if last > first else 1
    if count > MAX_VALUES:
        raise InputError(field, item, f"at most {MAX_VALUES} values", "take a larger step")
    return [f"{_plain(first + place * step)}{match[2]}" for place in range(count)]


def _step(first: Decimal, last: Decimal, percent: bool) -> Decimal:
    if not percent and first == int(first) and last == int(last):
        return Decimal(1)
    return (last - first) / (POINTS - 1)


def _plain(number: Decimal) -> str:
    return f"{round(number, 6):f}".rstrip("0").rstrip(".") if number % 1 else str(int(number))
