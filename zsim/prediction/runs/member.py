"""Run one member of the ensemble: a miniature of the pool in full detail, scaled to the pool's size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.model import PlaneModel
from zsim.operation.background.removal import RemovalWork
from zsim.operation.result import followed, seconds_of
from zsim.operation.run import Run, RunResult, RunSetup, SecondReplacement
from zsim.pool.blocks import BlockTable
from zsim.prediction.groups import degraded_bytes, degraded_share
from zsim.prediction.inputs.clients import Now, client_groups, has_hours, log_bytes, set_by, spans, writer
from zsim.prediction.inputs.hardware import plane_model, under
from zsim.prediction.inputs.population import WorldPopulation, in_heaps, miniature
from zsim.prediction.inputs.room import make_room
from zsim.prediction.inputs.shingled import in_miniature
from zsim.prediction.inputs.unlike import scrubs_some, with_links_shared
from zsim.prediction.runs.expanding import expansion_of
from zsim.prediction.runs.rebuilding import cursors_of, sampled_metaslabs, scaled_rebuild
from zsim.prediction.runs.sampling.rhythm import quiet_end
from zsim.scenario.releases.profile import ReleaseProfile

BLOCK_COMMANDS, CLIENT_SCATTER = constant("work.block_commands"), constant("clients.scatter")


@dataclass(frozen=True, slots=True)
class MemberResult:
    """What one member gives, scaled to the real pool.

    Attributes
    ----------
    time_s : float
        Duration [s].
    visit_s, issue_s, sync_s : float
        Metadata phase, issue and txg ends, summing to `time_s` [s].
    scale : float
        Real over simulated bytes.
    run : RunResult
        The miniature's own counters.
    model : PlaneModel
    worked_s : float, optional
        How long the run would be had it its share of the ends of txgs, where that is not its duration [s].
    written : int
        Blocks that were written to lay its population out.
    """

    time_s: float
    visit_s: float
    issue_s: float
    sync_s: float
    scale: float
    run: RunResult
    model: PlaneModel
    worked_s: float | None = None
    written: int = 0

    @property
    def span_s(self) -> float:
        """In how long the run has done what it counted [s]."""
        return max(self.run.end if self.worked_s is None else self.worked_s, 1e-9)

    @property
    def clients(self) -> float:
        """By which squared scale it moves the logarithm of the duration when and where clients ask of disks.

        It is a mean over so many seconds of what depends on their last requests.
        """
        disks = any(leaf.drive.kind == "mechanical" for leaf in self.model.leaves)
        return CLIENT_SCATTER / self.span_s if disks and self.run.client_reads else 0.0

    @property
    def commands(self) -> float:
        """How much work it was: its child I/Os, and those that laying out its blocks is worth."""
        return self.run.children + BLOCK_COMMANDS * self.written


def processor_share(result: MemberResult) -> float:
    """Return the share of a run in which the thread of its scan that has most to do needs a processor [1]."""
    return min(1.0, math.fsum(result.run.processor_s) / result.span_s)


def run_member(
    case: Case,
    *,
    pool: WorldPopulation | None = None,
    model: PlaneModel | None = None,
    blocks: int | None = None,
) -> MemberResult:
    """Simulate one member.

    Parameters
    ----------
    case : Case
        In its world.
    pool : WorldPopulation, optional
        Population to use, built if not given.
    model : PlaneModel, optional
        Hardware to use, built if not given (what-ifs).
    blocks : int, optional
        Size of the miniature.
    """
    pool = pool or miniature(case, blocks=blocks)
    model = model or plane_model(case)
    if has_hours(case):
        return _by_hours(case, pool, model)
    if case.operation == "rebuild":
        return _rebuild_member(case, pool, model)
    if case.operation == "expand":
        return _expansion_member(case, pool, model)
    if case.operation == "remove":
        return _removal_member(case, pool, model)
    in_order = case.release.order == "sorted"
    small = _small(case, pool, model, in_order=in_order)
    setup = setup_of(case, _placed(case, pool, small) if in_order else pool, small)
    if case.second_at is not None:
        setup = replace(setup, second=_second(case, setup))
    run, quiet_s = run_and_quiet(setup)
    return scaled(
        run,
        pool.scale,
        model,
        setup,
        quiet_s=quiet_s,
        repaired=pool.scale * share_correction(case, pool),
    )


def _gaps(run: RunResult) -> list[float]:
    """Return how long each txg took to end, between the slices of the scan [s]."""
    return [after - end for (_, _, end), after in zip(run.phases, followed(run.phases, run.end), strict=True)]


def _ends(run: RunResult, setup: RunSetup) -> list[tuple[str, float]]:
    """Return the phase of each txg, and how long it took to end [s].

    Where a second replacement is deferred, the wait between the two passes, the longest gap, is no txg end.
    """
    ends = [(name, gap) for (name, _, _), gap in zip(run.phases, _gaps(run), strict=True)]
    if setup.second is not None and setup.release.resilver_restart != "restart" and len(ends) > 1:
        ends.remove(max(ends, key=lambda each: each[1]))
    return ends


def run_and_quiet(setup: RunSetup) -> tuple[RunResult, float]:
    """Run to the end, and some txgs more.

    Returns
    -------
    result : RunResult
        Without the further txgs.
    quiet_s : float
        How long a txg takes to end that the scan has left nothing to, the mean of some [s].
    """
    run = Run(setup)
    result = run.execute()
    ends = [gap for _, gap in _ends(result, setup)]
    quiet_s = run.let(quiet_end(run.pool.control, _left_over(setup), ends))
    run.release()
    return result, quiet_s


def _left_over(setup: RunSetup) -> bool:
    """Tell whether the end of a txg finishes work: what is cached, or what a writer wants written."""
    return setup.model.writer.rate > 0.0 or setup.flushes


def _second(case: Case, setup: RunSetup) -> SecondReplacement:
    """Return the second replacement, at its share of how long the first alone would take."""
    return second_of(case, Run(setup).finish().end if case.second_at else 0.0)


def second_of(case: Case, alone_s: float) -> SecondReplacement:
    """Return the second replacement.

    Parameters
    ----------
    case : Case
    alone_s : float
        What the first alone takes [s].

    Returns
    -------
    SecondReplacement
        Of the next child and the next new drive, at the stated share of that time [s].
    """
    child, leaf = case.replace, case.leaves + case.replace
    return SecondReplacement(child=child, leaf=leaf, at=float(case.second_at or 0.0) * alone_s)


def setup_of(case: Case, pool: WorldPopulation, model: PlaneModel) -> RunSetup:
    """Return the run of a miniature.

    Returns
    -------
    RunSetup
        Limits that grow with the pool, and the memory of the host, are divided by its scale [bytes].
    """
    return replace(
        population_setup(case, pool, pool.table, model),
        release=scaled_limits(case.release, pool.scale),
        memory=int(case.memory / (pool.scale * pool.collected(case.operation))),
    )


def population_setup(case: Case, pool: WorldPopulation, blocks: BlockTable, model: PlaneModel) -> RunSetup:
    """Return the run of a population whose blocks lie as in `blocks`; limits and memory are the pool's."""
    setup = whole_setup(case, blocks, model)
    return replace(setup, visited=pool.visited, asked=pool.asked, walked=pool.walked)


def whole_setup(case: Case, blocks: BlockTable, model: PlaneModel) -> RunSetup:
    """Return the run of a pool's blocks as they are."""
    return RunSetup(
        model=with_links_shared(model, blocks) if scrubs_some(case) else model,
        blocks=blocks,
        release=case.release,
        operation=case.operation,
        memory=case.memory,
        seed=case.seed,
        plane=plane_of(case),
        log_bytes=log_bytes(case),
    )


def _by_hours(case: Case, pool: WorldPopulation, model: PlaneModel) -> MemberResult:
    """Simulate a member under loads and tunables that come and go: what is done under each, and how long.

    The pool is the same all along, so each is one run, and counts as far as the work is done under it.
    """
    known: dict[Now, MemberResult] = {}

    def result_of(now: Now) -> MemberResult:
        if now not in known:
            here = replace(case, load=now.loads, timed=(), release=set_by(case.release, now))
            busy = replace(model, clients=client_groups(here, here.seed), writer=writer(here))
            if now.tunables:
                ruled = under(busy, here)
                busy = replace(busy, queue=ruled.queue, scan=ruled.scan)
            known[now] = run_member(here, pool=pool, model=busy)
        return known[now]

    parts = spans(case, lambda now: result_of(now).time_s)
    results = [(result_of(now), share) for now, share, _ in parts]
    loaded = [result for result, _ in results if result.model.clients]
    shown = max(loaded or [result for result, _ in results], key=lambda result: result.time_s)
    return replace(
        shown,
        time_s=math.fsum(result.time_s * share for result, share in results),
        visit_s=math.fsum(result.visit_s * share for result, share in results),
        issue_s=math.fsum(result.issue_s * share for result, share in results),
        sync_s=math.fsum(result.sync_s * share for result, share in results),
    )


def _rebuild_member(case: Case, pool: WorldPopulation, model: PlaneModel) -> MemberResult:
    """Simulate a sequential rebuild on a sample of whole metaslabs."""
    sample = sampled_metaslabs(case, pool, model)
    make_room(len(sample.table))
    setup = RunSetup(
        # Its metaslabs are as large as real ones, and bands with them.
        model=in_miniature(
            model, sample.scale, case.member.shingling, float(case.damaged_size), in_order=True
        ),
        blocks=sample.table,
        release=case.release,
        operation="rebuild",
        memory=case.memory,
        cursors=cursors_of(pool),
        asked=pool.asked,
        seed=case.seed,
        plane=plane_of(case),
        metaslab_shift=sample.metaslab_shift,
        log_bytes=log_bytes(case),
    )
    run = Run(setup).finish()
    copying, waiting, scale = scaled_rebuild(run, sample)
    return MemberResult(copying + waiting, 0.0, copying, waiting, scale, run, model)


def _expansion_member(case: Case, pool: WorldPopulation, model: PlaneModel) -> MemberResult:
    """Simulate a RAID-Z expansion on a miniature."""
    setup = _copying_setup(case, pool, model)
    found = expansion_of(case, setup, pool.scale)
    whole = found.copying_s + found.waiting_s
    return MemberResult(whole, 0.0, found.copying_s, found.waiting_s, pool.scale, found.run, model)


def _removal_member(case: Case, pool: WorldPopulation, model: PlaneModel) -> MemberResult:
    """Simulate the removal of a vdev on a miniature: copying grows with the bytes, the last txgs do not."""
    setup = _copying_setup(case, pool, model)
    work = RemovalWork(setup, pool.levels or None, case.allocator)
    run = Run(setup, work=work).finish()
    copying = seconds_of(run.phases)
    ending = max(0.0, run.end - copying)
    whole = copying * pool.scale + ending
    return MemberResult(whole, 0.0, copying * pool.scale, ending, pool.scale, run, model)


def _copying_setup(case: Case, pool: WorldPopulation, model: PlaneModel) -> RunSetup:
    """Return the run of a miniature that an expansion or a removal copies, in the order of addresses."""
    small = _small(case, pool, model, in_order=True)
    return replace(whole_setup(case, pool.table, small), asked=pool.asked, cursors=cursors_of(pool))


def _small(case: Case, pool: WorldPopulation, model: PlaneModel, *, in_order: bool) -> PlaneModel:
    """Return the hardware of a miniature; see `zsim.prediction.inputs.shingled.in_miniature`."""
    stretch = held_bytes(case, pool) / (1 if in_order else pool.damaged.stretches)
    return in_miniature(model, pool.scale, case.member.shingling, stretch, in_order=in_order)


def held_bytes(case: Case, pool: WorldPopulation) -> float:
    """Return what the miniature has on each drive.

    Returns
    -------
    float
        ``fill * capacity / scale`` [bytes].
    """
    return case.fill * case.damaged_size / pool.scale


def _placed(case: Case, pool: WorldPopulation, model: PlaneModel) -> WorldPopulation:
    """Return a population whose metaslabs follow one another, where a sweep fills the bands of a drive.

    A metaslab of a miniature holds few bands, and where it ends in the middle of one all of that is
    rewritten; a real one holds hundreds.
    """
    if pool.visited is None or all(leaf.drive.smr_band_bytes == 0 for leaf in model.leaves):
        return pool
    return replace(pool, table=in_heaps(case, pool))


def plane_of(case: Case) -> type:
    """Return the data plane that the scenario asks for."""
    if case.engine == "reference":
        from zsim.engine.reference.plane import ReferencePlane

        return ReferencePlane
    return CompiledPlane


def scaled_limits(release: ReleaseProfile, scale: float) -> ReleaseProfile:
    """Return the release with the limits that grow with the pool divided by the scale of its miniature.

    Parameters
    ----------
    release : ReleaseProfile
    scale : float
        Real over simulated bytes.

    Returns
    -------
    ReleaseProfile
        With ``zfs_scan_mem_lim_min`` [bytes] and ``zfs_scan_checkpoint_intval`` (at least 60 s) over the
        scale; as it is where the release has no sorted scan.
    """
    if "zfs_scan_mem_lim_min" not in release.tunables:
        return release
    least = max(1, int(release.tunables["zfs_scan_mem_lim_min"] / scale))
    checkpoint = max(1, int(release.tunables["zfs_scan_checkpoint_intval"] / scale))
    return release.with_tunables(
        {"zfs_scan_mem_lim_min": least, "zfs_scan_checkpoint_intval": max(checkpoint, 60)}
    )


def share_correction(case: Case, pool: WorldPopulation) -> float:
    """Return how much more of the real pool than of its miniature a resilver repairs.

    Returns
    -------
    float
        Share of the groups of the real vdev that have lost a child, over that of the miniature [1]; 1 without
        groups.

    Notes
    -----
    A ratio estimator (Cochran, Sampling Techniques, 1977, chapter 6): a miniature of a dRAID has few groups,
    and chance decides how many of them have lost a child.
    """
    if not case.repairs_groups:
        return 1.0
    here, lost = degraded_bytes(case, pool.table)
    return degraded_share(case.layout.vdevs[0], case.replace) * here / lost if lost > 0.0 else 1.0


def scaled(
    run: RunResult,
    scale: float,
    model: PlaneModel,
    setup: RunSetup,
    *,
    quiet_s: float,
    repaired: float | None = None,
) -> MemberResult:
    """Return a run's durations at the size of the real pool.

    Parameters
    ----------
    run : RunResult
    scale : float
        Real over simulated bytes, of the metadata phase.
    model : PlaneModel
    setup : RunSetup
    quiet_s : float
        How long a txg takes to end with nothing left over from its slice [s].
    repaired : float, optional
        The same as `scale` of the issue phase.

    Returns
    -------
    MemberResult
        Of each phase ``(active + left) * scale + quiet_s * slices``, where `left` is what the ends of its
        txgs took beyond quiet ones, and ``slices = (active + left) * scale / (slice + mean(left))`` [s].

    Notes
    -----
    Work grows with the bytes: slices, and what the ends of their txgs finish of it.  Quiet ends of txgs come
    once for each slice of the real run; see `zsim.prediction.runs.sampling.rhythm`.
    """
    slice_s, ends = run.slice_s, _ends(run, setup)
    phases = {}
    ended = 0.0
    for phase, times in (("visit", scale), ("issue", scale if repaired is None else repaired)):
        active = seconds_of(run.phases, phase)
        gaps = [gap for name, gap in ends if name == phase]
        left = max(0.0, math.fsum(gaps) - len(gaps) * quiet_s) if _left_over(setup) else 0.0
        slices = (active + left) * times / (slice_s + left / max(1, len(gaps)))
        phases[phase] = active * times
        ended += left * times + quiet_s * slices
    visit, issue = phases["visit"], phases["issue"]
    return MemberResult(visit + issue + ended, visit, issue, ended, repaired or scale, run, model)
