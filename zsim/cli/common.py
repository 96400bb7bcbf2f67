"""What commands share: printing, JSON, progress bars and common options.  Quick to import."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Protocol, TypeVar

import click

from zsim.base.errors import InputError, cut, is_unsafe, printable
from zsim.cli.loudness import is_quiet, is_verbose, tell

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from zsim.scenario.model import Scenario

COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
PLAIN_WIDTH = 100  # of output that goes to a file or a pipe
NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?", re.ASCII)

LIKE_A_DRIVE = re.compile(r"\b\d+(?:\.\d+)? ?[gtpe]b\b", re.ASCII | re.IGNORECASE)
"""A size as makers of drives write it: what is meant may be powers of 1000."""

Report = Callable[[float, str], None]
"""What a long computation calls now and then: the share done (0 to 1) and what it is doing."""

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout."
)
"""The flag of a command whose answer can be printed as JSON."""


def answer_options(command: _Decorated) -> _Decorated:
    """Add the flags of an answer that is printed, stored or drawn."""
    plot = click.option("--plot", metavar="FILE", help="Draw the answer: FILE.svg, FILE.png or FILE.pdf.")
    output = click.option("-o", "--output", metavar="FILE.json", help="Store the answer as JSON.")
    return json_option(output(plot(command)))


def console(stream: IO[str] | None = None) -> Console:
    """Return a rich console on `stream` (stdout if not given): colours and width of the terminal, or plain.

    ``COLUMNS``, ``NO_COLOR`` and ``TERM=dumb`` are honoured by rich itself.
    """
    from rich.console import Console

    target = sys.stdout if stream is None else stream
    stated = os.environ.get("COLUMNS", "").isdigit()
    width = None if target.isatty() or stated else PLAIN_WIDTH
    return Console(file=target, width=width, highlight=False, emoji=False, markup=False, soft_wrap=False)


def show(renderable: object) -> None:
    """Print a rich renderable on stdout; in a file or a pipe its lines end without blanks."""
    screen = console()
    with screen.capture() as captured:
        screen.print(renderable)
    lines = [harmless(line.rstrip()) for line in captured.get().rstrip("\n").split("\n")]
    click.echo("\n".join(lines), color=screen.is_terminal)


def echo(text: str) -> None:
    """Print text that may hold what was read from files."""
    click.echo("\n".join(harmless(line) for line in text.split("\n")))


def harmless(line: str) -> str:
    """Return a line with colours, but with escapes for all else that could steer a terminal."""
    parts = COLOUR.split(line)
    return "".join(part if place % 2 else printable(part) for place, part in enumerate(parts))


def tell_powers(option: str, text: str) -> None:
    """Say how a size of a pool is read that is written as that of a drive: 500TB, in powers of 1024.

    Parameters
    ----------
    option : str
        What states it.
    text : str
        As it was written.
    """
    from zsim.base.units import format_bytes, format_drive_size, parse_bytes, parse_drive_size

    written = LIKE_A_DRIVE.search(text)
    if written is None:
        return
    read, meant = parse_bytes(written[0]), parse_drive_size(written[0])
    notice(
        f"{option} {cut(text, 60)}: sizes of pools are in powers of 1024, as zfs list has them: "
        f"{format_drive_size(read)} of powers of 1000; write {format_bytes(meant)} for {written[0]} of those."
    )


def notice(text: str) -> None:
    """Print one line on stderr, unless quiet is asked for."""
    if not is_quiet():
        tell(printable(text))


JSON_VERSION = 1
"""Of every answer in JSON: it changes when a field is removed or changes its meaning (``zsim schema``)."""


def print_json(data: Mapping[str, object]) -> None:
    """Print `data` on stdout as JSON; NaN and infinity are refused, because they are not JSON.

    Answers have ``schema_version``; schemas have ``$schema``.
    """
    if not {"schema_version", "$schema"} & set(data):
        data = {"schema_version": JSON_VERSION, **data}
    click.echo(escaped(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)))


def escaped(text: str) -> str:
    """Return JSON with its own escapes for what could steer a terminal or turn the reading order round."""
    plain = text.replace("\n", "")
    if plain.isprintable():
        return text
    return "".join(json.dumps(s)[1:-1] if s != "\n" and is_unsafe(s) else s for s in text)


@contextlib.contextmanager
def progress(title: str) -> Iterator[Report]:
    """Give a function that shows how far a computation is: a bar on stderr if that is a terminal.

    Parameters
    ----------
    title : str
        Shown until the computation says what it is doing.

    Yields
    ------
    Report
        To be called with the share done (0 to 1) and a few words.
    """
    if not sys.stderr.isatty() or is_quiet():
        yield lambda share, words: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeRemainingColumn(), console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share, words: bar.update(
            task, completed=min(max(share, 0.0), 1.0), description=words or title
        )


@contextlib.contextmanager
def known_so_far(as_json: bool, go_on: str = "") -> Iterator[None]:
    """On Ctrl-C print the rows known so far (not with --json, which is whole or not there).

    How to go on is told once, in the last line.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        partial = getattr(stop, "partial", None)
        if partial is not None and not as_json:
            notice("interrupted; the results so far follow")
            show(partial)
        stop.go_on = go_on  # type: ignore[attr-defined]
        raise


def key_value(text: str, option: str) -> tuple[str, str]:
    """Split ``KEY=VALUE`` as it was given to `option`.

    Raises
    ------
    InputError
        If there is no equals sign, or nothing on one of its sides.
    """
    key, _, value = (part.strip() for part in text.partition("="))
    if not key or not value:
        raise InputError(option, text, "it is not NAME=VALUE", f"write {option} NAME=VALUE")
    return key, value


def whole_number(text: str | None, option: str, least: int) -> int | None:
    """Return the whole number given to `option`, or None if it was not given.

    Raises
    ------
    InputError
        If it is no whole number or below `least`.
    """
    if text is None:
        return None
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10) or int(digits) < least:
        raise InputError(option, text, f"it is not a whole number from {least} on", f"write {least + 1}")
    return int(digits)


def number(text: str | None, name: str) -> float | None:
    """Return a plain number.

    Raises
    ------
    InputError
        When it is none.
    """
    if text is None:
        return None
    found = plain_number(text)
    if found is None:
        raise InputError(f"--{name.replace('_', '-')}", text, "it is a number", "write for instance 6")
    return found


def plain_number(text: str) -> float | None:
    """Return a number without sign or unit, infinite where it is too large for one; None where it is none."""
    # Not all that `strip` takes for a blank is one for `float`.
    return float(text.strip()) if NUMBER.fullmatch(text.strip()) else None


def exclusive(given: dict[str, object]) -> None:
    """Refuse two options that exclude each other.

    Parameters
    ----------
    given : dict
        Option name to its value, None where it was not given.

    Raises
    ------
    InputError
        Naming the first two that were given.
    """
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise InputError(
            names[1], given[names[1]], f"it excludes {names[0]}", f"give only one of {', '.join(given)}"
        )


def show_assumed_of(scenario: Scenario) -> None:
    """Print what is assumed of a pool, where -v asks for it."""
    if is_verbose():
        from zsim.case.resolve import resolve

        show_assumed([each.to_dict() for each in resolve(scenario).assumptions])


def show_assumed(assumptions: Sequence[Mapping[str, object]]) -> None:
    """Print what is not stated of a pool and what is taken for it, where -v asks for it."""
    if not is_verbose() or not assumptions:
        return
    from zsim.report.tables import Grid, with_title
    from zsim.scenario.words import in_words

    rows = tuple((in_words(str(each["field"])), str(each["text"]), str(each["why"])) for each in assumptions)
    click.echo()
    show(with_title("Assumptions", Grid(("not stated", "taken", "why"), rows)))


class Savable(Protocol):
    """An answer that can be stored, drawn, and given as plain data."""

    def save(self, path: str, /) -> None:
        """Store it as JSON."""

    def save_plot(self, path: str, /) -> None:
        """Draw it into a file."""

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""


def hand_over(answer: Savable, as_json: bool, output: str | None, plot: str | None) -> None:
    """Store and draw an answer where that is asked for, and print it, as JSON or for a person."""
    with printed_anyway(answer, as_json):
        if output is not None:
            answer.save(output)
        if plot is not None:
            answer.save_plot(plot)


@contextlib.contextmanager
def printed_anyway(
    answer: Savable, as_json: bool, words: Callable[[], RenderableType] | None = None
) -> Iterator[None]:
    """Print an answer, as JSON or in words, after it was stored, and just as well where that failed."""
    try:
        yield
    finally:
        if as_json:
            print_json(answer.to_dict())
        else:
            show(answer if words is None else words())
