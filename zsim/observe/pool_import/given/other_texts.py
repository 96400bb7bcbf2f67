"""Texts about a pool that do not say what an answer needs: alerts, lines of monitoring, other systems."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from zsim.base.errors import InputError

LONGEST = 65_536
STATUS = "run zpool status on that host and give what it prints, whole"


class OtherText(NamedTuple):
    """What a text is, with what it lacks, and what to give in its place."""

    reason: str
    remedy: str


_KINDS: tuple[tuple[str, str, str], ...] = (
    (
        r"^[^\n]{0,80}\bzpool wait\b"
        r"|^[ \t]{0,8}(?:replace|resilver|scrub)(?:[ \t]{1,12}(?:replace|resilver|scrub)){0,9}"
        r"[ \t]*\n[ \t]{0,8}[\d.]{1,8}[KMGTP]?\b",
        "zpool wait prints how much is left, but not of how much, nor for which drives",
        STATUS,
    ),
    (
        r"^[ \t]{0,8}class:[ \t]{0,8}(?:statechange|io|checksum|data|vdev)\b",
        "this ZED e-mail is about one drive and does not say how far a repair is",
        STATUS,
    ),
    (
        r"\bsysevent\.fs\.zfs\.|\bereport\.fs\.zfs\.",
        "events say when a scan began, not how far it is",
        f"{STATUS}; the events may stand beside it",
    ),
    (
        r"\bPool \S{1,80} state is (?:DEGRADED|ONLINE|FAULTED|UNAVAIL)\b"
        r"|\b(?:Scrub|Resilver) of pool '[^'\n]{1,80}'|% Resilvered\b",
        "a TrueNAS alert names the pool, but neither its vdevs nor how far a scan is",
        f"{STATUS}, or copy the pool's page under Storage",
    ),
    (
        r"^[ \t]{0,8}\w{0,20}(?:zfs|zpool)\w{0,60}\{[^}\n]{0,200}\}",
        "these metrics show the health of a pool, but neither its vdevs nor how far a scan is",
        STATUS,
    ),
    (
        r"\b(?:Unraid|\[TOWER\]|Parity[ -](?:sync|check))",
        "the parity array of Unraid is not ZFS",
        f"for a ZFS pool on Unraid, {STATUS}",
    ),
    (
        r"\bSHR\b|\bSynology\b|\bmd\d{1,3} : active\b",
        "this is an mdraid array, not ZFS",
        "zsim predicts ZFS pools: describe one, such as '8x 16TB in raidz2'",
    ),
    (
        r"\bRAID Group \d|\bStorage & Snapshots\b|\bQNAP\b|\bQuTS\b",
        "this QNAP page shows neither the ZFS vdevs nor how many bytes of the scan are done",
        f"{STATUS} (Control Panel, Telnet/SSH), or describe the pool: '4x 8TB in raidz1, resilver 34% done'",
    ),
    (
        r"^[ \t]{0,8}(?:ZPOOL|ZFS|POOL)?[ \t]{0,4}\b(?:OK|WARNING|CRITICAL|UNKNOWN)\b[^\n]{0,200}"
        r"\b(?:DEGRADED|ONLINE|FAULTED|zpool|pool)\b",
        "this monitoring line shows the health of a pool, but not its vdevs",
        STATUS,
    ),
)
_FORMS = tuple((re.compile(form, re.MULTILINE), OtherText(why, remedy)) for form, why, remedy in _KINDS)


def other_text(text: str) -> OtherText | None:
    """Return what a text is that is none that can be read, where that is known.

    Parameters
    ----------
    text : str
        In which no output was found that zsim reads.
    """
    return next((told for form, told in _FORMS if form.search(text[:LONGEST])), None)


def refuse_other_texts(field: str, value: object, texts: Iterable[str]) -> None:
    """Refuse texts in which nothing was found that zsim reads, where it is known what one of them is.

    Parameters
    ----------
    field : str
        What is refused.
    value : object
        What was given for it.
    texts : iterable of str

    Raises
    ------
    InputError
        With what the first such text is, and what to give in its place.
    """
    told = next(filter(None, map(other_text, texts)), None)
    if told is not None:
        raise InputError(field, value, *told)
