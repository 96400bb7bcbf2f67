"""``zsim replay``: a block trace through a drive model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zsim.base.units import format_percent
from zsim.cli.common import json_option, notice, print_json, show, whole_number

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zsim.observe.traces.replay import Figures, Replay

# Writes whose mean service differs by this factor between stretches of a trace are shown stretch by stretch.
NOTABLE = 2.0


@click.command("replay")
@click.argument("trace", metavar="TRACE")
@click.option(
    "--drive", metavar="NAME", default="generic-7200rpm-cmr", show_default=True, help="The drive model."
)
@click.option("--drive-size", metavar="SIZE", help="Capacity, if the drive is a generic one.")
@click.option(
    "--format",
    "form",
    metavar="NAME",
    help="fio, blkparse, msr or disksim; by default recognised from the file.",
)
@click.option("--device", metavar="NAME", help="The device to replay, if the trace has several.")
@click.option(
    "--write-cache/--no-write-cache",
    "write_cache",
    default=True,
    show_default=True,
    help="Whether the drive's write cache is on.",
)
@click.option("--depth", metavar="N", help="Keep N requests outstanding in place of the trace's times.")
@click.option("-o", "--output", metavar="FILE", help="Write every request: FILE.csv or FILE.parquet.")
@json_option
def command(
    trace: str,
    drive: str,
    drive_size: str | None,
    form: str | None,
    device: str | None,
    write_cache: bool,
    depth: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Run a block trace through a drive model.

    TRACE is a trace of fio (write_iolog, version 2 or 3), blkparse, the MSR Cambridge collection or DiskSim;
    .gz and .zst are unpacked.
    """
    run_replay(trace, drive, drive_size, form, device, depth, output, as_json, write_cache)


def run_replay(
    trace: str,
    drive: str,
    drive_size: str | None = None,
    form: str | None = None,
    device: str | None = None,
    depth: str | None = None,
    output: str | None = None,
    as_json: bool = False,
    write_cache: bool = True,
) -> None:
    """Replay a trace and print what became of it."""
    from dataclasses import replace

    from zsim.base.files import check_writable
    from zsim.base.units import parse_drive_size
    from zsim.cli.computing import announced_compilation
    from zsim.drives.catalogue import load_drive
    from zsim.observe.traces.reading import read_trace
    from zsim.observe.traces.replay import check_output, replay

    outstanding = whole_number(depth, "--depth", 1)
    model = load_drive(drive)
    if drive_size is not None:
        model = model.with_capacity(parse_drive_size(drive_size, "--drive-size"))
    if output is not None:
        check_output(output)
        check_writable(output)
    parameters = model.parameters()
    if not write_cache:
        parameters = replace(parameters, write_cache_bytes=0)
    requests = read_trace(trace, form).of_device(device)
    with announced_compilation("alone._run_requests"):
        done = replay(requests, parameters, depth=outstanding)
    if output is not None:
        done.save(output)
    if as_json:
        print_json({"drive": model.name, **done.summary()})
    else:
        show_replay(done, model.name)
    if output is not None:
        notice(f"{output} written")


def show_replay(done: Replay, drive: str) -> None:
    """Print a replay for a person."""
    from rich.console import Group
    from rich.text import Text

    from zsim.base.units import format_duration, format_rate
    from zsim.prediction.answer.tables import Grid, rich_table

    figures = done.summary()
    names = ("mean", "p50", "p90", "p99", "p99.9", "max")
    rows = tuple(
        (label, *(format_duration(times[name]) for name in names))
        for label, times in (("service", figures["service_s"]), ("response", figures["response_s"]))
    )
    lines = (
        f"{figures['requests']:,} requests ({figures['reads']:,} reads, {figures['writes']:,} writes) "
        f"on {drive} in {format_duration(figures['elapsed_s'])}.",
        f"{figures['requests_per_s']:,.1f} requests per second, {format_rate(figures['bytes_per_s'])}; "
        f"the drive is busy {format_percent(figures['utilisation'], 1)} of the time.",
        f"{format_percent(figures['sequential_share'], 1)} of the requests begin where the one before ended.",
    )
    grid = rich_table(Grid(("", *names), rows, frozenset(range(1, 7))))
    show(Group(*(Text(line) for line in lines), grid, *_as_it_went(figures)))


def _as_it_went(figures: Figures) -> list[RenderableType]:
    """Return how the writes slowed down as more was written; nothing where they did not."""
    from rich.text import Text

    from zsim.base.units import format_duration, format_rate
    from zsim.prediction.answer.tables import Grid, rich_table

    stretches = figures["writes_by_amount"]
    services = [stretch["service_s"] for stretch in stretches]
    if len(services) < 2 or max(services) < NOTABLE * min(services):
        return []
    rows = tuple(
        (
            f"{stretch['written_bytes'] / 1e9:.3g} GB",
            f"{stretch['writes']:,}",
            format_duration(stretch["service_s"]),
            f"{1.0 / stretch['service_s']:,.1f}" if stretch["service_s"] > 0.0 else "",
            format_rate(stretch["bytes_per_s"]),
        )
        for stretch in stretches
    )
    head = ("written so far", "writes", "service", "a second", "rate")
    found: list[RenderableType] = [
        Text("\nWrites, as more is written", style="bold"),
        rich_table(Grid(head, rows, frozenset(range(5)))),
    ]
    if figures["cleaning_s"] > 0.0:
        share = figures["cleaning_s"] / figures["elapsed_s"]
        found.append(Text(f"The drive rewrites shingled bands {format_percent(share)} of the time."))
    return found
