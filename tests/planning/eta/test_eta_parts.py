"""The parts of an answer of ``zsim eta``, how it is watched and drawn, each by its rule."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.planning.eta.test_eta_rules import AT, HOUR, LEFT, case, scan
from tests.report.answers import some
from zsim.planning.eta import followed as following
from zsim.planning.eta import reasons, watching
from zsim.planning.eta.drawing import figure
from zsim.planning.eta.followed import FollowedScan
from zsim.planning.eta.reasons import OUTER_TRACKS
from zsim.planning.eta.records import Span
from zsim.scenario.evidence import RunningScan

# --- the parts of an answer


def followed(told: object = None, *, seen: RunningScan | None = None, of: Any = None, **paste: Any) -> Any:
    """Return a scan of which `left` is `LEFT`, and that of its worlds what is told."""
    stated: Any = SimpleNamespace(
        **{"paused": False, "log_alone": False, "dedup_alone": False, "notes": (), "waiting": 0, **paste},
        scans=(seen or scan(),),
    )
    found = FollowedScan(stated, of or case(), ())
    vars(found).update(found=told, left=LEFT)
    return found


def in_phase(phase: str) -> object:
    return SimpleNamespace(state=SimpleNamespace(phase=phase, visited=0.7, issued=0.1))


NOWHERE = SimpleNamespace(state=None)


def test_what_has_gone_is_the_scans_or_for_a_later_pass_the_medians() -> None:
    """A pass of an hour of which nothing tells when the scan began: the whole less what is left, at least."""

    def elapsed(seen: RunningScan, total: Span) -> float | None:
        found = followed(seen=seen)
        vars(found).update(total=total)
        return found.elapsed  # type: ignore[no-any-return]

    total = Span(4 * HOUR, 5 * HOUR, 7 * HOUR)
    assert elapsed(scan(elapsed=HOUR), total) == HOUR
    late = scan(scanned=100, total=100, elapsed=HOUR, elapsed_is_pass=True)
    assert elapsed(late, total) == 2 * HOUR
    assert elapsed(late, Span(0, 3 * HOUR, 0)) == HOUR
    assert elapsed(scan(), total) is None


def test_parts_sum_to_the_median() -> None:
    told = SimpleNamespace(parts={"metadata scan": 30.0, "repair": 90.0})
    assert followed(told).parts == {"metadata scan": 0.75 * HOUR, "repair": 2.25 * HOUR}
    assert followed(SimpleNamespace(parts={"repair": 0.0})).parts == {"repair": 0.0}
    assert followed(told, log_alone=True).parts == {"metadata scan": LEFT.p50}


def test_what_is_done_is_that_of_the_phase() -> None:
    assert followed(in_phase("metadata scan")).done == 0.7
    assert followed(in_phase("repair")).done == 0.1
    assert followed(NOWHERE).done == 0.0


def test_the_phase_is_that_of_the_operation_unless_it_is_paused() -> None:
    told = in_phase("repair")
    assert followed(told, paused=True).phase == "paused"
    assert followed(told, log_alone=True).phase == "metadata scan"
    assert followed(told).phase == "repair"
    assert followed(NOWHERE).phase == "unknown"
    assert followed(NOWHERE, of=case("rebuild", "mirror2")).phase == "rebuild"
    assert followed(NOWHERE, of=case("remove", "2*mirror2")).phase == "copying"


def test_memory_is_not_asked_for_once_all_is_collected() -> None:
    of = case("scrub", "raidz2x6", alloc="24T", drive_size="8TB", history="home-nas")
    under_way, over = (scan(kind="scrub", total=1000, scanned=done, issued=0) for done in (500, 1000))
    assert [each[:22] for each in followed(seen=under_way, of=of).missing] == ["the memory of the host"]
    assert followed(seen=over, of=of).missing == ()


def test_a_log_or_what_is_older_than_an_outage_explains_zpools_estimate(monkeypatch: Any) -> None:
    def why(seen: RunningScan, said: float | None, log_alone: bool = False) -> str:
        monkeypatch.setattr(following, "zpool_remaining", lambda _scan: said)
        found = followed(in_phase("repair"), seen=seen, log_alone=log_alone)
        vars(found).update(total=Span(0.0, 0.0, 0.0))
        return found.zpool_why  # type: ignore[no-any-return]

    passed = scan(kind="heal", total=8, scanned=1)
    for seen, log_alone, words in ((passed, False, reasons.PASSED_OVER), (scan(), True, reasons.LOG_ALONE)):
        assert (
            why(seen, None, log_alone)
            == why(seen, HOUR, log_alone)
            == why(seen, 6 * HOUR, log_alone)
            == words
        )
        assert why(seen, 2 * HOUR, log_alone) == why(seen, 5 * HOUR, log_alone) == ""
    assert why(scan(), HOUR) == OUTER_TRACKS


def test_the_width_of_an_answer_is_the_logarithm_of_its_ends() -> None:
    wide: Any = SimpleNamespace(total=lambda: (HOUR, 2 * HOUR, 4 * HOUR))
    assert following._width(wide) == pytest.approx(np.log(4))
    nothing: Any = SimpleNamespace(total=lambda: (0.0, 0.0, 0.0))
    assert following._width(nothing) == 0.0


def test_each_status_says_how_slow_the_scan_is_and_narrows_what_the_ones_before_left(
    monkeypatch: Any,
) -> None:
    """Before any the ends are a factor of 4 apart, with one of 2, then of 2 again."""
    ends = (4 * HOUR, 2 * HOUR, 2 * HOUR, 3 * HOUR)

    def told(_courses: Any, scans: Any, _facts: Any) -> Any:
        high = ends[len(scans)]
        return SimpleNamespace(
            total=lambda: (HOUR, HOUR, high), paces=np.array([1.0, 2.0, 9.0]), effective=3.0
        )

    monkeypatch.setattr(following, "remaining", told)
    courses: Any = [None] * 6
    facts: Any = None
    rows = following.weighed(
        courses, [scan(elapsed=HOUR), scan(elapsed=2 * HOUR), scan(kind="scrub", elapsed=3.0)], facts
    )
    assert [(each.kind, each.observed, each.expected, each.weight) for each in rows] == [
        ("running resilver", HOUR, HOUR / 2, 0.5), ("running resilver", 2 * HOUR, HOUR, 0.5),
        ("running scrub", 3.0, 1.5, 0.5),
    ]  # fmt: skip
    assert [each.narrows for each in rows] == pytest.approx([0.5, 0.0, 0.0]), (
        "one that widens it narrows nothing"
    )
    assert following.weighed(courses, [scan()], facts) == (), "of a status without a clock nothing is known"


def test_a_drive_that_looks_sick_leaves_nothing_unexplained(monkeypatch: Any) -> None:
    found = ("a reason", reasons.UNEXPLAINED, reasons.STILL_SLOWER)
    monkeypatch.setattr(following, "slow_reasons", lambda *_: found)
    for sick, told in (((), found), (("sdb is slow",), ("sdb is slow", "a reason"))):
        monkeypatch.setattr(following, "sick_looking", lambda _case, sick=sick: sick)
        made = followed(NOWHERE)
        vars(made).update(pace=None)
        assert made.reasons == told


def test_less_than_a_drive_tells_nothing_of_what_another_takes(monkeypatch: Any) -> None:
    def part(kind: str = "resilver", **alone: bool) -> bool:
        found = followed(NOWHERE, seen=scan(kind=kind), **alone)
        vars(found).update(total=Span(1.0, 2.0, 3.0))
        return found.consequences is None

    monkeypatch.setattr(following, "consequences", lambda _case, _share, total, *_: total)
    assert not part()
    assert part("heal")
    assert part(log_alone=True)
    assert part(dedup_alone=True)


# --- watching, pictures


def answer(gone: float | None, low: float, middle: float, high: float, **more: Any) -> Any:
    left = Span(low, middle, high)
    return some(remaining_s=left, elapsed_s=gone, pool="tank", zpool_remaining_s=None, **more)


def bar(*times: Any) -> str:
    class Told(SimpleNamespace):
        def __rich__(self) -> str:
            return "the answer"

    left = Span(*times[1:])
    first, _ = watching.bar(Told(elapsed_s=times[0], remaining_s=left)).renderables  # type: ignore[arg-type]
    return str(first)


def test_the_bar_has_what_is_gone_a_gap_and_the_interval_with_its_median() -> None:
    """Forty cells of a minute each: ten are gone, the end lies 10 to 30 minutes away, in the middle 20."""
    found = bar(600.0, 600.0, 1200.0, 1800.0)
    assert found == f"[{'█' * 10}{' ' * 10}{'░' * 10}│{'░' * 9}] 10 min to 30 min to go"
    assert bar(None, 0.0, 1200.0, 2400.0) == f"[{'░' * 20}│{'░' * 19}] 0 s to 40 min to go"
    assert len(bar(0.0, 0.0, 0.0, 0.0).split("]")[0]) == 41
    longest = bar(1e5, 86400.0 * 10 - 3600.0, 86400.0 * 20, 86400.0 * 30 - 3600.0)
    assert len(longest) <= 80


def test_of_many_statuses_every_second_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty are held; the forty-first makes them twenty and itself."""
    lengths: list[int] = []

    def told(text: str, *_: Any, **__: Any) -> str:
        lengths.append(text.count("scan: resilver"))
        return "answer"

    monkeypatch.setattr(watching, "eta", told)
    monkeypatch.setattr(watching, "runs", lambda _text: True)
    found = watching.watched(
        "tank", 5.0, status=lambda _pool: "scan: resilver", sleep=lambda _s: None, clock=lambda: AT
    )
    for _ in range(43):
        next(found)
    assert lengths == [*range(1, 42), 22, 23]


def test_the_picture_in_the_unit_of_its_length() -> None:
    """Half an hour is gone, ten to sixty minutes are left: minutes to 90."""
    (axes,) = figure(answer(1800.0, 600.0, 1200.0, 3600.0)).axes
    bars = [(each.get_x(), each.get_width()) for each in axes.patches]
    assert bars == [pytest.approx((0, 30)), pytest.approx((40, 50))]
    assert [line.get_xdata()[0] for line in axes.lines] == [50]
    assert "[minutes]" in axes.get_xlabel()
    (axes,) = figure(answer(None, 0.0, HOUR, 3 * HOUR)).axes
    assert [(each.get_x(), each.get_width()) for each in axes.patches] == [(0, 0), (0, 3)]
    assert figure(answer(None, 0.0, HOUR, 3 * HOUR)).get_size_inches()[1] == 2.6
