"""`zsim.risk` and ``zsim risk``: form of the answer, ranges, warnings, words, bad input."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import fields
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.planning.risk import reliability, stated
from zsim.planning.risk.api import risk
from zsim.planning.risk.one_vdev.group import HOUR, YEAR
from zsim.planning.risk.question import RiskInputs
from zsim.planning.risk.records import chance
from zsim.planning.risk.reliability import Spread
from zsim.planning.risk.wording import between, odds, share_words
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.model import Scenario

FIXED = "--hours 24 --afr 5% --correlation 1 --no-latent --detect 0 --years 10"
DAY = 24 * HOUR


def answer_of(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(shlex.split(line)) == 0, capsys.readouterr().err
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def answer(layout: str = "raidz2x6", **inputs: Any) -> Any:
    return risk(Scenario(layout=layout), RiskInputs(**{"hours": DAY, **inputs}))


@pytest.mark.parametrize("method", ["chain", "simulation"])
def test_everything_fixed_is_the_arithmetic_by_hand(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer_of(f"risk --layout raidz1x10 {FIXED} --method {method} --json", capsys)
    rate = -math.log1p(-0.05) / 8766
    window = -math.expm1(-9 * rate * 24)
    years = -math.expm1(-87660 * window / (1 / (10 * rate) + 24))
    assert found["window"]["vdev"]["p"] == pytest.approx(window, rel=2e-3, abs=0)
    assert found["years"]["vdev"]["p"] == pytest.approx(years, rel=5e-3, abs=0)
    assert found["per_year"]["vdev"]["p"] == pytest.approx(years / 10, rel=1e-2, abs=0)
    for period in ("window", "per_year", "years"):
        assert set(found[period]) == {"files", "vdev", "pool"}
        for grade in found[period].values():
            assert set(grade) == {"p", "low", "high"}
            assert 0 < grade["low"] <= grade["p"] <= grade["high"] < 1
        assert found[period]["pool"]["p"] < found[period]["vdev"]["p"] <= found[period]["files"]["p"]
    assert found["inputs"]["stated"]["afr"] == 0.05
    assert found["provenance"]["scenario"] == {"layout": "raidz1x10"}


def test_hours_of_papers(capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--mttf 1000000 --mttr 24 --correlation 1 --no-latent --years 1 --json"
    found = answer_of(f"risk --layout raidz1x8 {flags}", capsys)
    lam, mu = 1e-6, 1 / 24
    mttdl = (mu + 15 * lam) / (56 * lam**2)
    assert found["years"]["vdev"]["p"] == pytest.approx(-math.expm1(-8766 / mttdl), rel=1e-2, abs=0)
    assert found["window"]["vdev"]["p"] == pytest.approx(7 * lam / (7 * lam + mu), rel=1e-5, abs=0)


def test_what_is_unknown_makes_a_range_that_stating_it_narrows() -> None:
    wide, narrow = answer(), answer(afr=0.014, correlation=6, latent_incidence=0.0027, detect=12 * HOUR)
    assert wide.window.vdev.low < wide.window.vdev.p < wide.window.vdev.high
    assert narrow.window.vdev.is_exact
    assert {each.field for each in wide.movers} == {"rate", "correlation", "latent", "delay"}
    assert {each.field for each in wide.assumptions} >= {"afr", "correlation", "scrub", "detect"}
    assert not narrow.movers


def test_the_spread_of_the_hours_counts_because_risk_is_convex_in_them() -> None:
    fixed = {"afr": 0.02, "correlation": 1, "latent": False, "detect": 0.0}

    def mean(p10: float, p90: float) -> float:
        def hours(scenario: Scenario, report: Any) -> Quantiles:
            return Quantiles(p10=p10, p50=DAY, p90=p90)

        found = risk(Scenario(layout="raidz3x9"), RiskInputs(**fixed), hours_of=hours)
        return found.window.vdev.p

    certain, spread = mean(DAY, DAY), mean(DAY / 3, DAY * 3)
    law, steps = Spread(1.0, 1 / 3, 3.0), 2000
    scores = [NormalDist().inv_cdf((step + 0.5) / steps) for step in range(steps)]
    cube = sum(law.at(score) ** 3 for score in scores) / steps
    assert spread == pytest.approx(certain * cube, rel=0.05, abs=0)
    assert spread > 5 * certain


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"scrub": 2 * DAY}, {"scrub": 30 * DAY}),
        ({"scrub": 30 * DAY}, {"scrub": math.inf}),
        ({"scrub": math.inf, "age": 0.0}, {"scrub": math.inf}),
        ({"detect": HOUR}, {"detect": 5 * DAY}),
        ({"spare": "hot"}, {"spare": "order"}),
        ({"age_factor": 1.0}, {"age_factor": 3.0}),
        ({"correlation": 1}, {"correlation": 10}),
        ({"latent": False}, {"latent": True}),
        ({"erc": True}, {"erc": False}),
        ({"stress": 1.0}, {"stress": 3.0}),
        ({"hours": 6 * HOUR}, {"hours": 60 * HOUR}),
        ({"afr": "WUH721816ALE6L4"}, {"afr": "ST12000NM0007"}),
        ({"discipline": "apart"}, {"discipline": "restart"}),
    ],
)
def test_each_input_moves_the_chance_the_right_way(less: dict[str, Any], more: dict[str, Any]) -> None:
    first, second = answer(**less), answer(**more)
    assert first.per_year.files.p < second.per_year.files.p
    assert first.window.files.p < second.window.files.p


def test_latent_errors_never_make_a_vdev_safer() -> None:
    without, few, many = (answer("raidz2x12", **each).window.vdev for each in (
        {"latent": False}, {"latent_incidence": 0.001}, {"latent_incidence": 0.02},
    ))  # fmt: skip
    assert without.p <= few.p <= many.p
    assert without.low <= few.low <= many.low


def test_a_pool_that_is_never_scrubbed_tells_the_age_it_takes() -> None:
    found = answer(scrub=math.inf)
    assert any("2.5 years" in each.text for each in found.assumptions)
    assert not any("2.5 years" in each.text for each in answer(scrub=math.inf, age=YEAR).assumptions)


def test_grades_and_vdevs() -> None:
    fixed = {"afr": 0.02, "correlation": 1, "latent": False, "detect": 0.0}
    one, ten = answer("raidz2x8", **fixed), answer("10*raidz2x8", **fixed)
    assert ten.per_year.vdev.p == pytest.approx(10 * one.per_year.vdev.p, rel=1e-4, abs=0)
    assert ten.window == one.window


def test_a_simulation_of_open_inputs_tells_its_range() -> None:
    solved, drawn = answer("raidz1x6"), answer("raidz1x6", method="simulation")
    assert drawn.per_year.vdev.p == pytest.approx(solved.per_year.vdev.p, rel=0.5, abs=0)
    assert drawn.per_year.vdev.low < drawn.per_year.vdev.p < drawn.per_year.vdev.high


def test_lifetimes_of_another_shape_are_simulated() -> None:
    found = answer("raidz1x6", shape=1.12, age=2 * YEAR, afr=0.02)
    assert found.method == "simulation"
    assert answer("raidz1x6", afr=0.02).method == "chain"


def warned(layout: str, release: str, **more: Any) -> str:
    found = risk(Scenario(layout=layout, release=release, **more), RiskInputs(hours=DAY))
    return " ".join(found.warnings)


@pytest.mark.parametrize(
    ("release", "expected"),
    [("2.2.9", True), ("2.3.6", True), ("2.3.7", False), ("2.1.15", True), ("2.3.9", False)],
)
def test_releases_with_known_repair_bugs_are_named(release: str, expected: bool) -> None:
    assert ("rebuilding a dRAID" in warned("draid2:8d:24c:1s", release)) is expected
    assert "rebuilding a dRAID" not in warned("raidz2x6", release)


def test_old_releases_restart_and_never_end() -> None:
    assert "it restarts" in warned("raidz1x6", "zol-0.7.13")
    assert "it restarts" not in warned("raidz1x6", "openzfs-2.3")
    old = risk(Scenario(layout="raidz2x6", release="zol-0.7.13"), RiskInputs(hours=DAY))
    assert old.inputs["taken"]["discipline"] == "restart"  # type: ignore[index, call-overload]


def test_failures_of_a_named_drive_are_its_models() -> None:
    drive = reliability.model_of_drive("st16000nm001g")
    assert drive == "ST16000NM001G"
    found = risk(Scenario(layout="mirror2", drive="st16000nm001g"), RiskInputs(hours=DAY))
    assert any("ST16000NM001G" in each.text for each in found.assumptions)


def test_every_model_has_a_rate_with_an_interval() -> None:
    for name in reliability.models():
        rate = reliability.model_rate(name)
        assert 0 < rate.low < rate.middle < rate.high < 0.2, name


def test_every_number_of_the_reliability_models_has_unit_source_and_kind() -> None:
    from zsim.base.model_data import SOURCE_KINDS

    def check(data: Any) -> int:
        if isinstance(data, list):
            return sum(check(each) for each in data)
        if not isinstance(data, dict):
            return 0
        if "value" in data:
            assert data["unit"]
            assert data["source"]
            assert data["kind"] in SOURCE_KINDS
            return 1
        return sum(check(each) for each in data.values())

    assert check(reliability.read("assumptions")) > 20
    assert check(reliability.read("drive-failures")) > 60


def test_digits_are_those_the_range_leaves() -> None:
    assert chance(0.123456789, 0.123456789, 0.123456789).p == 0.123457
    assert chance(0.0, 0.0, 1.2345e-6).model_dump() == {"p": 0.0, "low": 0.0, "high": 1.2e-6}
    assert chance(0.000123456, 0.00001, 0.0009).model_dump() == {"p": 0.00012, "low": 1e-05, "high": 0.0009}
    assert chance(0.00123456, 0.0012, 0.00126).p == 0.00123


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.234, "23 %"), (2.5e-4, "1 in 4,000"), (3e-8, "1 in 30 million"), (2e-13, "1 in 5 trillion"),
     (1e-40, "1 in 10^40"), (1e-29, "1 in 10^29"), (9.99e-29, "1 in 10^28"), (0.0, "too small to tell")],
)  # fmt: skip
def test_odds(value: float, words: str) -> None:
    assert odds(value) == words


def test_a_range_in_words() -> None:
    assert between(chance(1e-4, 2e-5, 5e-4)) == "1 in 50,000 to 1 in 2,000"
    assert between(chance(1.2631e-3, 1.2631e-3, 1.2631e-3)) == "1 in 792"
    assert between(chance(0.05, 0.02, 0.25)) == "2 % to 25 %"
    assert between(chance(0.05, 2e-5, 0.25)) == "1 in 50,000 to 25 %"


@pytest.mark.parametrize(
    ("share", "words"), [(0.3, "30 %"), (0.0123, "1.2 %"), (4.8e-4, "1 in 2,000"), (1e-9, "1 in 1 billion")]
)
def test_a_small_share_is_never_zero_percent(share: float, words: str) -> None:
    assert share_words(share) == words


def test_the_expected_loss_is_bytes_of_a_drive_makers_terabyte() -> None:
    fixed = answer("raidz1x10", afr=0.05, correlation=1.0, latent=False, detect=0.0)
    assert fixed.bytes_lost_per_tb_year.p == pytest.approx(6.02e8, rel=2e-3)
    assert "Expected loss: 603 MB a year per TB of data." in str(fixed)
    rare = answer("raidz3x8", hours="36s", afr=1e-4, correlation=1.0, latent=False, detect=0.0)
    assert "Expected loss: less than a byte a year per TB of data." in str(rare)


def test_what_hardly_moves_the_chance_is_no_source_of_uncertainty() -> None:
    found = answer("raidz2x12", afr="ST16000NM001G", spare="hot", hours=30 * HOUR)
    assert any(each.field == "delay" and 0.9 < each.factor < 1.1 for each in found.movers)
    assert "how soon the repair begins" not in str(found)
    assert "how strongly failures are correlated" in str(found)


def test_text_begins_with_the_answer_as_a_range(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("risk --layout raidz2x6 --hours 24")) == 0
    out = capsys.readouterr().out
    first = out.splitlines()[0]
    assert first.startswith("Chance of losing the vdev during this repair: 1 in ")
    assert " to 1 in " in first
    assert not re.search(r"\b0\.0+\b", out)
    for words in (
        "some files lost",
        "vdev suspended",
        "pool lost",
        "within 5 years",
        "redundancy is no backup",
    ):
        assert words in " ".join(out.split())


def test_what_was_stated_is_echoed_in_its_units_and_an_assumed_fill_is_called_so() -> None:
    found = risk({"layout": "raidz1x10"}, RiskInputs(hours=24 * HOUR, afr=0.05, latent=False))
    assert found.stated == ("layout raidz1x10", "repair 24 h", "annual failure rate 5 %", "no latent errors")
    assert f"Stated: {'; '.join(found.stated)}." in " ".join(str(found).split())
    assert "50 % full (assumed)" in found.subject
    assert "(assumed)" not in risk({"layout": "mirror2", "fill": 0.6}, RiskInputs(hours=HOUR)).subject


def test_every_input_about_failures_has_words() -> None:
    assert {each.name for each in fields(RiskInputs)} == {*stated._WORDS, *stated.NOT_TOLD}


def test_files_pictures_and_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored, picture = tmp_path / "risk.json", tmp_path / "risk.svg"
    assert main(shlex.split(f"risk --layout mirror2 --hours 24 -o {stored} --plot {picture}")) == 0
    assert json.loads(stored.read_text(encoding="utf-8"))["method"] == "chain"
    assert picture.stat().st_size > 1000
    rows = answer("mirror2").rows()
    assert len(rows) == 9
    assert set(rows[0]) == {"period", "grade", "p", "low", "high"}
    assert "<table" in answer("mirror2")._repr_html_()
    capsys.readouterr()


def test_the_same_seed_gives_the_same_answer() -> None:
    assert answer(seed=4).to_dict() == answer(seed=4).to_dict()
    assert answer(seed=4).window != answer(seed=5).window


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ("--hours x", "--hours"), ("--afr 120%", "--afr"), ("--afr NOSUCH", "afr"), ("--afr 0", "afr"),
        ("--correlation 0.5", "correlation"), ("--correlation a", "--correlation"), ("--method no", "method"),
        ("--hours 3 --mttr 4", "--mttr"), ("--afr 1% --mttf 4", "--mttf"), ("--scrub 1s", "scrub"),
        ("--detect 3 --spare hot", "--spare"), ("--spare none", "spare"), ("--years 0", "years"),
        ("--shape 1.1 --method chain", "shape"), ("--overlap both", "discipline"), ("--replace 2", "replace"),
        ("--operation expand", "operation"), ("--layout mirror20", "layout"), ("--years 1e999", "years"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(flags: str, field: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(f"risk --layout raidz1x4 {flags} --json")) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"zsim: {field} ")
    assert len(told.err.splitlines()) == 1


def test_the_function_is_public() -> None:
    assert zsim.risk is risk
    with pytest.raises(InputError, match="years"):
        zsim.RiskInputs(years=-1)


@pytest.mark.parametrize("repaired", [{}, {"replace_in": "special"}])
def test_each_kind_of_vdev_is_repaired_in_its_own_time(repaired: dict[str, str]) -> None:
    """A special mirror in minutes: the years ahead are the same, whichever vdev the repair is in."""

    def hours(scenario: Scenario, _report: Any) -> Quantiles:
        return Quantiles(p50=60.0 if scenario.replace_in in ("special", "1") else 40 * HOUR)

    exact = RiskInputs(afr=0.05, correlation=1.0, latent=False, detect=0.0)
    pool = Scenario(layout="raidz1x6+special:mirror2")
    found = risk(pool, exact, hours_of=hours, **repaired)
    alone = risk(Scenario(layout="raidz1x6"), exact, hours_of=hours)
    assert found.per_year.vdev.p == pytest.approx(alone.per_year.vdev.p, rel=1e-3)
    told = [each for each in found.warnings if each.startswith("the vdevs differ")]
    other = "raidz1x6 in 1 d 16 h" if repaired else "special:mirror2 in 1 min"
    assert told == [f"the vdevs differ; the others are repaired as predicted: {other}"]
    stated_ = risk(pool, RiskInputs(afr=0.05, hours="40h"), **repaired)
    assert "the vdevs differ: the stated repair time is used for all" in stated_.warnings


@pytest.mark.parametrize(("word", "days"), [("weekly", 7), ("Monthly", 30), ("daily", 1)])
def test_intervals_of_scrubs_have_names(word: str, days: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer_of(f"risk raidz1x6 --hours 24 --scrub {word} --json", capsys)
    assert found["inputs"]["stated"]["scrub"] == days * DAY
    assert RiskInputs(scrub=word).scrub == days * DAY
    pool = {"layout": "raidz1x6", "hours": 24, "scrub": word}
    assert zsim.Fleet.from_dict({"pool": [pool]}).pool[0].inputs.scrub == days * DAY


def test_drives_that_wear_out_are_told_at_what_rate_they_fail_at_their_age() -> None:
    """A rate of 3 % is the mean over a life of 33 years: drives four years old are far from it."""
    inputs = RiskInputs(hours=DAY, afr=0.03, shape=1.5, age=4 * YEAR, correlation=1.0, latent=False)
    found = risk(Scenario(layout="raidz1x6"), inputs)
    assert any("of drives 4 years old 1.4 % fail in the first year" in each for each in found.warnings)
    new = stated.life_words(RiskInputs(shape=1.5), 0.03 / YEAR, 5.0)
    assert "of drives that are new" in new[0]
    assert stated.life_words(RiskInputs(), 0.03 / YEAR, 5.0) == ()
