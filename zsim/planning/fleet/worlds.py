"""The possible worlds of a fleet: drawn more often where losses are likely, and weighed accordingly.

The mean of a chance hangs on the few worlds in which drives fail often and together: of some dozen worlds
drawn by the laws of the inputs alone hardly one is such.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.planning.risk.evaluate import DrawnWorlds
from zsim.planning.risk.one_vdev.group import Floats, Group, Worlds
from zsim.planning.risk.one_vdev.latent import on_any, present, tripped

WORLDS = 64
EVENLY = 0.5
"""Share of the worlds drawn by the laws of the inputs alone; the rest half for vdevs, half for files."""


class KindLosses(NamedTuple):
    """Pools of one kind in many worlds, as far as it tells roughly how much they lose in each.

    Attributes
    ----------
    vdevs : int
        Of all these pools.
    group : Group
    worlds : Worlds
    missing : ndarray of float64, shape (worlds,)
        Time from a failure to the end of its repair, as long as nobody has to wait for a drive [s].
    """

    vdevs: int
    group: Group
    worlds: Worlds
    missing: Floats


class ChosenWorlds(NamedTuple):
    """Places of the worlds that are simulated, and what each counts; weights sum to 1."""

    places: NDArray[np.intp]
    weights: Floats


def losses_expected(kind: KindLosses) -> tuple[Floats, Floats, Floats]:
    """Return failures, losses of files and losses of vdevs to first order [1/s], each of shape (worlds,).

    Parameters
    ----------
    kind : KindLosses

    Notes
    -----
    The first failure of a vdev, and as many others as it can bear within the time that the first is missing:
    ``n * rate * comb(n - 1, p) * (rate * missing) ** p``, times the moment of the hazard that the drives
    share, of which a gamma law of mean 1 and variance v has ``(1 + v) * (1 + 2 * v) * ... * (1 + p * v)``.
    One fewer where ZED faults another drive with the first.
    """
    group, worlds = kind.group, kind.worlds
    drives = kind.vdevs * group.children
    failures = drives * worlds.rate
    if not group.tolerance:
        return failures, drives * (worlds.rate + worlds.latent), failures
    share = present(worlds, group.age)
    damaged = on_any(share, group.children - group.tolerance)
    two = tripped(group, worlds, share, 0)
    files, vdev = (
        (1.0 - two) * _followed(kind, others, 1) + two * _followed(kind, others - 1, 2)
        for others in (group.tolerance - 1, group.tolerance)
    )
    return failures, failures * np.maximum(files * damaged, vdev), failures * vdev


def _followed(kind: KindLosses, others: int, gone: int) -> Floats:
    """Return the mean number of choices of so many others that fail while those gone are missing."""
    variance, others = kind.worlds.correlation - 1.0, max(others, 0)
    found = math.comb(kind.group.children - gone, others) * (kind.worlds.rate * kind.missing) ** others
    for place in range(1, others + 1):
        found = found * (1.0 + place * variance)
    return np.asarray(np.minimum(found, 1.0), dtype=np.float64)


def chosen(kinds: Sequence[KindLosses], count: int) -> ChosenWorlds:
    """Return the worlds to simulate.

    Parameters
    ----------
    kinds : sequence of KindLosses
        Each with as many worlds, or with one that stands for all.
    count : int
        Worlds to choose, at most; one if all inputs are known.

    Returns
    -------
    ChosenWorlds

    Notes
    -----
    Systematic sampling in the order of the failures, with chances that grow with the losses expected; each
    counts by the inverse of its chance (Horvitz and Thompson, J. Am. Stat. Assoc. 47, 1952; Madow, Ann. Math.
    Stat. 20, 1949).
    """
    failures, files, vdev = (
        np.asarray(sum(each)) for each in zip(*(losses_expected(kind) for kind in kinds), strict=True)
    )
    if len(failures) == 1:
        return ChosenWorlds(np.zeros(1, dtype=np.intp), np.ones(1))
    size = EVENLY + 0.5 * (1.0 - EVENLY) * (files / files.mean() + vdev / vdev.mean())
    order = np.argsort(failures, kind="stable")
    reached = np.cumsum(size[order])
    points = (np.arange(count) + 0.5) / count * reached[-1]
    places = order[np.searchsorted(reached, points)]
    weights = 1.0 / size[places]
    return ChosenWorlds(places, weights / weights.sum())


def taken(drawn: DrawnWorlds, places: NDArray[np.intp]) -> DrawnWorlds:
    """Return the worlds at these places with their scores; one alone stands for all."""
    if len(drawn.worlds) == 1:
        places = np.zeros_like(places)
    scores = {name: values[places] for name, values in drawn.scores.items()}
    return DrawnWorlds(drawn.worlds.taken(places), scores)
