"""The outcome of a validation as a rich renderable, as Markdown and as one HTML page; no dates, no paths."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zsim.base.errors import InputError
from zsim.base.files import replace_file
from zsim.validation.frame import TIME, Claim
from zsim.validation.progress.score import grid_of
from zsim.validation.report import overview, wording
from zsim.validation.report.fitted import fitted_grid, fitted_numbers

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from zsim.prediction.answer.tables import Grid

TITLE = "Validation"
INTRODUCTION = (
    f"{overview.HOW_TO_READ} `zsim validate` prints the short form, `zsim validate --report FILE` writes this"
    " page."
)
FAILS_TITLE = "What fails, and why"
CASES_TITLE = "Case by case"
FIELD_TITLE = "Field reports, one by one"
FIELD_WORDS = (
    "Rows of one experiment count once together in the scores above. A row is within its interval if the"
    " observed time lies between p10 and p90, which eight rows in ten should; the error is that of p50."
    " Every row is turned into a scenario by the same rules. People report mostly what is slow."
)
ALIKE_TITLE = "Real runs, drives and maps, case by case"
JUDGED_TITLE = "Claims with a tolerance"
INFO_TITLE = "Numbers for information"
RUNNING_TITLE = "Running scans: the whole duration as answered on the way"
RUNNING_WORDS = (
    "Median and 90th percentile of the absolute logarithm of predicted over observed, and the median of the"
    " logarithm (bias); each experiment counts once. Last column: the same median of what zpool status says"
    " then, or, of sequences, of the last duration times ALLOC."
)
MANY = 60
"""From so many claims on the terminal shows cases and failures in place of every claim."""
FITTED_TITLE = "Fitted numbers"
FITTED_WORDS = (
    "Every number of the models and cases that was fitted, and the measurements it was fitted on. A number"
    " without a script was solved by hand from the few figures in its source, and its benefit was not"
    " measured separately. Numbers that nobody states and no source gives are assumed, not fitted;"
    " validation/fit_assumptions.py shows how they agree with the field reports: selected on one half of the"
    " experiments, measured on the other, and with each experiment left out in turn."
)


def renderable(claims: Sequence[Claim], summary: Mapping[str, Any]) -> Group:
    """Return the tables and sentences as a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    from zsim.prediction.answer.tables import rich_table

    parts: list[Any] = []
    if len(claims) < MANY:
        parts += [claims_table(claims), *(Text(f"  {line}", style="dim") for line in wording.reasons(claims))]
    else:
        told, _ = overview.apart(claims)
        parts += [rich_table(wording.without(overview.cases_grid(told), "what")), Text("")] if told else []
        fails = wording.without(overview.failures_grid(claims), overview.WHY)
        if fails.rows:
            parts += [Text(FAILS_TITLE, style="bold"), rich_table(fails)]
        parts.append(Text("  (every claim: --report FILE, or --json)", style="dim"))
    parts += [Text(""), rich_table(overview.glance_grid(claims))]
    if summary["classes"]:
        parts += [Text(""), rich_table(wording.classes_grid(summary))]
    if summary.get("running"):
        parts += [Text(""), Text(RUNNING_TITLE, style="bold"), rich_table(grid_of(summary["running"]))]
    parts += [Text(""), *(Text(line) for line in wording.score_sentences(summary))]
    parts.append(
        Text(wording.headline(summary), style=wording.VERDICTS["fail" if summary["fail"] else "pass"])
    )
    return Group(*parts)


def claims_table(claims: Sequence[Claim]) -> Table:
    """Return the table of the claims, verdicts in colour, the name of a case only where it changes."""
    from rich.table import Table
    from rich.text import Text

    grid = wording.claims_grid(claims)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, head in enumerate(grid.head):
        table.add_column(head, justify="right" if place in grid.numeric else "left", overflow="fold")
    previous = ""
    for cells in grid.rows:
        shown = "" if cells[0] == previous else cells[0]
        table.add_row(shown, *cells[1:-1], Text(cells[-1], style=wording.VERDICTS[cells[-1]]))
        previous = cells[0]
    return table


def as_markdown(claims: Sequence[Claim], summary: Mapping[str, Any]) -> str:
    """Return the report as Markdown, on one page."""
    parts = [*_overview(claims, summary), *_cases(claims), *_scores(summary), *_field(claims)]
    parts += [*_claims(claims), *_information(claims), *_fitted()]
    return "\n".join(parts)


def as_pages(claims: Sequence[Claim], summary: Mapping[str, Any]) -> dict[str, str]:
    """Return the report as Markdown on several pages, by file name: the first says what came out."""
    inner = {
        "cases.md": (CASES_TITLE, _cases(claims, level=0)),
        "field-reports.md": (FIELD_TITLE, _field(claims, level=0)),
        "claims.md": (JUDGED_TITLE, _claims(claims, level=0)),
        "information.md": (INFO_TITLE, _information(claims, level=0)),
        "fitted.md": (FITTED_TITLE, _fitted(level=0)),
    }
    links = [f"* [{title}](validation/{name})" for name, (title, _) in inner.items()]
    first = [*_overview(claims, summary), *_scores(summary), "## All results\n", "\n".join(links) + "\n"]
    pages = {"validation.md": "\n".join(first)}
    back = "Summary: [Validation](../validation.md).\n"
    for name, (title, parts) in inner.items():
        pages[f"validation/{name}"] = "\n".join([f"# {title}\n", back, *parts])
    return pages


def _title(title: str, level: int) -> list[str]:
    """Return a heading of the second level; none where the page has it as its own."""
    return [f"## {title}\n"] if level else []


def _overview(claims: Sequence[Claim], summary: Mapping[str, Any]) -> list[str]:
    from zsim.report.tables import markdown

    parts = [f"# {TITLE}\n", f"**{wording.headline(summary)}**\n", f"{INTRODUCTION}\n"]
    parts += [markdown(overview.glance_grid(claims))]
    parts += [f"{line}\n" for line in wording.score_sentences(summary)]
    fails = overview.failures_grid(claims)
    return [*parts, f"## {FAILS_TITLE}\n", markdown(fails)] if fails.rows else parts


def _cases(claims: Sequence[Claim], level: int = 1) -> list[str]:
    from zsim.report.tables import markdown

    told, alike = overview.apart(claims)
    parts = [*_title(CASES_TITLE, level), markdown(overview.cases_grid(told))] if told else []
    return [*parts, *_folded(ALIKE_TITLE, "cases", overview.cases_grid(alike))]


def _scores(summary: Mapping[str, Any]) -> list[str]:
    from zsim.report.tables import markdown

    parts = ["## By class\n", markdown(wording.classes_grid(summary))] if summary["classes"] else []
    if summary.get("running"):
        parts += [f"## {RUNNING_TITLE}\n", f"{RUNNING_WORDS}\n", markdown(grid_of(summary["running"]))]
    return parts


def _field(claims: Sequence[Claim], level: int = 1) -> list[str]:
    return _folded(FIELD_TITLE, "reports", overview.field_grid(claims), FIELD_WORDS, level)


def _claims(claims: Sequence[Claim], level: int = 1) -> list[str]:
    from zsim.report.tables import markdown

    judged, _ = overview.split(_but_field_reports(claims))
    parts = [*_title(JUDGED_TITLE, level), markdown(wording.claims_grid(judged))]
    notes = wording.reasons(claims)
    return [*parts, "## Notes\n", "\n".join(f"- {note}" for note in notes) + "\n"] if notes else parts


def _information(claims: Sequence[Claim], level: int = 1) -> list[str]:
    _, informing = overview.split(_but_field_reports(claims))
    return _folded(INFO_TITLE, "claims", wording.claims_grid(informing), level=level)


def _fitted(level: int = 1) -> list[str]:
    from zsim.report.tables import markdown

    return [*_title(FITTED_TITLE, level), f"{FITTED_WORDS}\n", markdown(fitted_grid(fitted_numbers()))]


def as_html(claims: Sequence[Claim], summary: Mapping[str, Any]) -> str:
    """Return the report as one HTML page."""
    from zsim.report.page import page
    from zsim.report.tables import html_table

    sentences = [wording.headline(summary), INTRODUCTION]
    fragments = [f"<h1>{TITLE}</h1>", *(f"<p>{html.escape(line)}</p>" for line in sentences)]
    fragments += [html_table(overview.glance_grid(claims)), *_plot(claims)]
    fragments += [f"<p>{html.escape(line)}</p>" for line in wording.score_sentences(summary)]
    fails = overview.failures_grid(claims)
    fragments += [f"<h2>{FAILS_TITLE}</h2>", html_table(fails)] if fails.rows else []
    told, alike = overview.apart(claims)
    fragments += [f"<h2>{CASES_TITLE}</h2>", html_table(overview.cases_grid(told))] if told else []
    if summary["classes"]:
        fragments += ["<h2>By class</h2>", html_table(wording.classes_grid(summary))]
    if summary.get("running"):
        fragments += [f"<h2>{RUNNING_TITLE}</h2><p>{html.escape(RUNNING_WORDS)}</p>"]
        fragments += [html_table(grid_of(summary["running"]))]
    fragments += _folded_html(FIELD_TITLE, "reports", overview.field_grid(claims), FIELD_WORDS)
    fragments += _folded_html(ALIKE_TITLE, "cases", overview.cases_grid(alike))
    judged, informing = overview.split(_but_field_reports(claims))
    fragments += ["<h2>Claims with a tolerance</h2>", html_table(wording.claims_grid(judged))]
    fragments += _folded_html(INFO_TITLE, "claims", wording.claims_grid(informing))
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in wording.reasons(claims))
    fragments.append(f"<h2>Notes</h2><ul>{notes}</ul>" if notes else "")
    fragments += [f"<h2>{FITTED_TITLE}</h2><p>{html.escape(FITTED_WORDS)}</p>"]
    return page(TITLE, [*fragments, html_table(fitted_grid(fitted_numbers()))])


def _but_field_reports(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims that are told one by one: field reports with a duration have their own table."""
    return [claim for claim in claims if (claim.kind, claim.claim) != (overview.FIELD, TIME)]


def _folded(title: str, what: str, grid: Grid, text: str = "", level: int = 1) -> list[str]:
    """Return a table that Markdown shows when its line is clicked; open on a page of its own."""
    from zsim.report.tables import markdown

    if not grid.rows:
        return []
    told = [f"{text}\n"] if text else []
    if not level:
        return [*told, markdown(grid)]
    opening = f"<details><summary>{len(grid.rows)} {what}</summary>\n"
    return [f"## {title}\n", *told, opening, markdown(grid), "</details>\n"]


def _folded_html(title: str, what: str, grid: Grid, text: str = "") -> list[str]:
    from zsim.report.tables import html_table

    if not grid.rows:
        return []
    opening = f"<details><summary>{len(grid.rows)} {what}</summary>"
    told = [f"<p>{html.escape(text)}</p>"] if text else []
    return [f"<h2>{title}</h2>", *told, f"{opening}{html_table(grid)}</details>"]


def _plot(claims: Sequence[Claim]) -> list[str]:
    from zsim.report.page import inline_svg
    from zsim.validation.report.drawing import figure

    drawn = figure(claims)
    return [] if drawn is None else [f"<figure>{inline_svg(drawn)}</figure>"]


def save(path: str | Path, claims: Sequence[Claim], summary: Mapping[str, Any]) -> None:
    """Write the report; the ending (.md or .html) decides the format.  A .md gets its plot as .svg beside it.

    Raises
    ------
    InputError
        If the ending is neither, or the directory does not exist.
    """
    check_ending(path)
    target = Path(path)
    if target.suffix == ".html":
        replace_file(target, as_html(claims, summary))
        return
    text = as_markdown(claims, summary)
    plot = _save_plot(target.with_suffix(".svg"), claims)
    replace_file(target, text + (f"\n![Predicted over observed]({plot.name})\n" if plot else ""))


def check_ending(path: str | Path) -> None:
    """Refuse a report file whose ending is neither .md nor .html, before anything is run."""
    if Path(path).suffix not in (".md", ".html"):
        raise InputError(
            "--report", str(path), "a report is Markdown or HTML", "end the name in .md or .html"
        )


def _save_plot(path: Path, claims: Sequence[Claim]) -> Path | None:
    from zsim.prediction.answer.drawing import render
    from zsim.validation.report.drawing import figure

    drawn = figure(claims)
    if drawn is None:
        return None
    replace_file(path, render(drawn, "svg"))
    return path
