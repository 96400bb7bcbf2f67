"""``zsim drives`` and ``zsim replay``: what they print, write and refuse."""

import json
from typing import Any

import pytest

from zsim.cli.main import main
from zsim.cli.tools import replay
from zsim.drives.catalogue import list_drives, load_drive

TRACE = "1.0 0 100 8 1\n20.0 0 108 8 1\n25 0 900000 128 0\n"


def zsim(capsys, *words):
    code = main(list(words))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_list_holds_every_drive(capsys):
    code, out, _ = zsim(capsys, "drives", "list")
    assert code == 0
    assert all(name in out for name in list_drives())
    code, out, _ = zsim(capsys, "drives", "list", "--json")
    listed = json.loads(out)["drives"]
    assert [drive["name"] for drive in listed] == list(list_drives())
    assert listed[0].keys() >= {"capacity_bytes", "recording", "outer_rate_bytes_per_s", "outer_rate_kind"}


def test_a_drive_is_shown_with_sources_and_what_follows(capsys):
    code, out, _ = zsim(capsys, "drives", "show", "HD502HJ")
    assert code == 0
    for words in ("outer_rate", "Tom's Hardware", "random 4K reads", "reading all of it", "access_time"):
        assert words in out
    code, out, _ = zsim(capsys, "drives", "show", "generic-7200rpm-cmr", "--drive-size", "16TB", "--json")
    shown = json.loads(out)
    assert shown["capacity_bytes"] == 16 * 10**12
    assert list(shown["derived"]["random_read_iops_by_depth"]["4096"]) == ["1", "2", "4", "8", "16", "32"]
    assert shown["parameters"]["seek_average"]["unit"] == "ms"
    assert shown["derived"]["seconds_to_read_all"] > 50_000


def test_a_shingled_and_a_solid_state_drive_are_shown(capsys):
    _, out, _ = zsim(capsys, "drives", "show", "st8000as0002")
    assert "persistent_cache" in out
    assert "which fill the persistent cache" in " ".join(out.split())
    code, out, _ = zsim(capsys, "drives", "show", "870-qvo-4tb")
    assert code == 0
    assert "slc_cache" in out
    assert "writes: 487 MB/s for the first 78 GB, 169 MB/s after" in out


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_drive_is_drawn(capsys, tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    for name in ("st5000dm000", "generic-sata-ssd"):
        code, _, err = zsim(capsys, "drives", "plot", name, "-o", str(path))
        assert (code, path.stat().st_size > 5000) == (0, True)
        assert "written" in err


def test_a_fit_prints_its_factors_and_writes_a_drive(capsys, tmp_path):
    samples = tmp_path / "dd.csv"
    samples.write_text("offset,rate\n0,118MB/s\n500GB,95MB/s\n990GB,61MB/s\n")
    output = tmp_path / "mine.toml"
    code, out, err = zsim(
        capsys, "drives", "fit", "--drive", "hd103uj", "--dd", str(samples), "-o", str(output)
    )
    assert code == 0
    assert "outer_rate" in out
    assert "Condition number" in out
    assert str(output) in err
    assert load_drive(str(output)).quantities["outer_rate"].kind == "fitted"
    code, out, _ = zsim(capsys, "drives", "fit", "--drive", "hd103uj", "--dd", str(samples), "--json")
    assert [f["name"] for f in json.loads(out)["factors"]] == [
        "outer_rate",
        "inner_ratio",
        "seek",
        "overhead",
    ]


def test_a_trace_is_replayed(capsys, tmp_path):
    trace = tmp_path / "t"
    trace.write_text(TRACE)
    code, out, _ = zsim(capsys, "replay", str(trace), "--drive", "HD103UJ")
    assert code == 0
    assert "3 requests (2 reads, 1 writes)" in out
    assert "50.0 % of the requests" in out
    output = tmp_path / "out.csv"
    code, out, err = zsim(capsys, "replay", str(trace), "--depth", "2", "-o", str(output), "--json")
    assert json.loads(out)["requests"] == 3
    assert output.read_text().count("\n") == 4
    assert "written" in err


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["drives", "show", "hd103ux"], "hd103uj"),
        (["drives", "show", "hd103uj", "--drive-size", "2TB"], "1000204886016"),
        (["drives", "plot", "hd103uj", "-o", "x.gif"], ".svg"),
        (["drives", "plot", "hd103uj", "-o", "/nowhere/x.svg"], "directory"),
        (["drives", "fit"], "measurements"),
        (["drives", "fit", "--dd", "/nowhere"], "no such file"),
        (["drives", "fit", "--dd", "x", "-o", "x.txt"], ".toml"),
        (["replay", "/nowhere"], "no such file"),
        (["replay", "TRACE", "--drive", "nosuch"], "no such drive"),
        (["replay", "TRACE", "--depth", "0"], "--depth"),
        (["replay", "TRACE", "--format", "x"], "--format"),
        (["replay", "TRACE", "--device", "x"], "--device"),
        (["replay", "TRACE", "-o", "x.xls"], ".parquet"),
        (["replay", "TRACE", "--drive-size", "1kB"], "byte"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, tmp_path, monkeypatch, words, names):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TRACE").write_text(TRACE)
    code, out, err = zsim(capsys, *words)
    assert (code, out) == (2, "")
    assert names in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_writes_that_took_no_time_have_no_rate() -> None:
    one = {"written_bytes": 1e9, "writes": 10.0, "bytes_per_s": 1e6}
    figures: Any = {
        "writes_by_amount": [{**one, "service_s": 0.0}, {**one, "service_s": 0.5}],
        "cleaning_s": 0.0, "elapsed_s": 1.0,
    }  # fmt: skip
    assert len(replay._as_it_went(figures)) == 2
