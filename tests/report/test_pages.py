"""Reports: self-contained, right in a browser; pictures look as they were when they were looked at."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import itertools
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.report import answers
from zsim.planning.page import table_page
from zsim.planning.rows import ANSWER
from zsim.planning.table import Table
from zsim.planning.tune.records import Tuning
from zsim.planning.tune.settings import Setting
from zsim.prediction.answer.drawing import render, themed
from zsim.prediction.answer.panels import panels, quantile
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import Clients, Quantiles, Stated, Waits
from zsim.report.page import prediction_page

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
TOUCH = 3.0
"""Words may touch by so much [pixels]: their boxes are larger than their letters."""
LEAST_ALIKE = 6.0
"""Root mean square difference of two pictures [of 255]: each release draws fonts a little otherwise."""


def row(width: int = 6, fill: float = 0.5, **more: Any) -> dict[str, Any]:
    slow = 2.0 if more.get("history") == "vm-host" else 1.0
    time_s = 6000.0 * width * fill * slow
    return {
        "layout": f"raidz{more.get('parity', 2)}x{width}", "width": width, "fill": fill,
        "p10_s": 0.5 * time_s, "p50_s": time_s, "p90_s": 2.4 * time_s, "bottleneck": "the source drives",
        "utilisation": 0.9, "resilvered_bytes": 1, "read_bytes": 1, "refused": None, **more,
    }  # fmt: skip


def table(**axes: list[Any]) -> Table:
    rows = tuple(row(**dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values()))
    return Table((*axes, "layout", *ANSWER, "refused"), rows)


INTERVALS = Table(
    ("layout", *ANSWER),
    tuple(row(width, parity=parity) for parity, width in ((1, 5), (2, 6), (2, 10), (3, 11))),
)
LINES = table(fill=[0.2, 0.4, 0.6, 0.8], history=["home-nas", "vm-host"])
MAP = table(width=[4, 6, 8, 10], fill=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
MULTIPLES = table(width=[4, 6, 8], fill=[0.2, 0.5, 0.8], parity=[1, 2, 3], history=["home-nas", "vm-host"])


def setting(name: str, value: int, ratio: float, p99_ratio: float | None, *, on_front: bool) -> Setting:
    wait_s = None if p99_ratio is None else 0.1 * p99_ratio
    return Setting(name, value, 1, ratio, 0.04, p99_ratio, wait_s, "modelled", "", "", on_front)


def tuned(*, clients: bool) -> Tuning:
    given = (
        ("zfs_vdev_scrub_min_active", 3, 0.36, 2.1, True), ("zfs_vdev_scrub_min_active", 2, 0.4, 1.9, True),
        ("zfs_vdev_scrub_max_active", 16, 0.82, 1.05, True), ("zfs_vdev_nia_delay", 2, 0.97, 0.98, True),
        ("zfs_resilver_min_time_ms", 9000, 0.98, 0.99, False),
        ("zfs_scan_vdev_limit", 1048576, 1.5, 0.94, True),
    )  # fmt: skip
    settings = tuple(
        setting(name, value, ratio, p99 if clients else None, on_front=front)
        for name, value, ratio, p99, front in given
    )
    waits = 0.1 if clients else None
    return Tuning("The resilver of raidz2x6, 50% full", 1e5, waits, "linux", settings, (), 4)


TABLES = {"intervals": INTERVALS, "lines": LINES, "map": MAP, "multiples": MULTIPLES}


@pytest.fixture
def whole(prediction: Prediction) -> Prediction:
    """Return a prediction with phases that tell how busy drives are, and zpool's own estimate."""
    phases = tuple(
        phase.model_copy(update={"busy": busy})
        for phase, busy in zip(
            prediction.phases, ({"source": 0.8, "target": 0.0}, {"source": 0.2, "target": 0.9}), strict=True
        )
    )
    points = tuple(
        point.model_copy(update={"zpool_eta_s": 40_000.0 * (1 - point.fraction)}) if point.fraction else point
        for point in prediction.progress
    )
    told = (
        Stated(field="layout", value="raidz2x6", text="raidz2x6"),
        Stated(field="fill", value=0.62, text="62 %"),
    )
    return prediction.model_copy(
        update={"phases": phases, "progress": points, "stated": told, "breakdown_of": "the replacement drive"}
    )


@pytest.fixture
def with_clients(whole: Prediction) -> Prediction:
    """Return a prediction that tells what two kinds of clients wait."""
    quiet, busy = Waits(p50=0.01, p90=0.016, p99=0.03, max=0.05), Waits(p50=0.03, p90=0.2, p99=0.9, max=2.1)
    means = {"before_s": 0.011, "during_s": 0.1, "after_s": 0.01}
    reads = Clients(kind="random-read", rate=40, **means, before=quiet, during=busy, after=quiet)
    writes = Clients(kind="sync-write", rate=20, **means, before=quiet, during=busy)
    return whole.model_copy(update={"clients": (reads, writes)})


def chromium() -> ModuleType:
    spec = importlib.util.spec_from_file_location("chromium", HERE / "chromium.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Pages.


def test_a_report_begins_with_what_was_stated_and_the_pictures_stand_on_top(whole: Prediction) -> None:
    page = prediction_page(whole)
    places = [page.index(mark) for mark in ('<dl class="stated">', "80 % interval", "<svg", "<h3>Bottleneck")]
    assert places == sorted(places)
    assert page.count("<svg") == len(panels(whole))
    assert '<meta name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


@pytest.mark.parametrize("make", [prediction_page, lambda _: table_page(MULTIPLES)])
def test_a_report_fetches_nothing(make: Callable[[Prediction], str], whole: Prediction) -> None:
    page = make(whole)
    assert not re.search(r"<(script|img|iframe|object|embed)\b", page)
    links = re.findall(r'(?:src|href)="([^"]+)"|url\(([^)]+)\)', page)
    assert all(one.startswith(("#", "data:")) for link in links for one in link if one)
    assert "@import" not in page


def test_a_report_follows_the_colours_of_the_page(whole: Prediction) -> None:
    page = prediction_page(whole)
    assert "currentColor" in page
    assert "#333333" not in page


def test_reports_are_right_in_a_browser(whole: Prediction, tmp_path: Path) -> None:
    tool = chromium()
    command = tool.browser()
    if command is None:
        pytest.skip("no Chromium here")
    long = whole.model_copy(update={"warnings": ("word " * 80, "x" * 300)})
    for name, page in (("one", prediction_page(long)), ("table", table_page(MULTIPLES))):
        path = tmp_path / f"{name}.html"
        path.write_text(page, encoding="utf-8")
        assert tool.look_at(path, command) == []


def test_the_browser_finds_what_overflows_and_what_complains(tmp_path: Path) -> None:
    tool = chromium()
    command = tool.browser()
    if command is None:
        pytest.skip("no Chromium here")
    path = tmp_path / "bad.html"
    path.write_text(
        "<body><div style='width:1000px'>x</div><script>console.error('no')</script>", encoding="utf-8"
    )
    found = tool.look_at(path, command)
    assert any("420 px" in each for each in found)
    assert any("800 px" in each for each in found)
    assert not any("at 1600 px" in each for each in found)
    assert any("console" in each for each in found)


# Pictures.


def pixels(drawn: Any) -> Any:
    from matplotlib import image

    stream = io.BytesIO()
    drawn.savefig(stream, format="png", dpi=50)
    stream.seek(0)
    return image.imread(stream)[..., :3]


@pytest.mark.skipif(
    importlib.metadata.version("matplotlib").split(".")[:2] == ["3", "10"],
    reason="the pictures were drawn with matplotlib 3.11, which sets text otherwise than 3.10",
)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["prediction", "clients", "tune", "tune-alone", *TABLES, *answers.FIGURES])
def test_pictures_look_as_they_were_looked_at(
    name: str, dark: bool, whole: Prediction, with_clients: Prediction
) -> None:
    """After a change that is meant, run with ZSIM_NEW_PICTURES=1, and look at each that has changed."""
    from matplotlib import image

    if name in answers.FIGURES:
        found = pixels(themed(answers.FIGURES[name](), dark))
    else:
        shown = {
            "prediction": whole, "clients": with_clients, "tune": tuned(clients=True),
            "tune-alone": tuned(clients=False), **TABLES,
        }[name]  # fmt: skip
        found = pixels(shown.plot(dark=dark))
    path = PICTURES / f"{name}{'-dark' if dark else ''}.png"
    if os.environ.get("ZSIM_NEW_PICTURES"):
        PICTURES.mkdir(exist_ok=True)
        image.imsave(path, np.ascontiguousarray(found))
    known = image.imread(path)[..., :3]
    assert found.shape == known.shape
    assert 255 * float(np.sqrt(np.mean((found - known) ** 2))) < LEAST_ALIKE


def words_of(drawn: Any) -> list[tuple[str, Any]]:
    """Return the words of a picture that are seen, each with the box it takes [pixels]."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    for axes in drawn.axes:
        for axis in (axes.xaxis, axes.yaxis):
            # Ticks beyond the limits have words that are not drawn.
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.majorTicks, *axis.minorTicks):
                if not low <= tick.get_loc() <= high:
                    tick.set_visible(False)
                    tick.label1.set_visible(False)
                    tick.label2.set_visible(False)
    seen = [text for text in drawn.findobj(Text) if text.get_visible() and text.get_text().strip()]
    # The box of an annotation would take in its line.
    return [(text.get_text(), Text.get_window_extent(text, canvas.get_renderer())) for text in seen]


@pytest.mark.parametrize("name", ["prediction", "clients", "tune", "tune-alone", *TABLES, *answers.FIGURES])
def test_no_words_of_a_picture_leave_it_or_lie_on_others(
    name: str, whole: Prediction, with_clients: Prediction
) -> None:
    if name in answers.FIGURES:
        drawn = answers.FIGURES[name]()
    else:
        shown = {
            "prediction": whole, "clients": with_clients, "tune": tuned(clients=True),
            "tune-alone": tuned(clients=False), **TABLES,
        }[name]  # fmt: skip
        drawn = shown.plot()
    check_words(drawn)


@pytest.mark.parametrize("of", ["the replacement drive", "the source drives behind port-multiplier-cbs"])
def test_no_words_of_a_panel_leave_it_or_lie_on_others(of: str, with_clients: Prediction) -> None:
    shares = {"idle, waiting on siblings": 0.6, "metadata phase": 0.4}
    changes = {"breakdown": shares, "breakdown_of": of}
    for drawn in panels(with_clients.model_copy(update=changes)).values():
        check_words(drawn)


def check_words(drawn: Any) -> None:
    found = words_of(drawn)
    page = drawn.bbox
    for words, box in found:
        edges = (box.x0 - page.x0, page.x1 - box.x1, box.y0 - page.y0, page.y1 - box.y1)
        assert min(edges) >= -1, f"{words!r} leaves the picture"
    for (words, box), (others, other) in itertools.combinations(found, 2):
        across = min(box.x1, other.x1) - max(box.x0, other.x0)
        along = min(box.y1, other.y1) - max(box.y0, other.y0)
        assert across < TOUCH or along < TOUCH, f"{words!r} lies on {others!r}"


@pytest.mark.parametrize(
    "drawn", [INTERVALS, LINES, MAP, MULTIPLES], ids=["intervals", "lines", "map", "multiples"]
)
def test_every_picture_has_a_title_and_units(drawn: Table) -> None:
    figure = drawn.plot()
    assert figure.get_suptitle().startswith("Resilver time by")
    labels = [axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes]
    assert any("hours" in label for label in labels)


def test_lines_say_what_their_band_is_and_titles_name_no_field() -> None:
    labels = [text.get_text() for text in LINES.plot().legends[0].texts]
    assert labels[-1] == "p10 to p90"
    assert len(labels) == 3
    for drawn in (INTERVALS, LINES, MAP, MULTIPLES):
        assert "_" not in drawn.plot().get_suptitle()
    stated = table(fill=[0.2, 0.4], drive_size=[18 * 10**12])
    assert "drive size 18TB" in stated.plot().get_suptitle()


def test_a_sweep_of_four_axes_is_small_multiples_with_few_lines_each() -> None:
    figure = MULTIPLES.plot()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 6
    assert all(len(axes.get_lines()) <= 6 for axes in shown)
    assert len({axes.get_title(loc="left") for axes in shown}) == 6


def test_the_quantiles_of_the_picture_are_those_of_the_answer() -> None:
    answer = Quantiles(p10=10.0, p50=20.0, p90=80.0)
    for share, value in ((0.1, 10.0), (0.5, 20.0), (0.9, 80.0)):
        assert quantile(answer, share) == pytest.approx(value)
    assert quantile(Quantiles(p50=20.0), 0.95) == 20.0


def test_panels_scale_to_a_narrow_page(whole: Prediction) -> None:
    """On a page of 420 px letters of a panel are 10 px high or more, those of a whole figure 8 px."""
    from zsim.prediction.answer.drawing import LETTERS

    for drawn in panels(whole).values():
        assert LETTERS * 388 / (72 * drawn.get_figwidth()) > 10.0
    others = [make() for make in answers.FIGURES.values()]
    for drawn in (whole.plot(), INTERVALS.plot(), LINES.plot(), MAP.plot(), *others):
        assert LETTERS * 420 / (72 * drawn.get_figwidth()) > 8.0


def test_an_axis_of_whole_numbers_has_whole_ticks() -> None:
    axes = MULTIPLES.plot().axes[0]
    assert all(float(tick).is_integer() for tick in axes.get_xticks())


def test_what_clients_wait_is_a_panel_where_there_are_clients(
    whole: Prediction, with_clients: Prediction
) -> None:
    assert set(panels(with_clients)) == {*panels(whole), "clients"}
    axes = panels(with_clients)["clients"].axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "sync-write,\nwhile it runs"
    assert axes.texts[-1].get_text() == "30 ms, p99 900 ms, longest 2.1 s"
    assert prediction_page(with_clients).count("<svg") == len(panels(whole)) + 1


def test_the_picture_of_knobs_names_the_front() -> None:
    names = [text.get_text() for text in tuned(clients=True).plot().axes[0].texts]
    assert "vdev_scrub_min_active=3" in names
    assert "resilver_min_time_ms=9000" not in names
    alone = tuned(clients=False).plot().axes[0].get_legend()
    assert [text.get_text() for text in alone.texts] == ["the defaults"]


def test_the_text_of_a_picture_is_text(whole: Prediction, tmp_path: Path) -> None:
    whole.save_plot(tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    ET.fromstring(text)
    assert "end as zpool status has it" in text
    assert "80 % of all" in text


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_picture_carries_no_date_whatever_the_environment_says(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = render(INTERVALS.plot(), form)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "x")
    assert render(INTERVALS.plot(), form) == usual
    assert os.environ["SOURCE_DATE_EPOCH"] == "x"


def test_layouts_of_which_none_was_simulated_are_an_empty_picture() -> None:
    assert render(answers.of_layouts(()), "png")
    fails = answers.layout("12*mirror2", 200, 5e-3, 12, meets=False)
    assert render(answers.of_layouts((fails,)), "png")
