"""Exact runs: tiles put together are the pool, in the same bits however time is sliced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zsim.base.errors import NotSimulatedYet
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.runs.member import MemberResult
from zsim.scenario.model import Scenario

RELEASES = ["freebsd-9.1", "openzfs-2.3"]


def resolved(**stated: object) -> Case:
    scenario = Scenario.from_dict({"layout": "raidz1x4", "fill": 0.5, "drive_size": "20GB", **stated})
    return resolve(scenario)


def exact(one: Case, blocks: int) -> tuple[ExactRun, MemberResult]:
    run = ExactRun(one, lambda share, words: None, blocks=blocks, whole=0)
    return run, run.execute()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("layout", ["raidz1x4", "mirror2", "3*mirror2"])
def test_tiles_make_up_all_bytes_of_the_pool(release: str, layout: str) -> None:
    one = resolved(release=release, layout=layout)
    run, result = exact(one, 8_000)
    assert not run.tiling.single
    assert sum(1 for _ in run.tiling.tiles()) > 2
    placed = 0
    for tile in run.tiling.tiles():
        table = run.tiling.table(tile.base, first=tile.number == 0)
        placed += int(table.dva_asize[: tile.rows].sum())
    assert placed == pytest.approx(one.alloc, rel=0.001)
    assert result.scale == 1.0
    assert result.time_s > 0.0


@pytest.mark.parametrize("release", RELEASES)
def test_the_same_tiles_are_the_same_bits(release: str) -> None:
    one = resolved(release=release)
    _, first = exact(one, 8_000)
    _, second = exact(one, 8_000)
    assert first.time_s == second.time_s
    assert first.run.children == second.run.children


@pytest.mark.parametrize("release", RELEASES)
def test_time_may_be_sliced_in_any_way(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from zsim.engine.compiled import plane

    one = resolved(release=release)
    _, whole = exact(one, 8_000)
    advance = plane.CompiledPlane.advance
    monkeypatch.setattr(
        plane.CompiledPlane, "advance", lambda self, until, budget=0: advance(self, until, 997)
    )
    _, sliced = exact(one, 8_000)
    assert sliced.time_s == whole.time_s
    assert (sliced.run.leaves == whole.run.leaves).all()


def test_a_pool_no_larger_than_a_tile_is_run_as_it_is() -> None:
    run, result = exact(resolved(drive_size="4GB"), 150_000)
    assert run.tiling.single
    assert result.run.issued_blocks > 0


def test_memory_does_not_grow_with_the_pool() -> None:
    planes = []
    for size in ("20GB", "80GB"):
        run = ExactRun(resolved(drive_size=size), lambda share, words: None, blocks=8_000, whole=0)
        planes.append(
            sum(array.nbytes for array in vars(run.run.plane.memory).values() if hasattr(array, "nbytes"))
        )
    assert planes[1] < 1.3 * planes[0]


def test_what_only_samples_can_do_is_refused() -> None:
    one = resolved()
    with pytest.raises(NotSimulatedYet):
        ExactRun(replace(one, engine="reference"), lambda share, words: None, blocks=8_000, whole=0)


@pytest.mark.parametrize("release", ["freebsd-9.1", "openzfs-0.7", "openzfs-2.3"])
def test_a_second_replacement_takes_longer_in_tiles_too(release: str) -> None:
    _, alone = exact(resolved(release=release, layout="raidz2x5", drive_size="10GB"), 8_000)
    run, both = exact(resolved(release=release, layout="raidz2x5", drive_size="10GB", second_at=0.5), 8_000)
    assert not run.tiling.single
    assert both.time_s > 1.2 * alone.time_s
    # The last leaf is the second new drive: it holds as much as the first.
    first, second = both.run.leaves["scan_write_bytes"][-2:].tolist()
    assert second == pytest.approx(first, rel=0.5)


@pytest.mark.parametrize("release", RELEASES)
def test_clients_that_write_reach_the_log_in_tiles(release: str) -> None:
    run, result = exact(resolved(release=release, load=["sync-write,rate=50,size=8K"]), 8_000)
    assert not run.tiling.single
    assert run.setup.log_bytes > 8 << 10
    answered = sum(count for count, _ in result.run.clients)
    assert answered / result.time_s == pytest.approx(50.0, rel=0.3)


def test_a_shingled_drive_is_run_in_full() -> None:
    # The new drive's persistent cache of 20 GB fills up in the order of birth.
    stated = {"release": "openzfs-0.7", "drive_size": "60GB", "new_drive_size": "60GB"}
    _, shingled = exact(resolved(**stated, new_drive="generic-5400rpm-smr"), 8_000)
    assert float(shingled.run.leaves["cleaning"].sum()) > 0.0


def test_tiles_of_which_nothing_is_left_are_asked_for_no_more() -> None:
    run, result = exact(resolved(release="openzfs-2.3", drive_size="60GB"), 8_000)
    assert run.tiling.count > 20
    assert result.run.issued_bytes > 0
