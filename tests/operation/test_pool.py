"""What happens to a pool while an operation runs: processes beside the scan, on one environment."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zsim
from zsim.base.errors import InputError, NotSimulatedYet
from zsim.case.resolve import resolve
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.model import ClientModel, WriterModel
from zsim.engine.reference.plane import ReferencePlane
from zsim.operation.control import RunClock, Steps
from zsim.operation.pool import SimulatedPool
from zsim.operation.run import Run, RunResult, RunSetup, SecondReplacement
from zsim.operation.timeline import Happening, Pause, Replace, SetTunable
from zsim.operation.txg import SyncWrites, asize_of, vdev_asize
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import whole_setup
from zsim.scenario.model import Scenario

RECORDS = 100_000


@cache
def small(release: str = "openzfs-2.3", operation: str = "resilver", blocks: int = 3_000) -> RunSetup:
    """A raidz1 of small drives, with a pool of some seconds of work."""
    stated = {"layout": "raidz1x3", "fill": 0.5, "drive_size": "20GB", "write_cache": False}
    scenario = Scenario.from_dict({**stated, "release": release, "operation": operation})
    case = resolve(scenario)
    pool = miniature(case, blocks=blocks)
    return replace(whole_setup(case, pool.table, plane_model(case)), records=RECORDS)


@cache
def plain(release: str = "openzfs-2.3") -> RunResult:
    return Run(small(release)).finish()


def with_timeline(*happenings: Happening, release: str = "openzfs-2.3", **changes: Any) -> RunResult:
    return Run(replace(small(release), timeline=happenings, **changes)).finish()


def same(one: RunResult, two: RunResult) -> bool:
    return one.end == two.end and np.array_equal(one.records, two.records)


def scan_records(run: RunResult) -> Any:
    return run.records[run.records["scan"] == 1]


def test_a_process_that_only_watches_changes_nothing() -> None:
    seen: list[tuple[float, float]] = []

    def watch(pool: SimulatedPool) -> Steps:
        while True:
            seen.append((pool.elapsed, pool.share()))
            yield pool.environment.timeout(0.37)

    run = Run(small())
    run.pool.happen(watch(run.pool))
    result = run.finish()
    assert same(result, plain())
    moments, shares = map(list, zip(*seen, strict=True))
    assert len(seen) == int(result.end / 0.37) + 1
    assert moments == pytest.approx([0.37 * number for number in range(len(seen))])
    assert shares == sorted(shares)
    assert shares[-1] > 0.5


def test_a_tunable_set_to_what_it_is_changes_nothing() -> None:
    assert same(with_timeline(SetTunable(at=1.0, name="zfs_vdev_scrub_max_active", value=3)), plain())


@pytest.mark.parametrize(
    ("name", "value"),
    [("zfs_vdev_scrub_max_active", 1), ("zfs_scan_vdev_limit", 1 << 20), ("zfs_vdev_aggregation_limit", 0)],
)
def test_a_tunable_counts_from_its_moment_on(name: str, value: int) -> None:
    at = 0.5 * plain().end
    changed = with_timeline(SetTunable(at=at, name=name, value=value))
    always = Run(replace(small(), release=small().release.with_tunables({name: value}))).finish()
    assert changed.end != plain().end
    assert not same(changed, always)
    before = [run.records[run.records["done"] < at] for run in (changed, plain())]
    assert len(before[0]) > 100
    assert np.array_equal(*before)


def test_the_scan_stands_still_while_it_is_paused() -> None:
    at, seconds = 0.5 * plain().end, 40.0
    paused = with_timeline(Pause(at=at, seconds=seconds))
    assert paused.end == pytest.approx(plain().end + seconds, abs=8.0)
    longest = max(
        after - end for (_, _, end), (_, after, _) in zip(paused.phases, paused.phases[1:], strict=False)
    )
    assert seconds - 2.0 < longest <= seconds
    submitted = scan_records(paused)["submitted"]
    # What was in flight is repaired first, within a second.
    assert not ((submitted > at + 1.0) & (submitted < at + seconds)).any()
    assert ((submitted > at + seconds) & (submitted < at + seconds + 1.0)).any()
    assert paused.issued_bytes == plain().issued_bytes


def test_something_may_happen_at_a_share_of_the_scan() -> None:
    paused = with_timeline(Pause(share=0.5, seconds=100.0))
    assert paused.end > 90.0 + plain().end
    stop = next(end for (_, _, end), (_, after, _) in zip(paused.phases, paused.phases[1:], strict=False)
                if after > end + 90.0)  # fmt: skip
    done = next(each.issued_bytes for each in paused.progress if each.time == stop)
    assert 0.5 <= done / plain().issued_bytes < 0.95


def with_another(release: str) -> tuple[Any, int, int]:
    """Return the hardware with one more drive, the leaf that it is to replace, and its own."""
    model = small(release).model
    child = next(n for n, leaf in enumerate(model.vdevs[0].write_leaf) if leaf < 0)
    return replace(model, leaves=(*model.leaves, model.leaves[-1])), child, len(model.leaves)


@pytest.mark.parametrize("release", ["zol-0.7", "openzfs-2.3"])
@pytest.mark.parametrize("before_s", [1e-3, 0.0, -5.0])
def test_a_drive_replaced_at_the_very_end_is_repaired_whole(release: str, before_s: float) -> None:
    model, child, leaf = with_another(release)
    second = SecondReplacement(child=child, leaf=leaf, at=plain(release).end - before_s)
    written = with_timeline(release=release, model=model, second=second).leaves["scan_write_bytes"]
    assert written[leaf] == pytest.approx(written[leaf - 1], rel=0.01)


@pytest.mark.parametrize("release", ["zol-0.7", "openzfs-2.3", "openzfs-2.1"])
def test_a_drive_replaced_by_the_timeline_is_a_second_replacement(release: str) -> None:
    alone = plain(release)
    model, child, leaf = with_another(release)
    at = 0.4 * alone.end
    second = SecondReplacement(child=child, leaf=leaf, at=at)
    stated = with_timeline(release=release, model=model, second=second)
    happening = Replace(at=at, child=second.child, leaf=second.leaf)
    assert same(with_timeline(happening, release=release, model=model), stated)
    assert stated.end > 1.2 * alone.end
    assert stated.leaves["scan_write_bytes"][second.leaf] > 0


def test_deferring_switched_off_restarts_as_older_releases_do() -> None:
    model, child, leaf = with_another("openzfs-2.1")
    second = SecondReplacement(child=child, leaf=leaf, at=0.6 * plain("openzfs-2.1").end)
    setup = replace(small("openzfs-2.1"), model=model, second=second)
    restarts = setup.release.with_tunables({"zfs_resilver_disable_defer": 1})
    deferred, restarted = Run(setup).finish(), Run(replace(setup, release=restarts)).finish()
    # One pass from the start serves both drives; deferred, each has one of its own.
    assert restarted.end < deferred.end
    assert restarted.leaves["scan_write_bytes"][child] == 0.0
    assert restarted.leaves["scan_write_bytes"][leaf] == pytest.approx(
        deferred.leaves["scan_write_bytes"][leaf], rel=0.01
    )
    assert scan_records(restarted).size != scan_records(deferred).size


@pytest.mark.parametrize("release", ["zol-0.7", "openzfs-2.3"])
def test_both_engines_see_the_same_happen(release: str) -> None:
    setup = replace(
        small(release, blocks=300),
        timeline=(
            SetTunable(at=0.3, name="zfs_vdev_scrub_max_active", value=1),
            Pause(at=0.7, seconds=2.0),
            SetTunable(at=1.1, name="zfs_vdev_scrub_max_active", value=4),
        ),
    )
    assert same(Run(setup).finish(), Run(replace(setup, plane=ReferencePlane)).finish())


@pytest.mark.parametrize("release", ["zol-0.7", "openzfs-2.3"])
def test_a_scrub_of_several_vdevs_reads_every_copy_on_each_of_its_sides_once(release: str) -> None:
    """Whenever txgs end meanwhile; less what is rewritten before the scan comes to it, blocks of the MOS."""
    stated = {"layout": "2*mirror2", "fill": 0.5, "drive_size": "20GB", "write_cache": False}
    case = resolve(Scenario.from_dict({**stated, "release": release, "operation": "scrub"}))
    blocks = miniature(case, blocks=3_000).table
    result = Run(whole_setup(case, blocks, plane_model(case))).finish()
    assert result.txgs >= 3
    copies = blocks.dva_vdev >= 0
    stored = blocks.psize[:, None] * copies
    for vdev in (0, 1):
        mine = stored[copies & (blocks.dva_vdev == vdev)].sum()
        own = stored[(blocks.objset == 0)[:, None] & copies & (blocks.dva_vdev == vdev)].sum()
        for leaf in (2 * vdev, 2 * vdev + 1):
            read = result.leaves["scan_read_bytes"][leaf]
            # Small gaps are read with their neighbours, and thrown away.
            assert mine - own <= read <= 1.1 * mine
    names = {name for name, _, _ in result.phases}
    assert set(result.by_phase) == names


def test_a_writer_may_come_and_go() -> None:
    def load(pool: SimulatedPool) -> Steps:
        yield from pool.at(2.0)
        pool.set_writer(20e6)
        yield pool.environment.timeout(10.0)
        pool.set_writer(0.0)

    run = Run(small())
    run.pool.happen(load(run.pool))
    result = run.finish()
    others = [each.leaves["write_bytes"] - each.leaves["scan_write_bytes"] for each in (result, plain())]
    written = float((others[0] - others[1]).sum())
    # Two data columns and a parity of the 200 MB, or what of them came before the end.
    assert 20e6 < written < 1.6 * 20e6 * 10.0
    assert result.end > plain().end


def test_writers_wait_while_as_much_is_dirty_as_may_be() -> None:
    """What they would have written meanwhile is not made up for, so that txgs do not grow without end."""
    setup, most = small(), 8 << 20
    held = replace(setup.model, writer=WriterModel(rate=20e6, most_dirty_bytes=most))
    writes = SyncWrites(held, setup.txg_rules, [(0, 0)])
    first = writes.data_rows(100.0)
    again = writes.data_rows(100.1)
    assert first[:, 4].sum() < 3 * most
    assert again[:, 4].sum() == pytest.approx(first[:, 4].sum() * 2e6 / most, rel=0.1)


def test_a_writer_that_reaches_the_end_of_the_vdev_goes_on_at_its_beginning() -> None:
    setup, record = small(), 128 << 10
    writer = WriterModel(rate=20e6, most_dirty_bytes=1 << 30, record_bytes=record)
    writes = SyncWrites(replace(setup.model, writer=writer), setup.txg_rules, [(0, 0)])
    end = vdev_asize(setup.model, setup.model.vdevs[0])
    writes.data_cursors = [(0, end - 3 * asize_of(setup.model.vdevs[0], record))]
    rows = writes.data_rows(5.0)
    reached = rows[:, 3] + rows[:, 4]
    assert reached.max() <= min(leaf.drive.capacity_bytes for leaf in setup.model.leaves)
    assert rows[:, 3].min() < record
    assert 0 < writes.data_cursors[0][1] < end // 2


@cache
def with_readers() -> RunSetup:
    """A small pool with two kinds of clients, one that hardly ever pauses."""
    setup = small(blocks=300)
    readers = ClientModel(count=2, think_s=0.002, seed=3), ClientModel(count=3, think_s=0.3, seed=4)
    return replace(setup, model=replace(setup.model, clients=readers))


def come_and_go(pool: SimulatedPool) -> Steps:
    pool.set_clients(0, on=False)
    yield from pool.at(0.4)
    pool.set_clients(0, on=True)
    pool.set_clients(0, on=True)
    yield from pool.at(0.7)
    pool.set_clients(1, on=False)
    yield from pool.at(0.7005)
    pool.set_clients(1, on=True)
    yield from pool.at(1.0)
    pool.set_clients(0, on=False)


def test_clients_come_and_go_in_both_engines_alike() -> None:
    runs = []
    for plane in (CompiledPlane, ReferencePlane):
        run = Run(replace(with_readers(), plane=plane))
        run.pool.happen(come_and_go(run.pool))
        runs.append(run.finish())
    assert same(*runs)
    assert runs[0].clients == runs[1].clients
    records = runs[0].records
    reads = records["submitted"][(records["scan"] == 0) & (records["write"] == 0)]
    always = Run(with_readers()).finish()
    first, last = (sum(count for count, _ in run.clients[:2]) for run in (runs[0], always))
    assert 0 < first < last
    # While the first kind asks for nothing, there are the few reads of the second.
    busy, quiet = ((reads > 0.4) & (reads < 0.7)).sum(), ((reads > 0.1) & (reads < 0.4)).sum()
    assert busy > 2 * quiet


def test_what_cannot_happen_is_refused() -> None:
    run = Run(small())
    with pytest.raises(InputError, match="no_such_tunable"):
        run.pool.set_tunable("no_such_tunable", 1)
    scenario = Scenario.from_dict({"layout": "mirror2", "fill": 0.3, "operation": "rebuild"})
    case = resolve(scenario)
    rebuild = Run(whole_setup(case, miniature(case, blocks=500).table, plane_model(case)))
    with pytest.raises(NotSimulatedYet):
        rebuild.pool.replace(0, 1)
    with pytest.raises(NotSimulatedYet):
        rebuild.pool.pause()


def test_runs_and_planes_are_not_derived_from() -> None:
    """Sampled and exact runs feed the strategies; they are no kinds of runs or planes."""
    root = Path(zsim.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            bases = [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
            assert not {"Run", "CompiledPlane", "ReferencePlane", "LegacyScan", "SortedScan"} & set(bases), (
                path
            )


def test_time_passes_by_itself_only_where_nothing_waits() -> None:
    clock = RunClock()
    assert clock.pass_time(0.1)
    assert clock.pass_time(0.2)
    assert clock.now == 0.1 + 0.2
    clock.timeout(1.0)
    assert not clock.pass_time(0.5)
    assert clock.now == 0.1 + 0.2
