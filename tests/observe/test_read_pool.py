"""`zsim.read_pool`: a scenario of what somebody has of a pool."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import zsim
from zsim.base.errors import InputError

STATUS = Path(__file__).parents[2] / "docs" / "examples" / "zpool-status.txt"


def test_text_files_and_sentences_become_scenarios(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="NOT KNOWN: the record size.*or state it with recordsize=VALUE"):
        named = zsim.read_pool(str(STATUS))
    with pytest.warns(UserWarning, match="NOT KNOWN"):
        assert zsim.read_pool(STATUS.read_text()) == named == zsim.read_pool(STATUS)
    assert str(named.layout) == "raidz2x8"
    (tmp_path / "pool.txt").write_text("8x 16TB in raidz2\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = zsim.read_pool(tmp_path / "pool.txt")
        assert (
            said == zsim.read_pool("8x 16TB in raidz2") == zsim.Scenario(layout="raidz2x8", drive_size="16TB")
        )
        known = zsim.read_pool(STATUS, recordsize="1M", fill="50%")
    assert (known.recordsize, known.fill, known.alloc) == (1 << 20, 0.5, None)


def test_what_is_not_understood_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="not understood, and ignored: '10GbE'"):
        zsim.read_pool("8x 16TB in raidz2 on 10GbE")


@pytest.mark.parametrize("source", ["hello", "nosuch.txt", "", "8x 16TB"])
def test_what_describes_no_pool_is_refused(source: str) -> None:
    with pytest.raises(InputError):
        zsim.read_pool(source)
    with pytest.raises(InputError, match="it is text, or the path of a file"):
        zsim.read_pool(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [("8x 16TB in raidz2", "zsim.read_pool('8x 16TB in raidz2')"), (str(STATUS), "zsim.read_pool('"),
     (STATUS.read_text(), "zsim.read_pool(text)")],
)  # fmt: skip
def test_who_asks_with_a_description_is_told_how_it_is_read(asked: str, remedy: str) -> None:
    with pytest.raises(InputError) as found:
        zsim.predict(asked)
    assert remedy in str(found.value)


def test_a_slip_in_a_layout_is_told_as_before() -> None:
    with pytest.raises(InputError, match=r"did you mean raidz2x6\?"):
        zsim.predict("raidz2 6")
    with pytest.raises(InputError, match="known forms are"):
        zsim.predict("status.txt")
