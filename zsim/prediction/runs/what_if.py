"""Run the same member with one thing changed: other orders, no load, other records, faster parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.model import LeafModel, PlaneModel, WriterModel
from zsim.operation.blocks import KeptTables
from zsim.prediction.inputs.hardware import on_own_ports, shared_link, under
from zsim.prediction.inputs.population import NoRoomError, WorldPopulation, miniature
from zsim.prediction.runs.member import MemberResult, processor_share, run_member
from zsim.prediction.runs.middle_world import SHOWN_BLOCKS, MiddleWorld, is_narrow
from zsim.prediction.runs.one_tile import is_tile, run_pool, run_world
from zsim.scenario.releases.profile import Operation, ReleaseProfile

RECORD_BLOCKS = whole_constant("work.small_blocks")
HEAVY, MUCH_LARGER = whole_constant("response.heavy"), constant("response.much_larger")
WORTH_SAYING = constant("answer.worth_saying")
READ_S, CROWD = constant("clients.read_s"), constant("clients.crowd")
"""Blocks that clients ask for [1/s], from which on they are most of what a rebuild simulates."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A member ready to be run again with something changed.

    Attributes
    ----------
    case : Case
        In its world.
    pool : WorldPopulation
        The first tile, or a large miniature: what does not outlast the drives' write caches compares nothing.
    result : MemberResult
        On that one.
    detail : MemberResult, optional
        The best there is on that world, of several tiles.
    kept : KeptTables
        What was made of the blocks, for a tile.
    answer_s : float
        The answer that its ratios are told as shares of [s].
    """

    case: Case
    pool: WorldPopulation
    result: MemberResult
    detail: MemberResult | None = None
    kept: KeptTables = field(default_factory=KeptTables, repr=False, compare=False)
    answer_s: float = 1.0
    _lighter: list[Baseline] = field(default_factory=list, repr=False, compare=False)

    @property
    def shown(self) -> MemberResult:
        """The best result there is."""
        return self.detail or self.result

    @property
    def tiled(self) -> bool:
        """Whether the result is that of a tile."""
        return is_tile(self.case, self.result.model, self.pool)

    def scaled_to(self, answer_s: float) -> Baseline:
        """Return the same runs, for an answer of this length [s]."""
        return replace(self, answer_s=answer_s)

    def time(
        self,
        *,
        model: PlaneModel | None = None,
        release: ReleaseProfile | None = None,
        operation: Operation | None = None,
    ) -> float:
        """Return the duration with other hardware, another release or operation, over the result's.

        Parameters
        ----------
        model : PlaneModel, optional
            Instead of the world's own under that release and operation.
        release : ReleaseProfile, optional
        operation : Operation, optional

        Returns
        -------
        float
            On the same population, with the same seed: common random numbers [1].
        """
        here = self._light() if self.tiled else self
        return here.run(model=model, release=release, operation=operation).time_s / here.result.time_s

    def run(
        self,
        *,
        model: PlaneModel | None = None,
        release: ReleaseProfile | None = None,
        operation: Operation | None = None,
    ) -> MemberResult:
        """Return the run with other hardware, another release or operation; as `time` takes them."""
        case = replace(
            self.case,
            release=release or self.case.release,
            operation=operation or self.case.operation,
        )
        if model is None:
            model = under(self.result.model, case)
        if self.tiled:
            return run_pool(case, self.pool, model, self.kept)
        return run_member(case, pool=self.pool, model=model)

    def _light(self) -> Baseline:
        """Return the same world on a small tile where a large one is much work, made once.

        Large records are: of a vdev of few children the ratio of two runs is the same on fewer of them.
        """
        large = self.result.run.children > HEAVY and len(self.pool.table) > MUCH_LARGER * SHOWN_BLOCKS
        if not large or not is_narrow(self.case) or self.case.scenario.block_list is not None:
            return self
        if not self._lighter:
            pool, kept = miniature(self.case, blocks=SHOWN_BLOCKS), KeptTables()
            result = run_pool(self.case, pool, self.result.model, kept)
            self._lighter.append(Baseline(self.case, pool, result, kept=kept))
        return self._lighter[0]

    def forget(self) -> None:
        """Let go of what was made of the blocks, some megabytes."""
        self.kept.forget()
        self._lighter.clear()


def baseline_of(middle: MiddleWorld) -> Baseline:
    """Return the first tile of the middle world, which has been run, with all that is known of that world."""
    first = middle.first_tile() or run_pool(middle.case, middle.pool, middle.model)
    return Baseline(middle.case, middle.pool, first, middle.result())


def is_crowded(baseline: Baseline, other: Operation) -> bool:
    """Tell whether a rebuild on as many blocks would simulate hardly anything but what clients ask for."""
    asked = math.fsum(
        each.count * each.blocks / (each.think_s + READ_S) for each in baseline.result.model.clients
    )
    return other == "rebuild" and asked > CROWD


def small_rebuild(baseline: Baseline) -> float:
    """Return the duration of a rebuild on a small population, over the result's.

    A rebuild reads whole metaslabs, and how many of them are simulated changes little.
    """
    case = replace(baseline.case, operation="rebuild")
    pool = miniature(case, blocks=RECORD_BLOCKS)
    return (
        run_member(case, pool=pool, model=under(baseline.result.model, case)).time_s / baseline.result.time_s
    )


def unloaded(baseline: Baseline) -> float | None:
    """Return the duration without the load that is stated; None where none is.

    Returns
    -------
    float or None
        The answer times the ratio without and with the load on the world that is shown [s].
    """
    if not baseline.case.scenario.load:
        return None
    quiet = replace(baseline.result.model, clients=(), writer=WriterModel())
    # A run with hours takes its clients from the case, by the hour.
    return baseline.answer_s * replace(baseline, case=replace(baseline.case, load=())).time(model=quiet)


RECORDS = (
    whole_constant("answer.record_volume"),
    whole_constant("answer.record_default"),
    whole_constant("answer.record_large"),
)
"""Sizes of records that pools have most: the defaults of volumes and file systems, of archives [bytes]."""


def other_records(baseline: Baseline) -> dict[int, float]:
    """Return the duration with records of other sizes than the stated use of the pool has.

    Returns
    -------
    dict of int to float
        By record size [bytes] the answer times the ratio to the records of the use, both on populations of
        `RECORD_BLOCKS` [s], of sizes for which these have room.  Empty where the record size is stated or
        known, or goes with a use that is itself sampled.
    """
    case = baseline.case
    if not case.assumed("recordsize") or case.scenario.history is None or case.facts.records is not None:
        return {}
    model, most = baseline.result.model, case.largest_record
    own = {kind.recordsize for kind in case.history.records}
    sizes = [size for size in RECORDS if size <= most and own != {size}]
    cases = [_of_records(case, size) for size in sizes]
    here, *others = (_small_time(each, model) for each in [case, *cases])
    if here is None:
        return {}
    found = zip(sizes, others, strict=True)
    return {size: baseline.answer_s * other / here for size, other in found if other is not None}


def _small_time(case: Case, model: PlaneModel) -> float | None:
    """Return the duration on a small population [s]; None: it has no room for such records."""
    try:
        return run_world(case, RECORD_BLOCKS, partial(under, model)).time_s
    except NoRoomError:
        return None


def _of_records(case: Case, size: int) -> Case:
    stated = case.scenario.model_copy(update={"recordsize": size})
    return replace(case, scenario=stated, recordsize=size)


def instant(drive: DriveParameters) -> DriveParameters:
    """Return a drive that takes no time.

    Returns
    -------
    DriveParameters
        As large, flash of 1e15 bytes/s without latency; rotating if the drive is, by which ZFS chooses sides.
    """
    return DriveParameters(
        capacity_bytes=drive.capacity_bytes,
        kind="flash",
        parallel_commands=1,
        flash_read_rate=1e15,
        flash_write_rate=1e15,
        rotating=drive.rotating,
    )


def without_each(baseline: Baseline) -> dict[str, float]:
    """Return the duration if one kind of resource took no time.

    Returns
    -------
    dict of str to float
        By kind (source, target, link, processor) the answer times the ratio without and with it on the world
        that is shown [s].  The processor is tried where a thread of the scan is busy much of the time.

    Notes
    -----
    Clients ask as often as they do beside the drives there are: those that never pause would ask for ever at
    once of a drive that takes no time.
    """
    model = at_their_rate(baseline.result)
    trials = {
        role: with_leaves(model, role, lambda leaf: replace(leaf, drive=instant(leaf.drive)))
        for role in dict.fromkeys(leaf.role for leaf in model.leaves if leaf.role in ("source", "target"))
    }
    if any(shared_link(model, number) >= 0 for number in range(len(model.leaves))):
        trials["link"] = on_own_ports(model)
    if processor_share(baseline.result) > WORTH_SAYING:
        trials["processor"] = replace(model, scan=replace(model.scan, issue_s=0.0, pointer_s=0.0))
    return {kind: baseline.answer_s * baseline.time(model=changed) for kind, changed in trials.items()}


def at_their_rate(result: MemberResult) -> PlaneModel:
    """Return the plane with clients that ask as often as they were answered, however fast they are.

    Returns
    -------
    PlaneModel
        Their pause is at least ``clients * duration / answers`` (Little's law) [s].
    """
    model, first, groups = result.model, 0, []
    for group in result.model.clients:
        answered = sum(count for count, _ in result.run.clients[first : first + group.count])
        cycle_s = group.count * result.run.end / max(1, answered)
        groups.append(replace(group, think_s=max(group.think_s, cycle_s)))
        first += group.count
    return replace(model, clients=tuple(groups))


def with_leaves(model: PlaneModel, role: str, change: Callable[[LeafModel], LeafModel]) -> PlaneModel:
    """Return the plane with all leaves of a role changed."""
    leaves = tuple(change(leaf) if leaf.role == role else leaf for leaf in model.leaves)
    return replace(model, leaves=leaves)
