"""Series and tables in files: they come back as they were, with their schema version."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet

from zsim.base.provenance import SCHEMA_VERSION
from zsim.report.columns import columns_of, save_columns

COLUMNS = {"time_s": [0.0, 1.5], "name": ["a", None], "count": [1, 2]}


def test_parquet_comes_back_as_it_was_with_the_version_of_its_form(tmp_path: Path) -> None:
    path = tmp_path / "series.parquet"
    save_columns(COLUMNS, path)
    table = pyarrow.parquet.read_table(path)
    assert table.to_pydict() == COLUMNS
    assert table.schema.metadata == {b"zsim.schema_version": str(SCHEMA_VERSION).encode()}


def test_csv_has_a_head_and_a_line_each(tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    save_columns(COLUMNS, path)
    assert path.read_text().split() == ["time_s,name,count", "0.0,a,1", "1.5,,2"]


def test_a_column_of_numbers_and_words_becomes_words() -> None:
    found = columns_of(("a", "b"), [{"a": 1, "b": 2.5}, {"a": "x"}, {"a": None, "b": 3}])
    assert found == {"a": ["1", "x", None], "b": [2.5, None, 3]}
