"""``zsim fleet``."""

from __future__ import annotations

import click

from zsim.cli.common import exclusive, hand_over, number, progress, whole_number
from zsim.cli.computing import announced_compilation, check_outputs, executor_of


@click.command("fleet")
@click.argument("file", metavar="FLEET.toml")
@click.option("--years", metavar="N", help="Years to simulate, instead of the file's value.")
@click.option("--trials", metavar="N", help="Number of simulated histories, instead of the file's value.")
@click.option("--seed", metavar="N", help="Seed of all random numbers.")
@click.option("--jobs", metavar="N", help="Number of processes; 1 by default.")
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
    changes: dict[str, object] = {
        "trials": whole_number(trials, "--trials", 1),
        "seed": whole_number(seed, "--seed", 0),
        "years": number(years, "years"),
    }
    asked = asked.changed(**{name: value for name, value in changes.items() if value is not None})
    workers = whole_number(jobs, "--jobs", 1)
    with announced_compilation(), executor_of(workers, dask) as executor, progress("fleet") as report:
        answer = fleet(asked, on_progress=report, executor=executor)
    hand_over(answer, as_json, output, plot)
