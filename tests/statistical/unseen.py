"""What p50 is worth in scenarios that nothing was fitted to: ``python -m tests.statistical.unseen FILE``.

Each is predicted with 40 seeds.  The truth for one half of the seeds is made of the runs of the other half:
the surface over all of them gives each world its duration at the size of the pool, and the quantiles are
those of the worlds that were drawn, every use of a pool and state of the write caches with its exact share.
Printed are, by scenario, the error of p10, p50 and p90 (root mean square, and mean), the half width stated of
p50, how often it holds the truth, and where the error of the worlds about the median comes from: what is
off on the smallest populations, and what is off of the step from there to the size of the pool.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.statistical.precision import _Answer
from zsim.prediction.api import case_of
from zsim.prediction.inputs.ensemble import unknowns
from zsim.prediction.inputs.points import points
from zsim.prediction.statistics.drawn_worlds import draws
from zsim.prediction.statistics.slopes import SMALL, Runs, design
from zsim.prediction.statistics.surface import ResponseSurface, WorldRuns, _near, _worlds
from zsim.scenario.model import Scenario

SCENARIOS: dict[str, dict[str, Any]] = {
    "raidz2x8": {"layout": "raidz2x8", "drive_size": 12 * 10**12, "fill": 0.8},
    "legacy-mirror": {"layout": "mirror2", "release": "zol-0.7", "fill": 0.6},
    "legacy-raidz2": {"layout": "raidz2x6", "release": "freebsd-10.3", "drive": "wd40efrx", "fill": 0.4},
    "scrub": {"layout": "2*raidz2x6", "operation": "scrub", "fill": 0.7},
    "rebuild": {"layout": "draid1:4d:11c:1s", "operation": "rebuild", "fill": 0.6},
    "SSD": {"layout": "mirror2", "drive": "860-evo-1tb", "fill": 0.6},
    "vm-host": {"layout": "raidz2x10", "history": "vm-host", "fill": 0.5},
    "loaded": {"layout": "raidz1x5", "fill": 0.5, "load": [{"kind": "random-read", "rate": 20}]},
    # Nobody says how much memory the host has, and a sorted scan may be short of it.
    "home": {"layout": "raidz2x6", "drive_size": 8 * 10**12, "fill": 0.62, "history": "home-nas"},
    "home-scrub": {
        "layout": "raidz3x11", "drive_size": 12 * 10**12, "fill": 0.5, "history": "home-nas",
        "operation": "scrub",
    },
    "backup": {"layout": "2*raidz2x8", "drive_size": 16 * 10**12, "fill": 0.7, "history": "backup-target"},
    "use-unknown": {"layout": "raidz2x6", "drive_size": 18 * 10**12, "fill": 0.6},
    "vm-mirrors": {"layout": "4*mirror2", "drive_size": 4 * 10**12, "fill": 0.5, "history": "vm-host"},
}  # fmt: skip
SHARES = (0.1, 0.5, 0.9)
COLUMNS = ("scores", "blocks", "times", "clients")
"""Of the runs of an answer."""


def answered(stated: dict[str, Any]) -> dict[str, Any]:
    """Return quantiles and stated half width of one answer, and the runs that it was made of."""
    work = _Answer(case_of(Scenario.from_dict(stated)), lambda share, what: None)
    work.run()
    ran = work._runs()
    runs = {name: np.broadcast_to(getattr(ran, name), len(ran.times)).tolist() for name in COLUMNS[1:]}
    runs["scores"] = ran.scores.tolist()
    return {"q": work.quantiles, "half": work.half_width, "drawn": len(work.small), **runs}


def together(rows: Sequence[dict[str, Any]]) -> WorldRuns:
    """Return the runs of answers in one."""
    return WorldRuns(*(np.concatenate([row[name] for row in rows]) for name in COLUMNS))


def over(surface: ResponseSurface, ran: WorldRuns, rows: np.ndarray) -> np.ndarray:
    """Return the logarithm of the duration in the worlds of the surface."""
    at = points(surface.case, surface.inputs, ran.scores)
    seen, runs = design(at, ran.blocks), Runs(_worlds(ran.scores), at["use"], ran.blocks, ran.clients)
    away = np.log(ran.times) - at["data"] - seen @ surface.slopes
    known = surface.prior.conditioned_on(seen, runs, away)
    return rows @ surface.slopes + surface.data + surface.prior.expected(rows, known)


def truth(surface: ResponseSurface, rows: Sequence[dict[str, Any]]) -> np.ndarray:
    """Return the logarithm of the quantiles over all worlds, from the runs of many answers.

    Worlds that were not run are as the regression over all of these runs has them, and lie beyond it as each
    of the worlds does that were run and are of the same use, caches and class of drives (regression
    estimator: Cochran, Sampling Techniques, 1977, chapter 7).  The quantiles over the 320 worlds alone that
    were run have errors of 4 %.
    """
    ran = together(rows)
    firsts = np.cumsum([0, *(len(row["times"]) for row in rows[:-1])])
    # Where worlds are much work an answer draws fewer of them.
    drawn = np.concatenate([first + np.arange(row["drawn"]) for first, row in zip(firsts, rows, strict=True)])
    told = surface.estimate(ran)
    beyond = np.log(told.own[drawn]) - np.log(told.expected[drawn])
    here = _strata(points(surface.case, surface.inputs, ran.scores[drawn]))
    whole = _strata(points(surface.case, surface.inputs, draws(len(surface.inputs))))
    expected = over(surface, ran, surface.whole)
    parts = [(expected[place], beyond[here == each]) for place, each in enumerate(whole)]
    # Of what no answer drew, for it is rare, nothing is known beyond the regression.
    known = [middle + (far if len(far) else np.zeros(1)) for middle, far in parts]
    values, weights = (
        np.concatenate(known),
        np.concatenate([np.full(len(each), 1.0 / len(each)) for each in known]),
    )
    order = np.argsort(values)
    below = np.cumsum(weights[order]) - weights[order] / 2.0
    return np.interp(SHARES, below / weights.sum(), values[order])


def _strata(at: Any) -> np.ndarray:
    """Return a number for each use of a pool, state of the write caches, and class of drives."""
    found: np.ndarray = 4.0 * at["use"] + 2.0 * at["cache_off"] + at["slower_class"]
    return found


def report(name: str, rows: list[dict[str, Any]]) -> None:
    """Print what the answers of one scenario are worth."""
    case = case_of(Scenario.from_dict({**SCENARIOS[name], "seed": 1}))
    surface = ResponseSurface(case, unknowns(case))
    half = len(rows) // 2
    truths = [truth(surface, rows[half:])] * half + [truth(surface, rows[:half])] * (len(rows) - half)
    off = np.log([row["q"] for row in rows]) - np.array(truths)
    stated = np.array([row["half"] for row in rows])
    every = together(rows)
    near = _near(over(surface, every, surface.whole), 0.5)
    ends = [near @ over(surface, every, each) for each in (surface.whole, surface.small)]
    sides = np.array([
        [near @ over(surface, together([row]), each) - end
         for each, end in zip((surface.whole, surface.small), ends, strict=True)]
        for row in rows
    ])  # fmt: skip
    parts = (sides[:, 1], sides[:, 0] - sides[:, 1])
    print(
        f"{name:14}", " ".join(f"{100 * each:5.1f}" for each in np.sqrt((off**2).mean(axis=0))), "  mean",
        " ".join(f"{100 * each:+6.1f}" for each in off.mean(axis=0)), f"  half {stated.mean():.1%}",
        f"held {int((np.abs(off[:, 1]) <= stated).sum())}/{len(rows)}",
        f"  at {SMALL:,} blocks, of size:", *(f"{100 * np.sqrt((part**2).mean()):.1f}" for part in parts),
    )  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, help="kept here, so that it can go on later")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--only", nargs="*", choices=list(SCENARIOS), default=list(SCENARIOS))
    chosen = parser.parse_args()
    lines = chosen.answers.read_text(encoding="utf-8").splitlines() if chosen.answers.exists() else []
    known = {(row["name"], row["seed"]): row for row in map(json.loads, lines)}
    for name in chosen.only:
        stated = SCENARIOS[name]
        for seed in range(1, chosen.seeds + 1):
            if (name, seed) not in known:
                row = {"name": name, "seed": seed, **answered({**stated, "seed": seed})}
                known[name, seed] = row
                with chosen.answers.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
        report(name, [known[name, seed] for seed in range(1, chosen.seeds + 1)])


if __name__ == "__main__":
    main()
