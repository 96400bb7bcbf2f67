"""The site: built strictly where mkdocs is installed; its gallery and its Python pages name what exists."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import zsim

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Every page is in the navigation, every link and anchor leads somewhere, every docstring is found."""
    for name in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(name)
    found = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    page = (tmp_path / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    for name in ("predict", "Scenario", "Table", "drive_size"):
        assert name in page
    assert (tmp_path / "search" / "search_index.json").stat().st_size > 100_000


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    there = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert named == there


def test_no_page_links_to_a_file_outside_of_the_site() -> None:
    for path in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
            if "://" not in target:
                linked = (path.parent / target).resolve()
                assert linked.is_relative_to(DOCS), f"{path.relative_to(DOCS)} links to {target}"


def test_the_python_page_has_everything_public() -> None:
    text = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    told = set()
    for name in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE):
        module, _, member = name.rpartition(".")
        assert hasattr(importlib.import_module(module), member), name
        told.add(member)
    records = {"EtaAnswer", "TimelineAnswer"}  # bases of public classes, with their fields
    assert told - records == {name for name in dir(zsim) if not name.startswith("__")}


def test_the_gallery_has_a_picture_for_each_example() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\(gallery/([\w-]+\.svg)\)", text)
    assert len(pictures) >= 5
    assert sorted(pictures) == sorted(path.name for path in (DOCS / "gallery").glob("*.svg"))
    for code in re.findall(r"```py\n(.*?)```", text, re.DOTALL):
        compile(code, "gallery", "exec")
