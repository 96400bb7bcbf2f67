"""Lines of a text that hold a date alone: what ``date`` and ``zpool status -T`` print between outputs."""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import UTC, datetime

from zsim.observe.texts import moment

_PLAIN = re.compile(
    r"[#=\- \t]{0,12}(?:date:? {0,3}|at:? {0,3})?([A-Za-z]{0,10},? {0,2}[\w:., /+\-]{12,60}?)[=\- \t]{0,12}"
)
_EPOCH = re.compile(r"\s{0,4}(1\d{9})\s{0,4}", re.ASCII)
_DATE_WORDS = re.compile(
    r"(?i)(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|am|pm|at|date)[a-z]*"
)
_ZONE = re.compile(r"[A-Z]{2,5}")
MOST_DATES = 100_000


class Dates:
    """Lines of a text that hold nothing but a date.

    Parameters
    ----------
    text : str
    first : int
        Number of the first line that a date can belong to; where no date stands before it, dates belong to
        what they follow.
    """

    def __init__(self, text: str, first: int = 0) -> None:
        found: list[tuple[int, datetime]] = []
        for number, line in enumerate(text.split("\n"), start=1):
            when = date_line(line) if len(found) < MOST_DATES else None
            if when is not None:
                found.append((number, when))
        self.lines = [number for number, _ in found]
        self.moments = [when for _, when in found]
        self.behind = bool(found) and found[0][0] > first

    def at(self, number: int) -> datetime | None:
        """Return the date that belongs to a line: the last one before it, or else the next behind it."""
        place = bisect_left(self.lines, number) - (not self.behind)
        return self.moments[place] if 0 <= place < len(self.moments) else None


def date_line(line: str) -> datetime | None:
    """Return the date of a line that holds nothing else, local time; None for any other line."""
    if not 8 <= len(line) <= 90:
        return None
    if epoch := _EPOCH.fullmatch(line):
        return datetime.fromtimestamp(int(epoch[1]), UTC).replace(tzinfo=None)
    match = _PLAIN.fullmatch(line)
    if match is None or not all(map(_of_a_date, re.findall(r"[A-Za-z]+", match[1]))):
        return None
    return moment(match[1])


def _of_a_date(word: str) -> bool:
    return bool(_DATE_WORDS.fullmatch(word) or _ZONE.fullmatch(word) or word == "T")
