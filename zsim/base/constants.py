"""Numbers that were chosen or fitted for predictions, from ``models/prediction``; normal quantiles."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from zsim.base import model_data

Z90, Z975 = 1.2815515655446004, 1.959963984540054
"""Quantiles of the standard normal distribution (Abramowitz and Stegun, 26.5): 90 %, half of p10 to p90; and
97.5 %, half of a 95 % interval."""


def directory() -> Path:
    """Return where the files are."""
    return model_data.models_directory() / "prediction"


@functools.cache
def content(path: Path) -> Mapping[str, object]:
    """Return what a file of `models/` holds, read once."""
    return model_data.load_toml(path)


def number_in(path: Path, name: str, unit: str | None = None) -> float:
    """Return a number of a file of `models/`.

    Parameters
    ----------
    path : Path
    name : str
        Its key, such as ``scan.event``.
    unit : str, optional
        That it has to be given in.

    Raises
    ------
    InputError
        When it is missing, or has no unit or source.
    """
    return model_data.quantity_of(content(path), name, path, unit).value


def constant(name: str) -> float:
    """Return a number, such as ``statistics.noise``: the file, then the key in it.

    Raises
    ------
    InputError
        When it is missing or has no unit or source.
    """
    file, _, key = name.partition(".")
    return number_in(directory() / f"{file}.toml", key)


def whole_constant(name: str) -> int:
    """Return a whole number; see `constant`."""
    value = constant(name)
    if not isinstance(value, int):
        raise TypeError(f"models/prediction: {name} is no whole number")
    return value
