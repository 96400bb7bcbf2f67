"""How often the sampled interval holds the exact answer: ``python -m tests.statistical.coverage [COUNT]``.

Scenarios are generated; their pools are small enough to be built and run whole.  Printed are the bias of the
sampled answer, its error, and the share of intervals (95 %) that hold the exact one, beside the binomial band
that this share should lie in with 99 %.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from zsim.drives.catalogue import load_drive
from zsim.errors import ZsimError
from zsim.pool.population import HistoryError
from zsim.predict.ensemble import Member
from zsim.predict.exact import ExactRun
from zsim.predict.member import run_member
from zsim.predict.population import miniature
from zsim.predict.summary import sampling_half_width
from zsim.scenario.model import Scenario
from zsim.scenario.resolve import ResolvedScenario, resolve

LAYOUTS = ("raidz1x3", "raidz1x5", "raidz2x6", "raidz2x8", "raidz3x9", "mirror2", "mirror3", "2*mirror2")
HISTORIES = (
    "media-server", "home-nas", "backup-target", "vm-host", "database", "small-files", "maildir",
    "write-once-archive",
)  # fmt: skip
RELEASES = ("openzfs-2.3", "openzfs-2.1", "openzfs-0.8", "openzfs-0.7", "freebsd-9.1")
BLOCKS = (60_000, 120_000, 200_000)
WHOLE = 1_000_000
SMALL, LARGE, REPEATS = 6_000, 48_000, 3
"""As `zsim.predict.api` samples the middle world."""


@dataclass(frozen=True)
class Trial:
    """One scenario: sampled over exact duration, and whether the interval holds 1."""

    ratio: float
    covered: bool


def drawn(number: int) -> dict[str, Any]:
    """Return the fields of a generated scenario."""
    chance = random.Random(number)
    return {
        "layout": chance.choice(LAYOUTS),
        "release": chance.choice(RELEASES),
        "history": chance.choice(HISTORIES),
        "fill": round(chance.uniform(0.2, 0.85), 2),
        "write_cache": chance.random() < 0.7,
        "seed": number,
    }


def resolved(stated: dict[str, Any], drive_size: int) -> ResolvedScenario:
    """Return a scenario with drives of a size."""
    scenario = Scenario.from_dict({**stated, "drive_size": drive_size})
    return resolve(scenario, lambda name: load_drive(name).capacity_bytes)


def trial(number: int) -> Trial | None:
    """Run one scenario both ways; None if its pool cannot be filled as asked."""
    stated = drawn(number)
    try:
        large = resolved(stated, 10**12)
        pool = miniature(large, Member(), blocks=SMALL)
        wanted = random.Random(number + 1).choice(BLOCKS)
        one = resolved(stated, int(10**12 * wanted / (len(pool.table) * pool.scale)))
        run = ExactRun(one, lambda share, words: None, blocks=WHOLE)
    except (ZsimError, HistoryError):
        return None
    exact = run.execute().time_s
    return Trial(*_sampled(one, exact))


def _sampled(one: ResolvedScenario, exact: float) -> tuple[float, bool]:
    def time(seed: int, blocks: int) -> float:
        seeded = replace(one, seed=one.seed + seed)
        return run_member(seeded, Member(), pool=miniature(seeded, Member(), blocks=blocks)).time_s

    small = [time(100 + repeat, SMALL) for repeat in range(REPEATS)]
    large = time(100, LARGE)
    half = sampling_half_width([each * large / math.exp(float(np.mean(np.log(small)))) for each in small])
    return large / exact, abs(large - exact) <= half


def main(count: int) -> None:
    """Run so many scenarios and print what came of them."""
    found = [each for each in map(trial, range(count)) if each is not None]
    ratios = np.array([each.ratio for each in found])
    covered = sum(each.covered for each in found)
    low, high = stats.binom.interval(0.99, len(found), 0.95)
    print(
        f"{len(found)} scenarios; median of sampled / exact {np.median(ratios):.3f}, mean {ratios.mean():.3f}"
    )
    errors = np.abs(ratios - 1)
    print(f"median error {np.median(errors):.1%}, nine in ten below {np.quantile(errors, 0.9):.1%}")
    print(f"intervals that hold the exact answer: {covered}; should be {low:.0f} to {high:.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
