"""How far evidence of each kind scatters: the numbers of ``models/evidence``."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from zsim.base import model_data

MODEL = model_data.models_directory() / "evidence" / "noise.toml"


@functools.cache
def _numbers() -> Mapping[str, object]:
    return model_data.load_toml(MODEL)


@functools.cache
def noise(name: str, unit: str = "1") -> float:
    """Return a number of ``models/evidence/noise.toml``.

    Parameters
    ----------
    name : str
        Such as ``scan.event``: standard deviations are those of natural logarithms.
    unit : str
        That it is given in there.

    Returns
    -------
    float
    """
    return float(model_data.quantity_of(_numbers(), name, MODEL, unit).value)
