"""Make what in the documents is not written by hand: reference pages, transcript, picture, validation report.

    python docs/make.py [NAME ...]      write what has changed (all, or the files with these names)
    python docs/make.py --check ...     change nothing; exit code 1 and the names if something would change
    python docs/make.py --measure       write the table of speed (on an idle machine)

In a transcript the words must be the same; numbers may differ by `TOLERANCE`, because versions of numpy and
scipy are not the same on every machine.
"""

from __future__ import annotations

import functools
import inspect
import io
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import gallery
import house
import manual

import zsim
from zsim.cli.forecasts import predict
from zsim.cli.help import THE_POOL, groups_of
from zsim.cli.main import cli
from zsim.cli.main import main as run_zsim
from zsim.cli.tools.schema import schema_of
from zsim.planning.eta.records import EtaAnswer
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.rules import all_rules
from zsim.prediction.answer.drawing import render
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.tables import Grid
from zsim.report.tables import markdown
from zsim.scenario.model import Scenario
from zsim.validation.api import Validation, validate
from zsim.validation.report import document, overview
from zsim.validation.report.drawing import figure as validate_figure

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
ACCURACY = "<!-- accuracy: made by docs/make.py from zsim validate -->"
SPEED = "<!-- speed: made by docs/make.py --measure -->"
SPEED_ROWS = ("what", "---", "first run", "predict, 1 PB", "engine, no caches")
"""Rows of the table of speed that README.md shows; the others stand in performance.md."""
MAIN_JOB = "zsim predict --layout raidz2x6 --fill 0.62"
STATUS = DOCS / "examples" / "zpool-status.txt"
ETA_JOB = "zpool status tank | zsim eta"
BEGINS = datetime(2026, 11, 22, 14, 0)
"""When the main job of README.md begins: a Sunday."""
TOLERANCE = 0.05
COMMAND_LINE = (
    "Results go to stdout, progress and messages to stderr. With `--json` stdout holds nothing but JSON. "
    "`NO_COLOR` is honoured.",
    "Exit codes: 0 success; 1 a validation case failed; 2 bad input (one sentence says what is wrong and how "
    "to correct it); 70 a fault of zsim (`ZSIM_DEBUG=1` shows the traceback); 130 interrupted.",
)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
MADE = "<!-- made by docs/make.py -->"


def run(line: str) -> str:
    """Return what a zsim command prints on stdout."""
    stream = io.StringIO()
    with redirect_stdout(stream):
        code = run_zsim(line.split()[1:])
    if code:
        raise SystemExit(f"'{line}' ended with exit code {code}")
    return "\n".join(text.rstrip() for text in stream.getvalue().splitlines())


def between(text: str, start: str, end: str, content: str) -> str:
    """Replace what stands between two marks, each on a line of its own."""
    head, found, rest = text.partition(start + "\n")
    _, closed, tail = rest.partition(end + "\n")
    if not found or not closed:
        raise SystemExit(f"mark {start!r} or {end!r} is missing")
    return head + start + "\n" + content + end + "\n" + tail


def readme() -> str:
    """Return README.md with the present transcript and table of accuracy."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    transcript = f"```console\n$ {MAIN_JOB}\n{main_job()}\n```\n"
    text = between(text, f"<!-- transcript: {MAIN_JOB} -->", "<!-- end of transcript -->", transcript)
    finish = f"```console\n$ {ETA_JOB}\n{run(f'zsim eta {STATUS}')}\n```\n"
    text = between(text, f"<!-- transcript: {ETA_JOB} -->", "<!-- end of finish -->", finish)
    return between(text, ACCURACY, "<!-- end of accuracy -->", accuracy())


def main_job() -> str:
    """Return what the main job prints if it begins at `BEGINS`."""
    predict.now = lambda: BEGINS
    return run(MAIN_JOB)


@functools.cache
def validation() -> Validation:
    """Run the cases that come with zsim, once."""
    return validate(jobs=None)


def accuracy() -> str:
    """Return how zsim came out against real resilvers, the real code and all measurements, in a few lines."""
    claims, summary = validation().claims, validation().summary
    grid = overview.glance_grid(claims)
    rows = {row[0].partition(":")[0]: dict(zip(grid.head, row, strict=True)) for row in grid.rows}
    code, field, stated = rows["zfs-run"], rows["observed"], summary["stated"]
    rule = summary["rules_of_thumb"]["average_rate"]

    def percent(share: float) -> str:
        return f"{100 * share:.0f} %"

    span = f"{percent(summary['coverage_low'])} to {percent(summary['coverage_high'])}"
    lines = (
        f"**Real resilvers and scrubs** ({summary['scored']} durations from field reports, most of which "
        f"say little of the pool): half of the predictions are within {percent(summary['median_error'])}, "
        f"the worst is off by {field['worst']}. The 80 % interval holds {percent(summary['coverage'])} of "
        f"them ({span} at 95 % confidence).",
        f"Of the {stated['scored']} that state drive, layout and data: half within "
        f"{percent(stated['median_error'])}, the interval holds {percent(stated['coverage'])}.",
        "The rule of thumb 'bytes per drive over average rate' on the same reports: half within "
        f"{percent(rule['median_error'])}.",
        f"**The real OpenZFS code** over emulated drives, with every block given: {code['cases']} runs, half "
        f"within {code['median error in time']}, the worst off by {code['worst']}. What is left on real "
        "pools is mostly how their drives behave, and where the data lie on them.",
        f"All measurements: {summary['claims']} numbers of {summary['cases']} cases; {summary['pass']} "
        f"within the tolerance stated for them, {summary['fail']} outside, {summary['info']} without one.",
    )
    return "\n" + "".join(f"* {line}\n" for line in lines) + "\n"


@functools.cache
def validation_pages() -> dict[str, str]:
    """Return the report of all claims, by the name of its pages."""
    outcome = validation()
    pages = document.as_pages(outcome.claims, outcome.summary)
    pages["validation.md"] += "\n![Predicted over observed](validation.svg)\n"
    return pages


def validation_page(name: str = "validation.md") -> Callable[[], str]:
    """Return what makes one page of the report."""
    return lambda: validation_pages()[name]


VALIDATION = ("cases", "field-reports", "claims", "information", "fitted")
"""Pages of the report below ``docs/validation``."""


def validation_picture() -> str:
    """Return the picture of the report."""
    drawn = validate_figure(validation().claims)
    if drawn is None:
        raise SystemExit("the validation has no duration to draw")
    return render(drawn, "svg").decode()


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below a group with its path, depth first."""
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def options_of(command: click.Command, path: str) -> Iterator[str]:
    """Yield Markdown table rows of the arguments and options of a command, group by group."""
    context = click.Context(command, info_name=path, help_option_names=["-h", "--help"])
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Argument):
            yield f"| `{parameter.make_metavar(context)}` | |"
    for title, records in groups_of(command, context).items():
        if title:
            yield f"| **{title}** | |"
        for record in records:
            names, words = (" ".join(part.split()).replace("|", "\\|") for part in record)
            yield f"| `{names}` | {words} |"
        if title == THE_POOL and not getattr(command, "lists_all", True):
            yield "| | All other flags of a pool, its drives, host and load: [zsim predict](#zsim-predict). |"


def command_line() -> str:
    """Return the reference of all commands."""
    parts = ["# Command line", MADE, *COMMAND_LINE]
    for path, command in commands(cli, "zsim"):
        words = " ".join((command.help or "").replace("\b", "").split())
        parts += [f"## {path}", words]
        if not isinstance(command, click.Group):
            parts.append("\n".join(["| option | meaning |", "| --- | --- |", *options_of(command, path)]))
    return "\n\n".join(parts) + "\n"


def type_words(schema: dict[str, Any]) -> str:
    """Say in a few words what a JSON Schema fragment allows."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        words = (type_words(choice) for choice in schema["anyOf"] if choice.get("type") != "null")
        return " or ".join(dict.fromkeys(words))
    if schema.get("type") == "array":
        return f"list of {type_words(schema.get('items') or {})}"
    names = {"object": "table", "integer": "whole number", "boolean": "true or false", "string": "text"}
    kind = str(schema.get("type", "anything"))
    return names.get(kind, kind)


def field_rows(schema: dict[str, Any]) -> Iterator[str]:
    """Yield a Markdown table row for every field of an object's schema."""
    for name, field in schema.get("properties", {}).items():
        words = " ".join(str(field.get("description", "")).split()).replace("|", "\\|")
        default = field.get("default")
        shown = "" if default is None or default in ([], {}, "") else f"`{default}`"
        yield f"| `{name}` | {type_words(field)} | {shown} | {words} |"


def schema_page(title: str, intro: str, schema: dict[str, Any]) -> str:
    """Return a reference page of a JSON Schema: its own fields, then those of its parts."""
    head = "| field | value | default | meaning |\n| --- | --- | --- | --- |"
    parts = [f"# {title}", MADE, intro, "\n".join([head, *field_rows(schema)])]
    for name, part in sorted(schema.get("$defs", {}).items()):
        if part.get("properties"):
            words = str(part.get("description", "")).split("\n\n")[0]
            parts += [f"## {name}", " ".join(words.split()), "\n".join([head, *field_rows(part)])]
    text = "\n\n".join(part for part in parts if part) + "\n"
    for name, part in schema.get("$defs", {}).items():
        if not part.get("properties"):  # it has no section to lead to
            text = text.replace(f"[{name}](#{name.lower()})", name)
    return text


def scenario_page() -> str:
    """Return the reference of the scenario's fields."""
    intro = (
        "The fields of a scenario: what you can state about a pool. Every field is a key of a scenario file "
        "(`--scenario FILE`), of `--set`, "
        "and an argument of `zsim.Scenario`. `zsim scenario schema` prints this as JSON Schema."
    )
    return schema_page("Scenario", intro, Scenario.model_json_schema())


def result_page() -> str:
    """Return the reference of the fields of a prediction."""
    intro = (
        "The fields of an answer: of `Prediction`, of `zsim predict --json` and of `-o result.json`. "
        "Durations are in seconds, sizes in bytes, rates in bytes per second, shares between 0 and 1. "
        "`schema_version` changes when a field is removed or changes its meaning."
    )
    page = schema_page("Result", intro, Prediction.model_json_schema(mode="serialization"))
    return f"{page}\n{running_scans()}"


ETA_FIELDS = {
    "schema_version": "",
    "finish": "when it finishes: p10, p50 and p90 as ISO 8601; null if the time of the status is not known",
    "parts_s": "what is left by phase [s]",
    "zpool": "what `zpool status` says, or would: `remaining_s`, `total_s` [s]; `why` it is off",
    "lately": "what was done between the last two statuses, if the pace has changed: `seconds`, "
    "`done_bytes`, `slower` than before, `remaining_s` at this pace",
    "pace_tells": "whether the pace so far says something about the rest; if not, `pace` is null",
}
"""Fields of ``zsim eta --json`` that are no attribute of the answer in Python."""


def running_scans() -> str:
    """Return the reference of what ``zsim eta --json`` prints."""
    text = inspect.getdoc(EtaAnswer) or ""
    said = re.findall(r"^(\w[\w, ]*) : .*\n((?:    .*\n?)+)", text, re.MULTILINE)
    words = {name: " ".join(text.split()) for names, text in said for name in names.split(", ")}
    schema = schema_of("eta")
    fields: dict[str, Any] = dict(schema["properties"])  # type: ignore[call-overload]
    for name, field in fields.items():
        meaning = (words | ETA_FIELDS).get(name, "")
        meaning = meaning.replace("``", "`").replace("; None", "; null")
        field["description"] = meaning[:1].lower() + meaning[1:].removesuffix(".")
        if isinstance(field.get("type"), list):
            field["type"] = field["type"][0]
    intro = "The answer about a running scan. `zsim schema eta` prints this as JSON Schema."
    head = "| field | value | default | meaning |\n| --- | --- | --- | --- |"
    return "\n".join([f"## `zsim eta --json`\n\n{intro}\n", head, *field_rows({"properties": fields})]) + "\n"


def timeline_page() -> str:
    """Return the reference of plans of timelines, and of the rules by release."""
    intro = (
        "The fields of a plan for `zsim timeline PLAN.toml`. `zsim timeline schema` prints this as JSON "
        "Schema; "
        "[how to](../how-to/timeline.md), [the rules explained](../explanation/timeline.md)."
    )
    rows = tuple((rule.name.replace("_", " "), since, rule.text, rule.source) for since, rule in all_rules())
    table = markdown(Grid(("rule", "from", "what happens", "source"), rows))
    found = schema_page("Timeline", intro, Plan.model_json_schema())
    return f"{found}\n## Rules by release\n\n{table}\n"


def picture() -> str:
    """Return the picture of the main job as SVG."""
    return render(zsim.predict(zsim.Scenario(layout="raidz2x6", fill=0.62)).plot(), "svg").decode()


def house_picture() -> str:
    """Return the map of the house as SVG."""
    return render(house.house(), "svg").decode()


def manual_page() -> str:
    """Return the manual page of the release that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return manual.manual(list(commands(cli, "zsim")), project["version"])


PAGES: dict[Path, Callable[[], str]] = {
    DOCS / "man" / "zsim.1": manual_page,
    DOCS / "gallery.md": gallery.gallery,
    DOCS / "reference" / "command-line.md": command_line,
    DOCS / "reference" / "scenario.md": scenario_page,
    DOCS / "reference" / "result.md": result_page,
    DOCS / "reference" / "timeline.md": timeline_page,
    DOCS / "predict.svg": picture,
    DOCS / "house.svg": house_picture,
    DOCS / "validation.md": validation_page(),
    **{DOCS / "validation" / f"{name}.md": validation_page(f"validation/{name}.md") for name in VALIDATION},
    DOCS / "validation.svg": validation_picture,
    ROOT / "README.md": readme,
}


def about_equal(old: str, new: str) -> bool:
    """Tell whether two texts have the same words, and numbers that differ by `TOLERANCE` at most."""
    if NUMBER.sub("#", " ".join(old.split())) != NUMBER.sub("#", " ".join(new.split())):
        return False
    pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    values = ((float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs)
    return all(abs(a - b) <= max(TOLERANCE * abs(a), 1.0) for a, b in values)


def is_current(path: Path, new: str) -> bool:
    """Tell whether a made file is up to date; of a picture only that it is there."""
    if not path.exists():
        return False
    if path.suffix == ".svg":
        return True
    return about_equal(path.read_text(encoding="utf-8"), new)


def measure() -> int:
    """Measure the speed, and write the table to the pages that show it."""
    command = [sys.executable, "-m", "tests.benchmarks.table"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    rows = (row for row in done.stdout.splitlines() if row.removeprefix("|").strip().startswith(SPEED_ROWS))
    pages = {
        ROOT / "README.md": "".join(f"{row}\n" for row in rows),
        DOCS / "explanation" / "performance.md": done.stdout,
    }
    for path, table in pages.items():
        text = path.read_text(encoding="utf-8")
        path.write_text(between(text, SPEED, "<!-- end of speed -->", f"\n{table}\n"), encoding="utf-8")
    return 0


def main() -> int:
    """Write, or with ``--check`` compare, the made documents."""
    if sys.argv[1:] == ["--measure"]:
        return measure()
    wanted = {word for word in sys.argv[1:] if word != "--check"}
    if unknown := wanted - {path.name for path in PAGES}:
        raise SystemExit(f"not made here: {', '.join(sorted(unknown))}")
    stale = []
    for path, make in PAGES.items():
        if wanted and path.name not in wanted:
            continue
        new = make()
        if "--check" in sys.argv:
            if not is_current(path, new):
                stale.append(str(path.relative_to(ROOT)))
        elif not path.exists() or path.read_text(encoding="utf-8") != new:
            path.write_text(new, encoding="utf-8")
            click.echo(f"{path.relative_to(ROOT)} written")
    if stale:
        click.echo(f"out of date: {', '.join(stale)}; run: python docs/make.py", err=True)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
