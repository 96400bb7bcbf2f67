"""Solve Markov chains without subtractions, so that chances of 1e-30 keep all their digits.

A chain is an array of rates of shape (chains, states, states + ends): from each state to each state (its
diagonal is ignored) and, in the last columns, to the ends that are never left.
"""

from __future__ import annotations

import math

import numpy as np

from zsim.planning.risk.one_vdev.group import Floats

TERMS = 24
"""Of the series of a step of at most one jump: the rest is below 1e-24."""


def mean_time(rates: Floats) -> Floats:
    """Return the mean time from the first state to the (only) end.

    Parameters
    ----------
    rates : ndarray, shape (chains, states, states + 1)
        [1/s]; the end is absorbing, and behind the states.

    Returns
    -------
    ndarray, shape (chains,)
        [s]

    Notes
    -----
    Grassmann, Taksar and Heyman's elimination (Operations Research 33, 1985): states are taken out one by
    one, the diagonal is always the sum of what leaves.
    """
    left, spent = _eliminated(rates, 1)
    result: Floats = spent / left.sum(axis=1)
    return result


def first_end(rates: Floats) -> Floats:
    """Return the chance of each of the two ends of a Markov chain, from its first state.

    Parameters
    ----------
    rates : ndarray of float64, shape (chains, states, states + 2)
        Rates from each state to each state and end [1/s].

    Returns
    -------
    ndarray of float64, shape (chains, 2)
        Rows sum to 1.

    Notes
    -----
    States are taken out one by one without a subtraction, so that small chances keep their digits
    (Grassmann, Taksar and Heyman, Operations Research 33, 1985).

    Examples
    --------
    Three times as fast to the first end as to the second:

    >>> first_end(np.array([[[0.0, 3.0, 1.0]]])).tolist()
    [[0.75, 0.25]]
    """
    left, _ = _eliminated(rates, 2)
    result: Floats = left / left.sum(axis=1, keepdims=True)
    return result


def _eliminated(rates: Floats, ends: int) -> tuple[Floats, Floats]:
    """Return the rates from the first state to the ends, and its time, with all others taken out."""
    left = np.array(rates, dtype=np.float64)
    states = left.shape[1]
    spent = np.ones(left.shape[:2])
    for last in range(states - 1, 0, -1):
        keep = [*range(last), *range(states, states + ends)]
        leaving = left[:, last, keep].sum(axis=1)
        share = left[:, :last, last] / leaving[:, None]
        left[:, :last, keep] += share[:, :, None] * left[:, last, keep][:, None, :]
        spent[:, :last] += share * spent[:, last][:, None]
    return left[:, 0, states:], spent[:, 0]


def chance_by(rates: Floats, moment: float | Floats) -> Floats:
    """Return the chance to be at the (only) end by a moment, from each state.

    Parameters
    ----------
    rates : ndarray, shape (chains, states, states + 1)
        [1/s]
    moment : float or ndarray, shape (chains,)
        [s]

    Returns
    -------
    ndarray, shape (chains, states)

    Notes
    -----
    From `transitions`.
    """
    result: Floats = np.clip(transitions(rates, moment)[:, :-1, -1], 0.0, 1.0)
    return result


def transitions(rates: Floats, moment: float | Floats) -> Floats:
    """Return the chance to be in each state, or at the end, after a time, from each state.

    Parameters
    ----------
    rates : ndarray, shape (chains, states, states + 1)
        [1/s]
    moment : float or ndarray, shape (chains,)
        [s]

    Returns
    -------
    ndarray, shape (chains, states + 1, states + 1)
        The last row and column are the end.

    Notes
    -----
    Uniformisation (Jensen 1953) over a step of at most one jump, which is then doubled by squaring: only
    sums and products of numbers that are not negative.
    """
    chains, states, _ = rates.shape
    moments = np.broadcast_to(np.asarray(moment, dtype=np.float64), (chains,))
    jumps = np.zeros((chains, states + 1, states + 1))
    jumps[:, :states] = rates
    diagonal = np.arange(states)
    jumps[:, diagonal, diagonal] = 0.0
    leaving = jumps.sum(axis=2)
    pace = np.maximum(leaving.max(axis=1), np.finfo(float).tiny)
    doublings = max(0, math.ceil(math.log2(max(1.0, float((pace * moments).max())))))
    step = _series(jumps, leaving, pace, pace * moments / 2.0**doublings)
    for _ in range(doublings):
        step = step @ step
    return step


def _series(jumps: Floats, leaving: Floats, pace: Floats, expected: Floats) -> Floats:
    """Return the transition matrices of a step in which `expected` jumps of the fastest state fall."""
    move = jumps / pace[:, None, None]
    place = np.arange(jumps.shape[1])
    # The end stays; the fastest state may round below 0 in its diagonal.
    move[:, place, place] = np.maximum(1.0 - leaving / pace[:, None], 0.0)
    power = np.broadcast_to(np.eye(jumps.shape[1]), jumps.shape)
    weight = np.exp(-expected)
    total = weight[:, None, None] * power
    for term in range(1, TERMS):
        power = power @ move
        weight = weight * expected / term
        total = total + weight[:, None, None] * power
    return total
