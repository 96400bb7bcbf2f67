"""When an operation starts where loads, tunables or a product go by the hour and nothing says it: now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from zsim.base.errors import InputError
from zsim.cli.common import notice

BY_THE_HOUR = ("load", "tunables", "product")
BESIDE = (*BY_THE_HOUR, "release")


def now() -> datetime:
    """Return the time, of which tests may give another."""
    return datetime.now()


def with_begin(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields of a scenario with the moment at which it starts, where one is needed and none stated.

    It is then part of what is stated, so that a stored answer can be computed again.
    """
    found = dict(fields)
    if found.get("begins") is not None or not any(found.get(name) for name in BY_THE_HOUR):
        return found
    if not any(_needs_it(dict(found, load=each)) for each in _loads(found.get("load"))):
        return found
    moment = f"{now():%a %H:%M}".lower()
    notice(f"it starts {moment}, now; --begins says another time.")
    return {**found, "begins": moment}


def _loads(stated: object) -> list[object]:
    """Return the loads that one run has; those of a sweep are divided by semicolons."""
    texts = [stated] if isinstance(stated, str) else stated
    if isinstance(texts, list) and all(isinstance(each, str) for each in texts):
        parts = [str(each).split(";") for each in texts]
        if any(len(each) > 1 for each in parts):
            return [each.strip() for part in parts for each in part]
    return [stated]


def _needs_it(fields: Mapping[str, object]) -> bool:
    """Tell whether these loads, tunables and product need a beginning, whatever the pool."""
    from zsim.scenario.model import Scenario

    try:
        Scenario.from_dict(
            {"layout": "raidz2x6", **{name: fields[name] for name in BESIDE if fields.get(name) is not None}}
        )
    except InputError as error:
        return error.field == "begins" and error.value is None
    return False
