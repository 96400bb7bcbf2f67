"""``zsim compare``."""

from __future__ import annotations

from typing import Any

import click

from zsim.base.errors import InputError
from zsim.cli.common import exclusive, known_so_far, print_json, progress, show
from zsim.cli.computing import announced_compilation
from zsim.cli.flags import scenario_options, stated_fields


@click.command("compare")
@click.argument("asked", metavar="LAYOUT|FILE.toml...", nargs=-1, required=True)
@click.option("--drives", metavar="N", help="Repeat each layout as often as N drives allow.")
@click.option("--usable", metavar="SIZE", help="Repeat each layout until it holds so much data: 40T.")
@click.option("--jobs", metavar="N", help="Processes; by default one a core if there are many scenarios.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout.")
@scenario_options
def command(
    asked: tuple[str, ...],
    drives: str | None,
    usable: str | None,
    jobs: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare layouts or scenario files side by side.

    The other flags hold for all of them.  Usable space counts full records, parity and padding taken off.
    """
    from zsim.base.units import parse_bytes
    from zsim.cli.common import whole_number
    from zsim.planning.api import compare

    exclusive({"--drives": drives, "--usable": usable})
    number = whole_number(drives, "--drives", 1)
    space = None if usable is None else parse_bytes(usable, "--usable")
    workers = whole_number(jobs, "--jobs", 1)
    common = stated_fields(given)
    if "layout" in common:
        raise InputError("layout", common["layout"], "layouts need no flag here", "write zsim compare LAYOUT")
    with known_so_far(as_json), announced_compilation(), progress("comparing") as report:
        table = compare(*asked, drives=number, usable=space, jobs=workers, on_progress=report, **common)
    if as_json:
        print_json(table.to_dict())
    else:
        show(table)
