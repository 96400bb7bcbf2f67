"""Records of a timeline's answer; `wording` prints them, `gantt` draws them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from zsim.base.provenance import SCHEMA_VERSION
from zsim.planning.timeline.passes import F64, WORLDS, Percentiles, percentiles
from zsim.planning.timeline.plan import NEW_DRIVE
from zsim.planning.timeline.redundancy import Level
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import FramedAnswer
from zsim.prediction.simulated import scenario_words
from zsim.scenario.model import Scenario


@dataclass(frozen=True, slots=True)
class PassRow:
    """One pass of the story, its end over all worlds.

    Attributes
    ----------
    vdev, kind, cause : str
    begins_s : float
        In the middle world [s].
    ends_s : dict
        ``p10``, ``p50``, ``p90`` [s]; None where it never ends.
    completed : bool
        Whether it came to its end in the middle world; otherwise it was given up for another.
    read_bytes, written_bytes : int
        Of the part that ran in the middle world.
    """

    vdev: str
    kind: str
    begins_s: float
    ends_s: Percentiles
    cause: str
    completed: bool = True
    read_bytes: int = 0
    written_bytes: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return what the JSON has of it."""
        return {
            "vdev": self.vdev,
            "kind": self.kind,
            "begins_s": self.begins_s,
            "ends_s": self.ends_s,
            "cause": self.cause,
            "completed": self.completed,
            "read_bytes": self.read_bytes,
            "written_bytes": self.written_bytes,
        }


@dataclass(frozen=True)
class TimelineAnswer(FramedAnswer):
    """The story of a pool.

    Attributes
    ----------
    title : str
    passes : tuple of PassRow
        In order of their beginning.
    whole_s : dict
        When the pool has its redundancy back and no repair waits: ``p10``, ``p50``, ``p90`` [s]; None: never.
    redundancy : tuple of Level
        How many more drives each vdev may lose, in the middle world.
    redone_bytes : int
        Read and written once more because a pass began again or went back, in the middle world.
    story : tuple of (float, str)
        What happened when [s], in the middle world.
    notes : tuple of str
        What is not simulated or never happens.
    provenance : dict
    whole : ndarray of float64, shape (WORLDS,)
        In every world [s].
    exposed : dict of int to ndarray
        Seconds in each world with so many drives left to lose, below full redundancy.
    full : dict of str to int
        Redundancy of each vdev with all its drives.
    redone : ndarray of float64, shape (WORLDS,)
        Bytes done twice in every world.
    over : ndarray of float64, shape (WORLDS,)
        When the last pass ends, scrubs included, in every world [s].
    """

    title: str
    passes: tuple[PassRow, ...]
    whole_s: Percentiles
    redundancy: tuple[Level, ...]
    redone_bytes: int
    story: tuple[tuple[float, str], ...]
    notes: tuple[str, ...]
    provenance: dict[str, object]
    whole: F64 = field(repr=False, compare=False)
    exposed: dict[int, F64] = field(repr=False, compare=False)
    full: dict[str, int] = field(repr=False, compare=False)
    redone: F64 = field(repr=False, compare=False)
    over: F64 = field(default_factory=lambda: np.zeros(WORLDS), repr=False, compare=False)

    @property
    def stays_whole(self) -> bool:
        """Whether nothing is repaired: what passes there are verify a pool that stays as it is."""
        return bool(self.passes) and not self.whole.any()

    @property
    def short(self) -> tuple[str, ...]:
        """The vdevs that lack a drive all the time."""
        most: dict[str, int] = {}
        for level in self.redundancy:
            most[level.vdev] = max(level.left, most.get(level.vdev, level.left))
        return tuple(vdev for vdev, left in most.items() if left < self.full[vdev])

    @property
    def over_s(self) -> Percentiles:
        """When the last pass ends, scrubs included: ``p10``, ``p50``, ``p90`` [s]; None: never."""
        return percentiles(self.over)

    @property
    def stated(self) -> tuple[str, ...]:
        """What was stated of the pool, each field with its name and unit."""
        scenario = self.provenance.get("scenario")
        if not isinstance(scenario, dict) or not scenario:
            return ()
        return scenario_words(Scenario.from_dict({**scenario, **_new_drives(self.provenance.get("plan"))}))

    @property
    def read_bytes(self) -> int:
        """Bytes that all passes read, in the middle world."""
        return sum(each.read_bytes for each in self.passes)

    @property
    def written_bytes(self) -> int:
        """Bytes that all passes write, in the middle world."""
        return sum(each.written_bytes for each in self.passes)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "title": self.title,
            "stated": list(self.stated),
            "passes": [each.to_dict() for each in self.passes],
            "whole_s": self.whole_s,
            "over_s": self.over_s,
            "redundancy": [asdict(each) for each in self.redundancy],
            "redone_bytes": self.redone_bytes,
            "story": [{"at_s": time, "what": text} for time, text in self.story],
            "notes": list(self.notes),
            "full": self.full,
            "worlds": {
                "whole_s": _listed(self.whole),
                "over_s": _listed(self.over),
                "redone_bytes": _listed(self.redone),
                "exposed_s": {str(left): _listed(times) for left, times in self.exposed.items()},
            },
            "provenance": self.provenance,
        }

    def _frame_rows(self) -> Rows:
        """Return the passes."""
        return [
            {
                **{name: value for name, value in each.to_dict().items() if name != "ends_s"},
                **{f"ends_{name}_s": value for name, value in each.ends_s.items()},
            }
            for each in self.passes
        ]


def _listed(values: F64) -> list[float | None]:
    """Return the values of the worlds for JSON, which has no infinity: None."""
    return [None if each == np.inf else each for each in values.tolist()]


def _new_drives(plan: object) -> dict[str, object]:
    """Return what all replacements of a plan, as JSON has it, say of their new drives."""
    events = plan.get("events", ()) if isinstance(plan, dict) else ()
    replaced = [event for event in events if event.get("do") == "replace"]
    told = [{name: event[name] for name in NEW_DRIVE if event.get(name) is not None} for event in replaced]
    return told[0] if told and all(each == told[0] for each in told) else {}
