"""Lines that contain only a date: what ``date`` and ``zpool status -T`` print between outputs."""

from __future__ import annotations

import re
import unicodedata
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
_LOCAL = re.compile(
    r"\W{0,4}(?:[^\W\d_]{2,13}[.,]{0,2} {1,3})?(\d{1,2})\.? {1,2}(?:de )?([^\W\d_]{3,9})\.?,? {1,2}(?:de )?"
    r"([\d:., A-Z+\-]{9,40})\W{0,4}"
)
"""Day, month and the rest in the order of other languages: ``Mo 23. Nov 19:00:00 CET 2026``."""
_MONTHS: dict[str, str] = {
    name: english
    for english, names in (
        ("Jan", "janv ene gen januar januari janvier enero gennaio janeiro sty"),
        ("Feb", "fevr fev febr februar februari fevrier febrero febbraio fevereiro lut"),
        ("Mar", "marz mars mrt maart marzo marco mrz maerz"),
        ("Apr", "avr avril abr abril aprile kwi"),
        ("May", "mai mei mag maj mayo maggio maio"),
        ("Jun", "juin juni giu junio giugno junho cze"),
        ("Jul", "juil juli lug juillet julio luglio julho lip"),
        ("Aug", "aout ago augustus agosto sie"),
        ("Sep", "set sett sept septembre septiembre settembre setembro wrz"),
        ("Oct", "okt ott out oktober octobre octubre ottobre outubro paz"),
        ("Nov", "novembre noviembre novembro lis"),
        ("Dec", "dez dic dezember dec decembre diciembre dicembre dezembro gru"),
    )
    for name in names.split()
}
"""Months in German, French, Spanish, Italian, Dutch, Portuguese and Polish, without accents."""
_CYRILLIC = {
    name: english
    for english, names in (
        ("Jan", "янв січ"),
        ("Feb", "фев лют"),
        ("Mar", "мар бер"),
        ("Apr", "апр кві"),
        ("May", "мая май тра"),
        ("Jun", "июн чер"),
        ("Jul", "июл лип"),
        ("Aug", "авг сер"),
        ("Sep", "сен вер"),
        ("Oct", "окт жов"),
        ("Nov", "ноя лис"),
        ("Dec", "дек гру"),
    )
    for name in names.split()
}
"""Months in Russian and Ukrainian, by their first three letters."""
_EASTERN = re.compile(
    r"(?P<year>\d{4}) ?[年년.] ?(?P<month>\d{1,2}) ?[月월.] ?(?P<day>\d{1,2}) ?[日일.]?"
    r"(?: ?[(（]?[^\W\d_]{1,3}[)）]?,?)? {0,3}(?P<half>午前|午後|上午|下午|오전|오후)? ?"
    r"(?P<hour>\d{1,2}) ?[:時时点시] ?(?P<minute>\d{1,2}) ?[:分분] ?(?P<second>\d{1,2}) ?[秒초]?"
    r"(?: ?[A-Z]{2,5})?"
)
"""Dates in Japanese, Chinese and Korean: ``2026年 11月 27日 金曜日 19:00:00 JST``."""
_AFTERNOON = ("午後", "下午", "오후")
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
    match = _PLAIN.fullmatch(in_english(line))
    if match is None or not all(map(_of_a_date, re.findall(r"[A-Za-z]+", match[1]))):
        return None
    return moment(match[1])


def in_english(line: str) -> str:
    """Return a date of another language in the order and with the month of English; others as they are."""
    if not line.isascii() and (found := _EASTERN.fullmatch(line.strip())):
        half = " PM" if found["half"] in _AFTERNOON else " AM" if found["half"] else ""
        clock = ":".join(found[name].zfill(2) for name in ("hour", "minute", "second"))
        return f"{found['year']}-{found['month']}-{found['day']} {clock}{half}"
    match = _LOCAL.fullmatch(line)
    if match is None:
        return line
    if month := _CYRILLIC.get(match[2].lower()[:3], ""):
        return f"{match[1]} {month} {match[3].strip(' ,')}"
    word = unicodedata.normalize("NFKD", match[2].lower()).encode("ascii", "ignore").decode()
    month = _MONTHS.get(word, word.capitalize() if _DATE_WORDS.fullmatch(word) else "")
    return f"{match[1]} {month} {match[3].strip(' ,')}" if month else line


def _of_a_date(word: str) -> bool:
    return bool(_DATE_WORDS.fullmatch(word) or _ZONE.fullmatch(word) or word == "T")
