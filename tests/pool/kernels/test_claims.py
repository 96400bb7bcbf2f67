"""Third copies of a miniature's MOS: which are written when, where they stay, and what they age."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.pool.kernels.pools import RECORD, check_whole, ran, recipe
from tests.pool.kernels.spaces import set_free, space
from zsim.pool.recipes.recipe import Fill, Overwrite
from zsim.pool.simulator.claims import (
    THIRD,
    change_hosts,
    claim,
    claim_map,
    has_nearly_empty,
    is_nearly_empty,
    next_unmapped,
    renew_claims,
)
from zsim.pool.simulator.memory import HistoryMemory
from zsim.pool.simulator.population import HistoryRun
from zsim.pool.simulator.weights import CLAIM, NONE, PRIMARY, SECONDARY

ROOT, CLAIMS = 3, 8
"""Slots: the root of the MOS, and the first of what is claimed."""


def claiming(slabs: int = 4, *, log: bool = True, claim_bytes: int = 1000) -> HistoryMemory:
    """Return an empty vdev whose root lies in metaslabs 0 and 1, of the only allocator."""
    memory = space(units=640, slabs=slabs)
    memory.now["mos_first"], memory.now["claims_first"] = ROOT, CLAIMS
    memory.now["sector"], memory.now["data_copies"] = 4096, 1
    memory.now["claim_bytes"], memory.now["log_space_maps"] = claim_bytes, log
    memory.now["looked_txg"] = -1
    root = memory.slots[ROOT : ROOT + 1]
    root["copies"], root["slab"][0, :2] = 2, (0, 1)
    for slab, role in ((0, PRIMARY), (1, SECONDARY)):
        memory.slabs["role"][slab], memory.slabs["owner"][slab] = role, 0
        memory.owners[0, 0, role] = slab
    return memory


def held(memory: HistoryMemory) -> dict[int, int]:
    """Return the metaslab of each block that is claimed, by number."""
    blocks = memory.slots[CLAIMS:]
    return {int(k): int(blocks["slab"][k, THIRD]) for k in np.flatnonzero(blocks["psize"] > 0)}


def test_a_third_copy_goes_to_the_first_metaslab_that_nobody_has() -> None:
    memory = claiming()
    claim(memory.table, 0)
    assert held(memory) == {0: 2}
    assert memory.slabs["role"].tolist() == [PRIMARY, SECONDARY, CLAIM, NONE]
    assert memory.slabs["free"].tolist() == [640, 640, 639, 640]
    # Its weight is that of a smaller largest segment from the end of the txg on.
    claim(memory.table, 1)
    assert held(memory) == {0: 2, 1: 2}, "the metaslab that is claimed stays so"


def test_a_block_written_anew_lets_its_old_place_go() -> None:
    memory = claiming()
    claim(memory.table, 0)
    memory.slabs["role"][2] = NONE
    set_free(memory, 2, np.arange(640) >= 600)
    claim(memory.table, 0)
    assert held(memory) == {0: 3}
    assert int(memory.slabs["pending"][2]) == 1


def test_where_all_metaslabs_hold_something_a_third_copy_takes_no_room() -> None:
    memory = claiming()
    for slab in (2, 3):
        set_free(memory, slab, np.arange(640) >= 11)  # a sector more than a 64th
    claim(memory.table, 0)
    assert held(memory) == {}
    assert memory.slabs["pending"].sum() == 1


def test_nearly_empty_is_a_64th() -> None:
    memory = claiming()
    for slab, taken in enumerate((10, 11, 12, 640)):
        set_free(memory, slab, np.arange(640) >= taken)
    assert [bool(is_nearly_empty(memory.table, slab)) for slab in range(4)] == [True, False, False, False]
    assert has_nearly_empty(memory.table)
    set_free(memory, 0, np.arange(640) >= 11)
    assert has_nearly_empty(memory.table), "it is looked up once a txg"
    memory.rules["txg"] += 1
    assert not has_nearly_empty(memory.table)


def test_the_metaslabs_of_the_other_copies_change_when_they_are_written_and_when_they_are_freed() -> None:
    memory = claiming()
    change_hosts(memory.table, 0, 0)
    assert memory.slabs["unmapped"].tolist() == [1, 1, 0, 0]
    memory.slabs["unmapped"] = 0
    memory.owners[0, 0, PRIMARY] = 3
    change_hosts(memory.table, 0, 0)
    assert memory.slabs["unmapped"].tolist() == [1, 1, 0, 1], "freed in 0 and 1, written in 3 and 1"
    memory.slabs["unmapped"] = 0
    memory.owners[0, 0] = -1
    change_hosts(memory.table, 0, 0)
    assert memory.slabs["unmapped"].tolist() == [1, 1, 0, 1], "without an owner those of the root"


def test_space_maps_come_in_turn() -> None:
    memory = claiming(6)
    memory.slabs["unmapped"] = [0, 1, 0, 0, 1, 0]
    assert [next_unmapped(memory.table) for _ in range(3)] == [1, 4, 1]
    memory.slabs["unmapped"] = 0
    assert next_unmapped(memory.table) == -1
    claim_map(memory.table, 4)
    assert held(memory) == {11: 2}
    assert memory.slabs["unmapped"].tolist() == [1, 1, 0, 0, 0, 0], "of the metaslabs it was written to"


@pytest.mark.parametrize("log", [True, False])
def test_behind_each_real_txg_come_its_log_and_its_space_maps(log: bool) -> None:
    memory = claiming(6, log=log)
    memory.slabs["unmapped"] = [0, 0, 0, 1, 1, 0]
    renew_claims(memory.table, 600)
    assert held(memory) == {}
    renew_claims(memory.table, 399)
    assert held(memory) == {}
    renew_claims(memory.table, 1)
    # What each txg writes changes 0 and 1; with a log one map, of metaslab 0, without one those of all.
    maps = [0] if log else [0, 1, 3, 4]
    assert sorted(held(memory)) == ([0, 1] if log else [0]) + [7 + slab for slab in maps]
    assert int(memory.now["unclaimed"][0]) == 0
    if log:
        renew_claims(memory.table, 5000)
        assert sorted(held(memory)) == [0, 1, 2, 7, 8], "the next of the log, the next map"
        for _ in range(4):
            renew_claims(memory.table, 1000)
        assert int(memory.now["claim_log"][0]) == 0, "as many as there are metaslabs"


@pytest.mark.parametrize(
    "change", [{"claim_bytes": 0}, {"copies": 1}, {"full": True}], ids=["whole", "no-root", "full"]
)
def test_nothing_is_claimed_where_it_would_change_nothing(change: dict[str, int]) -> None:
    memory = claiming(claim_bytes=change.get("claim_bytes", 1000))
    memory.slots["copies"][ROOT] = change.get("copies", 2)
    if "full" in change:
        for slab in range(4):
            set_free(memory, slab, np.arange(640) >= 100)
    renew_claims(memory.table, 10_000)
    assert held(memory) == {}
    assert not memory.slabs["pending"].any()


@pytest.mark.parametrize(
    ("release", "vdevs", "claims", "copies"),
    [("2.3.9", 1, 5 * RECORD, 2), ("0.8.6", 1, 5 * RECORD, 2), ("0.7.13", 1, 0, 3), ("2.3.9", 2, 0, 3)],
)
def test_only_a_lone_vdev_whose_release_keeps_copies_in_metaslabs_apart_claims(
    release: str, vdevs: int, claims: int, copies: int
) -> None:
    made = recipe(Fill(0.2), release=release, vdevs=vdevs, claim_bytes=5 * RECORD)
    memory = HistoryRun(made, 1)._memory
    assert int(memory.now["claim_bytes"][0]) == claims
    assert int(memory.now["mos_copies"][0]) == copies


def test_a_pool_that_claims_is_whole_but_for_third_copies() -> None:
    made = recipe(Fill(0.2), Overwrite(0.3), units=640, claim_bytes=20 * RECORD)
    history = ran(made)
    assert held_of(history) > 0
    assert check_whole(history, mos_copies=2).dva_count.max() == 2
    assert check_whole(ran(replace(made, claim_bytes=0))).dva_count.max() == 3


def held_of(history: HistoryRun) -> int:
    """Return how many third copies a pool holds."""
    memory = history._memory
    return int((memory.slots["psize"][int(memory.now["claims_first"][0]) :] > 0).sum())
