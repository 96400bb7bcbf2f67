"""What stands in the pictures of answers: every number of the answer, at its place on the axis."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report.answers import HOUR, LAYOUTS, chance, layout, of_changes, of_eta, of_fill, of_layouts, some
from zsim.planning.fleet import drawing as fleet
from zsim.planning.fleet.records import Losses
from zsim.planning.risk import drawing as risk
from zsim.planning.risk.records import Grades, Mover
from zsim.planning.risk.wording import FIELDS, GRADES
from zsim.planning.timeline import gantt
from zsim.planning.timeline.records import PassRow
from zsim.planning.timeline.redundancy import Level
from zsim.planning.tune import drawing as tune
from zsim.planning.tune.settings import Setting

TEBI = 1024.0**4


def bars(axes: Any) -> list[tuple[float, float, float]]:
    """Return left, right and middle height of each bar."""
    return [
        (bar.get_x(), bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height() / 2)
        for bar in axes.patches
    ]


def points(axes: Any, label: str | None = None) -> list[tuple[float, float]]:
    """Return the points that stand alone, or those of a line."""
    wanted = [
        line for line in axes.lines if (line.get_label() == label if label else len(line.get_xdata()) == 1)
    ]
    return [
        (float(x), float(y))
        for line in wanted
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


def spans(axes: Any) -> list[tuple[float, float]]:
    """Return begin and end of each level line of two points."""
    two = [line for line in axes.lines if len(line.get_xdata()) == 2 and len(set(line.get_ydata())) == 1]
    return [(float(line.get_xdata()[0]), float(line.get_xdata()[1])) for line in two]


def near(*values: tuple[float, ...]) -> list[Any]:
    return [pytest.approx(each) for each in values]


def test_the_eta_is_a_bar_of_what_is_gone_and_the_interval_of_the_end() -> None:
    """3.5 h are gone, 12 to 65 h are left with the median at 33, 49 by zpool: 68.5 h in all, so in days."""
    (axes,) = of_eta().axes
    assert "[days]" in axes.get_xlabel()
    assert bars(axes) == near((0, 3.5 / 24, 0), (15.5 / 24, 68.5 / 24, 0))
    assert [line.get_xdata()[0] for line in axes.lines] == pytest.approx([36.5 / 24, 52.5 / 24])
    assert axes.get_xlim()[0] == 0.0


def grades(share: float) -> Grades:
    found = [chance(share * p, 0.1 * share * p, 3 * share * p) for p in (1e-3, 1e-4, 1e-5)]
    return Grades(files=found[0], vdev=found[1], pool=found[2])


def of_risk(*movers: Mover, scale: float = 1.0) -> Any:
    return risk.figure(some(subject="a pool", window_of="repair", window=grades(scale), per_year=grades(5.0),
                            years=grades(20.0), horizon_years=5.0, movers=movers))  # fmt: skip


def test_chances_are_dots_in_their_ranges_by_grade_and_period() -> None:
    axes = of_risk().axes[0]
    found = points(axes)
    assert len(found) == len(spans(axes)) == len(axes.texts) == 9
    for share, place in ((1.0, 0), (5.0, 1), (20.0, 2)):
        for row, p in enumerate((1e-3, 1e-4, 1e-5)):
            at = 3 * place + row
            assert found[at][0] == pytest.approx(share * p)
            assert spans(axes)[at] == pytest.approx((0.1 * share * p, 3 * share * p))
            assert abs(found[at][1] - row) < 0.4, "beside the grade"
    heights = [height for _, height in found]
    assert len(set(heights)) == 9
    assert [label.get_text() for label in axes.get_yticklabels()] == [words for _, words in GRADES]
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[1] > 3 * 20 * 1e-3 * 2, "room for the odds"
    labels = {line.get_label() for line in axes.lines if not line.get_label().startswith("_")}
    assert labels == {"during this repair", "a year", "5 years"}
    rounded = of_risk(scale=1.3).axes[0].texts
    assert rounded[0].get_text() == "1 in 800", "of 769: a digit is as much as the range allows"


def test_what_moves_a_risk_is_a_bar_from_one_to_its_factor() -> None:
    """An input that makes loss a fifth moves it by five."""
    drawn = of_risk(Mover(field="rate", factor=6.0), Mover(field="delay", factor=0.2))
    ranges, movers = drawn.axes
    assert bars(movers) == near((1.0, 6.0, 0), (1.0, 5.0, 1))
    assert [label.get_text() for label in movers.get_yticklabels()] == [FIELDS["rate"], FIELDS["delay"]]
    assert movers.get_ylim()[0] > movers.get_ylim()[1], "the first on top"
    assert ranges.get_position().y0 > movers.get_position().y0


def scatter(axes: Any) -> dict[str, list[tuple[float, float]]]:
    return {
        dots.get_label(): [tuple(each) for each in dots.get_offsets().tolist()] for dots in axes.collections
    }


def test_layouts_are_dots_of_space_and_chance_and_the_front_is_a_line() -> None:
    axes = of_layouts().axes[0]
    places = {row["layout"]: (row["usable_bytes"] / TEBI, row["vdev_per_year"]) for row in LAYOUTS}
    dots = scatter(axes)
    assert dots["fails a requirement"] == near(places["12*mirror2"])
    assert sorted(dots["meets all requirements"]) == sorted(
        places[row["layout"]] for row in LAYOUTS if row["meets"]
    )
    front = points(axes, "no other has more space at less risk")
    # 3*raidz2x8 has less space than 2*raidz3x12 at more risk.
    assert front == near(*(places[name] for name in ("2*raidz3x11", "2*raidz3x12", "raidz3x22", "raidz3x23")))
    named = {note.get_text(): note for note in axes.texts}
    assert set(named) == {"2*raidz3x11", "2*raidz3x12", "raidz3x22", "raidz3x23"}
    for name, note in named.items():
        assert note.xy == pytest.approx(places[name])
        assert note.xyann[0] > places[name][0], "right of its point"
        assert note.xyann[1] <= places[name][1] * (1 + 1e-9)
    heights = [
        named[name].xyann[1] for name, _ in sorted(places.items(), key=lambda each: each[1]) if name in named
    ]
    assert heights == sorted(heights)
    assert axes.get_yscale() == "log"
    assert axes.get_xlim()[1] > max(note.xyann[0] for note in named.values())


def test_layouts_of_one_time_have_one_colour_and_no_scale_of_hours() -> None:
    rows = tuple(layout(f"raidz2x{k}", 100 + k, 1e-4 * k, 20, meets=True) for k in (4, 5, 6))
    assert len(of_layouts(rows).axes) == 1
    assert len(of_layouts().axes) == 2
    beaten = (layout("a", 100, 1e-4, 20, meets=True), layout("b", 100, 2e-4, 20, meets=True))
    assert points(of_layouts(beaten).axes[0], "no other has more space at less risk") == near((100, 1e-4))
    unknown = ({"layout": "c", "vdev_per_year": None},)
    assert of_layouts(unknown).axes[0].get_xlabel() == "no layout was simulated"


def test_a_limit_is_a_line_where_the_last_row_meets_what_is_asked() -> None:
    axes = of_fill().axes[0]
    assert points(axes, "repair, p50") == near((30, 12), (60, 24), (80, 32))
    assert points(axes, "repair, p90") == near((30, 21), (60, 42), (80, 56))
    (limit,) = [line for line in axes.lines if "limit" in line.get_label()]
    assert limit.get_xdata()[0] == pytest.approx(60)
    assert "64 %" in limit.get_label()
    assert axes.get_ylim()[0] == 0


def test_changes_are_pairs_of_bars() -> None:
    axes = of_changes().axes[0]
    vdev, files = axes.containers
    assert [bar.get_width() for bar in vdev] == pytest.approx([8e-4, 3e-4, 2e-3])
    assert [bar.get_width() for bar in files] == pytest.approx([1.3e-3, 7e-4, 2e-2])
    for one, other in zip(vdev, files, strict=True):
        assert one.get_y() + one.get_height() <= other.get_y() + 0.02
    assert [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()] == [
        "as it is", "a hot spare", "no scrubs for a year",
    ]  # fmt: skip
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def pools(name: str, share: float, p: float, *hours: float) -> Any:
    lost = chance(p, p / 3, 2 * p)
    losses = Losses(files=lost, vdev=lost, pool=lost)
    return some(name=name, share=share, losses_per_year=losses, degraded_s=tuple(h * HOUR for h in hours))


def test_pools_that_contribute_most_stand_on_top_with_the_hours_at_each_level() -> None:
    rows = [pools("most", 0.8, 9e-4, 1.5, 0.0, 0.5, 0.0), pools("least", 0.2, 2e-4, 8.0, 0.25, 0.0, 0.0)]
    upper, lower = fleet.figure(rows, "a fleet").axes
    assert [label.get_text() for label in upper.get_yticklabels()] == ["least", "most"]
    assert points(upper) == near((2e-4, 0), (9e-4, 1))
    assert spans(upper) == near(
        *((row.losses_per_year.vdev.low, row.losses_per_year.vdev.high) for row in rows[::-1])
    )
    widths = {each.get_label(): [bar.get_width() for bar in each] for each in lower.containers}
    assert widths == {"1 missing": [8.0, 1.5], "2 missing": [0.25, 0.0], "3 missing": [0.0, 0.5]}
    middles = {
        each.get_label(): [bar.get_y() + bar.get_height() / 2 for bar in each] for each in lower.containers
    }
    for place in range(2):
        assert all(abs(places[place] - place) < 0.5 for places in middles.values())
        assert len({round(places[place], 6) for places in middles.values()}) == 3
    assert lower.get_xscale() == upper.get_xscale() == "log"
    assert fleet.figure([pools("a", 1.0, 1e-4, 0, 0, 0, 0)], "a fleet").axes[1].get_xscale() == "linear"
    assert upper.get_ylim()[0] < -0.5
    assert upper.get_ylim()[1] > 1.5


def test_passes_are_bars_to_their_median_and_redundancy_what_is_left() -> None:
    ends = [
        {"p10": 15 * HOUR, "p50": 22 * HOUR, "p90": 50 * HOUR},
        {"p10": 27 * HOUR, "p50": None, "p90": None},
    ]
    passes = (
        PassRow("raidz2-0", "resilver", 2 * HOUR, ends[0], "zpool replace"),  # type: ignore[arg-type]
        PassRow("raidz2-0", "scrub", 22 * HOUR, ends[1], "deferred"),
    )  # type: ignore[arg-type]
    levels = ((0, 10, 1), (10, 22, 0), (22, 120, 2))
    redundancy = tuple(Level("raidz2-0", begin * HOUR, end * HOUR, left) for begin, end, left in levels)
    whole = {"p10": 27 * HOUR, "p50": 39 * HOUR, "p90": 120 * HOUR}
    drawn = gantt.figure(
        some(
            title="raidz2x6",
            passes=passes,
            redundancy=redundancy,
            full={"raidz2-0": 2},
            whole_s=whole,
            stays_whole=False,
        )
    )
    upper, lower = drawn.axes
    size = 24.0 if "days" in lower.get_xlabel() else 1.0
    end = lower.get_xlim()[1] / gantt.MARGIN * size
    assert bars(upper) == near((2 / size, 22 / size, 0), (22 / size, end / size, 1))
    assert spans(upper) == near((15 / size, 50 / size), (27 / size, end / size))
    assert [label.get_text() for label in upper.get_yticklabels()] == ["raidz2-0 resilver", "raidz2-0 scrub"]
    assert bars(lower) == near(*((begin / size, stop / size, 0) for begin, stop, _ in levels))
    assert [note.get_text().strip() for note in lower.texts] == ["1", "0", "2"]
    colours = [bar.get_facecolor()[:3] for bar in lower.patches]
    assert len(set(colours)) == 3, "short, none left, and whole"
    assert lower.get_xlim()[0] == 0


def setting(name: str, value: int, ratio: float, p99: float | None, *, front: bool) -> Any:
    return some(name=name, value=value, ratio=ratio, error=0.02, p99_ratio=p99, on_front=front)


SETTINGS: tuple[Setting, ...] = (
    setting("zfs_vdev_scrub_max_active", 8, 0.5, 4.0, front=True),
    setting("zfs_resilver_delay", 0, 0.8, 1.5, front=True),
    setting("zfs_top_maxinflight", 9, 1.2, 2.0, front=False),
)


def test_settings_stand_at_their_time_and_wait_and_the_front_joins_what_none_beats() -> None:
    """The defaults take 10 h at 20 ms; the front is named from the lowest wait up."""
    (axes,) = tune.figure("A pool", 10 * HOUR, 0.020, SETTINGS).axes
    dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
    places = {(round(float(dot.get_xdata()[0]), 6), round(float(dot.get_ydata()[0]), 6)) for dot in dots}
    assert places == {(5.0, 80.0), (8.0, 30.0), (12.0, 40.0), (10.0, 20.0)}
    assert spans(axes)[:3] == near((4.8, 5.2), (7.8, 8.2), (11.8, 12.2))
    assert points(axes, "nothing tried beats these in both") == near((5, 80), (8, 30), (10, 20))
    assert [note.get_text() for note in axes.texts] == ["resilver_delay=0", "vdev_scrub_max_active=8"]
    assert all(note.xy[0] > 12.2 for note in axes.texts), "right of all points"
    heights = [note.xy[1] for note in axes.texts]
    assert heights[0] >= 30 * (1 - 1e-9)
    assert heights[1] >= 80 * (1 - 1e-9)
    assert axes.get_ylim()[0] < 20
    assert axes.get_ylim()[1] > max(heights)
    assert axes.get_xlim()[0] < 4.8
    both = (setting("zfs_resilver_delay", 0, 0.9, 0.9, front=True),)
    (alone,) = tune.figure("A pool", 10 * HOUR, 0.020, both).axes
    assert points(alone, "nothing tried beats these in both") == near((9, 18)), "which beats the defaults"


def test_without_clients_settings_are_times_beside_that_of_the_defaults() -> None:
    drawn = tune.figure("A pool", 10 * HOUR, None, SETTINGS)
    (axes,) = drawn.axes
    assert points(axes) == near((5, 0), (8, 1), (12, 2))
    assert spans(axes) == near((4.8, 5.2), (7.8, 8.2), (11.8, 12.2))
    (usual,) = [line for line in axes.lines if line.get_label() == "the defaults"]
    assert usual.get_xdata()[0] == pytest.approx(10)
    assert axes.get_ylim()[0] > 2
    assert axes.get_ylim()[1] < 0
    assert axes.get_yticklabels()[0].get_text() == "vdev_scrub_max_active=8"
    more = tune.figure("A pool", 10 * HOUR, None, SETTINGS * 3)
    assert more.get_size_inches()[1] > drawn.get_size_inches()[1]
