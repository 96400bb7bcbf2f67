"""What is said of the evidence and of drives that look sick; answers as tables; what a rebuild of a part tells."""  # noqa: E501

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.answer.test_wording import answer, leaf
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.prediction.answer import frames
from zsim.prediction.answer.output import SavedAnswer
from zsim.prediction.answer.records import Driver, Phase, Quantiles, Stated, Uncertainty
from zsim.prediction.evidence import slower, wording
from zsim.prediction.evidence.comparable import Comparison
from zsim.prediction.evidence.probes import HeldProbe, ScanProbe
from zsim.prediction.runs import rebuilding
from zsim.scenario.evidence import DriveActivity
from zsim.scenario.model import Scenario


def case(**fields: Any) -> Any:
    return resolve(Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, "drive_size": "4TB", **fields}))


# What became of what was seen.


def seen(probe: Any, observed: float, unit: str = "s", **more: Any) -> Comparison:
    return Comparison("scrub", unit, observed, probe, SimpleNamespace(), **more)  # type: ignore[arg-type]


def weighed(*, far: bool = False) -> Any:
    """Return what worlds show, 1 h to 4 h."""
    expected = tuple(math.log(hours * 3600.0) for hours in (1.0, 2.0, 4.0))
    return SimpleNamespace(expected=expected, weight=0.75, narrows=0.1, far=far)


def test_what_was_used_stands_beside_what_worlds_show_and_what_was_not_beside_its_reason() -> None:
    left = SimpleNamespace(kind="resilver", when="3 May", unit="s", observed=7.0, why="a load ran")
    weighing: Any = SimpleNamespace(
        posterior=SimpleNamespace(weighed=[weighed()]),
        left=[left],
        comparisons=[seen(ScanProbe("scrub"), 3600.0)],
    )
    used, other = wording.records(weighing)
    assert (used.expected_p10, used.expected, used.expected_p90) == pytest.approx((3600.0, 7200.0, 14_400.0))
    assert (used.weight, used.narrows, used.note) == (0.75, 0.1, "")
    assert (other.kind, other.when, other.observed, other.weight, other.note) == (
        "resilver", "3 May", 7.0, 0.0, "a load ran",
    )  # fmt: skip
    weighing.posterior = None
    assert wording.records(weighing) == (other,)
    assert wording.records(None) == ()


@pytest.mark.parametrize(
    ("comparison", "words"),
    [
        (seen(ScanProbe("scrub"), 36_000.0, when="3 May"),
         f"the scrub of 3 May took 10 h, nine in ten simulated pools like this take no more than 4 h: {wording.LONGER}"),  # noqa: E501
        (seen(ScanProbe("scrub"), 1800.0, phrase="is to take {}"),
         f"the scrub is to take 30 min, nine in ten simulated pools like this take no less than 1 h: {wording.SHORTER}"),  # noqa: E501
        (seen(HeldProbe("special"), 36_000.0),
         f"the scrub is 10 h, nine in ten simulated pools like this have no more than 4 h: {wording.SMALLER_BLOCKS}"),  # noqa: E501
        (seen(HeldProbe("special"), 60.0),
         f"the scrub is 1 min, nine in ten simulated pools like this have no less than 1 h: {wording.ADDED_LATER}"),  # noqa: E501
        (seen(object(), 60.0),
         "the scrub is 1 min, nine in ten simulated pools like this show no less than 1 h: a drive unlike the one "  # noqa: E501
         "named, or a moment that is not typical of the scan"),
    ],
)  # fmt: skip
def test_what_no_world_explains_has_its_bound_and_what_may_explain_it(
    comparison: Comparison, words: str
) -> None:
    assert wording._record(comparison, weighed(far=True)).note == words
    assert wording._record(comparison, weighed()).note == ""


def drive(name: str, **more: Any) -> DriveActivity:
    return DriveActivity(drive=name, **more)


def test_errors_are_counted_in_words_and_retries_hold_up_the_scan() -> None:
    (retried,) = wording._with_errors([drive("sda", leaf=3, read_errors=1, checksum_errors=2, slow_ios=1)])
    assert retried.startswith(
        "sda has shown 1 read error and 2 checksum errors and 1 I/O of 30 s or more: a drive"
    )
    assert "(--slow 3:x3 and --bad-sectors 3:100 say what it costs)" in retried
    (unknown,) = wording._with_errors([drive("sda", write_errors=1)])
    assert "--slow N:x3" in unknown
    (many,) = wording._with_errors([drive("sda", slow_ios=7)])
    assert "7 I/Os of 30 s or more" in many
    (wrong,) = wording._with_errors([drive("sda", checksum_errors=5), drive("sdb", read_errors=0)])
    assert wrong == (
        "sda has shown 5 checksum errors: what it returned was wrong: look at its cable, its port and the memory "  # noqa: E501
        "of the host"
    )


def test_many_drives_with_checksum_errors_share_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that retries is sick by itself, whatever the others share."""
    monkeypatch.setattr(wording, "NAMED_EACH", 2)
    wrong = [drive(f"sd{name}", checksum_errors=number) for number, name in enumerate("abc", 1)]
    retries = drive("sdz", read_errors=4, checksum_errors=4)
    assert len(wording._with_errors([*wrong[:2], retries])) == 3
    first, second = wording._with_errors([*wrong, retries])
    assert first.startswith("sdz has shown 4 read errors and 4 checksum errors")
    assert second.startswith(
        "3 drives have shown checksum errors (sda 1, sdb 2, sdc 3): look at what they share"
    )


def test_drives_slower_than_their_peers_are_told_with_what_asks_for_their_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wording, "slower_than_model", lambda given, every: ())
    monkeypatch.setattr(wording, "slow_drives", lambda given, every: {"sda": 2.54, "sdx": 3.0})
    given = case(evidence=[{"what": "drive", "drive": "sda", "leaf": 2}, {"what": "drive", "drive": "sdx"}])
    assert wording.sick_looking(given) == (
        "sda takes 2.5 times as long to answer as its peers; sdx takes 3 times as long to answer as its peers: "  # noqa: E501
        "a sick drive holds up the whole scan (--slow 2:x2.5 says what it costs)",
    )
    monkeypatch.setattr(wording, "slow_drives", lambda given, every: {})
    assert wording.sick_looking(given) == ()
    exact = SimpleNamespace(scenario=given.scenario, exact=True)
    assert wording.notes(exact) == ("--exact simulates one pool to the end: the evidence is not weighed",)  # type: ignore[arg-type]
    assert wording.notes(SimpleNamespace(scenario=case().scenario, exact=True)) == ()  # type: ignore[arg-type]


def test_drives_slower_than_their_model_are_told_and_the_link_they_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = [
        slower.SlowerThanModel("sda", 0, "WD", 131_072.0, 0.060, 0.020),
        slower.SlowerThanModel("sdb", None, "WD", 4096.0, 0.050, 0.020),
    ]
    monkeypatch.setattr(wording, "slower_than_model", lambda given, every: slow)
    monkeypatch.setattr(wording, "shared_by", lambda given, found: None)
    words = (
        "sda spends 60 ms on a request of 128K, 3 times the most that WD needs (20 ms): the drive, its cable or "  # noqa: E501
        "its port is sick (--slow 0:x3 says what it costs)",
        "sdb spends 50 ms on a request of 4K, 2.5 times the most that WD needs (20 ms): the drive, its cable or "  # noqa: E501
        "its port is sick",
    )
    assert wording._slower_than_model(case(), []) == list(words)
    monkeypatch.setattr(wording, "shared_by", lambda given, found: "hba0")
    assert wording._slower_than_model(case(), []) == [
        "sda, sdb are slower than their model allows, and all are behind hba0: look there first", *words,
    ]  # fmt: skip


def test_a_drive_is_slower_by_its_busy_time_over_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy for 0.8 of a second with 10 requests: 80 ms each.  Of a queue at most all of the time is busy."""
    monkeypatch.setattr(slower, "_most_s", lambda numbers, size: size * 1e-6)
    limits = {"drive.least": 2.0, "drive.reads": 0.5, "drive.model": 1.5}
    monkeypatch.setattr(slower, "noise", lambda name, unit="": limits[name])
    given = case()

    def found(**activity: Any) -> Any:
        usual = {"reads": 8.0, "writes": 2.0, "read_rate": 80_000.0, "write_rate": 20_000.0, "busy": 0.8}
        return slower._slower(given, drive("sda", leaf=1, **(usual | activity)))

    one = found()
    assert (one.size, one.seen_s, one.factor) == (10_000.0, pytest.approx(0.08), pytest.approx(8.0))
    assert found(busy=0.15) is None, "as much as the model may need"
    assert found(busy=0.151) is not None
    assert found(reads=5.0, writes=5.0) is not None
    assert found(reads=4.9, writes=5.0) is None, "what it does is mostly to write"
    assert found(reads=2.0, writes=0.0, read_rate=100.0, write_rate=0.0) is not None
    assert found(reads=1.9, writes=0.0, read_rate=100.0, write_rate=0.0) is None
    assert found(busy=None, service=0.07).seen_s == pytest.approx(0.07)
    assert found(busy=None, service=0.2).seen_s == pytest.approx(0.1), "ten a second, always busy"
    assert found(busy=None) is None
    assert found(busy=None, reads=None, writes=None) is None


def test_a_read_of_flash_takes_its_latency_and_its_bytes() -> None:
    flash: Any = SimpleNamespace(kind="flash", flash_latency_max_s=0.001, flash_read_rate=1e6)
    assert slower._most_s(flash, 4000.0) == pytest.approx(0.005)


def test_a_link_is_shared_by_two_slow_drives_whose_places_are_known() -> None:
    given: Any = SimpleNamespace(
        ports=[SimpleNamespace(name="hba0", leaves=(0, 1, 2)), SimpleNamespace(name="hba1", leaves=(3, 4))]
    )

    def shared(*leaves: int | None) -> str | None:
        return slower.shared_by(given, [SimpleNamespace(leaf=each) for each in leaves])  # type: ignore[misc]

    assert shared(0, 2) == "hba0"
    assert shared(3, 4) == "hba1"
    assert shared(2, 3) is None
    assert shared(0) is None
    assert shared(0, 1, None) is None


# Answers as tables and files.


def test_parts_of_an_answer_are_rows_with_what_was_stated() -> None:
    pytest.importorskip("pandas")
    known = answer(
        resilver_s=Quantiles(p10=1.0, p50=2.0, p90=4.0), breakdown={"seek": 30.0, "transfer": 90.0},
        stated=(Stated(field="fill", value=0.5, text="50 %"),), leaves=(leaf(role="source"), leaf(role="target")),  # noqa: E501
        phases=(Phase(name="repair", duration_s=2.0),),
        uncertainty=Uncertainty(drivers=(Driver(field="drive", low_s=1.0, high_s=2.0),)),
    )  # fmt: skip
    (row,) = frames.frame(known, "answer").to_dict("records")
    assert (row["fill"], row["p10_s"], row["p50_s"], row["p90_s"]) == (0.5, 1.0, 2.0, 4.0)
    assert (row["bottleneck"], row["utilisation"], row["io_count"]) == ("the replacement drive", 0.85, 12_345)
    assert frames.frame(known, "breakdown").to_dict("records") == [
        {"cause": "transfer", "seconds": 90.0, "share": 0.75}, {"cause": "seek", "seconds": 30.0, "share": 0.25},  # noqa: E501
    ]  # fmt: skip
    assert frames.frame(known, "leaves")["role"].tolist() == ["source", "target"]
    assert frames.frame(known, "phases")["name"].tolist() == ["repair"]
    assert frames.frame(known, "drivers")["field"].tolist() == ["drive"]
    assert len(frames.frame(answer(), "drivers")) == 0
    assert frames.data_frame([{"a": 1, "b": 2}], ["b"]).to_dict("records") == [{"b": 2}]
    with pytest.raises(InputError, match="the parts are answer, breakdown, drivers, progress"):
        frames.frame(known, "nothing")


def test_a_library_that_is_missing_is_named_with_what_installs_it() -> None:
    with pytest.raises(InputError, match=r"no_such_library_of_ours.*install zsim\[data\]"):
        frames.needed("no_such_library_of_ours")


def test_an_answer_is_written_as_json_that_a_person_can_read(tmp_path: Path) -> None:
    class Found(SavedAnswer):
        def __init__(self, value: object) -> None:
            self.value = value

        def to_dict(self) -> dict[str, object]:
            return {"größe": self.value}

    Found(1).save(tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert text == '{\n  "größe": 1\n}\n'
    assert json.loads(text) == {"größe": 1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        Found(math.nan).save(tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


# A rebuild from a part of it.


def part(**more: Any) -> Any:
    """Return a sample of 4 of 10 metaslabs; the real rebuild copies 1000 bytes."""
    usual = {
        "repaired_bytes": 1000.0,
        "metaslabs": 4,
        "of": 10,
        "in_flight": 20,
        "before": 0.0,
        "behind": 0.0,
    }
    return SimpleNamespace(**(usual | more))


def test_copying_grows_with_the_bytes_and_waits_with_the_metaslabs() -> None:
    """Of 100 s 80 s are copying, of 200 bytes."""
    run: Any = SimpleNamespace(phases=[("a", 0.0, 30.0), ("b", 40.0, 90.0)], end=100.0, issued_bytes=200)
    assert rebuilding.scaled_rebuild(run, part(in_flight=0)) == (400.0, 50.0, 5.0)
    assert rebuilding.scaled_rebuild(run, part()) == (400.0, 20.0, 5.0)
    run.issued_bytes = 0
    assert rebuilding.scaled_rebuild(run, part())[2] == 1000.0
    over: Any = SimpleNamespace(phases=[("a", 0.0, 30.0)], end=29.0, issued_bytes=10)
    assert rebuilding.scaled_rebuild(over, part(in_flight=0))[1] == 0.0


def test_where_nothing_is_waited_for_the_middle_of_the_run_counts() -> None:
    """Issued are 10 bytes a second for 20 s, then 5: the middle is from 30 + 20 bytes to 250 - 50 + 20."""
    curve = [(0.0, 0.0), (20.0, 200.0), (21.0, 200.0), (31.0, 250.0)]
    run: Any = SimpleNamespace(phases=[("a", 0.0, 31.0)], end=40.0, issued_bytes=250, curve=curve)
    copying, waiting, scale = rebuilding.scaled_rebuild(run, part(before=30.0, behind=50.0))
    # 50 bytes at 5 s; 220 between (20 s, 200) and (31 s, 250).  170 bytes are measured.
    assert copying == pytest.approx((20.0 + 11.0 * 0.4 - 5.0) * 1000.0 / 170.0)
    assert (waiting, scale) == (9.0, 4.0)


@pytest.mark.parametrize("around", [0, 3])
def test_a_sample_of_metaslabs_lies_in_the_middle_of_equal_parts(
    monkeypatch: pytest.MonkeyPatch, around: int
) -> None:
    monkeypatch.setattr(rebuilding, "FEWEST_METASLABS", 4)
    monkeypatch.setattr(rebuilding, "MOST_METASLABS", 5)
    monkeypatch.setattr(rebuilding, "STRETCHES", 2)
    if around == 0:
        assert rebuilding._chosen(100, 1, 0).tolist() == [12, 37, 62, 87]
        assert rebuilding._chosen(100, 50, 0).tolist() == [10, 30, 50, 70, 90]
        assert rebuilding._chosen(4, 1, 0).tolist() == [0, 1, 2, 3]
        assert rebuilding._chosen(5, 1, 0).tolist() == [0, 1, 3, 4]
        return
    # Two stretches of four; room for their beginnings are 100 - 6 - 4 metaslabs from the third on.
    first, last = 3 + 90 // 4, 3 + 90 * 3 // 4
    assert rebuilding._chosen(100, 7, 3).tolist() == [*range(first - 3, first + 4), *range(last, last + 7)]
    assert rebuilding._chosen(13, 7, 3).tolist() == list(range(13))
    assert len(rebuilding._chosen(14, 7, 3)) <= 14


def test_the_chunks_of_a_rebuild_are_whole_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    given = case(layout="mirror2", operation="rebuild", release="openzfs-2.3")
    segment = int(given.release.tunables["zfs_rebuild_max_segment"])
    assert rebuilding._chunk_bytes(given, given.layout.vdevs[0]) == segment
    monkeypatch.setattr(rebuilding, "mos_cursors", lambda table: (np.array([5]), "rest"))
    assert rebuilding.cursors_of(SimpleNamespace(table=None)) == (5,)  # type: ignore[arg-type]
