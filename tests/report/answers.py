"""Figures of small answers made by hand: what a picture shows does not move with what is simulated."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from zsim.case.population import populate
from zsim.case.resolve import resolve
from zsim.drives.catalogue import load_drive
from zsim.planning.design import drawing as design
from zsim.planning.eta import drawing as eta
from zsim.planning.fleet import drawing as fleet
from zsim.planning.fleet.records import Losses
from zsim.planning.risk import drawing as risk
from zsim.planning.risk.records import Grades, Mover, chance
from zsim.planning.timeline import gantt
from zsim.planning.timeline.records import PassRow
from zsim.planning.timeline.redundancy import Level
from zsim.prediction.answer.drawing import Picture
from zsim.report.drive_figure import drive_figure
from zsim.report.pool_figure import pool_figure
from zsim.scenario.model import Scenario

HOUR = 3600.0


def some(**fields: Any) -> Any:
    """Return a record of which a picture reads only these fields."""
    return SimpleNamespace(**fields)


def of_risk() -> Picture:
    def grades(share: float) -> Grades:
        found = [chance(share * p, 0.02 * share * p, 3 * share * p) for p in (1e-4, 4e-5, 3e-5)]
        return Grades(files=found[0], vdev=found[1], pool=found[2])

    movers = (Mover(field="rate", factor=600.0), Mover(field="delay", factor=5.0))
    return risk.figure(
        some(
            subject="raidz2x6, 60 % full, openzfs-2.3.9, repair 11 h 52 min (7 h 32 min to 1 d 8 h)",
            window_of="repair", window=grades(1.0), per_year=grades(0.4), years=grades(2.0),
            horizon_years=5.0, movers=movers,
        )
    )  # fmt: skip


def layout(name: str, usable: float, chance_: float, hours: float, *, meets: bool) -> dict[str, Any]:
    return {
        "layout": name, "usable_bytes": usable * 2**40, "vdev_per_year": chance_, "p90_s": hours * HOUR,
        "meets": meets,
    }  # fmt: skip


LAYOUTS = (
    layout("2*raidz3x11", 291, 2.6e-6, 20, meets=True),
    layout("2*raidz3x12", 318, 2.5e-5, 22, meets=True),
    layout("raidz3x22", 320, 3.2e-5, 30, meets=True), layout("raidz3x23", 335, 3.8e-5, 31, meets=True),
    layout("3*raidz2x8", 304, 1.2e-4, 18, meets=True), layout("12*mirror2", 200, 5e-3, 12, meets=False),
)  # fmt: skip


def of_layouts(rows: tuple[dict[str, Any], ...] = LAYOUTS) -> Picture:
    headline = "5 of 6 layouts meet usable >= 250T and vdev < 1 in 1,000."
    return design.figure(some(question="layouts", rows=rows, answer=None, headline=lambda: headline))


def of_changes() -> Picture:
    rows = tuple(
        {"change": name, "vdev_per_year": vdev, "files_per_year": files}
        for name, vdev, files in (
            ("as it is", 8e-4, 1.3e-3), ("a hot spare", 3e-4, 7e-4), ("no scrubs for a year", 2e-3, 2e-2),
        )
    )  # fmt: skip
    headline = "What would change the chance of loss of 1 in 1,200 a year:"
    return design.figure(some(question="worth", rows=rows, answer=None, headline=lambda: headline))


def of_fill() -> Picture:
    rows = tuple(
        {"fill": fill, "p50_s": 40 * HOUR * fill, "p90_s": 70 * HOUR * fill, "meets": fill < 0.64}
        for fill in (0.3, 0.6, 0.8)
    )
    headline = "At 64 % full the repair crosses p90 < 2 d."
    return design.figure(some(question="fill", rows=rows, answer="64 %", headline=lambda: headline))


def of_eta() -> Picture:
    left = some(p10=12 * HOUR, p50=33 * HOUR, p90=65 * HOUR)
    return eta.figure(some(pool="tank", remaining_s=left, elapsed_s=3.5 * HOUR, zpool_remaining_s=49 * HOUR))


def of_timeline() -> Picture:
    ends = [
        {"p10": 15 * HOUR, "p50": 22 * HOUR, "p90": 50 * HOUR},
        {"p10": 27 * HOUR, "p50": 39 * HOUR, "p90": None},
    ]
    passes = (
        PassRow("raidz2-0", "resilver", 2 * HOUR, ends[0], "zpool replace"),  # type: ignore[arg-type]
        PassRow("raidz2-0", "resilver", 22 * HOUR, ends[1], "deferred"),  # type: ignore[arg-type]
    )
    levels = ((0, 10, 1), (10, 22, 0), (22, 39, 1), (39, 95, 2))
    redundancy = tuple(Level("raidz2-0", begin * HOUR, end * HOUR, left) for begin, end, left in levels)
    return gantt.figure(
        some(
            title="raidz2x6", passes=passes, redundancy=redundancy, full={"raidz2-0": 2},
            whole_s={"p10": 27 * HOUR, "p50": 39 * HOUR, "p90": 94 * HOUR}, stays_whole=False,
        )
    )  # fmt: skip


def of_fleet() -> Picture:
    def row(name: str, share: float, p: float, *hours: float) -> Any:
        lost = chance(p, p / 3, 2 * p)
        losses = Losses(files=lost, vdev=lost, pool=lost)
        return some(name=name, share=share, losses_per_year=losses, degraded_s=tuple(h * HOUR for h in hours))

    rows = (
        row("archive", 0.2, 2e-4, 8.0, 0.03, 0.0, 0.0),
        row("virtual machines", 0.8, 9e-4, 1.7, 0.0, 0.0, 0.0),
    )
    return fleet.figure(
        rows, "Chance that a vdev is lost within 5 years: 1 in 500 to 1 in 100 (on average 1 in 190)."
    )


def of_pool() -> Picture:
    stated = {"layout": "mirror2", "fill": 0.6, "drive_size": "1TB", "history": "vm-host"}
    return pool_figure(populate(resolve(Scenario.from_dict(stated)), max_blocks=6_000))


def of_drive() -> Picture:
    return drive_figure(load_drive("wd40efrx"))


FIGURES: dict[str, Callable[[], Picture]] = {
    "risk": of_risk, "layouts": of_layouts, "changes": of_changes, "fill": of_fill, "eta": of_eta,
    "timeline": of_timeline, "fleet": of_fleet, "pool": of_pool, "drive": of_drive,
}  # fmt: skip
