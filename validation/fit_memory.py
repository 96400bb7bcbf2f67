"""Add to ``models/response/worlds.json`` how the duration depends on the memory that a sorted scan lacks.

``python validation/fit_memory.py collect PAIRS.jsonl [FIRST COUNT]`` runs worlds of the generated scenarios
of ``fit_response.py`` twice, once with the memory that was drawn and once with enough, and appends one line a
scenario (what is there is kept).  ``python validation/fit_memory.py fit PAIRS.jsonl`` writes the columns of
`MEMORY_BY_USE` and `MEMORY_OVERALL` anew: all that the two runs have in common is gone from the difference of
their logarithms, so that a few hundred scenarios are enough.  Mixed linear model by expectation and
maximisation (Laird, Ware, Biometrics 38, 1982).
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

import numpy as np
from fit_response import LOOSE, TIED, WORLDS, columns_of, drawn, even, main, rounded

from zsim.base.errors import ZsimError
from zsim.case.worlds import USES, in_world
from zsim.pool.simulator.population import HistoryError
from zsim.prediction.api import case_of
from zsim.prediction.inputs.ensemble import draw_members, member_at, place_of, unknowns
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.points import kind_of_scenario, points
from zsim.prediction.runs.one_tile import run_world
from zsim.prediction.statistics.slopes import (
    BY_USE,
    CLASSES,
    MEMORY_BY_USE,
    MEMORY_OVERALL,
    OVERALL,
    SMALL,
    TILE,
    design,
    slope_count,
    slopes_of,
)
from zsim.prediction.statistics.surface import REFERENCE
from zsim.scenario.model import Scenario

RUNS = ((SMALL, 12, 0), (TILE // 4, 2, 3), (TILE // 2, 2, 7), (TILE, 2, 0), (REFERENCE, 1, 1))
"""Blocks of a population, pairs of runs on such, and which world is the first of these."""
PLACES, ROUNDS = slopes_of(MEMORY_BY_USE, MEMORY_OVERALL), 30
"""Of the slopes in the prior, and rounds of the fit."""
SHARED = np.arange(len(MEMORY_BY_USE))
WHICH = np.concatenate(
    [
        SHARED,
        len(SHARED) + np.repeat(SHARED, len(USES)),
        2 * len(SHARED) + np.arange(len(MEMORY_OVERALL)),
    ]
)
"""The variance of each effect, by its place: those of the uses of one column have the same."""


def ran(number: int) -> dict[str, Any] | None:
    """Return the pairs of one scenario; None of one whose duration memory has no part in."""
    stated = drawn(number)
    case = case_of(Scenario.from_dict(stated))
    inputs = unknowns(case)
    if place_of(inputs, "memory") is None:
        return None
    members = draw_members(inputs, number * 10, max(count for _, count, _ in RUNS))
    scores = [even(inputs, each.scores) for each in members]
    at: list[dict[str, np.ndarray]] = []
    blocks, enough, short = [], [], []
    for size, count, first in RUNS:
        for step in range(count):
            place = (first + step) % len(scores)
            seeded = dataclasses.replace(case, seed=1_000_003 * step + 77 * number + size)
            member = member_at(inputs, scores[place])
            here = points(case, inputs, np.array([scores[place]]))
            if here["scarce"][0] <= 0.0:
                continue
            try:
                times = [
                    run_world(in_world(seeded, each), size, plane_model).time_s
                    for each in (dataclasses.replace(member, memory=None), member)
                ]
            except (ZsimError, HistoryError):
                continue
            at.append(here)
            blocks.append(size)
            enough.append(times[0])
            short.append(times[1])
    if not at:
        return None
    pairs = {"at": columns_of(at), "blocks": blocks, "enough": enough, "short": short}
    return {"number": number, "stated": stated, **pairs}


class Pairs:
    """The pairs of one scenario as arrays."""

    def __init__(self, data: dict[str, Any]) -> None:
        case = case_of(Scenario.from_dict(data["stated"]))
        at = {name: np.array(values) for name, values in data["at"].items()}
        blocks = np.array(data["blocks"], dtype=float)
        enough = {**at, "scarce": np.zeros(len(blocks))}
        self.rows = (design(at, blocks) - design(enough, blocks))[:, PLACES]
        self.logs = np.log(np.array(data["short"]) / np.array(data["enough"]))
        self.kind = np.array(list(kind_of_scenario(case).values()))
        self.use = at["use"].astype(int)
        # Effects in the order of the variances: what uses share, what each has, what all have one of.
        count = len(MEMORY_BY_USE)
        by_use = self.rows[:, : count * len(USES)].reshape(-1, count, len(USES))
        self.effects = np.concatenate([by_use.sum(axis=2), self.rows], axis=1)


@dataclasses.dataclass
class Fitted:
    """Mean slopes by kind, variances of scenarios' slopes about them, and of single pairs.

    Attributes
    ----------
    mean : ndarray, shape (kinds, slopes)
    variances : ndarray, shape (2 * by use + overall,)
        In the order of `zsim.prediction.statistics.slopes.slope_covariance`.
    noise : ndarray, shape (uses,)
    """

    mean: np.ndarray
    variances: np.ndarray
    noise: np.ndarray


def fitted(scenarios: list[Pairs], rounds: int = ROUNDS) -> Fitted:
    """Return the model under which the differences of all pairs are most likely."""
    kinds, slopes, uses = len(scenarios[0].kind), scenarios[0].rows.shape[1], len(USES)
    found = Fitted(np.zeros((kinds, slopes)), np.full(WHICH[-1] + 1, 0.02), np.full(uses, 0.02))
    for _ in range(rounds):
        found.mean = _mean(scenarios, found)
        squares, left, pairs = np.zeros(len(WHICH)), np.zeros(uses), np.zeros(uses)
        for each in scenarios:
            spread, noise = found.variances[WHICH], found.noise[each.use]
            across, inverse = _conditioned(each, found)
            away = each.logs - each.rows @ (each.kind @ found.mean)
            effect = across.T @ inverse @ away
            squares += effect**2 + spread - np.einsum("re,rs,se->e", across, inverse, across)
            rest = away - each.effects @ effect
            open_ = noise - noise**2 * np.diag(inverse)
            left += np.bincount(each.use, rest**2 + open_, uses)
            pairs += np.bincount(each.use, minlength=uses)
        sums = np.bincount(WHICH, squares) / np.bincount(WHICH)
        found.variances, found.noise = np.maximum(sums / len(scenarios), 1e-7), left / pairs
    return found


def _conditioned(each: Pairs, found: Fitted) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance of pairs with the effects of their scenario, and the inverse of their own."""
    across = each.effects * found.variances[WHICH]
    return across, np.linalg.inv(across @ each.effects.T + np.diag(found.noise[each.use]))


def _mean(scenarios: list[Pairs], found: Fitted) -> np.ndarray:
    """Return the slopes of all kinds: generalised least squares, drawn to 0 as far as scenarios differ."""
    kinds, slopes = found.mean.shape
    left, right = np.zeros((kinds * slopes, kinds * slopes)), np.zeros(kinds * slopes)
    for each in scenarios:
        told = each.rows.T @ _conditioned(each, found)[1]
        left += np.kron(np.outer(each.kind, each.kind), told @ each.rows)
        right += np.kron(each.kind, told @ each.logs)
    tied = np.array([LOOSE] + [TIED] * (kinds - 1))
    own = found.variances[WHICH][len(MEMORY_BY_USE) :].copy()
    own[: len(MEMORY_BY_USE) * len(USES)] += np.repeat(found.variances[: len(MEMORY_BY_USE)], len(USES))
    left[np.diag_indices(len(left))] += (tied[:, None] / np.maximum(own, 1e-5)[None, :]).ravel()
    return np.linalg.solve(left, right).reshape(kinds, slopes)


def check(scenarios: list[Pairs]) -> None:
    """Print how far pairs are from what scenarios that the fit has not seen say of them."""
    off, use, size = [], [], []
    for part in range(3):
        found = fitted([each for place, each in enumerate(scenarios) if place % 3 != part])
        for each in scenarios[part::3]:
            off.extend(each.logs - each.rows @ (each.kind @ found.mean))
            use.extend(each.use)
            size.extend(each.logs)
    away, by_use = np.array(off), np.array(use)
    for name, rows in (("all", by_use >= 0), *((USES[place], by_use == place) for place in range(len(USES)))):
        rms = [float(np.sqrt(np.mean(values[rows] ** 2))) for values in (np.array(size), away)]
        sys.stdout.write(f"{name}: {rows.sum()} pairs, {rms[0]:.3f} long, off {rms[1]:.3f}\n")


def fit(scenarios: list[Pairs]) -> None:
    """Write the columns of memory into the prior."""
    found, data = fitted(scenarios), json.loads(WORLDS.read_text(encoding="utf-8"))
    mean = np.array(data["mean"])
    if len(mean) < slope_count():
        kept = np.setdiff1d(np.arange(slope_count()), PLACES)
        mean, old = np.zeros((slope_count(), mean.shape[1])), mean
        mean[kept] = old
    mean[PLACES] = found.mean.T
    data["mean"] = rounded(mean)
    # What two runs of any world differ by is known.
    chance = 2.0 * (data["chance"] + data["of_size"]) * np.array(data["of_use"][CLASSES[0]])
    data["of_memory"] = rounded(np.maximum(found.noise - chance, 0.0))
    count = len(MEMORY_BY_USE)
    parts = found.variances[:count], found.variances[count : 2 * count], found.variances[2 * count :]
    for name, names, values in zip(
        ("alike", "own", "overall"), (BY_USE, BY_USE, OVERALL), parts, strict=True
    ):
        added = len(values)
        for each in data[name]:
            data[name][each] = data[name][each][: len(names) - added] + rounded(values)
    pairs = sum(len(each.logs) for each in scenarios)
    data["source_of_memory"] = (
        f"{pairs} pairs of runs of {len(scenarios)} generated scenarios (validation/fit_memory.py): "
        f"{', '.join(MEMORY_BY_USE + MEMORY_OVERALL)}"
    )
    WORLDS.write_text(json.dumps(data) + "\n", encoding="utf-8")
    for name, noise in zip(USES, found.noise, strict=True):
        sys.stdout.write(f"{name}: noise of a pair {noise**0.5:.3f}\n")


if __name__ == "__main__":
    main(sys.argv[1:], ("0", "1600"), ran, Pairs, {"fit": fit, "check": check})
