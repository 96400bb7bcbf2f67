"""The next scan of a pool from those before it: what the noise of evidence is fitted on.

    python validation/fit_evidence.py PAIRS.jsonl [--grid]

Each line of the file is a pool with its events in order of time (kind, duration_s, alloc_bytes,
resilvered_bytes, end).  Every event after the first is predicted from those before it alone.  Printed are the
errors beside those of "the last duration times ALLOC"; with --grid also the predictive likelihood over values
of the noise, and what is held out: for each pool the values are chosen on all other pools.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import Z90
from zsim.base.errors import ZsimError
from zsim.prediction.api import case_of
from zsim.prediction.evidence import comparable
from zsim.prediction.evidence.noise import noise
from zsim.prediction.evidence.posterior import EvidenceSpread, Posterior, posterior
from zsim.prediction.work import Work
from zsim.scenario.model import Scenario

POOLS: dict[str, dict[str, str]] = {
    "ko-vault": {"drive_size": "4TB", "release": "openzfs-0.8"},
    "jp-zvol0": {
        "drive_size": "2TB", "release": "openzfs-2.1",
        "new_drive": "generic-5400rpm-smr", "new_drive_size": "6TB",
    },
    "jp-zvol0-old-pair": {"drive_size": "2TB", "release": "openzfs-2.1"},
    "rpool-2mirrors-2022": {
        "drive": "generic-5400rpm-cmr", "drive_size": "6TB", "release": "openzfs-2.1", "new_drive_size": "8TB"
    },
    "off-ovh3": {"drive_size": "12TB", "release": "openzfs-2.0"},
    "mafo-datapool": {"drive": "870-evo-4tb", "drive_size": "2TB", "release": "openzfs-2.1"},
    "mafo-kpool": {"drive": "generic-nvme-ssd", "drive_size": "2TB", "release": "openzfs-2.1", "fill": "50%"},
    "zfs500mirror": {"drive_size": "500GB", "release": "openzfs-2.2"},
    "logserver-raidz3x10": {"drive_size": "4TB", "release": "openzfs-2.0", "fill": "20%"},
    "freebsd121-root": {"drive_size": "1TB", "release": "freebsd-10.3"},
    "nvme-zroot-2023": {"drive": "generic-nvme-ssd", "drive_size": "1TB", "release": "openzfs-2.1"},
    "zpool1-luks": {"drive": "st4000vn008", "release": "openzfs-2.1"},
    "bs2020-devel": {"drive_size": "300GB", "release": "openzfs-0.8"},
    "harlan-rpool": {"drive_size": "500GB", "release": "openzfs-2.2"},
}  # fmt: skip
"""Drives and releases as the reports name them or their dates tell."""
MOMENTS = ("%a %b %d %H:%M:%S %Y", "%b %d %H:%M:%S %Y", "%b %d %Y", "%a %b %d %Y")
GRID = {
    "scan.pace": (0.4, 0.6, 0.8),
    "scan.event": (0.05, 0.1, 0.15),
    "scan.other_kind": (0.08, 0.16, 0.25, 0.35),
    "scan.uneven": (0.3, 0.4),
}


Floats = NDArray[np.float64]
SHOWN = 8
"""Best values of the grid that are printed."""


@dataclass(frozen=True)
class Event:
    """One event, the runs that predict it, its logarithm, and that of the last duration times ALLOC."""

    pool: str
    pair: str
    work: Work
    truth: float
    simple: float


def moment(text: str | None) -> str | None:
    """Return a date as ISO 8601; None where there is none."""
    for form in MOMENTS:
        try:
            return datetime.strptime(text or "", form).isoformat()
        except ValueError:
            continue
    return None


def observation(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event as evidence."""
    wrote = event["resilvered_bytes"] if event["kind"] != "scrub" else None
    known = {
        "what": "finished", "kind": event["kind"], "duration": float(event["duration_s"]),
        "resolution": float(event.get("resolution_s") or 1.0), "end": moment(event["end"]),
        "alloc": round(event["alloc_bytes"]) if event["alloc_bytes"] else None,
        "processed": round(wrote) if wrote else None,
    }  # fmt: skip
    return {name: value for name, value in known.items() if value is not None}


def events(path: Path) -> list[Event]:
    """Return every event after the first of its pool that can be simulated, with its runs."""
    found = []
    for row in map(json.loads, path.read_text().splitlines()):
        if row["id"] not in POOLS:
            continue
        alloc = None
        for place, event in enumerate(row["events"]):
            alloc = event["alloc_bytes"] or alloc
            before = [each for each in row["events"][:place] if each["duration_s"]]
            if event["duration_s"] and event["kind"] != "heal" and before:
                found += predicted(row, event, before, alloc)
    return found


def predicted(
    row: dict[str, Any], event: dict[str, Any], before: list[dict[str, Any]], alloc: float | None
) -> list[Event]:
    """Run the worlds of one event; none where they cannot be simulated."""
    base: dict[str, Any] = dict(POOLS[row["id"]])
    layout = row["layout"].replace(" (attach)", "").replace("mirror2 x 2", "2*mirror2")
    base |= {"layout": layout, "operation": event["kind"], "evidence": [observation(each) for each in before]}
    if event["kind"] == "scrub":
        base.pop("new_drive", None)
        base.pop("new_drive_size", None)
    if alloc:
        base.pop("fill", None)
        base["alloc"] = round(alloc)
    try:
        work = Work(case_of(Scenario.from_dict(base)), lambda share, what: None)
        work.run()
    except ZsimError:
        return []
    last = before[-1]
    grown = alloc / last["alloc_bytes"] if alloc and last["alloc_bytes"] else 1.0
    simple = math.log(last["duration_s"] * grown)
    return [
        Event(row["id"], f"{last['kind']} to {event['kind']}", work, math.log(event["duration_s"]), simple)
    ]


def answer(event: Event, values: dict[str, float]) -> Posterior | None:
    """Return the weighted worlds of an event for values of the noise."""
    weighing = event.work.weighing
    if weighing is None or not weighing.comparisons:
        return None

    def changed(name: str, unit: str = "1") -> float:
        return values[name] if name in values else noise(name, unit)

    original, comparable.noise = comparable.noise, changed
    try:
        compared, _ = comparable.comparable(event.work.case)
        chance = comparable.event_of(event.work.case)
    finally:
        comparable.noise = original
    seen = [
        replace(each.seen, sigma=math.hypot(each.seen.sigma, error))
        for each, error in zip(compared, weighing.errors, strict=True)
    ]
    every = [*event.work.small, *(each.time_s for each in weighing.others)]
    logs = np.log(every) + math.log(weighing.level)
    moved = [new.shift - old.shift for new, old in zip(compared, weighing.comparisons, strict=True)]
    chances = EvidenceSpread(changed("scan.pace"), chance)
    return posterior(logs, weighing.in_pool() + np.array(moved), seen, chances, 1.0, weighing.prior())


class Answers(NamedTuple):
    """What values of the noise give, event by event: predictive likelihood (Student's t), error, inside."""

    likelihood: Floats
    error: Floats
    inside: Floats


def answers(found: list[Event], values: dict[str, float]) -> Answers:
    """Return what values of the noise give."""
    rows = []
    for event in found:
        each = answer(event, values)
        assert each is not None
        spread = (each.p90 - each.p10) / (2.0 * Z90)
        away = each.p50 - event.truth
        likelihood = -math.log(spread) - 2.5 * math.log1p((away / spread) ** 2 / 4.0)
        rows.append((likelihood, abs(away), float(each.p10 <= event.truth <= each.p90)))
    return Answers(*np.array(rows).T)


def held_out(found: list[Event]) -> None:
    """Print the likelihood over the grid, and of each pool with the values that the others choose."""
    found = [event for event in found if answer(event, {}) is not None]
    grid = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    every = [answers(found, values) for values in grid]
    pools = np.array([event.pool for event in found])
    weights = np.array([float((pools == pool).sum()) ** -0.5 for pool in pools])
    ranked = sorted(range(len(grid)), key=lambda place: -float(weights @ every[place].likelihood))
    for place in ranked[:SHOWN]:
        each = every[place]
        click.echo(
            f"{grid[place]}: likelihood {weights @ each.likelihood / weights.sum():.3f}, "
            f"median error {np.median(each.error):.3f}, inside {each.inside.mean():.2f}"
        )
    likelihood, error, inside = (np.zeros(len(found)) for _ in range(3))
    for pool in dict.fromkeys(pools):
        others, own = np.where(pools == pool, 0.0, weights), pools == pool
        best = max(every, key=lambda each: float(others @ each.likelihood))
        likelihood[own], error[own], inside[own] = best.likelihood[own], best.error[own], best.inside[own]
    click.echo(
        f"each pool by the others: likelihood {weights @ likelihood / weights.sum():.3f}, "
        f"median error {np.median(error):.3f}, inside {inside.mean():.2f}"
    )
    for pair in dict.fromkeys(event.pair for event in found):
        here = np.array([event.pair == pair for event in found])
        click.echo(f"    {pair}: median error {np.median(error[here]):.3f}, inside {inside[here].mean():.2f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--grid", action="store_true")
    given = parser.parse_args()
    found = events(given.pairs)
    rows = []
    for event in found:
        low, middle, high = (math.log(each) for each in event.work.quantiles)
        inside = low <= event.truth <= high
        rows.append((event.pair, abs(middle - event.truth), abs(event.simple - event.truth), inside))
        error, simple = middle - event.truth, event.simple - event.truth
        click.echo(f"{event.pool:22} {event.pair:22} {error:6.2f} {simple:6.2f} {inside}")
    for pair in ("", *sorted({row[0] for row in rows})):
        here = [row for row in rows if pair in ("", row[0])]
        mine, simple = (float(np.median([row[column] for row in here])) for column in (1, 2))
        held = sum(row[3] for row in here)
        click.echo(
            f"{pair or 'all'}: {mine:.2f}, last duration times ALLOC {simple:.2f}; "
            f"p10-p90 holds {held} of {len(here)}"
        )
    if given.grid:
        held_out(found)


if __name__ == "__main__":
    main()
