"""How long populations take: run with --benchmark-enable; otherwise each runs once, untimed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zsim.case.resolve import resolve
from zsim.pool.measured.block_list import load_blocks, sample_blocks
from zsim.pool.recipes.histories import history_names
from zsim.pool.recipes.recipe import pool_of
from zsim.prediction.inputs.population import MOST_MORE, miniature
from zsim.scenario.model import Scenario

LIST = Path(__file__).parent / "lists" / "raidz2x6-aged-2.3.9.csv.zst"


@pytest.mark.parametrize("history", history_names())
@pytest.mark.parametrize("pool", [("raidz2x6", "1TB"), ("20*raidz2x10", "20TB")])
def test_population_of_a_prediction(benchmark: Any, history: str, pool: tuple[str, str]) -> None:
    layout, size = pool
    resolved = resolve(Scenario(layout=layout, fill=0.62, drive_size=size, history=history))
    small = benchmark(miniature, resolved, blocks=12_000)
    # Small blocks on many drives: as many more as they need.
    most = 60_000 if layout == "raidz2x6" else 30_000 * MOST_MORE
    assert 8_000 < len(small.table) < most


def test_windows_of_a_list(benchmark: Any) -> None:
    vdevs, _ = pool_of("raidz2x6", 1 << 30, "2.3.9")
    known = load_blocks(LIST, vdevs)
    part = benchmark(sample_blocks, known, vdevs, 6000, "address", 1)
    assert 5000 < len(part.table) < 7000
