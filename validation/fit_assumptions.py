"""How the field reports like an assumption, and whether they could decide it.

Run ``python validation/fit_assumptions.py ROWS.jsonl --bank BANK.jsonl`` over observed rows (one JSON
object a line, see docs/how-to/contribute-a-case.md).  The first run simulates
`zsim.validation.field_reports.bank.DRAWN` worlds of each row and keeps them in the bank (six seconds a
row); later ones weigh them anew and take seconds.

For each value of each assumption a line shows median error, mean loss and coverage of both halves of the
experiments (`zsim.validation.report.scores.half_of`); ``decided`` marks the value with the smaller loss on
the first half, the second confirms it or not.  Then every experiment is left out once, the value with the
smaller loss on all others is taken for it, and what comes of that is the honest figure.  The loss is the
pinball loss of the logarithms of p10, p50 and p90 (Koenker and Bassett, Econometrica 46, 1978): it asks for
a right middle and for a right interval.  The uncertainty of a difference is that of its mean over the
experiments.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from zsim.base.errors import ZsimError
from zsim.case import worlds
from zsim.case.case import Case
from zsim.prediction.api import case_of
from zsim.prediction.inputs import ensemble
from zsim.scenario.model import Scenario
from zsim.validation.field_reports import bank as banks_of
from zsim.validation.field_reports.bank import Bank
from zsim.validation.field_reports.rows import discover, row_of
from zsim.validation.field_reports.rules import reading_of
from zsim.validation.frame import TIME, Options, ValidationCase
from zsim.validation.predicting import predict_fields
from zsim.validation.report.scores import HALVES, half_named, weighted_median

PLACES = (0.1, 0.5, 0.9)
CHART_STEP = 12
"""Of an experiment with many rows every so-manieth is taken."""
MANY = 10


@dataclass(frozen=True)
class Assumption:
    """A number that nobody states, and the values it might have.

    Attributes
    ----------
    name : str
        Attribute of `module`.
    module : module
    values : tuple
        The product's own is among them.
    words : str
    """

    name: str
    module: Any
    values: tuple[Any, ...]
    words: str


def _idle(share: float) -> tuple[tuple[float, float], ...]:
    """Return the shares of loads with another share of pools left alone, the others in proportion."""
    others = 1.0 - worlds.LOADS[0][1]
    return ((0.0, share), *((rate, each * (1.0 - share) / others) for rate, each in worlds.LOADS[1:]))


ASSUMPTIONS = (
    Assumption("CACHE_ON", worlds, (0.5, 0.75, 0.9, 0.97), "share of drives with the write cache on"),
    Assumption("CHURN_SPREAD", ensemble, (0.35, 0.693, 1.0, 1.2), "spread of the ageing"),
    Assumption("FILE_SPREAD", ensemble, (0.35, 0.693, 1.0, 1.2), "spread of the file sizes"),
    Assumption("RARER", worlds, (0.0, 0.5, 1.0), "how much rarer a use is in pools too large for it"),
    Assumption(
        "LOADS",
        worlds,
        tuple(_idle(share) for share in (0.3, 0.55, 0.8, 0.999)),
        "share of pools that are left alone",
    ),
)
"""Only what no source gives is held against the reports; what has a source stays as it is."""


@dataclass(frozen=True, eq=False)
class Row:
    """A reported row with its worlds.

    Attributes
    ----------
    case : ValidationCase
    bank : Bank
    resolved : Case
    """

    case: ValidationCase
    bank: Bank
    resolved: Case

    @property
    def experiment(self) -> str:
        """Name of the experiment, or of the row where it is alone."""
        return self.case.experiment or self.case.name

    def off(self) -> np.ndarray:
        """Return ln of p10, p50 and p90 over what was observed, under the product's assumptions of now."""
        prior = banks_of.prior_of(self.bank, self.resolved)
        return self.bank.quantiles(prior) - math.log(float(self.case.observed or math.nan))


@dataclass(frozen=True)
class Scores:
    """What comes of some rows, each experiment with weight 1.

    Attributes
    ----------
    losses : dict
        Loss by experiment.
    median_error, coverage : float
    """

    losses: dict[str, float]
    median_error: float
    coverage: float

    @property
    def loss(self) -> float:
        """Mean over the experiments."""
        return float(np.mean(list(self.losses.values()))) if self.losses else math.nan


@contextlib.contextmanager
def assumed(assumption: Assumption, value: Any) -> Iterator[None]:
    """Take another value of an assumption."""
    with mock.patch.object(assumption.module, assumption.name, value):
        yield


def pinball(off: np.ndarray) -> float:
    """Return the mean loss of three quantiles whose logarithms lie so far above what was observed."""
    return float(
        np.mean([max(-place * each, (1.0 - place) * each) for place, each in zip(PLACES, off, strict=True)])
    )


def scores_of(found: dict[Row, np.ndarray]) -> Scores:
    """Return the scores of rows, given how far their quantiles are off."""
    groups: dict[str, list[np.ndarray]] = defaultdict(list)
    for row, off in found.items():
        groups[row.experiment].append(off)
    weights = np.array([1.0 / len(groups[row.experiment]) for row in found])
    middles = np.array([abs(off[1]) for off in found.values()])
    inside = np.array([float(off[0] <= 0.0 <= off[2]) for off in found.values()])
    return Scores(
        {name: float(np.mean([pinball(off) for off in group])) for name, group in groups.items()},
        math.expm1(weighted_median(middles, weights)) if len(middles) else math.nan,
        float(np.average(inside, weights=weights)) if len(inside) else math.nan,
    )


def in_half(found: dict[Row, np.ndarray], half: str) -> dict[Row, np.ndarray]:
    """Return the rows of one half of the experiments."""
    return {row: off for row, off in found.items() if half_named(row.experiment) == half}


def left_out(by_value: Sequence[dict[Row, np.ndarray]]) -> tuple[dict[Row, np.ndarray], Counter[int]]:
    """Return what the value that is best on all other experiments gives for each, and which it is."""
    losses = [scores_of(found).losses for found in by_value]
    result: dict[Row, np.ndarray] = {}
    chosen: Counter[int] = Counter()
    for name in losses[0]:
        sums = [sum(loss for other, loss in each.items() if other != name) for each in losses]
        best = int(np.argmin(sums))
        chosen[best] += 1
        result |= {row: off for row, off in by_value[best].items() if row.experiment == name}
    return result, chosen


def table(assumption: Assumption, rows: Sequence[Row]) -> list[str]:
    """Return one line a value, then what leaving out each experiment in turn gives."""
    by_value = []
    for value in assumption.values:
        with assumed(assumption, value):
            by_value.append({row: row.off() for row in rows})
    shipped = getattr(assumption.module, assumption.name)
    own = assumption.values.index(shipped)
    base = scores_of(by_value[own])
    first = [scores_of(in_half(found, HALVES[0])).loss for found in by_value]
    decided = int(np.nanargmin(first)) if not all(map(math.isnan, first)) else own
    lines = [f"{assumption.name}: {assumption.words}"]
    for place, (value, found) in enumerate(zip(assumption.values, by_value, strict=True)):
        marks = [mark for mark, on in (("shipped", place == own), ("decided", place == decided)) if on]
        lines.append(f"  {label(value):>6}  {line_of(found, base)}  {' '.join(marks)}".rstrip())
    honest, chosen = left_out(by_value)
    taken = ", ".join(
        f"{label(assumption.values[place])} {count} times" for place, count in sorted(chosen.items())
    )
    lines.append(f"  each left out: {line_of(honest, base)}  takes {taken}")
    return lines


def line_of(found: dict[Row, np.ndarray], base: Scores) -> str:
    """Return the scores of all and of both halves, and the difference of the loss to the product's."""
    whole = scores_of(found)
    halves = [scores_of(in_half(found, half)) for half in HALVES]
    apart = np.array([whole.losses[name] - base.losses[name] for name in base.losses])
    sure = float(np.std(apart, ddof=1)) / math.sqrt(len(apart)) if len(apart) > 1 else math.nan
    cells = "; ".join(f"{half.loss:.3f}, {100 * half.median_error:.0f} %" for half in halves)
    return (
        f"loss {whole.loss:.3f} ({apart.mean():+.3f} +- {sure:.3f}), median error"
        f" {100 * whole.median_error:.0f} %, holds {100 * whole.coverage:.0f} %; halves {cells}"
    )


def label(value: Any) -> str:
    """Return a value as text; of loads the share of those left alone."""
    return f"{value[0][1]:.2f}" if isinstance(value, tuple) else f"{value:.2f}"


def rows_of(path: Path, bank: Path, members: int, report: Callable[[str], object]) -> list[Row]:
    """Return the scored rows with their worlds; what the bank does not have is simulated and kept."""
    known = {each.case: each for each in banks_of.load(bank)}
    found: list[Row] = []
    for case in thinned([case for case in discover(path) if case.claim == TIME and not case.problem]):
        try:
            fields = reading_of(row_of(case)).fields
            resolved = case_of(Scenario.from_dict({"seed": 0, **fields}))
        except ZsimError as error:
            report(f"{case.name}: {error}")
            continue
        plain = banks_of.plain_fields(fields)
        if case.name not in known or banks_of.is_stale(known[case.name], plain, resolved, members):
            report(f"{case.name}: simulating {members} worlds")
            known[case.name] = banks_of.simulate(case.name, plain, answer=answer_of, members=members)
            banks_of.save(list(known.values()), bank)
        found.append(Row(case, known[case.name], resolved))
    return found


def answer_of(fields: Any) -> float:
    """Return the median of the whole prediction [s]."""
    return float(predict_fields(fields, Options())["resilver_s"]["p50"])


def thinned(cases: Sequence[ValidationCase]) -> list[ValidationCase]:
    """Return the cases, of a chart with many points only some."""
    sizes = Counter(case.experiment or case.name for case in cases)
    seen: Counter[str] = Counter()
    taken = []
    for case in cases:
        name = case.experiment or case.name
        seen[name] += 1
        if sizes[name] <= MANY or seen[name] % CHART_STEP == 3:
            taken.append(case)
    return taken


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=Path)
    parser.add_argument("--bank", type=Path, required=True, help="file in which the worlds are kept")
    parser.add_argument("--members", type=int, default=banks_of.DRAWN, help="worlds a row")
    parser.add_argument("--assumption", choices=[each.name for each in ASSUMPTIONS], action="append")
    asked = parser.parse_args(arguments)
    rows = rows_of(asked.rows, asked.bank, asked.members, lambda line: sys.stderr.write(f"{line}\n"))
    for each in ASSUMPTIONS:
        if asked.assumption is None or each.name in asked.assumption:
            sys.stdout.write("\n".join(table(each, rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
