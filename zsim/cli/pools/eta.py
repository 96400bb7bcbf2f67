"""``zsim eta``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.cli.common import (
    console,
    echo,
    escaped,
    exclusive,
    notice,
    print_json,
    progress,
    show,
    show_assumed,
    whole_number,
)
from zsim.cli.computing import announced_compilation
from zsim.cli.flags import by_default, scenario_options, stated_fields, words
from zsim.cli.given_files import sentence_in, tell_reading
from zsim.cli.help import GroupedCommand
from zsim.cli.pools.pasted import less_told

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zsim.planning.eta.answer import Eta

LEAST_EVERY_S = 1


@click.command(
    "eta",
    cls=GroupedCommand,
    own={"The running operation": ("pool", "watch", "log", "prometheus")},
    examples=(
        "zpool status tank | zsim eta",
        "zsim eta status.txt list.txt iostat.txt",
        'zsim eta "8x 16TB in raidz2, 60% full, resilver 34% done after 12 h"',
        "zsim eta --pool tank --watch 60 --log tank.jsonl",
    ),
)
@click.argument("files", metavar="[FILE|DIR|SENTENCE|-]...", nargs=-1)
@click.option(
    "--pool",
    metavar="NAME",
    help="Run 'zpool status NAME' here; with files: which pool of several.",
)
@click.option("--watch", metavar="SECONDS", help="With --pool: ask again at this interval, and redraw a bar.")
@click.option("--log", metavar="FILE.jsonl", help="Append each answer as a line of JSON.")
@click.option(
    "--prometheus", metavar="FILE.prom", help="Write each answer for Prometheus' textfile collector."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the answer as JSON, and nothing else, on stdout."
)
@scenario_options
def command(
    files: tuple[str, ...],
    pool: str | None,
    watch: str | None,
    log: str | None,
    prometheus: str | None,
    as_json: bool,
    **given: object,
) -> None:
    """Estimate when a running resilver, scrub or rebuild finishes: zpool status tank | zsim eta.

    FILE has the output of zpool status, once or several times, or another output of the same pool; without
    files the standard input is read. The text may be quoted, cut off or in one line, as in forum posts, be
    copied from the pages of TrueNAS or Proxmox, or be a sentence: "8x 16TB in raidz2, resilver 34% done after
    12 h". What it does not show is assumed, and listed.
    """
    from zsim.base.files import check_writable

    every = whole_number(watch, "--watch", LEAST_EVERY_S)
    if every is not None and pool is None:
        raise InputError("--watch", watch, "it needs a pool to ask", "add --pool NAME")
    exclusive({"--watch": watch, "--json": True if as_json else None})
    for path in (log, prometheus):
        if path is not None:
            check_writable(path)
    beyond = by_default(given)
    given["settings"], overrides = (), words(given, "settings")
    stated = stated_fields(given, begins_now=False)  # a status says when its scan began
    if every is not None:
        assert pool is not None
        if beyond & stated.keys():
            from zsim.planning.eta.watching import status_of

            stated = less_told(stated, beyond, status_of(pool), files, pool)
        watch_pool(pool, every, files, overrides, stated, log, prometheus)
        return
    answer = answer_of(files, pool, overrides, stated, beyond)
    keep(answer, log, prometheus)
    if as_json:
        print_json(answer.to_dict())
    else:
        show(answer)
        show_assumed(answer.assumptions)


def answer_of(
    files: tuple[str, ...],
    pool: str | None,
    overrides: tuple[str, ...],
    stated: dict[str, object],
    beyond: Collection[str] = (),
) -> Eta:
    """Return the answer for files, what is piped in, or a pool that is asked.

    `beyond`: fields that are stated by default alone, and that these say better.
    """
    from zsim.planning.eta.api import eta
    from zsim.planning.eta.watching import status_of

    text, now = _sentence(files, stated), None
    files = () if text is not None else files
    names = [name for name in files if name != "-"]
    if text is not None:
        pool = None
    elif not files and pool is not None and (sys.stdin is None or sys.stdin.isatty()):
        text, now = status_of(pool), datetime.now()
    elif "-" in files or not files:
        text, now = piped(), datetime.now()
        if not text.strip() and pool is not None:
            text = status_of(pool)
    stated = less_told(stated, beyond, text, names, pool)
    with announced_compilation(), progress("simulating") as on_progress:
        return eta(
            text, names, pool=pool, overrides=overrides, stated=stated, now=now, on_progress=on_progress
        )


def _sentence(files: tuple[str, ...], stated: dict[str, object]) -> str | None:
    """Return the sentence that stands in the place of files, and tell how it is read; None of files."""
    said = sentence_in(files, stated)
    if said is None:
        return None
    # What was not understood is a note of the answer.
    tell_reading(replace(said, unread=()))
    return " ".join(files)


def piped() -> str:
    """Return what is piped in.

    Raises
    ------
    InputError
        When nothing is.
    """
    from zsim.base.reading import read_bytes

    if sys.stdin is not None and sys.stdin.isatty():
        raise InputError(
            "zpool status",
            None,
            "its output is expected",
            "write zpool status tank | zsim eta, or name files",
        )
    return read_bytes("-", "standard input").decode("utf-8", "replace")


def keep(answer: Eta, log: str | None, prometheus: str | None) -> None:
    """Write an answer where it was asked for."""
    from zsim.planning.eta.watching import append_log, write_prometheus

    if log is not None:
        append_log(log, answer)
    if prometheus is not None:
        write_prometheus(prometheus, answer)


def watch_pool(
    pool: str,
    every: int,
    files: tuple[str, ...],
    overrides: tuple[str, ...],
    stated: dict[str, object],
    log: str | None,
    prometheus: str | None,
) -> None:
    """Show a pool's scan until it is over, or somebody presses Ctrl-C."""
    from zsim.planning.eta.watching import bar, log_line, watched

    def missed(error: InputError) -> None:
        notice(f"{error.allowed}; the next attempt is in {every} s")

    answers = watched(pool, float(every), files=files, overrides=overrides, stated=stated, missed=missed)
    kept = [each for each in (log, prometheus) if each is not None]
    with (
        until_interrupted(f"; the answers so far are in {' and '.join(kept)}" if kept else ""),
        live() as redraw,
    ):
        for number, answer in enumerate(answers):
            try:
                keep(answer, log, prometheus)
            except InputError as error:
                if number == 0:
                    raise
                missed(error)
            if redraw is not None:
                redraw(bar(answer))
            else:
                echo(escaped(log_line(answer)))
    notice(f"no scan is running on {pool} any more")


@contextlib.contextmanager
def until_interrupted(kept: str) -> Iterator[None]:
    """On Ctrl-C, which is how watching ends, say what is left of it."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.go_on = kept or "; the scan itself goes on"  # type: ignore[attr-defined]
        raise


@contextlib.contextmanager
def live() -> Iterator[Callable[[RenderableType], None] | None]:
    """Give what redraws the terminal; None where stdout is none."""
    if not sys.stdout.isatty():
        yield None
        return
    from rich.live import Live

    with Live(console=console(), auto_refresh=False) as display:
        yield lambda renderable: display.update(renderable, refresh=True)
