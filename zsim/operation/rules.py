"""From a release profile to the rules of queue, scan, window and txg."""

from __future__ import annotations

from collections.abc import Sequence

from zsim.engine.model import PlaneModel, QueueRules, ScanRules, SitOutRules, VdevModel
from zsim.engine.window import Window
from zsim.operation.txg import TxgRules
from zsim.scenario.releases.profile import COPIES, Operation, ReleaseProfile
from zsim.vdevs.kind import kind_of
from zsim.vdevs.mirror import BY_LOAD, BY_OFFSET, BY_PENDING

ASYNC_READ, ASYNC_WRITE, SCRUB, REBUILD = 2, 3, 4, 5
CLASS_NAMES = ("sync_read", "sync_write", "async_read", "async_write", "scrub", "rebuild")
MIRROR_RULES = {"offset": BY_OFFSET, "fewest-active": BY_PENDING, "load-and-seek": BY_LOAD}
OLD_MAXIMUM_BLOCK = 128 << 10
OLD_ALIQUOT = 512 << 10
MINIMUM_WINDOW = 1 << 20
SECONDS_BUCKET = 2**29 / 1e9
# MOS blocks a sync pass rewrites on an idle pool, as seen in runs of 0.7.13 (one allocator) and of 2.1.5
# and 2.3.9: there the objset's root and its dnode blocks go to one allocator, space maps and the indirect
# block to two others.
MOS_BLOCKS_ONE = (7, 15, 11)
MOS_BLOCKS_MAIN, MOS_BLOCKS_FURTHER = (6, 6, 5), ((2, 1, 1), (1, 1, 1))
# A leaf with a queue of one class per I/O kind has no limits by class.
UNLIMITED = 1 << 30


def queue_rules(release: ReleaseProfile) -> QueueRules:
    """Return the leaf-queue rules of a release (OpenZFS vdev_queue.c).

    On an idle pool nothing is dirty, so asynchronous writes get their minimum as maximum
    (vdev_queue.c:vdev_queue_max_async_writes).
    """
    values = release.tunables
    single = release.queue == "single"
    limit = values["zfs_vdev_aggregation_limit"]
    if release.aggregation_clamp == "pool-maximum-block" and release.scan == "legacy":
        limit = min(limit, OLD_MAXIMUM_BLOCK)
    minimum, maximum = _class_limits(release)
    return QueueRules(
        single=single,
        time_buckets=release.queue_time_buckets,
        bucket_seconds=_bucket_seconds(release),
        round_robin=release.class_selection == "round-robin",
        non_interactive=release.non_interactive_throttle,
        nia_credit=values.get("zfs_vdev_nia_credit", 0),
        nia_delay=values.get("zfs_vdev_nia_delay", 0),
        minimum=minimum,
        maximum=maximum,
        aggregation_limit=limit,
        aggregation_limit_flash=values.get("zfs_vdev_aggregation_limit_non_rotating", limit),
        read_gap=values["zfs_vdev_read_gap_limit"],
        max_pending=values.get("zfs_vdev_max_pending", 0) if single else 0,
        min_pending=values.get("zfs_vdev_min_pending", 0) if single else 0,
        ramp=values.get("zfs_vdev_ramp_rate", 0) if single else 0,
        mirror_rule=MIRROR_RULES[release.mirror_choice],
        mirror_shift=values.get("vdev_mirror_shift", 21),
        mirror_switch_s=values.get("zfs_vdev_mirror_switch_us", 10_000) / 1e6,
        mirror_near=values.get("zfs_vdev_mirror_rotating_seek_offset", 0),
        mirror_seek_cost=values.get("zfs_vdev_mirror_rotating_seek_inc", 0),
        mirror_flash_seek_cost=values.get("zfs_vdev_mirror_non_rotating_seek_inc", 0),
    )


def _class_limits(release: ReleaseProfile) -> tuple[tuple[int, ...], tuple[int, ...]]:
    values = release.tunables
    if release.queue == "single":
        return (UNLIMITED,) * len(CLASS_NAMES), (UNLIMITED,) * len(CLASS_NAMES)
    minimum = [values.get(f"zfs_vdev_{name}_min_active", 1) for name in CLASS_NAMES]
    maximum = [values.get(f"zfs_vdev_{name}_max_active", 1) for name in CLASS_NAMES]
    maximum[ASYNC_WRITE] = minimum[ASYNC_WRITE]
    return tuple(minimum), tuple(maximum)


def _bucket_seconds(release: ReleaseProfile) -> float:
    """Return the length of a deadline bucket: v28 counts ticks (to FreeBSD 9.1) or ns, 0.5 s from 2.2."""
    shift = release.tunables.get("zfs_vdev_time_shift")
    if release.queue != "single" or shift is None:
        return SECONDS_BUCKET
    return (1 << shift) / release.hz if shift < 20 else (1 << shift) / 1e9


def scan_rules(release: ReleaseProfile, operation: Operation) -> ScanRules:
    """Return how the scan of a release paces itself.

    Parameters
    ----------
    release : ReleaseProfile
        With its tunables as they are set.
    operation : str
        Resilver, scrub, rebuild, expand or remove.

    Returns
    -------
    ScanRules
        Classes of its I/Os, delay [ticks] and length of a tick [s], how metadata is read ahead, where it
        pauses.

    Notes
    -----
    OpenZFS dsl_scan.c: dsl_scan_scrub_cb (zfs_resilver_delay, zfs_scrub_delay, zfs_scan_idle; to 0.7),
    dsl_scan_prefetch (zfs_no_scrub_prefetch), dsl_scan_check_suspend.
    """
    values = release.tunables
    legacy = release.scan == "legacy"
    scrub = operation == "scrub"
    delay = values.get("zfs_scrub_delay" if scrub else "zfs_resilver_delay", 0)
    bookmark_order = release.metadata_prefetch == "bookmark-order"
    prefetch = values.get("zfs_no_scrub_prefetch", 0) == 0
    # The class of rebuilds stands for REMOVAL too: no pool does both at once, and both come after SCRUB.
    rebuild = operation in COPIES
    return ScanRules(
        scrub=scrub,
        scan_class=REBUILD if rebuild else SCRUB,
        repair_class=REBUILD
        if rebuild
        else SCRUB
        if release.repair_write_class == "resilver"
        else ASYNC_WRITE,
        metadata_class=SCRUB if bookmark_order else ASYNC_READ,
        prefetch_recursive=bookmark_order and prefetch and not rebuild,
        delay_ticks=delay if legacy else 0,
        idle_window_s=values.get("zfs_scan_idle", 0) / release.hz,
        tick_s=1.0 / release.hz,
        pause_level0_only=release.order == "legacy",
    )


def sit_out_rules(release: ReleaseProfile) -> SitOutRules | None:
    """Return how slow children sit out where ``autosit`` is on; None before 2.4, or where it is switched off.

    Source: zfs(4) of 2.4, vdev_read_sit_out_secs and vdev_raidz_outlier_*.
    """
    values = release.tunables
    if not values.get("vdev_read_sit_out_secs"):
        return None
    return SitOutRules(
        seconds=float(values["vdev_read_sit_out_secs"]),
        interval_s=values["vdev_raidz_outlier_check_interval_ms"] / 1e3,
        insensitivity=values["vdev_raidz_outlier_insensitivity"],
    )


def txg_rules(release: ReleaseProfile, operation: Operation) -> TxgRules:
    """Return when the scan of a release gives way to the end of its txg, and what the txg then writes.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_check_suspend: zfs_resilver_min_time_ms (3 s; 1.5 s from 2.4.1), scrubs
    zfs_scrub_min_time_ms.  What the MOS writes is by the release's allocators.
    """
    legacy, values = release.scan == "legacy", release.tunables
    idle, busy = (release.txg_slice(operation, each) for each in (False, True))
    return TxgRules(
        slice_s=idle,
        first_slice_s=busy if legacy else idle,
        least_s=busy,
        with_data=release.pause_rule == "minimum-and-busy-or-timeout",
        first_reads=7 if legacy else 0,
        first_labels=legacy,
        pass_blocks=MOS_BLOCKS_ONE if release.allocators == "one" else MOS_BLOCKS_MAIN,
        flushes=values.get("zfs_nocacheflush", 0) == 0,
        aliquot=values.get("metaslab_aliquot", OLD_ALIQUOT),
        rotates=release.allocators == "by-cpus",
        further_blocks=() if release.allocators == "one" else MOS_BLOCKS_FURTHER,
    )


def data_children(vdev: VdevModel, release: ReleaseProfile) -> int:
    """Return what multiplies the limit of a vdev's window.

    Returns
    -------
    int
        0.8 and 2.0: leaves that can be read, in a mirror the replaced ones too; 2.1 and later: drives less
        parity, of a mirror of any width 1.

    Notes
    -----
    OpenZFS 0.8 dsl_scan.c:dsl_scan_count_leaves; 2.1 dsl_scan.c:dsl_scan_count_data_disks,
    vdev.c:vdev_get_ndisks, vdev_get_nparity.
    """
    kind = kind_of(vdev.kind)
    if release.inflight == "bytes_per_leaf":
        return sum(leaf >= 0 for leaf in vdev.read_leaf) + len(vdev.damaged) * kind.is_replicated
    return kind.window_children(vdev)


def vdev_window(vdev: VdevModel, release: ReleaseProfile) -> Window:
    """Return the window of the issue phase for one top-level vdev.

    Returns
    -------
    Window
        ``max(1 MiB, zfs_scan_vdev_limit * data_children)``, bytes of psize.

    Notes
    -----
    OpenZFS dsl_scan.c:scan_io_queues_run_one (0.8 and later; the limit was 4M to 2.1.11, 16M since).  A
    raidz2 of 8 drives with 16 MiB each has a window of 96 MiB: about 16 MiB in the queue of each drive.
    """
    limit = release.tunables["zfs_scan_vdev_limit"] * data_children(vdev, release)
    return Window(max(MINIMUM_WINDOW, limit), False)


def rebuild_window(model: PlaneModel, number: int, release: ReleaseProfile, memory: int) -> Window:
    """Return the window of a sequential rebuild (vdev_rebuild.c:vdev_rebuild_thread).

    2.0 counts I/Os; later releases count bytes, so many for each child, from 2.1.12 on at most a share of the
    ARC's maximum, which all top-level vdevs share.
    """
    values = release.tunables
    if release.rebuild_inflight == "ios_per_top_level":
        return Window(values["zfs_rebuild_queue_limit"], True)
    most = release.most_rebuilding(memory)
    limit = values["zfs_rebuild_vdev_limit"] * len(model.vdevs[number].read_leaf)
    limit = limit if most is None else min(limit, most // len(model.vdevs))
    return Window(max(MINIMUM_WINDOW, limit), False)


def pool_window(vdevs: Sequence[VdevModel], release: ReleaseProfile) -> Window:
    """Return the pool-wide window of the legacy scan and of the metadata phase.

    Parameters
    ----------
    vdevs : sequence of VdevModel
        All top-level vdevs.
    release : ReleaseProfile

    Returns
    -------
    Window
        To 0.7 zfs_top_maxinflight blocks a top-level vdev; later ``max(1 MiB, limit * sum(data_children))``
        bytes of psize.

    Notes
    -----
    OpenZFS 0.7 dsl_scan.c:dsl_scan_scrub_cb; 0.8 and later dsl_scan.c, scn_maxinflight_bytes.
    """
    if release.inflight == "blocks":
        return Window(release.tunables["zfs_top_maxinflight"] * len(vdevs), True)
    limit = sum(release.tunables["zfs_scan_vdev_limit"] * data_children(vdev, release) for vdev in vdevs)
    return Window(max(MINIMUM_WINDOW, limit), False)
