"""From observations to values that worlds can be compared with; why some cannot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import NormalDist, median

from zsim.base.constants import constant
from zsim.base.units import YEAR, format_bytes
from zsim.case.case import Case
from zsim.prediction.evidence.noise import noise
from zsim.prediction.evidence.posterior import Seen
from zsim.prediction.evidence.probes import (
    ActivityProbe,
    ActivityQuantity,
    DriveProbe,
    HeldProbe,
    Probe,
    Role,
    ScanProbe,
    as_it_was,
)
from zsim.prediction.evidence.under_way import own_pace, scans_under_way
from zsim.scenario.evidence import (
    MOVES,
    Benchmark,
    ClassAlloc,
    DriveActivity,
    FinishedScan,
    Observation,
    RunningScan,
)
from zsim.vdevs.kind import kind_of

ROUNDED = constant("evidence.rounded")
"""Standard deviation of what was rounded, over the step."""
WITH_PACE, WITHOUT_PACE = constant("evidence.with_pace"), constant("evidence.without_pace")
ACTIVITIES: tuple[tuple[ActivityQuantity, str, float], ...] = (
    ("read_rate", "rate", WITH_PACE), ("write_rate", "rate", WITH_PACE), ("busy", "busy", WITHOUT_PACE),
    ("service", "service", WITHOUT_PACE), ("read_request", "request", WITHOUT_PACE),
    ("write_request", "request", WITHOUT_PACE),
)  # fmt: skip
"""Quantity, whose noise it has, and how it goes with the pace of the pool."""
IN_WORDS = {"read_request": "size of reads", "write_request": "size of writes"}
NOT_OF = {"source": ("write_rate", "write_request"), "target": ("read_rate", "read_request")}
"""What drives of a role are not compared by: those that are read write nothing for the scan."""
REPAIRS = ("resilver", "rebuild")
AT_ITS_PACE = "would take {} in total at its pace so far"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One observed value.

    Attributes
    ----------
    kind : str
        What it is, for people: "scrub", "read rate of the source drives".
    unit : str
        Of `observed`: s, B/s, 1/s, B or 1.
    observed : float
    probe : Probe
        What a world is asked for.
    seen : Seen
    shift : float
        To be added to the logarithm of what a world shows: the pool was smaller then.
    when : str
        The day it was observed, if that is known.
    phrase : str
        How a duration is said: ``{}`` stands for it.
    """

    kind: str
    unit: str
    observed: float
    probe: Probe
    seen: Seen
    shift: float = 0.0
    when: str = ""
    phrase: str = "took {}"


@dataclass(frozen=True, slots=True)
class NotCompared:
    """An observation that says nothing of this operation, and why; `observed` may be None: no value shown."""

    kind: str
    unit: str
    observed: float | None
    why: str
    when: str = ""


def comparable(case: Case) -> tuple[tuple[Comparison, ...], tuple[NotCompared, ...]]:
    """Return what worlds are compared with, and what they are not.

    Parameters
    ----------
    case : Case
        Its scenario carries the evidence.

    Returns
    -------
    comparisons : tuple of Comparison
        Finished scans, measurements of a drive, a scan that runs, what classes of vdevs hold, and the
        activity of drives, in this order.
    left : tuple of NotCompared
        What says nothing of this operation, each with the reason.
    """
    observations = case.scenario.evidence or ()
    latest = latest_moment(observations)
    every = [scan(case, each, latest) for each in observations if isinstance(each, FinishedScan)]
    every += [benchmark(each) for each in observations if isinstance(each, Benchmark)]
    every += [under_way(case, statuses) for statuses in scans_under_way(observations)]
    every += [class_alloc(case, each) for each in observations if isinstance(each, ClassAlloc)]
    every += activities(case, [each for each in observations if isinstance(each, DriveActivity)])
    return (
        tuple(each for each in every if isinstance(each, Comparison)),
        tuple(each for each in every if isinstance(each, NotCompared)),
    )


def latest_moment(observations: Sequence[Observation]) -> datetime | None:
    """Return the last moment that an observation names: age is counted from there, not from today."""
    moments = [each.end for each in observations if isinstance(each, FinishedScan) and each.end is not None]
    moments += [each.at for each in observations if isinstance(each, RunningScan) and each.at is not None]
    return max((moment.replace(tzinfo=None) for moment in moments), default=None)


def unfit(case: Case, scan: FinishedScan) -> str | None:
    """Return why a finished scan says nothing of this operation; None where it does."""
    if scan.kind == "heal":
        return "a heal repairs what was written during an outage: it says nothing about a whole scan"
    if scan.kind in REPAIRS and (why := _beyond_repair(case, scan.drives or max(1, case.replace))):
        return why
    whole = whole_drive_bytes(case, scan)
    if scan.kind == "scrub":
        return _wrote_much(scan.processed, whole)
    if scan.kind == "resilver" and scan.processed is not None and scan.processed < noise("scan.heal") * whole:
        return (
            f"it wrote {format_bytes(scan.processed)} where a whole drive holds about "
            f"{format_bytes(round(whole))}: counted as a heal, which says nothing about a whole scan"
        )
    return None


def _beyond_repair(case: Case, replaced: int) -> str | None:
    """Return why no pool of this layout can be repaired so; None where it can."""
    vdev = case.layout.vdevs[0]
    if replaced <= vdev.tolerance:
        return None
    drives = "a drive" if replaced == 1 else f"{replaced} drives"
    return f"{vdev} cannot be repaired without {drives}: it was another layout then"


def _wrote_much(repaired: float | None, whole: float) -> str | None:
    """Return why a scrub that has repaired much is none to compare with; None of others."""
    if repaired is None or repaired <= noise("scan.repaired") * whole:
        return None
    return (
        f"it repaired {format_bytes(round(repaired))} where a drive holds about {format_bytes(round(whole))}:"
        " it wrote as well, and says little of a scrub that reads, or of a resilver"
    )


def whole_drive_bytes(case: Case, scan: FinishedScan) -> float:
    """Return what is on the drives that were replaced, of the first vdev.

    Parameters
    ----------
    case : Case
    scan : FinishedScan
        With the ALLOC of then, or else as much as now.

    Returns
    -------
    float
        ALLOC times the share of the vdev, over the drives that its data and parity span, for each drive that
        was replaced [bytes].
    """
    vdev = case.layout.vdevs[0]
    share = 1.0 / kind_of(vdev.kind).spanned_children(vdev)
    return (scan.alloc or case.alloc) * case.first_vdev_share * share * (scan.drives or 1)


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.day} {moment:%B %Y}"


def scan(case: Case, each: FinishedScan, latest: datetime | None) -> Comparison | NotCompared:
    """Return a finished scan as a value to compare.

    Parameters
    ----------
    case : Case
    each : FinishedScan
    latest : datetime or None
        The last moment that the evidence names, from which its age is counted.

    Returns
    -------
    Comparison or NotCompared

    Notes
    -----
    Its scatter is that of one scan over another, of another kind if it is of another kind, of how coarsely it
    was printed, and of how much the pool has grown since: standard deviations of independent parts of the
    logarithm, added in quadrature.  Growth since then shifts what the worlds show.
    """
    why = unfit(case, each)
    if each.kind == "heal" or why is not None:
        return NotCompared(each.kind, "s", each.duration, why or "", _day(each.end))
    replaced = 0 if each.kind == "scrub" else each.drives or max(1, case.replace)
    age = 0.0
    if each.alloc is None and each.end is not None and latest is not None:
        age = max(0.0, (latest - each.end.replace(tzinfo=None)).total_seconds() / YEAR)
    sigma = math.hypot(
        event_of(case),
        *_unlike(case, each),
        ROUNDED * each.resolution / each.duration,
        noise("scan.alloc") if each.alloc is not None else 0.0,
        age * noise("scan.growth_spread", "1/year"),
    )
    shift = -age * noise("scan.growth", "1/year")
    if each.processed is not None and each.kind != "scrub" and len(case.layout.data) > 1:
        # Vdevs of one pool are seldom equally full, and a resilver writes to one.
        shift += math.log(each.processed / whole_drive_bytes(case, each))
    shift += _fullest(case, each)
    probe = ScanProbe(each.kind, replaced, each.alloc)
    seen = Seen(math.log(each.duration), sigma)
    return Comparison(each.kind, "s", each.duration, probe, seen, shift, _day(each.end))


NOT_WEIGHED = "its pace is not weighed here; zsim eta, given the same files, says when it finishes"
"""Of an expansion or a removal that runs."""


def under_way(case: Case, statuses: Sequence[RunningScan]) -> Comparison | NotCompared:
    """Return a scan that runs as a value to compare: what it takes in all, at the pace that it has shown.

    Parameters
    ----------
    case : Case
    statuses : sequence of RunningScan
        Of one scan, in order of time.
    """
    last = statuses[-1]
    kind, when = f"running {last.kind}", _day(last.at or last.since)
    if last.kind == "heal" or last.kind in MOVES:
        why = "it says little about a whole scan" if last.kind == "heal" else NOT_WEIGHED
        return NotCompared(kind, "s", _elapsed(last), why, when)
    replaced = 0 if last.kind == "scrub" else max(1, case.replace)
    if replaced and (beyond := _beyond_repair(case, replaced)):
        return NotCompared(kind, "s", _elapsed(last), beyond, when)
    like = FinishedScan(kind=last.kind, duration=1.0)
    wrote = _wrote_much(last.processed, whole_drive_bytes(case, like)) if last.kind == "scrub" else None
    if wrote is not None:
        return NotCompared(kind, "s", _elapsed(last), wrote, when)
    found = own_pace(as_it_was(case, last.kind, replaced), statuses)
    if found is None:
        why = "it has repaired nothing yet, or nothing shows when it began"
        return NotCompared(kind, "s", _elapsed(last), why, when)
    like = FinishedScan(kind=last.kind, duration=found.total_s)
    # A scan of the operation that is asked for is of its vdev too.
    other = () if last.kind == case.operation else _unlike(case, like)
    sigma = math.hypot(event_of(case), found.sigma, *other)
    seen = Seen(math.log(found.total_s), sigma)
    probe = ScanProbe(last.kind, replaced)
    return Comparison(kind, "s", found.total_s, probe, seen, _fullest(case, like), when, AT_ITS_PACE)


def _elapsed(scan: RunningScan) -> float | None:
    """Return how long a scan has run [s], as it was printed or by its two dates."""
    if scan.elapsed is not None or scan.since is None or scan.at is None:
        return scan.elapsed
    return max(0.0, (scan.at.replace(tzinfo=None) - scan.since.replace(tzinfo=None)).total_seconds())


def event_of(case: Case) -> float:
    """Return the scatter of one scan over another of the same pool and kind.

    Returns
    -------
    float
        Standard deviation of the logarithm: ``scan.event`` of ``models/evidence/noise.toml``, of solid-state
        drives ``scan.event_flash``.
    """
    return noise("scan.event_flash" if case.drive.kind == "flash" else "scan.event")


def _unlike(case: Case, each: FinishedScan) -> tuple[float, ...]:
    """Return how far a scan of another kind, or one that wrote to another vdev, scatters beside that."""
    if each.kind == case.operation == "scrub":
        return ()
    small = case.alloc < noise("scan.small", "B")
    other = noise("scan.other_kind_small" if small else "scan.other_kind")
    found = () if each.kind == case.operation else (other,)
    # Of a resilver it matters how full the vdev is that it writes to, and a scrub waits for the fullest.
    known = each.processed is not None and case.operation == "scrub"
    uneven = len(case.layout.data) > 1 and not known and case.scenario.vdev_fills is None
    return (*found, noise("scan.uneven")) if uneven else found


def _fullest(case: Case, each: FinishedScan) -> float:
    """Return by how much a scrub takes longer than in a pool of equally full vdevs, as a logarithm.

    It waits for the fullest of them, of which the expected normal score is that of Blom (Statistical
    Estimates and Transformed Beta-Variables, 1958); a resilver is of any of them.  Vdevs of which it is known
    how full they are, are simulated so.
    """
    count = len(case.layout.data)
    known = case.scenario.vdev_fills is not None
    if known or count == 1 or (each.kind == "scrub") == (case.operation == "scrub"):
        return 0.0
    longer = noise("scan.uneven") * NormalDist().inv_cdf((count - 0.375) / (count + 0.25))
    return longer if each.kind == "scrub" else -longer


def benchmark(each: Benchmark) -> Comparison | NotCompared:
    """Return a measurement by hand as a value to compare.

    Returns
    -------
    Comparison or NotCompared
        Sequential accesses are compared as a rate [B/s], random reads as operations a second with one request
        at a time [1/s].  A measurement of the pool, and random writes, tell of caches.
    """
    rate = each.rate
    if rate is None and each.operations is not None and each.size is not None:
        rate = each.operations * each.size
    kind = each.access.replace("-", " ")
    if each.of == "pool":
        why = "a measurement of the pool: what it says depends on its cache and on where the file lies"
        return NotCompared(kind, "B/s", rate, why)
    if each.access == "random-write":
        why = "random writes say more about the drive's cache than about the drive"
        return NotCompared(kind, "B/s", rate, why)
    if each.access == "random-read":
        operations = each.operations or (rate / each.size if rate and each.size else None)
        if operations is None or (each.depth or 1) > 1:
            why = "random reads are compared as operations a second with one request at a time"
            return NotCompared(kind, "1/s", operations, why)
        probe = DriveProbe("random-read", each.size or 4096)
        seen = Seen(math.log(operations), noise("benchmark.random"), 0.0)
        return Comparison(f"{kind}s of a drive", "1/s", operations, probe, seen)
    if rate is None:
        return NotCompared(kind, "B/s", 0.0, "it has no rate")
    seen = Seen(math.log(rate), noise("benchmark.sequential"), 0.0)
    return Comparison(f"{kind} of a drive", "B/s", rate, DriveProbe(each.access), seen)


def class_alloc(case: Case, each: ClassAlloc) -> Comparison | NotCompared:
    """Return what lies on the vdevs of a class as a value to compare.

    Notes
    -----
    A special vdev holds the metadata, and how many there are says how large the blocks are and how old: the
    scatter is that of one pool of a kind over another, wider where small blocks may lie there too.
    """
    kind = f"ALLOC of the {each.alloc_class} vdevs"
    if not case.layout.places_of(each.alloc_class):
        return NotCompared(kind, "B", float(each.held), f"the layout has no {each.alloc_class} vdev")
    stated = case.scenario.special_small_blocks is not None
    seen = Seen(math.log(each.held), noise("class.held" if stated else "class.held_small"), 0.0)
    return Comparison(kind, "B", float(each.held), HeldProbe(each.alloc_class, each.alloc), seen)


def role_of(case: Case, each: DriveActivity) -> Role:
    """Return whether a drive is read or is the new one: as said, by its number, or by what it does."""
    if each.role is not None:
        return each.role
    if each.leaf is not None:
        return "target" if each.leaf >= case.leaves else "source"
    return "target" if (each.write_rate or 0.0) > (each.read_rate or 0.0) else "source"


def activities(case: Case, seen: Sequence[DriveActivity]) -> list[Comparison | NotCompared]:
    """Return the activity of the drives of each role as values to compare.

    Returns
    -------
    list of Comparison or NotCompared
        The median drive of each role, of each quantity of `ACTIVITIES` that is known: of source drives no
        write rate, of the replacement drive no read rate.
    """
    found: list[Comparison | NotCompared] = []
    for role, words in (("source", "the source drives"), ("target", "the replacement drive")):
        drives = [each for each in seen if role_of(case, each) == role]
        for quantity, name, pace in ACTIVITIES:
            values = [value for each in drives if (value := getattr(each, quantity)) is not None]
            if quantity not in NOT_OF[role] and values and median(values) > 0.0:
                value = float(median(values))
                kind = f"{IN_WORDS.get(quantity, quantity.replace('_', ' '))} of {words}"
                unit = {"rate": "B/s", "busy": "1", "service": "s", "request": "B"}[name]
                probe = ActivityProbe("source" if role == "source" else "target", quantity)
                steps = [math.log(each.step) for each in drives if each.step and getattr(each, quantity)]
                sigma = math.hypot(noise(f"drive.{name}"), ROUNDED * max(steps, default=0.0))
                noted = Seen(math.log(value), sigma, pace)
                found.append(Comparison(kind, unit, value, probe, noted))
    return found


def slow_drives(case: Case, seen: Sequence[DriveActivity]) -> dict[str, float]:
    """Return the drives that take much longer than the median of their peers.

    Returns
    -------
    dict of str to float
        How many times as long as the median of its role each takes to complete a request; only of roles with
        more than two drives, and beyond ``drive.peers`` of ``models/evidence/noise.toml``.
    """
    found: dict[str, float] = {}
    for role in ("source", "target"):
        drives = [each for each in seen if role_of(case, each) == role and each.service]
        usual = median([each.service or 0.0 for each in drives]) if len(drives) > 2 else math.inf
        times = {each.drive: (each.service or 0.0) / usual for each in drives}
        found |= {drive: factor for drive, factor in times.items() if factor > noise("drive.peers")}
    return found
