"""``zsim.prediction``: from a scenario to a prediction."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, Unpack, cast, get_args

from pydantic import JsonValue

from zsim.base.constants import constant, whole_constant
from zsim.base.errors import InputError
from zsim.base.machine.stopping import Stopped, stopped_by
from zsim.base.model_data import DEFAULT_DRIVE, ModelKind
from zsim.base.notebook import reporting, watched
from zsim.base.provenance import provenance
from zsim.base.units import format_bytes, format_duration, format_fraction, format_percent
from zsim.case.case import Case
from zsim.case.loads import beyond
from zsim.case.refusals import refuse_what_is_missing
from zsim.case.resolve import resolved
from zsim.case.worlds import USES
from zsim.engine.compiled.warm import begin_compiling
from zsim.prediction.answer.prediction import Held, Prediction, PredictionInterrupted
from zsim.prediction.answer.records import (
    BEYOND,
    Advice,
    Alternative,
    Driver,
    EvidenceUsed,
    Quantiles,
    SickDrive,
    Uncertainty,
)
from zsim.prediction.inputs.processor import shares_host
from zsim.prediction.missing import missing, missing_ports, record_span
from zsim.prediction.notes import of_slices
from zsim.prediction.other_ways import alternatives, scrub_share
from zsim.prediction.paired import PairedMedians, paired_medians, with_write_cache_s, without_links_s
from zsim.prediction.runs.advice import WORTH_SAYING, WRITE_CACHE_ON, advice, most_saved_first
from zsim.prediction.runs.knobs import knob_advice
from zsim.prediction.runs.sick_drives import sick_advice, sick_drives
from zsim.prediction.runs.what_if import (
    Baseline,
    other_records,
    unloaded,
    without_each,
)
from zsim.prediction.simulated import simulated, stated
from zsim.prediction.summary import (
    IDLE,
    bottleneck,
    breakdown,
    breakdown_of,
    leaf_rows,
    limiting,
    mapping_bytes,
    phases,
    progress_curve,
    totals,
)
from zsim.prediction.work import Progress, Work
from zsim.scenario.asked import Asked, scenario_of
from zsim.scenario.files import FILE_FIELDS
from zsim.scenario.releases.profile import COPIES
from zsim.scenario.words import NO_REPAIR

if TYPE_CHECKING:
    from zsim.scenario.keyword_types import AnyFields
    from zsim.scenario.model import Scenario

Portion = Literal["all", "first screen", "row"]
"""What of an answer is asked for: all of it; without other scan orders, advice and what clients wait, which
are further runs; or the quantiles, the bottleneck and the sums alone, as one row of a table has them."""

MOST_HELD = whole_constant("work.most_held")
"""Predictions whose runs are kept, of some 10 MB each."""
_HELD: deque[Held] = deque()
PATIENCE_S = constant("answer.patience_s")
"""Of who has pressed Ctrl-C: as long, an answer may be made of what has been run."""


def predict(
    scenario: Asked | None = None,
    on_progress: Progress | None = None,
    *,
    portion: Portion = "all",
    **fields: Unpack[AnyFields],
) -> Prediction:
    """Predict how long a resilver (or scrub) takes, why, and how certain that is.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path, optional
        A scenario, its fields as a mapping, a layout (``"raidz2x6"``), a scenario file (its name ends in
        ``.toml``), or an earlier prediction or its file (``.json``), whose scenario is used.
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done; in a notebook a bar by default.
    portion : {"all", "first screen", "row"}
        How much of the answer is computed.  ``"first screen"`` leaves out the other scan order, advice and
        client latencies; ``"row"`` computes only quantiles, bottleneck and totals.  Both are faster, under
        a load by more than half; what they contain is the same.
    **fields
        Fields of the scenario, which replace those of `scenario`: ``layout="raidz2x6", fill="62%"``.

    Returns
    -------
    Prediction

    Raises
    ------
    InputError
        When the scenario asks for something impossible, or not simulated yet, or `portion` is none of these.
    PredictionInterrupted
        On Ctrl-C, with what is known so far.

    Examples
    --------
    >>> found = predict("mirror2", drive_size="200GB", fill="30%", portion="row")
    >>> found.resilver_s.p10 < found.resilver_s.p50 < found.resilver_s.p90
    True
    >>> found.operation, found.order
    ('resilver', 'sorted')
    """
    if not isinstance(portion, str) or portion not in get_args(Portion):
        allowed = ", ".join(f'"{each}"' for each in get_args(Portion))
        raise InputError("portion", portion, f"known are {allowed}", "leave it out for all of the answer")
    case = case_of(scenario_of(scenario, fields))
    with watched(on_progress, "predicting") as report:
        return predict_case(case, report, portion)


def case_of(scenario: Scenario) -> Case:
    """Return the case of a scenario that can be simulated.

    Raises
    ------
    InputError
        When it asks for something impossible, or not simulated yet.
    """
    case = resolved(scenario)
    refuse_what_is_missing(case)
    return case


def predict_case(
    case: Case, on_progress: Progress | None = None, portion: Portion = "all", *, other_ways: bool = True
) -> Prediction:
    """Predict a case of `case_of`, as much of it as is asked for; see `predict`.

    `other_ways`: whether it is asked how long the other scan order, and the other way to repair, take.
    """
    begin_compiling()
    work = Work(case, reporting(on_progress), with_clients=portion == "all")
    try:
        work.run()
        paired = PairedMedians() if portion == "row" else paired_medians(case)
        found = _prediction(work, portion, paired, other_ways=other_ways)
    except KeyboardInterrupt:
        raise PredictionInterrupted(_known_so_far(work)) from None
    work.progress(1.0, "the answer")
    return found


def _known_so_far(work: Work) -> Prediction | None:
    """Return the answer of what has been run, without what needs many more runs; None if that takes long."""
    late = time.monotonic() + PATIENCE_S
    try:
        with stopped_by(lambda: time.monotonic() > late):
            return held(_prediction(work, "row"), work) if work.partial() else None
    except Stopped:
        return None


def _prediction(
    work: Work, portion: Portion, paired: PairedMedians | None = None, *, other_ways: bool = True
) -> Prediction:
    """Return the answer from what has been run."""
    assert work.baseline is not None
    low, middle, high = work.quantiles
    baseline, case = work.baseline.scaled_to(middle), work.case
    result, sums = baseline.shown, totals(baseline.shown)
    moved = sums["read_bytes"] + sums["written_bytes"]
    sound_s = work.sound_quantiles[1]
    paired = paired or PairedMedians()
    sick = sick_drives(baseline, sound_s, middle, work.lost(sound_s), paired.sound_s)
    lost_s, simulated_errors = math.fsum(each.lost_s for each in sick), work.lost_exactly is not None
    answer = Quantiles(p10=low, p50=middle, p90=high) if work.has_interval else Quantiles(p50=middle)
    # What a sorted scan saves is advice; what takes longer is for those who ask.
    asked = portion == "all" and (other_ways or case.release.order == "legacy")
    orders = alternatives(work) if asked else ()
    without = _without(case, baseline, lost_s, portion)
    limit = limiting(result, without, middle)
    apart = any(each.sets_pace for each in sick)
    held_up = bottleneck(result, without, limit, apart=apart, waits_for=of_slices(case, result.model))
    notes, evidence = _of_evidence(work)
    found = Prediction(
        subject=subject(case),
        operation=case.operation,
        order="sequential" if case.operation in COPIES else case.release.order,
        resilver_s=answer,
        uncertainty=_uncertainty(work, answer, () if portion == "row" else _of_records(work)),
        missing=(*missing(case, work.inputs), *missing_ports(case, moved / middle)),
        mapping_bytes=mapping_bytes(result),
        stated=stated(case.scenario),
        unloaded_s=None if portion == "row" else paired.unloaded_s or unloaded(baseline),
        phases=phases(result, middle, scrub_share(work), baseline.result, held_up.resource),
        sick=sick,
        clients=work.clients,
        bottleneck=held_up,
        leaves=leaf_rows(result),
        leaves_of_s=result.time_s + (0.0 if simulated_errors else lost_s),
        breakdown=_with_errors(breakdown(result, limit, apart=apart), middle, lost_s, idle=simulated_errors),
        breakdown_of=breakdown_of(result, limit, apart=apart),
        alternatives=orders,
        progress=progress_curve(result, case, middle, sums["resilvered_bytes"]),
        advice=_advice(work, baseline, orders, without, sick) if portion == "all" else (),
        advised=portion == "all",
        warnings=(*_warnings(work, sick), *notes),
        evidence=evidence,
        assumptions=simulated(case, baseline.case, () if case.exact else work.inputs),
        provenance=provenance_of(case),
        **sums,
    )
    baseline.forget()  # of a prediction that may be kept
    return found if portion == "row" else held(found, work)


def _without(case: Case, baseline: Baseline, lost_s: float, portion: Portion) -> dict[str, float]:
    """Return the answer if one kind of resource took no time, by its kind [s]; bad sectors cost `lost_s`."""
    middle_s = baseline.answer_s
    found = _longer(without_each(baseline.scaled_to(middle_s - lost_s)), lost_s)
    if portion != "row" and found.get("link", middle_s) < (1.0 - WORTH_SAYING) * middle_s:
        found["link"] = without_links_s(case) or found["link"]
    return found


def _warnings(work: Work, sick: tuple[SickDrive, ...]) -> tuple[str, ...]:
    """Return what is to be warned of, but for evidence."""
    begun_again = _begun_again(work.case, sick)
    return (*warnings(work.case), *begun_again, *_short_of_precision(work), *sorted(work.notes))


def _uncertainty(work: Work, answer: Quantiles, records: Iterable[Driver]) -> Uncertainty:
    """Return how sure an answer is, and what would narrow it; `records` is what record sizes do."""
    return Uncertainty(
        sampling_half_width_s=work.half_width * answer.p50,
        input_s=answer if answer.has_interval else None,
        members=work.worlds,
        effective_members=work.effective,
        drivers=by_span((*work.drivers(), *records)),
    )


def _advice(
    work: Work,
    baseline: Baseline,
    orders: tuple[Alternative, ...],
    without: dict[str, float],
    sick: tuple[SickDrive, ...],
) -> tuple[Advice, ...]:
    """Return what to change first; none of scrubs, expansions and removals."""
    case, middle_s = work.case, baseline.answer_s
    if case.operation in NO_REPAIR:
        return ()
    found = advice(baseline, orders, without)
    return most_saved_first(
        *(paired for each in found for paired in _paired(each, case, middle_s)),
        *sick_advice(sick, middle_s),
        *knob_advice(case, middle_s, work.clients),
    )


def _paired(found: Advice, case: Case, middle_s: float) -> Iterator[Advice]:
    """Yield advice with what it saves over all worlds, if a scenario can state it; none that saves little."""
    time_s = with_write_cache_s(case) if found.action == WRITE_CACHE_ON else None
    if time_s is not None:
        found = found.model_copy(update={"saves_s": middle_s - time_s})
    if found.saves_s is None or found.saves_s > WORTH_SAYING * middle_s:
        yield found


def held(prediction: Prediction, work: Work) -> Prediction:
    """Return a prediction that keeps its runs, for `Prediction.given`; the last few do."""
    prediction._held = Held(work)
    _HELD.append(prediction._held)
    while len(_HELD) > MOST_HELD:
        _HELD.popleft().runs = None
    return prediction


def _given(prediction: Prediction, work: object, evidence: object) -> Prediction:
    """Return a prediction with more evidence; see `Prediction.given`."""
    from zsim.prediction.reweighed import reweighed, with_evidence

    scenario = with_evidence(prediction, evidence)
    # What is known to a precision was run for the worlds as they were weighed then.
    alone = isinstance(work, Work) and (work.case.exact or scenario.precision is not None)
    if not isinstance(work, Work) or alone or work.baseline is None:
        return predict(scenario)
    again = work.given(scenario)
    return held(reweighed(prediction, again, provenance_of(again.case)), again)


Held.given = _given


def provenance_of(case: Case) -> dict[str, JsonValue]:
    """Return the provenance of an answer."""
    found = provenance(case.scenario.stated(), case.seed, models_used(case), files_used(case))
    return cast("dict[str, JsonValue]", found)  # all of it came from JSON or goes there


def _of_records(work: Work) -> tuple[Driver, ...]:
    """Return what records of another size than the stated use has would do; they are not sampled."""
    baseline = work.baseline
    assert baseline is not None
    sound_s = work.sound_quantiles[1]
    others = {
        size: work.with_errors(each) for size, each in other_records(baseline.scaled_to(sound_s)).items()
    }
    if not others:
        return ()
    told = ", ".join(f"{format_bytes(size)} {format_duration(time_s)}" for size, time_s in others.items())
    own = f"assumed: {record_span(baseline.case, baseline.case.history)}, as in {baseline.case.history.name}"
    words = f"state it (--recordsize): {own}; with {told}"
    times = [work.quantiles[1], *others.values()]
    return (Driver(field="recordsize", low_s=min(times), high_s=max(times), sampled=False, words=words),)


def _of_evidence(work: Work) -> tuple[tuple[str, ...], tuple[EvidenceUsed, ...]]:
    """Return what is to be said of the evidence, and what became of every observation."""
    if not work.case.scenario.evidence:
        return (), ()
    from zsim.prediction.evidence import wording

    return wording.notes(work.case), wording.records(work.evidence)


def by_span(drivers: Iterable[Driver]) -> tuple[Driver, ...]:
    """Return drivers, the strongest first."""
    return tuple(sorted(drivers, key=lambda driver: driver.low_s - driver.high_s))


def _short_of_precision(work: Work) -> tuple[str, ...]:
    """Say so where the answer is less precise than asked for."""
    asked = work.case.scenario.precision
    if asked is None or work.half_width <= float(asked):
        return ()
    return (
        f"the requested precision is {format_fraction(float(asked))}, the one reached is "
        f"{format_fraction(work.half_width)} with {work.worlds} simulated pools: what you state need not be"
        " varied, and --exact simulates one pool to the end",
    )


def _longer(times: dict[str, float], lost_s: float) -> dict[str, float]:
    """Return durations with the time that reads of bad sectors take, which no faster part shortens [s]."""
    return {kind: time_s + lost_s for kind, time_s in times.items()}


def _with_errors(parts: dict[str, float], total: float, lost_s: float, *, idle: bool) -> dict[str, float]:
    """Return parts that sum to `total`, with the time that reads of bad sectors take.

    `idle`: whether they were part of the run, in which the drives that are divided stood idle meanwhile.
    """
    if idle and IDLE in parts:
        parts = parts | {IDLE: max(0.0, parts[IDLE] - lost_s)}
    stretched = _stretched(parts, total - lost_s)
    return stretched | {"reads that fail": lost_s} if lost_s > 0.0 else stretched


def _stretched(parts: dict[str, float], total: float) -> dict[str, float]:
    """Return parts scaled so that they sum to `total`."""
    # Python 3.12 adds floats otherwise than 3.11 does: its `sum` keeps what is lost.
    whole = math.fsum(parts.values())
    return {name: seconds * total / whole for name, seconds in parts.items()} if whole > 0 else {}


def _begun_again(case: Case, sick: tuple[SickDrive, ...]) -> tuple[str, ...]:
    """Say so where blocks that cannot be read make the resilver begin anew (dsl_scan.c dsl_scan_done)."""
    ends = case.operation != "resilver" or case.release.openzfs_version >= (2, 0)
    if ends or not any(each.unreadable for each in sick):
        return ()
    return (
        f"{case.release.name} restarts a resilver that has met an unreadable block, until the damaged files"
        " and the snapshots that hold them are deleted: the time given is that of one pass",
    )


def _full(fill: float) -> str:
    """Return how full a pool is in whole per cent; nearly empty ones are told apart."""
    return format_percent(fill) if fill >= 0.01 else format_fraction(fill)


def subject(case: Case) -> str:
    """Return in one line what was asked."""
    how = f"{case.release.order} scan"
    if case.onto_spare:
        how = (
            f"into a distributed spare, {how}" if case.operation != "rebuild" else "into a distributed spare"
        )
    elif case.operation == "rebuild":
        how = "onto a replacement drive"
    elif case.operation == "expand":
        how = "one drive added"
    elif case.operation == "remove":
        how = f"{case.layout.vdevs[0]} removed"
    count = f"{case.replace} drives at once in " if case.replace > 1 else ""
    if case.second_at is not None:
        how += f", another drive replaced at {format_percent(case.second_at)}"
    return f"{count}{case.layout}, {_full(case.fill)} full, {case.release.name} ({how})"


def models_used(case: Case) -> list[tuple[ModelKind, str]]:
    """Return the model files the answer rests on."""
    stated = case.scenario
    named = (
        (stated.drive or DEFAULT_DRIVE, case.drive),
        (stated.new_drive or stated.drive or "", case.new_drive),
    )
    drives = dict.fromkeys(name if name.endswith(".toml") else model.name for name, model in named)
    used: list[tuple[ModelKind, str]] = [("drives", name) for name in drives]
    used += [("enclosures", attached.name) for attached in case.ports]
    # Of unstated use, the pool may be any of these; and drives that share a host are behind this link.
    histories = USES if case.assumed("history") else (stated.history or case.history.name,)
    used += [("histories", name) for name in histories]
    if case.host is not None and shares_host(case):
        used.append(("enclosures", case.host.name))
    if case.product is not None:
        used.append(("products", case.product.family))
    own = (stated.release or "").strip()
    return [*dict.fromkeys(used), ("releases", own if own.endswith(".toml") else case.release.series)]


def files_used(case: Case) -> dict[str, str]:
    """Return the files about the pool that the answer rests on, by field of the scenario."""
    named = {name: getattr(case.scenario, name) for name in FILE_FIELDS}
    return {name: path for name, path in named.items() if path is not None}


SLOWEST_COPY = constant("answer.slowest_copy")
"""Of published RAID-Z expansions, against the median pool simulated [1]."""
RUNS_DECIDE = (
    "the pace of an expansion depends on the length of the allocated runs, which no command prints:"
    f" published ones took 1 to {SLOWEST_COPY:g} times as long as the median simulated pool"
)


def warnings(case: Case) -> tuple[str, ...]:
    """Return what a user should know before trusting the answer."""
    found = []
    if "smr" in (case.drive.recording, case.new_drive.recording):
        found.append(
            "one of the drives is shingled (SMR): once its persistent cache is full it rewrites whole bands, "
            "in a way that its vendor does not publish; the interval is wide, and rests on seven reports of "
            "such resilvers"
        )
    if case.write_cache and any(load.kind == "sync-write" for load in case.load):
        found.append(
            "the simulated write caches acknowledge synchronous writes at once: the flush that follows each"
            " on a real pool is not simulated; for the client latency with it, state --no-write-cache"
        )
    found += [
        f"the stated {load} asks for {times:.2g} {BEYOND} when nothing else runs: it gets less, and waits"
        for load, times in beyond(case)
    ]
    if case.operation == "expand" and case.scenario.block_list is None:
        found.append(RUNS_DECIDE)
    if case.fill > 0.95:
        found.append("the pool is nearly full: gang blocks and best-fit allocation are not simulated")
    return (*found, *case.without_effect)
