"""``zpool list -j`` (OpenZFS 2.3 and later)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from zsim.base.parsed import table_or_empty
from zsim.base.reading import json_value
from zsim.observe.texts import nice_bytes, percentage, plain
from zsim.observe.zpool.listing import PoolList, Space
from zsim.observe.zpool.vdev_tree import MAX_ROWS, Vdev, named_vdev

_COLUMNS = (
    "name",
    "size",
    "alloc",
    "free",
    "ckpoint",
    "expandsz",
    "frag",
    "cap",
    "dedup",
    "health",
    "altroot",
)


def recognises(text: str) -> bool:
    """Tell whether a JSON document is of ``zpool list -j``."""
    return '"zpool list"' in text[:4096] or ('"pools"' in text[:4096] and '"allocated"' in text[:65_536])


def read(text: str, name: str) -> tuple[PoolList, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    return tuple(read_list_json(text, name))


def read_list_json(text: str, name: str = "zpool list -j") -> Iterator[PoolList]:
    """Yield the pools of a document; one without sizes is left out."""
    del name
    data = json_value(text)
    pools = data.get("pools")
    for key, pool in pools.items() if isinstance(pools, Mapping) else ():
        if isinstance(pool, Mapping):
            yield from _pool(plain(str(pool.get("name") or key), 256), pool)


def _pool(name: str, pool: Mapping[str, object]) -> Iterator[PoolList]:
    space, exact = _space(pool)
    if space.size is None or space.alloc is None:
        return
    vdevs = _children(pool.get("vdevs"))
    # The pool itself may be the one root of its vdevs.
    if len(vdevs) == 1 and vdevs[0][0].name == name:
        vdevs = _children(table_or_empty(table_or_empty(pool.get("vdevs")).get(name)).get("vdevs"))
    health = plain(str(pool.get("state") or ""), 40)
    yield PoolList(name, space, tuple(vdevs), {}, exact, frozenset(_COLUMNS), health)


def _children(table: object) -> list[tuple[Vdev, Space]]:
    found = []
    for key, row in list(table_or_empty(table).items())[:MAX_ROWS]:
        if isinstance(row, Mapping):
            children = tuple(vdev for vdev, _ in _children(row.get("vdevs")))
            vdev = named_vdev(plain(str(row.get("name") or key), 256), plain(str(row.get("state") or "")))
            space, _ = _space(row)
            size = space.size if vdev.kind == "disk" and space.alloc is None else None
            found.append((replace(vdev, size=size, children=children), space))
    return found


def _space(row: Mapping[str, object]) -> tuple[Space, bool]:
    """Return the space of a pool or vdev, and whether it is exact."""
    values = {**table_or_empty(row.get("properties")), **{key: row[key] for key in row if key != "vdevs"}}

    def text(*keys: str) -> str:
        found = next((values[key] for key in keys if key in values), "")
        found = found.get("value", "") if isinstance(found, Mapping) else found
        return str(found)[:40] if isinstance(found, str | int) and not isinstance(found, bool) else ""

    size = text("size")
    space = Space(
        nice_bytes(size), nice_bytes(text("allocated", "alloc")), nice_bytes(text("free")),
        percentage(text("fragmentation", "frag")), percentage(text("capacity", "cap")),
    )  # fmt: skip
    return space, size.isdigit()
