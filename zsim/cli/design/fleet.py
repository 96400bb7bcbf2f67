"""``zsim fleet``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.base.units import HOUR, parse_duration
from zsim.cli.common import answer_options, exclusive, hand_over, number, progress, whole_number
from zsim.cli.computing import announced_compilation, check_outputs, executor_of
from zsim.cli.design.risk import hours as hours_of
from zsim.cli.design.risk import rate_or_model
from zsim.cli.flags import is_layout
from zsim.cli.given_files import fields_in_words
from zsim.cli.help import GroupedCommand

if TYPE_CHECKING:
    from zsim.planning.fleet.spec import Fleet


@click.command(
    "fleet",
    cls=GroupedCommand,
    own={
        "Pools in words": ("pools", "afr", "hours"),
        "The site": ("spares", "lead_time", "crews", "visit", "detect"),
        "The simulation": ("years", "trials", "seed", "jobs", "dask"),
    },
    examples=(
        "zsim fleet fleet.toml --spares 4 --lead-time 7d",
        'zsim fleet "8x 18TB in raidz2, 70% full" --pools 40 --spares 2',
    ),
)
@click.argument("words", metavar="FLEET.toml|LAYOUT|SENTENCE...", nargs=-1, required=True)
@click.option("--pools", metavar="N", help="How many such pools a sentence stands for; 1 by default.")
@click.option("--afr", metavar="SHARE|MODEL", help="Annual failure rate of their drives, such as 1.5%.")
@click.option("--hours", metavar="HOURS", help="Duration of a repair, instead of predicting it: 24, or 24h.")
@click.option("--spares", metavar="N", help="Drives on the shelf; each one used is ordered again.")
@click.option("--lead-time", metavar="DURATION", help="Until an ordered drive arrives, such as 14d.")
@click.option("--crews", metavar="N", help="Repairs that may be begun at the same time.")
@click.option("--visit", metavar="DURATION", help="What a crew needs to replace a drive, such as 1h.")
@click.option("--detect", metavar="DURATION", help="From a failure until somebody knows, such as 1h.")
@click.option("--years", metavar="N", help="Years to simulate, instead of the file's value.")
@click.option("--trials", metavar="N", help="Number of simulated histories, instead of the file's value.")
@click.option("--seed", metavar="N", help="Seed of all random numbers.")
@click.option("--jobs", metavar="N", help="Number of processes; 1 by default.")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a dask cluster that does the work.")
@answer_options
def command(
    words: tuple[str, ...],
    pools: str | None,
    afr: str | None,
    hours: str | None,
    spares: str | None,
    lead_time: str | None,
    crews: str | None,
    visit: str | None,
    detect: str | None,
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

    The file has tables [[pool]], each with a name, a count and a scenario. A layout or a sentence stands for
    pools that are all alike: "8x 18TB in raidz2, 70% full". Flags count more than the file.
    """
    from zsim.planning.fleet.api import fleet

    check_outputs(output, plot, None)
    exclusive({"--jobs": jobs, "--dask": dask})
    asked = _fleet(words, {"--pools": pools, "--afr": afr, "--hours": hours})
    changes: dict[str, object] = {
        "spares": whole_number(spares, "--spares", 0),
        "crews": whole_number(crews, "--crews", 1),
        "lead_time": _seconds(lead_time, "--lead-time"),
        "visit": _seconds(visit, "--visit"),
        "detect": _seconds(detect, "--detect"),
        "trials": whole_number(trials, "--trials", 1),
        "seed": whole_number(seed, "--seed", 0),
        "years": number(years, "years"),
    }
    asked = asked.changed(**{name: value for name, value in changes.items() if value is not None})
    workers = whole_number(jobs, "--jobs", 1)
    with announced_compilation(), executor_of(workers, dask) as executor, progress("fleet") as report:
        answer = fleet(asked, on_progress=report, executor=executor)
    hand_over(answer, as_json, output, plot)


def _fleet(words: tuple[str, ...], alike: Mapping[str, str | None]) -> Fleet:
    """Return the fleet of a file, or of pools that are all as a layout or a sentence says.

    Raises
    ------
    InputError
        When what is for pools in words stands beside a file.
    """
    from zsim.planning.fleet.spec import Fleet

    said = _pool_in_words(words)
    if said is None:
        if len(words) > 1:
            allowed = "one fleet file is read"
            raise InputError("fleet", " ".join(words), allowed, "give a file, or a sentence in quotes")
        stated = next((name for name, value in alike.items() if value is not None), None)
        if stated is not None:
            allowed = "it is for pools in words; in a file each [[pool]] has its own"
            raise InputError(stated, alike[stated], allowed, "state it in the file")
        return Fleet.read(words[0])
    count = whole_number(alike["--pools"], "--pools", 1) or 1
    pool: dict[str, object] = {**said, "count": count}
    if (afr := alike["--afr"]) is not None:
        pool["afr"] = rate_or_model(afr)
    if (repair := hours_of(alike["--hours"], "hours")) is not None:
        pool["hours"] = repair / HOUR
    return Fleet.from_dict({"pool": [pool]})


def _pool_in_words(words: tuple[str, ...]) -> dict[str, object] | None:
    """Return the fields of a layout or a sentence; None of a file."""
    one = words[0] if len(words) == 1 else ""
    if one and (Path(one).exists() or one.endswith(".toml")):
        return None
    if one and is_layout(one):
        return {"layout": one}
    return fields_in_words(words)


def _seconds(text: str | None, name: str) -> float | None:
    return None if text is None else parse_duration(text, name)
