"""Procedures included in zsim: plans in ``models/timeline/procedures``, by name."""

from __future__ import annotations

from pathlib import Path

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.planning.timeline.plan import Plan


def _directory() -> Path:
    return model_data.models_directory() / "timeline" / "procedures"


def procedure_names() -> tuple[str, ...]:
    """Return the names of the procedures, sorted."""
    return tuple(sorted(path.stem for path in _directory().glob("*.toml")))


def procedure(name: str) -> Plan:
    """Return a procedure.

    Raises
    ------
    InputError
        With the nearest name, when there is none of this name.
    """
    known = procedure_names()
    if name.strip().lower() not in known:
        raise InputError("procedure", name, "zsim has no such procedure", model_data.suggest(name, known))
    return Plan.read(_directory() / f"{name.strip().lower()}.toml")


def titles() -> tuple[tuple[str, str], ...]:
    """Return name and title of every procedure."""
    return tuple((name, procedure(name).title) for name in procedure_names())
