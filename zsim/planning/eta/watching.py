"""Watch a running scan: take its status again and again, and print or store each answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.errors import InputError
from zsim.base.files import append_line, replace_file
from zsim.base.units import format_duration
from zsim.observe.collect.commands import checked_name
from zsim.observe.collect.live import run
from zsim.observe.texts import printed_moment
from zsim.observe.zpool.status import read_status
from zsim.planning.eta.answer import Eta
from zsim.planning.eta.api import eta

if TYPE_CHECKING:
    from rich.console import Group

SECONDS_ALLOWED = 60.0
MOST_STATUSES = 40
"""That are kept: of more, every second one."""
BAR = 40
"""Cells of the bar: with the time to go behind it, it fits a terminal of 80 columns."""


def status_of(pool: str) -> str:
    """Return what ``zpool status`` prints of a pool: read-only, no shell, with a time limit.

    Raises
    ------
    InputError
        When the name is none, or the command is missing, fails or does not answer.
    """
    outcome = run(["zpool", "status", "-v", checked_name(pool)], SECONDS_ALLOWED)
    if outcome.problem:
        remedy = "zpool list names the pools; or pipe in what zpool status prints elsewhere"
        raise InputError("--pool", pool, f"{outcome.line}: {outcome.problem}", remedy)
    return outcome.text


def runs(text: str) -> bool:
    """Tell whether a scan runs in a status."""
    return any(scan.active for status in read_status(text) for scan in status.scans)


def watched(
    pool: str,
    every_s: float,
    *,
    overrides: tuple[str, ...] = (),
    stated: Mapping[str, object] | None = None,
    files: tuple[str, ...] = (),
    missed: Callable[[InputError], None] = lambda error: None,
    status: Callable[[str], str] = status_of,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], datetime] = datetime.now,
) -> Iterator[Eta]:
    """Yield an answer now and every so many seconds, each from all statuses seen so far; ends with the scan.

    Parameters
    ----------
    pool : str
    every_s : float
        [s]
    overrides, stated, files
        As `zsim.eta` takes them.
    missed : callable
        Called when zpool gives no status; it is asked again after the interval.
    status, sleep, clock : callable
        What gives the status, waits and tells the time.

    Raises
    ------
    InputError
        When zpool gives no status the first time.
    """
    seen: list[str] = []
    while True:
        now = clock()
        try:
            printed = status(pool)
        except InputError as error:
            if not seen:
                raise
            missed(error)
            sleep(every_s)
            continue
        # The date of a status stands before it, as zpool status -T d prints it.
        text = f"{printed_moment(now)}\n{printed}"
        if seen and not runs(text):
            return
        answer = eta("\n".join([*seen, text]), files, pool=pool, overrides=overrides, stated=stated, now=now)
        seen = [*(seen if len(seen) < MOST_STATUSES else seen[::2]), text]
        yield answer
        sleep(every_s)


def log_line(answer: Eta) -> str:
    """Return an answer as one line of JSON."""
    data = answer.to_dict()
    for name in ("assumptions", "provenance"):
        data.pop(name)
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def append_log(path: str | Path, answer: Eta) -> None:
    """Append an answer to a file of JSON lines."""
    append_line(path, log_line(answer))


def prometheus_text(answer: Eta) -> str:
    """Return an answer in the text format of Prometheus, for the textfile collector of node_exporter."""
    pool = answer.pool.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    rows: list[tuple[str, str, list[tuple[str, float]]]] = [
        (
            "zsim_scan_remaining_seconds",
            "Time to go of the running scan, by quantile.",
            [
                (f'pool="{pool}",quantile="{q}"', value)
                for q, value in _quantiles(answer.remaining_s.to_dict())
            ],
        ),
        (
            "zsim_scan_total_seconds",
            "Whole duration of the running scan, by quantile.",
            [(f'pool="{pool}",quantile="{q}"', value) for q, value in _quantiles(answer.total_s.to_dict())],
        ),
        (
            "zsim_scan_done_ratio",
            "Share done of the phase that runs.",
            [(f'pool="{pool}",phase="{answer.phase}"', answer.done)],
        ),
    ]
    for name, words, value in (
        ("zsim_scan_pace_ratio", "How many times slower than pools like this.", answer.pace),
        ("zsim_scan_elapsed_seconds", "Time since the scan began.", answer.elapsed_s),
        ("zsim_scan_zpool_remaining_seconds", "Time to go as zpool status says.", answer.zpool_remaining_s),
    ):
        if value is not None:
            rows.append((name, words, [(f'pool="{pool}"', value)]))
    return "".join(
        f"# HELP {name} {words}\n# TYPE {name} gauge\n"
        + "".join(f"{name}{{{labels}}} {value:.10g}\n" for labels, value in values)
        for name, words, values in rows
    )


def _quantiles(values: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(f"0.{name[1]}", value) for name, value in values.items()]


def write_prometheus(path: str | Path, answer: Eta) -> None:
    """Write an answer for Prometheus; the file appears whole or not at all."""
    replace_file(path, prometheus_text(answer))


def bar(answer: Eta) -> Group:
    """Return a bar from the begin of the scan to the late end of its interval, and the answer."""
    from rich.console import Group
    from rich.text import Text

    elapsed = answer.elapsed_s or 0.0
    whole = max(elapsed + answer.remaining_s.p90, 1.0)
    gone, early, middle = (
        round(BAR * (elapsed + seconds) / whole)
        for seconds in (0.0, answer.remaining_s.p10, answer.remaining_s.p50)
    )
    cells = [
        "█" if cell < gone else " " if cell < early else "│" if cell == middle else "░" for cell in range(BAR)
    ]
    interval = f"{format_duration(answer.remaining_s.p10)} to {format_duration(answer.remaining_s.p90)} to go"
    return Group(Text(f"[{''.join(cells)}] {interval}"), answer.__rich__())
