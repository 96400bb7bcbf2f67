"""The ``expand:`` and ``remove:`` lines of ``zpool status``: what moves data (cmd/zpool/zpool_main.c)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zsim.observe.texts import NUMBER, duration, moment, nice_bytes, percentage, plain
from zsim.observe.zpool.scan import Scan

_RUNS = re.compile(r"expansion of (raidz[123]?-\d{1,6}) (?:in progress|paused)\b", re.ASCII)
_SINCE = re.compile(r" since (\S{1,12} \S{1,12} .{1,20}? \d{4})\b", re.ASCII)
_COPIED = re.compile(rf"({NUMBER}) ?/ ?({NUMBER}) copied(?: at ({NUMBER})/s)?", re.ASCII)
_OVER = re.compile(rf"expanded (raidz[123]?-\d{{1,6}}) copied {NUMBER} in ", re.ASCII)
_DONE = re.compile(r"(\d{1,4}(?:[.,]\d{1,4})?)% done", re.ASCII)
_EVACUATES = re.compile(r"Evacuation of ([^\s\x00-\x1f]{1,200}) in progress\b", re.ASCII)
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
    """

    vdev: str
    scan: Scan | None = None


def read_expansion(lines: Sequence[str]) -> Expansion | None:
    """Read the lines of an ``expand:`` section, the first without its key; None where they tell of none."""
    text = " ".join(" ".join(line.split()) for line in lines[:4])[:800]
    if over := _OVER.search(text):
        return Expansion(over[1])
    runs = _RUNS.search(text)
    if runs is None:
        return None
    waits = "paused" in text or "waiting for resilver" in text
    done, left = _DONE.search(text), _TO_GO.search(text)
    share = percentage(done[1]) if done else None
    since, copied = _SINCE.search(text), _COPIED.search(text)
    date = since[1] if since else ""
    counts = [nice_bytes(each) for each in copied.groups()] if copied else [None] * 3
    return Expansion(
        runs[1],
        Scan(
            "expand",
            "paused" if waits else "running",
            form="2.2",
            date=date,
            at=moment(date),
            since=moment(date),
            issued=counts[0],
            total=counts[1],
            issue_rate=counts[2],
            # What is written meanwhile counts as copied, so that the share may pass one (#16803).
            done=None if share is None else min(1.0, share),
            to_go=duration(left[1]) if left else None,
        ),
    )


def running_removal(lines: Sequence[str]) -> str:
    """Return which vdev is being removed and how far that is, as ``mirror-1 at 21.43%``; empty for none.

    Parameters
    ----------
    lines : sequence of str
        Of a ``remove:`` section, the first without its key (0.8 and later, print_removal_status).
    """
    text = " ".join(" ".join(line.split()) for line in lines[:4])[:800]
    runs, done = _EVACUATES.search(text), _DONE.search(text)
    if runs is None:
        return ""
    return f"{plain(runs[1])} at {done[1]}%" if done else plain(runs[1])
