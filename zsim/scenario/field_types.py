"""The units of `zsim.base.units` and the layout grammar as field types of pydantic models.

Each accepts text with a unit or a plain number in SI, and refuses anything else with an `InputError` that
names the field.  Numbers stay numbers when a model is written as JSON; see `zsim.scenario.files` for TOML.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema

from zsim.base import units
from zsim.base.errors import InputError
from zsim.scenario.layout import FORMS, Layout


def _reader(parse: Callable[..., object]) -> BeforeValidator:
    """Return a validator that hands the field's name to `parse`, for its message."""

    def read(value: object, info: ValidationInfo) -> object:
        return value if value is None else parse(value, str(info.field_name))

    return BeforeValidator(read)


def _schema(what: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({
        "anyOf": [{"type": "string"}, {"type": "number"}], "description": what, "examples": [example]
    })  # fmt: skip


def _layout(value: object, field: str) -> Layout:
    if isinstance(value, Layout):
        return value
    if not isinstance(value, str):
        raise InputError(field, value, "it is not text", FORMS)
    return Layout.parse(value)


Bytes = Annotated[int, _reader(units.parse_bytes), _schema("bytes; K, M, G, T are powers of 1024", "128K")]
"""A ZFS size [bytes]; prefixes are powers of 1024."""

DriveBytes = Annotated[
    int, _reader(units.parse_drive_size), _schema("bytes; K, M, G, T are powers of 1000, TiB of 1024", "4TB")
]
"""The capacity of a drive [bytes]; prefixes are powers of 1000."""

Rate = Annotated[
    float, _reader(units.parse_rate), _schema("bytes per second; prefixes are powers of 1000", "180MB/s")
]
"""Bytes per second; prefixes are powers of 1000."""

Seconds = Annotated[float, _reader(units.parse_duration), _schema("seconds, or text with units", "16h55m")]
"""A duration [s]."""

Fraction = Annotated[
    float, _reader(units.parse_fraction), _schema("from 0 to 1, or a percentage with %", "62%")
]
"""A number from 0 to 1."""

LayoutField = Annotated[
    Layout,
    _reader(_layout),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["raidz2x6", "4*raidz2x6", "mirror2", "draid2:8d:41c:2s"]}),
]
"""A `Layout`, read from and written as text."""
