"""``zsim sweep status|merge|export``: commands about stores of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from zsim.base.errors import InputError
from zsim.cli.common import Report, echo, print_json, progress

if TYPE_CHECKING:
    from zsim.planning.table import Table


def act(words: tuple[str, ...], as_json: bool) -> None:
    """Do what the words after ``zsim sweep`` ask for; the first is status, merge or export.

    Raises
    ------
    InputError
        When the number of files is wrong.
    """
    name, *files = words
    known: dict[str, tuple[Callable[[list[str]], dict[str, object]], int, int]] = {
        "status": (status, 1, 1),
        "merge": (merge, 2, 100_000),
        "export": (export_table, 2, 2),
    }
    function, least, most = known[name]
    if not least <= len(files) <= most:
        usage = {
            "status": "FILE.sqlite",
            "merge": "INTO.sqlite FROM.sqlite...",
            "export": "FILE.sqlite TABLE.csv",
        }
        raise InputError(f"sweep {name}", " ".join(files), f"it takes {usage[name]}", "name the files")
    found = function(files)
    if as_json:
        print_json(found)
    else:
        echo("; ".join(f"{value} {key}" for key, value in found.items()) + ".")


def check_shared(store: str | None, shard: str | None, dask: str | None, refine: str | None) -> None:
    """Refuse to share work, or to add seeds to it, without a store that can be merged."""
    from zsim.planning.store.opened import can_be_merged

    for option, value in (("--shard", shard), ("--dask", dask), ("--refine", refine)):
        if value is not None and not can_be_merged(store):
            raise InputError(option, value, "it needs a store that can be merged", "add --store study.sqlite")


def studied(
    store: str | None,
    axes: Mapping[str, object],
    shard: str | None,
    dask: str | None,
    jobs: int | None,
    report: Report,
    refine: str | None = None,
) -> Table:
    """Sweep as the flags say; see `zsim.planning.store.study.study`."""
    from zsim.base.units import parse_fraction
    from zsim.cli.computing import executor_of
    from zsim.planning.store.keys import Shard
    from zsim.planning.store.study import study

    part = None if shard is None else Shard.parse(shard)
    error = None if refine is None else parse_fraction(refine, "--refine")
    with executor_of(None, dask) as executor:
        return study(store, axes, shard=part, jobs=jobs, executor=executor, on_progress=report, refine=error)


def status(files: list[str]) -> dict[str, object]:
    """Return what a store holds."""
    from zsim.planning.store.keys import sources
    from zsim.planning.store.sqlite import Store

    with Store(files[0], must_exist=True) as store:
        found = store.status()
    return {
        "answers": found.answers,
        "refused": found.refused,
        "of this release": found.sources.get(sources(), 0),
        "bytes": found.size,
    }


def merge(files: list[str]) -> dict[str, object]:
    """Take over the answers of stores into the first, which is made if it is not there."""
    from zsim.planning.store.sqlite import Store

    into, *others = files
    for each in others:
        Store(each, must_exist=True).close()
    with Store(into) as store:
        new = 0
        for each in others:
            with Store(each, must_exist=True) as other:
                new += store.merge(other)
        return {"answers": store.status().answers, "new": new}


def export_table(files: list[str]) -> dict[str, object]:
    """Write a store as a table."""
    from zsim.planning.store.sqlite import Store, export

    with Store(files[0], must_exist=True) as store, progress("exporting") as report:
        return {"rows": export(store, files[1], report)}
