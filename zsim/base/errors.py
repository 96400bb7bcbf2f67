"""The exceptions of zsim: an error that users can correct is one sentence, never a traceback."""

from __future__ import annotations

import math
import os
import unicodedata
from numbers import Integral, Real
from typing import TypeGuard, cast

LARGEST = 1e300
"""Of numbers that can be reckoned with; whole ones beyond it may be no floats."""
UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, formatting, surrogates, separators of lines and paragraphs."""


class ZsimError(Exception):
    """Base of every exception that zsim raises on purpose.

    Attributes
    ----------
    exit_code : int
        What a command line program returns when this ends it.
    """

    exit_code: int = 2


class InputError(ZsimError):
    """An input that cannot be used.

    Parameters
    ----------
    field : str
        Name of the flag, field or file as the user knows it, for example ``layout``.
    value : object
        What was given; `None` when it is missing.
    allowed : str
        What would be accepted, or why this is not: a clause without a full stop.
    remedy : str
        What to do instead, an imperative clause without a full stop; may be empty.

    Examples
    --------
    >>> print(InputError("fill", "62", "a fraction lies between 0 and 1", "write 62% or 0.62"))
    fill '62' cannot be used: a fraction lies between 0 and 1; write 62% or 0.62.
    """

    def __init__(self, field: str, value: object, allowed: str, remedy: str = "") -> None:
        super().__init__(field, value, allowed, remedy)
        self.field = field
        self.value = value
        self.allowed = allowed
        self.remedy = remedy

    def __str__(self) -> str:
        head = self._lack() if self.value is None else self._verdict()
        reason = f"{head}: {cut(self.allowed, 900)}"
        sentence = printable(_one_line(f"{reason}; {cut(self.remedy, 600)}" if self.remedy else reason))
        return sentence if sentence.endswith("?") else f"{sentence}."

    def _lack(self) -> str:
        return f"{cut(self.field, 120)} is missing"

    def _verdict(self) -> str:
        return f"{cut(self.field, 120)} {shown(self.value)} cannot be used"


class NotSimulatedYet(InputError):  # noqa: N818 - reads as what it says
    """A reasonable question that zsim cannot simulate yet: refused rather than answered wrongly."""

    def _verdict(self) -> str:
        return f"{cut(self.field, 120)} {shown(self.value)} is not simulated yet"


class NothingToAsk(InputError):  # noqa: N818 - reads as what it says
    """What is stated is in order, and leaves nothing to answer: said with what else could be stated."""

    def _lack(self) -> str:
        return f"{cut(self.field, 120)} cannot be made here"


def check_kind(field: str, value: object, kinds: tuple[type, ...], allowed: str, remedy: str = "") -> None:
    """Refuse an argument of another kind; what does not run a type checker says so in a sentence.

    Raises
    ------
    InputError
        When the value is of none of the kinds.
    """
    if not isinstance(value, kinds):
        raise InputError(field, value, allowed, remedy)


def check_number(field: str, value: object, remedy: str, *, whole: bool = False) -> None:
    """Refuse what is given for a number, if anything is, and is none that can be reckoned with.

    Parameters
    ----------
    field : str
    value : object
        Numbers of numpy count; truth values, what is not a number and what no float holds do not.
    remedy : str
    whole : bool
        Whether it has to be a whole number.

    Raises
    ------
    InputError
    """
    if value is None or (isinstance(value, Integral if whole else Real) and is_real(value)):
        return
    raise InputError(field, value, "it is a whole number" if whole else "it is a number", remedy)


def is_real(value: object) -> bool:
    """Tell whether a value is a number that a float holds, infinity included.

    Numbers of numpy count; truth values and what is not a number do not.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    # Of whole numbers some are no float.
    return abs(int(value)) <= LARGEST if isinstance(value, Integral) else not math.isnan(float(value))


def is_finite(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is a number that can be reckoned with: one of `is_real`, and not infinite."""
    return is_real(value) and abs(float(cast("float", value))) < LARGEST


def check_path(field: str, value: object) -> None:
    """Refuse what is no path."""
    check_kind(field, value, (str, os.PathLike), "it is the name of a file", "give its path as text")


def check_function(field: str, value: object) -> None:
    """Refuse what is to be called with the share done and a few words, if it is given, and cannot be."""
    if value is not None and not callable(value):
        raise InputError(field, value, "it is a function, which zsim calls", f"leave {field} out")


def check_jobs(jobs: object) -> None:
    """Refuse a number of processes, if one is given, that is none."""
    if jobs is None:
        return
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        allowed = "it is a whole number of processes, at least 1"
        raise InputError("jobs", jobs, allowed, "leave it out for one a core")


def shown(value: object, limit: int = 160) -> str:
    """Return `value` as it goes into a message: text in quotes, cut in the middle beyond `limit`."""
    text = repr(value) if isinstance(value, str | bytes) else str(value)
    return printable(text, limit)


def cut(text: str, limit: int) -> str:
    """Return `text`, cut in the middle beyond `limit` characters."""
    half = (limit - 3) // 2
    return text if len(text) <= limit else f"{text[:half]}...{text[-half:]}"


def printable(text: str, limit: int | None = None) -> str:
    """Return `text` with escapes for what could steer a terminal or turn the reading order round."""
    # Megabytes in one line are cut first: to look at each sign of them takes seconds.
    short = text if limit is None else cut(text, limit)
    safe = "".join(f"\\u{ord(sign):04x}" if is_unsafe(sign) else sign for sign in short)
    return safe if limit is None else cut(safe, limit)


def is_unsafe(sign: str) -> bool:
    """Tell whether a character is a control, a mark of formatting (bidi) or half a character."""
    return not sign.isprintable() and unicodedata.category(sign) in UNSAFE


def _one_line(text: str) -> str:
    """Return `text` on one line, without a full stop at its end."""
    return " ".join(text.split()).rstrip(".")
