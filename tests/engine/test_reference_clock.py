"""The reference engine's clock: moments are reached to the bit."""

from __future__ import annotations

import random
from math import nextafter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zsim.engine.reference.clock import Clock, Signal, Steps, place_of, time_at


def test_a_moment_is_reached_to_the_bit_from_any_other() -> None:
    """No delay that is added to 81.92 us gives 427.68 us: both sums beside it round to even."""
    clock = Clock()
    clock.pass_to(8.192e-05)
    clock.pass_to(0.00042768)
    assert clock.now == 0.00042768
    chance = random.Random(1)
    for _ in range(500):
        goal = clock.now + chance.random() * 10 ** chance.randint(-9, 2)
        clock.pass_to(goal)
        assert clock.now == goal


def test_places_are_in_the_order_of_times() -> None:
    times = [0.0, 5e-324, 1e-9, nextafter(1.0, 0.0), 1.0, nextafter(1.0, 2.0), 1e9]
    places = [place_of(each) for each in times]
    assert places == sorted(set(places))
    assert [time_at(each) for each in places] == times
    assert place_of(-0.0) == place_of(0.0)


# The clock.


def test_events_of_one_moment_go_by_slot() -> None:
    clock, seen = Clock(), []

    def waits(slot: int) -> Steps:
        yield clock.at(0.1 + 0.2, slot)
        seen.append(slot)

    for slot in (3, 1, 2):
        clock.process(waits(slot))
    clock.run()
    assert seen == [1, 2, 3]
    assert clock.now == 0.1 + 0.2


@settings(max_examples=200)
@given(st.floats(0.0, 1e7), st.floats(0.0, 1e7), st.floats(1e-12, 1e3))
def test_moments_are_met_to_the_bit(now: float, due: float, more: float) -> None:
    clock = Clock()
    clock.pass_to(now)
    assert clock.now == now
    for time in sorted((max(now, due), now + more)):
        clock.pass_to(time)
        assert clock.now == time


def test_what_is_woken_goes_on_before_the_next_moment_of_that_time() -> None:
    clock, seen = Clock(), []
    signal = Signal(clock)

    def waiter() -> Steps:
        while True:
            yield signal.wait()
            seen.append(("woken", clock.now))

    def wakes(slot: int) -> Steps:
        yield clock.at(1.0, slot)
        seen.append((f"slot {slot}", clock.now))
        signal.give()
        signal.give()

    clock.process(waiter())
    for slot in (1, 0):
        clock.process(wakes(slot))
    clock.settle()
    assert seen == []
    clock.run()
    assert seen == [("slot 0", 1.0), ("woken", 1.0), ("slot 1", 1.0), ("woken", 1.0)]
    assert clock.peek() == np.inf
