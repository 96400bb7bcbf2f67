"""``zsim import``: a real pool, from the output of zpool and zdb."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zsim.cli.common import notice, print_json, progress, show

if TYPE_CHECKING:
    from zsim.observe.pool_import.importing import ImportedPool


@click.command("import")
@click.argument("files", metavar="DIR|FILE...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE.toml", help="Write the scenario, for zsim predict --scenario.")
@click.option("--pool", metavar="NAME", help="The pool, where the files are about several.")
@click.option(
    "--blocks/--no-blocks",
    default=True,
    help="Keep the list of zdb -Lbbbbb as Parquet beside the scenario, or only its sums.",
)
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="A field known better. May be repeated."
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout.")
def command(
    files: tuple[str, ...],
    output: str | None,
    pool: str | None,
    blocks: bool,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Read a real pool from the output of zpool and zdb.

    Every file is recognised by its content: zpool list, zpool status (also -j), zdb -C, -Lbb to -Lbbbbb and
    -mm, zfs version, memory and processors. What none of them tells is assumed and listed.
    """
    from pathlib import Path

    from zsim.base.files import check_ending, check_writable
    from zsim.observe.pool_import.importing import beside, import_pool

    if output is not None:
        check_ending(output, (".toml",))
        check_writable(output)
    table = beside(Path(output), "blocks.parquet") if output is not None and blocks else None
    with progress("reading") as on_progress:
        imported = import_pool(files, pool=pool, blocks=table, overrides=settings, on_progress=on_progress)
    written = [str(path) for path in imported.write(output)] if output is not None else []
    if table is not None and any("zdb -Lbbbbb" in formats for formats in imported.contents.values()):
        written.append(str(table))
    if as_json:
        print_json(imported.to_dict() | {"written": written})
    else:
        show_import(imported)
    for name in written:
        notice(f"{name} written")


def show_import(imported: ImportedPool) -> None:
    """Print an import for a person: files, what was found, what is assumed, what could not be used."""
    from zsim.observe.pool_import.importing import found_text, scan_words
    from zsim.report.tables import Grid, with_title

    files = tuple((name, ", ".join(formats) or "not known") for name, formats in imported.contents.items())
    show(with_title(f"Pool {imported.pool or 'without a name'}", Grid(("file", "read as"), files)))
    found = tuple(
        (each.field, found_text(each), f"{each.source}{' (inferred)' if each.inferred else ''}")
        for each in imported.findings
    )
    show(with_title("Found", Grid(("field", "value", "from"), found)))
    assumed = tuple((each.field, each.text, each.why) for each in imported.assumptions)
    show(with_title("Assumed for the rest", Grid(("field", "taken as", "why"), assumed)))
    if imported.progress is not None:
        click.echo(f"\nScan: {scan_words(imported.progress)}.")
    for note in imported.notes:
        click.echo(f"Note: {note}.")
