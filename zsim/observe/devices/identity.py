"""What a drive reports about itself, whichever tool prints it, and which drive of the pool it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace

from zsim.observe.devices.labels import Label, device_of, label_of

SHORTEST_SERIAL = 6
SERIAL_SHOWN = 20
MOST_DRIVES = 5000


@dataclass(frozen=True, slots=True)
class Identity:
    """What one drive tells.

    Attributes
    ----------
    device : str
        Name without /dev: sda, ada0; empty where the output does not name it.
    model, serial : str
    size : int or None
        Capacity [bytes].
    rounded : bool
        Whether the capacity is of three digits only.
    rpm : int or None
        0 for a drive that does not rotate.
    logical, physical : int or None
        Sector sizes [bytes].
    write_cache : bool or None
    nvme : bool
        Whether it says that it is an NVMe drive.
    link, link_limit : float or None
        Speed of the link, and of the drive's interface [Gbit/s].
    wide : str
        Its World Wide Name or EUI, as `zsim.observe.devices.labels.wide_digits` has it.
    pending : int or None
        Sectors that it could not read (SMART attribute 197).
    recovery : float or None
        How long it tries to read one (SCT ERC) [s]; 0 where it has no limit.
    source : str
        Command that tells it.
    """

    device: str = ""
    model: str = ""
    serial: str = ""
    size: int | None = None
    rounded: bool = False
    rpm: int | None = None
    logical: int | None = None
    physical: int | None = None
    write_cache: bool | None = None
    nvme: bool = False
    link: float | None = None
    link_limit: float | None = None
    wide: str = ""
    pending: int | None = None
    recovery: float | None = None
    source: str = ""

    def completed(self, other: Identity) -> Identity:
        """Return this with what only the other one tells."""
        values = {
            each.name: getattr(other, each.name)
            for each in fields(self)
            if _is_untold(each.name, getattr(self, each.name)) and getattr(other, each.name) not in (None, "")
        }
        if self.size is not None and not self.rounded:
            values.pop("rounded", None)
        elif self.rounded and other.size is not None and not other.rounded:
            values |= {"size": other.size, "rounded": False}
        return replace(self, **values)


def _is_untold(name: str, value: object) -> bool:
    """Tell whether a field says nothing; a drive that does not rotate has 0, a cache that is off False."""
    return value in (None, "") or (name in ("rounded", "nvme") and not value)


@dataclass(slots=True)
class Inventory:
    """The drives of a host, from all outputs that list them.

    Attributes
    ----------
    drives : list of Identity
    aliases : dict of str to str
        Other names of a device: gptid/... and ata-... to ada0 and sda.
    """

    drives: list[Identity] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    def add(self, identities: Iterable[Identity]) -> None:
        """Note drives; what several outputs tell of one is put together."""
        places = {key: place for place, drive in enumerate(self.drives) for key in _keys(drive)}
        for each in identities:
            known = (places[key] for key in _keys(each) if key in places)
            place = next((place for place in known if _same(self.drives[place], each)), None)
            if place is not None:
                self.drives[place] = self.drives[place].completed(each)
            elif len(self.drives) < MOST_DRIVES:
                place = len(self.drives)
                self.drives.append(each)
            if place is not None:
                places |= dict.fromkeys(_keys(self.drives[place]), place)

    def of(self, name: str) -> Identity | None:
        """Return what is known of the drive that the pool has under a name; None where nothing is."""
        label = label_of(name)
        known = self._listed(name, label)
        if label.model or label.serial:
            told = Identity(label.device, label.model, label.serial, source="its name")
            # The name is cut off by some controllers: what the drive itself tells counts first.
            return known.completed(told) if known is not None else told
        return known

    def listed(self, name: str) -> Identity | None:
        """Return what a list of the host's drives tells of the one with a name; None where it has none."""
        return self._listed(name, label_of(name))

    def _listed(self, name: str, label: Label) -> Identity | None:
        plain_name = name.removeprefix("/dev/").removeprefix("mapper/")
        keys = (plain_name, plain_name.removesuffix(".eli"), label.device)
        alias = next((found for key in keys if (found := self.aliases.get(key))), "")
        devices = {label.device, device_of(alias) if alias else ""} - {""}
        for drive in self.drives:
            if drive.device and drive.device in devices:
                return drive
        wide = next((each for each in self.drives if each.wide and each.wide == label.wide), None)
        if wide is not None:
            return wide
        return next((drive for drive in self.drives if _has_serial(name, drive.serial)), None)


def _has_serial(name: str, serial: str) -> bool:
    return len(serial) >= SHORTEST_SERIAL and serial.replace(" ", "") in name


def _keys(drive: Identity) -> tuple[str, ...]:
    """Return the names by which a drive can be found again: serial numbers are cut by some tools."""
    serial = (f"serial {drive.serial[:SERIAL_SHOWN].strip()}",) if drive.serial else ()
    wide = (f"wide {drive.wide}",) if drive.wide else ()
    return (*serial, *wide, *((f"device {drive.device}",) if drive.device else ()))


def _same(one: Identity, other: Identity) -> bool:
    if one.serial and other.serial:
        return one.serial[:SERIAL_SHOWN].strip() == other.serial[:SERIAL_SHOWN].strip()
    if one.wide and other.wide:
        return one.wide == other.wide
    return bool(one.device) and one.device == other.device
