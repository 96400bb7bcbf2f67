"""Which slow drives ``autosit`` excludes from reads: found on a small population, by the rules of 2.4.

Finding a slow drive takes some 20 s of a run of hours, so in the runs that follow it sits out from the start.
"""

from __future__ import annotations

from dataclasses import replace

from zsim.base.constants import whole_constant
from zsim.case.case import Case
from zsim.operation.rules import sit_out_rules
from zsim.operation.run import Run
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.inputs.sick import sick_leaves
from zsim.prediction.runs.member import setup_of

PROBE_BLOCKS = whole_constant("work.sit_out_blocks")


def sits_out(case: Case) -> frozenset[int]:
    """Return the drives that sit out in a case.

    Returns
    -------
    frozenset of int
        Leaves that a small population saw sit out at least once; none unless ``autosit`` is on and a drive is
        sick.

    Notes
    -----
    OpenZFS 2.4 vdev_raidz.c; the rule is in `zsim.engine.sit_out`.
    """
    if not case.scenario.autosit or case.operation != "resilver" or not sick_leaves(case):
        return frozenset()
    rules = sit_out_rules(case.release)
    if rules is None:
        return frozenset()
    model, pool = plane_model(case), miniature(case, blocks=PROBE_BLOCKS)
    watched = replace(model, vdevs=tuple(replace(vdev, autosit=rules) for vdev in model.vdevs))
    run = Run(setup_of(case, pool, watched))
    run.execute()
    counted = [
        (vdev.read_leaf[child], times)
        for vdev, sat in zip(model.vdevs, run.plane.sat_out, strict=True)
        for child, times in enumerate(sat)
    ]
    run.release()
    return frozenset(leaf for leaf, times in counted if times > 0)
