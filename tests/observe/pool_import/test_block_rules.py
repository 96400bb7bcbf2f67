"""Rules of what blocks, datasets and lists tell: a use, a record size, sectors, fragmentation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.observe.pool_import.test_space_rules import disk, group, listed, with_child
from zsim.observe.pool_import import blocks
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.given.files import PoolFiles
from zsim.observe.pool_import.layout import Tops
from zsim.observe.zdb.blocks import BlockStatistics, SizeRow, TypeRow
from zsim.observe.zdb.pointers import PointerSummary
from zsim.observe.zpool import datasets
from zsim.observe.zpool.properties import FullestRecordSize, KnownProperty, record_of, small_blocks_of
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import Vdev

# Blocks.


def sizes(**more: Any) -> blocks.DataSizes:
    """Return sizes of blocks of whole records of 128K."""
    usual = {"recordsize": 1 << 17, "mean_lsize": float(1 << 17), "mean_psize": 1e5, "volume_share": 0.0,
             "metadata_share": 0.0, "source": "zdb"}  # fmt: skip
    return blocks.DataSizes(**(usual | more))


@pytest.mark.parametrize(
    ("more", "history"),
    [
        ({}, None), ({"volume_share": 0.51}, "vm-host"), ({"volume_share": 0.5}, None),
        ({"mean_lsize": 1e4, "mean_psize": 49151.0, "metadata_share": 0.011}, "maildir"),
        ({"mean_lsize": 1e4, "mean_psize": 49152.0, "metadata_share": 0.011}, None),
        ({"mean_lsize": 1e4, "mean_psize": 49151.0, "metadata_share": 0.01}, None),
        ({"mean_psize": 49151.0, "metadata_share": 0.011}, None),
        ({"recordsize": 1 << 14, "mean_lsize": 16384.0}, "database"),
        ({"recordsize": 1 << 15, "mean_lsize": 32768.0}, None),
        ({"recordsize": 1 << 14, "mean_lsize": 14745.0}, None),
        ({"recordsize": 1 << 19}, "media-server"), ({"recordsize": 1 << 18}, None),
    ],
)  # fmt: skip
def test_blocks_suggest_a_use(more: dict[str, Any], history: str | None) -> None:
    assert blocks.history_of(sizes(**more)) == history


def test_records_are_whole_if_nine_tenths_of_their_bytes_are_there() -> None:
    assert sizes(mean_lsize=0.9 * (1 << 17)).whole_records
    assert not sizes(mean_lsize=0.89 * (1 << 17)).whole_records


def test_sizes_of_a_list_of_pointers_are_those_of_its_data() -> None:
    """Two files of 128K at 100 and 50 KB, one volume block of 16K at 10 KB, metadata of 40 KB allocated."""
    found = PointerSummary()
    found.blocks[:] = (9, 2, 1)
    found.lsize[:] = (7, 2 << 17, 1 << 14)
    found.psize[:] = (7, 150_000, 10_000)
    found.asize[:] = (40_000, 300_000, 60_000)
    found.lsizes[1, 17], found.lsizes[2, 14], found.lsizes[0, 20] = 2 << 17, 1 << 14, 1 << 40
    told = blocks.data_sizes(PoolOutputs(PoolFiles(pointers=found)))
    assert told is not None
    assert (told.recordsize, told.source) == (1 << 17, "zdb -Lbbbbb")
    assert told.mean_lsize == pytest.approx((2 * 131072 + 16384) / 3.0)
    assert told.mean_psize == pytest.approx(160_000 / 3.0)
    assert (told.volume_share, told.metadata_share) == (pytest.approx(1.0 / 16.0), pytest.approx(0.1))
    found.blocks[1:] = 0
    assert blocks.data_sizes(PoolOutputs(PoolFiles(pointers=found))) is None


def rows(*data: tuple[str, int, int, int, int], total: int | None = None) -> list[TypeRow]:
    """Return rows of zdb -b: type, blocks, lsize, psize and asize."""
    found = [TypeRow(kind, None, count, lsize, psize, asize) for kind, count, lsize, psize, asize in data]
    return [*found, TypeRow("Total", None, 99, 0, 0, total)] if total is not None else found


def test_sizes_of_statistics_are_those_of_the_type_with_most_bytes() -> None:
    file, volume = (
        ("ZFS plain file", 4, 4 << 17, 300_000, 600_000),
        ("zvol object", 10, 10 << 13, 50_000, 150_000),
    )
    told = blocks._sizes_of_statistics(
        BlockStatistics(tuple(rows(file, volume, total=10**6)), (), None, None)
    )
    assert told is not None
    assert (told.recordsize, told.mean_lsize, told.source) == (1 << 17, float(1 << 17), "zdb -b")
    assert told.mean_psize == pytest.approx(350_000 / 14.0)
    assert told.volume_share == pytest.approx(1.0 / 7.0)
    assert told.metadata_share == pytest.approx(0.25)
    alone = blocks._sizes_of_statistics(BlockStatistics(tuple(rows(file)), (), None, None))
    assert alone is not None
    assert (alone.volume_share, alone.metadata_share) == (0.0, 0.0)
    assert blocks._sizes_of_statistics(BlockStatistics((), (), None, None)) is None


@pytest.mark.parametrize(
    ("mean", "buckets", "record"),
    [
        (100_000.0, (), 1 << 17), (131072.0, (), 1 << 17), (131072.0 * 1.02, (), 1 << 17),
        (131072.0 * 1.03, (), 1 << 18), (100.0, (), 512),
        # Most bytes are in the larger of two buckets: 4 x 128K against 20 x 16K.
        (16384.0, ((1 << 14, 20), (1 << 17, 4)), 1 << 17),
        (16384.0, ((1 << 14, 40), (1 << 17, 4)), 1 << 14),
        (131072.0, ((1 << 14, 40),), 1 << 17),
        (131072.0, ((1 << 20, 0),), 1 << 17),
    ],
)  # fmt: skip
def test_the_record_size_is_that_of_most_bytes_and_no_less_than_the_mean(
    mean: float, buckets: tuple[tuple[int, int], ...], record: int
) -> None:
    found = BlockStatistics((), tuple(SizeRow(size, 0, count, 0) for size, count in buckets), None, None)
    assert blocks._record_of(found, mean) == record


def known(name: str, value: int, dataset: str = "tank") -> KnownProperty:
    """Return a property of a dataset."""
    return KnownProperty(dataset, name, value)


def test_of_several_datasets_the_fullest_tells_and_of_those_that_none_weighs_none() -> None:
    sizes = [known("recordsize", 1 << 17), known("volblocksize", 1 << 14, "tank/vm")]
    assert record_of(sizes, "tank") == FullestRecordSize(None, "tank", True, False)
    used = [known("usedbydataset", 5, "tank"), known("usedbydataset", 6, "tank/vm")]
    assert record_of([*sizes, *used], "tank") == FullestRecordSize(1 << 14, "tank/vm", True, True)
    assert record_of(sizes[:1], "tank") == FullestRecordSize(1 << 17, "tank", False, False)
    assert record_of(sizes, "other") is None
    assert record_of([*sizes[:1], known("recordsize", 512, "other")], "") == FullestRecordSize(
        None, "tank", True, False
    )


def test_datasets_of_one_size_count_together_and_inherit_from_above() -> None:
    sizes = [known("recordsize", 1 << 17), known("recordsize", 1 << 20, "tank/films")]
    used = [("tank/films", 5), ("tank/a", 3), ("tank/b/c", 4)]
    held = [known("usedbydataset", count, name) for name, count in used]
    assert record_of([*sizes, *held], "tank") == FullestRecordSize(1 << 17, "tank/b/c", True, True)
    assert record_of(
        [*sizes, *held, known("usedbydataset", 9, "tank/films/new")], "tank"
    ) == FullestRecordSize(1 << 20, "tank/films/new", True, True)


def test_volumes_do_not_inherit_the_record_size_of_their_parent() -> None:
    """Of a host of virtual machines the root shows 128K, and all data lie in volumes of 8K or 16K."""
    held = [known("usedbydataset", 5, "tank/vm-1"), known("volume", 1, "tank/vm-1")]
    assert record_of([known("recordsize", 1 << 17), *held], "tank") == FullestRecordSize(
        None, "tank/vm-1", False, True
    )
    told = [known("recordsize", 1 << 17), known("volblocksize", 1 << 14, "tank/vm-1"), *held]
    assert record_of(told, "tank") == FullestRecordSize(1 << 14, "tank/vm-1", True, True)


LISTED = """NAME                      USED  AVAIL  REFER  MOUNTPOINT
tank                      655G   245G   104K  /tank
tank/data                 640G   245G    96K  /tank/data
tank/data/vm-100-disk-0   120G   245G   120G  -
tank/data@monday            0B      -    96K  -

rest
"""


def test_zfs_list_tells_what_each_dataset_holds_and_which_are_volumes() -> None:
    assert datasets.recognises(LISTED)
    assert not datasets.recognises("NAME   SIZE  ALLOC   FREE\ntank  1T  1T  1T\n")
    found = datasets.read(LISTED, "")
    assert [(each.of, each.name, each.value) for each in found if isinstance(each, KnownProperty)] == [
        ("tank", "usedbydataset", 104 * 1024),
        ("tank/data", "usedbydataset", 96 * 1024),
        ("tank/data/vm-100-disk-0", "usedbydataset", 120 * 1024**3),
        ("tank/data/vm-100-disk-0", "volume", 1),
    ]
    assert found[0] == datasets.DatasetSpace("tank", 655 * 1024**3, 245 * 1024**3)
    space = (
        "NAME  AVAIL  USED  USEDSNAP  USEDDS  USEDREFRESERV  USEDCHILD\ntank  1T  2T  1T  500G  0B  500G\n"
    )
    assert datasets.read(space, "") == (
        datasets.DatasetSpace("tank", 2 * 1024**4, 1024**4),
        KnownProperty("tank", "usedbydataset", 500 * 1024**3),
    )


def test_what_special_vdevs_take_is_that_of_the_fullest_dataset() -> None:
    small = [known("special_small_blocks", 0), known("special_small_blocks", 1 << 15, "tank/a")]
    assert small_blocks_of(small, "tank") == 1 << 15
    assert small_blocks_of([*small, known("usedbydataset", 1)], "tank") == 0
    assert small_blocks_of(small, "other") is None


@pytest.mark.parametrize(
    ("size", "found"), [(512, 512), (511, None), (1 << 20, 1 << 20), (3 << 17, None), (1 << 24, 1 << 24),
                        (1 << 25, None)]
)  # fmt: skip
def test_a_stated_record_size_is_a_power_of_two_that_zfs_takes(size: int, found: int | None) -> None:
    outputs = PoolOutputs(PoolFiles(facts=[known("recordsize", size)]), PoolStatus("tank", "", ()))
    blocks._find_stated_record(outputs)
    assert outputs.value("recordsize") == found


def test_blocks_tell_a_use_and_the_record_size_unless_files_are_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def found(told: blocks.DataSizes | None, release: str = "openzfs-2.3") -> PoolOutputs:
        monkeypatch.setattr(blocks, "data_sizes", lambda outputs: told)
        outputs = PoolOutputs(
            PoolFiles(facts=[known("recordsize", 1 << 16)]), PoolStatus("tank", "", (group("mirror2"),))
        )
        outputs.find("release", release, "")
        blocks.find_blocks(outputs, Tops((group("mirror2"),), "zpool status", outputs))
        return outputs

    def values(told: blocks.DataSizes | None, release: str = "openzfs-2.3") -> tuple[Any, Any, int]:
        outputs = found(told, release)
        return outputs.value("history"), outputs.value("recordsize"), len(outputs.notes)

    assert values(None) == (None, 1 << 16, 0), "what a dataset is said to have"
    assert values(sizes()) == (None, 1 << 17, 0)
    assert values(sizes(volume_share=0.9)) == ("vm-host", 1 << 17, 0)
    small = {"recordsize": 1 << 16, "mean_lsize": 1e4}
    assert values(sizes(**small)) == (None, None, 1)
    assert "smaller than a record" in found(sizes(**small)).notes[0]
    # Records of the usual size are those of files of any size.
    assert values(sizes(mean_lsize=1e4)) == (None, 1 << 17, 0)
    assert values(sizes(recordsize=1 << 8, mean_lsize=256.0))[1] == 512
    assert values(sizes(recordsize=1 << 20), "freebsd-9.1") == ("media-server", 1 << 17, 1)
    assert found(sizes(recordsize=1 << 20), "freebsd-9.1").notes[0].startswith("blocks of 1024K are in zdb,")


def test_sectors_are_those_of_zdb_then_of_zpool_get() -> None:
    def found(*shifts: int | None, stated: int | None = None) -> tuple[object, int]:
        vdevs = tuple(group("mirror2", n, ashift=shift) for n, shift in enumerate(shifts))
        facts = [known("ashift", stated)] if stated is not None else []
        outputs = PoolOutputs(PoolFiles(facts=list(facts)), PoolStatus("tank", "", vdevs))
        blocks._find_ashift(outputs, Tops(vdevs, "zdb -C", outputs))
        return outputs.value("ashift"), len(outputs.notes)

    assert found(12, 12, stated=9) == (12, 0)
    assert found(9, 12) == (9, 1)
    assert found(None, stated=13) == (13, 0)
    assert found(8, stated=12) == (12, 0)
    assert found(16) == (16, 0)
    assert found(17, stated=0) == (None, 0)


def test_sectors_smaller_than_those_of_the_drives_are_told_by_the_status() -> None:
    vdev = group("mirror2")
    note = "block size: 512B configured, 4096B native"
    odd = with_child(vdev, disk("d", note=note))

    def found(*vdevs: Vdev, **more: Any) -> object:
        outputs = PoolOutputs(
            PoolFiles(facts=[known("ashift", 12)] if more else []), PoolStatus("tank", "", vdevs)
        )
        blocks._find_ashift(outputs, Tops(vdevs, "zpool status", outputs))
        return outputs.value("ashift")

    assert found(vdev) is None
    assert found(odd) == 9
    assert found(odd, stated=True) == 12


def test_fragmentation_is_told_by_the_list_and_has_four_digits() -> None:
    outputs = PoolOutputs(PoolFiles(), PoolStatus("tank", "", (group("mirror2"),)))
    outputs.listed = listed(frag=0.123456)
    blocks._find_frag(outputs, Tops((group("mirror2"),), "zpool status", outputs))
    assert outputs.value("frag") == 0.1235
    old = PoolOutputs(PoolFiles(), PoolStatus("tank", "", (group("mirror2"),)))
    old.listed = listed(frag=0.5)
    old.find("release", "freebsd-9.1", "")
    blocks._find_frag(old, Tops((group("mirror2"),), "zpool status", old))
    assert old.value("frag") is None
    assert "FRAG is known, but freebsd-9.1 has none" in old.notes[0]


def test_an_lsize_counts_under_the_power_of_two_it_does_not_exceed() -> None:
    kernel = pytest.importorskip("zsim.observe.zdb.pointer_kernel")
    from zsim.observe.zdb.pointers import _Summing

    row = np.zeros((5, kernel.COLUMNS), np.int64)
    row[:, [kernel.VDEV_1, kernel.VDEV_2]] = -1
    row[:, kernel.KIND] = kernel.FILE
    row[:, kernel.LSIZE] = (1, 513, 1 << 17, (1 << 17) + 1, 1 << 30)
    row[:, kernel.PSIZE] = (0, 512, 1023, 1 << 40, 16 << 20)
    row[:, kernel.ASIZE_0] = (4096, 8192, 12288, 4096, 4096)
    row[:, kernel.PLACE_0] = (0, 4096, 12288, 40960, 90000)
    row[:, kernel.BIRTH] = (7, 3, 9, 5, 6)
    summing = _Summing()
    summing._sum(row)
    found = summing.summary
    assert np.flatnonzero(found.lsizes[kernel.FILE]).tolist() == [0, 10, 17, 18, 24], (
        "the largest of all in the last"
    )
    assert np.flatnonzero(found.psizes[kernel.FILE]).tolist() == [0, 1, (16 << 20) // 512]
    assert (found.unit, found.births) == (4096, (3, 9))
    assert found.vdev_asize == {0: 32768}
    summing._sum(row[:1] + np.array([0] * kernel.COLUMNS))
    assert (found.births, found.vdev_asize) == ((3, 9), {0: 36864})
