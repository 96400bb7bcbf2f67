"""A pool as the interface of Proxmox gives it (``pvesh get /nodes/NODE/disks/zfs/POOL``), as a status."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

MAX_DEPTH = 8
MOST_ROWS = 100_000
_KEYS = ("state", "status", "action", "scan")


def as_status_of_proxmox(text: str) -> str:
    """Return a text with the pool of its JSON document as zpool status prints it; others as they are.

    Its fields are those of zpool status, vdevs with their `children` (pve-storage PVE/API2/Disks/ZFS.pm).
    """
    begin = text.find("{")
    if begin < 0 or not all(f'"{key}"' in text for key in ("leaf", "children", "cksum")):
        return text
    try:
        pool, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return text
    if not isinstance(pool, dict) or not pool.get("name") or not isinstance(pool.get("children"), list):
        return text
    lines = [f"  pool: {pool['name']}", *(f" {key}: {pool[key]}" for key in _KEYS if pool.get(key))]
    lines += ["config:", "NAME STATE READ WRITE CKSUM", *_rows(pool, 0)][:MOST_ROWS]
    lines.append(f"errors: {pool.get('errors') or 'No known data errors'}")
    return "\n".join([text[:begin], *lines, text[end:]])


def _rows(vdev: Mapping[str, object], depth: int) -> Iterator[str]:
    """Yield the row of a vdev and of those in it; a section has a name alone."""
    counts = " ".join(str(vdev.get(key, 0)) for key in ("read", "write", "cksum"))
    row = f"{vdev.get('state')} {counts} {vdev.get('msg') or ''}" if vdev.get("state") else ""
    yield f"\t{'  ' * depth}{vdev.get('name') or '-'}  {row}".rstrip()
    children = vdev.get("children")
    for child in children if isinstance(children, list) and depth < MAX_DEPTH else ():
        if isinstance(child, dict):
            yield from _rows(child, depth + 1 if child.get("state") else 0)
