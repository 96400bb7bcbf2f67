"""The chance of loss while a plan is carried out; the redundancy at each moment comes from the timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.planning.risk.evaluate import Loss, any_of, loss_of
from zsim.planning.risk.one_vdev.alone import lost_alone
from zsim.planning.risk.one_vdev.chain import ChainCase, LossChances, averaged, in_window
from zsim.planning.risk.one_vdev.group import Floats, Group, Worlds
from zsim.planning.risk.one_vdev.latent import on_any, present, tripped
from zsim.planning.risk.one_vdev.solve import transitions
from zsim.scenario.evidence import gone_drives, missing_elsewhere

if TYPE_CHECKING:
    from zsim.planning.timeline.plan import Plan
    from zsim.planning.timeline.records import TimelineAnswer


class RedundancyStretch(NamedTuple):
    """A time with the same redundancy: its length in the middle world [s], and drives that may yet fail."""

    length: float
    left: int


@dataclass(frozen=True, slots=True)
class VdevStory:
    """What a plan does to one vdev.

    Attributes
    ----------
    group : Group
    failures : int
        Drives that fail in the plan, and those that have failed before: they tell something of the others.
    stretches : tuple of RedundancyStretch
        In order, the first at the beginning of the plan.
    """

    group: Group
    failures: int
    stretches: tuple[RedundancyStretch, ...]


def stories_of(plan: Plan, timeline: TimelineAnswer, groups: Mapping[int, Group]) -> tuple[VdevStory, ...]:
    """Return what a plan does to each vdev.

    Parameters
    ----------
    plan : Plan
    timeline : TimelineAnswer
        Of this plan.
    groups : mapping of int to Group
        By the number of the top-level vdev.

    Raises
    ------
    InputError
        When the pool is not whole in the end: the chance of that is no question.  Of what is left of a repair
        it is one, where a drive of another vdev stays missing.
    """
    if timeline.whole_s["p50"] is None and not rest_words(plan):
        allowed = "the plan itself leaves the pool without its redundancy, or loses it"
        raise InputError("plan", plan.title or str(plan.pool.layout), allowed, "see 'zsim timeline'")
    found, before = [], _failed_before(plan)
    for number, group in groups.items():
        levels = [each for each in timeline.redundancy if _is_of(each.vdev, number, plan)]
        stretches = tuple(
            RedundancyStretch(each.to_s - each.from_s, min(each.left, group.tolerance))
            for each in levels
            if each.to_s > each.from_s
        )
        failing = [each for each in plan.expanded if each.do == "fail" and each.vdev == number]
        failed = before[number] + sum(len(each.numbers) for each in failing)
        found.append(VdevStory(group, failed, stretches))
    return tuple(found)


def _is_of(name: str, number: int, plan: Plan) -> bool:
    """Tell whether a vdev has this number; by the names of a status, which count in another order."""
    if number < len(plan.vdev_names):
        return name == plan.vdev_names[number]
    return name.endswith(f"-{number}")


def rest_words(plan: Plan) -> str:
    """Return what runs, of a plan that is the repair that runs alone; else nothing."""
    running = plan.running_as_stated
    if running is None or running.kind == "scrub" or plan.events:
        return ""
    return f"the {running.kind} that runs{', as zsim eta estimates' if running.left is not None else ''}"


def scrubs(plan: Plan) -> bool:
    """Tell whether a plan is one scrub of a whole pool, and nothing else."""
    running = plan.running
    begins = ["scrub"] if running is None else []
    return (running is None or running.kind == "scrub") and [each.do for each in plan.events] == begins


def _failed_before(plan: Plan) -> Counter[int]:
    """Return by vdev how many drives have failed when a plan begins."""
    vdevs = plan.pool.pool_layout.vdevs
    vdev_of = [number for number, vdev in enumerate(vdevs) for _ in range(vdev.children)]
    running, seen = plan.running_as_stated, plan.pool.evidence or ()
    gone = gone_drives(seen) if running is None else missing_elsewhere(seen, vdevs[0].children)
    leaves = (0 if each.leaf is None or each.leaf >= len(vdev_of) else each.leaf for each in gone)
    found = Counter(vdev_of[leaf] for leaf in leaves)
    if running is not None and running.kind != "scrub":
        replaced = (*running.drives, *running.waiting) if running.old_drive == "missing" else ()
        found[running.vdev] += len(replaced) + running.missing
        for each in running.beside:
            found[each.vdev] += len(each.drives) if each.old_drive == "missing" else 0
    return found


def story_loss(stories: Sequence[VdevStory], worlds: Worlds, pace: Floats) -> Loss:
    """Return the chances within a plan.

    Parameters
    ----------
    stories : sequence of VdevStory
    worlds : Worlds
    pace : ndarray, shape (worlds,)
        How long the plan takes in each world, as a multiple of the middle one [1].

    Notes
    -----
    Further failures come as a Markov chain through the stretches of the plan: a vdev is lost when more drives
    are missing, those of the plan and further ones, than it has parity.  A further drive is back after
    `Worlds.missing`, which is none within a single repair.
    """
    none = np.zeros(len(worlds))
    losses = []
    for story in stories:
        found = _vdev_chances(story, worlds, pace)
        losses.append((1, loss_of(story.group, worlds, found.files, found.vdev, none)))
    files, vdev, pool = (
        any_of([(count, getattr(loss, name)) for count, loss in losses]) for name in ("files", "vdev", "pool")
    )
    return Loss(files, vdev, pool, none)


def degraded_loss(group: Group, worlds: Worlds, missing: int) -> Loss:
    """Return the chances within one repair that begins with several drives missing, or with none.

    Parameters
    ----------
    group : Group
    worlds : Worlds
    missing : int
        Drives, no more than the group tolerates; 0: the one that is replaced still works.

    Notes
    -----
    One stretch as long as `Worlds.missing` (where none is missing, as `Worlds.hours`), in which none is back.
    With as many missing as there is parity it is ``1 - exp(-(children - missing) * rate * missing_time)``,
    latent errors left out.  Where each failure starts the repair anew it is `chain.in_window` from there on.
    """
    if group.discipline == "restart" and missing > 1:
        found = in_window(group, worlds, missing)
        return loss_of(group, worlds, found.files, found.vdev, np.zeros(len(worlds)))
    story = VdevStory(group, missing, (RedundancyStretch(1.0, group.tolerance - missing),))
    return story_loss((story,), worlds, worlds.missing if missing else worlds.hours)


def _vdev_chances(story: VdevStory, worlds: Worlds, pace: Floats) -> LossChances:
    if not story.group.tolerance:
        length = sum(each.length for each in story.stretches)
        return LossChances(*lost_alone(story.group, worlds, length * pace))
    share = present(worlds, story.group.age)

    def chance(case: ChainCase, places: NDArray[np.intp], costly: bool) -> Floats:
        return _lost(story, case, pace[places], costly)

    return averaged(story.group, worlds, share, story.failures, chance)


def _lost(story: VdevStory, case: ChainCase, pace: Floats, costly: bool) -> Floats:
    """Return the chance of loss by the end of the plan, one a chain."""
    group = story.group
    further = np.zeros((len(pace), group.tolerance + 1))  # chance of so many further drives missing
    further[:, 0] = 1.0
    lost, before, begun = np.zeros(len(pace)), group.tolerance, 0.0
    cost = on_any(case.share, group.children - group.tolerance) if costly else np.zeros(len(pace))
    for length, left in story.stretches:
        if left < before:
            _trip(group, case, further, group.tolerance - before)
        lost += further[:, left + 1 :].sum(axis=1)
        further[:, left + 1 :] = 0.0
        if left < before:
            lost += further[:, left] * cost
            further[:, left] *= 1.0 - cost
        begin, end = begun * pace, (begun + length) * pace
        early = np.clip(case.worlds.missing - begin, 0.0, end - begin)
        # None of the further drives can be back before one repair's time has passed.
        for span, back in ((early, 0.0), (end - begin - early, 1.0 / case.worlds.missing)):
            step = transitions(_rates(group, case, left, cost, back), span)
            lost += np.einsum("ck,ck->c", further[:, : left + 1], step[:, :-1, -1])
            further[:, : left + 1] = np.einsum("ck,ckj->cj", further[:, : left + 1], step[:, :-1, :-1])
        before, begun = left, begun + length
    return np.clip(lost, 0.0, 1.0)


def _trip(group: Group, case: ChainCase, further: Floats, missing: int) -> None:
    """Let ZED fault drives for their latent errors, as a repair begins to read them."""
    for extra in range(group.tolerance - missing - 1, -1, -1):
        moved = further[:, extra] * tripped(group, case.worlds, case.share, missing + extra)
        further[:, extra] -= moved
        further[:, extra + 1] += moved


def _rates(group: Group, case: ChainCase, left: int, cost: Floats, back: Floats | float) -> Floats:
    """Return the rates between numbers of further drives missing; the end is loss."""
    rates = np.zeros((len(cost), left + 1, left + 2))
    for extra in range(left + 1):
        missing = group.tolerance - left + extra
        more = tripped(group, case.worlds, case.share, missing)
        for to, rate in (
            (extra + 1, case.failing(missing) * (1.0 - more)),
            (extra + 2, case.failing(missing) * more),
        ):
            if to > left + 1:
                continue  # ZED faults no drive that is needed
            taken = cost if to == left else 0.0 * cost
            rates[:, extra, to] += rate * (1.0 - taken)
            rates[:, extra, -1] += rate * taken
        if extra:
            rates[:, extra, extra - 1] += extra * back
    return rates
