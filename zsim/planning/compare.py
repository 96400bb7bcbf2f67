"""Compare layouts or scenario files, with equal drives or with equal usable space."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Unpack

from zsim.base.errors import InputError, check_kind, check_number
from zsim.base.notebook import watched
from zsim.base.units import parse_bytes
from zsim.case.case import Case
from zsim.case.resolve import USUALLY_FULL, resolve
from zsim.planning.risk.question import RiskInputs
from zsim.planning.rows import ANSWER, REASON, Row, refused_row
from zsim.planning.running import answers
from zsim.planning.table import Table, TableInterrupted, interrupted_row
from zsim.planning.usable import (
    alloc_of,
    data_bytes,
    repeated_for_drives,
    repeated_for_usable,
    stated_usable_bytes,
    usable_bytes,
)
from zsim.prediction.answer.records import Quantiles
from zsim.prediction.missing import missing_of_all
from zsim.scenario.asked import Asked, at_rest, pool_of, said, scenario_of
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.scenario.words import NO_REPAIR

if TYPE_CHECKING:
    from zsim.scenario.keyword_types import OtherFields

COLUMNS = ("name", "layout", "drives", "usable_bytes", "data_bytes", *ANSWER, REASON)
CHANCES = ("vdev_per_year", "vdev_per_year_low", "vdev_per_year_high")
"""Columns of a comparison with the chance of loss."""


def compare(
    *layouts: Asked | Iterable[Asked],
    drives: int | None = None,
    usable: int | str | None = None,
    data: int | str | None = None,
    jobs: int | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    risk: bool | RiskInputs = False,
    **common: Unpack[OtherFields],
) -> Table:
    """Predict several scenarios and compare them in a table.

    Parameters
    ----------
    *layouts : Scenario, Prediction, mapping, str or Path, or an iterable of them
        Scenarios, their fields as mappings, layouts (``"raidz2x6"``), scenario files (names ending in
        ``.toml``), or predictions, stored (``.json``) or not: their scenarios are predicted anew.
    drives : int, optional
        Repeat each layout as often as this many drives allow.
    usable : int or str, optional
        Repeat each layout until it can hold this much data, such as ``"400T"`` [bytes]; the fill stays as
        stated.
    data : int or str, optional
        Store this much data on each, in full records, without parity, such as ``"400T"`` [bytes]; the fill
        follows from it.  Each layout is repeated until the data fits, at least as often as stated
        (``2*raidz2x8``), or as often as `drives` allow.
    jobs : int, optional
        Processes; by default one per core.
    on_progress : callable, optional
        Called with the share done and the name of the scenario that was finished last.
    risk : bool or RiskInputs
        Whether each row has the chance that a vdev is lost within a year too, as `zsim.risk` has it after
        repairs of these durations; with inputs, for these.
    **common
        Fields for all scenarios; they replace those of a file.

    Returns
    -------
    Table
        Columns `COLUMNS`, with a chance of loss also `CHANCES`.  All scenarios share the seed, and with it
        the random numbers.

    Raises
    ------
    InputError
        When no scenario is given, or one is impossible.
    TableInterrupted
        On Ctrl-C, with the rows known so far.

    Examples
    --------
    >>> table = compare("mirror2", "raidz1x3", drive_size="200GB", fill="30%", jobs=1)
    >>> table["layout"], table[0]["p50_s"] > 0
    (['mirror2', 'raidz1x3'], True)
    """
    asked = _one_by_one(layouts)
    if not asked:
        raise InputError(
            "layouts", None, "a comparison needs at least one", "name layouts such as raidz2x6 mirror2"
        )
    allowed = "it is True, or the inputs of a risk"
    check_kind("risk", risk, (bool, RiskInputs), allowed, 'write risk=zsim.RiskInputs(afr="1.5%")')
    size = _Size.asked(drives, usable, data, common)
    scenarios = [size.given_to(pool_of(each, common)) for each in asked]
    plain = _plain(asked, scenarios, common)
    cases = [resolve(scenario) for scenario in scenarios]
    known = stated_usable_bytes if size.usable is None and size.data is None else usable_bytes
    rows = [_facts(_name(each), case, known(case)) for each, case in zip(asked, cases, strict=True)]
    places = [place for place in range(len(rows)) if place not in plain]
    repaired = [cases[place] for place in places]
    without, notes = missing_of_all(repaired), (*unlike_repairs(repaired), *_of_losses(risk, cases))
    same = {name: value for name, value in scenarios[0].stated().items() if name in common}
    sizes = {"drives": size.drives, "data_bytes": size.data}
    same |= {name: value for name, value in sizes.items() if all(row.get(name) == value for row in rows)}
    columns = COLUMNS if risk is False else (*COLUMNS[:-1], *CHANCES, REASON)
    for place, why in plain.items():
        rows[place] |= {**refused_row(why), **_chances(scenarios[place], risk, None)}
    found = answers([scenarios[place].stated() for place in places], jobs)
    try:
        with watched(on_progress, "comparing") as report:
            for done, (number, row) in enumerate(found, 1):
                place = places[number]
                rows[place] |= row
                if row.get("p50_s") is not None:
                    rows[place] |= _chances(scenarios[place], risk, row)
                report(done / len(places), rows[place]["name"])
    except KeyboardInterrupt:
        known_rows = [interrupted_row(row) for row in rows]
        raise TableInterrupted(_table(columns, known_rows, same, without, notes)) from None
    return _table(columns, rows, same, without, notes)


class _Size(NamedTuple):
    """What every layout is made as large as; None where it is left as it is.

    Attributes
    ----------
    drives : int or None
    usable, data : int or None
        Usable space, and the data that are stored [bytes].
    """

    drives: int | None
    usable: int | None
    data: int | None

    @classmethod
    def asked(
        cls,
        drives: int | None,
        usable: int | str | None,
        data: int | str | None,
        common: Mapping[str, object],
    ) -> _Size:
        """Return what is asked for, checked."""
        check_number("drives", drives, "write drives=24", whole=True)
        if drives is not None and usable is not None:
            raise InputError("usable", usable, "it excludes drives", "give one of the two")
        if data is not None:
            excluded = next((name for name in ("fill", "alloc") if common.get(name) is not None), None)
            excluded = "usable" if usable is not None else excluded
            if excluded is not None:
                raise InputError("data", data, f"it excludes {excluded}", "give one of the two")
        return cls(
            drives,
            None if usable is None else parse_bytes(usable, "usable"),
            None if data is None else parse_bytes(data, "data"),
        )

    def given_to(self, scenario: Scenario) -> Scenario:
        """Return the scenario of a pool that is so large, or holds so much."""
        if self.drives is None and self.usable is None and self.data is None:
            return scenario
        one = resolve(scenario)
        layout = one.layout
        if self.drives is not None:
            layout = repeated_for_drives(one.layout, self.drives)
        elif self.usable is not None:
            layout = repeated_for_usable(one, self.usable)
        elif self.data is not None:
            needed = repeated_for_usable(one, math.ceil(self.data / USUALLY_FULL))
            layout = max(layout, needed, key=lambda each: len(each.vdevs))
        sized = scenario.replace(layout=str(layout), vdevs=None)
        if self.data is None:
            return sized
        return sized.replace(alloc=alloc_of(resolve(sized), self.data), fill=None)


def _chances(scenario: Scenario, risk: bool | RiskInputs, row: Row | None) -> Row:
    """Return the chance that a vdev is lost within a year, after repairs that take as long as a row says.

    Of a pool that is scrubbed, expanded or shrunk it is that after its own repairs; none if not asked for.
    """
    if risk is False:
        return {}
    from zsim.planning.risk.api import predicted_hours
    from zsim.planning.risk.api import risk as risk_of

    pool = scenario
    if row is None or scenario.operation in NO_REPAIR:
        pool, row = Scenario.from_dict(at_rest({**scenario.stated(), "operation": None})), None

    def hours(asked: Scenario, report: Callable[[float, str], None]) -> Quantiles:
        if row is None or asked != pool:
            return predicted_hours(asked, report)
        return Quantiles(**{name: row[f"{name}_s"] for name in ("p10", "p50", "p90")})

    inputs = risk if isinstance(risk, RiskInputs) else None
    found = risk_of(pool, inputs, hours_of=hours).per_year.vdev
    return dict(zip(CHANCES, (found.p, found.low, found.high), strict=True))


def _of_losses(risk: bool | RiskInputs, cases: Sequence[Case]) -> tuple[str, ...]:
    """Return what the chances of loss rest on, in sentences; none where there are none."""
    if risk is False:
        return ()
    from zsim.planning.risk.stated import stated_words

    inputs = risk if isinstance(risk, RiskInputs) else RiskInputs()
    words = "; ".join(stated_words(inputs))
    found = [f"Vdev lost in a year, with {words}."] if words else []
    if inputs.afr is None and inputs.mttf is None and all(case.scenario.drive is None for case in cases):
        found.append(
            "The chance of loss is a mean over annual failure rates: the drives' is not stated (--afr)."
        )
    return tuple(found)


def _plain(
    asked: Sequence[Asked], scenarios: Sequence[Scenario], common: Mapping[str, object]
) -> dict[int, str]:
    """Return what is to be said of plain disks, by their place among all that are compared.

    Raises
    ------
    InputError
        When there is nothing else.
    """
    places = [
        place
        for place, (each, scenario) in enumerate(zip(asked, scenarios, strict=True))
        if scenario.pool_layout.is_plain and said("operation", each, common) is None
    ]
    if len(places) == len(asked):
        scenario_of(asked[0], common)  # says why it is refused
    return {place: _odds_of(scenarios[place]) for place in places}


def _odds_of(scenario: Scenario) -> str:
    """Return what takes the place of a repair of plain disks, with the chance of it."""
    # The rooms of risk and timelines take half a second to load, and few compare plain disks.
    from zsim.planning.risk.api import risk
    from zsim.planning.risk.wording import between

    found = risk({name: value for name, value in scenario.stated().items() if name != "operation"})
    lost = between(found.per_year.pool)
    return f"no resilver: a drive that fails takes the pool with it; within a year {lost} (zsim risk)"


def unlike_repairs(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return what is done in each layout, where that is not the same in all."""
    ways: dict[str, list[str]] = {}
    for case in cases:
        ways.setdefault(_repair(case), []).append(str(case.layout))
    if len(ways) < 2:
        return ()
    return tuple(f"{', '.join(dict.fromkeys(names))}: {way}." for way, names in ways.items())


def _repair(case: Case) -> str:
    """Return in words what is done."""
    onto = "into a distributed spare" if case.onto_spare else "onto a replacement drive"
    return {
        "resilver": f"a resilver {onto}",
        "rebuild": f"a sequential rebuild {onto}; it does not verify checksums; the scrub that follows does",
        "expand": "an expansion",
        "remove": "a removal",
    }.get(case.operation, f"a {case.operation}")


def _one_by_one(given: Iterable[object]) -> list[Asked]:
    """Return what is compared, lists of it opened."""
    found: list[Asked] = []
    for each in given:
        if isinstance(each, (str, Path, Scenario, Layout, Mapping)):
            found.append(each)
        elif hasattr(each, "provenance"):
            found.append(scenario_of(each, {}))
        elif isinstance(each, Iterable):
            found += _one_by_one(each)
        else:
            allowed = "it is no layout, scenario file or scenario"
            raise InputError("layouts", repr(each), allowed, 'name layouts such as "raidz2x6"')
    return found


def _table(
    columns: tuple[str, ...],
    rows: Sequence[Row],
    common: Row,
    without: tuple[str, ...],
    notes: tuple[str, ...],
) -> Table:
    cells = tuple({name: row.get(name) for name in columns} for row in rows)
    return Table(columns, cells, common, without, notes)


def _facts(name: str, case: Case, usable: int | None) -> Row:
    return {
        "name": name,
        "layout": str(case.layout),
        "drives": case.layout.leaves,
        "usable_bytes": usable,
        "data_bytes": None if usable is None or case.assumed("fill") else data_bytes(case),
    }


def _name(asked: Asked) -> str:
    if isinstance(asked, Mapping):
        return str(asked.get("layout"))
    return str(asked.pool_layout) if isinstance(asked, Scenario) else str(asked)
