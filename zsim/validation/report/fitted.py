"""Every fitted number of zsim: what it was fitted on, how certain it is, and by which script."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zsim.base import model_data
from zsim.base.parsed import number, table
from zsim.prediction.answer.tables import Grid

FITTED = "fitted"
FOLDERS = (
    "drives",
    "platters",
    "enclosures",
    "releases",
    "histories",
    "unknowns",
    "prediction",
    "evidence",
    "reliability",
    "timeline",
)
SCRIPTS = dict.fromkeys(("capacity_law", "density_law", "generations"), "models/drives/generate.py") | {
    "fit_assumptions": "validation/fit_assumptions.py"
}
"""Source of a fitted number, and the committed script that makes it; others were solved by hand."""
CASE_FILES = ("case.toml", "experiments.toml")
HEAD = ("number", "values", "models", "uncertainty", "fitted on", "script")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted number of one or several models.

    Attributes
    ----------
    name : str
        Folder of the models and name of the number.
    values : tuple of float
        In `unit`, one a model.
    unit : str
    source : str
        What it was fitted on.
    uncertainty : tuple of float
        Relative standard deviations, where stated.
    script : str
        Committed script, or empty.
    """

    name: str
    values: tuple[float, ...]
    unit: str
    source: str
    uncertainty: tuple[float, ...]
    script: str


def fitted_numbers(root: Path | None = None) -> tuple[Fitted, ...]:
    """Return the fitted numbers below ``models/``, those with the same name and source together.

    With them come those of the drives that validation cases bring along.

    Parameters
    ----------
    root : Path, optional
        The directory of the models; that of zsim if not given.
    """
    groups: dict[tuple[str, str, str, str], list[Mapping[str, object]]] = defaultdict(list)
    for folder, path in model_files(root):
        data = model_data.load_toml(path)
        for name, entry in _quantities(data, ""):
            key = str(entry.get("source", ""))
            text = str(table(data, "references").get(key, key))
            groups[f"{folder}: {name}", str(entry.get("unit", "")), text, key].append(entry)
    return tuple(_fitted(*key, entries) for key, entries in sorted(groups.items()))


def model_files(root: Path | None = None) -> Iterator[tuple[str, Path]]:
    """Yield the files that may hold fitted numbers, each with where it belongs."""
    models = root or model_data.models_directory()
    for folder in FOLDERS:
        yield from ((folder, path) for path in sorted((models / folder).glob("*.toml")))
    if root is None:
        for path in sorted(model_data.validation_directory().glob("*/*.toml")):
            if path.name not in CASE_FILES:
                yield f"validation/{path.parent.name}", path


def _quantities(table: Mapping[str, object], name: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the fitted quantities of a model file with their names, depth first."""
    for key, value in table.items():
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, Mapping):
                continue
            if each.get("kind") == FITTED and "value" in each:
                yield key, each
            else:
                yield from _quantities(each, key)


def _fitted(name: str, unit: str, text: str, key: str, entries: list[Mapping[str, object]]) -> Fitted:
    values = tuple(float(each["value"]) for each in entries if isinstance(each["value"], int | float))
    sure = tuple(number(each, "uncertainty") for each in entries if "uncertainty" in each)
    return Fitted(name, values, unit, text, sure, SCRIPTS.get(key, ""))


def fitted_grid(numbers: tuple[Fitted, ...]) -> Grid:
    """Return the table of the fitted numbers."""
    rows = tuple(
        (
            each.name,
            f"{_range(each.values)} {each.unit}".strip(),
            str(len(each.values)),
            " %".join((_range(tuple(100 * share for share in each.uncertainty)), ""))
            if each.uncertainty
            else "-",
            each.source,
            each.script or "-",
        )
        for each in numbers
    )
    return Grid(HEAD, rows, frozenset({2}))


def _range(values: tuple[float, ...]) -> str:
    if not values:
        return "-"
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
