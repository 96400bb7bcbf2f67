"""Helpers for readers of zpool's and zdb's output: opening files, numbers as these tools print them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO

from zsim.base import reading
from zsim.base.errors import InputError, shown
from zsim.base.units import MAX_BYTES, parse_duration
from zsim.observe.cleaning import are_lines, from_capitals, unescaped, with_plain_signs
from zsim.observe.proxmox import as_status_of_proxmox

MAX_TEXT = 256 << 20
"""Bytes of a file that is read as a whole; the list of block pointers is streamed instead."""

NUMBER = r"\d{1,20}(?:[.,]\d{1,9})?[KMGTPEZkmgtpez]?i?B?"
"""A size as ZFS prints it, with a point or, where a locale did so, a comma."""

_NICE = re.compile(r"(\d{1,20})(?:[.,](\d{1,9}))?([KMGTPEZ]?)i?B?", re.ASCII | re.IGNORECASE)
_PREFIXES = "KMGTPEZ"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d\d)(?::(\d\d))?(?:\s*([AaPp])\.?[Mm])?", re.ASCII)
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)", re.ASCII)
_DAY = re.compile(r"(?<![\d:.])(\d{1,2})\.?(?![\d:])", re.ASCII)
_YEAR = re.compile(r"(?<![\d:])((?:19|20)\d\d)(?![\d:])", re.ASCII)
_QUOTED = re.compile(r"^(?:> ?){1,8}[ \t]{0,80}(?:pool|scan|state|NAME)\b", re.ASCII | re.MULTILINE)
_QUOTE = re.compile(r"^(?:> ?){1,8}", re.MULTILINE)
_OF_STATUS = r"[ \t]{0,80}(?:pool|scan|state|NAME)\b"
_BEGIN_OF_LINE = (
    r"^[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d \S{1,64} \S{1,64}: ?",
    r"^\d{4}-\d\d-\d\dT[\d:.+Z-]{8,24} \S{1,64} \S{1,64}: ?",
    r"^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]? ",
    r"^\[ {0,8}\d{1,10}\.\d{1,9}\] ",
    r"^ {0,6}\d{1,5}(?:\t|: ?|\) ?| {2})",
    r"^[#+][ ]?",
)
_BEGINS = tuple(
    (re.compile(begin + _OF_STATUS, re.MULTILINE), re.compile(begin, re.MULTILINE))
    for begin in _BEGIN_OF_LINE
)
"""Of a log, old and new, by the clock or the time since the start, of numbered lines, of a comment, and of a
difference."""
_DATED_LINES = re.compile(
    r"^\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:? ", re.MULTILINE
)
_DATED_STATUS = re.compile(rf"{_DATED_LINES.pattern}{_OF_STATUS}", re.MULTILINE)
_DATED_POOL = re.compile(rf"{_DATED_LINES.pattern}(?=[ \t]{{0,80}}pool:)", re.MULTILINE)
"""Of lines that a script has put a date before: that of the first line is when the status was printed."""
_FRAMED = re.compile(r"^[ \t]{0,8}[\u2502\u2503|][ \t]{0,80}(?:pool|scan|state|NAME)\b", re.MULTILINE)
FRAME = "\u2502\u2503|"
"""Lines of a terminal that is divided, or of a table."""
_CELLS = re.compile(r"^[ \t]{0,8}\|?[ \t]{0,80}NAME[ \t]{0,80}\|[ \t]{0,8}STATE[ \t]{0,8}\|", re.MULTILINE)
_ROW_OF_CELLS = re.compile(r"^[ \t]{0,8}\|?(?:[^|\n]{1,300}\|){4}[^\n]{0,300}$", re.MULTILINE)
"""Of a table in Markdown."""
_COLOUR = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_MARKUP = re.compile(r"</?(?:pre|code|blockquote)(?: [^<>\n]{0,300})?>", re.IGNORECASE)
_BREAK = re.compile(r"[ \t]{0,8}<br ?/?>\n?|</?p>", re.IGNORECASE)
_BULLETIN = re.compile(
    r"\[/?(?:code|icode|pre|quote|plain|size|font|color|email|url|spoiler|b)(?:=[^\]\n]{0,200})?\]",
    re.IGNORECASE,
)
"""Marks of forums (BBCode), which stand in what was copied from a post's source."""
_WORD = re.compile(r"[A-Za-z]{3,9}")


def opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    """Open a file for reading bytes; .gz and .zst are unpacked; see `zsim.base.reading.opened`."""
    if path.is_fifo():  # a list of block pointers may come straight from zdb
        return reading.opened_pipe(path)
    return reading.opened(path, "file", "name a file or directory that can be read")


def decoded(content: bytes) -> str:
    """Return text; blanks that do not break, as web pages have them, become plain, and so do line ends.

    What is not UTF-8 becomes a replacement character.
    """
    return tidied(content.decode("utf-8-sig", errors="replace"))


def tidied(text: str) -> str:
    """Return pasted text with plain blanks and line ends, without marks of mails, terminals and web pages.

    ``zpool status`` colours its words where ZFS_COLOR is set; a page's source has it in ``<pre>``.
    A text with a line longer than any output has is left as it is, but for signs: JSON may be one line.
    """
    text = with_plain_signs(as_status_of_proxmox(text))
    if not are_lines(text):
        return text
    text = from_capitals(unescaped(text))
    if "\x1b[" in text:
        text = _COLOUR.sub("", text)
    if _MARKUP.search(text) or _BREAK.search(text):
        text = _MARKUP.sub("\n", _BREAK.sub("\n", text))
    if "[/" in text:
        text = _BULLETIN.sub("", text)
    if _DATED_STATUS.search(text):
        text = _DATED_LINES.sub("", _DATED_POOL.sub("\\1\n", text))
    for of_status, begin in _BEGINS:
        if of_status.search(text):
            text = begin.sub("", text)
    if _CELLS.search(text):
        text = _ROW_OF_CELLS.sub(lambda row: row[0].replace("|", " "), text)
    if _FRAMED.search(text):
        text = "\n".join(map(_unframed, text.split("\n")))
    return _QUOTE.sub("", text) if _QUOTED.search(text) else text


def _unframed(line: str) -> str:
    """Return a line without the frame before and behind it."""
    inner = line.rstrip()
    inner = inner[:-1] if inner.endswith(tuple(FRAME)) else inner
    begun = inner.lstrip()
    return begun[1:] if begun.startswith(tuple(FRAME)) else inner


def whole_text(name: str, stream: IO[bytes], head: bytes = b"") -> str:
    """Return all of a file as text.

    Raises
    ------
    InputError
        When it is larger than `MAX_TEXT`.
    """
    content = head + stream.read(MAX_TEXT + 1 - len(head))
    if len(content) > MAX_TEXT:
        allowed = f"a file of up to {MAX_TEXT >> 20}M; only a list of block pointers may be larger"
        raise InputError("file", name, allowed, "give the output of the commands that the manual lists")
    return decoded(content)


def first_document(text: str) -> object:
    """Return the JSON that a text begins with; None where it is none."""
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def with_rest(form: re.Pattern[str], text: str, most: int) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the first places where a form stands in a text, each with what follows it up to the next."""
    found = [*islice(form.finditer(text), most)]
    ends = [each.start() for each in found[1:]] + [len(text)]
    yield from ((each, text[each.end() : end]) for each, end in zip(found, ends, strict=False))


def nice_bytes(text: str | None) -> int | None:
    """Return a size as ZFS prints it, ``2.84T``, ``2,84T`` or plain digits [bytes]; None for others."""
    match = _NICE.fullmatch((text or "").strip())
    if match is None:
        return None
    power = _PREFIXES.index(match[3].upper()) + 1 if match[3] else 0
    size = int((Decimal(f"{match[1]}.{match[2] or 0}") * 1024**power).to_integral_value())
    return size if size <= MAX_BYTES else None


def nice_count(text: str | None) -> int | None:
    """Return a count as ZFS prints it: ``1.48K`` is 1515; None for anything else."""
    return nice_bytes(text)


def whole(text: str | None) -> int | None:
    """Return a plain whole number below 2**63, or None."""
    stripped = (text or "").strip()
    if not (stripped.isascii() and stripped.isdigit() and len(stripped) < 20):
        return None
    number = int(stripped)
    return number if number <= MAX_BYTES else None


def percentage(text: str | None) -> float | None:
    """Return ``23%``, ``23`` or ``8,53%`` as a fraction, or None; beyond 100 % is None too."""
    match = re.fullmatch(r"(\d{1,3}(?:[.,]\d{1,6})?)\s*%?", (text or "").strip(), re.ASCII)
    if match is None:
        return None
    fraction = float(Decimal(match[1].replace(",", ".")) / 100)
    return fraction if fraction <= 1 else None


def duration(text: str | None) -> float | None:
    """Return ``13h14m``, ``2 days 03:04:05`` or ``03:04:05`` [s], or None."""
    stripped = (text or "").strip()
    if not stripped.isascii() or not 0 < len(stripped) < 30:
        return None
    try:
        return parse_duration(stripped)
    except InputError:
        return None


def printed_moment(at: datetime) -> str:
    """Return a date with a time as zpool and date print it: ``Fri Aug 01 13:41:48 2014``."""
    return f"{at:%a %b %d %H:%M:%S %Y}"


def moment(text: str) -> datetime | None:
    """Return a date with a time in the order of any locale with Latin month names, or None.

    ``Fri Aug  1 13:41:48 2014``, ``Fri 01 Aug 2014 01:41:48 PM CEST``, ``2014-08-01 13:41:48``.
    """
    clock = _CLOCK.search(text[:80])
    if clock is None:
        return None
    date = _date(text[:80].replace(clock[0], " "))
    if date is None:
        return None
    hour = int(clock[1]) % 12 + 12 * (clock[4] in "Pp") if clock[4] else int(clock[1])
    try:
        return datetime(*date, hour, int(clock[2]), int(clock[3] or 0))
    except ValueError:
        return None


def _date(text: str) -> tuple[int, int, int] | None:
    if iso := _ISO.search(text):
        return int(iso[1]), int(iso[2]), int(iso[3])
    months = [word.lower()[:3] for word in _WORD.findall(text)]
    month = next((_MONTHS.index(word) + 1 for word in months if word in _MONTHS), None)
    year, day = _YEAR.search(text), _DAY.search(text)
    if month is None or year is None or day is None:
        return None
    return int(year[1]), month, int(day[1])


def plain(text: str, limit: int = 80) -> str:
    """Return text fit for a message, a table or a comment: one line, printable, cut beyond `limit`."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def bad_line(name: str, number: int, line: str, form: str, remedy: str) -> InputError:
    """Return the error for a line that does not have the form of its format."""
    value = shown(plain(line, 100))
    return InputError(f"{name}, line {number}", value.strip("'"), f"expected is {form}", remedy)
