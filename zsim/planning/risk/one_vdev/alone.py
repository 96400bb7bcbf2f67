"""A vdev without redundancy: the first failure is its end, and each latent error costs files."""

from __future__ import annotations

import numpy as np

from zsim.planning.risk.one_vdev.group import Floats, Group, Worlds


def lost_alone(group: Group, worlds: Worlds, horizon: Floats | float) -> tuple[Floats, Floats]:
    """Return the chances that a vdev without redundancy loses files, and all, within a horizon.

    Parameters
    ----------
    group : Group
        Of tolerance 0.
    worlds : Worlds
    horizon : ndarray, shape (worlds,), or float
        [s]

    Returns
    -------
    files, vdev : ndarray, shape (worlds,)

    Notes
    -----
    ``1 - exp(-H)``, with the Weibull hazard H that the drives accumulate.  Correlation plays no part: it is
    how much likelier a second failure in the vdev is, and the first one decides.  Files are stored once
    (``copies=1``), so a new burst of latent errors costs some at once; what ZFS itself needs of a pool is
    stored two or three times, on other sectors (OpenZFS dmu.c, dmu_write_policy).

    Examples
    --------
    >>> from zsim.planning.risk.one_vdev.group import YEAR, one_world
    >>> disk = Group(children=1, tolerance=0)
    >>> files, vdev = lost_alone(disk, one_world(0.02 / YEAR, 0.0, latent=0.03 / YEAR), YEAR)
    >>> float(files[0].round(4)), float(vdev[0].round(4))
    (0.0488, 0.0198)
    """
    spent = group.children * (accumulated(group, worlds, horizon) - accumulated(group, worlds, 0.0))
    files: Floats = -np.expm1(-(spent + group.children * worlds.latent * horizon))
    vdev: Floats = -np.expm1(-spent)
    return files, vdev


def accumulated(group: Group, worlds: Worlds, moment: Floats | float) -> Floats:
    """Return the hazard that a drive of the group's age has accumulated by a moment from now [1]."""
    result: Floats = ((group.age + moment) / group.scale(1.0 / worlds.rate)) ** group.shape
    return result
