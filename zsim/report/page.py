"""A single-file HTML report: text, tables and inline SVG; no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.files import replace_file
from zsim.prediction.answer.drawing import ACCENT, INK, render
from zsim.prediction.answer.panels import panels
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.sections import WARNINGS, Section, section_html
from zsim.prediction.answer.wording import headline, sections, stated
from zsim.scenario.words import in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def inline_svg(drawn: Figure) -> str:
    """Return a figure as an SVG element that can stand inside HTML, in the colours of the page."""
    text = render(drawn, "svg").decode().replace(INK, "currentColor").replace(ACCENT, "var(--accent)")
    return text[text.index("<svg") :]


def page(title: str, fragments: Sequence[str]) -> str:
    """Return a whole HTML page.

    Parameters
    ----------
    title : str
        Plain text.
    fragments : sequence of str
        HTML, already escaped, in order.
    """
    style = files("zsim.report").joinpath("page.css").read_text(encoding="utf-8")
    body = "\n".join(fragments)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def figures(drawn: Iterable[Figure]) -> str:
    """Return figures as HTML, beside or below each other as the page is wide."""
    return f'<div class="pictures">{"".join(f"<figure>{inline_svg(each)}</figure>" for each in drawn)}</div>'


def folded(title: str, record: object) -> str:
    """Return plain data as HTML that opens on a click."""
    text = html.escape(json.dumps(record, indent=2, ensure_ascii=False))
    return f"<details><summary>{html.escape(title)}</summary><pre>{text}</pre></details>"


def prediction_page(prediction: Prediction) -> str:
    """Return the report of one prediction as HTML: what was stated, pictures, the answer, its provenance."""
    told = "".join(
        f"<div><dt>{html.escape(in_words(each.field))}</dt><dd>{html.escape(each.text)}</dd></div>"
        for each in prediction.stated
    )
    first, *others = sections(prediction)
    answer = first._replace(
        sentences=tuple(each for each in first.sentences if each not in stated(prediction))
    )
    return page(
        headline(prediction),
        (
            f"<h1>{html.escape(headline(prediction))}</h1>",
            f'<dl class="stated">{told}</dl>' if told else "",
            section_html(answer),
            figures(panels(prediction).values()),
            *(_section(section) for section in others),
            folded("Provenance", prediction.provenance),
        ),
    )


def _section(section: Section) -> str:
    text = section_html(section)
    return f'<div class="warning">{text}</div>' if section.title == WARNINGS else text


def save_prediction_page(prediction: Prediction, path: str | Path) -> None:
    """Write the report of one prediction; the file appears whole or not at all."""
    replace_file(path, prediction_page(prediction))
