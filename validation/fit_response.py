"""Write ``models/response/worlds.json``: how the duration depends on what nobody states, from many scenarios.

``python validation/fit_response.py collect RUNS.jsonl [FIRST COUNT]`` runs generated scenarios, possible
worlds of each on populations of several sizes, and appends one line a scenario (about 3 CPU seconds each;
what is there is kept, so that it can be interrupted).  ``python validation/fit_response.py fit RUNS.jsonl``
writes the prior: mean and covariance of the slopes of a hierarchical linear regression, by expectation and
maximisation (Dempster, Laird, Rubin, JRSS B 39, 1977; Laird and Ware, Biometrics 38, 1982).
``python validation/fit_response.py check RUNS.jsonl`` fits four fifths of the scenarios and says how far
the answer from few runs of each of the others is from that of all runs of it.  Run it anew after a change
that moves durations by more than chance does; ``tests/statistical/precision.py`` measures what it is worth.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
import sys
from pathlib import Path
from typing import Any

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
from zsim.prediction.statistics.surface import BY_USE, OPEN, SMALL, TILE, SlopePrior, design
from zsim.scenario.model import Scenario

WORLDS = model_data.models_directory() / "response" / "worlds.json"
LAYOUTS = (
    "raidz1x3", "raidz1x4", "raidz1x5", "raidz2x6", "raidz2x6", "raidz2x8", "raidz2x10", "raidz3x9",
    "raidz3x11", "raidz3x15", "mirror2", "mirror2", "mirror3", "2*mirror2", "4*mirror2", "2*raidz2x6",
    "3*raidz1x4", "2*raidz2x11", "draid2:4d:11c:1s", "draid1:4d:11c:1s", "draid2:8d:24c:2s",
)  # fmt: skip
SORTED = ("openzfs-2.3", "openzfs-2.1", "openzfs-0.8", "openzfs-2.4", "openzfs-2.2")
LEGACY = ("zol-0.7", "freebsd-9.1", "zol-0.6.5", "freebsd-10.3", "solaris-11.1")
DISKS = ("wd40efrx", "ultrastar-he8", "mg08aca16", "st4000vn008", "wd30ezrx", "st8000vn004")
FLASH = ("generic-sata-ssd", "860-evo-1tb", "generic-nvme-ssd", "dc-s3700-400gb")
SHINGLED = ("generic-5400rpm-smr", "st8000as0002")
RUNS = ((SMALL, 24), (15_000, 2), (30_000, 6), (TILE, 2))
"""Blocks of a population, and worlds that are run on such."""
ROUNDS, SHRUNK = 60, 40.0
"""Of the fit; scenarios in whose place the uses are taken as alike."""
WEIGHT, MOST_AWAY = 20.0, 4.0
"""Runs in whose place the scatter of all scenarios stands for that of one (with 20 the errors hold what they
should, see `check`); standard deviations from which on a run counts as no further off."""


def drawn(number: int) -> dict[str, Any]:
    """Return the fields of a generated scenario."""
    chance = random.Random(9000 + number)
    found: dict[str, Any] = {"layout": chance.choice(LAYOUTS), "seed": number}
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


def collect(path: Path, first: int, count: int) -> None:
    """Append the runs of scenarios to a file."""
    have = {json.loads(line)["number"] for line in _lines(path)}
    for number in range(first, first + count):
        if number in have:
            continue
        try:
            found = ran(number)
        except (ZsimError, HistoryError) as error:
            sys.stderr.write(f"{number}: {error}\n")
            continue
        with path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(found) + "\n")


def ran(number: int) -> dict[str, Any]:
    """Return the runs of one scenario: where its worlds lie, blocks and durations."""
    stated = drawn(number)
    case = case_of(Scenario.from_dict(stated))
    inputs = unknowns(case)
    at: list[dict[str, np.ndarray]] = []
    blocks, seconds = [], []
    for size, count in RUNS:
        members = draw_members(inputs, number * 10 + size % 7, count)
        drawn_here = [even(inputs, each.scores) for each in members]
        for place in range(count if inputs else max(1, count // 4)):
            seeded = dataclasses.replace(case, seed=1_000_003 * place + 77 * number + size)
            world = in_world(seeded, member_at(inputs, drawn_here[place])) if inputs else seeded
            try:
                time_s = run_world(world, size, plane_model(world)).time_s
            except (ZsimError, HistoryError):
                continue
            at.append(points(case, inputs, np.array([drawn_here[place] if inputs else ()])))
            blocks.append(size)
            seconds.append(time_s)
    columns = {name: np.concatenate([each[name] for each in at]).tolist() for name in at[0]}
    kind = dict(kind_of_scenario(case))
    return {
        "number": number,
        "stated": stated,
        "kind": kind,
        "at": columns,
        "blocks": blocks,
        "seconds": seconds,
    }


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


class Runs:
    """The runs of one scenario as arrays."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        at = {name: np.array(values) for name, values in data["at"].items()}
        self.at, self.use = at, at["use"]
        self.blocks = np.array(data["blocks"], dtype=float)
        self.rows = design(at, self.blocks)
        self.logs = np.log(data["seconds"]) - at["data"]
        self.kind = np.array(list(data["kind"].values()))


def fitted(scenarios: list[Runs], rounds: int = ROUNDS) -> SlopePrior:
    """Return the prior under which the runs of all scenarios are most likely."""
    slopes, kinds = scenarios[0].rows.shape[1], len(scenarios[0].kind)
    mean, covariance = np.zeros((slopes, kinds)), 0.02 * np.eye(slopes)
    chance, of_size, of_use = 0.03**2, 0.04**2, np.ones(len(USES))
    every = np.array([each.kind for each in scenarios])
    for _ in range(rounds):
        centres, left, parts = [], np.zeros((slopes, slopes)), []
        for each in scenarios:
            variance = of_use[each.use] * (chance + of_size * SMALL / each.blocks)
            across = each.rows @ covariance
            inverse = np.linalg.inv(across @ each.rows.T + OPEN + np.diag(variance))
            away = each.logs - each.rows @ mean @ each.kind
            solved = inverse @ away
            centres.append(mean @ each.kind + across.T @ solved)
            left += covariance - across.T @ inverse @ across
            rest = np.minimum((variance * solved) ** 2, MOST_AWAY**2 * variance)
            square = rest + variance - variance**2 * np.diag(inverse)
            parts.append(np.stack([each.use, SMALL / each.blocks, square], axis=1))
        slopes_of = np.array(centres)
        weak = np.diag([0.05] + [5.0] * (kinds - 1))
        mean = np.linalg.solve(every.T @ every + weak, every.T @ slopes_of).T
        apart = slopes_of - every @ mean.T
        whole = left + apart.T @ apart
        count = len(scenarios)
        covariance = _in_groups(whole / count, SHRUNK / (count + SHRUNK))
        chance, of_size, of_use = _noise(np.concatenate(parts), of_use)
    return SlopePrior((), mean, covariance, chance, of_size, of_use, WEIGHT)


def _noise(parts: np.ndarray, of_use: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return the variance of runs: of all, of the smallest beside it, and a factor for each use."""
    use, short = parts[:, 0].astype(int), parts[:, 1]
    known = np.stack([np.ones(len(parts)), short], axis=1)
    found = np.array([0.03**2, 0.04**2])
    for _ in range(5):
        weights = 1.0 / (known @ found) ** 2
        wanted = known.T @ (weights * parts[:, 2] / of_use[use])
        found = np.maximum((0.01**2, 0.0), np.linalg.solve(known.T @ (weights[:, None] * known), wanted))
    ratio = parts[:, 2] / (known @ found)
    counts = np.bincount(use, minlength=len(USES))
    factors = (5.0 + np.bincount(use, ratio, len(USES))) / (5.0 + counts)
    return float(found[0]), float(found[1]), factors


def _in_groups(covariance: np.ndarray, shrunk: float) -> np.ndarray:
    """Return a covariance in which only the slopes of several uses in one thing go together.

    Of each such group it is drawn towards one in which all uses are alike: a hundred scenarios say little of
    a hundred and fifty slopes at a time.
    """
    found = np.diag(np.diag(covariance)).copy()
    count = len(USES)
    for place in range(len(BY_USE)):
        here = slice(place * count, (place + 1) * count)
        block = covariance[here, here]
        common = float(block.sum()) / count
        own = (float(np.trace(block)) - common) / (count - 1)
        alike = own * np.eye(count) + (common - own) / count
        found[here, here] = (1.0 - shrunk) * block + shrunk * alike
    return found


def check(scenarios: list[Runs], small: int = 16, large: int = 4) -> None:
    """Print how far answers from few runs are from those of all, in scenarios that the fit has not seen."""
    chance, found = np.random.default_rng(0), []
    for part in range(5):
        prior = fitted([each for place, each in enumerate(scenarios) if place % 5 != part])
        for each in scenarios[part::5]:
            whole = design(each.at, np.full(len(each.use), float(TILE)))
            every = np.arange(len(each.blocks))
            middle, rest = _median(prior, each, whole, every)
            few = chance.permutation(np.flatnonzero(each.blocks == SMALL))[:small]
            more = chance.permutation(np.flatnonzero(each.blocks == RUNS[2][0]))[:large]
            told, error = _median(prior, each, whole, np.concatenate([few, more]))
            # What all runs leave open as well is in both: the rest is what they may differ by.
            apart = math.sqrt(max(0.0, error**2 - rest**2))
            kind = ("history" not in each.data["stated"], each.data["kind"]["legacy"])
            found.append((told - middle, error, apart, *kind))
    away, error, apart, unknown, legacy = np.array(found, dtype=float).T
    every = np.ones(len(away), dtype=bool)
    for name, rows in (("all", every), ("use unknown", unknown == 1), ("legacy", legacy == 1)):
        off, half, wide = np.abs(away[rows]), 1.96 * error[rows], apart[rows]
        sys.stdout.write(
            f"{name}: {rows.sum()} scenarios, off {np.sqrt(np.mean(off**2)):.3f} (middle "
            f"{np.median(off):.3f}), half width {np.median(half):.3f}, "
            f"held {np.mean(off <= 1.96 * wide):.2f}, off / expected {np.median(off / wide) / 0.6745:.2f}\n"
        )


def _median(prior: SlopePrior, each: Runs, whole: np.ndarray, taken: np.ndarray) -> tuple[float, float]:
    """Return the median over the worlds of a scenario from some of its runs, and its standard error."""
    rows, variance = each.rows[taken], prior.variance(each.use, each.blocks)[taken]
    inverse = np.linalg.inv(prior.between(rows, rows) + np.diag(variance))
    slopes = prior.mean @ each.kind
    solved = inverse @ (each.logs[taken] - rows @ slopes)
    values = whole @ slopes + prior.between(whole, rows) @ solved + each.at["data"]
    near = np.argsort(values)[int(0.4 * len(values)) : math.ceil(0.6 * len(values))]
    row = whole[near].mean(axis=0)[None, :]
    across = prior.between(row, rows)[0]
    away = each.logs[taken] - rows @ slopes
    scale = (prior.weight + float(away @ solved)) / (prior.weight + len(away) - 1)
    return float(np.median(values)), math.sqrt(
        scale * max(0.0, prior.between(row, row)[0, 0] - across @ inverse @ across)
    )


def fit(scenarios: list[Runs]) -> None:
    """Write the prior."""
    found = fitted(scenarios)
    count, whole = len(USES), len(USES) * len(BY_USE)
    parts = {
        "mean": found.mean,
        "by_use": np.array([found.covariance[k : k + count, k : k + count] for k in range(0, whole, count)]),
        "overall": np.diag(found.covariance)[whole:],
        "chance": found.chance,
        "of_size": found.of_size,
        "of_use": found.of_use,
        "weight": found.weight,
    }
    runs = sum(len(each.blocks) for each in scenarios)
    data = {
        "unit": "log(s/bytes), of the duration over what is allocated, per unit of each column",
        "kind": "fitted",
        "source": f"{runs} worlds of {len(scenarios)} generated scenarios (validation/fit_response.py)",
        "kinds": list(scenarios[0].data["kind"]),
        **{name: _rounded(value) for name, value in parts.items()},
    }
    WORLDS.write_text(json.dumps(data) + "\n", encoding="utf-8")


def _rounded(value: object) -> object:
    """Return numbers with four significant digits."""
    if isinstance(value, np.ndarray):
        return [_rounded(each) for each in value]
    return float(f"{float(value):.4g}")  # type: ignore[arg-type]


def main(arguments: list[str]) -> None:
    """Do what the command line says."""
    what, path = arguments[0], Path(arguments[1])
    if what == "collect":
        first, count = (int(each) for each in arguments[2:] or ("0", "300"))
        collect(path, first, count)
        return
    scenarios = [Runs(json.loads(line)) for line in _lines(path)]
    (fit if what == "fit" else check)(scenarios)


if __name__ == "__main__":
    main(sys.argv[1:])
