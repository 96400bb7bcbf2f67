"""Kernels as plain Python: with NUMBA_DISABLE_JIT=1 every index is checked, and the answers are the same.

Run with ``NUMBA_DISABLE_JIT=1 python -m pytest -m plain``.
"""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.engine.playing import build, differences, play
from tests.engine.strategies import Scenario, scenarios
from tests.pool.test_population import MIB, check_places, small_recipe
from zsim.base import plain_views
from zsim.base.jit import IS_COMPILING
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.reference.plane import ReferencePlane
from zsim.pool.recipes.recipe import Fill, Overwrite, Remove, TopLevel
from zsim.pool.simulator.population import build_population
from zsim.scenario.layout import VdevSpec

# A tenth of `tests/engine/test_equality.py`.
EXAMPLES = 25
# Longer ones are left to compiled code: plain Python takes a millisecond an event.
MOST_EVENTS = 2000


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(scenarios(most_blocks=4))
def test_the_engines_are_equal(scenario: Scenario) -> None:
    reference = play(build(ReferencePlane, scenario), scenario)
    if reference.general["events"] <= MOST_EVENTS:
        assert not differences(play(build(CompiledPlane, scenario), scenario), reference)


@pytest.mark.parametrize("release", ["freebsd-9.1", "2.3.9"])
def test_a_pool_is_filled_and_overwritten(release: str) -> None:
    recipe = small_recipe(release=release, steps=(Fill(0.3), Overwrite(0.1), Remove(0.05), Fill(0.35)))
    recipe = replace(recipe, vdevs=(TopLevel(VdevSpec.raidz(1, 3), 12, 4 * MIB, 10),), txg_bytes=2 * MIB)
    table = build_population(recipe, 1)
    assert len(table) > 50
    check_places(table, recipe)


def test_only_elements_that_are_there_are_read_and_written() -> None:
    array = np.zeros(4, np.dtype([("small", "i2"), ("real", "f8"), ("many", "i8", 2)]))
    address = plain_views.lend(array)
    view = plain_views.array_at(array.dtype, address + array.dtype.itemsize)
    assert len(view) == 3
    view[2].small = 7
    view[0] = view[2]
    view[1].many[1] = 5
    assert array["small"].tolist() == [0, 7, 0, 7]
    assert array["many"][2].tolist() == [0, 5]
    # Python's numbers do not run over.
    assert view[2].small * 100_000 == 700_000
    for place in (-1, 3):
        with pytest.raises(IndexError):
            view[place]
        with pytest.raises(IndexError):
            view[place] = view[0]
    with pytest.raises(IndexError):
        view[1].many[2]
    with pytest.raises(IndexError):
        plain_views.matrix_at("i8", address, 10, 10)
    matrix = plain_views.matrix_at("i8", address, 2, 3)
    matrix[1, 2] = 9
    assert np.frombuffer(array.tobytes(), np.int64)[5] == 9


def test_what_is_no_longer_lent_is_not_found() -> None:
    array = np.zeros(3)
    address = plain_views.lend(array)
    assert plain_views.array_at("f8", address).size == 3
    del array
    gc.collect()
    other = np.zeros(100)
    assert plain_views.lend(other) != address
    with pytest.raises(IndexError):
        plain_views.array_at("f8", address)


@pytest.mark.skipif(IS_COMPILING, reason="numba is on: NUMBA_DISABLE_JIT=1 switches it off")
def test_kernels_are_plain_python_here() -> None:
    from zsim.engine.compiled import kernel

    assert kernel.advance.__code__.co_name == "advance"
    assert not hasattr(kernel.advance, "compiled")
