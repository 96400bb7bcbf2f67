"""``zsim.plan_width``, ``plan_fill`` and ``plan_worth``: how far one layout may go, and what improves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from zsim.base.errors import InputError
from zsim.base.notebook import reporting
from zsim.base.provenance import provenance
from zsim.base.units import DAY, format_duration
from zsim.planning.design.answer import Design, Step
from zsim.planning.design.candidates import RAIDZ_WIDTHS, Candidate
from zsim.planning.design.facts import Context, RepairHours, Report, base_row, measured, with_chances
from zsim.planning.design.requirements import Requirement
from zsim.planning.design.search import fails_before, inputs_of_chains, meets, stated_in_words
from zsim.planning.risk.api import repairs_of_others
from zsim.planning.risk.question import RiskInputs
from zsim.planning.rows import Row
from zsim.scenario.layout import Layout, VdevSpec
from zsim.vdevs.kind import kind_of, word_of_parity

LOW_FILL, HIGH_FILL = 0.05, 0.95
SPREAD = 5
"""Widths that are tried first, from the narrowest to the widest."""


def plan_width(
    layout: str,
    require: Sequence[str],
    inputs: RiskInputs | None = None,
    on_progress: Report | None = None,
    **common: object,
) -> Design:
    """Return the widest vdev of a layout's kind that meets wishes: a few widths, then bisection.

    Parameters
    ----------
    layout : str
        Its kind and parity count, such as ``raidz2x6``.
    require, inputs, on_progress, **common
        As `zsim.plan_layouts` takes them.

    Notes
    -----
    No wish is taken to become harder with the width: the p50 of a repair does, its p90 often does not, and
    space grows.  Widths that fail without a simulation are passed over.

    Examples
    --------
    >>> known = RiskInputs(hours="24h", afr="1.5%", correlation=3)
    >>> plan_width("raidz2x6", ["vdev < 1 in 100,000"], known, drive_size="20TB").answer
    'raidz2x16'
    """
    vdev = Layout.parse(layout).vdevs[0]
    kind = kind_of(vdev.kind)
    if kind.is_replicated or kind.has_groups:
        raise InputError(
            "layout", layout, "it finds the width of a RAID-Z vdev", "write for instance raidz2x6"
        )
    context, wishes = Context(common, inputs_of_chains(inputs, common), 1), _wishes(require)
    report = reporting(on_progress)
    low, high = RAIDZ_WIDTHS[vdev.parity]
    every = {
        width: Candidate(Layout.parse(word_of_parity(vdev.parity, width)), 0)
        for width in range(low, high + 1)
    }
    possible = [
        width for width in every if not fails_before(base_row(context, every[width], None), wishes)
    ] or [*every]
    rows: dict[int, Row] = {}

    def holds(width: int) -> bool:
        report(min(0.95, len(rows) / 9), word_of_parity(vdev.parity, width))
        rows[width] = _one(context, every[width])
        return meets(rows[width], wishes)

    best = _largest_true(possible, holds)
    answer = None if best is None else word_of_parity(vdev.parity, best)
    report(1.0, answer or "none")
    return _found(context, "width", answer, list(rows.values()), wishes)


def plan_fill(
    layout: str,
    require: Sequence[str],
    inputs: RiskInputs | None = None,
    on_progress: Report | None = None,
    **common: object,
) -> Design:
    """Return the fill at which a layout stops to meet wishes, by bisection.

    Parameters
    ----------
    layout, require, inputs, on_progress, **common
        As in `plan_width`.

    Examples
    --------
    >>> plan_fill("raidz2x6", ["p90 < 30h"], RiskInputs(hours="24h")).answer
    '95 %'
    """
    context, wishes = Context(common, inputs_of_chains(inputs, common), 1), _wishes(require)
    report = reporting(on_progress)
    rows: dict[int, Row] = {}
    candidate = Candidate(Layout.parse(layout), 0)

    def holds(percent: int) -> bool:
        report(min(0.95, len(rows) / 9), f"{percent} % full")
        here = Context({**common, "fill": percent / 100}, context.inputs, 1)
        rows[percent] = {**_one(here, candidate), "fill": percent / 100}
        return meets(rows[percent], wishes)

    best = _last_true(round(100 * LOW_FILL), round(100 * HIGH_FILL), holds)
    answer = None if best is None else f"{best} %"
    report(1.0, answer or "none")
    return _found(context, "fill", answer, list(rows.values()), wishes)


def _wishes(require: Sequence[str]) -> list[Requirement]:
    if not require:
        raise InputError("--require", None, "it needs a limit", 'write for instance --require "p90 < 24h"')
    return [Requirement.parse(each) for each in require]


def _last_true(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """Return the last number for which something holds that does up to some number; None if for none."""
    if not holds(low):
        return None
    return high if holds(high) else _bisected(low, high, holds)


def _bisected(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the last number for which something holds that does at `low`, and no more at `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _largest_true(numbers: Sequence[int], holds: Callable[[int], bool]) -> int | None:
    """Return the largest of rising numbers for which something holds, if it changes but once above it.

    A few of them, evenly spread, tell where that is; then by bisection.
    """
    places = sorted({round((len(numbers) - 1) * part / (SPREAD - 1)) for part in range(SPREAD)})
    true = [place for place in places if holds(numbers[place])]
    if not true:
        return None
    low = true[-1]
    high = min((place for place in places if place > low), default=low + 1)
    return numbers[_bisected(low, high, lambda place: holds(numbers[place]))]


def _one(context: Context, candidate: Candidate) -> Row:
    row = base_row(context, candidate, None)
    hours = _measured(context, row["layout"])
    paces = _paces(context, row["layout"], hours)
    return with_chances(context, row, hours, simulated=True, paces=paces)


def _found(
    context: Context, question: str, answer: str | None, rows: list[Row], wishes: list[Requirement]
) -> Design:
    told = [{**row, "meets": meets(row, wishes)} for row in rows]
    told.sort(key=lambda row: (row["layout"].rpartition("x")[0], row["drives"], row.get("fill", 0.0)))
    return Design(
        question=question,
        answer=answer,
        requirements=tuple(str(wish) for wish in wishes),
        rows=tuple(told),
        provenance=provenance(context.common or None, context.inputs.seed),
        stated=stated_in_words(context),
    )


def plan_worth(
    layout: str, inputs: RiskInputs | None = None, on_progress: Report | None = None, **common: object
) -> Design:
    """Return what a hot spare, other scrub intervals and a faster or slower repair would buy.

    Parameters
    ----------
    layout, inputs, on_progress, **common
        As in `plan_width`.

    Examples
    --------
    >>> found = plan_worth("mirror2", RiskInputs(hours="24h"))
    >>> found.rows[1]["change"], found.rows[1]["vdev_times"] < 0.7
    ('a hot spare', True)
    """
    asked, known = inputs_of_chains(inputs, common), Layout.parse(layout)
    context, report = Context(common, asked, 1), reporting(on_progress)
    row = base_row(context, Candidate(known, 0), None)
    report(0.1, layout)
    if known.is_plain:
        steps = _with_redundancy(context, row, known, report)
    else:
        steps = _with_changes(context, row, known)
    report(1.0, layout)
    return Design(
        question="worth",
        answer=None,
        requirements=(),
        rows=tuple(step.row(steps[0]) for step in steps),
        provenance=provenance(context.common or None, asked.seed),
        stated=stated_in_words(context, layout),
    )


def _with_changes(context: Context, row: Row, layout: Layout) -> list[Step]:
    """Return the chances with other spares, scrubs and repair times."""
    hours = _measured(context, str(layout))
    paces = _paces(context, str(layout), hours)
    steps = [Step("as it is", *_chances(context, row, hours, paces))]
    for words, changes, factor in _changes(context.inputs, bool(layout.vdevs[0].spares)):
        other = Context(context.common, _changed(context.inputs, changes), 1)
        scaled = RepairHours(hours.p10 * factor, hours.p50 * factor, hours.p90 * factor)
        steps.append(Step(words, *_chances(other, row, scaled, paces)))
    return steps


def _with_redundancy(context: Context, row: Row, layout: Layout, report: Report) -> list[Step]:
    """Return the chances of single drives, and of as much space with redundancy, as full as they are."""
    steps = [Step("as it is", *_chances(context, row, None))]
    fill = context.resolved(str(layout)).fill
    fields = {**context.common, "alloc": None, "vdev_fills": None, "fill": fill}
    there = Context(fields, context.inputs, 1)
    count = len(layout.data)
    for done, (words, vdev, times) in enumerate(_redundant(count)):
        other = Layout((vdev,) * times + layout.vdevs[count:], layout.cache, layout.spares)
        report(0.1 + 0.3 * done, str(other))
        found = base_row(there, Candidate(other, 0), None)
        steps.append(Step(f"{words}: {other}", *_chances(there, found, _measured(there, str(other)))))
    return steps


def _redundant(drives: int) -> list[tuple[str, VdevSpec, int]]:
    """Return vdevs with the space of single drives and with redundancy: words, vdev and how many of them."""
    wide = [
        (f"{words} more", VdevSpec.raidz(parity, drives + parity), 1)
        for parity, words in ((1, "a drive"), (2, "two drives"))
        if drives > 1 and drives + parity <= RAIDZ_WIDTHS[parity][1]
    ]
    return [*wide, (f"a mirror for {'the' if drives == 1 else 'each'} drive", VdevSpec.mirror(2), drives)]


def _paces(context: Context, layout: str, hours: RepairHours | None) -> dict[VdevSpec, float]:
    """Return how long vdevs unlike the first one are repaired, over its repair, as a risk has it [1]."""
    if hours is None or context.are_hours_stated:
        return {}
    others = list(repairs_of_others(context.scenario(layout), context.resolved(layout)))
    found = measured(context, [scenario for _, scenario in others], lambda share, words: None)
    return {
        vdev: each.p50 / hours.p50
        for (vdev, _), each in zip(others, found, strict=True)
        if isinstance(each, RepairHours)
    }


def _measured(context: Context, layout: str) -> RepairHours:
    """Return the duration of a layout's repair.

    Raises
    ------
    InputError
        When it has none.
    """
    found = measured(context, [context.scenario(layout)], lambda share, words: None)[0]
    if isinstance(found, InputError):
        raise found
    return found


def _chances(
    context: Context, row: Row, hours: RepairHours | None, paces: Mapping[VdevSpec, float] | None = None
) -> tuple[float, float]:
    found = with_chances(context, row, hours, simulated=True, paces=paces)
    return float(found["vdev_per_year"]), float(found["files_per_year"])


def _changes(inputs: RiskInputs, has_own_spares: bool = False) -> list[tuple[str, dict[str, object], float]]:
    """Return what could be changed: words, inputs, factor on the hours of the repair."""
    found: list[tuple[str, dict[str, object], float]] = [
        ("a hot spare", {"spare": "hot", "detect": None}, 1.0),
        ("a spare on the shelf", {"spare": "shelf", "detect": None}, 1.0),
        ("spares ordered when needed", {"spare": "order", "detect": None}, 1.0),
    ]
    found += [
        (f"a scrub every {format_duration(days * DAY)}", {"scrub": days * DAY}, 1.0) for days in (7, 14, 30)
    ]
    found.append(("no scrubs for a year", {"scrub": 365 * DAY}, 1.0))
    found += [
        (f"a repair {words}", {}, factor) for words, factor in (("twice as fast", 0.5), ("half as fast", 2.0))
    ]
    # Distributed spares take over by themselves, whatever lies on the shelf.
    found = [each for each in found if not (has_own_spares and "spare" in each[1])]
    return [each for each in found if not _is_so(inputs, each[1])]


def _is_so(inputs: RiskInputs, changes: dict[str, object]) -> bool:
    return bool(changes) and all(getattr(inputs, name) == value for name, value in changes.items())


def _changed(inputs: RiskInputs, changes: dict[str, object]) -> RiskInputs:
    fields = {name: getattr(inputs, name) for name in inputs.__slots__}
    return RiskInputs(**{**fields, **changes})
