"""The answer of a timeline: its passes, when the pool is whole, remaining redundancy, repeated work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from zsim.base.parsed import Parsed, number_of, rows, table, tables, text, texts, whole
from zsim.planning.timeline.passes import F64, MIDDLE, Percentiles, percentiles
from zsim.planning.timeline.records import PassRow, TimelineAnswer
from zsim.planning.timeline.redundancy import Level, seconds_at
from zsim.planning.timeline.scans import Pass
from zsim.prediction.answer.output import DrawnAnswer, PrintedAnswer
from zsim.prediction.answer.stored import StoredRecord, check_version, made_of, refused_in_one_sentence

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zsim.planning.timeline.pool import Pool
    from zsim.prediction.answer.drawing import Picture

REPAIRS = frozenset({"resilver", "rebuild", "expansion", "removal"})


class Timeline(PrintedAnswer, TimelineAnswer, StoredRecord, DrawnAnswer):
    """What `zsim.timeline` returns: a `TimelineAnswer` that prints and draws itself."""

    __slots__ = ()

    @classmethod
    def from_dict(cls, data: object, origin: str = "answer") -> Self:
        """Return the answer of which `to_dict` gave this; see `LoadedAnswer.from_dict`."""
        known = check_version(data, origin)
        worlds = table(known, "worlds")
        exposed = table(worlds, "exposed_s")
        story = [(each.get("at_s"), each.get("what")) for each in tables(known, "story")]
        with refused_in_one_sentence(origin):
            return cls(
                title=text(known, "title"),
                passes=made_of(tuple[PassRow, ...], known.get("passes")),
                whole_s=made_of(Percentiles, known.get("whole_s")),
                redundancy=made_of(tuple[Level, ...], known.get("redundancy")),
                redone_bytes=whole(known, "redone_bytes"),
                story=made_of(tuple[tuple[float, str], ...], story),
                notes=texts(known, "notes"),
                provenance=dict(table(known, "provenance")),
                whole=_values(worlds, "whole_s"),
                exposed={int(left): _values(exposed, left) for left in exposed},
                full=made_of(dict[str, int], known.get("full")),
                redone=_values(worlds, "redone_bytes"),
                over=_values(worlds, "over_s"),
            )

    def __repr__(self) -> str:
        from zsim.planning.timeline.wording import headline

        return f"<Timeline: {headline(self)}>"

    def _figure(self) -> Picture:
        """Draw a Gantt chart of the passes, and the redundancy left below it."""
        from zsim.planning.timeline.gantt import figure

        return figure(self)

    def __rich__(self) -> RenderableType:
        from zsim.planning.timeline.wording import as_renderable

        return as_renderable(self)

    def _repr_html_(self) -> str:
        from zsim.planning.timeline.wording import as_html

        return as_html(self)


def _values(data: Parsed, name: str) -> F64:
    """Return the values of the worlds; None stands for what never comes."""
    every = (np.inf if each is None else number_of(each, name) for each in rows(data, name))
    return np.array(list(every), dtype=np.float64)


def timeline_of(
    title: str, pools: Sequence[Pool], notes: Sequence[str], provenance: Mapping[str, object]
) -> Timeline:
    """Return what a plan came to in all worlds."""
    found = np.array([whole_at(pool) for pool in pools])
    middle = pools[MIDDLE]
    ends = [_end(pool) for pool in pools]
    levels = [pool.ledger.levels(end) for pool, end in zip(pools, ends, strict=True)]
    redone = np.array([pool.redone for pool in pools], dtype=np.float64)
    return Timeline(
        title=title,
        passes=_rows(pools),
        whole_s=percentiles(found),
        redundancy=tuple(levels[MIDDLE]),
        redone_bytes=middle.redone,
        story=tuple(middle.story),
        notes=tuple(notes),
        provenance=dict(provenance),
        whole=found,
        exposed=_exposed(levels, min(vdev.spec.tolerance for vdev in middle.vdevs)),
        full=_full(middle),
        redone=redone,
        over=np.array([max((each.ends for each in pool.history), default=0.0) for pool in pools]),
    )


def whole_at(pool: Pool) -> float:
    """Return when a pool was whole for good; infinite if it never is [s]."""
    if pool.lost or pool.endless or not pool.is_whole or any(each.ends == np.inf for each in pool.history):
        return np.inf
    repairs = [each.ends for each in pool.history if each.kind in REPAIRS]
    return max([*repairs, *(time for time, _, _ in pool.ledger.marks)], default=0.0)


def _full(pool: Pool) -> dict[str, int]:
    """Return the redundancy that each vdev has in the end with all its drives there."""
    return {vdev.name: vdev.spec.tolerance for vdev in pool.vdevs}


def _end(pool: Pool) -> float:
    """Return when the story is over [s]: nothing that ends happens later."""
    return max([pool.now, *(each.ends for each in pool.history if each.ends < np.inf)])


def _rows(pools: Sequence[Pool]) -> tuple[PassRow, ...]:
    """Return the passes of the middle world, their ends over all worlds in which they run."""
    named = [dict(_named(pool.history)) for pool in pools]
    told = []
    for name, found in named[MIDDLE].items():
        ends = np.array([world[name].ends for world in named if name in world])
        done = found.share if found.ends < np.inf else 1.0
        told.append(
            PassRow(
                found.vdev,
                found.kind,
                found.begins,
                percentiles(ends),
                found.cause,
                found.completed,
                int(found.times.read_bytes * done),
                int(found.times.written_bytes * done),
            )
        )
    return tuple(told)


def _named(history: Sequence[Pass]) -> list[tuple[tuple[str, str, int], Pass]]:
    """Return passes by what they are and which of their kind: the same pass in every world."""
    count: dict[tuple[str, str], int] = {}
    found: list[tuple[tuple[str, str, int], Pass]] = []
    for each in history:
        key = (each.kind, each.vdev)
        count[key] = count.get(key, 0) + 1
        found.append(((*key, count[key]), each))
    return found


def _exposed(levels: Sequence[Sequence[Level]], full: int) -> dict[int, F64]:
    found = [seconds_at(each, full) for each in levels]
    return {
        left: np.array([each.get(left, 0.0) for each in found])
        for left in sorted({left for each in found for left in each})
    }
