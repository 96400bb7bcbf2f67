"""Compare and sweep: what is asked of the engine, usable space, tables, resuming.  The engine is replaced."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.planning.compare import compare
from zsim.planning.ranges import values_of
from zsim.planning.sweep import sweep
from zsim.planning.table import Table
from zsim.planning.usable import data_share, repeated_for_drives
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import Bottleneck, Quantiles
from zsim.prediction.answer.tables import grid_text
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.model import Scenario


class FakeEngine:
    """Answers 1 s a drive and share of fill; counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def predict(self, case: Case, portion: str) -> Prediction:
        assert portion == "row"
        self.calls += 1
        scenario = case.scenario
        seconds = scenario.pool_layout.vdevs[0].children * 1e4 * (scenario.fill or 0.5)
        return Prediction(
            resilver_s=Quantiles(p10=0.8 * seconds, p50=seconds, p90=1.3 * seconds),
            resilvered_bytes=1,
            read_bytes=2,
            io_count=3,
            bottleneck=Bottleneck(resource="replacement drive", utilisation=0.9),
        )


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine whose answers are known."""
    fake = FakeEngine()
    module = types.ModuleType("zsim.prediction.api")
    module.case_of = resolve  # type: ignore[attr-defined]
    module.predict_case = fake.predict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "zsim.prediction.api", module)
    return fake


# RAID-Z2 of six at 4K sectors: 128K are 32 sectors in 8 rows of 4, with 16 of parity: 48, a multiple of 3.
# RAID-Z1 of five: 32 + 8 = 40. RAID-Z1 of four: 11 rows, 43 sectors, padded to 44.
# RAID-Z3 of nine: 6 rows of 6, 32 + 18 = 50 sectors, padded to 52.
@pytest.mark.parametrize(
    ("vdev", "share"),
    [
        (VdevSpec.raidz(2, 6), 32 / 48),
        (VdevSpec.raidz(1, 5), 32 / 40),
        (VdevSpec.raidz(1, 4), 32 / 44),
        (VdevSpec.raidz(3, 9), 32 / 52),
        (VdevSpec.mirror(3), 1.0),
    ],
)
def test_share_for_data_counts_parity_and_padding(vdev: VdevSpec, share: float) -> None:
    assert data_share(vdev, 128 << 10, 12) == pytest.approx(share)


def test_compare_at_equal_drives(engine: FakeEngine) -> None:
    table = compare("raidz2x6", "mirror2", drives=12, fill=0.5, jobs=1)
    assert [(row["layout"], row["drives"]) for row in table] == [("2*raidz2x6", 12), ("6*mirror2", 12)]
    assert [row["p50_s"] for row in table] == [3e4, 1e4]
    assert all(row["refused"] is None for row in table)


def test_compare_at_equal_usable_space(engine: FakeEngine) -> None:
    wanted = 40 << 40
    table = compare("raidz2x6", "raidz3x9", "mirror2", usable=wanted, drive_size="4TB", jobs=1)
    for row in table:
        assert wanted <= row["usable_bytes"] < wanted * (1 + 1.01 / (row["drives"] // 9 or 1)) + (27 << 40)
    single = compare("mirror2", drive_size="4TB", jobs=1).rows[0]["usable_bytes"]
    assert table.rows[2]["usable_bytes"] - single < wanted


def test_compare_reads_files_and_scenarios(engine: FakeEngine, tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text('layout = "raidz1x5"\nalloc = "1T"\n')
    table = compare(str(path), Scenario(layout="mirror2", fill=0.2), fill=0.4, jobs=1)
    assert [row["p50_s"] for row in table] == pytest.approx([2e4, 0.8e4])
    assert [row["name"] for row in table] == [str(path), "mirror2"]


@pytest.mark.parametrize(
    ("asked", "options", "named"),
    [
        ((), {}, "layouts"),
        (("raidz9x9",), {}, "layout"),
        (("raidz2x6",), {"drives": 5}, "drives"),
        (("raidz2x6",), {"drives": 12, "usable": 1}, "usable"),
        (("2*raidz2x6+mirror2",), {"drives": 20}, "vdevs"),
        (("raidz2x6",), {"no_such_field": 1}, "no_such_field"),
        (("nowhere.toml",), {}, "nowhere.toml"),
    ],
)
def test_compare_refuses(asked: tuple[str, ...], options: dict[str, int], named: str) -> None:
    with pytest.raises(InputError, match=named):
        compare(*asked, jobs=1, **options)  # type: ignore[arg-type]


def test_sweep_covers_every_combination_in_order(engine: FakeEngine) -> None:
    table = sweep(parity=[1, 2], width=range(3, 5), fill=["25%", 0.5], jobs=1)
    expected = [(p, w, f) for p in (1, 2) for w in (3, 4) for f in (0.25, 0.5)]
    assert [(row["parity"], row["width"], row["fill"]) for row in table] == expected
    assert [row["layout"] for row in table][:3] == ["raidz1x3", "raidz1x3", "raidz1x4"]
    assert engine.calls == 8


def test_sweep_says_which_combinations_cannot_be(engine: FakeEngine) -> None:
    rows = sweep(parity=[2, 3], width=[3, 6], jobs=1).rows
    assert [row["p50_s"] is None for row in rows] == [False, False, True, False]
    assert "raidz3" in rows[2]["refused"]


def test_sweep_goes_on_from_its_store(engine: FakeEngine, tmp_path: Path) -> None:
    store = tmp_path / "answers.jsonl"
    first = sweep(layout=["mirror2", "mirror3"], fill=[0.2, 0.4], store=store, jobs=1)
    lines = store.read_text(encoding="utf-8").splitlines(keepends=True)
    assert (engine.calls, len(lines)) == (4, 4)
    store.write_text("".join(lines[:2]) + lines[2][:40], encoding="utf-8")  # stopped while writing
    assert sweep(layout=["mirror2", "mirror3"], fill=[0.2, 0.4], store=store, jobs=1) == first
    assert engine.calls == 6
    sweep(layout=["mirror2", "mirror3"], fill=[0.2, 0.4], store=store, jobs=1)
    assert engine.calls <= 7  # the line glued to the cut one is lost at most once


def test_sweep_takes_one_value_for_what_all_share(engine: FakeEngine) -> None:
    base = Scenario(layout="raidz2x6", seed=3)
    table = sweep(base, fill=0.3, tunables={"zfs_vdev_scrub_max_active": 4}, jobs=1)
    assert len(table) == 1
    assert table.rows[0]["fill"] == 0.3


@pytest.mark.parametrize(
    ("axes", "named"),
    [
        ({"colour": [1]}, "colour"),
        ({"layout": "mirror2", "fill": []}, "fill"),
        ({"width": [3]}, "parity"),
        ({"fill": [0.1]}, "layout"),
        ({"layout": "mirror2", "seed": range(100_001)}, "combinations"),
    ],
)
def test_sweep_refuses(axes: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        sweep(jobs=1, **axes)  # type: ignore[arg-type]


def test_a_combination_that_cannot_be_keeps_its_axes_and_says_why(engine: FakeEngine) -> None:
    table = sweep(width=[3, 4], parity=[3], fill=["50%"], jobs=1)
    assert [row["fill"] for row in table] == [0.5, 0.5]
    assert table.reasons()[0].startswith("raidz3x3: ")
    assert table.reasons()[0] in str(table)


def test_tables_print_and_draw(engine: FakeEngine, tmp_path: Path) -> None:
    table = sweep(width=[3, 4, 5], parity=[1], fill=[0.2, 0.4], jobs=1)
    text = str(table)
    assert "refused" not in text  # an empty column
    asked, answered, missing, *rest = text.splitlines()
    assert asked == "All: parity 1."
    assert answered.startswith("The same in all rows: ")
    assert missing.startswith("NOT STATED: the size of the drives (sampled, ")
    assert [line.split()[0] for line in rest] == ["width", "3", "3", "4", "4", "5", "5"]
    assert json.loads(json.dumps(table.to_dict()))["rows"][0]["layout"] == "raidz1x3"
    for name, drawn in (("lines.svg", table), ("bars.png", compare("mirror2", "raidz1x3", jobs=1))):
        drawn.save_plot(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4", ["4"]),
        ("4..6", ["4", "5", "6"]),
        ("4..12..4", ["4", "8", "12"]),
        ("4..4", ["4"]),
        ("25%..90%", ["25%", "41.25%", "57.5%", "73.75%", "90%"]),
        ("0.2..0.6", ["0.2", "0.3", "0.4", "0.5", "0.6"]),
        ("1, 2 ,4..5", ["1", "2", "4", "5"]),
        ("128K,1M", ["128K", "1M"]),
        ("raidz2x6,mirror2", ["raidz2x6", "mirror2"]),
    ],
)
def test_ranges(text: str, values: list[str]) -> None:
    assert values_of(text, "axis") == values


@pytest.mark.parametrize(
    "text",
    ["", "1,,2", "4..", "..4", "12..4", "4..12..0", "25%..0.9", "a..b", "1..99999999", "-4..4"],
)
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="axis"):
        values_of(text, "axis")


def test_a_count_of_its_own_gives_way_to_the_one_wanted() -> None:
    assert str(repeated_for_drives(Layout.parse("3*mirror2"), 8)) == "4*mirror2"
    with pytest.raises(InputError, match=r"^layout 'mirror2\+mirror3' cannot be used: vdevs of different"):
        repeated_for_drives(Layout.parse("mirror2+mirror3"), 8)


def test_a_bottleneck_is_named_in_short_and_a_layout_whole() -> None:
    row = {"layout": "draid2:8d:90c:4s", "bottleneck": "no single one: the replacement drive is the busiest"}
    grid = Table(tuple(row), (row,)).grid()
    assert grid.rows == (("draid2:8d:90c:4s", "no single"),)
    assert "…" not in grid_text(grid, 20)
