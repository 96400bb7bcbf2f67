"""How far evidence of each kind scatters: the numbers of ``models/evidence``."""

from __future__ import annotations

import functools

from zsim.base import model_data
from zsim.base.constants import number_in

MODEL = model_data.models_directory() / "evidence" / "noise.toml"


@functools.cache
def noise(name: str, unit: str = "1") -> float:
    """Return a number of ``models/evidence/noise.toml``.

    Parameters
    ----------
    name : str
        Such as ``scan.event``: standard deviations are those of natural logarithms.
    unit : str
        That it is given in there.
    """
    return float(number_in(MODEL, name, unit))
