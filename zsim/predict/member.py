"""One member of the ensemble: a miniature of the pool, run in full detail, and scaled to the pool's size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zsim.drives.model import SmrParameters
from zsim.engine.compiled import CompiledPlane
from zsim.engine.model import PlaneModel
from zsim.engine.run import Run, RunResult, RunSetup
from zsim.pool.blocks import BlockTable
from zsim.predict.ensemble import Member
from zsim.predict.hardware import drive_models, plane_model
from zsim.predict.population import Miniature, miniature
from zsim.predict.shingled import housekeeping_s, smr_targets
from zsim.predict.worlds import World, in_world
from zsim.scenario.releases import ReleaseProfile
from zsim.scenario.resolve import ResolvedScenario

MORE_RECORDS = 50_000


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
    shingled_s : float
        Of `issue_s`, what a shingled drive spends on rewriting bands [s].
    """

    time_s: float
    visit_s: float
    issue_s: float
    sync_s: float
    scale: float
    run: RunResult
    model: PlaneModel
    shingled_s: float = 0.0

    @property
    def active_s(self) -> float:
        """Simulated time of the miniature's scan [s]."""
        return max(1e-9, sum(end - begin for _, begin, end in self.run.phases))


def run_member(
    resolved: ResolvedScenario,
    member: Member,
    *,
    release: ReleaseProfile | None = None,
    pool: Miniature | None = None,
    model: PlaneModel | None = None,
    blocks: int | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> MemberResult:
    """Simulate one member.

    Parameters
    ----------
    resolved : ResolvedScenario
    member : Member
    release : ReleaseProfile, optional
        Instead of the scenario's (to compare orders).
    pool : Miniature, optional
        Population to use, built if not given.
    model : PlaneModel, optional
        Hardware to use, built if not given (what-ifs).
    blocks : int, optional
        Size of the miniature.
    progress : callable, optional
        Called with simulated time and the share done.
    """
    resolved = world_of(resolved, member)
    profile = release or resolved.release
    pool = pool or miniature(resolved, member, blocks=blocks)
    model = model or plane_model(resolved, member.factors, resolved.seed)
    smr = drive_models(resolved)[1].smr() if resolved.operation != "scrub" else None
    setup = RunSetup(
        model=model,
        blocks=pool.table,
        release=scaled_limits(profile, pool.scale),
        operation=resolved.operation,
        memory=int(resolved.memory / pool.scale),
        seed=resolved.seed,
        plane=plane_of(resolved),
        records=_records(model, smr, pool.table),
    )
    machine = Run(setup, progress)
    run = machine.execute()
    machine.release()
    result = scaled(run, pool.scale, model, setup)
    if smr is None:
        return result
    extra = housekeeping_s(run, model, smr, pool.scale, in_order=profile.order == "sorted")
    extra = max(0.0, extra) * pool.scale * member.shingling
    return replace(result, time_s=result.time_s + extra, issue_s=result.issue_s + extra, shingled_s=extra)


def _records(model: PlaneModel, smr: SmrParameters | None, table: BlockTable) -> int:
    """Return how many finished commands to keep: all, where a shingled drive's own work follows from them."""
    return 0 if not smr_targets(model, smr) else len(table) * (len(model.leaves) + 4) + MORE_RECORDS


def world_of(resolved: ResolvedScenario, member: Member) -> ResolvedScenario:
    """Return the scenario as it is in the member's world."""
    world = World(
        history=member.history,
        drive=member.drive,
        write_cache=member.write_cache,
        load=member.load,
        fill=member.fill,
    )
    return in_world(resolved, world)


def plane_of(resolved: ResolvedScenario) -> type:
    """Return the data plane that the scenario asks for."""
    if resolved.engine == "reference":
        from zsim.engine.reference import ReferencePlane

        return ReferencePlane
    return CompiledPlane


def scaled_limits(release: ReleaseProfile, scale: float) -> ReleaseProfile:
    """Return the release with the limits that grow with the pool divided by the scale of its miniature."""
    if "zfs_scan_mem_lim_min" not in release.tunables:
        return release
    least = max(1, int(release.tunables["zfs_scan_mem_lim_min"] / scale))
    checkpoint = max(1, int(release.tunables["zfs_scan_checkpoint_intval"] / scale))
    return release.with_tunables(
        {"zfs_scan_mem_lim_min": least, "zfs_scan_checkpoint_intval": max(checkpoint, 60)}
    )


def scaled(run: RunResult, scale: float, model: PlaneModel, setup: RunSetup) -> MemberResult:
    """Return a run's durations at the size of the real pool.

    Slices scale with the bytes; each txg slice of the real pool is followed by a txg end of its own, so that
    the miniature's few txg ends are replaced by their mean times the real number of slices.
    """
    visit = sum(end - begin for name, begin, end in run.phases if name == "visit")
    issue = sum(end - begin for name, begin, end in run.phases if name == "issue")
    ends = [begin for _, begin, _ in run.phases][1:] + [run.end]
    sync = float(np.mean([after - end for (_, _, end), after in zip(run.phases, ends, strict=True)]))
    slice_s = Run.slice_of(setup)
    slices = max(1.0, (visit + issue) * scale / slice_s)
    total = (visit + issue) * scale + sync * slices
    return MemberResult(total, visit * scale, issue * scale, sync * slices, scale, run, model)
