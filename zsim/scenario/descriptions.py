"""The meaning of each field of a scenario in one clause: for the JSON Schema, messages and help.

Names of other fields stand in braces: flags write them as they are typed.
"""

from __future__ import annotations

from collections.abc import Mapping

DESCRIPTIONS: Mapping[str, str] = {
    "layout": "top-level vdevs: raidz2x6, 4*raidz2x6, mirror2, draid2:8d:41c:2s, raidz2x6+special:mirror2",
    "vdevs": "number of top-level vdevs like the one in {layout}",
    "fill": "ALLOC/SIZE as zpool list prints them, parity included: 0.62 or 62%",
    "alloc": "instead of {fill}: ALLOC as zpool list prints it, such as 2.84T",
    "drive": "drives of the pool: a name that 'zsim drives list' has, or a TOML file",
    "drive_size": "capacity of these drives, such as 4TB",
    "new_drive": "the replacement drive, if it is of another model",
    "new_drive_size": "capacity of the replacement drive, such as 8TB",
    "special_small_blocks": "blocks up to this size go to the special vdevs, such as 32K",
    "special_drive": "drives of special, dedup and log vdevs: a name that 'zsim drives list' has",
    "special_drive_size": "capacity of these drives, such as 960GB",
    "special_added_at": "how full the data vdevs were when the special vdevs were added: 40%; default: empty",
    "vdev_fills": "ALLOC/SIZE of each data vdev, as zpool list -v prints them: 80%,80%,30%",
    "vdev_frags": "FRAG of each data vdev, as zpool list -v prints them: 30%,28%,5%",
    "replace_in": "top-level vdev of the repair: its number from 0, or special; drives count from there",
    "write_cache": "the drives' write caches are on, or off",
    "recordsize": "record or volume block size, such as 128K",
    "frag": "FRAG as zpool list prints it: fragmentation of the free space",
    "rewritten": "of a RAID-Z that was expanded: share of the data written again since then",
    "ashift": "sector size of the pool as a power of two: 9 to 16",
    "memory": "RAM of the host, such as 16G",
    "cpus": "processors of the host",
    "release": "ZFS release: openzfs-2.3, openzfs-2.1.5, zol-0.7.13, freebsd-9.1, solaris-11.2",
    "product": "product that ships ZFS, its release and tunables by the hour: truenas-25.10, debian-12",
    "hz": "ticks per second of the host's kernel",
    "tunables": "ZFS tunables that differ from the release's defaults, by name; with hours: 8 22:00-06:00",
    "order": "order of the scan: auto (as the release does it), legacy or sorted",
    "operation": "what runs; expand: a drive joins a RAID-Z, remove: a vdev is removed (layout: before that)",
    "replace": "number of drives replaced at once in one vdev",
    "old_drive": "state of the replaced drive: missing or online; for a scrub of RAID-Z, overwritten",
    "second_at": "replace a second drive of the vdev when this much is done, such as 80%",
    "target": "where the data goes: new-drive or, on dRAID, distributed-spare",
    "enclosure": "shared link in front of all drives not named by {ports}",
    "ports": "drives behind a shared link: NAME:DRIVES, such as port-multiplier-cbs:1,2",
    "exchanged": "drives of another model, or larger, than the rest: 0:mg08aca16, 0:@8TB",
    "slow": "drives that answer more slowly than their model: 3:x2.5, 3:1%@200ms, 3:x5,on=2h,off=20h",
    "bad_sectors": "unreadable sectors of drives (SMART attribute 197): DRIVE:COUNT, such as 3:1000",
    "erc": "how long drives try to read a bad sector (SCT ERC, TLER): 7s, or none",
    "platform": "operating system, for its disk timeouts: linux, freebsd or illumos",
    "attached": "drives on a slow connection: DRIVE:HOW, such as 3:sata-1.5g, 3:no-ncq, 3:usb2",
    "autosit": "slow drives sit out reads (vdev property autosit, OpenZFS 2.4; off by default)",
    "history": "what the pool stores and how it aged: home-nas, media-server, vm-host, ...",
    "block_list": "every block of the pool: Parquet from 'zsim import', or bps.csv",
    "blocks": "sizes of the pool's blocks: CSV with psize, blocks and lsize, or from 'zsim import'",
    "metaslabs": "free space of each metaslab: CSV from 'zsim import'",
    "load": "foreground load: random-read,rate=50,size=64K,hours=mon-fri 08:00-18:00, say; or none",
    "evidence": "what the pool has already shown: finished scans, progress, activity of drives",
    "begins": "when it starts, for loads, tunables and products with hours: 'fri 13:41' (commands: now)",
    "engine": "engine that runs it: compiled, or reference (slow; the same rules in SimPy)",
    "exact": "simulate every I/O, or samples of them (the default)",
    "precision": "sampling error to reach (half of the 95 % interval), such as 1%",
    "seed": "seed of all random numbers",
}


class _Flags(dict[str, str]):
    """Names of fields, and the flags that state them."""

    def __missing__(self, name: str) -> str:
        return f"--{name.replace('_', '-')}"


class _Names(dict[str, str]):
    """Names of fields as they stand in a file."""

    def __missing__(self, name: str) -> str:
        return name


def described(field: str) -> str:
    """Return what a field means, other fields by their names.

    Examples
    --------
    >>> described("alloc")
    'instead of fill: ALLOC as zpool list prints it, such as 2.84T'
    """
    return DESCRIPTIONS[field].format_map(_Names())


def described_for_flags(field: str) -> str:
    """Return what a flag means as a sentence, other fields by their flags.

    Examples
    --------
    >>> described_for_flags("alloc")
    'Instead of --fill: ALLOC as zpool list prints it, such as 2.84T.'
    """
    text = DESCRIPTIONS[field].format_map(_Flags())
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
