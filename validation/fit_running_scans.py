"""The end of running scans from their progress: what the noise of their pace is fitted on.

    python validation/fit_running_scans.py SERIES.jsonl RUNS_DIR... [--tries N] [--keep FILE]

The noise is that of ``models/unknowns/progress.toml``.  Statuses of scans whose end is known, and runs of
real OpenZFS at three moments, are answered by worlds that are simulated once.  Values of the noise are
tried at random, ever nearer to the best so far; their score is the mean logarithmic score of the true
duration, each class by its weight, each experiment of a class once.  Printed are the best values, the
errors by class with today's and with the best ones, and those with every experiment left out: answered with
the values, of all that were tried, that score best on all others.
"""

from __future__ import annotations

import argparse
import math
import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import ZsimError
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.least import above
from zsim.prediction.progress.moments import PoolFacts, with_clocks
from zsim.prediction.progress.noise import Noise, fitted_noise, progress_number
from zsim.prediction.progress.remaining import Remaining, remaining
from zsim.scenario.evidence import RunningScan
from zsim.validation.discovery import discover
from zsim.validation.field_reports.rows import row_of
from zsim.validation.progress import runs, series
from zsim.validation.progress.discovery import of_runs
from zsim.validation.progress.rows import scans_of
from zsim.validation.progress.score import band

Floats = NDArray[np.float64]
SHARES = (0.2, 0.35, 0.5)
STRANGE = ("special", "expand", "mixed", "uneven", "slow", "tail")
"""Runs of pools and drives that nothing describes to zsim."""
SPREADS = {
    "whole": 0.4, "visit": 0.3, "slow": 0.5, "slow_length": 0.5, "quick": 0.4, "quick_length": 0.6,
    "tilt": 0.5, "drift": 0.3, "drift_by_birth": 0.3, "under_way": 0.5, "tail": 0.4, "unlike": 0.2,
    "restless": 0.3, "calm_share": 0.7, "wild_share": 0.7, "loose.known": 0.4, "loose.class": 0.4,
    "loose.unnamed": 0.4, "uneven": 0.4, "unlike.class": 0.5, "unlike.unnamed": 0.4,
    "discrepancy.small": 0.4, "discrepancy.unnamed": 0.4, "spread.tilt_by_birth": 0.3,
}  # fmt: skip
"""What is fitted, and by how much its logarithm is changed in a try."""
KNOWLEDGE = ("known", "class", "unnamed")
WEIGHTS = {
    "reported, 5": 2.0, "reported, 20": 2.0, "reported": 1.5, "sorted": 1.5, "loaded": 0.8, "legacy": 0.6,
}  # fmt: skip
OTHER_WEIGHT, FLOOR, FLAT = 0.4, 0.02, 0.1
"""Of other classes; and how likely, and how dense, a duration is that nothing explains."""
NEARER, EVERY, NEAREST = 0.8, 40, 0.35


class Row(NamedTuple):
    """One question: what was seen until then, and how long it took in the end."""

    group: str
    experiment: str
    courses: tuple[Course, ...]
    scans: tuple[RunningScan, ...]
    facts: PoolFacts
    begin: float
    truth: float


@dataclass(frozen=True)
class Tried:
    """Values of the noise, with what they give row by row."""

    values: dict[str, float]
    score: Floats
    error: Floats
    inside: Floats


def reported(path: Path) -> list[Row]:
    """Return every status of a scan whose end is known."""
    found = []
    for case in discover([path]):
        row = row_of(case)
        truth = row.get("final_duration_s")
        if not truth:
            continue
        try:
            courses, facts = series.courses_of_row(row, 1)
        except ZsimError:
            continue
        scans = tuple(with_clocks(scans_of(row)))
        for count in range(1, len(scans) + 1):
            gone = series.clock_of(scans[count - 1])[0]
            group = f"reported, {band(gone / truth) if gone is not None else 'no time'}"
            experiment = str(row.get("experiment") or row["id"])
            found.append(Row(group, experiment, courses, scans[:count], facts, 0.0, float(truth)))
    return found


def emulated(folder: Path, step: int) -> list[Row]:
    """Return runs of real OpenZFS, every so many of each class."""
    found: list[Row] = []
    seen: Counter[str] = Counter()
    for case in of_runs(discover([folder])):
        if case.problem or any(word in case.path.name for word in STRANGE):
            continue
        bench = runs.load(case.path)
        group = "loaded" if "load" in (case.category or "") else bench.mode
        seen[group] += 1
        if seen[group] % step and bench.mode != "rebuild":
            continue
        path = runs.progress_file(case.path)
        assert path is not None
        try:
            courses = runs.courses_of_run(bench)
        except ZsimError:
            continue
        samples, truth = runs.read_progress(path), float(bench.result["model_s"])
        for share in SHARES:
            begin, scans = runs.statuses(bench, samples, share * truth)
            name = f"{group}, {share:g}"
            found.append(Row(name, str(case.path), courses, tuple(scans), runs.facts_of(bench), begin, truth))
    return found


def today() -> dict[str, float]:
    """Return the values of the file."""
    noise = fitted_noise()
    plain = [name for name in SPREADS if hasattr(noise, name) and name != "restless"]
    found = {name: float(getattr(noise, name)) for name in plain}
    found |= {"restless": 1.0, "calm_share": noise.restless[0].share, "wild_share": noise.restless[-1].share}
    return found | {name: progress_number(name) for name in SPREADS if "." in name}


def with_values(values: dict[str, float]) -> Noise:
    """Return the noise with other values."""
    noise = fitted_noise()
    plain = {name: value for name, value in values.items() if hasattr(noise, name) and name != "restless"}
    levels = [level._replace(factor=level.factor * values["restless"]) for level in noise.restless]
    levels[0] = levels[0]._replace(share=values["calm_share"])
    levels[-1] = levels[-1]._replace(share=values["wild_share"])
    return replace(noise, **plain, restless=tuple(levels))


def known_as(course: Course, values: dict[str, float]) -> Course:
    """Return a course with other values of what not knowing the drives, and the pool, leaves."""
    if course.tilt == progress_number("spread.tilt_by_birth"):
        course = replace(course, tilt=values["spread.tilt_by_birth"])
    for name in KNOWLEDGE:
        if course.loose > 0.0 and course.loose == progress_number(f"loose.{name}"):
            unlike = values.get(f"unlike.{name}", course.unlike)
            known = replace(course, loose=values[f"loose.{name}"], unlike=min(0.9, unlike))
            return replace(known, discrepancy=discrepancy_as(course, values))
    return course


def discrepancy_as(course: Course, values: dict[str, float]) -> float:
    """Return another value of how far the worlds of such a pool are off."""
    own = course.discrepancy
    names = [name for name in values if name.startswith("discrepancy.") and progress_number(name) == own]
    return values[names[0]] if names else own


def tried(rows: Sequence[Row], values: dict[str, float]) -> Tried:
    """Return what values of the noise give."""
    noise = with_values(values)
    found = []
    for row in rows:
        courses = [known_as(course, values) for course in row.courses]
        answer = remaining(courses, row.scans, row.facts, noise)
        low, middle, high = (row.begin + each for each in answer.total())
        found.append((score(answer, row), math.log(middle / row.truth), float(low <= row.truth <= high)))
    return Tried(values, *np.array(found).T)


def score(answer: Remaining, row: Row) -> float:
    """Return the logarithm of the density of the logarithm of the true duration."""
    left = np.maximum(row.truth - row.begin - answer.known_s, 1e-9)
    spreads, least = np.maximum(answer.unknown.spreads, 1e-4), answer.unknown.least
    away = (np.log(left) - answer.unknown.logs) / spreads
    possible = np.where(away >= least, answer.weights / above(least), 0.0)
    density = possible * np.exp(-0.5 * away**2) / (spreads * math.sqrt(2.0 * math.pi) * left)
    return math.log((1.0 - FLOOR) * float(density.sum()) * row.truth + FLOOR * FLAT)


def weights_of(rows: Sequence[Row]) -> Floats:
    """Return the weight of each row: of its class, an experiment of it once."""
    counts = Counter((row.group, row.experiment) for row in rows)
    sizes = Counter(group for group, _ in counts)
    found = np.array([
        next((value for words, value in WEIGHTS.items() if row.group.startswith(words)), OTHER_WEIGHT)
        / counts[row.group, row.experiment] / sizes[row.group]
        for row in rows
    ])  # fmt: skip
    normed: Floats = found / found.sum()
    return normed


def search(rows: Sequence[Row], tries: int) -> list[Tried]:
    """Return all values that were tried, today's first."""
    weights, generator = weights_of(rows), np.random.default_rng(5)
    every = [tried(rows, today())]
    best, reach = every[0], 1.0
    for count in range(1, tries + 1):
        values = dict(best.values)
        for name, spread in SPREADS.items():
            if generator.random() < 0.3:
                values[name] *= math.exp(reach * spread * generator.normal())
        every.append(tried(rows, values))
        if weights @ every[-1].score > weights @ best.score:
            best = every[-1]
            click.echo(f"{count}: {weights @ best.score:.4f}")
        reach = max(NEAREST, reach * NEARER) if count % EVERY == 0 else reach
    return every


def table(rows: Sequence[Row], weights: Floats, error: Floats, inside: Floats) -> None:
    """Print the errors by class."""
    groups = np.array([row.group for row in rows])
    for group in sorted(set(groups)):
        here = groups == group
        order = np.argsort(np.abs(error[here]))
        places = np.cumsum(weights[here][order]) / weights[here].sum()
        middle = float(np.abs(error[here])[order][np.searchsorted(places, 0.5)])
        held = float((weights * inside)[here].sum() / weights[here].sum())
        count = len({row.experiment for row in rows if row.group == group})
        click.echo(f"    {group:28} {count:3}  median error {middle:.3f}  inside {held:4.0%}")


def main() -> None:
    """Print the fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--tries", type=int, default=150)
    parser.add_argument("--step", type=int, default=3, help="take every so many runs of a class")
    parser.add_argument("--keep", type=Path, help="keep the simulated worlds here, for another fit")
    given = parser.parse_args()
    rows: list[Row] = []
    if given.keep and given.keep.is_file():
        rows = pickle.loads(given.keep.read_bytes())
    else:
        for path in given.paths:
            rows += reported(path) if path.is_file() else emulated(path, given.step)
    if given.keep and not given.keep.is_file():
        given.keep.write_bytes(pickle.dumps(rows))
    weights, every = weights_of(rows), search(rows, given.tries)
    best = max(every, key=lambda each: float(weights @ each.score))
    click.echo(f"today: {weights @ every[0].score:.3f}")
    table(rows, weights, every[0].error, every[0].inside)
    click.echo(
        f"best: {weights @ best.score:.3f} { ({name: round(v, 4) for name, v in best.values.items()}) }"
    )
    table(rows, weights, best.error, best.inside)
    held = [np.zeros(len(rows)) for _ in range(3)]
    experiments = np.array([row.experiment for row in rows])
    for experiment in dict.fromkeys(experiments):
        own = experiments == experiment
        chosen = max(every, key=lambda each: float(np.where(own, 0.0, weights) @ each.score))
        for kept, found in zip(held, (chosen.score, chosen.error, chosen.inside), strict=True):
            kept[own] = found[own]
    click.echo(f"each experiment by the others: {weights @ held[0]:.3f}")
    table(rows, weights, held[1], held[2])


if __name__ == "__main__":
    main()
