"""What each sick drive costs, and what taking it offline would bring: one world, one thing different."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.drives.models.health import SOUND
from zsim.engine.model import PlaneModel
from zsim.prediction.answer.records import Advice, SickDrive
from zsim.prediction.inputs.bad_sectors import LostTime, recovery, spare_children
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.sick import sick_leaves, slow_leaves, without_slow
from zsim.prediction.runs.what_if import Baseline

WORTH_NAMING = constant("answer.worth_naming")
WORTH_SAYING = constant("answer.worth_saying")


def without_faulted(bench: Baseline, sound_s: float) -> float:
    """Return the duration without the drives that ZED faults, over that with them.

    Parameters
    ----------
    bench : Baseline
    sound_s : float
        Duration were every sector read at once [s].

    Returns
    -------
    float
        1 where none of the drives that are faulted is slow [1].
    """
    faulted = [each.drive for each in recovery(bench.case, sound_s) if each.faulted_s is not None]
    if not set(faulted) & slow_leaves(bench.case):
        return 1.0
    model = bench.result.model
    for drive in faulted:
        model = _without(model, drive)
    return bench.time(model=model)


def sick_drives(
    bench: Baseline, sound_s: float, answer_s: float, predicted_s: Mapping[int, float] | None = None
) -> tuple[SickDrive, ...]:
    """Return what each sick drive costs, the dearest first.

    Parameters
    ----------
    bench : Baseline
    sound_s : float
        The answer without the time that bad sectors take [s].
    answer_s : float
        The answer [s].
    predicted_s : mapping of int to float, optional
        Such an answer with one slow drive, by its leaf, as good as its peers; by default the ratio is that of
        the world shown [s].
    """
    case = bench.case
    lost = {each.drive: each for each in recovery(case, sound_s)}
    known = predicted_s or {}
    found = (_one(bench, leaf, (sound_s, answer_s, known.get(leaf)), lost) for leaf in sick_leaves(case))
    return tuple(sorted(found, key=lambda each: each.sound_s))


def _one(
    bench: Baseline, leaf: int, seconds: tuple[float, float, float | None], lost: dict[int, LostTime]
) -> SickDrive:
    case, run = bench.case, bench.shown.run
    sound_s, answer_s, predicted_s = seconds
    others = math.fsum(each.seconds for drive, each in lost.items() if drive != leaf)
    own = lost.get(leaf, LostTime(leaf, 0.0, 0, 0.0, None))
    share = bench.time(model=_as_sound(bench, leaf)) if leaf in slow_leaves(case) else 1.0
    well_s = sound_s * share if predicted_s is None else predicted_s
    sound = well_s + others
    offline = None
    if _may_go(case, leaf):
        # Beside a sound drive: what reading one drive less brings differs less from world to world.
        offline = well_s * bench.time(model=_without(bench.result.model, leaf)) / share + others
    return SickDrive(
        drive=case.scenario.drive_of(leaf),
        name=bench.result.model.leaves[leaf].name,
        utilisation=min(1.0, float(run.leaves["busy"][leaf]) / max(run.end, 1e-9)),
        sets_pace=sound < (1.0 - WORTH_NAMING) * answer_s,
        sound_s=sound,
        offline_s=offline,
        sits_out=leaf in case.sitting,
        errors=own.errors,
        error_s=own.each_s,
        lost_s=own.seconds,
        faulted_s=own.faulted_s,
        left=max(0, spare_children(case) - 1),
    )


def _as_sound(bench: Baseline, leaf: int) -> PlaneModel:
    """Return the plane with one drive as good as its peers."""
    model = bench.result.model
    well = plane_model(without_slow(bench.case, (leaf,)))
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
