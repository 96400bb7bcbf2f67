"""From the chances of a few worlds to those of all, by a fit: their logarithm is smooth in the unknowns.

A few worlds, spread evenly over what may be, tell a polynomial; it is then evaluated where the laws of the
inputs say.  A mean over some hundred drawn worlds would hang on the two or three worst of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from zsim.planning.risk.evaluate import SMALL, DrawnWorlds, Loss, normal_scores, worlds_at
from zsim.planning.risk.one_vdev.group import Floats, Worlds
from zsim.planning.risk.question import OPEN, Unknowns

EVALUATED = 8_192
MOST_DEGREE = 3
NEARLY_CERTAIN = 1.0 - 1e-12
VARYING = ("rate", "correlation", "hours", "delay", "latent")


@dataclass(frozen=True, slots=True)
class LossSurface:
    """Worlds that are solved, and the many that stand for what is not known.

    Attributes
    ----------
    solved : DrawnWorlds
        Spread evenly over the inputs between the ends of their tails.
    many : Worlds
        Drawn by the laws of the inputs; the same as those solved where nothing is open.
    products : tuple of ndarray, shapes (solved, coefficients) and (many, coefficients)
        What the coefficients of the polynomial multiply.
    """

    solved: DrawnWorlds
    many: Worlds
    products: tuple[Floats, Floats]

    def loss(self, found: Loss) -> Loss:
        """Return the chances in the many worlds from those in the solved ones.

        Parameters
        ----------
        found : Loss
            Arrays of shape (solved,).

        Returns
        -------
        Loss
            Arrays of shape (many,); each grade includes the ones after it.

        Notes
        -----
        The complementary log-log of each chance is fitted by a polynomial in the logarithms of the inputs, of
        a degree with at most two coefficients to three worlds (a response surface: Box and Wilson, J. R.
        Stat. Soc. B 13, 1951).
        """
        if len(self.many) == len(self.solved.worlds):
            return found
        here, there = self.products

        def fitted(values: Floats) -> Floats:
            chances = np.clip(values, SMALL, NEARLY_CERTAIN)
            factors = np.linalg.lstsq(here, np.log(-np.log1p(-chances)), rcond=None)[0]
            result: Floats = -np.expm1(-np.exp(there @ factors))
            return result

        vdev = fitted(found.vdev)
        files, pool = np.maximum(fitted(found.files), vdev), np.minimum(fitted(found.pool), vdev)
        return Loss(files, vdev, pool, _spread_error(found, vdev))


def surface(unknowns: Unknowns, count: int, seed: int) -> LossSurface:
    """Return the worlds of a question.

    Parameters
    ----------
    unknowns : Unknowns
    count : int
        Worlds that are solved; one if nothing is open.
    seed : int
    """
    if not unknowns.open:
        solved = DrawnWorlds(worlds_at(unknowns, {}, 1), {})
        return LossSurface(solved, solved.worlds, (np.ones((1, 1)), np.ones((1, 1))))
    # By name: what is drawn of one input stays as it is when another one is stated.
    scores = {
        name: (2.0 * _strata(count, seed, name) - 1.0) * getattr(unknowns, name).reach
        for name in unknowns.open
    }
    few, many = worlds_at(unknowns, scores, count), drawn_by_law(unknowns, seed).worlds
    return LossSurface(DrawnWorlds(few, scores), many, _both_products(few, many))


def drawn_by_law(unknowns: Unknowns, seed: int) -> DrawnWorlds:
    """Return many worlds drawn by the laws of the inputs, stratified in each; one if nothing is open."""
    count = EVALUATED if unknowns.open else 1
    scores = {name: normal_scores(_strata(count, seed, name)) for name in unknowns.open}
    return DrawnWorlds(worlds_at(unknowns, scores, count), scores)


def _both_products(solved: Worlds, many: Worlds) -> tuple[Floats, Floats]:
    """Return the products for both sets of worlds, in units of the spread of the solved ones."""
    known, asked = _logarithms(solved), _logarithms(many)
    middle, width = known.mean(axis=0), known.std(axis=0)
    powers = _powers(known.shape[1], len(known))
    return _products((known - middle) / width, powers), _products((asked - middle) / width, powers)


def _strata(count: int, seed: int, name: str) -> Floats:
    """Return the middle of each of `count` equal parts of 0 to 1, in an order of its own."""
    stream = np.random.default_rng((seed, count, OPEN.index(name)))
    result: Floats = (stream.permutation(count) + 0.5) / count
    return result


def _logarithms(worlds: Worlds) -> Floats:
    """Return the logarithms of the inputs that vary, shape (worlds, inputs)."""
    varying = [getattr(worlds, name) for name in VARYING]
    result: Floats = np.log(np.column_stack([each for each in varying if np.ptp(each) > 0.0]))
    return result


def _powers(inputs: int, worlds: int) -> list[tuple[int, ...]]:
    """Return the products of inputs that are coefficients, each by the inputs it multiplies."""
    found: list[tuple[int, ...]] = [()]
    for degree in range(1, MOST_DEGREE + 1):
        more = list(combinations_with_replacement(range(inputs), degree))
        if 3 * (len(found) + len(more)) > 2 * worlds and degree > 1:
            break
        found += more
    return found


def _products(inputs: Floats, powers: list[tuple[int, ...]]) -> Floats:
    result: Floats = np.column_stack([np.prod(inputs[:, list(each)], axis=1) for each in powers])
    return result


def _spread_error(found: Loss, values: Floats) -> Floats:
    """Return relative errors of the many worlds: their mean is as far off as that of the solved ones."""
    share = np.sqrt(np.sum((found.vdev * found.error) ** 2)) / np.sum(found.vdev)
    result: Floats = np.full(len(values), share * np.sum(values) / np.sqrt(np.sum(values**2)))
    return result
