"""The answer of `zsim.eta` in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from zsim.base.units import format_duration, format_fraction
from zsim.observe.pool_import.gaps import remedy_of
from zsim.planning.eta.reasons import FAST, MINUTE, SETTLED, SLOW
from zsim.planning.eta.records import EtaAnswer, dated, later, times_words
from zsim.scenario.words import in_words

if TYPE_CHECKING:
    from rich.console import Group

WIDTH = 100
NO_CALENDAR = "after the year 9999"
AGREES = 1.5
"""Two times of which neither is longer by more agree."""
NO_ESTIMATE = "zpool gives no estimate; what is left over its mean rate is"
NO_FIELD = "no such field"
LOUD = (
    "NOT KNOWN",
    "CONTRADICTS",
    "HALTED",
    "STUCK",
    "NOT IN THIS",
    "NO DATA",
    "NOT A WHOLE",
    "NO REDUNDANCY",
)
NO_CLOCK = (
    "nothing shows how long the scan had run when this was printed (the answer is much narrower with a line"
    " of date before it, piped straight in, or with 'after 12 h' in a sentence)"
)
STANDS, PARTIAL = ("HALTED", "STUCK"), ("NO DATA", "NOT A WHOLE")
"""A scan that does nothing has no date at which it is done; one of a part of a drive is not compared."""
NEGLIGIBLE = 0.002
"""Of what is left: a phase that takes less is not named."""
NOT_VARIED = ("drive_size", "alloc", "fill", "layout", "release")
"""Assumptions that are told first, where no world differs in them."""
VARIED = {"drive_size": "the size of the drives", "fill": "how full the pool is"}
"""How what is missing begins, by field: worlds differ in these where nobody names or bounds them."""


def lines(answer: EtaAnswer) -> Iterator[tuple[str, str]]:
    """Yield the lines of an answer, each with a style."""
    yield from _when(answer)
    yield f"Pool: {answer.subject}.", ""
    for each in answer.assumptions:
        varied = VARIED.get(str(each["field"]), NO_FIELD)
        if each["field"] in NOT_VARIED and not any(words.startswith(varied) for words in answer.missing):
            field = in_words(str(each["field"]))
            yield f"Default used, and it matters: {field} {each['text']} ({each['why']}).", "yellow"
    if answer.missing:
        yield f"NOT STATED: {'; '.join(answer.missing)}.", "yellow"
    for words in answer.notes:
        if words.startswith(LOUD):
            # What is not stated is named already.
            told = remedy_of(words) if answer.missing else ""
            yield (f"To tell it, {told}." if told else f"{words.rstrip('.')}."), "yellow"
    yield "", ""
    yield from _zpool(answer)
    yield from _work(answer)
    if answer.lately is not None:
        yield f"Lately: {answer.lately.words()}.", ""
    # What may hold a scan up is no reason of a pace that is not slow, or that nobody knows.
    label = "Reason" if answer.pace is not None and answer.pace >= SLOW else "Watch"
    for words in answer.reasons:
        yield f"{label}: {words}.", ""
    halted = any(words.startswith(STANDS) for words in answer.notes)
    for words in answer.worry:
        told = words.replace("after this status", "after it continues") if halted else words
        yield f"When to worry: {told}.", ""
    for words in answer.consequences:
        yield f"If you step in: {words}.", ""
    for words in answer.notes:
        if not words.startswith(LOUD):
            yield f"Note: {words.rstrip('.')}.", ""


def _when(answer: EtaAnswer) -> Iterator[tuple[str, str]]:
    """Yield when it is done; a scan that does nothing has no date."""
    left = answer.remaining_s
    low, middle, high = (_time(each) for each in (left.p10, left.p50, left.p90))
    name = f"{answer.pool}: " if answer.pool and answer.pool != "unknown" else ""
    if any(words.startswith(STANDS) for words in answer.notes):
        dated = f" Status of {answer.at:%a %d %b %Y %H:%M}." if answer.at is not None else ""
        yield f"{name}{middle} to go, once it continues.", "bold"
        yield f"80 % interval (p10-p90): {low} to {high}.{dated}", ""
    elif answer.at is not None:
        yield f"{name}done about {_moment(answer.at, left.p50)}, {middle} after this status.", "bold"
        yield (
            f"80 % interval (p10-p90): {_moment(answer.at, left.p10)} to {_moment(answer.at, left.p90)} "
            f"({low} to {high} to go). Status of {answer.at:%a %d %b %Y %H:%M}.",
            "",
        )
    else:
        yield f"{name}{middle} to go after this status.", "bold"
        yield f"80 % interval (p10-p90): {low} to {high}. The status carries no date.", ""


UNTOLD = "unknown"
NO_COUNTERS = "the counters shown do not tell how far it has come"


def _zpool(answer: EtaAnswer) -> Iterator[tuple[str, str]]:
    said = answer.zpool_remaining_s
    if said is None:
        yield f"zpool gives no estimate{f': {answer.zpool_why}' if answer.zpool_why else ''}.", ""
    else:
        source = "zpool says" if answer.zpool_prints else NO_ESTIMATE
        short = "too little" if said < answer.remaining_s.p50 else "too much"
        within = _within(said, answer.remaining_s.p50)
        if answer.zpool_says_no_minute and answer.remaining_s.p50 <= MINUTE:
            within = _within(1.0, 1.0)
        verdict = f"{short}: {answer.zpool_why}" if answer.zpool_why else within
        words = "less than a minute" if answer.zpool_says_no_minute else _time(said)
        yield f"{source} {words}, {verdict}.", ""


def _within(said: float, middle: float) -> str:
    """Return how an estimate of zpool that lies within the interval compares with the middle of it."""
    if max(said, middle) <= AGREES * max(min(said, middle), 1.0):
        return "which agrees"
    return f"{'later' if said > middle else 'sooner'} than expected here, but within the interval"


def _is_scrub(answer: EtaAnswer) -> bool:
    """Tell whether what runs reads alone; a status without a clock is none of the evidence."""
    scenario = answer.provenance.get("scenario")
    stated = scenario.get("operation") if isinstance(scenario, Mapping) else None
    return stated == "scrub" or any(each.kind == "running scrub" for each in answer.evidence)


def _work(answer: EtaAnswer) -> Iterator[tuple[str, str]]:
    work = {"repair": answer.phase} if answer.phase in ("copying", "rebuild") else {}
    if _is_scrub(answer):
        work = {"repair": "reading"}
    least = max(1.0, NEGLIGIBLE * math.fsum(answer.parts.values()))
    parts = [
        f"{format_duration(seconds)} {work.get(name, name)}"
        for name, seconds in answer.parts.items()
        if seconds >= least
    ]
    gone = f"{format_duration(answer.elapsed_s)} elapsed; " if answer.elapsed_s is not None else ""
    if answer.phase == UNTOLD:
        yield f"Now: {gone}{NO_COUNTERS}: a whole one takes {', '.join(parts)}.", ""
        yield f"Pace: not known: {NO_COUNTERS}.", ""
        return
    yield (
        f"Now: {work.get(answer.phase, answer.phase)}, {format_fraction(answer.done)} done; {gone}left: "
        f"{', '.join(parts) or 'the last txg syncs'}.",
        "",
    )
    if answer.elapsed_s is None:
        yield f"Pace: not known: {NO_CLOCK}.", ""
    elif answer.pace is None and any(words.startswith(PARTIAL) for words in answer.notes):
        yield "Pace: not compared with other pools: less than a drive is repaired.", ""
    elif answer.pace is None and answer.done > 0.0 and any(each.startswith("STUCK") for each in answer.notes):
        yield "Pace: none: what it did before it got stuck says nothing of the rest.", ""
    elif answer.pace is None and answer.done <= 0.0 and answer.elapsed_s >= SETTLED:
        yield f"Pace: none yet: nothing was done in {format_duration(answer.elapsed_s)}.", ""
    elif answer.pace is None:
        yield "Pace: too early to tell whether it is slower or faster than pools like this one.", ""
    elif answer.pace >= SLOW:
        yield f"Pace: {times_words(answer.pace)} slower than the median simulated pool.", ""
    elif answer.pace <= FAST:
        yield f"Pace: {times_words(1.0 / answer.pace)} faster than the median simulated pool.", ""
    else:
        yield "Pace: as expected for a pool like this one.", ""


def _time(seconds: float) -> str:
    return format_duration(seconds) if seconds >= 1.0 or seconds <= 0.0 else "less than a second"


def _moment(at: datetime, seconds: float) -> str:
    then = later(at, seconds)
    return dated(then, at) if then is not None else NO_CALENDAR


def as_text(answer: EtaAnswer) -> str:
    """Return the answer as plain text."""
    import textwrap

    return "\n".join(
        "\n".join(textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))
        for text, _ in lines(answer)
    )


def renderable(answer: EtaAnswer) -> Group:
    """Return the answer as a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    return Group(*(Text(text, style=style) for text, style in lines(answer)))
