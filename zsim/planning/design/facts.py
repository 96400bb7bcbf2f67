"""Facts about a candidate: space, rates, hours, chances of loss; hours of many from a few runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.planning.design.candidates import Candidate
from zsim.planning.design.rates import rates
from zsim.planning.risk.api import as_repeated, groups, in_repair
from zsim.planning.risk.evaluate import WORLDS_SOLVED, loss_within, summed_up
from zsim.planning.risk.plain_disks import CERTAIN, without_repairs
from zsim.planning.risk.question import RiskInputs, unknowns
from zsim.planning.risk.records import rounded
from zsim.planning.risk.reliability import Spread
from zsim.planning.risk.surface import surface
from zsim.planning.rows import Row
from zsim.planning.running import answers
from zsim.planning.store.keys import key_of, sources
from zsim.planning.store.opened import open_store
from zsim.planning.usable import usable_bytes
from zsim.scenario.asked import at_rest
from zsim.scenario.layout import VdevSpec
from zsim.scenario.model import Scenario
from zsim.vdevs.kind import kind_of

Report = Callable[[float, str], None]

WORLDS_SCREENED = 32
DIGITS = 4
"""Of hours from screening: two layouts that differ by rounding alone are equals."""
POINTS = 3
"""Widths of a family that are simulated to know the others by."""


@dataclass(frozen=True, slots=True)
class RepairHours:
    """Duration of a repair [s]."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Context:
    """What all candidates share.

    Attributes
    ----------
    common : dict
        Fields of the scenario, as stated.
    inputs : RiskInputs
    jobs : int or None
        Processes; one a core by default.
    store : str, Path or None
        Where the answers of the simulator are kept, and found again.
    """

    common: dict[str, object]
    inputs: RiskInputs
    jobs: int | None = None
    store: str | Path | None = None

    @property
    def are_hours_stated(self) -> bool:
        """Whether nothing has to be simulated."""
        return self.inputs.hours is not None or self.inputs.mttr is not None

    def scenario(self, layout: str, **changes: object) -> Scenario:
        """Return the scenario of a layout; distributed spares take part where there are some."""
        fields = {**self.common, **changes, "layout": layout}
        if layout.rpartition(":")[2].endswith("s") and "target" not in fields:
            fields["target"] = "distributed-spare"
        return Scenario.from_dict(at_rest(fields))

    def resolved(self, layout: str, **changes: object) -> Case:
        """Return that scenario with nothing left open."""
        return resolve(self.scenario(layout, **changes))


def measured(
    context: Context, scenarios: Sequence[Scenario], report: Report
) -> list[RepairHours | InputError]:
    """Return the hours of scenarios as `zsim.prediction` gives them, in a process a core."""
    fixed = context.inputs.hours or context.inputs.mttr
    if fixed is not None:
        return [RepairHours(fixed, fixed, fixed)] * len(scenarios)
    stated = [each.stated() for each in scenarios]
    made_by = "" if context.store is None else sources()
    asked = {key_of(each, made_by): each for each in stated}
    with open_store(context.store) as store:
        todo = store.missing(list(asked))
        for done, (place, row) in enumerate(answers([asked[key] for key in todo], context.jobs), 1):
            key = todo[place]
            store.add(key, made_by, asked[key], row)
            report(done / len(todo), str(asked[key]["layout"]))
        rows = store.known(list(asked))
    return [_hours(rows[key_of(each, made_by)], each) for each in stated]


def _hours(row: Row, stated: Row) -> RepairHours | InputError:
    if row.get("p50_s") is None:
        return InputError("layout", stated.get("layout"), str(row.get("refused")), "")
    p50 = float(row["p50_s"])
    return RepairHours(float(row["p10_s"] or p50), p50, float(row["p90_s"] or p50))


def base_row(context: Context, candidate: Candidate, price: float | None) -> Row:
    """Return what is known of a candidate without simulating it."""
    resolved = context.resolved(str(candidate.layout))
    row: Row = {
        "layout": str(candidate.layout),
        "drives": candidate.drives,
        "spares": candidate.spares,
        "usable_bytes": usable_bytes(resolved),
        **rates(resolved),
    }
    return row if price is None else {**row, "price": price * candidate.drives}


def with_chances(
    context: Context,
    row: Row,
    hours: RepairHours | None,
    simulated: bool,
    worlds_tried: int = WORLDS_SOLVED,
    paces: Mapping[VdevSpec, float] | None = None,
) -> Row:
    """Return a row with the hours of its repair and the chances that follow, as `zsim.risk` has them.

    `hours` is None of plain disks, which nothing repairs; `paces` are those of vdevs unlike the one that
    these are of, as `zsim.planning.risk.api.groups` takes them.
    """
    resolved = context.resolved(row["layout"])
    inputs = context.inputs.with_spares(row.get("spares", 0) + resolved.layout.vdevs[0].spares)
    spread = Spread.exactly(0.0) if hours is None else Spread(hours.p50, hours.p10, hours.p90)
    known = unknowns(inputs, spread, resolved.scenario.drive)
    drawn = surface(without_repairs(known) if hours is None else known, worlds_tried, inputs.seed)
    parts = groups(resolved, inputs, paces)
    worlds = as_repeated(resolved, parts[0][1], drawn.solved.worlds)
    year = drawn.loss(loss_within(parts, worlds, 1.0, "chain", inputs.seed))
    window = None
    if hours is not None:
        window = drawn.loss(in_repair(resolved, parts[0][1], worlds, "chain", inputs.seed))
    found = {
        "files_per_year": summed_up(year.files, year.error),
        "vdev_per_year": summed_up(year.vdev, year.error),
        "pool_per_year": summed_up(year.pool, year.error),
        "vdev_in_window": CERTAIN if window is None else summed_up(window.vdev, window.error),
    }
    ends = {
        f"{name}_{end}": getattr(chance, end) for name, chance in found.items() for end in ("low", "high")
    }
    return {
        **row,
        **{f"{name}_s": None if hours is None else getattr(hours, name) for name in ("p10", "p50", "p90")},
        **{name: chance.p for name, chance in found.items()},
        **ends,
        "simulated": simulated,
    }


def family(vdev: VdevSpec) -> tuple[str, int]:
    """Return what a vdev has in common with those whose hours tell its own."""
    return vdev.kind, 0 if kind_of(vdev.kind).has_groups else vdev.parity


def features(vdev: VdevSpec) -> tuple[float, ...]:
    """Return what the logarithm of the hours is taken as linear in, within a family."""
    width = float(np.log(vdev.children))
    if kind_of(vdev.kind).has_groups:
        return 1.0, width, float(np.log(vdev.data + vdev.parity))
    return 1.0, width


def probes(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the few candidates of each family that are simulated so that the hours of all are known."""
    families: dict[tuple[str, int], list[Candidate]] = {}
    for each in candidates:
        families.setdefault(family(each.vdev), []).append(each)
    found: list[Candidate] = []
    for members in families.values():
        ordered = sorted(members, key=lambda each: features(each.vdev)[1:])
        count = min(len(ordered), POINTS + kind_of(ordered[0].vdev.kind).has_groups)
        places = np.linspace(0, len(ordered) - 1, count).round().astype(int)
        found += [ordered[place] for place in dict.fromkeys(places.tolist())]
    return found


def interpolated(candidates: Sequence[Candidate], known: dict[str, RepairHours]) -> dict[str, RepairHours]:
    """Return the hours of candidates by layout: simulated ones as they are, others from their family."""
    found = dict(known)
    for each in candidates:
        if str(each.layout) not in found:
            same = [
                one
                for one in candidates
                if str(one.layout) in known and family(one.vdev) == family(each.vdev)
            ]
            if same:
                found[str(each.layout)] = _fitted(each, same, known)
    return found


def _fitted(wanted: Candidate, same: Sequence[Candidate], known: dict[str, RepairHours]) -> RepairHours:
    design = np.array([features(each.vdev) for each in same])
    here = np.array(features(wanted.vdev))

    def value(name: str) -> float:
        logs = np.log([getattr(known[str(each.layout)], name) for each in same])
        return rounded(float(np.exp(here @ np.linalg.lstsq(design, logs, rcond=None)[0])), DIGITS)

    low, middle, high = sorted(value(name) for name in ("p10", "p50", "p90"))
    return RepairHours(low, middle, high)
