"""The answer of a timeline: its passes, when the pool is whole, the redundancy left, what was done twice."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zsim.planning.timeline.passes import F64, MIDDLE, quantiles
from zsim.planning.timeline.redundancy import Level, seconds_at
from zsim.planning.timeline.scans import Pass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zsim.planning.timeline.pool import Pool

Three = dict[str, float | None]
REPAIRS = frozenset({"resilver", "rebuild", "expansion", "removal"})


@dataclass(frozen=True, slots=True)
class PassRow:
    """One pass of the story, its end over all worlds.

    Attributes
    ----------
    vdev, kind, cause : str
    begins_s : float
        In the middle world [s].
    ends_s : dict
        ``p10``, ``p50``, ``p90`` [s]; None where it never ends.
    completed : bool
        Whether it came to its end in the middle world; otherwise it was given up for another.
    read_bytes, written_bytes : int
        Of the part that ran in the middle world.
    """

    vdev: str
    kind: str
    begins_s: float
    ends_s: Three
    cause: str
    completed: bool = True
    read_bytes: int = 0
    written_bytes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON has of it."""
        return {
            "vdev": self.vdev,
            "kind": self.kind,
            "begins_s": self.begins_s,
            "ends_s": self.ends_s,
            "cause": self.cause,
        }


@dataclass(frozen=True)
class Timeline:
    """The story of a pool.

    Attributes
    ----------
    title : str
    passes : tuple of PassRow
        In order of their beginning.
    whole_s : dict
        When the pool has its redundancy back and no repair waits: ``p10``, ``p50``, ``p90`` [s]; None: never.
    redundancy : tuple of Level
        How many more drives each vdev may lose, in the middle world.
    redone_bytes : int
        Read and written once more because a pass began again or went back, in the middle world.
    story : tuple of (float, str)
        What happened when [s], in the middle world.
    notes : tuple of str
        What is not simulated or never happens.
    provenance : dict
    whole : ndarray of float64, shape (WORLDS,)
        In every world [s].
    exposed : dict of int to ndarray
        Seconds in each world with so many drives left to lose, below full redundancy.
    full : dict of str to int
        Redundancy of each vdev with all its drives.
    redone : ndarray of float64, shape (WORLDS,)
        Bytes done twice in every world.
    """

    title: str
    passes: tuple[PassRow, ...]
    whole_s: Three
    redundancy: tuple[Level, ...]
    redone_bytes: int
    story: tuple[tuple[float, str], ...]
    notes: tuple[str, ...]
    provenance: dict[str, Any]
    whole: F64 = field(repr=False, compare=False)
    exposed: dict[int, F64] = field(repr=False, compare=False)
    full: dict[str, int] = field(repr=False, compare=False)
    redone: F64 = field(repr=False, compare=False)

    @property
    def read_bytes(self) -> int:
        """Bytes that all passes read, in the middle world."""
        return sum(each.read_bytes for each in self.passes)

    @property
    def written_bytes(self) -> int:
        """Bytes that all passes write, in the middle world."""
        return sum(each.written_bytes for each in self.passes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "passes": [each.to_dict() for each in self.passes],
            "whole_s": self.whole_s,
            "redundancy": [
                {"vdev": each.vdev, "from_s": each.from_s, "to_s": each.to_s, "left": each.left}
                for each in self.redundancy
            ],
            "redone_bytes": self.redone_bytes,
            "provenance": self.provenance,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return the timeline as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self) -> Any:
        """Return the passes as a pandas data frame, one row each; pandas must be installed."""
        rows = [
            {
                **{name: value for name, value in each.to_dict().items() if name != "ends_s"},
                **{f"ends_{name}_s": value for name, value in each.ends_s.items()},
                "completed": each.completed,
                "read_bytes": each.read_bytes,
                "written_bytes": each.written_bytes,
            }
            for each in self.passes
        ]
        return importlib.import_module("pandas").DataFrame(rows)

    def plot(self) -> Figure:
        """Return a matplotlib figure: a Gantt chart of the passes, and the redundancy left below it."""
        from zsim.planning.timeline.gantt import figure

        return figure(self)

    def save_plot(self, path: str | Path) -> None:
        """Write the figure of `plot`; the ending (.svg, .png or .pdf) decides the format."""
        from zsim.prediction.answer.drawing import save

        save(self.plot(), path)

    def __rich__(self) -> Any:
        from zsim.planning.timeline.wording import as_renderable

        return as_renderable(self)

    def __str__(self) -> str:
        from zsim.planning.timeline.wording import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from zsim.planning.timeline.wording import as_html

        return as_html(self)


def timeline_of(
    title: str, pools: Sequence[Pool], notes: Sequence[str], provenance: Mapping[str, Any]
) -> Timeline:
    """Return what a plan came to in all worlds."""
    whole = np.array([whole_at(pool) for pool in pools])
    middle = pools[MIDDLE]
    ends = [_end(pool) for pool in pools]
    levels = [pool.ledger.levels(end) for pool, end in zip(pools, ends, strict=True)]
    redone = np.array([pool.redone for pool in pools], dtype=np.float64)
    return Timeline(
        title=title,
        passes=_rows(pools),
        whole_s=_three(whole),
        redundancy=tuple(levels[MIDDLE]),
        redone_bytes=middle.redone,
        story=tuple(middle.story),
        notes=tuple(notes),
        provenance=dict(provenance),
        whole=whole,
        exposed=_exposed(levels, min(vdev.spec.tolerance for vdev in middle.vdevs)),
        full=_full(middle),
        redone=redone,
    )


def whole_at(pool: Pool) -> float:
    """Return when a pool was whole for good; infinite if it never is [s]."""
    if pool.lost or pool.endless or not pool.is_whole or any(each.ends == np.inf for each in pool.history):
        return np.inf
    repairs = [each.ends for each in pool.history if each.kind in REPAIRS]
    return max([*repairs, *(time for time, _, _ in pool.ledger.marks)], default=0.0)


def _full(pool: Pool) -> dict[str, int]:
    """Return the redundancy of each vdev at its best."""
    found: dict[str, int] = {}
    for _, name, left in pool.ledger.marks:
        found[name] = max(left, found.get(name, left))
    return found


def _end(pool: Pool) -> float:
    """Return when the story is over [s]: nothing that ends happens later."""
    return max([pool.now, *(each.ends for each in pool.history if each.ends < np.inf)])


def _rows(pools: Sequence[Pool]) -> tuple[PassRow, ...]:
    """Return the passes of the middle world, their ends over all worlds in which they run."""
    named = [dict(_named(pool.history)) for pool in pools]
    rows = []
    for name, found in named[MIDDLE].items():
        ends = np.array([world[name].ends for world in named if name in world])
        done = found.share if found.ends < np.inf else 1.0
        rows.append(
            PassRow(
                found.vdev,
                found.kind,
                found.begins,
                _three(ends),
                found.cause,
                found.completed,
                int(found.times.read_bytes * done),
                int(found.times.written_bytes * done),
            )
        )
    return tuple(rows)


def _named(history: Sequence[Pass]) -> list[tuple[tuple[str, str, int], Pass]]:
    """Return passes by what they are and which of their kind: the same pass in every world."""
    count: dict[tuple[str, str], int] = {}
    found: list[tuple[tuple[str, str, int], Pass]] = []
    for each in history:
        key = (each.kind, each.vdev)
        count[key] = count.get(key, 0) + 1
        found.append(((*key, count[key]), each))
    return found


def _three(values: F64) -> Three:
    if len(values) < 3:
        finite = float(values[len(values) // 2])
        return {"p10": finite, "p50": finite, "p90": finite}
    low, middle, high = quantiles(values)
    return {"p10": low, "p50": middle, "p90": high}


def _exposed(levels: Sequence[Sequence[Level]], full: int) -> dict[int, F64]:
    found = [seconds_at(each, full) for each in levels]
    return {
        left: np.array([each.get(left, 0.0) for each in found])
        for left in sorted({left for each in found for left in each})
    }
