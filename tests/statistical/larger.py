"""What answers are worth against much larger populations: ``python -m tests.statistical.larger FILE``.

Generated scenarios (those of ``validation/fit_response.py``, of numbers that nothing was fitted to) are
predicted; then the three worlds nearest to p50 are run on populations of 300,000 blocks (``--blocks``), four
times as large as those that the prior was learned on.  Printed are, by class of scenario, the mean of the
logarithm of answer over large run, its root mean square and median, how many lie within the half width that
is stated, and what those of the regression are to be taken times so that they hold 95 %, less the scatter
that three worlds leave open (``models/prediction/response.toml``, ``beyond_sorted`` and the others); last the
scenarios that are furthest off.  Answers are kept in the file, so that it can go on later.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.statistical.precision import _Answer
from zsim.base.errors import ZsimError
from zsim.pool.simulator.population import HistoryError
from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.runs.one_tile import run_world
from zsim.prediction.statistics.surface import BEYOND
from zsim.scenario.model import Scenario

ROOT = Path(__file__).resolve().parents[2]
FIRST, COUNT, BLOCKS, WORLDS, SHOWN = 31_000, 60, 300_000, 3, 8
HELD, SIGMAS = 0.95, 1.96


def compared(stated: dict[str, Any], blocks: int) -> dict[str, Any]:
    """Return logarithms of what worlds take by an answer over what they take on large populations."""
    work = _Answer(case_of(Scenario.from_dict(stated)), lambda share, what: None)
    work.run()
    assert work._surface is not None
    surface = work._surface
    own = surface.estimate(work._runs()).own[: len(work.small)]
    places = np.argsort(np.abs(np.log(own / work.quantiles[1])))[:WORLDS] if len(own) > 1 else [0]
    off = [
        float(np.log(own[place] / run_world(work.world(int(place)).case, blocks, plane_model).time_s))
        for place in places
    ]
    return {
        "class": surface.errors_as,
        "off": off,
        "half": work.half_width,
        "beyond": surface.beyond,
        "p50_s": work.quantiles[1],
    }


def _errors(rows: list[dict[str, Any]]) -> NDArray[np.float64]:
    """Return the mean of each scenario's worlds."""
    return np.array([np.mean(row["off"]) for row in rows])


def needed(rows: list[dict[str, Any]]) -> float:
    """Return what half widths of the regression are to be taken times so that they hold 95 % of the errors.

    An error is a mean over worlds; the variance of that is taken off, half of it the scenario's own and half
    that of its class: two degrees of freedom say little.
    """
    half = np.array([row["half"] / row["beyond"] for row in rows])
    error = _errors(rows)
    chance = np.array([np.var(row["off"], ddof=1) / WORLDS if len(row["off"]) > 1 else 0.0 for row in rows])
    chance /= half**2
    usual = min(float(np.mean(chance)), 1.5 * float(np.median(chance)))
    left = (error / half) ** 2 - SIGMAS**2 * (0.5 * chance + 0.5 * usual)
    return math.sqrt(max(0.0, float(np.quantile(left, HELD))))


def report(rows: list[dict[str, Any]]) -> None:
    """Print what came of them."""
    for name in BEYOND:
        chosen = [row for row in rows if row["class"] == name]
        if chosen:
            off, half = _errors(chosen), np.array([row["half"] for row in chosen])
            print(
                f"{name:15} {len(chosen):3d}  mean {np.mean(off):+.1%}  root mean square "
                f"{np.sqrt(np.mean(off**2)):.1%}  median {np.median(np.abs(off)):.1%}  "
                f"held {int((np.abs(off) <= half).sum())}, {HELD:.0%} times {needed(chosen):.2f}"
            )
    off = _errors(rows)
    for place in np.argsort(-np.abs(off))[:SHOWN]:
        print(f"{off[place]:+.1%}", rows[place]["stated"])


def main() -> None:
    """Run and print."""
    sys.path.insert(0, str(ROOT / "validation"))
    from fit_response import drawn

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--blocks", type=int, default=BLOCKS)
    chosen = parser.parse_args()
    lines = chosen.answers.read_text(encoding="utf-8").splitlines() if chosen.answers.exists() else []
    known = {row["number"]: row for row in map(json.loads, lines)}
    for number in range(chosen.first, chosen.first + chosen.count):
        if number in known:
            continue
        stated = drawn(number)
        try:
            found = compared(stated, chosen.blocks)
        except (ZsimError, HistoryError) as error:
            print(f"{number}: {error}", file=sys.stderr)
            continue
        known[number] = {"number": number, "stated": stated, **found}
        with chosen.answers.open("a", encoding="utf-8") as out:
            out.write(json.dumps(known[number]) + "\n")
    report([known[number] for number in sorted(known)])


if __name__ == "__main__":
    main()
