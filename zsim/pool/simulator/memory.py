"""Memory of the compiled history: arrays of records behind one table of addresses.

Every kernel takes a single argument, the table `pool`: a small array of addresses and sizes.  A view
function turns an entry into an array without counting references; passing the arrays themselves costs numba
a reference count per array and call, which took longer than the allocator.  `HistoryMemory` owns the arrays
and keeps them alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import View, address_of, array_at, array_in, njit

I64 = NDArray[np.int64]

BUCKETS = 48
LOG_SLOTS = 4
MAX_LEVELS = 8

RULES = np.dtype(
    [
        ("segment_weight", "i8"),
        ("lba_weight", "i8"),
        ("sticky", "i8"),
        ("frag_factor", "i8"),
        ("window", "i8"),
        ("best_fit_below", "i8"),
        ("best_fit_free_percent", "i8"),
        ("size_floor", "i8"),
        ("fill_empty", "i8"),
        ("separate", "i8"),
        ("distance", "i8"),
        ("allocators", "i8"),
        ("serial", "i8"),
        ("txg", "i8"),
        ("log_head", "i8"),
        ("log_tail", "i8"),
    ],
    align=True,
)
VDEV = np.dtype(
    [
        ("kind", "i8"),
        ("ashift", "i8"),
        ("children", "i8"),
        ("data", "i8"),
        ("parity", "i8"),
        ("spares", "i8"),
        ("unit", "i8"),
        ("first", "i8"),
        ("count", "i8"),
        ("aliquot", "i8"),
        ("bias", "i8"),
        ("used", "i8"),
        ("space", "i8"),
    ],
    align=True,
)
SLAB = np.dtype(
    [
        ("vdev", "i8"),
        ("units", "i8"),
        ("tail", "i8"),
        ("free", "i8"),
        ("pending", "i8"),
        ("segments", "i8"),
        ("empty", "i8"),
        ("weight", "i8"),
        ("active", "i8"),
        ("role", "i8"),
        ("owner", "i8"),
        ("changed", "i8"),
        ("unflushed", "i8"),
        ("tried", "i8"),
    ],
    align=True,
)
ALLOCATOR = np.dtype([("rotor", "i8"), ("used", "i8")])
LOG = np.dtype([("slab", "i8"), ("start", "i8"), ("units", "i8")])


NOW = np.dtype(
    [
        ("random", "u8"),
        ("txg", "i8"),
        ("next_file", "i8"),
        ("alive", "i8"),
        ("dead", "i8"),
        ("dirty", "i8"),
        ("dirty_files", "i8"),
        ("dirty_dnodes", "i8"),
        ("dirty_bytes", "i8"),
        ("live_bytes", "i8"),
        ("live_goal", "i8"),
        ("metadata_txg", "i8"),
        ("metadata_due", "i8"),
        ("used", "i8"),
        ("kept", "i8"),
        ("snapshots", "i8"),
        ("failed", "i8"),
        ("log_next", "i8"),
        ("map_next", "i8"),
        ("claim_next", "i8"),
        ("thread", "i8"),
        # The step under way.
        ("goal", "f8"),
        ("shortest", "i8"),
        ("longest", "i8"),
        ("run_file", "i8"),
        ("run_next", "i8"),
        ("run_end", "i8"),
        ("unfinished", "i8"),
        ("unfinished_next", "i8"),
        ("overwrites", "i8"),
        ("by_file", "i8"),
        ("txg_begins", "i8"),
        ("parts", "i8"),
        ("placed", "i8"),
        ("growth", "f8"),
        # Settings; the first few are constants, kept here because numba compiles anew for each literal.
        ("zero", "i8"),
        ("mos", "i8"),
        ("data_copies", "i8"),
        ("metadata_copies", "i8"),
        ("mos_copies", "i8"),
        ("meta_pointers", "i8"),
        ("coin_bits", "i8"),
        ("first_txg", "i8"),
        ("pointers", "i8"),
        ("sector", "i8"),
        ("txg_bytes", "i8"),
        ("txg_step", "i8"),
        ("whole_files", "i8"),
        ("metadata_every", "i8"),
        ("fill_parts", "i8"),
        ("indirect_fixed", "f8"),
        ("indirect_each", "f8"),
        ("dnode_psize", "i8"),
        ("root_psize", "i8"),
        ("sync_threads", "i8"),
        ("log_space_maps", "i8"),
        ("meta_levels", "i8"),
        ("mos_first", "i8"),
        ("mos_dnodes", "i8"),
        ("mos_heads", "i8"),
        ("mos_static", "i8"),
        ("claims_first", "i8"),
        ("map_psize", "i8"),
        ("issue_window", "i8"),
        ("issue_group", "i8"),
        ("issue_straight", "i8"),
        ("issue_per_object", "i8"),
    ],
    align=True,
)
SLOT = np.dtype(
    [
        ("slab", "i8", 3),
        ("start", "i8", 3),
        ("birth", "i8"),
        ("psize", "i8"),
        ("copies", "i8"),
        ("stamp", "i8"),
        ("waiting", "i8"),
    ],
    align=True,
)
FILE = np.dtype(
    [
        ("dataset", "i8"),
        ("item", "i8"),
        ("records", "i8"),
        ("lsize", "i8"),
        ("kind", "i8"),
        ("there", "i8"),
        ("first", "i8"),
        ("levels", "i8"),
        ("head", "i8"),
        ("tail", "i8"),
        ("indirect", "i8", MAX_LEVELS),
    ],
    align=True,
)
LIST = np.dtype(
    [
        ("alive", "i8"),
        ("dirty_file", "i8"),
        ("record", "i8"),
        ("next", "i8"),
        ("dnode_set", "i8"),
        ("dnode_block", "i8"),
        ("stream_file", "i8"),
        ("stream_record", "i8"),
        ("dead", "i8"),
    ],
    align=True,
)
DATASET = np.dtype([("root", "i8"), ("dirty", "i8"), ("snapshot", "i8"), ("meta", "i8", MAX_LEVELS)])
KEPT = np.dtype(
    [
        ("slab", "i8", 3),
        ("start", "i8", 3),
        ("birth", "i8"),
        ("psize", "i8"),
        ("copies", "i8"),
        ("death", "i8"),
        ("slot", "i8"),
    ],
    align=True,
)


class HistoryMemory:
    """The arrays of one history, and the table the kernels take.

    Attributes
    ----------
    rules : ndarray of RULES, shape (1,)
        The release's switches, and the clock of the deferred frees.
    vdevs, slabs, allocators : ndarray of VDEV, SLAB, ALLOCATOR
        Metaslabs are numbered over the whole pool.
    cursors, histogram : ndarray of int64, shape (metaslabs, 48)
        By power of two: the cursor of this alignment, and the number of free segments of this size.
    starts, ends : ndarray of int64, shape (metaslabs, room)
        The free segments [units].
    owners : ndarray of int64, shape (allocators, vdevs, 3)
        The active metaslab of an allocator in each role, -1 when there is none.
    log : ndarray of LOG
        Ring of the frees that are not usable yet.
    marks : ndarray of int64, shape (4,)
        Positions in the ring at which the last txgs ended.
    now : ndarray of NOW, shape (1,)
        Counters and settings of the history.
    slots : ndarray of SLOT
        One entry a place in a file tree: the block that is there now (none when it has no copies).
    files, datasets : ndarray of FILE, DATASET
        Shape of the trees: the first slot of each level.
    lists : ndarray of LIST
        Living files, removed files, dirty files, dirty records (linked by file), dirty dnode blocks.
    kept : ndarray of KEPT
        Versions that only snapshots hold.
    ratio_values, ratio_chances : ndarray of float64, shape (kinds, n)
        Compression: psize / lsize, and cumulated probability.
    snapshots : ndarray of int64
        Their txgs, ascending.
    table : ndarray of int64
        Addresses of all these, and their sizes.
    """

    rules: Any
    vdevs: Any
    slabs: Any
    allocators: Any
    cursors: I64
    histogram: I64
    starts: I64
    ends: I64
    owners: I64
    log: Any
    marks: I64
    now: Any
    slots: Any
    files: Any
    datasets: Any
    lists: Any
    kept: Any
    ratio_values: NDArray[np.float64]
    ratio_chances: NDArray[np.float64]
    snapshots: I64
    table: I64

    def seal(self) -> None:
        """Take down the addresses; no array may be replaced after this."""
        arrays = [getattr(self, name) for name in ARRAYS]
        sizes = [
            len(self.vdevs), len(self.slabs), len(self.log), len(self.files), len(self.datasets),
            len(self.kept), self.starts.shape[1], self.ratio_values.shape[1],
        ]  # fmt: skip
        self.table = np.array([address_of(array) for array in arrays] + sizes, dtype=np.int64)


ARRAYS = (
    "rules", "vdevs", "slabs", "allocators", "cursors", "histogram", "starts", "ends", "owners", "log",
    "marks", "now", "slots", "files", "datasets", "lists", "kept", "ratio_values", "ratio_chances",
    "snapshots",
)  # fmt: skip
(
    _RULES, _VDEVS, _SLABS, _ALLOCATORS, _CURSORS, _HISTOGRAM, _STARTS, _ENDS, _OWNERS, _LOG, _MARKS,
    _NOW, _SLOTS, _FILES, _DATASETS, _LISTS, _KEPT, _RATIO_VALUES, _RATIO_CHANCES, _SNAPSHOTS,
    VDEVS, SLABS, LOG_SIZE, FILES, DATASETS, KEPT_ROOM, _ROOM, _RATIOS,
) = range(28)  # fmt: skip
# Arrays by name: each takes the table.  `rules_of` and `now_of` are arrays of one.
rules_of = array_in(RULES, _RULES)
vdevs_of = array_in(VDEV, _VDEVS)
slabs_of = array_in(SLAB, _SLABS)
allocators_of = array_in(ALLOCATOR, _ALLOCATORS)
# The active metaslabs: entry (allocator * vdevs + vdev) * 3 + role.
owners_of = array_in("i8", _OWNERS)
log_of = array_in(LOG, _LOG)
marks_of = array_in("i8", _MARKS)
now_of = array_in(NOW, _NOW)
slots_of = array_in(SLOT, _SLOTS)
files_of = array_in(FILE, _FILES)
datasets_of = array_in(DATASET, _DATASETS)
lists_of = array_in(LIST, _LISTS)
kept_of = array_in(KEPT, _KEPT)
snapshots_of = array_in("i8", _SNAPSHOTS)
_int64_at, _float64_at = array_at("i8"), array_at("f8")


@njit
def cursors_of(pool: I64, slab: int) -> View:
    """Return the cursors of one metaslab by alignment."""
    return _int64_at(pool[_CURSORS] + 8 * BUCKETS * slab)


@njit
def histogram_of(pool: I64, slab: int) -> View:
    """Return the numbers of free segments of one metaslab by size."""
    return _int64_at(pool[_HISTOGRAM] + 8 * BUCKETS * slab)


@njit
def starts_of(pool: I64, slab: int) -> View:
    """Return the starts of the free segments of one metaslab."""
    return _int64_at(pool[_STARTS] + 8 * pool[_ROOM] * slab)


@njit
def ends_of(pool: I64, slab: int) -> View:
    """Return the ends of the free segments of one metaslab."""
    return _int64_at(pool[_ENDS] + 8 * pool[_ROOM] * slab)


@njit
def ratio_values_of(pool: I64, kind: int) -> View:
    """Return the psize / lsize of one kind of file."""
    return _float64_at(pool[_RATIO_VALUES] + 8 * pool[_RATIOS] * kind)


@njit
def ratio_chances_of(pool: I64, kind: int) -> View:
    """Return the cumulated probabilities of those."""
    return _float64_at(pool[_RATIO_CHANCES] + 8 * pool[_RATIOS] * kind)
