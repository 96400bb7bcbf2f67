"""A sweep that outgrows a machine: its answers in a store, its work in shards, on any executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from pathlib import Path

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.planning.rows import ANSWER, REASON, Row, refused_row
from zsim.planning.running import answer, answers
from zsim.planning.store.keys import Shard, key_of, sources
from zsim.planning.store.sqlite import Store
from zsim.planning.sweep import fields_of, points
from zsim.planning.table import NOT_RUN, Table, TableInterrupted
from zsim.planning.usable import usable_bytes
from zsim.scenario.model import Scenario


def study(
    store: str | Path,
    axes: Mapping[str, Sequence[object]],
    shard: Shard | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    on_progress: Callable[[float, str], None] | None = None,
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
    rows = [_row(point) for point in points(axes)]
    made_by, part = sources(), shard or Shard()
    asked = {key_of(row["scenario"], made_by): row["scenario"] for row in rows if "scenario" in row}
    columns = tuple(dict.fromkeys((*axes, "layout", "usable_bytes", *ANSWER, REASON)))
    with Store(store) as kept:
        todo = part.of(kept.missing(list(asked)))
        stopped = False
        try:
            for done, (place, found) in enumerate(_found([asked[key] for key in todo], jobs, executor)):
                kept.add(todo[place], made_by, asked[todo[place]], found)
                if on_progress is not None:
                    on_progress((done + 1) / len(todo), f"{done + 1} of {len(todo)}")
        except KeyboardInterrupt:
            stopped = True
        known = kept.known(list(asked))
    table = _table(columns, rows, known, made_by)
    if stopped:
        raise TableInterrupted(table)
    return table


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


def _row(point: Row) -> Row:
    """Return the row of a combination: its values, and its scenario or why there is none."""
    fields = fields_of(point, {})
    try:
        scenario = Scenario.from_dict(fields)
        case = resolve(scenario)
    except InputError as error:
        return {**point, "layout": fields.get("layout"), **refused_row(str(error))}
    facts = {"layout": str(case.layout), "usable_bytes": usable_bytes(case)}
    stated = scenario.stated()
    told = {name: stated.get(name) for name in point if name in fields and name != "layout"}
    return {**point, **told, **facts, "scenario": stated}


def _table(columns: Sequence[str], rows: Sequence[Row], known: Mapping[str, Row], made_by: str) -> Table:
    told = []
    for row in rows:
        found = (
            {} if "scenario" not in row else known.get(key_of(row["scenario"], made_by), refused_row(NOT_RUN))
        )
        whole = {**row, **found}
        told.append({name: whole.get(name) for name in columns})
    return Table(tuple(columns), tuple(told))
