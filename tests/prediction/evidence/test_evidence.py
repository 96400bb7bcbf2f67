"""What a pool has already shown: read, compared with worlds, weighed, and said."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.prediction.answer.brief import brief_text
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.wording import as_text
from zsim.prediction.api import case_of, predict
from zsim.prediction.evidence.comparable import comparable, slow_drives
from zsim.prediction.evidence.noise import MODEL
from zsim.prediction.evidence.probes import (
    ActivityProbe,
    DriveProbe,
    HeldProbe,
    ScanProbe,
    as_it_was,
    random_read_s,
)
from zsim.prediction.evidence.slower import slower_than_model
from zsim.prediction.evidence.wording import notes, sick_looking
from zsim.prediction.simulated import stated
from zsim.scenario.evidence import DriveActivity
from zsim.scenario.evidence_text import read_evidence
from zsim.scenario.model import Scenario

BASE = {"layout": "raidz2x6", "drive": "st4000vn008", "alloc": "14T"}


@pytest.fixture(scope="module")
def plain() -> Prediction:
    return predict(Scenario.from_dict(BASE))


@pytest.fixture(scope="module")
def known(plain: Prediction) -> Prediction:
    return plain.given("scrub=8h")


def test_every_number_of_the_noise_has_a_source() -> None:
    assert unsourced_numbers(model_data.load_toml(MODEL)) == []


def _compared(*evidence: object, **more: object) -> tuple:
    return comparable(case_of(Scenario.from_dict({**BASE, **more, "evidence": list(evidence)})))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("scrub=25h17m", {"what": "finished", "kind": "scrub", "duration": "25h17m"}),
        (
            "resilver=11h, alloc=12.1T,date=2026-05-03",
            {
                "what": "finished",
                "kind": "resilver",
                "duration": "11h",
                "alloc": "12.1T",
                "end": "2026-05-03",
            },
        ),
        ("random-read=80", {"what": "benchmark", "access": "random-read", "operations": 80.0}),
        ("sequential-read=180MB/s", {"what": "benchmark", "access": "sequential-read", "rate": "180MB/s"}),
    ],
)
def test_evidence_is_read_from_text(text: str, expected: dict) -> None:
    assert read_evidence(text) == expected


@pytest.mark.parametrize("text", ["scrub", "scrub=", "smoke=3h", "scrub=3h,colour=red", "scrub=3h,alloc"])
def test_what_is_no_evidence_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="scrub=25h17m"):
        Scenario.from_dict({**BASE, "evidence": [text]})


def test_a_scenario_with_evidence_goes_through_a_file(tmp_path: Path) -> None:
    scenario = Scenario.from_dict({**BASE, "evidence": ["scrub=9h,alloc=12T,date=2026-05-03"]})
    path = tmp_path / "pool.toml"
    scenario.write(path)
    assert Scenario.read(path) == scenario


def test_a_scrub_narrows_the_answer(plain: Prediction, known: Prediction) -> None:
    before, after = plain.resilver_s, known.resilver_s
    assert after.p90 / after.p10 < 0.6 * before.p90 / before.p10
    (row,) = known.evidence
    assert (row.kind, row.observed) == ("scrub", 8 * 3600.0)
    assert 0.3 < row.narrows < 1.0
    assert row.weight > 0.9
    assert known.uncertainty.effective_members < plain.uncertainty.members


def test_a_longer_scrub_means_a_longer_resilver(plain: Prediction, known: Prediction) -> None:
    assert plain.given("scrub=12h").resilver_s.p50 > 1.3 * known.resilver_s.p50


def test_given_agrees_with_a_prediction_of_the_whole(known: Prediction) -> None:
    whole = predict(Scenario.from_dict({**BASE, "evidence": ["scrub=8h"]}))
    assert known.resilver_s == whole.resilver_s
    assert known.uncertainty.sampling_half_width_s == whole.uncertainty.sampling_half_width_s
    assert known.provenance["scenario"] == whole.provenance["scenario"]


def test_given_stretches_the_details(plain: Prediction, known: Prediction) -> None:
    assert sum(known.breakdown.values()) == pytest.approx(known.resilver_s.p50)
    assert known.phases[-1].start_s + known.phases[-1].duration_s == pytest.approx(known.resilver_s.p50)
    assert known.read_bytes == plain.read_bytes


def test_the_runs_behind_a_prediction_are_neither_stored_nor_compared(known: Prediction) -> None:
    assert pickle.loads(pickle.dumps(known)) == known
    assert Prediction.from_json(known.to_json()) == known


def test_what_no_world_explains_is_said_and_not_forced(plain: Prediction) -> None:
    found = plain.given("scrub=4000h,date=2026-05-03")
    (row,) = found.evidence
    assert row.weight < 0.1
    assert "the scrub of 3 May 2026 took 166 d 16 h" in row.note
    assert "a slow link" in row.note
    assert found.resilver_s.p50 < 3.0 * plain.resilver_s.p50
    assert "What this pool has already shown" in as_text(found)


def test_what_no_world_explains_stands_on_the_first_screen(plain: Prediction, known: Prediction) -> None:
    odd = plain.given("scrub=90h")
    said = " ".join(brief_text(odd).split())
    assert "NOT EXPLAINED: the scrub took 3 d 18 h" in said
    assert "It counts " in said
    assert "Stated: " in said
    assert "evidence scrub of 3 d 18 h" in said
    assert "NOT EXPLAINED" not in brief_text(known)
    # What knowing more would bring is about the answer, not about worlds moved to what none of them shows.
    assert odd.uncertainty is not None
    assert all(each.low_s < 2.0 * (odd.resilver_s.p50 or 0.0) for each in odd.uncertainty.drivers)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("scrub=9h12m,date=2026-05-03", "scrub of 9 h 12 min, ended 2026-05-03"),
        ("sequential-read=150MB/s", "sequential-read of one drive at 150 MB/s"),
        ("random-read=70", "random-read of one drive"),
    ],
)
def test_evidence_is_echoed_in_words(text: str, words: str) -> None:
    assert stated(Scenario(layout="raidz2x6", evidence=(read_evidence(text),)))[-1].text == words


def test_an_earlier_resilver_of_the_same_kind_is_nearly_repeated(plain: Prediction) -> None:
    found = plain.given("resilver=15h").resilver_s
    assert found.p50 == pytest.approx(15 * 3600.0, rel=0.1)
    assert found.p90 / found.p10 < 1.35


def test_without_evidence_nothing_is_said_of_it(plain: Prediction) -> None:
    assert plain.evidence == ()
    assert plain.uncertainty.effective_members is None
    assert "already shown" not in as_text(plain)


def test_a_heal_is_not_a_scrub() -> None:
    compared, left = _compared("heal=5m")
    assert compared == ()
    assert left[0].why.startswith("a heal repairs")


def test_a_resilver_that_wrote_little_is_a_heal() -> None:
    compared, left = _compared({"what": "finished", "kind": "resilver", "duration": 900, "processed": "70G"})
    assert compared == ()
    assert "counted as a heal" in left[0].why


@pytest.mark.parametrize(
    ("layout", "evidence"),
    [
        ("disk", "resilver=11h"),
        ("2*disk", {"what": "running", "kind": "resilver", "done": 0.4, "elapsed": 9000, "processed": "1T"}),
        ("raidz1x6", {"what": "finished", "kind": "resilver", "duration": "11h", "drives": 2}),
    ],
)
def test_what_the_layout_cannot_have_repaired_is_not_simulated(layout: str, evidence: object) -> None:
    """A pool that was a mirror then, say: a lone drive without itself has nothing to be read from."""
    operation = "resilver" if layout.startswith("raidz") else "scrub"
    compared, left = _compared(evidence, layout=layout, operation=operation, alloc="2T")
    assert compared == ()
    assert left[0].why.startswith(f"{layout.rsplit('*', maxsplit=1)[-1]} cannot be repaired without")


def test_vdevs_that_are_known_to_be_unequal_are_simulated_so() -> None:
    pair = {"layout": "2*mirror2", "drive_size": "4TB"}
    (alike,), _ = _compared("scrub=7h", **pair, alloc="4.3T")
    (known,), _ = _compared("scrub=7h", **pair, alloc=None, vdev_fills=[0.4, 0.8])
    # Else a scrub is of the fuller one, and how much fuller that is, is not known.
    assert alike.shift > 0.1 > known.shift == 0.0
    assert alike.seen.sigma > 2.0 * known.seen.sigma
    # A third of ALLOC on the vdev that is repaired: 1.45 TB are a whole drive, 0.6 TB a heal.
    (whole,), _ = _compared("resilver=4h,processed=1.3T", **pair, alloc=None, vdev_fills=[0.4, 0.8])
    assert whole.shift == pytest.approx(math.log(1.3 * 2**40 / (0.4 * 4e12)), abs=0.02)


def test_older_evidence_counts_less_where_alloc_then_is_not_known() -> None:
    (old, new), _ = _compared("scrub=9h,date=2024-05-03", "scrub=10h,date=2026-05-03")
    assert old.seen.sigma > 3.0 * new.seen.sigma
    assert old.shift < 0.0 == new.shift
    (with_alloc, _), _ = _compared("scrub=9h,date=2024-05-03,alloc=9T", "scrub=10h,date=2026-05-03")
    assert with_alloc.seen.sigma < 1.5 * new.seen.sigma
    assert with_alloc.probe == ScanProbe("scrub", 0, 9 << 40)


def test_an_earlier_scan_is_simulated_as_it_was() -> None:
    resolved = case_of(Scenario.from_dict({**BASE, "new_drive": "st8000vn004", "replace": 2}))
    scrub = as_it_was(resolved, "scrub", 0)
    assert (scrub.operation, scrub.replace, scrub.new_drive) == ("scrub", 0, resolved.drive)
    assert as_it_was(resolved, "resilver", 1).replace == 1
    same = case_of(Scenario.from_dict(BASE))
    assert as_it_was(same, "resilver", 1) is same


def test_activity_is_that_of_the_median_drive_of_each_role() -> None:
    rates = (80e6, 90e6, 20e6)
    seen = [
        DriveActivity(drive=f"sd{n}", role="source", read_rate=rate, service=0.5 if n == 2 else 0.01)
        for n, rate in enumerate(rates)
    ]
    seen.append(DriveActivity(drive="sdx", write_rate=70e6, busy=0.9))
    scenario = Scenario.from_dict({**BASE, "evidence": [each.model_dump() for each in seen]})
    compared, _ = comparable(case_of(scenario))
    by_probe = {each.probe: each.observed for each in compared}
    assert by_probe[ActivityProbe("source", "read_rate")] == 80e6
    assert by_probe[ActivityProbe("target", "write_rate")] == 70e6
    assert by_probe[ActivityProbe("target", "busy")] == 0.9
    assert slow_drives(case_of(scenario), seen) == {"sd2": pytest.approx(50.0)}


def test_the_price_of_a_slow_drive_is_asked_for_by_its_place() -> None:
    seen = [
        {"what": "drive", "drive": f"sd{n}", "leaf": n, "role": "source", "service": 0.06 if n == 4 else 0.01}
        for n in range(1, 6)
    ]
    (told,) = sick_looking(case_of(Scenario.from_dict({**BASE, "evidence": seen})))
    assert told.startswith("sd4 takes 6 times as long to answer as its peers")
    assert told.endswith("(--slow 4:x6 says what it costs)")


def test_activity_and_a_benchmark_are_weighed() -> None:
    data = {"layout": "raidz2x6", "fill": "62%", "drive_size": "4TB"}
    seen = [{"what": "drive", "drive": "sda", "role": "source", "read_rate": 60e6, "busy": 0.9}]
    found = predict(Scenario.from_dict({**data, "evidence": [*seen, "sequential-read=150MB/s"]}))
    assert {row.kind for row in found.evidence} == {
        "read rate of the source drives", "busy of the source drives", "sequential read of a drive"
    }  # fmt: skip
    assert all(row.expected is not None for row in found.evidence)


def test_a_benchmark_is_compared_with_the_drive_alone() -> None:
    (read, random), left = _compared("sequential-read=150MB/s", "random-read=70", "random-write=900")
    assert read.probe == DriveProbe("sequential-read")
    assert random.probe == DriveProbe("random-read")
    assert random.seen.log == pytest.approx(math.log(70.0))
    assert len(left) == 1


def test_a_random_read_takes_a_seek_and_half_a_turn() -> None:
    from zsim.drives.catalogue import load_drive

    drive = load_drive("st4000vn008").parameters()
    assert 0.5 * drive.revolution_s + 0.005 < random_read_s(drive, 4096) < 0.5 * drive.revolution_s + 0.02


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"layout": "raidz2x6"}, ("size of the drives", "how full", "records")),
        ({"layout": "raidz2x6", "drive_size": "4TB"}, ("how full",)),
    ],
)
def test_what_nothing_bounds_is_said_first(data: dict, words: tuple[str, ...]) -> None:
    found = predict(Scenario.from_dict(data))
    lines = str(found).splitlines()
    assert any(line.startswith("NOT STATED: ") for line in lines[:5])
    assert all(any(word in each for each in found.missing) for word in words)


def test_the_size_of_unnamed_drives_is_varied_and_a_scrub_bounds_it() -> None:
    data = {"layout": "raidz2x6", "fill": "62%"}
    found = predict(Scenario.from_dict(data))
    named = predict(Scenario.from_dict({**data, "drive_size": "4TB"}))
    assert found.resilver_s.p90 / found.resilver_s.p10 > 1.5 * named.resilver_s.p90 / named.resilver_s.p10
    narrow = found.given("scrub=24h").resilver_s
    assert narrow.p90 / narrow.p10 < 0.5 * found.resilver_s.p90 / found.resilver_s.p10
    assert named.missing == ()


def test_an_alloc_beyond_small_drives_means_larger_ones() -> None:
    found = predict(Scenario.from_dict({"layout": "raidz2x8", "alloc": "60T"}))
    assert "(sampled, 10 TB to 24 TB" in found.missing[0]


def test_record_sizes_are_told_as_simulated(plain: Prediction) -> None:
    (record,) = (each for each in plain.assumptions if each.field == "recordsize")
    assert record.sampled == "16K to 1M"
    media = predict(Scenario.from_dict({**BASE, "history": "media-server"}))
    (record,) = (each for each in media.assumptions if each.field == "recordsize")
    assert "media-server" in record.why


def activity(drive: str, leaf: int, **seen: float) -> DriveActivity:
    return DriveActivity(drive=drive, leaf=leaf, role="source", **seen)


@pytest.mark.parametrize(
    ("seen", "factor"),
    [
        # 16 K at random: a disk of 7200 rpm needs 13 ms at most; %util tells what it spends, not the queue.
        ({"reads": 70.0, "busy": 0.95, "service": 0.4, "read_rate": 70 * 16384.0}, None),
        ({"reads": 10.0, "busy": 1.0, "read_rate": 10 * 16384.0}, 0.1 / 0.013),
        # Without %util: what is under way, here more than one all the time, or 0.4 of the time.
        ({"reads": 20.0, "service": 0.3, "read_rate": 20 * 16384.0}, 0.05 / 0.013),
        ({"reads": 2.0, "service": 0.2, "read_rate": 2 * 16384.0}, 0.2 / 0.013),
        ({"reads": 120.0, "service": 0.02, "read_rate": 120 * 1048576.0}, None),
        # Hardly anything to do, or writes: nothing is said.
        ({"reads": 0.2, "busy": 1.0}, None),
        ({"reads": 5.0, "writes": 5.0, "busy": 1.0}, None),
    ],
)
def test_a_drive_is_slower_than_its_model_allows(seen: dict[str, float], factor: float | None) -> None:
    case = case_of(Scenario.from_dict({**BASE, "drive": "generic-7200rpm-cmr"}))
    found = slower_than_model(case, [activity("sdc", 2, **seen)])
    assert [each.factor for each in found] == ([] if factor is None else [pytest.approx(factor, rel=0.15)])


def test_the_answer_names_the_drive_and_the_link_that_the_slow_ones_share() -> None:
    data = {**BASE, "drive": "generic-7200rpm-cmr", "ports": ["port-multiplier-cbs:2,3"]}
    case = case_of(Scenario.from_dict(data))
    slow = {"reads": 20.0, "busy": 1.0, "read_rate": 20 * 131072.0}
    sound = activity("sde", 4, reads=90.0, busy=1.0)
    seen = [activity("sdc", 2, **slow), activity("sdd", 3, **slow), sound]
    stated = case.scenario.model_copy(update={"evidence": tuple(seen)})
    link, first, *_ = notes(replace(case, scenario=stated))
    assert link.startswith("sdc, sdd are slower")
    assert "port-multiplier-cbs" in link
    assert first.startswith("sdc spends 50 ms on a request of 128K, 3.")
    assert "--slow 2:x3." in first
    alone = case.scenario.model_copy(update={"evidence": (seen[0], seen[2])})
    (only,) = notes(replace(case, scenario=alone))
    assert only.startswith("sdc spends")


@pytest.mark.parametrize("fills", [{"fill": 0.5}, {"vdev_fills": [0.4, 0.6]}])
def test_a_special_vdev_that_is_repaired_counts_as_one_of_all(fills: dict[str, object]) -> None:
    asked = case_of(
        Scenario.from_dict(
            {"drive": "st4000vn008", "layout": "2*mirror2+special:mirror2", "replace_in": "special"} | fills
        )
    )
    assert asked.first_vdev_share == pytest.approx(1 / 3)


def test_vdevs_hold_data_in_proportion_to_their_space() -> None:
    def share(layout: str, **fields: object) -> float:
        known = {"drive": "st4000vn008", "layout": layout, "fill": 0.5} | fields
        return case_of(Scenario.from_dict(known)).first_vdev_share

    assert share("3*raidz2x6") == pytest.approx(1 / 3)
    assert share("raidz1x5+mirror2") == pytest.approx(5 / 6, rel=0.01)
    assert share("raidz1x5+mirror2", replace_in=1) == pytest.approx(1 / 6, rel=0.02)


SPECIAL = {"layout": "raidz2x6+special:mirror2", "drive": "generic-7200rpm-cmr", "fill": 0.6}


def test_what_lies_on_special_vdevs_is_compared_with_what_worlds_hold() -> None:
    (found,), left = comparable(case_of(Scenario.from_dict({**SPECIAL, "evidence": "special=70G"})))
    assert found.probe == HeldProbe("special")
    assert (found.kind, found.unit, found.observed) == ("ALLOC of the special vdevs", "B", 70 * 2**30)
    assert left == ()
    stated = {**SPECIAL, "special_small_blocks": "32K", "evidence": "special=70G,alloc=20T"}
    ((sure,), _) = comparable(case_of(Scenario.from_dict(stated)))
    assert sure.probe == HeldProbe("special", 20 * 2**40)
    assert sure.seen.sigma < found.seen.sigma
    _, (other,) = comparable(
        case_of(Scenario.from_dict({**SPECIAL, "layout": "raidz2x6", "evidence": "special=1G"}))
    )
    assert other.why == "the layout has no special vdev"


def test_what_a_special_vdev_holds_tells_what_is_stored() -> None:
    """Next to nothing on it: large records, written once; a resilver of such a pool is quick."""
    own = Scenario.from_dict({**SPECIAL, "drive_size": "8TB", "seed": 3, "memory": "1T"})
    plain = predict(own, portion="row")
    films = predict(own.replace(evidence="special=2.5G"), portion="row")
    files = predict(own.replace(evidence="special=250G"), portion="row")
    assert films.resilver_s.p50 < plain.resilver_s.p50 < files.resilver_s.p50
    for each in (films, files):
        (used,) = each.evidence
        assert used.unit == "B"
        assert used.weight > 0.8
    # Many small blocks leave open whose they are, and how long those take.
    assert films.evidence[0].narrows > 0.05
    assert films.resilver_s.p90 / films.resilver_s.p10 < plain.resilver_s.p90 / plain.resilver_s.p10


def test_a_measurement_of_a_drive_does_not_widen_the_answer(plain: Prediction) -> None:
    """It was taken for the moment that the pace of the pool is looked for, which it does not tell."""
    found = predict(Scenario.from_dict({**BASE, "evidence": "sequential-read=190MB/s"}))
    assert found.resilver_s.p90 / found.resilver_s.p10 < 1.1 * plain.resilver_s.p90 / plain.resilver_s.p10


def test_more_than_any_world_holds_is_said() -> None:
    own = Scenario.from_dict({**SPECIAL, "drive_size": "8TB", "history": "media-server"})
    own = own.replace(special_small_blocks=0, evidence="special=900G")
    (used,) = predict(own, portion="row").evidence
    assert "the ALLOC of the special vdevs is 900G" in used.note
    assert "--special-small-blocks" in used.note


def test_sizes_that_an_import_read_are_echoed_as_a_person_knows_them() -> None:
    read = {"layout": "mirror2", "drive_size": 8001563222016, "alloc": 5981343255100}
    texts = {each.field: each.text for each in stated(Scenario.from_dict(read))}
    assert (texts["drive_size"], texts["alloc"]) == ("8 TB", "5.44T")
    said = {"layout": "mirror2", "drive_size": "18TB", "alloc": "374G", "new_drive_size": "20TiB"}
    texts = {each.field: each.text for each in stated(Scenario.from_dict(said))}
    assert (texts["drive_size"], texts["alloc"], texts["new_drive_size"]) == ("18TB", "374G", "20TiB")


def test_the_size_of_a_scans_requests_is_compared_with_what_the_drives_of_its_role_move() -> None:
    seen = [
        {"what": "drive", "drive": f"sd{n}", "role": "source", "read_request": 3e5, "step": 2.0} for n in "ab"
    ]
    seen.append({"what": "drive", "drive": "sdx", "role": "target", "write_request": 4e5})
    case = case_of(Scenario.from_dict({**BASE, "evidence": seen}))
    compared = {each.kind: each for each in comparable(case)[0]}
    read, write = (
        compared["size of reads of the source drives"],
        compared["size of writes of the replacement drive"],
    )
    assert (read.observed, read.unit, write.observed) == (3e5, "B", 4e5)
    # A mean over rows of powers of two is known no better than these.
    assert read.seen.sigma == pytest.approx(
        math.hypot(write.seen.sigma, math.log(2.0) / math.sqrt(12.0)), rel=0.01
    )
    found = predict(case.scenario).evidence
    (size,) = (each for each in found if each.kind == read.kind)
    assert size.expected_p10 is not None
    assert size.expected_p90 is not None
    assert 4096 < size.expected_p10 < size.expected_p90 < 2 << 20


@pytest.mark.parametrize(
    "scan",
    [
        {"what": "finished", "kind": "scrub", "duration": 1.2e5},
        {"what": "running", "kind": "scrub", "format": "2.2+", "elapsed": 3e4, "scanned": 1e13,
         "issued": 4e12, "total": 1e13},
    ],
)  # fmt: skip
def test_a_scrub_that_filled_a_drive_is_no_scrub_to_compare_with(scan: dict[str, object]) -> None:
    for repaired, compares in ((1e9, True), (1e12, False)):
        case = case_of(Scenario.from_dict({**BASE, "evidence": [{**scan, "processed": repaired}]}))
        compared, left = comparable(case)
        assert (len(compared), len(left)) == ((1, 0) if compares else (0, 1))
        assert compares or "it wrote as well" in left[0].why


def test_a_scan_that_does_not_count_is_told_on_the_first_screen() -> None:
    heal = {"what": "finished", "kind": "heal", "duration": 2500.0, "end": "2023-02-12T06:52:35"}
    said = " ".join(brief_text(predict(Scenario.from_dict({**BASE, "evidence": [heal]}))).split())
    assert "NOT COUNTED: the heal of 12 February 2023: a heal repairs what was written" in said
