"""Write ``models/response/worlds.json``: how the duration depends on what nobody states, from many scenarios.

``python validation/fit_response.py collect RUNS.jsonl [FIRST COUNT]`` runs generated scenarios, possible
worlds of each on populations of several sizes, and appends one line a scenario (about 4 CPU seconds each;
what is there is kept, so that it can be interrupted).  ``python validation/fit_response.py fit RUNS.jsonl``
writes the prior: mean of the slopes of a hierarchical linear regression, and the variances of what they, the
worlds and the runs differ by, of the largest restricted likelihood (Patterson and Thompson, Biometrika 58,
1971; scenarios weighed as in a multivariate t: Lange, Little, Taylor, JASA 84, 1989).
``python validation/fit_response.py check RUNS.jsonl`` fits two thirds of the scenarios and says how far
the answer from few runs of each of the others is from that of all runs of it.  Run it anew after a change
that moves durations by more than chance does, and ``fit_memory.py fit`` after it;
``tests/statistical/precision.py`` measures what it is worth.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from zsim.base import model_data
from zsim.base.errors import ZsimError
from zsim.case.worlds import USES, in_world
from zsim.pool.simulator.population import HistoryError
from zsim.prediction.api import case_of
from zsim.prediction.inputs.ensemble import NORMAL, Unknown, draw_members, member_at, unknowns
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.points import kind_of_scenario, points
from zsim.prediction.runs.one_tile import run_world
from zsim.prediction.statistics.drawn_worlds import draws
from zsim.prediction.statistics.sampling import student
from zsim.prediction.statistics.slopes import (
    BY_USE,
    CLASSES,
    OVERALL,
    SMALL,
    TILE,
    Runs,
    SlopePrior,
    class_of,
    design,
    slope_covariance,
    with_open_level,
)
from zsim.prediction.statistics.surface import REFERENCE
from zsim.scenario.model import Scenario

Scenarios = TypeVar("Scenarios")
WORLDS = model_data.models_directory() / "response" / "worlds.json"
LAYOUTS = (
    "raidz1x3", "raidz1x4", "raidz1x5", "raidz2x6", "raidz2x6", "raidz2x8", "raidz2x10", "raidz3x9",
    "raidz3x11", "raidz3x15", "mirror2", "mirror2", "mirror3", "2*mirror2", "4*mirror2", "2*raidz2x6",
    "3*raidz1x4", "2*raidz2x11", "draid2:4d:11c:1s", "draid1:4d:11c:1s", "draid2:8d:24c:2s",
)  # fmt: skip
WIDE, FIRST_WIDE = (
    "raidz2x16", "raidz3x20", "6*raidz2x8", "draid2:8d:42c:2s", "draid3:8d:42c:1s", "draid2:8d:60c:2s",
    "draid2:11d:106c:2s",
), 1500  # fmt: skip
FIRST_UNSEEN = 30_000
"""Layouts of the scenarios from 1,500 on, of many drives; and the first that nothing is fitted to."""
SORTED = ("openzfs-2.3", "openzfs-2.1", "openzfs-0.8", "openzfs-2.4", "openzfs-2.2")
LEGACY = ("zol-0.7", "freebsd-9.1", "zol-0.6.5", "freebsd-10.3", "solaris-11.1")
DISKS = ("wd40efrx", "ultrastar-he8", "mg08aca16", "st4000vn008", "wd30ezrx", "st8000vn004")
FLASH = ("generic-sata-ssd", "860-evo-1tb", "generic-nvme-ssd", "dc-s3700-400gb")
SHINGLED = ("generic-5400rpm-smr", "st8000as0002")
RUNS = ((SMALL, 24, 0), (TILE // 4, 6, 0), (TILE // 2, 5, 6), (TILE, 2, 11), (REFERENCE, 1, 11))
"""Blocks of a population, worlds that are run on such, and which is the first of these."""
ROUNDS, MEANS = 24, (0, 6, 14)
"""Of the fit, and those before which the mean is fitted anew."""
WEIGHT = 8.0
"""Runs in whose place the scatter of all scenarios stands for that of one: degrees of freedom of their t."""
LOOSE, TIED, MOST_LEVERAGE = 0.05, 5.0, 0.8
"""Scenarios in whose place slopes are taken for 0: those of any kind, and what a kind has beside them."""
SHARED, OF_USE, ALIKE_USE = 15.0, 2.0, 0.25
"""Scenarios, runs, and share by which what one class shows is drawn to what both do."""
FIRST = (0.023**2, 0.054**2, 0.030**2, 0.025**2)
"""Variances of worlds and runs that the fit begins at: 10 scenarios of 12 worlds, five runs of each."""


def drawn(number: int) -> dict[str, Any]:
    """Return the fields of a generated scenario."""
    chance = random.Random(9000 + number)
    layouts = WIDE if FIRST_WIDE <= number < FIRST_UNSEEN else LAYOUTS
    found: dict[str, Any] = {"layout": chance.choice(layouts), "seed": number}
    draid = "draid" in found["layout"]
    newer = chance.random() < 0.6
    found["release"] = chance.choice(
        ("openzfs-2.3", "openzfs-2.1", "openzfs-2.4") if draid else SORTED if newer else LEGACY
    )
    modern = found["release"].startswith("openzfs-2")
    share = chance.random()
    if share < 0.15:
        found["operation"] = "scrub"
    elif share < 0.27 and modern and "raidz" not in found["layout"]:
        found["operation"] = "rebuild"
    share = chance.random()
    kinds = ((0.4, ()), (0.82, DISKS), (0.95, FLASH), (1.0, SHINGLED))
    names = next(names for least, names in kinds if share <= least)
    if names:
        found["drive"] = chance.choice(names)
    elif chance.random() < 0.5:
        found["drive_size"] = chance.choice((2, 4, 8, 12, 16)) * 10**12
    if chance.random() < 0.75:
        found["fill"] = round(chance.uniform(0.1, 0.9), 2)
    if chance.random() < 0.25:
        found["history"] = chance.choice(USES)
    if chance.random() < 0.15 and modern:
        found["frag"] = round(chance.uniform(0.02, 0.6), 2)
    if chance.random() < 0.15:
        found["recordsize"] = chance.choice(("16K", "128K", "1M")) if modern else "128K"
    if chance.random() < 0.3:
        found["write_cache"] = chance.random() < 0.5
    if chance.random() < 0.15:
        found["load"] = [{"kind": "random-read", "rate": chance.choice((20, 100))}]
    elif chance.random() < 0.1:
        found["load"] = []
    return found


def collect(path: Path, first: int, count: int, run: Callable[[int], dict[str, Any] | None]) -> None:
    """Append what `run` has of scenarios to a file; nothing of one for which it returns None."""
    have = {json.loads(line)["number"] for line in _lines(path)}
    for number in range(first, first + count):
        if number in have:
            continue
        try:
            found = run(number)
        except (ZsimError, HistoryError) as error:
            sys.stderr.write(f"{number}: {error}\n")
            continue
        if found is not None:
            with path.open("a", encoding="utf-8") as out:
                out.write(json.dumps(found) + "\n")


def ran(number: int) -> dict[str, Any]:
    """Return the runs of one scenario: where its worlds lie, blocks and durations."""
    stated = drawn(number)
    case = case_of(Scenario.from_dict(stated))
    inputs = unknowns(case)
    at: list[dict[str, np.ndarray]] = []
    blocks, seconds, worlds, clients = [], [], [], []
    members = draw_members(inputs, number * 10, max(count for _, count, _ in RUNS))
    scores = [even(inputs, each.scores) for each in members]
    for size, count, first in RUNS:
        for step in range(count if inputs else max(1, count // 4)):
            place = (first + step) % max(1, len(scores))
            seeded = dataclasses.replace(case, seed=1_000_003 * step + 77 * number + size)
            world = in_world(seeded, member_at(inputs, scores[place])) if inputs else seeded
            try:
                result = run_world(world, size, plane_model)
            except (ZsimError, HistoryError):
                continue
            at.append(points(case, inputs, np.array([scores[place] if inputs else ()])))
            blocks.append(size)
            seconds.append(result.time_s)
            clients.append(result.clients)
            worlds.append(place)
    return {
        "number": number,
        "stated": stated,
        "at": columns_of(at),
        "blocks": blocks,
        "worlds": worlds,
        "seconds": seconds,
        "clients": clients,
    }


def columns_of(at: list[dict[str, np.ndarray]]) -> dict[str, list[float]]:
    """Return where worlds lie, by column."""
    return {name: np.concatenate([each[name] for each in at]).tolist() for name in at[0]}


def even(inputs: tuple[Unknown, ...], scores: tuple[float, ...]) -> tuple[float, ...]:
    """Return scores at which all uses, and both states of caches, are as frequent: all are to be learned."""
    found = []
    for unknown, score in zip(inputs, scores, strict=True):
        if unknown.name in ("history", "write_cache"):
            shares = np.array([choice.share for choice in unknown.choices])
            ends = np.cumsum(shares) / shares.sum()
            place = min(int(NORMAL.cdf(score) * len(ends)), len(ends) - 1)
            found.append(NORMAL.inv_cdf(float(ends[place] - 0.5 * shares[place] / shares.sum())))
        else:
            found.append(score)
    return tuple(found)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


class Ran:
    """The runs of one scenario as arrays."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        # Anew: what tells scenarios apart may have been thought of since they were run.
        self.case = case_of(Scenario.from_dict(data["stated"]))
        self.kind_of = dict(kind_of_scenario(self.case))
        self.at = {name: np.array(values) for name, values in data["at"].items()}
        blocks = np.array(data["blocks"], dtype=float)
        worlds = np.array(data.get("worlds", range(len(blocks))))
        self.has_pairs = len(np.unique(worlds)) < len(worlds)
        self.runs = Runs(worlds, self.at["use"], blocks, np.array(data.get("clients", np.zeros(len(blocks)))))
        self.rows = design(self.at, blocks)
        self.logs = np.log(data["seconds"]) - self.at["data"]
        self.kind = np.array(list(self.kind_of.values()))
        self.place = CLASSES.index(class_of(self.kind_of))
        self.weights = np.ones(len(blocks))


@dataclasses.dataclass
class Estimated:
    """The prior as far as it is fitted.

    Attributes
    ----------
    mean : ndarray, shape (slopes, kinds)
    leverage : ndarray, shape (kinds, kinds)
    variances : ndarray, shape (classes, 2 * by use + overall)
        Of slopes: what all uses share, what each has for itself, and of those that all have one of.
    of_use : ndarray, shape (classes, uses)
    noise : ndarray, shape (4,)
        Lack, drift, chance, and what chance has more of in small populations.
    """

    mean: np.ndarray
    leverage: np.ndarray
    variances: np.ndarray
    of_use: np.ndarray
    noise: np.ndarray

    def parts(self, place: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the variances of a class: alike, own, overall."""
        count = len(BY_USE)
        found = self.variances[place]
        return found[:count], found[count : 2 * count], found[2 * count :]

    def of(self, each: Ran, seen: bool = False) -> SlopePrior:
        """Return the prior of a scenario; one of those that made the mean is nearer to it."""
        share = min(float(each.kind @ self.leverage @ each.kind), MOST_LEVERAGE if seen else math.inf)
        covariance = slope_covariance(*(part.tolist() for part in self.parts(each.place)))
        factor = 1.0 - share if seen else 1.0 + share
        noise = self.noise.tolist()
        short = np.zeros(len(USES))  # what memory does is fitted apart
        return SlopePrior(
            self.mean @ each.kind, factor * covariance, *noise, self.of_use[each.place], WEIGHT, short
        )


def fitted(scenarios: list[Ran], rounds: int = ROUNDS) -> Estimated:
    """Return the prior under which the runs of all scenarios are most likely."""
    slopes, kinds = scenarios[0].rows.shape[1], len(scenarios[0].kind)
    every = np.array([each.kind for each in scenarios])
    tied = np.array([LOOSE] + [TIED] * (kinds - 1))
    found = Estimated(
        np.zeros((slopes, kinds)),
        np.linalg.inv(every.T @ every + np.diag(tied)),
        np.full((len(CLASSES), 2 * len(BY_USE) + len(OVERALL)), 0.005),
        np.ones((len(CLASSES), len(USES))),
        np.array(FIRST),
    )
    weights = np.ones(len(scenarios))
    for step in range(rounds):
        if step in MEANS:
            found.mean = _mean(scenarios, found, weights, tied)
        weights = _improved(scenarios, found)
    return found


def _mean(scenarios: list[Ran], found: Estimated, weights: np.ndarray, tied: np.ndarray) -> np.ndarray:
    """Return the slopes of all kinds: generalised least squares, drawn to 0 as far as scenarios differ."""
    slopes, kinds = found.mean.shape
    told, right = np.empty((len(scenarios), slopes * slopes)), np.zeros((slopes, kinds))
    for place, (each, weight) in enumerate(zip(scenarios, weights, strict=True)):
        prior = dataclasses.replace(found.of(each), covariance=_own(found, each))
        across = each.rows.T @ with_open_level(prior.of_runs(each.rows, each.runs, each.weights)).inverse
        told[place] = weight * (across @ each.rows).ravel()
        right += weight * np.outer(across @ each.logs, each.kind)
    # The sum of Kronecker products of what each scenario tells and of its kind, in one product of matrices.
    every = np.array([np.outer(each.kind, each.kind).ravel() for each in scenarios])
    left = (told.T @ every).reshape(slopes, slopes, kinds, kinds).transpose(0, 2, 1, 3)
    left = left.reshape((slopes * kinds,) * 2)
    both = found.variances.mean(axis=0)
    count = len(BY_USE)
    by_use = np.repeat(both[:count] + both[count : 2 * count], len(USES))
    of_slopes = np.concatenate([by_use, both[2 * count :]])
    left[np.diag_indices(len(left))] += (tied[None, :] / np.maximum(of_slopes, 1e-5)[:, None]).ravel()
    return np.linalg.solve(left, right.ravel()).reshape(slopes, kinds)


def _own(found: Estimated, each: Ran) -> np.ndarray:
    return slope_covariance(*(part.tolist() for part in found.parts(each.place)))


def _improved(scenarios: list[Ran], found: Estimated) -> np.ndarray:
    """Make every variance larger by what it shows over what it would; return how far scenarios count."""
    shape = found.variances.shape
    shown, expected = np.zeros(shape), np.zeros(shape)
    of_use = np.full((2, *found.of_use.shape), OF_USE)
    noise = np.zeros((2, len(found.noise)))
    weights = []
    for each in scenarios:
        prior = found.of(each, seen=True)
        away = each.logs - each.rows @ prior.slopes
        known = prior.conditioned_on(each.rows, each.runs, away, each.weights)
        each.weights, inverse, solved = known.weights, known.about.inverse, known.solved
        weight = 1.0 / known.scale
        weights.append(weight)
        factor = prior.covariance[-1, -1] / found.variances[each.place, -1]
        part, would = _of_slopes(each, solved, inverse)
        shown[each.place] += weight * factor * part
        expected[each.place] += factor * would
        own = prior.of_own(each.runs, each.weights)
        use = each.runs.use.astype(int)
        of_use[0, each.place] += np.bincount(use, weight * solved * (own @ solved), len(USES))
        of_use[1, each.place] += np.bincount(use, (inverse * own).sum(axis=1), len(USES))
        if each.has_pairs:
            noise += _of_noise(prior, each, solved, inverse, weight)
    counts = np.bincount([each.place for each in scenarios], minlength=len(CLASSES))[:, None]
    drawn_to = SHARED / (SHARED + counts)
    both = shown.sum(axis=0) / np.maximum(expected.sum(axis=0), 1e-9)
    ratio = (1.0 - drawn_to) * shown / np.maximum(expected, 1e-9) + drawn_to * both
    found.variances = np.maximum(found.variances * np.clip(ratio, 0.2, 5.0), 1e-7)
    found.of_use = found.of_use * np.clip(of_use[0] / of_use[1], 0.3, 3.0)
    logs = np.log(found.of_use)
    found.of_use = np.exp(logs + ALIKE_USE * (logs.mean(axis=0) - logs))
    if noise.any():
        # What all four have in common is that of the uses.
        found.noise = found.noise * np.clip(noise[0] / noise[1] * noise[1].sum() / noise[0].sum(), 0.5, 2.0)
    return np.array(weights)


def _of_slopes(each: Ran, solved: np.ndarray, inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what each variance of slopes shows, and what it would if it were right."""
    count, uses = len(BY_USE), len(USES)
    by_use = each.rows[:, : count * uses].reshape(-1, count, uses)
    alike = by_use.sum(axis=2)
    shown = each.rows.T @ solved
    open_ = ((inverse @ each.rows) * each.rows).sum(axis=0)
    parts = (
        ((alike.T @ solved) ** 2, ((inverse @ alike) * alike).sum(axis=0)),
        tuple(part[: count * uses].reshape(count, uses).sum(axis=1) for part in (shown**2, open_)),
        (shown[count * uses :] ** 2, open_[count * uses :]),
    )
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _of_noise(
    prior: SlopePrior, each: Ran, solved: np.ndarray, inverse: np.ndarray, weight: float
) -> np.ndarray:
    """Return the same of lack, drift, chance, and what chance has more of in small populations."""
    names, found = ("lack", "drift", "chance", "of_size"), []
    for name in names:
        alone = dataclasses.replace(prior, **{other: 0.0 for other in names if other != name})
        own = alone.of_own(each.runs, each.weights)
        found.append((weight * float(solved @ own @ solved), float((inverse * own).sum())))
    return np.array(found).T


def check(scenarios: list[Ran], small: int = 16, large: int = 3) -> None:
    """Print how far answers from few runs are from those of all, in scenarios that the fit has not seen."""
    chance, found = np.random.default_rng(0), []
    for part in range(3):
        fit_of = fitted([each for place, each in enumerate(scenarios) if place % 3 != part], ROUNDS // 2)
        for each in scenarios[part::3]:
            prior, inputs = fit_of.of(each), unknowns(each.case)
            at = points(each.case, inputs, draws(len(inputs)))
            whole = design(at, np.full(len(at["use"]), float(REFERENCE)))
            middle, rest = _median(prior, each, np.arange(len(each.logs)), at, whole)
            few = chance.permutation(np.flatnonzero(each.runs.blocks == SMALL))[:small]
            more = chance.permutation(np.flatnonzero(each.runs.blocks == RUNS[2][0]))[:large]
            told, error = _median(prior, each, np.concatenate([few, more]), at, whole)
            # What all runs leave open as well is in both.
            error = math.sqrt(max(1e-12, error**2 - rest**2))
            half = student(round(WEIGHT + len(few) + len(more) - 1)) * error
            found.append((told - middle, half, "history" not in each.data["stated"], each.place))
    away, half, unknown, place = np.array(found, dtype=float).T
    every = np.ones(len(away), dtype=bool)
    for name, rows in (("all", every), ("use unknown", unknown == 1), ("legacy", place == 1)):
        off = np.abs(away[rows])
        times = float(np.quantile(off / half[rows], 0.95))
        sys.stdout.write(
            f"{name}: {rows.sum()} scenarios, off {np.sqrt(np.mean(off**2)):.3f} (middle "
            f"{np.median(off):.3f}), half width {np.median(half[rows]):.3f}, "
            f"held {np.mean(off <= half[rows]):.3f}, 95 % at times {times:.2f}\n"
        )


def _median(
    prior: SlopePrior, each: Ran, taken: np.ndarray, at: dict[str, np.ndarray], whole: np.ndarray
) -> tuple[float, float]:
    """Return the median over the worlds drawn of a scenario from some of its runs, and its standard error."""
    rows, runs = each.rows[taken], Runs(*(part[taken] for part in each.runs))
    away = each.logs[taken] - rows @ prior.slopes
    known = prior.conditioned_on(rows, runs, away)
    values = whole @ prior.slopes + prior.expected(whole, known) + at["data"]
    near = np.argsort(values)[int(0.4 * len(values)) : math.ceil(0.6 * len(values))]
    row = whole[near].mean(axis=0)[None, :]
    return float(np.median(values)), math.sqrt(known.scale * max(0.0, float(prior.left(row, known)[0, 0])))


def fit(scenarios: list[Ran]) -> None:
    """Write the prior."""
    found = fitted(scenarios)
    alike, own, overall = zip(*(found.parts(place) for place in range(len(CLASSES))), strict=True)
    by_class = {"alike": alike, "own": own, "overall": overall, "of_use": found.of_use}
    runs = sum(len(each.logs) for each in scenarios)
    data = {
        "unit": "log(s/bytes), of the duration over what is allocated, per unit of each column",
        "kind": "fitted",
        "source": f"{runs} worlds of {len(scenarios)} generated scenarios (validation/fit_response.py)",
        "kinds": list(scenarios[0].kind_of),
        "mean": rounded(found.mean),
        "leverage": rounded(found.leverage),
        **{
            name: {each: rounded(values[place]) for place, each in enumerate(CLASSES)}
            for name, values in by_class.items()
        },
        **dict(zip(("lack", "drift", "chance", "of_size"), rounded(found.noise), strict=True)),
        "weight": WEIGHT,
        "of_memory": [0.0] * len(USES),  # until fit_memory.py fits it
    }
    WORLDS.write_text(json.dumps(data) + "\n", encoding="utf-8")


def rounded(value: object) -> object:
    """Return numbers with four significant digits."""
    if isinstance(value, np.ndarray):
        return [rounded(each) for each in value]
    return float(f"{float(value):.4g}")  # type: ignore[arg-type]


def main(
    arguments: list[str],
    usual: tuple[str, str],
    run: Callable[[int], dict[str, Any] | None],
    read: Callable[[dict[str, Any]], Scenarios],
    do: Mapping[str, Callable[[list[Scenarios]], None]],
) -> None:
    """Do what the command line says: collect what `run` returns, or `do` something with what was read.

    `usual`: which scenario is the first, and how many, where the command line does not say it.
    """
    what, path = arguments[0], Path(arguments[1])
    if what == "collect":
        first, count = (int(each) for each in arguments[2:] or usual)
        collect(path, first, count, run)
        return
    do[what]([read(json.loads(line)) for line in _lines(path)])


if __name__ == "__main__":
    main(sys.argv[1:], ("0", "300"), ran, Ran, {"fit": fit, "check": check})
