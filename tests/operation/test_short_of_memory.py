"""A sorted scan that is short of memory visits and issues by turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.engine.codes import META_PRESENT
from zsim.operation.control import Steps
from zsim.operation.run import Run
from zsim.operation.scans import SortedScan
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import plane_of, whole_setup
from zsim.scenario.model import Scenario

TUNABLES = {
    "zfs_scan_mem_lim_min": 100_000,
    "zfs_scan_vdev_limit": 1 << 20,
    "zfs_txg_timeout": 1,
}


def run_of(**fields: Any) -> Run:
    case = resolve(Scenario.from_dict({"layout": "raidz1x3", "history": "small-files", "fill": 0.5} | fields))
    pool, model = miniature(case, blocks=60_000), plane_model(case)
    return Run(replace(whole_setup(case, pool.table, model), memory=64 << 20))


def test_metadata_are_read_ahead_while_the_scan_visits_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    read: dict[str, list[int]] = {"visit": [], "issue": []}

    def counted(name: str) -> Any:
        real = getattr(SortedScan, name)

        def steps(self: SortedScan) -> Steps[None]:
            items = self.pool.plane.memory.items  # type: ignore[attr-defined]
            before = int(np.count_nonzero(items["metadata_state"] >= META_PRESENT))
            yield from real(self)
            read[name].append(int(np.count_nonzero(items["metadata_state"] >= META_PRESENT)) - before)

        return steps

    for name in read:
        monkeypatch.setattr(SortedScan, name, counted(name))
    result = run_of(drive_size="28GB", layout="raidz2x6", memory="64M", tunables=TUNABLES).finish()
    assert result.end > 0
    assert len(read["visit"]) > 2
    assert sum(read["visit"]) > 100
    assert sum(read["issue"]) == 0


def test_both_engines_take_turns_alike() -> None:
    ends = []
    for engine in ("compiled", "reference"):
        stated = {
            "layout": "raidz1x3",
            "history": "small-files",
            "fill": 0.5,
            "drive_size": "2GB",
            "load": [],
        }
        case = resolve(
            Scenario.from_dict(
                stated | {"engine": engine, "tunables": TUNABLES | {"zfs_scan_mem_lim_min": 50_000}}
            )
        )
        pool = miniature(case, blocks=10_000)
        whole = whole_setup(case, pool.table, plane_model(case))
        setup = replace(whole, memory=500_000, plane=plane_of(case))
        result = Run(setup).finish()
        ends.append((result.end, result.children))
        assert [name for name, _, _ in result.phases].count("visit") > 1
    assert ends[0] == ends[1]
