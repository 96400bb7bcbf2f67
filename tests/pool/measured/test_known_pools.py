"""Files about a real pool: its list of blocks, its sizes, its free space."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.base.model_data import validation_directory
from zsim.case.population import populate, window_vdevs
from zsim.case.resolve import resolve
from zsim.cli.main import main
from zsim.pool.blocks import BlockTable
from zsim.pool.measured import block_list
from zsim.pool.measured.block_list import load_blocks, sample_blocks
from zsim.pool.measured.bps import read_block_list
from zsim.pool.measured.free_space import matched_places, read_free_space
from zsim.pool.recipes.recipe import TopLevel, pool_of
from zsim.pool.recipes.sizes import read_block_sizes
from zsim.pool.statistics import describe, extents, mean_position
from zsim.prediction.inputs.population import miniature
from zsim.scenario.model import Scenario

LISTS = Path(__file__).parents[1] / "lists"
RAIDZ = LISTS / "raidz2x6-aged-2.3.9.csv.zst"
MIRROR = LISTS / "mirror2-aged-2.3.9.csv.zst"
TYPES = {True: "DMU dnode", False: "ZFS plain file"}


def vdevs_of(layout: str, gib: int) -> tuple[TopLevel, ...]:
    return pool_of(layout, gib << 30, "2.3.9")[0]


def pointer_lines(table: BlockTable) -> Iterator[str]:
    """Write a table as zdb -Lbbbbb does."""
    for k in range(len(table)):
        places = " ".join(
            f"DVA[{c}]=<{table.dva_vdev[k, c]}:{table.dva_offset[k, c]:x}:{table.dva_asize[k, c]:x}>"
            for c in range(table.dva_count[k])
        )
        yield (
            f"objset {table.objset[k]} object {table.object[k]} level {table.level[k]} "
            f"offset 0x{table.blkid[k] * table.lsize[k]:x} {places} [L{max(table.level[k], 0)} "
            f"{TYPES[bool(table.is_metadata[k])]}] fletcher4 lz4 unencrypted LE contiguous unique single "
            f"size={table.lsize[k]:x}L/{table.psize[k]:x}P birth={table.birth[k]}L/{table.birth[k]}P fill=1"
        )


def status_of(groups: tuple[str, ...], sizes: int) -> str:
    lines = [
        "  pool: tank",
        " state: ONLINE",
        "config:",
        "",
        "\tNAME STATE READ WRITE CKSUM",
        "\ttank ONLINE 0 0 0",
    ]
    for group in groups:
        lines.append(f"\t  {group} ONLINE 0 0 0")
        lines += [f"\t    {group}-d{k} ONLINE 0 0 0" for k in range(sizes)]
    return "\n".join([*lines, "", "errors: No known data errors", ""])


def test_a_list_goes_from_zdb_through_import_to_the_simulation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    real = read_block_list(MIRROR).table
    (tmp_path / "pointers.txt").write_text("\n".join(pointer_lines(real)) + "\n")
    (tmp_path / "status.txt").write_text(status_of(("mirror-0",), 2))
    target = tmp_path / "out" / "pool.toml"
    target.parent.mkdir()
    words = [str(tmp_path / "pointers.txt"), str(tmp_path / "status.txt"), "--set", "drive_size=2147483648"]
    assert main(["import", *words, "-o", str(target)]) == 0
    assert 'block_list = "pool.blocks.parquet"' in target.read_text()
    resolved = resolve(Scenario.read(target))
    found = resolved.facts.block_list.blocks(resolved.vdevs).table
    for name in ("objset", "object", "level", "birth", "psize", "lsize", "is_metadata", "dva_count"):
        assert np.array_equal(getattr(found, name), getattr(real, name)), name
    for name in ("dva_vdev", "dva_offset", "dva_asize"):
        assert np.array_equal(getattr(found, name), getattr(real, name)), name
    assert resolved.alloc == real.allocated_bytes
    assert not any(resolved.assumed(name) for name in ("fill", "frag", "history", "recordsize"))
    capsys.readouterr()
    assert main(["pool", "show", "--scenario", str(target), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["blocks"], shown["scale"]) == (len(real), 1.0)


def test_the_prediction_names_the_file_and_its_hash_and_varies_no_history() -> None:
    from zsim.prediction.api import predict

    scenario = Scenario(layout="mirror2", drive_size=2 << 30, block_list=str(MIRROR), load=())
    answer = predict(scenario)
    digest = hashlib.sha256(MIRROR.read_bytes()).hexdigest()
    assert answer.provenance["files"] == {"block_list": {"path": str(MIRROR), "sha256": digest}}
    assert not {each.field for each in answer.uncertainty.drivers} & {"history", "frag", "files", "fill"}


def test_vdevs_are_numbered_as_in_the_layout_and_others_left_out(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    real = read_block_list(MIRROR).table
    second = replace(real, dva_vdev=np.where(real.dva_vdev >= 0, 2, -1).astype(np.int32))
    other = replace(
        real.take(np.arange(50)), dva_vdev=np.where(real.dva_vdev[:50] >= 0, 1, -1).astype(np.int32)
    )
    lines = [*pointer_lines(second), *pointer_lines(other)]
    (tmp_path / "pointers.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "status.txt").write_text(status_of(("mirror-0", "mirror-2"), 2))
    words = [str(tmp_path / "pointers.txt"), str(tmp_path / "status.txt"), "--set", "drive_size=2147483648"]
    assert main(["import", *words, "-o", str(tmp_path / "pool.toml")]) == 0
    case = resolve(Scenario.read(tmp_path / "pool.toml"))
    assert case.facts.block_list is not None
    found = case.facts.block_list.blocks(case.vdevs)
    assert found.allocated == (0, real.allocated_bytes)
    assert len(found.table) == len(real)
    repaired = resolve(Scenario.read(tmp_path / "pool.toml").model_copy(update={"replace_in": "1"}))
    assert repaired.facts.block_list is not None
    assert repaired.facts.block_list.blocks(repaired.vdevs).allocated == (real.allocated_bytes, 0)


@pytest.mark.parametrize("order", ["address", "traversal"])
def test_a_list_of_blocks_follows_the_vdev_that_is_repaired(order: block_list.Order) -> None:
    listed = validation_directory() / "zfs-more/uneven-raidz2x6-raidz2x6late-s1-r6/bps.csv.zst"
    stated = Scenario(layout="2*raidz2x6", drive_size=1 << 30, block_list=str(listed), load=())
    first, second = (resolve(stated.model_copy(update={"replace_in": number})) for number in ("0", "1"))
    assert first.facts.block_list is not None
    assert second.facts.block_list is not None
    there = first.facts.block_list.blocks(first.vdevs, order)
    here = second.facts.block_list.blocks(second.vdevs, order)
    assert here.allocated == there.allocated[::-1]
    assert here.allocated[0] != here.allocated[1]
    swapped = np.where(there.table.dva_vdev >= 0, 1 - there.table.dva_vdev, -1)
    assert (here.table.dva_vdev == swapped).all()
    assert (here.table.dva_offset == there.table.dva_offset).all()


def test_free_space_follows_the_vdev_that_is_repaired(tmp_path: Path) -> None:
    rows = [f"{vdev},{slab},{slab << 24},{1 << (12 + vdev)},10" for vdev in range(3) for slab in range(2)]
    text = "\n".join(["vdev,metaslab,offset,free,fragmentation", *rows, ""])
    known = read_free_space(write(tmp_path / "m.csv", text))
    led = known.led_by(2)
    assert led.vdev.tolist() == [0, 0, 1, 1, 2, 2]
    assert led.free.tolist() == [1 << 14] * 2 + [1 << 12] * 2 + [1 << 13] * 2
    assert led.offset.tolist() == known.offset.tolist()


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(block_list, "MOST_ROWS", 3000)
    block_list._load.cache_clear()
    yield
    block_list._load.cache_clear()


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("order", ["address", "traversal"])
def test_of_a_long_list_windows_are_read(order: block_list.Order) -> None:
    vdevs, real = vdevs_of("raidz2x6", 1), read_block_list(RAIDZ).table
    found = load_blocks(RAIDZ, vdevs, order)
    assert found.rows == len(real)
    assert found.allocated == (real.allocated_bytes,)
    assert 2500 < len(found.table) < 3500
    assert found.scale((0,)) == pytest.approx(len(real) / len(found.table), rel=0.1)


def test_windows_have_the_runs_gaps_and_holes_of_the_list() -> None:
    vdevs = vdevs_of("raidz2x6", 1)
    whole = load_blocks(RAIDZ, vdevs)
    wanted = describe(whole.table, vdevs)
    found = []
    for seed in range(6):
        part = sample_blocks(whole, vdevs, 4000, "address", seed)
        shown = window_vdevs(part, vdevs)
        found.append(describe(part.table, (shown[0],)))
    for name in ("exact", "near", "far"):
        assert np.mean([getattr(each, name) for each in found]) == pytest.approx(
            getattr(wanted, name), abs=0.02
        )
    for name, within in (("near_gap", 0.15), ("run_blocks", 0.15)):
        mean = np.mean([getattr(each, name) for each in found])
        assert mean == pytest.approx(getattr(wanted, name), rel=within), name
    metadata = np.mean(
        [
            1 - each.data_blocks / (each.data_blocks + each.indirect_blocks + each.other_blocks)
            for each in found
        ]
    )
    assert metadata == pytest.approx(float(whole.table.is_metadata.mean()), rel=0.35)


def test_copies_move_into_the_windows_and_nothing_overlaps() -> None:
    vdevs = vdevs_of("raidz2x6", 1)
    whole = load_blocks(RAIDZ, vdevs)
    part = sample_blocks(whole, vdevs, 3000, "address", 2)
    placed = extents(part.table, 0)
    assert (placed.gaps >= 0).all()
    own = part.windows[0]
    assert own.hold(part.table.dva_offset[:, 0]).all()
    copies = part.table.dva_vdev[:, 1] == 0
    assert own.hold(part.table.dva_offset[copies, 1]).mean() > 0.6


def test_the_whole_list_is_simulated_where_it_is_small_and_windows_stand_for_it_where_it_is_not() -> None:
    from zsim.prediction.runs.member import run_member

    scenario = Scenario(
        layout="raidz2x6", drive_size=1 << 30, block_list=str(RAIDZ), write_cache=False, load=()
    )
    resolved = resolve(scenario)
    whole = miniature(resolved, blocks=1_000_000)
    assert whole.scale == 1.0
    exact = run_member(resolved, pool=whole).time_s
    times = []
    for seed in range(4):
        seeded = replace(resolved, seed=seed)
        part = miniature(seeded, blocks=len(whole.table) // 2)
        assert part.scale == pytest.approx(2.0, rel=0.1)
        times.append(run_member(seeded, pool=part).time_s)
    assert np.mean(times) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"block_list": "none.parquet"}, "no such file"),
        ({"block_list": "."}, "directory"),
        ({"block_list": __file__}, "neither Parquet nor"),
        ({"layout": "raidz1x6"}, "other sizes than it has"),
        ({"ashift": 14}, "other sizes than it has"),
        ({"drive_size": 1 << 29}, "drive_size"),
        ({"layout": "2*raidz2x6"}, None),
        ({"fill": 0.5}, "the block_list says how full"),
    ],
)
def test_a_list_of_another_pool_is_refused_in_one_sentence(
    changes: dict[str, object], words: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = {"layout": "raidz2x6", "drive_size": 1 << 30, "block_list": str(RAIDZ)} | changes
    flags = [word for name, value in fields.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    code = main(["pool", "show", *flags, "--json"])
    err = capsys.readouterr().err
    if words is None:
        assert code == 0
        return
    assert code == 2
    assert words in err
    assert err.count("\n") == 1


def test_an_address_whose_end_overflows_64_bits_is_refused(tmp_path: Path) -> None:
    header = "objset,object,level,blkid,birth_txg,phys_birth,type,lsize,psize,dvas_vdev:off_sec:asize_sec"
    last = (2**63 - 1) // 512
    path = write(tmp_path / "bps.csv", f"{header}\n1,2,0,0,4,4,19,4096,4096,0:{last}:8\n")
    with pytest.raises(InputError, match="drive_size"):
        load_blocks(path, vdevs_of("mirror2", 16), "address")


@pytest.mark.parametrize("psize", [-4096, 1 << 40])
def test_a_block_of_a_size_that_zfs_has_not_is_refused(tmp_path: Path, psize: int) -> None:
    header = "objset,object,level,blkid,birth_txg,phys_birth,type,lsize,psize,dvas_vdev:off_sec:asize_sec"
    good = "1,2,0,0,4,4,19,4096,4096,0:8:8\n"
    path = write(tmp_path / "bps.csv", f"{header}\n{good}{good}{good}1,2,0,1,4,4,19,4096,{psize},0:16:8\n")
    with pytest.raises(InputError, match=str(psize)):
        load_blocks(path, vdevs_of("mirror2", 16), "address")


def test_a_damaged_parquet_is_refused(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "b.parquet"
    vdevs = vdevs_of("mirror2", 1)
    parquet.write_table(arrow.table({"psize": [4096]}), path)
    with pytest.raises(InputError, match="column objset is missing"):
        load_blocks(path, vdevs)
    content = path.read_bytes()
    for cut in (5, len(content) // 2, len(content) - 3):
        path.write_bytes(content[:cut])
        with pytest.raises(InputError, match="damaged"):
            load_blocks(path, vdevs)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("dva_vdev_0", -2, "-1 is none"),
        ("dva_vdev_1", -7, "-1 is none"),
        ("dva_vdev_0", 1 << 32, "32 bits"),
        ("dva_count", 3, "does not agree"),
        ("dva_count", 1 << 16, "16 bits"),
        ("dva_offset_0", -4096, "below 0"),
        ("psize", 1 << 40, "blocks of 0 to 16M"),
        ("psize", -1, "blocks of 0 to 16M"),
        ("psize", None, "whole numbers"),
        ("birth", 0.5, "whole numbers"),
        ("level", 1 << 20, "16 bits"),
    ],
)
def test_a_parquet_with_numbers_that_no_pool_has_is_refused(
    tmp_path: Path, column: str, value: float | None, words: str
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    right = dict.fromkeys(block_list.COLUMNS, 0) | {
        "psize": 4096, "lsize": 4096, "dva_count": 1, "dva_asize_0": 4096, "dva_vdev_1": -1, "dva_vdev_2": -1,
    }  # fmt: skip
    path, vdevs = tmp_path / "b.parquet", vdevs_of("mirror2", 1)
    rows: dict[str, list[object]] = {name: [number, number] for name, number in right.items()}
    parquet.write_table(arrow.table(rows), path)
    assert len(load_blocks(path, vdevs).table) == 2
    rows[column][1] = value
    parquet.write_table(arrow.table(rows), path)
    with pytest.raises(InputError, match=words):
        load_blocks(path, vdevs)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


SLABS = "vdev,metaslab,offset,free,fragmentation,segments\n"


def slab_rows(fills: list[float], size: int = 16 << 30) -> str:
    return SLABS + "".join(
        f"0,{k},{k * size},{int(size * (1 - fill))},{10 if fill else ''},\n" for k, fill in enumerate(fills)
    )


def test_free_space_gives_alloc_and_frag_where_they_are_not_stated(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", slab_rows([0.5] * 100 + [0.0] * 100))
    known = read_free_space(path)
    assert known.alloc == 100 * (8 << 30)
    assert known.frag == pytest.approx(0.05)
    resolved = resolve(Scenario(layout="mirror2", drive_size="4TB", metaslabs=str(path)))
    assert resolved.alloc == known.alloc
    assert resolved.frag == known.frag
    assert not resolved.assumed("fill")
    stated = resolve(Scenario(layout="mirror2", drive_size="4TB", metaslabs=str(path), fill=0.4, frag=0.2))
    assert (stated.fill, stated.frag) == (0.4, 0.2)


def test_data_lie_in_the_zones_where_the_real_metaslabs_are_full(tmp_path: Path) -> None:
    count = 230
    base = {"layout": "mirror2", "drive_size": "4TB", "fill": 0.45, "history": "media-server"}
    places = {}
    for name, order in (("outer", 1), ("inner", -1)):
        fills = ([0.9] * (count // 2) + [0.0] * (count - count // 2))[::order]
        path = write(tmp_path / f"{name}.csv", slab_rows(fills).replace(",10,", ",1,"))
        pool = populate(
            resolve(Scenario.from_dict({**base, "metaslabs": str(path)})), max_blocks=8000
        ).miniature
        offset = pool.table.dva_offset[pool.table.dva_vdev == 0]
        places[name] = float(offset.mean()) / (count * (16 << 30))
        found = extents(pool.table, 0)
        assert (found.gaps >= 0).all()
        assert 0 <= mean_position(pool.own_table(), pool.recipe.vdevs) <= 1
    assert places["outer"] < 0.4
    assert places["inner"] > 0.6


def test_ranks_are_matched_and_spread_over_the_drive() -> None:
    fills = np.array([0.9, 0.1, 0.5])
    offset = np.arange(9) * 100
    real = np.array([0.2, 0.95, 0.5, 0.1, 0.9, 0.55, 0.15, 0.99, 0.6])
    places = matched_places(fills, offset, real)
    assert [
        int(place) // 100 in group
        for place, group in zip(places, ((1, 4, 7), (0, 3, 6), (2, 5, 8)), strict=True)
    ] == [True] * 3
    uniform = matched_places(np.full(32, 0.5), np.arange(200) * 100, np.full(200, 0.5))
    assert len(np.unique(uniform)) == 32
    assert uniform.mean() == pytest.approx(10_000, rel=0.15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vdev,offset\n0,0\n", "no column metaslab"),
        (SLABS, "holds no metaslabs"),
        (SLABS + "0,0,0,5,,\n", "at least two metaslabs"),
        (SLABS + "0,0,0,5,,\n0,1,0,5,,\n", "at least two metaslabs"),
        (SLABS + "0,0,0,-5,,\n0,1,100,5,,\n", "line 2: free"),
        (SLABS + "0,0,0,5,200,\n0,1,100,5,,\n", "line 2: fragmentation"),
        (SLABS + "0,0,0,500,,\n0,1,100,5,,\n", "more free space"),
        (SLABS + "0,0\n", "line 2: offset"),
        ("\x00", "no column|not CSV"),
    ],
)
def test_mistakes_in_free_space_are_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_free_space(write(tmp_path / "m.csv", text))
    with pytest.raises(InputError, match="no such file"):
        read_free_space(tmp_path / "none.csv")


def test_free_space_of_another_pool_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", slab_rows([0.5] * 10).replace("\n0,", "\n3,"))
    with pytest.raises(InputError, match="top-level vdev 3, the layout has 1"):
        (resolve(Scenario(layout="mirror2", metaslabs=str(path))))
    path = write(tmp_path / "n.csv", slab_rows([0.5] * 1000))
    with pytest.raises(InputError, match="drive_size"):
        (resolve(Scenario(layout="mirror2", drive_size="1TB", metaslabs=str(path))))


TYPED = "type,level,quantity,size,blocks\n"


def test_the_histogram_of_an_import_is_a_mix_of_records(tmp_path: Path) -> None:
    rows = (
        "ZFS plain file,1,psize,4096,70\nZFS plain file,0,psize,65536,10\nZFS plain file,0,psize,131072,30\n"
    )
    rows += "zvol object,0,psize,8192,40\nall,,psize,131072,999\n"
    path = write(tmp_path / "blocks.csv", TYPED + rows)
    small, middle, large = read_block_sizes(path)
    assert (small.recordsize, middle.recordsize, large.recordsize) == (8192, 65536, 131072)
    assert large.share == 30 * 131072
    (whole,) = read_block_sizes(path, 131072)
    assert whole.ratios == ((1 / 16, 0.5), (0.5, 0.125), (1.0, 0.375))


def test_the_pool_wide_histogram_serves_where_there_is_no_other(tmp_path: Path) -> None:
    rows = "all,,psize,65536,30\nall,,lsize,65536,10\nall,,psize,131072,70\nall,,lsize,131072,90\n"
    compressed, whole = read_block_sizes(write(tmp_path / "blocks.csv", TYPED + rows), 131072)[0].ratios
    assert compressed == (0.75, 0.3)
    assert whole == (1.0, 0.7)


def test_many_sizes_are_merged(tmp_path: Path) -> None:
    rows = "".join(f"file,,psize,{512 * k},{k}\n" for k in range(1, 257))
    (record,) = read_block_sizes(write(tmp_path / "blocks.csv", TYPED + rows), 131072)
    assert len(record.ratios) <= 65
    mean = sum(share * chance for share, chance in record.ratios)
    assert mean == pytest.approx(sum(k * k for k in range(1, 257)) / sum(range(1, 257)) / 256)
    with pytest.raises(InputError, match="line 2: size"):
        read_block_sizes(write(tmp_path / "bad.csv", TYPED + "file,,psize,17M,3\n"))


def test_sizes_and_free_space_reach_a_prediction_s_population(tmp_path: Path) -> None:
    sizes = write(tmp_path / "blocks.csv", "psize,lsize,blocks\n16K,16K,1\n")
    scenario = Scenario(layout="raidz2x6", fill=0.5, history="media-server", blocks=str(sizes))
    resolved = resolve(scenario)
    assert not resolved.assumed("recordsize")
    table = miniature(resolved, blocks=3000).table
    assert set(table.psize[~table.is_metadata].tolist()) == {16384}
