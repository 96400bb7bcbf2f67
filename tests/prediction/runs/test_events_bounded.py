"""Runs that would be of millions of child I/Os are bounded: rebuilds of small records, what clients wait."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.scenarios import scenario
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import in_world
from zsim.operation.blocks import ScanBlocks
from zsim.operation.run import RunSetup
from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs import rebuilding, waits, what_if
from zsim.prediction.runs.member import MemberResult, run_member
from zsim.prediction.runs.one_tile import run_pool
from zsim.prediction.runs.what_if import Baseline
from zsim.scenario.model import Scenario


def world(**fields: object) -> Case:
    return in_world(case_of(Scenario.from_dict(fields)), Member())


def test_a_rebuild_of_small_records_takes_as_long_on_fewer_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Scenario 3502, draid2:2d:12c:4s of flash with 16K records: 21 runs of 600,000 child I/Os."""
    case = world(**scenario(3502))
    pool, model = miniature(case, blocks=5000), plane_model(case)
    few = run_member(case, pool=pool, model=model)
    monkeypatch.setattr(rebuilding, "MANY_PIECES", np.inf)
    many = run_member(case, pool=pool, model=model)
    assert few.run.children < 0.85 * many.run.children
    assert few.time_s == pytest.approx(many.time_s, rel=0.04)


def test_a_rebuild_has_items_of_its_blocks_for_clients_alone() -> None:
    fields = {"layout": "mirror2", "fill": 0.3, "drive_size": "50GB", "operation": "rebuild"}
    for load, wanted in ((None, False), (["random-read,rate=10,size=64K"], True)):
        case = world(**fields, load=load) if load else world(**fields)
        pool, model = miniature(case, blocks=2000), plane_model(case)
        sample = rebuilding.sampled_metaslabs(case, pool, model)
        setup = RunSetup(
            model=model, blocks=sample.table, release=case.release, operation="rebuild",
            memory=case.memory, metaslab_shift=sample.metaslab_shift,
        )  # fmt: skip
        blocks = ScanBlocks(setup)
        chunks = sum(map(len, blocks.programs))
        assert (len(blocks.items) >= len(sample.table) + chunks) == wanted
        assert len(blocks.walk) == 0, "no scan goes over them"


def test_what_clients_wait_is_told_on_fewer_blocks_of_a_draid() -> None:
    most = {
        layout: waits._most_blocks(world(layout=layout, fill=0.3, drive_size="4TB"))
        for layout in ("raidz2x20", "mirror2", "draid1:11d:12c:0s", "draid2:8d:24c:1s")
    }
    assert most["raidz2x20"] == most["mirror2"] == waits.WATCHED_BLOCKS
    assert most["draid1:11d:12c:0s"] * 12 <= waits.WATCHED_CHILDREN < (most["draid1:11d:12c:0s"] + 1) * 12
    assert most["draid2:8d:24c:1s"] < most["draid1:11d:12c:0s"] * 1.3


@pytest.mark.parametrize(("number", "crowded"), [(3398, True), (3163, False)])
def test_a_rebuild_to_compare_with_is_small_where_clients_ask_for_much(
    number: int, crowded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 3398 the other way to repair took 22 of 35 s of processor time, nearly all for its clients."""
    case = world(**(scenario(number) | {"operation": "resilver"}))
    pool, model = miniature(case, blocks=8000), plane_model(case)
    sizes: list[int] = []

    def run(case: Case, **given: object) -> MemberResult:
        sizes.append(len(given["pool"].table))  # type: ignore[attr-defined]
        return result

    result = run_pool(case, pool, model)
    monkeypatch.setattr(what_if, "run_member", run)
    shown = Baseline(case, pool, result)
    assert what_if.is_crowded(shown, "rebuild") == crowded
    assert not what_if.is_crowded(shown, "resilver")
    assert what_if.small_rebuild(shown) == 1.0
    assert sizes[0] < len(pool.table)
