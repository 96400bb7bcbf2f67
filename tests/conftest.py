"""Settings that all tests share, and a prediction made by hand for tests that need no engine."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import Phase as Stage
from hypothesis import settings

from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import (
    Advice,
    Alternative,
    Assumption,
    Bottleneck,
    Driver,
    Leaf,
    Phase,
    ProgressPoint,
    Quantiles,
    Uncertainty,
)

HOUR = 3600.0

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell starts what runs in its background: processes of tests would never be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is run again with every kernel as plain Python (NUMBA_DISABLE_JIT=1), see CONTRIBUTING.
PLAIN = (
    "vdevs",
    "scan",
    "drives/test_tracks.py",
    "observe/zdb/test_pointer_lines.py",
    "observe/traces/test_trace_columns.py",
    "observe/traces/test_traces.py",
    "observe/zdb/test_zdb_pointers.py",
    "pool/kernels",
    "engine/test_reference.py",
    "test_plain_kernels.py",
)

os.environ["ZSIM_CONFIG"] = ""  # a developer's own defaults are no part of a test

# Mutations ask only whether a test fails, not for the smallest example.
STAGES = tuple(
    each
    for each in Stage
    if each not in {Stage.shrink, Stage.explain} or os.environ.get("ZSIM_SHRINK") != "0"
)
settings.register_profile("zsim", deadline=None, derandomize=True, phases=STAGES)  # a first call compiles
settings.load_profile("zsim")


def sample_prediction() -> Prediction:
    """Return a prediction with every field filled."""
    return Prediction(
        subject="raidz2x6 of 4 TB drives, 62 % full",
        order="legacy",
        resilver_s=Quantiles(p10=13 * HOUR, p50=17 * HOUR, p90=22 * HOUR),
        uncertainty=Uncertainty(
            sampling_half_width_s=600.0,
            input_s=Quantiles(p10=13.5 * HOUR, p50=17 * HOUR, p90=21 * HOUR),
            members=32,
            drivers=(Driver(field="recordsize", low_s=14 * HOUR, high_s=20 * HOUR, words="state it"),),
        ),
        phases=(
            Phase(name="metadata scan", duration_s=HOUR, read_bytes=2**30, bound_by="seeks"),
            Phase(name="issue", start_s=HOUR, duration_s=16 * HOUR, read_bytes=2**41, written_bytes=2**39),
        ),
        resilvered_bytes=580 * 2**30,
        read_bytes=2**41,
        written_bytes=580 * 2**30,
        io_count=31_000_000,
        bottleneck=Bottleneck(
            resource="target drive", utilisation=0.86, why="Writes wait a turn.", without_it_s=8 * HOUR
        ),
        leaves=(
            Leaf(role="source", name="generic-4tb", count=5, utilisation=0.2, mean_io_bytes=48e3, iops=220,
                 mean_service_ms=1.1, queue=0.3, read_rate=10e6),
            Leaf(role="target", name="generic-4tb", utilisation=0.86, mean_io_bytes=57e3, iops=172,
                 mean_service_ms=18.7, queue=3.6, write_rate=9.8e6),
        ),
        breakdown={"rotation": 9 * HOUR, "seek": 5 * HOUR, "transfer": 3 * HOUR},
        alternatives=(Alternative(name="sorted", resilver_s=Quantiles(p50=6 * HOUR), note="openzfs-2.3"),),
        progress=tuple(
            ProgressPoint(time_s=f * 17 * HOUR, fraction=f, resilvered_bytes=int(f * 2**39), position=f / 2)
            for f in (0.0, 0.25, 0.5, 1.0)
        ),
        advice=(Advice(action="take the sorted scan", saves_s=11 * HOUR, why="fewer seeks"),),
        warnings=("the drive is drive-managed SMR: expect worse",),
        assumptions=(Assumption(field="recordsize", value=131072, text="128K", why="default of zfs create"),),
        provenance={"zsim": "0.1.0", "seed": 1, "scenario": {"layout": "raidz2x6", "fill": 0.62}},
    )  # fmt: skip


@pytest.fixture
def prediction() -> Prediction:
    """A prediction with every field filled."""
    return sample_prediction()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is run with kernels as plain Python."""
    here = Path(__file__).parent
    places = tuple(here / name for name in PLAIN)
    for item in items:
        # Generated scenarios of the engines take long: `test_plain_kernels.py` has a tenth of them.
        generated = hasattr(getattr(item, "obj", None), "hypothesis") and item.path.parent == here / "engine"
        if not generated and any(item.path.is_relative_to(place) for place in places):
            item.add_marker(pytest.mark.plain)
