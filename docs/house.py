"""The map of the house: rooms of zsim from left to right, with what each holds and from where it imports.

Drawn from the imports themselves; `tests/house/test_imports.py` holds the order.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "base": (0, 1), "scenario": (1, 0), "drives": (1, 2), "vdevs": (2, 0), "pool": (3, 0), "case": (4, 0),
    "scan": (4, 1), "engine": (5, 2), "operation": (7, 1), "prediction": (8, 0), "observe": (7, 2),
    "report": (9, 0), "planning": (9, 1), "validation": (10, 0), "cli": (11, 1),
}  # fmt: skip
"""Column and row of each room; rooms in one column do not need each other."""
SAYS = {
    "base": "units, errors, files", "scenario": "what is asked", "drives": "how long a drive takes",
    "vdevs": "which child I/Os?", "pool": "which blocks, where?", "scan": "in which order?",
    "case": "all of it, resolved", "engine": "when does each I/O end?",
    "operation": "one resilver, txg by txg",
    "prediction": "how long, how sure, why?", "observe": "what a real pool says",
    "report": "tables, figures, pages",
    "planning": "which layout, what if?", "validation": "is it true?", "cli": "one file a command",
}  # fmt: skip
WIDTH, GAP, LINE, TOP, PITCH = 150.0, 26.0, 11.0, 60.0, 150.0
INK, PALE, ACCENT = "#333333", "#f2f6f8", "#0b6e99"


def imports() -> dict[str, set[str]]:
    """Return each room with the rooms that it imports from."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "zsim").rglob("*.py"):
        parts = path.relative_to(ROOT / "zsim").parts
        if len(parts) < 2:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("zsim."):
                found[parts[0]].add(node.module.split(".")[1])
    return {room: others - {room} for room, others in found.items()}


def needed(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return of each room's imports those that no other one of them leads to: the arrows worth drawing."""

    def reach(room: str) -> set[str]:
        return graph.get(room, set()).union(*(reach(other) for other in graph.get(room, set())))

    return {
        room: {other for other in others if not any(other in reach(via) for via in others - {other})}
        for room, others in graph.items()
    }


def contents(room: str) -> list[str]:
    """Return the folders of a room, then its files."""
    folder = ROOT / "zsim" / room
    inside = sorted(path for path in folder.iterdir() if path.name[0] not in "_.")
    folders = [f"{path.name}/" for path in inside if path.is_dir()]
    return [*folders, *(path.stem for path in inside if path.suffix == ".py")]


def wrapped(words: list[str], most: int = 22) -> list[str]:
    """Return words as lines of so many letters."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) + 1 > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def house() -> Figure:
    """Return the map as a figure."""
    boxes: dict[str, tuple[float, float, float]] = {}
    columns, rows = (1 + max(place[axis] for place in PLACES.values()) for axis in (0, 1))
    drawn = Figure(figsize=(16.0, 5.0))
    axes = drawn.add_axes((0.01, 0.01, 0.98, 0.98))
    axes.set_axis_off()
    for room, (column, row) in PLACES.items():
        across, down = column * (WIDTH + GAP), TOP + row * PITCH
        lines = wrapped(contents(room))
        height = 44.0 + LINE * len(lines)
        boxes[room] = across, down, height
        axes.add_patch(Rectangle((across, down), WIDTH, height, facecolor=PALE, edgecolor=INK, lw=0.8))
        axes.text(across + 7, down + 15, room, fontsize=9, weight="bold", color=INK)
        axes.text(across + 7, down + 29, SAYS[room], fontsize=6, color=ACCENT)
        axes.text(across + 7, down + 36, "\n".join(lines), fontsize=5.5, color=INK, va="top")
    for room, others in sorted(needed(imports()).items()):
        for other in sorted(others):
            _arrow(axes, boxes[room], boxes[other])
    axes.text(
        0, 14, "The house: a room imports from rooms to its left", fontsize=12, weight="bold", color=INK
    )
    note = "An arrow leads to what is imported; what other arrows lead to already is not drawn."
    axes.text(0, 36, note, fontsize=8, color=INK)
    axes.set(xlim=(-4, columns * (WIDTH + GAP)), ylim=(TOP + rows * PITCH, 0))
    return drawn


def _arrow(axes: Axes, here: tuple[float, float, float], there: tuple[float, float, float]) -> None:
    """Draw the arrow from a room to one that it imports."""
    style = {"arrowstyle": "-|>", "color": ACCENT, "lw": 0.9}
    if here[0] == there[0]:
        start = here[0] + WIDTH / 2, here[1]
        end = there[0] + WIDTH / 2, there[1] + there[2]
    else:
        level = 12.0 if here[1] == there[1] else here[2] - 8.0 if here[1] < there[1] else 8.0
        arrival = 12.0 if here[1] == there[1] else 8.0 if here[1] < there[1] else there[2] - 8.0
        start, end = (here[0], here[1] + level), (there[0] + WIDTH, there[1] + arrival)
    axes.annotate("", end, start, arrowprops=style)
