"""Lists of blocks, moved miniatures, whole worlds and windows that are measured, by hand."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.runs.test_scaling_by_hand import case
from zsim.base.errors import InputError
from zsim.prediction import courses, groups, reweighed
from zsim.prediction.inputs import population
from zsim.prediction.progress import course as course_of
from zsim.prediction.runs.sampling import run as sampled


@dataclass(frozen=True)
class SpaceOf:
    """Where the metaslabs of a vdev begin."""

    starts: Any

    def slab_starts(self) -> Any:
        return self.starts


@dataclass(frozen=True)
class Blocks:
    """What is known of a population, its blocks or its recipe."""

    table: Any = None
    vdevs: Any = ()
    recipe: Any = None
    dva_vdev: Any = None
    dva_offset: Any = None


def rows(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


@pytest.mark.parametrize(
    ("fields", "order", "counted", "whole", "walked"),
    [
        ({}, "address", (0,), False, 4.0 / 3.0), ({}, "address", (0,), True, 1.0),
        ({"operation": "scrub"}, "address", (1, 2, 3), False, 4.0 / 3.0),
        ({"release": "zol-0.7"}, "traversal", (0,), False, 1.0),
    ],
)  # fmt: skip
def test_blocks_of_a_list_are_walked_on_the_vdevs_that_are_taken(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], order: str, counted: tuple[int, ...],
    whole: bool, walked: float,
) -> None:  # fmt: skip
    """Of four vdevs three are taken; by birth, or where all of it is there, nothing is left out."""
    one = case(**({"layout": "4*mirror2", "release": "openzfs-2.3"} | fields))
    asked: list[Any] = []
    small = SimpleNamespace(whole=whole, table="blocks", scale=lambda vdevs: (7.0, vdevs))
    monkeypatch.setattr(population, "chosen_vdevs", lambda count: (1, 2, 3))
    monkeypatch.setattr(population, "sample_blocks", lambda *given: asked.append(given) or small)
    monkeypatch.setattr(population, "window_vdevs", lambda given, vdevs: {0: "window"} if whole else {})
    monkeypatch.setattr(population, "different_alloc", lambda given: "as it is")
    listed: Any = SimpleNamespace(blocks=lambda vdevs, by: ("list", by))
    found = population._listed(one, listed, 500)
    assert (found.table, found.scale, found.walked) == ("blocks", (7.0, counted), walked)  # type: ignore[comparison-overlap]
    assert found.damaged == ("window" if whole else one.vdevs[0])
    assert asked == [(("list", order), one.vdevs, 500, order, one.seed)]


def test_a_miniature_is_moved_on_its_first_vdev_alone() -> None:
    levels = [SpaceOf(starts=rows(0, 100)), SpaceOf(starts=rows(0, 200))]
    table = Blocks(dva_vdev=rows(0, 1, 0), dva_offset=rows(5, 6, 7))
    pool: Any = Blocks(table=table, vdevs=(0, 1), recipe=Blocks(vdevs=tuple(levels)))
    found = groups._moved(pool, 30)
    assert found.table.dva_offset.tolist() == [35, 6, 37]
    moved, stays = found.recipe.vdevs
    assert (moved.starts, stays) == ((30, 130), levels[1])


def test_worlds_of_a_small_pool_are_run_whole_with_seeds_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four worlds three are asked for, and the second cannot be built."""
    ran: list[Any] = []

    def course(given: Any, member: Any, drive_of: Any) -> Any:
        ran.append((given.seed, member, drive_of))
        return None if member == "b" else f"course {member}"

    monkeypatch.setattr(courses, "draw_members", lambda inputs, seed: ("a", "b", "c", "d"))
    monkeypatch.setattr(courses, "unknowns", lambda given: ())
    monkeypatch.setattr(courses, "_whole_course", course)
    one = case()
    assert courses.whole_courses(one, "drives", 3) == ("course a", "course c")  # type: ignore[arg-type, comparison-overlap]
    assert ran == [(one.seed + courses.SEED_STEP * n, name, "drives") for n, name in enumerate("abc")]
    monkeypatch.setattr(courses, "_whole_course", lambda *given: None)
    with pytest.raises(InputError, match="no simulated pool"):
        courses.whole_courses(one)


def test_moments_of_a_course_are_dense_at_its_beginning() -> None:
    """From nought by ratios to where it is even, and on in equal steps to the end."""
    found = course_of._edges()
    early, late = found[1 : course_of.EARLY_EDGES + 1], found[course_of.EARLY_EDGES :]
    assert (found[0], early[0], early[-1], found[-1]) == pytest.approx(
        (0.0, course_of.FIRST_EDGE, course_of.EVEN_FROM, 1.0)
    )
    assert np.ptp(np.diff(np.log(early))) == pytest.approx(0.0, abs=1e-9)
    assert np.ptp(np.diff(late)) == pytest.approx(0.0, abs=1e-9)
    assert len(late) == course_of.LATE_EDGES


@pytest.mark.parametrize("evidence", ["one", ("one", "two"), {"what": "one"}, 5])
def test_more_evidence_stands_behind_what_there_was(monkeypatch: pytest.MonkeyPatch, evidence: Any) -> None:
    """A text, a mapping and what is no list are one observation."""
    monkeypatch.setattr(reweighed, "observations_of", lambda more: more)
    before = SimpleNamespace(evidence=("old",), changed=lambda fields: fields)
    monkeypatch.setattr(reweighed, "Scenario", SimpleNamespace(from_dict=lambda stated: before))
    answer: Any = SimpleNamespace(provenance={"scenario": {}})
    more = evidence if isinstance(evidence, tuple) else (evidence,)
    assert reweighed.with_evidence(answer, evidence) == {"evidence": ("old", *more)}
    before.evidence = None  # type: ignore[assignment]
    assert reweighed.with_evidence(answer, evidence) == {"evidence": more}


@pytest.mark.parametrize(
    ("finished", "periods"), [((False, False, False), [True, True, True]), ((False, True), [False, False])]
)
def test_windows_are_measured_to_their_end_and_that_of_a_whole_txg(
    finished: tuple[bool, ...], periods: list[bool]
) -> None:
    """The last window of the first stream ends at its 30th operation; the second is not measured."""
    at = iter([(9, 7), (40, 7), (41, 7)])
    now: list[tuple[int, int]] = []
    told: list[Any] = []
    ends = iter(finished)

    def period() -> Any:
        now.append(next(at))
        made.periods.append(SimpleNamespace(whole=len(now) != 2))
        yield

    windows: Any = [
        SimpleNamespace(begins=rows(5, 20), rows="a", starts=[1]),
        SimpleNamespace(begins=rows(90), rows="b", starts=[1]),
    ]  # fmt: skip
    stream = SimpleNamespace(program=SimpleNamespace(part=lambda chosen: chosen))
    made: Any = SimpleNamespace(
        streams=[stream, stream], periods=["before"], length=10, simulated=100, _period=period,
        _firsts=rows(0, 2),
        plane=SimpleNamespace(positions=lambda: [*now[-1], 999]), _is_main=lambda number: number == 0,
        control=SimpleNamespace(finished=lambda count: next(ends)), _load=told.append,
        _take=lambda chosen, first: told.append(first),
    )  # fmt: skip
    list(sampled.SampledRun._measure(made, windows))
    # The second txg is cut off by the end of its slice: a third is waited for, unless all is done.
    assert len(made.periods) == 1 + len(periods)
    assert made.simulated == 100 + sum(now[-1]) - 2
    assert told == [["a", "b"], 1]
