"""Which event comes first, among few and among many: the lowest slot of the earliest time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from zsim.base.arrays import Table
from zsim.base.jit import bare, njit
from zsim.engine.codes import FOREVER
from zsim.engine.compiled.events import next_slot, set_event
from zsim.engine.compiled.memory import PlaneMemory

ONE = (
    "vdevs", "vdev_children", "streams", "slots", "commands", "held", "program", "items", "copies",
    "children", "queue",
)  # fmt: skip
NONE = ("links", "clients", "client_items", "records", "permutations", "shingles", "groups")


@njit
def put(state: Table, slot: int, at: float) -> None:
    """Call `set_event` from here: the table of a kernel has no shape."""
    set_event(bare(state), slot, at)


@njit
def following(state: Table, slots: int) -> int:
    """Call `next_slot` from here."""
    return next_slot(bare(state), slots)


@pytest.mark.plain
@pytest.mark.parametrize(("leaves", "servers"), [(1, 1), (10, 1), (23, 1), (6, 32), (255, 1)])
def test_the_lowest_of_the_earliest_comes_first(leaves: int, servers: int) -> None:
    memory = PlaneMemory(**dict.fromkeys(ONE, 1), **dict.fromkeys(NONE, 0), leaves=leaves, servers=servers)
    slots = leaves * (servers + 1) + 1
    chance, times = random.Random(5), np.full(slots, FOREVER)
    for step in range(2_000):
        # What has happened is set to another moment, or to none; so is, now and then, another.
        slot = int(np.argmin(times)) if step % 3 else chance.randrange(slots)
        times[slot] = FOREVER if chance.random() < 0.2 else float(step // 7 + chance.randrange(20))
        put(memory.table, slot, times[slot])
        assert following(memory.table, slots) == int(np.argmin(times))
