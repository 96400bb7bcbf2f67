"""Statuses altered in their meaning: other numbers, units, dates and states, and several pools in one another."""

from __future__ import annotations

import ast
import functools
import random
import re
from collections.abc import Callable

from tests.fuzz import documents as docs
from tests.fuzz import mutations as mut
from tests.fuzz.surfaces import Trial

LONGEST_STATUS = 6000
HELD = ("observe", "planning/eta", "planning/timeline", "cli")
DIGITS = ("０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Of other scripts, some of which Python reads as numbers."""
STATES = (
    "ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "SPLIT", "AVAIL", "INUSE", "(resilvering)",
    "(repairing)", "(awaiting resilver)", "was /dev/sdb1", "too many errors", "(trimming)",
)  # fmt: skip
VDEVS = ("mirror-0", "raidz1-0", "raidz3-1", "replacing-1", "spare-0", "draid2:4d:8c:1s-0", "logs", "cache", "special", "spares",
         "draid1-0-0", "sda", "indirect-1")  # fmt: skip
FIGURES = (
    "0",
    "0.00",
    "-1",
    "1",
    "99.99",
    "100.00",
    "137.5",
    "1e9",
    "9999999",
    "18446744073709551615",
    "0.01",
    "7",
)
SPANS = (
    "0 days 00:00:00",
    "00:00:01",
    "99999 days 23:59:59",
    "-1 days 00:00:05",
    "1h2m",
    "0h0m",
    "365 days 00:00:00",
)
DATES = ("Thu Jan  1 00:00:00 1970", "Fri Dec 31 23:59:60 9999", "Sun Feb 29 12:00:00 2026", "Mon Nov 30 25:61:00 2026", "2026-11-27 01:00:00",
         "Fri Nov 27 03:00:00 2026", "Tue Jan 19 03:14:08 2038")  # fmt: skip
UNITS = "BKMGTPEZ"


@functools.cache
def statuses() -> tuple[str, ...]:
    """Return statuses that the tests hold, as people printed them."""
    found = {content.decode("utf-8", "replace") for content in docs.observed().values() if b"scan" in content}
    for folder in HELD:
        for path in sorted((docs.ROOT / "tests" / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_status(node.value):
                    found.add(node.value)
    return tuple(sorted(text for text in found if len(text) <= LONGEST_STATUS))


def _is_status(text: str) -> bool:
    return text.count("\n") > 4 and ("scan:" in text or "scrub:" in text or "ONLINE" in text)


def _replaced(chance: random.Random, text: str, pattern: str, new: str | Callable[[str], str]) -> str:
    """Replace one match of a pattern, or all of one line."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    one = chance.choice(found)
    return text[: one.start()] + (new if isinstance(new, str) else new(one.group())) + text[one.end() :]


def _figure(chance: random.Random, text: str) -> str:
    return _replaced(chance, text, r"\d+(\.\d+)?", chance.choice(FIGURES))


def _unit(chance: random.Random, text: str) -> str:
    return _replaced(chance, text, r"(?<=\d)[BKMGTP]\b", chance.choice(UNITS))


def _digits(chance: random.Random, text: str) -> str:
    signs = str.maketrans("0123456789", chance.choice(DIGITS))
    if chance.random() < 0.3:
        return text.translate(signs)
    return _replaced(chance, text, r"\d+(\.\d+)?", lambda old: old.translate(signs))


def _state(chance: random.Random, text: str) -> str:
    return _replaced(chance, text, r"\b[A-Z]{5,8}\b|\(resilvering\)", chance.choice(STATES))


def _vdev(chance: random.Random, text: str) -> str:
    return _replaced(chance, text, r"(?<=[\t ])[a-z][\w:.-]*-\d+\b|\bsd[a-z]\b", chance.choice(VDEVS))


def _span(chance: random.Random, text: str) -> str:
    return _replaced(
        chance, text, r"(\d+ days )?\d+:\d\d:\d\d(?= to go| with)|\d+h\d+m", chance.choice(SPANS)
    )


def _date(chance: random.Random, text: str) -> str:
    return _replaced(chance, text, r"\w{3} \w{3} [\d ]?\d \d\d:\d\d:\d\d \d{4}", chance.choice(DATES))


def _line(chance: random.Random, text: str) -> str:
    lines = text.split("\n")
    place = chance.randrange(len(lines))
    way = chance.choice(("drop", "twice", "move", "indent", "join", "many"))
    if way == "drop":
        del lines[place]
    elif way == "twice":
        lines.insert(place, lines[place])
    elif way == "move":
        lines.insert(chance.randrange(len(lines)), lines.pop(place))
    elif way == "indent":
        lines[place] = chance.choice(("\t", "  ", "    ")) + lines[place].lstrip(
            chance.choice((" ", "\t", ""))
        )
    elif way == "join":
        lines[place : place + 2] = [" ".join(lines[place : place + 2])]
    else:
        lines[place:place] = [lines[place]] * chance.choice((20, 300))
    return "\n".join(lines)


def _mixed(chance: random.Random, text: str) -> str:
    """Put another pool behind, into or between the lines."""
    other = chance.choice(statuses())
    lines, more = text.split("\n"), other.split("\n")
    way = chance.choice(("behind", "before", "into", "scan", "config"))
    if way == "behind":
        return f"{text}\n{other}"
    if way == "before":
        return f"{other}\n{text}"
    if way == "into":
        place = chance.randrange(len(lines))
        return "\n".join([*lines[:place], *more, *lines[place:]])
    marks = ("scan:", "scrub:") if way == "scan" else ("config:",)
    cuts = [
        next((at for at, line in enumerate(each) if any(mark in line for mark in marks)), 0)
        for each in (lines, more)
    ]
    return "\n".join([*lines[: cuts[0]], *more[cuts[1] :]])


def _damaged(chance: random.Random, text: str) -> str:
    return mut.damaged_bytes(chance, text.encode("utf-8", "surrogateescape")).decode(
        "utf-8", "surrogateescape"
    )


WAYS = (
    _figure,
    _figure,
    _figure,
    _unit,
    _digits,
    _state,
    _state,
    _vdev,
    _span,
    _date,
    _line,
    _line,
    _mixed,
    _damaged,
)


def altered_statuses(chance: random.Random) -> Trial:
    """Return what reads a status, given one that is altered."""
    text = chance.choice(statuses())
    for _ in range(chance.choice((1, 2, 3, 5, 8))):
        text = chance.choice(WAYS)(chance, text)
    words = chance.choice(
        (("eta", "s.txt", "--json"), ("eta", "-", "--json"), ("eta", "s.txt"), ("import", "s.txt", "--json"), ("import", "-"),
         ("predict", "-"), ("predict", "s.txt", "--json"), ("decide", "s.txt", "--reboot"), ("timeline", "s.txt"),
         ("decide", "s.txt", "--replace-drive", "0"), ("risk", "s.txt", "--hours", "9"), ("eta", "s.txt", "s.txt"))
    )  # fmt: skip
    content = text.encode("utf-8", "surrogateescape")
    return Trial("", words, {"s.txt": content}, content)
