"""A sweep of any size: answers in a store, work divided into shards, on any executor."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from zsim.base.notebook import Report
from zsim.planning.grid import common_of, grid_of, missing_of_rows, points, row_of
from zsim.planning.rows import ANSWER, REASON, Row, refused_row
from zsim.planning.running import answers
from zsim.planning.store.keys import Shard, key_of, sources
from zsim.planning.store.opened import AnyStore, open_store
from zsim.planning.store.refine import (
    MOST_SEEDS,
    REFINED,
    check_refinement,
    mean_row,
    seeds_needed,
    with_seed,
)
from zsim.planning.table import NOT_RUN, Table, TableInterrupted
from zsim.scenario.asked import Asked


def study(
    store: str | Path | None,
    axes: Mapping[str, object],
    base: Asked | None = None,
    *,
    shard: Shard | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    on_progress: Report = lambda share, words: None,
    refine: float | None = None,
) -> Table:
    """Predict every combination of some values, as far as this shard has to; answers stay in the store.

    Parameters
    ----------
    store : str, Path or None
        File of answers, made if it is not there; None: they are kept nowhere.
    axes : mapping
        Field of the scenario to one value or several, as `zsim.planning.sweep.sweep` takes them.
    base : Scenario, mapping, str or Path, optional
        What all combinations have in common.
    shard : Shard, optional
        Which part of the combinations is found here; all by default.
    jobs : int, optional
        Processes; one a core by default.
    executor : Executor, optional
        Whatever has ``submit``, in place of processes: a dask cluster for instance.
    on_progress : callable, optional
        Called with the share done and a few words.
    refine : float, optional
        Repeat each combination with further seeds until half the 95 % interval of its median, relative, is at
        most this; two more columns say how many seeds it took and what was reached.

    Returns
    -------
    Table
        As `zsim.planning.sweep.sweep` gives it; what other shards find and is not in the store yet says
        "not run".

    Raises
    ------
    InputError
        When an axis, a value or the store cannot be used.
    TableInterrupted
        On Ctrl-C; what was finished is in the store.
    """
    if refine is not None:
        check_refinement(refine)
    grid, common = grid_of(base, axes)
    rows = [row_of(point, common) for point in points(grid)]
    missing = missing_of_rows(rows)
    # What is kept nowhere needs no mark of the release that it is of.
    made_by, part = "" if store is None else sources(), shard or Shard()
    asked = {key_of(row["scenario"], made_by): row["scenario"] for row in rows if "scenario" in row}
    more = () if refine is None else REFINED
    columns = tuple(dict.fromkeys((*grid, "layout", "usable_bytes", *ANSWER, *more, REASON)))
    with open_store(store) as kept:
        refused = sum("scenario" not in row for row in rows)
        work = _Work(kept, made_by, jobs, executor, on_progress, refused)
        stopped = False
        try:
            work.do({key: asked[key] for key in part.of(asked)})
            if refine is not None:
                work.refine([asked[key] for key in part.of(asked)], refine)
        except KeyboardInterrupt:
            stopped = True
        found = kept.known(list(asked))
        if refine is not None:
            found = {key: mean_row(work.repeats(asked[key]), refine) for key in found}
    whole = [_completed(row, found, made_by) for row in rows]
    cells = tuple({name: row.get(name) for name in columns} for row in whole)
    table = Table(columns, cells, common_of(grid, common), missing)
    if stopped:
        raise TableInterrupted(table)
    return table


def _completed(row: Row, found: Mapping[str, Row], made_by: str) -> Row:
    """Return a row with its answer; what is refused has its own reason already."""
    if "scenario" not in row:
        return row
    return {**row, **found.get(key_of(row["scenario"], made_by), refused_row(NOT_RUN))}


@dataclass(slots=True)
class _Work:
    """What answers scenarios, and the store that keeps the answers.

    `done` are combinations that are refused or answered, repeats with other seeds among them.
    """

    kept: AnyStore
    made_by: str
    jobs: int | None
    executor: Executor | None
    on_progress: Report
    done: int = 0

    def do(self, asked: Mapping[str, dict[str, object]]) -> None:
        """Answer the scenarios that have no answer yet."""
        todo = self.kept.missing(list(asked))
        whole = self.done + len(asked)
        self.done += len(asked) - len(todo)
        for place, found in answers([asked[key] for key in todo], self.jobs, self.executor):
            self.kept.add(todo[place], self.made_by, asked[todo[place]], found)
            self.done += 1
            self.on_progress(self.done / whole, f"{self.done} of {whole}")

    def refine(self, scenarios: Sequence[dict[str, object]], error: float) -> None:
        """Repeat each scenario with further seeds, in rounds, until its median is known to `error`."""
        open_ones = list(scenarios)
        while open_ones:
            further: dict[str, dict[str, object]] = {}
            waiting = []
            for stated in open_ones:
                known = self.repeats(stated)
                if known[0].get(REASON) is not None:
                    continue
                needed = seeds_needed([row["p50_s"] for row in known], error)
                repeats = [with_seed(stated, number) for number in range(len(known), needed)]
                further |= {key_of(each, self.made_by): each for each in repeats}
                waiting += [stated] if repeats else []
            self.do(further)
            open_ones = waiting

    def repeats(self, stated: Mapping[str, object]) -> list[Row]:
        """Return the answers of a scenario's first seeds, up to the first that has none."""
        keys = [key_of(with_seed(stated, number), self.made_by) for number in range(MOST_SEEDS)]
        known = self.kept.known(keys)
        return [known[key] for key in itertools.takewhile(known.__contains__, keys)]
