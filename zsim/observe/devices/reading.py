"""Find and read all outputs that list drives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from zsim.observe.devices.identity import Identity, Inventory
from zsim.observe.devices.listings import (
    aliases_of,
    camcontrol_drives,
    geom_drives,
    illumos_drives,
    lsblk_drives,
)
from zsim.observe.devices.macos import diskutil_drives
from zsim.observe.devices.of_zfs import zfs_devids, zpool_columns
from zsim.observe.devices.reports import hdparm_drives, sdparm_drives, smartctl_drives, sysfs_drives

LONGEST = 4 << 20
"""Bytes of a text that are looked through for drives."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What one output tells of the drives of a host; the fields are those of `Inventory`."""

    drives: tuple[Identity, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)

    def note_in(self, inventory: Inventory) -> None:
        """Add it to what other outputs tell."""
        if self.drives:
            inventory.add(self.drives)
        inventory.aliases |= self.aliases


@dataclass(frozen=True, slots=True)
class DriveReader:
    """The reader of an output that lists drives, from what yields them; see `zsim.observe.outputs.Reader`."""

    drives_of: Callable[[str], Iterator[Identity]]

    def recognises(self, text: str) -> bool:
        """Tell whether a text tells of any drive."""
        return next(self.drives_of(text[:LONGEST]), None) is not None

    def read(self, text: str, name: str) -> tuple[Listing]:
        """Read all drives that it tells of."""
        del name
        return (Listing(tuple(self.drives_of(text[:LONGEST]))),)


class AliasReader:
    """The reader of other names of devices; see `zsim.observe.outputs.Reader`."""

    def recognises(self, text: str) -> bool:
        """Tell whether a text has other names of devices."""
        return bool(aliases_of(text[:LONGEST]))

    def read(self, text: str, name: str) -> tuple[Listing]:
        """Read them."""
        del name
        return (Listing(aliases=aliases_of(text[:LONGEST])),)


READERS: dict[str, DriveReader | AliasReader] = {
    "smartctl": DriveReader(smartctl_drives),
    "lsblk": DriveReader(lsblk_drives),
    "geom disk list": DriveReader(geom_drives),
    "camcontrol devlist": DriveReader(camcontrol_drives),
    "iostat -En": DriveReader(illumos_drives),
    "diskutil": DriveReader(diskutil_drives),
    "hdparm": DriveReader(hdparm_drives),
    "sdparm": DriveReader(sdparm_drives),
    "/sys/block": DriveReader(sysfs_drives),
    "zpool status -c": DriveReader(zpool_columns),
    "devid": DriveReader(zfs_devids),
    "names of devices": AliasReader(),
}
"""Best first: what an earlier one tells counts."""
