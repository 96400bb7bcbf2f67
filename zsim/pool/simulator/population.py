"""Run a recipe and return the population of blocks that it leaves on the pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import Rows, checked, sparse_table
from zsim.base.constants import constant
from zsim.base.errors import ZsimError
from zsim.pool.blocks import MAX_DVAS, BlockTable
from zsim.pool.fragmentation import FragWeights
from zsim.pool.recipes.recipe import (
    AddVdev,
    Expand,
    Fill,
    KeepSnapshots,
    MetadataSizes,
    Overwrite,
    PoolRecipe,
    RecordClass,
    Refill,
    Remove,
    Snapshot,
    Step,
)
from zsim.pool.recipes.styles import DITTO_DISTANCE, UNTHROTTLED
from zsim.pool.simulator import rounds, rows, writing
from zsim.pool.simulator.files import Files, draw_files, expansion
from zsim.pool.simulator.memory import (
    ALLOCATOR,
    BUCKETS,
    CLASSES,
    DATASET,
    FILE,
    GROUP,
    IO_SLOTS,
    KEPT,
    LIST,
    LOG,
    LOG_SLOTS,
    MAX_LEVELS,
    NOW,
    RULES,
    SLAB,
    SLOT,
    VDEV,
    WRITE,
    HistoryMemory,
)
from zsim.pool.simulator.placing import FAILED_FULL
from zsim.pool.simulator.syncing import DNODES_PER_BLOCK
from zsim.pool.simulator.writing import FAILED_FILES
from zsim.vdevs.kind import CLASSES as CLASS_NAMES
from zsim.vdevs.kind import NORMAL, SPECIAL, code_of, kind_of

CLASS_NUMBERS = {name: number for number, name in enumerate(CLASS_NAMES)}
"""The last, the intent log, has no blocks in a population."""
NO_FRAG = FragWeights(np.zeros((0, 48)), np.zeros(0), by_space=False)
WRITTEN_AT_ONCE = 2_000_000
"""Records that a pool has, times rounds that are run before Ctrl-C is heard again: a second or less."""
WRITE_POSITION, WRITE_RATE = constant("population.write_position"), constant("population.write_rate")
FIRST_TXG = 4
FIRST_OBJSET = 54
SNAPSHOT_OBJSETS = 1 << 20

I64 = NDArray[np.int64]


class HistoryError(ZsimError):
    """A history cannot run to its end, for example because the pool is full.

    Attributes
    ----------
    written : int
        Blocks that were written until then.
    """

    def __init__(self, message: str, written: int = 0) -> None:
        super().__init__(message)
        self.written = written


class HistoryRun:
    """A pool under way: steps are run on it one by one, and it can be looked at in between.

    Parameters
    ----------
    recipe : PoolRecipe
        Pool, allocator, files; its `steps` tell how much may be written and are not run.
    seed : int
        Same recipe, steps and seed, same blocks.
    """

    def __init__(self, recipe: PoolRecipe, seed: int = 0) -> None:
        self.recipe = recipe
        files = draw_files(recipe, seed)
        self._memory = found_pool(recipe, files, seed)
        self._over = False

    def run(self, *steps: Step) -> None:
        """Run steps.

        Raises
        ------
        HistoryError
            When the pool cannot hold what they write, or they write more than the recipe said.
        RuntimeError
            After `last_table`.
        """
        self._run_rounds(steps, NO_FRAG, 1, 1, -1.0)
        _check(self._memory, self.recipe)

    def run_until(
        self, steps: Sequence[Step], frag: float, of: FragWeights, least: int, most: int
    ) -> tuple[int, float, float]:
        """Run steps round by round until the pool has a FRAG, or can hold no further round.

        Parameters
        ----------
        steps : sequence of Step
            Of a round.
        frag : float
            FRAG to reach [fraction].
        of : FragWeights
            What it is made of.
        least, most : int
            Rounds that are run whatever FRAG the pool has, and at most.

        Returns
        -------
        tuple
            Rounds, FRAG before them and after the last [fraction].
        """
        return self._run_rounds(steps, of, least, most, frag)

    def _run_rounds(
        self, steps: Sequence[Step], of: FragWeights, least: int, most: int, frag: float
    ) -> tuple[int, float, float]:
        if self._over:
            msg = "no step can follow the last table"
            raise RuntimeError(msg)
        operations = [_operation(step) for step in steps]
        codes = np.array([(code, shortest, longest) for code, _, shortest, longest in operations], np.int64)
        amounts = np.array([amount for _, amount, _, _ in operations], np.float64)
        reached = np.zeros(3)
        # Between two calls Ctrl-C is heard.
        at_once = max(1, WRITTEN_AT_ONCE // len(self._memory.slots))
        done, before = 0, None
        while done < most and not reached[2]:
            done += rounds.run_rounds(
                self._memory.table, codes.reshape(-1, 3), amounts, least - done, min(at_once, most - done),
                frag, of.weights, of.sizes, int(of.by_space), reached,
            )  # fmt: skip
            before = float(reached[0]) if before is None else before
        return done, float(reached[0]) if before is None else before, float(reached[1])

    @property
    def fill(self) -> float:
        """Allocated / space."""
        return float(self._memory.now[0]["used"]) / self.recipe.space

    @property
    def written(self) -> int:
        """Blocks written so far, those that are gone among them."""
        return int(self._memory.now[0]["written"])

    @property
    def vdev_fills(self) -> list[float]:
        """Allocated / space of each top-level vdev."""
        return [float(row["used"]) / float(row["space"]) for row in self._memory.vdevs]

    @property
    def segments(self) -> I64:
        """Free segments by power of two, shape (metaslabs, 48)."""
        return self._memory.histogram

    @property
    def free_bytes(self) -> I64:
        """Free space of each metaslab [bytes], shape (metaslabs,)."""
        slabs, vdevs = self._memory.slabs, self._memory.vdevs
        free: I64 = slabs["free"] * vdevs["unit"][slabs["vdev"]] + slabs["tail"]
        return free

    @property
    def untouched(self) -> NDArray[np.bool_]:
        """Whether a metaslab was never allocated from, shape (metaslabs,)."""
        slabs = self._memory.slabs
        return np.asarray(slabs["free"] == slabs["units"])

    def table(self) -> BlockTable:
        """Return the blocks that are on the pool now."""
        return _table(self.recipe, self._memory)

    def last_table(self) -> BlockTable:
        """Return the blocks that are on the pool now, and give memory back: no step can follow."""
        self._over = True
        return _table(self.recipe, self._memory, last=True)


def build_population(recipe: PoolRecipe, seed: int = 0) -> BlockTable:
    """Build the population a recipe leaves.

    Parameters
    ----------
    recipe : PoolRecipe
        Pool, allocator, writes.
    seed : int
        Same recipe and seed, same blocks.

    Returns
    -------
    BlockTable
        In traversal order, all metadata included.

    Raises
    ------
    HistoryError
        When the pool cannot hold what the recipe writes.
    """
    history = HistoryRun(recipe, seed)
    history.run(*recipe.steps)
    return history.last_table()


def found_pool(recipe: PoolRecipe, files: Files, seed: int) -> HistoryMemory:
    """Return a new pool, with nothing on it but the metadata every pool has."""
    memory = HistoryMemory()
    lay_out_space(memory, recipe, len(files), int(files.records.sum()))
    _lay_out_trees(memory, recipe, files, seed)
    memory.seal()
    found = np.array([[writing.OP_FOUND, 1, 1]], np.int64)
    # Of the very kinds that all other calls have: of others, all of the allocator is compiled once more.
    of = NO_FRAG.weights, NO_FRAG.sizes, int(NO_FRAG.by_space)
    rounds.run_rounds(memory.table, found, np.zeros(1), 1, 1, -1.0, *of, np.zeros(3))
    return memory


def lay_out_space(memory: HistoryMemory, recipe: PoolRecipe, files: int, records: int) -> None:
    """Give a history its vdevs, metaslabs and allocators, all empty.

    Parameters
    ----------
    memory : HistoryMemory, written to
    recipe : PoolRecipe
        With its vdevs, and the rules of the release that allocates.
    files, records : int
        Of which there is room.

    Notes
    -----
    A metaslab has one free segment at first (OpenZFS metaslab.c:metaslab_init), which is written when
    something is taken from it (`zsim.pool.simulator.segments.lay_out`); its table of segments grows to half
    of its units, or to as many as all files could part it into, and has room for as many that come back.
    """
    memory.vdevs = vdevs = _vdev_records(recipe)
    slab_vdev = np.repeat(np.arange(len(vdevs)), vdevs["final_count"])
    slab_bytes = np.array([vdev.slab_bytes for vdev in recipe.vdevs], dtype=np.int64)[slab_vdev]
    memory.slabs = slabs = np.zeros(len(slab_vdev), dtype=SLAB)
    slabs["vdev"] = slab_vdev
    slabs["units"] = slab_bytes // vdevs["unit"][slab_vdev]
    slabs["tail"] = slab_bytes % vdevs["unit"][slab_vdev]
    slabs["free"] = slabs["units"]
    slabs["segments"] = 1
    slabs["active"] = slabs["owner"] = -1
    room = int(min(slabs["units"].max() + 2, 2 * (records + 64 * files + 4096)))
    memory.starts, memory.ends = (sparse_table(len(slabs), room) for _ in range(2))
    allocators = recipe.style.allocators
    memory.rules = _rules(recipe)
    memory.allocators = np.zeros(allocators * CLASSES, dtype=ALLOCATOR)
    for klass in range(CLASSES):
        memory.allocators["rotor"][klass::CLASSES] = np.argmax((vdevs["klass"] == klass) & vdevs["present"])
    memory.groups = np.zeros(allocators * len(vdevs), dtype=GROUP)
    memory.writes = np.zeros(len(vdevs) * IO_SLOTS if memory.rules["throttle"][0] else 1, dtype=WRITE)
    memory.cursors = np.zeros((len(slabs), BUCKETS), dtype=np.int64)
    memory.histogram = np.zeros((len(slabs), BUCKETS), dtype=np.int64)
    memory.owners = np.full((allocators, len(vdevs), 3), -1, dtype=np.int64)
    memory.log = np.empty(8 * (records + 4 * files) + 65536, dtype=LOG)
    memory.marks = np.zeros(LOG_SLOTS, dtype=np.int64)


def _rules(recipe: PoolRecipe) -> Rows:
    style = recipe.style
    rules = np.zeros(1, dtype=RULES)
    rules["segment_weight"] = style.segment_weight
    rules["lba_weight"] = style.lba_weight
    rules["sticky"] = style.sticky
    rules["frag_factor"] = style.frag_factor
    rules["window"] = style.search_window
    rules["best_fit_below"] = style.best_fit_below
    rules["best_fit_free_percent"] = style.best_fit_free_percent
    rules["size_floor"] = style.size_floor
    rules["fill_empty"] = style.fill_empty
    rules["allocators"] = style.allocators
    rules["separate"] = style.separate_metaslabs
    # Of one vdev it decides nothing but the order of records that wait.
    decides = len(recipe.vdevs) > 1 or (recipe.issue.throttled and recipe.issue.group == 0)
    rules["throttle"] = style.throttle if decides else UNTHROTTLED
    rules["aggregated"] = style.aggregated
    rules["first_depth"], rules["most_depth"] = style.first_depth, style.most_depth
    rules["biased"] = style.biased
    rules["third_each"] = style.allocator_each_third
    rules["position_s"], rules["rate"] = WRITE_POSITION, WRITE_RATE
    rules["distance"] = 1 if style.separate_metaslabs else DITTO_DISTANCE
    return rules


def _vdev_records(recipe: PoolRecipe) -> Rows:
    vdevs = np.zeros(len(recipe.vdevs), dtype=VDEV)
    later = {step.vdev for step in recipe.steps if isinstance(step, AddVdev)}
    for k, (row, vdev) in enumerate(zip(vdevs, recipe.vdevs, strict=True)):
        row["kind"] = code_of(vdev.spec.kind)
        row["ashift"] = vdev.ashift
        for name in ("children", "data", "parity", "spares"):
            row[name] = getattr(vdev.spec, name)
        row["unit"] = vdev.unit
        row["first"] = sum(other.slab_count for other in recipe.vdevs[:k])
        row["final_data"], row["final_count"] = vdev.spec.data, vdev.slab_count
        row["data"] = row["first_data"] = vdev.spec.data - vdev.spec.grown
        row["count"] = vdev.first_slabs
        row["aliquot"] = _aliquot(recipe, k)
        row["space"] = vdev.space
        row["klass"] = CLASS_NUMBERS[vdev.spec.alloc_class]
        row["present"] = k not in later
        row["spread"] = kind_of(vdev.spec.kind).spanned_children(vdev.spec)
    return vdevs


def _aliquot(recipe: PoolRecipe, k: int) -> int:
    spec = recipe.vdevs[k].spec
    children = spec.children - spec.spares
    count = children if recipe.style.aliquot_counts_parity else children - spec.parity
    return recipe.style.aliquot * max(1, count)


def _lay_out_trees(memory: HistoryMemory, recipe: PoolRecipe, files: Files, seed: int) -> None:
    metadata = recipe.metadata
    memory.files, slots = _file_records(files, metadata)
    memory.files["volume"] = np.array([record.volume for record in recipe.records])[files.kind]
    memory.datasets, slots = _dataset_records(files, metadata, recipe.datasets, slots)
    memory.now = _now(memory, recipe, seed)
    memory.now["mos_first"] = slots
    slots += int(memory.now["mos_heads"][0]) + metadata.mos_static + 2 * len(memory.slabs)
    memory.now["claims_first"] = slots
    slots += 1 + 2 * len(memory.slabs)
    keeps = any(isinstance(step, Snapshot) for step in recipe.steps)
    memory.slots = np.zeros(slots, dtype=SLOT)
    memory.lists = np.empty(slots, dtype=LIST)
    memory.kept = np.empty(4 * slots + 4096 if keeps else 1, dtype=KEPT)
    memory.ratio_values, memory.ratio_chances = _ratio_tables(recipe.records)
    memory.snapshots = np.zeros(len(recipe.steps) + 1, dtype=np.int64)


def _now(memory: HistoryMemory, recipe: PoolRecipe, seed: int) -> Rows:
    metadata = recipe.metadata
    now = np.zeros(1, dtype=NOW)
    now["random"] = seed * 0x5851F42D4C957F2D + 0x14057B7EF767814F & (1 << 64) - 1
    now["txg"] = now["first_txg"] = FIRST_TXG
    now["mos"] = now["unfinished"] = now["next_removed"] = -1
    claims = recipe.claim_bytes if len(recipe.vdevs) == 1 and recipe.style.separate_metaslabs else 0
    now["claim_bytes"], now["mos_copies"] = claims, 2 if claims else 3
    now["data_copies"], now["metadata_copies"] = 1, 2
    now["meta_pointers"] = 1
    now["coin_bits"] = 30
    now["pointers"] = metadata.pointers
    now["sector"] = 1 << min(vdev.ashift for vdev in recipe.vdevs)
    now["txg_bytes"] = recipe.txg_bytes
    now["request_records"] = recipe.request_records
    now["txg_step"] = recipe.txg_step
    now["whole_files"] = recipe.whole_files
    now["metadata_every"] = recipe.metadata_every
    now["fill_parts"] = recipe.fill_parts
    now["parts"] = 1
    now["growth"] = expansion(recipe)
    now["metadata_due"] = now["txg_begins"] = 1
    now["indirect_fixed"] = metadata.indirect_fixed
    now["indirect_each"] = metadata.indirect_each
    now["dnode_psize"] = metadata.dnode_block
    now["root_psize"] = metadata.objset_root
    now["sync_threads"] = recipe.style.sync_threads
    now["mos_dnodes"] = metadata.mos_dnode_blocks
    now["mos_heads"] = 2 + metadata.mos_dnode_blocks + metadata.mos_each_txg
    now["mos_static"] = metadata.mos_static
    now["throttled"] = recipe.issue.throttled
    now["issue_window"] = recipe.issue.window
    now["issue_group"] = recipe.issue.group
    now["issue_straight"] = recipe.issue.straight
    now["issue_late"] = recipe.issue.late_indirects
    now["map_psize"] = metadata.space_map
    now["log_space_maps"] = recipe.style.log_space_maps
    special = (memory.vdevs["klass"] == CLASS_NUMBERS[SPECIAL]) & (memory.vdevs["present"] > 0)
    now["metadata_class"] = CLASS_NUMBERS[SPECIAL] if special.any() else CLASS_NUMBERS[NORMAL]
    now["special_indirects"] = recipe.small_blocks.indirects
    now["small_bytes"] = recipe.small_blocks.largest
    now["small_percent"] = recipe.small_blocks.percent
    now["small_volumes"] = recipe.small_blocks.volumes
    now["meta_levels"] = meta_dnode_levels(metadata.pointers)
    return now


def meta_dnode_levels(pointers: int) -> int:
    """Return the levels of a meta-dnode.

    Parameters
    ----------
    pointers : int
        Block pointers in an indirect block.

    Returns
    -------
    int
        The fewest with which three root pointers reach the dnode blocks of 2**48 objects.

    Notes
    -----
    OpenZFS dmu_objset.c:dmu_objset_create_impl (DN_MAX_OBJECT).

    Examples
    --------
    >>> meta_dnode_levels(128), meta_dnode_levels(1024)
    (7, 6)
    """
    levels = 1
    while 3 * pointers ** (levels - 1) < (1 << 48) // DNODES_PER_BLOCK:
        levels += 1
    return levels


def _ratio_tables(records: Sequence[RecordClass]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    widest = max(len(record.ratios) for record in records)
    values = np.ones((len(records), widest))
    cumulated = np.full((len(records), widest), 2.0)
    for row, record in enumerate(records):
        chances = np.cumsum([chance for _, chance in record.ratios])
        values[row, : len(chances)] = [value for value, _ in record.ratios]
        cumulated[row, : len(chances) - 1] = chances[:-1] / chances[-1]
    return values, cumulated


def _file_records(files: Files, metadata: MetadataSizes) -> tuple[Rows, int]:
    """Return the FILE records and the number of slots they take: data, then each level of indirect blocks."""
    records = np.zeros(len(files), dtype=FILE)
    width, total = files.records.copy(), files.records.copy()
    # A level at a time: a table of all levels of all files would be larger than the records.
    for level in range(1, MAX_LEVELS):
        deeper = width > metadata.dnode_pointers
        width = np.where(deeper, -(-width // metadata.pointers), 0)
        records["levels"][deeper] = level
        records["indirect"][:, level] = total
        total += width
    first = np.cumsum(total)
    count = int(first[-1]) if len(first) else 0
    first -= total
    records["first"] = first
    records["indirect"] += first[:, None]
    records["dataset"] = files.dataset
    records["item"] = files.item
    records["records"] = files.records
    records["lsize"] = files.lsize
    records["kind"] = files.kind
    records["head"] = -1
    return records, count


def _dataset_records(files: Files, metadata: MetadataSizes, datasets: int, slots: int) -> tuple[Rows, int]:
    levels = meta_dnode_levels(metadata.pointers)
    last = int(files.item.max()) if len(files) else 0
    widths = [last // DNODES_PER_BLOCK + 1]
    while len(widths) < levels:
        widths.append(-(-widths[-1] // metadata.pointers))
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    records = np.zeros(datasets, dtype=DATASET)
    records["root"] = slots + np.arange(datasets, dtype=np.int64) * (int(offsets[-1]) + 1)
    records["snapshot"] = -1
    records["meta"][:, :levels] = records["root"][:, None] + 1 + offsets[:-1]
    return records, slots + datasets * (int(offsets[-1]) + 1)


def _operation(step: Step) -> tuple[int, float, int, int]:
    """Return a step as the compiled history takes it."""
    match step:
        case Overwrite():
            operation = writing.OP_OVERWRITE_FILES if step.by_file else writing.OP_OVERWRITE
            return operation, step.fraction, step.shortest, step.longest
        case Fill():
            found = writing.OP_FILL, step.fraction
        case Remove():
            found = writing.OP_FREE, step.fraction
        case AddVdev():
            found = writing.OP_ADD, float(step.vdev)
        case Expand():
            found = writing.OP_EXPAND, 0.0
        case Snapshot():
            found = writing.OP_SNAPSHOT, 0.0
        case Refill():
            found = writing.OP_REFILL, 0.0
        case KeepSnapshots():
            found = writing.OP_DROP_SNAPSHOT, float(step.count)
    return *found, 1, 1


def _check(memory: HistoryMemory, recipe: PoolRecipe) -> None:
    failed, written = int(memory.now[0]["failed"]), int(memory.now[0]["written"])
    if failed == FAILED_FULL:
        used = memory.now[0]["used"] / recipe.space
        raise HistoryError(
            f"The pool is full at {used:.0%}: no hole is large enough for the next block; ask for a lower "
            "fill or less fragmentation.",
            written,
        )
    if failed == FAILED_FILES:
        raise HistoryError(
            "The files that were planned for do not fill the pool; ask for a higher fill.", written
        )
    if failed:
        raise HistoryError(
            "The history writes more than was planned for; give it fewer snapshots or steps.", written
        )


def _table(recipe: PoolRecipe, memory: HistoryMemory, last: bool = False) -> BlockTable:
    names, chosen = _rows(memory, recipe.datasets, last)
    count = len(chosen)
    birth, psize = (np.empty(count, dtype=np.int64) for _ in range(2))
    copies = np.empty(count, dtype=np.int16)
    vdev = np.empty((count, MAX_DVAS), dtype=np.int32)
    offset, asize = (np.empty((count, MAX_DVAS), dtype=np.int64) for _ in range(2))
    starts = np.concatenate([vdev.slab_starts() for vdev in recipe.vdevs])
    rows.locate_all(memory.table, chosen, starts, birth, psize, copies, vdev, offset, asize)
    if last:
        memory.forget("slots")
    return BlockTable(
        objset=_objsets(memory, names["dataset"], birth),
        object=names["item"].copy(),
        level=names["level"].astype(np.int16),
        blkid=names["blkid"].copy(),
        is_metadata=names["data"] == 0,
        birth=birth,
        psize=psize,
        lsize=names["lsize"].copy(),
        dva_count=copies,
        dva_vdev=vdev,
        dva_offset=offset,
        dva_asize=asize,
    )


def _rows(memory: HistoryMemory, datasets: int, last: bool) -> tuple[Rows, I64]:
    """Return the rows of the table: their NAMEs, and which they are: slots, and -1 - k for kept versions."""
    if last:
        memory.forget("lists", "log", "starts", "ends")
    # Not filled: most slots of a small population are never used.
    names = np.empty(len(memory.slots), dtype=rows.NAME)
    written = np.arange(int(memory.now[0]["next_file"]), dtype=np.int64)
    dataset = memory.files["dataset"][written]
    order = np.argsort(dataset, kind="stable")
    bounds = np.searchsorted(dataset[order], np.arange(datasets + 1)).astype(np.int64)
    named = rows.name_all(memory.table, checked(names, rows.NameRecord), written[order], bounds)
    if last:
        memory.forget("files")
    visited = names["slot"][:named]
    live = np.flatnonzero(memory.slots["copies"][visited])
    if memory.now[0]["snapshots"] == 0:
        return names.take(live), visited[live]
    kept = memory.kept[: int(memory.now[0]["kept"])]
    turn = np.empty(len(memory.slots), dtype=np.int64)
    turn[visited] = np.arange(named)
    place = np.concatenate([live, turn[kept["slot"]]])
    birth = np.concatenate([memory.slots["birth"][visited[live]], kept["birth"]])
    objset = _objsets(memory, names["dataset"][place], birth)
    both = np.concatenate([visited[live], -1 - np.arange(len(kept), dtype=np.int64)])
    turned = np.lexsort((place, objset))
    return names.take(place[turned]), both[turned]


def _objsets(memory: HistoryMemory, dataset: NDArray[np.int64], birth: NDArray[np.generic]) -> I64:
    """Return the objset a block is visited in: the oldest snapshot that holds it, else the live dataset."""
    count = int(memory.now[0]["snapshots"])
    head = np.where(dataset < 0, 0, FIRST_OBJSET + dataset).astype(np.int64)
    if count == 0:
        return head
    interval = np.searchsorted(memory.snapshots[:count], birth)
    snapshot = SNAPSHOT_OBJSETS + interval * (int(dataset.max()) + 1) + dataset
    return np.where((dataset >= 0) & (interval < count), snapshot, head)
