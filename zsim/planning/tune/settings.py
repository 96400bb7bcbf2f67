"""One tunable at another value: its effect, and how to set and reset it."""

from __future__ import annotations

from dataclasses import dataclass

from zsim.scenario.releases.renamed import sysctl_name

MEASURED, MODELLED = "measured", "modelled"


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
    label : {"measured", "modelled"}
    source : str
        Of what was measured.
    memory : str
        What it costs in memory; empty: nothing.
    on_front : bool
        Whether nothing else tried is better in both time and client latency.
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
        """Return the line that sets the knob on an operating system, linux, freebsd or illumos."""
        if system == "freebsd":
            return f"sysctl {sysctl_name(self.name)}={value}"
        if system == "illumos":
            return f"echo {self.name}/W0t{value} | mdb -kw"
        return f"echo {value} > /sys/module/zfs/parameters/{self.name}"
