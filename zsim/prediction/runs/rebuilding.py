"""The part of a pool on which a sequential rebuild is simulated: a sample of its metaslabs, each whole.

A rebuild goes metaslab by metaslab and knows allocated ranges, not blocks.  Its window holds gigabytes,
more than a miniature does, and in a dRAID it needs many groups to keep all drives busy: so the sample is
made of metaslabs as large as the real ones, each filled with the ranges of the miniature, over and over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.cursors import mos_cursors
from zsim.operation.result import RunResult, seconds_of
from zsim.operation.rules import rebuild_window
from zsim.operation.setup import damaged_vdev
from zsim.pool.blocks import MAX_DVAS, BlockTable
from zsim.pool.recipes.recipe import TopLevel
from zsim.prediction.groups import degraded_share
from zsim.prediction.inputs.population import WorldPopulation
from zsim.prediction.inputs.room import make_room
from zsim.scan.rebuild import allocated_ranges, chunks_of
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.capacity import vdev_capacity
from zsim.vdevs.kind import kind_of

FEWEST_METASLABS, MOST_METASLABS = (
    whole_constant("sampling.fewest_metaslabs"), whole_constant("sampling.most_metaslabs")
)  # fmt: skip
"""Of a sample: each that is waited for takes a txg, with its writes on every drive."""
STRETCHES = whole_constant("sampling.stretches")
FULL = constant("sampling.full")
"""Of a pool as full as this, everything is taken as allocated: its holes are smaller than any block."""
WINDOWS = whole_constant("sampling.windows")
"""What is measured is at least so many times what is in flight."""
FEWEST_WINDOWS, MOST_WINDOWS = constant("sampling.fewest_windows"), constant("sampling.most_windows")
AROUND = constant("sampling.around")
"""So many times what is in flight goes before and behind it."""
MANY_PIECES = constant("sampling.many_pieces")
"""Of what is in flight; of so many, one window tells as much, and less goes before and behind."""
FEWEST_OF_MANY, WINDOWS_OF_MANY, AROUND_OF_MANY = (
    constant("sampling.fewest_of_many"),
    constant("sampling.windows_of_many"),
    constant("sampling.around_of_many"),
)
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MetaslabSample:
    """Metaslabs of the damaged top-level vdev.

    Attributes
    ----------
    table : BlockTable
        One row an allocated range.
    metaslab_shift : int
        [log2(bytes)]
    metaslabs, of : int
        Simulated, and those of the real vdev.
    repaired_bytes : float
        Data (parity left out) that the real rebuild copies, of all chunks [bytes].
    scale : float
        Allocated bytes of the real vdev over those of the sample.
    in_flight : int
        What its window holds; 0 where it runs empty after each metaslab [bytes].
    before, behind : float
        Bytes copied before and behind those that are measured; 0 where all of them are [bytes].
    """

    table: BlockTable
    metaslab_shift: int
    metaslabs: int
    of: int
    repaired_bytes: float
    scale: float
    in_flight: int
    before: float
    behind: float


def sampled_metaslabs(case: Case, pool: WorldPopulation, model: PlaneModel) -> MetaslabSample:
    """Return metaslabs to rebuild, evenly spread over the damaged vdev.

    Parameters
    ----------
    case : Case
    pool : WorldPopulation
        Its ranges are what the metaslabs are filled with; the more blocks it has, the more metaslabs.
    model : PlaneModel
    """
    spec = case.layout.vdevs[0]
    capacity = vdev_capacity(spec, case.damaged_size, case.release)
    size, count = 1 << capacity.metaslab_shift, capacity.metaslab_count
    share = degraded_share(spec, case.replace)
    width = kind_of(spec.kind).columns(spec)
    data = (width - spec.parity) / width
    allocated = pool.scale * float(pool.table.dva_asize[pool.table.dva_vdev == 0].sum())
    real = allocated * share * data
    chunk = _chunk_bytes(case, spec)
    window = rebuild_window(model, 0, case.release, case.memory)
    in_flight = window.limit * (chunk if window.counts_blocks else 1)
    begin, end = allocated_ranges(pool.table, 0)
    piece = min(float(chunk), float(np.mean(end - begin)) * data)
    windows, measured, aside = _windows(len(pool.table) * piece, in_flight, piece)
    part = size * min(1.0, windows * in_flight * count / max(real, 1.0))
    unit = max(1.0, real / count * part / size)
    wanted = len(pool.table) / 2 * piece
    if case.release.rebuild_waits:
        in_flight = 0
    around = math.ceil(aside * in_flight / unit)
    numbers = _chosen(count, math.ceil(max(wanted, measured * in_flight) / unit), around)
    begin, end = _ranges_in(case, pool, numbers, size, int(part))
    make_room(len(begin))
    before, behind = 0.0, 0.0
    if len(numbers) < count and around > 0:
        first, last = numbers[around], numbers[-around - 1]
        before, behind = _copied_around(case, model, begin, end, size, first, last)
    return MetaslabSample(
        table=_as_blocks(begin, end, pool.table),
        metaslab_shift=capacity.metaslab_shift,
        metaslabs=len(numbers),
        of=count,
        repaired_bytes=real,
        scale=allocated / max(1.0, float((end - begin).sum())),
        in_flight=in_flight,
        before=before,
        behind=behind,
    )


def _windows(held: float, in_flight: int, piece: float) -> tuple[float, float, float]:
    """Return how many windows of each metaslab are copied, how many are measured in all, and those around.

    Of a metaslab, what many windows cover is as good as all of it; fewer where they hold many small pieces.
    `held` is what the population holds, `in_flight` what a window does [bytes].
    """
    many = in_flight > MANY_PIECES * piece
    fewest, measured, aside = (
        (FEWEST_OF_MANY, WINDOWS_OF_MANY, AROUND_OF_MANY) if many else (FEWEST_WINDOWS, WINDOWS, AROUND)
    )
    return min(MOST_WINDOWS, max(fewest, held / max(1, in_flight))), measured, aside


def _ranges_in(
    case: Case, pool: WorldPopulation, numbers: Integers, size: int, part: int
) -> tuple[Integers, Integers]:
    """Return what is allocated in a part of metaslabs of `size` bytes."""
    if case.fill < FULL:
        return _laid_out(pool.table, pool.damaged, numbers, size, part)
    unit = pool.damaged.unit
    begin = -(-numbers * size // unit) * unit
    return begin, begin + part // unit * unit


def _copied_around(
    case: Case, model: PlaneModel, begin: Integers, end: Integers, size: int, first: int, last: int
) -> tuple[float, float]:
    """Return what is copied before the first metaslab (of `size` bytes) that counts, and behind the last."""
    edges = (begin // size < first) | ((end - 1) // size > last)
    chunks = chunks_of(
        begin[edges],
        end[edges],
        damaged_vdev(model.vdevs[0]),
        metaslab_bytes=size,
        segment_bytes=int(case.release.tunables["zfs_rebuild_max_segment"]),
    )
    before, behind = chunks.psize[chunks.metaslab < first].sum(), chunks.psize[chunks.metaslab > last].sum()
    return float(before), float(behind)


def _chosen(count: int, wanted: int, around: int) -> Integers:
    """Return the metaslabs of the sample, ascending.

    Without waits between them, neighbours are in flight together: then the sample is made of stretches of
    neighbours, with some more before the first and after the last, see `scaled_rebuild`.
    """
    chosen = max(FEWEST_METASLABS, wanted)
    if chosen + 2 * around >= count:
        return np.arange(count, dtype=np.int64)
    if around == 0:
        chosen = min(chosen, MOST_METASLABS)
        return (2 * np.arange(chosen, dtype=np.int64) + 1) * count // (2 * chosen)
    length = -(-chosen // STRETCHES)
    room = count - 2 * around - length
    # In the middle of equal parts: their mean rate is that of all tracks.
    firsts = around + room * (2 * np.arange(STRETCHES, dtype=np.int64) + 1) // (2 * STRETCHES)
    measured = (firsts[:, None] + np.arange(length)).ravel()
    edges = np.arange(around)
    return np.unique(np.concatenate((firsts[0] - 1 - edges, measured, firsts[-1] + length + edges)))


def _chunk_bytes(case: Case, spec: VdevSpec) -> int:
    segment = int(case.release.tunables["zfs_rebuild_max_segment"])
    return kind_of(spec.kind).rebuild_segment(spec, segment)


def _laid_out(
    table: BlockTable, level: TopLevel, numbers: Integers, size: int, part: int
) -> tuple[Integers, Integers]:
    """Return the allocated ranges of a part of metaslabs of `size` bytes, the miniature's repeated in it.

    What is free at the end of a metaslab of the miniature comes at the end of a real one, once.
    """
    begin, end = allocated_ranges(table, 0)
    slab, start = level.slab_of(begin), level.slab_starts()
    pieces = max(1, part // level.slab_bytes)
    base = -(-numbers * size // level.unit) * level.unit
    copied = np.arange(len(base) * pieces) % level.slab_count
    # In each place the ranges of one slab, which stand one behind the other.
    first = np.searchsorted(slab, np.arange(level.slab_count + 1))
    used = np.where(first[1:] > first[:-1], end[first[1:] - 1] - start[: level.slab_count], 0)
    rows = np.minimum(-(-used // level.row_bytes), level.slab_bytes // level.row_bytes)
    taken = (rows * level.row_bytes)[copied].reshape(len(base), pieces)
    place = (base[:, None] + np.cumsum(taken, axis=1) - taken).ravel()
    lengths = (first[1:] - first[:-1])[copied]
    moved = np.repeat(place - start[copied], lengths)
    row = np.arange(len(moved)) + np.repeat(first[copied] - (np.cumsum(lengths) - lengths), lengths)
    return begin[row] + moved, end[row] + moved


def _as_blocks(begin: Integers, end: Integers, like: BlockTable) -> BlockTable:
    """Return a table with one row a range; what a client reads of it is a block of the usual size."""
    count = len(begin)
    data = ~like.is_metadata
    usual = int(np.median(like.psize[data])) if data.any() else 128 << 10
    # What all rows have in common stands in memory once: there may be a million.
    one, zero = np.broadcast_to(np.int64(1), count), np.broadcast_to(np.int16(0), count)
    first = np.broadcast_to(np.array([0, *[-1] * (MAX_DVAS - 1)], np.int32), (count, MAX_DVAS))
    # Column by column: memory of copies that no block has is never touched.
    offset, asize = np.zeros((MAX_DVAS, count), np.int64).T, np.zeros((MAX_DVAS, count), np.int64).T
    offset[:, 0], asize[:, 0] = begin, end - begin
    psize = np.minimum(usual, end - begin)
    return BlockTable(
        objset=one,
        object=one,
        level=zero,
        blkid=np.arange(count, dtype=np.int64),
        is_metadata=np.broadcast_to(np.False_, count),
        birth=one,
        psize=psize,
        lsize=psize,
        dva_count=np.broadcast_to(np.int16(1), count),
        dva_vdev=first,
        dva_offset=offset,
        dva_asize=asize,
    )


def cursors_of(pool: WorldPopulation) -> tuple[tuple[int, int], ...]:
    """Return where the pool's next MOS block goes, for each copy."""
    return tuple(mos_cursors(pool.table)[0])


def scaled_rebuild(run: RunResult, sample: MetaslabSample) -> tuple[float, float, float]:
    """Return what the real rebuild takes.

    Parameters
    ----------
    run : RunResult
        Of the sample.
    sample : MetaslabSample

    Returns
    -------
    copying, waiting : float
        Copying, and waiting for txgs [s].
    scale : float
        Bytes of the real rebuild over those of the sample.

    Notes
    -----
    Copying grows with the bytes, waits with the number of metaslabs.  Where nothing is waited for, what
    counts is the middle of the run, from when what comes before it is about done, that is, once a window's
    worth more has been issued, until it is about done itself: not its start, nor its end when drives run out
    of work.
    """
    copying = seconds_of(run.phases)
    waiting = max(0.0, run.end - copying)
    scale = sample.repaired_bytes / max(1, run.issued_bytes)
    if sample.in_flight == 0:
        return copying * scale, waiting * sample.of / sample.metaslabs, scale
    if sample.before == 0.0:
        return copying * scale, waiting, scale
    moments, seen = np.array(run.curve).T
    issued, rows = np.unique(seen, return_index=True)
    end = run.issued_bytes - sample.behind
    first = np.interp(sample.before + sample.in_flight, issued, moments[rows])
    last = np.interp(end + sample.in_flight, issued, moments[rows])
    return float(last - first) * sample.repaired_bytes / (end - sample.before), waiting, scale
