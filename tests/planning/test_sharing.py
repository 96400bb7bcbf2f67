"""Scenarios on the same blocks are answered one after the other, each once, whatever the process."""

from __future__ import annotations

from zsim.planning.sharing import ScenarioQueue, blocks_named
from zsim.scenario.model import Scenario

LOADS = [[{"kind": "random-read", "rate": rate}] for rate in (1, 5, 20)]


def grid() -> list[dict[str, object]]:
    stated = [{"fill": fill, "load": load} for load in LOADS for fill in (0.4, 0.6)]
    return [Scenario.from_dict({"layout": "mirror2", "drive_size": "8TB"} | each).stated() for each in stated]


def taken(count: int, scenarios: list[dict[str, object]]) -> list[list[int]]:
    """Return the places that so many processes are given, by turns."""
    waiting, found = ScenarioQueue(scenarios), [[] for _ in range(count)]  # type: ignore[var-annotated]
    last: list[str | None] = [None] * count
    busy = True
    while busy:
        busy = False
        for number in range(count):
            following = waiting.next_for(last[number])
            if following is not None:
                last[number], place, stated = following
                assert stated is scenarios[place]
                found[number].append(place)
                busy = True
    return found


def test_one_process_takes_blocks_after_blocks() -> None:
    assert taken(1, grid()) == [[0, 2, 4, 1, 3, 5]]


def test_each_process_has_blocks_of_its_own() -> None:
    assert taken(2, grid()) == [[0, 2, 4], [1, 3, 5]]


def test_what_is_left_of_the_most_is_shared() -> None:
    few = [scenario for place, scenario in enumerate(grid()) if place not in (3, 5)]
    assert taken(2, few) == [[0, 2], [1, 3]]
    assert sorted(place for each in taken(4, few) for place in each) == [0, 1, 2, 3]


def test_the_drive_matters_where_its_size_is_not_stated() -> None:
    one, other = ({"layout": "mirror2", "drive": drive} for drive in ("wd40efax", "mg08aca16"))
    assert blocks_named(one) != blocks_named(other)
    sized = {"drive_size": "8TB"}
    assert blocks_named(one | sized) == blocks_named(other | sized)
    assert blocks_named(one | sized) != blocks_named(one | {"drive_size": "10TB"})


def test_fields_that_do_not_decide_are_fields() -> None:
    from zsim.planning.sharing import ASIDE

    assert set(Scenario.field_infos()) >= ASIDE
