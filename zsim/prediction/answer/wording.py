"""How a prediction is printed: plain text, rich renderable, and HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from zsim.base.constants import constant
from zsim.base.units import (
    format_bytes,
    format_duration,
    format_duration_roughly,
    format_percent,
    format_rate,
)
from zsim.prediction.answer.records import (
    BEYOND,
    VERIFYING_SCRUB,
    Alternative,
    Answer,
    Clients,
    Driver,
    Leaf,
    Quantiles,
    Uncertainty,
    share_of_total,
)
from zsim.prediction.answer.sections import WARNINGS, Section, filled, rendered
from zsim.prediction.answer.sick_wording import sick_sentences
from zsim.prediction.answer.tables import TEXT_WIDTH, Grid, plain
from zsim.scenario.words import in_words

if TYPE_CHECKING:
    from rich.console import Group

OVERLOADED = constant("clients.overloaded")
# Below this share of the answer, what is left without the bottleneck is nothing.
NOTHING = constant("answer.nothing")
# Durations that lie closer together are the same.
SAME = constant("answer.same_saving")
# A load that costs a smaller share of the time is not worth naming in the first line.
WORTH_NAMING = constant("answer.worth_naming")
# What narrows the interval by less is not worth a user's trouble; it stays in the JSON.
SLIGHT = constant("answer.slight")


NAMES = {"expand": "expansion", "remove": "removal"}
"""Of operations that are called otherwise than what one asks for."""


def percent(share: float) -> str:
    """Return a share in percent, one decimal below ten."""
    return format_percent(share, 1 if 0 < 100.0 * share < 9.95 else 0)


def headline(prediction: Answer) -> str:
    """Return the answer in one sentence."""
    subject = f" of {prediction.subject}" if prediction.subject else ""
    answer = format_duration(prediction.resilver_s.p50)
    what = NAMES.get(prediction.operation, prediction.operation).capitalize()
    return f"{what}{subject}: {answer}{_overload(prediction)}"


def _overload(prediction: Answer) -> str:
    """Say what the stated load costs, where it is worth naming."""
    quiet, answer = prediction.unloaded_s, prediction.resilver_s.p50
    if quiet is None or quiet > (1.0 - WORTH_NAMING) * answer:
        return ""
    if answer > OVERLOADED * quiet:
        times = f"{answer / max(quiet, 1e-9):.0f} times as long as"
        return f": OVERLOAD by the stated load, {times} without it ({format_duration(quiet)})"
    if any(BEYOND in each for each in prediction.warnings):
        return f": OVERLOAD by the stated load, {format_duration(quiet)} without it"
    return f" under the stated load, {format_duration(quiet)} without it"


def stated(prediction: Answer) -> tuple[str, ...]:
    """Echo what was stated."""
    told = "; ".join(f"{in_words(each.field)} {each.text}" for each in prediction.stated)
    return (f"Stated: {told}.",) if told else ()


def breakdown_of(prediction: Answer) -> tuple[str, ...]:
    """Say whose time it is that the causes divide."""
    whose = prediction.breakdown_of
    several = "drives" in whose.partition(" behind ")[0]
    return (f"As {whose} spend{'' if several else 's'} it.",) if whose else ()


def interval(prediction: Answer) -> str:
    """Say how sure the answer is."""
    answer = prediction.resilver_s
    if answer.p10 is None or answer.p90 is None:
        return " ".join(("No 80 % interval (p10-p90): the inputs count as exact.", *_sampling(prediction)))
    low, high = format_duration(answer.p10), format_duration(answer.p90)
    return f"80 % interval (p10-p90): {low} to {high}."


def sampling(prediction: Answer) -> tuple[str, ...]:
    """Say how far the answer is known, where the interval holds that and does not tell it apart."""
    answer = prediction.resilver_s
    return _sampling(prediction) if answer.has_interval else ()


def missing(prediction: Answer) -> tuple[str, ...]:
    """Say first what nothing names or bounds."""
    known = prediction.uncertainty
    outside = [each for each in strongest(known) if not each.sampled] if known is not None else []
    told = (*prediction.missing, *map(_not_varied, outside))
    return (f"NOT STATED: {'; '.join(told)}.",) if told else ()


def _not_varied(driver: Driver) -> str:
    """Return what the interval does not vary, with what other values give, and what to do."""
    remedy, _, others = driver.words.partition(": ")
    given = f" ({others})" if others else ""
    return f"the {in_words(driver.field)}, which the interval does not vary{given}: {remedy}"


def _sampling(prediction: Answer) -> tuple[str, ...]:
    known = prediction.uncertainty
    if known is None or known.sampling_half_width_s is None:
        return ()
    return (f"Sampling error: +/- {format_duration(known.sampling_half_width_s)} (95 %).",)


def _counted(number: int) -> str:
    """Return a count of I/Os as precisely as it is known: three digits."""
    for size, word in ((10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.3g} {word}"
    return f"{number:,}"


def volume(prediction: Answer) -> str:
    """Say how much is repaired, read and written, and at what pace."""
    p = prediction
    count = f"{_counted(p.io_count)} I/Os"
    seconds = p.resilver_s.p50 or 1.0
    read, written = format_bytes(p.read_bytes), format_bytes(p.written_bytes)
    if p.operation == "remove":
        memory = format_bytes(p.mapping_bytes or 0)
        return (
            f"{read} read and {written} written at {format_rate(p.written_bytes / seconds)} on average in "
            f"{count}; the mapping of moved blocks takes {memory} of memory permanently."
        )
    if p.operation == "expand":
        pace = format_rate(p.read_bytes / seconds)
        return f"{read} of allocated space copied at {pace} on average in {count}."
    if p.operation == "scrub":
        return f"{read} read at {format_rate(p.read_bytes / seconds)} on average in {count}."
    pace = format_rate(p.resilvered_bytes / seconds)
    repaired = format_bytes(p.resilvered_bytes)
    return f"{repaired} repaired at {pace} on average; {read} read and {written} written in {count}."


def bottleneck(prediction: Answer) -> tuple[str, ...]:
    """Name the bottleneck, why it is one, and what the time would be without it."""
    found = prediction.bottleneck
    lines = [f"{_capital(found.resource)}, busy {percent(found.utilisation)} of the time."]
    if found.why:
        lines.append(f"{_capital(found.why.rstrip('.'))}.")
    # Where these drives do all the work, as in a scrub, what is left without them says nothing.
    if found.without_it_s is not None and found.without_it_s >= NOTHING * (prediction.resilver_s.p50 or 0.0):
        without = format_duration(found.without_it_s)
        what = NAMES.get(prediction.operation, prediction.operation)
        # What is tried is every drive that is read, the slow one and its peers.
        faster = "all source drives" if found.resource == "the slow source drive" else found.resource
        lines.append(f"With {faster} infinitely fast, the {what} would take {without}.")
    return tuple(lines)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def leaf_row(leaf: Leaf) -> tuple[str, ...]:
    """Return the table row of one kind of drive."""
    return (
        leaf.role,
        leaf.name,
        str(leaf.count),
        percent(leaf.utilisation),
        f"{leaf.iops:.0f}",
        format_bytes(round(leaf.mean_io_bytes)),
        format_rate(leaf.read_rate + leaf.write_rate),
        f"{leaf.mean_service_ms:.1f} ms",
        f"{leaf.queue:.1f}",
    )


def leaf_grid(leaves: Iterable[Leaf]) -> Grid:
    """Return the table that says how busy each kind of drive is."""
    head = ("role", "drive", "number", "busy", "I/Os/s", "mean I/O", "rate", "service", "queue")
    return Grid(head, tuple(leaf_row(leaf) for leaf in leaves), frozenset(range(2, len(head))))


def whose_rows(prediction: Answer) -> tuple[str, ...]:
    """Say how long the world took whose drives are shown, where that is not the answer."""
    here, there = prediction.resilver_s.p50, prediction.leaves_of_s
    if there is None or abs(there - here) <= SAME * here:
        return ()
    return (f"In the simulated pool shown, which takes {format_duration(there)}.",)


def is_counted_twice(leaf: Leaf) -> bool:
    """Tell whether drives stand in the row of their role as well."""
    return leaf.role.startswith(("slow ", "exchanged ")) or " behind " in leaf.role


def counted_twice(leaves: Iterable[Leaf]) -> tuple[str, ...]:
    """Name the rows whose drives stand in the row of their role as well."""
    apart = [each.role for each in leaves if is_counted_twice(each)]
    return (f"Also counted in the row of all such drives: {', '.join(apart)}.",) if apart else ()


def breakdown_grid(parts: dict[str, float]) -> Grid:
    """Return the table of causes with their seconds and shares."""
    rows = tuple(
        (name, format_duration(parts[name]), percent(share)) for name, share in share_of_total(parts).items()
    )
    return Grid(("cause", "time", "share"), rows, frozenset({1, 2}))


def phase_grid(prediction: Answer) -> Grid:
    """Return the table of phases; a scrub that follows has no byte counts of its own."""
    rows = tuple(
        (
            p.name,
            format_duration(p.duration_s),
            format_bytes(p.read_bytes) if p.read_bytes else "",
            format_bytes(p.written_bytes) if p.written_bytes else "",
            p.bound_by,
        )
        for p in prediction.phases
    )
    return Grid(("phase", "time", "read", "written", "bound by"), rows, frozenset({1, 2, 3}))


def milestones(prediction: Answer) -> tuple[str, ...]:
    """Say when the work itself is done, and when all is verified, where that is not the same moment."""
    scrub = next((phase for phase in prediction.phases if phase.name == VERIFYING_SCRUB), None)
    if scrub is None:
        return ()
    back, verified = format_duration(scrub.start_s), format_duration(scrub.start_s + scrub.duration_s)
    if prediction.operation == "expand":
        return (
            f"The new space is available after {back}, verified after {verified} by the scrub that follows: "
            "copying does not verify checksums.",
        )
    return (
        f"Redundancy is back after {back}, verified after {verified}: a rebuild does not verify checksums.",
    )


def whose_load(prediction: Answer) -> tuple[str, ...]:
    """Say where clients come from that nobody stated."""
    if any(each.field == "load" for each in prediction.assumptions) and prediction.clients:
        return ("No load was stated; the simulated pool shown has these clients.",)
    return ()


def waits(prediction: Answer) -> tuple[str, ...]:
    """Say how long clients of a stated load wait while it runs, and before."""
    told = [each for each in prediction.clients if each.during is not None and each.before is not None]
    if not told or whose_load(prediction):
        return ()
    waits = "; ".join(
        f"{_asked(each)} {format_duration(each.during_s)} on average while it runs, p99 "
        f"{format_duration(each.during.p99)} ({format_duration(each.before_s)} and "
        f"{format_duration(each.before.p99)} before)"
        for each in told
        if each.during is not None and each.before is not None
    )
    return (f"Client latency: {waits}.",)


def _asked(client: Clients) -> str:
    """Return what clients ask for; of files they only wait for what is read ahead too late."""
    ahead = " (fetching ahead of the reader)" if client.kind == "sequential-read" else ""
    return f"{client.kind}{ahead}"


def clients_grid(prediction: Answer) -> Grid:
    """Return the table of client latency before, during and after the operation, mean and percentiles."""
    rows = tuple(row for each in prediction.clients for row in _waits_rows(each))
    head = ("load", "answered", "when", "mean", "p50", "p90", "p99", "max")
    return Grid(head, rows, frozenset({1, 3, 4, 5, 6, 7}))


def _waits_rows(client: Clients) -> list[tuple[str, ...]]:
    """Return a row each for before, during and after; the first names the load."""
    times = (
        ("before", client.before_s, client.before),
        ("during", client.during_s, client.during),
        ("after", client.after_s, client.after),
    )
    rows = []
    for number, (when, mean, waits) in enumerate(times):
        shown = () if waits is None else (waits.p50, waits.p90, waits.p99, waits.max)
        named = (client.kind, f"{client.rate:.3g}/s") if number == 0 else ("", "")
        cells = [format_duration(value) for value in shown] or [""] * 4
        rows.append((*named, when, format_duration(mean), *cells))
    return rows


def quantiles_text(answer: Quantiles) -> str:
    """Return a duration with its interval, if there is one, in brackets."""
    middle = format_duration(answer.p50)
    if answer.p10 is None or answer.p90 is None:
        return middle
    return f"{middle} ({format_duration(answer.p10)} to {format_duration(answer.p90)})"


def alternative_sentence(prediction: Answer, other: Alternative) -> str:
    """Compare one alternative with the answer: its time and the factor between them."""
    here, there = prediction.resilver_s.p50, other.resilver_s.p50
    factor = ""
    if here > 0 and there > 0:
        ratio = max(here, there) / min(here, there)
        word = "longer" if there > here else "shorter"
        factor = ", about the same" if ratio < 1.05 else f", {ratio:.2g} times {word}"
        if ratio >= 1.05 and abs(there - here) < (other.half_width_s or 0.0):
            factor = ", which is within that error of it"
    known = "" if other.half_width_s is None else f" +/- {format_duration_roughly(other.half_width_s)}"
    note = f" ({other.note})" if other.note else ""
    return f"{other.name}: {quantiles_text(other.resilver_s)}{known}{factor}{note}."


def alternatives(prediction: Answer) -> tuple[str, ...]:
    """Set the simulated scan order against the others."""
    if not prediction.alternatives:
        return ()
    first = f"{prediction.order or 'as asked'}: {quantiles_text(prediction.resilver_s)} (simulated here)."
    return (first, *(alternative_sentence(prediction, other) for other in prediction.alternatives))


def advice(prediction: Answer) -> tuple[str, ...]:
    """Return what to change, the most useful first."""
    lines = []
    for number, item in enumerate(prediction.advice, 1):
        saves = item.saves_s or 0.0
        gain = f" (saves about {format_duration_roughly(saves)})" if saves > 0 else ""
        why = f": {item.why}" if item.why else ""
        lines.append(f"{number}. {item.action}{gain}{why}")
    return tuple(lines)


def shown(value: float, unit: str) -> str:
    """Return a value as a person reads it."""
    if unit == "s":
        return format_duration(value)
    if unit == "B/s":
        return format_rate(value)
    if unit == "B":
        return format_bytes(round(value))
    return format_percent(value) if unit == "1" else f"{value:.3g}/s"


def evidence_grid(prediction: Answer) -> Grid:
    """Return the table of what the pool has already shown: what was expected, and what it narrows."""
    rows = []
    for each in prediction.evidence:
        expected = ""
        if each.expected_p10 is not None and each.expected_p90 is not None:
            expected = f"{shown(each.expected_p10, each.unit)} to {shown(each.expected_p90, each.unit)}"
        kind = f"{each.kind}, {each.when}" if each.when else each.kind
        used = each.expected is not None
        rows.append((
            kind, "" if each.observed is None else shown(each.observed, each.unit), expected,
            percent(each.weight) if used else "not used", percent(each.narrows) if each.narrows > 0 else "",
        ))  # fmt: skip
    head = ("what", "observed", "simulated pools show", "weight", "interval narrows by")
    return Grid(head, tuple(rows), frozenset({1, 3, 4}))


def evidence_notes(prediction: Answer) -> tuple[str, ...]:
    """Say how many worlds the evidence leaves, what none explains, and what is not used."""
    known, p = prediction.uncertainty, prediction
    lines = [f"{_capital(each.note)}." for each in p.evidence if each.note]
    if known is not None and known.effective_members is not None:
        lines.insert(
            0,
            f"Effective sample size with this evidence: {known.effective_members:.1f} "
            f"of {known.members} simulated pools.",
        )
    if any(each.kind.startswith("running ") and each.expected is not None for each in p.evidence):
        lines.append("A running scan counts with its total duration at the pace so far.")
    return tuple(lines)


OF_SCANS = {kind: kind for kind in ("scrub", "resilver", "rebuild", "heal")}
OF_SCANS |= {"expand": "expansion", "remove": "removal"}
"""What the pool has shown of scans and copies, and what one is called."""


def contradictions(prediction: Answer) -> tuple[str, ...]:
    """Say what the pool has shown that no simulated world explains, and which of its scans do not count."""
    far = (
        f"NOT EXPLAINED: {each.note}. It counts {percent(each.weight)} here."
        for each in prediction.evidence
        if each.note and each.expected is not None
    )
    left = (
        f"NOT COUNTED: the {_scan_name(each.kind)}{f' of {each.when}' if each.when else ''}: {each.note}."
        for each in prediction.evidence
        if each.note and each.expected is None and each.kind.removeprefix("running ") in OF_SCANS
    )
    return (*far, *left)


def _scan_name(kind: str) -> str:
    """Return what a scan is called that is named as ``running expand``."""
    runs, _, name = kind.rpartition(" ")
    return f"{runs} {OF_SCANS[name]}".strip()


def unknowns_grid(prediction: Answer) -> Grid:
    """Return the table of unstated inputs: how far each moves the answer, and what knowing it brings."""
    known = prediction.uncertainty
    rows = tuple(driver_row(each) for each in strongest(known)) if known else ()
    return Grid(
        ("not known", "answer if only this varies", "interval narrows by", "remedy"), rows, frozenset({2})
    )


def strongest(known: Uncertainty) -> tuple[Driver, ...]:
    """Return the unstated inputs worth a user's trouble: they narrow the interval, or move the answer."""
    least = 1.0 + WORTH_NAMING
    return tuple(
        each
        for each in known.drivers
        if (each.narrows >= SLIGHT if each.sampled else each.high_s > least * each.low_s)
    )


def driver_row(driver: Driver) -> tuple[str, ...]:
    """Return the table row of one unstated input."""
    low, high = format_duration(driver.low_s), format_duration(driver.high_s)
    narrows = percent(driver.narrows) if driver.sampled else "not sampled"
    # What each value of an input that is not sampled would give is said under NOT STATED.
    words = driver.words if driver.sampled else driver.words.partition(":")[0]
    return in_words(driver.field), f"{low} to {high}", narrows, words


def assumption_grid(prediction: Answer) -> Grid:
    """Return the table of what was simulated unstated: in the world shown, and over what others vary it."""
    rows = tuple(
        (in_words(a.field), a.text or str(a.value), a.sampled or "not varied", a.why)
        for a in prediction.assumptions
    )
    return Grid(("not stated", "pool shown", "sampled over", "why"), rows)


def sections(prediction: Answer) -> tuple[Section, ...]:
    """Return the whole answer, block by block, empty blocks left out."""
    p = prediction
    first = Section("", (interval(p), *stated(p), *missing(p), volume(p)))
    return (first, *rest(p))


def rest(prediction: Answer, *, assumptions: bool = True) -> tuple[Section, ...]:
    """Return what is said after the first lines, with or without the assumptions."""
    p = prediction
    every = (
        Section(WARNINGS, p.warnings),
        Section("What this pool has already shown", evidence_notes(p), evidence_grid(p)),
        Section("Sick drives", sick_sentences(p)),
        Section("Bottleneck", bottleneck(p)),
        Section("How busy the drives are", (*whose_rows(p), *counted_twice(p.leaves)), leaf_grid(p.leaves)),
        Section("Where the time goes", breakdown_of(p), breakdown_grid(p.breakdown)),
        Section("Phases", milestones(p), phase_grid(p)),
        Section("Client latency", whose_load(p), clients_grid(p)),
        Section("Scan orders", alternatives(p)),
        Section("What to change first", advice(p)),
        Section("Main sources of uncertainty", sampling(p), unknowns_grid(p)),
        Section("Assumptions", grid=assumption_grid(p) if assumptions else None),
    )
    return filled(every)


def as_renderable(prediction: Answer, blocks: Sequence[Section] | None = None) -> Group:
    """Return the answer as a rich renderable: all of it, or the blocks given."""
    return rendered(headline(prediction), sections(prediction) if blocks is None else blocks)


def as_text(prediction: Answer, width: int = TEXT_WIDTH) -> str:
    """Return the answer as plain text of at most `width` columns."""
    return plain(as_renderable(prediction), width)
