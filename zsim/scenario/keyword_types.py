"""Types of scenario fields as keyword arguments: text with units is accepted as well as SI numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from zsim.base.units import Duration

if TYPE_CHECKING:
    from zsim.scenario.evidence import Benchmark, ClassAlloc, DriveActivity, FinishedScan, RunningScan
    from zsim.scenario.layout import Layout
    from zsim.scenario.one_drive.exchanged import ExchangedDrive
    from zsim.scenario.one_drive.sick import Attached, BadSectors
    from zsim.scenario.one_drive.slow import SlowDrive
    from zsim.scenario.parts import Load, Port

Size: TypeAlias = int | str
"""A size [bytes], or text such as ``"128K"`` or ``"18TB"``."""
Share: TypeAlias = float | str
"""A number from 0 to 1, or text such as ``"62%"``."""
File: TypeAlias = str | Path
"""The path of a file."""
Record: TypeAlias = Mapping[str, object]
Loads: TypeAlias = "File | Load | Record | Sequence[File | Load | Record]"
Ports: TypeAlias = "str | Port | Record | Sequence[str | Port | Record]"
ExchangedDrives: TypeAlias = "str | ExchangedDrive | Record | Sequence[str | ExchangedDrive | Record]"
SlowDrives: TypeAlias = "str | SlowDrive | Record | Sequence[str | SlowDrive | Record]"
BadDrives: TypeAlias = "str | BadSectors | Record | Sequence[str | BadSectors | Record]"
AttachedDrives: TypeAlias = "str | Attached | Record | Sequence[str | Attached | Record]"
Seen: TypeAlias = "str | FinishedScan | RunningScan | DriveActivity | Benchmark | ClassAlloc | Record"


class OtherFields(TypedDict, total=False):
    """Every field of a scenario but its layout; None: not stated."""

    vdevs: int | None
    fill: Share | None
    alloc: Size | None
    drive: File | None
    drive_size: Size | None
    new_drive: File | None
    new_drive_size: Size | None
    special_small_blocks: Size | None
    special_drive: File | None
    special_drive_size: Size | None
    special_added_at: Share | None
    vdev_fills: str | Sequence[Share] | None
    vdev_frags: str | Sequence[Share] | None
    replace_in: str | int | None
    write_cache: bool | None
    recordsize: Size | None
    frag: Share | None
    rewritten: Share | None
    ashift: int | None
    memory: Size | None
    cpus: int | None
    release: File | None
    product: str | None
    hz: int | None
    tunables: Mapping[str, int | float | str] | None
    order: Literal["auto", "legacy", "sorted"] | None
    operation: Literal["resilver", "scrub", "rebuild", "expand", "remove"] | None
    replace: int | None
    old_drive: Literal["missing", "online", "overwritten"] | None
    second_at: Share | None
    target: Literal["new-drive", "distributed-spare"] | None
    enclosure: str | None
    ports: Ports | None
    exchanged: ExchangedDrives | None
    slow: SlowDrives | None
    bad_sectors: BadDrives | None
    erc: Duration | None
    platform: Literal["linux", "freebsd", "illumos"] | None
    attached: AttachedDrives | None
    autosit: bool | None
    history: File | None
    block_list: File | None
    blocks: File | None
    metaslabs: File | None
    load: Loads | None
    evidence: Seen | Sequence[Seen] | None
    begins: str | int | datetime | None
    engine: Literal["compiled", "reference"] | None
    exact: bool | None
    precision: Share | None
    seed: int | None


class AnyFields(OtherFields, total=False):
    """Every field of a scenario."""

    layout: str | Layout
