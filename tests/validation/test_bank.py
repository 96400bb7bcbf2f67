"""Worlds kept and weighed anew, against drawing from the prior; fits of a set whose answer is known."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.case.worlds import Choice
from zsim.prediction.inputs.ensemble import Unknown, draw_members
from zsim.validation.field_reports import bank as banks_of
from zsim.validation.field_reports.bank import Bank, weighted_quantiles, widened

FIELDS = {"layout": "mirror2", "drive": "hd103uj", "alloc": "100G", "history": "home-nas", "load": []}
DRAWN = (
    Unknown("churn", "frag", "", spread=1.2),
    Unknown("write_cache", "write_cache", "", choices=(Choice(True, 0.5), Choice(False, 0.5))),
)
PRIOR = (
    Unknown("churn", "frag", "", spread=0.5),
    Unknown("write_cache", "write_cache", "", choices=(Choice(True, 0.9), Choice(False, 0.1))),
)


def time_of(churn: float, write_cache: bool) -> float:
    return 3600.0 * churn**0.7 * (1.0 if write_cache else 3.0)


def bank(drawn: tuple[Unknown, ...] = DRAWN, count: int = 4000, case: str = "a") -> Bank:
    members = draw_members(drawn, 1, count)
    times = np.array([time_of(each.churn, bool(each.write_cache)) for each in members])
    return Bank(case, FIELDS, drawn, np.array([each.scores for each in members]), times)


def script() -> ModuleType:
    path = Path(__file__).parents[2] / "validation" / "fit_assumptions.py"
    spec = importlib.util.spec_from_file_location("fit_assumptions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fit_assumptions"] = module
    spec.loader.exec_module(module)
    return module


def test_weighing_gives_what_drawing_from_the_prior_gives() -> None:
    weighed = bank().quantiles(PRIOR)
    drawn = weighted_quantiles(np.log(bank(PRIOR).times), np.full(4000, 1 / 4000))
    assert weighed == pytest.approx(drawn, abs=0.05)


def test_quantiles_of_a_normal_sample_are_its_own_widened_by_the_kernel() -> None:
    logs = np.random.default_rng(4).standard_normal(20_000)
    found = weighted_quantiles(logs, np.full(20_000, 1 / 20_000))
    kernel = 0.9 * 16**-0.2
    assert found == pytest.approx(1.2816 * math.hypot(1.0, kernel) * np.array([-1.0, 0.0, 1.0]), abs=0.05)


def test_weights_sum_to_one_and_follow_the_shares() -> None:
    weights = bank().weights(PRIOR)
    assert weights.sum() == pytest.approx(1.0)
    on = bank().scores[:, 1] < 0.0
    assert weights[on].sum() == pytest.approx(0.9, abs=0.02)


def test_a_prior_of_other_values_needs_another_bank() -> None:
    loads = Unknown("load", "load", "", choices=(Choice(0.0, 1.0),))
    with pytest.raises(InputError, match="simulate it anew"):
        bank().weights((*PRIOR, loads))
    other = replace(DRAWN[1], choices=(Choice(True, 1.0),))
    with pytest.raises(InputError, match="other values"):
        bank((DRAWN[0], other)).weights(PRIOR)


def test_draws_are_wider_than_the_prior_and_have_every_choice() -> None:
    assert widened(Unknown("churn", "frag", "", spread=0.5)).spread > 1.0
    assert widened(Unknown("seek", "drive", "", spread=0.1)).spread == 0.1
    shares = [each.share for each in widened(PRIOR[1]).choices]
    assert sum(shares) == pytest.approx(1.0)
    assert min(shares) > 0.3


def test_a_simulated_bank_comes_back_from_its_file(tmp_path: Path) -> None:
    made = banks_of.simulate("row", FIELDS, answer=lambda fields: 7200.0, members=3, blocks=600)
    path = tmp_path / "bank.jsonl"
    banks_of.save([made], path)
    (again,) = banks_of.load(path)
    assert again.case == "row"
    assert again.drawn == made.drawn
    assert again.times == pytest.approx(made.times)
    assert math.exp(again.quantiles(banks_of.prior_of(again))[1]) == pytest.approx(7200.0)
    assert banks_of.load(tmp_path / "none.jsonl") == ()
    path.write_text("{}\n")
    with pytest.raises(InputError, match="line 1 is no bank"):
        banks_of.load(path)


class Told:
    """A prior that a fit may find: the spread of the ageing."""

    CHURN = 0.5


def rows(module: ModuleType, true_spread: float, count: int = 160) -> list[Any]:
    """Return rows observed in worlds whose ageing has the spread told."""
    generator = np.random.default_rng(5)
    made = bank(count=250)
    found = []
    for number in range(count):
        observed = time_of(math.exp(true_spread * generator.standard_normal()), generator.random() < 0.9)
        case = module.ValidationCase(
            name=f"row-{number}", kind="observed", format="observed", path=Path("x"), observed=observed
        )
        found.append(module.Row(case, made, None))
    return found


@pytest.mark.parametrize("true_spread", [0.2, 1.0])
def test_the_fit_finds_the_spread_of_a_small_synthetic_set(
    monkeypatch: pytest.MonkeyPatch, true_spread: float
) -> None:
    module = script()

    def prior(made: Bank, resolved: object) -> tuple[Unknown, ...]:
        del made, resolved
        return replace(PRIOR[0], spread=Told.CHURN), PRIOR[1]

    monkeypatch.setattr(module.banks_of, "prior_of", prior)
    assumption = module.Assumption("CHURN", Told, (0.2, 0.5, 1.0), "spread of the ageing")
    lines = module.table(assumption, rows(module, true_spread))
    assert f"takes {true_spread:.2f} 160 times" in lines[-1]
    (decided,) = [line for line in lines if line.endswith("decided")]
    assert decided.split()[0] == f"{true_spread:.2f}"


def test_pinball_loss_is_least_at_the_true_quantiles() -> None:
    module = script()
    sample = np.random.default_rng(2).standard_normal(4000)
    true = np.array([-1.2816, 0.0, 1.2816])

    def loss(quantiles: np.ndarray) -> float:
        return float(np.mean([module.pinball(quantiles - each) for each in sample]))

    assert loss(true) < min(loss(true * 0.5), loss(true * 2.0), loss(true + 0.5))


def test_a_chart_is_thinned_and_other_rows_are_not() -> None:
    module = script()

    def case(name: str, experiment: str | None) -> Any:
        return module.ValidationCase(
            name=name, kind="observed", format="observed", path=Path("x"), experiment=experiment
        )

    cases = [case(f"c{n}", "chart") for n in range(32)] + [case("alone", None)]
    assert [each.name for each in module.thinned(cases)] == ["c2", "c14", "c26", "alone"]


def test_rows_are_simulated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = script()
    row = {
        "id": "someone", "kind": "resilver", "vdev": "mirror2", "drive_model": "HD103UJ",
        "alloc_bytes": 10**11, "duration_s": 3600, "zfs_version": "2.1", "notes": "home server",
        "concurrent_load": "none", "confidence": "high",
    }  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    monkeypatch.setattr(module, "answer_of", lambda fields: 4000.0)
    monkeypatch.setattr(banks_of, "BLOCKS", 600)
    said: list[str] = []
    for _ in range(2):
        (found,) = module.rows_of(tmp_path / "rows.jsonl", tmp_path / "bank.jsonl", 2, said.append)
    assert said == ["someone: simulating 2 worlds"]
    assert found.off()[1] == pytest.approx(math.log(4000 / 3600))
