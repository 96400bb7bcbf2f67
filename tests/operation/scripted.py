"""A data plane whose every answer is stated: for rules of the control plane that can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from zsim.engine.codes import (
    EXIT_DRAINED,
    EXIT_EPOCH,
    EXIT_GROUP,
    EXIT_HORIZON,
    EXIT_STALLED,
    FOREVER,
    LEAF_DTYPE,
    RECORD_DTYPE,
    STREAM_FINISHED,
    STREAM_PAUSED,
)
from zsim.engine.model import WriterModel
from zsim.operation.control import RunClock, ScanControl, Steps
from zsim.operation.txg import TxgRules

PASS, LABELS, CONFIGURATION, DATA, READ = "pass", "labels", "configuration", "data", "read"


class ScriptedPlane:
    """Comes back when it was told to: groups take `group_s`, what is in flight `drain_s`, the scan `scan_s`.

    Parameters
    ----------
    exits : sequence of (float, int)
        Moments [s] at which it comes back besides, and why.
    start : float
        What its clock shows at first [s].
    """

    def __init__(
        self,
        exits: Sequence[tuple[float, int]] = (),
        *,
        start: float = 0.0,
        group_s: float = 1.0,
        drain_s: float = 2.0,
        scan_s: float = FOREVER,
    ) -> None:
        self.now, self.exits = start, sorted(exits)
        self.group_s, self.drain_s, self.scan_s = group_s, drain_s, scan_s
        self.asked: list[tuple[float, Any]] = []
        self.horizons: list[float] = []
        self.finished = False
        self.ends: bool | None = None
        self.issued = [0]
        self.place = [0]
        self.limits: dict[int, tuple[int, int]] = {}
        self.leaves = np.zeros(1, LEAF_DTYPE)

    def advance(self, until: float, budget: int = 0) -> int:
        """Go to the next exit, or to `until`."""
        self.horizons.append(until)
        if self.exits and self.exits[0][0] <= until:
            moment, reason = self.exits.pop(0)
            self.now = max(self.now, moment)
            if reason == EXIT_DRAINED and self.ends is not None:
                self.finished, self.ends = self.ends, None
            return reason
        if until == FOREVER:
            return EXIT_STALLED
        self.now = max(self.now, until)
        return EXIT_HORIZON

    def comes_back(self, after: float, reason: int) -> None:
        """Come back so long after now [s]."""
        if after < FOREVER:
            self.exits = sorted([*self.exits, (self.now + after, reason)])

    def submit_group(self, rows: Any) -> None:
        """Note a group."""
        self.asked.append((self.now, rows))
        self.comes_back(self.group_s, EXIT_GROUP)

    def flush(self) -> None:
        """Note a flush, which takes as long as a group."""
        self.submit_group("flush")

    def close_epoch(self) -> None:
        """Note the closing of a txg."""
        self.asked.append((self.now, "close"))
        self.comes_back(self.drain_s, EXIT_EPOCH)

    def resume(self, pause_at: float) -> None:
        """Let the scan run until it pauses, or for `scan_s`."""
        self.asked.append((self.now, "resume"))
        self.finished, self.ends = False, self.now + self.scan_s <= pause_at
        self.comes_back(min(self.scan_s, pause_at - self.now), EXIT_DRAINED)

    def pause(self) -> None:
        """Note the end of a slice."""
        self.asked.append((self.now, "pause"))

    def load_streams(self, programs: Sequence[Any], windows: Sequence[Any]) -> None:
        """Note what is loaded: the items of each program."""
        self.asked.append((self.now, [each.item.tolist() for each in programs]))
        self.place = [0] * len(programs)

    def take_wanted(self) -> np.ndarray:
        """Return what the prefetch thread is to fetch: nothing."""
        return np.zeros(0, np.int64)

    def positions(self) -> list[int]:
        """Return what was stated."""
        return list(self.place)

    def stream(self, number: int, name: str) -> float:
        """Return what was stated of each stream."""
        if name == "state":
            return STREAM_FINISHED if self.finished else STREAM_PAUSED
        return self.issued[number] if name == "issued_bytes" else 0.0

    def set_limit(self, klass: int, least: int, most: int) -> None:
        """Note the limits of a class."""
        self.limits[klass] = least, most

    def take_records(self) -> Any:
        """Return one record."""
        return np.zeros(1, RECORD_DTYPE)


class NamedWrites:
    """What a txg writes, by name."""

    flushes = False

    def __init__(self, data: Sequence[Any] = (), writer: WriterModel | None = None) -> None:
        self.writer = writer or WriterModel()
        self.data, self.asked_at = data, []  # type: Sequence[Any], list[float]

    def data_rows(self, now: float) -> Any:
        """Return what clients wrote."""
        self.asked_at.append(now)
        return self.data

    def sync_pass(self, number: int) -> str:
        """Name a pass."""
        return f"{PASS} {number}"

    def configuration_rows(self) -> str:
        """Name labels with the configuration."""
        return CONFIGURATION

    def label_rows(self) -> str:
        """Name uberblocks."""
        return LABELS

    def space_map_reads(self) -> list[str]:
        """Name two reads."""
        return [f"{READ} 0", f"{READ} 1"]


def control_of(plane: ScriptedPlane, writes: Any = None, **rules: Any) -> ScanControl:
    """Return the control of a scripted plane, with two sync passes unless stated."""
    clock = RunClock(initial_time=plane.now)
    given = TxgRules(**{"pass_blocks": (1, 1), **rules})
    return ScanControl(clock, plane, given, writes or NamedWrites())  # type: ignore[arg-type]


def let(control: ScanControl, steps: Steps[Any]) -> Any:
    """Run a process of the control plane to its end."""
    return control.environment.run(control.environment.process(steps))


def pool_of(control: ScanControl, **stated: Any) -> Any:
    """Return as much of a pool as what copies asks for."""
    booked: list[tuple[str, float]] = []
    return SimpleNamespace(
        control=control,
        plane=control.plane,
        start=control.start,
        booked=booked,
        book=lambda phase, begin: booked.append((phase, begin)),
        **stated,
    )
