"""Series and tables in files: read back as they were, with their schema version."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from zsim.base.errors import InputError
from zsim.report.columns import columns_of, load_columns, save_columns

COLUMNS = {"time_s": [0.0, 1.5], "name": ["a", None], "count": [1, 2]}


def test_parquet_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "series.parquet"
    save_columns(COLUMNS, path)
    assert load_columns(path) == COLUMNS


def test_csv_has_a_head_and_a_line_each(tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    save_columns(COLUMNS, path)
    assert path.read_text().split() == ["time_s,name,count", "0.0,a,1", "1.5,,2"]


@pytest.mark.parametrize("version", [None, b"999"])
def test_another_schema_is_refused(version: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    metadata = {} if version is None else {b"zsim.schema_version": version}
    pyarrow.parquet.write_table(pyarrow.table(COLUMNS).replace_schema_metadata(metadata), path)
    with pytest.raises(InputError, match="schema_version"):
        load_columns(path)


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 cut off")
    with pytest.raises(InputError, match="Parquet file"):
        load_columns(path)
    with pytest.raises(InputError, match="Parquet file"):
        load_columns(tmp_path / "absent.parquet")


def test_a_column_of_numbers_and_words_becomes_words() -> None:
    found = columns_of(("a", "b"), [{"a": 1, "b": 2.5}, {"a": "x"}, {"a": None, "b": 3}])
    assert found == {"a": ["1", "x", None], "b": [2.5, None, 3]}
