"""Memory of the compiled history: arrays of records behind one table of addresses.

Every kernel takes a single argument, the table `pool`: a small array of addresses and sizes.  A view
function turns an entry into an array without counting references; passing the arrays themselves costs numba
a reference count per array and call, which took longer than the allocator.  `HistoryMemory` owns the arrays
and keeps them alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, from_dtype, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from zsim.base.jit import njit

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
        self.table = np.array([array.ctypes.data for array in arrays] + sizes, dtype=np.int64)


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
_HUGE = 1 << 40


def _caster(dtype: Any) -> Any:
    """Return a compiled function from an address to a pointer to `dtype`."""
    pointer = types.CPointer(from_dtype(np.dtype(dtype)))

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def cast(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(pointer))

        return pointer(types.int64), generate

    return cast


_as_rules, _as_vdev, _as_slab, _as_log = _caster(RULES), _caster(VDEV), _caster(SLAB), _caster(LOG)
_as_allocator, _as_now, _as_slot, _as_file = _caster(ALLOCATOR), _caster(NOW), _caster(SLOT), _caster(FILE)
_as_dataset, _as_list, _as_kept = _caster(DATASET), _caster(LIST), _caster(KEPT)
_as_int64, _as_float64 = _caster("i8"), _caster("f8")


@njit
def rules_of(pool: I64) -> Any:
    """Return the switches, an array of one."""
    return carray(_as_rules(pool[_RULES]), (_HUGE,))


@njit
def vdevs_of(pool: I64) -> Any:
    """Return the top-level vdevs."""
    return carray(_as_vdev(pool[_VDEVS]), (_HUGE,))


@njit
def slabs_of(pool: I64) -> Any:
    """Return the metaslabs."""
    return carray(_as_slab(pool[_SLABS]), (_HUGE,))


@njit
def allocators_of(pool: I64) -> Any:
    """Return the allocators."""
    return carray(_as_allocator(pool[_ALLOCATORS]), (_HUGE,))


@njit
def owners_of(pool: I64) -> Any:
    """Return the active metaslabs: entry (allocator * vdevs + vdev) * 3 + role."""
    return carray(_as_int64(pool[_OWNERS]), (_HUGE,))


@njit
def log_of(pool: I64) -> Any:
    """Return the ring of deferred frees."""
    return carray(_as_log(pool[_LOG]), (_HUGE,))


@njit
def marks_of(pool: I64) -> Any:
    """Return where the last txgs end in the ring."""
    return carray(_as_int64(pool[_MARKS]), (_HUGE,))


@njit
def now_of(pool: I64) -> Any:
    """Return the counters and settings, an array of one."""
    return carray(_as_now(pool[_NOW]), (_HUGE,))


@njit
def slots_of(pool: I64) -> Any:
    """Return the slots."""
    return carray(_as_slot(pool[_SLOTS]), (_HUGE,))


@njit
def files_of(pool: I64) -> Any:
    """Return the files."""
    return carray(_as_file(pool[_FILES]), (_HUGE,))


@njit
def datasets_of(pool: I64) -> Any:
    """Return the datasets."""
    return carray(_as_dataset(pool[_DATASETS]), (_HUGE,))


@njit
def lists_of(pool: I64) -> Any:
    """Return the lists."""
    return carray(_as_list(pool[_LISTS]), (_HUGE,))


@njit
def kept_of(pool: I64) -> Any:
    """Return the versions kept for snapshots."""
    return carray(_as_kept(pool[_KEPT]), (_HUGE,))


@njit
def snapshots_of(pool: I64) -> Any:
    """Return the txgs of the snapshots."""
    return carray(_as_int64(pool[_SNAPSHOTS]), (_HUGE,))


@njit
def cursors_of(pool: I64, slab: int) -> Any:
    """Return the cursors of one metaslab by alignment."""
    return carray(_as_int64(pool[_CURSORS] + 8 * BUCKETS * slab), (_HUGE,))


@njit
def histogram_of(pool: I64, slab: int) -> Any:
    """Return the numbers of free segments of one metaslab by size."""
    return carray(_as_int64(pool[_HISTOGRAM] + 8 * BUCKETS * slab), (_HUGE,))


@njit
def starts_of(pool: I64, slab: int) -> Any:
    """Return the starts of the free segments of one metaslab."""
    return carray(_as_int64(pool[_STARTS] + 8 * pool[_ROOM] * slab), (_HUGE,))


@njit
def ends_of(pool: I64, slab: int) -> Any:
    """Return the ends of the free segments of one metaslab."""
    return carray(_as_int64(pool[_ENDS] + 8 * pool[_ROOM] * slab), (_HUGE,))


@njit
def ratio_values_of(pool: I64, kind: int) -> Any:
    """Return the psize / lsize of one kind of file."""
    return carray(_as_float64(pool[_RATIO_VALUES] + 8 * pool[_RATIOS] * kind), (_HUGE,))


@njit
def ratio_chances_of(pool: I64, kind: int) -> Any:
    """Return the cumulated probabilities of those."""
    return carray(_as_float64(pool[_RATIO_CHANCES] + 8 * pool[_RATIOS] * kind), (_HUGE,))
