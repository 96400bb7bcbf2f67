"""Resilver time over a grid: width, parity, fill, fragmentation, or any other field of the scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import NoneType

from zsim.base.errors import check_kind
from zsim.base.notebook import watched
from zsim.planning.store.study import study
from zsim.planning.table import Table
from zsim.scenario.asked import Asked


def sweep(
    base: Asked | None = None,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    **axes: object,
) -> Table:
    """Predict every combination of values of some fields.

    Parameters
    ----------
    base : Scenario, mapping, str or Path, optional
        What all combinations have in common, as `zsim.predict` takes it.
    store : str or Path, optional
        File in which answers are kept, so that a repeated sweep does not compute them again: JSON Lines, or
        SQLite if its name ends in ``.sqlite``.
    jobs : int, optional
        Processes; one a core by default.
    on_progress : callable, optional
        Called with the share done and a few words.
    **axes
        Field of the scenario to one value or a sequence of values; ``width`` and ``parity`` make RAID-Z
        layouts (parity 0: mirrors), and are whole numbers, or text such as ``"4,8"`` or ``"4..12"``.

    Returns
    -------
    Table
        One row per combination, the last axis varying fastest: its values, layout, usable space and answer;
        for an impossible combination ``refused`` has the reason.  All share one seed and its random numbers.

    Raises
    ------
    InputError
        When an axis is no field or has no value, or there are too many combinations.
    TableInterrupted
        On Ctrl-C, with the rows known so far; with a store, the same sweep continues from there.

    Examples
    --------
    >>> from zsim.planning.grid import points
    >>> points({"parity": [1, 2], "fill": [0.5]})
    [{'parity': 1, 'fill': 0.5}, {'parity': 2, 'fill': 0.5}]
    """
    check_kind("store", store, (str, Path, NoneType), "it is the name of a file", 'write store="a.jsonl"')
    with watched(on_progress, "sweeping") as report:
        return study(store, axes, base, jobs=jobs, on_progress=report)
