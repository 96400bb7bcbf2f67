"""What the pictures of an answer show: bars as long as what they stand for, lines where the numbers are."""

from __future__ import annotations

import math
import os
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from tests.prediction.answer.test_wording import answer, leaf
from zsim.prediction.answer import drawing, panels
from zsim.prediction.answer.drawing import bars, time_unit
from zsim.prediction.answer.records import Clients, Phase, ProgressPoint, Quantiles, Waits

H = 3600.0
KNOWN = Quantiles(p10=8 * H, p50=10 * H, p90=20 * H)
POINTS = tuple(
    ProgressPoint(time_s=hour * H, fraction=hour / 10, zpool_eta_s=None if hour == 0 else (12 - hour) * H)
    for hour in (0, 5, 10)
)
PHASES = (
    Phase(name="metadata scan", start_s=0.0, duration_s=2 * H, busy={"source": 0.25, "target": 0.0}),
    Phase(name="repair", start_s=2 * H, duration_s=8 * H, busy={"source": 0.5, "target": 1.0}),
)
WAITS = Waits(p50=0.010, p90=0.020, p99=0.080, max=0.5)


def drawn(draw: Any, **fields: Any) -> Any:
    axes = Figure().add_subplot()
    draw(axes, answer(**{"resilver_s": KNOWN} | fields))
    return axes


def bars_of(axes: Any) -> list[tuple[float, float, float, float]]:
    """Return left, length, middle and height of each bar."""
    return [
        (bar.get_x(), bar.get_width(), bar.get_y() + bar.get_height() / 2, bar.get_height())
        for bar in axes.patches
    ]


def test_quantiles_lie_on_a_lognormal_on_either_side_of_the_median() -> None:
    assert [panels.quantile(KNOWN, share) for share in (0.1, 0.5, 0.9)] == pytest.approx(
        [8 * H, 10 * H, 20 * H]
    )
    score = NormalDist().inv_cdf(0.95) / NormalDist().inv_cdf(0.9)
    assert panels.quantile(KNOWN, 0.95) == pytest.approx(10 * H * 2.0**score)
    assert panels.quantile(KNOWN, 0.05) == pytest.approx(10 * H * 0.8**score)
    assert panels.quantile(Quantiles(p50=5.0), 0.9) == 5.0
    assert panels.quantile(Quantiles(p10=0.0, p50=5.0, p90=9.0), 0.9) == 5.0


def test_progress_is_the_share_done_at_its_time_and_the_end_as_zpool_says() -> None:
    axes = drawn(panels.draw_progress, progress=POINTS)
    line, said, median = axes.get_lines()
    assert line.get_xydata().tolist() == [[0, 0], [5, 50], [10, 100]]
    # Twelve hours in all, as zpool has it at both moments that it tells something.
    assert said.get_xydata().tolist() == [[12, 50], [12, 100]]
    assert median.get_xdata()[0] == 10
    assert axes.get_xlim() == (0, pytest.approx(1.03 * panels.quantile(KNOWN, 0.95) / H))
    assert axes.get_ylim()[0] == 0
    assert 100 < axes.get_ylim()[1] < 110
    assert axes.get_xlabel() == "time after the start [hours]"


def test_the_fan_reaches_from_quantile_to_quantile_at_every_share() -> None:
    axes = drawn(panels.draw_progress, progress=POINTS)
    widest, middle, narrow = (each.get_paths()[0].vertices for each in axes.collections)
    for band, low, high in ((widest, 0.05, 0.95), (middle, 0.1, 0.9), (narrow, 0.25, 0.75)):
        ends = band[np.isclose(band[:, 1], 100.0), 0]
        assert ends.min() == pytest.approx(panels.quantile(KNOWN, low) / H)
        assert ends.max() == pytest.approx(panels.quantile(KNOWN, high) / H)
    labels = [each.get_label() for each in axes.collections]
    assert [label == "80 % of all" for label in labels] == [False, True, False]
    assert drawn(panels.draw_progress, progress=POINTS, resilver_s=Quantiles(p50=10 * H)).collections[:] == []


def test_without_points_there_is_the_median_alone() -> None:
    axes = drawn(panels.draw_progress)
    assert len(axes.get_lines()) == 1
    assert axes.get_legend() is None


def test_how_likely_it_ends_when_peaks_below_one_and_shades_eighty_per_cent() -> None:
    axes = drawn(panels.draw_finish)
    whole, inside = (each.get_paths()[0].vertices for each in axes.collections)
    assert whole[:, 1].max() == pytest.approx(1.0)
    assert whole[:, 1].min() >= 0.0
    assert (inside[:, 0].min(), inside[:, 0].max()) == (pytest.approx(8, abs=0.3), pytest.approx(20, abs=0.5))
    assert whole[:, 0].min() < 8
    assert whole[:, 0].max() > 20
    # Shorter times lie closer together, so that they are likelier; the peak is about the median.
    assert 8 < whole[np.argmax(whole[:, 1]), 0] < 11
    assert sorted(line.get_xdata()[0] for line in axes.get_lines()) == [8, 10, 20]
    assert [text.get_text().strip() for text in axes.texts] == ["p10", "p90"]
    assert [text.get_ha() for text in axes.texts] == ["right", "left"]
    assert len(drawn(panels.draw_finish, resilver_s=Quantiles(p50=10 * H)).get_lines()) == 1


def test_causes_are_bars_of_their_share_the_largest_on_top() -> None:
    axes = drawn(
        panels.draw_causes, breakdown={"seek": 3 * H, "transfer": 6 * H, "idle": H}, breakdown_of="the link"
    )
    assert [round(length) for _, length, _, _ in bars_of(axes)] == [60, 30, 10]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["transfer", "seek", "idle"]
    assert axes.yaxis_inverted()
    assert axes.get_title(loc="left") == "Where the time goes: link"
    assert axes.get_xlim()[0] == 0
    assert axes.get_xlim()[1] > 100


def test_a_share_of_one_is_a_hundred_per_cent() -> None:
    axes = Figure().add_subplot()
    bars(axes, ["a", "b"], [1.0, 0.25], ["k", "k"])
    assert [length for _, length, _, _ in bars_of(axes)] == [100, 25]
    assert [text.get_text() for text in axes.texts] == ["100 %", "25 %"]
    assert [place for _, _, place, _ in bars_of(axes)] == [0, 1]


DRIVES = (leaf(role="source", count=5), leaf(role="slow source", count=1), leaf(role="target", count=2))


def test_drives_are_busy_by_phase_as_high_as_their_share() -> None:
    axes = drawn(panels.draw_drives, phases=PHASES, leaves=DRIVES)
    rows = bars_of(axes)
    frames, shares = rows[::2], rows[1::2]
    assert [(left, length) for left, length, _, _ in frames] == [(0, 2), (2, 8)] * 3
    assert [(left, length) for left, length, _, _ in shares] == [(0, 2), (2, 8)] * 3
    whole = frames[0][3]
    assert [height / whole for *_, height in shares] == pytest.approx([0.25, 0.5, 0.0, 0.0, 0.0, 1.0])
    # All stand on the bottom of their frames; rows follow one another downwards.
    for (_, _, frame, _), (_, _, place, height) in zip(frames, shares, strict=True):
        assert place + height / 2 == pytest.approx(frame + whole / 2)
    assert [frames[2 * row][2] - row for row in range(3)] == [pytest.approx(frames[0][2])] * 3
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "source (5)", "of these: slow source (1)", "target (2)",
    ]  # fmt: skip
    assert axes.get_xlim() == (0, 10)
    assert [text.get_text() for text in axes.texts] == ["25 %", "50 %", "0 %", "0 %", "0 %", "100 %"]
    assert [text.get_position()[0] for text in axes.texts[:2]] == [1, 6]
    assert axes.get_title(loc="left") == "Share busy: metadata scan, then repair"
    # A line divides the phases.
    assert [line.get_xdata()[0] for line in axes.get_lines()] == [2]


def test_a_phase_too_short_for_its_number_has_none() -> None:
    short = (PHASES[0].model_copy(update={"duration_s": H}), PHASES[1].model_copy(update={"start_s": H}))
    axes = drawn(panels.draw_drives, phases=short, leaves=DRIVES[:1])
    assert [text.get_text() for text in axes.texts] == ["50 %"]


def test_without_phases_drives_are_busy_over_the_whole() -> None:
    axes = drawn(panels.draw_drives, leaves=(leaf(utilisation=0.5), leaf(role="target", utilisation=0.9)))
    assert [length for _, length, _, _ in bars_of(axes)] == pytest.approx([50, 90])
    assert axes.get_xlabel() == "busy [%]"


def clients(kind: str = "random-read", **more: Any) -> Clients:
    usual = {"rate": 5.0, "before_s": 0.01, "during_s": 0.02, "after_s": 0.01, "during": WAITS}
    return Clients(kind=kind, **usual | more)


def test_what_clients_wait_is_a_bar_from_median_to_p99_with_the_longest_behind() -> None:
    axes = drawn(panels.draw_clients, clients=(clients(before=WAITS.model_copy(update={"p50": 0.005})),))
    before, during = bars_of(axes)
    assert (before[0], before[0] + before[1]) == pytest.approx((5, 80))
    assert (during[0], during[0] + during[1]) == pytest.approx((10, 80))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["before", "while it runs"]
    xs = [line.get_xdata()[0] for line in axes.get_lines()]
    assert xs == pytest.approx([5, 20, 500, 10, 20, 500])
    assert axes.get_xscale() == "log"
    assert axes.get_xlim() == (pytest.approx(0.7 * 5), pytest.approx(1.4 * 500))
    assert axes.texts[1].get_text() == "10 ms, p99 80 ms, longest 500 ms"
    at, row = axes.texts[1].get_position()
    assert 0.0 <= at < 0.5, "it begins in the panel, at its left"
    assert 0.5 < row < during[2], "in its row, above its bar"
    assert during[2] - before[2] == pytest.approx(1)
    assert axes.get_title(loc="left") == "What clients wait: random-read"
    assert all(
        low < place < high for (_, _, place, _), low, high in ((before, -0.5, 0.5), (during, 0.5, 1.5))
    )


def test_several_kinds_of_clients_are_named() -> None:
    axes = drawn(panels.draw_clients, clients=(clients(), clients("sync-write")))
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "random-read,\nwhile it runs", "sync-write,\nwhile it runs",
    ]  # fmt: skip
    assert axes.get_title(loc="left") == "What clients wait"


@pytest.mark.parametrize(
    ("value", "text"), [(999.0, "999 ms"), (1000.0, "1 s"), (2345.0, "2.3 s"), (0.1234, "0.123 ms")]
)
def test_waits_are_told_in_seconds_from_one_on(value: float, text: str) -> None:
    assert panels._milliseconds(value) == text


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [
        (2 * 86400.0, "days"),
        (1.9 * 86400.0, "hours"),
        (2 * H, "hours"),
        (1.9 * H, "minutes"),
        (120.0, "minutes"),
        (119.0, "seconds"),
    ],
)
def test_an_axis_has_two_of_its_unit_at_least(seconds: float, unit: str) -> None:
    assert time_unit(seconds)[1] == unit


def test_pictures_grow_with_their_rows_and_lack_what_the_answer_lacks() -> None:
    bare, full = (
        answer(resilver_s=KNOWN),
        answer(resilver_s=KNOWN, clients=(clients(), clients("sync-write"))),
    )
    assert set(panels.PANELS) - set(panels.panels(bare)) == {"clients"}
    assert set(panels.panels(full)) == set(panels.PANELS)
    assert len(panels.figure(bare).axes) + 1 == len(panels.figure(full).axes) == 5
    one = answer(resilver_s=KNOWN, clients=(clients(),))
    assert panels._clients_height(bare) == 0.0
    assert 0.0 < panels._clients_height(one) < panels._clients_height(full)
    heights = [
        panels._rows_height(answer(breakdown=parts, leaves=DRIVES[:count]))
        for parts, count in (({"a": 1.0}, 1), ({"a": 1.0, "b": 1.0}, 3))
    ]
    assert heights[0][0] < heights[1][0]
    assert heights[0][1] < heights[1][1]
    assert math.isclose(
        panels.figure(full).get_figheight() - panels.figure(bare).get_figheight(),
        panels._clients_height(full),
    )


# Dark grounds.


def test_on_a_dark_ground_dark_ink_and_colours_are_light_and_others_stay() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    words = [axes.text(0.0, 0.0, "x", color=colour) for colour in (drawing.INK, "#000000", "#e69f00")]
    lines = [axes.plot([0, 1], [0, 1], color=colour)[0] for colour in (drawing.ACCENT, "#e69f00")]
    bar, other = axes.bar([0, 1], [1, 1], color=[(*to_rgb(drawing.ACCENT), 0.25), "#e69f00"])
    cloud = axes.scatter([0, 1], [0, 1], color="#0072b2")
    none = axes.scatter([], [], facecolors="none")
    assert drawing.themed(figure, dark=False) is figure
    assert to_hex(words[0].get_color()) == drawing.INK
    assert drawing.themed(figure, dark=True) is figure
    assert [to_hex(each.get_color()) for each in words] == [drawing.DARK_INK] * 2 + ["#e69f00"]
    assert [to_hex(each.get_color()) for each in lines] == ["#4fb3dd", "#e69f00"]
    assert bar.get_facecolor() == pytest.approx((*to_rgb("#4fb3dd"), 0.25))
    assert to_hex(other.get_facecolor()) == "#e69f00"
    assert to_hex(cloud.get_facecolor()[0]) == "#3d9ad6"
    assert len(none.get_facecolor()) == 0
    assert [to_hex(each.get_facecolor()) for each in (figure, axes)] == [drawing.DARK_GROUND] * 2
    assert {to_hex(each.get_edgecolor()) for each in axes.spines.values()} == {drawing.DARK_INK}


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_the_same_picture_is_the_same_file_whatever_the_date(
    monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "no date")
    figure = Figure()
    drawing.plain(figure.add_subplot(), "A title")
    found = drawing.render(figure, form)
    assert found == drawing.render(figure, form)
    assert b"Date" not in found
    assert os.environ["SOURCE_DATE_EPOCH"] == "no date"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    drawing.render(figure, form)
    assert "SOURCE_DATE_EPOCH" not in os.environ


def test_a_headline_is_broken_where_the_figure_ends() -> None:
    """A figure of the usual width has so many letters in a line, one half as wide half as many."""
    text = "x " * drawing.WIDEST
    for share in (1.0, 0.5):
        figure = Figure(figsize=(drawing.WIDTH * share, 3.0))
        drawing.headed(figure, text)
        lines = figure.get_suptitle().split("\n")
        assert max(map(len, lines)) <= drawing.WIDEST * share < max(map(len, lines)) + 2
