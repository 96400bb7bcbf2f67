"""ZFS release profiles: which algorithms a release has, and the value of every tunable that matters.

The profiles are the files of ``models/releases``: the first patch level of a series, as a whole or as what
differs from an older one (`zsim.scenario.releases.inherited`), and what later patch levels changed.  A
release may be named by its series (``openzfs-2.3``: the last patch level), by a patch level
(``openzfs-2.1.5``, ``zol-0.7.13``) or by a bare version (``2.3.9``, ``0.7.13``).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePath
from typing import Literal, NoReturn, get_args, get_origin, get_type_hints

from zsim.base import model_data
from zsim.base.errors import InputError, printable
from zsim.base.model_data import Quantity
from zsim.base.parsed import table, tables, texts
from zsim.base.reading import understood
from zsim.base.units import parse_bytes
from zsim.scenario.releases.inherited import load_complete
from zsim.scenario.releases.renamed import what_replaced

DEFAULT_RELEASE = "openzfs-2.3"
"""The release assumed when none is named."""

Operation = Literal["resilver", "scrub", "rebuild", "expand", "remove"]
COPIES: tuple[Operation, ...] = ("rebuild", "expand", "remove")
"""What copies by address, without looking at block pointers."""

GIB = 1 << 30
# From here on a txg that has too much dirty data is waited for while another one is written.
KICKED_BY_TXG = (2, 1, 6)
SCAN_LOCKS_APART = (2, 1, 6)
ARC_OF_MOST_MEMORY = (2, 3)
# Reciprocals of the share of the ARC's maximum that rebuilds may take, since which version.
REBUILD_SHARES = (((2, 2), 2), ((2, 1, 12), 4))
_FAMILIES = "openzfs|zfsonlinux|zol|zfs|freebsd|solaris"
_VERSION = re.compile(rf"(?:({_FAMILIES})-?)?v?(\d+(?:\.\d+)+)(?:-.*)?", re.ASCII)
_SCRUB_MINIMUM = ("zfs_scrub_min_time_ms", "zfs_scan_min_time_ms")
_TRUTH = {"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}


class NoTunableError(InputError, KeyError):
    """A tunable that is asked for and that a release, written by a user, does not have."""


class Tunables(Mapping[str, int]):
    """The tunables of a release: a mapping that cannot be changed, and can be hashed and pickled.

    Parameters
    ----------
    values : Mapping of str to int
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = dict(sorted(values.items()))

    def __getitem__(self, name: str) -> int:
        try:
            return self._values[name]
        except KeyError:
            allowed = "its release has no such tunable, and what is simulated depends on it"
            raise NoTunableError(name, None, allowed, "add it to [tunables] of its file") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return f"Tunables({len(self)} values)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseProfile:
    """What one release of ZFS does, as far as a resilver can tell.

    Attributes
    ----------
    name, series, family, version : str
        For example ``openzfs-2.1.5``, ``openzfs-2.1``, ``openzfs``, ``2.1.5``.
    hz : int
        Ticks per second of the platform's kernel [1/s].
    scan : {"legacy", "sorted"}
        Whether scan I/O is issued in traversal order or collected and sorted first.
    dataset_order : {"hash", "object"}
        Order in which queued datasets are visited: by hash, or by ascending object number.
    metadata_prefetch : {"unbounded", "bookmark-order"}
        Whether the children of an indirect block are all prefetched at once (ASYNC_READ class), or in the
        order in which the traversal needs them, within the limit on bytes in flight (SCRUB class).
    pause_rule : {"whole-seconds-beyond-timeout", "timeout-or-busy", "minimum-and-busy-or-timeout"}
        When a scan gives way to the end of its txg; see `txg_slice`.
    inflight : {"blocks", "bytes_per_leaf", "bytes_per_data_child"}
        What the window of scan I/O counts: ``zfs_top_maxinflight`` blocks per top-level vdev, pool-wide;
        or ``zfs_scan_vdev_limit`` bytes per readable leaf, or per (drives - parity), of a top-level vdev.
    scan_phase_arc_clamp : bool
        Whether the pool-wide window of the scan phase is also limited to a quarter of the ARC's maximum.
    extent_score : {"none", "exact", "power-of-two"}
        How extents are ranked while memory is being cleared.
    column_test : bool
        Whether a RAID-Z block that does not touch the missing drive is left out.
    queue : {"single", "classes"}
        The leaf's queue: one with deadlines (v28), or classes with minimum and maximum active.
    queue_time_buckets : bool
        Whether the C-LOOK order holds only within a time bucket.
    class_selection : {"none", "priority", "round-robin"}
        Which class below its minimum comes first.
    non_interactive_throttle : bool
        Whether scan I/O is cut back while other I/O is active (nia_delay, nia_credit).
    repair_write_class : {"resilver", "async_write"}
        Class of the repair writes.
    aggregation_clamp : {"none", "pool-maximum-block", "16M"}
        Upper limit of the aggregation limit.
    mirror_choice : {"offset", "fewest-active", "load-and-seek"}
        How a mirror picks the child to read.
    scrub_of_replacing : {"one-child", "one-child-while-resilvering"}
        When a scrub reads only one child of a replacing vdev.
    metaslab_weight : {"space", "segment"}
        What makes a metaslab attractive: free space weighted by LBA, or the largest free segment.
    metaslab_fill : {"until-unfit", "until-fragmented", "switch-threshold", "contiguous-first"}
        When the active metaslab is left.
    metaslab_fit : {"first-fit", "bounded-first-fit"}
        How far first-fit looks before the best fit is taken.
    metaslab_count : {"200", "by-size"}
        How large metaslabs are made.
    embedded_slog : bool
        Whether one metaslab of a top-level vdev is set aside for the ZIL.
    allocators : {"one", "fixed", "by-cpus"}
        Active metaslabs at a time; see `allocator_count`.
    allocator_choice : {"none", "hash", "sync-thread"}
        What decides which allocator a block goes to.
    allocator_metaslabs : {"all-or-one", "each-third"}
        Allocators with metaslabs of their own on a top-level vdev: all where it has three for each, else one;
        or one for each three of its metaslabs.
    special_class : bool
        Whether the release has vdevs of the special class, and of the class for deduplication tables.
    special_volumes : bool
        Whether small blocks of volumes go to the special class.
    allocation_throttle : {"none", "number", "bytes"}
        What limits the allocations queued on the vdevs of a class.
    fragmentation_table : {"none", "to-16M", "to-512M"}
        Table behind FRAG.
    fragmentation_mean : {"none", "metaslabs", "free-space"}
        What FRAG is averaged over.
    resilver_restart : {"restart", "defer", "defer-unless-early"}
        What a second replacement does to a running resilver by default; see `second_target`.
    rebuild : {"none", "mirror", "mirror-draid"}
        Where sequential rebuild exists.
    rebuild_inflight : {"none", "ios_per_top_level", "bytes_per_child"}
        What the window of a rebuild counts.
    rebuild_waits : bool
        Whether a rebuild waits for a txg to be written after each metaslab.
    rebuild_writes : {"rebuilt", "all-verified"}
        Which drives of a mirror or a dRAID a rebuild writes when others of them are degraded: the one that is
        rebuilt, or all whose data can be verified.
    draid : bool
        Whether the release has dRAID.
    dirty_data_cap : {"none", "percent", "4G-and-percent"}
        Upper limit of ``zfs_dirty_data_max``; see `dirty_data_max`.
    tunables : Tunables
        Value of every tunable, in the unit that ZFS gives it.
    details : Mapping of str to Quantity
        Unit and source of every tunable, as the release has it.
    details_of_hz : Quantity
        Source of `hz`.
    year : int
        When most systems ran it; it dates drives of which only class and capacity are known.
    """

    name: str
    series: str
    family: str
    version: str
    hz: int
    scan: Literal["legacy", "sorted"]
    dataset_order: Literal["hash", "object"]
    metadata_prefetch: Literal["unbounded", "bookmark-order"]
    pause_rule: Literal["whole-seconds-beyond-timeout", "timeout-or-busy", "minimum-and-busy-or-timeout"]
    inflight: Literal["blocks", "bytes_per_leaf", "bytes_per_data_child"]
    scan_phase_arc_clamp: bool
    extent_score: Literal["none", "exact", "power-of-two"]
    column_test: bool
    queue: Literal["single", "classes"]
    queue_time_buckets: bool
    class_selection: Literal["none", "priority", "round-robin"]
    non_interactive_throttle: bool
    repair_write_class: Literal["resilver", "async_write"]
    aggregation_clamp: Literal["none", "pool-maximum-block", "16M"]
    mirror_choice: Literal["offset", "fewest-active", "load-and-seek"]
    scrub_of_replacing: Literal["one-child", "one-child-while-resilvering"]
    metaslab_weight: Literal["space", "segment"]
    metaslab_fill: Literal["until-unfit", "until-fragmented", "switch-threshold", "contiguous-first"]
    metaslab_fit: Literal["first-fit", "bounded-first-fit"]
    metaslab_count: Literal["200", "by-size"]
    embedded_slog: bool
    allocators: Literal["one", "fixed", "by-cpus"]
    allocator_choice: Literal["none", "hash", "sync-thread"]
    allocator_metaslabs: Literal["all-or-one", "each-third"]
    special_class: bool
    special_volumes: bool
    allocation_throttle: Literal["none", "number", "bytes"]
    fragmentation_table: Literal["none", "to-16M", "to-512M"]
    fragmentation_mean: Literal["none", "metaslabs", "free-space"]
    resilver_restart: Literal["restart", "defer", "defer-unless-early"]
    rebuild: Literal["none", "mirror", "mirror-draid"]
    rebuild_inflight: Literal["none", "ios_per_top_level", "bytes_per_child"]
    rebuild_waits: bool
    rebuild_writes: Literal["rebuilt", "all-verified"]
    draid: bool
    dirty_data_cap: Literal["none", "percent", "4G-and-percent"]
    tunables: Tunables
    details: Mapping[str, Quantity] = field(repr=False, compare=False)
    details_of_hz: Quantity = field(repr=False, compare=False)
    year: int = field(repr=False, compare=False)

    @property
    def rates_without_metadata(self) -> bool:
        """Whether the rates of zpool status count from the end of the metadata phase (2.1.12 dsl_scan.c)."""
        return self.order == "sorted" and self.openzfs_version >= (2, 1, 12)

    @property
    def openzfs_version(self) -> tuple[int, ...]:
        """The OpenZFS version behind it; 0.6.1 stands for everything older (v28)."""
        return version_numbers(self.version) if self.family in ("openzfs", "zol") else (0, 6, 1)

    @property
    def has_one_scan_lock(self) -> bool:
        """Whether the threads of a sorted scan all wait for one lock (to 2.1.5 dsl_scan.c, scn_zio_root)."""
        return self.openzfs_version < SCAN_LOCKS_APART

    @property
    def raidz_expansion(self) -> bool:
        """Whether a drive can be added to a RAID-Z (2.3.0 vdev_raidz.c:spa_raidz_expand_thread)."""
        return "raidz_expand_max_copy_bytes" in self.tunables

    @property
    def device_removal(self) -> bool:
        """Whether a top-level vdev can be removed (0.8.0 vdev_removal.c:spa_vdev_remove_thread)."""
        return "zfs_remove_max_segment" in self.tunables

    @property
    def order(self) -> Literal["legacy", "sorted"]:
        """Order of the scan as it is set up: legacy also with ``zfs_scan_legacy=1``."""
        return "legacy" if self.scan == "legacy" or self.tunables.get("zfs_scan_legacy", 0) else "sorted"

    @property
    def second_target(self) -> Literal["restart", "defer", "defer-unless-early"]:
        """What a second replacement does to a running resilver, ``zfs_resilver_disable_defer`` applied.

        Notes
        -----
        Source: OpenZFS 0.8+ spa.c:spa_vdev_attach, which defers only where that tunable is 0.
        """
        return "restart" if self.tunables.get("zfs_resilver_disable_defer", 0) else self.resilver_restart

    @property
    def indirect_shift(self) -> int:
        """Size of the indirect blocks of new objects [log2(bytes)]."""
        return self.tunables["zfs_default_ibs"]

    def with_tunables(self, overrides: Mapping[str, int | float | str]) -> ReleaseProfile:
        """Return the profile with some tunables set otherwise.

        Parameters
        ----------
        overrides : Mapping
            Name (also as a FreeBSD sysctl, ``vfs.zfs.scrub_delay``) to value: a whole number, ``on``/``off``,
            or a size such as ``16M`` for a tunable in bytes.

        Raises
        ------
        InputError
            When the release has no such tunable, saying what replaced it; or when the value is no number.
        """
        changed = {self.tunable_name(name): name for name in overrides}
        new = {known: _tunable_value(name, overrides[name], self.details[known].unit)
               for known, name in changed.items()}  # fmt: skip
        return replace(self, tunables=Tunables({**self.tunables, **new}))

    def tunable_name(self, name: str) -> str:
        """Return the release's own name of a tunable given as module parameter or sysctl.

        Raises
        ------
        InputError
            When the release has no such tunable.
        """
        plain = name.strip().removeprefix("zfs:")
        if plain.startswith("vfs.zfs."):
            bare = plain.removeprefix("vfs.zfs.").replace(".", "_")
            for candidate in (f"zfs_{bare}", bare):
                if candidate in self.tunables:
                    return candidate
            plain = f"zfs_{bare}"
        if plain not in self.tunables:
            _refuse_tunable(self, name, plain)
        return plain

    def txg_slice(self, operation: Operation = "resilver", busy: bool = False) -> float:
        """Return how long a scan runs in one txg before it gives way [s].

        Parameters
        ----------
        operation : {"resilver", "scrub", "rebuild", "expand", "remove"}
        busy : bool
            Whether the pool has enough dirty data, or someone waits for the txg.

        Notes
        -----
        OpenZFS dsl_scan.c dsl_scan_check_pause (to 0.7) and dsl_scan_check_suspend (0.8 and later).  In v28
        the elapsed time is cut to whole seconds before it is compared with ">".
        """
        values = self.tunables
        names = ("zfs_resilver_min_time_ms",) if operation == "resilver" else _SCRUB_MINIMUM
        minimum = next(values[name] for name in names if name in values) / 1000
        timeout = float(values["zfs_txg_timeout"])
        if self.pause_rule == "minimum-and-busy-or-timeout":
            return minimum if busy else max(minimum, timeout)
        latest = timeout + (1 if self.pause_rule == "whole-seconds-beyond-timeout" else 0)
        return min(minimum, latest) if busy else latest

    def allocator_count(self, cpus: int) -> int:
        """Return how many allocators a pool has on a machine with `cpus` processors.

        Notes
        -----
        OpenZFS spa_misc.c, spa_allocators (0.8 to 2.2), spa_num_allocators and spa_cpus_per_allocator (2.3).
        """
        if self.allocators == "one":
            return 1
        if self.allocators == "fixed":
            return self.tunables["spa_allocators"]
        wanted = cpus // max(1, self.tunables["spa_cpus_per_allocator"])
        return max(1, min(self.tunables["spa_num_allocators"], wanted))

    def most_dirty(self, memory: int) -> int:
        """Return what writers may make dirty at a time before they wait [bytes], with `memory` bytes.

        Notes
        -----
        Before dirty data was limited (v28) the writes of a txg were: dsl_pool.c, zfs_write_limit_max.
        """
        if self.dirty_data_cap == "none":
            return memory >> self.tunables["zfs_write_limit_shift"]
        return self.dirty_data_max(memory)

    def busy_dirty(self, memory: int) -> float:
        """Return with how much dirty data a scan gives way after its least time [bytes].

        Notes
        -----
        OpenZFS dsl_scan.c dsl_scan_check_suspend: zfs_vdev_async_write_active_min_dirty_percent of what may
        be dirty.  From 2.1.6 a txg with zfs_dirty_data_sync_percent of it is waited for (txg.c txg_kick).
        Releases before dirty data was limited (v28) ask whether someone waits for the txg, no more.
        """
        if self.dirty_data_cap == "none":
            return math.inf
        percent = self.tunables["zfs_vdev_async_write_active_min_dirty_percent"]
        if self.openzfs_version >= KICKED_BY_TXG:
            percent = min(percent, self.tunables["zfs_dirty_data_sync_percent"])
        return self.dirty_data_max(memory) * percent / 100

    def arc_max(self, memory: int) -> int:
        """Return how large the ARC may become on Linux [bytes] (arc_os.c arc_default_max)."""
        if self.openzfs_version < ARC_OF_MOST_MEMORY:
            return memory // 2
        return max(memory * 5 // 8, memory - GIB)

    def most_rebuilding(self, memory: int) -> int | None:
        """Return what rebuilds of a pool may have in flight together [bytes], None: no limit.

        Source: OpenZFS vdev_rebuild.c vdev_rebuild_thread, vr_bytes_inflight_max.
        """
        share = next((share for since, share in REBUILD_SHARES if self.openzfs_version >= since), None)
        return None if share is None else self.arc_max(memory) // share

    def dirty_data_max(self, memory: int) -> int:
        """Return the limit on dirty data [bytes] of a machine with `memory` bytes.

        Raises
        ------
        InputError
            For a release with the write limit that came before it (v28).

        Notes
        -----
        OpenZFS arc.c arc_init; ``zfs_dirty_data_max=0`` means "by memory".
        """
        if self.dirty_data_cap == "none":
            raise InputError("release", self.name, "it limits writes, not dirty data", "")
        values = self.tunables
        cap = values["zfs_dirty_data_max_max"] or memory * values["zfs_dirty_data_max_max_percent"] // 100
        if self.dirty_data_cap == "4G-and-percent" and not values["zfs_dirty_data_max_max"]:
            cap = min(cap, 4 * GIB)
        return values["zfs_dirty_data_max"] or min(cap, memory * values["zfs_dirty_data_max_percent"] // 100)


_BOOKKEEPING = ("name", "series", "family", "version", "hz", "tunables", "details", "details_of_hz", "year")
BEHAVIOURS = tuple(each.name for each in fields(ReleaseProfile) if each.name not in _BOOKKEEPING)


def load_release(name: str | Path = DEFAULT_RELEASE) -> ReleaseProfile:
    """Return the profile of a release.

    Parameters
    ----------
    name : str or Path
        A series, a patch level or a bare version (see the module's docstring), or the path of a file.

    Raises
    ------
    InputError
        With the nearest name, when there is no such release, or when its file is damaged.

    Examples
    --------
    >>> load_release("0.7.13").name, load_release("2.3").order
    ('zol-0.7.13', 'sorted')
    """
    named = str(name) if isinstance(name, PurePath) else name
    return _load(named, model_data.state_of(named.strip() if isinstance(named, str) else named, "release"))


@functools.lru_cache(maxsize=64)
def _load(name: str, _state: str) -> ReleaseProfile:
    """Return a release; `_state` is the hash of its file, if the name is that of a file."""
    series, wanted = _split(name)
    path = model_data.find("releases", series, "release")
    with understood(path, "release"):
        return _read(path, name, wanted)


def _read(path: Path, name: str, wanted: str | None) -> ReleaseProfile:
    """Return the profile of one version from a release's file."""
    data = load_complete(path)
    first, last = (model_data.text_of(data, key, path) for key in ("first", "last"))
    version = wanted or last
    if not version_numbers(first) <= version_numbers(version) <= version_numbers(last):
        remedy = f"use {path.stem} for the last of them"
        raise InputError("release", name, f"the patch levels known run from {first} to {last}", remedy)
    return _profile(data, path, version)


def release_names() -> tuple[str, ...]:
    """Return the series of the catalogue, oldest first within a family."""
    parts = [name.split("-") for name in model_data.names("releases")]
    return tuple(
        "-".join(each) for each in sorted(parts, key=lambda part: (part[0], version_numbers(part[1])))
    )


def _split(name: str) -> tuple[str, str | None]:
    """Return the series and the patch level (`None`: the last) that `name` means."""
    text = name.strip().lower()
    match = _VERSION.fullmatch(text)
    if match is None or text in model_data.names("releases"):
        return text, None
    family, version = match[1], match[2]
    if family in ("freebsd", "solaris"):
        return f"{family}-{'.'.join(version.split('.')[:2])}", None
    key = version_numbers(version)
    length = 3 if key[:2] == (0, 6) else 2
    series = f"{'zol' if key < (0, 8) else 'openzfs'}-{'.'.join(version.split('.')[:length])}"
    return series, (version if len(key) > length else None)


def version_numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare as versions do.

    Examples
    --------
    >>> version_numbers("0.6.5") < version_numbers("0.6.5.1") < version_numbers("0.8")
    True
    """
    return tuple(int(part) for part in version.split("."))


def _profile(data: Mapping[str, object], path: Path, version: str) -> ReleaseProfile:
    choices = {key: _choice(data, f"behaviour.{key}", path, key) for key in BEHAVIOURS}
    details = _quantities(data, path)
    for patch in tables(data, "patch"):
        if version_numbers(model_data.text_of(patch, "from", path)) > version_numbers(version):
            continue
        for key in texts(patch, "removed"):
            details.pop(key)
        choices |= {key: _choice(patch, f"behaviour.{key}", path, key) for key in table(patch, "behaviour")}
        details |= _quantities(patch, path)
    family = model_data.text_of(data, "family", path)
    hz = model_data.quantity_of(data, "platform.hz", path, "ticks/s")
    # Each choice has been checked against the type of its attribute.
    made: Callable[..., ReleaseProfile] = ReleaseProfile
    return made(
        name=_title(path, f"{family}-{version}"),
        series=model_data.text_of(data, "name", path),
        family=family,
        version=version,
        hz=int(hz.value),
        tunables=Tunables({key: int(quantity.value) for key, quantity in details.items()}),
        details=details,
        details_of_hz=hz,
        year=int(model_data.quantity_of(data, "year", path, "year").value),
        **choices,
    )


def _title(path: Path, version: str) -> str:
    """Return the name of a release; of a file of one's own that is its name, and what it is a kind of."""
    if path.parent == model_data.models_directory() / "releases":
        return version
    stated = model_data.load_toml(path).get("name")
    own = stated if isinstance(stated, str) and stated else path.stem
    return version if version.startswith(own) else f"{printable(own, 60)} ({version})"


def _quantities(data: Mapping[str, object], path: Path) -> dict[str, Quantity]:
    found = {key: model_data.quantity_of(data, f"tunables.{key}", path) for key in table(data, "tunables")}
    for key, quantity in found.items():
        value: object = quantity.value
        if not isinstance(value, int | float) or value != int(value) or not 0 <= value < 2**63:
            allowed = f"it is a whole number from 0 [{quantity.unit}]"
            raise InputError(f"{path.name}: tunables.{key}.value", value, allowed, "correct it")
    return found


def _choice(data: Mapping[str, object], dotted: str, path: Path, key: str) -> object:
    """Return a behaviour's choice, checked against the type of the profile's attribute."""
    entry = model_data.table_of(data, dotted, path)
    model_data.text_of(data, f"{dotted}.source", path)
    model_data.text_of(data, f"{dotted}.kind", path, model_data.SOURCE_KINDS)
    hint = _hints()[key]
    if get_origin(hint) is Literal:
        return model_data.text_of(data, f"{dotted}.choice", path, get_args(hint))
    if not isinstance(entry.get("choice"), bool):
        raise InputError(f"{path.name}: {dotted}.choice", entry.get("choice"), "it is true or false", "")
    return entry["choice"]


@functools.cache
def _hints() -> dict[str, object]:
    """Return the types of the profile's attributes; to evaluate them takes a millisecond."""
    return get_type_hints(ReleaseProfile)


def _tunable_value(name: str, value: int | float | str, unit: str) -> int:
    if isinstance(value, str):
        text = value.strip().lower()
        if unit.startswith("bytes"):
            return parse_bytes(text, f"tunable {name}")
        if unit == "bool" and text in _TRUTH:
            return _TRUTH[text]
        if not re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
            _refuse_value(name, value, unit)
        value = int(text)
    if not 0 <= value <= (1 if unit == "bool" else 2**63 - 1) or int(value) != value:
        _refuse_value(name, value, unit)
    return int(value)


def _refuse_value(name: str, value: object, unit: str) -> NoReturn:
    allowed = "it is 0 or 1" if unit == "bool" else f"it is a whole number from 0 [{unit}]"
    raise InputError(f"tunable {name}", value, allowed, "")


def _refuse_tunable(profile: ReleaseProfile, given: str, plain: str) -> NoReturn:
    reason = f"{profile.name} has no such tunable"
    remedy = what_replaced(plain, profile.tunables, one_queue=profile.queue == "single")
    if remedy is None:
        holders = [each for each in release_names() if plain in load_release(each).tunables]
        if holders:
            reason += f" ({', '.join(holders)} have it)"
            remedy = "take one of those releases or leave it out"
        else:
            remedy = model_data.suggest(plain, profile.tunables)
    raise InputError("tunable", given, reason, remedy)
