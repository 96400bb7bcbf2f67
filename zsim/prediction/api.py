"""``zsim.prediction``: from a scenario to a prediction."""

from __future__ import annotations

from zsim.base.model_data import ModelKind
from zsim.base.provenance import provenance
from zsim.base.units import format_fraction
from zsim.drives.catalogue import load_drive
from zsim.pool.known import informed
from zsim.pool.recipes.histories import DEFAULT_HISTORY
from zsim.prediction.answer.prediction import (
    Assumption,
    Driver,
    Prediction,
    PredictionInterrupted,
    Quantiles,
    Uncertainty,
)
from zsim.prediction.answer.summary import (
    bottleneck,
    breakdown,
    leaf_rows,
    limiting,
    phases,
    progress_curve,
    totals,
)
from zsim.prediction.inputs.hardware import HOST, drive_models, refuse_what_is_missing, shares_host, spares
from zsim.prediction.inputs.worlds import USES
from zsim.prediction.runs.what_if import advice, other_order, without_each
from zsim.prediction.work import Progress, Work
from zsim.scenario.files import FILE_FIELDS
from zsim.scenario.model import Scenario
from zsim.scenario.releases.no_effect import without_effect
from zsim.scenario.resolve import ResolvedScenario, resolve


def predict(scenario: Scenario, on_progress: Progress | None = None) -> Prediction:
    """Predict how long a resilver (or scrub) takes, why, and how sure that is.

    Parameters
    ----------
    scenario : Scenario
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done.

    Returns
    -------
    Prediction

    Raises
    ------
    InputError
        When the scenario asks for something impossible, or not simulated yet.
    PredictionInterrupted
        On Ctrl-C, with what is known so far.
    """
    resolved = resolved_of(scenario)
    work = Work(resolved, on_progress or (lambda share, what: None))
    try:
        work.run()
    except KeyboardInterrupt:
        raise PredictionInterrupted(_prediction(work) if work.partial() else None) from None
    return _prediction(work)


def resolved_of(scenario: Scenario) -> ResolvedScenario:
    """Return a scenario with everything filled in that it does not state.

    Raises
    ------
    InputError
        When it asks for something impossible, or not simulated yet.
    """
    resolved = informed(resolve(scenario, capacity_of=_capacity))
    refuse_what_is_missing(resolved)
    return resolved


def _capacity(name: str) -> int:
    return load_drive(name).capacity_bytes


def _prediction(work: Work) -> Prediction:
    """Return the answer from what has been run."""
    assert work.bench is not None
    bench, resolved = work.bench, work.resolved
    result = bench.shown
    low, middle, high = work.quantiles
    answer = Quantiles(p10=low, p50=middle, p90=high) if work.times else Quantiles(p50=middle)
    others = () if resolved.operation == "scrub" else other_order(bench, middle)
    sums, without = totals(result), without_each(bench, middle)
    limit = limiting(result, without, middle)
    return Prediction(
        subject=subject(resolved),
        operation=resolved.operation,
        order="sequential" if resolved.operation == "rebuild" else resolved.release.order,
        resilver_s=answer,
        uncertainty=Uncertainty(
            sampling_half_width_s=work.half_width * middle,
            input_s=answer if answer.has_interval else None,
            members=max(1, len(work.times)),
            drivers=_drivers(work),
        ),
        phases=phases(result, middle, work.scrub_share, bench.result),
        clients=work.clients,
        bottleneck=bottleneck(result, without, limit),
        leaves=leaf_rows(result),
        breakdown=_stretched(breakdown(result, limit), middle),
        alternatives=others,
        progress=progress_curve(result, resolved, middle, sums["resilvered_bytes"]),
        advice=() if resolved.operation == "scrub" else advice(bench, middle, others, without),
        warnings=(*warnings(resolved), *_short_of_precision(work), *sorted(work.notes)),
        assumptions=tuple(Assumption(**each.to_dict()) for each in resolved.assumptions),
        provenance=provenance(
            resolved.scenario.stated(), resolved.seed, models_used(resolved), files_used(resolved)
        ),
        **sums,
    )


def _short_of_precision(work: Work) -> tuple[str, ...]:
    """Say so where the answer is less precise than asked for."""
    asked = work.resolved.scenario.precision
    if asked is None or work.half_width <= float(asked):
        return ()
    return (
        f"the precision asked for is {format_fraction(float(asked))}, reached is "
        f"{format_fraction(work.half_width)} with {max(1, len(work.times))} possible worlds: what is stated "
        "need not be varied, and --exact simulates one world to the end",
    )


def _drivers(work: Work) -> tuple[Driver, ...]:
    """Return the unknowns by how far each moves the answer, from a linear fit over the members."""
    if len(work.times) <= len(work.inputs):
        return ()
    from zsim.prediction.statistics.sensitivity import drivers

    return drivers(work.inputs, work.members[: len(work.times)], work.times)


def _stretched(parts: dict[str, float], total: float) -> dict[str, float]:
    """Return parts scaled so that they sum to `total`."""
    whole = sum(parts.values())
    return {name: seconds * total / whole for name, seconds in parts.items()} if whole > 0 else {}


def subject(resolved: ResolvedScenario) -> str:
    """Return in one line what was asked."""
    how = f"{resolved.release.order} scan"
    if spares(resolved):
        how = (
            f"into a distributed spare, {how}"
            if resolved.operation != "rebuild"
            else "into a distributed spare"
        )
    elif resolved.operation == "rebuild":
        how = "onto a new drive"
    count = f"{resolved.replace} drives at once in " if resolved.replace > 1 else ""
    if resolved.second_at is not None:
        how += f", another drive replaced at {resolved.second_at:.0%}"
    return f"{count}{resolved.layout}, {resolved.fill:.0%} full, {resolved.release.name} ({how})"


def models_used(resolved: ResolvedScenario) -> list[tuple[ModelKind, str]]:
    """Return the model files the answer rests on."""
    names = (resolved.drive, resolved.new_drive)
    drives = dict.fromkeys(name if name.endswith(".toml") else load_drive(name).name for name in names)
    used: list[tuple[ModelKind, str]] = [("drives", name) for name in drives]
    used += [("enclosures", name) for name, _ in resolved.ports]
    # Of unstated use, the pool may be any of these; and drives that share a host are behind this link.
    histories = USES if resolved.assumed("history") else (resolved.history or DEFAULT_HISTORY,)
    used += [("histories", name) for name in histories]
    if shares_host(resolved):
        used.append(("enclosures", HOST))
    return [*dict.fromkeys(used), ("releases", resolved.release.series)]


def files_used(resolved: ResolvedScenario) -> dict[str, str]:
    """Return the files about the pool that the answer rests on, by field of the scenario."""
    named = {name: getattr(resolved.scenario, name) for name in FILE_FIELDS}
    return {name: path for name, path in named.items() if path is not None}


def warnings(resolved: ResolvedScenario) -> tuple[str, ...]:
    """Return what a user should know before trusting the answer."""
    old, new = drive_models(resolved)
    found = []
    if "smr" in (old.recording, new.recording):
        found.append(
            "a shingled (SMR) drive takes part: once its persistent cache is full it rewrites whole bands, "
            "in a way that its vendor does not publish; the interval is wide, and rests on seven reports of "
            "such resilvers"
        )
    if resolved.write_cache and any(load.kind == "sync-write" for load in resolved.load):
        found.append(
            "the drives' write caches answer synchronous writes at once here: the flush that follows "
            "each on a real pool is not simulated; for what clients wait with it, state no write cache"
        )
    if resolved.fill > 0.95:
        found.append("the pool is nearly full: gang blocks and best-fit allocation are not simulated")
    return (*found, *without_effect(resolved.release, resolved.scenario.tunables or ()))
