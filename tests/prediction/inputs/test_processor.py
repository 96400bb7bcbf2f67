"""Processor time of the threads of a scan, by release and number of vdevs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.operation.blocks import ScanBlocks
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.inputs.processor import issue_seconds, pointer_seconds
from zsim.prediction.runs.member import processor_share
from zsim.prediction.runs.one_tile import run_pool, tile_setup
from zsim.scan.program import OP_VISIT
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import load_release

FLASH = {"drive": "generic-nvme-ssd", "fill": 0.5, "history": "vm-host", "load": [], "operation": "scrub"}


def _case(**stated: Any) -> Any:
    return resolve(Scenario.from_dict({**FLASH, **stated}))


@pytest.mark.parametrize(
    ("release", "vdevs", "issue_s"),
    [
        ("openzfs-2.1.5", 1, 1e-5),
        ("openzfs-2.1.5", 12, 2.64e-5),
        ("openzfs-2.1.6", 12, 1e-5),
        ("openzfs-2.3", 12, 1e-5),
        ("zol-0.7.13", 12, 1e-5),
    ],
)
def test_threads_contend_for_a_lock_before_2_1_6(release: str, vdevs: int, issue_s: float) -> None:
    """A legacy scan has one thread, which contends with nobody."""
    assert issue_seconds(load_release(release), vdevs) == pytest.approx(issue_s)


def test_sorting_by_the_exact_score_takes_longer() -> None:
    before, after = (pointer_seconds(load_release(name)) for name in ("openzfs-2.1.5", "openzfs-2.1.6"))
    assert before == pytest.approx(2.14 * after, rel=0.01)


def test_one_traversal_passes_the_pointers_of_all_vdevs() -> None:
    """Of twelve vdevs four are simulated: the thread has three times as much to do as for those."""
    times = []
    for layout in ("4*mirror2", "12*mirror2"):
        case = _case(layout=layout, recordsize="16K")
        pool = miniature(case, blocks=20_000)
        model = plane_model(case)
        run = run_pool(case, pool, model)
        times.append(run.run.processor_s[0] / len(pool.table))
    assert times[1] == pytest.approx(3.0 * times[0], rel=1e-3)


def test_visits_take_as_long_as_all_pointers_together() -> None:
    case = _case(layout="mirror2", recordsize="16K")
    pool, model = miniature(case, blocks=20_000), plane_model(case)
    setup = tile_setup(case, model, pool)
    blocks = ScanBlocks(setup)
    visits = int(np.count_nonzero(blocks.walk.code == OP_VISIT))
    whole_s = blocks.plane().general("visit_s") * visits
    assert whole_s == pytest.approx(len(pool.table) * pointer_seconds(case.release))


def test_the_processor_is_no_limit_of_disks() -> None:
    case = _case(layout="raidz2x6", drive="generic-7200rpm-cmr", recordsize="128K", operation="resilver")
    pool, model = miniature(case, blocks=9375), plane_model(case)
    fast = replace(model, scan=replace(model.scan, issue_s=0.0, pointer_s=0.0))
    result = run_pool(case, pool, model)
    assert processor_share(result) < 0.05
    assert result.time_s == pytest.approx(run_pool(case, pool, fast).time_s, rel=0.005)
