"""Running scans as validation cases: reported statuses, sequences of scans, and real OpenZFS runs."""

import json
from pathlib import Path
from statistics import median

import pytest

from zsim.base.errors import InputError
from zsim.validation.api import validate
from zsim.validation.progress.rows import fields_of, layout_of, scans_of
from zsim.validation.progress.runs import (
    Sample,
    attach_s,
    courses_with_scrub,
    facts_of,
    load,
    printed_s,
    progress_file,
    read_progress,
    scrub_of,
    statuses,
    zpool_total,
)
from zsim.validation.progress.runs import fields_of as fields_of_run
from zsim.validation.progress.score import ScoredAnswer, band, scores

HERE = Path(__file__).parents[2] / "validation"
RUN = HERE / "zfs-sorted" / "mirror2-a12-f50-aged"


def row(name):
    lines = (HERE / "running-scans" / "series.jsonl").read_text().splitlines()
    return next(each for each in map(json.loads, lines) if each["id"] == name)


def test_a_row_of_statuses_gives_one_claim_a_status(tmp_path):
    (tmp_path / "s.jsonl").write_text(json.dumps(row("zfs500mirror-2-2024")))
    outcome = validate(paths=[tmp_path])
    assert [claim.claim for claim in outcome.claims] == ["eta[0]"]
    claim = outcome.claims[0]
    assert claim.observed == 4311
    assert claim.p10 < claim.predicted < claim.p90
    assert claim.details["zpool_s"] == 791 + 4986
    assert outcome.summary["running"]["reported statuses, 5 to 20 %"]["answers"] == 1


def test_no_end_of_a_row_enters_its_scenario():
    told = row("rpool-2mirrors-2022")
    assert fields_of(told) == fields_of({**told, "final_duration_s": 1, "final_resilvered_bytes": 2})
    assert [scan.issued for scan in scans_of(told)] == [round(told["statuses"][0]["issued_bytes"])]


@pytest.mark.parametrize(
    ("said", "taken"),
    [(None, "raidz2x6"), ("raidz2", "raidz2x6"), ("single", "mirror2"), ("mirror2 (attach)", "mirror2")],
)
def test_layouts_that_rows_leave_open(said, taken):
    assert layout_of(said) == taken


def test_a_real_run_is_asked_for_its_end_at_five_moments():
    outcome = validate(["mirror2-a12-f50-aged"], [HERE / "zfs-sorted"], eta=True)
    names = [claim.claim for claim in outcome.claims if claim.claim.startswith("eta")]
    assert names == [f"eta@{share}" for share in (0.1, 0.2, 0.35, 0.5, 0.7)]
    late = outcome.claims[4]
    assert abs(late.error) < 0.1


def test_what_a_status_shows_of_unlike_vdevs_is_told():
    def told(name):
        found = fields_of_run(load(HERE / "zfs-more" / name))
        names = ("replace_in", "special_drive_size", "special_small_blocks")
        return [found.get(each) for each in names]

    assert told("special32k-special-s1") == [1, 1 << 30, 32768]
    assert told("special0-data-s1") == [0, 1 << 30, None]
    assert told("mixed0-raidz1x5-mirror2-s1-r5") == [1, None, None]
    assert told("rep-raidz2x6-a12-f50-aged-seed2") == [None, None, None]


def test_a_finished_scrub_lasts_from_its_begin_as_zpool_prints_it():
    path = HERE / "zfs-sorted" / "mirror2-scrub-aged"
    assert scrub_of(RUN, load(RUN)) == path
    bench = load(path)
    # 14.22 s from the command, of which 1.58 s until the first block is visited.
    whole, first = bench.result["model_s"], bench.result["first_visit_s"]
    assert printed_s(path, bench) == pytest.approx(whole - first, abs=0.15)
    assert whole - printed_s(path, bench) > 1.4 * attach_s(bench)


def test_a_scrub_counts_in_its_own_order():
    legacy = RUN.with_name("mirror2-a12-f50-aged-legacy")
    pairs = courses_with_scrub(load(legacy), load(RUN.with_name("mirror2-scrub-aged")))
    assert [run.name for run, _ in pairs] == [scrub.name for _, scrub in pairs]
    # 1.01 times as long as a scrub in the order of the files, 1.3 times as long as a sorted one.
    assert median(run.total_s / scrub.total_s for run, scrub in pairs) > 1.2


def test_only_what_was_there_by_then_is_seen():
    bench, samples = load(RUN), read_progress(progress_file(RUN))
    half = 0.5 * bench.result["model_s"]
    begin, seen = statuses(bench, samples, half)
    assert begin + seen[-1].elapsed <= half
    assert (begin, seen) == statuses(bench, [each for each in samples if each.time <= half], half)
    assert zpool_total(bench, samples, half) < bench.result["model_s"]


def test_eta_needs_runs(tmp_path):
    (tmp_path / "s.jsonl").write_text(json.dumps(row("zfs500mirror-2-2024")))
    with pytest.raises(InputError, match="progress.csv"):
        validate(paths=[tmp_path], eta=True)


def test_an_experiment_counts_once():
    def answer(experiment, predicted):
        return ScoredAnswer(band(0.1), experiment, 100.0, predicted, 50.0, 200.0, 300.0)

    found = scores([*[answer("a", 100.0)] * 9, answer("b", 271.8), answer("c", 271.8)])["5 to 20 %"]
    assert (found.answers, found.experiments) == (11, 3)
    assert found.median == pytest.approx(1.0, rel=1e-3)
    assert found.inside == pytest.approx(1.0)


def test_an_expansion_is_followed_by_what_is_copied():
    bench = load(HERE / "zfs-more" / "expand-raidz1x4-s1")
    # As progress.csv of the run has it: what is copied is counted as examined.
    samples = [
        Sample(1.4, 0, 0, 2035367936, 0),
        Sample(10.5, 447389696, 0, 2035318784, 0),
        Sample(15.0, 1103389696, 0, 2035318784, 0),
    ]
    _, scans = statuses(bench, samples, 16.0)
    assert {(each.kind, each.format) for each in scans} == {("expand", "rebuild")}
    assert [each.issued for each in scans] == [447389696, 1103389696]
    assert not facts_of(bench).sorted


def test_tunables_count_where_they_were_set_before_the_scan_began():
    known = row("off-ovh3-2025-07")
    assert fields_of(known)["tunables"] == {"zfs_resilver_min_time_ms": 15000}
    assert "tunables" not in fields_of(known | {"happened": "zfs_resilver_min_time_ms 15000 on day two"})


def test_a_shingled_leg_is_read_like_any_drive():
    known = row("rpool-2mirrors-2022")
    assert "SMR leg" in known["drive_type"]
    assert fields_of(known)["drive"] == "generic-5400rpm-cmr"
