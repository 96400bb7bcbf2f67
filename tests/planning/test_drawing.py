"""What stands where in the picture of a table: every row's numbers, once, on axes that name their units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zsim.planning.drawing import BAND, MOST_CELLS, MOST_COLUMNS, MOST_LINES, figure
from zsim.planning.rows import axes_of, row_read
from zsim.prediction.answer.drawing import Picture, render

HOUR = 3600.0
Row = dict[str, Any]


def row(p50: float, spread: float | None = 0.2, **asked: Any) -> Row:
    found: Row = {"layout": "raidz2x6", "p50_s": p50, "p10_s": None, "p90_s": None}
    if spread is not None:
        found |= {"p10_s": p50 * (1 - spread), "p90_s": p50 * (1 + spread)}
    return found | asked


def axes(picture: Picture) -> list[Any]:
    return [each for each in picture.axes if each.get_visible() and each.get_label() != "<colorbar>"]


def lines(panel: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Return the points of each line by its label."""
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in panel.lines}


def bands(panel: Any) -> list[tuple[float, float]]:
    """Return the lowest and the highest of each band."""
    found = []
    for band in panel.collections:
        heights = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
        found.append((float(heights.min()), float(heights.max())))
    return found


def test_named_rows_are_intervals_from_p10_to_p90_with_a_dot_at_the_median() -> None:
    rows = [
        row(10 * HOUR, layout="mirror2"),
        row(30 * HOUR, layout="raidz2x6"),
        row(20 * HOUR, None, layout="x"),
    ]
    (panel,) = axes(figure(["layout"], rows))
    assert [label.get_text() for label in panel.get_yticklabels()] == ["mirror2", "raidz2x6", "x"]
    spans = [line for line in panel.lines if len(line.get_xdata()) == 2]
    dots = [line for line in panel.lines if len(line.get_xdata()) == 1]
    assert [list(line.get_xdata()) for line in spans] == [pytest.approx([8, 12]), pytest.approx([24, 36])]
    assert [list(line.get_ydata()) for line in spans] == [[0, 0], [1, 1]]
    assert [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in dots] == [
        pytest.approx((10, 0)), pytest.approx((30, 1)), pytest.approx((20, 2)),
    ]  # fmt: skip
    assert "[hours]" in panel.get_xlabel()
    low, high = panel.get_ylim()
    assert low > 2, "none is cut"
    assert high < 0, "the first on top"
    assert panel.get_xlim()[0] == 0
    assert panel.get_xlim()[1] > 36
    notes = {note.get_text(): note.xy for note in panel.texts}
    assert len(notes) == 3
    assert {xy[1] for xy in notes.values()} == {0, 1, 2}
    assert sorted(xy[0] for xy in notes.values()) == pytest.approx([12, 20, 36]), "behind the interval"


def test_rows_that_were_refused_are_not_drawn() -> None:
    rows = [row(10 * HOUR, layout="a"), {"layout": "b", "p50_s": None}]
    (panel,) = axes(figure(["layout"], rows))
    assert [label.get_text() for label in panel.get_yticklabels()] == ["a"]
    (nothing,) = axes(figure(["layout"], [{"layout": "b", "p50_s": None}]))
    assert len(nothing.lines) == 0


@pytest.mark.parametrize(("seconds", "unit", "size"), [
    (3 * 86400.0, "days", 86400.0), (30 * HOUR, "hours", HOUR), (600.0, "minutes", 60.0),
])  # fmt: skip
def test_along_a_number_the_median_is_a_line_with_its_band(seconds: float, unit: str, size: float) -> None:
    """Rows need not come in order; fills are in percent, times in the unit below."""
    rows = [row(seconds * share, fill=share) for share in (0.9, 0.3, 0.6)]
    (panel,) = axes(figure(["fill"], rows))
    ((at, middle),) = lines(panel).values()
    assert at == pytest.approx([30, 60, 90])
    assert middle == pytest.approx([seconds * share / size for share in (0.3, 0.6, 0.9)])
    assert bands(panel) == [pytest.approx((0.8 * 0.3 * seconds / size, 1.2 * 0.9 * seconds / size))]
    assert panel.get_xlabel() == "fill [%]"
    assert panel.get_ylabel() == f"resilver [{unit}]"
    assert panel.get_ylim()[0] == 0
    assert panel.get_ylim()[1] > 1.2 * 0.9 * seconds / size


def test_without_quantiles_there_is_no_band() -> None:
    (panel,) = axes(figure(["fill"], [row(9e4, fill=0.2), row(1e5, None, fill=0.4)]))
    assert bands(panel) == []
    assert len(lines(panel)) == 1


@pytest.mark.parametrize(("name", "value", "shown", "label"), [
    ("drive_size", 4e12, 4.0, "drive size [TB]"), ("recordsize", 131072, 128.0, "record size [KiB]"),
    ("memory", 1 << 34, 16.0, "memory [GiB]"), ("alloc", 3 << 40, 3.0, "ALLOC [TiB]"),
    ("frag", 0.25, 25.0, "FRAG [%]"), ("width", 6, 6.0, "width [drives]"),
])  # fmt: skip
def test_an_axis_is_in_the_unit_that_it_names(name: str, value: float, shown: float, label: str) -> None:
    rows = [row(1e5, **{name: value}), row(2e5, **{name: 2 * value})]
    (panel,) = axes(figure([name], rows))
    ((at, _),) = lines(panel).values()
    assert at == pytest.approx([shown, 2 * shown])
    assert panel.get_xlabel() == label


def test_a_second_axis_gives_a_line_each_in_its_own_colour() -> None:
    rows = [row(1e5 * (1 + k + width), fill=0.1 * (k + 1), width=width) for k in range(3) for width in (4, 6)]
    drawn = figure(["fill", "width"], rows)
    (panel,) = axes(drawn)
    found = lines(panel)
    assert len(found) == 2
    assert all(len(at) == 3 for at, _ in found.values())
    assert len({line.get_color() for line in panel.lines}) == 2
    (legend,) = drawn.legends
    told = [text.get_text() for text in legend.get_texts()]
    assert told == [*found, BAND], "the bands once, last"


def values_of(count: int, step: float) -> list[float]:
    return [step * (k + 1) for k in range(count)]


@pytest.mark.parametrize(("across", "up", "is_map"), [
    (3, MOST_LINES + 1, True), (2, MOST_LINES + 1, False), (3, MOST_LINES, False),
])  # fmt: skip
def test_more_values_than_lines_are_a_heat_map_where_both_axes_are_numbers(
    across: int, up: int, is_map: bool
) -> None:
    rows = [
        row(1e5 * (1 + x) * y, fill=x, ashift=y) for x in values_of(across, 0.1) for y in values_of(up, 1)
    ]
    drawn = figure(["fill", "ashift"], rows)
    panels = axes(drawn)
    assert (len(panels[0].images) == 1) == is_map
    if is_map:
        (image,) = panels[0].images
        found = np.asarray(image.get_array())
        assert found.shape == (up, across)
        wanted = [[1e5 * (1 + x) * y / 86400 for x in values_of(across, 0.1)] for y in values_of(up, 1)]
        assert found == pytest.approx(np.array(wanted))
        assert [label.get_text() for label in panels[0].get_xticklabels()] == ["10", "20", "30"]
        assert image.get_clim() == pytest.approx((found.min(), found.max()))
        assert image.origin == "lower"
        assert len(panels[0].texts) == found.size
        assert panels[0].get_ylabel() == "ashift"
    else:
        assert sum(len(at) for panel in panels for at, _ in lines(panel).values()) == across * up


def test_a_wide_heat_map_has_no_figures_in_its_cells_and_what_is_missing_is_empty() -> None:
    rows = [
        row(1e5 * x * y, fill=x, ashift=y) for x in values_of(MOST_CELLS + 1, 0.05) for y in values_of(7, 1)
    ]
    (panel,) = axes(figure(["fill", "ashift"], rows))
    assert len(panel.texts) == 0
    (part,) = axes(figure(["fill", "ashift"], [each for each in rows if each["fill"] < 0.2][1:]))
    assert np.isnan(np.ma.filled(part.images[0].get_array(), np.nan)).sum() == 1
    assert len(part.texts) == 3 * 7 - 1


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_further_axes_are_small_multiples_that_share_their_axes(count: int) -> None:
    rows = [row(1e5 * (1 + fill + width + k), fill=fill, width=width, cpus=k + 1)
            for fill in (0.2, 0.4) for width in (4, 6) for k in range(count)]  # fmt: skip
    panels = axes(figure(["fill", "width", "cpus"], rows))
    assert len(panels) == count
    assert sum(len(at) for panel in panels for at, _ in lines(panel).values()) == len(rows)
    assert len({panel.get_ylim() for panel in panels}) == len({panel.get_xlim() for panel in panels}) == 1
    columns = {round(panel.get_position().x0, 3) for panel in panels}
    assert len(columns) <= MOST_COLUMNS
    assert len({panel.get_title(loc="left") for panel in panels}) == count
    assert sum(bool(panel.get_ylabel()) for panel in panels) == -(-count // len(columns))
    assert sum(bool(panel.get_xlabel()) for panel in panels) == len(columns)


def test_the_title_names_the_axes_and_breaks_into_lines() -> None:
    rows = [row(1e5, fill=0.1, width=4), row(2e5, fill=0.2, width=6)]
    told = figure(["fill", "width"], rows, "a pool of " + "many " * 20).get_suptitle().split("\n")
    assert told[0].startswith("Resilver time by fill, width: a pool")
    assert max(map(len, told)) <= 64
    assert figure(["layout"], [row(1e5)]).get_suptitle() == "Resilver time"


def test_axes_are_what_varies_numbers_first() -> None:
    first = {"layout": "a", "fill": 0.1, "p50_s": 1, "name": "x", "width": 4, "history": "h", "ashift": 12}
    rows = [first, first | {"layout": "b", "fill": 0.2, "p50_s": 2, "name": "y", "width": 6, "history": "k"}]
    assert axes_of(["layout", "history", "fill", "p50_s", "name", "ashift"], rows) == [
        "fill",
        "layout",
        "history",
    ]
    assert axes_of(["layout", "width"], rows) == ["width"], "the layout follows from it"


@pytest.mark.parametrize(("changes", "good"), [
    ({}, True), ({"p50_s": None}, False), ({"p50_s": None, "refused": "too full"}, True),
    ({"p50_s": -1.0}, False), ({"p50_s": True}, False), ({"p50_s": float("nan")}, False),
    ({"p50_s": 1e24}, False), ({"p50_s": 0}, True),
    ({"bottleneck": 3}, False), ({"bottleneck": "x" * 2001}, False), ({"bottleneck": "x" * 2000}, True),
    ({"bottleneck": "\x1b[31m"}, False), ({"p10_s": "1"}, False), ({"p90_s": None}, True),
])  # fmt: skip
def test_a_kept_row_is_numbers_and_words_that_an_answer_can_have(changes: Row, good: bool) -> None:
    assert (row_read({"p50_s": 3.0, "bottleneck": "target", **changes}) is not None) == good
    assert row_read([1]) is None


def test_signs_that_steer_a_terminal_are_escaped_and_foreign_writing_is_drawn_without_a_warning() -> None:
    """Warnings are errors in tests: a sign that the font lacks is none."""
    rows = [row(HOUR, name="\x1b[2J evil"), row(2 * HOUR, name="\u6c34\u69fd")]
    text = render(figure(["name"], rows), "svg").decode()
    assert "\\u001b[2J evil" in text
    assert "\x1b" not in text
    assert "\u6c34\u69fd" in text
