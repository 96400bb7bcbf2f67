"""``zsim import``: a real pool, from the output of zpool and zdb."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.cli.common import echo, json_option, notice, print_json, progress, show
from zsim.cli.given_files import sentence_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zsim.observe.pool_import.importing import ImportedPool

STDOUT = "-"


@click.command("import")
@click.argument("files", metavar="[DIR|FILE|SENTENCE|-]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="FILE.toml",
    help="Write the scenario, for zsim predict --scenario; - prints it for zsim predict -.",
)
@click.option(
    "--pool",
    metavar="NAME",
    help="Which pool of several in the files; without files, query it here.",
)
@click.option(
    "--script",
    "wants_script",
    is_flag=True,
    help="Print a script that collects a pool's outputs on another host.",
)
@click.option(
    "--blocks/--no-blocks",
    default=True,
    help="Keep the block list of zdb -Lbbbbb as Parquet beside the scenario, or only its totals.",
)
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Overrides a field. May be repeated.",
)
@json_option
def command(
    files: tuple[str, ...],
    output: str | None,
    pool: str | None,
    wants_script: bool,
    blocks: bool,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Read a real pool from the output of zpool, zdb and the tools that list drives.

    Every output is recognised by its content, pasted or in files, in any order: zpool status, list, history
    -i, events, iostat; zdb; lsblk, smartctl and similar tools; iostat -x, fio, dd. What none of them shows is
    assumed and listed. `zpool status | zsim import -` reads the standard input; --pool NAME without files
    runs the commands on this host; they only read. A sentence is read too: "8x 18TB in raidz2, 70% full".
    """
    if wants_script:
        from zsim.observe.collect.script import script

        click.echo(script(), nl=False)
        return
    check_targets(files, output, pool, as_json)
    imported, written = run_import(files, output, pool, blocks, settings)
    if output == STDOUT:
        echo(imported.to_toml().rstrip("\n"))
        for note in imported.notes:
            notice(f"{note}.")
    elif as_json:
        print_json(imported.to_dict() | {"written": written})
    else:
        show_import(imported)
    for name in written:
        notice(f"{name} written")


def check_targets(files: Sequence[str], output: str | None, pool: str | None, as_json: bool) -> None:
    """Refuse what cannot be done before anything is read."""
    from zsim.base.files import check_ending, check_writable

    if not files and pool is None:
        reason = "files, directories or - for the standard input are expected"
        raise InputError("files", None, reason, "or ask a pool of this host with --pool NAME")
    if output == STDOUT and as_json:
        raise InputError("-o", output, "--json prints on the standard output too", "give one of the two")
    if output is not None and output != STDOUT:
        check_ending(output, (".toml",))
        check_writable(output)


def run_import(
    files: tuple[str, ...], output: str | None, pool: str | None, blocks: bool, settings: tuple[str, ...]
) -> tuple[ImportedPool, list[str]]:
    """Read files, or a pool of this host; return what was found and the files written."""
    from pathlib import Path

    from zsim.base.reading import stat_of
    from zsim.observe.collect.live import import_live
    from zsim.observe.pool_import.importing import beside, import_pool
    from zsim.observe.pool_import.said import import_said

    said = sentence_in(files, ()) if files and pool is None else None
    if said is not None:
        imported = import_said(said, settings)
        return imported, _written(imported, output)
    if not files and pool is not None:
        imported = import_live(pool, overrides=settings, on_command=lambda line: notice(f"running {line}"))
        return imported, _written(imported, output)
    named = output if output != STDOUT else None
    table = beside(Path(named), "blocks.parquet") if named is not None and blocks else None
    before = stat_of(table) if table is not None else None
    try:
        with progress("reading") as on_progress:
            imported = import_pool(
                files, pool=pool, blocks=table, overrides=settings, on_progress=on_progress
            )
        names = [str(path) for path in imported.write(named)] if named is not None else []
    except BaseException:
        if table is not None and before is None:  # a list of blocks without its scenario is of no use
            table.unlink(missing_ok=True)
        raise
    if table is not None and any("zdb -Lbbbbb" in formats for formats in imported.contents.values()):
        names.append(str(table))
    return imported, names


def _written(imported: ImportedPool, output: str | None) -> list[str]:
    """Write a scenario where that is asked for; return the files written."""
    return [] if output in (None, STDOUT) else [str(path) for path in imported.write(str(output))]


def show_import(imported: ImportedPool) -> None:
    """Print an import for a person: what is not known, what was found and assumed, what was not used."""
    from zsim.observe.pool_import.gaps import is_gap
    from zsim.observe.pool_import.importing import found_text, scan_words
    from zsim.report.tables import Grid, with_title

    for note in filter(is_gap, imported.notes):
        echo(f"{note}.\n")
    files = tuple((name, ", ".join(formats) or "not known") for name, formats in imported.contents.items())
    show(with_title(f"Pool {imported.pool or 'without a name'}", Grid(("file", "read as"), files)))
    found = tuple(
        (each.field, found_text(each), f"{each.source}{' (inferred)' if each.inferred else ''}")
        for each in imported.findings
    )
    show(with_title("Found", Grid(("field", "value", "from"), found)))
    assumed = tuple((each.field, each.text, each.why) for each in imported.assumptions)
    show(with_title("Defaults used for the rest", Grid(("field", "default used", "why"), assumed)))
    if imported.progress is not None:
        echo(f"\nScan: {scan_words(imported.progress)}.")
    for note in imported.notes:
        if not is_gap(note):
            echo(f"Note: {note}.")
