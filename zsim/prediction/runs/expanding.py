"""One world's RAID-Z expansion at the size of the real pool.

Far from where it began nothing but the drives limits the copying, so that a miniature, its metaslabs at
their real places, tells its pace; the txgs that the start waits for are counted one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.background.expansion import ExpansionWork, Reflow, expanding, with_maps
from zsim.operation.result import seconds_of
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.scan.rebuild import allocated_ranges
from zsim.vdevs.kind import kind_of


@dataclass(frozen=True, slots=True)
class ExpansionRun:
    """What an expansion takes.

    Attributes
    ----------
    copying_s : float
        Copying without a wait [s].
    waiting_s : float
        For txgs, where it starts and at its end [s].
    starting_txgs : int
        Txgs that it waits for where it starts.
    run : RunResult
        Of the miniature.
    """

    copying_s: float
    waiting_s: float
    starting_txgs: int
    run: RunResult


def expansion_of(case: Case, setup: RunSetup, scale: float) -> ExpansionRun:
    """Simulate the copying of a miniature, and count the txgs of the start.

    Parameters
    ----------
    case : Case
    setup : RunSetup
        Of the miniature.
    scale : float
        Bytes of the real vdev over those of the miniature.
    """
    reflow = _ranges(setup)
    work = ExpansionWork(with_maps(setup), reflow, freely=True)
    run = Run(setup, work=work).finish()
    copying = seconds_of(run.phases)
    txg = max(0.0, run.end - copying)
    rate = reflow.bytes / max(copying, 1e-9)
    kind = kind_of(case.layout.vdevs[0].kind)
    space = kind.address_space(case.layout.vdevs[0], case.drive_size)
    timeout = float(case.release.tunables["zfs_txg_timeout"])
    txgs = starting_txgs(reflow, space, reflow.bytes * scale / space, rate, timeout)
    return ExpansionRun(copying * scale, (txgs + 1) * txg, txgs, run)


def starting_txgs(reflow: Reflow, space: int, filled: float, rate: float, timeout: float) -> int:
    """Return how many txgs the start of an expansion waits for.

    Each lets the copying go on by a share 1 / W of what has been done; it waits until that takes longer than
    a txg lasts by itself.

    Parameters
    ----------
    reflow : Reflow
        Drives and sectors of the vdev.
    space : int
        Address space of the real vdev [bytes].
    filled : float
        Share of it that is allocated.
    rate : float
        Pace of the copying [bytes/s].
    timeout : float
        zfs_txg_timeout [s].
    """
    reached, txgs = reflow.scratch_bytes, 1
    while reached < space and (reflow.limit(reached) - reached) * filled < timeout * rate:
        reached, txgs = reflow.limit(reached), txgs + 1
    return txgs


def _ranges(setup: RunSetup) -> Reflow:
    """Return what of a miniature is moved.

    The last sector of each real metaslab, which moves too, is left out: a miniature has fewer blocks.
    """
    number = expanding(setup)
    begin, end = allocated_ranges(setup.blocks, number)
    vdev = setup.model.vdevs[number]
    return Reflow(number, np.asarray(begin), np.asarray(end), vdev.children, vdev.ashift)


def healthy_scrub(model: PlaneModel) -> PlaneModel:
    """Return the plane after the expansion: its new drive is one of the vdev's.

    Returns
    -------
    PlaneModel
        The vdev one child wider, of the kind that has grown once more, and nothing of it is written.
    """
    number = next(number for number, vdev in enumerate(model.vdevs) if kind_of(vdev.kind).expanded)
    vdev, new = model.vdevs[number], len(model.leaves) - 1
    width = len(vdev.read_leaf) + 1
    grown = replace(
        vdev,
        kind=kind_of(vdev.kind).expanded,
        data=width - vdev.parity,
        grown=vdev.grown + 1,
        read_leaf=(*vdev.read_leaf, new),
        write_leaf=(-1,) * width,
    )
    return replace(model, vdevs=(*model.vdevs[:number], grown, *model.vdevs[number + 1 :]))
