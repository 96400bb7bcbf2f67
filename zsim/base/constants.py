"""Numbers that predictions choose or that were fitted for them, from ``models/prediction``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from zsim.base import model_data


def directory() -> Path:
    """Return where the files are."""
    return model_data.models_directory() / "prediction"


@functools.cache
def _file(name: str) -> Mapping[str, object]:
    return model_data.load_toml(directory() / f"{name}.toml")


def constant(name: str) -> float:
    """Return a number, such as ``statistics.noise``: the file, then the key in it.

    Raises
    ------
    InputError
        When it is missing or has no unit or source.
    """
    file, _, key = name.partition(".")
    return model_data.quantity_of(_file(file), key, directory() / f"{file}.toml").value


def whole_constant(name: str) -> int:
    """Return a whole number; see `constant`."""
    value = constant(name)
    if not isinstance(value, int):
        raise TypeError(f"models/prediction: {name} is no whole number")
    return value
