"""Tunables that exist in some releases only, and their counterparts in others."""

from __future__ import annotations

from collections.abc import Container

_SORTED_SCAN = "the sorted scan of 0.8 limits bytes in flight and leaves the pace to the queue"
_CLASSES = "0.6.3 replaced the single queue by classes"
_SINGLE = "pool version 28 has one queue without classes"

# name -> (what happened, what to use, tried in this order: the first that the release has is named)
_REPLACED: dict[str, tuple[str, tuple[str, ...]]] = {
    "zfs_resilver_delay": (_SORTED_SCAN, ("zfs_vdev_scrub_max_active", "zfs_vdev_nia_delay")),
    "zfs_scrub_delay": (_SORTED_SCAN, ("zfs_vdev_scrub_max_active", "zfs_vdev_nia_delay")),
    "zfs_scan_idle": (_SORTED_SCAN, ("zfs_vdev_nia_delay", "zfs_vdev_scrub_max_active")),
    "zfs_top_maxinflight": (_SORTED_SCAN, ("zfs_scan_vdev_limit",)),
    "zfs_scan_min_time_ms": ("0.8 renamed it", ("zfs_scrub_min_time_ms",)),
    "zfs_scrub_min_time_ms": ("0.8 renamed it", ("zfs_scan_min_time_ms",)),
    "zfs_scan_vdev_limit": ("the legacy scan counts blocks", ("zfs_top_maxinflight",)),
    "zfs_scan_legacy": ("before 0.8 the scan is always legacy", ()),
    "zfs_vdev_max_pending": (_CLASSES, ("zfs_vdev_scrub_max_active", "zfs_vdev_max_active")),
    "zfs_vdev_min_pending": (_CLASSES, ("zfs_vdev_scrub_min_active",)),
    "zfs_vdev_ramp_rate": (_CLASSES, ("zfs_vdev_scrub_max_active",)),
    "zfs_vdev_time_shift": (_CLASSES, ("zfs_vdev_scrub_max_active",)),
    "zfs_vdev_max_active": (_SINGLE, ("zfs_vdev_max_pending",)),
    "zfs_rebuild_queue_limit": ("2.1 counts bytes instead of I/Os", ("zfs_rebuild_vdev_limit",)),
    "zfs_rebuild_vdev_limit": ("2.0 counts I/Os instead of bytes", ("zfs_rebuild_queue_limit",)),
    "spa_allocators": ("2.3 renamed it", ("spa_num_allocators",)),
    "spa_num_allocators": ("it had another name before 2.3", ("spa_allocators",)),
    "zfs_dirty_data_sync": ("0.8 made it a percentage", ("zfs_dirty_data_sync_percent",)),
    "zfs_dirty_data_sync_percent": ("before 0.8 it was in bytes", ("zfs_dirty_data_sync",)),
    "zfs_dirty_data_max": ("the write limit came before it", ("zfs_write_limit_override",)),
    "zfs_dirty_data_max_percent": ("the write limit came before it", ("zfs_write_limit_shift",)),
    "zfs_write_limit_override": ("0.6.3 replaced the write limit", ("zfs_dirty_data_max",)),
    "zfs_write_limit_shift": ("0.6.3 replaced the write limit", ("zfs_dirty_data_max_percent",)),
    "zfs_write_limit_max": ("0.6.3 replaced the write limit", ("zfs_dirty_data_max_max",)),
    "zfs_write_limit_min": ("0.6.3 replaced the write limit", ("zfs_dirty_data_max",)),
    "metaslab_gang_bang": ("0.8 renamed it", ("metaslab_force_ganging",)),
    "metaslab_force_ganging": ("it had another name before 0.8", ("metaslab_gang_bang",)),
    "metaslab_smo_bonus_pct": ("0.6.4 replaced it", ("metaslab_lba_weighting_enabled",)),
    "vdev_mirror_shift": ("0.6.2 to 0.6.5 choose by active I/Os", ("zfs_vdev_mirror_switch_us",)),
    "zfs_vdev_mirror_switch_us": (
        "0.7 chooses by load and seek", ("zfs_vdev_mirror_rotating_seek_inc", "vdev_mirror_shift")
    ),
    "zfs_vdev_queue_depth_pct": ("2.4 has no such limit", ()),
    "zfs_vdev_def_queue_depth": ("2.4 has no such limit", ()),
    "zfs_vdev_cache_size": ("2.2 removed the vdev cache", ()),
    "zfs_vdev_aggregation_limit_non_rotating": (
        "before 0.8 there is one limit", ("zfs_vdev_aggregation_limit",)
    ),
}  # fmt: skip


def what_replaced(name: str, held: Container[str], *, one_queue: bool) -> str | None:
    """Return what to do instead of setting a tunable that a release does not have.

    Parameters
    ----------
    name : str
        The tunable asked for.
    held : container of str
        The tunables that the release has.
    one_queue : bool
        Whether it has the single queue of pool version 28, without classes.

    Returns
    -------
    str or None
        `None` when nothing is known about it.
    """
    if one_queue and name.startswith("zfs_vdev_") and name.endswith("_active"):
        return f"{_SINGLE}: use zfs_vdev_max_pending"
    entry = _REPLACED.get(name)
    if entry is None:
        return None
    reason, instead = entry
    found = next((each for each in instead if each in held), None)
    if found is not None:
        return f"{reason}: use {found}"
    return f"{reason}: leave it out" if not instead else None


def sysctl_name(name: str) -> str:
    """Return the name of a tunable on FreeBSD.

    Examples
    --------
    >>> sysctl_name("zfs_vdev_scrub_max_active"), sysctl_name("zfs_resilver_min_time_ms")
    ('vfs.zfs.vdev.scrub_max_active', 'vfs.zfs.resilver_min_time_ms')
    """
    short = name.removeprefix("zfs_")
    head, _, rest = short.partition("_")
    return f"vfs.zfs.vdev.{rest}" if head == "vdev" else f"vfs.zfs.{short}"
