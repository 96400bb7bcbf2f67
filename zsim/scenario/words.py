"""Names of fields in printed text, and the units of their values there."""

from __future__ import annotations

from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "recordsize": "record size",
    "new_drive": "replacement drive",
    "new_drive_size": "size of the replacement drive",
    "replace": "drives replaced",
    "erc": "ERC",
    "frag": "FRAG",
    "vdev_frags": "FRAG of each vdev",
    "alloc": "ALLOC",
    "cpus": "processors",
    "hz": "kernel ticks",
}
"""Names that blanks for underscores do not make readable."""

DATA_SIZES = ("alloc", "recordsize", "memory", "size", "special_small_blocks")
"""Fields of a scenario, and of a load, that are bytes as ZFS prints them: in powers of 1024."""
CAPACITIES = ("drive_size", "new_drive_size", "special_drive_size")
"""Fields that are capacities of drives, which are sold in powers of 1000."""
SHARES = (
    "fill", "vdev_fills", "frag", "vdev_frags", "special_added_at", "rewritten", "second_at", "precision",
)  # fmt: skip
"""Fields that are shares, written as percentages."""
OF_REPAIR = ("replace", "replace_in", "old_drive", "new_drive", "new_drive_size", "target", "second_at")
"""Fields about what is replaced, of an operation that replaces something."""
NO_REPAIR = ("scrub", "expand", "remove")
"""Operations that replace nothing."""


def in_words(field: str) -> str:
    """Return what a field is called in a sentence; tunables keep the name that ZFS gives them.

    Examples
    --------
    >>> in_words("drive_size"), in_words("recordsize"), in_words("zfs_scan_legacy")
    ('drive size', 'record size', 'zfs_scan_legacy')
    """
    if field.startswith(("zfs_", "tunables.")):
        return field
    return _WORDS.get(field, field.replace("_", " "))
