"""The reference engine's clock: moments are reached to the bit."""

from __future__ import annotations

import random
from math import nextafter

from zsim.engine.reference.clock import Clock, place_of, time_at


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
