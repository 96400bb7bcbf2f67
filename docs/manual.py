"""The manual page ``zsim.1``, made from the commands themselves (`docs/make.py` writes it)."""

from __future__ import annotations

import re

import click

from zsim.cli.help import OTHERS, THE_POOL, groups_of

PURPOSE = """
A drive has failed: how long until the ZFS pool is redundant again, what is the time spent on, how sure
is that, and what would change it? zsim answers by simulating the resilver. It never writes to a pool.
"""
FILES = (
    ("~/.config/zsim/config.toml", "Your own defaults, in its table [scenario]. ZSIM_CONFIG names another."),
    ("~/.cache/zsim", "Compiled kernels. ZSIM_CACHE_DIR names another directory."),
)  # fmt: skip
ENVIRONMENT = (
    ("ZSIM_CONFIG", "File of defaults; empty: none."),
    ("ZSIM_CACHE_DIR", "Directory of compiled kernels."),
    ("ZSIM_DEBUG", "Set: a fault of zsim shows its traceback."),
    ("NO_COLOR, COLUMNS, TERM", "As in other programs."),
)
STATUS = (
    ("0", "Done."), ("1", "A validation case failed, or no combination of a sweep could be answered."),
    ("2", "Bad input: one sentence says what, and how to put it right."), ("70", "A fault of zsim."),
    ("130", "Interrupted."),
)  # fmt: skip


def escaped(text: str) -> str:
    """Return text as roff takes it."""
    plain = " ".join(text.replace("\b", "").split()).replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)


def tagged(name: str, text: str) -> list[str]:
    """Return a paragraph with a tag."""
    return [".TP", f"\\fB{escaped(name)}\\fR", escaped(text)]


def manual(commands: list[tuple[str, click.Command]], version: str) -> str:
    """Return the page.

    Parameters
    ----------
    commands : list of (path, command)
        Every command, such as ``("zsim predict", ...)``.
    version : str
    """
    lines = [
        f'.TH ZSIM 1 "" "zsim {version}" "User Commands"', ".SH NAME", "zsim \\- predict ZFS resilvers",
        ".SH SYNOPSIS", ".B zsim", "[\\-v | \\-q] COMMAND [OPTIONS]", ".SH DESCRIPTION",
        escaped(PURPOSE),
        ".SH COMMANDS",
    ]  # fmt: skip
    for path, command in commands:
        lines += [f".SS {escaped(path)}", escaped(command.help or "")]
        if isinstance(command, click.Group):
            continue
        context = click.Context(command, info_name=path, help_option_names=["-h", "--help"])
        for title, records in groups_of(command, context).items():
            lines += [".PP", f"\\fI{escaped(title)}\\fR"] if title else []
            for record in records:
                lines += tagged(*record)
            if title == THE_POOL and not getattr(command, "lists_all", True):
                lines += [".PP", escaped(OTHERS)]
        for example in getattr(command, "examples", ()):
            lines += [".PP", f"\\fI{escaped(example)}\\fR"]
    for title, rows in (("EXIT STATUS", STATUS), ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        lines.append(f".SH {title}")
        for row in rows:
            lines += tagged(*row)
    return "\n".join(lines) + "\n"
