"""How much is printed: ``-q`` and ``-v`` before or after a command, and ``zsim --version -v``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import click

_LOUDNESS = {"quiet": False, "verbose": False}


def is_quiet() -> bool:
    """Tell whether progress and notices are left out."""
    return _LOUDNESS["quiet"]


def is_verbose() -> bool:
    """Tell whether an answer also lists what was assumed."""
    return _LOUDNESS["verbose"]


def tell(text: str) -> None:
    """Print one line on stderr; where that is full, what was asked for is done all the same."""
    with contextlib.suppress(OSError):
        click.echo(f"zsim: {text}", err=True)


def begin_telling(verbose: bool, quiet: bool) -> None:
    """Begin to say more or less, for this process: what stands before the command."""
    _LOUDNESS.update(quiet=False, verbose=False)
    _take_verbose(verbose)
    _take_quiet(quiet)


def _take_quiet(quiet: bool) -> None:
    _LOUDNESS["quiet"] |= quiet


def _take_verbose(verbose: bool) -> None:
    """Say on stderr what is read, and at the end how long it took; once, however often it is asked for."""
    if not verbose or is_verbose():
        return
    import atexit
    import time

    from zsim.cli.defaults import defaults_file

    _LOUDNESS["verbose"] = True
    begun = time.monotonic(), time.process_time()
    path = defaults_file()
    if path is not None and path.is_file():
        tell(f"defaults of {path}")

    def print_times() -> None:
        wall, used = time.monotonic() - begun[0], time.process_time() - begun[1]
        tell(f"{wall:.1f} s, {used:.1f} s of processor time")

    atexit.register(print_times)


QUIET = "No progress and no notices on stderr; errors only."
VERBOSE = "Report on stderr what is read, and how long it takes; list what was assumed."
BEHIND: tuple[tuple[str, str, Callable[[bool], None], str], ...] = (
    ("-v", "--verbose", _take_verbose, VERBOSE),
    ("-q", "--quiet", _take_quiet, QUIET),
)


def with_loudness(command: click.Command) -> click.Command:
    """Give a command, or all of a group, -v and -q where it has none of its own; return it."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            with_loudness(each)
        return command
    known = {name for each in command.params for name in each.opts}
    command.params += [
        click.Option([short, long], is_flag=True, expose_value=False, help=words, callback=_callback(take))
        for short, long, take, words in BEHIND
        if not known & {short, long}
    ]
    return command


def _callback(take: Callable[[bool], None]) -> Callable[[click.Context, click.Parameter, bool], None]:
    def called(context: click.Context, _: click.Parameter, value: bool) -> None:
        if not context.resilient_parsing:
            take(value)

    return called


def versions() -> Iterator[str]:
    """Yield what ``zsim --version -v`` says besides the version."""
    import platform

    from zsim.base.jit import of_this_machine
    from zsim.base.machine.kernel_cache import VARIABLE
    from zsim.base.provenance import LIBRARIES, version
    from zsim.cli.defaults import defaults_file

    yield f"python {platform.python_version()} on {platform.platform()}"
    yield from (f"{name} {version(name)}" for name in LIBRARIES)
    yield f"kernel cache ({VARIABLE}): {of_this_machine().directory or 'none'}"
    path = defaults_file()
    there = "" if path is not None and path.is_file() else " (not there)"
    yield f"defaults (ZSIM_CONFIG): {path}{there}"
