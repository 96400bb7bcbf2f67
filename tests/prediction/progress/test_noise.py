"""How the pace of a run departs from a world's, against the formulas of Gaussians worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.prediction.progress.course import CELLS, EDGES, VISIT_CELLS, Course, Shape, done_cells, straight
from zsim.prediction.progress.noise import (
    Restless,
    Stretch,
    covariance,
    fitted_noise,
    posterior,
    reading_errors,
)

NOISE = fitted_noise()


def course(visit_s: float = 1000.0, issue_s: float = 9000.0, **more: Any) -> Course:
    return Course(visit_s, issue_s, 10.0, straight(), repaired=1.0, **more)


def test_the_pace_of_cells_has_what_is_common_and_what_is_near() -> None:
    """All of a phase shares the whole, both the drives; the drift of one run turns about the middle."""
    still = replace(NOISE, slow=0.0, quick=0.0, tilt=0.0, visit=0.0)
    level = Restless(1.0, 0.5, 1.0)
    found = covariance(still, level)
    visit, issue = slice(0, VISIT_CELLS), slice(VISIT_CELLS, CELLS - 1)
    assert found[issue, issue] == pytest.approx((0.5 * NOISE.whole) ** 2)
    assert found[visit, visit] == pytest.approx((0.5 * NOISE.whole) ** 2)
    assert (found[visit, issue] == 0.0).all()
    assert found[-1, -1] == pytest.approx(NOISE.tail**2)
    assert (found[-1, :-1] == 0.0).all()
    loose = covariance(still, level, loose=0.3)
    assert (loose - found)[: CELLS - 1, : CELLS - 1] == pytest.approx(0.09)
    tilted = covariance(still, level, tilt=2.0) - found
    assert tilted[VISIT_CELLS, VISIT_CELLS] == pytest.approx(4.0 * 0.25, rel=0.02)
    assert tilted[VISIT_CELLS, CELLS - 2] < -0.9
    assert (tilted[visit, visit] == 0.0).all()
    once, twice, thrice = (covariance(NOISE, level._replace(factor=factor)) for factor in (1.0, 2.0, 3.0))
    restless = twice - once
    # Variances of what is restless go with the square: 9 - 1 is to 4 - 1 as 8 to 3.
    assert thrice - once == pytest.approx(restless * 8.0 / 3.0, abs=1e-12)
    assert restless[VISIT_CELLS, VISIT_CELLS] > 0.0
    assert restless[0, 0] == pytest.approx(3.0 * NOISE.slow**2)
    assert np.linalg.eigvalsh(restless[: CELLS - 1, : CELLS - 1]).min() > -1e-9
    assert np.linalg.eigvalsh(covariance(NOISE, level)).min() > -1e-9


def test_a_quick_process_averages_out_over_its_length() -> None:
    """The mean of an Ornstein-Uhlenbeck process over w lengths: 2 (w - 1 + exp(-w)) / w**2."""
    quick = replace(NOISE, slow=0.0, whole=0.0, tilt=0.0, quick=1.0)
    found = covariance(quick, Restless(1.0, 0.0, 1.0))
    width = np.diff(EDGES)
    issue = found[VISIT_CELLS : CELLS - 1, VISIT_CELLS : CELLS - 1]
    for first, last in ((0, len(width)), (3, 20), (len(width) - 2, len(width))):
        share = width[first:last] / width[first:last].sum()
        over = width[first:last].sum() / NOISE.quick_length
        assert share @ issue[first:last, first:last] @ share == pytest.approx(
            2.0 * (over - 1.0 + math.exp(-over)) / over**2, rel=1e-6
        )


def test_errors_of_reading_add_up_and_one_reading_serves_two_stretches() -> None:
    cells = done_cells(1.0, 0.5)
    chain = [
        Stretch(cells, 1.0, 0.1, (0.2, 0.3), (0.4, 0.5)),
        Stretch(cells, 1.0, 0.1, (0.4, 0.6), (0.7, 0.8), follows=0),
        Stretch(cells, 1.0, 0.2, (0.0, 0.0), (0.0, 0.0)),
    ]
    found = reading_errors(chain)
    assert found[0, 0] == pytest.approx(0.01 + 0.04 + 0.09 + 0.16 + 0.25)
    assert found[0, 1] == found[1, 0] == pytest.approx(-(0.4 * 0.4 + 0.5 * 0.6))
    assert found[2].tolist() == pytest.approx([0.0, 0.0, 0.04])


def test_one_stretch_of_one_cell_is_weighed_as_two_gaussians_are() -> None:
    """Prior N(0, s^2) and a reading N(ln 3, e^2): the mean is s^2 / (s^2 + e^2) ln 3."""
    seconds = np.full(CELLS, 100.0)
    one = np.eye(CELLS)[VISIT_CELLS]
    s, e = 0.5, 0.3
    prior = np.eye(CELLS) * s**2
    found = posterior(seconds, [Stretch(one, 300.0, e)], [one, np.eye(CELLS)[VISIT_CELLS + 1]], prior[None])
    weight = s**2 / (s**2 + e**2)
    assert found.logs[0] == pytest.approx([math.log(100.0) + weight * math.log(3.0), math.log(100.0)])
    assert found.spreads[0] == pytest.approx([s * math.sqrt(1.0 - weight), s])
    # The evidence of ln 3 under N(0, s^2 + e^2), but for the constant that all worlds share.
    expected = -0.5 * math.log(3.0) ** 2 / (s**2 + e**2) - 0.5 * math.log(s**2 + e**2)
    assert found.likelihood[0] == pytest.approx(expected)
    plain = posterior(seconds, [], [one], prior[None])
    assert (plain.logs[0, 0], plain.spreads[0, 0], plain.likelihood[0]) == pytest.approx(
        (math.log(100.0), s, 0.0)
    )


@pytest.mark.parametrize(("drift", "births", "slope"), [(0.4, 0.0, 0.4), (0.0, -0.3, -0.3), (0.4, -0.3, 0.1)])
def test_a_drift_slows_the_end_by_as_much_as_the_begin_is_quicker(
    drift: float, births: float, slope: float
) -> None:
    plain, drifting = course().seconds(), course(drifts=1.0, births=1.0).seconds(drift, births)
    ratio = (drifting / plain)[VISIT_CELLS:-1]
    # From the first to the last cell's middle nearly the whole of the slope.
    assert math.log(ratio[-1] / ratio[0]) == pytest.approx(slope, rel=0.02)
    assert drifting.sum() == pytest.approx(plain.sum())
    assert drifting[:VISIT_CELLS] == pytest.approx(plain[:VISIT_CELLS])
    assert drifting[-1] == plain[-1] == 10.0


def test_moments_lie_on_straight_lines_between_what_is_known() -> None:
    shape = Shape(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.6, 1.0]))
    seconds = replace(course(visit_s=0.0, issue_s=100.0), shape=shape).seconds()
    done = done_cells(1.0, 0.2)
    assert float((seconds * done).sum()) == pytest.approx(60.0, rel=0.04)
    assert seconds.sum() == pytest.approx(110.0, rel=1e-6)
