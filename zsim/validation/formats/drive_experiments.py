"""Format ``experiments.toml``: published measurements of a drive or a link, and what the model gives.

::

    [[experiments]]
    name = "hd103uj-mean-rate"
    run = "mean_rate"               # one of `zsim.validation.formats.drive_runs.RUNS`
    drive = "hd103uj"               # further keys are the arguments of the run
    observed = 95.3e6
    unit = "B/s"
    tolerance = 0.05                # left out: for information
    source = "..."
    note = "..."
"""

from __future__ import annotations

from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.model_data import load_toml, suggest
from zsim.base.parsed import number_of, text
from zsim.validation.formats.drive_runs import RUNS
from zsim.validation.frame import Claim, Options, ValidationCase, judge

KEYS = frozenset({"name", "run", "observed", "unit", "tolerance", "source", "note"})


def discover(path: Path) -> list[ValidationCase]:
    """Return one case an experiment."""
    return [
        ValidationCase(
            name=str(entry["name"]),
            kind="drive-experiment",
            format="drive-experiments",
            path=path,
            key=str(entry["name"]),
            claim=str(entry["run"]),
            observed=number_of(entry["observed"], "observed"),
            tolerance=None if entry.get("tolerance") is None else number_of(entry["tolerance"], "tolerance"),
            unit=str(entry["unit"]),
        )
        for entry in _entries(path)
    ]


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the one claim of an experiment."""
    del options
    entry = next(each for each in _entries(case.path) if each["name"] == case.key)
    arguments = {key: value for key, value in entry.items() if key not in KEYS}
    predicted = RUNS[text(entry, "run")](**arguments)
    note = str(entry.get("note", ""))
    return [judge(case, case.claim, case.observed, predicted, case.tolerance, unit=case.unit, reason=note)]


def _entries(path: Path) -> list[dict[str, object]]:
    entries = load_toml(path / "experiments.toml").get("experiments")
    if not isinstance(entries, list) or not entries:
        raise InputError("experiments.toml", None, "it holds [[experiments]]", "add one")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise InputError(f"experiments.toml: experiment {number}", entry, "it is a table", "put it right")
        missing = sorted({"name", "run", "observed", "unit", "source"} - set(entry))
        if missing:
            field = f"experiments.toml: experiment {number}: {missing[0]}"
            raise InputError(field, None, "every experiment has it", "add it")
        if entry["run"] not in RUNS:
            field = f"experiments.toml: {entry['name']}: run"
            raise InputError(field, entry["run"], "there is no such run", suggest(str(entry["run"]), RUNS))
    return entries
