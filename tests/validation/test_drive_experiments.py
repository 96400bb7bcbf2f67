"""Drives and links alone, against what was published of them."""

import pytest

from zsim.base.errors import InputError
from zsim.base.model_data import validation_directory
from zsim.validation.discovery import discover
from zsim.validation.formats import drive_experiments
from zsim.validation.frame import Options

FOLDER = validation_directory() / "drive-experiments"
CASES = drive_experiments.discover(FOLDER)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_experiment_comes_out_as_published_or_says_what_is_not_explained(case):
    (claim,) = drive_experiments.run(case, Options())
    assert claim.verdict == ("info" if case.tolerance is None else "pass")
    assert claim.predicted is not None
    assert claim.verdict == "pass" or claim.reason


def test_the_folder_is_found_by_its_file():
    assert [case.name for case in discover([FOLDER])] == [case.name for case in CASES]


def test_every_kind_of_run_is_used():
    assert {case.claim for case in CASES} == set(drive_experiments.RUNS)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "experiments"),
        ('[[experiments]]\nname = "x"\nrun = "mean_rate"\nunit = "1"\nsource = "s"\n', "observed"),
        (
            '[[experiments]]\nname = "x"\nrun = "mean_rat"\nobserved = 1\nunit = "1"\nsource = "s"\n',
            "mean_rate",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_the_field(tmp_path, text, names):
    (tmp_path / "experiments.toml").write_text(text)
    with pytest.raises(InputError, match=names):
        drive_experiments.discover(tmp_path)
