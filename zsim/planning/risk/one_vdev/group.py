"""One top-level vdev in the reliability model: its construction, and its possible worlds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gamma
from typing import Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from zsim.scenario.layout import VdevSpec

Floats = NDArray[np.float64]
Lengths = TypeVar("Lengths", float, Floats)

HOUR = 3600.0
YEAR = 365.25 * 86400.0
"""[s]; 8,766 hours."""

Discipline = Literal["apart", "restart", "serial"]
CorrelationLaw = Literal["frailty", "same", "successive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """How long a drive is missing once its repair has begun, as shares of the mean.

    Attributes
    ----------
    minimum : float
        Share of the mean that always passes: 1 is a fixed time, 0 with shape 1 an exponential law.
    shape : float
        Of the Weibull law of the rest.
    """

    minimum: float = 1.0
    shape: float = 1.0

    @property
    def is_fixed(self) -> bool:
        """Whether every repair takes the mean."""
        return self.minimum == 1.0


def weibull_scale(mean: Lengths, shape: float) -> Lengths:
    """Return the scale of a Weibull law with a mean, in the same unit."""
    return mean / gamma(1.0 + 1.0 / shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One top-level vdev.

    Attributes
    ----------
    children : int
        Drives (of a dRAID all, because any of them may hold a column).
    tolerance : int
        Drives that may be missing before the vdev is suspended.
    discipline : {"apart", "restart", "serial"}
        Several repairs in one vdev: each for itself, all anew with each failure, or one after the other.
    repair : Repair
    correlation_law : {"frailty", "same", "successive"}
        What a correlation of k means: the drives of a vdev share a hazard that varies between vdevs
        (gamma of variance k - 1, so that one failure makes the next k times likelier); a factor k on all
        further failures; or a factor k on each (Chen et al. 1994).
    shape : float
        Weibull shape of drive lifetimes; 1 is a constant rate.
    age : float
        Age of the drives now [s].
    stress : float
        Factor on the failure rate while a drive of the vdev is missing.
    pace : float
        Duration of its repair over that of the vdev which the worlds tell [1].
    """

    children: int
    tolerance: int
    discipline: Discipline = "apart"
    repair: Repair = Repair()
    correlation_law: CorrelationLaw = "frailty"
    shape: float = 1.0
    age: float = 0.0
    stress: float = 1.0
    pace: float = 1.0

    @classmethod
    def of(cls, vdev: VdevSpec, **rest: object) -> Self:
        """Return the group of a top-level vdev."""
        made: Callable[..., Self] = cls
        return made(children=vdev.children, tolerance=vdev.tolerance, **rest)

    def scale(self, mean: Lengths) -> Lengths:
        """Return the scale of the Weibull law of lifetimes with a mean, in the same unit."""
        return weibull_scale(mean, self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worlds:
    """What is not known for certain, one value a possible world; every field has shape (worlds,).

    Attributes
    ----------
    rate : ndarray
        Failures of a drive, mean over its life [1/s].
    correlation : ndarray
        How many times likelier a failure is after one in the same vdev [1].
    hours : ndarray
        Duration of the repair itself, mean [s].
    delay : ndarray
        From the failure to the start of the repair [s].
    latent : ndarray
        New bursts of latent errors on a drive [1/s]; 0 leaves them out.
    removal : ndarray
        Mean time from a burst to the scrub that removes it [s]; infinite without scrubs.
    tripping : ndarray
        Share of the affected drives that ZED faults when a repair reads them [1].
    """

    rate: Floats
    correlation: Floats
    hours: Floats
    delay: Floats
    latent: Floats
    removal: Floats
    tripping: Floats

    def __len__(self) -> int:
        return len(self.rate)

    @property
    def missing(self) -> Floats:
        """Mean time for which a failed drive's data is missing [s]."""
        return self.hours + self.delay

    @property
    def waiting(self) -> Floats:
        """Share of that time before the repair begins."""
        return np.divide(self.delay, self.missing, out=np.ones(len(self)), where=self.missing > 0.0)

    def taken(self, places: NDArray[np.intp]) -> Worlds:
        """Return the worlds at these places, in this order."""
        return Worlds(**{name: getattr(self, name)[places] for name in self.__slots__})


def one_world(
    rate: float,
    hours: float,
    *,
    delay: float = 0.0,
    correlation: float = 1.0,
    latent: float = 0.0,
    removal: float = np.inf,
    tripping: float = 0.0,
) -> Worlds:
    """Return a single world.

    Parameters
    ----------
    rate : float
        Failures of a drive [1/s].
    hours, delay : float
        Of the repair itself, and from the failure to its start [s].
    correlation : float
        How many times likelier a failure is after one in the same vdev [1].
    latent, removal, tripping : float
        As in `Worlds`.

    Returns
    -------
    Worlds
        With arrays of shape (1,).
    """
    values = {
        "rate": rate, "hours": hours, "delay": delay, "correlation": correlation, "latent": latent,
        "removal": removal, "tripping": tripping,
    }  # fmt: skip
    return Worlds(**{name: np.array([value], dtype=np.float64) for name, value in values.items()})
