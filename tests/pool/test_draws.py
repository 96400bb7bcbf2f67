"""Numbers that files are drawn with: kept, sorted, and those that a generator gives."""

from __future__ import annotations

import numpy as np
import pytest

from zsim.pool.simulator.draws import DRAWN, draw_numbers, draw_sorted, kept_numbers

SHARES = (0.5, 0.2, 0.3)


@pytest.mark.parametrize("shape", ["lognormal", "uniform", "fixed"])
def test_turns_of_a_seed_go_on_where_the_last_ended(shape: str) -> None:
    kept_numbers(4, 2, shape, SHARES)  # asked for first, it needs those before
    generator = np.random.default_rng(4)
    for turn in range(3):
        fresh, kept = draw_sorted(generator, DRAWN, shape, SHARES), kept_numbers(4, turn, shape, SHARES)
        assert np.array_equal(fresh.kind, kept.kind)
        assert np.array_equal(fresh.deviate, kept.deviate)
        assert fresh.place == kept.place


def test_classes_are_those_that_numpy_chooses() -> None:
    kinds = draw_numbers(np.random.default_rng(1), 1000, "fixed", SHARES).kind
    assert np.array_equal(kinds, np.random.default_rng(1).choice(3, size=1000, p=SHARES))


def test_sorted_numbers_are_the_same_files_by_class_and_size() -> None:
    drawn = draw_numbers(np.random.default_rng(2), 5000, "lognormal", SHARES)
    sorted_ = draw_sorted(np.random.default_rng(2), 5000, "lognormal", SHARES)
    order = np.lexsort((drawn.deviate, drawn.kind))
    assert np.array_equal(sorted_.kind, drawn.kind[order])
    assert np.array_equal(sorted_.deviate, drawn.deviate[order])


def test_kept_numbers_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        kept_numbers(4, 0, "lognormal", SHARES).deviate[0] = 0.0
