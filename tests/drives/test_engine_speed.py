"""Benchmarks of the compiled engine by kind of drive (``pytest tests/drives --benchmark-enable``).

Every round runs the same resilver of a raidz2x6 with all its machinery; `extra_info` of the result holds
child I/Os per second of the fastest round.  As an ordinary test each runs once, to its end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from zsim.case.resolve import resolve
from zsim.drives.physics.mechanics import extras_of
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.model import PlaneModel
from zsim.operation.run import Run, RunSetup
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.scenario.model import Scenario

BLOCKS = 60_000
# Read-ahead buffer and write cache off: nothing but mechanics and NCQ.
PLAIN = {"read_segments": 0, "write_cache_bytes": 0, "flush_each_txg": False}
KINDS = {
    "plain": ("generic-7200rpm-cmr", PLAIN),
    "caches": ("generic-7200rpm-cmr", {}),
    "shingled": ("generic-5400rpm-smr", {}),
    "flash": ("generic-sata-ssd", {}),
}


def model_of(model: PlaneModel, changes: dict[str, Any]) -> PlaneModel:
    leaves = tuple(replace(leaf, drive=replace(leaf.drive, **changes)) for leaf in model.leaves)
    return replace(model, leaves=leaves)


@pytest.mark.parametrize("kind", KINDS)
def test_a_resilver_by_kind_of_drive(kind: str, benchmark: Any) -> None:
    drive, changes = KINDS[kind]
    resolved = resolve(Scenario(layout="raidz2x6", fill=0.62, drive=drive, write_cache=True))
    pool = miniature(resolved, blocks=BLOCKS if benchmark.enabled else BLOCKS // 10)
    model = model_of(plane_model(resolved), changes)
    assert (extras_of(model.leaves[0].drive) == 0) == (kind == "plain")

    def setup() -> tuple[tuple[Run], dict[str, Any]]:
        run = RunSetup(
            model=model,
            blocks=pool.table,
            release=resolved.release,
            operation=resolved.operation,
            memory=int(resolved.memory / pool.scale),
            seed=resolved.seed,
            plane=CompiledPlane,
        )
        return (Run(run),), {}

    result = benchmark.pedantic(Run.execute, setup=setup, rounds=3 if benchmark.enabled else 1)
    assert result.children > len(pool.table)
    if benchmark.enabled:
        benchmark.extra_info["children_per_second"] = result.children / benchmark.stats.stats.min
