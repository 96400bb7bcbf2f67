"""``zsim validate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from zsim.cli.common import notice, print_json, progress, show

if TYPE_CHECKING:
    from zsim.validation.frame import ValidationCase

FAILED = 1


@click.command("validate")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--cases",
    "paths",
    metavar="PATH",
    multiple=True,
    help="Directory of a case, or of several, searched recursively. "
    "Default: the cases that come with zsim. May be repeated.",
)
@click.option("--list", "list_only", is_flag=True, help="List the cases and run none.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print claims and summary as JSON, and nothing else, on stdout."
)
@click.option(
    "--report", "report_path", metavar="FILE", help="Write the report as Markdown (.md) or HTML (.html)."
)
@click.option(
    "--population",
    type=click.Choice(["given", "recipe"]),
    default="given",
    show_default=True,
    help="Runs that come with a block list: simulate that list, or one generated from their recipe.",
)
@click.option(
    "--eta",
    "as_running",
    is_flag=True,
    help="Treat runs of real OpenZFS as running scans, and predict their finish time.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Seed of all random numbers.",
)
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of processes; by default one per core if there are many cases.",
)
def command(
    names: tuple[str, ...],
    paths: tuple[str, ...],
    list_only: bool,
    as_json: bool,
    report_path: str | None,
    population: str,
    as_running: bool,
    seed: int,
    jobs: int | None,
) -> int:
    """Compare predictions with measurements, each claim with its stated tolerance.

    NAME is the name of a case or a pattern such as 'raidz2*'. Exit code 0 if nothing fails, 1 if a claim
    fails, 2 for bad input.
    """
    from zsim.validation.api import cases_of, validate
    from zsim.validation.report.document import check_ending

    if report_path is not None:
        check_ending(report_path)
    if list_only:
        show_list(cases_of(names, paths or None), as_json)
        return 0
    with progress("validating") as report:
        outcome = validate(
            names,
            paths or None,
            population="recipe" if population == "recipe" else "given",
            eta=as_running,
            seed=seed,
            jobs=jobs,
            on_progress=report,
        )
    if as_json:
        print_json(outcome.to_dict())
    else:
        show(outcome)
    if report_path is not None:
        outcome.save(report_path)
        notice(f"{report_path} written")
    return 0 if outcome.passed else FAILED


def show_list(cases: Sequence[ValidationCase], as_json: bool) -> None:
    """Print the cases: name, kind, and what is claimed of them."""
    from zsim.prediction.answer.tables import Grid, rich_table
    from zsim.validation.report.wording import quantity, tolerance_text

    if as_json:
        print_json(
            {
                "cases": [
                    {"case": c.name, "kind": c.kind, "claim": c.claim, "reason": c.problem} for c in cases
                ]
            }
        )
        return
    rows = tuple(
        (c.name, c.kind, c.problem or c.claim, quantity(c.observed, c.unit), tolerance_text(c.tolerance))
        for c in cases
    )
    show(rich_table(Grid(("case", "kind", "claim", "observed", "tolerance"), rows, frozenset({3, 4}))))
