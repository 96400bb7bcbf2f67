"""How often p10-p90 holds the truth once a scrub is known: ``python -m tests.statistical.evidence [TRUTHS]``.

The pools are given by layout, drive and ALLOC.  Of each, worlds drawn at random are the real pool one after
the other: what its scrub takes there, with noise, is the evidence, and what its resilver takes is the truth.
Printed are, for sorted and legacy scans, the share of intervals that hold it beside the binomial band of
80 %, the median p90/p10 with and without the evidence, and the median error.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import in_world
from zsim.prediction.api import case_of
from zsim.prediction.evidence.noise import noise
from zsim.prediction.evidence.posterior import EvidenceSpread, Seen, posterior
from zsim.prediction.evidence.weighing import Weighing, weighing_of
from zsim.prediction.inputs.ensemble import draw_members, member_at, unknowns
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.statistics.drawn_worlds import MEMBER_BLOCKS
from zsim.prediction.statistics.response import response
from zsim.prediction.work import SEED_STEP
from zsim.scenario.model import Scenario

SORTED = ("openzfs-2.3", "openzfs-2.2", "openzfs-2.1", "openzfs-0.8")
LEGACY = ("zol-0.7", "zol-0.6.5", "freebsd-9.1", "solaris-11.1")
POOLS = (
    ("raidz2x6", "st4000vn008", "14T"), ("raidz2x8", "st18000nm000j", "70T"), ("mirror2", "wd40efrx", "2.2T"),
    ("raidz1x4", "wd30efrx", "6T"), ("raidz3x11", "st8000vn004", "50T"), ("raidz2x5", "st16000nm001g", "40T"),
    ("mirror3", "st10000vn0004", "5T"), ("raidz1x3", "wd80efax", "12T"), ("raidz2x10", "wuh721414", "80T"),
    ("raidz2x7", "st12000vn0008", "55T"),
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One world as the real pool: whether the interval holds it, logarithms of p90/p10 and of the error."""

    covered: bool
    width: float
    error: float


def scenarios(releases: Sequence[str], count: int) -> list[Scenario]:
    """Return so many scenarios, each with a scrub as evidence that is replaced in every trial."""
    found = []
    for number in range(count):
        layout, drive, alloc = POOLS[number % len(POOLS)]
        release = releases[(number + number // len(POOLS)) % len(releases)]
        data: dict[str, Any] = {"layout": layout, "drive": drive, "alloc": alloc, "release": release}
        found.append(Scenario.from_dict({**data, "seed": 7 + number, "evidence": ["scrub=1h"]}))
    return found


def worlds(
    resolved: Case, weighing: Weighing, members: Sequence[Member], step: int, other: bool = False
) -> np.ndarray:
    """Return logarithms of what resilver and scrub take in some worlds, shape (worlds, 2).

    `other`: with the write caches the other way.
    """

    def ran(place: int) -> tuple[float, float]:
        seeded = replace(resolved, seed=resolved.seed + step + SEED_STEP * place)
        member = members[place]
        member = replace(member, write_cache=not member.write_cache) if other else member
        world = in_world(seeded, member)
        result, shown = weighing.run(world, plane_model(world), MEMBER_BLOCKS)
        return math.log(result.time_s), shown[0]

    return np.array(list(map(ran, range(len(members)))))


def trials(scenario: Scenario, truths: int) -> tuple[list[Trial], float]:
    """Return the trials of one scenario, and the logarithm of p90/p10 without evidence.

    The scrub that is seen has the noise of ``models/evidence``, and the resilver that of one event.
    """
    resolved = case_of(scenario)
    weighing = weighing_of(resolved)
    assert weighing is not None
    inputs = unknowns(resolved)
    members = draw_members(inputs, resolved.seed)
    ensemble = worlds(resolved, weighing, members, 0)
    base = response(inputs, np.array([each.scores for each in members]), np.exp(ensemble[:, 0]).tolist())
    without = math.log(base.p90 / base.p10)
    caches = next(each for each in inputs if each.name == "write_cache")
    off = next(choice.share for choice in caches.choices if not choice.value)
    likely = np.array([off if each.write_cache else 1.0 - off for each in members])
    ensemble = np.vstack([ensemble, worlds(resolved, weighing, members, 0, other=True)])
    prior = np.concatenate([1.0 - likely, likely]) / len(members)
    generator = np.random.default_rng(resolved.seed)
    real = [member_at(inputs, tuple(generator.standard_normal(len(inputs)).tolist())) for _ in range(truths)]
    seen_sigma = weighing.comparisons[0].seen.sigma
    chances = EvidenceSpread(noise("scan.pace"), weighing.event)
    found = []
    for world_s, scrub in worlds(resolved, weighing, real, 500_009):
        time = world_s + chances.event * generator.standard_normal()
        seen = Seen(scrub + seen_sigma * generator.standard_normal(), seen_sigma)
        answer = posterior(ensemble[:, 0], ensemble[:, 1:], (seen,), chances, without, prior)
        found.append(Trial(answer.p10 <= time <= answer.p90, answer.p90 - answer.p10, answer.p50 - time))
    return found, without


def report(name: str, releases: Sequence[str], count: int, truths: int) -> list[Trial]:
    """Run and print one kind of scan."""
    every, widths, before = [], [], []
    for scenario in scenarios(releases, count):
        found, without = trials(scenario, truths)
        every += found
        widths.append(float(np.median([each.width for each in found])))
        before.append(without)
        held = sum(each.covered for each in found)
        print(
            f"  {scenario.layout} {scenario.drive} {scenario.release}: p90/p10 {math.exp(widths[-1]):.2f}, "
            f"{math.exp(without):.2f} without, holds {held} of {len(found)}",
            flush=True,
        )
    low, high = stats.binom.interval(0.99, len(every), 0.8)
    share = sum(each.covered for each in every)
    error = float(np.median([abs(each.error) for each in every]))
    print(
        f"{name}: p10-p90 holds {share} of {len(every)} ({share / len(every):.3f}; 80 % gives {low:.0f} to "
        f"{high:.0f}); median p90/p10 {math.exp(float(np.median(widths))):.2f}, without evidence "
        f"{math.exp(float(np.median(before))):.2f}; median error {error:.3f}"
    )
    return every


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("truths", nargs="?", type=int, default=17, help="worlds a scenario")
    parser.add_argument("--count", type=int, default=20, help="sorted scenarios; half as many legacy ones")
    given = parser.parse_args()
    every = report("sorted", SORTED, given.count, given.truths)
    every += report("legacy", LEGACY, given.count // 2, given.truths)
    print(f"all: {sum(each.covered for each in every) / len(every):.3f} of {len(every)}")


if __name__ == "__main__":
    main()
