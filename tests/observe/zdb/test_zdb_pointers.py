"""zdb -Lbbbbb: the list of block pointers as a stream."""

import io
from pathlib import Path

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.observe.zdb import pointers
from zsim.observe.zdb.pointers import FILE, METADATA, VOLUME, PointerTable, read_pointers, recognises

FIXTURE = Path(__file__).parents[1] / "fixtures" / "pointers.txt"


def read(content, **more):
    return read_pointers(io.BytesIO(content), "bp.txt", **more)


def test_sums_of_a_list():
    found = read(FIXTURE.read_bytes())
    assert (found.pointers, found.empty, found.malformed) == (7, 2, 0)
    assert found.blocks.tolist() == [3, 3, 1]
    assert found.psize[FILE] == 0x20000 + 0x20000 + 0xF000
    assert found.asize[METADATA] == 7 * 0x3000
    assert found.lsizes[VOLUME, 14] == 0x4000
    assert found.unit == 0x3000 * 1
    assert found.births == (4000, 4100)
    assert found.vdev_asize == {0: found.allocated}
    assert "bp count" in found.other_text


@pytest.mark.parametrize("chunk", [300, 1000, 4096])
def test_the_size_of_the_pieces_does_not_matter(chunk, monkeypatch):
    whole = read(FIXTURE.read_bytes())
    monkeypatch.setattr(pointers, "CHUNK", chunk)
    pieces = read(FIXTURE.read_bytes())
    for name in whole.__dataclass_fields__:
        if name != "other_text":
            np.testing.assert_array_equal(getattr(pieces, name), getattr(whole, name), err_msg=name)


def test_progress_on_stderr_in_front_of_a_line_does_no_harm():
    line = FIXTURE.read_bytes().splitlines()[6]
    found = read(
        b"\r1.2T completed (  42MB/s) estimated time remaining: 1hr 02min 03sec        " + line + b"\n" + line
    )
    assert found.pointers == 2


def test_few_bad_lines_are_counted_and_many_refused():
    good = FIXTURE.read_bytes().splitlines()[6] + b"\n"
    bad = good.replace(b"size=", b"syze=")
    found = read(good * 500 + bad + good * 500)
    assert (found.pointers, found.malformed, found.first_malformed) == (1000, 1, 501)
    with pytest.raises(InputError, match=r"bp\.txt, line 1"):
        read(bad + good * 3)
    with pytest.raises(InputError, match="expected is"):
        read(b"nothing of the kind\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"<0:", b"<99999999999:"),
        (b":30000>", b":fffffffffffffffffffff>"),
        (b"20000L", b"fffffffffffffffL"),
        (b"level 0", b"level 77"),
        (b"birth=4000L", b"birth=L"),
        (b"DVA[0]", b"DVA[0"),
    ],
)
def test_absurd_numbers_make_a_line_bad(old, new):
    good = FIXTURE.read_bytes().splitlines()[6]
    assert old in good
    with pytest.raises(InputError):
        read(good.replace(old, new))


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(pointers, "CHUNK", 4096)
    with pytest.raises(InputError, match="lines of at most"):
        read(b"objset 1 object 1 level 0 offset 0x0 " + b"x" * 200_000)


def test_only_such_lists_are_recognised():
    assert recognises(FIXTURE.read_bytes())
    assert not recognises(b"objset is a word")


def test_parquet_holds_every_pointer(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    with PointerTable(tmp_path / "t.parquet") as table:
        read(FIXTURE.read_bytes(), table=table)
    rows = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert len(rows) == 7
    first, third = rows[0], rows[4]
    assert (first["level"], first["dva_count"], first["is_metadata"]) == (-1, 3, True)
    assert (first["dva_offset_1"], first["dva_asize_2"]) == (0xA0035C000, 0x3000)
    assert (third["objset"], third["object"], third["offset"], third["birth"]) == (54, 2, 0x20000, 4000)
    assert (third["lsize"], third["psize"], third["dva_vdev_1"], third["is_metadata"]) == (
        0x20000,
        0x20000,
        -1,
        False,
    )


def test_a_table_that_fails_leaves_nothing(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError), PointerTable(tmp_path / "t.parquet") as table:
        read(b"objset 1 object 1 level 0 offset 0x0 nonsense\n", table=table)
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow_the_remedy_is_named(monkeypatch):
    real = pointers.importlib.import_module

    def missing(name):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name)

    pointers.require_pyarrow.cache_clear()
    monkeypatch.setattr(pointers.importlib, "import_module", missing)
    with (
        pytest.raises(InputError, match=r"install zsim\[data\], or give --no-blocks"),
        PointerTable("t.parquet") as table,
    ):
        read(FIXTURE.read_bytes(), table=table)
    pointers.require_pyarrow.cache_clear()
