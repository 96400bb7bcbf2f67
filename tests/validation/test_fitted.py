"""The report lists every fitted number of the product."""

from __future__ import annotations

import re
from pathlib import Path

from zsim.base.model_data import models_directory, validation_directory
from zsim.validation.report import document
from zsim.validation.report.fitted import fitted_grid, fitted_numbers
from zsim.validation.report.scores import summarise

ROOT = Path(__file__).resolve().parents[2]


def test_every_fitted_number_is_listed_with_its_source() -> None:
    texts = [path.read_text() for path in models_directory().glob("**/*.toml")]
    texts += [path.read_text() for path in validation_directory().glob("**/*.toml")]
    written = sum(len(re.findall(r'^[^#\n]*kind = "fitted"', text, re.MULTILINE)) for text in texts)
    listed = fitted_numbers()
    assert sum(len(each.values) for each in listed) == written > 0
    assert all(each.source for each in listed)


def test_the_scripts_named_are_there() -> None:
    scripts = {each.script for each in fitted_numbers()} - {""}
    assert scripts
    assert all((ROOT / script).is_file() for script in scripts)


def test_fits_of_one_kind_are_one_row(tmp_path: Path) -> None:
    for name, value in (("a", 100), ("b", 120)):
        (tmp_path / "drives").mkdir(exist_ok=True)
        text = (
            f'rate = {{ value = {value}, unit = "MB/s", kind = "fitted", source = "s", uncertainty = 0.1 }}\n'
        )
        (tmp_path / "drives" / f"{name}.toml").write_text(
            f'[parameters]\n{text}[references]\ns = "a survey"\n'
        )
    (number,) = fitted_numbers(tmp_path)
    assert number.values == (100.0, 120.0)
    assert fitted_grid((number,)).rows == (("drives: rate", "100 to 120 MB/s", "2", "10 %", "a survey", "-"),)


def test_both_forms_of_the_report_hold_the_list() -> None:
    summary = summarise(())
    assert f"## {document.FITTED_TITLE}" in document.as_markdown((), summary)
    assert document.FITTED_TITLE in document.as_html((), summary)
