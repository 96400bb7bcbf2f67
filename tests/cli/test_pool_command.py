"""``zsim pool``: what it prints, draws and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zsim.cli.main import main
from zsim.pool.recipes.histories import history_names

POOL = ("pool", "show", "--layout", "raidz2x6", "--drive-size", "1TB", "--fill", "0.5")


def zsim(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_population_is_described_in_figures_holes_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = zsim(capsys, *POOL, "--history", "media-server")
    assert code == 0
    for words in ("50 % full", "FRAG", "mean run in file order", "size from", "A scan in address order"):
        assert words in out


def test_json_holds_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = zsim(capsys, *POOL, "--frag", "20%", "--json")
    data = json.loads(out)
    assert code == 0
    assert data["frag"] == pytest.approx(0.2, abs=0.05)
    assert data["fill"] == pytest.approx(0.5, abs=0.02)
    assert data["exact"] + data["near"] + data["far"] == pytest.approx(1.0)
    assert len(data["metaslab_fill"]) == sum(data["metaslabs"])


def test_block_sizes_of_one_s_own_are_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = tmp_path / "blocks.csv"
    sizes.write_text("psize,lsize,blocks\n16K,16K,100\n8K,16K,300\n", encoding="utf-8")
    _, out, _ = zsim(capsys, *POOL, "--blocks", str(sizes), "--json")
    assert json.loads(out)["data_blocks"] > 10_000
    sizes.write_text("size,number\n16K,100\n", encoding="utf-8")
    code, _, err = zsim(capsys, *POOL, "--blocks", str(sizes))
    assert code == 2
    assert "no column psize" in err


def test_what_was_written_again_since_an_expansion_takes_less_space(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`--rewritten` was passed over: the blocks shown had all the width from before the expansion."""
    words = ("pool", "show", "--layout", "raidz1x4+1", "--drive-size", "20GB", "--fill", "0.5", "--json")
    old, new = (json.loads(zsim(capsys, *words, "--rewritten", share)[1]) for share in ("0", "100%"))
    assert old["fill"] == pytest.approx(new["fill"], rel=0.01)
    # Records of 128K: 4 columns take 4/3 of them, 5 take 5/4.
    assert new["data_blocks"] > 1.05 * old["data_blocks"]


def test_a_picture_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pool.svg"
    code, _, err = zsim(capsys, *POOL, "--plot", str(path))
    assert code == 0
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    assert "written" in err
    code, _, err = zsim(capsys, *POOL, "--plot", "pool.gif")
    assert (code, ".svg" in err) == (2, True)


def test_histories_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = zsim(capsys, "pool", "histories")
    assert code == 0
    assert all(name in out for name in history_names())
    _, out, _ = zsim(capsys, "pool", "histories", "--json")
    assert [each["name"] for each in json.loads(out)["histories"]] == list(history_names())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--history", "home"), "history 'home'"),
        (("--history", "write-once-archive", "--frag", "0.7"), "at most"),
        (("--blocks", "none.csv"), "blocks 'none.csv'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = zsim(capsys, *POOL, *words)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("fill", "sizes"), [("99%", ""), ("97%", "psize,blocks,lsize\n4096,1000,131072\n131072,9\n")]
)
def test_a_pool_that_its_history_does_not_fit_is_refused(
    fill: str, sizes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "z.csv").write_text(sizes)
    words = ("pool", "show", "--layout", "mirror2", "--drive-size", "8GB" if sizes else "1GB", "--fill", fill)
    code, out, err = zsim(capsys, *words, *(("--blocks", str(tmp_path / "z.csv")) if sizes else ()))
    assert (code, out) == (2, "")
    assert "cannot be run on it" in err
    assert len(err.splitlines()) == 1
