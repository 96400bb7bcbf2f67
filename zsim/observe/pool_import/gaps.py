"""What an import could not find although the answer depends on it."""

from __future__ import annotations

from collections.abc import Collection

from zsim.observe.devices.asking import LINUX, drives_command
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.release import drive_names

BARE = "NO REDUNDANCY: "
HALTED = "the pool is SUSPENDED"
"""How a note begins about a vdev of which no further drive may fail."""
GAP, ADD = "NOT KNOWN: ", " add the output of "
GAPS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    (
        "drive_size",
        ("drive_size", "drive"),
        "how large the drives are",
        LINUX,
    ),
    ("fill", ("fill", "alloc", "vdev_fills"), "how full the pool is", "zpool list -vHp"),
    ("recordsize", ("recordsize",), "the record size", "zfs get -rHp recordsize,volblocksize,usedbydataset"),
)
"""Field, fields that settle it, what is open, and the command that tells it (on Linux)."""


def unknown_notes(outputs: PoolOutputs, stated: Collection[str] = ()) -> list[str]:
    """Return one sentence about what is neither named nor bounded, and by which commands it can be told.

    Parameters
    ----------
    outputs : PoolOutputs
    stated : collection of str
        Fields that are known from elsewhere.
    """
    files = outputs.files
    blocks = files.pointers is not None or files.statistics is not None
    open_gaps = [
        (field, words, command)
        for field, settled, words, command in GAPS
        if not any(each in stated or _settles(outputs, each) for each in settled)
        and not (field == "recordsize" and blocks)
    ]
    if not open_gaps:
        return []
    what = [words for _, words, _ in open_gaps]
    listed = what[0] if len(what) == 1 else f"{', '.join(what[:-1])} and {what[-1]}"
    told = (drives_command(drive_names(outputs)) if each == LINUX else each for _, _, each in open_gaps)
    commands = "; ".join(dict.fromkeys(told))
    stated = " ".join(f"--set {field}=VALUE" for field, _, _ in open_gaps)
    return [
        f"{GAP}{listed}. The output given does not show it, and the answer depends on it:"
        f"{ADD}{commands}, or state it with {stated}"
    ]


def remedy_of(note: str) -> str:
    """Return how what is not known can be told, of a note of `unknown_notes`; nothing of other notes."""
    _, mark, commands = note.partition(ADD)
    return f"{ADD.strip()} {commands}" if is_gap(note) and mark else ""


def _settles(outputs: PoolOutputs, field: str) -> bool:
    """Tell whether a field is known; a class of drives settles no size."""
    value = outputs.value(field)
    if field == "drive" and outputs.named_size is None and str(value).startswith("generic-"):
        return False
    return value is not None


def is_gap(note: str) -> bool:
    """Tell whether a note says what is not known, which a person has to read first."""
    return note.startswith(GAP)
