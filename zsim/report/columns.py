"""Tables as files: Parquet, with the schema version in its metadata, or CSV."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from zsim.base.errors import InputError, printable
from zsim.base.files import replace_file
from zsim.base.provenance import SCHEMA_VERSION

if TYPE_CHECKING:
    from zsim.prediction.answer.prediction import Prediction

Columns = dict[str, list[object]]
VERSION_KEY = b"zsim.schema_version"


def series_of(prediction: Prediction) -> Columns:
    """Return the progress curve of a prediction by column; units as in `ProgressPoint`."""
    points = [point.model_dump() for point in prediction.progress]
    names = type(prediction.progress[0]).model_fields if points else ("time_s", "fraction")
    return {name: [point[name] for point in points] for name in names}


def columns_of(names: Sequence[str], rows: Sequence[Mapping[str, object]]) -> Columns:
    """Return rows as columns; one that holds both numbers and text becomes text."""
    columns = {name: [row.get(name) for row in rows] for name in names}
    for name, values in columns.items():
        kinds = {type(value) for value in values if value is not None}
        if len(kinds) > 1 and not kinds <= {int, float}:
            columns[name] = [None if value is None else str(value) for value in values]
    return columns


def save_columns(columns: Columns, path: str | Path) -> None:
    """Write columns as .parquet (needs pyarrow) or .csv; the file appears whole or not at all.

    Raises
    ------
    InputError
        If pyarrow is not installed or the file cannot be written.
    """
    data: bytes | str = _parquet(columns) if Path(path).suffix == ".parquet" else _csv(columns)
    replace_file(path, data)


def _parquet(columns: Columns) -> bytes:
    arrow, _ = _pyarrow()
    try:
        return _written(columns)
    except (arrow.ArrowException, UnicodeEncodeError, OverflowError):
        # Cells that have no common type, or one that Parquet has not: whatever is no number becomes text.
        return _written({name: _plain(values) for name, values in columns.items()})


def _written(columns: Columns) -> bytes:
    arrow, parquet = _pyarrow()
    table = arrow.table(columns).replace_schema_metadata({VERSION_KEY: str(SCHEMA_VERSION).encode()})
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


def _plain(values: list[object]) -> list[object]:
    """Return a column of numbers as it is, any other as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {float} or kinds <= {bool}:
        return values
    return [None if value is None else printable(_text(value)) for value in values]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _csv(columns: Columns) -> str:
    from zsim.prediction.answer.tables import Grid
    from zsim.report.tables import to_csv

    rows = zip(*columns.values(), strict=True)
    cells = tuple(tuple("" if value is None else str(value) for value in row) for row in rows)
    return to_csv(Grid(tuple(columns), cells))


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        reason = "Parquet files need pyarrow, which is not installed"
        raise InputError("file", ".parquet", reason, "install zsim[data], or write .csv") from error
