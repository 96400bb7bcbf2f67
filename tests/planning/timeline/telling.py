"""Stories with passes of known length, in one world: what the rules do, without the simulation of passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from zsim.planning.timeline.api import cleaned
from zsim.planning.timeline.passes import WORLDS, Passes, PassTimes, facts
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.pool import Pool
from zsim.planning.timeline.records import PassRow
from zsim.planning.timeline.result import Timeline
from zsim.planning.timeline.rules import rules_of
from zsim.planning.timeline.story import Story

HOUR = 3600.0
TXG = 5.0
PASS_BYTES = 1000
EVEN = np.full(WORLDS, 10 * HOUR)
"""Ten hours in every world."""


class KnownPasses(Passes):
    """Passes that take as long as they are told; every call is kept."""

    def __init__(self, hours: float = 10.0, collecting: float = 0.0, copy_hours: float = 20.0) -> None:
        super().__init__()
        self.hours, self.collecting, self.copy_hours = hours, collecting, copy_hours
        self.asked: list[dict[str, Any]] = []

    def _of(self, hours: float) -> PassTimes:
        return PassTimes(
            np.full(WORLDS, hours * HOUR), collecting=self.collecting, read_bytes=PASS_BYTES, scrub=0.5
        )

    def resilver(self, scenario, vdev, drives, old, kind="resilver", **new):  # type: ignore[no-untyped-def]
        stated = scenario.stated()
        loaded = 2.0 if scenario.load else 1.0
        self.asked.append({"layout": str(scenario.pool_layout), "vdev": vdev, "drives": drives, "old": old,
                           "kind": kind, "begins": stated.get("begins"),
                           "exchanged": [f"{each.drive}:{each.model or ''}@{each.size}"
                                         for each in scenario.exchanged or ()], **new})  # fmt: skip
        return self._of(self.hours * loaded)

    def scrub(self, scenario):  # type: ignore[no-untyped-def]
        return self._of(self.hours / 2)

    def expansion(self, scenario, vdev):  # type: ignore[no-untyped-def]
        return self._of(self.copy_hours)

    def removal(self, scenario, vdev):  # type: ignore[no-untyped-def]
        return self._of(self.copy_hours)


def tell(
    events: list[dict[str, Any]],
    release: str = "openzfs-2.2",
    layout: str = "raidz2x6",
    passes: KnownPasses | None = None,
    scenario: dict[str, Any] | None = None,
    **plan: Any,
) -> Pool:
    """Return the pool at the end of a story."""
    stated = {"layout": layout, "release": release, "fill": 0.5, "drive_size": "4TB", **(scenario or {})}
    found = cleaned(Plan.from_dict({"scenario": stated, "events": events, **plan}))
    resolved = facts(found.pool)
    rules = rules_of(resolved.release, resolved.release.order)
    return Story(found, WORLDS // 2, passes or KnownPasses(), rules, resolved.alloc).run()


def hours(pool: Pool, kind: str = "resilver") -> list[tuple[float, float]]:
    """Return beginning and end of the passes of a kind [h], transaction groups rounded away."""
    return [
        (round(each.begins / HOUR, 1), round(each.ends / HOUR, 1))
        for each in pool.history
        if each.kind == kind
    ]


def left(pool: Pool, vdev: str = "raidz2-0") -> list[tuple[float, int]]:
    """Return from when on how many more drives may fail [h]."""
    return [(round(time / HOUR, 1), number) for time, name, number in pool.ledger.marks if name == vdev]


def told(pool: Pool, words: str) -> bool:
    """Tell whether the story says so."""
    return any(words in text for _, text in pool.story)


def three(low: float | None, middle: float | None, high: float | None) -> Any:
    return {"p10": low, "p50": middle, "p90": high}


def row(begins: float, p10: float | None, p50: float | None, p90: float | None, **more: Any) -> PassRow:
    made = {"vdev": "raidz2-0", "kind": "resilver", "cause": "zpool replace", **more}
    return PassRow(begins_s=begins, ends_s=three(p10, p50, p90), **made)


def answer(**changes: Any) -> Timeline:
    made: dict[str, Any] = {
        "title": "a plan", "passes": (), "whole_s": three(HOUR, 2 * HOUR, 3 * HOUR), "redundancy": (),
        "redone_bytes": 0, "story": (), "notes": (), "provenance": {}, "whole": EVEN, "exposed": {},
        "full": {"raidz2-0": 2}, "redone": np.zeros(WORLDS),
    }  # fmt: skip
    return Timeline(**{**made, **changes})
