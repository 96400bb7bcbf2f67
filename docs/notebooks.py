# ruff: noqa: T201
"""Run the notebooks and keep their outputs: ``python docs/notebooks.py [NAME ...]``; ``--check`` compares.

Compared are the kinds of outputs and their words; numbers may differ as those of transcripts do.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
TOLERANCE = 0.05
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
WORDS = re.compile(r"[A-Za-z]{3,}")
WIDGET = "application/vnd.jupyter.widget-view+json"


def executed(path: Path) -> Any:
    """Return a notebook with the outputs of a run of its own, without what differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as directory:
        resources = {"metadata": {"path": directory}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        kept = []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop(WIDGET, None)
            # Bars of progress come only where something takes long.
            is_bar = output.get("name") == "stderr"
            is_empty = output.output_type == "display_data" and not any(
                str(each).strip() for each in data.values()
            )
            if not (is_bar or is_empty):
                kept.append(output)
        if "outputs" in cell:
            cell.outputs = kept
    return notebook


def told(notebook: Any) -> list[tuple[str, str]]:
    """Return kind and text of every output, a picture's text being empty."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            kinds = ",".join(sorted(data)) or output.output_type
            text = output.get("text", "") or "".join(data.get("text/plain", ""))
            found.append((kinds, "" if "image/png" in data else text))
    return found


def difference(here: Any, kept: Any, numbers: bool = True) -> str:
    """Say in what two runs of a notebook differ; empty if in nothing that matters."""
    mine, other = told(here), told(kept)
    if [kind for kind, _ in mine] != [kind for kind, _ in other]:
        return "other kinds of outputs"
    for (_, text), (_, known) in zip(mine, other, strict=True) if numbers else ():
        if WORDS.findall(text) != WORDS.findall(known):
            return f"other words: {text[:200]!r}"
        for one, two in zip(NUMBER.findall(text), NUMBER.findall(known), strict=False):
            a, b = (float(each.replace(",", "")) for each in (one, two))
            if abs(a - b) > max(TOLERANCE * max(abs(a), abs(b)), 1.0):
                return f"{one} was {two}"
    return ""


def main(words: list[str]) -> int:
    """Run the notebooks named, or all."""
    check = "--check" in words
    names = [word for word in words if not word.startswith("--")]
    wrong = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        here = executed(path)
        if check:
            found = difference(here, nbformat.read(path, as_version=4))
            print(f"{path.stem}: {found or 'as kept'}")
            wrong += bool(found)
        else:
            nbformat.write(here, path)
            print(f"{path.stem} written")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.platform == "win32":
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    sys.exit(main(sys.argv[1:]))
