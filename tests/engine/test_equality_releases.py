"""Whole runs of every release on both engines: legacy and sorted scans, resilvers and scrubs, small pools."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.reference.plane import ReferencePlane
from zsim.operation.result import ClientAnswers
from zsim.operation.rules import queue_rules, scan_rules
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.operation.txg import TxgRules
from zsim.pool.blocks import LEVEL_OBJSET, BlockTable
from zsim.scenario.releases.profile import load_release, release_names

from .playing import MANY_RECORDS
from .strategies import KIB, TXG, Allocator, choice, models

EXAMPLES = 8
COPIES = 3
Row = tuple[int, int, int, int]


def objset(number: int, files: list[int], pointers: int = 4) -> list[Row]:
    """Rows (objset, object, level, blkid) of an objset: root, meta-dnode, then files of so many records."""
    rows: list[Row] = [(number, 0, LEVEL_OBJSET, 0), (number, 0, 1, 0)]
    for file, records in enumerate(files, start=1):
        if file % 2 == 1:
            rows.append((number, 0, 0, file // 2))
        for record in range(records):
            if records > 1 and record % pointers == 0:
                rows.append((number, file, 1, record // pointers))
            rows.append((number, file, 0, record))
    return rows


def block_table(model: Any, seed: int, files: list[int]) -> BlockTable:
    """A MOS and a dataset of the given files, laid out by the tests' allocator."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    rows = np.array([*objset(0, [1, 2]), *objset(21, files)], np.int64)
    count, metadata = len(rows), (rows[:, 0] == 0) | (rows[:, 2] != 0) | (rows[:, 1] == 0)
    psize = np.where(metadata, 4 * KIB, generator.choice([8 * KIB, 24 * KIB, 128 * KIB], count)).astype(
        np.int64
    )
    copies = np.where(rows[:, 0] == 0, 3, np.where(metadata, 2, 1)).astype(np.int16)
    vdev = np.full((count, COPIES), -1, np.int32)
    offset = np.zeros((count, COPIES), np.int64)
    allocator = Allocator(model, generator, bool(seed % 2), int(copies.sum()), 128 * KIB)
    for row in range(count):
        for copy in range(copies[row]):
            vdev[row, copy], offset[row, copy], _ = allocator.place(int(psize[row]))
    return BlockTable(
        objset=rows[:, 0],
        object=rows[:, 1],
        level=rows[:, 2].astype(np.int16),
        blkid=rows[:, 3],
        is_metadata=metadata,
        birth=generator.integers(4, 100, count),
        psize=psize,
        lsize=psize,
        dva_count=copies,
        dva_vdev=vdev,
        dva_offset=offset,
        dva_asize=np.where(vdev >= 0, psize[:, None], 0),
    )


@st.composite
def setups(draw: Any, release: str) -> RunSetup:
    profile = load_release(release)
    operation = draw(choice("resilver", "resilver", "scrub"))
    model = draw(models())
    model = replace(model, queue=queue_rules(profile), scan=scan_rules(profile, operation))
    files = draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    return RunSetup(
        model=model,
        blocks=block_table(model, draw(st.integers(0, 1 << 20)), files),
        release=profile,
        operation=operation,
        memory=draw(choice(1 << 20, 16 << 30)),
        txg=draw(st.none() | st.fixed_dictionaries(TXG).map(lambda values: TxgRules(**values))),
        seed=draw(st.integers(0, 100)),
        records=MANY_RECORDS,
    )


def run(setup: RunSetup, engine: Any) -> RunResult:
    return Run(replace(setup, plane=engine)).execute()


def same_bits(left: Any, right: Any) -> bool:
    if isinstance(left, ClientAnswers) and isinstance(right, ClientAnswers):
        names = [field.name for field in fields(ClientAnswers)]
        return all(same_bits(getattr(left, name), getattr(right, name)) for name in names)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same_bits(left[name], right[name]) for name in left)
    return np.array_equal(left, right) if isinstance(left, np.ndarray) else bool(left == right)


def assert_same(one: RunResult, two: RunResult) -> None:
    for field in fields(RunResult):
        left, right = getattr(one, field.name), getattr(two, field.name)
        same = same_bits(left, right)
        assert same, f"{field.name}: {left} != {right}"


@pytest.mark.parametrize("release", release_names())
def test_runs_of_every_release_are_equal(release: str) -> None:
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(setups(release))
    def check(setup: RunSetup) -> None:
        assert_same(run(setup, CompiledPlane), run(setup, ReferencePlane))

    check()
