"""A single-file HTML report: text, tables and inline SVG, no script, nothing fetched from elsewhere."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.files import replace_file
from zsim.prediction.answer.drawing import render
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.wording import as_html, headline

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def inline_svg(drawn: Figure) -> str:
    """Return a figure as an SVG element that can stand inside HTML."""
    text = render(drawn, "svg").decode()
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
        f"<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def prediction_page(prediction: Prediction) -> str:
    """Return the report of one prediction as HTML: the answer, its picture, and its provenance."""
    record = html.escape(json.dumps(prediction.provenance, indent=2, ensure_ascii=False))
    return page(
        headline(prediction),
        (
            as_html(prediction),
            f"<figure>{inline_svg(prediction.plot())}</figure>",
            f"<details><summary>Provenance</summary><pre>{record}</pre></details>",
        ),
    )


def save_prediction_page(prediction: Prediction, path: str | Path) -> None:
    """Write the report of one prediction; the file appears whole or not at all."""
    replace_file(path, prediction_page(prediction).encode())
