"""``zdb -C``: the configuration of a pool, an nvlist as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from zsim.base.errors import InputError
from zsim.observe.texts import bad_line, whole
from zsim.observe.zpool.vdev_tree import GROUPS, MAX_DEPTH, MAX_ROWS, PAIRS, Vdev
from zsim.scenario.layout import MAX_VDEVS

_REMEDY = "run zdb -C POOL again"
_TREE = re.compile(r"^[ \t]{0,40}vdev_tree:[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"([ \t]{0,400})([A-Za-z0-9_.:\-\[\]/ ]{1,120}?)(?::(?:[ \t]{1,40}(.{0,4000}))?)?")
_CHILD = re.compile(r"children\[\d{1,6}\]", re.ASCII)
MAX_LINES = 2_000_000

KEPT = ("special", "dedup", "log")


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """What ``zdb -C`` tells of a pool.

    Attributes
    ----------
    name : str
    version : int or None
        Pool version: 28, 35 (Solaris), 5000 (feature flags).
    vdevs : tuple of Vdev
        Top-level vdevs of the normal class, with ashift and asize.
    metaslab_shifts : tuple of (int or None)
        log2 of the metaslab size of each.
    others : tuple of str
        Top-level vdevs of other classes and those being removed, by kind.
    classes : tuple of (str, Vdev)
        Those of the classes special, dedup and log.
    features : frozenset of str
        Features that reading needs.
    grown : tuple of int
        How many times each was expanded, a RAID-Z.
    complete : bool
        Whether all top-level vdevs that it announces are there.
    """

    name: str
    version: int | None
    vdevs: tuple[Vdev, ...]
    metaslab_shifts: tuple[int | None, ...] = ()
    others: tuple[str, ...] = ()
    classes: tuple[tuple[str, Vdev], ...] = ()
    features: frozenset[str] = frozenset()
    grown: tuple[int, ...] = ()
    complete: bool = True


@dataclass(slots=True)
class Node:
    """A table of the nvlist: its values, and the tables in it by name."""

    values: dict[str, str] = field(default_factory=dict)
    tables: list[tuple[str, Node]] = field(default_factory=list)

    def table(self, name: str) -> Node | None:
        """Return the first table of that name."""
        return next((node for key, node in self.tables if key == name), None)

    def number(self, name: str) -> int | None:
        """Return a value as a whole number."""
        return whole(self.values.get(name))

    def text(self, name: str) -> str:
        """Return a value without its quotes."""
        return self.values.get(name, "").strip().strip("'\"")


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zdb -C``."""
    return _TREE.search(text) is not None


def read(text: str, name: str) -> tuple[PoolConfig, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    return read_config(text, name)


def read_config(text: str, name: str = "zdb -C") -> tuple[PoolConfig, ...]:
    """Read ``zdb -C``: one pool, or all of the cache file.

    Raises
    ------
    InputError
        When there is no vdev tree, or a value in it makes no sense.
    """
    found = tuple(_config(title, node, name) for title, node in _pools(parse(text, name)))
    if not found:
        raise InputError(name, None, "a table vdev_tree with its children is expected", _REMEDY)
    unique: dict[str, PoolConfig] = {}
    for config in found:
        if config.name not in unique or len(config.vdevs) >= len(unique[config.name].vdevs):
            unique[config.name] = config
    return tuple(unique.values())


def parse(text: str, name: str) -> Node:
    """Return the tables and values of an nvlist by their indentation; lines of another form are skipped."""
    root = Node()
    stack: list[tuple[int, Node]] = [(-1, root)]
    for number, line in enumerate(text.split("\n"), start=1):
        if number > MAX_LINES:
            raise bad_line(name, number, line, f"at most {MAX_LINES} lines", _REMEDY)
        match = _ENTRY.fullmatch(line.rstrip()[:4600])
        if match is None:
            continue
        indent = len(match[1].expandtabs(8))
        while stack[-1][0] >= indent:
            stack.pop()
        if match[3]:
            stack[-1][1].values.setdefault(match[2], match[3])
        elif len(stack) <= 2 * MAX_DEPTH and len(stack[-1][1].tables) < MAX_ROWS:
            node = Node()
            stack[-1][1].tables.append((match[2], node))
            stack.append((indent, node))
    return root


def _pools(root: Node) -> Iterator[tuple[str, Node]]:
    """Yield the tables that have a vdev tree."""
    waiting = [("", root)]
    while waiting:
        title, node = waiting.pop()
        if node.table("vdev_tree") is not None:
            yield node.text("name") or title, node
        else:
            waiting.extend(reversed(node.tables))


def _config(title: str, node: Node, name: str) -> PoolConfig:
    tree = node.table("vdev_tree")
    assert tree is not None
    nodes = [child for key, child in tree.tables if _CHILD.fullmatch(key)][:MAX_VDEVS]
    if tree.text("type") not in ("", "root"):
        # The label of a drive (zdb -l) has the top-level vdev that it is in, and nothing of the others.
        nodes = [tree]
    normal = [child for child in nodes if _is_normal(child)]
    announced = node.number("vdev_children")
    features = node.table("features_for_read") or Node()
    return PoolConfig(
        name=title,
        version=node.number("version"),
        vdevs=tuple(_vdev(child, name, 0) for child in normal),
        metaslab_shifts=tuple(child.number("metaslab_shift") for child in normal),
        classes=tuple(
            (_class_of(child), _vdev(child, name, 0)) for child in nodes if _class_of(child) in KEPT
        ),
        others=tuple(_class_of(child) for child in nodes if not _is_normal(child)),
        features=frozenset(key for key, _ in features.tables) | frozenset(features.values),
        grown=tuple(sum("raidz_expand_txgs" in key for key in _keys(child)) for child in normal),
        complete=bool(nodes) and (announced is None or announced == len(nodes)),
    )


def _keys(node: Node) -> list[str]:
    return [*node.values, *(key for key, _ in node.tables)]


def _is_normal(node: Node) -> bool:
    return _class_of(node) == "normal"


def _class_of(node: Node) -> str:
    """Return normal, log, special, dedup, removing, hole, indirect or missing."""
    kind = node.text("type")
    if kind in ("hole", "indirect", "missing"):
        return kind
    if node.number("is_log"):
        return "log"
    if node.number("removing"):
        return "removing"
    return node.text("alloc_bias") or "normal"


def _vdev(node: Node, name: str, depth: int) -> Vdev:
    kind = node.text("type")
    if not kind.isidentifier():
        raise InputError(f"{name}: vdev_tree", kind or None, "each of its children has a type", _REMEDY)
    children = tuple(_vdev(child, name, depth + 1) for key, child in node.tables if _CHILD.fullmatch(key))
    known = kind in GROUPS or kind in PAIRS
    return Vdev(
        f"{kind}-{node.number('id') or 0}",
        "distributed-spare" if kind == "dspare" else kind if known else "disk",
        parity=_small(node, "nparity", name) or 0,
        data=_small(node, "draid_ndata", name) or 0,
        spares=_small(node, "draid_nspares", name) or 0,
        asize=node.number("asize"),
        ashift=_small(node, "ashift", name, 16),
        children=children,
    )


def _small(node: Node, key: str, name: str, most: int = 255) -> int | None:
    """Return a number that is at most `most`."""
    if key not in node.values:
        return None
    number = node.number(key)
    if number is None or number > most:
        raise InputError(
            f"{name}: {key}", node.text(key)[:40], f"a number from 0 to {most} is expected", _REMEDY
        )
    return number
