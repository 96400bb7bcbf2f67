"""Shell completion of the values of scenario fields.  Quick to import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, get_args

import click
from click.shell_completion import CompletionItem

Kind = Literal["drives", "enclosures", "releases", "histories"]
KINDS: Mapping[str, Kind] = {
    "drive": "drives",
    "new_drive": "drives",
    "release": "releases",
    "history": "histories",
    "enclosure": "enclosures",
    "ports": "enclosures",
}
WORDS = ("operation", "order", "target", "old_drive", "engine")
LAYOUTS = ("raidz1x", "raidz2x", "raidz3x", "mirror2", "mirror3", "draid2:8d:41c:2s")
LOADS = ("random-read,rate=", "sequential-read,rate=", "sync-write,rate=", "async-write,rate=")

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def offering(values: Callable[[], Iterable[str]]) -> Completer:
    """Return what completes a flag or argument by values that are looked up when a shell asks for them."""

    def complete(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in values() if name.lower().startswith(begun.lower())]

    return complete


def of_failures(option: str) -> Iterable[str]:
    """Return the values of a flag about failures and repairs: names of drive models, or words."""
    from zsim.planning.risk import question
    from zsim.planning.risk.reliability import models

    if option == "--afr":
        return models()
    words: Mapping[str, Iterable[str]] = {
        "--spare": question.SPARES, "--method": question.METHODS, "--overlap": question.DISCIPLINES,
        "--correlation-law": question.LAWS, "--scrub": ("weekly", "monthly", "never"),
    }  # fmt: skip
    return words.get(option, ())


def completer(field: str) -> Completer | None:
    """Return what completes the values of a field of the scenario; None where there is nothing to offer."""
    if field not in KINDS and field not in WORDS and field not in ("layout", "load", "product"):
        return None

    def complete(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        head, comma, last = begun.rpartition(",") if field != "load" else ("", "", begun)
        return [
            CompletionItem(head + comma + name) for name in values_of_field(field) if name.startswith(last)
        ]

    return complete


def values_of_field(field: str) -> tuple[str, ...]:
    """Return the values that a field is known to take."""
    if field == "layout":
        return LAYOUTS
    if field == "load":
        return LOADS
    if field == "product":
        from zsim.scenario.releases.products import product_names

        return product_names()
    if field in KINDS:
        from zsim.base.model_data import names

        return names(KINDS[field])
    from zsim.scenario.keyword_types import OtherFields

    return tuple(each for each in _literals(OtherFields.__annotations__[field]) if isinstance(each, str))


def _literals(annotation: object) -> tuple[object, ...]:
    """Return the values of a literal type, read from its text: nothing is imported for it."""
    text = getattr(annotation, "__forward_arg__", annotation)
    if not isinstance(text, str):
        return get_args(annotation)
    inside = text.partition("[")[2].partition("]")[0]
    return tuple(each.strip(" '\"") for each in inside.split(","))
