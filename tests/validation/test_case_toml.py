"""``case.toml``: reading, units, ranges, ratios, orders, and what cannot be predicted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.validation.formats import case_toml
from zsim.validation.frame import Claim, Options
from zsim.validation.predicting import follow_plan
from zsim.validation.quantities import quantity_of

HEAD = """
title = "A test"
kind = "seed"
[provenance]
source = "made up"
[scenario]
layout = "raidz2x6"
fill = 0.5
[scenarios.slow]
fill = 0.9
"""


def prediction(seconds: float) -> dict[str, Any]:
    return {
        "resilver_s": {"p10": 0.8 * seconds, "p50": seconds, "p90": 1.2 * seconds},
        "written_bytes": 1000,
        "phases": [{"name": "repair", "duration_s": 0.5 * seconds}, {"name": "repair", "duration_s": 1.0}],
        "leaves": [
            {"role": "target", "name": "new", "count": 1, "iops": 170.0},
            {"role": "source", "name": "old", "count": 2, "iops": 100.0},
            {"role": "source", "name": "far", "count": 1, "iops": 40.0},
        ],
        "progress": [
            {"time_s": 0.0, "scanned_bytes": 0},
            {"time_s": 7200.0, "scanned_bytes": 100},
            {"time_s": 9000.0, "scanned_bytes": None},
        ],
        "clients": [{"kind": "random-read", "rate": 40.0, "during": {"p99": 0.3}}],
    }


def fake(fields: Mapping[str, Any], _: Options) -> Mapping[str, Any]:
    """Predict 1000 s for every tenth of fill."""
    if fields["layout"].startswith("draid"):
        raise NotSimulatedYet("layout", fields["layout"], "dRAID is not there", "ask again")
    return prediction(10_000.0 * fields["fill"])


def claims(directory: Path, text: str, predictor: Any = fake) -> dict[str, Claim]:
    directory.mkdir(exist_ok=True)
    (directory / "case.toml").write_text(HEAD + text)
    (case,) = case_toml.discover(directory)
    found = case_toml.claims_of(case, case_toml.read(directory), predictor, Options())
    return {claim.claim: claim for claim in found}


def test_time_in_words_is_compared_in_seconds(tmp_path: Path) -> None:
    made = claims(tmp_path / "one", '[[claims]]\nname = "time"\nobserved = "1h30m"\ntolerance = 0.15\n')[
        "time"
    ]
    assert (made.case, made.observed, made.predicted, made.unit) == ("one", 5400.0, 5000.0, "s")
    assert (made.verdict, made.p10, made.p90) == ("pass", 4000.0, 6000.0)


def test_discovery_knows_the_duration_without_simulating(tmp_path: Path) -> None:
    text = (
        '[[claims]]\nname = "a"\nobserved = 1\n[[claims]]\nname = "time"\nobserved = "2h"\ntolerance = 0.1\n'
    )
    (tmp_path / "case.toml").write_text(HEAD + text)
    (case,) = case_toml.discover(tmp_path)
    assert (case.claim, case.observed, case.tolerance, case.kind) == ("time", 7200.0, 0.1, "seed")


def test_range_widens_the_tolerance_by_its_half(tmp_path: Path) -> None:
    text = """
    [[claims]]
    name = "writes"
    quantity = "leaves[target].iops"
    observed = [170, 210]
    unit = "1/s"
    tolerance = 0.05
    """
    made = claims(tmp_path, text)["writes"]
    assert made.observed == 190.0
    assert made.tolerance == pytest.approx(0.05 + 20 / 190)
    assert made.verdict == "pass"


def test_rates_as_zpool_prints_them_and_tolerances_in_percent(tmp_path: Path) -> None:
    text = """
    [[claims]]
    name = "zpool"
    quantity = "written_bytes"
    observed = "100M/s"
    unit = "B/s"
    tolerance = "30%"
    [[claims]]
    name = "drive"
    quantity = "written_bytes"
    observed = "100MB/s"
    unit = "B/s"
    """
    made = claims(tmp_path, text)
    assert made["zpool"].observed == 100 * 2**20
    assert made["drive"].observed == 100e6
    assert made["zpool"].tolerance == 0.3


@pytest.mark.parametrize(
    ("quantity", "words"),
    [
        ("leaves[taget].iops", "its drives are source, target"),
        ("phases[visit].duration_s", "its phases are repair"),
        ("clients[backup].rate", "its clients are random-read"),
        ("progress@3h.scanned_bytes", "it ends after 2 h 30 min"),
    ],
)
def test_what_a_prediction_lacks_is_said_with_what_it_has(tmp_path: Path, quantity: str, words: str) -> None:
    made = claims(tmp_path, f'[[claims]]\nname = "a"\nobserved = 1\nquantity = "{quantity}"\n')["a"]
    assert words in made.reason


def test_ratio_and_order_between_scenarios(tmp_path: Path) -> None:
    text = """
    [[claims]]
    name = "slower by"
    observed = 1.8
    ratio = ["slow", "main"]
    tolerance = 0.01
    [[claims]]
    name = "grows with fill"
    order = ["main", "slow"]
    [[claims]]
    name = "falls with fill"
    order = ["slow", "main"]
    """
    made = claims(tmp_path, text)
    assert made["slower by"].predicted == pytest.approx(1.8)
    assert {name: claim.verdict for name, claim in made.items()} == {
        "slower by": "pass",
        "grows with fill": "pass",
        "falls with fill": "fail",
    }
    assert "main 5000, slow 9000" in made["grows with fill"].reason


def test_what_is_not_simulated_fails_with_a_tolerance_and_informs_without(tmp_path: Path) -> None:
    text = """
    [[claims]]
    name = "time"
    observed = "5h"
    not_simulated = "no throttle yet"
    [[claims]]
    name = "rate"
    observed = "10 MB/s"
    unit = "B/s"
    not_simulated = "no throttle yet"
    [[claims]]
    name = "queue"
    observed = 3
    unit = "1"
    tolerance = 0.5
    scenario = "wide"
    [scenarios.wide]
    layout = "draid2:8d:41c:2s"
    """
    made = claims(tmp_path, text)
    assert {name: claim.verdict for name, claim in made.items()} == {
        "time": "fail",
        "rate": "info",
        "queue": "fail",
    }
    assert made["time"].predicted is None
    assert "not simulated yet" in made["queue"].reason


def test_a_scenario_is_predicted_once(tmp_path: Path) -> None:
    asked: list[Mapping[str, Any]] = []

    def counting(fields: Mapping[str, Any], options: Options) -> Mapping[str, Any]:
        asked.append(fields)
        return fake(fields, options)

    claims(
        tmp_path, '[[claims]]\nname = "time"\nobserved = 1\n[[claims]]\nname = "b"\nobserved = 1\n', counting
    )
    assert asked == [{"layout": "raidz2x6", "fill": 0.5}]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('[[claims]]\nname = "time"\n', "says what was observed"),
        ('[[claims]]\nname = "time"\nobserved = 1\ncolour = 2\n', r"claims\.0\.colour"),
        ('[[claims]]\nname = "a"\nobserved = 1\nscenario = "fast"\n', "not there: 'fast'"),
        ('[[claims]]\nname = "a"\nobserved = 1\n[[claims]]\nname = "a"\nobserved = 1\n', "must differ"),
        ('[[claims]]\nname = "a"\nobserved = "3 apples"\n', "duration"),
        ('[[claims]]\nname = "a"\nobserved = "3 apples"\nunit = "apples"\n', "'apples' is not known"),
        ("", "claims"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        claims(tmp_path, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("resilver_s.p50", 100.0),
        ("written_bytes / resilver_s.p50", 10.0),
        ("leaves[source].iops", 80.0),
        ("leaves[far].iops", 40.0),
        ("leaves[far].iops / leaves[old].iops", 0.4),
        ("progress@1h.scanned_bytes", 50.0),
        ("progress@3h.scanned_bytes", None),
        ("leaves[spare].iops", None),
        ("phases[repair].duration_s", 51.0),
        ("phases[metadata scan].duration_s", None),
        ("bottleneck.utilisation", None),
        ("clients[random-read].during.p99", 0.3),
        ("clients[random-read].rate", 40.0),
        ("clients[sync-write].rate", None),
        ("resilver_s", None),
    ],
)
def test_quantities(expression: str, expected: float | None) -> None:
    assert quantity_of(prediction(100.0), expression) == expected


@pytest.mark.parametrize("expression", ["a / b / c", "leaves[", "", "resilver_s..p50"])
def test_what_is_no_quantity_is_refused(expression: str) -> None:
    with pytest.raises(InputError, match="quantity"):
        quantity_of(prediction(100.0), expression)


def packaged_directories() -> list[Path]:
    from zsim.base.model_data import validation_directory

    return sorted(path.parent for path in validation_directory().glob("*/case.toml"))


@pytest.mark.parametrize("directory", packaged_directories(), ids=lambda path: path.name)
def test_packaged_cases_read_and_state_scenarios(directory: Path) -> None:
    from zsim.scenario.model import Scenario

    file = case_toml.read(directory)
    assert file.provenance.source
    for name in (case_toml.MAIN, *file.scenarios):
        Scenario.from_dict(file.fields(name))
    for entry in file.claims:
        entry.seen()
        quantity_of(prediction(100_000.0), entry.quantity)


def test_the_first_real_case_is_there_with_its_duration() -> None:
    directory = next(path for path in packaged_directories() if path.name == "n36l-raidz2x5")
    (case,) = case_toml.discover(directory)
    assert (case.claim, case.observed, case.tolerance) == ("time", 60_900.0, 0.15)


def test_a_fault_of_one_prediction_leaves_the_other_claims(tmp_path: Path) -> None:
    def faulty(fields: Mapping[str, Any], options: Options) -> Mapping[str, Any]:
        if fields["fill"] > 0.8:
            raise ZeroDivisionError("oops")
        return fake(fields, options)

    text = '[[claims]]\nname = "time"\nobserved = 5000\n'
    text += '[[claims]]\nname = "b"\nobserved = 1\nscenario = "slow"\n'
    made = claims(tmp_path, text, faulty)
    assert made["time"].predicted == 5000.0
    assert made["b"].reason == "ZeroDivisionError: oops"


PLAN = """
[timelines.restarted]
scenario = { release = "zol-0.7" }
events = [{ do = "replace", drive = 0 }, { do = "replace", drive = 1, at = "50%" }]
"""


def story_claims(directory: Path, text: str) -> tuple[dict[str, Claim], list[Mapping[str, Any]]]:
    asked: list[Mapping[str, Any]] = []

    def teller(plan: Mapping[str, Any], _: Options) -> Mapping[str, Any]:
        asked.append(plan)
        passes = [
            {"kind": "resilver", "begins_s": 0.0, "duration_s": 100.0, "ends_s": {"p50": 100.0}},
            {"kind": "resilver", "begins_s": 100.0, "duration_s": 200.0, "ends_s": {"p50": 300.0}},
            {"kind": "scrub", "begins_s": 300.0, "duration_s": None, "ends_s": {"p50": None}},
        ]
        return {"passes": passes, "whole_s": {"p10": 250.0, "p50": 300.0, "p90": 400.0}, "redone_bytes": 50}

    (directory / "case.toml").write_text(HEAD + PLAN + text)
    (case,) = case_toml.discover(directory)
    found = case_toml.claims_of(case, case_toml.read(directory), fake, Options(), teller)
    return {claim.claim: claim for claim in found}, asked


def test_claims_about_a_timeline(tmp_path: Path) -> None:
    wanted = {
        "whole": ("whole_s.p50", 300),
        "lost": ("passes[1].duration_s", 100),
        "second": ("passes[2].begins_s", 100),
        "resilvers": ("passes[resilver].count", 2),
        "rebuilds": ("passes[rebuild].count", 0),
        "redone": ("redone_bytes", 50),
    }
    text = "".join(
        f'[[claims]]\nname = "{name}"\nquantity = "{quantity}"\nobserved = {seen}\nunit = "1"\n'
        'tolerance = 0\nscenario = "restarted"\n'
        for name, (quantity, seen) in wanted.items()
    )
    made, asked = story_claims(tmp_path, text)
    assert {name: claim.verdict for name, claim in made.items()} == dict.fromkeys(wanted, "pass")
    assert (made["whole"].p10, made["whole"].p90) == (250.0, 400.0)
    (plan,) = asked
    assert plan["scenario"] == {"layout": "raidz2x6", "fill": 0.5, "release": "zol-0.7"}
    assert len(plan["events"]) == 2


def test_a_pass_that_a_timeline_does_not_have(tmp_path: Path) -> None:
    text = (
        '[[claims]]\nname = "fourth"\nquantity = "passes[4].duration_s"\nobserved = 1\n'
        'tolerance = 0\nscenario = "restarted"\n'
    )
    claim = story_claims(tmp_path, text)[0]["fourth"]
    assert claim.verdict == "fail"
    assert "its passes are resilver, resilver, scrub" in claim.reason


def test_a_timeline_has_a_name_of_its_own(tmp_path: Path) -> None:
    text = HEAD + PLAN.replace("restarted", "slow") + '[[claims]]\nname = "time"\nobserved = 1\n'
    (tmp_path / "case.toml").write_text(text)
    with pytest.raises(InputError, match="a timeline and a scenario have the same name: 'slow'"):
        case_toml.read(tmp_path)


def test_a_plan_of_a_case_is_followed() -> None:
    """The rule of 0.7 begins again where that of 2.1 defers; passes are those of the simulation."""
    plan = {
        "scenario": {"layout": "mirror3", "drive_size": "500GB", "alloc": "1G", "history": "media-server",
                     "recordsize": "1M", "drive": "hd103uj"},
        "events": [{"do": "replace", "drive": 0}, {"do": "replace", "drive": 1, "at": "50%"}],
    }  # fmt: skip
    lengths = {}
    for release in ("zol-0.7", "openzfs-2.1"):
        found = follow_plan({**plan, "scenario": {**plan["scenario"], "release": release}}, Options())
        assert quantity_of(found, "passes[resilver].count") == 2
        lengths[release] = [quantity_of(found, f"passes[{n}].duration_s") for n in (1, 2)]
        assert (quantity_of(found, "redone_bytes") == 0) == (release == "openzfs-2.1")
    first, second = lengths["zol-0.7"]
    assert first is not None
    assert second is not None
    assert first < 0.8 * second
