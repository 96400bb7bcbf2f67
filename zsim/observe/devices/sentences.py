"""Drives that a person names in a sentence beside the outputs: ``4x WD Red Plus 4TB (WD40EFPX)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from zsim.drives.names import series_of, tokens
from zsim.observe.devices.models import Model, model_of
from zsim.observe.texts import plain

SHORTEST, LONGEST, MOST_LINES, MOST_TEXT = 8, 400, 2000, 1 << 20
_COUNTED = re.compile(r"(?<![\w.])(\d{1,3}) ?[x\u00d7*] ?(?=\S)", re.IGNORECASE)
_OF_DRIVES = re.compile(r"\b(?:drives?|disks?|hdds?|ssds?)\b", re.IGNORECASE)
_COUNTED_SIZE = re.compile(
    r"(?<![\w.])\d{1,3} ?[x\u00d7*] ?(?:\w{1,12} ){0,3}?(\d{1,2}(?:\.\d)?) ?TB\b", re.IGNORECASE
)
_PRINTED = re.compile(
    r"\b(?:ONLINE|DEGRADED|FAULTED|OFFLINE|UNAVAIL|REMOVED|AVAIL|INUSE)\b|/dev/|^[ \t]{0,12}[\w ]{2,14}:[ \t]"
    r"|[{}=]|<(?! ?\d)|>(?! ?\d)|^\S{1,40}[@:][^ ]{0,40}[#$] "
)
_LABEL = re.compile(r"^[ \t]{0,12}[\w ]{2,14}:[ \t]{1,8}")
_SIZE = re.compile(r"(?<![\w.])(\d{1,2}(?:\.\d)?) ?TB\b", re.IGNORECASE)
_OF_SIZE = re.compile(
    r"(?<![\w.])(\d{1,2}(?:\.\d)?) ?TB(?: [a-z]{2,10}){0,2}? (?:drives|disks|hdds)\b", re.IGNORECASE
)
"""Several drives, of which the capacity is said."""
LARGEST_TB = 36.0
_LINK = re.compile(r"\b(?:are|is|were|all|of|with|have)\b|:", re.IGNORECASE)
_BEHIND = re.compile(r"\s(?:in|as|on|for|with|and)\s|[,;(]")
"""What follows the name of a series is about the pool."""
_OTHERS = re.compile(
    r"\b(?:replac\w*|new|swap\w*|instead|bought|order\w*|fail\w*|dead|dying|bad|broken|spare)\b",
    re.IGNORECASE,
)
"""Of what is said of one drive among others, not of all."""
_ALL = re.compile(r"\b(?:all|every|each)\b", re.IGNORECASE)
_WORD = re.compile(r"\b[a-z]{2,}\b")


@dataclass(frozen=True, slots=True)
class SaidDrives:
    """What one sentence says of drives.

    Attributes
    ----------
    model : Model
    count : int or None
        How many of them, where it says so.
    """

    model: Model
    count: int | None


def said_lines(text: str, *, labelled: bool = False) -> Iterator[str]:
    """Yield the lines of a text that a person may have written: no row of an output.

    With `labelled` also what stands behind a label (``Array type: 8x 4TB raidz2``), as outputs print it too.
    """
    lines = text[:MOST_TEXT].split("\n")[:MOST_LINES]
    for line in (_LABEL.sub("", each, 1) for each in lines) if labelled else lines:
        if SHORTEST <= len(line) <= LONGEST and not _PRINTED.search(line):
            yield line


def said_drives(text: str) -> Iterator[SaidDrives]:
    """Yield the drives that sentences name: with how many, or as drives or disks."""
    said = {*said_lines(text)}
    for line in said_lines(text, labelled=True):
        # Behind a label only a number of drives of a capacity is surely said of drives.
        if not _WORD.search(line) or (line not in said and not _COUNTED_SIZE.search(line)):
            continue
        counted = _COUNTED.search(line)
        of_some = _OTHERS.search(line) and not _ALL.search(line)
        if counted is None and (of_some or not _is_of_drives(line)):
            continue
        model = _model(line)
        if model is not None and (model.drive is not None or model.size is not None):
            yield SaidDrives(model, int(counted[1]) if counted else None)


def _is_of_drives(line: str) -> bool:
    """Tell whether a line is about drives: it says so, or has the number of a model."""
    return _OF_DRIVES.search(line) is not None or any(series_of(token) is not None for token in tokens(line))


def _model(line: str) -> Model | None:
    named = next((token for token in tokens(line) if series_of(token) is not None), None)
    if named is not None:
        return model_of(plain(named))
    sized = _COUNTED_SIZE.search(line) or _only_size(line)
    # A series alone may be said of several models: the capacity with it makes it one.
    if sized is None:
        return None
    named = line[sized.end() : sized.end() + 40]
    if series_of(named) is None:
        named = _LINK.split(line[max(0, sized.start() - 40) : sized.start()])[-1]
    named = _BEHIND.split(named)[0].strip()
    return model_of(plain(f"{sized[1]} TB {named if series_of(named) is not None else ''}".strip()))


def _only_size(line: str) -> re.Match[str] | None:
    """Return the only capacity in a line about drives of it, or of one series, if it is one of a drive."""
    sizes = list(_SIZE.finditer(line))
    if len(sizes) != 1 or float(sizes[0][1]) > LARGEST_TB:
        return None
    of_series = _OF_DRIVES.search(line) is not None and series_of(line) is not None
    return sizes[0] if of_series or _OF_SIZE.search(line) is not None else None


class SentenceReader:
    """The reader of sentences; see `zsim.observe.outputs.Reader`."""

    def recognises(self, text: str) -> bool:
        """Tell whether a sentence names drives."""
        return next(said_drives(text), None) is not None

    def read(self, text: str, name: str) -> tuple[SaidDrives, ...]:
        """Read them."""
        del name
        return tuple(said_drives(text))
