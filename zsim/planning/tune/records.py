"""What `zsim tune` answers with: settings, what each does, and how to set and reset it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from zsim.base.units import format_duration
from zsim.scenario.releases.renamed import sysctl_name

MEASURED, MODELLED, NO_EFFECT = "measured", "modelled", "none"


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob at another value, against the defaults on the same worlds.

    Attributes
    ----------
    name : str
    value, default : int
    ratio, error : float
        Duration over that with the default, and half of its 95 % interval.
    p99_ratio : float or None
        The same of the longest of a hundred waits of clients; None without clients.
    p99_s : float or None
        [s]
    label : {"measured", "modelled", "none"}
    source : str
        Of what was measured.
    memory : str
        What it costs in memory; empty: nothing.
    on_front : bool
        Whether nothing else tried is both quicker and easier on clients.
    """

    name: str
    value: int
    default: int
    ratio: float
    error: float
    p99_ratio: float | None
    p99_s: float | None
    label: str
    source: str
    memory: str
    on_front: bool = False

    @property
    def matters(self) -> bool:
        """Whether its effect is larger than the error of it."""
        return abs(self.ratio - 1.0) > self.error

    def line(self, system: str, value: int) -> str:
        """Return the line that sets the knob on an operating system, linux or freebsd."""
        if system == "freebsd":
            return f"sysctl {sysctl_name(self.name)}={value}"
        return f"echo {value} > /sys/module/zfs/parameters/{self.name}"


@dataclass(frozen=True, slots=True)
class Tuning:
    """The answer: what helps most, and everything tried.

    Attributes
    ----------
    subject : str
    default_s : float
        Duration with the defaults of the release [s].
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

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the answer line by line: first what helps most, and what it costs."""
        return [
            self._first(),
            f"{self.subject} takes {format_duration(self.default_s)} with the defaults "
            f"({self.worlds} worlds, the same for every setting).",
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
            return "No knob tried shortens it by more than its error: leave them as they are."
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
            time = f"{_times(each.ratio)} +/- {100 * each.error:.0f} %"
            waits = "" if each.p99_ratio is None else _times(each.p99_ratio)
            mark = " *" if each.on_front else ""
            source = f" ({each.source})" if each.source else ""
            setting = f"{each.name}={each.value}"
            rows.append(f"{setting:44} {time:>18} {waits:>12}  {each.label}{source}{mark}")
        return [*rows, "* nothing tried is both quicker and easier on clients"]

    def _commands(self) -> list[str]:
        wanted = [each for each in self.settings if each.on_front and each.ratio < 1.0]
        return [
            f"{word} {each.line(self.system, value)}"
            for each in wanted
            for word, value in (("set:  ", each.value), ("reset:", each.default))
        ]


def _times(ratio: float) -> str:
    return f"x{ratio:.2f}"
