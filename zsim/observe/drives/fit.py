"""Fit a drive model to a user's own measurements.

What is fitted are four factors on a model of the catalogue: outer rate, ratio of inner to outer rate, seek
times and command overhead.  Bayes' rule in its Gaussian form: the model's own uncertainty is the prior, so
that a factor the samples say nothing about stays where it is, and is reported as not identified.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from zsim.base.errors import InputError
from zsim.drives.derived import sequential_rates
from zsim.drives.models.model import DriveModel, DriveQuantity
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.single_drive import random_rate

Matrix: TypeAlias = NDArray[np.float64]
FACTORS = ("outer_rate", "inner_ratio", "seek", "overhead")
PRIOR_AT_LEAST = 0.3
"""Relative standard deviation of the prior: the samples decide, the model only holds what they leave open."""
SAMPLE_ERROR = 0.03
"""Relative standard deviation taken for one sample when the residual is smaller."""
IDENTIFIED = 0.5
"""A factor is identified when the samples shrink its standard deviation below this share of the prior's."""
STEP = 0.02
STEP_LEAVES = 0.95
"""Share of what is left that a step of the search leaves, as it is told to whoever waits."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement of a drive.

    Attributes
    ----------
    kind : {"sequential", "random"}
    value : float
        Rate of a sequential read [bytes/s], or random reads per second [1/s].
    start, span : float
        Stretch of the drive [fraction of the capacity].
    size : int
        Of a random read [bytes].
    depth : int
        Reads outstanding.
    """

    kind: Literal["sequential", "random"]
    value: float
    start: float = 0.0
    span: float = 1.0
    size: int = 4096
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Factor:
    """One fitted factor.

    Attributes
    ----------
    name : str
    value : float
        On the base model's number.
    standard_error : float
    identified : bool
        Whether the samples, and not the base model, decide it.
    """

    name: str
    value: float
    standard_error: float
    identified: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted drive and how well the samples determine it.

    Attributes
    ----------
    drive : DriveModel
        With the identified factors applied.
    factors : tuple of Factor
    condition : float
        Condition number of the samples' Jacobian over the factors they touch; above 1e3 they cannot be told
        apart.
    residual : float
        Root mean square of log(predicted / measured).
    samples : int
    predicted : tuple of float
        The fitted model's answer for each sample.
    """

    drive: DriveModel
    factors: tuple[Factor, ...]
    condition: float
    residual: float
    samples: int
    predicted: tuple[float, ...]


def fit_drive(
    base: DriveModel,
    samples: Sequence[Measurement],
    name: str = "fitted",
    on_progress: Callable[[float, str], None] | None = None,
) -> Fit:
    """Fit a drive to measurements.

    Parameters
    ----------
    base : DriveModel
        A disk of the catalogue to start from.
    samples : sequence of Measurement
    name : str
        Of the fitted drive.
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done: of a search, whose end is not known, each
        step is a twentieth of what is left.

    Raises
    ------
    InputError
        When there is no sample, a sample is impossible, or the base is not a disk.
    """
    _check(base, samples)
    prior = _prior(base)
    measured = np.log([sample.value for sample in samples])
    asked, left = _Asked(samples), [1.0]

    def misfit(factors: Matrix) -> Matrix:
        left[0] *= STEP_LEAVES
        if on_progress is not None:
            on_progress(1.0 - left[0], "fitting")
        parameters = base.parameters(**dict(zip(FACTORS, (float(f) for f in factors), strict=True)))
        return np.asarray(np.log(asked.of(parameters)) - measured)

    def weighted(factors: Matrix) -> Matrix:
        return np.concatenate([misfit(factors) / SAMPLE_ERROR, (factors - 1.0) / prior])

    found = least_squares(weighted, np.ones(4), bounds=(0.1, 10.0), diff_step=[STEP] * len(FACTORS))
    residuals = misfit(found.x)
    # The rows behind those of the samples are the prior's.
    jacobian: Matrix = np.asarray(found.jac)[: len(samples)] * SAMPLE_ERROR
    # A few samples can be met by luck: they are never taken to be better than measurements are.
    error = max(float(np.sqrt(np.mean(residuals**2))), SAMPLE_ERROR)
    covariance = np.linalg.inv(jacobian.T @ jacobian / error**2 + np.diag(prior**-2))
    spread = np.sqrt(np.diag(covariance))
    factors = tuple(
        Factor(each, float(value), float(sd), bool(sd < IDENTIFIED * before))
        for each, value, sd, before in zip(FACTORS, found.x, spread, prior, strict=True)
    )
    drive = _with_factors(base, factors, name, len(samples))
    predicted = tuple(asked.of(drive.parameters()).tolist())
    rms = float(np.sqrt(np.mean((np.log(predicted) - measured) ** 2)))
    return Fit(drive, factors, _condition(jacobian), rms, len(samples), predicted)


class _Asked:
    """What is asked of a drive for each sample: thousands at once, and the same question once."""

    def __init__(self, samples: Sequence[Measurement]) -> None:
        self.is_sequential = np.array([sample.kind == "sequential" for sample in samples])
        self.start, self.span = (
            np.array([getattr(sample, name) for sample in samples if sample.kind == "sequential"], float)
            for name in ("start", "span")
        )
        self.random = [
            (each.size, each.depth, each.start, each.span) for each in samples if each.kind == "random"
        ]

    def of(self, drive: DriveParameters) -> Matrix:
        """Return what a drive would give, shape (samples,) [bytes/s or 1/s]."""
        found = np.empty(len(self.is_sequential))
        if len(self.start):
            found[self.is_sequential] = sequential_rates(drive, self.start, self.span)
        rates = {each: random_rate(drive, *each) for each in dict.fromkeys(self.random)}
        found[~self.is_sequential] = [rates[each] for each in self.random]
        return found


def predict(drive: DriveParameters, sample: Measurement) -> float:
    """Return what a drive would give for a sample [bytes/s or 1/s]."""
    return float(_Asked((sample,)).of(drive)[0])


def _check(base: DriveModel, samples: Sequence[Measurement]) -> None:
    if base.kind != "mechanical":
        raise InputError("--drive", base.name, "only disks can be fitted", "name a disk to start from")
    if not samples:
        raise InputError("samples", None, "a fit needs at least one", "give --fio or --dd")
    for sample in samples:
        possible = sample.value > 0 and 0 <= sample.start <= 1 and sample.span > 0 and sample.size > 0
        if not possible or not np.isfinite(sample.value) or sample.depth < 1:
            reason = "a sample is positive and lies on the drive"
            raise InputError("sample", str(sample), reason, "put it right, or give the drive its capacity")


def _prior(base: DriveModel) -> Matrix:
    spread = base.spread()
    own = np.array([spread.outer_rate, spread.inner_ratio, spread.seek, spread.overhead])
    return np.asarray(np.maximum(own, PRIOR_AT_LEAST))


def _condition(jacobian: Matrix) -> float:
    """Return the condition number over the factors that move any sample, by a hundredth of their move."""
    touched = jacobian[:, np.abs(jacobian).max(axis=0) > 1e-2]
    if touched.size == 0:
        return float("inf")
    values = np.linalg.svd(touched, compute_uv=False)
    if len(values) < touched.shape[1] or values[-1] <= 1e-12 * values[0]:
        return float("inf")
    return float(values[0] / values[-1])


def _with_factors(base: DriveModel, factors: Sequence[Factor], name: str, samples: int) -> DriveModel:
    """Return the base with the identified factors applied to its numbers."""
    by_name = {factor.name: factor for factor in factors if factor.identified}
    quantities = dict(base.quantities)
    source = f"zsim drives fit: {samples} samples, starting from {base.name}"

    def apply(keys: Sequence[str], *names: str) -> None:
        used = [by_name[each] for each in names if each in by_name]
        if not used:
            return
        value = float(np.prod([factor.value for factor in used]))
        error = float(np.sqrt(math.fsum((factor.standard_error / factor.value) ** 2 for factor in used)))
        for key in keys:
            quantities[key] = _fitted(quantities[key], value, error, source)

    apply(("outer_rate",), "outer_rate")
    apply(("inner_rate",), "outer_rate", "inner_ratio")
    apply(("seek_track", "seek_average", "seek_full", "write_settle"), "seek")
    apply(("read_overhead", "write_overhead"), "overhead")
    return replace(
        base, name=name, model=f"{base.model}, fitted", vendor="fitted", aliases=(), quantities=quantities,
        observed={}, note=f"Fitted to {samples} samples, starting from {base.name}.",
    )  # fmt: skip


def _fitted(quantity: DriveQuantity, factor: float, error: float, source: str) -> DriveQuantity:
    value = float(f"{quantity.value * factor:.6g}")
    scale = quantity.si / quantity.value if quantity.value else 1.0
    return replace(
        quantity,
        value=value,
        si=value * scale,
        kind="fitted",
        source=source,
        uncertainty=round(error, 4),
        note="",
    )
