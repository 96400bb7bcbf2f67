"""From the counters of a run to what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.model import LeafModel, LinkModel, PlaneModel, VdevModel
from zsim.operation.result import RunResult, ScanSample
from zsim.prediction import summary
from zsim.prediction.runs.member import MemberResult
from zsim.scenario.model import Scenario

WHOLE = "scan_reads scan_writes reads writes read_bytes write_bytes scan_write_bytes"
TIMES = "busy response transfer seek wait overhead cleaning"
DTYPE = np.dtype([(name, "i8") for name in WHOLE.split()] + [(name, "f8") for name in TIMES.split()])
DISK = DriveParameters(capacity_bytes=10**12)
MODEL = PlaneModel(
    leaves=(
        LeafModel(drive=DISK, name="old", link=0),
        LeafModel(drive=DISK, name="old"),
        LeafModel(drive=DISK, name="idle"),
        LeafModel(drive=DISK, name="fresh", role="target"),
    ),
    vdevs=(VdevModel(kind="mirror", parity=0, ashift=12, read_leaf=(0, 1), write_leaf=(-1, 3)),),
    links=(LinkModel(rate=3e8, name="multiplier"),),
)


def result(
    busy: tuple[float, ...] = (40.0, 20.0, 0.0, 90.0), link: float = 10.0, **changes: Any
) -> MemberResult:
    """Return a run of 100 s that stands for ten times as much."""
    leaves = np.zeros(4, DTYPE)
    leaves["busy"] = busy
    leaves["reads"], leaves["read_bytes"], leaves["scan_reads"] = (
        [1000, 500, 0, 0],
        [10**8, 5 * 10**7, 0, 0],
        1,
    )
    leaves["scan_reads"][2:] = 0
    leaves["writes"][3], leaves["write_bytes"][3] = 2000, 15 * 10**7
    leaves["scan_writes"][3], leaves["scan_write_bytes"][3] = 2000, 14 * 10**7
    leaves["response"] = [200.0, 50.0, 0.0, 400.0]
    leaves["seek"], leaves["wait"], leaves["transfer"] = (
        leaves["busy"] * 0.5,
        leaves["busy"] * 0.3,
        leaves["busy"] * 0.2,
    )
    booked = [
        tuple(
            (b * share, float(r), float(w))
            for b, r, w in zip(busy, leaves["read_bytes"], leaves["write_bytes"], strict=True)
        )
        for share in (0.25, 0.75)
    ]
    run = RunResult(
        end=100.0, first_scan_s=0.0, span=100.0, visit=20.0, idle=0.0, txgs=2, children=3500, events=0,
        client_reads=0, client_latency_s=0.0, leaves=leaves, records=np.zeros(0), issued_blocks=10,
        issued_bytes=1000, link_busy=(link,), phases=[("visit", 0.0, 20.0), ("issue", 25.0, 95.0)],
        progress=[ScanSample(float(t), 0, t * 10, "issue") for t in range(0, 101, 1)],
        by_phase={"visit": booked[0], "issue": booked[1]},
    )  # fmt: skip
    return replace(MemberResult(1000.0, 200.0, 700.0, 100.0, 10.0, run, MODEL), **changes)


# Rows of drives.


def test_rows_are_of_roles_and_of_those_behind_a_link() -> None:
    rows = {row.role: row for row in summary.leaf_rows(result())}
    assert set(rows) == {"source", "source behind multiplier", "target"}
    assert rows["source"].count == 2, "the idle drive takes no part"
    assert rows["source behind multiplier"].count == 1


def test_a_row_is_the_mean_of_its_drives() -> None:
    row = summary.leaf_rows(result())[0]
    assert row.utilisation == pytest.approx(0.3)
    assert row.mean_io_bytes == pytest.approx(15e7 / 1500)
    assert row.iops == pytest.approx(7.5)
    assert row.mean_service_ms == pytest.approx(1e3 * 60 / 1500)
    assert row.queue == pytest.approx(250 / 2 / 100)
    assert (row.read_rate, row.write_rate) == (pytest.approx(7.5e5), 0.0)


# Who holds it up.


def test_the_busiest_is_a_drive_or_a_link() -> None:
    assert summary.busiest(result()) == ("target", 0.9, 3)
    assert summary.busiest(result(link=95.0)) == ("link", 0.95, 0)
    assert summary.busiest(result(), "source") == ("source", 0.4, 0)


def test_a_link_that_serves_one_drive_at_a_time_goes_before_a_drive_about_as_busy() -> None:
    near = result(link=88.0)
    assert summary.busiest(near)[0] == "target"
    taking_turns = replace(MODEL, links=(replace(MODEL.links[0], command_based=True),))
    assert summary.busiest(replace(near, model=taking_turns))[0] == "link"


def test_more_than_busy_all_the_time_is_all_the_time() -> None:
    assert summary.busiest(result(busy=(0.0, 0.0, 0.0, 130.0)))[1] == 1.0


@pytest.mark.parametrize(
    ("without", "kind"),
    [
        ({"source": 990.0, "target": 400.0}, "target"),
        ({"source": 400.0, "target": 990.0}, "source"),
        ({"source": 950.0, "target": 960.0}, None),
        ({"source": 405.0, "target": 400.0}, "target"),
        ({}, None),
    ],
)
def test_what_limits_is_what_would_save_most(without: dict[str, float], kind: str | None) -> None:
    assert summary.limiting(result(), without, 1000.0) == kind


def test_of_two_that_save_the_same_the_busier_is_named() -> None:
    idle = result(busy=(80.0, 20.0, 0.0, 30.0))
    assert summary.limiting(idle, {"source": 405.0, "target": 400.0}, 1000.0) == "source"


def test_the_bottleneck_says_what_its_time_goes_to() -> None:
    found = summary.bottleneck(result(), {"target": 400.0, "source": 990.0}, "target")
    assert (found.resource, found.without_it_s) == ("the replacement drive", 400.0)
    parts = summary.breakdown(result(), "target")
    work = sum(parts.values()) - parts["idle, waiting on siblings"]
    assert found.why == f"{100 * parts['seek'] / work:.0f} % of that is seeking"


def test_a_bottleneck_that_mostly_reads_metadata_says_so() -> None:
    long = replace(result(), visit_s=7000.0)
    found = summary.bottleneck(long, {"target": 400.0, "source": 990.0}, "target")
    assert found.why.endswith("% of that is the metadata scan")


def test_several_drives_are_many() -> None:
    assert summary._are(summary.STAYING) == summary._are("the source drives behind multiplier") == "are"
    assert summary._are("the replacement drive") == summary._are("the shared link (multiplier)") == "is"


def test_a_bottleneck_that_is_seldom_busy_is_waited_for() -> None:
    found = summary.bottleneck(result(busy=(10.0, 5.0, 0.0, 30.0)), {"target": 400.0}, "target")
    assert "not saturated" in found.why


def test_where_none_limits_the_busiest_is_told() -> None:
    found = summary.bottleneck(result(), {"target": 950.0, "source": 980.0}, None)
    assert found.resource.startswith("no single one: the replacement drive")
    assert "15 min 50 s" in found.why
    assert found.without_it_s is None


def test_a_link_is_named_by_its_name() -> None:
    found = summary.bottleneck(result(link=97.0), {"link": 300.0}, "link")
    assert found.resource == "the shared link (multiplier)"


def test_a_drive_repaired_in_place_is_not_new() -> None:
    in_place = replace(MODEL, vdevs=(replace(MODEL.vdevs[0], read_leaf=(3, 1), write_leaf=(3, -1)),))
    found = summary.bottleneck(result(model=in_place), {"target": 400.0}, "target")
    assert found.resource == "the overwritten drive"


# Where the time goes.


@pytest.mark.parametrize("limit", [None, "source", "target", "link"])
def test_the_parts_sum_to_the_answer(limit: str | None) -> None:
    parts = summary.breakdown(result(), limit)
    assert math.fsum(parts.values()) == pytest.approx(1000.0)
    assert min(parts.values()) > 0.0


def test_the_parts_are_those_of_the_drive_that_limits() -> None:
    parts = summary.breakdown(result(), "target")
    assert parts["seek"] == pytest.approx(700.0 * 0.45)
    assert parts["idle, waiting on siblings"] == pytest.approx(700.0 * 0.1)
    assert (parts["metadata phase"], parts["txg sync"]) == (200.0, 100.0)
    assert "rewriting shingled bands" not in parts


def test_of_a_drive_that_serves_several_at_once_each_counts_for_its_part() -> None:
    """Ninety seconds of service in a hundred, four at a time: 9/40 of its time, and the rest is idle."""
    several = tuple(replace(leaf, drive=replace(DISK, parallel_commands=4)) for leaf in MODEL.leaves)
    parts = summary.breakdown(result(model=replace(MODEL, leaves=several)), "target")
    assert parts["seek"] == pytest.approx(700.0 * 0.45 / 4.0)
    assert parts["idle, waiting on siblings"] == pytest.approx(700.0 * (1.0 - 0.9 / 4.0))


def test_flash_is_as_busy_as_its_channel_and_waits_for_no_rotation() -> None:
    """Commands that wait for the channel count as served: 90 of 96 s, 32 at a time, with it full 80 %."""
    flash = replace(DISK, kind="flash", parallel_commands=32, flash_shares_rate=True)
    model = replace(MODEL, leaves=tuple(replace(leaf, drive=flash) for leaf in MODEL.leaves))
    found = result(model=model)
    found.run.leaves["transfer"][3], found.run.leaves["overhead"][3] = 80.0, 16.0
    row = summary.leaf_rows(found)[-1]
    assert (row.role, row.utilisation) == ("target", pytest.approx(0.8))
    assert summary.busiest(found) == ("target", pytest.approx(0.8), 3)
    parts = summary.breakdown(found, "target")
    assert "rotation and gaps" not in parts
    assert parts["transfer"] == pytest.approx(700.0 * 0.8)
    assert parts["command overhead"] == pytest.approx(700.0 * 16.0 / 100.0 / 32)
    assert sum(parts.values()) == pytest.approx(1000.0)
    told = summary.bottleneck(found, {"target": 400.0}, "target")
    assert (told.utilisation, "moving data" in told.why) == (pytest.approx(0.8), True)
    # A phase has its part of what the channel is busy with.
    assert summary.phases(found)[-1].busy["target"] == pytest.approx(0.75 * 0.8 / 0.7778, rel=1e-3)


def test_phases_share_the_txg_ends_and_follow_one_another() -> None:
    first, second = summary.phases(result())
    assert (first.name, second.name) == ("metadata scan", "repair")
    assert first.duration_s == pytest.approx(200.0 + 100.0 * 2 / 9)
    assert second.start_s == first.duration_s
    assert first.duration_s + second.duration_s == pytest.approx(1000.0)


def test_phases_are_stretched_to_the_answer_and_a_scrub_may_follow() -> None:
    found = summary.phases(result(), 2000.0, 0.5)
    assert [phase.name for phase in found][-1] == summary.VERIFYING_SCRUB
    assert sum(phase.duration_s for phase in found[:-1]) == pytest.approx(2000.0)
    assert found[-1].duration_s == pytest.approx(1000.0)


def test_phases_say_what_they_read_and_who_was_busy() -> None:
    first, second = summary.phases(result())
    assert first.read_bytes == second.read_bytes == pytest.approx(15e7 * 10 / 2)
    assert first.bound_by == second.bound_by == "the replacement drive"


def test_the_longest_phase_is_bound_by_what_holds_the_operation_up() -> None:
    first, second = summary.phases(result(), limit="the source drives")
    assert (first.bound_by, second.bound_by) == ("the replacement drive", "the source drives")


def test_the_bottleneck_is_as_busy_as_its_row() -> None:
    found = summary.bottleneck(result(), {"source": 400.0, "target": 990.0}, "source")
    row = next(row for row in summary.leaf_rows(result()) if row.role == "source behind multiplier")
    assert found.resource == "the source drive behind multiplier"
    assert found.utilisation == row.utilisation


def test_a_link_that_all_drives_of_a_role_are_behind_has_no_row_of_its_own() -> None:
    both = (MODEL.leaves[0], replace(MODEL.leaves[1], link=0), *MODEL.leaves[2:])
    rows = {row.role: row.count for row in summary.leaf_rows(result(model=replace(MODEL, leaves=both)))}
    assert rows["source"] == 2
    assert not [role for role in rows if "behind" in role]


def test_drives_of_other_vdevs_are_no_sources() -> None:
    other = VdevModel(kind="mirror", parity=0, ashift=12, read_leaf=(2,), write_leaf=(-1,))
    run = result(model=replace(MODEL, vdevs=(*MODEL.vdevs, other)), busy=(40.0, 20.0, 5.0, 90.0))
    run.run.leaves["scan_reads"][2] = 1
    rows = {row.role: row.count for row in summary.leaf_rows(run)}
    assert (rows["source"], rows["other vdev"]) == (2, 1)


@pytest.mark.parametrize(
    ("role", "members", "words"),
    [
        ("other vdev", [2], "the drives of the other vdevs"),
        ("slow other vdev", [2], "the slow drives of the other vdevs"),
        ("exchanged source", [0, 1], "the exchanged source drives"),
        ("slow source behind multiplier", [0], "the slow source drive behind multiplier"),
        ("special vdev", [2], "the drives of the special vdevs"),
        ("target", [3], "the replacement drive"),
        ("target", [3, 3], "the replacement drives"),
    ],
)
def test_a_group_of_drives_is_named_in_words(role: str, members: list[int], words: str) -> None:
    assert summary._named(MODEL, role, members) == words


def test_totals_are_of_the_real_pool() -> None:
    sums = summary.totals(result())
    assert sums == {
        "resilvered_bytes": 14 * 10**8,
        "read_bytes": 15 * 10**8,
        "written_bytes": 15 * 10**8,
        "io_count": 35_000,
    }


def test_a_spare_spread_over_all_drives_is_repaired_on_the_sources() -> None:
    spread = replace(MODEL, leaves=tuple(replace(leaf, role="source") for leaf in MODEL.leaves))
    assert summary.totals(result(model=spread))["resilvered_bytes"] == 14 * 10**8


# Progress.


def test_progress_ends_with_the_answer_and_shows_what_zpool_would() -> None:
    case = resolve(Scenario(layout="mirror2", fill=0.5))
    points = summary.progress_curve(result(), case, 1000.0, 7 * 10**9)
    assert len(points) <= 2 * summary.MAX_POINTS
    assert (points[0].fraction, points[0].zpool_eta_s) == (0.0, None)
    last = points[-1]
    assert (last.time_s, last.fraction, last.issued_bytes) == (1000.0, 1.0, case.alloc)
    assert last.resilvered_bytes == 7 * 10**9
    for point in points[1:]:
        assert point.zpool_eta_s == pytest.approx(1000.0 - point.time_s, abs=1e-6), "an even pace"


@pytest.mark.parametrize(
    ("release", "operation", "begins"),
    [("openzfs-2.1.11", "resilver", 0.0), ("openzfs-2.1.12", "resilver", 200.0),
     ("openzfs-2.3", "scrub", 200.0), ("openzfs-2.3", "rebuild", 0.0), ("zol-0.7", "resilver", 0.0)],
)  # fmt: skip
def test_rates_of_zpool_begin_anew_when_the_metadata_are_read(
    release: str, operation: Any, begins: float
) -> None:
    """Nothing is issued in the first 20 of 100 s, then evenly: at half of it 600 s of 1000 have gone."""
    case = resolve(Scenario(layout="mirror2", fill=0.5, release=release, operation=operation))
    found = result()
    found.run.progress = [ScanSample(float(t), 0, max(0, t - 20) * 10, "issue") for t in range(0, 101, 20)]
    half = next(point for point in summary.progress_curve(found, case, 1000.0, 1) if point.fraction == 0.5)
    assert half.time_s == pytest.approx(600.0)
    assert half.zpool_eta_s == pytest.approx(600.0 - begins)


def test_to_0_7_what_is_scanned_is_what_is_issued() -> None:
    old, new = (
        resolve(Scenario(layout="mirror2", fill=0.5, release=name)) for name in ("zol-0.7", "openzfs-2.3")
    )
    half = len(result().run.progress) // 2
    scanned = [
        summary.progress_curve(result(), case, 1000.0, 1)[half // 2].scanned_bytes for case in (old, new)
    ]
    assert scanned[0] is not None
    assert 0 < scanned[0] < old.alloc
    assert scanned[1] == new.alloc


def test_a_run_without_samples_has_no_progress() -> None:
    empty = result()
    empty.run.progress = []
    assert summary.progress_curve(empty, resolve(Scenario(layout="mirror2")), 1.0, 1) == ()
