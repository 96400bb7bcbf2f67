"""The Prediction: JSON both ways, words, pictures, files."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from zsim.base.errors import InputError
from zsim.prediction.answer.drawing import FORMATS, time_unit
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import Bottleneck, Quantiles, share_of_total
from zsim.prediction.answer.tables import TEXT_WIDTH
from zsim.report.page import prediction_page, save_prediction_page
from zsim.report.tables import grid_of, markdown, to_csv

REQUIRED = ("resilver_s", "resilvered_bytes", "read_bytes", "io_count", "bottleneck", "leaves", "assumptions",
            "provenance")  # fmt: skip
LEAF = ("role", "utilisation", "mean_io_bytes", "iops", "mean_service_ms", "queue")


def smallest() -> Prediction:
    return Prediction(
        resilver_s=Quantiles(p50=1.0),
        resilvered_bytes=0,
        read_bytes=0,
        io_count=0,
        bottleneck=Bottleneck(resource="nothing", utilisation=0.0),
    )


@pytest.mark.parametrize("make", ["sample", "smallest"])
def test_json_both_ways_gives_the_same_prediction(prediction: Prediction, make: str) -> None:
    first = prediction if make == "sample" else smallest()
    assert Prediction.from_json(first.to_json()) == first
    assert Prediction.from_dict(json.loads(json.dumps(first.to_dict()))) == first


def test_json_has_the_promised_names(prediction: Prediction) -> None:
    data = prediction.to_dict()
    assert set(REQUIRED) <= set(data)
    assert set(data["resilver_s"]) == {"p10", "p50", "p90"}
    assert {"resource", "utilisation"} <= set(data["bottleneck"])
    assert all(set(LEAF) <= set(leaf) for leaf in data["leaves"])
    assert smallest().to_dict()["resilver_s"] == {"p10": None, "p50": 1.0, "p90": None}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"schema_version": 99}, "schema_version"),
        ({"schema_version": None}, "schema_version"),
        ({"read_bytes": -1}, "read_bytes"),
        ({"resilver_s": {"p10": 3.0, "p50": 2.0, "p90": 4.0}}, "resilver_s"),
        ({"unheard_of": 1}, "unheard_of"),
    ],
)
def test_a_result_that_is_none_is_refused_by_name(
    prediction: Prediction, change: dict[str, object], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        Prediction.from_dict(prediction.to_dict() | change, "result.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '{"schema_version": 1}', "\ufeff{}"])
def test_text_that_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"result\.json"):
        Prediction.from_json(text, "result.json")


def test_a_prediction_is_frozen(prediction: Prediction) -> None:
    with pytest.raises(ValidationError):
        prediction.io_count = 3  # type: ignore[misc]


def test_not_a_number_is_no_duration() -> None:
    with pytest.raises(InputError, match="p50 nan cannot be used: it is a finite number"):
        Quantiles(p50=float("nan"))


def test_words_answer_the_questions(prediction: Prediction) -> None:
    text = prediction.explain()
    for wanted in (
        "raidz2x6 of 4 TB drives, 62 % full: 17 h",
        "80 % interval (p10-p90): 13 h to 22 h",
        "Target drive, busy 86 %",
        "infinitely fast, the resilver would take 8 h",
        "legacy: 17 h",
        "sorted: 6 h, 2.8 times shorter",
        "saves about 11 h",
        "record size",
        "drive-managed SMR",
    ):
        assert wanted in text, wanted
    assert max(map(len, text.splitlines())) <= TEXT_WIDTH


def test_words_say_when_there_is_no_interval() -> None:
    text = str(smallest())
    assert "No 80 % interval" in text
    assert "Warnings" not in text  # empty blocks are left out
    assert "Assumptions" not in text


def test_markup_in_data_is_shown_not_obeyed(prediction: Prediction) -> None:
    odd = prediction.model_copy(update={"warnings": ("<script>[red]x[/red]</script>",)})
    assert "[red]x[/red]" in odd.explain()
    assert "<script>" not in odd._repr_html_()
    assert "&lt;script&gt;" in odd._repr_html_()


def test_a_scrub_repairs_nothing(prediction: Prediction) -> None:
    text = prediction.model_copy(update={"operation": "scrub", "resilvered_bytes": 0}).explain()
    assert text.startswith("Scrub of raidz2x6")
    assert "repaired" not in text


def test_breakdown_shares_sum_to_one(prediction: Prediction) -> None:
    shares = share_of_total(prediction.breakdown)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert share_of_total({}) == {}
    assert share_of_total({"nothing": 0.0}) == {}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("make", ["sample", "smallest"])
def test_plots_are_written_in_every_format(
    prediction: Prediction, make: str, form: str, tmp_path: Path
) -> None:
    path = tmp_path / f"plot{form}"
    (prediction if make == "sample" else smallest()).save_plot(path)
    magic = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[form]
    assert path.read_bytes().startswith(magic)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_plot_is_the_same_file_each_time(prediction: Prediction, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        prediction.save_plot(tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("name", ["plot.gif", "plot", "nowhere/plot.svg"])
def test_a_plot_that_cannot_be_written_leaves_nothing(
    prediction: Prediction, name: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        prediction.save_plot(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_results_are_saved_and_read_back(prediction: Prediction, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    prediction.save(path)
    assert Prediction.load(path) == prediction
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"result\.json"):
        Prediction.load(path)
    with pytest.raises(InputError, match=r"absent\.json"):
        Prediction.load(tmp_path / "absent.json")


def test_a_directory_is_not_replaced_by_a_result(prediction: Prediction, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    target.mkdir()
    with pytest.raises(InputError, match=r"result\.json"):
        prediction.save(target)
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"]


def test_the_page_stands_alone(prediction: Prediction, tmp_path: Path) -> None:
    text = prediction_page(prediction)
    assert "<svg" in text
    assert "<script" not in text
    for attribute in ("src=", "<link", "@import", "url(http"):
        assert attribute not in text
    save_prediction_page(prediction, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text


def test_drawing_leaves_pyplot_alone() -> None:
    """No window, no global state: pyplot is not even imported."""
    program = (
        "import sys; from zsim.prediction.answer.prediction import *\n"
        "from zsim.prediction.answer.records import *\n"
        "p = Prediction(resilver_s=Quantiles(p50=1.0), resilvered_bytes=0, read_bytes=0, io_count=0,"
        " bottleneck=Bottleneck(resource='x', utilisation=0))\n"
        "assert 'matplotlib' not in sys.modules; p.plot(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize(
    ("seconds", "unit"), [(30, "seconds"), (600, "minutes"), (60900, "hours"), (9e5, "days")]
)
def test_axes_have_a_unit_that_suits(seconds: float, unit: str) -> None:
    assert time_unit(seconds)[1] == unit


@dataclasses.dataclass(frozen=True)
class Form:
    convert: Callable[[Any], str]
    expected: str


@pytest.mark.parametrize(
    "form",
    [
        Form(markdown, "| name | value |\n| --- | ---: |\n| a\\|b | 1.235 |\n| c |  |\n"),
        Form(to_csv, "name,value\na|b,1.235\nc,\n"),
    ],
    ids=["markdown", "csv"],
)
def test_grids_print_as_text(form: Form) -> None:
    grid = grid_of([{"name": "a|b", "value": 1.23456}, {"name": "c", "value": None}])
    assert form.convert(grid) == form.expected


def test_a_share_may_exceed_one_by_rounding_only() -> None:
    assert Bottleneck(resource="x", utilisation=1.0 + 1e-12).utilisation == 1.0
    for wrong in (1.001, -0.1, float("nan")):
        with pytest.raises(InputError, match="utilisation"):
            Bottleneck(resource="x", utilisation=wrong)
