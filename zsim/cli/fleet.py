"""``zsim fleet``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from zsim.base.errors import InputError
from zsim.cli.common import exclusive, hand_over, progress, whole_number
from zsim.cli.predict import announced_compilation, check_outputs

if TYPE_CHECKING:
    from concurrent.futures import Executor


@click.command("fleet")
@click.argument("file", metavar="FLEET.toml")
@click.option("--years", metavar="N", help="How long to look, instead of what the file says.")
@click.option("--trials", metavar="N", help="Histories of the whole fleet, instead of what the file says.")
@click.option("--seed", metavar="N", help="Seed of everything random.")
@click.option("--jobs", metavar="N", help="Processes; by default this one.")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a dask cluster that does the work.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout.")
@click.option("-o", "--output", metavar="FILE.json", help="Store the answer as JSON.")
@click.option("--plot", metavar="FILE", help="Draw the answer: FILE.svg, FILE.png or FILE.pdf.")
def command(
    file: str,
    years: str | None,
    trials: str | None,
    seed: str | None,
    jobs: str | None,
    dask: str | None,
    as_json: bool,
    output: str | None,
    plot: str | None,
) -> None:
    """Years of failures of many pools: losses, spares, repair crews, hours without full redundancy.

    The file has tables [[pool]], each with a name, a count and a scenario.
    """
    from zsim.planning.fleet.api import fleet
    from zsim.planning.fleet.spec import Fleet

    check_outputs(output, plot, None)
    exclusive({"--jobs": jobs, "--dask": dask})
    asked = Fleet.read(file)
    changes: dict[str, Any] = {
        "trials": whole_number(trials, "--trials", 1),
        "seed": whole_number(seed, "--seed", 0),
        "years": _years(years),
    }
    asked = asked.changed(**{name: value for name, value in changes.items() if value is not None})
    workers = whole_number(jobs, "--jobs", 1)
    with announced_compilation(), executor_of(workers, dask) as executor, progress("fleet") as report:
        answer = fleet(asked, on_progress=report, executor=executor)
    hand_over(answer, as_json, output, plot)


def _years(text: str | None) -> float | None:
    from zsim.cli.risk import number

    return number(text, "years")


@contextlib.contextmanager
def executor_of(jobs: int | None, dask: str | None) -> Iterator[Executor | None]:
    """Give whatever does the work: None for this process, processes, or a dask cluster.

    Raises
    ------
    InputError
        When dask is not installed or its scheduler does not answer.
    """
    if dask is not None:
        with _client(dask) as client:
            yield client.get_executor(pure=False)
    elif jobs is not None and jobs > 1:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max_workers=jobs, mp_context=context) as pool:
            yield pool
    else:
        yield None


def _client(address: str) -> Any:
    import importlib

    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise InputError("--dask", address, "dask is not installed", "install dask[distributed]") from error
    try:
        return distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError("--dask", address, "no scheduler answers there", "start dask scheduler") from error
