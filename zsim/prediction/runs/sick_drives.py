"""The cost of each sick drive, and what taking it offline would save: one world, one thing changed.

What a read of a bad sector does is learnt from a tile that is run with some and without any.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.drives.models.health import SOUND
from zsim.engine.model import PlaneModel, VdevModel
from zsim.operation.setup import damaged_vdev, wanted_blocks
from zsim.pool.blocks import BlockTable
from zsim.prediction.answer.records import Advice, SickDrive
from zsim.prediction.inputs.bad_places import (
    HeldSpace,
    Truths,
    VdevExtents,
    with_bad_sectors,
)
from zsim.prediction.inputs.bad_sectors import (
    LostTime,
    ReadErrors,
    clustered,
    error_seconds,
    generator_of,
    place_of_leaf,
    reckoned,
    sick_that_are_read,
    spare_children,
)
from zsim.prediction.inputs.fault_rules import fault_rule
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.sick import sick_leaves, sickness_number, slow_leaves, without_slow
from zsim.prediction.runs.member import setup_of
from zsim.prediction.runs.one_tile import tile_setup
from zsim.prediction.runs.rebuilding import sampled_metaslabs
from zsim.prediction.runs.what_if import Baseline
from zsim.scan.program import touched
from zsim.scan.rebuild import allocated_ranges, chunks_of
from zsim.scenario.releases.profile import COPIES
from zsim.vdevs.kind import kind_of

WORTH_NAMING = constant("answer.worth_naming")
WORTH_SAYING = constant("answer.worth_saying")


def without_faulted(baseline: Baseline, lost: Iterable[LostTime]) -> float:
    """Return the duration without the drives that are faulted, over that with them.

    Parameters
    ----------
    baseline : Baseline
    lost : iterable of LostTime
        What the bad sectors of each drive cost.

    Returns
    -------
    float
        1 where none of the drives that are faulted is slow [1].
    """
    faulted = [each.drive for each in lost if each.faulted_s is not None]
    if not set(faulted) & slow_leaves(baseline.case):
        return 1.0
    model = baseline.result.model
    for drive in faulted:
        model = _without(model, drive)
    return baseline.time(model=model)


def sick_drives(
    baseline: Baseline,
    sound_s: float,
    answer_s: float,
    lost: Iterable[LostTime] = (),
    predicted_s: Mapping[int, float] | None = None,
) -> tuple[SickDrive, ...]:
    """Return what each sick drive costs, the dearest first.

    Parameters
    ----------
    baseline : Baseline
    sound_s : float
        The answer without the time that bad sectors take [s].
    answer_s : float
        The answer [s].
    lost : iterable of LostTime
        What the bad sectors of each drive cost.
    predicted_s : mapping of int to float, optional
        Such an answer with one slow drive, by its leaf, as good as its peers; by default the ratio is that of
        the world shown [s].
    """
    case = baseline.case
    by_leaf = {each.drive: each for each in lost}
    known = predicted_s or {}
    found = (
        _one(baseline, leaf, (sound_s, answer_s, known.get(leaf)), by_leaf) for leaf in sick_leaves(case)
    )
    return tuple(sorted(found, key=lambda each: each.sound_s))


def _one(
    baseline: Baseline, leaf: int, seconds: tuple[float, float, float | None], lost: dict[int, LostTime]
) -> SickDrive:
    case, run = baseline.case, baseline.shown.run
    sound_s, answer_s, predicted_s = seconds
    others = math.fsum(each.seconds for drive, each in lost.items() if drive != leaf)
    own = lost.get(leaf, LostTime(leaf, 0.0, 0, 0.0, None))
    share = baseline.time(model=_as_sound(baseline, leaf)) if leaf in slow_leaves(case) else 1.0
    well_s = sound_s * share if predicted_s is None else predicted_s
    sound, rule = well_s + others, fault_rule(case)
    offline = None
    if _may_go(case, leaf):
        # Beside a sound drive: what reading one drive less brings differs less from world to world.
        offline = well_s * baseline.time(model=_without(baseline.result.model, leaf)) / share + others
    return SickDrive(
        drive=case.scenario.drive_of(leaf),
        name=baseline.result.model.leaves[leaf].name,
        utilisation=min(1.0, float(run.leaves["busy"][leaf]) / max(run.end, 1e-9)),
        sets_pace=sound < (1.0 - WORTH_NAMING) * answer_s,
        sound_s=sound,
        offline_s=offline,
        sits_out=leaf in case.sitting,
        errors=own.errors,
        error_s=own.each_s,
        lost_s=own.seconds,
        faulted_s=own.faulted_s,
        faulted_by="" if rule is None or own.faulted_s is None else rule.words,
        unreadable=own.blocks,
        left=max(0, spare_children(case, leaf) - 1),
    )


def _as_sound(baseline: Baseline, leaf: int) -> PlaneModel:
    """Return the plane with one drive as good as its peers."""
    model = baseline.result.model
    well = plane_model(without_slow(baseline.case, (leaf,)))
    leaves = tuple(
        replace(old, drive=new.drive, health=SOUND, name=new.name) if number == leaf else old
        for number, (old, new) in enumerate(zip(model.leaves, well.leaves, strict=True))
    )
    return replace(model, leaves=leaves, vdevs=well.vdevs)


def _may_go(case: Case, leaf: int) -> bool:
    """Tell whether a drive that the repair reads can be taken offline without losing data."""
    damaged = range(case.layout.vdevs[0].children)
    return case.operation != "scrub" and leaf in damaged and spare_children(case) > 0


def _without(model: PlaneModel, leaf: int) -> PlaneModel:
    """Return the plane with a drive offline: neither read nor written."""
    vdevs = tuple(
        replace(
            vdev,
            read_leaf=tuple(-1 if each == leaf else each for each in vdev.read_leaf),
            sitting_out=frozenset(each for each in vdev.sitting_out if each[1] != leaf),
        )
        for vdev in model.vdevs
    )
    return replace(model, vdevs=vdevs)


def sick_advice(found: tuple[SickDrive, ...], middle_s: float) -> tuple[Advice, ...]:
    """Return what is worth doing about sick drives."""
    lines = []
    for each in found:
        saved = middle_s - (each.offline_s if each.offline_s is not None else middle_s)
        if saved > WORTH_SAYING * middle_s:
            left = "no redundancy is" if each.left == 0 else f"{each.left} of redundancy {_are(each.left)}"
            why = f"zpool offline POOL DISK; {left} left until it is replaced, which is another resilver"
            lines.append(Advice(action=f"take drive {each.drive} offline", saves_s=saved, why=why))
        elif each.offline_s is None and each.errors > 0 and each.lost_s > WORTH_SAYING * middle_s:
            why = "nothing is left to rebuild from: copy it to a new drive first (ddrescue), and use the copy"
            action = f"do not read drive {each.drive} block by block"
            lines.append(Advice(action=action, saves_s=middle_s - each.sound_s, why=why))
    return tuple(lines)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def read_errors(baseline: Baseline) -> dict[int, ReadErrors]:
    """Return what a read of a bad sector does, by leaf, of every drive that has some and is read.

    Parameters
    ----------
    baseline : Baseline
        The world shown.
    """
    sick = sick_that_are_read(baseline.case)
    if not sick:
        return {}
    table, wanted = _blocks_read(baseline)
    return {leaf: _read_errors(baseline, table, wanted, leaf) for leaf in sick}


def _blocks_read(baseline: Baseline) -> tuple[BlockTable, Truths]:
    """Return the blocks of the world shown, and which of them the operation reads."""
    case, model, pool = baseline.case, baseline.result.model, baseline.pool
    if case.operation in COPIES:
        table = pool.table
        vdev = damaged_vdev(model.vdevs[0])
        grouped = kind_of(vdev.kind).has_groups and case.operation == "rebuild"
        # What copies by address reads all, but for groups of a dRAID that miss nothing.
        every = np.ones(len(table), bool)
        return table, touched(table.dva_offset[:, 0], table.psize, vdev) if grouped else every
    setup = tile_setup(case, model, pool) if baseline.tiled else setup_of(case, pool, model)
    return setup.blocks, wanted_blocks(setup)


def _read_errors(baseline: Baseline, table: BlockTable, wanted: Truths, leaf: int) -> ReadErrors:
    case, vdevs = baseline.case, baseline.result.model.vdevs
    number, child = place_of_leaf(vdevs, leaf)
    vdev = vdevs[number]
    every = HeldSpace(vdev, child, VdevExtents.of_blocks(table, vdev, number, np.ones(len(table), bool)))
    held = VdevExtents.of_blocks(table, vdev, number, wanted)
    if len(held.row) == 0:
        return reckoned(case, leaf)._replace(share=0.0, blocks=0.0)
    share = float(held.asize.sum()) / (every.bytes * every.width)
    read = HeldSpace(vdev, child, _chunks(baseline, vdev) if case.operation == "rebuild" else held)
    blocks = _blocks(case, every, table, wanted, leaf)
    count = round(sickness_number("recovery", "trial.reads"))
    even = (np.arange(count) + generator_of(case, leaf).random(count)) * (read.bytes / count)
    places = [read.sector(float(at)).place for at in even]
    sick = with_bad_sectors(case, baseline.result.model, {leaf: places}, may_fault=False)
    found = baseline.run(model=sick)
    health = found.run.health[leaf]
    errors = int(health["errors"])
    if errors == 0:
        return reckoned(case, leaf)._replace(share=share, blocks=blocks)
    longer_s = max(0.0, found.time_s - baseline.result.time_s) / baseline.result.scale
    return ReadErrors(
        wait_s=longer_s / errors,
        each_s=error_seconds(case, redundant=spare_children(case, leaf) > 0),
        reports=max(1, round(int(health["reported"]) / errors)),
        read_bytes=int(health["failed_bytes"]) / errors,
        share=share,
        blocks=blocks,
    )


def _chunks(baseline: Baseline, vdev: VdevModel) -> VdevExtents:
    """Return what a rebuild of the sampled metaslabs reads: chunks of what is allocated there."""
    sample = sampled_metaslabs(baseline.case, baseline.pool, baseline.result.model)
    chunks = chunks_of(
        *allocated_ranges(sample.table, 0),
        damaged_vdev(vdev),
        metaslab_bytes=1 << sample.metaslab_shift,
        segment_bytes=int(baseline.case.release.tunables["zfs_rebuild_max_segment"]),
    )
    none = np.zeros(len(chunks), np.int64)
    return VdevExtents(chunks.offset, chunks.psize, chunks.psize, none, none)


def _blocks(case: Case, every: HeldSpace, table: BlockTable, wanted: Truths, leaf: int) -> float:
    """Return in how many blocks without another copy a bad sector lies that the scan reads."""
    count = round(sickness_number("recovery", "trial.sectors"))
    places = clustered(generator_of(case, leaf), count, every.bytes)
    rows = np.unique([every.sector(float(at)).row for at in places])
    lost = wanted[rows] & (table.dva_count[rows] == 1)
    return int(lost.sum()) / count
