"""The records of an answer of `zsim.eta`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from zsim.base.provenance import SCHEMA_VERSION
from zsim.base.units import format_bytes, format_duration


@dataclass(frozen=True, slots=True)
class Span:
    """Quantiles of a time.

    Attributes
    ----------
    p10, p50, p90 : float
        [s]
    """

    p10: float
    p50: float
    p90: float

    def to_dict(self) -> dict[str, float]:
        """Return plain data."""
        return asdict(self)

    def since(self, moment: datetime | None) -> dict[str, str | None]:
        """Return the moments so long after another, as ISO 8601; None where that is not known."""
        found = {name: later(moment, seconds) for name, seconds in self.to_dict().items()}
        return {name: at.isoformat(timespec="seconds") if at else None for name, at in found.items()}


def later(moment: datetime | None, seconds: float) -> datetime | None:
    """Return a moment so many seconds after another; None where that is not known, or no calendar has it."""
    try:
        return moment and moment + timedelta(seconds=seconds)
    except OverflowError:
        return None


WHOLE_TIMES = 10.0
"""From so many times on a pace is told in whole numbers."""
ROUGH_TIMES = 1000.0
"""And from so many on with two digits."""


def times_words(factor: float) -> str:
    """Return how many times slower or faster, with no digits that nobody could know."""
    if factor < WHOLE_TIMES:
        return f"{factor:.1f} times"
    return f"{factor:.0f} times" if factor < ROUGH_TIMES else f"some {float(f'{factor:.1e}'):,.0f} times"


def dated(then: datetime, known: datetime) -> str:
    """Return a moment in words, with its year where another moment that the reader knows lies in another."""
    return f"{then:%a %d %b %H:%M}" if then.year == known.year else f"{then:%a %d %b %Y %H:%M}"


@dataclass(frozen=True, slots=True)
class Weighed:
    """One status against what worlds would have shown.

    Attributes
    ----------
    kind : str
    observed, expected : float
        Time that the work took, and would take in the middle one of the worlds [s].
    weight : float
        How many worlds count after it, as a share of them.
    narrows : float
        By how much it narrows p10 to p90 (of the logarithm of the whole duration), from 0 to 1.
    """

    kind: str
    observed: float
    expected: float
    weight: float
    narrows: float

    def to_dict(self) -> dict[str, float | str]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RecentPace:
    """What a scan did between the last two statuses.

    Attributes
    ----------
    seconds : float
        Time between them [s].
    done_bytes : float
        What was done meanwhile, as the release counts it [bytes].
    slower : float or None
        How many times slower than before, below 1 for faster; None where nothing was done.
    remaining_s : float or None
        The time to go if it stays so [s].
    """

    seconds: float
    done_bytes: float
    slower: float | None
    remaining_s: float | None

    def to_dict(self) -> dict[str, float | None]:
        """Return plain data."""
        return asdict(self)

    def words(self) -> str:
        """Return it as a sentence without its full stop."""
        span = f"the last {format_duration(self.seconds)}"
        if self.slower is None:
            return f"nothing was done in {span}"
        factor, way = (self.slower, "slower") if self.slower > 1.0 else (1.0 / self.slower, "faster")
        rate = format_bytes(self.done_bytes / self.seconds)
        unit = "" if rate[-1].isalpha() else "B"
        stays = f"; at this pace, {format_duration(self.remaining_s)} are left" if self.remaining_s else ""
        return f"{rate}{unit}/s in {span}, {times_words(factor)} {way} than before{stays}"


@dataclass(frozen=True, slots=True)
class EtaAnswer:
    """When a running scan is over.

    Attributes
    ----------
    pool : str
        Its name.
    subject : str
        What runs on what.
    total_s : Span
        Whole duration [s].
    remaining_s : Span
        The time to go, from the latest status [s].
    elapsed_s : float or None
        Since the scan began, as far as it is known [s].
    at : datetime or None
        When the latest status was printed.
    phase : str
        ``metadata scan``, ``repair``, ``rebuild`` or ``paused``.
    done : float
        Share of the work of this phase that is done.
    parts : dict of str to float
        What is left by phase [s].
    zpool_remaining_s, zpool_total_s : float or None
        What ``zpool status`` says, or would [s].
    zpool_why : str
        Why it is off; empty where it is not.
    zpool_prints : bool
        Whether zpool printed it; else it is what is left over the mean rate, by the rule of zpool.
    zpool_says_no_minute : bool
        Whether zpool printed ``0h0m to go``.
    pace : float or None
        How much slower this scan is so far than the pool should be (1: as fast); None where so little was
        seen that it says nothing about the rest.
    lately : RecentPace or None
        What was done between the last two statuses, where the pace has changed.
    reasons : tuple of str
        Why it is slow.
    worry : tuple of str
        Until when what looks odd is normal.
    consequences : tuple of str
        What a further step would cost.
    evidence : tuple of Weighed
        Each status against what worlds would have shown.
    assumptions : tuple of dict
        What nobody stated, as `zsim.resolve` has it.
    notes : tuple of str
        How the outputs were read.
    missing : tuple of str
        What nothing names or bounds, and over what it is varied.
    provenance : dict
        Scenario, seed, versions, hashes of models and kernels.
    """

    pool: str
    subject: str
    total_s: Span
    remaining_s: Span
    elapsed_s: float | None
    at: datetime | None
    phase: str
    done: float
    parts: dict[str, float]
    zpool_remaining_s: float | None
    zpool_total_s: float | None
    zpool_why: str
    pace: float | None
    reasons: tuple[str, ...] = ()
    worry: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()
    evidence: tuple[Weighed, ...] = ()
    assumptions: tuple[dict[str, object], ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    zpool_prints: bool = True
    zpool_says_no_minute: bool = False
    lately: RecentPace | None = None
    provenance: dict[str, object] = field(default_factory=dict)

    @property
    def pace_tells(self) -> bool:
        """Whether the pace so far says something about the rest."""
        return self.pace is not None

    @property
    def finish(self) -> dict[str, datetime | None]:
        """When it is over, p10, p50 and p90; None where the time of the status is not known."""
        return {name: later(self.at, seconds) for name, seconds in self.remaining_s.to_dict().items()}

    def to_dict(self) -> dict[str, object]:
        """Return what ``zsim eta --json`` prints: times in seconds, moments as ISO 8601."""
        return {
            "schema_version": SCHEMA_VERSION,
            "pool": self.pool,
            "subject": self.subject,
            "total_s": self.total_s.to_dict(),
            "remaining_s": self.remaining_s.to_dict(),
            "finish": self.remaining_s.since(self.at),
            "elapsed_s": self.elapsed_s,
            "at": self.at.isoformat(timespec="seconds") if self.at is not None else None,
            "phase": self.phase,
            "done": self.done,
            "parts_s": self.parts,
            "pace": self.pace,
            "pace_tells": self.pace_tells,
            "lately": self.lately.to_dict() if self.lately is not None else None,
            "zpool": {
                "remaining_s": self.zpool_remaining_s,
                "total_s": self.zpool_total_s,
                "printed": self.zpool_prints,
                "why": self.zpool_why,
                "says_no_minute": self.zpool_says_no_minute,
            },
            "reasons": list(self.reasons),
            "worry": list(self.worry),
            "consequences": list(self.consequences),
            "evidence": [each.to_dict() for each in self.evidence],
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            "missing": list(self.missing),
            "provenance": self.provenance,
        }
