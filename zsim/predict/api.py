"""``zsim.predict``: from a scenario to a prediction."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from zsim.drives.catalogue import load_drive
from zsim.engine.warm import begin_compiling
from zsim.pool.histories import DEFAULT_HISTORY
from zsim.pool.known import informed
from zsim.predict.clients import latencies
from zsim.predict.ensemble import Member, Unknown, draw_members, quantiles, unknowns
from zsim.predict.hardware import HOST, drive_models, refuse_what_is_missing, shares_host, spares
from zsim.predict.member import MemberResult, run_member, setup_of, world_of
from zsim.predict.middle import MiddleWorld, middle_world
from zsim.predict.population import Miniature, miniature
from zsim.predict.prediction import (
    Assumption,
    Clients,
    Driver,
    Prediction,
    PredictionInterrupted,
    Quantiles,
    Uncertainty,
)
from zsim.predict.sizes import factors_by_kind, kind_of
from zsim.predict.summary import (
    bottleneck,
    breakdown,
    leaf_rows,
    limiting,
    phases,
    progress_curve,
    sampling_half_width,
    totals,
)
from zsim.predict.together import together
from zsim.predict.whatif import Bench, advice, other_order, verifying_scrub, without_each
from zsim.predict.worlds import USES
from zsim.provenance import provenance
from zsim.scenario.catalogue import ModelKind
from zsim.scenario.files import FILE_FIELDS
from zsim.scenario.model import Scenario
from zsim.scenario.resolve import ResolvedScenario, resolve
from zsim.units import format_duration

if TYPE_CHECKING:
    from zsim.predict.exact import ExactRun

Progress = Callable[[float, str], None]
MEMBER_BLOCKS, KIND_BLOCKS, MIDDLE_BLOCKS, MOST_BLOCKS = 5_000, 24_000, 48_000, 400_000
REPEATS = 3
WORTH_EXTRAPOLATING, MOST_STEP = 2.0, 0.3
NEAR_MIDDLE = 4
SHARE_OF_MIDDLE = 6
"""How much of the work the middle world is, in members."""


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
    work = _Work(resolved, on_progress or (lambda share, what: None))
    try:
        work.run()
    except KeyboardInterrupt:
        raise PredictionInterrupted(work.partial()) from None
    return work.prediction()


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


class _Work:
    """The runs of one prediction, and what is known at any moment.

    First the members, on small miniatures, and one of each kind on a larger one (`zsim.predict.sizes`); then
    the world nearest to their median, sampled, for everything that is said of it.  Of the members only the
    ratio to that one counts: what a miniature's size does to them it does to that one too.
    """

    def __init__(self, resolved: ResolvedScenario, progress: Progress) -> None:
        self.resolved, self.progress = resolved, progress
        self.inputs: tuple[Unknown, ...] = unknowns(resolved)
        self.members: tuple[Member, ...] = draw_members(self.inputs, resolved.seed)
        self.raw: list[float] = []
        self.of_kind: list[float] = []
        self.notes: set[str] = set()
        self.repeats: list[float] = []
        self.correction = 1.0
        self.bench: Bench | None = None
        self.unsettled = 0.0
        self.middle: MiddleWorld | None = None
        self.clients: tuple[Clients, ...] = ()
        self.scrub_share: float | None = None
        self.large_pool: Miniature | None = None
        self.exact: MemberResult | None = None
        self.exact_run: ExactRun | None = None

    @property
    def times(self) -> list[float]:
        """Durations of the members at the size of the real pool [s]."""
        return [time * self.correction for time in self.sized]

    @property
    def sized(self) -> list[float]:
        """Durations of the members, each with the factor of its kind [s]."""
        if len(self.of_kind) < len(self.raw):
            return self.raw
        return [time * factor for time, factor in zip(self.raw, self.of_kind, strict=True)]

    def run(self) -> None:
        """Run everything."""
        begin_compiling()
        if not self.resolved.exact:
            self._run_members()
        self._run_middle()
        if self.resolved.exact:
            self._run_exactly()

    def _run_exactly(self) -> None:
        """Simulate every I/O; what is said of the answer is said of this run."""
        from zsim.predict.exact import ExactRun

        self.exact_run = ExactRun(self.resolved, self.progress)
        self.exact = self.exact_run.execute()
        assert self.bench is not None
        self.bench = replace(self.bench, detail=self.exact)

    def _run_members(self) -> None:
        for time in together(self._time_of, self.members):
            self.raw.append(time)
            self.progress(len(self.raw) / (len(self.members) + SHARE_OF_MIDDLE), "possible worlds")
        self.of_kind = factors_by_kind(
            self.members, self.raw, lambda member: self._duration(member, KIND_BLOCKS)
        )

    def _time_of(self, member: Member) -> float:
        return self._duration(member, MEMBER_BLOCKS)

    def _duration(self, member: Member, blocks: int) -> float:
        pool = miniature(world_of(self.resolved, member), member, blocks=blocks)
        return run_member(self.resolved, member, pool=pool).time_s

    def _middle(self) -> Member:
        """Return the member whose duration is nearest to the median."""
        return self.members[self._middle_place()] if self.raw else Member()

    def _middle_place(self) -> int:
        sized = self.sized
        off = np.abs(np.log(sized) - math.log(quantiles(sized)[1]))
        near = np.argsort(off, kind="stable")[: NEAR_MIDDLE if self._is_shingled() else 1]
        kinds = Counter(kind_of(member) for member in self.members)
        return max((int(place) for place in near), key=lambda place: kinds[kind_of(self.members[place])])

    def _is_shingled(self) -> bool:
        """Tell whether bands are rewritten, which no windows can tell of.

        The middle one is then run on a larger miniature only, and what that makes of it is laid on all: it is
        of the commonest kind nearby, because for volumes of small blocks the size may make a factor of six.
        """
        return self.resolved.operation != "scrub" and drive_models(self.resolved)[1].recording == "smr"

    def _run_middle(self) -> None:
        """Simulate the middle world: sampled where it can be, else on a large miniature."""
        self.progress(self._share_of(0.0), "the middle one in detail")
        member = self._middle()
        seeded = world_of(self.resolved, member)
        pool = miniature(seeded, member, blocks=MEMBER_BLOCKS)
        self.bench = Bench(seeded, member, pool, run_member(seeded, member, pool=pool))
        self.middle = middle_world(self.resolved, member, self._report_middle)
        if self.middle is None:
            self._run_miniatures(member)
        else:
            self.notes = {self.middle.pool.note} - {""}
            self.large_pool = self.middle.pool
            self.middle.execute()
            self._take_middle()
        self._watch_clients(self.bench)
        self.scrub_share = verifying_scrub(self.bench)

    def _share_of(self, middle: float) -> float:
        return (len(self.members) + SHARE_OF_MIDDLE * middle) / (len(self.members) + SHARE_OF_MIDDLE)

    def _report_middle(self, now: float, share: float) -> None:
        self.progress(self._share_of(share), "the middle one in detail")

    def _take_middle(self) -> None:
        """Take the sampled answer for the middle world's."""
        assert self.middle is not None
        assert self.bench is not None
        self.correction = self.middle.time_s / self.bench.result.time_s
        self._relative_to_kind()
        self.repeats = [self.middle.time_s]
        self.bench = replace(self.bench, detail=self.middle.result(), large_pool=self.large_pool)

    def _run_miniatures(self, member: Member) -> None:
        """Simulate the middle world on a large miniature, and on small ones for the sampling error."""
        assert self.bench is not None
        small, blocks = [self.bench.result.time_s], MIDDLE_BLOCKS
        for repeat in range(1, REPEATS):
            seeded = world_of(replace(self.resolved, seed=self.resolved.seed + repeat), member)
            small.append(
                run_member(seeded, member, pool=miniature(seeded, member, blocks=MEMBER_BLOCKS)).time_s
            )
        large = self._large(member, blocks)
        self.correction, self.unsettled = settled(self.bench, large, math.exp(float(np.mean(np.log(small)))))
        self.repeats = [time * self.correction for time in small]
        self._relative_to_kind()
        assert self.bench is not None
        self.bench = replace(self.bench, detail=large, large_pool=self.large_pool)
        while self.resolved.scenario.precision is not None and not self._precise() and blocks < MOST_BLOCKS:
            blocks *= 2
            self.repeats = [self._large(member, blocks, repeat).time_s for repeat in range(REPEATS)]
            self.correction = math.exp(float(np.mean(np.log(self.repeats)) - np.mean(np.log(small))))
            self._relative_to_kind()

    def _relative_to_kind(self) -> None:
        """Take the factor of the middle's kind out of the correction: all members have theirs already."""
        if self.of_kind and len(self.of_kind) == len(self.raw):
            self.correction /= self.of_kind[self._middle_place()]

    def _watch_clients(self, bench: Bench) -> None:
        """Let the clients use the pool before and after the operation, as they do while it runs."""
        setup = setup_of(bench.resolved, bench.pool, bench.result.model, bench.resolved.release)
        found = latencies(setup, bench.result.run)
        self.clients = tuple(Clients(**asdict(each)) for each in found)

    def _large(self, member: Member, blocks: int, repeat: int = 0) -> MemberResult:
        seeded = world_of(replace(self.resolved, seed=self.resolved.seed + repeat), member)
        pool = miniature(seeded, member, blocks=blocks)
        self.notes = {pool.note} - {""}
        if repeat == 0:
            self.large_pool = pool
        return run_member(seeded, member, pool=pool)

    def _precise(self) -> bool:
        middle = sum(self.repeats) / len(self.repeats)
        return sampling_half_width(self.repeats) <= self.resolved.precision * middle

    def partial(self) -> Prediction | None:
        """Return the answer so far, if there is one."""
        estimate = self.exact_run.estimate() if self.exact_run is not None else None
        if estimate is not None:
            self.notes.add(f"interrupted: the I/Os simulated so far point to {format_duration(estimate)}")
        if self.middle is not None and self.middle.known:
            self._take_middle()
        elif self.bench is None and self.raw:
            self._run_middle()
        return self.prediction() if self.bench is not None else None

    def prediction(self) -> Prediction:
        """Return the answer from what has been run."""
        assert self.bench is not None
        result, resolved = self.bench.shown, self.resolved
        low, middle, high = quantiles(self.times or self.repeats)
        if self.exact is not None:
            low = middle = high = self.exact.time_s
        answer = Quantiles(p10=low, p50=middle, p90=high) if self.times else Quantiles(p50=middle)
        others = () if resolved.operation == "scrub" else other_order(self.bench, middle)
        sums, without = totals(result), without_each(self.bench, middle)
        limit = limiting(result, without, middle)
        return Prediction(
            subject=subject(resolved),
            operation=resolved.operation,
            order="sequential" if resolved.operation == "rebuild" else resolved.release.order,
            resilver_s=answer,
            uncertainty=self._uncertainty(answer),
            phases=phases(result, middle, self.scrub_share, self.bench.result),
            clients=self.clients,
            bottleneck=bottleneck(result, without, limit),
            leaves=leaf_rows(result),
            breakdown=_stretched(breakdown(result, limit), middle),
            alternatives=others,
            progress=progress_curve(result, resolved, middle, sums["resilvered_bytes"]),
            advice=() if resolved.operation == "scrub" else advice(self.bench, middle, others, without),
            warnings=(*warnings(resolved), *sorted(self.notes)),
            assumptions=tuple(Assumption(**each.to_dict()) for each in resolved.assumptions),
            provenance=provenance(
                resolved.scenario.stated(), resolved.seed, models_used(resolved), files_used(resolved)
            ),
            **sums,
        )

    def _uncertainty(self, answer: Quantiles) -> Uncertainty:
        half = sampling_half_width(self.repeats) if len(self.repeats) > 1 else None
        if half is not None and self.resolved.scenario.precision is None:
            # The one large run has an error of its own, smaller as it has more blocks.
            half *= math.sqrt(1.0 + len(self.repeats) * MEMBER_BLOCKS / MIDDLE_BLOCKS)
            half = math.hypot(half, self.unsettled * answer.p50)
        if self.middle is not None and self.middle.known:
            half = self.middle.half_width_s * answer.p50 / self.middle.time_s
        if self.exact is not None:
            half = 0.0
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


def settled(bench: Bench | None, large: MemberResult, small_s: float) -> tuple[float, float]:
    """Return the duration at full size over that of small miniatures, and how far off the large one is.

    What a miniature has too much of does not grow with it (seeks between its metaslabs, blocks of the MOS,
    files cut short), so that its share falls as one over the size: two sizes tell where that leads.

    Parameters
    ----------
    bench : Bench
        Of a small miniature.
    large : MemberResult
    small_s : float
        Mean duration of the small ones [s].

    Notes
    -----
    Richardson's extrapolation of first order (Phil. Trans. R. Soc. A 210, 1911).  The step is an error.
    """
    assert bench is not None
    ratio = bench.result.scale / large.scale
    if large.scale <= 1.0 or ratio < WORTH_EXTRAPOLATING:
        return large.time_s / small_s, 0.0
    step = (small_s - large.time_s) / (ratio - 1.0)
    step = max(-MOST_STEP, min(MOST_STEP, step / large.time_s)) * large.time_s
    whole = large.time_s - step
    return whole / small_s, abs(step) / whole


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
    return tuple(found)
