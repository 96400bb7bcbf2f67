"""The size of a pool: what ZFS uses of the drives, divided into metaslabs, as ``zpool list`` prints it."""

from __future__ import annotations

from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.kind import kind_of

LABEL_BYTES = 256 << 10
LABEL_START_BYTES = 4 << 20
LABEL_END_BYTES = 512 << 10
MIN_DRIVE_BYTES = 64 << 20
COMMON_DRIVE_BYTES = tuple(
    round(terabytes * 1e12)
    for terabytes in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0)
)
"""Capacities of the disks that are sold in numbers [bytes]."""


@dataclass(frozen=True, slots=True)
class VdevCapacity:
    """Space of one top-level vdev.

    Attributes
    ----------
    asize : int
        Address space, parity included [bytes].
    metaslab_shift : int
        Size of a metaslab [log2(bytes)].
    metaslab_count : int
        Whole metaslabs; the rest is not used.
    """

    asize: int
    metaslab_shift: int
    metaslab_count: int

    @property
    def size(self) -> int:
        """What ``zpool list`` prints as SIZE of the vdev [bytes]."""
        return self.metaslab_count << self.metaslab_shift


def leaf_asize(drive_bytes: int) -> int:
    """Return the space of a leaf less its four labels and the boot area [bytes].

    Raises
    ------
    InputError
        When the drive is smaller than ZFS accepts (64 MiB).

    Notes
    -----
    OpenZFS include/sys/vdev_impl.h (VDEV_LABEL_START_SIZE, VDEV_LABEL_END_SIZE), vdev.c vdev_open.
    """
    if drive_bytes < MIN_DRIVE_BYTES:
        remedy = f"write {drive_bytes}TB" if 0 < drive_bytes < 100 else "give the size with a unit, as 4TB"
        raise InputError(
            "drive_size", drive_bytes, "ZFS takes drives from 64 MiB (a bare number is bytes)", remedy
        )
    return (drive_bytes - LABEL_START_BYTES - LABEL_END_BYTES) // LABEL_BYTES * LABEL_BYTES


def vdev_asize(vdev: VdevSpec, drive_bytes: int) -> int:
    """Return the address space of a top-level vdev, parity included [bytes].

    Parameters
    ----------
    vdev : VdevSpec
    drive_bytes : int
        Capacity of its smallest drive [bytes].

    Notes
    -----
    Source: see each kind's `VdevKind.address_space`.
    """
    return kind_of(vdev.kind).address_space(vdev, leaf_asize(drive_bytes))


def slop_space(pool_bytes: int, release: ReleaseProfile) -> int:
    """Return what ZFS keeps free of a pool [bytes].

    Notes
    -----
    OpenZFS spa_misc.c spa_get_slop_space: a part by spa_slop_shift, at least 128 MiB, from 2.0 on at most
    128 GiB.
    """
    slop = max(128 << 20, pool_bytes >> 5)
    return min(slop, 128 << 30) if release.openzfs_version >= (2, 0) else slop


def vdev_sizes(layout: Layout, drive_bytes: int, release: ReleaseProfile) -> tuple[int, ...]:
    """Return SIZE of each data vdev as ``zpool list -v`` prints it: raw on RAID-Z, with parity [bytes]."""
    per_kind = {vdev: vdev_capacity(vdev, drive_bytes, release).size for vdev in set(layout.data)}
    return tuple(per_kind[vdev] for vdev in layout.data)


def pool_size(layout: Layout, drive_bytes: int, release: ReleaseProfile) -> int:
    """Return SIZE of the data vdevs together [bytes]."""
    return sum(vdev_sizes(layout, drive_bytes, release))


def free_to_remove(layout: Layout, drive_bytes: int, release: ReleaseProfile) -> int:
    """Return how much has to be free before ZFS removes the first vdev of a pool [bytes].

    Notes
    -----
    OpenZFS vdev_removal.c spa_vdev_remove_top_check: all the space of the vdev, whatever is on it, beside
    what ZFS keeps free; to 2.1 that counts twice.
    """
    slop = slop_space(pool_size(layout, drive_bytes, release), release)
    space = vdev_capacity(layout.vdevs[0], drive_bytes, release).size
    return space + (slop if release.openzfs_version >= (2, 2) else 2 * slop)


def most_allocated(layout: Layout, drive_bytes: int, release: ReleaseProfile, removes: bool) -> int:
    """Return how much may be allocated [bytes]: with room for the first vdev if that is removed."""
    size = pool_size(layout, drive_bytes, release)
    return size - free_to_remove(layout, drive_bytes, release) if removes else size


def metaslab_shift(asize: int, release: ReleaseProfile) -> int:
    """Return the size of a metaslab [log2(bytes)].

    Notes
    -----
    OpenZFS vdev.c vdev_metaslab_set_size; `int.bit_length` is its highbit64.
    """
    values = release.tunables
    largest_block = 17 if release.queue == "single" else 24
    if release.metaslab_count == "200":
        return max((asize // values["metaslabs_per_vdev"]).bit_length(), largest_block)
    count = asize >> values["zfs_vdev_default_ms_shift"]
    shift = values["zfs_vdev_default_ms_shift"]
    if count < values["zfs_vdev_min_ms_count"]:
        shift = (asize // values["zfs_vdev_min_ms_count"]).bit_length()
    elif count > values["zfs_vdev_default_ms_count"]:
        shift = (asize // values["zfs_vdev_default_ms_count"]).bit_length()
    if shift > values["zfs_vdev_max_ms_shift"]:
        shift = values["zfs_vdev_max_ms_shift"]
        if asize >> shift > values["zfs_vdev_ms_count_limit"]:
            shift = (asize // values["zfs_vdev_ms_count_limit"]).bit_length()
    return max(shift, largest_block)


def vdev_capacity(vdev: VdevSpec, drive_bytes: int, release: ReleaseProfile) -> VdevCapacity:
    """Return the space of a top-level vdev.

    Parameters
    ----------
    vdev : VdevSpec
    drive_bytes : int
        Capacity of its smallest drive [bytes].
    release : ReleaseProfile
        Decides the size of the metaslabs.

    Raises
    ------
    InputError
        When the drives are smaller than ZFS accepts.
    """
    leaf, kind = leaf_asize(drive_bytes), kind_of(vdev.kind)
    asize, chosen_by = kind.address_space(vdev, leaf), kind.metaslab_space(vdev, leaf)
    shift = metaslab_shift(chosen_by, release)
    return VdevCapacity(asize, shift, asize >> shift)
