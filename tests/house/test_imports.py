"""The import rule of CONTRIBUTING: rooms import from rooms to their left, and no imports form a ring.

Every import counts: those of a whole module, those inside a function, and those for types alone.
"""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (
    "base", "scenario", "drives", "vdevs", "pool", "case", "scan", "engine", "operation", "prediction",
    "observe", "report", "planning", "validation", "cli",
)  # fmt: skip
"""From left to right; `zsim` itself hands on names of all of them."""
SIDE_BY_SIDE = ("drives", "vdevs")
"""Rooms that have nothing to do with each other."""
Graph = Mapping[str, set[str]]


def _modules(root: Path) -> dict[str, Path]:
    files = {path: path.relative_to(root).with_suffix("").parts for path in (root / "zsim").rglob("*.py")}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in files.items()}


def imported(source: str, known: Iterable[str]) -> set[str]:
    """Return the modules among `known` that a source text imports, wherever it does."""
    modules, found = set(known), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in modules else node.module)
    return found & modules


def rings(graph: Graph) -> list[set[str]]:
    """Return the groups of nodes each of which can be reached from each other one of the group."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        left = [start]
        while left:
            for each in graph.get(left.pop(), set()) - seen:
                seen.add(each)
                left.append(each)
        return seen

    reach = {node: reached(node) for node in graph}
    found: list[set[str]] = []
    for node in sorted(graph):
        ring = {other for other in reach[node] if node in reach.get(other, set())}
        if ring and ring not in found:
            found.append(ring)
    return found


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Return each module of zsim with the modules that it imports."""
    modules = _modules(ROOT)
    return {
        name: imported(path.read_text(encoding="utf-8"), modules) - {name} for name, path in modules.items()
    }


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def _part(module: str) -> str:
    """Return the sub-folder of its room that a module lies in, or its own name."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else ""


def test_every_room_has_its_place(graph: Graph) -> None:
    rooms = {_room(name) for name in graph if name.count(".") > 1}
    assert rooms == set(ROOMS)


def test_rooms_import_only_from_rooms_to_their_left(graph: Graph) -> None:
    place = {room: number for number, room in enumerate(ROOMS)}
    wrong = [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in others
        if _room(name) in place and _room(other) in place and place[_room(other)] > place[_room(name)]
    ]
    assert not wrong
    left, right = SIDE_BY_SIDE
    assert not [name for name, others in graph.items() if _room(name) == right and left in map(_room, others)]


def test_no_files_import_each_other_in_a_ring(graph: Graph) -> None:
    assert rings(graph) == []


LEFT = pytest.mark.xfail(strict=True, reason="rules of leaves take codes from the compiled memory")
"""To be taken away with what is left to do."""


@pytest.mark.parametrize(
    "room", [pytest.param(room, marks=LEFT) if room == "engine" else room for room in ROOMS]
)
def test_the_parts_of_a_room_stand_in_one_order(graph: Graph, room: str) -> None:
    """Sub-folders of a room, and its files beside them, do not import each other in a ring."""
    parts: dict[str, set[str]] = defaultdict(set)
    for name, others in graph.items():
        if _room(name) == room and _part(name):
            near = {_part(other) for other in others if _room(other) == room}
            parts[_part(name)] |= near - {_part(name), ""}
    assert rings(parts) == []


def test_the_packages_of_rooms_import_nothing(graph: Graph) -> None:
    """Nothing is loaded by opening a door."""
    packages = [
        name for name, path in _modules(ROOT).items() if path.name == "__init__.py" and name != "zsim"
    ]
    assert not [name for name in packages if graph[name]]


def test_a_ring_is_found() -> None:
    assert rings({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert rings({"a": {"b"}, "b": set()}) == []


def test_late_imports_and_those_for_types_count() -> None:
    late = "def f():", "    from zsim.base.units import parse"
    lines = "if TYPE_CHECKING:", "    from zsim.pool import blocks", *late
    known = {"zsim.pool.blocks", "zsim.base.units"}
    assert imported("\n".join(lines), [*known, "zsim.base.files"]) == known


def test_the_map_shows_every_room_and_its_arrows_go_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    house = importlib.import_module("house")
    assert set(house.PLACES) == set(ROOMS)
    arrows = house.needed(house.imports())
    assert all(house.PLACES[other][0] <= house.PLACES[room][0] for room in arrows for other in arrows[room])
    drawn = (ROOT / "docs" / "house.svg").read_text(encoding="utf-8")
    assert not [room for room in ROOMS if f">{room}<" not in drawn]
