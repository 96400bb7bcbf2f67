"""A sweep that outgrows a machine: its answers in a store, its work in shards, on any executor."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from zsim.planning.rows import ANSWER, REASON, Row, refused_row
from zsim.planning.running import answer, answers
from zsim.planning.store.keys import Shard, key_of, sources
from zsim.planning.store.refine import (
    MOST_SEEDS,
    REFINED,
    check_refinement,
    mean_row,
    seeds_needed,
    with_seed,
)
from zsim.planning.store.sqlite import Store
from zsim.planning.sweep import common_of, missing_of_rows, points, row_of
from zsim.planning.table import NOT_RUN, Table, TableInterrupted

NOTHING: Mapping[str, object] = MappingProxyType({})


def study(
    store: str | Path,
    axes: Mapping[str, Sequence[object]],
    shard: Shard | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    refine: float | None = None,
    common: Mapping[str, object] = NOTHING,
) -> Table:
    """Predict every combination of some values, as far as this shard has to; answers stay in the store.

    Parameters
    ----------
    store : str or Path
        SQLite file, made if it is not there.
    axes : mapping
        As those of `zsim.planning.sweep.sweep`, each a sequence.
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
    common : mapping
        Fields of the scenario that all combinations have.

    Returns
    -------
    Table
        As `zsim.planning.sweep.sweep` gives it; what other shards find and is not in the store yet says
        "not run".

    Raises
    ------
    InputError
        When a value or the store cannot be used.
    TableInterrupted
        On Ctrl-C; what was finished is in the store.
    """
    if refine is not None:
        check_refinement(refine)
    rows = [row_of(point, common) for point in points(axes)]
    without = missing_of_rows(rows)
    made_by, part = sources(), shard or Shard()
    asked = {key_of(row["scenario"], made_by): row["scenario"] for row in rows if "scenario" in row}
    more = () if refine is None else REFINED
    columns = tuple(dict.fromkeys((*axes, "layout", "usable_bytes", *ANSWER, *more, REASON)))
    with Store(store) as kept:
        work = _Work(kept, made_by, jobs, executor, on_progress)
        stopped = False
        try:
            work.do({key: asked[key] for key in part.of(asked)})
            if refine is not None:
                work.refine([asked[key] for key in part.of(asked)], refine)
        except KeyboardInterrupt:
            stopped = True
        known = {key: [row] for key, row in kept.known(list(asked)).items()}
        if refine is not None:
            known = {key: work.repeats(asked[key]) for key in known}
    told = {key: found[0] if refine is None else mean_row(found, refine) for key, found in known.items()}
    table = _table(columns, rows, told, made_by)
    table = replace(table, common=common_of(axes, dict(common)), missing=without)
    if stopped:
        raise TableInterrupted(table)
    return table


@dataclass(slots=True)
class _Work:
    """What answers scenarios, and the store that keeps the answers."""

    kept: Store
    made_by: str
    jobs: int | None
    executor: Executor | None
    on_progress: Callable[[float, str], None] | None
    done: int = 0

    def do(self, asked: Mapping[str, dict[str, object]]) -> None:
        """Answer the scenarios that have no answer yet."""
        todo = self.kept.missing(list(asked))
        whole = self.done + len(todo)
        for place, found in _found([asked[key] for key in todo], self.jobs, self.executor):
            self.kept.add(todo[place], self.made_by, asked[todo[place]], found)
            self.done += 1
            if self.on_progress is not None:
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


def _found(
    scenarios: Sequence[dict[str, object]], jobs: int | None, executor: Executor | None
) -> Iterator[tuple[int, Row]]:
    """Yield place and answer of each scenario as they come."""
    if executor is None:
        yield from answers(scenarios, jobs)
        return
    futures = {executor.submit(answer, stated): place for place, stated in enumerate(scenarios)}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def _table(
    columns: Sequence[str],
    rows: Sequence[Row],
    known: Mapping[str, Row],
    made_by: str,
) -> Table:
    told = []
    for row in rows:
        found = (
            {} if "scenario" not in row else known.get(key_of(row["scenario"], made_by), refused_row(NOT_RUN))
        )
        whole = {**row, **found}
        told.append({name: whole.get(name) for name in columns})
    return Table(tuple(columns), tuple(told))
