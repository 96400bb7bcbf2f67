"""The same pool another way: in the other scan order, repaired otherwise, then scrubbed, from few worlds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from zsim.base.constants import whole_constant
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.prediction.answer.records import Alternative, Quantiles
from zsim.prediction.inputs.clients import repaired
from zsim.prediction.inputs.hardware import under
from zsim.prediction.inputs.population import NoRoomError, miniature
from zsim.prediction.inputs.processor import timed_rules
from zsim.prediction.runs.expanding import healthy_scrub
from zsim.prediction.runs.one_tile import run_pool, run_world
from zsim.prediction.runs.what_if import is_crowded, small_rebuild
from zsim.prediction.statistics.slopes import is_learned
from zsim.prediction.statistics.surface import RanWorld, ResponseSurface, runs_of
from zsim.prediction.work import Work
from zsim.scenario.releases.profile import Operation
from zsim.scenario.words import NO_REPAIR
from zsim.vdevs.kind import kind_of

FEW_WORLDS, FEW_LEGACY = whole_constant("work.few_worlds"), whole_constant("work.few_legacy_worlds")
Plane = Callable[[PlaneModel, Case], PlaneModel]
"""From the data plane of a world to that of the same world another way."""


class AlternativeEstimate(NamedTuple):
    """A duration [s], and half its 95 % interval as a share of it; None: one world tells it."""

    time_s: float
    half_width: float | None


@dataclass(frozen=True, slots=True)
class ScanAlternative:
    """Another way to do the same.

    Attributes
    ----------
    name, note : str
        As `Alternative` has them.
    change : callable
        From a case to the same case done that way.
    """

    name: str
    note: str
    change: Callable[[Case], Case]


def other_ways(case: Case) -> tuple[ScanAlternative, ...]:
    """Return the other scan order, and the other way to repair; none of scrubs, expansions and removals."""
    if case.operation in NO_REPAIR:
        return ()
    orders = () if case.operation == "rebuild" else (_other_order(case),)
    return (*orders, *_other_repair(case))


def _other_order(case: Case) -> ScanAlternative:
    release = case.release
    if release.order == "sorted":
        other = release.with_tunables({"zfs_scan_legacy": 1})
        return ScanAlternative(
            "legacy", f"{release.name} with zfs_scan_legacy=1", partial(replace, release=other)
        )
    compared = case.candidates.sorted_release
    assert compared is not None
    return ScanAlternative(
        "sorted", f"the same pool under {compared.name}", partial(replace, release=compared)
    )


def _other_repair(case: Case) -> tuple[ScanAlternative, ...]:
    """Return a healing resilver or a sequential rebuild, where ZFS can do either."""
    kind = kind_of(case.layout.vdevs[0].kind)
    if not kind.can_be_rebuilt_by(case.release) or (case.replace > 1 and kind.is_replicated):
        return ()
    other: Operation = "resilver" if case.operation == "rebuild" else "rebuild"
    name = "healing resilver" if other == "resilver" else "sequential rebuild"
    note = "verifies as it goes" if other == "resilver" else "a scrub has to verify it afterwards"
    return (ScanAlternative(name, note, partial(replace, operation=other)),)


def alternatives(work: Work) -> tuple[Alternative, ...]:
    """Return how long the other ways take [s]; a way that leaves no world room is left out."""
    found = []
    for way in other_ways(work.case):
        told = _crowded(work, way) or estimate(work, way.change)
        if told is not None:
            time_s = work.with_errors(told.time_s)
            error_s = None if told.half_width is None else told.half_width * time_s
            found.append(
                Alternative(
                    name=way.name, resilver_s=Quantiles(p50=time_s), half_width_s=error_s, note=way.note
                )
            )
    return tuple(found)


def _crowded(work: Work, way: ScanAlternative) -> AlternativeEstimate | None:
    """Return the duration of a rebuild of which hardly anything is simulated but what clients ask for."""
    assert work.baseline is not None
    if not is_crowded(work.baseline, way.change(work.case).operation):
        return None
    return AlternativeEstimate(work.sound_quantiles[1] * small_rebuild(work.baseline), None)


def scrub_share(work: Work) -> float | None:
    """Return how long the scrub that follows a copy takes, relative to it; None: none follows.

    It reads the whole pool, with the new drive or the distributed spare in place (vdev_rebuild.c: 2.0 always
    starts one, later releases where zfs_rebuild_scrub_enabled is set; vdev_raidz.c: zfs_scrub_after_expand).
    """
    case, baseline = work.case, work.baseline
    tunables = case.release.tunables
    if case.operation == "expand" and tunables.get("zfs_scrub_after_expand", 1):
        assert baseline is not None
        rules = timed_rules(case, "scrub")
        return baseline.time(
            model=replace(healthy_scrub(baseline.result.model), scan=rules), operation="scrub"
        )
    if case.operation != "rebuild" or not tunables.get("zfs_rebuild_scrub_enabled", 1):
        return None
    found = estimate(work, partial(replace, operation="scrub"), _repaired)
    return None if found is None else found.time_s / work.sound_quantiles[1]


def _repaired(model: PlaneModel, case: Case) -> PlaneModel:
    return replace(repaired(model), scan=timed_rules(case, "scrub"))


def estimate(work: Work, change: Callable[[Case], Case], plane: Plane = under) -> AlternativeEstimate | None:
    """Return the median duration of the same pool another way, from a few of its worlds.

    Parameters
    ----------
    work : Work
        That has been run.
    change : callable
        From a case to the same case done that way.
    plane : callable
        From a world's data plane and its changed case to the plane of that.

    Returns
    -------
    AlternativeEstimate or None
        None where no world has room for what it would store.

    Notes
    -----
    A prediction of the changed pool, from few of the same worlds: those that tell most of its median by what
    other scenarios taught.  Each has a population of its own, laid out for that way: what is near to
    what depends on the order in which it is read.  Evidence moves the median as it moves that of the answer.
    """
    case = change(work.case)
    if case.exact or not is_learned(case):
        return _of_one_world(work, change, plane)
    surface = ResponseSurface(case, work.inputs, work.answered_blocks)
    known = work.members[: max(1, len(work.small))]
    count = FEW_LEGACY if case.release.order == "legacy" else FEW_WORLDS
    scores = np.array([each.scores for each in known] or [()] * count)
    ran = []
    for place in surface.first_telling(scores, work.member_blocks, count):
        world = work.world(place)
        with contextlib.suppress(NoRoomError):
            result = run_world(change(world.case), work.member_blocks, partial(plane, world.plane))
            score = tuple(scores[place].tolist())
            ran.append(RanWorld(score, work.member_blocks, result.time_s, result.clients))
    if not ran:
        return None
    try:
        told = surface.estimate(runs_of(ran))
    except OverflowError:  # so far from the scenarios that taught the slopes that these tell nothing
        return _of_one_world(work, change, plane)
    return AlternativeEstimate(told.quantiles[1] * _moved_by_evidence(work), told.half_width)


def _moved_by_evidence(work: Work) -> float:
    """Return the answer over what it would be without the evidence; 1 where there is none."""
    if work.weighing is None or not work.small:
        return 1.0
    surface = ResponseSurface(work.case, work.inputs, work.answered_blocks)
    return work.sound_quantiles[1] / surface.estimate(runs_of(work.small_runs)).quantiles[1]


def _of_one_world(work: Work, change: Callable[[Case], Case], plane: Plane) -> AlternativeEstimate | None:
    """Return the answer times the ratio on the world that is shown."""
    baseline = work.baseline
    assert baseline is not None
    case = change(baseline.case)
    try:
        pool = miniature(case, blocks=min(len(baseline.pool.table), work.shown_blocks))
    except NoRoomError:
        return None
    ratio = run_pool(case, pool, plane(baseline.result.model, case)).time_s / baseline.result.time_s
    return AlternativeEstimate(work.sound_quantiles[1] * ratio, None) if math.isfinite(ratio) else None
