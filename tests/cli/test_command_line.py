"""``zsim`` as a process: start-up, exit codes, one-line errors, clean stdout."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from zsim.base.errors import InputError
from zsim.cli import main as entry

HEAVY = {
    "numpy",
    "pydantic",
    "numba",
    "scipy",
    "simpy",
    "rich",
    "matplotlib",
    "pyarrow",
    "tomlkit",
    "tomllib",
}


def zsim(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zsim.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | environment,
    )


def modules_after(arguments: list[str]) -> set[str]:
    """Return the top-level modules that a command line leaves imported."""
    program = (
        "import sys\nfrom zsim.cli.main import main\n"
        f"code = main({arguments!r})\n"
        "print('\\n'.join(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(result.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["-h"]])
def test_the_top_level_starts_without_heavy_modules(arguments: list[str]) -> None:
    assert not HEAVY & modules_after(arguments)


def registered() -> list[str]:
    return entry.cli.list_commands(click.Context(entry.cli))


def test_help_lists_every_command() -> None:
    text = zsim("--help").stdout
    for name in registered():
        assert f"\n  {name} " in text


@pytest.mark.parametrize("name", registered())
def test_help_of_a_command_is_light_and_says_what_it_does(name: str) -> None:
    assert not (HEAVY - {"tomllib"}) & modules_after([name, "--help"])
    result = zsim(name, "--help")
    assert result.returncode == 0
    assert result.stdout.startswith(f"Usage: zsim {name}")
    command = entry.cli.get_command(click.Context(entry.cli), name)
    assert command is not None
    assert command.help


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["scenari"], "did you mean 'zsim scenario'"),
        (["--halp"], "did you mean --help"),
        (["scenario", "show", "--layot", "raidz2x6"], "did you mean --layout"),
        (["scenario", "show", "--layout"], "--layout"),
        (["scenario", "show", "surplus"], "surplus"),
        (["scenario", "show", "--\n\n\x1b[31mred"], "is not an option of"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(arguments: list[str], wanted: str) -> None:
    result = zsim(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("zsim: ")
    assert wanted in result.stderr


class Boom(click.Command):
    """A command that ends with the exception it was made with."""

    def __init__(self, error: BaseException) -> None:
        super().__init__("boom")
        self.error = error

    def invoke(self, ctx: click.Context) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "wanted"),
    [
        (InputError("fill", "7", "a fraction from 0 to 1", "write 0.62"), 2, "fill '7'"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("two\nlines"), 70, "internal error: ValueError: two lines"),
        (FileNotFoundError(2, "No such file or directory", "pool.txt"), 2, "pool.txt"),
        (RuntimeError(), 70, "ZSIM_DEBUG=1"),
        (click.UsageError("wrong"), 2, "wrong"),
        (MemoryError(), 2, "allow more."),
    ],
)
def test_every_exception_becomes_a_line_and_a_code(
    error: BaseException,
    code: int,
    wanted: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(entry.cli, "get_command", lambda ctx, name: Boom(error))
    monkeypatch.delenv("ZSIM_DEBUG", raising=False)
    assert entry.main(["boom"]) == code
    seen = capsys.readouterr()
    assert seen.out == ""
    assert wanted in seen.err
    assert len(seen.err.strip().splitlines()) == 1
    assert "Traceback" not in seen.err


def test_the_traceback_is_there_for_who_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(entry.cli, "get_command", lambda ctx, name: Boom(ValueError("deep")))
    monkeypatch.setenv("ZSIM_DEBUG", "1")
    assert entry.main(["boom"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error() -> None:
    program = "import sys; from zsim.cli.main import main; sys.exit(main(['--help']))"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) in {0, 141}
    assert complaint == b""


def test_version_is_that_of_the_package() -> None:
    from zsim import __version__

    assert zsim("--version").stdout.strip() == f"zsim {__version__}"


def test_the_module_run_as_a_program_has_the_exit_codes_of_the_command() -> None:
    words = [sys.executable, "-m", "zsim", "predict", "--layout", "raidz9x2"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 2


def test_ctrl_c_when_the_output_is_in_place_says_so(tmp_path, monkeypatch, capsys):
    """It said that nothing was written, beside the file that it had written."""
    from zsim.base.files import replace_file

    def written_and_stopped(_arguments):
        replace_file(tmp_path / "a.json", "{}")
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "run", written_and_stopped)
    assert entry.main([]) == 130
    assert (
        capsys.readouterr().err == f"zsim: interrupted; {tmp_path / 'a.json'} had been written and is whole\n"
    )
    replace_file(tmp_path / "b.json", "{}")  # nobody asks
