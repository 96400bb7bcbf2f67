"""Texts in which JSON documents and other output follow one another."""

from __future__ import annotations

import json
import re
from datetime import datetime

from zsim.observe.dates import date_line

MOST_LINES = 1000
"""Of what stands before a document, the last ones, in which its date is looked for."""
MOST_DOCUMENTS = 1000
MOST_TRIES = 2000
_OPEN = re.compile(r"^[ \t]{0,8}(?:\{|\[(?=\s{0,200}\{))", re.MULTILINE)


def split_dated(text: str) -> tuple[list[tuple[str, datetime | None]], str]:
    """Return the whole JSON documents of a text, each table of a list alone, and what stands around them.

    Each has the date that stands alone before it, or behind if none does so.  A brace that begins a line and
    opens no whole document is left where it is: zdb prints such, too.
    """
    documents, rest = _split(text)
    before = [_last_date(part) for part in rest]
    dated = before[:-1] if any(before[:-1]) else before[1:]
    found = [(each, at) for every, at in zip(documents, dated, strict=True) for each in every]
    return found, "".join(rest)


def _last_date(text: str) -> datetime | None:
    dates = (date_line(line) for line in reversed(text.splitlines()[-MOST_LINES:]))
    return next((at for at in dates if at is not None), None)


def _split(text: str) -> tuple[list[list[str]], list[str]]:
    """Return the documents of each place where some stand, and what stands before, between and behind."""
    decoder = json.JSONDecoder()
    documents: list[list[str]] = []
    rest: list[str] = []
    position = count = 0
    for tries, match in enumerate(_OPEN.finditer(text)):
        begin = match.end() - 1
        if begin < position:
            continue
        if tries >= MOST_TRIES or count >= MOST_DOCUMENTS:
            break
        try:
            value, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list):
            found = [json.dumps(each) for each in value[:MOST_DOCUMENTS] if isinstance(each, dict) and each]
        else:
            found = [text[begin:end]] if value else []
        if found:
            documents.append(found)
            count += len(found)
            rest.append(text[position:begin])
            position = end
    rest.append(text[position:])
    return documents, rest
