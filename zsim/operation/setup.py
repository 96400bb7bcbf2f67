"""Everything a run needs: pool, hardware, release, operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.model import PlaneModel, VdevModel
from zsim.operation.control import Plane
from zsim.operation.cursors import imported_cursors, mos_cursors
from zsim.operation.rules import txg_rules
from zsim.operation.timeline import Happening
from zsim.operation.txg import TxgRules, vdev_asize
from zsim.pool.blocks import BlockTable
from zsim.scan.program import DamagedVdev, needs_io
from zsim.scan.rewritten import comes_once, rewritten_by_start, rewritten_in_turn
from zsim.scenario.releases.capacity import metaslab_shift
from zsim.scenario.releases.profile import Operation, ReleaseProfile
from zsim.vdevs.kind import kind_of

PlaneFactory = Callable[..., Plane]
# Txgs between a list of blocks and the one in which a resilver first visits (seen in runs of 2.1 and 2.3.9).
TXGS_OF_START = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondReplacement:
    """Another drive replaced while the first resilver runs.

    A drive attached before the scan has issued anything is repaired in the same pass, which is run a second
    time for it all the same unless both were there before it began (seen in runs of 2.3.9).  Attached
    later, it makes the resilver start again (to 0.7; from 2.3 if less than zfs_resilver_defer_percent is
    done) or gets a pass of its own.

    Attributes
    ----------
    child : int
        Leaf that is replaced.
    leaf : int
        Leaf that is written.
    at : float
        When, after the first visit [s].
    together : bool
        Whether both are attached before the scan starts.
    """

    child: int
    leaf: int
    at: float
    together: bool = False

    @property
    def early(self) -> bool:
        """Whether it is attached before the scan has issued anything."""
        return self.together or self.at <= 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """What a run needs.

    Attributes
    ----------
    model : PlaneModel
    blocks : BlockTable
    release : ReleaseProfile
        With tunables applied.
    operation : {"resilver", "scrub", "rebuild"}
        A rebuild ends before the scrub that follows it.
    memory : int
        Main memory of the host [bytes].
    cursors : tuple of (vdev, offset)
        Where the pool's next MOS block goes, for each copy; found from the youngest MOS block if empty.
    txg : TxgRules, optional
        Instead of the release's.
    seed : int
    records : int
        Whether to keep the finished commands (any number but 0: all of them).
    second : SecondReplacement, optional
    clock_s : float
        What the host's clock shows when the scan starts [s]: ticks, the 0.5 s buckets of the leaf queues
        and the platters' angles are counted from its zero.  The times of the result begin with the scan.
    metaslab_shift : int, optional
        Size of the metaslabs [log2(bytes)], for a rebuild; by default that of a new vdev.
    imported : bool
        Whether the pool was imported just before: then each of several allocators starts at the beginning
        of its best metaslabs, not where the youngest MOS blocks are, and of the metadata only what was
        written last is in memory.
    prefetch_from : int
        Txgs of the scan that end before metadata is read ahead.
    log_bytes : int
        Size of a block of the intent log, for clients that write synchronously [bytes].
    plane : callable
        Makes the data plane.
    visited : BlockTable, optional
        The same blocks at the places where the metadata phase of a sorted scan finds them, if they differ.
    asked : BlockTable, optional
        What clients read, where they find it, if it is not these blocks at their places.
    part : bool
        Whether the blocks stand for a part of a pool: what there is once is not read.
    walked : float
        Of how many like these blocks the one traversal of the pool passes the pointers.
    timeline : tuple of Replace, Pause or SetTunable
        What happens while it runs (`zsim.operation.timeline`).
    """

    model: PlaneModel
    blocks: BlockTable
    release: ReleaseProfile
    operation: Operation = "resilver"
    memory: int = 16 << 30
    cursors: tuple[tuple[int, int], ...] = ()
    txg: TxgRules | None = None
    seed: int = 0
    records: int = 0
    second: SecondReplacement | None = None
    clock_s: float = 0.0
    metaslab_shift: int | None = None
    imported: bool = False
    prefetch_from: int = 0
    log_bytes: int = 4096
    plane: PlaneFactory = CompiledPlane
    visited: BlockTable | None = None
    asked: BlockTable | None = None
    part: bool = False
    walked: float = 1.0
    timeline: tuple[Happening, ...] = ()

    @property
    def txg_rules(self) -> TxgRules:
        """When the scan gives way to the end of a txg, and what that writes."""
        return self.txg or txg_rules(self.release, self.operation)

    @property
    def flushes(self) -> bool:
        """Whether some drive has a write cache that is flushed at the end of each txg."""
        cached = any(leaf.drive.flush_each_txg for leaf in self.model.leaves)
        return cached and self.txg_rules.flushes

    def first_cursors(self) -> list[list[tuple[int, int]]]:
        """Return where each allocator's next MOS blocks go, one (vdev, offset) a copy."""
        if self.cursors:
            return [list(self.cursors)]
        found: list[list[tuple[int, int]]] = []
        if self.imported and self.release.allocators != "one":
            shifts = [self.metaslab_shift_of(vdev) for vdev in self.model.vdevs]
            third = self.release.allocator_metaslabs == "each-third"
            found = imported_cursors(self.blocks, self.model, shifts, each_third=third)
        return found or mos_cursors(self.places)

    @property
    def places(self) -> BlockTable:
        """The blocks at distances as in the real pool."""
        return self.blocks if self.visited is None else self.visited

    @property
    def reads_blocks(self) -> bool:
        """Whether there are clients that read the blocks, at their places."""
        return self.model.client_count > 0 and self.asked is None

    def without_blocks(self) -> RunSetup:
        """Return it without the table of blocks, for a run that is laid out."""
        return replace(self, blocks=self.blocks.take(np.zeros(0, np.intp)), visited=None, asked=None)

    @property
    def collects(self) -> bool:
        """Whether blocks are collected and sorted before they are issued."""
        return self.release.order == "sorted" and self.operation != "rebuild"

    def metaslab_shift_of(self, vdev: VdevModel) -> int:
        """Return the size of a top-level vdev's metaslabs [log2(bytes)]."""
        return self.metaslab_shift or metaslab_shift(vdev_asize(self.model, vdev), self.release)


def freed_by_txgs(setup: RunSetup) -> list[NDArray[np.int64]]:
    """Return the MOS blocks that the ends of the scan's txgs free, txg by txg.

    What the txgs that start the scan free has its turn last: its successors are old enough to be scanned, and
    it stands for them.
    """
    if setup.release.openzfs_version < (2, 0):
        return []
    shifts = [setup.metaslab_shift_of(vdev) for vdev in setup.model.vdevs]
    turns = rewritten_in_turn(setup.blocks, shifts)
    return turns[TXGS_OF_START:] + turns[:TXGS_OF_START]


def wanted_blocks(setup: RunSetup) -> NDArray[np.bool_]:
    """Tell which blocks the scan has to read.

    Returns
    -------
    ndarray of bool, shape (blocks,)
        A scrub reads all; a resilver those of which a damaged vdev misses something (`needs_io`).  Blocks
        that will be rewritten by its start are left out, and of a part of a pool those that come once.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_need_resilver; the test of columns (0.7 and later) is
    vdev_raidz.c:vdev_raidz_need_resilver.
    """
    blocks = setup.blocks
    stays = ~(comes_once(blocks) if setup.part else rewritten_by_start(blocks))
    if setup.operation == "scrub":
        return stays
    return stays & needs_io(blocks, damaged_vdevs(setup.model), column_test=setup.release.column_test)


def damaged_vdevs(model: PlaneModel) -> tuple[DamagedVdev, ...]:
    """Return what the scan has to know of the top-level vdevs."""
    return tuple(damaged_vdev(vdev) for vdev in model.vdevs)


def damaged_vdev(vdev: VdevModel) -> DamagedVdev:
    """Return what the scan has to know of a top-level vdev.

    Parameters
    ----------
    vdev : VdevModel
        With `read_leaf` -1 where a child is missing.

    Returns
    -------
    DamagedVdev
        Geometry and the children that miss data, from which `needs_io` tells what a resilver reads (OpenZFS
        dsl_scan.c:dsl_scan_need_resilver).
    """
    return DamagedVdev(
        vdev.kind,
        len(vdev.read_leaf),
        vdev.parity,
        vdev.ashift,
        vdev.damaged,
        vdev.data,
        vdev.spares,
        vdev.grown,
    )


def plain_prefetch(release: ReleaseProfile) -> bool:
    """Tell whether a visited block's metadata children are prefetched without a limit.

    Returns
    -------
    bool
        In releases to 0.7, unless zfs_no_scrub_prefetch is set (OpenZFS 0.7 dsl_scan.c:dsl_scan_prefetch).
    """
    enabled = release.tunables.get("zfs_no_scrub_prefetch", 0) == 0
    return release.metadata_prefetch == "unbounded" and enabled


def refuse_missing(setup: RunSetup) -> None:
    """Refuse what no engine simulates."""
    for kind in {kind_of(vdev.kind) for vdev in setup.model.vdevs if vdev.damaged}:
        if setup.operation == "rebuild" and not kind.is_rebuildable:
            allowed = f"{kind.title} cannot be rebuilt sequentially"
            raise InputError("operation", "rebuild", allowed, "use resilver")
    if setup.second is not None and setup.operation == "rebuild":
        raise NotSimulatedYet("second replacement", setup.second.child, "a rebuild has one replacement drive")
