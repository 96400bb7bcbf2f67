"""How each release of ZFS allocates: the options of the compiled allocator, from its release profile.

Sources: OpenZFS ``module/zfs/metaslab.c`` at the tags 0.6.1, 0.6.5.11, 0.7.13, 0.8.6, 2.0.7, 2.1.5, 2.1.16,
2.2.9, 2.3.0, 2.3.9 and 2.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from zsim.scenario.releases.profile import ReleaseProfile

KIB, MIB = 1 << 10, 1 << 20
STICKY_NEVER, STICKY_FRAG, STICKY_UNTIL_FRAGMENTED = 0, 1, 2
UNTHROTTLED, BY_NUMBER, BY_BYTES = 0, 1, 2
THROTTLES = {"none": UNTHROTTLED, "number": BY_NUMBER, "bytes": BY_BYTES}
DITTO_DISTANCE = 125  # thousandths of the vdev: metaslab.c ditto_same_vdev_distance_shift 3


@dataclass(frozen=True, slots=True)
class AllocatorStyle:
    """The allocator of one release.

    Attributes
    ----------
    segment_weight : bool
        Metaslabs are chosen by their largest free segments (0.7+ with the feature ``spacemap_histogram``),
        else by free space.
    lba_weight : bool
        Space weights prefer the outer tracks up to 2 : 1 (rotating leaves only).
    sticky : int
        When an active metaslab stays so over txgs with space weights: ``STICKY_NEVER`` (0.6.4+ without
        space map histograms), ``STICKY_FRAG`` (0.6.4+), ``STICKY_UNTIL_FRAGMENTED`` (to 0.6.3).
    frag_factor : bool
        Space weights are reduced by FRAG (0.6.4+ with space map histograms).
    search_window : int
        Forward search of first fit [bytes] (0.8.3+: 16 MiB); 0 searches the whole metaslab (before).
    best_fit_below : int
        Best fit once the largest free segment is smaller [bytes] (metaslab_df_alloc_threshold).
    best_fit_free_percent : int
        Best fit once less of the metaslab is free [%] (metaslab_df_free_pct).
    size_floor : int
        Best fit looks at segments from this size first [bytes] (2.0+: metaslab_by_size_min_shift).
    fill_empty : bool
        A metaslab whose free space is one segment is not left early (2.3.1+, "Better fill empty metaslabs").
    allocators : int
        Allocators, each with metaslabs of its own.
    sync_threads : bool
        The sync thread names the allocator (2.3+), else a hash of objset, object, level, block (0.8-2.2).
    separate_metaslabs : bool
        Further copies go to any other metaslab (0.8+), else an eighth of the vdev away (to 0.7).
    aliquot : int
        Bytes per drive before the next top-level vdev takes over.
    aliquot_counts_parity : bool
        The aliquot is multiplied by all children (to 2.1.5), not by the data drives.
    log_space_maps : bool
        Space map changes of a txg go to one log (2.0+), else each changed metaslab rewrites its own.
    throttle : int
        How allocations queue on the vdevs of a class: `UNTHROTTLED` (to 0.6), `BY_NUMBER` (0.7 to 2.3),
        `BY_BYTES` (2.4).
    aggregated : int
        What a command of writes that follow one another holds at most [bytes].
    first_depth, most_depth : int
        Allocations that an allocator may have queued on a vdev at the beginning of a txg, and later.
    biased : bool
        Emptier top-level vdevs get more (``metaslab_bias_enabled``).
    allocator_each_third : bool
        A vdev has an allocator for each three of its metaslabs (2.4), else all or one.
    """

    segment_weight: bool = True
    lba_weight: bool = True
    sticky: int = STICKY_FRAG
    frag_factor: bool = True
    search_window: int = 16 * MIB
    best_fit_below: int = 128 * KIB
    best_fit_free_percent: int = 4
    size_floor: int = 16 * KIB
    fill_empty: bool = True
    allocators: int = 4
    sync_threads: bool = True
    separate_metaslabs: bool = True
    aliquot: int = MIB
    aliquot_counts_parity: bool = False
    log_space_maps: bool = True
    throttle: int = UNTHROTTLED
    aggregated: int = MIB
    first_depth: int = 32
    most_depth: int = 100
    biased: bool = True
    allocator_each_third: bool = False


def allocator_style(
    release: ReleaseProfile, *, cpus: int = 16, rotating: bool = True, spacemap_histogram: bool = True
) -> AllocatorStyle:
    """Return the allocator of a release.

    Parameters
    ----------
    release : ReleaseProfile
    cpus : int
        Processors: from 2.3 they decide the number of allocators.
    rotating : bool
        Without rotating leaves nothing prefers the outer tracks (v28 does not ask).
    spacemap_histogram : bool
        The pool feature of that name: enabled by default in every pool created with 0.6.4 or later.
    """
    version, values = release.openzfs_version, release.tunables
    histogram = spacemap_histogram and version >= (0, 6, 4)
    aliquot = values.get("metaslab_aliquot", 512 * KIB)
    deepest = _deepest(release)
    return AllocatorStyle(
        segment_weight=histogram
        and release.metaslab_weight == "segment"
        and bool(values.get("zfs_metaslab_segment_weight_enabled", 1)),
        lba_weight=bool(values.get("metaslab_lba_weighting_enabled", 1))
        and (rotating or version < (0, 6, 2)),
        sticky=_stickiness(version, histogram),
        frag_factor=histogram and bool(values.get("metaslab_fragmentation_factor_enabled", 1)),
        search_window=values.get("metaslab_df_max_search", 16 * MIB)
        if release.metaslab_fit == "bounded-first-fit"
        else 0,
        best_fit_below=values.get("metaslab_df_alloc_threshold", 128 * KIB),
        best_fit_free_percent=values.get("metaslab_df_free_pct", 4),
        size_floor=16 * KIB if version >= (2, 0) else 0,
        fill_empty=release.metaslab_fill == "contiguous-first",
        allocators=release.allocator_count(cpus),
        sync_threads=release.allocator_choice == "sync-thread",
        separate_metaslabs=version >= (0, 8),
        aliquot=aliquot,
        aliquot_counts_parity=version < (2, 1, 6),
        log_space_maps=version >= (2, 0),
        throttle=_throttle(release),
        aggregated=values.get("zfs_vdev_aggregation_limit", MIB),
        first_depth=min(deepest, values.get("zfs_vdev_def_queue_depth", deepest)),
        most_depth=deepest,
        biased=bool(values.get("metaslab_bias_enabled", 1)),
        allocator_each_third=release.allocator_metaslabs == "each-third",
    )


def _throttle(release: ReleaseProfile) -> int:
    """Return how the release throttles allocations."""
    enabled = release.tunables.get("zio_dva_throttle_enabled", 0)
    return THROTTLES[release.allocation_throttle] if enabled else UNTHROTTLED


def _deepest(release: ReleaseProfile) -> int:
    """Return how many allocations may be queued on a vdev (spa.c:spa_sync, vdev_queue.c)."""
    values = release.tunables
    percent = values.get("zfs_vdev_queue_depth_pct", 0)
    return max(1, values.get("zfs_vdev_async_write_max_active", 10) * percent // 100)


def _stickiness(version: tuple[int, ...], histogram: bool) -> int:
    if version < (0, 6, 4):
        return STICKY_UNTIL_FRAGMENTED
    return STICKY_FRAG if histogram else STICKY_NEVER
