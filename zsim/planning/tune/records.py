"""What `zsim tune` answers with: what helps most, everything tried, and a picture of both."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from zsim.base.units import format_duration
from zsim.planning.tune.settings import Setting
from zsim.prediction.answer.output import DrawnAnswer

if TYPE_CHECKING:
    from zsim.prediction.answer.drawing import Picture


@dataclass(frozen=True, slots=True)
class Tuning(DrawnAnswer):
    """The answer: what helps most, and everything tried.

    Attributes
    ----------
    subject : str
    default_s : float
        Median duration with the defaults of the release, as `zsim predict` has it [s].
    default_p99_s : float or None
        Of 100 requests of clients the longest wait [s].
    system : {"linux", "freebsd"}
    settings : tuple of Setting
        Those with an effect larger than its error, the quickest first.
    without_effect : tuple of str
    worlds : int
    """

    subject: str
    default_s: float
    default_p99_s: float | None
    system: str
    settings: tuple[Setting, ...]
    without_effect: tuple[str, ...]
    worlds: int

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        rows = [
            asdict(each)
            | {"set": each.line(self.system, each.value), "reset": each.line(self.system, each.default)}
            for each in self.settings
        ]
        return asdict(self) | {"settings": rows}

    def _figure(self) -> Picture:
        """Draw time against what clients wait; without clients, time by setting."""
        from zsim.planning.tune.drawing import figure

        return figure(self.subject, self.default_s, self.default_p99_s, self.settings)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the answer line by line: first what helps most, and what it costs."""
        return [
            self._first(),
            f"{self.subject} takes {format_duration(self.default_s)} with the defaults; "
            f"every setting is tried on the same {self.worlds} worlds.",
            *self._table(),
            *self._commands(),
            *self._idle(),
        ]

    def _idle(self) -> list[str]:
        names = ", ".join(self.without_effect)
        return [f"No effect beyond its error: {names}."] if names else []

    def _first(self) -> str:
        best = self.settings[0] if self.settings and self.settings[0].ratio < 1.0 else None
        if best is None:
            return (
                "No tunable tried shortens it by more than the sampling error: leave them at their defaults."
            )
        cost = ""
        if best.p99_ratio is not None and best.p99_s is not None:
            cost = f"; of 100 requests of clients the longest then waits {format_duration(best.p99_s)}"
            cost += f" ({_times(best.p99_ratio)})"
        if best.memory:
            cost += f"; memory: {best.memory}"
        saved = self.default_s * (1.0 - best.ratio)
        return f"{best.name}={best.value} helps most: it saves {format_duration(saved)}{cost}."

    def _table(self) -> list[str]:
        if not self.settings:
            return []
        head = f"{'setting':44} {'time':>18} {'clients p99':>12}  effect"
        rows = [head]
        for each in self.settings:
            time = f"x{each.ratio:.3f} +/- {100 * each.error:.2g} %"
            waits = "" if each.p99_ratio is None else _times(each.p99_ratio)
            mark = " *" if each.on_front else ""
            source = f" ({each.source})" if each.source else ""
            setting = f"{each.name}={each.value}"
            rows.append(f"{setting:44} {time:>18} {waits:>12}  {each.label}{source}{mark}")
        better = "quicker" if self.default_p99_s is None else "both quicker and easier on clients"
        return [*rows, f"* nothing tried is {better}"]

    def _commands(self) -> list[str]:
        wanted = [each for each in self.settings if each.on_front and each.ratio < 1.0]
        return [
            f"{word} {each.line(self.system, value)}"
            for each in wanted
            for word, value in (("set:  ", each.value), ("reset:", each.default))
        ]


def _times(ratio: float) -> str:
    return f"x{ratio:.2f}"
