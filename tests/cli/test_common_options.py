"""Options that every command takes where they mean something: one table of commands and options."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator

import click
import pytest

from zsim.cli.loudness import is_quiet, is_verbose
from zsim.cli.main import cli, main

Capture = pytest.CaptureFixture[str]
NO_ANSWER = {"warmup", "drives plot"}
"""They answer nothing: kernels are compiled, a picture is drawn."""
DRAWS_NOTHING = NO_ANSWER | {
    "import", "scenario schema", "drives fit", "drives list", "drives show", "pool histories", "replay",
    "schema", "rerun",
}  # fmt: skip
"""Nothing in them is random, or the seed is that of the answer that is computed again."""


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield each command and each command of a group, with what is typed for it."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    for each in command.list_commands(click.Context(cli)):
        found = command.get_command(click.Context(cli), each)
        assert found is not None
        yield from leaves(f"{name} {each}".strip(), found)


COMMANDS = dict(leaves("", cli))
OPTIONS = ("--json", "--seed", "-v", "--verbose", "-q", "--quiet", "-h", "--help")


@pytest.mark.parametrize(("name", "option"), list(itertools.product(COMMANDS, OPTIONS)))
def test_every_command_takes_the_options_that_mean_something_to_it(name: str, option: str) -> None:
    command = COMMANDS[name]
    without = {"--json": NO_ANSWER, "--seed": DRAWS_NOTHING}.get(option, set())
    taken = {each for param in command.params for each in param.opts} | {"-h", "--help"}
    assert (option in taken) == (name not in without)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_command_has_help(name: str, option: str, capsys: Capture) -> None:
    assert main([*name.split(), option]) == 0
    assert f"Usage: zsim {name} " in capsys.readouterr().out


@pytest.mark.parametrize("option", ["-v", "-vv", "--verbose"])
@pytest.mark.parametrize("words", ["pool histories {}", "{} pool histories", "{0} pool histories {0}"])
def test_more_is_told_once_wherever_it_is_asked_for(
    words: str, option: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:  # fmt: skip
    path = tmp_path_factory.mktemp("defaults") / "config.toml"
    path.write_text('drive_size = "18TB"\n')
    monkeypatch.setenv("ZSIM_CONFIG", str(path))
    monkeypatch.setattr("atexit.register", lambda called: None)
    assert main(shlex.split(words.format(option))) == 0
    assert capsys.readouterr().err.count("zsim: defaults of ") == 1
    assert is_verbose()
    assert main(["pool", "histories"]) == 0
    assert not is_verbose()


@pytest.mark.parametrize(
    "words", ["scenario show --layout raidz2x6 {} -o", "{} scenario show --layout raidz2x6 -o"]
)
def test_less_is_told_wherever_it_is_asked_for(
    words: str, tmp_path_factory: pytest.TempPathFactory, capsys: Capture
) -> None:
    path = str(tmp_path_factory.mktemp("out") / "pool.toml")
    for option, told in (("-q", False), ("--quiet", False), ("", True)):
        assert main([*shlex.split(words.format(option)), path]) == 0
        assert ("written" in capsys.readouterr().err) == told
        assert is_quiet() != told


STATUS = """  pool: tank
 state: DEGRADED
  scan: resilver in progress since Fri Nov 27 05:30:00 2026
\t5.0T scanned at 205M/s, 2.1T issued at 88M/s, 5.0T total
\t350G resilvered, 42% done, 0 days 09:24:00 to go
config:

\tNAME             STATE     READ WRITE CKSUM
\ttank             DEGRADED     0     0     0
\t  mirror-0       DEGRADED     0     0     0
\t    sda          ONLINE       0     0     0
\t    replacing-1  DEGRADED     0     0     0
\t      old        UNAVAIL      0     0     0
\t      sdb        ONLINE       0     0     0  (resilvering)
"""


@pytest.mark.parametrize("command", ["eta", "risk", "decide", "timeline"])
def test_what_is_assumed_is_listed_where_more_is_asked_for(
    command: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    path = tmp_path_factory.mktemp("status") / "status.txt"
    path.write_text(STATUS)
    monkeypatch.setattr("atexit.register", lambda called: None)
    more = ["--reboot"] if command == "decide" else []
    assert main([command, str(path), "-v", "-q", *more]) == 0
    shown = capsys.readouterr().out
    assert "\nAssumptions\n" in shown
    assert "record size" in shown[shown.index("\nAssumptions\n") :]
    assert main([command, str(path), "-v", "--json", *more]) == 0
    assert "\nAssumptions\n" not in capsys.readouterr().out
