"""Latent errors: how often a surviving drive has some, how ZED reacts, and how much is still exposed.

They come in bursts on few drives, stay until a scrub finds them, and cost the blocks that they lie in, not
the vdev: a block is lost where no parity is left for it (OpenZFS vdev_raidz.c, one block at a time).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zsim.planning.risk.one_vdev.group import Floats, Group, Worlds

NODES = 64


def present(worlds: Worlds, age: Floats | float) -> Floats:
    """Return the chance that a drive of some age has latent errors at a moment.

    Parameters
    ----------
    worlds : Worlds
    age : ndarray or float
        Time since the drive was new [s]; matters where nothing scrubs.

    Notes
    -----
    With scrubs an alternating renewal process in equilibrium: removal / (removal + 1/latent), which depends
    on the mean time to removal alone.
    """
    scrubbed = np.isfinite(worlds.removal)
    product = worlds.latent * np.where(scrubbed, worlds.removal, 0.0)
    return np.where(scrubbed, product / (1.0 + product), -np.expm1(-worlds.latent * age))


def mean_present(worlds: Worlds, age: float, horizon: float) -> Floats:
    """Return the mean chance that a drive has latent errors, over a horizon.

    Parameters
    ----------
    worlds : Worlds
    age : float
        Of the drive at its begin [s].
    horizon : float
        [s]; 0: at the moment itself.

    Returns
    -------
    ndarray of float64, shape (worlds,)
        The mean of `present` at 64 evenly spaced moments; with scrubs all of them are alike.
    """
    if horizon <= 0.0:
        return present(worlds, age)
    moments = age + (np.arange(NODES) + 0.5) * horizon / NODES
    result: Floats = np.mean([present(worlds, moment) for moment in moments], axis=0)
    return result


def on_any(share: Floats, drives: int) -> Floats:
    """Return the chance that at least one of several drives has what each has by itself.

    Parameters
    ----------
    share : ndarray of float64, shape (worlds,)
        Chance of one drive.
    drives : int

    Notes
    -----
    ``1 - (1 - share) ** drives``, written so that chances far below the rounding of 1 keep their digits.

    Examples
    --------
    >>> on_any(np.array([0.01, 1e-20]), 10).round(4).tolist(), float(on_any(np.array([1e-20]), 10)[0])
    ([0.0956, 0.0], 1e-19)
    """
    with np.errstate(divide="ignore"):
        result: Floats = -np.expm1(drives * np.log1p(-share))
    return result


def tripped(group: Group, worlds: Worlds, share: Floats, failed: int) -> Floats:
    """Return the chance that a failure makes ZED fault another drive, for its latent errors.

    Parameters
    ----------
    group : Group
    worlds : Worlds
    share : ndarray of float64, shape (worlds,)
        Chance that a drive has latent errors, from `present`.
    failed : int
        Drives missing before that failure.

    Returns
    -------
    ndarray of float64, shape (worlds,)
        ``1 - (1 - share * tripping) ** survivors``; 0 where the drive would be one the vdev cannot do
        without.

    Notes
    -----
    Ten read errors within 600 s fault a drive, resilver or not, unless it is needed (OpenZFS 2.4.4
    zed/agents/zfs_diagnosis.c zfs_fm_recv; vdev.c vdev_fault): so not the last one that may go.
    """
    if failed + 1 >= group.tolerance:
        return np.zeros(len(worlds))
    return on_any(share * worlds.tripping, group.children - failed - 1)


def exposed(group: Group, waiting: Floats, later: int) -> Floats:
    """Return the mean share of the first drive's data that is not repaired when the last redundancy goes.

    Parameters
    ----------
    group : Group
    waiting : ndarray
        Share of its absence before the repair begins, during which all is exposed.
    later : int
        Failures since the first, drives that go at one moment counted once.

    Notes
    -----
    Failures that come while the first drive is away come uniformly; the last of them has the density
    later * u**(later - 1).  Repairs that start anew, or that have no memory, leave all exposed.
    """
    if later < 1 or group.discipline == "restart" or not group.repair.is_fixed:
        return np.ones_like(waiting)
    return _mean_of(_unrepaired, later, waiting)


def _unrepaired(moment: Floats, waiting: Floats) -> Floats:
    """Return the share not repaired at a moment, both as shares of the absence."""
    active = np.maximum(1.0 - waiting, 1e-12)
    return np.clip((1.0 - moment) / active, 0.0, 1.0)


def _mean_of(function: Callable[[Floats, Floats], Floats], power: int, waiting: Floats) -> Floats:
    """Return the mean of a function of the moment, under the density power * u**(power - 1)."""
    moments = ((np.arange(NODES) + 0.5) / NODES) ** (1.0 / power)
    result: Floats = np.mean([function(np.asarray(moment), waiting) for moment in moments], axis=0)
    return result


def pool_gone(group: Group, waiting: Floats, critical: float) -> Floats:
    """Return the share of suspended vdevs that take the pool with them.

    Parameters
    ----------
    group : Group
    waiting : ndarray
        As in `exposed`.
    critical : float
        Blocks without which the pool is not imported, with three copies each in the vdev.

    Notes
    -----
    Each copy is repaired with the chance that the repair has reached it; the pool goes when some block has
    none.  A pool of several vdevs is counted as gone likewise: none is imported with one missing.  What has
    no redundancy is not repaired, so the pool goes with it for certain.
    """
    if not group.tolerance:
        return np.ones_like(waiting)

    def lost(moment: Floats, waiting: Floats) -> Floats:
        gone = _unrepaired(moment, waiting) ** 3
        with np.errstate(divide="ignore"):
            return -np.expm1(critical * np.log1p(-gone))

    if group.discipline == "restart" or not group.repair.is_fixed:
        return _mean_of(lost, 1, waiting)
    return _mean_of(lost, group.tolerance, waiting)
