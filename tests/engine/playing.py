"""Run a generated scenario on a data plane, whole or in slices, and collect all that can be seen of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.engine.codes import EXIT_BUDGET, EXIT_HORIZON, EXIT_STALLED
from zsim.engine.compiled.records import GENERAL_DTYPE
from zsim.engine.window import Window
from zsim.operation.control import RunClock, ScanControl, Steps
from zsim.operation.txg import SyncWrites
from zsim.scan.program import Program

from .strategies import Scenario

MANY_RECORDS = 100_000
# Numbers of the compiled engine's pools mean nothing to the reference engine.
POOLS = {"new_child", "free_command", "free_slot", "group_rows"}
"""What the compiled engine alone needs: its free lists, and what it hands to its kernel."""
IDLE_SLICES = 20
# Block pointers that a metadata block has.
POINTERS = 10
# The time of the plane itself is compared at the end of the run: afterwards slices may have passed it on.
GENERAL = [name for name in GENERAL_DTYPE.names or () if name not in POOLS | {"now"}]
WHOLE = ("health", "sat_out", "waits", "links", "streams", "positions", "decisions", "end")
STREAM = [
    "state",
    "inflight",
    "issued_blocks",
    "issued_bytes",
    "first_visit",
    "last_visit",
    "free_at",
    "issuing_s",
]


@dataclass(frozen=True)
class Outcome:
    """What a run showed."""

    records: NDArray[Any]
    leaves: NDArray[Any]
    general: dict[str, float]
    links: tuple[float, ...]
    streams: list[tuple[float, ...]]
    positions: list[int]
    decisions: list[tuple[int, float]]
    end: float
    health: NDArray[Any]
    sat_out: list[int]
    waits: NDArray[Any]


class Sliced:
    """A plane advanced in little steps, by time and by events, that tells only of what control is asked."""

    def __init__(self, plane: Any, scenario: Scenario) -> None:
        self.plane = plane
        self.steps = cycle(scenario.horizons)
        self.budgets = cycle(scenario.budgets)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plane, name)

    def advance(self, until: float, budget: int = 0) -> int:
        idle = 0
        while True:
            before = self.plane.general("events")
            # Where nothing happens for long, one more slice is as good as a million.
            horizon = self.plane.now + next(self.steps) if idle < IDLE_SLICES else until
            reason = self.plane.advance(min(until, horizon), next(self.budgets))
            if reason != EXIT_BUDGET and (reason != EXIT_HORIZON or horizon >= until):
                return int(reason)
            idle = idle + 1 if self.plane.general("events") == before else 0


def build(engine: Any, scenario: Scenario) -> Any:
    """Return a plane for the scenario, now and then with a stream too many: one without a program."""
    plane = engine(
        scenario.model,
        scenario.items,
        streams=len(scenario.programs) + scenario.slots % 2,
        slots=scenario.slots,
        client_items=scenario.client_items,
        log_items=scenario.client_items[:5],
        above=scenario.above,
        records=MANY_RECORDS,
        program_length=sum(len(program) for program in scenario.programs),
    )
    plane.set_general("visit_s", POINTERS * scenario.model.scan.pointer_s)
    return plane


class Control(ScanControl):
    """Control that notes every decision.

    If the scenario says so it closes an epoch within each slice, or gives up the repair of the first vdev.
    """

    def __init__(self, plane: Any, scenario: Scenario) -> None:
        writes = SyncWrites(scenario.model, scenario.txg, scenario.cursors)
        super().__init__(RunClock(), plane, scenario.txg, writes, within_a_day)
        self.scenario = scenario
        self.seen: list[tuple[int, float]] = []

    def decision(self, until: float = np.inf) -> Steps:
        reason = yield from super().decision(until)
        self.seen.append((reason, self.plane.now))
        return reason

    def scan_slice(self, seconds: float) -> Steps:
        if self.scenario.closes_epochs:
            self.plane.resume(self.plane.now + seconds)
            if self.plane.advance(self.plane.now + seconds / 3) == EXIT_HORIZON:
                self.plane.close_epoch()
        yield from super().scan_slice(seconds)
        if self.scenario.gives_up_repair and self.txgs == 1:
            vdev = self.scenario.model.vdevs[0]
            self.plane.set_children(0, vdev.read_leaf, [-1] * len(vdev.write_leaf))


def txg_by_txg(control: ScanControl, programs: list[Program], windows: list[Window]) -> Steps:
    """Process: run programs to their end, each slice followed by the txg's own writes."""
    control.plane.load_streams(programs, windows)
    done = False
    while not done:
        txg = control.txg
        yield from control.scan_slice(txg.slice_s if control.txgs else txg.first_slice_s)
        done = control.finished(len(programs))
        yield from control.sync()


def within_a_day(now: float) -> None:
    assert now < 86400.0, "a small scenario has no end: something starves"


def play(plane: Any, scenario: Scenario) -> Outcome:
    """Run the scenario txg by txg; then let all come to rest, unless clients go on for ever."""
    control = Control(plane, scenario)
    plane.start_clients()
    if len(scenario.plain_rows):
        plane.submit_group(scenario.plain_rows)
    steps = txg_by_txg(control, scenario.programs, scenario.windows)
    control.environment.run(control.environment.process(steps))
    end = plane.now
    if scenario.model.client_count == 0:
        assert plane.advance(np.inf) == EXIT_STALLED
    return Outcome(
        records=np.concatenate([*control.kept, plane.records]),
        leaves=plane.leaves.copy(),
        general={name: plane.general(name) for name in GENERAL},
        links=plane.link_busy,
        streams=[tuple(plane.stream(n, name) for name in STREAM) for n in range(len(scenario.programs))],
        positions=plane.positions(),
        decisions=control.seen,
        end=end,
        health=plane.health.copy(),
        sat_out=[count for vdev in plane.sat_out for count in vdev],
        waits=plane.waits.copy(),
    )


def differences(one: Outcome, two: Outcome) -> list[str]:
    """Return what differs between two outcomes, to the bit."""
    pairs = {name: (one.general[name], two.general[name]) for name in GENERAL}
    found = [f"{name}: {left} != {right}" for name, (left, right) in pairs.items() if left != right]
    if not np.array_equal(one.records, two.records):
        found.append(first_difference(one.records, two.records))
    columns = {
        f"leaves {name}": (one.leaves[name], two.leaves[name]) for name in one.leaves.dtype.names or ()
    }
    columns |= {name: (getattr(one, name), getattr(two, name)) for name in WHOLE}
    found += [f"{name}: {a} != {b}" for name, (a, b) in columns.items() if not np.array_equal(a, b)]
    return found


def first_difference(one: NDArray[Any], two: NDArray[Any]) -> str:
    for row, (left, right) in enumerate(zip(one, two, strict=False)):
        if left != right:
            return f"command {row}: {left} != {right}"
    return f"commands: {len(one)} != {len(two)}"
