"""The effect of evidence on the answer, as records and as sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from zsim.base.constants import whole_constant
from zsim.base.units import format_bytes, format_duration
from zsim.case.case import Case
from zsim.prediction.answer.records import EvidenceUsed
from zsim.prediction.answer.wording import shown
from zsim.prediction.evidence.comparable import Comparison, slow_drives
from zsim.prediction.evidence.posterior import WeighedEvidence
from zsim.prediction.evidence.probes import HeldProbe, ScanProbe
from zsim.prediction.evidence.slower import SlowerThanModel, shared_by, slower_than_model
from zsim.prediction.evidence.weighing import Weighing
from zsim.scenario.evidence import DriveActivity

LONGER = "client load, one slow drive, or a slow link: state them if they apply (--load, --ports)"
SHORTER = (
    "less data or larger records then, faster drives, or a scan that was not of the whole pool: state "
    "ALLOC and the drive, if it was so"
)
SMALLER_BLOCKS = (
    "small blocks that lie there too, or more and smaller files: state which blocks do "
    "(--special-small-blocks; zfs get special_small_blocks) and what the pool stores (--history)"
)
ADDED_LATER = (
    "special vdevs that came when the pool was in use, or larger records: state which "
    "(--special-added-at, --recordsize)"
)


def records(weighing: Weighing | None) -> tuple[EvidenceUsed, ...]:
    """Return what became of every observation."""
    if weighing is None:
        return ()
    known = weighing.posterior.weighed if weighing.posterior is not None else ()
    used = [_record(each, weighed) for each, weighed in zip(weighing.comparisons, known, strict=False)]
    left = [
        EvidenceUsed(
            kind=each.kind, when=each.when, unit=each.unit, observed=each.observed, weight=0.0, note=each.why
        )
        for each in weighing.left
    ]
    return (*used, *left)


def _record(each: Comparison, weighed: WeighedEvidence) -> EvidenceUsed:
    low, middle, high = (math.exp(value) for value in weighed.expected)
    return EvidenceUsed(
        kind=each.kind,
        when=each.when,
        unit=each.unit,
        observed=each.observed,
        expected=middle,
        expected_p10=low,
        expected_p90=high,
        weight=weighed.weight,
        narrows=weighed.narrows,
        note=_unexplained(each, low, high) if weighed.far else "",
    )


def _unexplained(each: Comparison, low: float, high: float) -> str:
    """Say that no world explains a value, and what may."""
    is_more = each.observed > high
    bound = shown(high if is_more else low, each.unit)
    seen, more = shown(each.observed, each.unit), "more" if is_more else "less"
    if isinstance(each.probe, HeldProbe):
        return (
            f"the {each.kind} is {seen}, nine in ten simulated pools like this have no {more} than {bound}: "
            f"{SMALLER_BLOCKS if is_more else ADDED_LATER}"
        )
    if not isinstance(each.probe, ScanProbe):
        return (
            f"the {each.kind} is {seen}, nine in ten simulated pools like this show no {more} than {bound}: "
            "a drive unlike the one named, or a moment that is not typical of the scan"
        )
    when = f" of {each.when}" if each.when else ""
    why = LONGER if is_more else SHORTER
    return (
        f"the {each.kind}{when} {each.phrase.format(seen)}, nine in ten simulated pools like this take "
        f"no {more} than {bound}: {why}"
    )


def notes(case: Case) -> tuple[str, ...]:
    """Return what else to say of the evidence."""
    alone = ("--exact simulates one pool to the end: the evidence is not weighed",)
    return (*sick_looking(case), *(alone if case.scenario.evidence and case.exact else ()))


def sick_looking(case: Case) -> tuple[str, ...]:
    """Say which drives are slower than their models allow or than their peers, from what they did."""
    seen = [each for each in case.scenario.evidence or () if isinstance(each, DriveActivity)]
    found = _slower_than_model(case, seen)
    slow = slow_drives(case, seen)
    if slow:
        found.append(
            "; ".join(
                f"{drive} takes {factor:.2g} times as long to answer as its peers"
                for drive, factor in slow.items()
            )
            + f": a sick drive holds up the whole scan{_priced(seen, slow)}"
        )
    return (*found, *_with_errors(seen), *map(_pending, (each for each in seen if each.pending_sectors)))


def _pending(each: DriveActivity) -> str:
    """Say what sectors mean that a drive has reported as not readable."""
    count, leaf = each.pending_sectors or 0, "N" if each.leaf is None else each.leaf
    return (
        f"{each.drive} has {count} {'sector' if count == 1 else 'sectors'} that it could not read"
        " (Current_Pending_Sector): the scan waits for each that holds data, and where no redundancy is left"
        f" it is lost (--bad-sectors {leaf}:{count} says what it costs)"
    )


ERRORS = (
    ("read_errors", "read error"),
    ("write_errors", "write error"),
    ("checksum_errors", "checksum error"),
    ("slow_ios", "I/O of 30 s or more"),
)
"""Counter of a drive, and what one of it is called."""
NAMED_EACH = whole_constant("evidence.named_each")
"""Drives with checksum errors that are told one by one: of more, what they share is likelier."""


def _with_errors(seen: Sequence[DriveActivity]) -> list[str]:
    """Say which source drives have shown errors, and what these may mean for the scan."""
    wrong = [each for each in seen if each.checksum_errors and not _retries(each)]
    if len(wrong) > NAMED_EACH:
        told = ", ".join(f"{each.drive} {each.checksum_errors}" for each in wrong)
        return [*_each_with_errors([each for each in seen if each not in wrong]),
                f"{len(wrong)} drives have shown checksum errors ({told}): look at what they share, such as"
                " the controller, its cables, the power supply and the memory of the host"]  # fmt: skip
    return _each_with_errors(seen)


def _retries(each: DriveActivity) -> bool:
    """Tell whether a drive has failed or delayed I/Os."""
    return bool(each.read_errors or each.write_errors or each.slow_ios)


def _each_with_errors(seen: Sequence[DriveActivity]) -> list[str]:
    """Say it of each drive."""
    found = []
    for each in seen:
        counts = [(getattr(each, name) or 0, words) for name, words in ERRORS]
        told = [f"{count} {words if count == 1 else _plural(words)}" for count, words in counts if count]
        if not told:
            continue
        leaf = "N" if each.leaf is None else each.leaf
        if _retries(each):
            why = (
                "a drive that retries bad sectors holds up the whole scan; look at its SMART data"
                f" (--slow {leaf}:x3 and --bad-sectors {leaf}:100 say what it costs)"
            )
        else:
            why = "what it returned was wrong: look at its cable, its port and the memory of the host"
        found.append(f"{each.drive} has shown {' and '.join(told)}: {why}")
    return found


def _plural(words: str) -> str:
    return words.replace("I/O", "I/Os") if words.startswith("I/O") else f"{words}s"


def _slower_than_model(case: Case, seen: Sequence[DriveActivity]) -> list[str]:
    """Say which drives are slower than their model allows, by how much, and what that may be."""
    slow = slower_than_model(case, seen)
    told = [
        f"{each.drive} spends {format_duration(each.seen_s)} on a request of "
        f"{format_bytes(round(each.size))}, {each.factor:.2g} times the most that {each.model} needs "
        f"({format_duration(each.most_s)}): "
        f"the drive, its cable or its port is sick{_remedy(each)}"
        for each in slow
    ]
    link = shared_by(case, slow)
    if link is None:
        return told
    names = ", ".join(each.drive for each in slow)
    return [f"{names} are slower than their model allows, and all are behind {link}: look there first", *told]


def _remedy(each: SlowerThanModel) -> str:
    return "" if each.leaf is None else f" (--slow {each.leaf}:x{each.factor:.2g} says what it costs)"


def _priced(seen: Sequence[DriveActivity], slow: Mapping[str, float]) -> str:
    """Return how to ask what slow drives cost, for those whose place in the layout is known."""
    leaves = {each.drive: each.leaf for each in seen}
    flags = [
        f"--slow {leaves[drive]}:x{factor:.2g}"
        for drive, factor in slow.items()
        if leaves.get(drive) is not None
    ]
    return f" ({' '.join(flags)} says what it costs)" if flags else ""
