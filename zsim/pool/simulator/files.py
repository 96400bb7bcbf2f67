"""The files of a history: how many, how large, in which records."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.pool.recipes.recipe import FileSizes, PoolRecipe, RecordClass
from zsim.pool.simulator.draws import DRAWN, FileNumbers, draw_numbers, draw_sorted, kept_numbers, sizes_of
from zsim.vdevs.arrays import asizes_on
from zsim.vdevs.kind import SPECIAL, VdevSpec

SPARE_DATA, SPARE_FILES = 1.2, 16
LEAST_SPARE = 1.05
"""Of the data that fill the pool, if records that compress well take as little room as they may."""
GOLDEN = 0.618_033_988_749_895
LEAST_RECORDS, GRID = 8, 400

I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Files:
    """All files a history may write: dataset, object, records, logical size of a record, class."""

    dataset: I64
    item: I64
    records: I64
    lsize: I64
    kind: I64

    def __len__(self) -> int:
        return len(self.records)


def draw_files(recipe: PoolRecipe, seed: int) -> Files:
    """Draw the files of a history, in the order in which they are written; removed ones may be written again.

    Parameters
    ----------
    recipe : PoolRecipe
        Kinds of files with their shares and sizes, the space of the pool and the steps of its history.
    seed : int
        Of the random numbers.

    Returns
    -------
    Files
        Dataset, object number, records, record size [bytes] and kind of each; as many as fill the pool to
        the highest fill of the history, and some to spare.
    """
    wanted = recipe.highest_fill * recipe.space * _planned(recipe)
    count = int(wanted / max(mean_file_bytes(recipe), 1.0) / 4) + SPARE_FILES
    generator = np.random.default_rng(seed)
    drawn: list[NDArray[np.int64]] = []
    total = 0.0
    while total < wanted or len(drawn) < 2:
        drawn.append(np.stack(_more_files(recipe, count, generator, seed, len(drawn))))
        total = float(_in_normal_class(recipe, *np.concatenate(drawn, axis=1)).sum())
    kind, size = np.concatenate(drawn, axis=1)
    keep = int(np.searchsorted(np.cumsum(_in_normal_class(recipe, kind, size)), wanted)) + SPARE_FILES
    kind, size = kind[:keep], size[:keep]
    records, lsize = records_of(recipe, kind, size)
    number = np.arange(len(kind), dtype=np.int64)
    return Files(number % recipe.datasets, number // recipe.datasets + 1, records, lsize, kind)


def _planned(recipe: PoolRecipe) -> float:
    """Return how many bytes of files are drawn for each allocated byte that the pool is to hold.

    Whole stripes of a dRAID make of a mean compressed size what none of the records takes: of `expansion`
    alone it may be too little.
    """
    return max(SPARE_DATA / expansion(recipe), LEAST_SPARE / _least_expansion(recipe))


def _least_expansion(recipe: PoolRecipe) -> float:
    """Return asize / lsize of the data, each record compressed as it is, not as all are in the mean."""
    held = weight = 0.0
    for record in recipe.records:
        share = record.share * record.size_factor
        for ratio, chance in record.ratios:
            alone = replace(record, ratios=((ratio, 1.0),))
            held += share * chance * _record_expansion(recipe, alone)
        weight += share
    return held / weight


def _more_files(
    recipe: PoolRecipe, count: int, generator: np.random.Generator, seed: int, turn: int
) -> tuple[I64, I64]:
    """Draw the class and size [bytes] of `count` files; `turn`: how often so many were drawn before."""
    shape, shares = recipe.files.shape, shares_of(recipe)
    if not recipe.piece_bytes:
        numbers = draw_numbers(generator, count, shape, shares)
        return numbers.kind.astype(np.int64), file_sizes(recipe, numbers)
    if count <= DRAWN:
        return draw_pieces(recipe, count, kept_numbers(seed, turn, shape, shares))
    return draw_pieces(recipe, count, draw_sorted(generator, count, shape, shares))


def _in_normal_class(recipe: PoolRecipe, kind: I64, size: I64) -> NDArray[np.float64]:
    """Return how much of each file is on vdevs of the normal class [bytes]: small blocks may go elsewhere."""
    small, held = recipe.small_blocks, size.astype(np.float64)
    if small.largest == 0:
        return held
    special = [vdev.space for vdev in recipe.vdevs if vdev.spec.alloc_class == SPECIAL]
    room = small.percent / 100 * sum(special)
    if room == 0:
        return held
    least = np.array([min(value for value, _ in record.ratios) for record in recipe.records])
    taken = np.array([small.volumes or not record.volume for record in recipe.records])
    elsewhere = taken[kind] & (records_of(recipe, kind, size)[1] * least[kind] <= small.largest)
    inside = np.cumsum(np.where(elsewhere, held, 0.0)) <= room * SPARE_DATA
    return np.where(elsewhere & inside, 0.0, held)


def draw_pieces(recipe: PoolRecipe, count: int, numbers: FileNumbers) -> tuple[I64, I64]:
    """Draw the record class and size [bytes] of so many of the pieces that files are cut into.

    Pieces are drawn from those of a large number of files: as many of the bytes are in large files as on the
    real pool, though a miniature could not hold one of them.  Any few that follow one another have about the
    mix of all, by multiples of the golden ratio (Niederreiter, Random Number Generation, 1992, chapter 3).
    """
    return pieces_at(recipe, numbers, places(count, numbers.place))


def places(count: int, first: float) -> NDArray[np.float64]:
    """Return where so many pieces lie among all of them.

    Parameters
    ----------
    count : int
    first : float
        Where the first lies, 0 to 1.

    Returns
    -------
    ndarray of float, shape (count,)
        0 to 1.

    Notes
    -----
    Steps of the golden ratio, a low-discrepancy sequence: however many are taken, they are evenly spread
    (Weyl, Math. Ann. 77, 1916; Niederreiter, CBMS-NSF 63, 1992).
    """
    found: NDArray[np.float64] = np.mod(first + GOLDEN * np.arange(count), 1.0, dtype=np.float64)
    return found


def pieces_at(recipe: PoolRecipe, numbers: FileNumbers, at: NDArray[np.float64]) -> tuple[I64, I64]:
    """Return what the pieces of sorted files are at some places among all of them.

    Parameters
    ----------
    recipe : PoolRecipe
    numbers : FileNumbers
        Files as `draw_sorted` gives them.
    at : ndarray of float, shape (n,)
        0 to 1.

    Returns
    -------
    kind, size : ndarray of int64, shape (n,)
        Record class, and size of the piece [bytes]: a file is cut into equal ones.
    """
    size, behind, pieces = file_sizes(recipe, numbers), 0, np.empty(len(numbers.kind), np.int64)
    for kind, most in enumerate(_piece_bytes(recipe).tolist()):
        first, behind = behind, int(np.searchsorted(numbers.kind, kind, side="right"))
        pieces[first:behind] = (size[first:behind] + (most - 1)) // most
    # Whole numbers below 2**53: the sum of floats is theirs.
    ends = np.cumsum(pieces, dtype=np.float64)
    row = np.searchsorted(ends, at * ends[-1], side="right")
    return numbers.kind[row].astype(np.int64), size[row] // pieces[row]


def _piece_bytes(recipe: PoolRecipe) -> I64:
    """Return how large a piece of each class may be [bytes]: as small a share of it as of all."""
    bytes_of = np.array([record.share * record.size_factor for record in recipe.records])
    least = np.array([LEAST_RECORDS * record.recordsize for record in recipe.records], dtype=np.int64)
    shares = np.asarray(recipe.piece_bytes * bytes_of / bytes_of.sum(), dtype=np.int64)
    return np.minimum(np.maximum(shares, least), max(recipe.piece_bytes, 1))


def records_of(recipe: PoolRecipe, kind: I64, size: NDArray[np.int64]) -> tuple[I64, I64]:
    """Return how many records files have, and how large these are.

    Parameters
    ----------
    recipe : PoolRecipe
    kind : ndarray of int64, shape (files,)
        Record class.
    size : ndarray of int64, shape (files,)
        [bytes]

    Returns
    -------
    records : ndarray of int64, shape (files,)
    lsize : ndarray of int64, shape (files,)
        Of each record [bytes]: a file smaller than a record is one block of whole sectors of 512 bytes
        (OpenZFS zfs_znode.c:zfs_grow_blocksize).
    """
    recordsize = np.array([record.recordsize for record in recipe.records], dtype=np.int64)[kind]
    single = size < recordsize
    records = np.where(single, 1, np.maximum(np.round(size / recordsize), 1)).astype(np.int64)
    return records, np.where(single, -(-size // 512) * 512, recordsize).astype(np.int64)


def shares_of(recipe: PoolRecipe) -> tuple[float, ...]:
    """Return the shares of the record classes, in files."""
    return tuple(record.share for record in recipe.records)


def file_sizes(recipe: PoolRecipe, numbers: FileNumbers) -> I64:
    """Return the size of each file [bytes]."""
    factors = tuple(each.size_factor for each in recipe.records)
    if len(numbers.kind) == DRAWN:
        return _kept_sizes(numbers, recipe.files, factors)
    return _sizes(numbers, recipe.files, factors)


@functools.lru_cache(maxsize=16)
def _kept_sizes(numbers: FileNumbers, files: FileSizes, factors: tuple[float, ...]) -> I64:
    """Return the sizes of `DRAWN` files, of which pools of several sizes have pieces."""
    found = _sizes(numbers, files, factors)
    found.flags.writeable = False
    return found


def _sizes(numbers: FileNumbers, files: FileSizes, factors: tuple[float, ...]) -> I64:
    sizes = sizes_of(numbers.deviate, files)
    sizes *= factors[0] if len(set(factors)) == 1 else np.array(factors).take(numbers.kind)
    np.maximum(sizes, 512.0, out=sizes)
    return sizes.astype(np.int64)


def mean_file_bytes(recipe: PoolRecipe) -> float:
    """Return the expected logical size of a file, or of a piece of one at most [bytes].

    Returns
    -------
    float
        Mean over the record classes by their shares in files, each times its `size_factor` [bytes]; the
        limits `low` and `high` of a log-normal distribution are not taken off.
    """
    sizes = recipe.files
    mean = (sizes.low + sizes.high) / 2 if sizes.shape == "uniform" else float(sizes.mean)
    weights = np.array([record.share for record in recipe.records])
    factors = np.array([record.size_factor for record in recipe.records])
    mean = float(mean * (weights * factors).sum() / weights.sum())
    return min(mean, recipe.piece_bytes) if recipe.piece_bytes else mean


def typical_file_bytes(recipe: PoolRecipe) -> float:
    """Return the expected logical size of the file that a byte lies in [bytes].

    Notes
    -----
    Of a log-normal distribution the mean times exp(sigma**2); of any, at most the largest file.
    """
    sizes = recipe.files
    largest = sizes.high if sizes.shape != "fixed" else sizes.mean
    heavy = math.exp(min(sizes.sigma**2, 50.0)) if sizes.shape == "lognormal" else 1.0
    factor = max(record.size_factor for record in recipe.records)
    return min(mean_file_bytes(replace(recipe, piece_bytes=0)) * heavy, largest * factor)


def mean_record_bytes(recipe: PoolRecipe) -> float:
    """Return the expected logical size of a data block [bytes].

    Returns
    -------
    float
        Bytes of all files over their blocks; a file smaller than a record is one block [bytes].
    """
    size = recipe.files.low + (recipe.files.high - recipe.files.low) / 2
    if recipe.files.shape != "uniform":
        size = float(recipe.files.mean)
    blocks = total = 0.0
    for record in recipe.records:
        each = size * record.size_factor
        blocks += record.share * max(each / record.recordsize, 1.0)
        total += record.share * each
    return total / blocks


@functools.lru_cache(maxsize=64)
def mean_block_asize(recipe: PoolRecipe) -> float:
    """Return what a data block takes in the mean, parity and padding with it [bytes].

    Parameters
    ----------
    recipe : PoolRecipe

    Returns
    -------
    float
        Over files of all sizes: most of many small ones are blocks of their own, smaller than a record
        [bytes].
    """
    deviate, weight = _size_grid(recipe.files.shape)
    spec, ashift = recipe.normal[0].spec, recipe.normal[0].ashift
    held = blocks = 0.0
    for place, record in enumerate(recipe.records):
        kind = np.full(GRID, place)
        records, lsize = records_of(recipe, kind, file_sizes(recipe, FileNumbers(kind, deviate)))
        count = record.share * weight * records
        blocks += float(count.sum())
        for ratio, chance in record.ratios:
            psize = np.maximum(1, (lsize * ratio).astype(np.int64))
            held += chance * float((count * asizes_on(spec, psize, ashift)).sum())
    return held / blocks


@functools.cache
def _size_grid(shape: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return deviates of sizes that bytes and files alike are spread over, and their weights."""
    if shape != "lognormal":
        deviate = (np.arange(GRID) + 0.5) / GRID
        return deviate, np.full(GRID, 1.0 / GRID)
    # The bytes lie `sigma` further out than the files.
    deviate = np.linspace(-5.0, 9.0, GRID)
    weight = np.exp(-0.5 * deviate**2)
    return deviate, weight / weight.sum()


def expansion(recipe: PoolRecipe) -> float:
    """Return asize / lsize of the data.

    Returns
    -------
    float
        Compression, parity and padding; mean over the record classes by what of the bytes they are.
    """
    total = 0.0
    weight = 0.0
    for record in recipe.records:
        share = record.share * record.size_factor
        total += share * _record_expansion(recipe, record)
        weight += share
    return total / weight


def _record_expansion(recipe: PoolRecipe, record: RecordClass) -> float:
    """Return asize / lsize of a class of records, mean over the space of the pool."""
    psize = max(1, int(record.recordsize * math.fsum(value * chance for value, chance in record.ratios)))
    held, blocks, last = 0.0, 0.0, None
    for vdev in recipe.normal:
        # A hundred alike are one and the same.
        if vdev is not last:
            blocks, last = vdev.space / _asize(vdev.spec, psize, vdev.ashift), vdev
        held += blocks
    return recipe.space / held / record.recordsize


@functools.lru_cache(maxsize=1024)
def _asize(spec: VdevSpec, psize: int, ashift: int) -> float:
    return float(asizes_on(spec, np.array([psize]), ashift)[0])
