"""Generated scenarios for the engines: hardware, rules, blocks, programs, and how control cuts time.

What shapes a scenario is drawn by Hypothesis, so that failures shrink; where blocks lie follows from a seed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from zsim.drives.models.health import SOUND, DriveHealth
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.codes import ASYNC_READ, ASYNC_WRITE, REBUILD, SCRUB, SYNC_READ, SYNC_WRITE
from zsim.engine.model import (
    TO_SPARE,
    ClientModel,
    LeafModel,
    LinkModel,
    PlaneModel,
    QueueRules,
    ScanRules,
    SitOutRules,
    VdevModel,
)
from zsim.engine.window import Window
from zsim.operation.txg import TxgRules
from zsim.scan.items import ScanItems
from zsim.scan.program import OP_ISSUE, OP_PREFETCH, OP_VISIT, Program
from zsim.vdevs.draid import ROW_HEIGHT, draid_asize
from zsim.vdevs.kind import LOG, NORMAL, kind_of
from zsim.vdevs.raidz import raidz_asize

KIB, MIB = 1 << 10, 1 << 20
SIT_OUT = SitOutRules(seconds=0.5, interval_s=0.001, insensitivity=1)
USED = 200 * MIB
Draw = Any


@dataclass(frozen=True)
class Scenario:
    """All that a run of a plane needs."""

    model: PlaneModel
    items: ScanItems
    programs: list[Program]
    windows: list[Window]
    slots: int
    client_items: NDArray[np.int64]
    above: NDArray[np.int64] | None
    txg: TxgRules
    cursors: list[tuple[int, int]]
    plain_rows: NDArray[np.int64]
    closes_epochs: bool
    gives_up_repair: bool
    horizons: tuple[float, ...]
    budgets: tuple[int, ...]

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))
        return f"Scenario({shown})"


def choice(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


# Every field of DriveParameters; few, round values make drives that finish at the same moment.
DRIVE: dict[str, st.SearchStrategy[Any]] = {
    "capacity_bytes": choice(256 * MIB, 300_000_768, 1 << 30),
    "kind": st.just("mechanical"),
    "revolution_s": choice(1 / 120, 1 / 90, 0.008),
    "zone_rates": st.lists(choice(50e6, 100e6, 163.84e6, 200e6), min_size=1, max_size=4).map(tuple),
    "phase_revolutions": choice(0.0, 0.25, 0.7),
    "seek_short_a_s": choice(0.0, 0.0005, 0.001),
    "seek_short_b_s": choice(0.0, 0.01),
    "seek_long_c_s": choice(0.001, 0.004),
    "seek_long_e_s": choice(0.0, 0.008),
    "seek_knee": choice(0.0, 0.1, 0.3),
    "write_settle_s": choice(0.0, 0.0006),
    "read_overhead_s": choice(0.0, 0.0001, 0.0005),
    "write_overhead_s": choice(0.0, 0.0001, 0.0007),
    "overhead_overlaps": st.booleans(),
    "read_pass_under_bytes": choice(-1, 0, 64 * KIB, MIB),
    "read_segments": choice(0, 0, 1, 3),
    "write_pass_under_bytes": choice(-1, 0, 32 * KIB),
    "seekless_bytes": choice(0, 512 * KIB),
    "queue_depth": choice(1, 2, 4, 32),
    "queue_policy": choice("fcfs", "c-look", "sptf"),
    "queue_max_age_s": choice(0.005, 0.05, 0.5),
    "write_cache_bytes": choice(0, 0, 256 * KIB, 8 * MIB),
    "cached_writes_age": st.booleans(),
    "write_coalescing": st.booleans(),
    "destage": choice("queue", "queue", "idle"),
    "flush_each_txg": st.booleans(),
    "interface_rate": choice(100e6, 300e6),
    "physical_sector_bytes": choice(512, 4096),
    "logical_sector_bytes": choice(512, 4096),
    "parallel_commands": st.just(1),
    "flash_latency_min_s": choice(0.0, 50e-6),
    "flash_latency_max_s": choice(50e-6, 200e-6),
    "flash_write_latency_s": choice(-1.0, 0.0, 30e-6),
    "flash_read_rate": choice(200e6, 500e6),
    "flash_write_rate": choice(100e6, 500e6),
    "flash_shares_rate": st.booleans(),
    "slc_cache_bytes": choice(0, 0, MIB, 64 * MIB),
    "slc_rate_after": choice(20e6, 100e6),
    "smr_band_bytes": choice(0, 0, 0, MIB, 8 * MIB),
    "smr_cache_bytes": choice(2 * MIB, 32 * MIB),
    "smr_cached_writes": choice(1, 8, 1000),
    "smr_idle_s": choice(0.0, 0.01, 1.0),
    "smr_prior": choice(0.0, 0.0, 0.9, 1.0),
    "smr_cleaning": choice(0.5, 1.0, 2.0),
    "smr_fixed": choice(1.0, 1.0, 0.1),
    "smr_reduced": choice(False, True),
    "rotating": st.booleans(),
}
FLASH = DRIVE | {
    "kind": st.just("flash"),
    "revolution_s": st.just(0.0),
    "parallel_commands": choice(1, 2, 4, 8),
    "rotating": choice(False, False, True),
}
QUEUE: dict[str, st.SearchStrategy[Any]] = {
    "single": st.just(False),
    "time_buckets": st.booleans(),
    "bucket_seconds": choice(0.0001, 0.016, 0.064, 0.64, 2**29 / 1e9),
    "round_robin": st.booleans(),
    "non_interactive": st.booleans(),
    "nia_credit": choice(1, 2, 5),
    "nia_delay": choice(1, 5),
    "minimum": st.tuples(*[choice(1, 2, 3, 10)] * 6),
    "maximum": st.tuples(*[choice(0, 1, 7)] * 6),
    "aggregation_limit": choice(0, 128 * KIB, MIB),
    "aggregation_limit_flash": choice(64 * KIB, 128 * KIB),
    "read_gap": choice(0, 4 * KIB, 32 * KIB),
    "max_pending": choice(4, 10),
    "min_pending": choice(1, 4),
    "ramp": choice(1, 2),
    "mirror_rule": choice(0, 1, 2),
    "mirror_shift": choice(12, 21),
    "mirror_switch_s": choice(0.001, 0.01),
    "mirror_near": choice(64 * KIB, MIB),
    "mirror_seek_cost": choice(0, 1, 5),
    "mirror_flash_seek_cost": choice(0, 1),
}
SCAN: dict[str, st.SearchStrategy[Any]] = {
    "scrub": choice(False, False, True),
    "scan_class": st.just(SCRUB),
    "repair_class": st.just(ASYNC_WRITE),
    "metadata_class": choice(ASYNC_READ, SCRUB),
    "prefetch_recursive": st.booleans(),
    "delay_ticks": choice(0, 0, 2),
    "idle_window_s": choice(0.0, 0.02, 0.5),
    "tick_s": choice(0.001, 0.004),
    "pause_level0_only": st.booleans(),
    "issue_s": choice(0.0, 1e-5, 0.003),
    "pointer_s": choice(0.0, 1e-6, 0.0007),
}
CLIENTS: dict[str, st.SearchStrategy[Any]] = {
    "count": choice(0, 0, 1, 3),
    "think_s": choice(0.0005, 0.01, 0.1),
    "seed": st.integers(0, 1 << 20),
    "kind": choice("random-read", "sequential-read", "sync-write"),
    "blocks": choice(1, 1, 3),
    "files": choice(0, 1, 2),
}
LINK: dict[str, st.SearchStrategy[Any]] = {
    "rate": choice(100e6, 300e6),
    "per_command_s": choice(0.0, 0.0001, 0.0005),
    "command_based": st.booleans(),
    "parent": choice(-1, 0),
    "name": st.just(""),
}
TXG: dict[str, st.SearchStrategy[Any]] = {
    "slice_s": choice(0.01, 0.05, 5.0),
    "first_slice_s": choice(0.01, 0.05, 3.0),
    "pass_blocks": choice((2,), (1, 3, 1), (4, 8)),
    "further_blocks": choice((), ((2, 1, 1),)),
    "region_blocks": choice(16, 128),
    "first_reads": choice(0, 3),
    "first_labels": st.booleans(),
    "rotates": st.booleans(),
    "block_bytes": choice(4096, 8192),
    "least_s": choice(0.0, 0.0003),
    "with_data": st.booleans(),
    "flushes": st.booleans(),
    "aliquot": choice(1 << 20, 128 << 10),
}


@st.composite
def drives(draw: Draw) -> DriveParameters:
    flash = draw(choice(False, False, False, True))
    return DriveParameters(**draw(st.fixed_dictionaries(FLASH if flash else DRIVE)))


@st.composite
def queue_rules(draw: Draw) -> QueueRules:
    values = draw(st.fixed_dictionaries(QUEUE))
    values["maximum"] = tuple(
        low + more for low, more in zip(values["minimum"], values["maximum"], strict=True)
    )
    if draw(choice(False, False, False, True)):
        values |= {"single": True, "time_buckets": False, "round_robin": False, "non_interactive": False}
    return QueueRules(**values)


def scan_rules(values: dict[str, Any], queue: QueueRules, rebuild: bool) -> ScanRules:
    """Repair writes inherit the scan's class in v28; a sequential rebuild has a class for both."""
    if queue.single:
        values["repair_class"] = SCRUB
    elif rebuild:
        values["scan_class"] = values["repair_class"] = REBUILD
    return ScanRules(**values)


@st.composite
def vdev_models(draw: Draw, first_leaf: int, scrub: bool) -> VdevModel:
    """A top-level vdev: children may be missing, replaced (while the old disk lives, too), or overwritten."""
    kind = draw(choice("raidz", "mirror", "draid", "expanded-raidz"))
    parity = 0 if kind == "mirror" else draw(st.integers(1, 3))
    data = draw(st.integers(1, 4))
    spares = draw(st.integers(0, 2)) if kind == "draid" else 0
    grown = draw(st.integers(1, 2)) if kind == "expanded-raidz" else 0
    children = {
        "raidz": parity + data,
        "expanded-raidz": parity + data + grown,
        "mirror": draw(st.integers(2, 3)),
        "draid": parity + data + spares + draw(st.integers(0, 3)),
    }[kind]
    fates = ["gone", "dead", "live"] + (["spared", "rebuilt"] if spares else [])
    fates += ["overwritten"] if kind == "raidz" else []
    lost = draw(st.lists(choice(*fates), max_size=children - 1 if kind == "mirror" else parity))
    if scrub and not draw(st.booleans()):
        lost = []
    fate = draw(st.permutations([*lost, *["good"] * (children - len(lost))]))
    read, write, following, number = [], [], first_leaf, 0
    for each in fate:
        here = each in {"good", "live", "overwritten"}
        spare = TO_SPARE - number % max(1, spares)
        number += each in {"rebuilt", "spared"}
        read.append(following if here else spare if each == "rebuilt" else -1)
        if each == "overwritten":
            write.append(following)
        following += read[-1] >= 0
        if each != "overwritten":
            write.append(following if each in {"dead", "live"} else spare if each == "spared" else -1)
            following += write[-1] >= 0
    return VdevModel(
        kind=kind,
        parity=parity,
        ashift=draw(choice(9, 12)),
        read_leaf=tuple(read),
        write_leaf=tuple(write),
        data={"draid": data, "expanded-raidz": data + grown}.get(kind, 0),
        spares=spares,
        grown=grown,
        autosit=draw(choice(None, SIT_OUT)) if kind != "mirror" else None,
        alloc_class=draw(choice(NORMAL, NORMAL, LOG)),
    )


def leaf_count(vdev: VdevModel) -> int:
    return len({leaf for leaf in (*vdev.read_leaf, *vdev.write_leaf) if leaf >= 0})


def bad_sectors() -> st.SearchStrategy[tuple[int, ...]]:
    places = st.integers(0, USED // (64 * KIB)).map(lambda place: (place << 16) + 4 * MIB)
    return st.sets(places, max_size=200).map(sorted).map(tuple)


@st.composite
def healths(draw: Draw) -> DriveHealth:
    return DriveHealth(
        stutter_share=draw(choice(0.0, 0.01, 0.5)),
        stutter_s=draw(choice(0.0, 0.05, 0.2)),
        spell_factor=draw(choice(1.0, 3.0)),
        spell_s=draw(choice(0.01, 0.5)),
        between_s=draw(choice(0.01, 1.0)),
        bad_sectors=draw(bad_sectors()),
        recovery_s=draw(choice(0.0, 0.1, 0.7)),
        fault_after=draw(choice(0, 0, 1, 10)),
        fault_window_s=draw(choice(1.0, 600.0)),
        fault_delay_s=draw(choice(0.0, 0.0, 0.3)),
        seed=draw(st.integers(0, 1 << 20)),
    )


@st.composite
def models(draw: Draw) -> PlaneModel:
    queue = draw(queue_rules())
    scan = scan_rules(draw(st.fixed_dictionaries(SCAN)), queue, draw(choice(False, False, True)))
    vdevs: list[VdevModel] = []
    for _ in range(draw(choice(1, 1, 2, 3))):
        vdevs.append(draw(vdev_models(sum(map(leaf_count, vdevs)), scan.scrub)))
    links = [LinkModel(**draw(st.fixed_dictionaries(LINK))) for _ in range(draw(choice(0, 0, 1, 2)))]
    links = [replace(link, parent=-1 if number == 0 else link.parent) for number, link in enumerate(links)]
    kinds = draw(st.lists(drives(), min_size=1, max_size=2))
    leaves = tuple(
        LeafModel(
            drive=draw(st.sampled_from(kinds)),
            link=draw(st.integers(-1, len(links) - 1)),
            health=(draw(choice(None, None, True)) and draw(healths())) or SOUND,
        )
        for _ in range(sum(map(leaf_count, vdevs)))
    )
    clients = [ClientModel(**draw(st.fixed_dictionaries(CLIENTS))) for _ in range(draw(choice(1, 2)))]
    return PlaneModel(
        leaves=leaves, vdevs=tuple(vdevs), links=tuple(links), queue=queue, scan=scan,
        clients=tuple(group for group in clients if group.count > 0),
    )  # fmt: skip


def allocated(vdev: VdevModel, psize: int, columns: int = 0) -> int:
    """Return the space that a block takes [bytes], so that the next one begins where it may."""
    if vdev.kind == "expanded-raidz":
        width = (columns or vdev.data) + vdev.parity
        return int(raidz_asize(psize, vdev.ashift, width, vdev.parity))
    if vdev.kind == "draid":
        return int(draid_asize(psize, vdev.ashift, vdev.data, vdev.parity))
    if vdev.kind == "raidz":
        psize = raidz_asize(psize, vdev.ashift, len(vdev.read_leaf), vdev.parity)
    return -(-psize // 4096) * 4096


def space(vdev: VdevModel) -> int:
    """Return how much of the vdev's address space the smallest of the drives holds for sure [bytes]."""
    if vdev.kind == "draid":
        return kind_of(vdev.kind).address_space(vdev, USED)
    return USED * (1 if vdev.kind == "mirror" else len(vdev.read_leaf))


class Allocator:
    """Lays blocks out in every top-level vdev: runs side by side, none over another, none past the end."""

    def __init__(
        self, model: PlaneModel, generator: np.random.Generator, sparse: bool, left: int, largest: int
    ) -> None:
        self.model, self.generator, self.sparse = model, generator, sparse
        self.left, self.largest = left, largest
        self.cursor = [self._start(vdev) for vdev in model.vdevs]

    def _rest(self, vdev: VdevModel) -> int:
        """Return the most that the blocks still to come can take of the vdev [bytes]."""
        return self.left * max(
            allocated(vdev, self.largest, columns) for columns in range(vdev.data - vdev.grown, vdev.data + 1)
        )

    def _start(self, vdev: VdevModel) -> int:
        """Return the first offset: in a dRAID a few stripes before a group ends."""
        if vdev.kind != "draid":
            return 0
        width = vdev.data + vdev.parity
        groups = (space(vdev) - self._rest(vdev)) // (width * ROW_HEIGHT)
        group = int(self.generator.integers(1, max(2, groups)))
        return width * (group * ROW_HEIGHT - (int(self.generator.integers(1, 64)) << vdev.ashift))

    def place(self, psize: int) -> tuple[int, int, int]:
        """Return vdev, offset and data columns (0: as of new blocks) of the next block."""
        number = int(self.generator.integers(len(self.model.vdevs)))
        vdev = self.model.vdevs[number]
        columns = vdev.data - int(self.generator.integers(vdev.grown + 1)) if vdev.grown else 0
        jump = self.generator.random() < (0.5 if self.sparse else 0.1)
        gap = int(self.generator.integers(1, 1 << 20 if self.sparse else 1 << 16)) << 12 if jump else 0
        offset = self.cursor[number] + allocated(vdev, gap)
        if offset + self._rest(vdev) > space(vdev):
            offset = self.cursor[number]
        self.left -= 1
        self.cursor[number] = offset + allocated(vdev, psize, columns)
        assert self.cursor[number] <= space(vdev), "a block lies past the end of the drives"
        return number, offset, columns


def blocks(
    model: PlaneModel, seed: int, count: int, metadata: int, sizes: tuple[int, ...], sparse: bool
) -> ScanItems:
    """Return `count` blocks, the first `metadata` of which are metadata that refer to each other."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    psize = generator.choice(sizes, count).astype(np.int64)
    copy_count = generator.choice([0, 0, 0, 1, 2], count).astype(np.int64)
    allocator = Allocator(model, generator, sparse, count + int(copy_count.sum()), max(sizes))
    places = [allocator.place(int(size)) for size in psize]
    others = [allocator.place(int(psize[item])) for item in np.repeat(np.arange(count), copy_count)]
    first, following = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    for item in range(metadata - 1, 0, -1):
        parent = int(generator.integers(item))
        following[item], first[parent] = first[parent], item
    unwind = np.where(np.arange(count) > 0, generator.integers(-1, np.maximum(metadata, 1), count), -1)
    unwind = np.where(unwind < np.arange(count), unwind, -1)
    order = generator.permutation(count) if generator.random() < 0.5 else np.arange(count)
    return ScanItems(
        vdev=np.array([place[0] for place in places], np.int64)[order],
        offset=np.array([place[1] for place in places], np.int64)[order],
        psize=psize[order],
        level0=generator.random(count) < 0.8,
        copies=np.concatenate(([0], np.cumsum(copy_count)[:-1])).astype(np.int64)[order],
        copy_count=copy_count[order],
        copy_vdev=np.array([place[0] for place in others], np.int64),
        copy_offset=np.array([place[1] for place in others], np.int64),
        columns=np.array([place[2] for place in places], np.int16)[order],
        copy_columns=np.array([place[2] for place in others], np.int16),
        prefetch_first=first,
        prefetch_next=following,
        in_memory=generator.random(count) < 0.2,
        unwind=unwind if generator.random() < 0.5 else None,
    )


def plain_rows(leaves: int, count: int, seed: int) -> NDArray[np.int64]:
    """Return plain child I/Os of all classes: they compete with the scan in the leaf queues."""
    generator = np.random.Generator(np.random.Philox(key=seed + 1))
    reads = generator.random(count) < 0.5
    klass = np.where(
        reads,
        generator.choice([SYNC_READ, ASYNC_READ, SCRUB, REBUILD], count),
        generator.choice([SYNC_WRITE, ASYNC_WRITE, ASYNC_WRITE, REBUILD], count),
    )
    leaf = generator.integers(min(leaves, 3), size=count)
    offset = generator.integers(64, size=count) * 24 * KIB
    length = generator.choice([4 * KIB, 24 * KIB, 64 * KIB], count)
    return np.stack([leaf, klass, ~reads, offset, length], axis=1).astype(np.int64)


def walk(items: ScanItems, metadata: int, legacy_prefetch: bool) -> list[tuple[int, int]]:
    """Return the operations that visit the metadata depth first and issue every block after its subtree."""
    steps: list[tuple[int, int]] = []

    def visit(item: int) -> None:
        steps.append((OP_VISIT, item))
        below = children(items, item)
        if legacy_prefetch:
            steps.extend((OP_PREFETCH, child) for child in below)
        for child in below:
            visit(child)
        steps.append((OP_ISSUE, item))

    if metadata > 0:
        visit(0)
    steps.extend((OP_ISSUE, item) for item in range(metadata, len(items)))
    return steps


def children(items: ScanItems, item: int) -> list[int]:
    below, child = [], int(items.prefetch_first[item])
    while child >= 0:
        below.append(child)
        child = int(items.prefetch_next[child])
    return below


def tree_of(items: ScanItems, metadata: int, seed: int) -> NDArray[np.int64]:
    """Return what is above each block: its parent, of data any metadata or none."""
    above = np.random.Generator(np.random.Philox(key=seed + 2)).integers(-1, max(metadata, 1), len(items))
    above[: max(metadata, 1)] = -1
    for item in range(metadata):
        above[children(items, item)] = item
    return above if metadata else np.full(len(items), -1)


def program(steps: list[tuple[int, int]]) -> Program:
    code = np.array([step[0] for step in steps], np.int64)
    return Program(code, np.array([step[1] for step in steps], np.int64))


@st.composite
def windows(draw: Draw) -> Window:
    if draw(st.booleans()):
        return Window(draw(choice(1, 8, 32)), counts_blocks=True)
    return Window(draw(choice(4 * KIB, 300 * KIB, MIB, 16 * MIB)), counts_blocks=False)


@st.composite
def scenarios(draw: Draw, most_blocks: int = 40) -> Scenario:
    model = draw(models())
    count = draw(st.integers(1, most_blocks))
    metadata = min(count, draw(choice(0, 0, 1, 4, 12, most_blocks)))
    sizes = draw(choice((128 * KIB,), (512, 4096, 12 * KIB), (512, 24 * KIB + 512, 128 * KIB), (MIB,)))
    seed = draw(st.integers(0, 1 << 20))
    items = blocks(model, seed, count, metadata, sizes, draw(st.booleans()))
    steps = walk(items, metadata, draw(st.booleans()))
    streams = draw(choice(1, 1, len(model.vdevs)))
    parts = [steps[number::streams] for number in range(streams)] if streams > 1 else [steps]
    return Scenario(
        model=model,
        items=items,
        programs=[program(part) for part in parts],
        windows=[draw(windows()) for _ in parts],
        slots=draw(choice(1, 4, 64, 64, 64)),
        client_items=np.arange(0, count, 2),
        above=tree_of(items, metadata, seed) if draw(st.booleans()) else None,
        txg=TxgRules(**draw(st.fixed_dictionaries(TXG))),
        cursors=[(number % len(model.vdevs), (7 + number) * MIB) for number in range(draw(choice(1, 3)))],
        plain_rows=plain_rows(len(model.leaves), draw(choice(0, 0, 5, 60)), seed),
        closes_epochs=draw(st.booleans()),
        gives_up_repair=draw(choice(False, False, False, True)),
        horizons=tuple(draw(st.lists(choice(1e-5, 0.0003, 0.01, 1.0), min_size=1, max_size=3))),
        budgets=tuple(draw(st.lists(choice(1, 2, 7, 1000), min_size=1, max_size=3))),
    )
