"""All outputs that list drives, recognised by what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zsim.observe.devices.identity import Identity, Inventory
from zsim.observe.devices.listings import aliases_of, camcontrol_drives, geom_drives, lsblk_drives
from zsim.observe.devices.reports import hdparm_drives, sdparm_drives, smartctl_drives, sysfs_drives

LONGEST = 4 << 20
"""Bytes of a text that are looked through for drives."""

READERS: tuple[tuple[str, Callable[[str], Iterator[Identity]]], ...] = (
    ("smartctl", smartctl_drives),
    ("lsblk", lsblk_drives),
    ("geom disk list", geom_drives),
    ("camcontrol devlist", camcontrol_drives),
    ("hdparm", hdparm_drives),
    ("sdparm", sdparm_drives),
    ("/sys/block", sysfs_drives),
)
"""Best first: what an earlier one tells counts."""


def read_drives(text: str, inventory: Inventory) -> list[str]:
    """Add the drives that a text tells of; return which commands were recognised."""
    head = text[:LONGEST]
    found = []
    for name, read in READERS:
        drives = list(read(head))
        if drives:
            inventory.add(drives)
            found.append(name)
    aliases = aliases_of(head)
    if aliases:
        inventory.aliases |= aliases
        found.append("names of devices")
    return found
