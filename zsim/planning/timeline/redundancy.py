"""Which data each drive of a pool holds, and how many more drives may fail."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from zsim.scenario.layout import Layout, VdevSpec
from zsim.vdevs.kind import kind_of

SlotState = Literal["whole", "gone", "away", "stale", "spared"]


@dataclass(slots=True)
class Slot:
    """One place of a vdev and what it holds.

    Attributes
    ----------
    state : {"whole", "gone", "away", "stale", "spared"}
        In service with all data; failed; offline; back but behind; failed with a spare that holds its data.
    since : float
        When it went away [s].
    spare : {"hot", "distributed"} or None
        The spare in its place.
    new : dict
        Fields of the scenario about the drive in it, where it is another than at the beginning.
    """

    state: SlotState = "whole"
    since: float = 0.0
    spare: Literal["hot", "distributed"] | None = None
    new: dict[str, object] = field(default_factory=dict)

    @property
    def serves(self) -> bool:
        """Whether all data of the place can be read."""
        return self.state in ("whole", "spared")


@dataclass(slots=True, eq=False)
class Target:
    """What a pass writes to: a new drive, a spare, or a drive that was away.

    Attributes
    ----------
    vdev : int
    slot : int or None
        Place in the vdev; None for a drive attached to a mirror.
    kind : {"new-drive", "spare", "distributed-spare", "returned"}
    share : float
        Share of the blocks it lacks.
    new : dict
        Fields of the scenario about the new drive.
    """

    vdev: int
    slot: int | None
    kind: Literal["new-drive", "spare", "distributed-spare", "returned"] = "new-drive"
    share: float = 1.0
    new: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class TimelineVdev:
    """A top-level vdev: its shape, its places, its distributed spares that are free, its name.

    `absent` drives are gone all the time: they take redundancy away, and the pool is whole without them.
    """

    number: int
    spec: VdevSpec
    slots: list[Slot]
    spares: int = 0
    removed: bool = False
    name: str = ""
    absent: int = 0

    def __post_init__(self) -> None:
        # As zpool status names it; it stays so when the vdev grows or shrinks.
        self.name = (
            f"{'disk' if self.spec.is_disk else kind_of(self.spec.kind).status_word(self.spec)}-{self.number}"
        )

    @property
    def left(self) -> int:
        """How many more drives may fail; -1 once data is lost."""
        if self.removed:
            return self.spec.tolerance
        gone = self.absent + sum(not slot.serves for slot in self.slots)
        return max(-1, self.spec.tolerance - gone)

    @property
    def is_whole(self) -> bool:
        """Whether no place is without its data."""
        return self.removed or all(slot.serves for slot in self.slots)

    def widened(self, by: int) -> None:
        """Add drives that hold their data to a mirror, or take some away."""
        self.spec = replace(self.spec, children=self.spec.children + by)
        self.slots = [*self.slots, *(Slot() for _ in range(by))] if by > 0 else self.slots[:by]

    def without(self, number: int) -> None:
        """Take one of its drives away from a mirror."""
        kept = [slot for place, slot in enumerate(self.slots) if place != number]
        self.widened(-1)
        self.slots = kept

    def expanded(self) -> None:
        """Add a drive to a RAID-Z: what is there keeps its width."""
        spec = self.spec
        self.spec = replace(
            spec,
            kind=kind_of(spec.kind).expanded,
            children=spec.children + 1,
            data=spec.data + 1,
            grown=spec.grown + 1,
        )
        self.slots = [*self.slots, Slot()]


@dataclass(frozen=True, slots=True)
class Level:
    """How many more drives of a vdev may fail, from one moment to another [s]."""

    vdev: str
    from_s: float
    to_s: float
    left: int


def vdevs_of(layout: Layout) -> list[TimelineVdev]:
    """Return the vdevs of a pool in which all is well."""
    return [
        TimelineVdev(number, spec, [Slot() for _ in range(spec.children)], spec.spares)
        for number, spec in enumerate(layout.vdevs)
    ]


@dataclass
class Ledger:
    """The redundancy left, as it changes."""

    marks: list[tuple[float, str, int]] = field(default_factory=list)

    def note(self, now: float, vdevs: Sequence[TimelineVdev]) -> None:
        """Write down what has changed."""
        known = {name: left for _, name, left in self.marks}
        for vdev in vdevs:
            if known.get(vdev.name) != vdev.left:
                self.marks.append((now, vdev.name, vdev.left))

    def levels(self, end: float) -> list[Level]:
        """Return the stretches of time with the same redundancy, vdev by vdev."""
        found = []
        for name in dict.fromkeys(name for _, name, _ in self.marks):
            marks = [(time, left) for time, each, left in self.marks if each == name]
            ends = [time for time, _ in marks[1:]] + [end]
            stretches = [
                Level(name, time, stop, left)
                for (time, left), stop in zip(marks, ends, strict=True)
                if stop > time
            ]
            # What it has in the end is told even if nothing comes after.
            last = Level(name, marks[-1][0], end, marks[-1][1])
            found += stretches if last in stretches else [*stretches, last]
        return found


def seconds_at(levels: Sequence[Level], full: int) -> dict[int, float]:
    """Return how long the worst vdev had each redundancy below `full` [s]."""
    moments = sorted({moment for level in levels for moment in (level.from_s, level.to_s)})
    found: dict[int, float] = {}
    for start, stop in itertools.pairwise(moments):
        here = [level.left for level in levels if level.from_s <= start and level.to_s >= stop]
        if here and min(here) < full:
            found[min(here)] = found.get(min(here), 0.0) + stop - start
    return found
