"""How often the sampled interval holds the exact answer: ``python -m tests.statistical.coverage [COUNT]``.

Scenarios are generated; their pools are small enough to be run whole.  Printed are, by class, the bias of the
sampled answer, its error, and the share of intervals (95 %) that hold the exact one, beside the binomial band
that this share should lie in with 99 %.  Exact answers are kept in the file that ``--answers FILE`` names.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from zsim.base.errors import ZsimError
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.pool.simulator.population import HistoryError
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.middle_world import middle_world
from zsim.prediction.runs.sampling.windows import WindowPlan
from zsim.scenario.model import Scenario

LAYOUTS = ("raidz1x3", "raidz1x5", "raidz2x6", "raidz2x8", "raidz3x9", "mirror2", "mirror3", "2*mirror2")
HISTORIES = (
    "media-server", "home-nas", "backup-target", "vm-host", "database", "small-files", "maildir",
    "write-once-archive",
)  # fmt: skip
SORTED = ("openzfs-2.3", "openzfs-2.1", "openzfs-0.8")
LEGACY = ("openzfs-0.7", "freebsd-9.1")
CLASSES = ("sorted", "legacy", "scrub", "draid", "tiles")
BLOCKS = (60_000, 100_000, 150_000)
TILED = 1_200_000
PLAN = WindowPlan(operations=16_000, most=48_000, whole=10_000)
"""As `zsim predict` samples pools a few times larger."""
WHOLE = 2_000_000


@dataclass(frozen=True)
class Trial:
    """One scenario: its class, sampled over exact duration, half the interval over the exact duration."""

    number: int
    kind: str
    exact_s: float
    ratio: float
    half: float
    complete: bool

    @property
    def covered(self) -> bool:
        """Whether the interval holds the exact answer."""
        return abs(self.ratio - 1.0) <= self.half + 1e-9


def drawn(number: int) -> dict[str, Any]:
    """Return the fields of a generated scenario; its class follows from its number."""
    chance = random.Random(number)
    kind = CLASSES[number % len(CLASSES)]
    stated = {
        "layout": chance.choice(LAYOUTS),
        "release": chance.choice(SORTED if kind in ("sorted", "draid") else SORTED + LEGACY),
        "history": chance.choice(HISTORIES),
        "fill": round(chance.uniform(0.2, 0.8), 2),
        "write_cache": chance.random() < 0.6,
        "operation": "scrub" if kind == "scrub" else "resilver",
        "seed": number,
    }
    if kind == "legacy":
        stated["release"] = chance.choice(LEGACY)
    if kind == "draid":
        stated["layout"] = chance.choice(("draid1:3d:8c:1s", "draid2:4d:11c:1s", "draid2:6d:14c:2s"))
        stated["release"] = chance.choice(("openzfs-2.1", "openzfs-2.3"))
    return stated


def resolved(stated: dict[str, Any], drive_size: int) -> Case:
    """Return a scenario with drives of a size."""
    scenario = Scenario.from_dict({**stated, "drive_size": drive_size})
    return resolve(scenario)


def scenario_of(number: int) -> Case:
    """Return a generated scenario on drives small enough for about as many blocks as wanted."""
    stated = drawn(number)
    tiled = CLASSES[number % len(CLASSES)] == "tiles"
    wanted = TILED if tiled else random.Random(number + 1).choice(BLOCKS)
    pool = miniature(resolved(stated, 10**12), blocks=6_000)
    return resolved(stated, int(10**12 * wanted / (len(pool.table) * pool.scale)))


def trial(number: int, known: dict[int, float]) -> Trial | None:
    """Run one scenario both ways; None if its pool cannot be filled as asked."""
    kind = CLASSES[number % len(CLASSES)]
    try:
        one = scenario_of(number)
        tiled = kind == "tiles"
        middle = middle_world(one, blocks=None if tiled else WHOLE)
        assert middle is not None
        if number not in known:
            known[number] = ExactRun(one, lambda share, words: None, whole=WHOLE).execute().time_s
        middle.plan = None if tiled else PLAN
        middle.execute()
    except (ZsimError, HistoryError):
        return None
    exact_s = known[number]
    complete = all(run.complete for run in middle.runs)
    return Trial(number, kind, exact_s, middle.time_s / exact_s, middle.half_width_s / exact_s, complete)


@dataclass(frozen=True)
class Summary:
    """Of some trials: how many were sampled, bias, errors, and intervals that hold the exact answer."""

    count: int
    whole: int
    bias: float
    median_error: float
    most_error: float
    median_half: float
    covered: int
    band: tuple[int, int]


def summary(trials: Sequence[Trial]) -> Summary:
    """Return what trials show; those that were run whole are counted, and left out."""
    sampled = [each for each in trials if not each.complete]
    errors = np.array([each.ratio - 1.0 for each in sampled])
    low, high = stats.binom.interval(0.99, len(sampled), 0.95)
    return Summary(
        count=len(sampled),
        whole=len(trials) - len(sampled),
        bias=float(errors.mean()),
        median_error=float(np.median(np.abs(errors))),
        most_error=float(np.quantile(np.abs(errors), 0.9)),
        median_half=float(np.median([each.half for each in sampled])),
        covered=sum(each.covered for each in sampled),
        band=(int(low), int(high)),
    )


def trials(numbers: Iterable[int], answers: Path | None = None) -> list[Trial]:
    """Run generated scenarios; exact answers are read from a file, and added to it."""
    known: dict[int, float] = {}
    if answers is not None and answers.exists():
        known = {int(number): time for number, time in json.loads(answers.read_text()).items()}
    found = []
    for number in numbers:
        one = trial(number, known)
        if one is None:
            continue
        found.append(one)
        print(json.dumps(asdict(one)), flush=True)
        if answers is not None:
            answers.write_text(json.dumps(known))
    return found


def main() -> None:
    """Run so many scenarios and print what came of them, by class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--answers", type=Path)
    given = parser.parse_args()
    found = trials(range(given.first, given.first + given.count), given.answers)
    for kind in ("all", *CLASSES):
        some = [each for each in found if kind in ("all", each.kind)]
        if not any(not each.complete for each in some):
            continue
        one = summary(some)
        print(
            f"{kind:8s} {one.count:4d} sampled, {one.whole:3d} run whole; bias {one.bias:+.2%}, "
            f"error {one.median_error:.2%} median, {one.most_error:.2%} nine in ten, "
            f"half interval {one.median_half:.2%}; held {one.covered} "
            f"({one.covered / one.count:.1%}), should be {one.band[0]} to {one.band[1]}"
        )


if __name__ == "__main__":
    main()
