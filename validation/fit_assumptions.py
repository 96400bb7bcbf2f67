"""How the field reports like an assumption: decided on one half of the experiments, measured on the other.

Run ``python validation/fit_assumptions.py ROWS.jsonl`` over observed rows (one JSON object a line, see
docs/how-to/contribute-a-case.md).  For each candidate value of each assumption it prints median error and
coverage of both halves (`zsim.validate.scores.half_of`); ``decided`` marks the value with the smaller error
on the first half, and its line tells the gain on the second, which had no part in the decision.  The
uncertainty of a median error is that of a bootstrap over the experiments.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np

from zsim.predict import ensemble, worlds
from zsim.validate import predicting
from zsim.validate.frame import TIME, Claim, Options
from zsim.validate.observed import discover
from zsim.validate.running import run_case
from zsim.validate.scores import HALVES, half_of, scores

RESAMPLES = 400


@dataclass(frozen=True)
class Assumption:
    """One number nobody stated, and the values it might have.

    Attributes
    ----------
    name : str
        Attribute of `zsim.predict.worlds` or `zsim.predict.ensemble`.
    module : module
    values : tuple of float
    words : str
    """

    name: str
    module: object
    values: tuple[float, ...]
    words: str


ASSUMPTIONS = (
    Assumption("CACHE_ON", worlds, (0.75, 0.9, 0.95), "share of drives with the write cache on"),
    Assumption("CHURN_SPREAD", ensemble, (0.35, 0.69, 1.1), "spread of the ageing"),
    Assumption("FILE_SPREAD", ensemble, (0.35, 0.69, 1.1), "spread of the file sizes"),
)
"""Only what no source gives is held against the reports; what has a source stays as it is."""


@contextlib.contextmanager
def assumed(assumption: Assumption, value: float) -> Iterator[None]:
    """Predict with another value of an assumption."""
    with mock.patch.object(assumption.module, assumption.name, value):
        predicting._predicted.cache_clear()
        yield
    predicting._predicted.cache_clear()


def claims_of(path: Path) -> list[Claim]:
    """Return the claims ``time`` of the rows; of a chart with many points only every fifth."""
    cases = [case for case in discover(path) if case.claim == TIME and not case.problem]
    seen: dict[str, int] = {}
    taken = []
    for case in cases:
        name = case.experiment or case.name
        seen[name] = seen.get(name, 0) + 1
        if seen[name] <= 5 or seen[name] % 5 == 0:
            taken.append(case)
    return [claim for case in taken for claim in run_case(case, Options()) if claim.claim == TIME]


def uncertainty(claims: Sequence[Claim]) -> float:
    """Return the standard deviation of the median error over resampled experiments."""
    names = sorted({claim.experiment or claim.case for claim in claims})
    generator = np.random.default_rng(1)
    found = []
    for _ in range(RESAMPLES):
        drawn = generator.choice(len(names), len(names))
        again = [
            claim for place in drawn for claim in claims if (claim.experiment or claim.case) == names[place]
        ]
        error = scores(again)["median_error"]
        if error is not None:
            found.append(error)
    return float(np.std(found)) if found else float("nan")


def table(assumption: Assumption, predict: Callable[[], list[Claim]]) -> list[str]:
    """Return one line a value, the one decided on the first half marked."""
    rows = []
    for value in assumption.values:
        with assumed(assumption, value):
            claims = predict()
        halves = [[claim for claim in claims if half_of(claim) == name] for name in HALVES]
        rows.append((value, [scores(half) for half in halves], [uncertainty(half) for half in halves]))
    known = [row for row in rows if row[1][0]["median_error"] is not None]
    best = min(known, key=lambda row: row[1][0]["median_error"])[0] if known else None
    lines = [f"{assumption.name}: {assumption.words}"]
    for value, found, sure in rows:
        cells = [cell(*each) for each in zip(HALVES, found, sure, strict=True)]
        lines.append(f"  {value:5.2f}  {';  '.join(cells)}{'  decided' if value == best else ''}")
    return lines


def cell(name: str, half: dict[str, float], sure: float) -> str:
    """Return error and coverage of one half as text."""
    error, share = 100 * (half["median_error"] or 0.0), 100 * (half["coverage"] or 0.0)
    return f"{name}: {error:.0f} +- {100 * sure:.0f} %, holds {share:.0f} %"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=Path)
    parser.add_argument("--assumption", choices=[each.name for each in ASSUMPTIONS], action="append")
    asked = parser.parse_args(arguments)
    for each in ASSUMPTIONS:
        if asked.assumption is None or each.name in asked.assumption:
            sys.stdout.write("\n".join(table(each, lambda: claims_of(asked.rows))) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
