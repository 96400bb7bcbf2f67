"""``zsim drives``: list, show, plot and fit drive models."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from zsim.base.errors import InputError
from zsim.base.units import format_percent
from zsim.cli.common import json_option, notice, print_json, progress, show
from zsim.cli.completion import completer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zsim.drives.models.model import DriveModel
    from zsim.drives.models.parameters import DriveParameters
    from zsim.observe.drives.fit import Fit

PLOT_ENDINGS = (".svg", ".png", ".pdf")


@click.group("drives")
def command() -> None:
    """List, show, plot and fit drive models.

    Capacities and rates are in powers of 1000, as on the label of a drive.
    """


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the drives of the catalogue."""
    from zsim.drives.catalogue import list_drives, load_drive

    drives = [load_drive(name) for name in list_drives()]
    if as_json:
        print_json({"drives": [_listed(drive) for drive in drives]})
        return
    from zsim.base.units import format_drive_size, format_rate
    from zsim.prediction.answer.tables import Grid, rich_table

    rows = tuple(
        (
            drive.name,
            drive.model,
            format_drive_size(drive.capacity_bytes),
            drive.recording,
            format_rate(_outer(drive)),
            drive.quantities[_rate_key(drive)].kind,
        )
        for drive in drives
    )
    head = ("name", "model", "capacity", "recording", "outer rate", "known by")
    show(rich_table(Grid(head, rows, frozenset({2, 4}))))


@command.command("show", short_help="Show the numbers of a drive, with their sources.")
@click.argument("name", metavar="NAME", shell_complete=completer("drive"))
@click.option("--drive-size", metavar="SIZE", help="Scale a generic drive to this capacity, such as 4TB.")
@json_option
def show_command(name: str, drive_size: str | None, as_json: bool) -> None:
    """Show a drive: its numbers with their sources, and what follows from them."""
    drive = _sized(name, drive_size)
    from zsim.cli.computing import announced_compilation

    with announced_compilation("alone._run_requests"):
        derived = derived_figures(drive)
    if as_json:
        print_json(
            {
                **_listed(drive),
                "parameters": _entries(drive),
                "observed": _observed(drive),
                "derived": derived,
            }
        )
        return
    show_drive(drive, derived)


@command.command("plot", short_help="Draw zones, seeks and random reads of a drive.")
@click.argument("name", metavar="NAME", shell_complete=completer("drive"))
@click.option("-o", "--output", metavar="FILE", help="FILE.svg, .png or .pdf; by default NAME.svg.")
def plot_command(name: str, output: str | None) -> None:
    """Draw the zone profile, the seek curve and the random reads per second by queue depth."""
    from zsim.base.files import check_ending, check_writable
    from zsim.drives.catalogue import load_drive

    drive = load_drive(name)
    path = output or f"{drive.name}.svg"
    check_ending(path, PLOT_ENDINGS)
    check_writable(path)
    from zsim.report.drive_figure import drive_figure, save

    save(drive_figure(drive), path)
    notice(f"{path} written")


@command.command("fit", short_help="Fit a drive model to your own measurements.")
@click.option("--drive", "base", metavar="NAME", default="generic-7200rpm-cmr", show_default=True,
              help="The model to start from.")  # fmt: skip
@click.option("--drive-size", metavar="SIZE", help="Capacity, if the model to start from is a generic one.")
@click.option("--fio", "fio_files", metavar="FILE", multiple=True,
              help="fio's JSON output or bandwidth log, of reads. May be repeated.")  # fmt: skip
@click.option("--dd", "dd_files", metavar="FILE", multiple=True,
              help="CSV with columns offset and rate, of sequential reads. May be repeated.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE.toml", help="Write the fitted drive.")
@json_option
def fit_command(
    base: str,
    drive_size: str | None,
    fio_files: tuple[str, ...],
    dd_files: tuple[str, ...],
    output: str | None,
    as_json: bool,
) -> None:
    """Fit a drive model to your own measurements, and say what they determine."""
    from zsim.base.files import check_ending, check_writable
    from zsim.drives.models.files import save_drive
    from zsim.observe.drives.fit import fit_drive
    from zsim.observe.drives.samples import dd_samples, fio_samples

    if output is not None:
        check_ending(output, (".toml",))
        check_writable(output)
    if not fio_files and not dd_files:
        raise InputError("--fio, --dd", None, "a fit needs measurements", "give one of them")
    drive = _sized(base, drive_size)
    samples = [each for path in fio_files for each in fio_samples(path, drive.capacity_bytes)]
    with progress("reading the samples") as report:
        samples += [each for path in dd_files for each in dd_samples(path, drive.capacity_bytes, report)]
    with progress("fitting") as report:
        fit = fit_drive(drive, samples, Path(output).stem if output else "fitted", report)
    if output is not None:
        save_drive(fit.drive, output)
    if as_json:
        print_json(fit_entry(fit))
    else:
        show_fit(fit, drive)
    if output is not None:
        notice(f"{output} written; use it as --drive {output}")


def fit_entry(fit: Fit) -> dict[str, object]:
    """Return a fit as JSON prints it; an infinite condition number is null."""
    from dataclasses import asdict
    from math import isfinite

    return {
        "factors": [asdict(factor) for factor in fit.factors],
        "condition": fit.condition if isfinite(fit.condition) else None,
        "residual": fit.residual,
        "samples": fit.samples,
        "parameters": _entries(fit.drive),
    }


def show_fit(fit: Fit, base: DriveModel) -> None:
    """Print a fit for a person."""
    from rich.console import Group
    from rich.text import Text

    from zsim.prediction.answer.tables import Grid, rich_table

    rows = tuple(
        (
            f.name,
            f"{f.value:.3f}",
            f"{f.standard_error:.3f}",
            "by the samples" if f.identified else f"by {base.name}",
        )
        for f in fit.factors
    )
    grid = Grid(("factor on", "value", "standard error", "decided"), rows, frozenset({1, 2}))
    condition = f"{fit.condition:.3g}" if math.isfinite(fit.condition) else "infinite"
    sentences = [
        f"{fit.samples} samples, residual {format_percent(fit.residual, 1)} (root mean square of the "
        "logarithm).",
        f"Condition number of the samples: {condition}."
        + (" They cannot separate the factors that they depend on." if fit.condition > 1e3 else ""),
    ]
    show(Group(rich_table(grid), *(Text(line) for line in sentences)))


class Derived(TypedDict):
    """What the model gives of a drive, in SI; reads per second by size and queue depth."""

    random_read_iops_by_depth: dict[str, dict[str, float]]
    rate_by_place: list[dict[str, float]]
    seconds_to_read_all: float
    writes: dict[str, float]


def derived_figures(drive: DriveModel) -> Derived:
    """Return random reads per second by queue depth, rates by place and the time to read the whole drive."""
    from zsim.drives.derived import rate_profile, seconds_to_read_all
    from zsim.engine.single_drive import iops_by_depth

    parameters = drive.parameters()
    x, rates = rate_profile(parameters, 10)
    return {
        "random_read_iops_by_depth": {
            str(size): {str(depth): iops for depth, iops in iops_by_depth(parameters, size).items()}
            for size in (4096, 131072)
        },
        "rate_by_place": [{"at": float(a), "bytes_per_s": float(b)} for a, b in zip(x, rates, strict=True)],
        "seconds_to_read_all": seconds_to_read_all(parameters),
        "writes": _writes(parameters),
    }


def _writes(parameters: DriveParameters) -> dict[str, float]:
    """Return what becomes of writes once the cache of a shingled or a solid-state drive is full."""
    from zsim.engine.single_drive import shingled_writes

    if parameters.smr_band_bytes > 0:
        before, room, after = shingled_writes(parameters)
        return {"random_4k_per_s": before, "room_for": room, "random_4k_per_s_after": after}
    if parameters.kind == "flash" and parameters.slc_cache_bytes > 0:
        fast, slow = parameters.flash_write_rate, parameters.slc_rate_after
        cache, rest = parameters.slc_cache_bytes, parameters.capacity_bytes - parameters.slc_cache_bytes
        return {
            "bytes_per_s": fast,
            "room_bytes": cache,
            "bytes_per_s_after": slow,
            "seconds_to_fill": cache / fast + rest / slow,
        }
    return {}


def derived_lines(drive: DriveModel, derived: Derived) -> list[str]:
    """Return the derived figures in words."""
    from zsim.base.units import format_duration, format_rate

    lines = []
    for size, name in (("4096", "4K"), ("131072", "128K")):
        by_depth = derived["random_read_iops_by_depth"][size]
        figures = ", ".join(f"{iops:,.0f} at {depth}" for depth, iops in by_depth.items())
        lines.append(f"random {name} reads per second by queue depth: {figures}")
    places = derived["rate_by_place"]
    if drive.kind == "mechanical":
        rates = (f"{format_rate(p['bytes_per_s'])} at {format_percent(p['at'])}" for p in places[::3])
        lines.append(f"sequential rate by place: {', '.join(rates)}")
    lines.append(f"reading all of it: {format_duration(derived['seconds_to_read_all'])}")
    return [*lines, *_write_lines(derived["writes"])]


def _write_lines(writes: dict[str, float]) -> list[str]:
    """Return in words what becomes of writes once a cache is full."""
    from zsim.base.units import format_duration, format_rate

    if "room_for" in writes:
        before, after = writes["random_4k_per_s"], writes["random_4k_per_s_after"]
        return [
            f"random 4K writes per second: {before:,.0f} for the first {writes['room_for']:,}, "
            f"which fill the persistent cache, {after:,.1f} after"
        ]
    if "room_bytes" in writes:
        fast, slow = (format_rate(writes[key]) for key in ("bytes_per_s", "bytes_per_s_after"))
        return [
            f"writes: {fast} for the first {writes['room_bytes'] / 1e9:,.0f} GB, {slow} after; "
            f"filling all of it: {format_duration(writes['seconds_to_fill'])}"
        ]
    return []


def _observed_parts(drive: DriveModel, derived: Derived) -> list[RenderableType]:
    """Return what was measured of the drive beside what the model gives."""
    if not drive.observed:
        return []
    from rich.text import Text

    from zsim.prediction.answer.tables import Grid, rich_table

    modelled = _modelled(drive, derived)
    rows = tuple(
        (key, f"{_plain(q.value)} {q.unit}", modelled.get(key, ""), q.kind, q.source)
        for key, q in drive.observed.items()
    )
    head = ("figure", "observed", "model", "kind", "source")
    return [
        Text("\nObserved, and what the model gives", style="bold"),
        rich_table(Grid(head, rows, frozenset({1, 2}))),
    ]


def _modelled(drive: DriveModel, derived: Derived) -> dict[str, str]:
    """Return the model's own figures by the observation that each stands beside."""
    from zsim.drives.derived import random_service

    parameters, writes, whole = drive.parameters(), derived["writes"], derived["seconds_to_read_all"]
    found = {
        "mean_rate": f"{drive.capacity_bytes / whole / 1e6:.1f} MB/s",
        "self_test": f"{whole / 60:.0f} min",
        "random_read_iops": f"{derived['random_read_iops_by_depth']['4096']['32']:,.0f} 1/s at 32",
    }
    if drive.kind == "mechanical":
        found["access_time"] = f"{random_service(parameters, 4096) * 1e3:.1f} ms"
    else:
        found["write_outer_rate"] = f"{parameters.flash_write_rate / 1e6:,.0f} MB/s"
    if "room_for" in writes:
        found["random_write_iops"] = f"{writes['random_4k_per_s_after']:,.1f} 1/s"
    if "seconds_to_fill" in writes:
        found["write_mean_rate"] = f"{drive.capacity_bytes / writes['seconds_to_fill'] / 1e6:,.0f} MB/s"
    return found


def show_drive(drive: DriveModel, derived: Derived) -> None:
    """Print the numbers of a drive with their sources, and what follows from them."""
    from rich.console import Group
    from rich.text import Text

    from zsim.prediction.answer.tables import Grid, rich_table

    rows = tuple(
        (
            key,
            f"{_plain(q.value)} {'' if q.unit == '1' else q.unit}".rstrip(),
            q.kind,
            format_percent(q.uncertainty) if q.uncertainty else "",
            q.source,
        )
        for key, q in drive.quantities.items()
    )
    parts: list[RenderableType] = [
        Text(
            f"{drive.vendor} {drive.model}".removeprefix("generic ")
            + f" ({drive.drive_class}, {drive.recording})",
            style="bold",
        ),
        *([Text(drive.note)] if drive.note else []),
        rich_table(Grid(("parameter", "value", "kind", "+-", "source"), rows, frozenset({1, 3}))),
        Text("\nWhat follows", style="bold"),
        *(Text(line) for line in derived_lines(drive, derived)),
    ]
    show(Group(*parts, *_observed_parts(drive, derived)))


def _sized(name: str, drive_size: str | None) -> DriveModel:
    from zsim.base.units import parse_drive_size
    from zsim.drives.catalogue import load_drive

    drive = load_drive(name)
    return drive if drive_size is None else drive.with_capacity(parse_drive_size(drive_size, "--drive-size"))


def _listed(drive: DriveModel) -> dict[str, object]:
    return {
        "name": drive.name,
        "vendor": drive.vendor,
        "model": drive.model,
        "class": drive.drive_class,
        "kind": drive.kind,
        "recording": drive.recording,
        "capacity_bytes": drive.capacity_bytes,
        "outer_rate_bytes_per_s": _outer(drive),
        "outer_rate_kind": drive.quantities[_rate_key(drive)].kind,
        "aliases": list(drive.aliases),
        "note": drive.note,
    }


def _plain(value: float) -> str:
    """Return a number with six digits, a whole one with all of them."""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"


def _rate_key(drive: DriveModel) -> str:
    return "read_rate" if drive.kind == "flash" else "outer_rate"


def _outer(drive: DriveModel) -> float:
    return drive.quantities[_rate_key(drive)].si


def _entries(drive: DriveModel) -> dict[str, object]:
    return {key: _entry(quantity) for key, quantity in drive.quantities.items()}


def _observed(drive: DriveModel) -> dict[str, object]:
    return {key: _entry(quantity) for key, quantity in drive.observed.items()}


def _entry(quantity: object) -> dict[str, object]:
    names = ("value", "unit", "kind", "source", "uncertainty", "note")
    return {name: getattr(quantity, name) for name in names}
