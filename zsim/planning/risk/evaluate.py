"""From unknowns to chances: draw worlds, solve or simulate each, combine the vdevs to the pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from zsim.base.constants import Z90, Z975
from zsim.planning.risk.one_vdev.chain import in_window, within
from zsim.planning.risk.one_vdev.group import YEAR, Floats, Group, Worlds
from zsim.planning.risk.one_vdev.latent import on_any, pool_gone, present
from zsim.planning.risk.one_vdev.simulation import Simulated, simulate
from zsim.planning.risk.question import Method, Unknowns
from zsim.planning.risk.records import Chance, Mover, chance
from zsim.planning.risk.reliability import Spread, number

WORLDS_SOLVED, WORLDS_SIMULATED = 128, 32
REPLICAS = 60_000
REPLICAS_OF_MANY = 2_000
SMALL = 1e-290
ENDS = np.array([0.05, 0.95])
"""Of the range of a chance."""

Report = Callable[[float, str], None]


class Loss(NamedTuple):
    """Chances of a pool by grade, shape (worlds,) each, and the relative error of simulating them."""

    files: Floats
    vdev: Floats
    pool: Floats
    error: Floats


@dataclass(frozen=True, slots=True)
class DrawnWorlds:
    """Worlds with the standard normal scores they were drawn by, by input."""

    worlds: Worlds
    scores: dict[str, Floats]


def draw(unknowns: Unknowns, count: int, seed: int) -> DrawnWorlds:
    """Draw worlds, stratified in every input.

    Parameters
    ----------
    unknowns : Unknowns
    count : int
        Worlds; one if nothing is open.
    seed : int

    Returns
    -------
    DrawnWorlds
        With the standard normal score of each open input, of shape (worlds,).

    Notes
    -----
    A Latin hypercube: each input takes the middle of each of `count` equal parts of its law once, in an order
    of its own (McKay, Beckman and Conover, Technometrics 21, 1979).
    """
    random = np.random.default_rng(seed)
    count = count if unknowns.open else 1
    scores = {name: normal_scores((random.permutation(count) + 0.5) / count) for name in unknowns.open}
    return DrawnWorlds(worlds_at(unknowns, scores, count), scores)


def normal_scores(shares: Floats) -> Floats:
    """Return the standard normal scores below which such shares lie."""
    from scipy.special import ndtri

    result: Floats = ndtri(shares)
    return result


def worlds_at(unknowns: Unknowns, scores: Mapping[str, Floats], count: int) -> Worlds:
    """Return the worlds at standard normal scores of each input that is open.

    Parameters
    ----------
    unknowns : Unknowns
        How each input is spread.
    scores : mapping of str to ndarray of float, shape (count,)
        By input; 0, the median, where it is not there [1].
    count : int

    Returns
    -------
    Worlds
        With arrays of shape (count,).  The correlation is 1 at least: a cause that is shared never makes
        failures rarer.
    """

    def values(name: str) -> Floats:
        spread: Spread = getattr(unknowns, name)
        return spread.at(scores.get(name, np.zeros(count)))

    return Worlds(
        rate=values("rate") * values("age_factor"),
        correlation=np.maximum(values("correlation"), 1.0),
        hours=values("hours"),
        delay=values("delay"),
        latent=values("latent"),
        removal=np.full(count, unknowns.removal),
        tripping=np.full(count, unknowns.tripping),
    )


def repeated_windows(group: Group, worlds: Worlds) -> Worlds:
    """Return the worlds with the repairs as a release has them that begins anew after each error.

    Up to 0.8 an unreadable block keeps the resilver from ever being taken as done (OpenZFS 0.8.6
    dsl_scan.c dsl_scan_done; pull request 10291): one more window is counted.
    """
    if group.tolerance > 1:
        return worlds
    again = on_any(present(worlds, group.age), group.children - 1)
    return replace(worlds, hours=worlds.hours * (1.0 + again))


def window_loss(group: Group, worlds: Worlds, method: Method, seed: int) -> Loss:
    """Return the chances within one repair."""
    if method == "chain":
        files, vdev = in_window(group, worlds)
        return loss_of(group, worlds, files, vdev, np.zeros(len(worlds)))
    return _simulated(group, worlds, simulate(group, worlds, (1.0,), _replicas(worlds), seed, window=True))


def loss_within(
    parts: tuple[tuple[int, Group], ...], worlds: Worlds, years: float, method: Method, seed: int
) -> Loss:
    """Return the chances of a pool of several vdevs within some years."""
    found = [(count, _vdev_loss(group, worlds, years, method, seed)) for count, group in parts]
    files, vdev, pool = (
        any_of([(count, getattr(loss, name)) for count, loss in found]) for name in ("files", "vdev", "pool")
    )
    return Loss(files, vdev, pool, np.max([loss.error for _, loss in found], axis=0))


def _vdev_loss(group: Group, worlds: Worlds, years: float, method: Method, seed: int) -> Loss:
    worlds = replace(worlds, hours=worlds.hours * group.pace)
    if method == "chain" or not group.tolerance:
        files, vdev = within(group, worlds, years * YEAR)
        return loss_of(group, worlds, files, vdev, np.zeros(len(worlds)))
    return _simulated(group, worlds, simulate(group, worlds, (years * YEAR,), _replicas(worlds), seed))


def _replicas(worlds: Worlds) -> int:
    return REPLICAS if len(worlds) == 1 else REPLICAS_OF_MANY


def _simulated(group: Group, worlds: Worlds, found: Simulated) -> Loss:
    files, vdev = found.files[0], found.vdev[0]
    return loss_of(group, worlds, files.chance, vdev.chance, vdev.error / np.maximum(vdev.chance, SMALL))


def loss_of(group: Group, worlds: Worlds, files: Floats, vdev: Floats, error: Floats) -> Loss:
    """Return the chances of a vdev with that of the pool, each grade including the ones after it."""
    gone = pool_gone(group, worlds.waiting, number("pool", "critical_blocks"))
    vdev = np.clip(vdev, SMALL, 1.0)
    return Loss(np.clip(files, vdev, 1.0), vdev, vdev * gone, error)


def any_of(parts: list[tuple[int, Floats]]) -> Floats:
    """Return the chance that any of several independent vdevs is lost."""
    # In logarithms: chances far below the rounding of 1 keep their digits.
    with np.errstate(divide="ignore"):
        none = sum(count * np.log1p(-values) for count, values in parts)
    result: Floats = -np.expm1(none)
    return result


def summed_up(values: Floats, error: Floats, weights: Floats | None = None) -> Chance:
    """Return a chance over worlds: mean, p5 and p95, widened by the error of a simulation (95 %)."""
    mean = float(np.average(values, weights=weights))
    if weights is None:
        low, high = (float(each) for each in np.quantile(values, ENDS))
    else:
        found = np.quantile(values, ENDS, weights=weights, method="inverted_cdf")
        low, high = (float(each) for each in found)
    if error.any():
        counts = np.full(len(values), 1.0 / len(values)) if weights is None else weights
        relative = float(np.sqrt(np.sum((counts * values * error) ** 2)) / mean)
        low = min(low, mean * float(np.exp(-Z975 * relative)))
        high = max(high, mean * float(np.exp(Z975 * relative)))
    return chance(mean, low, high)


def movers(scores: dict[str, Floats], values: Floats) -> tuple[Mover, ...]:
    """Return the open inputs by how far each moves a chance.

    Parameters
    ----------
    scores : dict of str to ndarray of float64, shape (worlds,)
        Standard normal scores by input.
    values : ndarray of float64, shape (worlds,)
        The chance in each world.

    Returns
    -------
    tuple of Mover
        The strongest first.  The factor is ``exp(2 * 1.2816 * slope)``: what the chance is multiplied by from
        the p10 to the p90 of the input, by a linear least-squares fit of its logarithm on all scores.
    """
    if not scores:
        return ()
    names = list(scores)
    design = np.column_stack([np.ones(len(values)), *(scores[name] for name in names)])
    slopes = np.linalg.lstsq(design, np.log(values), rcond=None)[0][1:]
    factors = {name: float(np.exp(2 * Z90 * slope)) for name, slope in zip(names, slopes, strict=True)}
    ordered = sorted(factors.items(), key=lambda item: -abs(np.log(item[1])))
    return tuple(Mover(field=name, factor=float(f"{factor:.2g}")) for name, factor in ordered)
