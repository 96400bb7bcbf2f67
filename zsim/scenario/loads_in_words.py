"""Loads in words: ``backup 100MB/s 22:00-06:00``, ``reads 200/s``, ``database 30%``, a fio job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from zsim.base.errors import InputError, shown
from zsim.base.units import parse_fraction, parse_rate

KINDS = {
    "backup": "sequential-read", "replication": "sequential-read", "streaming": "sequential-read",
    "sequential-read": "sequential-read",
    "reads": "random-read", "read": "random-read", "database": "random-read", "vms": "random-read",
    "random-read": "random-read",
    "ingest": "async-write", "copy": "async-write", "writes": "async-write", "write": "async-write",
    "async-write": "async-write", "nfs-write": "sync-write", "sync-write": "sync-write",
}  # fmt: skip
"""What a word means: a backup reads the pool from end to end, an ingest or a copy onto it writes."""
_TWO_WORDS = re.compile(r"\b(sync|async|random|sequential|nfs)[ -](read|write)s?\b", re.ASCII | re.IGNORECASE)
_COUNTED = re.compile(r"(\d+(?:\.\d+)?)([a-z-]+)/s(?:ec)?", re.ASCII | re.IGNORECASE)
_RATE = re.compile(r"(\d+(?:\.\d+)?)(?:/s(?:ec)?|\s*iops)", re.ASCII | re.IGNORECASE)
_UNIT = re.compile(
    r"%|iops|[kmg](?:i?b)?|[kmgt]?i?(?:b|bits?|bytes?)?(?:/s|/sec|/second|ps)", re.ASCII | re.IGNORECASE
)
_BANDWIDTH = re.compile(r"\d.*(?:/s|/sec|/second|ps)", re.ASCII | re.IGNORECASE)
_COUNT = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_SIZE = re.compile(r"\d+(?:\.\d+)?[KMG](?:i?B)?", re.ASCII | re.IGNORECASE)
_HOURS = re.compile(r"\d{1,2}:\d|(?:mon|tue|wed|thu|fri|sat|sun|daily)", re.ASCII | re.IGNORECASE)
_REMEDY = "write backup 100MB/s 22:00-06:00, 200 reads/s 16K or database 30% mon-fri 08:00-18:00"


def load_in_words(text: str) -> dict[str, str | float] | None:
    """Return the fields of a load in words; None where the text has the form ``KIND,KEY=VALUE``.

    Who, how much and how large a request is may stand in any order; hours stand last.

    Raises
    ------
    InputError
        When it begins as one does, and goes on otherwise.

    Examples
    --------
    >>> load_in_words("backup 100MB/s 22:00-06:00")
    {'kind': 'sequential-read', 'bandwidth': 100000000.0, 'hours': '22:00-06:00'}
    >>> load_in_words("300 reads/s 8K")
    {'kind': 'random-read', 'rate': 300.0, 'size': '8K'}
    """
    words = _TWO_WORDS.sub(r"\1-\2", _from_to(text)).split()
    alone = len(words) < 2 and text.strip() not in KINDS and not text.strip()[:1].isdigit()
    if "," in text or "=" in text or alone:
        return None
    first_hour = next((place for place, word in enumerate(words) if _HOURS.match(word)), len(words))
    data: dict[str, str | float] = {}
    for word in _joined(words[:first_hour]):
        found = _part(text, word)
        if found.keys() & data.keys() or (_is_amount(found) and _is_amount(data)):
            raise InputError("load", text, f"{shown(word)} repeats what is said before it", _REMEDY)
        data |= found
    if "kind" not in data:
        raise InputError("load", text, f"it names no kind of client: {', '.join(KINDS)}", _REMEDY)
    if not _is_amount(data):
        raise InputError("load", text, "it has no rate, bandwidth or percentage", _REMEDY)
    ordered = {name: data[name] for name in ("kind", *sorted(data.keys() - {"kind"}))}
    return ordered | ({"hours": " ".join(words[first_hour:])} if first_hour < len(words) else {})


def _from_to(text: str) -> str:
    """Return the text with hours in one form: ``from 22:00 to 06:00`` as ``22:00-06:00``."""
    until = r"\s*(?:-|\bto\b|\btill\b|\buntil\b)\s*"
    hours = re.sub(rf"(\d{{1,2}}:\d\d){until}(?=\d)", r"\1-", text)
    return re.sub(r"\bfrom\s+(?=\d{1,2}:)", "", hours)


def _is_amount(data: Mapping[str, str | float]) -> bool:
    return bool(data.keys() & {"rate", "share", "bandwidth"})


def _joined(words: Sequence[str]) -> Iterator[str]:
    """Yield the words, a number with its unit as one, and ``300 reads/s`` as ``300/s`` and ``reads``."""
    number = ""
    for word in words:
        counted = _COUNTED.fullmatch(number + word)
        if counted is not None and counted[2].lower() in KINDS:
            yield from (f"{counted[1]}/s", counted[2])
            number = ""
        elif number:
            yield from (f"{number}{word}",) if _UNIT.fullmatch(word) else (number, word)
            number = ""
        elif _COUNT.fullmatch(word):
            number = word
        else:
            yield word
    if number:
        yield number


def _part(text: str, word: str) -> dict[str, str | float]:
    """Return what a word of a load says: who, how much, or how large a request is."""
    kind = KINDS.get(word.lower())
    if kind is not None:
        return {"kind": kind}
    rate = _RATE.fullmatch(word)
    if rate is not None:
        return {"rate": float(rate[1])}
    if word.endswith("%"):
        return {"share": parse_fraction(word, "load")}
    if _BANDWIDTH.fullmatch(word):
        return {"bandwidth": parse_rate(word, "load")}
    if _SIZE.fullmatch(word):
        return {"size": word}
    raise InputError(
        "load", text, f"{shown(word)} is no kind of client, rate, bandwidth, percentage or size", _REMEDY
    )
