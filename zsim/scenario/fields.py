"""The fields of a scenario: what can be stated, each with its unit and its range."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.fields import FieldInfo

from zsim.base.errors import InputError
from zsim.scenario.descriptions import described
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

    layout: LayoutField = Field(description=described("layout"))
    vdevs: int | None = Field(None, ge=1, le=10_000, description=described("vdevs"))
    fill: Fraction | None = Field(None, gt=0, le=1, description=described("fill"))
    alloc: Bytes | None = Field(None, gt=0, description=described("alloc"))
    drive: str | None = Field(None, min_length=1, description=described("drive"))
    drive_size: DriveBytes | None = Field(None, gt=0, description=described("drive_size"))
    new_drive: str | None = Field(None, min_length=1, description=described("new_drive"))
    new_drive_size: DriveBytes | None = Field(None, gt=0, description=described("new_drive_size"))
    special_small_blocks: Bytes | None = Field(
        None, ge=0, le=16 << 20, description=described("special_small_blocks")
    )
    special_drive: str | None = Field(None, min_length=1, description=described("special_drive"))
    special_drive_size: DriveBytes | None = Field(None, gt=0, description=described("special_drive_size"))
    special_added_at: Fraction | None = Field(
        None,
        gt=0,
        lt=1,
        description=described("special_added_at"),
    )
    vdev_fills: tuple[Fraction, ...] | None = Field(None, description=described("vdev_fills"))
    vdev_frags: tuple[Fraction, ...] | None = Field(None, description=described("vdev_frags"))
    replace_in: str | None = Field(
        None,
        pattern=r"^(special|dedup|log|[0-9]{1,4})$",
        description=described("replace_in"),
    )
    write_cache: bool | None = Field(None, description=described("write_cache"))
    recordsize: Bytes | None = Field(None, description=described("recordsize"))
    frag: Fraction | None = Field(None, description=described("frag"))
    rewritten: Fraction | None = Field(None, description=described("rewritten"))
    ashift: int | None = Field(None, ge=9, le=16, description=described("ashift"))
    memory: Bytes | None = Field(None, gt=0, description=described("memory"))
    cpus: int | None = Field(None, ge=1, le=4096, description=described("cpus"))
    release: str | None = Field(None, min_length=1, description=described("release"))
    product: str | None = Field(
        None,
        min_length=1,
        description=described("product"),
    )
    hz: int | None = Field(None, ge=10, le=100_000, description=described("hz"))
    tunables: dict[str, int | float | str] | None = Field(
        None,
        description=described("tunables"),
    )
    order: Literal["auto", "legacy", "sorted"] | None = Field(None, description=described("order"))
    operation: Literal["resilver", "scrub", "rebuild", "expand", "remove"] | None = Field(
        None,
        description=described("operation"),
    )
    # Under its own name the number would hide `Scenario.replace`.
    replaced_drives: int | None = Field(None, alias="replace", ge=1, le=255, description=described("replace"))
    old_drive: Literal["missing", "online", "overwritten"] | None = Field(
        None,
        description=described("old_drive"),
    )
    second_at: Fraction | None = Field(
        None,
        ge=0,
        lt=1,
        description=described("second_at"),
    )
    target: Literal["new-drive", "distributed-spare"] | None = Field(None, description=described("target"))
    enclosure: str | None = Field(None, min_length=1, description=described("enclosure"))
    ports: tuple[Port, ...] | None = Field(None, description=described("ports"))
    exchanged: tuple[ExchangedDrive, ...] | None = Field(None, description=described("exchanged"))
    slow: tuple[SlowDrive, ...] | None = Field(
        None,
        description=described("slow"),
    )
    bad_sectors: tuple[BadSectors, ...] | None = Field(None, description=described("bad_sectors"))
    erc: RecoveryLimit | None = Field(None, description=described("erc"))
    platform: Literal["linux", "freebsd", "illumos"] | None = Field(None, description=described("platform"))
    attached: tuple[Attached, ...] | None = Field(None, description=described("attached"))
    autosit: bool | None = Field(None, description=described("autosit"))
    history: str | None = Field(None, min_length=1, description=described("history"))
    block_list: str | None = Field(
        None,
        min_length=1,
        description=described("block_list"),
    )
    blocks: str | None = Field(
        None,
        min_length=1,
        description=described("blocks"),
    )
    metaslabs: str | None = Field(None, min_length=1, description=described("metaslabs"))
    load: tuple[Load, ...] | None = Field(
        None,
        description=described("load"),
    )
    evidence: tuple[Observation, ...] | None = Field(None, description=described("evidence"))
    begins: Moment | None = Field(None, description=described("begins"))
    engine: Literal["compiled", "reference"] | None = Field(None, description=described("engine"))
    exact: bool | None = Field(None, description=described("exact"))
    precision: Fraction | None = Field(None, gt=0, lt=1, description=described("precision"))
    seed: int | None = Field(None, ge=0, lt=2**63, description=described("seed"))

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
