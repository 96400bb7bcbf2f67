"""Histories of some hundred blocks, whole after every step, and what each kind of step does to them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pool.kernels.pools import RECORD, check_whole, data_of, ran, recipe
from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import (
    AddVdev,
    FileSizes,
    Fill,
    KeepSnapshots,
    Overwrite,
    RecordClass,
    Refill,
    Remove,
    Snapshot,
    Step,
)
from zsim.pool.simulator.population import HistoryError, HistoryRun
from zsim.scenario.layout import VdevSpec

AGED: tuple[Step, ...] = (Fill(0.3), Overwrite(0.2), Remove(0.2), Fill(0.35))


@pytest.mark.parametrize("release", ["freebsd-9.1", "0.7.13", "2.3.9"])
@pytest.mark.parametrize("datasets", [1, 2])
def test_a_new_pool_is_whole(release: str, datasets: int) -> None:
    """Nothing on it but the MOS and the roots of its datasets."""
    history = HistoryRun(recipe(Fill(0.1), release=release, datasets=datasets), 1)
    table = check_whole(history)
    assert np.count_nonzero(table.level == -1) == 1 + datasets
    assert len(data_of(table)) == 0
    assert not history._memory.now["live_bytes"][0]


def test_a_pool_of_few_blocks_is_whole_after_every_step() -> None:
    made = recipe(Fill(0.12), Overwrite(0.3), Remove(0.3), Fill(0.15), units=60, txg_bytes=8 * RECORD)
    history = HistoryRun(made, 1)
    for step in made.steps:
        history.run(step)
        check_whole(history)


@pytest.mark.parametrize("release", ["freebsd-9.1", "0.6.5.11", "0.7.13", "2.1.5", "2.3.9", "2.4.4"])
def test_a_pool_is_whole_after_every_step(release: str) -> None:
    made = recipe(*AGED, release=release)
    history = HistoryRun(made, 1)
    check_whole(history)
    for step in made.steps:
        history.run(step)
        check_whole(history)


@pytest.mark.parametrize(("spec", "vdevs", "settings"), [
    (VdevSpec.raidz(1, 3), 1, {}),
    (VdevSpec.raidz(2, 6), 2, {"units": 60}),
    (VdevSpec.draid(1, 2, 5, 1), 1, {}),
    (VdevSpec.mirror(3), 2, {"datasets": 2, "units": 70}),
    (VdevSpec.mirror(2), 1, {"datasets": 3, "txg_step": 3, "request_records": 4}),
    (VdevSpec.mirror(2), 1, {"metadata_every": 3, "fill_parts": 2, "txg_bytes": 10 * RECORD}),
    (VdevSpec.mirror(2), 1, {"whole_files": False, "metadata_every": 2, "fill_parts": 2}),
    (VdevSpec.mirror(2), 1, {"files": FileSizes("fixed", 150 * RECORD), "units": 180}),
    (VdevSpec.mirror(2), 1, {"records": (RecordClass(4 * RECORD, ratios=((0.3, 0.5), (0.95, 0.5))),)}),
])  # fmt: skip
def test_a_pool_of_any_kind_is_whole(spec: VdevSpec, vdevs: int, settings: dict[str, object]) -> None:
    made = recipe(*AGED, spec=spec, vdevs=vdevs, **settings)
    history = HistoryRun(made, 1)
    for step in made.steps:
        history.run(step)
    check_whole(history)


def test_a_fill_ends_with_the_txg_and_the_file_that_reach_it() -> None:
    for fill in (0.2, 0.4):
        history = ran(recipe(Fill(fill)))
        most = history.recipe.txg_bytes + history.recipe.files.high
        assert fill <= history.fill < fill + 1.2 * most / history.recipe.space
        assert history.vdev_fills == [history.fill]
    before = len(data_of(history.table()))
    history.run(Fill(0.3))
    assert len(data_of(history.table())) == before, "one that is reached writes nothing more"


def test_a_txg_takes_so_many_bytes_and_ends_behind_a_whole_request() -> None:
    for request, most in ((1, 20), (3, 22)):
        table = data_of(ran(recipe(Fill(0.5), request_records=request)).table())
        born = np.unique(table.birth, return_counts=True)[1]
        assert (born[:-1] >= 20).all()
        assert (born[:-1] <= most).all()
        assert len(born) > 3
    assert len(set(born.tolist())) > 1


def test_txgs_go_on_by_their_step() -> None:
    table = data_of(ran(recipe(Fill(0.4), txg_step=3)).table())
    assert set(np.diff(np.unique(table.birth)).tolist()) == {3}


def test_files_are_shared_among_the_datasets_in_turn() -> None:
    table = data_of(ran(recipe(Fill(0.4), datasets=3)).table())
    for objset in np.unique(table.objset):
        items = np.unique(table.object[table.objset == objset])
        assert items.tolist() == list(range(1, len(items) + 1))
    assert len(np.unique(table.objset)) == 3


def rewritten(history: HistoryRun, *steps: Step) -> np.ndarray:
    """Return which of the records, in the order of the traversal, steps have written again."""
    before = int(history._memory.now["txg"][0])
    history.run(*steps)
    return data_of(history.table()).birth >= before


@pytest.mark.parametrize("by_file", [False, True])
def test_runs_are_as_long_as_they_are_to_be(by_file: bool) -> None:
    """Three records each, cut at the end of a file; two runs may touch."""
    step = Overwrite(0.02, 3, 3, by_file=by_file)
    history = ran(recipe(Fill(0.4)))
    again = rewritten(history, step)
    item = data_of(history.table()).object
    starts = np.flatnonzero(again & ~np.concatenate(([False], again[:-1])))
    for start in starts:
        length = int(np.argmin(np.append(again[start:], False)))
        cut = start + length == len(item) or item[start + length] != item[start + length - 1]
        assert length >= 3 or cut
    assert 0.02 * len(again) <= again.sum() <= 0.02 * len(again) + 3


def test_as_much_is_overwritten_as_was_asked_for() -> None:
    """Runs of one record, half as many as there are: some are drawn twice, and 1 - exp(-1/2) are written."""
    history = ran(recipe(Fill(0.6)))
    again = rewritten(history, Overwrite(0.5, 1, 1))
    assert again.mean() == pytest.approx(1 - np.exp(-0.5), abs=0.06)


def test_records_of_large_files_are_overwritten_as_often_and_files_alike_by_file() -> None:
    sizes = (RecordClass(RECORD, share=0.5, size_factor=0.1), RecordClass(RECORD, share=0.5, size_factor=1.0))
    made = recipe(Fill(0.5), records=sizes, files=FileSizes("fixed", 20 * RECORD))
    share = {}
    for by_file in (False, True):
        history = ran(made)
        again = rewritten(history, Overwrite(0.3, 1, 1, by_file=by_file))
        item = data_of(history.table()).object
        small = np.bincount(item)[item] < 10
        share[by_file] = again[small].mean() / again[~small].mean()
    assert share[False] == pytest.approx(1.0, abs=0.5)
    assert share[True] > 3.0


def living(history: HistoryRun) -> int:
    return int(history._memory.now["alive"][0])


def test_that_share_of_the_files_is_removed_or_one_more() -> None:
    history = ran(recipe(Fill(0.4)))
    before = living(history)
    history.run(Remove(0.5))
    assert living(history) in {before - before // 2, before - (before + 1) // 2}
    history.run(Remove(1.0))
    assert living(history) == 0
    assert len(data_of(history.table())) == 0
    history.run(Fill(0.4))
    check_whole(history)


def test_of_a_miniature_that_share_of_the_bytes_is_removed() -> None:
    removed = []
    for seed in range(4):
        history = ran(recipe(Fill(0.3), whole_files=False), seed)
        before = int(history._memory.now["live_bytes"][0])
        history.run(Remove(0.3))
        removed.append(1 - int(history._memory.now["live_bytes"][0]) / before)
    assert np.mean(removed) == pytest.approx(0.3, abs=0.06)
    assert len(set(removed)) > 1


def test_a_file_that_a_miniature_left_unfinished_is_gone_on_with() -> None:
    made = recipe(Fill(0.2), Fill(0.3), Fill(0.4), whole_files=False, files=FileSizes("fixed", 40 * RECORD))
    history = HistoryRun(made, 1)
    for step in made.steps:
        history.run(step)
        table = data_of(history.table())
        whole = np.bincount(table.object)[1:]
        assert (whole[:-1] == 40).all()
        # What the last txgs freed counted when it was reached.
        assert 0.75 * step.fraction < history.fill < step.fraction + 0.04
    assert len(whole) > 2


def test_a_refill_writes_until_there_is_as_much_as_after_the_last_fill() -> None:
    history = ran(recipe(Fill(0.4)))
    wanted = int(history._memory.now["live_bytes"][0])
    history.run(Overwrite(0.2), Remove(0.4))
    assert int(history._memory.now["live_bytes"][0]) < 0.8 * wanted
    history.run(Refill())
    assert wanted <= int(history._memory.now["live_bytes"][0]) < wanted + 40 * RECORD
    check_whole(history)


def test_a_snapshot_holds_what_was_there_and_lets_go_of_it_when_it_is_destroyed() -> None:
    steps = Fill(0.2), Snapshot(), Overwrite(0.3), Snapshot(), Overwrite(0.3)
    history = HistoryRun(recipe(*steps), 1)
    history.run(Fill(0.2), Snapshot())
    first = youngest(history)
    history.run(Overwrite(0.3), Snapshot())
    second = youngest(history)
    history.run(Overwrite(0.3))
    found = data_of(check_whole(history))
    assert first | second <= places(found), "every block of then is there"
    assert len(youngest(history)) == len(first)
    assert np.unique(found.objset).size == 3
    order = [found.birth[found.objset == each].max() for each in np.unique(found.objset)]
    assert order[1] < order[2] < order[0], "blocks are visited in the oldest snapshot that has them"
    history.run(KeepSnapshots(1))
    found = data_of(check_whole(history))
    assert second <= places(found)
    assert places(found) == second | youngest(history), "what only the first had is gone"
    history.run(KeepSnapshots(0))
    assert places(data_of(check_whole(history))) == youngest(history)


def places(table: BlockTable) -> set[tuple[int, int, int, int]]:
    """Return object, record, birth and address of blocks."""
    columns = table.object, table.blkid, table.birth, table.dva_offset[:, 0]
    return set(zip(*(column.tolist() for column in columns), strict=True))


def youngest(history: HistoryRun) -> set[tuple[int, int, int, int]]:
    """Return what is live: of each record the version written last."""
    found: dict[tuple[int, int], tuple[int, int, int, int]] = {}
    for each in sorted(places(data_of(history.table())), key=lambda place: place[2]):
        found[each[:2]] = each
    return set(found.values())


def test_what_was_removed_stays_as_long_as_a_snapshot_holds_it() -> None:
    history = HistoryRun(recipe(Fill(0.2), Snapshot(), Remove(1.0), KeepSnapshots(0)), 1)
    history.run(Fill(0.2), Snapshot())
    before = len(data_of(history.table()))
    history.run(Remove(1.0))
    assert len(data_of(check_whole(history))) == before
    history.run(KeepSnapshots(0))
    assert len(data_of(check_whole(history))) == 0


def test_a_vdev_that_is_added_has_nothing_before_and_then_takes_most() -> None:
    history = HistoryRun(recipe(Fill(0.2), AddVdev(1), Fill(0.3), vdevs=2, units=80), 1)
    history.run(Fill(0.2))
    assert history.vdev_fills[1] == 0.0
    history.run(AddVdev(1), Fill(0.3))
    check_whole(history)
    assert history.vdev_fills[1] > 0.1


def test_a_pool_without_room_and_one_without_files_say_so() -> None:
    with pytest.raises(HistoryError, match="no hole is large enough"):
        ran(recipe(Fill(1.0), Overwrite(0.5)))
    with pytest.raises(HistoryError, match="ask for a higher fill"):
        HistoryRun(recipe(Fill(0.1), files=FileSizes("fixed", 2 * RECORD)), 1).run(Fill(0.9))
