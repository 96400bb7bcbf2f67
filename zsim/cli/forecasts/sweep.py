"""``zsim sweep``."""

from __future__ import annotations

import click

from zsim.base.errors import InputError
from zsim.cli.common import exclusive, json_option, known_so_far, progress
from zsim.cli.computing import announced_compilation
from zsim.cli.flags import FLAGS, is_layout, scenario_options, stated_fields, take_files
from zsim.cli.forecasts.tables import check_table_outputs, hand_over_table
from zsim.cli.help import GroupedCommand
from zsim.planning.ranges import values_of

ACTIONS = ("status", "merge", "export")
"""What may be done with stores of answers."""
NOTHING_ANSWERED = 1
"""Exit code where every combination is refused."""


@click.command(
    "sweep",
    cls=GroupedCommand,
    own={
        "What varies": ("width", "parity", "axis"),
        "Stores of answers, and shared work": ("store", "refine", "shard", "dask", "jobs"),
    },
    examples=(
        "zsim sweep --width 4..12 --parity 1,2,3 --fill 60% --drive-size 18TB --plot widths.svg",
        "zsim sweep --layout raidz2x6 --fill 25%..90% --store answers.jsonl",
        'zsim sweep "8x 16TB in raidz2" --fill 25%..90%',
        "zsim sweep --layout raidz2x6 --axis load='none;random-read,rate=50' --axis fill=0.3,0.6",
    ),
)
@click.argument("words", metavar="[LAYOUT...|FILE|-|status|merge|export FILE.sqlite...]", nargs=-1)
@click.option("--width", metavar="VALUES", help="Drives of a RAID-Z vdev, parity included, such as 4..12.")
@click.option("--parity", metavar="VALUES", help="Parity drives, such as 1,2,3; 0 is a mirror.")
@click.option("-o", "--output", metavar="FILE", help="Write the table: FILE.csv, .json or .parquet.")
@click.option(
    "--store",
    metavar="FILE.jsonl|.sqlite",
    help="Keep answers as they come; a stopped sweep resumes from it.",
)
@click.option("--shard", metavar="I/N", help="With a store FILE.sqlite: do only this part of the work.")
@click.option("--dask", metavar="ADDRESS", help="With a store FILE.sqlite: a dask cluster does the work.")
@click.option(
    "--refine",
    metavar="SHARE",
    help="With a store FILE.sqlite: repeat each combination with further seeds until its p50 is known this "
    "well (half of the 95 % interval), such as 1%.",
)
@click.option("--plot", metavar="FILE", help="Draw time over the first axis: FILE.svg, FILE.png or FILE.pdf.")
@click.option("--report", metavar="FILE.html", help="Write table and picture as one HTML file.")
@click.option(
    "--axis",
    "axis",
    metavar="FIELD=VALUES",
    multiple=True,
    help="Any field as an axis: tunables.zfs_vdev_scrub_max_active=1,3,10; with semicolons where values have "
    "commas: load='none;random-read,rate=50'. May be repeated.",
)
@click.option(
    "--jobs", metavar="N", help="Number of processes; by default one per core if there are many scenarios."
)
@json_option
@scenario_options
def command(
    words: tuple[str, ...],
    width: str | None,
    parity: str | None,
    output: str | None,
    store: str | None,
    shard: str | None,
    dask: str | None,
    refine: str | None,
    plot: str | None,
    report: str | None,
    axis: tuple[str, ...],
    jobs: str | None,
    as_json: bool,
    **given: object,
) -> None:
    """Predict every combination of widths, parities, fills or other values.

    Every flag of a scenario takes a list (1,2,3) or a range (4..12, 25%..90%) here. What all combinations
    share may come from layouts, a sentence ("8x 16TB in raidz2"), or the output of zpool status and similar
    commands, in files or piped. For stores of answers, 'status FILE.sqlite' shows the content, 'merge INTO
    FROM...' copies answers, and 'export FILE.sqlite TABLE.csv' writes them as a table.
    """
    from zsim.cli.common import whole_number
    from zsim.cli.forecasts.stores import act, check_shared, studied
    from zsim.planning.table import NOT_RUN

    if words and words[0] in ACTIONS:
        act(words, as_json)
        return

    check_table_outputs(output, plot, report, store)
    check_shared(store, shard, dask, refine)
    workers = whole_number(jobs, "--jobs", 1)
    _take_base(words, given)
    axes = axes_of(width, parity, stated_fields(given), {flag.field for flag in FLAGS}) | more_axes(axis)
    again = "no file was written; with --store FILE.jsonl it can be resumed"
    if store:
        later = [each for each in (output, plot, report) if each is not None]
        again = f"finished answers are kept in {store}: the same command continues from there"
        again += f", and writes {' and '.join(later)} at its end" if later else ""
    with known_so_far(as_json, f"; {again}"), announced_compilation(), progress("sweeping") as on_progress:
        table = studied(store, axes, shard, dask, workers, on_progress, refine)
    hand_over_table(table, as_json, output, plot, report)
    if len(table) and all(row.get("refused") not in (None, NOT_RUN) for row in table):
        click.get_current_context().exit(NOTHING_ANSWERED)


def _take_base(words: tuple[str, ...], given: dict[str, object]) -> None:
    """Note layouts as values of --layout, and else what all combinations have in common.

    Raises
    ------
    InputError
        When it is neither, or there is --layout or --scenario too.
    """
    if any(each.endswith(".sqlite") for each in words):
        allowed = f"what can be done with stores is {', '.join(ACTIONS)}"
        raise InputError("sweep", words[0], allowed, "write for instance zsim sweep status study.sqlite")
    if not words:
        return
    if all(is_layout(each) for each in words):
        exclusive({"LAYOUT": ",".join(words), "--layout": given["layout"]})
        given["layout"] = ",".join(words)
        return
    take_files(words, given)


def axes_of(
    width: str | None, parity: str | None, stated: dict[str, object], listed: set[str]
) -> dict[str, list[object]]:
    """Return axis names and values; width and parity first, as they make the layout."""
    shape = {"width": width, "parity": parity}
    axes: dict[str, list[object]] = {
        name: [whole(value, name) for value in values_of(text, name)]
        for name, text in shape.items()
        if text is not None
    }
    for name, value in stated.items():
        several = name in listed and isinstance(value, str)
        axes[name] = [*_listed(name, str(value))] if several else _alternatives(name, value)
    return axes


def _alternatives(name: str, value: object) -> list[object]:
    """Return the values of a flag that may be repeated: one, or those that semicolons divide."""
    given = [*value] if isinstance(value, list | tuple) else []
    if name not in PARTS or not any(isinstance(each, str) and ";" in each for each in given):
        return [value]
    if len(given) > 1:
        allowed = "with semicolons it is a list of alternatives, and is given once"
        raise InputError(f"--{name}", " ".join(map(str, given)), allowed, f"write --{name} 'one;other'")
    return [() if each.lower() == "none" else (each,) for each in _listed(name, given[0])]


def whole(text: str, name: str) -> int:
    """Return a value of width or parity as a number."""
    if not (text.isascii() and text.isdigit() and len(text) < MOST_DIGITS):
        forms = f"write {name} as 6, as a list such as 4,6,8, or as a range such as 4..12 or 4..12..2"
        raise InputError(f"--{name}", text, "it is not a whole number from 0 on", forms)
    return int(text)


def more_axes(given: tuple[str, ...]) -> dict[str, list[object]]:
    """Return the axes of ``--axis FIELD=VALUES``.

    Values are divided by semicolons, or where there is none by commas, and ranges are spelled out; ``none``
    is no load, or a field that is not stated.

    Raises
    ------
    InputError
        When one is not FIELD=VALUES.
    """
    from zsim.cli.common import key_value

    axes: dict[str, list[object]] = {}
    for text in given:
        name, values = key_value(text, "--axis")
        name = name.replace("-", "_") if "." not in name else name
        found = _listed(name, values)
        axes[name] = [_none_of(name) if each.lower() == "none" else each for each in found]
    return axes


def _listed(name: str, values: str) -> list[str]:
    """Return the values of a field, one by one."""
    if ";" in values:
        return [each.strip() for each in values.split(";")]
    return [values] if name in LISTS else values_of(values, name)


MOST_DIGITS = 10
"""Of a whole number."""
PARTS = ("load", "ports", "slow", "evidence")
LISTS = (*PARTS, "vdev_fills", "vdev_frags")
"""Fields whose values have commas of their own."""


def _none_of(name: str) -> object:
    return () if name in PARTS else None
