"""Simulated worlds of reported resilvers, stored so that a prior can be tested without simulating again.

Of each row as many members as wanted are drawn from wider distributions than the product's, and simulated
once.  What a prior makes of the row is then a weighing of those members: the density of each under the prior
over that under which it was drawn (importance sampling: Kahn and Marshall, Operations Research 1, 1953).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.base.parsed import number_of, table, tables, text
from zsim.base.reading import read_text
from zsim.case.case import Case
from zsim.case.worlds import Choice, in_world
from zsim.prediction.api import case_of
from zsim.prediction.inputs.ensemble import MEMBERS, Unknown, draw_members, unknowns
from zsim.prediction.runs.member import run_member
from zsim.scenario.model import Scenario

Floats = NDArray[np.float64]

DRAWN, BLOCKS = 64, 12_000
WIDEST = {"churn": 1.2, "file_size": 1.2}
"""Spreads under which these are drawn, at least: priors wider than that cannot be judged."""
EVEN = 0.6
"""Share of the draws that takes all choices as alike."""
PLACES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """The worlds of one row.

    Attributes
    ----------
    case : str
    fields : dict
        Of the scenario.
    drawn : tuple of Unknown
        Under which the members were drawn.
    scores : ndarray of float64, shape (members, unknowns)
        Standard normal scores of the members.
    times : ndarray of float64, shape (members,)
        Their durations on miniatures [s].
    shift : float
        ln of what the whole prediction (the middle world in full detail) adds to the median of the members.
    """

    case: str
    fields: Mapping[str, object]
    drawn: tuple[Unknown, ...]
    scores: Floats
    times: Floats
    shift: float = 0.0

    def quantiles(self, prior: Sequence[Unknown]) -> Floats:
        """Return ln of p10, p50 and p90 of the duration under a prior, shape (3,)."""
        weights = self.weights(prior)
        return weighted_quantiles(np.log(self.times), weights) + self.shift

    def weights(self, prior: Sequence[Unknown]) -> Floats:
        """Return the weight of each member under a prior, summing to 1, shape (members,).

        Raises
        ------
        InputError
            When the prior has unknowns or values that were not drawn.
        """
        wanted = {unknown.name: unknown for unknown in prior}
        names = [unknown.name for unknown in self.drawn]
        if sorted(wanted) != sorted(names):
            odd = sorted(set(wanted) ^ set(names))
            raise InputError("bank", self.case, f"{', '.join(odd)} is not in both", "simulate it anew")
        logs = np.zeros(len(self.times))
        for column, unknown in enumerate(self.drawn):
            logs += _log_ratio(self.case, unknown, wanted[unknown.name], self.scores[:, column])
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()  # type: ignore[no-any-return]


def _log_ratio(case: str, drawn: Unknown, prior: Unknown, scores: Floats) -> Floats:
    """Return ln of the density under the prior over that under which an unknown was drawn."""
    from scipy.special import ndtr

    if drawn.choices:
        shares = _shares(drawn), _shares(prior)
        if not set(shares[1]) <= set(shares[0]):
            raise InputError("bank", case, f"{drawn.name} has other values by now", "simulate it anew")
        ratios = [shares[1].get(value, 0.0) / share for value, share in shares[0].items()]
        places = np.searchsorted(np.cumsum(list(shares[0].values()))[:-1], ndtr(scores), side="right")
        return np.log(np.maximum(np.array(ratios)[places], 1e-300))  # type: ignore[no-any-return]
    narrower = drawn.spread / max(prior.spread, 1e-9)
    return math.log(narrower) + 0.5 * scores**2 * (1.0 - narrower**2)


def _shares(unknown: Unknown) -> dict[Any, float]:
    whole = math.fsum(choice.share for choice in unknown.choices)
    return {choice.value: choice.share / whole for choice in unknown.choices if choice.share > 0.0}


def widened(unknown: Unknown) -> Unknown:
    """Return the distribution under which an unknown is drawn for a bank."""
    if not unknown.choices:
        return replace(unknown, spread=max(unknown.spread, WIDEST.get(unknown.name, 0.0)))
    whole, count = math.fsum(choice.share for choice in unknown.choices), len(unknown.choices)
    return replace(
        unknown,
        choices=tuple(
            Choice(each.value, (1.0 - EVEN) * each.share / whole + EVEN / count) for each in unknown.choices
        ),
    )


def simulate(
    case: str,
    fields: Mapping[str, object],
    *,
    answer: Callable[[Mapping[str, object]], float] | None = None,
    members: int = DRAWN,
    blocks: int = BLOCKS,
    seed: int = 0,
) -> Bank:
    """Draw and simulate the worlds of a row.

    Parameters
    ----------
    case : str
    fields : Mapping
        Of its scenario.
    answer : callable, optional
        Gives the median of the whole prediction for fields [s].
    members, blocks, seed : int
    """
    resolved = case_of(Scenario.from_dict({"seed": seed, **fields}))
    shipped = unknowns(resolved)
    drawn = tuple(widened(unknown) for unknown in shipped)
    chosen = draw_members(drawn, seed, members)

    times = np.array([run_member(in_world(resolved, each), blocks=blocks).time_s for each in chosen])
    bank = Bank(case, dict(fields), drawn, np.array([member.scores for member in chosen]), times)
    if answer is None:
        return bank
    return replace(bank, shift=math.log(answer(fields)) - float(bank.quantiles(shipped)[1]))


def plain_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields as they come back from a file."""
    plain: dict[str, object] = json.loads(json.dumps(dict(fields)))
    return plain


def is_stale(bank: Bank, fields: Mapping[str, object], resolved: Case, members: int) -> bool:
    """Tell whether a bank is of other fields, unknowns or choices than a row has now, or too small."""
    now = {unknown.name: set(_shares(unknown)) for unknown in unknowns(resolved)}
    then = {unknown.name: set(_shares(unknown)) for unknown in bank.drawn}
    return dict(bank.fields) != dict(fields) or now != then or len(bank.times) < members


def prior_of(bank: Bank, resolved: Case | None = None) -> tuple[Unknown, ...]:
    """Return the unknowns of a row as the product has them now."""
    return unknowns(resolved or case_of(Scenario.from_dict({"seed": 0, **bank.fields})))


def weighted_quantiles(logs: Floats, weights: Floats) -> Floats:
    """Return p10, p50 and p90 of weighted logarithms, shape (3,).

    Notes
    -----
    Of a kernel density (normal kernel, Silverman's rule of thumb: Density Estimation, 1986, equation 3.31),
    as wide as for the number of members that a prediction has.
    """
    from scipy.special import ndtr

    if float(np.ptp(logs)) == 0.0:
        return np.full(3, logs[0])
    order = np.argsort(logs)
    cumulated = np.cumsum(weights[order]) - weights[order] / 2
    quartiles = np.interp((0.25, 0.75), cumulated, logs[order])
    mean = float(weights @ logs)
    deviation = math.sqrt(float(weights @ (logs - mean) ** 2) * MEMBERS / (MEMBERS - 1))
    spread = min(deviation, float(quartiles[1] - quartiles[0]) / 1.34 or math.inf)
    width = max(0.9 * spread * MEMBERS**-0.2, 1e-6)
    low = np.full(3, float(logs.min()) - 6 * width)
    high = np.full(3, float(logs.max()) + 6 * width)
    for _ in range(50):
        middle = (low + high) / 2
        short = ndtr((middle[:, None] - logs[None, :]) / width) @ weights < np.array(PLACES)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return (low + high) / 2  # type: ignore[no-any-return]


# Kept in a file.


def save(banks: Sequence[Bank], path: Path) -> None:
    """Write banks, one JSON object a line, under a temporary name first."""
    lines = [json.dumps(_plain(bank), sort_keys=True) for bank in banks]
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    temporary.replace(path)


def load(path: Path) -> tuple[Bank, ...]:
    """Return the banks of a file; none where there is no such file.

    Raises
    ------
    InputError
        When a line is not one of a bank.
    """
    if not path.exists():
        return ()
    found = []
    for number, line in enumerate(read_text(path, "bank").splitlines(), 1):
        try:
            found.append(_bank(json.loads(line)))
        except (InputError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError("bank", path.name, f"line {number} is no bank: {error}", "delete it") from error
    return tuple(found)


def _plain(bank: Bank) -> dict[str, object]:
    drawn = [asdict(unknown) for unknown in bank.drawn]
    numbers = {"scores": bank.scores.tolist(), "times": bank.times.tolist(), "shift": bank.shift}
    return {"case": bank.case, "fields": dict(bank.fields), "drawn": drawn, **numbers}


def _bank(data: Mapping[str, object]) -> Bank:
    # What `plain` wrote: a file of another form has been refused by its hash.
    unknown: Callable[..., Unknown] = Unknown
    choice: Callable[..., Choice] = Choice
    drawn = tuple(
        unknown(**{**each, "choices": tuple(choice(**one) for one in tables(each, "choices"))})
        for each in tables(data, "drawn")
    )
    return Bank(
        text(data, "case"),
        table(data, "fields"),
        drawn,
        np.array(data["scores"], dtype=np.float64),
        np.array(data["times"], dtype=np.float64),
        number_of(data["shift"], "shift"),
    )
