"""The compiled engine against the reference engine: equal event for event, and for every slicing of time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.reference.plane import ReferencePlane

from .playing import Sliced, build, differences, play
from .strategies import Scenario, scenarios

QUICK, SLICED = 250, 60
# Each of another seed; one after the other they would be the slowest test there is.
PARTS, SLICED_PARTS = 10, 2
# The deep profile: ten rounds of a thousand, each of another seed.
ROUNDS, DEEP = 10, 1000
ENGINES = st.sampled_from([CompiledPlane, ReferencePlane])
ROOMY = settings(suppress_health_check=list(HealthCheck))


def assert_equal(one: Any, two: Any) -> None:
    found = differences(one, two)
    assert not found, found


def compare_engines(scenario: Scenario) -> None:
    compiled = play(build(CompiledPlane, scenario), scenario)
    assert_equal(compiled, play(build(ReferencePlane, scenario), scenario))


def compare_slicings(engine: Any, scenario: Scenario) -> None:
    whole = play(build(engine, scenario), scenario)
    assert_equal(whole, play(Sliced(build(engine, scenario), scenario), scenario))


@pytest.mark.parametrize("part", range(PARTS))
def test_every_command_and_counter_is_equal(part: int) -> None:
    @seed(part)
    @settings(ROOMY, max_examples=QUICK // PARTS)
    @given(scenarios())
    def check(scenario: Scenario) -> None:
        compare_engines(scenario)

    check()


@pytest.mark.parametrize("part", range(SLICED_PARTS))
def test_slices_of_time_and_events_change_nothing(part: int) -> None:
    @seed(part)
    @settings(ROOMY, max_examples=SLICED // SLICED_PARTS)
    @given(ENGINES, scenarios(most_blocks=15))
    def check(engine: Any, scenario: Scenario) -> None:
        compare_slicings(engine, scenario)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_every_command_and_counter_is_equal_in_depth(round_number: int) -> None:
    @seed(round_number)
    @settings(ROOMY, max_examples=DEEP, derandomize=False, print_blob=True)
    @given(scenarios(most_blocks=60))
    def check(scenario: Scenario) -> None:
        compare_engines(scenario)

    check()


@pytest.mark.slow
@settings(ROOMY, max_examples=DEEP, derandomize=False, print_blob=True)
@given(ENGINES, scenarios())
def test_slices_of_time_and_events_change_nothing_in_depth(engine: Any, scenario: Scenario) -> None:
    compare_slicings(engine, scenario)
