"""Habits of good commands: help in groups, completion, versions, defaults, schemas, a manual page."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from click.shell_completion import ShellComplete

from zsim.cli.completion import completer, values_of_field
from zsim.cli.defaults import defaults, defaults_file
from zsim.cli.flags import FLAGS, REPEATED
from zsim.cli.help import GROUPS, PLACE
from zsim.cli.main import COMMANDS, cli, main
from zsim.cli.slips import switched
from zsim.cli.tools.schema import MODELS, SHAPES, schema_of
from zsim.scenario.descriptions import DESCRIPTIONS, described
from zsim.scenario.model import Scenario

ROOT = Path(__file__).resolve().parents[2]
STATUS = ROOT / "docs" / "examples" / "zpool-status.txt"
Capture = pytest.CaptureFixture[str]


def printed(capsys: Capture, *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


# Help.

GROUPED = ("predict", "compare", "sweep", "plan", "risk", "timeline", "decide", "tune", "eta")


@pytest.mark.parametrize("name", GROUPED)
def test_help_has_groups_and_ends_with_examples(name: str, capsys: Capture) -> None:
    text = printed(capsys, name, "--help")
    titles = GROUPS if name == "predict" else ("The pool",)
    places = [text.index(f"\n{title}:\n") for title in (*titles, "Output", "Examples")]
    assert places == sorted(places)
    assert f"zsim {name} " in text[places[-1] :]


@pytest.mark.parametrize("name", GROUPED[1:])
def test_help_of_other_commands_is_short_and_says_where_the_rest_is(name: str, capsys: Capture) -> None:
    text = printed(capsys, name, "--help")
    assert text.count("\n") < 130
    assert "see 'zsim predict" in text
    assert "--attached" not in text


def test_every_option_is_in_help_once(capsys: Capture) -> None:
    text = printed(capsys, "predict", "--help")
    for flag in FLAGS + REPEATED:
        assert len(re.findall(rf"^  {flag.option} ", text, re.MULTILINE)) == 1, flag.option


def test_groups_name_flags_that_exist() -> None:
    others = {"tunable", "file", "settings", "write_cache", "autosit", "exact"}
    assert set(PLACE) <= {flag.field for flag in FLAGS + REPEATED} | others


def test_the_examples_of_help_are_understood() -> None:
    for name in GROUPED:
        command = cli.get_command(click.Context(cli), name)
        for line in command.examples:  # type: ignore[union-attr]
            words = shlex.split(re.split(r"[|;] (?=zsim)", line)[-1])[2:]
            command.make_context(name, words)  # type: ignore[union-attr]


# Completion.


@pytest.mark.parametrize(
    ("field", "begun", "offered"),
    [
        ("drive", "wd40e", "wd40efrx"),
        ("new_drive", "860", "860-evo-1tb"),
        ("release", "openzfs-2", "openzfs-2.3"),
        ("history", "vm", "vm-host"),
        ("enclosure", "port", "port-multiplier-cbs"),
        ("operation", "re", "rebuild"),
        ("history", "home-nas,vm", "home-nas,vm-host"),
        ("layout", "raidz2", "raidz2x"),
    ],
)
def test_values_are_completed(field: str, begun: str, offered: str) -> None:
    complete = completer(field)
    assert complete is not None
    context, parameter = click.Context(cli), click.Option(["--x"])
    assert offered in [item.value for item in complete(context, parameter, begun)]
    assert complete(context, parameter, "nonsense") == []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("risk --spare s", "shelf"), ("compare --afr st16000", "ST16000NM001G"), ("plan --find w", "worth"),
        ("risk --correlation-law f", "frailty"), ("drives show st16000n", "st16000nm001g"),
    ],
)  # fmt: skip
def test_a_shell_is_offered_the_words_of_a_flag(line: str, offered: str) -> None:
    *words, begun = line.split()
    asked = ShellComplete(cli, {}, "zsim", "_ZSIM_COMPLETE")
    assert offered in [item.value for item in asked.get_completions(words, begun)]
    assert asked.get_completions(words, "nonsense") == []


def test_what_has_no_names_is_not_completed() -> None:
    assert completer("fill") is None
    assert values_of_field("order") == ("auto", "legacy", "sorted")


# Versions.


@pytest.mark.parametrize("words", [("--version", "-v"), ("-v", "--version"), ("--version", "--verbose")])
def test_the_version_at_length_names_libraries_cache_and_defaults(
    words: tuple[str, ...], capsys: Capture
) -> None:
    lines = printed(capsys, *words).splitlines()
    assert lines[0].startswith("zsim ")
    text = "\n".join(lines)
    for wanted in ("python 3", "numpy", "numba", "kernel cache", "defaults"):
        assert wanted in text


def test_the_version_alone_is_one_line(capsys: Capture) -> None:
    assert len(printed(capsys, "--version").splitlines()) == 1


# Defaults.


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("ZSIM_CONFIG", str(path))

    def write(text: str) -> Path:
        path.write_text(text, encoding="utf-8")
        return path

    return write


def shown(capsys: Capture, *words: str) -> dict[str, Any]:
    return json.loads(printed(capsys, "scenario", "show", *words, "--json"))["scenario"]  # type: ignore[no-any-return]


def test_defaults_hold_unless_something_else_is_said(
    config: Callable[[str], Path], capsys: Capture, tmp_path: Path
) -> None:
    config('[scenario]\nrelease = "openzfs-2.2"\nmemory = "128G"\nfill = "80%"\n')
    plain = shown(capsys, "--layout", "raidz2x6")
    assert (plain["release"], plain["memory"], plain["fill"]) == ("openzfs-2.2", 128 << 30, 0.8)
    assert shown(capsys, "--layout", "raidz2x6", "--memory", "8G")["memory"] == 8 << 30
    assert "fill" not in shown(capsys, "--layout", "raidz2x6", "--alloc", "1T")
    (tmp_path / "pool.toml").write_text('layout = "mirror2"\nrelease = "openzfs-2.1"\nalloc = "1T"\n')
    from_file = shown(capsys, "--scenario", str(tmp_path / "pool.toml"))
    assert (from_file["release"], from_file["memory"]) == ("openzfs-2.1", 128 << 30)
    assert "fill" not in from_file


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[other]\nx = 1\n",
        "fill = 0.5\n",
        '[scenario]\nlayout = "mirror2"\n',
        "[scenario]\nnonsense = 1\n",
    ],
)
def test_defaults_that_cannot_be_used_are_refused_in_a_sentence(
    text: str, config: Callable[[str], Path], capsys: Capture
) -> None:
    config(text)
    assert main(["scenario", "show", "--layout", "raidz2x6"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("words", [("scenario", "show", "--layout", "mirror2"), ("--version", "-v")])
def test_defaults_at_the_home_of_nobody_are_refused(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("ZSIM_CONFIG", "~nobody-of-this-name/config.toml")
    assert main(list(words)) == 2
    assert "there is no such user" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["absent.toml", "."])
def test_named_defaults_that_are_no_file_are_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    monkeypatch.setenv("ZSIM_CONFIG", str(tmp_path / name))
    assert main(["scenario", "show", "--layout", "mirror2"]) == 2
    assert "no file is there; give the path of a file, or unset it" in capsys.readouterr().err


def test_defaults_that_are_not_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ZSIM_CONFIG", os.devnull)
    assert defaults() == {}
    monkeypatch.setenv("ZSIM_CONFIG", "")
    assert defaults_file() is None
    monkeypatch.delenv("ZSIM_CONFIG")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert defaults_file() == tmp_path / "zsim" / "config.toml"
    assert defaults() == {}


# Schemas.

MIRROR = ("--layout", "mirror2", "--fill", "0.1", "--drive-size", "1TB")
ANSWERS = {
    "predict": ("predict", "--layout", "mirror2", "--fill", "0.1", "--drive-size", "1TB"),
    "compare": ("compare", "mirror2", "raidz1x3", "--fill", "0.0005", "--drive-size", "1TB"),
    "sweep": ("sweep", "--layout", "mirror2", "--fill", "0.0004,0.0005", "--drive-size", "1TB"),
    "eta": ("eta", "docs/examples/zpool-status.txt"),
    "plan": ("plan", "--find", "worth", "--layout", "raidz2x6", "--drive-size", "1TB", "--hours", "24"),
    "risk": ("risk", "--layout", "mirror2", "--hours", "24"),
    "timeline": ("timeline", *MIRROR, "--fail", "0", "--replace-after", "1h"),
    "decide": ("decide", *MIRROR, "--done", "35%", "--reboot"),
    "tune": ("tune", *MIRROR),
    "scenario show": ("scenario", "show", "--layout", "mirror2"),
    "drives list": ("drives", "list"),
    "drives show": ("drives", "show", "hd103uj"),
    "pool histories": ("pool", "histories"),
    "pool show": ("pool", "show", "--layout", "mirror2", "--fill", "0.1", "--drive-size", "1TB"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_as_their_schemas_say(
    name: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    data = json.loads(printed(capsys, *ANSWERS[name], "--json"))
    assert data["schema_version"] == 1
    jsonschema.validate(data, schema_of(name))


@pytest.mark.parametrize("name", [*MODELS, *SHAPES])
def test_schemas_are_schemas_and_are_printed(name: str, capsys: Capture) -> None:
    schema = json.loads(printed(capsys, "schema", *name.split()))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "schema_version" in schema["properties"]


def test_every_command_with_json_has_a_schema(capsys: Capture) -> None:
    with_json = set()
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        inner = command.commands.items() if isinstance(command, click.Group) else [("", command)]
        for word, each in inner:
            if any("--json" in parameter.opts for parameter in each.params):
                with_json.add(f"{name} {word}".strip())
    # What a scenario's schema looks like is the dialect's to say.
    missing = {each for each in with_json if each not in (*MODELS, *SHAPES, "scenario schema")}
    assert not missing, "add them to zsim/cli/tools/schema.py"


# The manual page.


def test_the_manual_page_has_every_command() -> None:
    text = (ROOT / "docs" / "man" / "zsim.1").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f".SS zsim {name}".replace("-", "\\-") in text
    assert ".SH EXIT STATUS" in text


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here")
def test_the_manual_page_is_formatted_without_complaint() -> None:
    found = subprocess.run(
        ["man", "--warnings", "-l", str(ROOT / "docs" / "man" / "zsim.1")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0
    assert "zsim predict" in found.stdout
    assert found.stderr == ""


@pytest.mark.parametrize(
    "words", [("sweep", "--width", "3", "--parity", "1"), ("plan", "--drives", "8"), ("predict",)]
)
@pytest.mark.parametrize("name", ["on_progress", "drives", "sort"])
def test_a_scenario_file_sets_fields_only(
    words: tuple[str, ...], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a file states was handed on to functions whose arguments have these names too."""
    scenario = tmp_path / "s.toml"
    scenario.write_text(f"fill = 0.3\n{name} = 3\n")
    assert main([*words, "--scenario", str(scenario)]) == 2
    assert f"{name} 3 cannot be used: there is no such field" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["zfs_vdev_scrub_min_active", "vfs.zfs.resilver_delay"])
def test_a_tunable_set_as_a_field_is_told_its_flag(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "--layout", "mirror2", "--set", f"{name}=2"]) == 2
    assert "state a tunable with --tunable NAME=VALUE" in capsys.readouterr().err


def test_an_option_of_zsim_itself_is_told_where_it_stands(capsys: Capture) -> None:
    assert main(["eta", "--version"]) == 2
    assert "write it before the command: zsim --version eta.\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("predict --size 18TB", "(did you mean --drive-size?)"),
        ("predict --disks 6", "(did you mean --layout (raidz2x6 has six drives)?)"),
        ("compare raidz2x6 --disks 6", "(did you mean --drives?)"),
        ("predict --reboot", "(it is an option of zsim decide)"),
        ("eta --why", "(it is an option of zsim predict)"),
        ("--json predict", "(it is written after the command: zsim predict --json)"),
        ("eta --pol tank", "(did you mean --pool?)"),
        ("help predict", "did you mean 'zsim --help'?"),
        ("resilver", "did you mean 'zsim predict'?"),
        ("predct", "did you mean 'zsim predict'?"),
        ("raidz2x6 --fill 62%", "did you mean 'zsim predict --layout raidz2x6'?"),
        ("'8x 16TB in raidz2, 60% full'", "did you mean 'zsim predict \"8x 16TB in raidz2, 60% full\"'?"),
        ("'6x 4TB raidz2, 34% done after 12 h'", 'zsim eta "6x 4TB raidz2, 34% done after 12 h"'),
        (f"{STATUS}", f"did you mean 'zsim predict {STATUS}'?"),
        ("compare", "write for instance zsim compare raidz2x6"),
    ],
)
def test_a_slip_is_told_what_is_meant(words: str, meant: str, capsys: Capture) -> None:
    assert main(shlex.split(words)) == 2
    told = capsys.readouterr().err
    assert meant in told
    assert told.count("\n") == 1


def test_predict_takes_a_layout_without_its_flag_as_compare_does(capsys: Capture) -> None:
    assert main(["predict", "raidz2-6"]) == 2
    assert "did you mean raidz2x6?" in capsys.readouterr().err
    assert main(["predict", "mirror2", "--layout", "raidz2x6"]) == 2
    assert "'mirror2' is a layout too; give one of the two" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("--write-cache on", "--write-cache"),
        ("--write-cache=Off", "--no-write-cache"),
        ("--exact no --fill 0.5", "--sampled --fill 0.5"),
        ("--fill off --write-cache", "--fill off --write-cache"),
        ("--write-cache tank.txt", "--write-cache tank.txt"),
        ("-- --write-cache on", "-- --write-cache on"),
    ],
)
def test_a_flag_that_is_on_or_off_may_be_followed_by_the_word(written: str, meant: str) -> None:
    predict = cli.get_command(click.Context(cli), "predict")
    assert predict is not None
    assert switched(written.split(), predict.params) == meant.split()


def test_a_write_cache_that_is_off_reaches_the_scenario(capsys: Capture) -> None:
    text = printed(capsys, "scenario", "show", "--layout", "mirror2", "--write-cache", "off")
    assert "write_cache = false" in text


def test_flags_mean_what_the_fields_of_a_file_do() -> None:
    assert set(DESCRIPTIONS) == set(Scenario.field_infos())
    for name, info in Scenario.field_infos().items():
        assert info.description == described(name)
    written = {flag.field: flag for flag in FLAGS + REPEATED}
    assert written["alloc"].help == "Instead of --fill: ALLOC as zpool list prints it, such as 2.84T."
    assert written["ports"].help.endswith("such as port-multiplier-cbs:1,2. May be repeated.")
    # These say more where they are typed; all others say it once.
    own = {name for name, flag in written.items() if flag.own}
    assert own == {"product", "operation", "evidence", "slow", "load"}
