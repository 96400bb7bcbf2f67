"""Run the commands on this host: without a shell, one after the other, each with a timeout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from zsim.base.errors import InputError
from zsim.observe.collect.commands import COMMANDS, CollectedCommand, arguments, checked_name
from zsim.observe.outputs import Remark
from zsim.observe.pool_import.given.files import PoolFiles, read_text
from zsim.observe.pool_import.importing import ImportedPool, import_files
from zsim.observe.texts import MAX_TEXT, decoded, plain, printed_moment

RUNNING = ("in progress since", "in progress for")
REMEDY = "run it as root on the host of the pool, or give the files that zsim import --script collects"
SYSTEM_BLOCKS = Path("/sys/block")
MEMORY = Path("/proc/meminfo")

OnCommand = Callable[[str], None]
"""Is called with each command line before it is run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a command: its line, what it printed, and why it told nothing (or empty)."""

    line: str
    text: str
    problem: str = ""


def import_live(
    pool: str, *, overrides: Sequence[str] = (), on_command: OnCommand | None = None
) -> ImportedPool:
    """Ask a pool of this host, by commands that only read.

    Parameters
    ----------
    pool : str
        Its name.
    overrides : sequence of str
        ``KEY=VALUE``: fields that are known better.
    on_command : callable, optional
        Is called with each command line before it is run.

    Raises
    ------
    InputError
        When ``zpool status`` cannot be run or knows no such pool.
    """
    return import_files(collect(pool, on_command), pool, overrides)


def collect(pool: str, on_command: OnCommand | None = None) -> PoolFiles:
    """Ask a pool of this host.

    Parameters
    ----------
    pool : str
    on_command : callable, optional

    Raises
    ------
    InputError
        When the name is none, or ``zpool status`` cannot be run.
    """
    name = checked_name(pool)
    files = PoolFiles()
    scans = False
    for command in COMMANDS:
        if command.while_scanning and not scans:
            continue
        outcome = _first_that_works(command, name, on_command)
        if outcome.problem:
            if command.needed:
                raise InputError(f"--pool {name}", None, f"{outcome.line}: {outcome.problem}", REMEDY)
            files.facts.append(Remark(f"{outcome.line} gave no output: {outcome.problem}"))
            continue
        scans = scans or any(words in outcome.text for words in RUNNING)
        _read(outcome, files)
    _read(Outcome("this host", host_text()), files)
    return files


def _read(outcome: Outcome, files: PoolFiles) -> None:
    """Read an output; one that cannot be understood is noted, unless nothing works without it."""
    dated = f"{printed_moment(datetime.now())}\n$ {outcome.line}\n{outcome.text}"
    try:
        files.contents[outcome.line] = read_text(dated, outcome.line, files)
    except InputError as error:
        files.contents[outcome.line] = []
        files.facts.append(Remark(plain(str(error), 300).rstrip(".")))


def _first_that_works(command: CollectedCommand, pool: str, on_command: OnCommand | None) -> Outcome:
    outcomes = []
    for way in command.ways:
        outcome = run(arguments(way, pool), command.limit_s, on_command)
        if not outcome.problem:
            return outcome
        outcomes.append(outcome)
    return outcomes[0]


def run(words: list[str], limit_s: float, on_command: OnCommand | None = None) -> Outcome:
    """Run a command and return what it printed.

    Parameters
    ----------
    words : list of str
        Argument list; no shell sees it.
    limit_s : float
        It is stopped after so long [s].
    on_command : callable, optional
    """
    line = " ".join(words)
    if on_command is not None:
        on_command(line)
    environment = {**os.environ, "LC_ALL": "C", "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    try:
        # The words are those of a fixed table; the pool's name was checked.
        done = subprocess.run(
            words,
            capture_output=True,
            timeout=limit_s,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return Outcome(line, "", "there is no such command here")
    except subprocess.TimeoutExpired:
        return Outcome(line, "", f"it was stopped after {limit_s:.0f} s")
    except OSError as error:
        return Outcome(line, "", (error.strerror or "it could not be started").lower())
    text = decoded(done.stdout[:MAX_TEXT].replace(b"\0", b""))
    if done.returncode or not text.strip():
        said = plain(decoded(done.stderr).strip().partition("\n")[0], 160).rstrip(".")
        return Outcome(line, text, said or f"it ended with {done.returncode} and printed nothing")
    return Outcome(line, text)


def host_text() -> str:
    """Return memory, processors and write caches of this host in the form the script collects them."""
    lines = [f"cpus: {os.cpu_count() or 1}"]
    try:
        lines += [each for each in MEMORY.read_text().splitlines() if each.startswith("MemTotal")]
        for path in sorted(SYSTEM_BLOCKS.glob("*/queue/write_cache"))[:4096]:
            lines.append(f"{path}:{path.read_text().strip()}")
    except OSError:
        pass
    return "\n".join(lines) + "\n"
