"""What a data plane consists of: leaves, links, top-level vdevs, queue rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from zsim.drives.models.health import SOUND, DriveHealth
from zsim.drives.models.parameters import DriveParameters
from zsim.vdevs.kind import NORMAL

LABEL_BYTES = 4 * 1024 * 1024
NOT_REPAIRED, TO_SPARE = -1, -2


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafModel:
    """A leaf: its drive, the shared link in front of it, and the role it plays.

    Attributes
    ----------
    drive : DriveParameters
    link : int
        Number of the shared link, -1 for a port of its own.
    role : {"source", "target", "other"}
    name : str
    health : DriveHealth
    """

    drive: DriveParameters
    link: int = -1
    role: str = "source"
    name: str = ""
    health: DriveHealth = SOUND


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkModel:
    """A shared server in front of several drives.

    Attributes
    ----------
    rate : float
        [bytes/s]
    per_command_s : float
        Cost of each command [s].
    command_based : bool
        One drive at a time (command-based switching); else the data of commands share the rate.
    parent : int
        Link this one hangs from, -1: none.
    name : str
        For people.
    """

    rate: float
    per_command_s: float = 0.0
    command_based: bool = False
    parent: int = -1
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitOutRules:
    """How slow children of a top-level vdev are found and sit out (property ``autosit``, 2.4).

    Attributes
    ----------
    seconds : float
        How long a child sits out, vdev_read_sit_out_secs [s].
    interval_s : float
        Least time between two looks, vdev_raidz_outlier_check_interval_ms [s].
    insensitivity : int
        vdev_raidz_outlier_insensitivity.
    """

    seconds: float = 600.0
    interval_s: float = 1.0
    insensitivity: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class VdevModel:
    """A top-level vdev and the leaves behind its children.

    Attributes
    ----------
    kind : str
        Of `zsim.vdevs.kinds`.
    parity, ashift : int
    read_leaf : tuple of int
        Leaf that holds each child's data, -1 if it cannot be read.
    write_leaf : tuple of int
        Leaf to be repaired of each child, -1: none; ``TO_SPARE - n``: its data go to distributed spare n of
        the dRAID, counted from 0.
    data, spares : int
        Data columns of a group and distributed spares, where the kind has them.
    grown : int
        Drives that were added to a RAID-Z later.
    sitting_out : frozenset of (child, leaf)
        Leaves that are written but not read while they sit out (vdev_raidz.c, 2.4); `read_leaf` has -1 there.
    alloc_class : str
        What is allocated on it, one of `zsim.vdevs.kind.CLASSES`.
    autosit : SitOutRules, optional
        By which slow children sit out during the run; None: none does.
    """

    kind: str
    parity: int
    ashift: int
    read_leaf: tuple[int, ...]
    write_leaf: tuple[int, ...]
    data: int = 0
    spares: int = 0
    grown: int = 0
    sitting_out: frozenset[tuple[int, int]] = frozenset()
    alloc_class: str = NORMAL
    autosit: SitOutRules | None = None

    @property
    def children(self) -> int:
        """Drives of the vdev."""
        return len(self.read_leaf)

    def written(self, child: int) -> set[int]:
        """Return the leaves that a new block is written to for a child."""
        sitting = {leaf for place, leaf in self.sitting_out if place == child}
        return {leaf for leaf in (self.read_leaf[child], self.write_leaf[child]) if leaf >= 0} | sitting

    @property
    def damaged(self) -> tuple[int, ...]:
        """Children that are repaired."""
        return tuple(child for child, leaf in enumerate(self.write_leaf) if leaf != NOT_REPAIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRules:
    """Rules of the leaf vdev queue (OpenZFS vdev_queue.c), by release.

    Attributes
    ----------
    single : bool
        One queue with deadlines (ZFS v28); else classes.
    time_buckets : bool
        C-LOOK only inside the oldest arrival bucket (2.2+).
    bucket_seconds : float
        Length of an arrival bucket [s].
    round_robin, non_interactive : bool
        Class selection and throttle of 2.0.1+.
    nia_credit, nia_delay : int
        zfs_vdev_nia_credit, zfs_vdev_nia_delay [I/Os].
    minimum, maximum : tuple of int
        Active I/Os by class: sync read, sync write, async read, async write, scrub, rebuild.
    aggregation_limit, aggregation_limit_flash : int
        zfs_vdev_aggregation_limit, and that of solid-state drives [bytes].
    read_gap : int
        zfs_vdev_read_gap_limit [bytes].
    max_pending, min_pending, ramp : int
        Of the single queue: zfs_vdev_max_pending, zfs_vdev_min_pending and zfs_vdev_ramp_rate [I/Os].
    mirror_rule, mirror_shift, mirror_switch_s, mirror_near, mirror_seek_cost, mirror_flash_seek_cost
        Which side of a mirror is read (`zsim.vdevs.mirror.mirror_child` and `mirror_load`).

    Notes
    -----
    Both engines hold the record as it is; the compiled one lays it out by its fields (`arrays.dtype_of`).
    """

    single: bool = False
    time_buckets: bool = True
    bucket_seconds: float = 2**29 / 1e9
    round_robin: bool = True
    non_interactive: bool = True
    nia_credit: int = 5
    nia_delay: int = 5
    minimum: tuple[int, ...] = (10, 10, 1, 2, 1, 1)
    maximum: tuple[int, ...] = (10, 10, 3, 2, 3, 3)
    aggregation_limit: int = 1 << 20
    aggregation_limit_flash: int = 128 << 10
    read_gap: int = 32 << 10
    max_pending: int = 10
    min_pending: int = 4
    ramp: int = 2
    mirror_rule: int = 2
    mirror_shift: int = 21
    mirror_switch_s: float = 0.01
    mirror_near: int = 1 << 20
    mirror_seek_cost: int = 5
    mirror_flash_seek_cost: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRules:
    """How the scan paces itself.

    Attributes
    ----------
    scrub : bool
        A scrub reads all copies on all sides and writes nothing.
    scan_class, repair_class, metadata_class : int
        I/O classes.
    prefetch_recursive : bool
        The prefetch thread follows what it fetched (0.8+).
    delay_ticks : int
        Sleep before each block while clients are active (releases to 0.7).
    idle_window_s : float
        Clients count as active so long after their last I/O [s].
    tick_s : float
        Clock tick [s].
    pause_level0_only : bool
        Whether the scan can be paused at data blocks only (legacy).
    issue_s : float
        Processor time that a scan thread takes to issue a block [s]; 0: a host that is infinitely fast.
    pointer_s : float
        Processor time that the traversal takes for a block pointer [s].
    """

    scrub: bool = False
    scan_class: int = 4
    repair_class: int = 3
    metadata_class: int = 4
    prefetch_recursive: bool = True
    delay_ticks: int = 0
    idle_window_s: float = 0.0
    tick_s: float = 0.001
    pause_level0_only: bool = False
    issue_s: float = 0.0
    pointer_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientModel:
    """Foreground clients of one kind: each asks for something, waits for it, thinks, asks again.

    Attributes
    ----------
    kind : {"random-read", "sequential-read", "sync-write"}
        Random blocks, the next blocks in the order in which they were written, or records of the intent log.
    blocks : int
        Blocks a request has.
    count : int
    think_s : float
        Mean of the exponential think time [s].
    seed : int
    files : int
        Of sequential reads: how many files are read from start to end at a time, each by clients that take
        turns in it; 0: each client has its own.
    """

    count: int = 0
    think_s: float = 0.0
    seed: int = 0
    kind: str = "random-read"
    blocks: int = 1
    files: int = 0

    @property
    def parts(self) -> int:
        """Places from which the group goes on: in its files, or one for each client."""
        shares = self.kind == "sequential-read" and self.files > 0
        return min(self.files, self.count) if shares else self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterModel:
    """A foreground writer that appends to a new file.

    Attributes
    ----------
    rate : float
        Data a second, 0: none [bytes/s].
    record_bytes : int
        Size of a record [bytes].
    most_dirty_bytes : float
        What may be dirty at a time: more waits, and is not made up for [bytes].
    busy_bytes : float
        With so much dirty a scan gives way as soon as it has had its least time in a txg [bytes].
    favour : tuple of float
        By which factor each vdev of the normal class takes more than its aliquot [1]; empty: none does.
    """

    rate: float = 0.0
    record_bytes: int = 128 << 10
    most_dirty_bytes: float = math.inf
    busy_bytes: float = math.inf
    favour: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneModel:
    """All that a data plane needs besides the blocks."""

    leaves: tuple[LeafModel, ...]
    vdevs: tuple[VdevModel, ...]
    links: tuple[LinkModel, ...] = ()
    queue: QueueRules = field(default_factory=QueueRules)
    scan: ScanRules = field(default_factory=ScanRules)
    clients: tuple[ClientModel, ...] = ()
    writer: WriterModel = field(default_factory=WriterModel)
    label_bytes: int = LABEL_BYTES

    @property
    def client_count(self) -> int:
        """Foreground clients of all kinds."""
        return sum(group.count for group in self.clients)

    @property
    def client_blocks(self) -> int:
        """Blocks that foreground clients may have under way at once."""
        return sum(group.count * group.blocks for group in self.clients)
