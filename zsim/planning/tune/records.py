"""The answer of `zsim tune`: what helps most, everything that was tried, and a picture of both."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from zsim.base.provenance import SCHEMA_VERSION
from zsim.base.units import format_duration
from zsim.planning.tune.settings import MEASURED, Setting
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import DrawnAnswer, FramedAnswer, PrintedAnswer
from zsim.prediction.answer.sections import paragraphs
from zsim.prediction.answer.stored import StoredRecord
from zsim.prediction.answer.tables import Grid, html_table, rich_table

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from zsim.prediction.answer.drawing import Picture


FRONT = "front"
"""Mark of a setting that nothing tried beats."""


@dataclass(frozen=True, slots=True, repr=False)
class Tuning(PrintedAnswer, StoredRecord, DrawnAnswer, FramedAnswer):
    """The answer: what helps most, and everything tried.

    Attributes
    ----------
    subject : str
    default_s : float
        Median duration with the defaults of the release, as `zsim predict` has it [s].
    default_p10_s, default_p90_s : float or None
        Its 80 % interval; None where all is simulated exactly [s].
    default_p99_s : float or None
        99th percentile of what requests of clients wait [s].
    system : {"linux", "freebsd", "illumos"}
    settings : tuple of Setting
        Those with an effect larger than its error, the quickest first.
    without_effect : tuple of str
    worlds : int
        Simulated pools that every setting is tried on.
    stated : tuple of str
        What was stated, each with its unit.
    warnings : tuple of str
        What to know of the settings before they are set.
    provenance : dict
    """

    subject: str
    default_s: float
    default_p99_s: float | None
    system: str
    settings: tuple[Setting, ...]
    without_effect: tuple[str, ...]
    worlds: int
    stated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    default_p10_s: float | None = None
    default_p90_s: float | None = None
    provenance: dict[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self), "settings": self._frame_rows()}

    def _frame_rows(self) -> Rows:
        """Return a row a setting, with the lines that set and reset it."""
        return [
            asdict(each)
            | {"set": each.line(self.system, each.value), "reset": each.line(self.system, each.default)}
            for each in self.settings
        ]

    def _figure(self) -> Picture:
        """Draw time against what clients wait; without clients, time by setting."""
        from zsim.planning.tune.drawing import figure

        return figure(self.subject, self.default_s, self.default_p99_s, self.settings)

    def __repr__(self) -> str:
        return f"<Tuning: {self._first()}>"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        first, *more = self.heading()
        parts: list[RenderableType] = [Text(first, style="bold"), *map(Text, more)]
        if self.settings:
            parts += [Text(), rich_table(self.grid()), Text()]
        return Group(*parts, *map(Text, self.notes()))

    def _repr_html_(self) -> str:
        table = html_table(self.grid()) if self.settings else ""
        return paragraphs(self.heading()) + table + paragraphs(self.notes())

    def heading(self) -> tuple[str, ...]:
        """Return what helps most and what it costs, and against what it is held."""
        waits = (
            ""
            if self.default_p99_s is None
            else f", and the p99 latency of clients is {format_duration(self.default_p99_s)}"
        )
        return (
            self._first(),
            f"{self.subject} takes {format_duration(self.default_s)}{self._interval()} "
            f"with the defaults{waits}; every setting is tried on the same {self.worlds} simulated pools.",
            *((f"Stated: {'; '.join(self.stated)}.",) if self.stated else ()),
        )

    def _interval(self) -> str:
        low, high = self.default_p10_s, self.default_p90_s
        return "" if low is None or high is None else f" ({format_duration(low)} to {format_duration(high)})"

    def notes(self) -> tuple[str, ...]:
        """Return what stands below the table: marks, sources, the lines that set and reset, the rest."""
        better = "quicker" if self.default_p99_s is None else "better in both time and client latency"
        best = any(each.on_front for each in self.settings)
        marks: tuple[str, ...] = (f"{FRONT}: nothing tried is {better}.",) if best else ()
        if any(each.source for each in self.settings):
            marks += (
                f"{MEASURED}: on another pool, see the source; every factor above is modelled for this one.",
            )
        sources = (f"[{number}] {source}." for source, number in self._sources().items())
        return (*marks, *sources, *self._commands(), *self.warnings, *self._idle())

    def _sources(self) -> dict[str, int]:
        """Return who measured what is called measured, numbered."""
        named = dict.fromkeys(each.source for each in self.settings if each.source)
        return {source: number for number, source in enumerate(named, 1)}

    def _idle(self) -> list[str]:
        names = ", ".join(self.without_effect)
        return [f"No effect larger than its error: {names}."] if names else []

    def _first(self) -> str:
        best = self.settings[0] if self.settings and self.settings[0].ratio < 1.0 else None
        if best is None:
            return (
                "No tunable tried shortens it by more than the sampling error: leave them at their defaults."
            )
        cost = ""
        if best.p99_ratio is not None and best.p99_s is not None:
            cost = f"; the p99 latency of clients is then {format_duration(best.p99_s)}"
            cost += f" ({_times(best.p99_ratio)})"
        if best.memory:
            cost += f"; memory: {best.memory}"
        saved = self.default_s * (1.0 - best.ratio)
        return f"{best.name}={best.value} helps most: it saves {format_duration(saved)}{cost}."

    def grid(self) -> Grid:
        """Return the table in print; without clients it has no column of their waits."""
        sources, waits = self._sources(), self.default_p99_s is not None
        head = ("setting", "time", *(("clients p99",) if waits else ()), "basis", "")
        rows = []
        for each in self.settings:
            p99 = () if not waits else ("" if each.p99_ratio is None else _times(each.p99_ratio),)
            source = f" [{sources[each.source]}]" if each.source else ""
            time = f"x{each.ratio:.3f} +/- {100 * each.error:.2g} %"
            mark = FRONT if each.on_front else ""
            rows.append((f"{each.name}={each.value}", time, *p99, f"{each.label}{source}", mark))
        return Grid(head, tuple(rows), frozenset({1, 2} if waits else {1}))

    def _commands(self) -> list[str]:
        wanted = [each for each in self.settings if each.on_front and each.ratio < 1.0]
        return [
            f"{word} {each.line(self.system, value)}"
            for each in wanted
            for word, value in (("set:  ", each.value), ("reset:", each.default))
        ]


def _times(ratio: float) -> str:
    return f"x{ratio:.2f}"
