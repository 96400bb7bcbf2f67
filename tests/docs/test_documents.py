"""The documents are true: their links lead somewhere, their Python and their zsim commands run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str
    number: int
    language: str
    text: str


def blocks(*languages: str) -> list[Block]:
    found = []
    for page in PAGES:
        for number, match in enumerate(FENCE.finditer(page.read_text(encoding="utf-8"))):
            if match[1] in languages:
                found.append(Block(str(page.relative_to(ROOT)), number, match[1], match[2]))
    return found


def pages_with(language: str) -> list[str]:
    return sorted({block.page for block in blocks(language)})


def commands() -> list[tuple[str, str]]:
    """Return page and command line of every ``$ zsim ...`` in a console block."""
    return [
        (block.page, line[2:])
        for block in blocks("console")
        for line in block.text.splitlines()
        if line.startswith("$ zsim ")
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:|#", target):
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_blocks_of_a_page_run_in_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks("python"):
        if block.page == page:
            exec(compile(block.text, f"{page}, block {block.number}", "exec"), namespace)


@pytest.mark.parametrize(("page", "line"), commands())
def test_commands_run(
    page: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from zsim.cli.main import main

    monkeypatch.chdir(tmp_path)
    for block in blocks("toml", "ini"):
        if block.page == page and block.text.startswith("# "):
            (tmp_path / block.text.split()[1]).write_text(block.text, encoding="utf-8")
    assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err


def test_residuals_begin_with_the_accuracy_that_the_readme_states() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    accuracy = readme.partition("<!-- accuracy:")[2].partition("<!-- end of accuracy")[0]
    whole, described = re.findall(r"[Hh]alf (?:of the predictions are )?within (\d+ %)", accuracy)[:2]
    held = re.search(r"80 % interval holds (\d+ %)", accuracy)
    assert held is not None
    residuals = (ROOT / "docs" / "explanation" / "residuals.md").read_text(encoding="utf-8")
    told = next(line for line in residuals.splitlines() if line.startswith("* **Real pools**"))
    assert re.findall(r"\d+ %", told) == [whole, described, "80 %", held[1]]
    row = next(line for line in residuals.splitlines() if line.startswith("| all reports |"))
    assert f"half within {whole}" in row
    assert f"p10-p90 contains {held[1]}" in row


def options(command: click.Command, path: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield every command from this one on by its path, with the options that it takes."""
    names = (name for each in command.params for name in (*each.opts, *each.secondary_opts))
    yield path, frozenset({*names, "--help", "--version", "--verbose", "--quiet"})
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            assert part is not None
            yield from options(part, f"{path} {name}")


OTHER_PROGRAMS = {"--show", "--grid", "--json-int"}
"""Flags of scripts of the tests and the fits, and of zpool status."""


@pytest.mark.parametrize("page", [each for each in PAGES if each.name != "CHANGELOG.md"], ids=str)
def test_flags_that_a_page_names_in_its_text_exist(page: Path) -> None:
    """Those after ``zsim COMMAND`` are of that command; commands in blocks are run above."""
    from zsim.cli.main import cli

    known = dict(options(cli, "zsim"))
    every = frozenset().union(*known.values()) | OTHER_PROGRAMS
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for span in re.findall(r"`([^`]+)`", text):
        words = span.rpartition("| ")[2].split()
        if not words or not (words[0] == "zsim" or span.startswith("--")):
            continue
        named = next((found for n in (3, 2) if (found := known.get(" ".join(words[:n])))), every)
        assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", span)) <= named, span


@pytest.mark.parametrize("name", ["main", "test"])
def test_readme_holds_the_commands_that_ci_runs(name: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"^<!-- ci: {name} -->\n```sh\n([^\n]+)\n```$", text, re.MULTILINE)
    assert len(found) == 1
    assert found[0].startswith("python3 -m venv .venv && .venv/bin/pip install -q ")


def test_readme_installs_an_extra_that_the_project_has() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"'\.\[(\w+)\]'", text)) == {"test", "docs"}
    assert "test" in project["optional-dependencies"]


FAST = ("command-line.md", "scenario.md", "result.md", "timeline.md")


def make_documents(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make.py"), *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", FAST)
def test_made_pages_are_up_to_date(name: str) -> None:
    result = make_documents("--check", name)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_transcript_and_report_are_up_to_date() -> None:
    result = make_documents("--check", "README.md", "validation.md")
    assert result.returncode == 0, result.stderr
