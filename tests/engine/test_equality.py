"""The compiled engine against the reference engine: equal event for event, and for every slicing of time."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.engine.test_reference import (
    ENGINE_FOLDERS,
    ENGINE_ROOM,
    far_apart,
    issue_all,
    mirror_model,
)
from tests.engine.test_reference import (
    ENGINES as BOTH,
)
from zsim.drives.models.parameters import DriveParameters
from zsim.engine import codes
from zsim.engine.codes import (
    EXIT_DRAINED,
    EXIT_HORIZON,
)
from zsim.engine.compiled import records
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.model import (
    ClientModel,
    LinkModel,
    QueueRules,
    ScanRules,
    VdevModel,
)
from zsim.engine.reference.plane import ReferencePlane
from zsim.engine.reference.state import LeafState, Shared
from zsim.operation.txg import TxgRules
from zsim.vdevs.kind import LOG, NORMAL

from . import strategies
from .playing import POOLS, Sliced, build, differences, play
from .strategies import Scenario, scenarios

QUICK, SLICED = 150, 30
# Each of another seed; one after the other they would be the slowest test there is.
PARTS, SLICED_PARTS = 10, 2
# The deep profile: ten rounds of a thousand, each of another seed.
ROUNDS, DEEP = 10, 1000
ENGINES = st.sampled_from([CompiledPlane, ReferencePlane])
ROOMY = settings(suppress_health_check=list(HealthCheck))


def assert_equal(one: Any, two: Any) -> None:
    found = differences(one, two)
    assert not found, found


def compare_engines(scenario: Scenario) -> None:
    compiled = play(build(CompiledPlane, scenario), scenario)
    assert_equal(compiled, play(build(ReferencePlane, scenario), scenario))


def compare_slicings(engine: Any, scenario: Scenario) -> None:
    whole = play(build(engine, scenario), scenario)
    assert_equal(whole, play(Sliced(build(engine, scenario), scenario), scenario))


@pytest.mark.parametrize("part", range(PARTS))
def test_every_command_and_counter_is_equal(part: int) -> None:
    @seed(part)
    @settings(ROOMY, max_examples=QUICK // PARTS)
    @given(scenarios())
    def check(scenario: Scenario) -> None:
        compare_engines(scenario)

    check()


@pytest.mark.parametrize("part", range(SLICED_PARTS))
def test_slices_of_time_and_events_change_nothing(part: int) -> None:
    @seed(part)
    @settings(ROOMY, max_examples=SLICED // SLICED_PARTS)
    @given(ENGINES, scenarios(most_blocks=15))
    def check(engine: Any, scenario: Scenario) -> None:
        compare_slicings(engine, scenario)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_every_command_and_counter_is_equal_in_depth(round_number: int) -> None:
    @seed(round_number)
    @settings(ROOMY, max_examples=DEEP, derandomize=False, print_blob=True)
    @given(scenarios(most_blocks=60))
    def check(scenario: Scenario) -> None:
        compare_engines(scenario)

    check()


@pytest.mark.slow
@settings(ROOMY, max_examples=DEEP, derandomize=False, print_blob=True)
@given(ENGINES, scenarios())
def test_slices_of_time_and_events_change_nothing_in_depth(engine: Any, scenario: Scenario) -> None:
    compare_slicings(engine, scenario)


# What keeps the two engines, and the tests, together.


def test_shared_values_are_those_of_the_compiled_engine() -> None:
    compiled = set(records.GENERAL_DTYPE.names or ())
    shared = {field.name for field in fields(Shared)} | {"now"}
    assert compiled - shared == POOLS
    assert shared - compiled == {"clock", "queue", "scan", "minimum", "maximum"}


def test_leaf_counters_are_those_of_the_compiled_engine() -> None:
    lengths = {"queued", "in_service", "held", "acknowledging", "awaited"}
    assert {field.name for field in fields(LeafState)} | lengths == set(codes.LEAF_DTYPE.names or ())


@pytest.mark.parametrize(
    ("model", "drawn"),
    [
        (DriveParameters, strategies.DRIVE),
        (DriveParameters, strategies.FLASH),
        (QueueRules, strategies.QUEUE),
        (ScanRules, strategies.SCAN),
        (ClientModel, strategies.CLIENTS),
        (LinkModel, strategies.LINK),
        (TxgRules, strategies.TXG),
    ],
)
def test_every_parameter_is_generated(model: Any, drawn: dict[str, Any]) -> None:
    assert {field.name for field in fields(model)} == set(drawn)


def test_the_planes_have_one_interface() -> None:
    inside = {"memory"}
    compiled, reference = (
        {name for name in dir(engine(mirror_model(), far_apart(1))) if not name.startswith("_")} - inside
        for engine in (CompiledPlane, ReferencePlane)
    )
    assert compiled <= reference


def test_the_reference_engine_borrows_nothing_from_the_compiled_one() -> None:
    paths = list((ENGINE_ROOM / "reference").glob("*.py"))
    assert len(paths) > 5
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("zsim.engine.compiled"), (
                    f"{path.name}:{node.lineno}"
                )


def test_the_engines_have_the_same_files_for_the_same_things() -> None:
    compiled, reference = (
        {path.name for path in (ENGINE_ROOM / name).glob("*.py")} for name in ENGINE_FOLDERS
    )
    for name in ("plane", "queue", "drive", "vdev", "scan", "clients"):
        assert f"{name}.py" in compiled & reference


@BOTH
@pytest.mark.parametrize(("kind", "waits"), [(NORMAL, True), (LOG, False)])
def test_a_scan_gives_way_to_what_is_written_to_the_pool_and_not_to_its_log(
    engine: Any, kind: str, waits: bool
) -> None:
    """To 0.7 a scan sleeps before each block while clients are active, but for a separate intent log."""
    clients = ClientModel(kind="sync-write", count=1, think_s=0.001, seed=3)
    one = mirror_model(clients=(clients,))
    model = replace(
        one,
        leaves=(*one.leaves, one.leaves[0]),
        vdevs=(*one.vdevs, log_of(len(one.leaves), kind)),
        scan=replace(one.scan, delay_ticks=200, tick_s=0.001, idle_window_s=0.05),
    )
    items = far_apart(5)
    vdev = np.array([0, 0, 0, 0, len(one.vdevs)])
    plane = engine(model, replace(items, vdev=vdev), log_items=np.array([4]))
    plane.start_clients()
    assert plane.advance(0.5) == EXIT_HORIZON
    issue_all(plane, 4, window=1)
    assert plane.advance(np.inf) == EXIT_DRAINED
    assert (plane.now > 0.5 + 4 * 0.19) is waits


def log_of(leaf: int, kind: str) -> VdevModel:
    """A vdev of one drive."""
    return VdevModel(
        kind="mirror", parity=0, ashift=12, read_leaf=(leaf,), write_leaf=(-1,), alloc_class=kind
    )
