"""The course of each possible world: its progress over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.base.errors import InputError
from zsim.base.notebook import reporting
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import in_world
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.compiled.warm import begin_compiling
from zsim.engine.model import PlaneModel, VdevModel
from zsim.operation.background.removal import OUTSTANDING
from zsim.operation.rules import rebuild_window, vdev_window
from zsim.operation.run import Run
from zsim.operation.setup import wanted_blocks
from zsim.pool.blocks import BlockTable
from zsim.pool.simulator.population import HistoryError
from zsim.prediction.evidence.likelihood import log_likelihood
from zsim.prediction.evidence.probes import HeldProbe, Ran, ScanProbe
from zsim.prediction.evidence.slower import most_slowed, retries
from zsim.prediction.evidence.weighing import Counterpart, Weighing
from zsim.prediction.inputs.ensemble import draw_members, unknowns
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import WorldPopulation, miniature
from zsim.prediction.inputs.scan_memory import sorted_at_once
from zsim.prediction.progress.case_priors import (
    births,
    discrepancy,
    drifts,
    even_courses,
    is_small,
    knowledge,
    known_tilt,
    one_sweep,
)
from zsim.prediction.progress.course import (
    KNOWN_SHARE,
    Course,
    OpenShare,
    Shape,
    recorded_shape,
    sampled_shape,
    straight,
    with_zones,
)
from zsim.prediction.progress.noise import progress_number
from zsim.prediction.progress.open_share import with_share
from zsim.prediction.runs.member import MemberResult, population_setup, whole_setup
from zsim.prediction.runs.one_tile import is_tile, run_pool
from zsim.prediction.statistics.drawn_worlds import MEMBER_BLOCKS
from zsim.prediction.summary import busiest, totals, transfer_s
from zsim.prediction.work import SEED_STEP, Progress, Work
from zsim.scenario.evidence import MOVES
from zsim.scenario.releases.capacity import metaslab_shift, vdev_capacity
from zsim.scenario.releases.profile import COPIES
from zsim.scenario.words import NO_REPAIR
from zsim.vdevs.kind import LOG, NORMAL, kind_of

WHOLE_BLOCKS, RECORDS = whole_constant("progress.whole_blocks"), whole_constant("progress.records")
OTHER_SCAN = constant("progress.other_scan")
"""What one scan of a pool leaves open of the pace of another: standard deviation of the logarithm."""


class _Kept(NamedTuple):
    """Of a member: its result, whether it was run as a tile in the middle of the drives, what is issued."""

    result: MemberResult
    tile: bool
    needed: float


class CourseWork(Work):
    """The members of a prediction, with what each showed.

    What larger populations would change (`zsim.prediction.statistics.level`, a few percent) is less than a
    run departs from any world (`zsim.prediction.progress.noise`), and its own progress tells it soon.
    """

    def __init__(self, case: Case, progress: Progress) -> None:
        super().__init__(case, progress)
        self.kept: dict[int, _Kept] = {}

    def run(self) -> None:
        """Run the members; where nothing is unknown, the one world there is."""
        begin_compiling()
        self._run_members()
        if not self.small:
            self._run_larger()

    def _run_world(self, place: int) -> tuple[MemberResult, tuple[float, ...]]:
        world = self.world(place)
        pool = miniature(world.case, blocks=MEMBER_BLOCKS)
        result = run_pool(world.case, pool, world.plane)
        needed = needed_share(world.case, pool, world.plane)
        self.kept[place] = _Kept(result, is_tile(world.case, world.plane, pool), needed)
        if self.weighing is None:
            return result, ()
        return result, self.weighing.shows(Ran(world.case, pool, result, MEMBER_BLOCKS))

    def _run_others(self, weighing: Weighing, places: Iterable[int]) -> list[Counterpart]:
        """Leave out what a course does not need: the progress tells how the caches are."""
        del weighing, places
        return []

    def courses(self) -> tuple[Course, ...]:
        """Return the courses of the members, at the size of the pool; of the one world that is known else."""
        if not self.small:
            assert self.baseline is not None
            result = self.baseline.detail if self.baseline.detail is not None else self.baseline.result
            kept = _Kept(result, False, needed_share(self.case, self.baseline.pool, result.model))
            return (self._course(kept, result.time_s, Member()),)
        return tuple(
            self._held(place, replace(course, other_scans=self._other_scans(place)))
            for place, time in enumerate(self.times)
            for course in (self._course(self.kept[place], time, self.members[place]),)
        )

    def _other_scans(self, place: int) -> tuple[tuple[float, float], ...]:
        """Return by how much other scans of the pool took longer than in a world, and how sure that is."""
        if self.weighing is None:
            return ()
        rows = zip(self.weighing.comparisons, self.weighing.shown[place], strict=True)
        # Scans say little of how fast a vdev is copied, which neither sorts nor checks.
        copies = discrepancy(self.case) if self.case.operation in MOVES else 0.0
        return tuple(
            (each.seen.log - shown, math.hypot(each.seen.sigma, OTHER_SCAN, copies))
            for each, shown in rows
            if isinstance(each.probe, ScanProbe)
        )

    def _held(self, place: int, course: Course) -> Course:
        """Return a course with what is known of what classes of vdevs hold.

        A world is the likelier the nearer it is to that; what it holds on a vdev of that class that is
        repaired is as it was told.
        """
        if self.weighing is None:
            return course
        for each, shown in zip(self.weighing.comparisons, self.weighing.shown[place], strict=True):
            if not isinstance(each.probe, HeldProbe) or not math.isfinite(shown):
                continue
            likely = float(log_likelihood(np.array([shown]), each.seen.log, each.seen.sigma)[0])
            course = replace(course, likely=course.likely + likely)
            if course.open_share.spread > 0.0 and self.case.layout.vdevs[0].alloc_class == each.probe.of:
                held = min(1.0, course.needed * math.exp(each.seen.log - shown))
                course = replace(with_share(course, held), open_share=KNOWN_SHARE)
        return course

    def _course(self, kept: _Kept, time_s: float, member: Member) -> Course:
        result = kept.result
        world = in_world(self.case, member)
        factor = time_s / max(result.time_s, 1e-9)
        active = max(result.visit_s + result.issue_s, 1e-9)
        visit = result.visit_s * (1.0 + result.sync_s / active) * factor
        shape = _shape(kept, world)
        # The tail of a sample is that of its last txgs, which come once in the real run too.
        tail = closing_s(world, result.run.end * shape.tail / (1.0 + shape.tail))
        tail = min(tail, 0.5 * (time_s - visit))
        return Course(
            visit_s=visit,
            issue_s=time_s - visit - tail,
            tail_s=tail,
            shape=shape,
            repaired=float(totals(result)["resilvered_bytes"]),
            needed=kept.needed,
            window=window_share(world, result.model),
            drifts=drifts(world),
            births=births(world),
            unlike=progress_number(f"unlike.{knowledge(self.case)}"),
            loose=progress_number(f"loose.{knowledge(self.case)}"),
            discrepancy=math.hypot(discrepancy(self.case), _sick(self.case)),
            tilt=known_tilt(self.case),
            name=world_name(member),
            vdevs=len(self.case.layout.data),
            first=self.case.first_vdev_share,
            open_share=open_share(self.case),
            suspect=retries(self.case),
            at_once=sorted_at_once(world) if world.scan_memory is not None else math.inf,
            named=knowledge(self.case) == "known",
            transfer=0.0
            if is_small(self.case)
            else min(1.0, transfer_s(result) / max(time_s - visit - tail, 1e-9)),
        )


def _shape(kept: _Kept, world: Case) -> Shape:
    """Return how the issue phase of a run gets on, with the zones of the drive that sets the pace."""
    result = kept.result
    shape = sampled_shape(result.run)
    kind, _, number = busiest(result)
    drive = result.model.leaves[number if kind != "link" else 0].drive
    in_order = kept.tile and one_sweep(world)
    if world.operation == "rebuild":
        # A few metaslabs stand for hundreds, which follow one another from the outer tracks on.
        shape, in_order = replace(straight(), tail=shape.tail), True
    if not in_order or len(drive.zone_rates) <= 1:
        return shape
    row = result.run.leaves[number if kind != "link" else 0]
    moving = float(row["transfer"]) / max(result.run.end, 1e-9)
    reach = min(1.0, progress_number("layout.reach") * world.fill)
    return with_zones(shape, drive.zone_rates, moving, reach)


def _sick(case: Case) -> float:
    """Return how far a drive that is seen to be sick may make a scan longer than in any world.

    In no world is a drive sick.  One that takes k times as long makes a scan from 1 to k times as long, how
    often it is waited for nobody tells: a uniform logarithm has a standard deviation of ln(k) / sqrt(12).
    """
    return math.log(most_slowed(case)) / math.sqrt(12.0)


def courses_of(case: Case, progress: Progress | None = None) -> tuple[Course, ...]:
    """Return what possible worlds of a scenario do over time.

    Parameters
    ----------
    case : Case
    progress : callable, optional
        Called with the share done and what is being done.
    """
    work = CourseWork(case, reporting(progress))
    try:
        work.run()
    except HistoryError:
        return even_courses(case)
    return work.courses()


def whole_courses(
    case: Case, drive_of: Callable[[int], DriveParameters] | None = None, worlds: int = 16
) -> tuple[Course, ...]:
    """Return the same for a pool so small that each world is run whole, every I/O of it.

    Parameters
    ----------
    case : Case
    drive_of : callable, optional
        The numbers of the drive of each leaf, in place of the scenario's.
    worlds : int

    Raises
    ------
    InputError
        When no world can be built at that fill.
    """
    members = draw_members(unknowns(case), case.seed)[:worlds]
    seeded = [replace(case, seed=case.seed + SEED_STEP * place) for place in range(len(members))]
    found = (_whole_course(*each, drive_of) for each in zip(seeded, members, strict=True))
    known = tuple(course for course in found if course is not None)
    if not known:
        raise InputError("alloc", case.alloc, "no simulated pool of that size holds it", "check it")
    return known


def _whole_course(
    case: Case, member: Member, drive_of: Callable[[int], DriveParameters] | None
) -> Course | None:
    world = in_world(case, member)
    try:
        pool = miniature(world, blocks=WHOLE_BLOCKS)
    except HistoryError:
        return None
    model = plane_model(world)
    if drive_of is not None:
        leaves = [replace(leaf, drive=drive_of(place)) for place, leaf in enumerate(model.leaves)]
        model = replace(model, leaves=tuple(leaves))
    setup = replace(population_setup(world, pool, pool.table, model), records=RECORDS)
    result = Run(setup).finish()
    shown = MemberResult(result.end, 0.0, 0.0, 0.0, pool.scale, result, model)
    return whole_course(world, member, pool, shown, are_drives_known=drive_of is not None)


def whole_course(
    world: Case,
    member: Member,
    pool: WorldPopulation,
    result: MemberResult,
    *,
    are_drives_known: bool = False,
) -> Course:
    """Return the course of a run of a whole pool.

    Parameters
    ----------
    world : Case
    member : Member
    pool : WorldPopulation
        What is a little smaller or larger than asked for is scaled.
    result : MemberResult
        With records.
    are_drives_known : bool
        Whether its drives are measured ones, however small: else those of a small pool bound no time.
    """
    known = are_drives_known or not is_small(world)
    run, shape = result.run, recorded_shape(result.run)
    visit = max((end for name, _, end in run.phases if name == "visit"), default=0.0)
    issue = (run.end - visit) / (1.0 + shape.tail)
    return Course(
        visit_s=visit * pool.scale,
        issue_s=issue * pool.scale,
        tail_s=closing_s(world, issue * shape.tail),
        shape=shape,
        repaired=float(totals(result)["resilvered_bytes"]),
        needed=needed_share(world, pool, result.model),
        window=window_share(world, result.model),
        drifts=drifts(world),
        births=births(world),
        unlike=progress_number("unlike.known"),
        name=world_name(member),
        vdevs=len(world.layout.data),
        first=world.first_vdev_share,
        open_share=open_share(world),
        transfer=min(1.0, transfer_s(result) / max(issue * pool.scale, 1e-9)) if known else 0.0,
    )


def needed_share(case: Case, pool: WorldPopulation, model: PlaneModel) -> float:
    """Return the share of ALLOC that is issued.

    Returns
    -------
    float
        What lies on the damaged vdev and touches the lost drive, over what lies there, times the share of the
        allocation class that lies on each vdev of it; 1 of a scrub, an expansion and a removal.
    """
    if case.operation in NO_REPAIR:
        return 1.0
    setup = whole_setup(case, pool.table, model)
    table, wanted = pool.table, wanted_blocks(setup)
    sizes = np.where(table.dva_vdev >= 0, table.dva_asize, 0)
    here = float(sizes[:, 0][table.dva_vdev[:, 0] == 0].sum())
    needed = float(sizes[:, 0][wanted & (table.dva_vdev[:, 0] == 0)].sum())
    share = needed / here if here > 0.0 else 1.0
    # What a rebuild has to do is estimated of its own vdev alone.
    return max(1e-3, share) * (1.0 if case.operation in COPIES else _share_of_first(case, pool.table))


def open_share(case: Case) -> OpenShare:
    """Return how little is known of the share of ALLOC that the vdev under repair holds.

    Of data vdevs their kinds and fills tell it; of a special one nobody says what is metadata and small.
    """
    if case.operation != "resilver" or case.layout.vdevs[0].alloc_class == NORMAL:
        return KNOWN_SHARE
    size = vdev_capacity(case.layout.vdevs[0], case.damaged_size, case.release).size
    return OpenShare(constant("progress.open_special"), min(1.0, size / max(case.alloc, 1.0)))


def _share_of_first(case: Case, table: BlockTable) -> float:
    """Return the share of what is allocated that lies on the first vdev."""
    own = case.layout.places_of(case.layout.vdevs[0].alloc_class)
    if case.scenario.vdev_fills is not None and case.layout.vdevs[0].alloc_class == NORMAL:
        # What each holds is printed; a small population has it within a few percent.
        return table.share_on(own) * case.first_vdev_share
    alike = len({case.layout.vdevs[place] for place in own}) == 1
    # Vdevs that are alike hold as much: that a small population has more on one of them is chance.
    places = own if alike else own[:1]
    return table.share_on(places) / len(places)


def world_name(member: Member) -> str:
    """Return in a few words what distinguishes a world."""
    parts: Sequence[str | None] = (
        member.history,
        None if member.write_cache is None else f"write cache {'on' if member.write_cache else 'off'}",
        f"pools whose clients read {member.load:g} times a second from each drive" if member.load else None,
        member.drive,
    )
    return ", ".join(part for part in parts if part)


def window_share(case: Case, model: PlaneModel) -> float:
    """Return what may be issued and under way, as a share of what is to be issued.

    Returns
    -------
    float
        At most a quarter; 0 of a scan in legacy order.

    Notes
    -----
    OpenZFS dsl_scan.c:scan_exec_io limits the bytes of a sorted scan before parity, issued are those with it.
    """
    if case.operation == "expand":
        return min(0.25, case.release.tunables["raidz_expand_max_copy_bytes"] / max(case.alloc, 1.0))
    if case.operation == "remove":
        return min(0.25, OUTSTANDING / max(case.alloc / len(case.layout.data), 1.0))
    if case.operation == "rebuild":
        number = next(number for number, vdev in enumerate(model.vdevs) if vdev.damaged)
        window = rebuild_window(model, number, case.release, case.memory)
        slab = 1 << metaslab_shift(case.pool_size // len(case.layout.data), case.release)
        in_slab = slab * min(1.0, progress_number("layout.slab_fill") * case.fill)
        held = in_slab if window.counts_blocks else min(window.limit, in_slab)
        return min(0.25, held / max(case.alloc, 1.0))
    if case.release.order != "sorted":
        return 0.0
    stored = [vdev for vdev in model.vdevs if vdev.alloc_class != LOG]
    damaged = [vdev for vdev in stored if vdev.damaged]
    vdevs = damaged or stored
    # The limit counts bytes before parity (dsl_scan.c:scan_exec_io), issued those with it.
    held = sum(vdev_window(vdev, case.release).limit * with_parity(vdev) for vdev in vdevs)
    of = case.alloc * (case.first_vdev_share if damaged else 1.0)
    return min(0.25, held / max(of, 1.0))


def with_parity(vdev: VdevModel) -> float:
    """Return bytes allocated over bytes of data, in whole stripes."""
    columns = kind_of(vdev.kind).columns(vdev)
    return columns / max(1, columns - vdev.parity)


def closing_s(case: Case, tail_s: float) -> float:
    """Return how long a scan takes to be over after its last I/O.

    Parameters
    ----------
    case : Case
    tail_s : float
        That of the simulated run [s].

    Returns
    -------
    float
        [s]

    Notes
    -----
    A rebuild makes no txg of its own: its end is noted in the one that is open, which an idle pool closes
    when zfs_txg_timeout is over (vdev_rebuild.c:vdev_rebuild_complete_sync; 3.7 to 4.5 s seen in four runs).
    """
    if case.operation != "rebuild":
        return tail_s
    return max(
        tail_s, progress_number("layout.rebuild_closes") * float(case.release.tunables["zfs_txg_timeout"])
    )
