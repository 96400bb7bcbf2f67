"""Loads as people say them: ``backup 100MB/s 22:00-06:00``, ``reads 200/s``, ``database 30%``, a fio job."""

from __future__ import annotations

import re

from zsim.base.errors import InputError, shown
from zsim.base.units import parse_fraction, parse_rate

KINDS = {
    "backup": "sequential-read", "replication": "sequential-read", "streaming": "sequential-read",
    "sequential-read": "sequential-read",
    "reads": "random-read", "database": "random-read", "vms": "random-read", "random-read": "random-read",
    "ingest": "async-write", "copy": "async-write", "writes": "async-write", "async-write": "async-write",
    "nfs-writes": "sync-write", "sync-writes": "sync-write", "sync-write": "sync-write",
}  # fmt: skip
"""What a word means: a backup reads the pool from end to end, an ingest or a copy onto it writes."""
_RATE = re.compile(r"(\d+(?:\.\d+)?)/s", re.ASCII)
_REMEDY = "write backup 100MB/s 22:00-06:00, reads 200/s or database 30% mon-fri 08:00-18:00"


def read_said(text: str) -> dict[str, str | float] | None:
    """Return the fields of a load in words; None where the text has the form ``KIND,KEY=VALUE``.

    Raises
    ------
    InputError
        When it begins as one does, and goes on otherwise.

    Examples
    --------
    >>> read_said("backup 100MB/s 22:00-06:00")
    {'kind': 'sequential-read', 'bandwidth': 100000000.0, 'hours': '22:00-06:00'}
    """
    word, _, rest = text.strip().partition(" ")
    kind = KINDS.get(word.lower().rstrip(","))
    if kind is None or "," in text or not rest.strip():
        return None
    amount, _, hours = rest.strip().partition(" ")
    data: dict[str, str | float] = {"kind": kind, **_amount(text, amount)}
    return data | ({"hours": hours.strip()} if hours.strip() else {})


def _amount(text: str, amount: str) -> dict[str, float]:
    rate = _RATE.fullmatch(amount)
    if rate is not None:
        return {"rate": float(rate[1])}
    if amount.endswith("%"):
        return {"share": parse_fraction(amount, "load")}
    if amount.lower().endswith("/s"):
        return {"bandwidth": parse_rate(amount, "load")}
    raise InputError("load", text, f"{shown(amount)} is no rate, bandwidth or percentage", _REMEDY)
