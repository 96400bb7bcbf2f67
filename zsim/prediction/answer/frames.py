"""Parts of an answer as pandas data frames."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from pydantic import BaseModel

from zsim.base.errors import InputError
from zsim.prediction.answer.records import Answer, share_of_total

if TYPE_CHECKING:
    from pandas import DataFrame

Rows = Sequence[Mapping[str, object]]


def frame(prediction: Answer, part: str) -> DataFrame:
    """Return a part of an answer as a data frame; see `Prediction.to_frame`."""
    if part not in _PARTS:
        raise InputError("part", part, f"the parts are {', '.join(_PARTS)}", "name one of them")
    return data_frame(_PARTS[part](prediction))


def data_frame(rows: Rows, columns: Iterable[str] | None = None) -> DataFrame:
    """Return rows as a data frame.

    Raises
    ------
    InputError
        When pandas is not installed.
    """
    found: DataFrame = needed("pandas").DataFrame(
        [dict(row) for row in rows], columns=None if columns is None else list(columns)
    )
    return found


def needed(name: str) -> ModuleType:
    """Return a library that is not installed with zsim.

    Raises
    ------
    InputError
        When it is not installed at all.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError("data frame", name, "it is not installed", "install zsim[data]") from error


def _answer(prediction: Answer) -> Rows:
    answer, limit = prediction.resilver_s, prediction.bottleneck
    stated = {each.field: each.value for each in prediction.stated}
    found = {
        "p10_s": answer.p10,
        "p50_s": answer.p50,
        "p90_s": answer.p90,
        "bottleneck": limit.resource,
        "utilisation": limit.utilisation,
        "resilvered_bytes": prediction.resilvered_bytes,
        "read_bytes": prediction.read_bytes,
        "written_bytes": prediction.written_bytes,
        "io_count": prediction.io_count,
    }
    return [stated | found]


def _breakdown(prediction: Answer) -> Rows:
    shares = share_of_total(prediction.breakdown)
    return [
        {"cause": cause, "seconds": prediction.breakdown[cause], "share": share}
        for cause, share in shares.items()
    ]


def _records(name: str) -> Callable[[Answer], Rows]:
    return lambda prediction: _dumped(getattr(prediction, name))


def _dumped(records: Iterable[BaseModel]) -> Rows:
    return [record.model_dump() for record in records]


def _drivers(prediction: Answer) -> Rows:
    return _dumped(prediction.uncertainty.drivers) if prediction.uncertainty is not None else []


_PARTS: Mapping[str, Callable[[Answer], Rows]] = {
    "answer": _answer,
    "breakdown": _breakdown,
    "drivers": _drivers,
    **{
        name: _records(name)
        for name in ("progress", "leaves", "phases", "clients", "evidence", "assumptions")
    },
}
