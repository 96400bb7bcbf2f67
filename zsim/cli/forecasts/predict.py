"""``zsim predict``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zsim.cli.begins import now
from zsim.cli.common import notice, printed_anyway, progress, show
from zsim.cli.computing import announced_compilation, check_outputs
from zsim.cli.flags import scenario_from, scenario_options, take_files
from zsim.cli.help import GroupedCommand
from zsim.cli.loudness import begin_telling

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zsim.prediction.answer.prediction import Prediction
    from zsim.prediction.api import Portion
    from zsim.scenario.model import Scenario


@click.command(
    "predict",
    cls=GroupedCommand,
    lists_all=True,
    examples=(
        "zsim predict --layout raidz2x6 --fill 62% --drive-size 18TB",
        "zsim predict --layout mirror2 --fill 0.5 --drive wd40efax --history vm-host --why",
        "zsim predict --layout raidz2x8 --alloc 60T --evidence scrub=25h17m --report answer.html",
        'zsim predict "8x 16TB Exos in raidz2, 62% full"',
        "zpool status tank | zsim predict -",
        "zsim predict status.txt list.txt lsblk.txt --history vm-host",
    ),
)
@click.argument("files", metavar="[LAYOUT|FILE|-]...", nargs=-1)
@scenario_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print the answer as JSON, and nothing else, on stdout."
)
@click.option("-o", "--output", metavar="FILE.json", help="Store the answer as JSON.")
@click.option(
    "--series", metavar="FILE", help="Store the progress curve by column: FILE.parquet or FILE.csv."
)
@click.option("--plot", metavar="FILE", help="Draw the answer: FILE.svg, FILE.png or FILE.pdf.")
@click.option("--report", metavar="FILE.html", help="Write answer and picture as one HTML file.")
@click.option(
    "--why", is_flag=True, help="Also explain the answer: causes, phases, drives, clients, what to change."
)
@click.option("-v", "--verbose", is_flag=True, help="Show everything: --why, and every assumption.")
@click.option("-q", "--quiet", is_flag=True, help="Print the answer and its interval only; show no progress.")
def command(
    files: tuple[str, ...],
    as_json: bool,
    output: str | None,
    series: str | None,
    plot: str | None,
    report: str | None,
    why: bool,
    verbose: bool,
    quiet: bool,
    **given: object,
) -> None:
    """Predict how long a resilver takes, why, and how sure that is.

    What is not stated is assumed; -v lists every assumption. LAYOUT is the same as --layout, or a sentence:
    "8x 16TB in raidz2". FILE is a scenario file, or files with the output of zpool status and similar
    commands for one pool; - reads the standard input: zpool status tank | zsim predict -
    """
    take_files(files, given)
    check_outputs(output, plot, report, series)
    if quiet:
        begin_telling(verbose=False, quiet=True)
    # The first screen says what helps most, from runs of its own; an interval alone needs none of them.
    kept = as_json or any(name is not None for name in (output, series, plot, report))
    scenario = scenario_from(given)
    portion: Portion = "all" if kept or not quiet else "row"
    prediction = compute_or_tell(scenario, as_json, portion, other_ways=kept or why or verbose)
    with printed_anyway(prediction, as_json, lambda: said(prediction, why, verbose, quiet)):
        if output is not None:
            prediction.save(output)
        if series is not None:
            from zsim.report.columns import save_columns, series_of

            save_columns(series_of(prediction), series)
        if plot is not None:
            prediction.save_plot(plot)
        if report is not None:
            from zsim.report.page import save_prediction_page

            save_prediction_page(prediction, report)


def said(prediction: Prediction, why: bool, verbose: bool, quiet: bool) -> RenderableType:
    """Return as much of an answer as is asked for, to be printed."""
    from zsim.prediction.answer.brief import as_brief, brief
    from zsim.prediction.answer.sections import Section
    from zsim.prediction.answer.wording import as_renderable, interval, rest, volume

    begins = now()
    if quiet:
        return as_renderable(prediction, (Section("", (interval(prediction),)),))
    if not why and not verbose:
        return as_brief(prediction, begins)
    first = brief(prediction, begins, more="")[0]
    first = first._replace(sentences=(*first.sentences, volume(prediction)))
    return as_renderable(prediction, (first, *rest(prediction, assumptions=verbose)))


def compute(scenario: Scenario, portion: Portion = "all", *, other_ways: bool = True) -> Prediction:
    """Predict with a progress bar, and say so if the kernels have to be compiled first."""
    from zsim.prediction.api import case_of, predict_case

    case = case_of(scenario)
    with announced_compilation(), progress("simulating") as on_progress:
        return predict_case(case, on_progress, portion, other_ways=other_ways)


def compute_or_tell(
    scenario: Scenario, as_json: bool, portion: Portion = "all", *, other_ways: bool = True
) -> Prediction:
    """Predict; on Ctrl-C print what is known so far (not with --json, which is whole or not there)."""
    from zsim.prediction.answer.prediction import PredictionInterrupted

    try:
        return compute(scenario, portion, other_ways=other_ways)
    except PredictionInterrupted as stop:
        if stop.partial is not None and not as_json:
            notice("interrupted; the results so far follow")
            show(stop.partial)
        raise
