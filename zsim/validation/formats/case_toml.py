"""Format ``case.toml``: scenarios, what was observed of them, tolerances and provenance.

::

    kind = "seed"
    title = "..."
    [provenance]
    source = "..."
    [scenario]                      # fields of a scenario that hold in all of this case
    layout = "raidz2x5"
    [scenarios.tuned]               # further ones, each laid over [scenario]
    [timelines.restarted]           # a plan of zsim timeline, its scenario laid over [scenario]
    events = [{ do = "replace", drive = 0 }, { do = "reboot", at = "5h" }]
    [[claims]]
    name = "time"
    observed = "16h55m"             # text with a unit ("57.1M/s": as zpool prints it), a number, [low, high]
    unit = "s"
    tolerance = 0.15                # or "15%"; left out: for information
    quantity = "resilver_s.p50"     # see zsim.validation.quantities
    scenario = "tuned"              # a scenario or a timeline;
                                    # or ratio = ["tuned", "default"], or order = ["a", "b", "c"] (rising)
    note = "what to know about it"
    why = "why the prediction is off, as far as known"
    not_simulated = "why nothing can be predicted yet"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from zsim.base.errors import InputError, ZsimError
from zsim.base.model_data import load_toml
from zsim.base.parsed import number, table
from zsim.base.units import parse_bytes, parse_duration, parse_fraction, parse_rate, parse_zfs_rate
from zsim.validation.frame import TIME, Claim, Options, ValidationCase, judge, ordered, refused
from zsim.validation.predicting import Predictor, attempt, follow_plan, predict_fields
from zsim.validation.quantities import quantity_of, what_is_missing

MAIN = "main"
MEDIANS = ("resilver_s.p50", "whole_s.p50")
"""Quantities that stand with their p10 and p90."""


def _rate(text: str, field: str) -> float:
    """Read a rate: as zpool prints it (``101M/s``, powers of 1024), or with its unit (``101MB/s``)."""
    return (parse_rate if "b" in text.lower() else parse_zfs_rate)(text, field)


PARSERS: dict[str, Callable[[str, str], float]] = {"s": parse_duration, "B": parse_bytes, "B/s": _rate}


class CasePart(BaseModel):
    """Base of the parts of a case file: frozen, closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(CasePart):
    """Where the figures are from."""

    source: str = Field(min_length=1)
    author: str = ""
    date: str = ""
    url: str = ""
    note: str = ""


class ClaimEntry(CasePart):
    """One claim as the file states it; see the module for its keys."""

    name: str = Field(min_length=1)
    quantity: str = "resilver_s.p50"
    observed: float | str | list[float | str] | None = None
    unit: str = "s"
    tolerance: float | None = Field(default=None, ge=0)
    scenario: str = MAIN
    ratio: tuple[str, str] | None = None
    order: tuple[str, ...] | None = Field(default=None, min_length=2)
    note: str = ""
    why: str = ""
    not_simulated: str = ""

    @field_validator("tolerance", mode="before")
    @classmethod
    def _share(cls, value: object) -> object:
        return parse_fraction(value, "tolerance") if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        if self.ratio is not None and self.order is not None:
            raise ValueError("a claim has a ratio or an order, not both")
        if self.order is None and self.observed is None:
            raise ValueError("a claim says what was observed")
        if isinstance(self.observed, list) and len(self.observed) != 2:
            raise ValueError("a range is [low, high]")
        return self

    def scenarios(self) -> tuple[str, ...]:
        """Return the names of the scenarios that the claim is about."""
        return self.order or self.ratio or (self.scenario,)

    def seen(self) -> tuple[float | None, float]:
        """Return the observed number in SI units (a range's middle), and half the range relative to it."""
        if self.order is not None:
            return 1.0, 0.0
        values = self.observed if isinstance(self.observed, list) else [self.observed]
        low, high = (self._number(values[place]) for place in (0, -1))
        middle = (low + high) / 2
        return middle, abs(high - low) / 2 / abs(middle) if middle else 0.0

    def _number(self, value: float | str | None) -> float:
        if isinstance(value, str):
            if self.unit not in PARSERS:
                raise InputError(
                    f"claim {self.name}: observed", value, f"text in {self.unit!r} is not known", ""
                )
            return float(PARSERS[self.unit](value, f"claim {self.name}: observed"))
        return 0.0 if value is None else float(value)

    def allowed(self) -> float | None:
        """Return the tolerance, widened by half the observed range; 0 for an order."""
        if self.order is not None:
            return 0.0
        return None if self.tolerance is None else self.tolerance + self.seen()[1]


class CaseFile(CasePart):
    """A whole ``case.toml``."""

    title: str
    kind: str = "case"
    category: str | None = None
    provenance: Provenance
    scenario: dict[str, object] = Field(default_factory=dict)
    scenarios: dict[str, dict[str, object]] = Field(default_factory=dict)
    timelines: dict[str, dict[str, object]] = Field(default_factory=dict)
    claims: tuple[ClaimEntry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names(self) -> Self:
        names = [claim.name for claim in self.claims]
        if len(set(names)) != len(names):
            raise ValueError("the names of the claims must differ")
        for claim in self.claims:
            unknown = set(claim.scenarios()) - {MAIN, *self.scenarios, *self.timelines}
            if unknown and not claim.not_simulated:
                raise ValueError(f"claim {claim.name!r} names a scenario that is not there: {min(unknown)!r}")
        both = set(self.timelines) & {MAIN, *self.scenarios}
        if both:
            raise ValueError(f"a timeline and a scenario have the same name: {min(both)!r}")
        return self

    def main_claim(self) -> ClaimEntry:
        """Return the claim ``time``, or the first where there is none."""
        return next((claim for claim in self.claims if claim.name == TIME), self.claims[0])

    def fields(self, name: str) -> dict[str, object]:
        """Return the fields of one scenario."""
        return {**self.scenario, **self.scenarios.get(name, {})}

    def plan(self, name: str) -> dict[str, object]:
        """Return the plan of one timeline."""
        plan = self.timelines[name]
        own = plan.get("scenario", {})
        if not isinstance(own, Mapping):
            raise InputError(f"timelines.{name}.scenario", own, "it is a table", "put it right")
        return {**plan, "scenario": {**self.scenario, **own}}


def read(directory: Path) -> CaseFile:
    """Read the ``case.toml`` of a directory.

    Raises
    ------
    InputError
        Naming the key that is wrong.
    """
    path = directory / "case.toml"
    try:
        return CaseFile.model_validate(_with_own_files(load_toml(path, "case"), directory))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        name = f"{directory.name}/case.toml{': ' if place else ''}{place}"
        value = None if first["type"] == "missing" else first["input"] if place else directory.name
        raise InputError(name, value, first["msg"], "put it right") from error


def _with_own_files(data: Mapping[str, object], directory: Path) -> dict[str, object]:
    """Return the content of a case whose drives may be files beside it."""

    def placed(fields: object) -> object:
        if not isinstance(fields, dict):
            return fields
        own = {
            key: str(directory / value)
            for key, value in fields.items()
            if key in ("drive", "new_drive") and isinstance(value, str) and value.endswith(".toml")
        }
        return {**fields, **own}

    scenarios = data.get("scenarios", {})
    if isinstance(scenarios, dict):
        scenarios = {name: placed(fields) for name, fields in scenarios.items()}
    return {**data, "scenario": placed(data.get("scenario", {})), "scenarios": scenarios}


def discover(path: Path) -> list[ValidationCase]:
    """Return the one case of a directory."""
    file = read(path)
    main = file.main_claim()
    return [
        ValidationCase(
            name=path.name,
            kind=file.kind,
            format="case",
            path=path,
            claim=main.name,
            observed=main.seen()[0],
            tolerance=main.allowed(),
            unit="1" if main.order else main.unit,
            category=file.category,
            title=file.title,
        )
    ]


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claims of a case, predicted by `zsim.prediction`."""
    return claims_of(case, read(case.path), predict_fields, options)


def claims_of(
    case: ValidationCase,
    file: CaseFile,
    predictor: Predictor,
    options: Options,
    teller: Predictor = follow_plan,
) -> list[Claim]:
    """Return the claims of a case.

    Parameters
    ----------
    case : ValidationCase
    file : CaseFile
    predictor : callable
        Gives the prediction for a scenario's fields.
    options : Options
    teller : callable, optional
        Gives the timeline of a plan.
    """
    answers = Answers(file, predictor, options, teller)
    return [replace(_judged(case, entry, answers), why=entry.why) for entry in file.claims]


@dataclass(slots=True)
class Answers:
    """The predictions of a case's scenarios and timelines, each made when it is first asked for."""

    file: CaseFile
    predictor: Predictor
    options: Options
    teller: Predictor = follow_plan
    known: dict[str, Mapping[str, object] | ZsimError] = field(default_factory=dict)

    def of(self, name: str) -> Mapping[str, object]:
        """Return the prediction for a scenario or timeline; raises `ZsimError` if there is none."""
        if name not in self.known:
            try:
                self.known[name] = self._made(name)
            except ZsimError as error:
                self.known[name] = error
        answer = self.known[name]
        if isinstance(answer, ZsimError):
            raise answer
        return answer

    def _made(self, name: str) -> Mapping[str, object]:
        if name in self.file.timelines:
            return attempt(self.teller, self.file.plan(name), self.options)
        return attempt(self.predictor, self.file.fields(name), self.options)


def _judged(case: ValidationCase, entry: ClaimEntry, answers: Answers) -> Claim:
    if entry.not_simulated:
        return _unpredicted(case, entry, entry.not_simulated)
    try:
        predictions = [answers.of(name) for name in entry.scenarios()]
    except ZsimError as error:
        return _unpredicted(case, entry, str(error))
    numbers = [quantity_of(prediction, entry.quantity) for prediction in predictions]
    if any(number is None for number in numbers):
        return _unpredicted(case, entry, what_is_missing(predictions, entry.quantity))
    known = [number for number in numbers if number is not None]
    if entry.order is not None:
        return ordered(case, entry.name, known == sorted(set(known)), _listed(entry, known))
    return _compared(case, entry, known, predictions[0])


def _compared(
    case: ValidationCase, entry: ClaimEntry, numbers: list[float], prediction: Mapping[str, object]
) -> Claim:
    observed, _ = entry.seen()
    p10: float | None = None
    p90: float | None = None
    if entry.ratio is not None:
        predicted = numbers[0] / numbers[1] if numbers[1] else None
    else:
        predicted = numbers[0]
        if entry.quantity in MEDIANS:
            answer = table(prediction, entry.quantity.partition(".")[0])
            p10, p90 = (None if answer.get(key) is None else number(answer, key) for key in ("p10", "p90"))
    unit = "1" if entry.ratio is not None else entry.unit
    return judge(
        case, entry.name, observed, predicted, entry.allowed(), p10=p10, p90=p90, unit=unit, reason=entry.note
    )


def _unpredicted(case: ValidationCase, entry: ClaimEntry, reason: str) -> Claim:
    """Return a claim without a prediction: it fails if it has a tolerance, else it is for information."""
    unit = "1" if entry.order or entry.ratio else entry.unit
    observed, tolerance = entry.seen()[0], entry.allowed()
    if tolerance is None and entry.name == TIME:
        return refused(case, reason)
    return judge(case, entry.name, observed, None, tolerance, unit=unit, reason=reason)


def _listed(entry: ClaimEntry, numbers: list[float]) -> str:
    values = ", ".join(
        f"{name} {number:.4g}" for name, number in zip(entry.order or (), numbers, strict=True)
    )
    return f"{entry.note} ({values})".strip()
