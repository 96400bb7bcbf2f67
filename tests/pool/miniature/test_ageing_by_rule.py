"""What an aged pool is: as full and as fragmented as asked for, in whole rounds where there are snapshots."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.pool.fragmentation import fragmentation
from zsim.pool.miniature import ageing
from zsim.pool.miniature.ageing import AgedPool, aged_pool
from zsim.pool.miniature.shape import MiniatureSize
from zsim.pool.recipes.histories import EmptyPool, History, load_history
from zsim.pool.recipes.recipe import Growth, Overwrite, pool_of
from zsim.scenario.releases.profile import load_release

TB = 10**12
PLAIN = replace(load_history("vm-host"), snapshots=0, overwritten=0.1, removed=0.02, rounds=2)
HELD = replace(PLAIN, snapshots=2, overwritten=0.05)


def aged(
    history: History = PLAIN, layout: str = "raidz1x4", growth: Growth | None = None, **more: object
) -> AgedPool:
    release = load_release("2.3.9")
    pool = EmptyPool(*pool_of(layout, TB, release), release, growth=growth or Growth())
    asked: dict[str, object] = {"fill": 0.5, "size": MiniatureSize(1200), "seed": 3, **more}
    return aged_pool(history, pool, **asked)  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    ("low", "aim", "now", "good"),
    [(0.1, 0.2, 0.2, True), (0.2, 0.2, 0.3, True), (0.119, 0.1, 0.119, True), (0.121, 0.1, 0.121, False),
     (0.0, 0.5, 0.461, True), (0.0, 0.5, 0.459, False), (0.0, 1.0, 1.0, True), (0.0, 0.0, 0.0, True)],
)  # fmt: skip
def test_ageing_ends_with_what_is_asked_for_or_near_it(
    monkeypatch: pytest.MonkeyPatch, low: float, aim: float, now: float, good: bool
) -> None:
    """Of a tenth overwritten and a fiftieth removed a round has twelve parts; 24 of them were run."""
    monkeypatch.setattr(ageing, "frag_weights", lambda vdevs, release, of: of)
    asked: list[Any] = []

    def run_until(steps: Any, *given: Any) -> tuple[int, float, float]:
        asked.append((steps, *given))
        return 24, low, now

    pool: Any = SimpleNamespace(recipe=SimpleNamespace(vdevs=()), run_until=run_until)
    release = load_release("2.3.9")
    run: Any = SimpleNamespace(history=PLAIN, growth=Growth(), release=release, frag_of=(1,), first=(0,))
    if good:
        assert ageing._age_to(pool, run, 0.5, aim) == (2.0, low, now)
    else:
        with pytest.raises(InputError, match="FRAG"):
            ageing._age_to(pool, run, 0.5, aim)
    ((steps, *rest),) = asked
    assert [step.fraction for step in steps] == pytest.approx([0.1 / 12, 0.02 / 12, 0.5])
    assert rest == [aim, (1,), 0, ageing.MAX_ROUNDS * 12]
    # Where vdevs are added later it is the FRAG of those that are there, and not yet that of the end.
    later: Any = SimpleNamespace(**{**vars(run), "growth": Growth(((0.3, (1,)),))})
    assert ageing._age_to(pool, later, 0.5, aim) == (2.0, low, now)
    assert asked[-1][2] == (0,)


def test_what_was_there_before_any_was_added_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ageing, "_kept_or_run", lambda run: run)
    asked: Any = aged
    assert asked(layout="2*mirror2+special:mirror2").first == (0, 1), "special ones are of another class"
    assert asked(layout="2*mirror2", growth=Growth(((0.3, (0,)),))).first == (1,)


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
    found = aged(layout="2*mirror2", growth=growth, size=MiniatureSize(3000))
    table = found.miniature.own_table()
    for number, each in enumerate(found.miniature.recipe.vdevs):
        used = table.dva_asize[table.dva_vdev == number].sum() / (each.slab_bytes * each.slab_count)
        assert used == pytest.approx(fills[number], abs=0.03)
    with_frag = aged(layout="2*mirror2", growth=growth, size=MiniatureSize(3000), frag=0.2)
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
