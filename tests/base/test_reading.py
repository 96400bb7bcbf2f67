"""One door for files: what is no file of its kind is refused in one sentence, within bounded memory."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zstandard

from zsim.base import reading
from zsim.base.errors import InputError, printable, shown
from zsim.base.model_data import quantity_of
from zsim.base.reading import content_mark, is_deep, read_bytes, read_json, read_text, read_toml
from zsim.cli.main import main
from zsim.pool.measured.bps import read_block_list
from zsim.scenario.model import Scenario

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and limits of POSIX")
HEADER = "objset,object,level,blkid,birth_txg,phys_birth,type,lsize,psize,dvas_vdev:off_sec:asize_sec\n"
ROW = "54,2,0,{0},10,10,19,131072,131072,0:{1}:384\n"


def packed(path: Path, text: bytes) -> Path:
    path.write_bytes(zstandard.compress(text))
    return path


@posix
def test_pipes_devices_and_directories_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    started = time.monotonic()
    for path, words in ((pipe, "no regular file"), (tmp_path, "directory"), ("/dev/zero", "no regular file")):
        for read in (read_bytes, read_text, read_toml, read_json, content_mark):
            with pytest.raises(InputError, match=words):
                read(path)  # type: ignore[operator]
    with pytest.raises(InputError, match="no regular file"):
        Scenario.read(pipe)
    with pytest.raises(InputError, match="no regular file"):
        read_block_list(pipe)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "name", ["a\0b.toml", "x" * 5000 + ".toml", "\ud800.toml", "missing.toml", "~nobody-x/a.toml"]
)
def test_names_that_no_file_has_are_one_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["scenario", "show", name], ["predict", "--layout", "mirror2", "--drive", name]):
        assert main(words) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert len(err) < 700
        assert "Traceback" not in err


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 5000, "a." * 5000 + "b = 1", "a = " + "9" * 5000, "a = " + "[" * 60 + "]" * 60]
)
def test_toml_that_python_cannot_hold_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text(text)
    with pytest.raises(InputError, match="nested too deeply|too long|not TOML"):
        read_toml(tmp_path / "deep.toml")
    assert main(["scenario", "show", str(tmp_path / "deep.toml")]) == 2
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="nested too deeply|not JSON"):
        read_json(tmp_path / "deep.json")


@pytest.mark.parametrize("digits", [20, 400])
def test_integers_that_no_float_holds_are_refused(digits: int, tmp_path: Path) -> None:
    number = "9" * digits
    (tmp_path / "f.toml").write_text(
        f'[[pool]]\nname = "a"\ncount = 2\nlayout = "raidz2x6"\nafr = {number}\n'
    )
    (tmp_path / "f.json").write_text(f'{{"afr": [1, {number}]}}')
    for read, name in ((read_toml, "f.toml"), (read_json, "f.json")):
        with pytest.raises(InputError, match="a number in it is too long"):
            read(tmp_path / name)
    assert main(["fleet", str(tmp_path / "f.toml")]) == 2
    measured = (
        f'{{"jobs": [{{"job options": {{"rw": "randread", "bs": "4k"}}, "read": {{"iops": {number}}}}}]}}'
    )
    (tmp_path / "fio.json").write_text(measured)
    assert main(["drives", "fit", "--fio", str(tmp_path / "fio.json")]) == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a directory that takes no files, even from root")
def test_nothing_is_written_where_one_of_several_outputs_cannot_be(tmp_path: Path) -> None:
    status = Path(__file__).parents[2] / "docs" / "examples" / "zpool-status.txt"
    log = tmp_path / "log.jsonl"
    assert main(["eta", str(status), "--log", str(log), "--prometheus", "/proc/x.prom"]) == 2
    assert not log.exists()


def test_toml_is_parsed_once_and_changes_to_what_was_read_are_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    loads = reading.tomllib.loads
    monkeypatch.setattr(reading.tomllib, "loads", lambda text: parsed.append(text) or loads(text))
    path = tmp_path / "one.toml"
    path.write_text("[a]\nb = [1, 2]\n")
    first = reading.read_toml(path)
    first["a"]["b"].append(3)
    assert reading.read_toml(path) == {"a": {"b": [1, 2]}}
    assert len(parsed) == 1
    path.write_text("[a]\nb = [4]\n")
    assert reading.read_toml(path) == {"a": {"b": [4]}}
    assert len(parsed) == 2


def test_depth_is_counted() -> None:
    assert not is_deep({"a": [{"b": 1}]}, 3)
    assert is_deep({"a": [{"b": 1}]}, 2)


@pytest.mark.parametrize("ending", [".zst", ".gz"])
def test_a_bomb_is_refused(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SURELY_FINE", 1 << 20)
    content = bytes(32 << 20)
    path = tmp_path / f"bomb{ending}"
    path.write_bytes(zstandard.compress(content) if ending == ".zst" else gzip.compress(content))
    assert path.stat().st_size < 40_000
    with pytest.raises(InputError, match="comes to more than"):
        read_bytes(path, most=16 << 20)


def test_a_json_document_has_a_limit_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsed it takes several times as much: 1.3 GB and 4 s of one that was damaged in its middle."""
    monkeypatch.setattr(reading, "MAX_JSON", 100)
    path = tmp_path / "r.json"
    path.write_text('{"a": "' + "x" * 80 + '"}', encoding="utf-8")
    assert read_json(path) == {"a": "x" * 80}
    path.write_text('{"a": "' + "x" * 100 + '"}', encoding="utf-8")
    with pytest.raises(InputError, match="comes to more than 100 bytes"):
        read_json(path)


@pytest.mark.parametrize("ending", [".zst", ".gz"])
def test_a_cut_file_is_refused(ending: str, tmp_path: Path) -> None:
    content = np.random.default_rng(1).bytes(300_000)
    path = tmp_path / f"cut{ending}"
    path.write_bytes((zstandard.compress(content) if ending == ".zst" else gzip.compress(content))[:-5])
    with pytest.raises(InputError, match="damaged or cut"):
        read_bytes(path)


@posix
def test_a_small_packed_list_takes_little_memory(tmp_path: Path) -> None:
    path = packed(tmp_path / "bps.csv.zst", (HEADER + ROW.format(1, 2048) * 200_000).encode())
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30));"
        "from zsim.pool.measured.bps import read_block_list; print(len(read_block_list(sys.argv[1]).table))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "200000\n", done.stderr


def test_a_list_in_parts_is_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bps.csv"
    path.write_text(HEADER + "".join(ROW.format(k, 2048 + 384 * k) for k in range(10)))
    whole = read_block_list(path).table
    monkeypatch.setattr("zsim.pool.measured.bps.LINES_AT_ONCE", 3)
    parts = read_block_list(path).table
    assert np.array_equal(whole.blkid, parts.blkid)
    assert np.array_equal(whole.dva_offset, parts.dva_offset)
    path.write_text(path.read_text() + "1,2\n")
    with pytest.raises(InputError, match="line 12 has 2 fields"):
        read_block_list(path)


def test_a_mark_follows_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one")
    state = path.stat()
    first = content_mark(path)
    path.write_text("two")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert content_mark(path) != first
    os.utime(path, ns=(0, 0))
    assert content_mark(path) == content_mark(path)


def test_terminals_are_not_steered() -> None:
    wild = "a\x1b[31m\u202eb\x07"
    assert printable(wild) == "a\\u001b[31m\\u202eb\\u0007"
    assert "\x1b" not in str(InputError(wild, wild, wild, wild))
    assert len(str(InputError("x" * 999, "y" * 999, "z", ""))) < 350
    assert len(shown("x" * 999)) <= 160
    with pytest.raises(InputError, match="not printed"):
        Scenario(layout="mirror2", fill=0.5, drive="a\u202eb.toml")


@pytest.mark.parametrize("value", [1e308, "x", [], [1.0, float("inf")]])
def test_a_number_that_is_none_is_shown(value: object) -> None:
    data = {"rate": {"value": value, "unit": "1", "source": "a datasheet", "kind": "datasheet"}}
    with pytest.raises(InputError, match=r"rate\.value .* cannot be used") as found:
        quantity_of(data, "rate", Path("m.toml"))
    assert found.value.value == value


def test_a_file_that_cannot_be_read_to_its_end_has_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As /proc/self/mem, or a file on a disk that fails: it is the file that is at fault, no output."""
    path = tmp_path / "m.txt"
    path.write_text("x")

    def failing(stream: object, name: str) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(reading.hashlib, "file_digest", failing)
    with pytest.raises(InputError, match="metaslabs .*m.txt' cannot be used: input/output error"):
        reading.content_mark(path, "metaslabs")
