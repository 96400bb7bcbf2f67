"""Make a scenario of what a caller gives: a layout, a file, a scenario, with fields over it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from zsim.base.errors import InputError, shown
from zsim.scenario.files import over
from zsim.scenario.layout import FORMS, Layout
from zsim.scenario.model import Scenario


class Answered(Protocol):
    """An answer that says which scenario it was given for, such as a prediction."""

    @property
    def provenance(self) -> Mapping[str, object]:
        """What the answer depends on; ``scenario`` is in it."""


Asked: TypeAlias = Scenario | Layout | Answered | Mapping[str, object] | str | Path
"""What may stand for a scenario: its fields, a layout (text or not), a scenario file (``.toml``), an answer
or the file of one (``.json``).
"""
FILES = (".toml", ".json")


def pool_of(asked: Asked | None, fields: Mapping[str, object]) -> Scenario:
    """Return the scenario of a pool of which no repair need be asked: see `scenario_of`, and `at_rest`."""
    if isinstance(asked, Scenario):
        return scenario_of(asked, fields)
    if isinstance(asked, Layout):
        return scenario_of(at_rest({**fields, "layout": str(asked)}), {})
    if isinstance(asked, Mapping):
        return scenario_of(at_rest(over(asked, fields)), {})
    if asked is None:
        return scenario_of(None, at_rest(fields))
    if isinstance(asked, str) and not asked.endswith(FILES) and fields.get("layout") is None:
        known = at_rest({**fields, "layout": asked})
        return scenario_of(asked, {name: value for name, value in known.items() if name != "layout"})
    return scenario_of(asked, fields)


def said(name: str, asked: Asked | None, fields: Mapping[str, object]) -> object:
    """Return what is stated of a field beside what `at_rest` adds; None where it is left open."""
    if fields.get(name) is not None:
        return fields[name]
    return asked.get(name) if isinstance(asked, Mapping) else getattr(asked, name, None)


def at_rest(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields with what can be repaired of a layout that begins with a single drive.

    Parameters
    ----------
    fields : mapping
        Of a scenario.

    Returns
    -------
    dict
        With ``replace_in`` the first data vdev that has redundancy; where there is none, with the operation
        scrub, the only one of plain disks.  As given where these are stated, or there is no such layout.

    Examples
    --------
    >>> at_rest({"layout": "4*disk"}), at_rest({"layout": "disk+mirror2"})
    ({'layout': '4*disk', 'operation': 'scrub'}, {'layout': 'disk+mirror2', 'replace_in': '1'})
    """
    found = dict(fields)
    if found.get("operation") is not None or found.get("replace_in") is not None:
        return found
    try:
        data = Layout.parse(str(found.get("layout"))).data
    except InputError:
        return found  # told where the scenario is made
    if data[0].is_disk:
        other = next((place for place, vdev in enumerate(data) if not vdev.is_disk), None)
        found |= {"operation": "scrub"} if other is None else {"replace_in": str(other)}
    return found


def scenario_of(asked: Asked | None, fields: Mapping[str, object]) -> Scenario:
    """Return the scenario that a layout, a file or a scenario stands for, with `fields` over it.

    Parameters
    ----------
    asked : str, Path, mapping, Scenario or Prediction, optional
        A layout (``"raidz2x6"``), a scenario file (its name ends in ``.toml``), a stored answer
        (``.json``), a scenario, its fields as a mapping, or a prediction: its scenario.  None: the fields
        alone.
    fields : mapping
        Fields of the scenario.  ``fill``, ``alloc`` and ``vdev_fills`` put each other aside.

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
    if isinstance(asked, Scenario):
        return asked if not given else Scenario.from_dict(over(asked.stated(), given))
    if isinstance(told := getattr(asked, "provenance", None), Mapping) and "scenario" in told:
        return Scenario.from_dict(over(cast("Mapping[str, object]", told["scenario"]), given))
    if isinstance(asked, Mapping):
        return Scenario.from_dict(over(asked, given))
    if asked is not None and not isinstance(asked, (str, Path)):
        allowed = "it is a layout, the path of a scenario file, a Scenario, or a mapping of its fields"
        raise InputError("scenario", asked, allowed, 'write zsim.Scenario(layout="raidz2x6")')
    if isinstance(asked, Path) or (asked is not None and asked.endswith(FILES)):
        return Scenario.from_dict(over(Scenario.read(asked).stated(), given))
    if asked is None and given.get("layout") is None:
        raise InputError("layout", None, FORMS, 'give a scenario, or layout="raidz2x6"')
    if asked is None:
        return Scenario.from_dict(given)
    if given.get("layout") is not None:
        raise InputError("layout", str(given["layout"]), f"{asked!r} is the layout", "give one of the two")
    try:
        return Scenario.from_dict({**given, "layout": asked})
    except InputError as error:
        if error.field == "layout" and _describes(asked):
            told = "text" if "\n" in asked else shown(asked, 60)
            remedy = f"zsim.read_pool({told}) makes a scenario of it"
            raise InputError("layout", asked, "it is no layout", remedy) from error
        raise


def _describes(asked: str) -> bool:
    """Tell whether text that is no layout may describe a pool: a file, an output of zpool, a sentence."""
    if "\n" in asked or len(asked.split()) > 2:
        return True
    return os.path.exists(asked)  # noqa: PTH110 - tells of any text, too long ones as well
