"""The surface through a few solved worlds: as good as many worlds solved, and steady."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from zsim.planning.risk.evaluate import WORLDS_SOLVED, draw, loss_within, summed_up, window_loss
from zsim.planning.risk.one_vdev.group import HOUR, Group, Worlds
from zsim.planning.risk.question import RiskInputs, Unknowns, unknowns
from zsim.planning.risk.records import rounded
from zsim.planning.risk.reliability import Spread
from zsim.planning.risk.surface import EVALUATED, _logarithms, surface

HOURS = Spread(32 * HOUR, 20 * HOUR, 86 * HOUR)


def asked(**inputs: object) -> Unknowns:
    made = RiskInputs(**inputs)  # type: ignore[arg-type]
    return unknowns(made, HOURS, None)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mean_and_range_are_those_of_many_worlds_solved(seed: int) -> None:
    group, known = Group(children=12, tolerance=2), asked()
    drawn = surface(known, WORLDS_SOLVED, seed)
    few = drawn.loss(window_loss(group, drawn.solved.worlds, "chain", seed))
    worlds = draw(known, 4_000, 9).worlds
    many = window_loss(group, worlds, "chain", 9)
    for grade, off in (("files", 0.1), ("vdev", 0.2)):
        found, expected = getattr(few, grade), getattr(many, grade)
        assert found.mean() == pytest.approx(expected.mean(), rel=off, abs=0)
        # The ends are told with one digit.
        for share, near in ((0.05, 0.25), (0.5, 0.15), (0.95, 0.15)):
            assert np.quantile(found, share) == pytest.approx(np.quantile(expected, share), rel=near, abs=0)


def test_grades_include_the_ones_after_them() -> None:
    group = Group(children=6, tolerance=1)
    drawn = surface(asked(latent_incidence=1e-6), WORLDS_SOLVED, 1)
    found = drawn.loss(loss_within(((1, group),), drawn.solved.worlds, 1.0, "chain", 1))
    assert len(found.vdev) == EVALUATED
    assert (found.files >= found.vdev).all()
    assert (found.vdev >= found.pool).all()
    assert found.files.max() <= 1.0


def test_nothing_open_is_one_world_and_its_own_chance() -> None:
    group = Group(children=10, tolerance=1)
    known = replace(
        asked(afr=0.05, correlation=1.0, latent=False, detect=0.0), hours=Spread.exactly(24 * HOUR)
    )
    drawn = surface(known, WORLDS_SOLVED, 1)
    found = window_loss(group, drawn.solved.worlds, "chain", 1)
    assert len(drawn.many) == 1
    assert drawn.loss(found) is found


def test_what_is_stated_of_one_input_leaves_the_others_as_they_were() -> None:
    every, fewer = surface(asked(), 64, 1), surface(asked(latent_incidence=0.003), 64, 1)
    assert np.array_equal(every.many.rate, fewer.many.rate)
    assert np.array_equal(every.solved.worlds.delay, fewer.solved.worlds.delay)


def test_the_error_of_a_simulation_stays_that_of_its_mean() -> None:
    group = Group(children=6, tolerance=1)
    drawn = surface(asked(), 32, 1)
    found = window_loss(group, drawn.solved.worlds, "chain", 1)
    noisy = found._replace(error=np.full(32, 0.4))
    spread = drawn.loss(noisy)
    share = float(np.sqrt(np.sum((noisy.vdev * 0.4) ** 2)) / np.sum(noisy.vdev))
    again = float(np.sqrt(np.sum((spread.vdev * spread.error) ** 2)) / np.sum(spread.vdev))
    assert again == pytest.approx(share, rel=1e-9)
    assert summed_up(spread.vdev, spread.error).low <= summed_up(spread.vdev, 0.0 * spread.error).low


def test_only_inputs_that_vary_are_axes_of_the_surface() -> None:
    """Rate and hours vary here; the delay of none has no logarithm, and is not asked for one."""
    two = np.array([1.0, 2.0])
    worlds = Worlds(rate=two, correlation=np.ones(2), hours=3 * two, delay=np.zeros(2), latent=np.zeros(2),
                    removal=np.ones(2), tripping=np.zeros(2))  # fmt: skip
    found = _logarithms(worlds)
    assert found == pytest.approx(np.log(np.column_stack([two, 3 * two])))


@pytest.mark.parametrize(("value", "digits", "wanted"), [
    (1234.5, 2, 1200.0), (0.0012345, 3, 0.00123), (-98.7, 1, -100.0), (0.0, 2, 0.0),
    (float("inf"), 2, float("inf")),
])  # fmt: skip
def test_a_number_has_so_many_significant_digits(value: float, digits: int, wanted: float) -> None:
    assert rounded(value, digits) == wanted
