"""`validate`: run validation cases and return the outcome."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, get_args

from zsim.base.errors import InputError, check_function, check_jobs, check_kind, check_number
from zsim.base.model_data import validation_directory
from zsim.base.parsed import Parsed, table, tables
from zsim.base.provenance import SCHEMA_VERSION
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import FramedAnswer, PrintedAnswer, SavedAnswer
from zsim.prediction.answer.stored import (
    REMEDY,
    LoadedAnswer,
    check_version,
    made_of,
    refused_in_one_sentence,
)
from zsim.prediction.answer.tables import html_table
from zsim.validation.discovery import discover, selected
from zsim.validation.frame import Claim, Options, ValidationCase
from zsim.validation.progress.discovery import of_runs
from zsim.validation.report import document, wording
from zsim.validation.report.scores import summarise
from zsim.validation.running import Report, run_cases

if TYPE_CHECKING:
    from rich.console import Group

Population = Literal["given", "recipe"]


@dataclass(frozen=True, slots=True)
class Validation(PrintedAnswer, SavedAnswer, LoadedAnswer, FramedAnswer):
    """All claims of a validation, and their summary.

    Attributes
    ----------
    claims : tuple of Claim
    summary : dict
        See `zsim.validation.report.scores.summarise`.
    """

    claims: tuple[Claim, ...]
    summary: dict[str, object]

    @classmethod
    def from_dict(cls, data: object, origin: str = "answer") -> Self:
        """Return the answer of which `to_dict` gave this; see `LoadedAnswer.from_dict`."""
        known = check_version(data, origin)
        summary, cases = table(known, "summary"), tables(known, "cases")
        if not summary or not cases:
            raise InputError(f"{origin}: cases", None, "a validation has some, and a summary", REMEDY)
        with refused_in_one_sentence(origin):
            return cls(tuple(made_of(Claim, _fields_of(each)) for each in cases), dict(summary))

    def __repr__(self) -> str:
        return f"<Validation: {wording.headline(self.summary)}>"

    def _repr_html_(self) -> str:
        lines = (wording.headline(self.summary), *wording.score_sentences(self.summary))
        told = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
        return told + html_table(wording.claims_grid(self.claims))

    @property
    def passed(self) -> bool:
        """Whether no claim failed."""
        return not self.summary["fail"]

    def to_dict(self) -> dict[str, object]:
        """Return what ``zsim validate --json`` prints: ``cases`` (one entry a claim) and ``summary``."""
        claims = [claim.to_dict() for claim in self.claims]
        return {"schema_version": SCHEMA_VERSION, "cases": claims, "summary": self.summary}

    def save(self, path: str | Path) -> None:
        """Write the report as .md (with its plot as .svg beside it), .html or .json; the ending decides."""
        if Path(path).suffix == ".json":
            SavedAnswer.save(self, path)
        else:
            document.save(path, self.claims, self.summary)

    def _frame_rows(self) -> Rows:
        """Return a row a claim."""
        return [claim.to_dict() for claim in self.claims]

    def __rich__(self) -> Group:
        """Return tables and sentences as a rich renderable."""
        return document.renderable(self.claims, self.summary)


def _fields_of(claim: Parsed) -> dict[str, object]:
    """Return the fields of a claim that `Claim.to_dict` gave; what it has no field for are its details."""
    known = {each.name for each in fields(Claim)} - {"details"}
    plain = {"category" if name == "class" else name: value for name, value in claim.items()}
    details = {name: value for name, value in plain.items() if name not in known}
    return {name: value for name, value in plain.items() if name in known} | {"details": details}


def cases_of(names: Sequence[str] = (), paths: Iterable[str | Path] | None = None) -> list[ValidationCase]:
    """Return the cases with these names (all if none is given) under these paths (those that come with zsim).

    Raises
    ------
    InputError
        When a path holds no case, or a name fits none.
    """
    if paths is None:
        paths = (validation_directory(),)
    paths = [paths] if isinstance(paths, str | Path) else paths
    check_kind("paths", paths, (Iterable,), "they are paths, as text or Path", 'write paths=["cases"]')
    return selected(discover(paths), names)


def running_cases(cases: Sequence[ValidationCase]) -> list[ValidationCase]:
    """Return the runs of real OpenZFS among cases, as scans that run.

    Raises
    ------
    InputError
        When there is none.
    """
    found = of_runs(cases)
    if not found:
        reason = "none of the cases is a run with progress.csv"
        raise InputError("--eta", None, reason, "name a folder of runs with --cases")
    return found


def validate(
    names: Sequence[str] = (),
    paths: Iterable[str | Path] | None = None,
    *,
    population: Population = "given",
    eta: bool = False,
    seed: int = 1,
    jobs: int | None = 1,
    on_progress: Report | None = None,
) -> Validation:
    """Compare predictions with measurements.

    Parameters
    ----------
    names : sequence of str
        Names of cases, or patterns with ``*`` and ``?``; by default all.
    paths : iterable of str or Path, optional
        Where the cases are; by default those included in zsim.
    population : {"given", "recipe"}
        Whether a run that brings its block list is simulated on that list or on one made from its recipe.
    eta : bool
        Whether to treat runs of real OpenZFS as running scans on pools with unknown contents, and to
        predict their end; other cases are left out.
    seed : int
        Of every random choice.
    jobs : int, optional
        Processes; None for one a core where there are many cases (a script that asks for more than one then
        guards its main part with ``if __name__ == "__main__"``, because processes are spawned).
    on_progress : callable, optional
        Called with the share done (0 to 1) and a few words.

    Returns
    -------
    Validation

    Raises
    ------
    InputError
        When a path holds no case, a name fits none, `population` is none of these, or `jobs` is below 1.

    Examples
    --------
    >>> validate(["raidz_map_vectors"]).passed
    True
    """
    check_jobs(jobs)
    check_function("on_progress", on_progress)
    if population not in get_args(Population):
        allowed = f"it is one of {', '.join(get_args(Population))}"
        raise InputError("population", population, allowed, "leave it out")
    check_number("seed", seed, "write seed=1", whole=True)
    cases = cases_of(names, paths)
    if eta:
        cases = running_cases(cases)
    claims = run_cases(cases, Options(population, seed), jobs, on_progress)
    return Validation(tuple(claims), summarise(claims))
