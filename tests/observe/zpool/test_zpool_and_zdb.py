"""zpool list, zdb -C, -m, -b, and versions: what each reader takes from its format."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.observe.pool_import.classes import find_fills
from zsim.observe.pool_import.given.host_facts import HostFacts, read_host
from zsim.observe.zdb import blocks, configuration, metaslabs
from zsim.observe.zpool import listing, listing_json, status_json
from zsim.observe.zpool.listing import Space

FIXTURES = Path(__file__).parents[1] / "fixtures"
POOL = FIXTURES / "raidz2-2.2"
K, G, T = 1 << 10, 1 << 30, 1 << 40


def text_of(name):
    return (FIXTURES / name).read_text()


def test_exact_list_with_vdevs():
    pool = listing.read_list(text_of("raidz2-2.2/list.txt"))[0]
    assert (pool.name, pool.exact) == ("tank", True)
    assert (pool.space.size, pool.space.alloc) == (23992891637760, 14843406974976)
    assert (pool.space.frag, pool.space.cap) == (0.11, 0.61)
    ((vdev, space),) = pool.vdevs
    assert (vdev.kind, vdev.parity, vdev.drives, space.alloc) == ("raidz", 2, 6, pool.space.alloc)
    assert [child.kind for child in vdev.children].index("replacing") == 2
    assert vdev.children[2].children[1].size == 6001173954560


def test_exact_list_has_its_other_classes_without_tabs():
    dashes = "special      -      -      -        -         -      -      -      -         -"
    text = text_of("raidz2-2.2/list.txt") + dashes + "\n\tmirror-1\t100\t50\t50\t-\t-\t0\t50\t-\tONLINE\n"
    pool = listing.read_list(text)[0]
    assert len(pool.vdevs) == 1
    assert tuple(pool.classes) == ("special",)


def test_list_for_people_of_version_28():
    pool = listing.read_list(text_of("list-freebsd-9.1.txt"))[0]
    assert (pool.name, pool.exact, pool.vdevs) == ("export", False, ())
    assert pool.space.cap == 0.62
    assert "frag" not in pool.columns


def test_list_for_people_with_vdevs_and_classes():
    text = """
NAME                  SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
filling              25.5T  6.52T  18.9T        -       64M     1%    25%  1.00x    ONLINE  -
  mirror-0           3.64T   445G  3.20T        -       64M     9%  11.9%      -    ONLINE
    ata-A                -      -      -        -       64M      -      -      -    ONLINE
    ata-B                -      -      -        -       64M      -      -      -    ONLINE
  raidz1-1           21.8T  6.09T  15.7T        -         -     0%  27.9%      -    ONLINE
    ata-C                -      -      -        -         -      -      -      -    ONLINE
    ata-D                -      -      -        -         -      -      -      -    ONLINE
    ata-E                -      -      -        -         -      -      -      -    ONLINE
special                  -      -      -        -         -      -      -      -  -
  mirror-2            222G  1.00G   221G        -         -     0%  0.45%      -    ONLINE
    nvme0                -      -      -        -         -      -      -      -    ONLINE
    nvme1                -      -      -        -         -      -      -      -    ONLINE
"""
    pool = listing.read_list(text)[0]
    assert [(vdev.kind, vdev.drives) for vdev, _ in pool.vdevs] == [("mirror", 2), ("raidz", 3)]
    assert tuple(pool.classes) == ("special",)
    assert pool.vdevs[0][1].frag == 0.09


def test_vdevs_of_one_name_have_their_own_rows():
    # Up to 0.8 and FreeBSD 12 zpool list -v prints top-level vdevs without a number.
    text = """
NAME       SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP  HEALTH  ALTROOT
tank      12.7T  6.90T  5.80T        -         -    20%    54%  1.00x  ONLINE  -
  mirror  3.62T  3.40T   230G        -         -    40%  93.9%      -  ONLINE
    da0       -      -      -        -         -      -      -      -  ONLINE
    da1       -      -      -        -         -      -      -      -  ONLINE
  mirror  9.09T  3.50T  5.59T        -         -     5%  38.5%      -  ONLINE
    da2       -      -      -        -         -      -      -      -  ONLINE
    da3       -      -      -        -         -      -      -      -  ONLINE
"""
    pool = listing.read_list(text)[0]
    assert [(space.frag, space.cap) for _, space in pool.vdevs] == [(0.4, 0.939), (0.05, 0.385)]


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        ("t\t100\t50\t50\t-\t-\t7\t50\t1.00\tONLINE\t-", {"ckpoint", "frag"}),
        ("t\t100\t50\t50\t-\t7%\t50%\t1.00x\tONLINE\t-", {"frag"}),
        ("t\t100\t50\t50\t-\t50\t1.00\tONLINE\t-", {"expandsz"}),
        ("t\t100\t50\t50\t50%\t1.00x\tONLINE\t-", {"cap"}),
    ],
)
def test_columns_by_release(row, columns):
    pool = listing.read_list(row)[0]
    assert columns <= pool.columns
    assert (pool.space.cap, pool.space.frag) == (0.5, 0.07 if "frag" in columns else None)


def test_config_of_a_pool_with_a_replacement():
    config = configuration.read_config(text_of("raidz2-2.2/config.txt"))[0]
    assert (config.name, config.version, config.complete, config.grown) == ("tank", 5000, True, (0,))
    vdev = config.vdevs[0]
    assert (vdev.kind, vdev.parity, vdev.ashift, vdev.drives) == ("raidz", 2, 12, 6)
    assert vdev.asize == 6 * 4000780976128 // 262144 * 262144
    assert [child.kind for child in vdev.children].count("replacing") == 1
    assert config.metaslab_shifts == (34,)
    assert "com.delphix:embedded_data" in config.features


def test_config_knows_classes_and_draid():
    text = """tank:
    version: 5000
    name: 'tank'
    vdev_children: 4
    vdev_tree:
        type: 'root'
        children[0]:
            type: 'draid'
            nparity: 2
            draid_ndata: 4
            draid_nspares: 1
            ashift: 12
            asize: 16000000000000
            children[0]:
                type: 'disk'
            children[1]:
                type: 'dspare'
        children[1]:
            type: 'mirror'
            alloc_bias: 'special'
        children[2]:
            type: 'disk'
            is_log: 1
        children[3]:
            type: 'hole'
"""
    config = configuration.read_config(text)[0]
    assert (config.vdevs[0].data, config.vdevs[0].spares) == (4, 1)
    assert [child.kind for child in config.vdevs[0].children] == ["disk", "distributed-spare"]
    assert config.others == ("special", "log", "hole")
    assert config.complete
    assert not configuration.read_config(text[: text.index("children[2]")])[0].complete


@pytest.mark.parametrize("line", ["ashift: 12", "nparity: 2"])
def test_config_with_absurd_numbers_names_the_field(line):
    text = text_of("raidz2-2.2/config.txt").replace(line, line.split()[0] + " " + "9" * 40)
    with pytest.raises(InputError, match=f"config.txt: {line.split(':')[0]}"):
        configuration.read_config(text, "config.txt")


def test_metaslabs():
    slabs = metaslabs.read_metaslabs(text_of("raidz2-2.2/metaslabs.txt"))
    assert len(slabs) == 24
    assert slabs.size == 24 << 34
    assert slabs.fragmentation[:3].tolist() == [9, 0, 14]
    assert slabs.mean_fragmentation == pytest.approx((9 + 0 + 14) / 3 / 100)
    assert slabs.histogram[0, 14] == 78
    assert slabs.alloc == slabs.size - int(slabs.free.sum())


def test_metaslabs_without_histogram_and_of_several_vdevs():
    text = """Metaslabs:
        vdev          0
        metaslabs   187   offset                spacemap          free
        ---------------   -------------------   ---------------   -------------
        metaslab      0   offset            0   spacemap     37   free     483M
        metaslab      1   offset    100000000   spacemap     59   free    3.15G
        vdev          1
        metaslab      0   offset            0   spacemap     77   free    4.00G
        metaslab      1   offset    100000000   spacemap     79   free    4.00G
        On-disk histogram:              fragmentation 18446744073709551615
"""
    slabs = metaslabs.read_metaslabs(text)
    assert slabs.vdev.tolist() == [0, 0, 1, 1]
    assert slabs.mean_fragmentation is None
    assert slabs.size == 16 * G


def test_a_damaged_metaslab_is_named_with_its_line():
    text = text_of("raidz2-2.2/metaslabs.txt").replace("free    8.00G", "free    lots", 1)
    with pytest.raises(InputError, match=r"m\.txt, line \d+"):
        metaslabs.read_metaslabs(text, "m.txt")


def test_block_statistics_with_histograms():
    found = blocks.read_statistics(text_of("raidz2-2.2/blocks.txt"))
    data = found.data_rows()[0]
    assert (data.type, data.level, data.blocks) == ("ZFS plain file", 0, 66_400_000)
    assert data.psizes[-1] == (128 * K, 65_000_000)
    assert (found.allocated, found.blocks) == (14690000000000, 68012345)
    assert found.total().asize == 14690000000000
    assert [row.size for row in found.sizes] == [1 << k for k in range(9, 25)]
    assert found.sizes[8].lsize_blocks == 66672345


def test_block_statistics_of_a_real_small_pool():
    # Figures of a comment on openzfs pull request 5182.
    text = """
Blocks\tLSIZE\tPSIZE\tASIZE\t  avg\t comp\t%Total\tType
     -\t    -\t    -\t    -\t    -\t    -\t     -\tunallocated
     2\t  32K\t4.50K\t13.5K\t6.75K\t 7.11\t  0.03\tobject directory
    20\t80.0K\t16.5K\t49.5K\t2.47K\t 4.85\t  0.11\tSPA space map
     1\t 16K\t   1K\t   2K\t  2K\t16.00\t  1.02\t    L1 ZFS plain file
     5\t70.0K\t70.0K\t70.0K\t14.0K\t 1.00\t 35.71\t    L0 ZFS plain file
psize (in 512-byte sectors): number of blocks
\t\t\t  2:      1 *
\t\t\t257:      4 ****
"""
    found = blocks.read_statistics(text)
    assert [row.blocks for row in found.rows] == [2, 20, 1, 5]
    assert found.data_rows()[0].psizes == ((1024, 1), (257 * 512, 4))


@pytest.mark.parametrize(
    ("text", "version", "release"),
    [
        ("zfs-2.1.5-1ubuntu6~22.04.1\nzfs-kmod-2.1.5-1ubuntu6~22.04.1\n", "2.1.5", "openzfs-2.1.5"),
        ("version:        0.7.13-1\n", "0.7.13", "zol-0.7.13"),
        ("zfs-0.6.5.9-5\n", "0.6.5.9", "zol-0.6.5.9"),
        ("zfs-2.1.99-1\n", "2.1.99", "openzfs-2.2"),
        ("zfs-2.2.99-1\nzfs-kmod-2.2.99-1\n", "2.2.99", "openzfs-2.3"),
        ("zfs-9.9.9\n", "9.9.9", ""),
        ("FreeBSD nas 9.1-RELEASE-p7 FreeBSD 9.1-RELEASE-p7 #0: x amd64", "FreeBSD 9.1", "freebsd-9.1"),
        ("FreeBSD nas 12.2-RELEASE amd64", "FreeBSD 12.2", ""),
        ("SunOS nas 5.11 11.2 i86pc i386", "SunOS 11.2", "solaris-11.2"),
    ],
)  # fmt: skip
def test_versions(text, version, release):
    assert read_host(text) == HostFacts(version, release)


def test_memory_and_processors():
    found = read_host("MemTotal:       32817392 kB\ncpus: 8\n")
    assert (found.memory, found.cpus) == (32817392 * 1024, 8)
    assert read_host("hw.physmem: 8589934592\nhw.ncpu: 4\n") == HostFacts(memory=8589934592, cpus=4)
    assert read_host("cpus: 99999\n") == HostFacts()


def test_no_reader_takes_another_ones_output():
    readers = {"list": listing, "config": configuration, "metaslabs": metaslabs, "blocks": blocks}
    for name, reader in readers.items():
        for other in (*readers, "status"):
            assert reader.recognises(text_of(f"raidz2-2.2/{other}.txt")) == (name == other), (name, other)
    assert np.iinfo(np.int64).max > metaslabs.MAX_METASLABS


def json_space(size, alloc, free, frag, cap):
    """The properties of a pool, or the statistics of a vdev, as ``zpool list -j`` has them."""
    names = ("size", "allocated", "free", "fragmentation", "capacity")
    return {name: {"value": value} for name, value in zip(names, (size, alloc, free, frag, cap), strict=True)}


LIST_JSON = {
    "output_version": {"command": "zpool list", "vers_major": 0, "vers_minor": 1},
    "pools": {
        "tank": {
            "name": "tank",
            "type": "POOL",
            "state": "ONLINE",
            "properties": json_space("19.5G", "4.5G", "15G", "11%", "23%"),
            "vdevs": {
                "raidz1-0": {
                    "name": "raidz1-0",
                    "state": "ONLINE",
                    "properties": json_space("19.5G", "4.5G", "15G", "11%", "23%"),
                    "vdevs": {
                        each: {"name": each, "state": "ONLINE", "properties": json_space("6.5G", *"----")}
                        for each in ("sda", "sdb", "sdc")
                    },
                }
            },
        }
    },
}


def test_list_json_has_the_spaces_of_pool_and_vdevs():
    (pool,) = listing_json.read(json.dumps(LIST_JSON), "list.json")
    assert (pool.name, pool.exact, pool.classes) == ("tank", False, {})
    assert pool.space == Space(
        size=int(19.5 * G), alloc=int(4.5 * G), free=15 * G, frag=pytest.approx(0.11), cap=pytest.approx(0.23)
    )
    ((vdev, space),) = pool.vdevs
    assert (vdev.kind, vdev.parity, vdev.drives) == ("raidz", 1, 3)
    assert (space.size, space.alloc) == (int(19.5 * G), int(4.5 * G))
    assert [(each.name, each.size) for each in vdev.children] == [
        (name, int(6.5 * G)) for name in ("sda", "sdb", "sdc")
    ]


def test_list_json_with_whole_numbers_is_exact():
    document = copy.deepcopy(LIST_JSON)
    document["pools"]["tank"]["properties"] = {"size": {"value": 20937965568}, "alloc": {"value": 4831838208}}
    (pool,) = listing_json.read(json.dumps(document), "list.json")
    assert pool.exact
    assert (pool.space.size, pool.space.alloc, pool.space.free) == (20937965568, 4831838208, None)


def test_list_json_may_have_the_pool_itself_as_the_root_of_its_vdevs():
    document = copy.deepcopy(LIST_JSON)
    pool = document["pools"]["tank"]
    pool["vdevs"] = {"tank": {"name": "tank", "vdevs": pool["vdevs"]}}
    assert listing_json.read(json.dumps(document), "") == listing_json.read(json.dumps(LIST_JSON), "")
    # A pool of one drive whose name is another: no root.
    pool["vdevs"] = {"sda": {"name": "sda", "properties": json_space("19.5G", "4.5G", "15G", "1%", "2%")}}
    (one,) = listing_json.read(json.dumps(document), "")
    assert [(vdev.name, vdev.kind) for vdev, _ in one.vdevs] == [("sda", "disk")]


def test_list_json_without_sizes_is_no_list():
    document = copy.deepcopy(LIST_JSON)
    del document["pools"]["tank"]["properties"]
    assert listing_json.read(json.dumps(document), "") == ()
    assert listing_json.read('{"pools": [1]}', "") == ()
    document = {"pools": {"tank": 7, "big": LIST_JSON["pools"]["tank"]}}
    assert [each.name for each in listing_json.read(json.dumps(document), "")] == ["tank"]


def test_json_of_zpool_is_told_by_its_version_or_its_pools():
    assert status_json.recognises(' {"output_version": {}}')
    assert status_json.recognises('{"pools": {}}')
    assert not status_json.recognises('{"blockdevices": []}')
    assert not status_json.recognises('["output_version"]')
    assert listing_json.recognises(json.dumps(LIST_JSON))
    assert listing_json.recognises(json.dumps({"pools": LIST_JSON["pools"]}))
    assert not listing_json.recognises('{"pools": {"tank": {"scan_stats": {}}}}')


def test_a_histogram_ends_where_a_bucket_can_be_none():
    """Segments have at most 2^63 bytes: what looks like a bucket 64 is no bucket, nor what follows."""
    text = text_of("raidz2-2.2/metaslabs.txt")
    begin = text.index("On-disk histogram:")
    first = text.index("\n", begin) + 1
    cut = metaslabs.read_metaslabs(text[:first] + "   63:      5 **\n   64:      7 **\n   20:      9 *\n")
    counts = cut.histogram[-1]
    assert counts[63] == 5
    assert counts.sum() == 5


@pytest.mark.parametrize(
    ("allocs", "noted"),
    [
        ((800, 190), [0.8, 0.19]),
        ((500, 500), None),  # alike: one fill says it
        ((1000, 190), None),  # a full vdev has no blocks to come, an empty one none to read
        ((800, 0), None),
        ((800, None), None),
        ((800,), None),
    ],
)
def test_fills_of_vdevs_are_noted_where_they_differ_and_lie_between_empty_and_full(allocs, noted):
    found, notes = {}, []
    evidence = SimpleNamespace(find=lambda name, value, _source: found.update({name: value}), notes=notes)
    assert find_fills(evidence, [Space(size=1000, alloc=alloc) for alloc in allocs]) is (noted is not None)
    assert found == ({} if noted is None else {"vdev_fills": noted})
    assert len(notes) == len(found)
