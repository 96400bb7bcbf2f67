"""The combinations of a sweep: its axes and common fields, checked, and the row that each begins as."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from zsim.base.errors import InputError, check_kind, check_number
from zsim.base.parsed import table
from zsim.case.resolve import resolve
from zsim.planning.ranges import values_of
from zsim.planning.rows import TUNABLE, Row, refused_row
from zsim.planning.usable import stated_usable_bytes
from zsim.prediction.missing import missing_of_all
from zsim.scenario.asked import Asked, scenario_of
from zsim.scenario.files import over, put_aside
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.vdevs.kind import word_of_parity

MAX_POINTS = 100_000
SIMPLE_LAYOUT = "mirror2"  # that takes any value of the other fields
SHAPE = ("width", "parity")

Axes = Mapping[str, Sequence[object]]


def grid_of(base: Asked | None, axes: Mapping[str, object]) -> tuple[dict[str, tuple[object, ...]], Row]:
    """Return the values of each axis, checked, and the fields that all combinations have."""
    common = _common(base)
    grid = {name: _shape(name, values) if name in SHAPE else _values(values) for name, values in axes.items()}
    _check(grid, common)
    return grid, common


def _common(base: Asked | None) -> Row:
    """Return the fields of a base; of a mapping they may be without a layout, which is an axis then."""
    if base is None:
        return {}
    allowed = "it is a Scenario, its fields, a layout or a scenario file"
    kinds = (Scenario, Layout, Mapping, str, Path)
    check_kind("base", base, kinds, allowed, 'write zsim.Scenario(layout="raidz2x6")')
    if not isinstance(base, Mapping) or base.get("layout") is not None:
        return scenario_of(base, {}).stated()
    with contextlib.suppress(InputError):  # what fits no such layout is left as it was written
        stated = Scenario.from_dict({**base, "layout": SIMPLE_LAYOUT}).stated()
        return {name: value for name, value in stated.items() if name != "layout"}
    return dict(base)


def _check_parts(name: str, value: object) -> None:
    """Refuse a part that is wrong with any layout and release: a load without its kind."""
    if name == "tunables" or not isinstance(value, list | tuple | Mapping):
        return
    try:
        Scenario.from_dict({"layout": SIMPLE_LAYOUT, name: value})
    except InputError as error:
        if error.field.startswith(f"{name}."):
            raise


def common_of(grid: Axes, stated: Row) -> Row:
    """Return the fields of a base that no axis sets otherwise."""
    shape = {"layout"} if "width" in grid else set()
    return {name: value for name, value in put_aside(stated, grid).items() if name not in {*grid, *shape}}


def missing_of_rows(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return what the combinations leave out: all state the same fields, so the first and the last tell."""
    scenarios = [row["scenario"] for row in rows if "scenario" in row]
    return missing_of_all([resolve(Scenario.from_dict(each)) for each in (*scenarios[:1], *scenarios[-1:])])


def points(grid: Axes) -> list[Row]:
    """Return every combination of the axes, the last running fastest."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def layout_of(width: int, parity: int) -> str:
    """Return the layout of a width and a parity; parity 0 is a mirror."""
    return word_of_parity(parity, width)


def _shape(name: str, values: object) -> tuple[object, ...]:
    """Return widths or parities; text is a list or a range of them, as the command line takes it.

    Raises
    ------
    InputError
        When one is no whole number.
    """
    found: list[object] = []
    for each in _values(values):
        found += values_of(each, name) if isinstance(each, str) else [each]
    return tuple(int(each) if isinstance(each, str) and each.isdecimal() else each for each in found)


def _values(values: object) -> tuple[object, ...]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        return (values,)
    try:
        # What has no end is refused as having too many values.
        return tuple(itertools.islice(values, MAX_POINTS + 1))
    except TypeError:  # such as an array of numpy without dimensions
        return (values,)


def _check(grid: Axes, common: Mapping[str, object]) -> None:
    known = [*Scenario.field_infos(), *SHAPE]
    for name, values in grid.items():
        if name not in known and not name.startswith(TUNABLE):
            raise InputError("axis", name, "it is no field of the scenario", f"known are {', '.join(known)}")
        if not values:
            raise InputError(name, "", "an axis has at least one value", "give one")
    for name, value in (*common.items(), *((name, each) for name, values in grid.items() for each in values)):
        _check_parts(name, value)
    if ("width" in grid) != ("parity" in grid):
        missing = "parity" if "width" in grid else "width"
        raise InputError(missing, None, "width and parity together make the layout", f"give {missing} too")
    if "width" not in grid and "layout" not in grid and common.get("layout") is None:
        raise InputError("layout", None, "a sweep needs layouts", "give layout, or width and parity")
    for name in SHAPE:
        for value in grid.get(name, ()):
            check_number(
                name, value, f"write {name}=[4, 8]" if name == "width" else "write parity=2", whole=True
            )
    count = 1
    for values in grid.values():
        count *= len(values)
    if count > MAX_POINTS:
        raise InputError(
            "sweep", f"{count} combinations", f"at most {MAX_POINTS} are computed", "take fewer values"
        )


def row_of(point: Row, common: Mapping[str, object]) -> Row:
    """Return the row of a combination: its values, and its scenario or why there is none."""
    fields = fields_of(point, common)
    try:
        scenario = Scenario.from_dict(over(common, fields))
        one = resolve(scenario)
    except InputError as error:
        axes = _parsed({**over(common, fields), "layout": SIMPLE_LAYOUT}, point)
        return {**point, **axes, "layout": fields.get("layout"), **refused_row(str(error))}
    facts = {
        "layout": str(one.layout),
        "usable_bytes": stated_usable_bytes(one),
        "scenario": scenario.stated(),
    }
    return {**point, **_parsed(over(common, fields), point), **facts}


def fields_of(point: Row, common: Mapping[str, object]) -> Row:
    """Return the fields of the scenario that a combination states."""
    plain = [name for name in point if name not in SHAPE and not name.startswith(TUNABLE)]
    fields = {name: point[name] for name in plain}
    tunables = {
        name.removeprefix(TUNABLE): number(value)
        for name, value in point.items()
        if name.startswith(TUNABLE) and value is not None
    }
    if tunables:
        fields["tunables"] = {**table(fields if fields.get("tunables") else common, "tunables"), **tunables}
    if "width" in point:
        if "parity" not in point:
            raise InputError("parity", None, "a width alone is no layout", "give --parity, too: 1, 2, 3")
        fields["layout"] = layout_of(point["width"], point["parity"])
    return fields


def number(value: object) -> object:
    """Return the value of a tunable as the number that its text is."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(value)
    return value


def _parsed(fields: Mapping[str, object], point: Row) -> Row:
    """Return the axes' values as the scenario has them (0.5 for 50%), without those that are none at all."""
    names = [name for name in point if name in fields and name != "layout"]
    with contextlib.suppress(InputError):
        stated = Scenario.from_dict(fields).stated()
        return {name: stated.get(name) for name in names}
    found: Row = {}
    for name in names:  # together they contradict each other, or one of them is no value
        with contextlib.suppress(InputError):
            found[name] = Scenario.from_dict({"layout": SIMPLE_LAYOUT, name: fields[name]}).stated().get(name)
    return found
