"""Sections of a printed answer: for a terminal, as plain text, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zsim.prediction.answer.tables import Grid, escaped, html_table, rich_table

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

WARNINGS = "Warnings"
"""Title of the block that stands out."""


class Section(NamedTuple):
    """One block of an answer: a title, sentences, and perhaps a table."""

    title: str
    sentences: tuple[str, ...] = ()
    grid: Grid | None = None


def filled(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Return the blocks that say something: those with a sentence or a row."""
    return tuple(each for each in sections if each.sentences or (each.grid is not None and each.grid.rows))


def rendered(headline: str, sections: Sequence[Section]) -> Group:
    """Return an answer as a rich renderable: its headline, then block by block."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = [Text(headline, style="bold")]
    for number, section in enumerate(sections):
        if number:
            parts.append(Text())
        if section.title:
            parts.append(Text(section.title, style="bold red" if section.title == WARNINGS else "bold"))
        indent = 2 if section.title else 0
        parts += [Padding(Text(sentence), (0, 0, 0, indent)) for sentence in section.sentences]
        if section.grid is not None:
            parts.append(Padding(rich_table(section.grid), (0, 0, 0, indent)))
    return Group(*parts)


def fragment(headline: str, sections: Iterable[Section], more: str = "") -> str:
    """Return an answer as an HTML fragment; `more` is HTML that follows the blocks."""
    body = "".join(section_html(section) for section in sections)
    return f'<div class="zsim"><h2>{escaped(headline)}</h2>{body}{more}</div>'


def section_html(section: Section) -> str:
    """Return one block as HTML."""
    title = f"<h3>{escaped(section.title)}</h3>" if section.title else ""
    table = html_table(section.grid) if section.grid is not None else ""
    return title + paragraphs(section.sentences) + table


def paragraphs(lines: Iterable[str]) -> str:
    """Return lines as paragraphs of HTML."""
    return "".join(f"<p>{escaped(line)}</p>" for line in lines)
