"""Evidence as it is typed: ``scrub=25h17m``, ``resilver=11h,alloc=12.1T,date=2026-05-03``."""

from __future__ import annotations

from collections.abc import Mapping

from zsim.base.errors import InputError

SCANS = ("scrub", "resilver", "rebuild", "heal")
ACCESSES = ("sequential-read", "sequential-write", "random-read", "random-write")
OPTIONS = {"alloc": "alloc", "processed": "processed", "date": "end", "drives": "drives"}
BENCHMARK_OPTIONS = ("size", "depth", "of")
CLASSES = ("special",)
ALLOWED = "it is KIND=DURATION, KIND=RATE or special=SIZE, where KIND is one of " + ", ".join(
    (*SCANS, *ACCESSES)
)
REMEDY = "write scrub=25h17m, resilver=11h,alloc=12.1T,date=2026-05-03 or sequential-read=180MB/s"


def read_evidence(text: str) -> dict[str, object]:
    """Return one observation as the plain data that a scenario reads.

    Parameters
    ----------
    text : str
        What was observed and its value, then options: ``alloc``, ``date``, ``processed`` and ``drives`` of a
        scan, ``size``, ``depth`` and ``of`` of a measurement, ``alloc`` of what a class of vdevs holds.

    Raises
    ------
    InputError
        When it is something else.
    """
    first, *others = (part.strip() for part in text.split(","))
    kind, equals, value = (part.strip() for part in first.partition("="))
    options = dict(_option(part, text) for part in others)
    if kind in SCANS and equals and value:
        found: dict[str, object] = {"what": "finished", "kind": kind, "duration": value}
        names: Mapping[str, str] = OPTIONS
    elif kind in ACCESSES and equals and value:
        unit = "operations" if kind.startswith("random") and value.replace(".", "", 1).isdigit() else "rate"
        found = {"what": "benchmark", "access": kind, unit: float(value) if unit == "operations" else value}
        names = {name: name for name in BENCHMARK_OPTIONS}
    elif kind in CLASSES and equals and value:
        found, names = {"what": "class", "alloc_class": kind, "held": value}, {"alloc": "alloc"}
    else:
        raise InputError("evidence", text, ALLOWED, REMEDY)
    for name, given in options.items():
        if name not in names:
            raise InputError("evidence", text, f"of {kind} the options are {', '.join(names)}", REMEDY)
        found[names[name]] = given
    return found


def _option(part: str, text: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise InputError("evidence", text, "options are NAME=VALUE, after commas", REMEDY)
    return name.strip().replace("_", "-"), value.strip()


def observations_of(value: object) -> tuple[object, ...] | None:
    """Return evidence with what is text read: one observation, or several."""
    if isinstance(value, str):
        return (read_evidence(value),)
    if isinstance(value, list | tuple):
        return tuple(read_evidence(each) if isinstance(each, str) else _named(each) for each in value)
    return (_named(value),) if value is not None else None


def _named(value: object) -> object:
    """Return plain data with what it is: what has a duration has finished."""
    if isinstance(value, Mapping) and "what" not in value and "duration" in value:
        return {"what": "finished", **value}
    return value
