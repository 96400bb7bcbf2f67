"""How long each pass takes in each world: the only place where timelines call `zsim.predict`.

A world is one number between 0 and 1, the probability that the pool is faster: the unknowns of a pool (its
history, drives, block sizes) are the same in all passes over it, so that a world in which one pass is slow is
one in which the others are slow (comonotone worlds).  What is compared runs in the same worlds (common random
numbers): differences between alternatives are those of each world with itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from zsim.case.case import Case
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import VERIFYING_SCRUB, Quantiles
from zsim.prediction.api import case_of, predict
from zsim.scenario.evidence import RunningScan
from zsim.scenario.model import Scenario
from zsim.vdevs.kind import kind_of

F64 = NDArray[np.float64]
Percentiles = dict[str, float | None]
"""``p10``, ``p50`` and ``p90`` of a time over the worlds [s]; None: never."""
WORLDS = 99
"""Worlds: so that the 10th, 50th and 90th percentile of them are those of the predictions."""
SHARES = np.arange(1, WORLDS + 1) / (WORLDS + 1)
SCORES: F64 = ndtri(SHARES)
MIDDLE = WORLDS // 2
QUARTER = 900
"""Passes are predicted from full quarters of an hour [s]."""
EDGE = float(ndtri(0.9))
FOR_REPLACEMENT = (
    "replace",
    "replace_in",
    "second_at",
    "old_drive",
    "target",
    "new_drive",
    "new_drive_size",
)
Progress = Callable[[float, str], None]


def facts(scenario: Scenario) -> Case:
    """Return the case of a pool with its assumptions, whatever it says of a replacement left out."""
    return case_of(scenario.changed({"operation": "scrub", **dict.fromkeys(FOR_REPLACEMENT)}))


def unseen(scenario: Scenario) -> Scenario:
    """Return a scenario without what running scans have shown; the same one where none has."""
    seen = scenario.evidence or ()
    left = [each for each in seen if not isinstance(each, RunningScan)]
    return scenario if len(left) == len(seen) else scenario.changed({"evidence": left or None})


def in_worlds(answer: Quantiles) -> F64:
    """Return a duration in every world: two normal laws of its logarithm that meet in the median.

    Returns
    -------
    ndarray of float64, shape (WORLDS,)
        [s]
    """
    if answer.p10 is None or answer.p90 is None or not answer.p10 > 0:
        return np.full(WORLDS, answer.p50)
    known = np.log([answer.p10, answer.p50, answer.p90])
    slope = np.where(SCORES < 0, known[1] - known[0], known[2] - known[1]) / EDGE
    found: F64 = np.exp(known[1] + slope * SCORES)
    return found


def quantiles(values: F64) -> tuple[float | None, float | None, float | None]:
    """Return the 10th, 50th and 90th percentile of the worlds that have a value; None where it never ends."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    # What is not in every world (a pass that only some begin again) has fewer values than there are worlds.
    places = [round(p * (len(ordered) + 1)) - 1 for p in (0.1, 0.5, 0.9)]
    found = [float(ordered[min(max(place, 0), len(ordered) - 1)]) for place in places]
    low, middle, high = (value if np.isfinite(value) else None for value in found)
    return low, middle, high


def percentiles(values: F64) -> Percentiles:
    """Return `quantiles` by name."""
    return dict(zip(("p10", "p50", "p90"), quantiles(values), strict=True))


def _in_vdev(scenario: Scenario, vdev: int) -> dict[str, str]:
    """Return what names the vdev concerned, where it is not like the first one."""
    vdevs = scenario.pool_layout.vdevs
    unequal = scenario.vdev_fills is not None or scenario.vdev_frags is not None
    alike = not unequal and vdevs[vdev] == vdevs[0]
    return {} if alike else {"replace_in": str(vdev)}


@dataclass(frozen=True, eq=False)
class PassTimes:
    """One kind of pass in every world.

    Attributes
    ----------
    seconds : ndarray of float64, shape (WORLDS,)
        How long it takes [s].
    curve : tuple of two ndarray
        Share of the time gone, and of the work done then.
    collecting : float
        Share of the time in which a sorted scan still collects blocks.
    read_bytes, written_bytes : int
        Of the whole pass.
    scrub : float
        Time that the scrub after a rebuild takes, over that of the rebuild.
    """

    seconds: F64
    curve: tuple[F64, F64] = (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    collecting: float = 0.0
    read_bytes: int = 0
    written_bytes: int = 0
    scrub: float = 0.0

    @property
    def middle(self) -> float:
        """How long it takes in the middle world [s]."""
        return float(np.sort(self.seconds)[len(self.seconds) // 2])

    def gone(self, share: float) -> float:
        """Return the share of the time gone when a share of the work is done."""
        gone, done = self.curve
        first = int(np.searchsorted(done, share))
        if first == 0 or share >= 1.0:
            return float(gone[min(first, len(gone) - 1)]) if share < 1.0 else 1.0
        part = (share - done[first - 1]) / (done[first] - done[first - 1])
        return float(gone[first - 1] + part * (gone[first] - gone[first - 1]))

    def seen(self, done: float, position: float) -> PassTimes:
        """Return a pass of which so much work was seen to be done when that share of the time was gone.

        What comes before and after that moment keeps its shape.
        """
        expected = self.gone(done)
        if not (0.0 < expected < 1.0 and 0.0 < position < 1.0):
            return self
        gone, share = self.curve
        moved = np.interp(gone, [0.0, expected, 1.0], [0.0, position, 1.0])
        collecting = float(np.interp(self.collecting, [0.0, expected, 1.0], [0.0, position, 1.0]))
        return replace(self, curve=(moved, share), collecting=collecting)

    def done(self, gone: float) -> float:
        """Return the share of the work done when a share of the time is gone."""
        return float(np.interp(gone, *self.curve))

    def verifying(self) -> PassTimes:
        """Return the scrub that follows a rebuild."""
        return PassTimes(self.seconds * self.scrub)

    def stretched(self, factor: float, least: float) -> PassTimes:
        """Return a pass over a share `factor` of the blocks, that takes `least` at the least [s]."""
        return PassTimes(
            np.maximum(self.seconds * factor, least),
            self.curve,
            self.collecting,
            int(self.read_bytes * factor),
            int(self.written_bytes * factor),
        )


def times_of(prediction: Prediction) -> PassTimes:
    """Return the times of a prediction."""
    answer = prediction.resilver_s
    points = [(point.time_s / answer.p50, point.fraction) for point in prediction.progress]
    gone, done = (np.array(each) for each in zip(*points, strict=True)) if points else PassTimes.curve
    gone, done = np.concatenate([[0.0], gone, [1.0]]), np.concatenate([[0.0], done, [1.0]])
    before = [phase.duration_s for phase in prediction.phases if "metadata" in phase.name]
    return PassTimes(
        in_worlds(answer),
        (np.maximum.accumulate(np.clip(gone, 0.0, 1.0)), np.maximum.accumulate(done)),
        min(1.0, math.fsum(before) / answer.p50),
        prediction.read_bytes,
        prediction.written_bytes,
        math.fsum(phase.duration_s for phase in prediction.phases if phase.name == VERIFYING_SCRUB)
        / answer.p50,
    )


@dataclass
class Passes:
    """All passes of one pool, each predicted once.

    Parameters
    ----------
    on_progress : callable, optional
        Called with the share done and a few words while something is predicted.
    """

    on_progress: Progress | None = None
    predictions: dict[str, Prediction] = field(default_factory=dict)
    moments: dict[int, int] = field(default_factory=dict)

    def moment(self, number: int, now: float) -> int:
        """Return when the pass of this number begins in the world told first, for a load with hours [s].

        That is the middle one; to predict each pass from 99 different hours of the week would take minutes.
        """
        return self.moments.setdefault(number, round(now / QUARTER) * QUARTER)

    def resilver(
        self,
        scenario: Scenario,
        vdev: int,
        drives: int,
        old: Literal["missing", "online"],
        kind: Literal["resilver", "rebuild"] = "resilver",
        away: Collection[int] = (),
        **new: object,
    ) -> PassTimes:
        """Return the times of a pass onto `drives` new drives of one top-level vdev.

        Sick drives that are `away` (offline; counted in the order of the layout) are not read: the times of
        every world change as much as the answer does (`SickDrive.offline_s`).
        """
        changes = {"replace": drives, "old_drive": old, "operation": kind, **_in_vdev(scenario, vdev), **new}
        if new.get("target") == "distributed-spare":
            changes.pop("old_drive")
        if kind_of(scenario.pool_layout.vdevs[vdev].kind).has_distributed_spares:
            changes.setdefault("target", "new-drive")
        found = self._predicted(scenario, changes)
        without = [each.offline_s for each in found.sick if each.drive in away and each.offline_s is not None]
        times = times_of(found)
        if not without:
            return times
        return replace(times, seconds=times.seconds * (min(without) / found.resilver_s.p50))

    def scrub(self, scenario: Scenario) -> PassTimes:
        """Return the times of a scrub of the whole pool."""
        return times_of(self._predicted(scenario, {"operation": "scrub", **dict.fromkeys(FOR_REPLACEMENT)}))

    def expansion(self, scenario: Scenario, vdev: int) -> PassTimes:
        """Return the times of the expansion of a top-level vdev by a drive, without the scrub behind it."""
        return times_of(self._predicted(scenario, {"operation": "expand", **_in_vdev(scenario, vdev)}))

    def removal(self, scenario: Scenario, vdev: int) -> PassTimes:
        """Return the times of the removal of a top-level vdev."""
        return times_of(self._predicted(scenario, {"operation": "remove", **_in_vdev(scenario, vdev)}))

    def _predicted(self, scenario: Scenario, changes: Mapping[str, object]) -> Prediction:
        stated = scenario.changed(dict.fromkeys(FOR_REPLACEMENT) | dict(changes))
        key = json.dumps(stated.stated(), sort_keys=True)
        if key not in self.predictions:
            report = self.on_progress
            number = len(self.predictions) + 1
            # How many there will be is not known: each takes half of what is left of the bar.
            begun = 1.0 - 0.5 ** (number - 1)
            listen = (
                None
                if report is None
                else (lambda share, words: report(begun + 0.5**number * share, f"pass {number}: {words}"))
            )
            self.predictions[key] = predict(stated, listen)
        return self.predictions[key]
