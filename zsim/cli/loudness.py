"""How much is said on stderr: ``zsim -q``, ``zsim -v``; and what ``zsim --version -v`` tells."""

from __future__ import annotations

from collections.abc import Iterator

import click

_LOUDNESS = {"quiet": False}


def is_quiet() -> bool:
    """Tell whether progress and notices are left out."""
    return _LOUDNESS["quiet"]


def begin_telling(verbose: bool, quiet: bool) -> None:
    """Begin to say more or less on stderr, for this process."""
    _LOUDNESS["quiet"] = quiet
    if not verbose:
        return
    import atexit
    import time

    from zsim.cli.defaults import defaults_file

    begun = time.monotonic(), time.process_time()
    path = defaults_file()
    if path is not None and path.is_file():
        click.echo(f"zsim: defaults of {path}", err=True)

    def print_times() -> None:
        wall, used = time.monotonic() - begun[0], time.process_time() - begun[1]
        click.echo(f"zsim: {wall:.1f} s, {used:.1f} s of processor time", err=True)

    atexit.register(print_times)


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
