"""Requirements as they are typed: ``p90 < 24h``, ``vdev < 1e-5``, ``usable >= 700T``, ``random >= 2000``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.base.units import (
    format_bytes,
    format_duration_exactly,
    format_rate,
    parse_bytes,
    parse_duration,
    parse_rate,
)
from zsim.planning.risk.wording import odds
from zsim.planning.rows import Row

_FORM = re.compile(r"\s*([a-z0-9-]+)\s*(<=|>=|<|>)\s*(.+?)\s*", re.IGNORECASE)
_ODDS = re.compile(r"1\s*in\s*([\d.,]+(?:e\d+)?)", re.IGNORECASE)
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class WishedQuantity:
    """Something that can be required.

    Attributes
    ----------
    column : str
        Column of a row.
    read : callable
        From text to SI; takes the text and the name of the requirement.
    write : callable
        From SI to text.
    words : str
        What it is.
    """

    column: str
    read: Callable[[str, str], float]
    write: Callable[[float], str]
    words: str


def _number(text: str, name: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        raise InputError(name, text, "it is a number", "write for instance 2000") from None


def _chance(text: str, name: str) -> float:
    """Read ``1e-5``, ``0.001%`` or ``1 in 100,000``."""
    if found := _ODDS.fullmatch(text):
        return 1.0 / _number(found[1], name)
    if text.endswith("%"):
        return _number(text[:-1].strip(), name) / 100
    return _number(text, name)


def _plain(value: float) -> str:
    return f"{value:,.0f}"


def _space(text: str, name: str) -> float:
    """Read a size; ``700 TB`` is what ``700T`` is."""
    return float(parse_bytes(text, name))


QUANTITIES: dict[str, WishedQuantity] = {
    "p50": WishedQuantity(
        "p50_s", parse_duration, format_duration_exactly, "repair, as often shorter as longer"
    ),
    "p90": WishedQuantity("p90_s", parse_duration, format_duration_exactly, "repair, p90"),
    "files": WishedQuantity("files_per_year", _chance, odds, "chance of files lost within a year"),
    "vdev": WishedQuantity("vdev_per_year", _chance, odds, "chance of a vdev lost within a year"),
    "pool": WishedQuantity("pool_per_year", _chance, odds, "chance of the pool lost within a year"),
    "window": WishedQuantity("vdev_in_window", _chance, odds, "chance of losing the vdev during a repair"),
    "usable": WishedQuantity("usable_bytes", _space, format_bytes, "data in full records"),
    "random": WishedQuantity("random_reads", _number, _plain, "random reads a second"),
    "random-degraded": WishedQuantity(
        "random_reads_degraded", _number, _plain, "the same with a drive missing"
    ),
    "read": WishedQuantity("read_rate", parse_rate, format_rate, "streaming reads"),
    "read-degraded": WishedQuantity(
        "read_rate_degraded", parse_rate, format_rate, "the same with a drive missing"
    ),
    "write": WishedQuantity("write_rate", parse_rate, format_rate, "streaming writes"),
    "drives": WishedQuantity("drives", _number, _plain, "drives, spares included"),
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement; `said` is its limit as it was written.

    Examples
    --------
    >>> required = Requirement.parse("p90 < 24h")
    >>> required.is_met({"p90_s": 80_000.0}), str(required)
    (True, 'p90 < 24h')
    """

    name: str
    sign: str
    limit: float
    said: str = ""

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read a requirement.

        Raises
        ------
        InputError
            When it is none, or names nothing that is computed.
        """
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            allowed, remedy = "it has the form NAME < VALUE", 'write for instance "p90 < 24h"'
            raise InputError("--require", text, allowed, remedy)
        name = match[1].lower()
        if name not in QUANTITIES:
            allowed = f"known are {', '.join(QUANTITIES)}"
            raise InputError("--require", match[1], allowed, 'write for instance "usable >= 700T"')
        return cls(name, match[2], QUANTITIES[name].read(match[3], name), " ".join(match[3].split()))

    @property
    def column(self) -> str:
        """Column of a row that it is about."""
        return QUANTITIES[self.name].column

    def is_met(self, row: Row) -> bool:
        """Tell whether a row meets it."""
        value = row.get(self.column)
        return value is not None and _SIGNS[self.sign](float(value), self.limit)

    def distance(self, row: Row) -> float:
        """Return by which factor a row meets it (above 1) or fails it (below 1)."""
        if row[self.column] is None:
            return 0.0  # such as the repair of plain disks
        value = float(row[self.column])
        if value <= 0.0 or self.limit <= 0.0:
            return 1.0 if self.is_met(row) else 0.5
        return self.limit / value if self.sign.startswith("<") else value / self.limit

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.said or QUANTITIES[self.name].write(self.limit)}"
