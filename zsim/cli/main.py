"""Entry point of ``zsim``: the list of commands, and how errors are shown."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

import click

import zsim
from zsim.base.errors import InputError, cut, printable
from zsim.base.machine.lightly import begin_lightly, end_at_once
from zsim.base.written import noting_what_is_written
from zsim.cli.loudness import QUIET, VERBOSE, begin_telling, tell, versions, with_loudness
from zsim.cli.streams import give_up_stdout, hold_streams

EXIT_BAD_INPUT = 2
MOST_GIVEN = 300
"""Characters that a message repeats of what was given."""
EXIT_INTERNAL = 70  # EX_SOFTWARE of sysexits.h
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE

NO_MEMORY = "there is not enough memory for this; take a smaller pool or file, or allow more."

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
KNOWN_ERRORS = frozenset({
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ENOSPC, errno.EFBIG,
    errno.EDQUOT, errno.EROFS, errno.EIO, errno.EBADF, errno.ENAMETOOLONG, errno.ELOOP, errno.EMFILE,
    errno.ENFILE, errno.ENXIO,
})  # fmt: skip
"""What the system refuses for reasons that the user can see to."""


class Entry(NamedTuple):
    """A command: the module below `zsim.cli` that has it, and its help line."""

    module: str
    help: str


GROUPS: dict[str, dict[str, Entry]] = {
    "A drive has failed, or a resilver is running": {
        "predict": Entry("forecasts.predict", "How long a resilver takes, why, and how sure that is."),
        "eta": Entry("pools.eta", "When a running resilver or scrub finishes, from zpool status."),
        "decide": Entry("pools.decide", "What to do now: wait, restart, replace now or later, reboot."),
        "timeline": Entry("pools.timeline", "Several failures, spares, restarts, reboots, whole procedures."),
        "tune": Entry("pools.tune", "Which ZFS tunables shorten a resilver, and at what cost."),
    },
    "Planning a pool": {
        "compare": Entry("forecasts.compare", "Layouts or scenario files side by side."),
        "sweep": Entry("forecasts.sweep", "Every combination of widths, parities, fills or other values."),
        "plan": Entry("design.plan", "Which layouts meet your requirements, how wide, how full."),
        "risk": Entry("design.risk", "Chance of data loss: during a repair, in a year, in many."),
        "fleet": Entry("design.fleet", "Many pools over years: losses, spares, crews, degraded hours."),
    },
    "Describing a pool and its drives": {
        "import": Entry("pools.import_pool", "Describe a real pool from the output of zpool and zdb."),
        "scenario": Entry("forecasts.scenario", "Show a scenario with its defaults, or the JSON Schema."),
        "drives": Entry("tools.drives", "List, show, plot and fit drive models."),
        "pool": Entry("tools.pool", "Show the simulated blocks of a pool; list histories."),
    },
    "Results, checks and tools": {
        "rerun": Entry("forecasts.rerun", "Compute a stored result again and say what has changed."),
        "validate": Entry("tools.validate", "Compare predictions with measurements."),
        "replay": Entry("tools.replay", "Run a block trace through a drive model."),
        "schema": Entry("tools.schema", "The JSON Schema of what a command prints with --json."),
        "warmup": Entry("tools.warmup", "Compile the kernels now instead of in the first run."),
    },
}
"""The commands, by what they are asked for, in the order of help."""
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is looked up to be run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed: --version looks at -v, whichever comes first."""
        ctx.meta[WORDS] = tuple(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or None if it does not exist."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = importlib.import_module(f"zsim.cli.{entry.module}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"zsim.cli.{entry.module}.command is not a click command")
        return with_loudness(command)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists of commands from their help lines alone, importing none of them."""
        widest = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), entry.help) for name, entry in group.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one is nearest."""
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        from zsim.cli.slips import meant_by_command

        known = self.list_commands(ctx)
        if meant := meant_by_command(name, known):
            remedy = f"did you mean '{cut(meant, 100)}'?"
            raise InputError("command", name, "there is no such command", remedy)
        allowed = f"the commands are {', '.join(known)}"
        raise InputError("command", name, allowed, "'zsim --help' describes them")


def print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Print the version and leave; it is looked up late because that takes longer than the rest."""
    if value and not ctx.resilient_parsing:
        click.echo(f"zsim {zsim.__version__}")
        if ctx.meta.get(WORDS, ()) and {"-v", "--verbose"} & set(ctx.meta[WORDS]):
            for line in versions():
                click.echo(line)
        ctx.exit()


WORDS = "zsim.words"
"""What was typed, for options that are read before the others."""


HELP = """Predict ZFS resilvers: how long until the pool is redundant again, why, and what would change that.

\b
it runs already:     zpool status tank | zsim eta
a drive has failed:  zpool status tank | zsim predict -
a plan:              zsim predict --layout raidz2x6 --fill 62% --drive-size 18TB
"""


@click.group(cls=LazyGroup, context_settings=SETTINGS, help=HELP)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Print the version; with -v those of Python and libraries, and where caches and defaults are.",
)
@click.option("-v", "--verbose", is_flag=True, help=VERBOSE)
@click.option("-q", "--quiet", is_flag=True, help=QUIET)
def cli(verbose: bool, quiet: bool) -> None:
    """Run a command."""
    begin_telling(verbose, quiet)


def one_line(text: object) -> str:
    """Return `text` as one line, blanks squeezed, without what could steer the terminal."""
    return printable(" ".join(str(text).split()))


def usage_sentence(error: click.ClickException) -> str:
    """Say what is wrong with the command line in one sentence that names the remedy."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "zsim"
    text = one_line(error.format_message())
    text = text[:1].lower() + text[1:]
    examples = getattr(getattr(context, "command", None), "examples", ())
    if isinstance(error, click.MissingParameter) and examples:
        return f"{text.rstrip('.')}; write for instance {examples[0]}."
    if isinstance(error, click.NoSuchOption):
        text = f"{one_line(error.option_name)} is not an option of '{command}'"
        if any(error.option_name in each.opts for each in cli.params):
            name, _, rest = command.partition(" ")
            return f"{text}; write it before the command: {name} {error.option_name} {rest}."
        if context is not None:
            from zsim.cli.slips import meant_by_option

            others = [found for each in COMMANDS if (found := cli.get_command(context, each)) is not None]
            meant = meant_by_option(error.option_name, context, others)
            text += f" ({one_line(meant)})" if meant else ""
    return f"{cut(text.rstrip('.'), MOST_GIVEN)}; '{command} --help' lists what is allowed"


def validation_sentence(error: BaseException) -> str:
    """Say in one sentence what the first complaint of a pydantic ValidationError is."""
    first = error.errors()[0]  # type: ignore[attr-defined]
    field = ".".join(str(part) for part in first["loc"]) or "scenario"
    place, reason = cut(one_line(field), 100), cut(one_line(first["msg"]), 100)
    return f"{place}: {reason}, not {first.get('input')!r:.80}; correct or leave out this value"


def path_sentence(error: OSError) -> str:
    """Say in one sentence which path could not be used and what to do."""
    reason = (error.strerror or "cannot be opened").lower()
    if error.filename is None:
        return f"the output cannot be written: {reason}; make room, or send it elsewhere."
    name = cut(one_line(error.filename), MOST_GIVEN)
    return f"{name}: {reason}; name a path that exists and that you may use."


def is_short_of_memory(error: BaseException) -> bool:
    """Tell whether it is for want of memory; with a limit set, libraries fail in ways of their own."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM or (error.errno is None and _has_memory_limit())
    return isinstance(error, SystemError | ImportError) and _has_memory_limit()


def _has_memory_limit() -> bool:
    try:
        import resource
    except ImportError:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def explain(error: BaseException, written: Sequence[Path] = ()) -> tuple[str, int]:
    """Return the sentence and exit code for an exception that ended a command, which has `written` files."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return f"interrupted{getattr(error, 'go_on', '') or _what_was_written(written)}", EXIT_INTERRUPTED
    if isinstance(error, InputError) or is_short_of_memory(error):
        return one_line(error) if isinstance(error, InputError) else NO_MEMORY, EXIT_BAD_INPUT
    if isinstance(error, click.ClickException):
        return usage_sentence(error), EXIT_BAD_INPUT
    if isinstance(error, OSError) and error.errno in KNOWN_ERRORS:
        return path_sentence(error), EXIT_BAD_INPUT
    if type(error).__name__ == "ValidationError" and hasattr(error, "errors"):
        return validation_sentence(error), EXIT_BAD_INPUT
    said = cut(one_line(error), MOST_GIVEN)
    hint = "this is a fault of zsim: set ZSIM_DEBUG=1 for the traceback and report it"
    return f"internal error: {type(error).__name__}: {said or 'no message'}; {hint}", EXIT_INTERNAL


def _what_was_written(files: Sequence[Path]) -> str:
    """Return the end of the sentence of what was interrupted: at the very end, its output may be there."""
    if not files:
        return "; nothing was written"
    names = dict.fromkeys(one_line(str(file)) for file in files)
    return f"; {cut(', '.join(names), MOST_GIVEN)} had been written and is whole"


def run(arguments: Sequence[str] | None) -> int:
    """Run one command line and return its exit code; exceptions pass through."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "_ZSIM_COMPLETE" in os.environ:  # a shell asks for completions
        cli.main(args=words, prog_name="zsim", complete_var="_ZSIM_COMPLETE")
    try:
        with cli.make_context("zsim", words) as context:
            result = cli.invoke(context)
    except click.exceptions.Exit as leave:
        result = leave.exit_code
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def report_error(error: BaseException, written: Sequence[Path] = ()) -> int:
    """Print the sentence for `error` on stderr, after the traceback if ZSIM_DEBUG is set; return the code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return EXIT_BAD_INPUT
    sentence, code = explain(error, written)
    if os.environ.get("ZSIM_DEBUG"):
        import traceback

        traceback.print_exception(error)
    tell(sentence)
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``zsim``: 0 done, 1 a case failed, 2 bad input, 70 our fault, 130 interrupted.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``zsim``; those of the process if not given.

    Returns
    -------
    int
        The exit code for the shell.
    """
    hold_streams()
    with noting_what_is_written() as written:
        try:
            begin_lightly()
            return run(arguments)
        except BrokenPipeError:  # the reader (head, less) has gone
            give_up_stdout()
            return EXIT_BROKEN_PIPE
        except (Exception, KeyboardInterrupt, click.Abort) as error:
            if isinstance(error, OSError) and error.filename is None:
                give_up_stdout()
            return report_error(error, written)


def process() -> NoReturn:
    """Run ``zsim`` with the words of this process, which ends with it."""
    end_at_once(main())


if __name__ == "__main__":
    process()
