"""How a history is run until a pool is as full and fragmented as asked for: the search, without pools."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.pool.miniature import ageing
from zsim.pool.miniature.shape import Miniature
from zsim.pool.recipes.recipe import Expand, Fill, Growth, Overwrite

HISTORY: Any = SimpleNamespace(
    name="some", snapshots=0, overwritten=0.1, removed=0.02,
    first_steps=lambda fill: (("first", fill),), round_steps=lambda fill: (("round", fill),),
)  # fmt: skip
REDUCED: Any = SimpleNamespace(vdevs=(SimpleNamespace(spec=SimpleNamespace(grown=0)),))


@dataclass(frozen=True)
class Run:
    """What the search reads of an `AgedRun`."""

    history: Any = field(default_factory=lambda: HISTORY)
    fill: float = 0.5
    growth: Any = None
    frag_of: tuple[int, ...] = ()
    first: tuple[int, ...] = (0,)
    rounds: int = 2
    seed: int = 1
    rewritten: float = 0.0
    release: Any = None
    recipe: Any = None
    numbers: tuple[int, ...] = (0,)
    reduced: Any = field(default_factory=lambda: REDUCED)


def pool_of(frag: float) -> ageing.AgedPool:
    """Return a pool of ten blocks that has a FRAG."""
    nothing: Any = None
    return ageing.AgedPool(Miniature(nothing, 1.0, nothing, (0,), written=10), 2.0, 0.5, frag)


def history(**changes: Any) -> Any:
    return SimpleNamespace(**{**vars(HISTORY), **changes})


# --- vdevs that were added: FRAG of the end, by that of before


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[float, list[float]]]:
    """Search where the FRAG of the end follows from that before; return it, and what was tried."""

    def found(
        end_of: Callable[[float], float], wanted: float, times: float = 1.0, most: float = 1.0
    ) -> tuple[float, list[float]]:
        aims: list[float] = []

        def built(run: Any, aim: float) -> Any:
            aims.append(aim)
            before = min(aim, most)
            end = end_of(before)
            return ageing._Built(pool_of(end), run.growth, before, end)

        monkeypatch.setattr(ageing, "_built", built)
        monkeypatch.setattr(ageing, "_frag_sizes", lambda run, of: 1.0 if of else times)
        found = ageing._built_to_end(Run(), wanted)  # type: ignore[arg-type]
        assert found.miniature.written == 10 * len(aims), "all that was tried was written"
        return found.frag, aims

    return found


def test_the_first_aim_is_as_much_higher_as_there_are_more_vdevs_in_the_end(search: Any) -> None:
    """Half of the space was there before: a FRAG of 0.4 is 0.05 + 0.2 in the end."""
    frag, aims = search(lambda before: 0.05 + before / 2, 0.25, times=2.0)
    assert (frag, aims) == (pytest.approx(0.25), pytest.approx([0.0, 0.4]))
    # As little was there as a tenth: no FRAG is above 1; and of fewer vdevs in the end it is no less.
    assert search(lambda before: before / 2, 0.5, times=10.0)[1] == pytest.approx([0.0, 1.0])
    assert search(lambda before: before, 0.5, times=0.1)[1] == pytest.approx([0.0, 0.5])


def test_between_two_that_enclose_it_the_aim_is_on_their_line(search: Any) -> None:
    """At 0.3 it comes out as 0.45: two thirds of the way are 0.2."""
    frag, aims = search(lambda before: 1.5 * before, 0.3)
    assert (frag, aims) == (pytest.approx(0.3), pytest.approx([0.0, 0.3, 0.2]))


def test_as_long_as_all_are_below_the_aim_rises_by_what_is_lacking(search: Any) -> None:
    """The end is the square of before; a hundredth is near enough."""
    frag, aims = search(lambda before: before**2, 0.16)
    expected = [0.0, 0.16]
    while 0.16 - expected[-1] ** 2 > 0.01:
        expected.append(expected[-1] + 0.16 - expected[-1] ** 2)
    assert len(expected) == 5
    assert (frag, aims) == (pytest.approx(expected[-1] ** 2), pytest.approx(expected))
    # With twice as many vdevs in the end by twice as much: 0.18 gives 0.0324, and 2 * 0.0576 are lacking.
    assert search(lambda before: before**2, 0.09, times=2.0)[1] == pytest.approx([0.0, 0.18, 0.2952])


def test_five_aims_are_tried_and_the_nearest_is_taken(search: Any) -> None:
    """Each comes out two points higher than the one before, whatever the aim."""
    ends = iter([0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12])
    frag, aims = search(lambda before: next(ends), 0.119)
    assert (frag, len(aims)) == (0.1, 6)


def test_what_no_ageing_makes_is_refused_with_what_it_makes(search: Any) -> None:
    with pytest.raises(InputError, match="has a FRAG of 20% before any ageing"):
        search(lambda before: 0.2 + before, 0.1)
    assert search(lambda before: 0.2 + before, 0.19) == (pytest.approx(0.2), [0.0]), "that is near enough"
    with pytest.raises(InputError, match="reaches a FRAG of 10% at most"):
        search(lambda before: before, 0.5, most=0.1)


@pytest.mark.parametrize(
    ("wanted", "found", "good"),
    [(0.5, 0.461, True), (0.5, 0.459, False), (0.5, 0.539, True), (0.1, 0.081, True), (0.1, 0.079, False)],
)
def test_a_frag_is_met_within_two_points_or_eight_in_a_hundred(
    wanted: float, found: float, good: bool
) -> None:
    best = ageing._Built(SimpleNamespace(frag=found), Growth(), 0.0, found)  # type: ignore[arg-type]
    if good:
        assert ageing._near(Run(), wanted, best, best, best).frag == found  # type: ignore[arg-type]
    else:
        with pytest.raises(InputError, match=f"{found:.0%} at most"):
            ageing._near(Run(), wanted, best, best, best)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("overwritten", "removed", "snapshots", "parts"),
    [(0.1, 0.025, 0, 13), (0.005, 0.0, 0, 1), (0.0, 0.0, 0, 1), (0.0, 0.055, 0, 6), (0.5, 0.5, 1, 1)],
)
def test_a_round_is_run_in_parts_that_write_a_hundredth(
    overwritten: float, removed: float, snapshots: int, parts: int
) -> None:
    known = history(overwritten=overwritten, removed=removed, snapshots=snapshots)
    assert ageing._slices_of(known) == parts


# --- as full as asked for


class Pools:
    """Pools that come out as full as they are said to, one after the other, and what was run on them."""

    def __init__(self, fills: Sequence[float], vdevs: Sequence[Sequence[float]] = ()) -> None:
        self.fills, self.vdevs, self.ran = list(fills), list(vdevs), list[list[Any]]()

    def __call__(self, recipe: Any, seed: int) -> Any:
        steps: list[Any] = []
        self.ran.append(steps)
        place = len(self.ran) - 1
        return SimpleNamespace(
            recipe=recipe, fill=self.fills[place], vdev_fills=self.vdevs[place] if self.vdevs else (),
            written=10, run=lambda *more: steps.extend(more),
        )  # fmt: skip


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[Any]]]:
    """Run a history on such pools, and return the steps of each."""

    def ran(pools: Pools, run: Run) -> list[list[Any]]:
        monkeypatch.setattr(ageing, "Pool", pools)
        monkeypatch.setattr(ageing, "miniature_of", lambda *given: pool_of(0.1).miniature)
        monkeypatch.setattr(ageing, "_frag", lambda *given: 0.1)
        made = ageing._built(run, None)  # type: ignore[arg-type]
        assert made.pool.miniature.written == 10 * len(pools.ran), "those that were too full were written too"
        return pools.ran

    return ran


def test_a_history_is_filled_aged_and_filled_up_again(built: Any) -> None:
    (steps,) = built(Pools([0.9]), Run(growth=Growth()))
    assert steps == [("first", 0.5), ("round", 0.5), ("round", 0.5), Fill(0.5)]


def test_what_snapshots_hold_is_left_out_at_first_where_vdevs_are_added(built: Any) -> None:
    """Two snapshots of a quarter hold half as much again; 0.8 for 0.5 is another 5/8, 0.51 is near enough."""
    growth = Growth(((0.3, (1,)),))
    held = history(snapshots=2, overwritten=0.25)
    first, second = built(Pools([0.8, 0.51]), Run(history=held, growth=growth))
    assert first[0] == ("first", pytest.approx(0.3 / 1.5))
    assert first[1:3] == [("round", 0.3)] * 2
    assert second[0] == ("first", pytest.approx(0.3 / 1.5 * 0.5 / 0.8))
    assert first[3:] == [*growth.steps, Fill(0.5)]
    assert len(built(Pools([0.8] * 9), Run(history=held, growth=growth))) == 3, "three times at most"
    without = built(Pools([0.8] * 9), Run(history=held, growth=Growth()))
    assert without[0][0] == ("first", 0.5), "nothing was added: what they hold is in the pool"


def test_vdevs_that_are_a_hundredth_off_are_added_at_another_fill(built: Any) -> None:
    growth = Growth(((0.6, (1,)),), ((0, 0.6), (1, 0.3)))
    near = built(Pools([0.5], [(0.609, 0.291)]), Run(growth=growth))
    assert len(near) == 1
    off = built(Pools([0.5] * 2, [(0.65, 0.25), (0.6, 0.3)]), Run(growth=growth))
    assert [steps[0] for steps in off] == [("first", 0.6), ("first", pytest.approx(0.55))]


@pytest.mark.parametrize(("rewritten", "times"), [(0.5, math.log(2)), (0.99, -math.log(0.02))])
def test_of_as_many_draws_as_records_a_share_of_1_in_e_is_never_drawn(
    rewritten: float, times: float, built: Any
) -> None:
    """To have half of the records written again ln 2 of them are drawn, and 98 % at most are."""
    vdev = SimpleNamespace(spec=SimpleNamespace(grown=1), slab_bytes=10, first_slabs=8)
    reduced = SimpleNamespace(vdevs=(vdev,), space=100)
    run = replace(Run(growth=Growth(), rewritten=rewritten, rounds=0), reduced=reduced)
    (steps,) = built(Pools([0.5]), run)
    assert steps == [("first", 0.5), Fill(0.5), Expand(), Overwrite(pytest.approx(times)), Fill(0.5)]
    assert Overwrite not in map(type, built(Pools([0.5]), replace(run, rewritten=0.0))[0])


@pytest.mark.parametrize("over", [0.0, 1e-6])
def test_a_pool_fuller_than_its_first_drives_nearly_hold_was_expanded_on_the_way(over: float) -> None:
    """Four of eight metaslabs were there: half of the space, of which `EXPANDED_AT` is nearly all."""
    ran: list[Any] = []
    vdev = SimpleNamespace(slab_bytes=10, first_slabs=4)
    pool: Any = SimpleNamespace(
        recipe=SimpleNamespace(vdevs=(vdev,), space=80), run=lambda *more: ran.extend(more)
    )
    edge = ageing.EXPANDED_AT * 0.5
    ageing._expand_full(pool, HISTORY, edge + over)
    assert ran == ([("first", pytest.approx(edge)), Expand()] if over else [])


def test_a_release_without_frag_has_none() -> None:
    release: Any = SimpleNamespace(fragmentation_table="none")
    assert math.isnan(ageing._frag(SimpleNamespace(), release))  # type: ignore[arg-type]
