"""The Markov chain of one vdev: how many drives are missing, and how far each repair is.

A fixed repair time is a row of exponential stages (Erlang's law).  To first order the chance of loss depends
on the mean alone, whatever the law; the stages serve what is left, and are fewer where states are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.planning.risk.one_vdev.alone import lost_alone
from zsim.planning.risk.one_vdev.group import Floats, Group, Worlds
from zsim.planning.risk.one_vdev.latent import exposed, mean_present, on_any, present, tripped
from zsim.planning.risk.one_vdev.solve import chance_by, first_end, mean_time

MOST_STAGES = 5
NODES = 20
"""Of the quadrature over the hazard that the drives of a vdev share."""

Batch = tuple[int, int]
"""Stage of a repair, and drives that went at the same moment and come back together."""

State = tuple[Batch, ...]


class LossChances(NamedTuple):
    """Chances of one vdev, each of shape (worlds,): some files lost, and the vdev suspended."""

    files: Floats
    vdev: Floats


@dataclass(frozen=True, slots=True)
class ChainCase:
    """A group in worlds with the hazard it shares: one chain each, all of shape (chains,)."""

    group: Group
    worlds: Worlds
    hazard: Floats
    share: Floats
    costs: tuple[Floats, ...]
    """Chance that the end of the last redundancy costs files at once, by the number of later failures."""

    def failing(self, failed: int) -> Floats:
        """Rate of the next failure with so many drives missing [1/s]."""
        factor = self.hazard
        if self.group.correlation_law == "successive":
            factor = self.worlds.correlation**failed
        elif self.group.correlation_law == "same" and failed:
            factor = self.worlds.correlation
        if failed:
            factor = factor * self.group.stress
        return (self.group.children - failed) * self.worlds.rate * factor

    def after(self, state: State) -> list[tuple[State, Floats, Floats]]:
        """Return what a failure leads to: state, its share, and the chance that it costs files at once."""
        failed = _missing(state)
        more = tripped(self.group, self.worlds, self.share, failed)
        found = [(self._joined(state, ((0, 1),)), 1.0 - more)]
        if failed + 2 <= self.group.tolerance:
            both: State = ((0, 2),) if self.group.repair.is_fixed else ((0, 1), (0, 1))
            found.append((self._joined(state, both), more))
        return [(to, share, self._cost(to)) for to, share in found]

    def _joined(self, state: State, new: State) -> State:
        if self.group.discipline == "restart":
            return ((0, _missing(state) + _missing(new)),)
        return tuple(sorted((*state, *new)))

    def _cost(self, state: State) -> Floats:
        return self.costs[len(state) - 1] if _missing(state) == self.group.tolerance else 0.0 * self.share


def _missing(state: State) -> int:
    return sum(drives for _, drives in state)


def within(group: Group, worlds: Worlds, horizon: float) -> LossChances:
    """Return the chances that a healthy vdev loses files, and all, within a horizon.

    Parameters
    ----------
    group : Group
    worlds : Worlds
    horizon : float
        [s]

    Returns
    -------
    LossChances
        Each of shape (worlds,).

    Notes
    -----
    An absorbing Markov chain over the drives that are missing and the stages of their repairs, solved by
    uniformisation (`zsim.planning.risk.one_vdev.solve.chance_by`), and averaged over the hazard that the
    drives of a vdev share (`gamma_nodes`).  Latent errors count with their mean over the horizon.

    Examples
    --------
    A mirror that is repaired in 10 h, of drives with an annual failure rate of 1 %: to first order
    ``2 * rate * rate * repair`` a year, both drives' rates once each.

    >>> from zsim.planning.risk.one_vdev.group import HOUR, YEAR, one_world
    >>> rate = 0.01 / YEAR
    >>> found = within(Group(children=2, tolerance=1), one_world(rate, 10 * HOUR), YEAR)
    >>> round(float(found.vdev[0]) / (2 * rate * YEAR * rate * 10 * HOUR), 2)
    1.0
    """
    if not group.tolerance:
        return LossChances(*lost_alone(group, worlds, horizon))
    share = mean_present(worlds, group.age, horizon)

    def chance(case: ChainCase) -> Floats:
        return chance_by(_with_repairs(case), horizon)[:, 0]

    return _averaged(group, worlds, share, 0, chance)


def in_window(group: Group, worlds: Worlds, missing: int = 1) -> LossChances:
    """Return the chances of loss from a drive's failure until it is repaired.

    Parameters
    ----------
    group : Group
    worlds : Worlds
    missing : int
        Drives that are missing when it begins; more than one where each failure starts the repair anew.

    Returns
    -------
    LossChances
        Each of shape (worlds,), given that a drive has failed.

    Notes
    -----
    With a fixed repair time t and a tolerance of one this is ``1 - exp(-(children - 1) * rate * t)`` for the
    vdev; where repairs have no fixed time the window ends when all drives are back.

    Examples
    --------
    >>> from zsim.planning.risk.one_vdev.group import HOUR, one_world
    >>> found = in_window(Group(children=2, tolerance=1), one_world(1e-9, 10 * HOUR))
    >>> round(float(found.vdev[0]) / (1e-9 * 36000), 4)
    1.0
    """
    chance = _until_repaired if group.repair.is_fixed else _until_healthy
    if group.discipline == "restart" and group.repair.is_fixed:
        chance = partial(_until_restarted, missing=missing)
    return _averaged(group, worlds, present(worlds, group.age), missing, chance)


def mean_time_to_loss(group: Group, worlds: Worlds) -> Floats:
    """Return the mean time until a healthy vdev is suspended, of a hazard that does not vary (MTTDL).

    Parameters
    ----------
    group : Group
    worlds : Worlds
        With the latent errors that drives of the group's age have.

    Returns
    -------
    ndarray of float64, shape (worlds,)
        [s]

    Notes
    -----
    For comparison with published figures: ``mean**2 / (n * (n - 1) * repair)`` for a RAID-5 of n drives where
    failures are rare (Patterson, Gibson and Katz, SIGMOD 1988).  Of no use to a planner, whose horizon is a
    thousandth of it (Greenan, Plank and Wylie, HotStorage 2010).
    """
    share = present(worlds, group.age)
    return mean_time(
        _with_repairs(_with_costs(ChainCase(group, worlds, np.ones(len(worlds)), share, ()), False))
    )


def _averaged(
    group: Group, worlds: Worlds, share: Floats, failures: int, chance: Callable[[ChainCase], Floats]
) -> LossChances:
    """Return the chances, averaged over the hazard that a vdev with so many failures behind it may have."""
    return averaged(
        group, worlds, share, failures, lambda case, places, costly: chance(_with_costs(case, costly))
    )


def averaged(
    group: Group,
    worlds: Worlds,
    share: Floats,
    failures: int,
    chance: Callable[[ChainCase, NDArray[np.intp], bool], Floats],
) -> LossChances:
    """Return the chances, averaged over the hazard that a vdev with so many failures behind it may have.

    Parameters
    ----------
    group : Group
    worlds : Worlds
    share : ndarray, shape (worlds,)
        Chance that a drive has latent errors.
    failures : int
        Of this vdev, so far.
    chance : callable
        Gives the chance of each chain, from the chains, the world of each, and whether latent errors cost.
    """
    places, hazard, weights = _hazards(group, worlds, failures)
    case = ChainCase(group, worlds.taken(places), hazard, share[places], ())

    def mean(costly: bool) -> Floats:
        values = weights * chance(case, places, costly)
        return np.bincount(places, values, minlength=len(worlds)).astype(np.float64)

    return LossChances(files=mean(True), vdev=mean(False))


def _with_costs(case: ChainCase, costly: bool) -> ChainCase:
    group, survivors = case.group, case.group.children - case.group.tolerance
    costs = tuple(
        on_any(case.share * exposed(group, case.worlds.waiting, later), survivors)
        if costly
        else 0.0 * case.share
        for later in range(group.tolerance)
    )
    return replace(case, costs=costs)


def _hazards(group: Group, worlds: Worlds, failures: int) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return worlds by place, hazard of each node and its weight.

    The hazard is gamma of mean 1 and variance k - 1; after a failure it is gamma of mean k.
    """
    place, hazard, weight = [], [], []
    known: dict[float, tuple[Floats, Floats]] = {}
    for at, correlation in enumerate(worlds.correlation):
        variance = float(correlation) - 1.0 if group.correlation_law == "frailty" else 0.0
        if variance not in known:
            known[variance] = gamma_nodes(variance, failures)
        nodes, weights = known[variance]
        place.append(np.full(len(nodes), at))
        hazard.append(nodes)
        weight.append(weights)
    return np.concatenate(place), np.concatenate(hazard), np.concatenate(weight)


def gamma_nodes(variance: float, failures: int) -> tuple[Floats, Floats]:
    """Return nodes and weights of a gamma law of mean 1 once so many failures were seen.

    Parameters
    ----------
    variance : float
        Of the frailty that the drives of a vdev share [1]; 0: there is none.
    failures : int
        Seen so far: each makes the law of the frailty a gamma law with a shape greater by one.

    Returns
    -------
    nodes, weights : ndarray of float64, shape (nodes,)
        Weights sum to 1.

    Notes
    -----
    Gauss-Laguerre quadrature (Golub and Welsch, Math. Comp. 23, 1969), generalised to the density
    ``x ** (1 / variance - 1 + failures) * exp(-x)``; nodes are in units of the mean before any failure.

    Examples
    --------
    >>> nodes, weights = gamma_nodes(0.5, 0)
    >>> float((nodes * weights).sum().round(6)), float(((nodes - 1) ** 2 * weights).sum().round(6))
    (1.0, 0.5)
    """
    if variance < 1e-9:
        return np.ones(1), np.ones(1)
    from scipy.special import roots_genlaguerre

    nodes, weights = roots_genlaguerre(NODES, 1.0 / variance - 1.0 + failures)
    keep = weights > 0.0
    return nodes[keep] * variance, weights[keep] / weights[keep].sum()


def _with_repairs(case: ChainCase) -> Floats:
    """Return the rates between all states; the first is healthy, the end is loss."""
    stages = max(1, MOST_STAGES - case.group.tolerance) if case.group.repair.is_fixed else 1
    states: list[State] = [()]
    place: dict[State, int] = {(): 0}
    links: list[tuple[int, State, Floats]] = []
    lost: dict[int, Floats] = {}
    # So many exponential stages in a row have the mean of the repair, and the more the less spread.
    pace = stages / case.worlds.missing
    for at, state in enumerate(states):  # grows as states are met
        lost[at] = _add_failures(case, state, at, links)
        links += [(at, after, times * pace) for after, times in _advanced(case.group, state, stages)]
        for _, met, _ in links:
            if met not in place:
                place[met] = len(states)
                states.append(met)
    return _rates(case, links, lost, place)


def _rates(
    case: ChainCase, links: list[tuple[int, State, Floats]], lost: dict[int, Floats], place: dict[State, int]
) -> Floats:
    """Return links between states as an array of rates."""
    rates = np.zeros((len(case.worlds), len(lost), len(lost) + 1))
    for at, to, rate in links:
        rates[:, at, place[to]] += rate
    for at, rate in lost.items():
        rates[:, at, -1] += rate
    return rates


def _add_failures(case: ChainCase, state: State, at: int, links: list[tuple[int, State, Floats]]) -> Floats:
    """Add the failures out of a state to the links; return the rate of loss."""
    rate = case.failing(_missing(state))
    if _missing(state) >= case.group.tolerance:
        return rate
    lost = 0.0 * rate
    for to, share, cost in case.after(state):
        lost = lost + rate * share * cost
        links.append((at, to, rate * share * (1.0 - cost)))
    return lost


def _advanced(group: Group, state: State, stages: int) -> Iterator[tuple[State, int]]:
    """Yield the states that repairs lead to, and how many repairs lead there."""
    moving = {state[-1]: 1} if group.discipline == "serial" and state else Counter(state)
    for batch, times in moving.items():
        rest = list(state)
        rest.remove(batch)
        stage, drives = batch
        yield tuple(sorted([*rest, (stage + 1, drives)] if stage + 1 < stages else rest)), times


def _begun(case: ChainCase, chance: Callable[[State], Floats], before: State = ()) -> Floats:
    """Return the chance after the failure that begins the window, from the chance in each state."""
    total = 0.0 * case.hazard
    for state, share, cost in case.after(before):
        total = total + share * (cost + (1.0 - cost) * chance(state))
    return total


def _until_repaired(case: ChainCase) -> Floats:
    """Return the chance of loss within the fixed time of the first repair: no other ends before it."""
    states = [state for state, _, _ in case.after(())]
    links: list[tuple[int, State, Floats]] = []
    lost: dict[int, Floats] = {}
    for at, state in enumerate(states):
        lost[at] = _add_failures(case, state, at, links)
        states += [met for met in dict.fromkeys(to for _, to, _ in links) if met not in states]
    place = {state: at for at, state in enumerate(states)}
    by_state = chance_by(_rates(case, links, lost, place), case.worlds.missing)
    return _begun(case, lambda state: by_state[:, place[state]])


def _until_restarted(case: ChainCase, missing: int) -> Floats:
    """Return the chance of loss where each failure, the last of those missing too, starts the repair anew."""

    def chance(state: State) -> Floats:
        another: Floats = -np.expm1(-case.failing(_missing(state)) * case.worlds.missing)
        if _missing(state) >= case.group.tolerance:
            return another
        found = [share * (cost + (1.0 - cost) * chance(to)) for to, share, cost in case.after(state)]
        result: Floats = another * np.sum(found, axis=0)
        return result

    return _begun(case, chance, ((0, missing - 1),) if missing > 1 else ())


def _until_healthy(case: ChainCase) -> Floats:
    """Return the chance of loss before the vdev is healthy again, repairs having no memory."""
    rates = _with_repairs(case)
    healthy, rest = rates[:, 0], rates[:, 1:]
    # Two ends: loss, and the healthy state; the first state is the healthy one as it was left.
    from_start = np.concatenate([healthy[:, None, 1:], rest[:, :, 1:]], axis=1)
    states = rates.shape[1]
    chain = np.zeros((len(rates), states, states + 2))
    chain[:, :, 1:states] = from_start[:, :, : states - 1]
    chain[:, :, states] = from_start[:, :, states - 1]
    chain[:, 1:, states + 1] = rest[:, :, 0]
    return first_end(chain)[:, 0]
