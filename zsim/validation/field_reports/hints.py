"""What a report says about use, load and controller: the same rules for all rows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from zsim.scenario.layout import Layout
from zsim.vdevs.kind import kind_of

Row = Mapping[str, object]
WORDS = ("id", "notes", "concurrent_load", "platform", "drive_model", "controller")
SYSTEM_DISK_BELOW = 1 << 40
USES: tuple[tuple[str, str], ...] = (
    (r"small\b.{0,24}\bfiles|\binodes\b|\blog (server|files)|thumbnails|source trees", "small-files"),
    (r"maildir|mail (store|server)", "maildir"),
    (r"database|postgres|mysql", "database"),
    (r"\bzvols?\b|iSCSI|Proxmox", "vm-host"),
    (r"\bVM images?\b|images of (?:VMs|virtual machines)|\bqcow2?\b|\bVMDKs?\b|\bNFS datastore", "vm-images"),
    (r"\bVMs?\b|virtual machine|hypervisor", "vm-host"),
    (r"hosting|containers?\b", "small-files"),
    (r"backup", "backup-target"),
    (r"\bmedia\b|movies|films|\bplex\b|recordings", "media-server"),
    (r"\bdd of\b|one large file|freshly written|benchmark", "write-once-archive"),
    (r"home (server|nas|lab|user|box)", "home-nas"),
)
"""Words, and the history they stand for; the first that is found counts.

Proxmox keeps disks of virtual machines on ZFS as volumes (Proxmox VE storage, plugin zfspool)."""
SYSTEM_DISK = r"\broot pool|\bzroot\b|\brpool\b|\bboot pool|-root-"
CACHED_VOLUMES = (
    r"RAID-0 volumes|(?:single|one)-(?:disk|drive) RAID-?0\b|\bPERC H[678]\d\d|\bmfi\b|MegaRAID"
    r"|Smart Array P\d"
)
"""Volumes of RAID controllers with memory of their own: these answer writes at once and sort them (Dell PERC
H710 user guide: "the default cache setting for virtual disks is Write-Back"; LSI MegaRAID likewise while the
battery is good)."""
CACHE_OFF = r"write-through|\bPERC H[123]\d\d|\bHPE?\b|ProLiant|MicroServer|\bSAS\b"
"""Controllers without memory that switch the drives' write caches off, and drives that come with it off:
servers of HP (HP ISS Technology Update 9/3), SAS."""
READS_OF_LOAD = {"heavy": 20.0, "light": 1.0}
"""Random I/Os a second and drive."""


def text_of(row: Row, *keys: str) -> str:
    """Return several columns as one text."""
    return " | ".join(str(row[key]) for key in keys if row.get(key))


def use_of(row: Row, alloc: float | None) -> str | None:
    """Return the history that the row's words stand for, None where they tell nothing.

    A pool that is booted from is a system disk only as long as it is small.
    """
    text = text_of(row, *WORDS)
    if re.search(SYSTEM_DISK, text, re.IGNORECASE) and alloc is not None and alloc < SYSTEM_DISK_BELOW:
        return "system-disk"
    return next((use for words, use in USES if re.search(words, text, re.IGNORECASE)), None)


def write_cache_of(row: Row) -> bool | None:
    """Return whether writes are cached, where a controller or a kind of drive is named; None otherwise."""
    text = text_of(row, "controller", "platform", "drive_type", "drive_model")
    if re.search(r"write-through", f"{text} {row.get('notes') or ''}", re.IGNORECASE):
        return False
    if re.search(CACHED_VOLUMES, text):
        return True
    return False if re.search(CACHE_OFF, text) else None


def ashift_of(row: Row) -> int | None:
    """Return the sector size of the pool that the row states [log2(bytes)]; None where it does not."""
    found = re.search(r"\bashift\s*(?:of\s*|[=:]\s*)?(9|1[0-6])\b", text_of(row, "notes", "evidence"))
    return None if found is None else int(found[1])


def load_words(row: Row) -> str:
    """Return the first word of what the row says of the load: heavy, light, none or unknown."""
    found = re.match(r"[a-z]+", str(row.get("concurrent_load") or "unknown"))
    return found[0] if found else "unknown"


def load_of(row: Row, layout: Layout) -> list[dict[str, object]] | None:
    """Return the foreground load, None where the row tells nothing.

    A record of RAID-Z lies on all data columns, so that a read is an I/O on as many drives.
    """
    words = load_words(row)
    if words == "none":
        return []
    if words not in READS_OF_LOAD:
        return None
    vdev = layout.vdevs[0]
    touched = kind_of(vdev.kind).drives_read(vdev, vdev.children)
    return [{"kind": "random-read", "rate": READS_OF_LOAD[words] * layout.leaves / touched}]
