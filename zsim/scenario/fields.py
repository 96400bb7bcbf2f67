"""The fields of a scenario: what can be stated, each with its unit and its range."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.fields import FieldInfo

from zsim.base.errors import InputError
from zsim.scenario.evidence import Observation
from zsim.scenario.evidence_text import observations_of
from zsim.scenario.field_types import Bytes, DriveBytes, Fraction, LayoutField
from zsim.scenario.layout import Layout
from zsim.scenario.loads.named import is_file, with_loads_named
from zsim.scenario.messages import OwnNames
from zsim.scenario.one_drive.exchanged import ExchangedDrive
from zsim.scenario.one_drive.sick import Attached, BadSectors, RecoveryLimit
from zsim.scenario.one_drive.slow import SlowDrive
from zsim.scenario.parts import Load, Moment, Port
from zsim.scenario.releases.products import shipped
from zsim.vdevs.kind import CLASSES


class StatedTunables(dict[str, int | float | str]):
    """Tunables of a scenario, which can be hashed and do not change."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (dict(self),)

    def _refuse(self, *given: object, **named: object) -> NoReturn:
        del given, named
        allowed = "a scenario does not change"
        raise InputError("tunables", dict(self), allowed, "write scenario.replace(tunables={...})")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


def _as_text(data: object) -> object:
    """Return the fields with paths as text, and the drives replaced under the name they are stated by."""
    if not isinstance(data, Mapping):
        return data
    found = {name: _path_as_text(name, value) for name, value in data.items()}
    if "replaced_drives" in found and found.get("replace") is None:
        found["replace"] = found.pop("replaced_drives")
    return found


def _path_as_text(name: object, value: object) -> object:
    if name == "load" and isinstance(value, list | tuple):
        return [_path_as_text(name, each) for each in value]
    if not isinstance(value, PurePath):
        return value
    # A load that is the path of a file without an ending is told from words by its directory.
    bare = name == "load" and not is_file(str(value))
    return f"./{value}" if bare else str(value)


class Fields(OwnNames):
    """What is stated of a pool, a failure and the circumstances; None: not stated."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=False, allow_inf_nan=False, defer_build=True
    )

    layout: LayoutField = Field(
        description="top-level vdevs: raidz2x6, 4*raidz2x6, draid2:8d:41c:2s, raidz2x6+special:mirror2"
    )
    vdevs: int | None = Field(
        None, ge=1, le=10_000, description="as many vdevs of the one given in the layout"
    )
    fill: Fraction | None = Field(
        None, gt=0, le=1, description="ALLOC/SIZE as zpool list prints them (parity included): 0.62 or 62%"
    )
    alloc: Bytes | None = Field(
        None, gt=0, description="instead of fill: ALLOC as zpool list prints it, such as 2.84T"
    )
    drive: str | None = Field(
        None, min_length=1, description="drives of the pool: a name of zsim drives list"
    )
    drive_size: DriveBytes | None = Field(None, gt=0, description="capacity of these drives, such as 4TB")
    new_drive: str | None = Field(None, min_length=1, description="the drive that replaces, if it is another")
    new_drive_size: DriveBytes | None = Field(
        None, gt=0, description="capacity of the replacement drive, such as 8TB"
    )
    special_small_blocks: Bytes | None = Field(
        None, ge=0, le=16 << 20, description="blocks up to this size go to the special vdevs, such as 32K"
    )
    special_drive: str | None = Field(
        None, min_length=1, description="drives of special, dedup and log vdevs: a name of zsim drives list"
    )
    special_drive_size: DriveBytes | None = Field(
        None, gt=0, description="capacity of these drives, such as 960GB"
    )
    special_added_at: Fraction | None = Field(
        None,
        gt=0,
        lt=1,
        description="how full the data vdevs were when the special vdevs came; not stated: empty",
    )
    vdev_fills: tuple[Fraction, ...] | None = Field(
        None, description="ALLOC/SIZE of each data vdev as zpool list -v prints them: 80%, 80%, 30%"
    )
    vdev_frags: tuple[Fraction, ...] | None = Field(
        None, description="FRAG of each data vdev as zpool list -v prints them: 30%, 28%, 5%"
    )
    replace_in: str | None = Field(
        None,
        pattern=r"^(special|dedup|log|[0-9]{1,4})$",
        description="top-level vdev of the repair: its number from 0, or special; drives count from there",
    )
    write_cache: bool | None = Field(None, description="whether the drives' write caches are on")
    recordsize: Bytes | None = Field(None, description="record or volume block size, such as 128K")
    frag: Fraction | None = Field(
        None, description="FRAG as zpool list prints it: fragmentation of free space"
    )
    rewritten: Fraction | None = Field(
        None, description="share of the data written again since a RAID-Z of the layout was expanded"
    )
    ashift: int | None = Field(None, ge=9, le=16, description="sector size of the pool [log2(bytes)]")
    memory: Bytes | None = Field(None, gt=0, description="main memory of the host, such as 16G")
    cpus: int | None = Field(None, ge=1, le=4096, description="processors of the host")
    release: str | None = Field(
        None, min_length=1, description="ZFS release: openzfs-2.3, openzfs-2.1.5, zol-0.7.13, freebsd-9.1"
    )
    product: str | None = Field(
        None,
        min_length=1,
        description="product that ships ZFS, its release and tunables by the hour: truenas-25.10, debian-12",
    )
    hz: int | None = Field(None, ge=10, le=100_000, description="ticks per second of the host's kernel")
    tunables: dict[str, int | float | str] | None = Field(
        None,
        description="ZFS tunables set otherwise than the release does, by name; at some hours: 8 22:00-06:00",
    )
    order: Literal["auto", "legacy", "sorted"] | None = Field(
        None, description="order of the scan; auto: as the release does it"
    )
    operation: Literal["resilver", "scrub", "rebuild", "expand", "remove"] | None = Field(
        None,
        description="what runs; expand: a RAID-Z gets a drive, remove: a vdev leaves (layout: as before)",
    )
    # Under its own name the number would hide `Scenario.replace`.
    replaced_drives: int | None = Field(
        None, alias="replace", ge=1, le=255, description="drives replaced at once in one vdev"
    )
    old_drive: Literal["missing", "online", "overwritten"] | None = Field(
        None,
        description="the replaced drive: gone, or still there; overwritten: repaired in place by a scrub",
    )
    second_at: Fraction | None = Field(
        None,
        ge=0,
        lt=1,
        description="share done when another drive of the vdev is replaced as well, such as 80%",
    )
    target: Literal["new-drive", "distributed-spare"] | None = Field(
        None, description="where the data goes: to a replacement drive or, on dRAID, to a distributed spare"
    )
    enclosure: str | None = Field(
        None, min_length=1, description="shared link that all drives not named in ports sit behind"
    )
    ports: tuple[Port, ...] | None = Field(
        None, description="drives behind a shared link: NAME:DRIVES, such as port-multiplier-cbs:1,2"
    )
    exchanged: tuple[ExchangedDrive, ...] | None = Field(
        None, description="drives of another model or larger than the rest: 0:mg08aca16, 0:@8TB"
    )
    slow: tuple[SlowDrive, ...] | None = Field(
        None,
        description="drives that answer more slowly than their model: 3:x2.5, 3:1%@200ms, 3:x5,on=2h,off=20h",
    )
    bad_sectors: tuple[BadSectors, ...] | None = Field(
        None, description="drives with sectors that cannot be read: DRIVE:COUNT, such as 3:1000"
    )
    erc: RecoveryLimit | None = Field(
        None, description="how long drives try to read a bad sector (SCT ERC, TLER): 7s, or none"
    )
    platform: Literal["linux", "freebsd", "illumos"] | None = Field(
        None, description="operating system: what it does when a drive does not answer"
    )
    attached: tuple[Attached, ...] | None = Field(
        None, description="drives on a slow connection: DRIVE:HOW, such as 3:sata-1.5g, 3:no-ncq"
    )
    autosit: bool | None = Field(
        None, description="whether slow drives are not read (vdev property autosit, 2.4; off by default)"
    )
    history: str | None = Field(None, min_length=1, description="how the pool was filled and has aged")
    block_list: str | None = Field(
        None,
        min_length=1,
        description="file with every block of the pool: what zsim import made of zdb -Lbbbbb",
    )
    blocks: str | None = Field(
        None,
        min_length=1,
        description="file with the sizes of the pool's blocks: CSV of psize, blocks and lsize",
    )
    metaslabs: str | None = Field(
        None, min_length=1, description="file with the free space of each metaslab: CSV from zdb -mm"
    )
    load: tuple[Load, ...] | None = Field(
        None,
        description="foreground load: random-read,rate=50,size=64K,hours=mon-fri 08:00-18:00, say; or none",
    )
    evidence: tuple[Observation, ...] | None = Field(
        None, description="what the pool has already shown: finished scans, progress, activity of drives"
    )
    begins: Moment | None = Field(
        None, description="when it begins, for loads, tunables and products with hours: fri 13:41"
    )
    engine: Literal["compiled", "reference"] | None = Field(None, description="engine that runs it")
    exact: bool | None = Field(None, description="simulate every I/O instead of samples")
    precision: Fraction | None = Field(
        None, gt=0, lt=1, description="half-width of the sampling interval to reach, relative: 1%"
    )
    seed: int | None = Field(None, ge=0, lt=2**63, description="seed of everything random")

    @model_validator(mode="before")
    @classmethod
    def _read_loads(cls, data: object) -> object:
        return with_loads_named(_as_text(data))

    @field_validator("tunables", mode="after")
    @classmethod
    def _does_not_change(cls, value: dict[str, int | float | str] | None) -> object:
        return None if value is None else StatedTunables(value)

    @field_validator("vdev_fills", "vdev_frags", mode="before")
    @classmethod
    def _read_shares(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value

    @field_validator("replace_in", mode="before")
    @classmethod
    def _read_number(cls, value: object) -> object:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("ports", "load", "exchanged", "slow", "bad_sectors", "attached", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str | Mapping | BaseModel) else value

    @field_validator("evidence", mode="before")
    @classmethod
    def _read_evidence(cls, value: object) -> object:
        return observations_of(value)

    @classmethod
    def field_infos(cls) -> dict[str, FieldInfo]:
        """Return the fields by the name under which they are stated."""
        return {info.alias or name: info for name, info in cls.model_fields.items()}

    @property
    def pool_layout(self) -> Layout:
        """The layout with `vdevs` applied."""
        return self.layout if self.vdevs is None else self.layout.repeated(self.vdevs)

    @property
    def has_hours(self) -> bool:
        """Whether a load, a tunable or the product has hours."""
        timed = shipped(self.release, self.product, self.tunables).settings.timed
        return bool(timed) or any(load.hours for load in self.load or ())

    @property
    def repaired_vdev(self) -> int:
        """Number of the top-level vdev that a drive is replaced in; see `replace_in`."""
        if self.replace_in not in CLASSES:
            return int(self.replace_in or 0)
        classes = [vdev.alloc_class for vdev in self.pool_layout.vdevs]
        return classes.index(self.replace_in) if self.replace_in in classes else len(classes)

    @property
    def led_layout(self) -> Layout:
        """The layout with that vdev first."""
        return self.pool_layout.led_by(self.repaired_vdev)

    def leaf_of(self, drive: int) -> int:
        """Return the place in `led_layout` of a drive that is counted in the order of the layout."""
        before, own = self._led
        if drive >= before + own:
            return drive
        return drive - before if drive >= before else drive + own

    def drive_of(self, leaf: int) -> int:
        """Return the number, in the order of the layout, of a drive of `led_layout`; see `leaf_of`."""
        before, own = self._led
        if leaf >= before + own:
            return leaf
        return leaf + before if leaf < own else leaf - own

    @property
    def _led(self) -> tuple[int, int]:
        """Drives before the vdev that leads `led_layout`, and drives of it."""
        sizes = [vdev.children for vdev in self.pool_layout.vdevs]
        first = self.repaired_vdev
        return sum(sizes[:first]), sum(sizes[first : first + 1])

    @property
    def led_fills(self) -> tuple[float, ...]:
        """`vdev_fills` in the order of `led_layout`."""
        return self._repaired_first(self.vdev_fills)

    @property
    def led_frags(self) -> tuple[float, ...]:
        """`vdev_frags` in the order of `led_layout`."""
        return self._repaired_first(self.vdev_frags)

    def _repaired_first(self, shares: tuple[float, ...] | None) -> tuple[float, ...]:
        given, first = list(shares or ()), self.repaired_vdev
        return tuple([given.pop(first), *given] if first < len(given) else given)
