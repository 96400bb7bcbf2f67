"""The ``expand:`` and ``remove:`` lines of ``zpool status`` (cmd/zpool/zpool_main.c)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from zsim.base.units import format_percent
from zsim.observe.texts import NUMBER, duration, moment, nice_bytes, percentage, plain
from zsim.observe.zpool.scan import Function, Scan

_RUNS = re.compile(r"expansion of (raidz[123]?-\d{1,6}) (?:in progress|paused)\b", re.ASCII)
_SINCE = re.compile(r" since (\S{1,12} \S{1,12} .{1,20}? \d{4})\b", re.ASCII)
_COPIED = re.compile(rf"({NUMBER}) ?/ ?({NUMBER}) copied(?: at ({NUMBER})/s)?", re.ASCII)
_OVER = re.compile(rf"expanded (raidz[123]?-\d{{1,6}}) copied ({NUMBER}) in ", re.ASCII)
_DONE = re.compile(r"(\d{1,4}(?:[.,]\d{1,4})?)% done", re.ASCII)
_EVACUATES = re.compile(r"Evacuation of ([^\s\x00-\x1f]{1,200}) in progress\b", re.ASCII)
_EVACUATED = re.compile(rf"({NUMBER}) copied out of ({NUMBER})(?: at ({NUMBER})/s)?", re.ASCII)
_TO_GO = re.compile(r", ([\dhms: day]{2,30}) to go", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expansion:
    """An expansion that a status tells of.

    Attributes
    ----------
    vdev : str
        Name of the top-level vdev.
    scan : Scan or None
        How far it is; None of one that is over.
    copied : int or None
        What one that is over has copied: all that was allocated, with its parity [bytes].
    """

    vdev: str
    scan: Scan | None = None
    copied: int | None = None


def read_expansion(lines: Sequence[str]) -> Expansion | None:
    """Read the lines of an ``expand:`` section, the first without its key; None where they tell of none."""
    text = _one_line(lines)
    if over := _OVER.search(text):
        return Expansion(over[1], copied=nice_bytes(over[2]))
    runs = _RUNS.search(text)
    if runs is None:
        return None
    # What is written meanwhile counts as copied, so that the share may pass one (#16803).
    scan = replace(_copying(text, "expand", _COPIED), form="2.2")
    waits = "paused" in text or "waiting for resilver" in text
    return Expansion(runs[1], replace(scan, state="paused") if waits else scan)


@dataclass(frozen=True, slots=True)
class Removal:
    """A removal of a top-level vdev that runs.

    Attributes
    ----------
    vdev : str
        Its name.
    scan : Scan
        How far it is.
    """

    vdev: str
    scan: Scan

    def __str__(self) -> str:
        """Return it in words, as ``mirror-1 at 21.43 %``."""
        done = self.scan.done
        return self.vdev if done is None else f"{self.vdev} at {format_percent(done, 2)}"


def read_removal(lines: Sequence[str]) -> Removal | None:
    """Return the removal that runs; None where none does.

    Parameters
    ----------
    lines : sequence of str
        Of a ``remove:`` section, the first without its key (0.8 and later, print_removal_status).
    """
    text = _one_line(lines)
    runs = _EVACUATES.search(text)
    if runs is None:
        return None
    return Removal(plain(runs[1]), _copying(text, "remove", _EVACUATED))


def with_moves(scans: Sequence[Scan], *moves: Expansion | Removal | None) -> list[Scan]:
    """Return scans, with what moves data where none of them runs; only one does at a time."""
    found = list(scans)
    for each in moves:
        if each is not None and each.scan is not None and not any(scan.active for scan in found):
            found.append(each.scan)
    return found


def _one_line(lines: Sequence[str]) -> str:
    return " ".join(" ".join(line.split()) for line in lines[:4])[:800]


def _copying(text: str, function: Function, counts_of: re.Pattern[str]) -> Scan:
    """Return how far a vdev is copied: what is copied, of how much and at which rate are the groups."""
    done, left = _DONE.search(text), _TO_GO.search(text)
    share = percentage(done[1]) if done else None
    since, copied = _SINCE.search(text), counts_of.search(text)
    date = since[1] if since else ""
    counts = [nice_bytes(each) for each in copied.groups()] if copied else [None] * 3
    return Scan(
        function,
        "running",
        date=date,
        at=moment(date),
        since=moment(date),
        issued=counts[0],
        total=counts[1],
        issue_rate=counts[2],
        done=None if share is None else min(1.0, share),
        to_go=duration(left[1]) if left else None,
    )
