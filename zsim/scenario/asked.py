"""What a caller asks for, as a scenario: a layout, a file, a scenario, and fields over it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from zsim.base.errors import InputError, check_kind
from zsim.scenario.layout import FORMS, Layout
from zsim.scenario.model import Scenario

Asked: TypeAlias = Scenario | Layout | Mapping[str, object] | str | Path
"""What may stand for a scenario: its fields, a layout (text or not), a file whose name ends in ``.toml``."""


def scenario_of(asked: Asked | None, fields: Mapping[str, object]) -> Scenario:
    """Return the scenario that a layout, a file or a scenario stands for, with `fields` over it.

    Parameters
    ----------
    asked : str, Path, mapping or Scenario, optional
        A layout (``"raidz2x6"``), a scenario file (its name ends in ``.toml``), a scenario or its fields as a
        mapping; None: the fields alone.
    fields : mapping
        Fields of the scenario.  ``fill`` puts ``alloc`` aside and the other way round.

    Raises
    ------
    InputError
        When there is no layout, something cannot be used, or `asked` is nothing of these.

    Examples
    --------
    >>> scenario_of("raidz2x6", {"fill": "62%"})
    Scenario(layout='raidz2x6', fill=0.62)
    """
    if isinstance(asked, Layout):
        asked = str(asked)
    given = dict(fields)
    if "fill" in given or "alloc" in given:
        given = {"fill": None, "alloc": None, **given}
    if isinstance(asked, Scenario):
        return asked if not given else Scenario.from_dict({**asked.stated(), **given})
    if isinstance(asked, Mapping):
        return Scenario.from_dict({**asked, **given})
    if asked is not None:
        allowed = "it is a layout, the path of a scenario file, a Scenario, or a mapping of its fields"
        check_kind("scenario", asked, (str, Path), allowed, 'write zsim.Scenario(layout="raidz2x6")')
    if isinstance(asked, Path) or (asked is not None and asked.endswith(".toml")):
        return Scenario.from_dict({**Scenario.read(asked).stated(), **given})
    if asked is None and given.get("layout") is None:
        raise InputError("layout", None, FORMS, 'give a scenario, or layout="raidz2x6"')
    if asked is None:
        return Scenario.from_dict(given)
    if given.get("layout") is not None:
        raise InputError("layout", str(given["layout"]), f"{asked!r} is the layout", "give one of the two")
    return Scenario.from_dict({**given, "layout": asked})
