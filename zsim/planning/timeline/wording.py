"""How a timeline is printed: sentences, tables, a Gantt chart of characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from zsim.base.units import format_bytes, format_duration
from zsim.planning.timeline.passes import Percentiles
from zsim.planning.timeline.records import PassRow, TimelineAnswer
from zsim.planning.timeline.redundancy import Level
from zsim.prediction.answer.sections import paragraphs
from zsim.prediction.answer.tables import Grid, escaped, html_table, rich_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderableType

CHART, LEAST_CHART = 40, 12
"""Characters of the chart's axis, and with how many it still tells something."""
BARS = 2
"""Column of the bars."""
RUNS, LATE, GIVEN_UP = "█", "░", "▒"


def clock(seconds: float) -> str:
    """Return a moment as days, hours and minutes since the beginning.

    Examples
    --------
    >>> clock(93780.0), clock(600.0)
    ('1d 02:03', '00:10')
    """
    minutes = round(seconds / 60)
    days, rest = divmod(minutes, 1440)
    return f"{f'{days}d ' if days else ''}{rest // 60:02d}:{rest % 60:02d}"


def span(found: Percentiles) -> str:
    """Return percentiles of a duration in words."""
    low, middle, high = found["p10"], found["p50"], found["p90"]
    if middle is None:
        return "never"
    if low == high:
        return format_duration(middle)
    until = "never" if high is None else format_duration(high)
    return f"{format_duration(middle)} ({format_duration(low or 0.0)} to {until})"


def headline(found: TimelineAnswer) -> str:
    """Return the answer in one sentence."""
    if found.whole_s["p50"] is None:
        return f"{found.title}: the pool is never whole again"
    return f"{found.title}: {outcome(found)}"


def outcome(found: TimelineAnswer) -> str:
    """Return when the pool is whole; where nothing is repaired, when its last scrub is over."""
    if found.stays_whole:
        return f"{unchanged(found)}; the scrub ends after {span(found.over_s)}"
    return f"whole after {span(found.whole_s)}"


def unchanged(found: TimelineAnswer) -> str:
    """Return how a pool stands in which nothing is repaired."""
    short = " and ".join(found.short)
    return f"never whole: nothing replaces what {short} lacks" if short else "whole all the time"


def stated(found: TimelineAnswer) -> tuple[str, ...]:
    """Echo what was stated of the pool."""
    return (f"Stated: {'; '.join(found.stated)}.",) if found.stated else ()


def sentences(found: TimelineAnswer) -> tuple[str, ...]:
    """Return what else there is to say: redundancy, bytes, what was done twice, what is not simulated."""
    last = {level.vdev: level for level in found.redundancy}
    below = [level for level in found.redundancy if _is_below(level, found)]
    lines = [exposure(level, is_last=level is last[level.vdev]) for level in below]
    lines.append(f"{format_bytes(found.read_bytes)} read and {format_bytes(found.written_bytes)} written.")
    if found.redone_bytes:
        lines.append(
            f"{format_bytes(found.redone_bytes)} of that was done twice, because a pass restarted or went"
            " back to its last saved position."
        )
    return (*lines, *(f"{note[:1].upper()}{note[1:]}." for note in found.notes))


def _is_below(level: Level, found: TimelineAnswer) -> bool:
    return level.left < found.full[level.vdev]


def exposure(level: Level, *, is_last: bool = False) -> str:
    """Return a stretch of lowered redundancy in one sentence; nothing ends the last one of a vdev."""
    left = {0: "no redundancy", 1: "one more drive may fail"}
    words = left.get(level.left, f"{level.left} more drives may fail")
    if level.left < 0:
        return f"{level.vdev}: data lost at {clock(level.from_s)}."
    if is_last:
        return f"{level.vdev}: {words} from {clock(level.from_s)} on."
    length = format_duration(level.to_s - level.from_s)
    return f"{level.vdev}: {words} from {clock(level.from_s)} to {clock(level.to_s)} ({length})."


def end_of(found: TimelineAnswer) -> float:
    """Return where the axis of a chart ends [s]."""
    ends = [value for each in found.passes for value in each.ends_s.values() if value is not None]
    return max([*ends, *(level.to_s for level in found.redundancy)], default=1.0) or 1.0


def bar(row: PassRow, end: float, width: int = CHART) -> str:
    """Return a pass as characters: running, and light until its 90th percentile."""
    size = end / width
    stop, late = row.ends_s["p50"], row.ends_s["p90"]
    first = min(width - 1, int(row.begins_s / size))
    last = width if stop is None else max(first + 1, round(stop / size))
    far = width if late is None else max(last, round(late / size))
    sign = RUNS if row.completed else GIVEN_UP
    return (" " * first + sign * (last - first) + LATE * (far - last))[:width].ljust(width)


def gantt_grid(found: TimelineAnswer, width: int = CHART) -> Grid:
    """Return the passes with their bars."""
    end = end_of(found)
    rows = tuple(
        (each.vdev, each.kind, bar(each, end, width), clock(each.begins_s), _end(each))
        for each in found.passes
        if not _is_replaced_at_once(each)
    )
    return Grid(("vdev", "pass", f"00:00 to {clock(end)}", "begins", "ends (p10 to p90)"), rows)


def _is_replaced_at_once(row: PassRow) -> bool:
    """Tell whether a pass was given up as it began: a further drive was replaced at the same moment."""
    return not row.completed and row.ends_s["p90"] == row.begins_s


class _Chart:
    """The passes with bars as long as the width allows; in a small one they are a table without."""

    def __init__(self, found: TimelineAnswer) -> None:
        self.found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        grid = gantt_grid(self.found)
        rest = [place for place in range(len(grid.head)) if place != BARS]
        taken = sum(max(len(row[place]) for row in (grid.head, *grid.rows)) + 1 for place in rest)
        width = min(CHART, options.max_width - taken - 1)
        if width >= max(LEAST_CHART, len(grid.head[BARS])):
            yield _chart(gantt_grid(self.found, width))
        else:
            rows = tuple(tuple(row[place] for place in rest) for row in grid.rows)
            yield rich_table(Grid(tuple(grid.head[place] for place in rest), rows, keys=2))


def _end(row: PassRow) -> str:
    low, middle, high = (row.ends_s[name] for name in ("p10", "p50", "p90"))
    if middle is None:
        return "never"
    if low == high:
        return clock(middle)
    return f"{clock(middle)} ({clock(low or 0.0)} to {'never' if high is None else clock(high)})"


def story_grid(story: Sequence[tuple[float, str]]) -> Grid:
    """Return what happened when."""
    return Grid(("at", "what happens"), tuple((clock(time), text) for time, text in story))


def as_renderable(found: TimelineAnswer) -> Group:
    """Return the timeline as a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(headline(found), style="bold"), *map(Text, stated(found)), Text()]
    if found.passes:
        parts += [_Chart(found), Text()]
    parts += [Text(sentence) for sentence in sentences(found)]
    parts += [Text(), Text("What happens", style="bold"), rich_table(story_grid(found.story))]
    return Group(*parts)


def _chart(grid: Grid) -> RenderableType:
    """Return the chart as a table in which nothing is wrapped."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", pad_edge=False)
    for name in grid.head:
        table.add_column(name, no_wrap=True)
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def as_html(found: TimelineAnswer, picture: str = "") -> str:
    """Return the timeline as HTML, a picture of it behind what was stated."""
    table = Grid(
        ("vdev", "pass", "begins", "ends (p10 to p90)", "cause"),
        tuple((each.vdev, each.kind, clock(each.begins_s), _end(each), each.cause) for each in found.passes),
    )
    head = f"<h2>{escaped(headline(found))}</h2>{paragraphs(stated(found))}{picture}"
    return head + html_table(table) + paragraphs(sentences(found)) + html_table(story_grid(found.story))
