"""Rules of the tables of zpool list and zdb: columns, statistics by type, metaslabs, configurations."""

from __future__ import annotations

import json

import pytest

from zsim.base.errors import InputError
from zsim.observe.pool_import import tables
from zsim.observe.pool_import.given.files import PoolFiles
from zsim.observe.zdb import blocks, configuration
from zsim.observe.zdb.blocks import BlockStatistics, SizeRow, TypeRow, read_statistics
from zsim.observe.zdb.metaslabs import read_metaslabs
from zsim.observe.zpool import expansion, listing, listing_json, properties
from zsim.observe.zpool.listing import read_list
from zsim.observe.zpool.scan import Scan

# zpool list and zdb.


def test_columns_of_a_list_for_people_are_those_of_its_header() -> None:
    text = (
        "NAME   SIZE  ALLOC   FREE  FRAG  CAP  DEDUP  HEALTH\n"
        "tank  4.00T  1.00T  3.00T   12%  25%  1.00x  ONLINE\n"
        "  mirror-0  4.00T  1.00T  3.00T   12%  25.0%  -  ONLINE\n"
        "    sda  4.00T  -  -  -  -  -  ONLINE\n"
        "special  -  -  -  -  -  -\n"
        "  mirror-1  1.00T  100G  900G   1%  10%  -  ONLINE\n"
        "logs\n"
        "  sdz  8.00G  1.00M  8.00G  0%  0%  -  ONLINE\n"
    )
    [pool] = read_list(text)
    assert (pool.space.size, pool.space.alloc, pool.space.frag, pool.space.cap) == (
        4 << 40,
        1 << 40,
        0.12,
        0.25,
    )
    assert not pool.exact
    [(mirror, space)] = pool.vdevs
    assert (mirror.name, mirror.children[0].size, space.alloc) == ("mirror-0", 4 << 40, 1 << 40)
    assert [(name, [vdev.name for vdev, _ in rows]) for name, rows in pool.classes.items()] == [
        ("special", ["mirror-1"]), ("logs", ["sdz"]),
    ]  # fmt: skip
    assert pool.classes["logs"][0][0].size is None, "of a vdev with its own ALLOC, SIZE is its space"


@pytest.mark.parametrize(
    ("row", "known"),
    [
        ("tank\t4T\t1T\t3T\t-\t-\t12%\t25%\t1.00x\tONLINE\t-", True),
        ("tank\t4T\tx\t3T\t-\t-\t12%\t25%\t1.00x\tONLINE\t-", False),
        ("tank\t4T\t1T\t3T\t-\t-\t12%\t25%\t1.00x\tFINE\t-", False),
        ("tank\t4T\t1T\t3T\t25%\t1.00x\tONLINE\t-", True), ("\t4T\t1T\t3T\t25%\t1.00x\tONLINE\t-", False),
    ],
)  # fmt: skip
def test_a_row_with_tabs_is_of_a_pool_with_sizes_and_health(row: str, known: bool) -> None:
    assert listing.recognises(row) is known


def test_a_list_in_json_has_its_spaces() -> None:
    data = {
        "pools": {"tank": {"name": "tank", "properties": {"size": {"value": "4T"}, "allocated": {"value": "1T"}},  # noqa: E501
                           "vdevs": {"mirror-0": {"size": "4T", "alloc": "1T", "fragmentation": "7",
                                                   "vdevs": {"sda": {"size": "4T"}}}}},
                  "x": {"size": 7}}
    }  # fmt: skip
    [pool] = listing_json.read_list_json(json.dumps(data))
    assert (pool.space.size, pool.space.alloc, pool.exact) == (4 << 40, 1 << 40, False)
    [(vdev, space)] = pool.vdevs
    assert (vdev.children[0].size, vdev.size, space.frag) == (4 << 40, None, 0.07)


def test_statistics_by_type_and_their_open_bucket() -> None:
    """Ten blocks: 4 of 512 and 6 above 128K, which have the mean of what is left of 1 MB."""
    row = TypeRow("x", None, 10, 0, 1_000_000, 0)
    found = blocks._psizes(row, [(1, 4), (2, 0), (257, 6)])
    mean = (1_000_000 - 4 * 512) // 6
    assert found == ((512, 4), (mean // 512 * 512, 6))
    least = blocks._psizes(TypeRow("x", None, 10, 0, 4096, 0), [(257, 6)])
    assert least == ((257 * 512, 6),)
    assert blocks._psizes(row, [(256, 3)]) == ((131072, 3),)


TABLE = """\
Blocks\tLSIZE\tPSIZE\tASIZE\t  avg\t comp\t%Total\tType
     -\t    -\t    -\t    -\t    -\t    -\t     -\tunallocated
 1.50K\t 6.0M\t 3.0M\t 9.0M\t   6K\t 2.00\t  9.00\t    L0 ZFS plain file
     2\t 256K\t   8K\t  24K\t  12K\t32.00\t  0.02\t    L1 ZFS plain file
 1.50K\t 6.3M\t 3.0M\t 9.0M\t   6K\t 2.00\t  9.02\tZFS plain file
   10\t  80K\t  40K\t 120K\t  12K\t 2.00\t  0.12\tTotal

Block Size Histogram
  block   psize                lsize                asize
   size   Count   Size   Cum.  Count   Size   Cum.  Count   Size   Cum.
    512:  1.00K   512K   512K      2     1K     1K      3     1K     1K
     1K:      5     5K   517K      6     6K     7K      7     7K     8K
     3K:      5     5K   517K      6     6K     7K      7     7K     8K
"""


def test_the_table_of_zdb_has_types_levels_and_sizes() -> None:
    found = read_statistics(TABLE + "\n\tbp allocated:  120000 avg: 7\n\tbp count:  12\n")
    assert [(row.type, row.level, row.blocks) for row in found.rows] == [
        ("ZFS plain file", 0, 1536), ("ZFS plain file", 1, 2), ("ZFS plain file", None, 1536), ("Total", None, 10),  # noqa: E501
    ]  # fmt: skip
    assert (found.rows[0].lsize, found.rows[0].psize, found.rows[0].asize) == (6 << 20, 3 << 20, 9 << 20)
    assert [row.level for row in found.data_rows()] == [0]
    assert found.total() is found.rows[3]
    assert found.sizes == (SizeRow(512, 1024, 2, 3), SizeRow(1024, 5, 6, 7))
    assert (found.allocated, found.blocks) == (120000, 12)
    bare = BlockStatistics((found.rows[2],), (), None, None)
    assert bare.data_rows() == (found.rows[2],)
    both = bare.completed(found)
    assert (both.rows, both.sizes, both.allocated) == (bare.rows, found.sizes, 120000)
    detailed = BlockStatistics((TypeRow("x", None, 1, 1, 1, 1, ((512, 1),)),), (), None, 9)
    assert bare.completed(detailed).rows == detailed.rows
    assert detailed.completed(found).blocks == 9


def test_sizes_of_blocks_are_written_by_type_or_from_the_list() -> None:
    rows = (TypeRow('a,"b', 0, 1, 1, 1, 1, ((512, 3),)), TypeRow("c", None, 1, 1, 1, 1, ((1024, 4),)))
    statistics = BlockStatistics(rows, (SizeRow(512, 1, 2, 3),), None, None)
    text = tables.block_table(PoolFiles(facts=[statistics])).decode()
    assert text.splitlines() == [
        "type,level,quantity,size,blocks", "a 'b,0,psize,512,3", "c,,psize,1024,4", "all,,psize,512,1",
        "all,,lsize,512,2", "all,,asize,512,3",
    ]  # fmt: skip
    assert tables.block_table(PoolFiles()) == tables.metaslab_table(PoolFiles(), [0]) == b""


SLABS = """\
vdev          1
\tmetaslab      0   offset            0   spacemap    7   free     512M
\tOn-disk histogram:\t\tfragmentation 0
\t\t\t 9:      5 *****
\t\t\t63:      2 **
\t\t\t64:      2 **
\t\t\t10:      7 *
\tmetaslab      1   offset     40000000   spacemap    8   free     256M
\tOn-disk histogram:\t\tfragmentation 101
vdev          3
\tmetaslab      0   offset            0   spacemap    9   free     1G
"""


def test_metaslabs_have_their_vdev_histogram_and_fragmentation() -> None:
    found = read_metaslabs(SLABS)
    assert (found.vdev.tolist(), found.number.tolist()) == ([1, 1, 3], [0, 1, 0])
    assert found.offset.tolist() == [0, 1 << 30, 0]
    assert found.fragmentation.tolist() == [0, -1, -1]
    assert {place: int(count) for place, count in enumerate(found.histogram[0]) if count} == {9: 5, 63: 2}
    assert found.mean_fragmentation == 0.0
    assert (found.size, found.alloc) == (None, None), "of a vdev with one metaslab its size is not known"
    first = read_metaslabs(SLABS.partition("vdev          3")[0])
    assert (first.size, first.alloc) == (2 << 30, (2 << 30) - (768 << 20))
    text = tables.metaslab_table(PoolFiles(facts=[found]), [3, 1]).decode().splitlines()
    assert text[1:] == ["1,0,0,536870912,0,9:5 63:2", "1,1,1073741824,268435456,,", "0,0,0,1073741824,,"]
    assert tables.metaslab_table(PoolFiles(facts=[found]), [7]) == b""


CONFIG = """\
tank:
    version: 5000
    name: 'tank'
    vdev_children: {children}
    vdev_tree:
        type: 'root'
        children[0]:
            type: 'raidz'
            id: 4
            nparity: 2
            metaslab_shift: 34
            ashift: 12
            asize: 1000
            raidz_expand_txgs: 1
            children[0]:
                type: 'disk'
        children[1]:
            type: 'disk'
            is_log: 1
        children[2]:
            type: 'hole'
        children[3]:
            type: 'mirror'
            alloc_bias: 'special'
        children[4]:
            type: 'mirror'
            removing: 1
    features_for_read:
        com.delphix:hole_birth
"""


def test_a_configuration_has_its_vdevs_by_class() -> None:
    [found] = configuration.read_config(CONFIG.format(children=5))
    [raidz] = found.vdevs
    assert (raidz.name, raidz.kind, raidz.parity, raidz.ashift, raidz.asize) == (
        "raidz-4",
        "raidz",
        2,
        12,
        1000,
    )
    assert (found.version, found.metaslab_shifts, found.grown, found.complete) == (5000, (34,), (1,), True)
    assert [(name, vdev.kind) for name, vdev in found.classes] == [("log", "disk"), ("special", "mirror")]
    assert found.others == ("log", "hole", "special", "removing")
    assert not configuration.read_config(CONFIG.format(children=6))[0].complete
    for key, value in (
        ("ashift: 12", "ashift: 17"),
        ("nparity: 2", "nparity: 256"),
        ("ashift: 12", "ashift: x"),
    ):
        with pytest.raises(InputError, match=key.partition(":")[0]):
            configuration.read_config(CONFIG.format(children=5).replace(key, value))
    assert (
        configuration.read_config(CONFIG.format(children=5).replace("ashift: 12", "ashift: 16"))[0]
        .vdevs[0]
        .ashift
        == 16
    )


def test_settings_are_those_that_a_scenario_has() -> None:
    text = "".join(
        f"{each}\n" for each in (
            "tank\trecordsize\t128K\tdefault", "tank/a\tvolblocksize\t16K\t-", "tank\tashift\t12\tlocal",
            "tank\tspecial_small_blocks\t0\tdefault", "tank\tusedbydataset\t7G\t-", "tank\tcompression\ton\tlocal",  # noqa: E501
            "tank\tashift\t0\tdefault",
        )
    )  # fmt: skip
    assert [(each.of, each.name, each.value) for each in properties.read_settings(text)] == [
        ("tank", "recordsize", 131072), ("tank/a", "volblocksize", 16384), ("tank", "ashift", 12),
        ("tank", "special_small_blocks", 0), ("tank", "usedbydataset", 7 << 30),
    ]  # fmt: skip


def test_what_moves_data_is_a_scan_where_none_runs() -> None:
    lines = ["Evacuation of mirror-1 in progress since Sun Nov 15 12:00:00 2026",
             "1G copied out of 4G at 100M/s, 25.00% done, 0h30m to go"]  # fmt: skip
    found = expansion.read_removal(lines)
    assert found is not None
    assert (found.vdev, found.scan.issued, found.scan.total, found.scan.issue_rate) == (
        "mirror-1", 1 << 30, 4 << 30, 100 << 20,
    )  # fmt: skip
    assert (found.scan.done, found.scan.to_go, str(found)) == (0.25, 1800.0, "mirror-1 at 25.00 %")
    over, runs = Scan("scrub", "finished"), Scan("scrub", "running")
    assert expansion.with_moves([over], None, found) == [over, found.scan]
    assert expansion.with_moves([runs], found) == [runs]
    grows = expansion.read_expansion(["expansion of raidz2-0 in progress since Sun Nov 15 12:00:00 2026",
                                      "5G / 4G copied at 1M/s, 125% done"])  # fmt: skip
    assert grows is not None
    assert grows.scan is not None
    assert (grows.scan.state, grows.scan.done, grows.scan.form) == ("running", None, "2.2")
