"""The notebooks run from top to bottom, and are kept with the outputs of such a run."""

from __future__ import annotations

import importlib.util
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_BYTES = 1_000_000
LONG = ("planning-meeting", "what-if")
SOME_SLOW = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in LONG)) for path in NOTEBOOKS
]


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks_runner", ROOT / "docs" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["notebooks_runner"] = module
    spec.loader.exec_module(module)
    return module


def read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_kept_and_none_is_an_error(path: Path) -> None:
    notebook = read(path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.output_type == "error" for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.filterwarnings("default")  # those of the kernel's machinery are not ours
@pytest.mark.parametrize("path", SOME_SLOW)
def test_notebooks_run_and_give_the_kinds_of_outputs_that_are_kept(path: Path, runner: ModuleType) -> None:
    if path.stem == "explore":
        pytest.importorskip("ipywidgets")
        pytest.importorskip("pandas")
    here, kept = runner.executed(path), read(path)
    if "ipywidgets" in path.read_text(encoding="utf-8") and not find_spec("ipywidgets"):
        return  # a case is shown in the place of knobs: that it runs is all there is to say
    assert runner.difference(here, kept, numbers=False) == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_kept_outputs_are_up_to_date(path: Path, runner: ModuleType) -> None:
    assert runner.difference(runner.executed(path), read(path)) == ""


def test_a_difference_is_told(runner: ModuleType) -> None:
    import nbformat.v4 as form

    def notebook(text: str, kind: str = "text/plain") -> Any:
        output = form.new_output("display_data", data={kind: text})
        return form.new_notebook(cells=[form.new_code_cell(outputs=[output])])

    same = notebook("raidz2x6 takes 10.3 hours")
    assert runner.difference(same, notebook("raidz2x6 takes 10.4 hours")) == ""
    assert runner.difference(same, notebook("raidz2x6 takes 20.4 hours")) == "10.3 was 20.4"
    assert "other words" in runner.difference(same, notebook("mirror takes 10.3 hours"))
    assert "kinds" in runner.difference(same, notebook("x", "image/png"))
