"""A drive that is fitted to its own measurements is found again."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.drives.catalogue import load_drive
from zsim.drives.derived import sequential_rate, sequential_rates
from zsim.drives.models.files import drive_text, save_drive
from zsim.observe.drives import fit
from zsim.observe.drives.fit import Measurement, fit_drive, predict

BASE = load_drive("generic-7200rpm-cmr")
TRUTH = {"outer_rate": 1.2, "inner_ratio": 0.9, "seek": 1.3, "overhead": 1.0}


def measured(kinds, noise=0.01):
    random = np.random.default_rng(5)
    wanted = (
        [Measurement("sequential", 1.0, x, 0.001) for x in np.linspace(0, 0.99, 12)] if "s" in kinds else []
    )
    if "r" in kinds:
        wanted += [
            Measurement("random", 1.0, 0.0, span, 4096, depth) for span in (0.1, 1.0) for depth in (1, 8)
        ]
    parameters = BASE.parameters(**TRUTH)
    return [
        Measurement(
            w.kind, predict(parameters, w) * float(random.normal(1, noise)), w.start, w.span, w.size, w.depth
        )
        for w in wanted
    ]


def test_all_factors_are_found_again_from_rates_and_random_reads():
    fit = fit_drive(BASE, measured("sr"))
    found = {factor.name: factor for factor in fit.factors}
    for name in ("outer_rate", "inner_ratio", "seek"):
        assert found[name].value == pytest.approx(TRUTH[name], abs=3 * found[name].standard_error + 0.02)
        assert found[name].identified
    assert not found["overhead"].identified
    assert fit.residual < 0.03
    assert fit.condition < 1e3


def test_samples_that_say_nothing_about_seeks_leave_them_alone():
    fit = fit_drive(BASE, measured("s"))
    assert {factor.name for factor in fit.factors if factor.identified} == {"outer_rate", "inner_ratio"}
    assert fit.drive.quantities["seek_average"] == BASE.quantities["seek_average"]
    assert fit.drive.quantities["outer_rate"].kind == "fitted"
    assert fit.drive.quantities["outer_rate"].uncertainty < 0.05


def test_one_sample_identifies_one_factor():
    fit = fit_drive(BASE, [Measurement("sequential", 150e6, 0.0, 0.001)])
    assert [factor.name for factor in fit.factors if factor.identified] == ["outer_rate"]
    assert fit.predicted[0] == pytest.approx(150e6, rel=0.02)


def test_a_fitted_drive_is_read_back_as_it_was_written(tmp_path):
    fit = fit_drive(BASE, measured("sr"), "mine")
    save_drive(fit.drive, tmp_path / "mine.toml")
    again = load_drive(str(tmp_path / "mine.toml"))
    assert again.parameters() == fit.drive.parameters()
    assert drive_text(again) == drive_text(fit.drive)
    assert again.name == "mine"


@pytest.mark.parametrize(
    "sample",
    [Measurement("sequential", 0.0), Measurement("sequential", float("nan")),
     Measurement("random", 80.0, depth=0), Measurement("sequential", 1e8, start=1.5)],
)  # fmt: skip
def test_an_impossible_sample_is_refused(sample):
    with pytest.raises(InputError, match="sample"):
        fit_drive(BASE, [sample])


def test_flash_and_nothing_at_all_are_refused():
    with pytest.raises(InputError, match="disk"):
        fit_drive(load_drive("generic-sata-ssd"), measured("s"))
    with pytest.raises(InputError, match="at least one"):
        fit_drive(BASE, [])


def test_ten_thousand_samples_are_fitted_at_once_and_progress_is_told():
    random = np.random.default_rng(3)
    places = random.random(10_000) * 0.999
    parameters = BASE.parameters(**TRUTH)
    rates = sequential_rates(parameters, places, np.full(len(places), 1e-6))
    assert rates[:3].tolist() == [sequential_rate(parameters, float(place), 1e-6) for place in places[:3]]
    told = []
    began = time.process_time()
    fit = fit_drive(
        BASE,
        [Measurement("sequential", rate, place, 1e-6) for rate, place in zip(rates, places, strict=True)],
        on_progress=lambda share, words: told.append((share, words)),
    )
    # One by one they took nine seconds.
    assert time.process_time() - began < 4.0
    assert fit.residual < 1e-3
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert all(0.0 < share < 1.0 and words == "fitting" for share, words in told)


def test_factors_act_on_what_they_name_and_their_errors_add_as_variances():
    """The inner rate goes with both the outer rate and the ratio: 3 % and 4 % are 5 %."""
    base = load_drive("generic-7200rpm-cmr")
    factors = [
        SimpleNamespace(name=name, identified=known, value=value, standard_error=error)
        for name, known, value, error in (
            ("outer_rate", True, 1.1, 0.033), ("inner_ratio", True, 0.5, 0.02), ("seek", False, 9.0, 1.0),
            ("overhead", True, 2.0, 0.2),
        )
    ]  # fmt: skip
    found, before = fit._with_factors(base, factors, "mine", 7).quantities, base.quantities
    moved = {key: found[key].si / each.si for key, each in before.items() if found[key] is not each}
    assert moved == pytest.approx(
        {"outer_rate": 1.1, "inner_rate": 0.55, "read_overhead": 2.0, "write_overhead": 2.0}
    )
    assert (found["outer_rate"].uncertainty, found["inner_rate"].uncertainty) == (0.03, 0.05)
    assert {found[key].kind for key in moved} == {"fitted"}
