"""Errors of pydantic as one sentence with the name of the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from zsim.base.errors import InputError, cut
from zsim.base.model_data import suggest

_TABLE = "it is a table of names and values"
_ALLOWED = {
    "int_parsing": "it is a whole number",
    "int_type": "it is a whole number",
    "int_from_float": "it is a whole number",
    "int_parsing_size": "it is a whole number of at most 18 digits",
    "float_parsing": "it is a number",
    "float_type": "it is a number",
    "finite_number": "it is a finite number",
    "bool_parsing": "it is true or false",
    "bool_type": "it is true or false",
    "string_type": "it is text",
    "string_too_short": "it is a name, not an empty text",
    "tuple_type": "it is a list",
    "too_short": "it has at least one entry",
    "dict_type": _TABLE,
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
}
_BRANCHES = ("int", "float", "str", "bool")
_SIGNS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


_OF_PYDANTIC = frozenset(name for name in dir(BaseModel) if not name.startswith("_"))


class OwnNames(BaseModel):
    """A model of which ``dir`` and completion show its own names, not the forty of pydantic."""

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _OF_PYDANTIC]


class SaidInOneSentence(OwnNames):
    """A model that, made by its name, says in one sentence what is wrong."""

    if not TYPE_CHECKING:  # type checkers take the fields

        def __init__(self, /, **data: object) -> None:
            try:
                super().__init__(**data)
            except ValidationError as error:
                kind = type(self)
                raise input_error(error, kind.model_fields, kind.__name__) from None

        # Inside another model pydantic then goes by the fields: what is wrong is told with its place there.
        __init__.__pydantic_base_init__ = True


def input_error(
    error: ValidationError, known: Mapping[str, FieldInfo], whole: str = "scenario"
) -> InputError:
    """Return the first finding of `error` as an `InputError`.

    Parameters
    ----------
    error : ValidationError
    known : Mapping of str to FieldInfo
        The fields there are: for a suggestion when a name is unknown, for the range and what a field means.
    whole : str
        What the fields belong to.
    """
    found = error.errors(include_url=False)[0]
    place = [str(part) for part in found["loc"] if part not in _BRANCHES]
    field = ".".join(place) or whole
    info = known.get(field)
    if found["type"] == "extra_forbidden":
        remedy = suggest(field, known) if len(place) == 1 else "leave it out"
        return InputError(field, found["input"], "there is no such field", remedy)
    if found["type"] == "missing":
        return InputError(field, None, "it must be given", _meaning(info) or "add it")
    if field.startswith("tunables."):
        return InputError(field, found["input"], "a tunable is a number or text", "write it as NAME = 5")
    return InputError(field, found["input"], _allowed(found, info), _REMEDIES.get(field) or _meaning(info))


def _allowed(found: ErrorDetails, info: FieldInfo | None) -> str:
    kind, context = found["type"], found.get("ctx", {})
    if kind == "union_tag_not_found":
        return f"it says in {context['discriminator']} which kind it is"
    if kind == "union_tag_invalid":
        known = context["expected_tags"].replace(chr(39), "")
        return f"its {context['discriminator'].strip(chr(39))} is one of {known}"
    if kind == "literal_error":
        return f"it is one of {context['expected'].replace(chr(39), '')}"
    if kind in _BOUNDS:
        return _range(info) if info is not None else _lower(found["msg"].replace("Input should be", "it is"))
    # What pydantic says may repeat what was given.
    return _ALLOWED.get(kind) or cut(_lower(found["msg"].removeprefix("Value error, ")), 200)


def _range(info: FieldInfo) -> str:
    """Return both bounds of a field."""
    bounds = {name: getattr(each, name) for each in info.metadata for name in _SIGNS if hasattr(each, name)}
    return "it is " + " and ".join(f"{_SIGNS[name]} {bounds[name]}" for name in _SIGNS if name in bounds)


_REMEDIES = {
    "ashift": "write 12 for sectors of 4096 bytes, 9 for 512",
    "operation": "write resilver for a drive that is replaced",
}
"""What to write instead, where a field's meaning does not tell."""


def _meaning(info: FieldInfo | None) -> str:
    return f"it means: {info.description}" if info is not None and info.description else ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
