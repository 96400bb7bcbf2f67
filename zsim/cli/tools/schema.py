"""``zsim schema``: the JSON Schema of what each command prints with ``--json``."""

from __future__ import annotations

from collections.abc import Mapping

import click
from click.shell_completion import CompletionItem

from zsim.base.errors import InputError
from zsim.cli.common import JSON_VERSION, print_json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WORDS: Mapping[str, Mapping[str, object]] = {
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "record": {"type": "object"},
    "records": {"type": "array", "items": {"type": "object"}},
    "texts": {"type": "array", "items": {"type": "string"}},
    "list": {"type": "array"},
    "number?": {"type": ["number", "null"]},
    "text?": {"type": ["string", "null"]},
    "record?": {"type": ["object", "null"]},
    "quantiles": {
        "type": "object",
        "properties": {name: {"type": ["number", "null"]} for name in ("p10", "p50", "p90")},
        "required": ["p50"],
    },
}
TABLE = {
    "columns": "texts", "rows": "records", "common": "record", "missing": "texts", "notes": "texts",
    "provenance": "record",
}  # fmt: skip
SHAPES: Mapping[str, Mapping[str, str]] = {
    "compare": TABLE,
    "sweep": TABLE,
    "eta": {
        "pool": "text", "subject": "text", "total_s": "quantiles", "remaining_s": "quantiles",
        "finish": "record?", "elapsed_s": "number?", "at": "text?", "phase": "text", "done": "number?",
        "parts_s": "record", "pace": "number?", "pace_tells": "flag", "lately": "record?",
        "zpool": "record",
        "reasons": "texts", "worry": "texts", "consequences": "texts", "evidence": "records",
        "assumptions": "list", "notes": "texts", "provenance": "record",
    },
    "plan": {
        "question": "text", "answer": "text?", "stated": "texts", "requirements": "list", "rows": "records",
        "provenance": "record",
    },
    "timeline": {
        "title": "text", "stated": "texts", "passes": "records", "whole_s": "record", "over_s": "record",
        "redundancy": "records", "redone_bytes": "whole", "story": "records", "notes": "texts",
        "full": "record", "worlds": "record", "provenance": "record",
    },
    "decide": {"stated": "texts", "alternatives": "records", "notes": "texts", "provenance": "record"},
    "tune": {
        "subject": "text", "default_s": "number", "default_p10_s": "number?", "default_p90_s": "number?",
        "default_p99_s": "number?", "system": "text",
        "settings": "records", "without_effect": "texts", "worlds": "whole", "stated": "texts",
        "provenance": "record",
    },
    "import": {
        "pool": "text", "files": "list", "scenario": "record", "findings": "records",
        "assumptions": "records", "notes": "texts", "progress": "record?", "written": "list",
    },
    "scenario show": {"scenario": "record", "assumptions": "records"},
    "drives list": {"drives": "records"},
    "drives show": {
        "name": "text", "vendor": "text", "model": "text", "kind": "text", "recording": "text",
        "capacity_bytes": "whole", "parameters": "record", "observed": "record", "derived": "record",
    },
    "drives fit": {
        "factors": "records", "condition": "number?", "residual": "number", "samples": "whole",
        "parameters": "record",
    },
    "pool show": {
        "layout": "text", "release": "text", "history": "text", "fill": "number", "frag": "number?",
        "scale": "number", "blocks": "whole", "metaslab_fill": "list",
    },
    "pool histories": {"histories": "records"},
    "replay": {
        "drive": "text", "requests": "whole", "reads": "whole", "writes": "whole", "bytes": "whole",
        "elapsed_s": "number", "utilisation": "number", "service_s": "record", "response_s": "record",
    },
    "schema": {"commands": "list"},
    "validate": {"cases": "records", "summary": "record"},
    "rerun": {"same": "flag", "moved": "list", "changed": "list", "old": "number", "new": "number"},
}  # fmt: skip
"""Command to the keys of its answer, each with a word of `WORDS`; times in s, sizes in bytes."""
MODELS = ("predict", "risk", "fleet")
"""Commands whose answers are records with a schema of their own."""


def schema_of(command: str) -> dict[str, object]:
    """Return the JSON Schema of what a command prints with ``--json``.

    Raises
    ------
    InputError
        When there is no such command.
    """
    if command in MODELS:
        return {"$schema": DIALECT, **_of_records(command)}
    if command not in SHAPES:
        known = ", ".join(sorted((*MODELS, *SHAPES)))
        raise InputError("command", command, f"those with --json are {known}", "name one of them")
    properties = {name: dict(WORDS[word]) for name, word in SHAPES[command].items()}
    return {
        "$schema": DIALECT,
        "title": f"zsim {command} --json",
        "type": "object",
        "properties": {"schema_version": {"const": JSON_VERSION}, **properties},
        "required": ["schema_version", *properties],
    }


def _of_records(command: str) -> dict[str, object]:
    if command == "predict":
        from zsim.prediction.answer.prediction import Prediction

        return Prediction.model_json_schema(mode="serialization")
    if command == "risk":
        from zsim.planning.risk.answer import RiskAnswer

        return RiskAnswer.model_json_schema(mode="serialization")
    from zsim.planning.fleet.answer import FleetAnswer

    return FleetAnswer.model_json_schema(mode="serialization")


def _complete(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted({*MODELS, *SHAPES}) if name.startswith(begun)]


@click.command("schema")
@click.argument("name", metavar="[COMMAND]", nargs=-1, shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON too; a schema always is.")
def command(name: tuple[str, ...], as_json: bool) -> None:
    """Print the JSON Schema of what a command prints with --json; without a command, the list of them.

    Every answer has schema_version: it changes when a field is removed or changes its meaning.
    """
    if name:
        print_json(schema_of(" ".join(name)))
    elif as_json:
        print_json({"commands": sorted((*MODELS, *SHAPES))})
    else:
        click.echo("\n".join(sorted((*MODELS, *SHAPES))))
