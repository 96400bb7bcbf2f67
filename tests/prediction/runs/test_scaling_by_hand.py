"""From a population to the pool against arithmetic by hand: samples of a rebuild, members, tiles, expansions."""  # noqa: E501

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.case.case import Case
from zsim.prediction.api import case_of
from zsim.prediction.inputs.clients import Now
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.runs import expanding, knobs, member, rebuilding
from zsim.prediction.runs import middle_world as middle
from zsim.prediction.runs.sampling.windows import WindowPlan
from zsim.scenario.model import Scenario


def case(**fields: Any) -> Case:
    """Return a dRAID of six columns, half full, whose distributed spare is rebuilt."""
    stated = {"layout": "draid2:4d:8c:1s", "drive": "generic-7200rpm-cmr", "drive_size": "4TB", "fill": 0.5}
    return case_of(Scenario.from_dict(stated | fields))


# Metaslabs of a rebuild.


class Table(SimpleNamespace):
    """A list of blocks of which few things are known."""

    def __len__(self) -> int:
        return len(self.dva_vdev)


class Sampling:
    """What metaslabs are asked for of a vdev of a thousand of 1024 bytes each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
        usual = {"limit": 15, "blocks": False, "count": 20, "scale": 100.0, "waits": False, "of": case()}
        for name, value in (usual | more).items():
            setattr(self, name, value)
        self.chosen = np.array([4, 5, 20, 21, 40, 41])
        self.wanted: tuple[int, int, int] = (0, 0, 0)
        self.laid: tuple[int, int] = (0, 0)
        self.edges: list[int] = []
        ranges = (np.array([0, 100]), np.array([90, 190]))
        window = SimpleNamespace(limit=self.limit, counts_blocks=self.blocks)
        for name, told in (
            ("vdev_capacity", SimpleNamespace(metaslab_shift=10, metaslab_count=1000)),
            ("degraded_share", 0.5), ("_chunk_bytes", 64), ("rebuild_window", window),
            ("allocated_ranges", ranges), ("damaged_vdev", None),
        ):  # fmt: skip
            monkeypatch.setattr(rebuilding, name, lambda *given, told=told: told)
        monkeypatch.setattr(rebuilding, "_chosen", self._choose)
        monkeypatch.setattr(rebuilding, "_laid_out", self._lay)
        monkeypatch.setattr(rebuilding, "chunks_of", self._chunks)

    def _choose(self, *wanted: int) -> Any:
        self.wanted = wanted  # type: ignore[assignment]
        return self.chosen

    def _lay(self, table: Any, level: Any, numbers: Any, size: int, part: int) -> Any:
        self.laid = size, part
        # A range in each, one from the last before into the first measured, two at the end of those measured.
        begin = np.append(numbers * 1024, [5 * 1024 - 10, 41 * 1024 - 50, 41 * 1024 - 10])
        return begin, begin + np.append(np.full(len(numbers), 100), [20, 50, 20])

    def _chunks(self, begin: Any, *given: Any, **named: Any) -> Any:
        self.edges = begin.tolist()
        assert named["metaslab_bytes"] == 1024
        return SimpleNamespace(metaslab=np.array([4, 4, 5, 40, 41]), psize=np.array([1, 2, 4, 8, 16]))

    def __call__(self) -> rebuilding.MetaslabSample:
        """Return the sample: 6000 bytes lie on the damaged vdev, others elsewhere."""
        vdev = np.zeros((self.count, 2), np.int64)  # type: ignore[attr-defined]
        vdev[:, 1] = 1
        asize = np.full(vdev.shape, 6000.0 / self.count)  # type: ignore[attr-defined]
        table: Any = Table(
            dva_vdev=vdev, dva_asize=asize, is_metadata=np.zeros(1, bool), psize=np.array([128])
        )
        pool: Any = SimpleNamespace(scale=self.scale, table=table, damaged=SimpleNamespace(unit=10))  # type: ignore[attr-defined]
        one: Any = self.of  # type: ignore[attr-defined]
        release = SimpleNamespace(
            rebuild_waits=self.waits, tunables={"zfs_rebuild_max_segment": 1 << 20}  # type: ignore[attr-defined]
        )  # fmt: skip
        known: Any = SimpleNamespace(
            layout=one.layout, damaged_size=one.damaged_size, replace=1, memory=1 << 30, fill=one.fill, release=release  # noqa: E501
        )  # fmt: skip
        return rebuilding.sampled_metaslabs(known, pool, SimpleNamespace(vdevs=[None]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "part", "wanted", "around", "in_flight"),
    [
        # 80 windows of 15 bytes are eight: 120 of 200 bytes a metaslab.  600 bytes are half of the blocks.
        ({}, 614, 5, 1, 15),
        # Four windows of 300 are more than there is; 1.5 x 300 go before and behind, 6 x 300 are measured.
        ({"limit": 300}, 1024, 9, 3, 300),
        # A window of blocks: five chunks of 64 bytes.
        ({"limit": 5, "blocks": True}, 1024, 10, 3, 320),
        # Two windows at least: 600 of 2000 bytes.
        ({"limit": 300, "count": 2, "scale": 1000.0}, 307, 3, 1, 300),
        # What is waited for has nothing in flight between metaslabs.
        ({"limit": 300, "waits": True}, 1024, 3, 0, 0),
    ],
)  # fmt: skip
def test_as_many_metaslabs_are_rebuilt_as_show_what_is_in_flight(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, Any], part: int, wanted: int, around: int,
    in_flight: int,
) -> None:  # fmt: skip
    """Ranges of 90 bytes hold 60 of data; half of the groups are degraded, and 4 of 6 columns data."""
    asked = Sampling(monkeypatch, **known)
    found = asked()
    assert (asked.laid, asked.wanted) == ((1024, part), (1000, wanted, around))
    assert found.repaired_bytes == pytest.approx(asked.scale * 6000.0 * 0.5 * 4.0 / 6.0)  # type: ignore[attr-defined]
    assert (found.in_flight, found.metaslabs, found.of, found.metaslab_shift) == (in_flight, 6, 1000, 10)


@pytest.mark.parametrize(
    ("pieces", "part", "wanted", "around"), [(5.0, 307, 3, 1), (4.0, 153, 4, 1)]
)  # fmt: skip
def test_of_many_pieces_in_flight_one_window_tells_enough(
    monkeypatch: pytest.MonkeyPatch, pieces: float, part: int, wanted: int, around: int
) -> None:
    """300 bytes are five pieces of 60: one window of 2000 bytes, of which one goes before."""
    monkeypatch.setattr(rebuilding, "MANY_PIECES", pieces)
    asked = Sampling(monkeypatch, limit=300, count=2, scale=1000.0)
    asked()
    assert (asked.laid[1], asked.wanted) == (part, (1000, wanted, around))


def test_what_lies_before_and_behind_those_measured_is_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """One goes before metaslab 5 and one behind 40: ranges that reach into them are looked at."""
    asked = Sampling(monkeypatch)
    found = asked()
    assert asked.edges == [4 * 1024, 41 * 1024, 5 * 1024 - 10, 41 * 1024 - 10]
    assert (found.before, found.behind) == (3.0, 16.0)
    assert len(found.table) == 9
    asked.chosen = np.arange(1000)
    whole = asked()
    assert (whole.before, whole.behind) == (0.0, 0.0), "of all nothing is left out"
    waits = Sampling(monkeypatch, waits=True)()
    assert (waits.before, waits.behind) == (0.0, 0.0)


def test_a_full_pool_is_one_range_a_metaslab_in_whole_units(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Sampling(monkeypatch, of=case(fill=rebuilding.FULL), waits=True)
    asked.chosen = np.array([1, 3])
    found = asked()
    # 1024 and 3072 in whole units of ten, and of 614 bytes as many of these.
    assert found.table.dva_offset[:, 0].tolist() == [1030, 3080]
    assert found.table.dva_asize[:, 0].tolist() == [610, 610]


# Members.


def phases(*spans: tuple[float, float], name: str = "issue") -> list[tuple[str, float, float]]:
    """Return slices of a phase."""
    return [(name, begin, end) for begin, end in spans]


@pytest.mark.parametrize(
    ("second", "restart", "slices", "ends"),
    [
        (None, "defer", 3, [1.0, 50.0, 2.0]),
        ("it", "restart", 3, [1.0, 50.0, 2.0]),
        ("it", "defer", 3, [1.0, 2.0]),
        ("it", "defer", 2, [1.0]),
        ("it", "defer", 1, [63.0]),
    ],
)
def test_the_wait_between_two_passes_is_no_end_of_a_txg(
    second: Any, restart: str, slices: int, ends: list[float]
) -> None:
    """Gaps of 1, 50 and 2 s behind slices of 5 s; a single one is what it is."""
    run: Any = SimpleNamespace(phases=phases((0, 5), (6, 11), (61, 66))[:slices], end=68.0)
    setup: Any = SimpleNamespace(second=second, release=SimpleNamespace(resilver_restart=restart))
    assert [gap for _, gap in member._ends(run, setup)] == ends


def test_limits_that_grow_with_the_pool_are_divided_by_its_scale() -> None:
    release = case(release="openzfs-2.3").release.with_tunables(
        {"zfs_scan_mem_lim_min": 1000, "zfs_scan_checkpoint_intval": 7200}
    )
    for scale, least, checkpoint in ((3.0, 333, 2400), (120.0, 8, 60), (1e6, 1, 60), (121.0, 8, 60)):
        found = member.scaled_limits(release, scale).tunables
        assert (found["zfs_scan_mem_lim_min"], found["zfs_scan_checkpoint_intval"]) == (least, checkpoint)
    one = replace(case(release="openzfs-2.3", memory="64G"), release=release)
    pool: Any = SimpleNamespace(
        table="blocks", scale=10.0, visited="walk", asked="reads", walked=2.5, collected=lambda operation: 1.0
    )
    found = member.setup_of(one, pool, "plane")  # type: ignore[arg-type]
    assert (found.memory, found.visited, found.blocks) == (int(one.memory / 10.0), "walk", "blocks")
    assert (found.asked, found.walked) == ("reads", 2.5)
    assert found.release.tunables["zfs_scan_mem_lim_min"] == 100
    # Of a scrub of three times as many vdevs the pool collects three times as much.
    pool.collected = lambda operation: 3.0
    assert member.setup_of(one, pool, "plane").memory == int(one.memory / 30.0)  # type: ignore[arg-type]
    assert (found.operation, found.seed, found.plane) == (one.operation, one.seed, member.CompiledPlane)


def test_a_second_replacement_at_the_start_needs_no_run_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    run = SimpleNamespace(finish=lambda: SimpleNamespace(end=400.0))
    monkeypatch.setattr(member, "Run", lambda setup: run)
    assert member._second(case(layout="raidz2x6", second_at=0.25), "setup").at == 100.0  # type: ignore[arg-type]
    monkeypatch.setattr(member, "Run", None)
    assert member._second(case(layout="raidz2x6", second_at=0.0), "setup").at == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rate", "flushes", "is_left"), [(0.0, False, False), (1.0, False, True), (0.0, True, True)]
)
def test_the_end_of_a_txg_finishes_what_is_cached_or_written_by_clients(
    rate: float, flushes: bool, is_left: bool
) -> None:
    setup: Any = SimpleNamespace(model=SimpleNamespace(writer=SimpleNamespace(rate=rate)), flushes=flushes)
    assert member._left_over(setup) is is_left


class Copying:
    """A run of a miniature that copies for 4 s of 6 s."""

    made: list[Any]

    def __init__(self, *given: Any, work: Any = None) -> None:
        type(self).made = [*given, work]

    def finish(self) -> Any:
        return SimpleNamespace(phases=phases((0.0, 3.0), (4.0, 5.0)), end=6.0)


MINIATURE: Any = SimpleNamespace(scale=10.0, table=None, levels={}, damaged=None)


def test_of_a_removal_copying_grows_with_the_bytes_and_the_last_txgs_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(member, "Run", Copying)
    monkeypatch.setattr(member, "RemovalWork", lambda *given: given[1])
    monkeypatch.setattr(member, "_copying_setup", lambda *given: "setup")
    one = case(layout="4*mirror2", operation="remove", fill=0.3)
    found = member.run_member(one, pool=MINIATURE, model="plane")  # type: ignore[arg-type]
    assert (found.time_s, found.visit_s, found.issue_s, found.sync_s) == (42.0, 0.0, 40.0, 2.0)
    assert (found.scale, found.span_s) == (10.0, 6.0)
    assert Copying.made == ["setup", None], "without levels there are none"
    done = SimpleNamespace(phases=phases((0.0, 4.0)), end=4.0)
    monkeypatch.setattr(Copying, "finish", lambda self: done)
    found = member.run_member(one, pool=MINIATURE, model="plane")  # type: ignore[arg-type]
    assert (found.time_s, found.sync_s) == (40.0, 0.0)


def test_of_an_expansion_copying_and_the_txgs_of_its_start_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    told = expanding.ExpansionRun(40.0, 7.0, 3, "run")  # type: ignore[arg-type]
    monkeypatch.setattr(member, "expansion_of", lambda *given: told)
    monkeypatch.setattr(member, "_copying_setup", lambda *given: "setup")
    one = case(layout="raidz1x4", operation="expand", release="openzfs-2.3")
    found = member.run_member(one, pool=MINIATURE, model="plane")  # type: ignore[arg-type]
    assert (found.time_s, found.visit_s, found.issue_s, found.sync_s) == (47.0, 0.0, 40.0, 7.0)
    assert (found.scale, found.run) == (10.0, "run")


def test_a_rebuild_is_what_its_copying_and_its_waits_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the bytes is there: caches are those of a tenth of the pool, metaslabs as they are."""
    reduced: list[Any] = []
    sample = SimpleNamespace(scale=10.0, metaslab_shift=30, table=[])
    monkeypatch.setattr(member, "sampled_metaslabs", lambda *given: sample)
    monkeypatch.setattr(member, "in_miniature", lambda *given, in_order: reduced.append((given, in_order)))
    monkeypatch.setattr(member, "cursors_of", lambda pool: ())
    monkeypatch.setattr(member, "Run", Copying)
    monkeypatch.setattr(member, "scaled_rebuild", lambda run, given: (80.0, 20.0, 3.0))
    one = case(layout="mirror2", operation="rebuild")
    pool: Any = SimpleNamespace(**{**vars(MINIATURE), "asked": "what clients read"})
    found = member.run_member(one, pool=pool, model="plane")  # type: ignore[arg-type]
    assert Copying.made[0].asked == "what clients read"
    assert reduced == [(("plane", 10.0, one.member.shingling, float(one.damaged_size)), True)]
    assert (found.time_s, found.visit_s, found.issue_s, found.sync_s) == (100.0, 0.0, 80.0, 20.0)
    assert (found.scale, found.model) == (3.0, "plane")
    assert (Copying.made[0].operation, Copying.made[0].metaslab_shift) == ("rebuild", 30)


HOURLY = {"kind": "random-read", "rate": 10, "hours": "mon-fri 08:00-18:00"}


def by_hours(
    monkeypatch: pytest.MonkeyPatch, moments: list[tuple[Now, float, float]]
) -> tuple[member.MemberResult, list[Any]]:
    """Return what moments of such shares and durations make of a run, and under what was run."""
    one = case(layout="raidz2x6", load=[HOURLY], begins="monday 06:00")
    durations = {now: time_s for now, _, time_s in moments}
    ran: list[Any] = []

    def result(here: Any, *, pool: Any, model: Any) -> Any:
        del pool
        ran.append(here)
        time_s = durations[Now(here.load, ())] if Now(here.load, ()) in durations else moments[0][2]
        return member.MemberResult(
            time_s, 0.2 * time_s, 0.7 * time_s, 0.1 * time_s, 3.0, time_s, model  # type: ignore[arg-type]
        )  # fmt: skip

    def spans(given: Any, time_of: Any) -> Any:
        assert [time_of(now) for now, _, _ in moments * 2] == [time_s for *_, time_s in moments * 2]
        return [(now, share, share * time_s) for now, share, time_s in moments]

    monkeypatch.setattr(member, "spans", spans)
    monkeypatch.setattr(member, "run_member", result)
    return member._by_hours(one, MINIATURE, plane_model(one)), ran


def under_load(rate: float) -> Now:
    """Return a moment in which clients ask so often."""
    one = case(layout="raidz2x6", load=[{**HOURLY, "rate": rate}], begins="monday 06:00")
    return Now((one.load[0].model_copy(update={"hours": None}),), ())


def test_under_hours_each_moment_counts_by_the_work_done_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half idle at 1000 s in all, a quarter each under loads at 100 and 400 s: 500 s, 25 s and 100 s."""
    moments = [(Now((), ()), 0.5, 1000.0), (under_load(10), 0.25, 100.0), (under_load(20), 0.25, 400.0)]
    found, ran = by_hours(monkeypatch, moments)
    assert found.time_s == 625.0
    assert (found.visit_s, found.issue_s, found.sync_s) == pytest.approx((125.0, 437.5, 62.5))
    assert found.run == 400.0, "of those under a load the longest is shown"
    assert [(here.load, here.timed) for here in ran] == [(now.loads, ()) for now, *_ in moments], "each once"
    alone, _ = by_hours(monkeypatch, moments[:1])
    assert (alone.time_s, alone.run) == (500.0, 1000.0)


def test_tunables_of_an_hour_hold_in_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    now = Now((), (("zfs_vdev_scrub_max_active", 7),))
    _, [here] = by_hours(monkeypatch, [(now, 1.0, 100.0)])
    assert here.release.tunables["zfs_vdev_scrub_max_active"] == 7


@pytest.mark.parametrize(
    ("fields", "in_order", "second"),
    [({}, True, None), ({"second_at": 0.0}, True, 0.0), ({"release": "zol-0.7"}, False, None)],
)
def test_a_member_is_run_in_the_order_of_its_release_and_scaled_by_what_it_repairs(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], in_order: bool, second: float | None
) -> None:
    """Ten times the miniature, of which one and a half times as much is repaired."""
    one = case(layout="raidz2x6", **({"release": "openzfs-2.2"} | fields))
    pool: Any = SimpleNamespace(
        scale=10.0, table="blocks", visited=None, asked=None, walked=1.0, collected=lambda operation: 1.0
    )
    monkeypatch.setattr(member, "_small", lambda *given, in_order: in_order)
    monkeypatch.setattr(member, "run_and_quiet", lambda setup: ("run", 0.5))
    monkeypatch.setattr(member, "share_correction", lambda given, pool: 1.5)
    monkeypatch.setattr(member, "scaled", lambda *given, **named: (given, named))
    (run, scale, model, setup), named = member.run_member(one, pool=pool, model="plane")  # type: ignore[misc, arg-type]
    assert (run, scale, model, setup.model) == ("run", 10.0, "plane", in_order)
    assert setup.release.openzfs_version == one.release.openzfs_version
    assert named == {"quiet_s": 0.5, "repaired": 15.0}
    assert (None if setup.second is None else setup.second.at) == second


@pytest.mark.parametrize(("lost", "correction"), [(20.0, 1.5), (0.0, 1.0)])
def test_a_draid_repairs_the_share_of_all_its_groups(
    monkeypatch: pytest.MonkeyPatch, lost: float, correction: float
) -> None:
    """Of 100 bytes of the miniature 20 are degraded, of the vdev 30 in a hundred."""
    monkeypatch.setattr(member, "degraded_bytes", lambda given, table: (100.0, lost))
    monkeypatch.setattr(member, "degraded_share", lambda spec, failed: 0.3)
    one = case(operation="resilver", target="new-drive")
    assert member.share_correction(one, MINIATURE) == pytest.approx(correction)


# Expansions.


def test_copying_of_an_expansion_grows_with_the_bytes_and_each_txg_of_its_start_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """4 s of copying 800 bytes and 2 s for a txg; at ten times that, four txgs of the start and the last."""
    one = case(layout="raidz1x4", operation="expand", release="openzfs-2.3")
    asked: list[Any] = []

    def starting(reflow: Any, space: int, filled: float, rate: float, timeout: float) -> int:
        asked.append((space, filled, rate, timeout))
        return 4

    monkeypatch.setattr(expanding, "_ranges", lambda setup: SimpleNamespace(bytes=800))
    monkeypatch.setattr(expanding, "with_maps", lambda setup: setup)
    monkeypatch.setattr(expanding, "ExpansionWork", lambda setup, reflow, freely: freely)
    monkeypatch.setattr(expanding, "Run", Copying)
    monkeypatch.setattr(expanding, "starting_txgs", starting)
    found = expanding.expansion_of(one, "setup", 10.0)  # type: ignore[arg-type]
    assert (found.copying_s, found.waiting_s, found.starting_txgs) == (40.0, 10.0, 4)
    space = 4 * one.drive_size
    assert asked == [(space, 8000.0 / space, 200.0, float(one.release.tunables["zfs_txg_timeout"]))]
    assert Copying.made == ["setup", True]
    done = SimpleNamespace(phases=phases((0.0, 4.0)), end=4.0)
    monkeypatch.setattr(Copying, "finish", lambda self: done)
    assert expanding.expansion_of(one, "setup", 10.0).waiting_s == 0.0  # type: ignore[arg-type]


# Tiles.


def tiles(**known: Any) -> middle.MiddleWorld:
    """Return a middle world of a large pool, of which nothing was run."""
    pool: Any = SimpleNamespace(scale=1000.0, table=range(2 * middle.SMALL_BLOCKS))
    usual = {"model": None, "pool": pool, "blocks": 10, "progress": None}
    return middle.MiddleWorld(**({"case": case(layout="raidz2x6")} | usual | known))  # type: ignore[arg-type]


def ran(time_s: float, half_s: float = 0.0, **more: Any) -> Any:
    """Return a tile that was run."""
    usual = {"known": True, "covered": 0.3, "crowded": False, "streams": [], "most": lambda: 0}
    return SimpleNamespace(time_s=time_s, half_width_s=half_s, **(usual | more))


def test_windows_of_a_pool_that_is_there_whole_are_all_of_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middle, "is_whole", lambda given, pool: True)
    assert tiles(runs=[ran(100.0, 3.0), ran(100.0, 4.0)]).half_width_s == 2.5


def test_what_windows_have_seen_of_all_populations_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 3 and 4 s leave 2.5 s; of four populations 0.6 were seen: sqrt(1 - 0.15) of that.

    Two of four are left, each as far from the others as two tiles, 0.8 and 1.25 times their mean, are.
    """
    monkeypatch.setattr(middle, "is_whole", lambda given, pool: False)
    monkeypatch.setattr(middle, "POPULATIONS", 4)
    two = tiles(runs=[ran(80.0, 3.0), ran(125.0, 4.0)])
    spread = math.log(1.25) * math.sqrt(2.0) / math.sqrt(2.0) * math.sqrt(0.5)
    between = middle.student(1) * spread
    assert two._between() == pytest.approx(between)
    assert two.half_width_s == pytest.approx(math.hypot(2.5 * math.sqrt(0.85), between * 102.5))
    seen = tiles(runs=[ran(80.0, 3.0, covered=9.0), ran(80.0, 4.0, covered=9.0)])
    assert seen.half_width_s == pytest.approx(2.5 * math.sqrt(1.0 - middle.MOST_SEEN))
    # Small miniatures tell of one alone, as far as it has more blocks; one of them tells nothing.
    one = tiles(runs=[ran(100.0)], small=[80.0, 125.0, 100.0])
    spread = math.log(1.25) * math.sqrt(0.5) * math.sqrt(0.75)
    assert one._between() == pytest.approx(middle.student(2) * spread)
    assert tiles(runs=[ran(100.0)], small=[80.0])._between() == 0.0
    small = tiles(runs=[ran(100.0)], small=[80.0, 125.0, 100.0])
    small.pool = SimpleNamespace(scale=1000.0, table=range(10))  # type: ignore[assignment]
    assert small._between() == pytest.approx(middle.student(2) * spread * math.sqrt(2.0)), "as they are"


def test_tiles_are_sampled_until_they_are_as_precise_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third is; one alone tells nothing of others; a pool that is there whole is sampled once."""
    monkeypatch.setattr(middle, "is_whole", lambda given, pool: False)
    plans: list[WindowPlan] = []

    def executed(self: Any, number: int, plan: WindowPlan) -> str:
        plans.append(plan)
        self.runs.append(ran(100.0))
        return f"result {number}"

    def precise(self: Any, wanted: float) -> bool:
        assert wanted == pytest.approx(0.01 / math.sqrt(3.0))
        return len(self.runs) in {1, 3}

    monkeypatch.setattr(middle.MiddleWorld, "_executed", executed)
    monkeypatch.setattr(middle.MiddleWorld, "_precise", precise)
    made = tiles(case=case(layout="raidz2x6", precision=0.01))
    made.execute()
    assert (len(made.runs), made.first, made.small) == (3, "result 0", [])
    assert {(plan.operations, plan.most) for plan in plans} == {(middle.MOST_OPERATIONS,) * 2}
    assert plans[0].precision == pytest.approx(0.01 / math.sqrt(3.0))
    monkeypatch.setattr(middle, "is_whole", lambda given, pool: True)
    whole = tiles(case=case(layout="raidz2x6", precision=0.01))
    whole.execute()
    assert len(whole.runs) == 1


@pytest.mark.parametrize(("is_whole", "small"), [(False, [7.0]), (True, [])])
def test_without_a_precision_one_tile_is_sampled_beside_small_populations(
    monkeypatch: pytest.MonkeyPatch, is_whole: bool, small: list[float]
) -> None:
    monkeypatch.setattr(middle, "is_whole", lambda given, pool: is_whole)
    monkeypatch.setattr(middle.MiddleWorld, "_run_small", lambda self: self.small.append(7.0))
    monkeypatch.setattr(middle.MiddleWorld, "_run", lambda self, *given, **named: ran(100.0, finish=str))
    made = tiles()
    made.execute()
    assert (len(made.runs), made.small) == (1, small)


@pytest.mark.parametrize(("operations", "runs"), [(10, 2), (11, 1)])
def test_windows_that_are_crowded_and_not_precise_give_way_to_all_of_it(
    monkeypatch: pytest.MonkeyPatch, operations: int, runs: int
) -> None:
    """As far as it is not more than may be simulated: ten operations in two streams."""
    monkeypatch.setattr(middle, "MOST_OPERATIONS", 0)
    monkeypatch.setattr(middle, "is_whole", lambda given, pool: True)
    plans: list[WindowPlan] = []

    def made(self: Any, number: int, plan: WindowPlan) -> Any:
        plans.append(plan)
        streams = [range(operations - 4), range(4)]
        return ran(100.0, 50.0, crowded=True, streams=streams, most=lambda: 10, finish=lambda: len(plans))

    monkeypatch.setattr(middle.MiddleWorld, "_run", made)
    found = tiles()
    found.execute()
    assert (len(plans), len(found.runs), found.first) == (runs, 1, runs)
    assert (plans[-1].whole > 10**12) is (runs == 2)


def test_tiles_that_are_run_whole_tell_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[float, float]] = []
    monkeypatch.setattr(middle.MiddleWorld, "_run_small", lambda self: self.small.append(7.0))
    monkeypatch.setattr(
        middle.MiddleWorld, "_run", lambda self, number, plan, quiet: ran(1.0, finish=lambda: f"of {number}")
    )
    made = tiles(tiled=True, progress=lambda now, share: told.append((now, share)))
    made.execute()
    assert told == [(0.0, (number + 1) / middle.TILES) for number in range(middle.TILES)]
    assert (len(made.runs), made.first, made.small) == (middle.TILES, "of 0", [7.0])


def test_small_populations_have_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def reduced(one: Any, *, blocks: int) -> int:
        asked.append((one.seed, blocks))
        return one.seed  # type: ignore[no-any-return]

    monkeypatch.setattr(middle, "miniature", reduced)
    monkeypatch.setattr(middle, "run_pool", lambda one, pool, model: SimpleNamespace(time_s=float(pool)))
    made = tiles()
    made._run_small()
    seeds = [made.case.seed + number for number in range(middle.SMALL_REPEATS)]
    assert asked == [(seed, middle.SMALL_BLOCKS) for seed in seeds]
    assert made.small == [float(seed) for seed in seeds]


# Knobs.


def test_knobs_are_tried_on_worlds_of_neighbouring_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "_world", lambda given: given.seed)
    one = case(layout="raidz2x6")
    assert knobs._worlds(one, range(1, 3)) == [one.seed + 1, one.seed + 2]
    monkeypatch.setattr(knobs, "_watched", lambda seed: -seed)
    assert knobs.worlds_of(one) == [-one.seed - number for number in range(knobs.WORLDS)]


def test_the_longest_of_a_hundred_waits_is_that_of_all_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    """On two drives 99 waits in the first bin, and the hundredth in the seventh."""
    waits = np.zeros((2, 9), np.int64)
    waits[0, 0], waits[1, 0], waits[1, 6] = 60, 38, 2
    run = SimpleNamespace(
        execute_for=lambda seconds: SimpleNamespace(waits=waits if seconds == knobs.WATCH_S else None),
        release=lambda: None,
    )
    monkeypatch.setattr(knobs, "Run", lambda setup: run)
    monkeypatch.setattr(knobs, "setup_of", lambda *given: None)
    busy: Any = SimpleNamespace(clients=("one",))
    found = knobs._p99(case(layout="raidz2x6"), None, busy)  # type: ignore[arg-type]
    assert found == knobs.percentiles(waits.sum(axis=0)).p99  # type: ignore[union-attr]
    assert found > knobs.percentiles(waits[:1].sum(axis=0)).p99  # type: ignore[union-attr, operator]
    waits[:] = 0
    assert knobs._p99(case(layout="raidz2x6"), None, busy) is None  # type: ignore[arg-type]
    monkeypatch.setattr(knobs, "Run", None)
    assert knobs._p99(case(), None, busy) is None, "a rebuild is not watched"  # type: ignore[arg-type]
    assert knobs._p99(case(layout="raidz2x6"), None, SimpleNamespace(clients=())) is None  # type: ignore[arg-type]
