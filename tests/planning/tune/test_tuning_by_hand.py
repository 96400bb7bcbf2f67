"""What ``zsim tune`` says and draws of settings, refined rows of a sweep, and queues, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.planning.drawing import _columns, _is_square, figure
from zsim.planning.rows import ANSWER
from zsim.planning.store.keys import MOST_SHARDS, Shard, key_of
from zsim.planning.store.refine import (
    LEAST_SEEDS,
    MOST_SEEDS,
    check_refinement,
    half_width,
    mean_row,
    seeds_needed,
    with_seed,
)
from zsim.planning.table import LEAST_ROWS, Table
from zsim.planning.tune import drawing
from zsim.planning.tune.api import _middle, _on_front, set_by_hours
from zsim.planning.tune.records import Tuning
from zsim.planning.tune.settings import Setting
from zsim.prediction.runs.knobs import knobs_of
from zsim.scenario.model import Scenario

HOUR, MIB = 3600.0, 1 << 20


def setting(
    name: str = "zfs_vdev_scrub_max_active", ratio: float = 0.8, p99: float | None = None, **more: Any
) -> Setting:
    known = {"value": 8, "default": 3, "error": 0.02, "p99_s": None if p99 is None else 0.04 * p99,
             "label": "modelled", "source": "", "memory": ""}  # fmt: skip
    return Setting(name=name, ratio=ratio, p99_ratio=p99, **{**known, **more})


def tuning(*settings: Setting, p99: float | None = None, **more: Any) -> Tuning:
    known = {"system": "linux", "without_effect": (), "worlds": 6}
    return Tuning("The resilver of a pool", 10 * HOUR, p99, settings=settings, **{**known, **more})


# --- settings


def test_an_effect_matters_where_it_is_larger_than_its_error() -> None:
    assert setting(ratio=0.97).matters
    assert setting(ratio=1.03).matters
    assert not setting(ratio=0.98, error=0.03).matters
    assert not setting(ratio=1.25, error=0.25).matters, "as large is not larger"


def test_the_front_is_what_nothing_beats_the_defaults_included() -> None:
    """Quicker and easier on clients; one that is as good in one and better in the other beats it."""
    quick, easy, beaten, slow = (
        setting(ratio=0.7, p99=2.0),
        setting(ratio=0.9, p99=1.0),
        setting(ratio=0.9, p99=1.5),
        setting(ratio=1.1, p99=0.9),
    )
    kept = [quick, easy, beaten, slow, setting(ratio=1.05, p99=1.05)]
    assert [_on_front(each, kept) for each in kept] == [True, True, False, True, False]
    twins = [setting("a", 0.7, 2.0), setting("b", 0.7, 2.0)]
    assert [_on_front(each, twins) for each in twins] == [True, True]
    alone = [setting(ratio=0.8), setting(ratio=0.9)]
    assert [_on_front(each, alone) for each in alone] == [True, False], "without clients the quickest"
    assert _middle([SimpleNamespace(time_s=each) for each in (1.0, 9.0, 3.0)]) == 3.0  # type: ignore[arg-type]


def test_a_setting_that_the_product_writes_by_itself_says_how_long_it_lasts() -> None:
    stated = {"layout": "mirror2", "product": "truenas-25.10", "begins": "fri 17:30"}
    case = resolve(Scenario.from_dict(stated))
    each, other = setting("zfs_vdev_scrub_max_active"), setting("zfs_vdev_aggregation_limit")
    assert set_by_hours((each, other, each), case) == (
        "TrueNAS 25.10 writes zfs_vdev_scrub_max_active itself where its hours (18:00-09:00) begin and end: "
        "what is set by hand lasts until then.",
    )
    assert set_by_hours((other,), case) == ()
    assert set_by_hours((each,), resolve(Scenario.from_dict({"layout": "mirror2"}))) == ()


def test_the_first_line_says_what_is_saved_and_what_it_costs() -> None:
    assert str(tuning(setting())).splitlines()[0] == "zfs_vdev_scrub_max_active=8 helps most: it saves 2 h."
    costly = tuning(setting(p99=1.5, memory="1 GiB more"), p99=0.04)
    assert costly.heading()[0] == (
        "zfs_vdev_scrub_max_active=8 helps most: it saves 2 h; the p99 latency of clients is "
        "then 60 ms (x1.50); memory: 1 GiB more."
    )
    for none in (tuning(), tuning(setting(ratio=1.0)), tuning(setting(ratio=1.2))):
        assert none.heading()[0].startswith("No tunable tried shortens it")


def test_the_defaults_are_told_with_their_interval_and_their_waits() -> None:
    _, second = tuning(setting(), default_p10_s=8 * HOUR, default_p90_s=15 * HOUR, p99=0.04).heading()
    assert second == (
        "The resilver of a pool takes 10 h (8 h to 15 h) with the defaults, and the p99 latency of "
        "clients is 40 ms; every setting is tried on the same 6 simulated pools."
    )
    assert "takes 10 h with the defaults;" in tuning(setting(), default_p10_s=8 * HOUR).heading()[1]
    assert tuning(setting(), stated=("fill 50 %",)).heading()[2] == "Stated: fill 50 %."


def test_the_table_has_factors_errors_waits_and_numbered_sources() -> None:
    found = tuning(
        setting(p99=1.234, source="somebody", label="measured", on_front=True),
        setting("zfs_b", 0.9, None, source="another"),
        setting("zfs_c", 1.1, 0.5, source="somebody"), p99=0.04,
    )  # fmt: skip
    assert found.grid().head == ("setting", "time", "clients p99", "basis", "")
    assert found.grid().rows == (
        ("zfs_vdev_scrub_max_active=8", "x0.800 +/- 2 %", "x1.23", "measured [1]", "front"),
        ("zfs_b=8", "x0.900 +/- 2 %", "", "modelled [2]", ""),
        ("zfs_c=8", "x1.100 +/- 2 %", "x0.50", "modelled [1]", ""),
    )
    assert found.grid().numeric == frozenset({1, 2})
    assert tuning(setting()).grid().numeric == frozenset({1})
    notes = found.notes()
    assert notes[0] == "front: nothing tried is better in both time and client latency."
    assert notes[2:4] == ("[1] somebody.", "[2] another.")


def test_lines_set_and_reset_what_helps_and_is_not_beaten() -> None:
    path = "/sys/module/zfs/parameters/"
    slow = setting("zfs_c", 1.1, on_front=True)
    found = tuning(setting("zfs_a", on_front=True), setting("zfs_b", 0.9), slow,
                   without_effect=("zfs_d", "zfs_e"), warnings=("beware",))  # fmt: skip
    assert found.notes()[1:] == (
        f"set:   echo 8 > {path}zfs_a", f"reset: echo 3 > {path}zfs_a", "beware",
        "No effect larger than its error: zfs_d, zfs_e.",
    )  # fmt: skip
    rows: Any = found.to_dict()["settings"]
    assert (rows[0]["set"], rows[0]["reset"]) == (f"echo 8 > {path}zfs_a", f"echo 3 > {path}zfs_a")
    assert tuning(setting("zfs_a", 1.0, on_front=True)).notes() == ("front: nothing tried is quicker.",)


def drawn(*settings: Setting, p99: float | None = None) -> Any:
    return drawing.figure("The resilver", 10 * HOUR, p99, settings)


def test_without_clients_times_stand_below_each_other_with_their_errors() -> None:
    """Ten hours with the defaults: eight and nine, of which an error of 2 % is twelve minutes."""
    picture = drawn(setting("zfs_a"), setting("zfs_b", 0.9))
    (axes,) = picture.axes
    spans = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert spans[:2] == [pytest.approx((7.8, 8.2)), pytest.approx((8.8, 9.2))]
    dots = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]
    assert dots == [pytest.approx((8, 0)), pytest.approx((9, 1))]
    (usual,) = [line for line in axes.lines if line.get_label() == "the defaults"]
    assert usual.get_xdata()[0] == pytest.approx(10)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a=8", "b=8"]
    assert axes.get_ylim() == pytest.approx((1.6, -0.6))
    assert picture.get_size_inches()[1] == pytest.approx(1.6 + 0.6)
    assert drawn(*[setting()] * 5).get_size_inches()[1] == pytest.approx(1.6 + 1.5)
    assert drawn(setting()).axes[0].get_ylim() == pytest.approx((1.6, -0.6)), "room for two at the least"


def test_with_clients_each_setting_is_at_its_time_and_wait_and_the_front_is_a_line() -> None:
    """Clients wait 40 ms: twice as long in seven hours, as long in nine."""
    quick, easy, beaten = (
        setting("zfs_q", 0.7, 2.0, on_front=True),
        setting("zfs_e", 0.9, 1.0, on_front=True),
        setting("zfs_b", 0.95, 1.5),
    )
    picture = drawn(quick, easy, beaten, p99=0.04)
    (axes,) = picture.axes
    (front,) = [line for line in axes.lines if line.get_label() == "nothing tried beats these in both"]
    assert list(zip(front.get_xdata(), front.get_ydata(), strict=True)) == [
        pytest.approx((7, 80)),
        pytest.approx((9, 40)),
    ]
    dots = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]
    assert dots == [pytest.approx(each) for each in ((7, 80), (9, 40), (9.5, 60), (10, 40))]
    errors = [
        tuple(line.get_xdata())
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_linewidth() == 3
    ]
    assert errors == [pytest.approx(each) for each in ((6.8, 7.2), (8.8, 9.2), (9.3, 9.7))]
    assert axes.get_yscale() == "log"
    assert [note.get_text() for note in axes.texts] == ["e=8", "q=8"], "the easiest below"
    # Names lie right of all points, by 0.12 of what these take of the axis: ten less seven hours.
    assert [note.xy[0] for note in axes.texts] == pytest.approx([10 + 0.12 * 3] * 2)
    assert axes.get_xlim() == pytest.approx((7 - 0.08 * 3, 10.36 + 0.75 * 3))
    # Each name has a line from its point.
    ends = [list(zip(*line.get_data(), strict=True)) for line in axes.lines if line.get_linewidth() == 0.5]
    assert ends == [
        [pytest.approx(point), pytest.approx(note.xy)]
        for point, note in zip(((9, 40), (7, 80)), axes.texts, strict=True)
    ]
    assert picture.get_size_inches()[1] == pytest.approx(4.6)


def test_the_defaults_are_on_the_front_unless_something_is_as_good_in_both() -> None:
    (axes,) = drawn(setting("zfs_q", 0.7, 2.0, on_front=True), p99=0.04).axes
    (front,) = [line for line in axes.lines if line.get_label() == "nothing tried beats these in both"]
    assert list(front.get_xdata()) == pytest.approx([7, 10])
    assert list(front.get_ydata()) == pytest.approx([80, 40])


def test_names_of_one_wait_lie_a_line_apart() -> None:
    """From 40 to 400 ms is one decade: a line is 0.075 of it."""
    alike = [setting(f"zfs_{n}", 0.7 + 0.01 * n, 10.0 + 1e-6 * n, on_front=True) for n in range(3)]
    (axes,) = drawn(*alike, p99=0.04).axes
    heights = [math.log10(note.xy[1]) for note in axes.texts]
    assert heights[0] == pytest.approx(math.log10(400), abs=1e-6)
    assert [after - heights[0] for after in heights[1:]] == pytest.approx([0.075, 0.15], abs=1e-5)
    low, high = (math.log10(edge) for edge in axes.get_ylim())
    assert (low, high) == pytest.approx((math.log10(40) - 0.1, heights[-1] + 0.1), abs=1e-5)


def test_where_all_points_are_one_their_time_and_a_tenth_of_a_decade_are_the_room() -> None:
    """Ten hours at 40 ms, as with the defaults: 0.8 h left, 1.2 and 7.5 h right, a hundredth above."""
    (axes,) = drawn(setting("zfs_q", 1.0, 1.0, on_front=True), p99=0.04).axes
    assert axes.get_xlim() == pytest.approx((9.2, 18.7))
    assert [math.log10(edge / 40) for edge in axes.get_ylim()] == pytest.approx([-0.01, 0.01])
    assert axes.texts[0].xy == pytest.approx((11.2, 40))
    (front,) = [line for line in axes.lines if line.get_label() == "nothing tried beats these in both"]
    assert list(front.get_xdata()) == pytest.approx([10]), "what is as good as the defaults stands for them"


def test_a_page_has_the_table_where_something_helps_and_names_as_they_are() -> None:
    helped = tuning(setting(), stated=("pool <b>",), without_effect=("zfs_x",))._repr_html_()
    assert helped.startswith("<p>zfs_vdev_scrub_max_active=8 helps most: it saves 2 h.</p><p>The resilver")
    assert "<p>Stated: pool &lt;b&gt;.</p><div" in helped
    assert helped.endswith("<p>No effect larger than its error: zfs_x.</p>")
    alone = tuning(without_effect=("zfs_x",))
    assert "<table" not in alone._repr_html_()
    assert len(str(alone).split("\n\n")) == 1, "no room for a table that is not there"
    assert len(str(tuning(setting(), without_effect=("zfs_x",))).split("\n\n")) == 3
    assert repr(alone) == f"<Tuning: {alone.heading()[0]}>"


# --- repeats of a sweep


def test_a_row_takes_four_seeds_and_at_most_double_until_its_median_is_known() -> None:
    assert (LEAST_SEEDS, MOST_SEEDS) == (4, 256)
    assert seeds_needed([], 0.01) == seeds_needed([1.0] * 3, 0.01) == seeds_needed([1.0] * 9, 0.01) == 4
    # A spread of 5.8 % over four is a half width of 9.2 %: asked for that four do, for a little less not.
    four = [0.95, 1.05, 0.95, 1.05]
    reached = half_width(four)
    assert reached == pytest.approx(3.18245 * math.log(1.05 / 0.95) / math.sqrt(3) / 2, rel=1e-3)
    assert seeds_needed(four, reached) == 4
    assert seeds_needed(four, reached * 0.999) == 5
    # The half width falls with the root of the count: of 1.45 times as many as four six are whole.
    assert seeds_needed(four, reached / math.sqrt(1.45)) == 6
    assert seeds_needed(four, reached / math.sqrt(1.9)) == 8
    assert seeds_needed(four, reached / 100) == 8
    assert seeds_needed(four * 2, reached / 100) == 16
    assert seeds_needed(four * 64, reached / 100) == 256, "then it has to do"
    assert seeds_needed(four * 40, reached / 100) == 256


def test_repeats_follow_the_seed_that_is_stated() -> None:
    assert with_seed({"seed": 7, "fill": 0.5}, 0) == {"seed": 7, "fill": 0.5}
    assert with_seed({"seed": 7, "fill": 0.5}, 3) == {"seed": 10, "fill": 0.5}
    assert with_seed({"seed": 2**63 - 1}, 1) == {"seed": 0}
    for error in (0.001, 0.5):
        check_refinement(error)
    for error in (0.0009, 0.51):
        with pytest.raises(InputError, match="--refine"):
            check_refinement(error)


def test_a_refined_row_has_geometric_means_of_times_and_means_of_the_rest() -> None:
    def one(p50: float, busy: float, read: int | None = 4) -> dict[str, Any]:
        return {
            **dict.fromkeys(ANSWER),
            "p50_s": p50,
            "utilisation": busy,
            "read_bytes": read,
            "bottleneck": f"b{busy}",
        }

    found = mean_row(
        [one(100.0, 0.2), one(400.0, 0.4), one(100.0, 0.6), one(400.0, 0.8), one(9e9, 0.0)], 99.0
    )
    assert (found["p50_s"], found["utilisation"]) == pytest.approx((200.0, 0.5))
    assert (found["bottleneck"], found["seeds"], found["read_bytes"]) == ("b0.2", 4, 4)
    assert found["p50_error"] == pytest.approx(half_width([100, 400, 100, 400]))
    assert found["p10_s"] is None
    lacking = mean_row([one(1.0, 0.2), one(1.0, 0.2, None)] * 2, 99.0)
    assert lacking["read_bytes"] == 4, "of the first, where some have none"
    single = mean_row([one(100.0, 0.2)], 0.01)
    assert (single["seeds"], single["p50_error"]) == (1, None)
    assert mean_row([{"refused": "too full"}], 0.01) == {"refused": "too full"}


def test_shards_share_all_keys_and_have_ends() -> None:
    keys = [key_of({"seed": number}, "s") for number in range(60)]
    parts = [Shard(number, 3).of(keys) for number in (1, 2, 3)]
    assert sorted(key for part in parts for key in part) == sorted(keys)
    assert min(map(len, parts)) > 5
    assert Shard(2, 3).has("4")
    assert not Shard(2, 3).has("5")
    assert len(keys[0]) == 32
    assert Shard.parse(f"1/{MOST_SHARDS}").count == MOST_SHARDS
    assert Shard.parse("3/3") == Shard(3, 3)
    for text in (f"1/{MOST_SHARDS + 1}", "4/3", "0/3", "1/0", "1/0000000000000003"):
        with pytest.raises(InputError, match="--shard"):
            Shard.parse(text)


# --- pictures and print of tables


def row(p50: float, **asked: Any) -> dict[str, Any]:
    return {"layout": "raidz2x6", "p10_s": None, "p50_s": p50, "p90_s": None, **asked}


def test_panels_stand_in_a_square_or_by_the_values_of_their_last_axis() -> None:
    def rows(**values: int) -> list[dict[str, Any]]:
        found = [row(1.0)]
        for name, count in values.items():
            found = [{**each, name: k} for each in found for k in range(count)]
        return found

    assert _columns(rows(), []) == 1
    assert [_columns(rows(cpus=count), ["cpus"]) for count in (1, 2, 4, 5, 9, 10)] == [1, 2, 2, 3, 3, 4]
    assert _columns(rows(cpus=5, memory=2), ["cpus", "memory"]) == 2
    assert _is_square(rows(fill=3, ashift=7), "fill", "ashift")
    assert not _is_square(rows(fill=2, ashift=7), "fill", "ashift")
    assert not _is_square(rows(fill=3, ashift=6), "fill", "ashift")
    assert not _is_square(
        [{**each, "ashift": f"a{each['ashift']}"} for each in rows(fill=3, ashift=7)], "fill", "ashift"
    )


@pytest.mark.parametrize(("panels", "wide", "high"), [(2, 0.0, 3.9), (4, 0.0, 5.9), (9, 8.4, 8.3)])
def test_small_multiples_have_their_size(panels: int, wide: float, high: float) -> None:
    """2.5 inches a column and 0.9 beside, 2.4 a row and 1.1 below."""
    rows = [
        row(1e5 * (1 + fill), fill=fill, width=width, cpus=k)
        for fill in (0.2, 0.4)
        for width in (4, 6)
        for k in range(panels)
    ]
    drawn = figure(["fill", "width", "cpus"], rows)
    size = drawn.get_size_inches()
    assert size[1] == pytest.approx(high)
    if wide:
        assert size[0] == pytest.approx(wide)
    assert len([each for each in drawn.axes if each.get_visible()]) == panels


def test_intervals_have_a_line_each_and_room_for_their_figures() -> None:
    """Of 20 h at p50 without quantiles: 1.22 times as long is shown, 0.36 inches a row and 1.3 around."""
    drawn = figure(
        ["layout"], [row(20 * HOUR, layout="a"), row(10 * HOUR, layout="b"), row(5 * HOUR, layout="c")]
    )
    (axes,) = drawn.axes
    assert axes.get_xlim() == pytest.approx((0, 24.4))
    assert axes.get_ylim() == pytest.approx((2.6, -0.6))
    assert drawn.get_size_inches()[1] == pytest.approx(1.3 + 0.36 * 3)
    assert figure(["layout"], [row(HOUR)]).get_size_inches()[1] == pytest.approx(1.3 + 0.72)


def test_cells_of_a_heat_map_are_legible_on_dark_and_on_light() -> None:
    """White below 55 % of the way from the shortest to the longest, black from there on."""
    rows = [row(HOUR * (10 + x + 3 * y), fill=0.1 * x, ashift=y) for x in range(3) for y in range(7)]
    (axes,) = [each for each in figure(["fill", "ashift"], rows).axes if each.get_label() != "<colorbar>"]
    edge = 10 + 0.55 * 20
    for note in axes.texts:
        assert note.get_color() == ("#ffffff" if float(note.get_text()) < edge else "#101010")
    assert len(axes.texts) == 21


def test_a_column_of_one_value_stands_above_from_two_rows_on() -> None:
    assert LEAST_ROWS == 2
    two = Table(("layout", "fill", "p50_s"), (row(1.0, fill=0.5), row(2.0, fill=0.5)))
    assert two.grid().head == ("p50",)
    assert two.heading() == ("All: layout raidz2x6; fill 50 %.",)
    one = Table(("layout", "fill", "p50_s"), (row(1.0, fill=0.5),))
    assert one.grid().head == ("layout", "fill", "p50")


def test_the_columns_that_were_asked_for_are_the_keys_of_a_table() -> None:
    rows = tuple(
        row(100.0 * fill, fill=fill, width=width, history=h)
        for fill in (1, 2)
        for width in (4, 6)
        for h in "ab"
    )
    grid = Table(("fill", "width", "history", "p50_s"), rows).grid()
    assert (grid.keys, grid.numeric) == (3, frozenset({0, 1, 3}))
    assert Table(("p50_s",), rows).grid().keys == 1
    assert Table(("fill", "width"), rows).grid().keys == 2


@pytest.mark.parametrize(
    ("release", "name", "value", "words"),
    [
        ("zol-0.7", "zfs_vdev_aggregation_limit", 4 * MIB, "128 KiB to 1 MiB"),
        ("openzfs-2.3", "zfs_vdev_aggregation_limit", 4 * MIB, ""),  # 1 MiB is what it has been since 0.8
        ("openzfs-2.3", "zfs_vdev_aggregation_limit", MIB // 8, "128 KiB to 1 MiB"),
        ("openzfs-2.1.5", "zfs_scan_vdev_limit", 64 * MIB, "4 to 16 MiB"),
        ("openzfs-2.3", "zfs_scan_vdev_limit", 64 * MIB, ""),
        ("openzfs-2.3", "zfs_scan_vdev_limit", 4 * MIB, "4 to 16 MiB"),
        ("openzfs-2.3", "zfs_vdev_async_write_min_active", 8, ""),
        ("openzfs-2.1.5", "zfs_rebuild_vdev_limit", 128 * MIB, "32 to 64 MiB"),
        ("openzfs-2.3", "zfs_rebuild_vdev_limit", 128 * MIB, "beyond 64 MiB"),
        ("openzfs-2.3", "zfs_vdev_nia_credit", 10, ""),
    ],
)
def test_what_was_measured_of_another_default_is_not_measured_of_this_one(
    release: str, name: str, value: int, words: str
) -> None:
    """``=4194304`` was called measured in 2.3, by one who went from 128 KiB to the 1 MiB it begins with."""
    knobs = knobs_of(resolve({"layout": "raidz2x6", "release": release}))
    (source,) = [each.source for each in knobs if (each.name, each.value) == (name, value)]
    assert source.startswith(words)
    assert bool(source) == bool(words)
