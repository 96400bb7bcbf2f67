"""The child I/Os of a block on its top-level vdev: reads, repairs and plain reads.

How blocks lie on a vdev, its kind says (`zsim.vdevs.kind.Kernels`); a block may have several parts, each with
a map of its own.  What is done with them follows from two traits: replicated kinds, and kinds with fill.
"""

from __future__ import annotations

from zsim.base.arrays import I64, Table
from zsim.base.jit import njit, word_of
from zsim.engine.codes import FLAG_REPAIR, FLAG_SCAN, META_IN_FLIGHT
from zsim.engine.compiled.memory import (
    ITEM_MASK,
    OWNER_SCAN_COPY,
    OWNER_SCAN_READ,
    OWNER_SCAN_WRITE,
    SPARE_LEAF,
    child_leaf_of,
    drives_of,
    general_of,
    items_of,
    leaves_of,
    mirror_sides_of,
    permutations_of,
    queue_rules_of,
    scan_rules_of,
    slots_of,
    vdevs_of,
)
from zsim.engine.compiled.queue import enqueue
from zsim.engine.compiled.records import VdevRecord
from zsim.engine.compiled.sitting import is_faulted, look_for_outliers, sits_out
from zsim.vdevs.dispatch import (
    HAS_FILL,
    IS_REPLICATED,
    vdev_asize,
    vdev_part,
    vdev_piece,
    vdev_plan,
    vdev_spare,
)
from zsim.vdevs.kind import Piece, Plan, VdevShape
from zsim.vdevs.mirror import mirror_child, mirror_load, mirror_standing

# What is done with a block that lies in columns: repairs of a copy that was read, or was not.
SCAN_READ, PLAIN_READ, PLAIN_WRITE, REPAIR_READ, REPAIR_WHOLE = range(5)


@njit
def mirror_choice(table: Table, vdev: VdevRecord, offset: int) -> int:
    """Return the leaf that a mirror reads a block from.

    Parameters
    ----------
    table
        Memory of the plane.
    vdev : record
        The mirror.
    offset : int
        Where the block begins on a leaf [bytes].

    Returns
    -------
    int
        The leaf, -1 when no child can be read.

    Notes
    -----
    The rule is `zsim.vdevs.mirror.mirror_child` (OpenZFS vdev_mirror.c:vdev_mirror_child_select); here
    its loads are measured: what is pending on each child, and how far it is from the child's last I/O.
    """
    rules, child_leaf = queue_rules_of(table)[0], child_leaf_of(table)
    sides = mirror_sides_of(table, vdev.children)
    loads, standing = sides[0], sides[1]
    for child in range(vdev.children):
        place = 2 * (vdev.first_child + child)
        standing[child] = mirror_standing(child_leaf[place], child_leaf[place + 1])
        loads[child] = _load_of(table, child_leaf[place], child_leaf[place + 1], offset)
    _pass_over_faulted(table, vdev, standing)
    now = general_of(table)[0].now
    choice = mirror_child(
        rules.mirror_rule, offset, rules.mirror_shift, now, rules.mirror_switch_s, loads, standing
    )
    return int(child_leaf[2 * (vdev.first_child + choice)]) if choice >= 0 else -1


@njit
def _pass_over_faulted(table: Table, vdev: VdevRecord, standing: I64) -> None:
    """Take what faulted leaves hold as unreadable, unless nothing else holds it."""
    child_leaf, whole = child_leaf_of(table), 0
    for child in range(vdev.children):
        leaf = child_leaf[2 * (vdev.first_child + child)]
        whole += 1 if leaf >= 0 and not is_faulted(table, leaf) else 0
    for child in range(vdev.children):
        place = 2 * (vdev.first_child + child)
        if whole > 0 and child_leaf[place] >= 0 and is_faulted(table, child_leaf[place]):
            standing[child] = mirror_standing(-1, child_leaf[place + 1])


@njit
def _load_of(table: Table, source: int, target: int, offset: int) -> int:
    """Return the load of a mirror's child: of its leaf, or of the `replacing` vdev that it is."""
    rules, drives = queue_rules_of(table)[0], drives_of(table)
    active, last_end, at, rotating = 0, 0, offset, False
    if source >= 0:
        rotating = drives[source].rotating != 0
        if target < 0:
            state = leaves_of(table)[source]
            active, last_end = state.pending, state.last_offset
            at = offset + general_of(table)[0].label_bytes
    if target >= 0:
        rotating = rotating or drives[target].rotating != 0
    return mirror_load(
        rules.mirror_rule,
        active,
        last_end,
        at,
        rotating,
        rules.mirror_near,
        rules.mirror_seek_cost,
        rules.mirror_flash_seek_cost,
    )


@njit
def shape_of_record(vdev: VdevRecord) -> VdevShape:
    """Return the shape of a vdev with the columns that new blocks have, for its map."""
    return VdevShape(vdev.ashift, vdev.children, vdev.parity, vdev.data, vdev.spares)


@njit
def piece_of(table: Table, vdev: VdevRecord, plan: Plan, column: int, whole: bool) -> Piece:
    """Return child, child offset and size of one column of a map; `whole`: as scans and repairs use it.

    A map knows by itself how wide its block is.
    """
    shape = shape_of_record(vdev)
    child, place, size = vdev_piece(vdev.kind, plan, column, whole, shape, permutations_of(table, vdev))
    return child, place, size


@njit
def spare_leaf(table: Table, vdev: VdevRecord, stands_for: int, place: int) -> int:
    """Return the leaf that holds a distributed spare at a child offset, -1 if none does.

    Where the spare lies on a child that has failed and has a spare of its own, it is on that one;
    `stands_for` is what stands in the place of a leaf (OpenZFS vdev_draid.c:vdev_draid_spare_get_child).
    """
    child_leaf, shape = child_leaf_of(table), shape_of_record(vdev)
    for _ in range(vdev.spares):
        spare = SPARE_LEAF - stands_for
        child = vdev_spare(vdev.kind, spare, place, shape, permutations_of(table, vdev))
        leaf = child_leaf[2 * (vdev.first_child + child)]
        if leaf >= 0:
            return int(leaf)
        stands_for = leaf if leaf <= SPARE_LEAF else child_leaf[2 * (vdev.first_child + child) + 1]
        if stands_for > SPARE_LEAF:
            return -1
    return -1


@njit
def source_leaf(table: Table, vdev: VdevRecord, child: int, place: int) -> int:
    """Return the leaf that holds what a child has at a child offset, -1 if none does.

    That is the distributed spare's once the child has been rebuilt into it.
    """
    child_leaf = child_leaf_of(table)
    leaf = child_leaf[2 * (vdev.first_child + child)]
    return int(leaf) if leaf > SPARE_LEAF else spare_leaf(table, vdev, leaf, place)


@njit
def repair_leaf(table: Table, vdev: VdevRecord, child: int, place: int) -> int:
    """Return the leaf that takes what a child misses at a child offset, -1 if it misses nothing there.

    That may be a distributed spare (OpenZFS vdev_draid.c:vdev_draid_spare_get_child).
    """
    child_leaf = child_leaf_of(table)
    leaf = child_leaf[2 * (vdev.first_child + child) + 1]
    return int(leaf) if leaf > SPARE_LEAF else spare_leaf(table, vdev, leaf, place)


@njit
def queue_parts(
    table: Table,
    vdev: VdevRecord,
    offset: int,
    psize: int,
    columns: int,
    what: int,
    klass: int,
    kind: int,
    owner: int,
    flags: int,
) -> int:
    """Queue the child I/Os of a block that lies in columns, part by part; return how many.

    What is done is one of the codes above; what the children count for is `kind`, `owner` and `flags`.  A
    block has `columns` data columns, 0: as many as new ones.
    """
    queued, at, left = 0, offset, psize
    data = columns if columns > 0 else vdev.data
    shape = VdevShape(vdev.ashift, vdev.children, vdev.parity, data, vdev.spares)
    scattered = columns > 0 and psize > columns << vdev.ashift
    while left > 0:
        part = vdev_part(vdev.kind, at, left, shape)
        plan = vdev_plan(vdev.kind, at, part, shape)
        if what == SCAN_READ:
            queued += _read_columns(table, vdev, plan, klass, owner)
        elif what == PLAIN_READ:
            queued += _read_data(table, vdev, plan, scattered, klass, kind, owner, flags)
        elif what == PLAIN_WRITE:
            queued += _write_columns(table, vdev, plan, klass, kind, owner, flags)
        else:
            queued += _repair_columns(table, vdev, plan, klass, owner, what == REPAIR_READ)
        left -= part
        if left > 0:
            at += vdev_asize(vdev.kind, part, shape)
    return queued


@njit
def _read_columns(table: Table, vdev: VdevRecord, plan: Plan, klass: int, slot_number: int) -> int:
    """Queue the reads of all columns that can be read, for the scan."""
    child_leaf, queued, sits = child_leaf_of(table), 0, False
    for column in range(plan[0] - 1, -1, -1):
        child, place, size = piece_of(table, vdev, plan, column, True)
        leaf = source_leaf(table, vdev, child, place)
        if leaf < 0:
            continue
        if not sits and sits_out(table, vdev, child) and missing_columns(table, vdev, plan) < vdev.parity:
            sits = True
        else:
            queued += 1
            other = child_leaf[2 * (vdev.first_child + child) + 1]
            kind = OWNER_SCAN_COPY if other >= 0 and other != leaf else OWNER_SCAN_READ
            enqueue(table, leaf, klass, 0, place, size, kind, slot_number, FLAG_SCAN)
    return queued


@njit
def _repair_columns(
    table: Table, vdev: VdevRecord, plan: Plan, klass: int, slot_number: int, was_read: bool
) -> int:
    child_leaf, queued = child_leaf_of(table), 0
    everywhere = HAS_FILL[vdev.kind] and not was_read
    for column in range(plan[0]):
        child, place, size = piece_of(table, vdev, plan, column, True)
        leaf = repair_leaf(table, vdev, child, place)
        source = child_leaf[2 * (vdev.first_child + child)]
        if leaf >= 0 and not (was_read and source >= 0 and source != leaf):
            queued += 1
            enqueue(table, leaf, klass, 1, place, size, OWNER_SCAN_WRITE, slot_number, FLAG_REPAIR)
        if everywhere and source >= 0:
            queued += 1
            enqueue(table, source, klass, 1, place, size, OWNER_SCAN_WRITE, slot_number, FLAG_REPAIR)
    return queued


@njit
def _read_data(
    table: Table, vdev: VdevRecord, plan: Plan, scattered: bool, klass: int, kind: int, owner: int, flags: int
) -> int:
    """Queue the reads of the data columns, of all if one is missing or parity lies `scattered` in all."""
    queued, missing, sits = 0, 0, False
    whole = HAS_FILL[vdev.kind] and any_missing(table, vdev, plan)
    for column in range(plan[0] - 1, -1, -1):
        if column < vdev.parity and missing == 0 and not scattered:
            break
        child, place, size = piece_of(table, vdev, plan, column, whole)
        leaf = source_leaf(table, vdev, child, place)
        if leaf < 0:
            missing += 1
        elif not sits and sits_out(table, vdev, child) and missing_columns(table, vdev, plan) < vdev.parity:
            sits = True
            missing += 1
        elif size > 0:
            queued += 1
            enqueue(table, leaf, klass, 0, place, size, kind, owner, flags)
    return queued


@njit
def _write_columns(
    table: Table, vdev: VdevRecord, plan: Plan, klass: int, kind: int, owner: int, flags: int
) -> int:
    queued = 0
    for column in range(plan[0]):
        child, place, size = piece_of(table, vdev, plan, column, True)
        leaves = (source_leaf(table, vdev, child, place), repair_leaf(table, vdev, child, place))
        for number in range(1 if leaves[0] == leaves[1] else 2):
            leaf = leaves[number]
            if leaf >= 0 and size > 0:
                queued += 1
                enqueue(table, leaf, klass, 1, place, size, kind, owner, flags)
    return queued


@njit
def _whole_size(vdev: VdevRecord, psize: int) -> int:
    """Return what every child of a replicated vdev holds of a block [bytes]."""
    return int(vdev_asize(vdev.kind, psize, shape_of_record(vdev)))


@njit
def read_scan_block(
    table: Table, slot_number: int, vdev_number: int, offset: int, psize: int, columns: int
) -> int:
    """Queue the reads of a scan block (all readable columns; one side of a mirror, or all in a scrub).

    Returns the number of reads queued.  Source: OpenZFS vdev_raidz.c and vdev_draid.c:io_start (parity and,
    in a dRAID, the zero fill are read as well under ZIO_FLAG_RESILVER and ZIO_FLAG_SCRUB),
    vdev_mirror.c:vdev_mirror_io_start.
    """
    slot, vdev = slots_of(table)[slot_number], vdevs_of(table)[vdev_number]
    if IS_REPLICATED[vdev.kind]:
        queued = read_mirror(table, slot_number, vdev_number, offset, psize)
    else:
        klass = scan_rules_of(table)[0].scan_class
        look_for_outliers(table, vdev)
        queued = queue_parts(
            table, vdev, offset, psize, columns, SCAN_READ, klass, OWNER_SCAN_READ, slot_number, FLAG_SCAN
        )
    slot.reads += queued
    return int(queued)


@njit
def read_mirror(table: Table, slot_number: int, vdev_number: int, offset: int, psize: int) -> int:
    """Queue the reads of a mirror's scan block: of one side in a resilver, of all in a scrub.

    Parameters
    ----------
    table
        Memory of the plane.
    slot_number, vdev_number : int
        Slot of the window, top-level vdev.
    offset, psize : int
        Where the block begins on a leaf, and its size [bytes].

    Returns
    -------
    int
        How many reads were queued.

    Notes
    -----
    OpenZFS vdev_mirror.c:vdev_mirror_io_start (ZIO_FLAG_SCRUB).
    """
    rules = scan_rules_of(table)[0]
    vdev, child_leaf = vdevs_of(table)[vdev_number], child_leaf_of(table)
    klass, queued, size = rules.scan_class, 0, _whole_size(vdev, psize)
    if rules.scrub == 0:
        leaf = mirror_choice(table, vdev, offset)
        enqueue(table, leaf, klass, 0, offset, size, OWNER_SCAN_READ, slot_number, FLAG_SCAN)
        return 1
    for child in range(vdev.first_child, vdev.first_child + vdev.children):
        leaf = child_leaf[2 * child]
        if leaf >= 0:
            queued += 1
            enqueue(table, leaf, klass, 0, offset, size, OWNER_SCAN_READ, slot_number, FLAG_SCAN)
    return queued


@njit
def repair_copy(
    table: Table, slot_number: int, vdev_number: int, offset: int, psize: int, columns: int, was_read: bool
) -> None:
    """Queue the repair writes of one copy of a block: only leaves that miss it are written.

    A column that was read from a live old disk was passed on by its `replacing` vdev already; one that a
    disk holds wrongly is written back to that disk (vdev_raidz.c:vdev_raidz_io_done).  In a dRAID a
    copy that was not read is written whole, to healthy leaves too: its leaves do not look at what they miss
    (OpenZFS zio.c:zio_vdev_io_start leaves dRAID out of the bypass of repair writes).
    """
    slot, vdev = slots_of(table)[slot_number], vdevs_of(table)[vdev_number]
    child_leaf, klass = child_leaf_of(table), scan_rules_of(table)[0].repair_class
    if IS_REPLICATED[vdev.kind]:
        size = _whole_size(vdev, psize)
        for child in range(vdev.first_child, vdev.first_child + vdev.children):
            if child_leaf[2 * child + 1] >= 0:
                slot.writes += 1
                leaf = child_leaf[2 * child + 1]
                enqueue(table, leaf, klass, 1, offset, size, OWNER_SCAN_WRITE, slot_number, FLAG_REPAIR)
        return
    what = REPAIR_READ if was_read else REPAIR_WHOLE
    slot.writes += queue_parts(
        table, vdev, offset, psize, columns, what, klass, OWNER_SCAN_WRITE, slot_number, FLAG_REPAIR
    )


@njit
def any_missing(table: Table, vdev: VdevRecord, plan: Plan) -> bool:
    """Tell whether a column of a map lies on a child that cannot be read.

    Parameters
    ----------
    table : Table
        The engine's memory.
    vdev : VdevRecord
    plan : Plan
        The map of a block.

    Returns
    -------
    bool
        Where it is true a read of the block takes parity as well.
    """
    return missing_columns(table, vdev, plan) > 0


@njit
def missing_columns(table: Table, vdev: VdevRecord, plan: Plan) -> int:
    """Return how many columns of a map lie on children that cannot be read."""
    missing = 0
    for column in range(plan[0]):
        child, place, _ = piece_of(table, vdev, plan, column, True)
        missing += 1 if source_leaf(table, vdev, child, place) < 0 else 0
    return missing


@njit
def read_plainly(table: Table, item_number: int, klass: int, kind: int, owner: int, flags: int) -> int:
    """Queue a plain read of a block (metadata, a client's data); return the number of child reads.

    Data columns only, unless one of them is unreadable: then all columns that can be read (OpenZFS
    vdev_raidz.c:vdev_raidz_io_start).  A dRAID that misses any column of the row, parity or not, reads the
    zero fill of the others too (vdev_draid.c:vdev_draid_io_start_read, seen in runs of 2.3.9).
    """
    item = items_of(table)[item_number & word_of(table, ITEM_MASK)]
    vdev = vdevs_of(table)[item.vdev]
    if IS_REPLICATED[vdev.kind]:
        leaf = mirror_choice(table, vdev, item.offset)
        size = _whole_size(vdev, item.psize)
        enqueue(table, leaf, klass, 0, item.offset, size, kind, owner, flags)
        return 1
    look_for_outliers(table, vdev)
    return queue_parts(
        table, vdev, item.offset, item.psize, item.columns, PLAIN_READ, klass, kind, owner, flags
    )


@njit
def read_metadata(table: Table, item_number: int, klass: int, kind: int, flags: int) -> None:
    """Start the plain read of a metadata block, of which its item keeps what is under way.

    Parameters
    ----------
    table : Table
        The engine's memory.
    item_number : int
    klass : int
        Class of I/O.
    kind, flags : int
        Who is told when it is done, and what the I/O carries.
    """
    item = items_of(table)[item_number & word_of(table, ITEM_MASK)]
    item.metadata_state = META_IN_FLIGHT
    item.metadata_left = 1 << 20
    reads = read_plainly(table, item_number, klass, kind, item_number, flags)
    item.metadata_left -= (1 << 20) - reads


@njit
def write_plainly(table: Table, item_number: int, klass: int, kind: int, owner: int, flags: int) -> int:
    """Queue a plain write of a block, to all leaves there are, new ones too.

    Parameters
    ----------
    table : Table
        The engine's memory.
    item_number : int
    klass : int
        Class of I/O.
    kind, owner, flags : int
        Who is told when it is done, and what the I/O carries.

    Returns
    -------
    int
        How many I/Os were queued.

    Notes
    -----
    A mirror writes the whole block to each child (OpenZFS vdev_mirror.c:vdev_mirror_io_start), other kinds
    each column to its own (vdev_raidz.c:vdev_raidz_io_start_write).
    """
    item = items_of(table)[item_number & word_of(table, ITEM_MASK)]
    vdev, child_leaf, writes = vdevs_of(table)[item.vdev], child_leaf_of(table), 0
    if not IS_REPLICATED[vdev.kind]:
        return queue_parts(
            table, vdev, item.offset, item.psize, item.columns, PLAIN_WRITE, klass, kind, owner, flags
        )
    size = _whole_size(vdev, item.psize)
    for place in range(2 * vdev.first_child, 2 * (vdev.first_child + vdev.children)):
        if child_leaf[place] >= 0:
            writes += 1
            enqueue(table, child_leaf[place], klass, 1, item.offset, size, kind, owner, flags)
    return writes
