"""What validation cases and claims are, and the formats of cases.

A format is a module with two functions::

    def discover(path: Path) -> list[ValidationCase]: ...    # cheap: names and durations, no simulation
    def run(case: ValidationCase, options: Options) -> list[Claim]: ...

`discover` may raise `InputError` (the whole source then is one failing case) or give a `ValidationCase`
with `problem` set (that case fails, the others run).  `run` builds its claims with `judge` or `refused`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol, SupportsFloat, cast

from zsim.base.errors import InputError, cut, is_finite

Verdict = Literal["pass", "fail", "info"]
TIME = "time"
STATED = "stated"
"""Detail of a claim: 1 where its source states drive, layout and data."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the cases are run.

    Attributes
    ----------
    population : {"given", "recipe"}
        Whether a run that brings its block list is simulated on that list, or on one made from its recipe.
    seed : int
        Of every random choice.
    """

    population: Literal["given", "recipe"] = "given"
    seed: int = 1


@dataclass(frozen=True, slots=True)
class ValidationCase:
    """One thing that was observed: a run, a drive's request set, a row, a directory.

    Attributes
    ----------
    name : str
        Unique in one output; bare when a format gives it.
    kind : str
        What it is measured as in the summary, for example ``zfs-run`` or ``drive``.
    format : str
        Name of the format in `FORMATS` that runs it.
    path : Path
        Its directory or file.
    key : str
        Which part of `path`, where a file holds several cases.
    claim : str
        Its main claim: ``time`` for a case with a duration.
    observed, tolerance : float or None
        Of the main claim, so that a case that cannot be run is listed with them.
    unit : str
        Of the main claim.
    experiment, category : str or None
        Which experiment a row belongs to, and its class.
    problem : str
        Why the case cannot be read; empty when it can.
    title : str
        What it is, in a few words, where the case says so.
    """

    name: str
    kind: str
    format: str
    path: Path
    key: str = ""
    claim: str = TIME
    observed: float | None = None
    tolerance: float | None = None
    unit: str = "s"
    experiment: str | None = None
    category: str | None = None
    problem: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        """Refuse numbers that are none, and words that are none."""
        for name in ("name", "kind", "key", "claim", "unit", "experiment", "category", "title"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InputError(f"{cut(str(self.name), 60)}: {name}", value, "it is text", "put it right")
        for name in ("observed", "tolerance"):
            value = getattr(self, name)
            if value is not None and not is_finite(value):
                raise InputError(
                    f"{cut(self.name, 60)}: {name}", value, "it is a finite number", "put it right"
                )


@dataclass(frozen=True, slots=True)
class Claim:
    """One number observed beside the one predicted; see `judge` for how the verdict comes about.

    Attributes
    ----------
    case, kind, claim : str
    observed, predicted, p10, p90 : float or None
        In `unit`; `predicted` is the p50.
    error : float or None
        predicted / observed - 1.
    tolerance : float or None
        Largest absolute error that passes; None for a claim that is told for information.
    verdict : {"pass", "fail", "info"}
    reason : str
        Why it fails, or what to know about it.
    why : str
        Why the prediction is off, as far as known.
    unit : str
        SI unit of the numbers; ``1`` for a pure number.
    experiment, category, title : str or None
        As in the case.
    details : Mapping
        More numbers by name, for the summary (rules of thumb and the like).
    """

    case: str
    kind: str
    claim: str
    observed: float | None
    predicted: float | None
    p10: float | None = None
    p90: float | None = None
    error: float | None = None
    tolerance: float | None = None
    verdict: Verdict = "info"
    reason: str = ""
    unit: str = "1"
    experiment: str | None = None
    category: str | None = None
    details: Mapping[str, float | None] = field(default_factory=dict)
    title: str = ""
    why: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the claim as ``zsim validate --json`` prints it."""
        names = (
            "case",
            "kind",
            "claim",
            "observed",
            "predicted",
            "p10",
            "p90",
            "error",
            "tolerance",
            "verdict",
        )
        entry: dict[str, object] = {name: getattr(self, name) for name in names}
        entry |= {"reason": self.reason, "unit": self.unit}
        if self.experiment is not None:
            entry["experiment"] = self.experiment
        if self.category is not None:
            entry["class"] = self.category
        entry |= {name: text for name, text in (("title", self.title), ("why", self.why)) if text}
        return entry | {name: finite(value) for name, value in self.details.items()}


def finite(value: SupportsFloat | None) -> float | None:
    """Return a number as a float, and None for None, NaN and infinity."""
    number = math.nan if value is None else float(value)
    return number if math.isfinite(number) else None


def relative_error(observed: float | None, predicted: float | None) -> float | None:
    """Return predicted / observed - 1; None where either is missing or the observed number is 0."""
    if observed is None or predicted is None or observed == 0:
        return None
    return predicted / observed - 1


def judge(
    case: ValidationCase,
    claim: str,
    observed: SupportsFloat | None,
    predicted: SupportsFloat | None,
    tolerance: float | None = None,
    *,
    p10: SupportsFloat | None = None,
    p90: SupportsFloat | None = None,
    unit: str = "1",
    reason: str = "",
    details: Mapping[str, float | None] | None = None,
) -> Claim:
    """Compare a prediction with an observation.

    Parameters
    ----------
    case : ValidationCase
    claim : str
        Name of the claim, unique in its case.
    observed, predicted, p10, p90 : float or None
        In `unit`.  An observed 0 has no relative error: such a claim passes if 0 is predicted.
    tolerance : float, optional
        Largest absolute error that passes.  Without one the verdict is ``info``.
    unit, reason, details
        As in `Claim`.
    """
    seen, answer = finite(observed), finite(predicted)
    error = relative_error(seen, answer)
    verdict: Verdict = "info"
    if tolerance is not None:
        within = answer == seen if error is None else abs(error) <= tolerance
        verdict = "pass" if within and answer is not None else "fail"
    return Claim(
        case=case.name,
        kind=case.kind,
        claim=claim,
        observed=seen,
        predicted=answer,
        p10=finite(p10),
        p90=finite(p90),
        error=error,
        tolerance=tolerance,
        verdict=verdict,
        reason=reason,
        unit=unit,
        experiment=case.experiment,
        category=case.category,
        details=details or {},
        title=case.title,
    )


def ordered(case: ValidationCase, claim: str, holds: bool | None, reason: str = "") -> Claim:
    """Return a claim of order ("a before b"): observed as 1, predicted 1 where it holds and 0 where not.

    The tolerance is 0.  `holds` is None where nothing could be predicted.
    """
    return judge(case, claim, 1.0, None if holds is None else float(holds), 0.0, reason=reason)


def refused(case: ValidationCase, reason: str, claim: str | None = None) -> Claim:
    """Return the failing main claim of a case that was not predicted, with the reason."""
    made = judge(
        case, claim or case.claim, case.observed, None, case.tolerance, unit=case.unit, reason=reason
    )
    return replace(made, verdict="fail")


class FormatModule(Protocol):
    """What the module of a format offers."""

    def discover(self, path: Path) -> list[ValidationCase]:
        """Return the cases of one source."""
        ...

    def run(self, case: ValidationCase, options: Options) -> list[Claim]:
        """Return the claims of one case."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of source, recognised by names alone.

    Attributes
    ----------
    name : str
    module : str
        Where `discover` and `run` are; imported when the first source is met.
    words : str
        What the sources look like, for messages.
    recognise : callable
        Given the names of the files and of the directories of a directory, the names of the sources among
        the files, or ``.`` for the directory itself.
    """

    name: str
    module: str
    words: str
    recognise: Callable[[frozenset[str], frozenset[str]], list[str]]

    def load(self) -> FormatModule:
        """Import the module of the format."""
        return cast("FormatModule", importlib.import_module(self.module))


def _geometry(files: frozenset[str], _: frozenset[str]) -> list[str]:
    return sorted(name for name in files if name.endswith("_map_vectors.csv.gz"))


def _toml(files: frozenset[str], _: frozenset[str]) -> list[str]:
    return ["."] if "case.toml" in files else []


def _rows(files: frozenset[str], _: frozenset[str]) -> list[str]:
    return sorted(name for name in files if name.endswith(".jsonl"))


def _disksim(_: frozenset[str], directories: frozenset[str]) -> list[str]:
    return ["."] if {"drives", "vectors"} <= directories else []


def _drive_experiments(files: frozenset[str], _: frozenset[str]) -> list[str]:
    return ["."] if "experiments.toml" in files else []


def _published(files: frozenset[str], _: frozenset[str]) -> list[str]:
    return ["."] if "published.toml" in files else []


def _zfs_run(files: frozenset[str], _: frozenset[str]) -> list[str]:
    remnants = {"bps.csv.zst", "result.json", "trace.csv.zst", "progress.csv"}
    whole = "bps.csv.zst" in files or ("config.json" in files and remnants & files)
    return ["."] if whole else []


FORMATS: tuple[Format, ...] = (
    Format("case", "zsim.validation.formats.case_toml", "case.toml", _toml),
    Format("geometry", "zsim.validation.formats.geometry", "*_map_vectors.csv.gz", _geometry),
    Format("disksim", "zsim.validation.formats.disksim", "a folder with drives/ and vectors/", _disksim),
    Format(
        "drive-experiments",
        "zsim.validation.formats.drive_experiments",
        "experiments.toml",
        _drive_experiments,
    ),
    Format(
        "zfs-run", "zsim.validation.formats.zfs_runs", "a folder with config.json and bps.csv.zst", _zfs_run
    ),
    Format("observed", "zsim.validation.field_reports.rows", "*.jsonl", _rows),
    Format("progress", "zsim.validation.progress.discovery", "progress of scans", lambda files, _: []),
    Format("reliability", "zsim.validation.reliability.published", "published.toml", _published),
)


def format_named(name: str) -> Format:
    """Return the format of that name."""
    return next(each for each in FORMATS if each.name == name)
