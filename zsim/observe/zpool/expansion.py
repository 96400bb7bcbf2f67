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
        return self.vdev if done is None else f"{self.vdev} at {100.0 * done:.2f} %"


def read_removal(lines: Sequence[str]) -> Removal | None:
    """Return the removal that runs; None where none does.

    Parameters
    ----------
    lines : sequence of str
        Of a ``remove:`` section, the first without its key (0.8 and later, print_removal_status).
    """
    text = " ".join(" ".join(line.split()) for line in lines[:4])[:800]
    runs = _EVACUATES.search(text)
    if runs is None:
        return None
    done, left, since = _DONE.search(text), _TO_GO.search(text), _SINCE.search(text)
    copied = _EVACUATED.search(text)
    date = since[1] if since else ""
    counts = [nice_bytes(each) for each in copied.groups()] if copied else [None] * 3
    share = percentage(done[1]) if done else None
    scan = Scan(
        "remove",
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
    return Removal(plain(runs[1]), scan)
