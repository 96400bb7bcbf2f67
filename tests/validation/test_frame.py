"""Cases are found, named, run and judged as `zsim validate` promises."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from zsim.base.errors import InputError
from zsim.validation import api, discovery, running
from zsim.validation.frame import Claim, Options, ValidationCase, judge, ordered, refused
from zsim.validation.report import scores, wording

VECTORS = "raidz_map_vectors.csv.gz"


def packaged() -> Path:
    from zsim.base.model_data import validation_directory

    return validation_directory() / "geometry"


def make_run(directory: Path, text: str = "{}") -> Path:
    """Make something that looks like a ZFS run."""
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(text)
    (directory / "bps.csv.zst").write_bytes(b"")
    return directory


def case(**changes: object) -> ValidationCase:
    values: dict[str, object] = {
        "name": "x",
        "kind": "test",
        "format": "geometry",
        "path": Path("x"),
        **changes,
    }
    return ValidationCase(**values)  # type: ignore[arg-type]


def time_claim(name: str, observed: float, predicted: float | None, **changes: object) -> Claim:
    made = case(
        name=name, kind="observed", **{k: v for k, v in changes.items() if k in ("experiment", "category")}
    )
    rest = {k: v for k, v in changes.items() if k not in ("experiment", "category")}
    return judge(made, "time", observed, predicted, 0.3, unit="s", **rest)  # type: ignore[arg-type]


# --- judging


@pytest.mark.parametrize(
    ("observed", "predicted", "tolerance", "verdict", "error"),
    [
        (100.0, 110.0, 0.1001, "pass", 0.1),
        (100.0, 89.0, 0.1, "fail", -0.11),
        (100.0, None, 0.1, "fail", None),
        (100.0, 300.0, None, "info", 2.0),
        (None, 5.0, None, "info", None),
        (0.0, 0.0, 0.1, "pass", None),
        (0.0, 1.0, 0.1, "fail", None),
        (100.0, math.nan, 0.1, "fail", None),
    ],
)
def test_verdict_follows_error_and_tolerance(
    observed: float | None,
    predicted: float | None,
    tolerance: float | None,
    verdict: str,
    error: float | None,
) -> None:
    made = judge(case(), "time", observed, predicted, tolerance)
    assert made.verdict == verdict
    assert made.error == (None if error is None else pytest.approx(error))


def test_order_is_judged_exactly() -> None:
    assert ordered(case(), "a before b", True).verdict == "pass"
    assert ordered(case(), "a before b", False).verdict == "fail"
    assert ordered(case(), "a before b", None).verdict == "fail"


def test_refused_case_fails_even_without_tolerance() -> None:
    made = refused(case(observed=7.0, unit="s"), "no mechanism")
    assert (made.claim, made.observed, made.predicted, made.verdict) == ("time", 7.0, None, "fail")


def test_json_has_every_key_and_class_only_where_known() -> None:
    plain = judge(case(), "time", 1.0, 1.0, 0.1).to_dict()
    keys = "case kind claim observed predicted p10 p90 error tolerance verdict reason"
    assert list(plain)[:11] == keys.split()
    assert "class" not in plain
    classed = judge(
        case(experiment="e", category="legacy"), "time", 1.0, 1.0, details={"rule": 2.0}
    ).to_dict()
    assert (classed["experiment"], classed["class"], classed["rule"]) == ("e", "legacy", 2.0)


# --- finding


def test_one_file_a_folder_and_a_parent_give_the_same_cases(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make_run(tmp_path / "set" / "runs" / name)
    folders = [tmp_path, tmp_path / "set", tmp_path / "set" / "runs"]
    assert [[c.path.name for c in discovery.discover([folder])] for folder in folders] == [["a", "b"]] * 3
    single = [tmp_path / "set" / "runs" / "a", tmp_path / "set" / "runs" / "a" / "config.json"]
    assert [len(discovery.discover([path])) for path in single] == [1, 1]
    assert len(discovery.discover([packaged() / VECTORS])) == 1


def test_overlapping_paths_give_each_case_once() -> None:
    both = discovery.discover([packaged(), packaged().parent])
    assert sum(each.path.name == VECTORS for each in both) == 1


def test_names_that_collide_get_the_folder_that_tells_them_apart(tmp_path: Path) -> None:
    paths = [tmp_path / family / "runs" / "same" for family in ("old", "new")]
    cases = [case(name="same", path=path) for path in paths] + [case(name="lone", path=tmp_path / "lone")]
    assert [each.name for each in discovery.uniquely_named(cases)] == ["old/same", "new/same", "lone"]


def test_rows_with_one_name_in_one_file_are_numbered(tmp_path: Path) -> None:
    cases = [case(name="row", path=tmp_path / "rows.jsonl", key=str(index)) for index in range(3)]
    names = [each.name for each in discovery.uniquely_named(cases)]
    assert len(set(names)) == 3
    assert names[1] == names[0] + "#2"


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("x")])
def test_path_without_a_case_is_bad_input(tmp_path: Path, make: object) -> None:
    path = tmp_path / "nothing"
    make(path)  # type: ignore[operator]
    with pytest.raises(InputError, match="holds none of"):
        discovery.discover([path])


def test_missing_path_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        discovery.discover([tmp_path / "gone"])


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(discovery.discover([tmp_path])) == 1


def test_names_select_by_pattern_and_refuse_with_the_nearest() -> None:
    cases = discovery.discover([packaged()])
    assert [each.name for each in discovery.selected(cases, ["raidz*"])] == ["raidz_map_vectors"]
    with pytest.raises(InputError, match="raidz_map_vectors"):
        discovery.selected(cases, ["raidz_map_vector"])


# --- running


def test_packaged_geometry_is_exact() -> None:
    outcome = api.validate(paths=[packaged()])
    assert outcome.passed
    assert {claim.case: claim.predicted for claim in outcome.claims} == {
        "draid_map_vectors": 1200.0,
        "raidz_map_vectors": 3000.0,
    }


def test_unreadable_case_fails_with_the_reason_and_the_rest_still_run(tmp_path: Path) -> None:
    (tmp_path / VECTORS).write_bytes((packaged() / VECTORS).read_bytes())
    (tmp_path / "broken_map_vectors.csv.gz").write_bytes((packaged() / VECTORS).read_bytes()[:5000])
    outcome = api.validate(paths=[tmp_path])
    verdicts = {claim.case: claim.verdict for claim in outcome.claims}
    assert verdicts == {"broken_map_vectors": "fail", "raidz_map_vectors": "pass"}
    assert "damaged or cut" in outcome.claims[0].reason


def test_source_that_cannot_be_listed_is_one_failing_case(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "case.toml").write_text("title = ")
    outcome = api.validate(paths=[tmp_path])
    assert [(claim.case, claim.verdict) for claim in outcome.claims] == [("broken", "fail")]
    assert "TOML" in outcome.claims[0].reason


def test_a_format_that_crashes_fails_its_case_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: ValidationCase, __: Options) -> list[Claim]:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("zsim.validation.formats.geometry.run", crash)
    made = running.run_case(case(observed=3.0), Options())
    assert [(claim.verdict, claim.reason) for claim in made] == [("fail", "ZeroDivisionError: oops")]


def test_a_case_with_a_duration_always_gets_exactly_one_time() -> None:
    other = judge(case(), "reads", 1.0, 1.0, 0.1)
    made = running.complete(case(observed=3.0), [other])
    assert [claim.claim for claim in made] == ["time", "reads"]
    assert made[0].verdict == "fail"
    twice = [judge(case(), "time", 1.0, 1.0, 0.1)] * 2
    assert [claim.verdict for claim in running.complete(case(), twice)] == ["fail"]


def test_processes_give_what_one_gives() -> None:
    cases = discovery.discover([packaged()])
    assert running.run_cases(cases, Options(), jobs=10**30) == running.run_cases(cases, Options(), jobs=1)


def test_progress_is_told() -> None:
    told: list[tuple[float, str]] = []
    api.validate(paths=[packaged()], on_progress=lambda share, words: told.append((share, words)))
    assert told == [(0.5, "draid_map_vectors"), (1.0, "raidz_map_vectors")]


def test_jobs_below_one_are_refused() -> None:
    with pytest.raises(InputError, match="jobs"):
        api.validate(paths=[packaged()], jobs=0)


# --- scores


def test_each_experiment_counts_once() -> None:
    many = [time_claim(f"m{i}", 100, 200, experiment="chart") for i in range(9)]
    few = [time_claim("a", 100, 110), time_claim("b", 100, 120)]
    assert scores.scores([*many, *few])["median_error"] == pytest.approx(0.2)


def test_median_error_is_symmetric_in_the_ratio() -> None:
    pair = [time_claim("a", 100, 50), time_claim("b", 50, 100), time_claim("c", 10, 20)]
    assert scores.scores(pair)["median_error"] == pytest.approx(1.0)


def test_coverage_has_its_interval() -> None:
    rows = [time_claim(f"r{i}", 100, 100, p10=90, p90=110 if i else 95) for i in range(10)]
    found = scores.scores(rows)
    assert found["coverage"] == pytest.approx(0.9)
    assert found["coverage_low"] == pytest.approx(0.596, abs=1e-3)
    assert found["coverage_high"] == pytest.approx(0.982, abs=1e-3)


def test_rules_of_thumb_are_scored_on_the_same_rows() -> None:
    rows = [
        time_claim("a", 100, 120, category="legacy", details={"rule_average_rate": 50.0}),
        time_claim("b", 100, 900, category="sorted"),
    ]
    summary = scores.summarise(rows)
    rule = summary["rules_of_thumb"]["average_rate"]
    assert rule["scored"] == 1
    assert rule["median_error"] == pytest.approx(1.0)
    assert rule["median_error_of_predictions_on_the_same"] == pytest.approx(0.2)
    assert set(summary["classes"]) == {"observed: legacy", "observed: sorted"}


def test_rows_that_state_the_drive_and_halves_of_the_experiments_are_scored_apart() -> None:
    rows = [
        time_claim("a", 100, 110, details={"stated": 1.0}, category="legacy", experiment="one"),
        time_claim("b", 100, 110, details={"stated": 1.0}, category="legacy", experiment="one"),
        time_claim("c", 100, 400, details={"stated": 0.0}, category="sorted"),
    ]
    summary = scores.summarise(rows)
    assert summary["stated"]["scored"] == 2
    assert summary["stated"]["experiments"] == 1
    assert summary["stated"]["median_error"] == pytest.approx(0.1)
    assert summary["experiments"] == 2
    assert sum(half["scored"] for half in summary["halves"].values()) == 3
    assert scores.half_of(rows[0]) == scores.half_of(rows[1])
    grid = wording.classes_grid(summary)
    assert any(row[0] == "observed, drive, layout and data stated" and row[3] == "1" for row in grid.rows)
    assert any("state drive, layout and data" in line for line in wording.score_sentences(summary))


def test_summary_counts_and_worst_case() -> None:
    rows = [time_claim("a", 100, 120), time_claim("b", 100, 50), time_claim("c", 100, None)]
    summary = scores.summarise(rows)
    assert (summary["cases"], summary["pass"], summary["fail"], summary["info"]) == (3, 1, 2, 0)
    assert summary["kinds"]["observed: time"]["worst_case"] == "b"
    json.dumps(summary, allow_nan=False)


def test_nothing_scored_is_none() -> None:
    assert scores.summarise([])["median_error"] is None


def test_a_single_file_of_vectors_is_that_set_alone(tmp_path: Path) -> None:
    (tmp_path / "drives").mkdir()
    (tmp_path / "vectors").mkdir()
    for name in ("slow.qd1.mix", "slow.qd1.mix2", "fast.qd1.mix"):
        (tmp_path / "vectors" / f"{name}.csv.zst").write_bytes(b"")
    found = discovery.discover([tmp_path / "vectors" / "slow.qd1.mix.csv.zst"])
    assert [each.name for each in found] == ["slow.qd1.mix"]
    assert len(discovery.discover([tmp_path])) == 3
