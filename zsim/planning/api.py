"""The public functions of the room `plan`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from zsim.planning import sweep as in_one_go
from zsim.planning.compare import compare
from zsim.planning.table import Table
from zsim.scenario.asked import Asked

__all__ = ["compare", "sweep"]


def sweep(
    base: Asked | None = None,
    *,
    store: str | Path | None = None,
    jobs: int | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    **axes: object,
) -> Table:
    """See `zsim.planning.sweep.sweep`; a store in SQLite is kept by `zsim.planning.store.study`."""
    if not isinstance(store, str | Path) or Path(store).suffix != ".sqlite":
        return in_one_go.sweep(base, store=store, jobs=jobs, on_progress=on_progress, **axes)
    from zsim.base.notebook import watched
    from zsim.planning.store.study import study

    grid, common = in_one_go.asked(base, axes)
    with watched(on_progress, "sweeping") as report:
        return study(store, grid, jobs=jobs, on_progress=report, common=common)


sweep.__doc__ = in_one_go.sweep.__doc__
