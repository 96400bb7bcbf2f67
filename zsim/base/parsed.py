"""Read values from parsed TOML or JSON with the types they should have; a wrong type is one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from zsim.base.errors import InputError

Parsed = Mapping[str, object]
"""A table of a file: names, and values of any type."""


def _wrong(name: str, value: object, wanted: str) -> InputError:
    return InputError(name, value, f"{wanted} is needed here", "correct the file")


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is a number: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def table(data: Parsed, name: str) -> Parsed:
    """Return the table of that name; an empty one where there is none, and of a null.

    Raises
    ------
    InputError
        When it is not a table.
    """
    found = data.get(name)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _wrong(name, found, "a table")
    return found


def table_or_empty(value: object) -> Parsed:
    """Return a value that is a table, and an empty one for any other: of outputs, which may say anything."""
    return value if isinstance(value, Mapping) else {}


def tables(data: Parsed, name: str) -> list[Parsed]:
    """Return the list of tables of that name; an empty one where there is none.

    Raises
    ------
    InputError
        When it is not a list of tables.
    """
    found = rows(data, name)
    if not all(isinstance(each, Mapping) for each in found):
        raise _wrong(name, None, "a list of tables")
    return [each for each in found if isinstance(each, Mapping)]


def rows(data: Parsed, name: str) -> Sequence[object]:
    """Return the list of that name; an empty one where there is none, and of a null.

    Raises
    ------
    InputError
        When it is not a list.
    """
    found = data.get(name)
    if found is None:
        return ()
    if not isinstance(found, list | tuple):
        raise _wrong(name, found, "a list")
    return found


def text(data: Parsed, name: str) -> str:
    """Return the text of that name.

    Raises
    ------
    InputError
        When it is missing or not text.
    """
    found = data.get(name)
    if not isinstance(found, str):
        raise _wrong(name, found, "text")
    return found


def texts(data: Parsed, name: str) -> tuple[str, ...]:
    """Return the list of texts of that name; an empty one where there is none."""
    found = rows(data, name)
    if not all(isinstance(each, str) for each in found):
        raise _wrong(name, None, "a list of texts")
    return tuple(each for each in found if isinstance(each, str))


def number(data: Parsed, name: str) -> float:
    """Return the number of that name.

    Raises
    ------
    InputError
        When it is missing or no number.
    """
    return number_of(data.get(name), name)


def number_of(value: object, name: str) -> float:
    """Return a value that has to be a number; `name` is for the message.

    Raises
    ------
    InputError
        When it is none.
    """
    if not is_number(value):
        raise _wrong(name, value, "a number")
    return value


def whole(data: Parsed, name: str) -> int:
    """Return the whole number of that name.

    Raises
    ------
    InputError
        When it is missing or no whole number.
    """
    found = data.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        raise _wrong(name, found, "a whole number")
    return found


def numbers(data: Parsed, name: str) -> list[float]:
    """Return the list of numbers of that name; an empty one where there is none."""
    return [number_of(each, name) for each in rows(data, name)]


def value_of(data: Parsed, name: str) -> float:
    """Return the number of a table ``{value = ..., unit = ..., source = ...}`` of that name."""
    return number(table(data, name), "value")
