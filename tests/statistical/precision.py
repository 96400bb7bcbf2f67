"""How precise a default answer is, and whether it says so: ``python -m tests.statistical.precision FILE``.

Scenarios of different kinds are predicted with several seeds (``--seeds``, 40); the truth is the mean of
answers of other seeds that were asked for 1 %.  Printed are, by scenario, the standard deviation of p10, p50
and p90 over the seeds, how far their mean is from the truth, the half width that is stated of p50, how often
it holds the truth, and CPU seconds.  Answers are kept in the file, so that it can go on later.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from zsim.prediction.api import case_of
from zsim.prediction.work import Work
from zsim.scenario.model import Scenario

SCENARIOS: dict[str, dict[str, Any]] = {
    "raidz2x6": {"layout": "raidz2x6", "fill": 0.62},
    "mirror": {"layout": "mirror2", "drive": "wd40efrx", "fill": 0.5},
    "dRAID": {"layout": "draid2:4d:11c:1s", "fill": 0.5},
    "wide": {"layout": "raidz3x11", "drive_size": 8 * 10**12, "fill": 0.7},
    "SSD": {"layout": "raidz1x4", "drive": "870-evo-4tb", "fill": 0.5},
    "legacy": {"layout": "raidz1x5", "release": "zol-0.7", "fill": 0.5},
    "small": {"layout": "raidz1x3", "drive_size": 40 * 10**9, "fill": 0.6},
    "fresh": {
        "layout": "raidz1x4", "release": "zol-0.6.5", "history": "write-once-archive", "fill": 0.5,
    },
    "loaded": {"layout": "2*mirror2", "fill": 0.5, "load": [{"kind": "random-read", "rate": 50}]},
}  # fmt: skip
TRUE_SEEDS, FIRST_TRUE = 2, 100_001
PRECISE = 0.01


class _Answer(Work):
    """A prediction without what is said beside the duration."""

    def _look_closer(self) -> None:
        """Leave it out."""


def answered(stated: dict[str, Any]) -> dict[str, Any]:
    """Return quantiles, stated half width, worlds and CPU seconds of one answer."""
    begun = time.process_time()
    work = _Answer(case_of(Scenario.from_dict(stated)), lambda share, what: None)
    work.run()
    return {
        "quantiles": work.quantiles,
        "half": work.half_width,
        "worlds": work.worlds,
        "cpu_s": time.process_time() - begun,
    }


def measure(path: Path, names: list[str], seeds: int) -> dict[tuple[str, int], dict[str, Any]]:
    """Return all answers, those of the file first."""
    known = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            known[row["name"], row["seed"]] = row
    wanted = [*range(1, seeds + 1), *range(FIRST_TRUE, FIRST_TRUE + TRUE_SEEDS)]
    for seed in wanted:
        for name in names:
            if (name, seed) in known:
                continue
            stated = {**SCENARIOS[name], "seed": seed}
            if seed >= FIRST_TRUE:
                stated["precision"] = PRECISE
            row = {"name": name, "seed": seed, **answered(stated)}
            known[name, seed] = row
            with path.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
    return known


def table(known: dict[tuple[str, int], dict[str, Any]], names: list[str], seeds: int) -> None:
    """Print what the answers show."""
    print("scenario   sd p10 / p50 / p90     off p10 / p50 / p90      half   held    CPU s |", end=" ")
    print("asked for 1 %: apart, half, worlds, CPU s")
    for name in names:
        few = [known[name, seed] for seed in range(1, seeds + 1) if (name, seed) in known]
        true = [
            known[name, seed] for seed in range(FIRST_TRUE, FIRST_TRUE + TRUE_SEEDS) if (name, seed) in known
        ]
        if not few or not true:
            continue
        logs = np.log([row["quantiles"] for row in few])
        truth = np.log([row["quantiles"] for row in true])
        half, middle = np.array([row["half"] for row in few]), truth.mean(axis=0)
        held = int((np.abs(logs[:, 1] - middle[1]) <= half).sum())
        spread = " / ".join(f"{100 * each:4.1f}" for each in logs.std(axis=0, ddof=1))
        bias = " / ".join(f"{100 * each:+5.1f}" for each in logs.mean(axis=0) - middle)
        print(
            f"{name:10} {spread:22} {bias:24} {half.mean():6.1%} {held:3}/{len(few):3} "
            f"{np.mean([row['cpu_s'] for row in few]):6.2f} | {float(np.ptp(truth[:, 1])):.2%} "
            f"{max(row['half'] for row in true):.2%} {max(row['worlds'] for row in true):5} "
            f"{max(row['cpu_s'] for row in true):6.1f}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--only", nargs="*", choices=list(SCENARIOS), default=list(SCENARIOS))
    parser.add_argument("--print", action="store_true", help="run nothing more")
    chosen = parser.parse_args()
    known = (
        measure(chosen.answers, chosen.only, 0 if chosen.print else chosen.seeds)
        if not chosen.print
        else {
            (row["name"], row["seed"]): row
            for row in map(json.loads, chosen.answers.read_text().splitlines())
        }
    )
    table(known, chosen.only, chosen.seeds)


if __name__ == "__main__":
    main()
