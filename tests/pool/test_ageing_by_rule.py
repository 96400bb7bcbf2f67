"""What an aged pool is: as full and as fragmented as asked for, in whole rounds where there are snapshots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.pool.fragmentation import fragmentation
from zsim.pool.miniature import ageing
from zsim.pool.miniature.ageing import AgedPool, aged_pool
from zsim.pool.recipes.histories import History, load_history
from zsim.pool.recipes.recipe import Growth, Overwrite, pool_of
from zsim.scenario.releases.profile import load_release

TB = 10**12
PLAIN = replace(load_history("vm-host"), snapshots=0, overwritten=0.1, removed=0.02, rounds=2)
HELD = replace(PLAIN, snapshots=2, overwritten=0.05)


def aged(history: History = PLAIN, layout: str = "raidz1x4", **more: object) -> AgedPool:
    release = load_release("2.3.9")
    vdevs, style = pool_of(layout, TB, release)
    asked: dict[str, object] = {"fill": 0.5, "max_blocks": 1200, "seed": 3, **more}
    return aged_pool(history, vdevs, style, release, **asked)  # type: ignore[arg-type]


def test_without_a_frag_the_history_is_run_as_many_rounds_as_it_has() -> None:
    found = aged()
    assert found.rounds == PLAIN.rounds
    assert found.fill == pytest.approx(0.5, abs=0.03)
    own = found.miniature.own_table()
    assert found.frag == pytest.approx(
        fragmentation(own, found.miniature.recipe.vdevs, load_release("2.3.9")), abs=0.03
    )
    more = aged(replace(PLAIN, rounds=6))
    assert more.frag > found.frag > aged(replace(PLAIN, rounds=0)).frag


def test_where_a_frag_is_asked_for_no_rounds_are_counted_out_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a history with snapshots as many as may be run are there, one step each and what it overwrites."""
    monkeypatch.setattr(ageing, "_kept_or_run", lambda run: run)
    asked: Any = aged
    assert (asked().rounds, asked(frag=0.3).rounds) == (PLAIN.rounds, 0)
    assert not [step for step in asked(frag=0.3).recipe.steps if isinstance(step, Overwrite)]
    held = [step for step in asked(HELD, frag=0.3).recipe.steps if isinstance(step, Overwrite)]
    assert len(held) == ageing.MAX_ROUNDS
    assert len([step for step in asked(HELD).recipe.steps if isinstance(step, Overwrite)]) == HELD.rounds


def test_a_frag_is_reached_in_parts_of_a_round_and_ageing_stops_there() -> None:
    start = aged(replace(PLAIN, rounds=0)).frag
    found = aged(frag=start + 0.1)
    assert start + 0.1 <= found.frag < start + 0.15
    assert 0.0 < found.rounds < 10
    slices = np.ceil((PLAIN.overwritten + PLAIN.removed) / 0.01)
    assert found.rounds * slices == pytest.approx(round(found.rounds * slices))


def test_snapshots_need_whole_rounds_as_many_as_are_kept_at_least() -> None:
    for frag in (0.05, 0.3):
        found = aged(HELD, frag=frag)
        assert found.rounds == int(found.rounds) >= HELD.snapshots
    assert found.fill == pytest.approx(0.5, abs=0.03)
    low = aged(HELD, frag=0.3, fill=0.4)
    assert low.fill == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize(
    ("frag", "words"), [(0.99, "at most"), (0.0001, "before any ageing"), (-0.1, "from 0 to 1")]
)
def test_a_frag_that_never_comes_is_refused(frag: float, words: str) -> None:
    history = (
        replace(PLAIN, rounds=1, files=replace(PLAIN.files, mean=4096, low=512)) if frag < 0.01 else PLAIN
    )
    with pytest.raises(InputError, match=words):
        aged(history, frag=frag, fill=0.7 if frag == 0.0001 else 0.5)


@pytest.mark.parametrize("fill", [0.0, -0.1, 1.01])
def test_a_fill_is_a_share_of_the_pool(fill: float) -> None:
    with pytest.raises(InputError, match="above 0 and up to 1"):
        aged(fill=fill)


def test_vdevs_that_were_added_come_to_be_as_full_as_they_are_to_be() -> None:
    fills = [0.7, 0.3]
    vdevs, _ = pool_of("2*mirror2", TB, "2.3.9")
    growth = Growth.to_fills(fills, [each.slab_bytes * each.slab_count for each in vdevs])
    found = aged(layout="2*mirror2", growth=growth, max_blocks=3000)
    table = found.miniature.own_table()
    for number, each in enumerate(found.miniature.recipe.vdevs):
        used = table.dva_asize[table.dva_vdev == number].sum() / (each.slab_bytes * each.slab_count)
        assert used == pytest.approx(fills[number], abs=0.03)
    with_frag = aged(layout="2*mirror2", growth=growth, max_blocks=3000, frag=0.2)
    assert with_frag.frag == pytest.approx(0.2, abs=0.03)


def test_what_was_rewritten_since_an_expansion_is_that_share() -> None:
    vdevs, _ = pool_of("raidz1x4+1", TB, "2.3.9")
    assert vdevs[0].first_slabs < vdevs[0].slab_count
    births = {}
    for share in (0.0, 0.5):
        table = aged(layout="raidz1x4+1", rewritten=share, fill=0.4).miniature.table
        births[share] = len(np.unique(table.birth[~table.is_metadata]))
    assert births[0.5] > births[0.0]


def test_a_fuller_pool_than_its_first_drives_hold_was_expanded_on_the_way() -> None:
    full, half = (aged(layout="raidz1x4+1", fill=fill).miniature for fill in (0.8, 0.4))
    for made, is_beyond in ((full, True), (half, False)):
        (vdev,) = made.recipe.vdevs
        last = int(vdev.slab_of(made.table.dva_offset[made.table.dva_vdev == 0]).max())
        assert (last >= vdev.first_slabs) == is_beyond
