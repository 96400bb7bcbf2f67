"""``zsim.predict``: from a scenario to a prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from zsim.drives.catalogue import load_drive
from zsim.predict.ensemble import Member, Unknown, draw_members, quantiles, unknowns
from zsim.predict.exact import exact_time
from zsim.predict.hardware import drive_models, refuse_what_is_missing
from zsim.predict.member import MemberResult, run_member
from zsim.predict.population import BLOCKS, miniature
from zsim.predict.prediction import (
    Assumption,
    Driver,
    Prediction,
    PredictionInterrupted,
    Quantiles,
    Uncertainty,
)
from zsim.predict.summary import (
    bottleneck,
    breakdown,
    leaf_rows,
    phases,
    progress_curve,
    sampling_half_width,
    totals,
)
from zsim.predict.whatif import Bench, advice, other_order, without_bottleneck
from zsim.provenance import provenance
from zsim.scenario.catalogue import ModelKind
from zsim.scenario.model import Scenario
from zsim.scenario.resolve import ResolvedScenario, resolve

Progress = Callable[[float, str], None]
REPEATS = 3
MAX_DOUBLINGS = 5


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
    resolved = resolve(scenario, capacity_of=_capacity)
    refuse_what_is_missing(resolved)
    work = _Work(resolved, on_progress or (lambda share, what: None))
    try:
        work.run()
    except KeyboardInterrupt:
        raise PredictionInterrupted(work.partial()) from None
    return work.prediction()


def _capacity(name: str) -> int:
    return load_drive(name).capacity_bytes


class _Work:
    """The runs of one prediction, and what is known at any moment."""

    def __init__(self, resolved: ResolvedScenario, progress: Progress) -> None:
        self.resolved, self.progress = resolved, progress
        self.inputs: tuple[Unknown, ...] = unknowns(resolved)
        self.members: tuple[Member, ...] = draw_members(self.inputs, resolved.seed)
        self.times: list[float] = []
        self.repeats: list[float] = []
        self.central: MemberResult | None = None
        self.bench: Bench | None = None
        self.exact_s: float | None = None

    def run(self) -> None:
        self._run_central()
        if self.resolved.exact:
            self.exact_s = exact_time(self.resolved, self.progress)
            return
        for number, member in enumerate(self.members):
            self.progress((number + 1) / (len(self.members) + 1), "possible worlds")
            self.times.append(run_member(self.resolved, member).time_s)

    def _run_central(self) -> None:
        self.progress(0.0, "building the pool")
        blocks = BLOCKS
        for _ in range(MAX_DOUBLINGS):
            self.repeats = []
            for repeat in range(REPEATS):
                seeded = replace(self.resolved, seed=self.resolved.seed + repeat)
                pool = miniature(seeded, Member(), blocks=blocks)
                result = run_member(seeded, Member(), pool=pool)
                self.repeats.append(result.time_s)
                if repeat == 0:
                    self.central = result
                    self.bench = Bench(seeded, Member(), pool, result)
            if self.resolved.scenario.precision is None or self._precise():
                return
            blocks *= 2

    def _precise(self) -> bool:
        middle = sum(self.repeats) / len(self.repeats)
        return sampling_half_width(self.repeats) <= self.resolved.precision * middle

    def partial(self) -> Prediction | None:
        """Return the answer so far, if there is one."""
        return self.prediction() if self.central is not None and self.bench is not None else None

    def prediction(self) -> Prediction:
        assert self.central is not None
        assert self.bench is not None
        result, resolved = self.central, self.resolved
        low, middle, high = quantiles(self.times or self.repeats)
        if self.exact_s is not None:
            low = middle = high = self.exact_s
        answer = Quantiles(p10=low, p50=middle, p90=high) if self.times else Quantiles(p50=middle)
        others = () if resolved.operation == "scrub" else other_order(self.bench, middle)
        sums = totals(result)
        return Prediction(
            subject=subject(resolved),
            operation=resolved.operation,
            order=resolved.release.order,
            resilver_s=answer,
            uncertainty=self._uncertainty(answer),
            phases=phases(result),
            bottleneck=bottleneck(result, without_bottleneck(self.bench, middle)),
            leaves=leaf_rows(result),
            breakdown=_stretched(breakdown(result), middle),
            alternatives=others,
            progress=progress_curve(result, resolved, middle, sums["resilvered_bytes"]),
            advice=() if resolved.operation == "scrub" else advice(self.bench, middle, others),
            warnings=warnings(resolved),
            assumptions=tuple(Assumption(**each.to_dict()) for each in resolved.assumptions),
            provenance=provenance(resolved.scenario.stated(), resolved.seed, models_used(resolved)),
            **sums,
        )

    def _uncertainty(self, answer: Quantiles) -> Uncertainty:
        half = sampling_half_width(self.repeats) if len(self.repeats) > 1 else None
        return Uncertainty(
            sampling_half_width_s=half,
            input_s=answer if answer.has_interval else None,
            members=max(1, len(self.times)),
            drivers=self._drivers(),
        )

    def _drivers(self) -> tuple[Driver, ...]:
        """Return the unknowns by how far each moves the answer, from a linear fit over the members."""
        if len(self.times) <= len(self.inputs):
            return ()
        from zsim.predict.sensitivity import drivers

        return drivers(self.inputs, self.members, self.times)


def _stretched(parts: dict[str, float], total: float) -> dict[str, float]:
    """Return parts scaled so that they sum to `total`."""
    whole = sum(parts.values())
    return {name: seconds * total / whole for name, seconds in parts.items()} if whole > 0 else {}


def subject(resolved: ResolvedScenario) -> str:
    """Return in one line what was asked."""
    count = f"{resolved.replace} drives at once in " if resolved.replace > 1 else ""
    return (
        f"{count}{resolved.layout}, {resolved.fill:.0%} full, "
        f"{resolved.release.name} ({resolved.release.order} scan)"
    )


def models_used(resolved: ResolvedScenario) -> list[tuple[ModelKind, str]]:
    """Return the model files the answer rests on."""
    drives = dict.fromkeys((load_drive(resolved.drive).name, load_drive(resolved.new_drive).name))
    used: list[tuple[ModelKind, str]] = [("drives", name) for name in drives]
    used += [("enclosures", name) for name, _ in resolved.ports]
    return [*used, ("releases", resolved.release.series)]


def warnings(resolved: ResolvedScenario) -> tuple[str, ...]:
    """Return what a user should know before trusting the answer."""
    old, new = drive_models(resolved)
    found = []
    if "smr" in (old.recording, new.recording):
        found.append(
            "a shingled (SMR) drive takes part: once its media cache is full it writes at a few MB/s; this is not "
            "simulated, so expect the resilver to take several times as long"
        )
    if resolved.fill > 0.95:
        found.append("the pool is nearly full: gang blocks and best-fit allocation are not simulated")
    return tuple(found)
