"""The first screen of an answer: how long, how certain, finish time, bottleneck, advice."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from zsim.base.constants import constant
from zsim.base.units import format_duration, format_duration_roughly, format_percent
from zsim.prediction.answer.records import Answer
from zsim.prediction.answer.sections import Section, filled, fragment, section_html
from zsim.prediction.answer.sick_wording import sick_sentences
from zsim.prediction.answer.tables import TEXT_WIDTH, Grid, plain
from zsim.prediction.answer.wording import (
    as_renderable,
    bottleneck,
    contradictions,
    headline,
    interval,
    missing,
    rest,
    stated,
    unknowns_grid,
    waits,
)
from zsim.scenario.parts import parse_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, ConsoleOptions, Group

LINES = 25
"""Of a terminal: what is said first fits on it."""
STRONGEST = 3
LONGEST_WARNING = 280
WORTH_SAYING = constant("answer.worth_saying")
MORE = "More: --why (causes, phases, drives, what to change), -v (assumptions too)."


def brief(
    prediction: Answer, begins: datetime | None = None, more: str = MORE, strongest: int = STRONGEST
) -> tuple[Section, ...]:
    """Return the first screen of an answer, block by block.

    Parameters
    ----------
    prediction : Answer
    begins : datetime, optional
        When it begins: the finish time is told for that moment.  Where the scenario states a moment of the
        week, the first such moment from then on.
    more : str
        Where the rest is; empty: not said.
    strongest : int
        How many of the uncertainties are named, the strongest first.
    """
    every = (
        Section(
            "", (interval(prediction), *finish(prediction, begins), *stated(prediction), *missing(prediction))
        ),
        Section("", contradictions(prediction)),
        Section("", (f"Bottleneck: {' '.join(_limit(prediction))}",)),
        Section("", waits(prediction)),
        Section("", sick_sentences(prediction) or _helps_most(prediction)),
        Section("What would narrow the interval", grid=_narrowing(prediction, strongest)),
        Section("", _loudest(prediction)),
        Section("", (more,) if more else ()),
    )
    return filled(every)


JUST_NOW = timedelta(seconds=constant("answer.just_now"))
"""A moment so long ago is that at which the question was asked, not one of the next week."""


def finish(prediction: Answer, begins: datetime | None) -> tuple[str, ...]:
    """Say when it is done if it begins at a moment; nothing where that is not known."""
    if begins is None:
        return ()
    answer, told = (
        prediction.resilver_s,
        next((each for each in prediction.stated if each.field == "begins"), None),
    )
    begun = "If started now"
    if told is not None:
        begins = _next(begins, parse_moment(told.text))
        begun = f"If started {_moment(begins, 0.0)}"
    done = f"{begun}: done about {_moment(begins, answer.p50)}"
    if answer.p10 is None or answer.p90 is None:
        return (f"{done}.",)
    return (f"{done} ({_moment(begins, answer.p10)} to {_moment(begins, answer.p90)}).",)


def _next(now: datetime, week_s: int) -> datetime:
    """Return the first moment that lies so many seconds after a Monday's midnight, from `JUST_NOW` on."""
    monday = datetime.combine(now.date() - timedelta(days=now.weekday()), time())
    moment = monday + timedelta(seconds=week_s)
    return moment if moment > now - JUST_NOW else moment + timedelta(days=7)


def _moment(begins: datetime, seconds: float) -> str:
    then = begins + timedelta(seconds=seconds)
    return f"{then:%a %d %b %H:%M}" if then.year == begins.year else f"{then:%a %d %b %Y %H:%M}"


def _limit(prediction: Answer) -> tuple[str, ...]:
    """Return the sentences of the bottleneck as they go on after a colon."""
    first, *others = bottleneck(prediction)
    return (first[:1].lower() + first[1:], *others)


def _helps_most(prediction: Answer) -> tuple[str, ...]:
    """Say what saves the most time, and what it costs; that nothing does, where changes were looked for.

    Without having tried any, an answer does not know of any.
    """
    best = next((each for each in prediction.advice if each.saves_s is not None and each.saves_s > 0.0), None)
    if best is None or best.saves_s is None:
        tried = prediction.advised or prediction.alternatives
        if prediction.advice or not tried or prediction.operation != "resilver":
            return ()
        most = f"saves more than {format_percent(WORTH_SAYING)} of the time"
        order = "scan order" if prediction.order == "legacy" else ""
        if _may_be_off(prediction):
            changes = " or ".join(filter(None, (order, "ports")))
            return (
                f"What helps most: {_faster(prediction)}, or write caches switched on where they are off; no "
                f"change of {changes} {most}.",
            )
        changes = f"{order}, write cache or ports" if order else "write cache or ports"
        return (f"What helps most: {_faster(prediction)}; no change of {changes} {most}.",)
    why = f": {best.why}" if best.why else ""
    return (f"What helps most: {best.action} (saves about {format_duration_roughly(best.saves_s)}){why}.",)


def _may_be_off(prediction: Answer) -> bool:
    """Tell whether write caches are among what is not known, and matter where they are off.

    Few are, so that to know it narrows the interval little however much longer it takes without them.
    """
    known = prediction.uncertainty
    drivers = known.drivers if known is not None else ()
    return any(
        each.field == "write_cache" and each.high_s > (1.0 + WORTH_SAYING) * each.low_s for each in drivers
    )


def _faster(prediction: Answer) -> str:
    """Say which drives would have to be faster, where one kind of them sets the pace."""
    drives = prediction.bottleneck.resource.removeprefix("the ")
    several = drives.endswith("drives")
    known = prediction.bottleneck.without_it_s is not None and drives.endswith(("drive", "drives"))
    return f"{'' if several else 'a '}faster {drives}" if known else "faster drives"


def _narrowing(prediction: Answer, strongest: int) -> Grid:
    grid = unknowns_grid(prediction)
    return grid._replace(rows=grid.rows[:strongest])


def _loudest(prediction: Answer) -> tuple[str, ...]:
    if not prediction.warnings:
        return ()
    first, *others = prediction.warnings
    is_whole = len(first) <= LONGEST_WARNING
    said = f"{first.rstrip('.')}." if is_whole else f"{first[:LONGEST_WARNING].rsplit(' ', 1)[0]} ..."
    more = f" ({len(others)} more with --why)" if others else ""
    return (f"WARNING: {said}{more}",)


def as_brief(prediction: Answer, begins: datetime | None = None, more: str = MORE) -> FirstScreen:
    """Return the first screen as a rich renderable; see `brief`."""
    return FirstScreen(prediction, begins, more)


class FirstScreen:
    """The first screen; weaker uncertainties are left out where a narrow terminal takes too many lines."""

    def __init__(self, prediction: Answer, begins: datetime | None, more: str) -> None:
        self._prediction, self._begins, self._more = prediction, begins, more

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Group]:
        for strongest in range(STRONGEST, -1, -1):
            sections = brief(self._prediction, self._begins, self._more, strongest)
            screen = as_renderable(self._prediction, sections)
            if strongest == 0 or len(console.render_lines(screen, options)) <= LINES:
                yield screen
                return


def brief_text(prediction: Answer) -> str:
    """Return the first screen as plain text."""
    return plain(as_brief(prediction, more=""), TEXT_WIDTH)


def brief_html(prediction: Answer) -> str:
    """Return the answer as an HTML fragment: the first screen, and the rest folded."""
    folded = "".join(section_html(section) for section in rest(prediction))
    details = f"<details><summary>Causes, phases, drives, assumptions</summary>{folded}</details>"
    return fragment(headline(prediction), brief(prediction, more=""), details)


def short(prediction: Answer) -> str:
    """Return an answer in one line, for ``repr``."""
    answer = prediction.resilver_s
    span = (
        ""
        if answer.p10 is None or answer.p90 is None
        else (f" ({format_duration(answer.p10)} to {format_duration(answer.p90)})")
    )
    return f"<Prediction: {headline(prediction)}{span}>"
