"""How each release of ZFS allocates: the switches of the compiled allocator, by release.

Sources: OpenZFS ``module/zfs/metaslab.c`` at the tags 0.6.1, 0.6.5.11, 0.7.13, 0.8.6, 2.0.7, 2.1.5, 2.1.16,
2.2.9, 2.3.0, 2.3.9 and 2.4.0; the first release with a change is named at each field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


from zsim.errors import InputError

STICKY_NEVER, STICKY_FRAG, STICKY_UNTIL_FRAGMENTED = 0, 1, 2
KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40

Release = tuple[int, int, int]


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
        Forward search of first fit [bytes] (0.8+: 16 MiB); 0 searches the whole metaslab (to 0.7).
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
        Bytes per data drive before the next top-level vdev takes over.
    aliquot_counts_parity : bool
        The aliquot is multiplied by all children (to 2.1.5), not by the data drives.
    log_space_maps : bool
        Space map changes of a txg go to one log (2.0+), else each changed metaslab rewrites its own.
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


def parse_release(text: str) -> Release:
    """Read a release: ``2.3.9``, ``zfs-2.1.5-1ubuntu6``, ``0.6.5.11``, ``v28``.

    Raises
    ------
    InputError
        When it names no release.
    """
    if text.strip().lower() in {"v28", "28", "freebsd-9", "solaris-11"}:
        return (0, 6, 1)
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    if match is None:
        raise InputError(
            "release", text, "a release such as 0.7.13, 2.1.5, 2.3.9 or v28", "give `zfs version`"
        )
    return int(match[1]), int(match[2]), int(match[3] or 0)


def allocator_style(
    release: str, *, cpus: int = 16, rotating: bool = True, spacemap_histogram: bool = True
) -> AllocatorStyle:
    """Return the allocator of a release.

    Parameters
    ----------
    release : str
        For example ``2.3.9`` or ``v28``.
    cpus : int
        Processors: from 2.3 there are min(4, cpus / 4) allocators (spa.c:spa_sync_tq_create, spa_activate).
    rotating : bool
        Without rotating leaves nothing prefers the outer tracks.
    spacemap_histogram : bool
        The pool feature of that name: enabled in every pool created with 0.6.4 or later by default.

    Returns
    -------
    AllocatorStyle
    """
    version = parse_release(release)
    histogram = spacemap_histogram and version >= (0, 6, 4)
    many = version >= (0, 8, 0)
    return AllocatorStyle(
        segment_weight=histogram and version >= (0, 7, 0),
        lba_weight=rotating or version < (0, 6, 2),
        sticky=_stickiness(version, histogram),
        frag_factor=histogram,
        search_window=16 * MIB if many else 0,
        best_fit_below=16 * MIB if (0, 6, 5) <= version < (0, 7, 0) else 128 * KIB,
        size_floor=16 * KIB if version >= (2, 0, 0) else 0,
        fill_empty=version >= (2, 3, 1),
        allocators=_allocators(version, cpus),
        sync_threads=version >= (2, 3, 0),
        separate_metaslabs=many,
        aliquot=_aliquot(version),
        aliquot_counts_parity=version < (2, 1, 6),
        log_space_maps=version >= (2, 0, 0),
    )


def _stickiness(version: Release, histogram: bool) -> int:
    if version < (0, 6, 4):
        return STICKY_UNTIL_FRAGMENTED
    return STICKY_FRAG if histogram else STICKY_NEVER


def _allocators(version: Release, cpus: int) -> int:
    if version < (0, 8, 0):
        return 1
    return 4 if version < (2, 3, 0) else max(1, min(4, cpus // 4))


def _aliquot(version: Release) -> int:
    if version < (2, 1, 6):
        return 512 * KIB
    return MIB if version < (2, 4, 0) else 2 * MIB


def metaslab_shift(asize: int, release: str) -> int:
    """Return the size of a metaslab as a power of two (vdev.c:vdev_metaslab_set_size).

    Parameters
    ----------
    asize : int
        Allocatable size of the top-level vdev [bytes].
    release : str
        To 0.7 there are 100 to 200 metaslabs; from 0.8 at least 16, of 512 MiB up to 100 GiB, and 16 GiB at most.

    Returns
    -------
    int
        log2 of the metaslab size.
    """
    if parse_release(release) < (0, 8, 0):
        return max((asize // 200).bit_length(), 24)
    count = asize >> 29
    if count < 16:
        shift = (asize // 16).bit_length()
    elif count > 200:
        shift = (asize // 200).bit_length()
    else:
        shift = 29
    shift = min(max(shift, 24), 34)
    while asize >> shift > 1 << 17:
        shift += 1
    return shift
