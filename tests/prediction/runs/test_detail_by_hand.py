"""What is said beside the duration, against arithmetic by hand: tiles as results, what-ifs, first screen."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.samples import disks as case
from zsim.case.case import Case
from zsim.engine.model import ClientModel
from zsim.prediction import groups
from zsim.prediction.answer import brief, tables
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import Advice, Alternative, Quantiles
from zsim.prediction.answer.tables import Grid, fitted, grid_text, wrapped
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import NoRoomError, miniature
from zsim.prediction.runs import advice, member, one_tile, rebuilding, what_if
from zsim.prediction.runs.sampling.windows import WindowPlan
from zsim.scan.sorted import DVA_BYTES, SIO_BYTES

HOUR = 3600.0


# A tile as a result.


class Counted(SimpleNamespace):
    """Counters of a run that are replaced as records are."""

    def __replace__(self, **changes: Any) -> Counted:
        return Counted(**(vars(self) | changes))


def tile(monkeypatch: pytest.MonkeyPatch, *, time_s: float | None = None, **more: Any) -> Any:
    """Return a tile that was run for 10 s, 2 s of which it visited and 6 s issued, as a result."""
    monkeypatch.setattr(one_tile, "replace", lambda counted, **changes: Counted(**(vars(counted) | changes)))
    usual: dict[str, Any] = {
        "time_s": 1000.0, "visit_s": 300.0, "issue_s": 700.0, "quiet_s": None, "complete": False,
        "phases": [("visit", 0.0, 2.0), ("issue", 3.0, 9.0)], "plan": WindowPlan(times=100.0, visits=150.0),
        "slice_s": 5.0, "course": lambda: [SimpleNamespace(time=500.0)],
        "streams": [SimpleNamespace(known=np.array([[0.0, 0.0], [4.0, 80.0]]))] * 2,
    }  # fmt: skip
    counted = Counted(end=10.0, issued_bytes=200)
    return one_tile.tile_result(SimpleNamespace(**(usual | more)), counted, None, time_s)  # type: ignore[arg-type]


def test_phases_of_a_tile_have_the_share_of_the_time_that_they_have_in_its_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """8 of 10 s are slices: of 300 and 700 s as much is active, the rest ends of txgs."""
    found = tile(monkeypatch)
    assert (found.time_s, found.visit_s, found.issue_s) == pytest.approx((1000.0, 240.0, 560.0))
    assert found.sync_s == pytest.approx(200.0)
    # 100 tiles of 160 bytes over the 200 of the run.
    assert found.scale == pytest.approx(80.0)
    assert found.worked_s == 10.0
    assert [each.time for each in found.run.progress] == [pytest.approx(5.0)]
    mean = tile(monkeypatch, time_s=1500.0)
    assert (mean.visit_s, mean.issue_s, mean.sync_s) == pytest.approx((360.0, 840.0, 300.0))


def test_a_tile_shorter_than_a_slice_has_the_ends_of_the_pools_txgs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of 5 s with 0.5 s behind: ten elevenths are active; and it worked 2 s and 7 s of its 10 s."""
    found = tile(monkeypatch, quiet_s=0.5)
    assert found.visit_s == pytest.approx(300.0 * 10.0 / 11.0)
    assert found.worked_s == pytest.approx(300.0 / 150.0 + 700.0 / 100.0)
    longer = tile(monkeypatch, quiet_s=2.0)
    assert longer.visit_s == pytest.approx(240.0), "no less than in its own run"
    assert tile(monkeypatch, quiet_s=0.5, complete=True).worked_s == 10.0


def test_records_that_do_not_fit_the_memory_make_a_scan_short_of_it() -> None:
    one = case(memory="1G")
    limit = one_tile.MemoryLimit(one.release, one.scan_memory or 0, one.alloc).hard
    each = SIO_BYTES + DVA_BYTES

    def short(
        entries: int, scale: float = 1.0, stands_for: int = 5, of: Case = one, walked: float = 1.0
    ) -> bool:
        table = SimpleNamespace(dva_count=np.array([entries]))
        pool: Any = SimpleNamespace(
            table=table,
            scale=scale,
            damaged=SimpleNamespace(stands_for=stands_for),
            collected=lambda operation: walked,
        )
        return one_tile._short_limit(of, pool) is not None

    enough = math.ceil(limit / each)
    assert short(enough)
    assert not short(math.ceil(limit / each) - 1)
    # A tile stands for as many more; a pool that is there whole does not.
    assert short(math.ceil(enough / 10.0), 10.0)
    assert not short(enough // 20, 10.0)
    assert not short(math.ceil(enough / 10.0), 10.0, 0)
    # A scrub collects as much on the vdevs that are not simulated.
    assert short(enough // 20 + 1, 10.0, walked=2.0)
    assert not short(enough, of=case())
    assert not short(enough, of=case(memory="1G", release="zol-0.7"))


def test_what_a_miniature_has_on_a_drive_is_its_share_of_the_drive() -> None:
    """Half of 4 TB, over a scale of 1000: 2 GB."""
    pool: Any = SimpleNamespace(scale=1000.0)
    assert member.held_bytes(case(), pool) == pytest.approx(0.5 * 4e12 / 1000.0)


@pytest.mark.parametrize(("drive", "moved"), [("st8000dm004", True), ("wd40efrx", False)])
def test_metaslabs_follow_one_another_where_a_sweep_fills_bands(drive: str, moved: bool) -> None:
    """On a shingled drive: each has room behind it on a conventional one, and in a scan by birth."""
    world = case(layout="mirror2", drive=drive, drive_size=None)
    pool, model = miniature(world, blocks=2_000), plane_model(world)
    found = member._placed(world, pool, model)
    assert (found.table is not pool.table) is moved
    assert np.ptp(found.table.dva_offset[:, 0]) <= np.ptp(pool.table.dva_offset[:, 0])
    assert member._placed(world, replace(pool, visited=None), model).table is pool.table


# Metaslabs of a rebuild.


class Level(SimpleNamespace):
    """A vdev of reduced metaslabs of 100 bytes."""

    def slab_of(self, offset: Any) -> Any:
        return offset // 1000

    def slab_starts(self) -> Any:
        return 1000 * np.arange(self.slab_count)


def test_ranges_of_a_miniature_fill_metaslabs_over_and_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two reduced metaslabs, of one and two ranges, laid in turn into two pieces of each real one."""
    monkeypatch.setattr(
        rebuilding,
        "allocated_ranges",
        lambda table, vdev: (np.array([10, 1000, 1050]), np.array([30, 1020, 1099])),
    )
    level: Any = Level(slab_count=2, slab_bytes=100, unit=8, row_bytes=4)
    begin, end = rebuilding._laid_out(None, level, np.array([1, 3]), 500, 250)  # type: ignore[arg-type]
    # Metaslab 1 begins at 500, in whole units of eight at 504; metaslab 3 at 1500, at 1504.  The first piece
    # ends at 30, in whole rows of four at 32: what is free behind that is not between the two.
    assert begin.tolist() == [504 + 10, 536, 536 + 50, 1504 + 10, 1536, 1536 + 50]
    assert (end - begin).tolist() == [20, 20, 49, 20, 20, 49]


def test_a_range_is_a_block_of_which_clients_read_one_of_the_usual_size() -> None:
    like: Any = SimpleNamespace(
        is_metadata=np.array([True, False, False, False]), psize=np.array([9, 100, 300, 500])
    )
    found = rebuilding._as_blocks(np.array([0, 1000]), np.array([200, 5000]), like)
    assert found.psize.tolist() == [200, 300]
    assert found.dva_asize[:, 0].tolist() == [200, 4000]
    assert (found.dva_offset[:, 0].tolist(), found.dva_vdev[:, 0].tolist()) == ([0, 1000], [0, 0])
    assert (found.dva_vdev[:, 1:] == -1).all()
    bare: Any = SimpleNamespace(is_metadata=np.array([True]), psize=np.array([9]))
    assert rebuilding._as_blocks(np.array([0]), np.array([1 << 20]), bare).psize.tolist() == [128 << 10]


def test_what_a_million_ranges_have_in_common_takes_no_memory() -> None:
    """With three DVAs a range and every column in full it was 80 MB, and the run of such a rebuild 366 MB."""
    like: Any = SimpleNamespace(is_metadata=np.array([False]), psize=np.array([16 << 10]))
    found = rebuilding._as_blocks(*(np.arange(5) * 1000 + each for each in (0, 500)), like)
    shared = ("objset", "object", "level", "is_metadata", "birth", "dva_count", "dva_vdev")
    assert all(getattr(found, name).strides[0] == 0 for name in shared)
    assert found.dva_offset.flags.f_contiguous
    assert found.dva_asize.flags.f_contiguous
    assert (found.dva_count.tolist(), found.level.tolist()) == ([1] * 5, [0] * 5)


def test_a_miniature_of_a_draid_may_be_moved_by_the_groups_of_some_slices() -> None:
    """Eleven of twelve children in groups of five: eleven groups a slice; and as far as the vdev goes."""
    one = case(layout="draid1:4d:12c:1s", drive_size="1TB")
    group = groups.kind_of("draid").group_bytes(one.layout.vdevs[0])

    def most(last: int) -> int:
        table = SimpleNamespace(dva_offset=np.array([[last]]), dva_vdev=np.array([[0]]))
        return groups._most_moved(one, SimpleNamespace(table=table))  # type: ignore[arg-type]

    assert most(0) == groups.MOST_SLICES * 11
    space = groups.vdev_asize(one.layout.vdevs[0], one.damaged_size)
    assert most(space - 4 * group) == 3
    assert most(space) == 0


@pytest.mark.parametrize(
    ("lost", "most", "moved"),
    [
        (0.0, 0, 0), (0.0, 3, 2), (14.0, 3, 2), (15.0, 3, None), (0.0, 1, 1),
    ],
)  # fmt: skip
def test_a_miniature_moves_to_the_first_place_with_a_fair_share_of_lost_groups(
    monkeypatch: pytest.MonkeyPatch, lost: float, most: int, moved: int | None
) -> None:
    """Of 100 bytes 30 are usual, half of them enough; with none that has enough, the best place is taken."""
    found = [0.0, 7.0, 15.0, 30.0] if most == 3 else [0.0, 7.0][: most + 1]
    monkeypatch.setattr(groups, "LEAST_OF_USUAL", 0.5)
    monkeypatch.setattr(groups, "degraded_bytes", lambda given, table: (100.0, lost))
    monkeypatch.setattr(groups, "degraded_share", lambda spec, failed: 0.3)
    monkeypatch.setattr(groups, "_most_moved", lambda given, pool: most)
    monkeypatch.setattr(groups, "lost_when_moved", lambda *given: np.array(found))
    monkeypatch.setattr(groups, "_moved", lambda pool, shift: shift)
    one = case(layout="draid1:4d:12c:1s", drive_size="1TB")
    group = groups.kind_of("draid").group_bytes(one.layout.vdevs[0])
    pool: Any = SimpleNamespace(scale=9.0, table=None)
    assert groups.with_degraded_groups(one, pool) == (pool if moved is None else moved * group)
    whole: Any = SimpleNamespace(scale=1.0, table=None)
    assert groups.with_degraded_groups(one, whole) is whole


# What-ifs.


def baseline(**more: Any) -> Any:
    """Return a world that was run for 100 s."""
    usual = {
        "case": case(),
        "result": SimpleNamespace(model=SimpleNamespace(clients=()), time_s=100.0),
        "answer_s": 100.0,
    }
    return SimpleNamespace(**(usual | more))


def asked(count: int, think_s: float, blocks: int) -> Any:
    """Return a world with so many clients."""
    group = ClientModel(count=count, think_s=think_s, seed=1, kind="random-read", blocks=blocks)
    return baseline(result=SimpleNamespace(model=SimpleNamespace(clients=(group,)), time_s=100.0))


def test_a_rebuild_beside_a_crowd_is_run_on_a_small_population() -> None:
    """Clients of one block a second each."""
    crowd = round(what_if.CROWD)
    alone = 1.0 - what_if.READ_S
    assert not what_if.is_crowded(asked(crowd, alone, 1), "rebuild")
    assert what_if.is_crowded(asked(crowd + 1, alone, 1), "rebuild")
    assert what_if.is_crowded(asked(crowd // 2 + 1, alone, 2), "rebuild")
    assert not what_if.is_crowded(asked(crowd + 1, alone, 1), "resilver")
    assert not what_if.is_crowded(baseline(), "rebuild")


def test_only_changes_that_save_enough_are_advised_the_best_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "_hardware_advice", lambda baseline: [Advice(action="x", saves_s=30.0)])
    enough = advice.WORTH_SAYING * 100.0
    others = (
        Alternative(name="sorted", resilver_s=Quantiles(p50=60.0)),
        Alternative(name="legacy", resilver_s=Quantiles(p50=1.0)),
    )
    found = advice.advice(baseline(), others, {"link": 100.0 - enough, "source": 1.0})
    assert [each.saves_s for each in found] == [40.0, 30.0]
    found = advice.advice(baseline(), (), {"link": 99.9 - enough})
    assert [each.saves_s for each in found] == [30.0, pytest.approx(enough + 0.1)]


def test_what_it_takes_without_the_stated_load_is_the_answer_times_the_ratio() -> None:
    class Bench(what_if.Baseline):
        def time(self, *, model: Any = None, release: Any = None, operation: Any = None) -> float:
            assert model.clients == ()
            assert self.case.load == ()
            return 0.25

    one = case(load=[{"kind": "random-read", "rate": 10, "size": "128K"}])
    plane = what_if.under(member.plane_model(one), one)
    run: Any = SimpleNamespace(model=plane, time_s=100.0)
    assert what_if.unloaded(Bench(one, None, run, answer_s=400.0)) == 100.0  # type: ignore[arg-type]
    assert what_if.unloaded(Bench(case(load="none"), None, run)) is None  # type: ignore[arg-type]


def test_records_of_other_sizes_are_tried_where_nobody_says_which_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter([50.0, 100.0, 25.0, 75.0])
    monkeypatch.setattr(what_if, "run_world", lambda *given: SimpleNamespace(time_s=next(times)))
    monkeypatch.setattr(what_if, "_of_records", lambda case, size: size)
    one = baseline(case=case(history="maildir"), answer_s=1000.0)
    found = what_if.other_records(one)
    assert list(found.values())[:2] == [2000.0, 500.0]
    assert set(found) <= set(what_if.RECORDS)
    for other in (case(), case(history="maildir", recordsize="128K")):
        assert what_if.other_records(baseline(case=other)) == {}


def test_records_for_which_there_is_no_room_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """That a pool so full could not hold them is no reason to refuse its own."""
    full: list[Any] = []

    def run(case: Any, *given: Any) -> Any:
        if case in full:
            raise NoRoomError("fill", "96 %", "no room")
        return SimpleNamespace(time_s=50.0)

    monkeypatch.setattr(what_if, "run_world", run)
    monkeypatch.setattr(what_if, "_of_records", lambda case, size: size)
    one = baseline(case=case(history="maildir"), answer_s=1000.0)
    every, largest = set(what_if.other_records(one)), what_if.RECORDS[-1]
    full.append(largest)
    assert set(what_if.other_records(one)) == every - {largest} < every
    full.append(one.case)
    assert what_if.other_records(one) == {}


# The first screen.

MONDAY = datetime(2026, 11, 16, 6, 0, 0)


def test_it_is_done_so_long_after_it_begins(prediction: Prediction) -> None:
    """13 to 22 hours, 17 at the median."""
    assert brief.finish(prediction, None) == ()
    assert brief.finish(prediction, MONDAY) == (
        "If started now: done about Mon 16 Nov 23:00 (Mon 16 Nov 19:00 to Tue 17 Nov 04:00).",
    )
    alone = prediction.model_copy(update={"resilver_s": Quantiles(p50=17 * HOUR)})
    assert brief.finish(alone, MONDAY) == ("If started now: done about Mon 16 Nov 23:00.",)
    assert brief._moment(datetime(2026, 12, 31, 12), 86400.0) == "Fri 01 Jan 2027 12:00"
    # The first such moment of the week from then on.
    assert brief._next(MONDAY, round(6 * HOUR)) == MONDAY
    # A moment some minutes ago is that at which the question was asked.
    assert brief._next(MONDAY, round(6 * HOUR) - 599) == datetime(2026, 11, 16, 5, 50, 1)
    assert brief._next(MONDAY, round(6 * HOUR) - 600) == datetime(2026, 11, 23, 5, 50)
    assert brief._next(datetime(2026, 11, 18, 6), 0) == datetime(2026, 11, 23)


def test_what_helps_most_is_the_first_that_saves_anything(prediction: Prediction) -> None:
    def said(*advice: Advice, **more: Any) -> str:
        return " ".join(brief._helps_most(prediction.model_copy(update={"advice": advice, **more})))

    one = Advice(action="do this", saves_s=0.0), Advice(action="do that", saves_s=HOUR, why="it helps")
    assert said(*one) == "What helps most: do that (saves about 1 h): it helps."
    assert said(Advice(action="do that", saves_s=HOUR)) == "What helps most: do that (saves about 1 h)."
    assert said(Advice(action="do this", saves_s=None)) == ""
    assert said(operation="scrub") == said(alternatives=()) == ""
    assert "no change of scan order" in said(operation="resilver")


def test_the_loudest_warning_is_cut_between_words(prediction: Prediction) -> None:
    def said(*warnings: str) -> tuple[str, ...]:
        return brief._loudest(prediction.model_copy(update={"warnings": warnings}))

    assert said() == ()
    assert said("beware.") == ("WARNING: beware.",)
    assert said("beware", "two", "three") == ("WARNING: beware. (2 more with --why)",)
    whole, more = "a " * 139 + "bc", "a " * 139 + "bcd"
    assert len(whole) == brief.LONGEST_WARNING
    assert said(whole) == (f"WARNING: {whole}.",)
    assert said(more) == (f"WARNING: {'a ' * 138}a ...",)


# Tables.


def test_a_figure_and_its_unit_are_never_parted() -> None:
    assert wrapped("takes 2 d 11 h in all", 12) == "takes\n2 d 11 h in\nall"
    assert wrapped("no more than 38 %", 16) == "no more than\n38 %"
    assert wrapped("short", 5) == "short"
    assert wrapped("one\ntwo words here", 9) == "one\ntwo words\nhere"
    assert wrapped("ab", 0) == "a\nb"


GRID = Grid(("key", "text", "number"), (("a", "some words here", "12.5"), ("bb", "x", "1")), frozenset({2}))


def test_columns_are_no_narrower_than_their_longest_word_or_figure() -> None:
    assert tables._least_widths(GRID) == [3, 5, 6]
    two = Grid(("a long head",), (("2 d 11 h",),))
    assert tables._least_widths(two) == [8]
    assert tables._of_two_lines("one two three") == 7
    assert tables._of_two_lines("") == 1


def test_a_table_that_is_too_wide_is_parted_and_repeats_its_keys() -> None:
    """3 + 5 + 6 characters and three gaps of two."""
    assert fitted(GRID, 20) == [GRID]
    first, second = fitted(GRID, 19)
    assert (first.head, second.head) == (("key", "text"), ("key", "number"))
    assert second.numeric == frozenset({1})
    assert second.rows == (("a", "12.5"), ("bb", "1"))
    two_keys = Grid(("k", "l", "text", "number"), (("a", "b", "some words here", "12.5"),), frozenset({3}), 2)
    assert [each.head for each in fitted(two_keys, 16)] == [("k", "l", "text"), ("k", "l", "number")]
    # Keys that take more than half of the width are not all repeated.
    assert tables._repeated([3, 3, 9], 2, 20) == 2
    assert tables._repeated([3, 4, 9], 2, 20) == 1
    assert tables._repeated([30], 1, 20) == 1


def test_room_goes_to_cells_before_heads_and_first_to_those_that_need_least() -> None:
    assert tables._widths(GRID, 20) == [3, 5, 6]
    assert tables._widths(GRID, 25) == [3, 10, 6]
    assert tables._widths(GRID, 100) == [3, 15, 6]
    heads = Grid(("a very long head", "b"), (("x", "y"),))
    assert tables._widths(heads, 100) == [16, 1]
    assert grid_text(GRID, 40).splitlines()[1].startswith("a")


def test_the_scale_of_a_result_is_that_of_its_population() -> None:
    """A correction of one where nothing lies in groups."""
    assert member.share_correction(case(), None) == 1.0  # type: ignore[arg-type]
    plan = WindowPlan()
    whole: Any = SimpleNamespace(damaged=SimpleNamespace(stands_for=0), scale=3.0)
    assert one_tile.as_tile(plan, case(), whole) is plan
    assert replace(plan, times=2.0).times == 2.0
