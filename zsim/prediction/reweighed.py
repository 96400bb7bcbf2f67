"""Update a prediction with new evidence: worlds that have been run are weighed again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue

from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import AnswerPart, Quantiles
from zsim.prediction.evidence import wording
from zsim.prediction.simulated import stated
from zsim.scenario.evidence_text import observations_of
from zsim.scenario.model import Scenario

if TYPE_CHECKING:
    from zsim.prediction.work import Work

SECONDS = {
    "phases": ("start_s", "duration_s"),
    "alternatives": ("resilver_s",),
    "progress": ("time_s", "zpool_eta_s"),
    "advice": ("saves_s",),
}
"""Fields of the answer's lists that go with the duration."""


def with_evidence(prediction: Prediction, evidence: object) -> Scenario:
    """Return the scenario of a prediction with more evidence; see `Prediction.given`."""
    before = Scenario.from_dict(prediction.provenance["scenario"])  # type: ignore[arg-type]
    if isinstance(evidence, str | Mapping | BaseModel) or not isinstance(evidence, Iterable):
        evidence = (evidence,)
    more = observations_of(tuple(evidence)) or ()
    return before.changed({"evidence": (*(before.evidence or ()), *more)})


def reweighed(prediction: Prediction, work: Work, provenance: dict[str, JsonValue]) -> Prediction:
    """Return a prediction once its worlds have been weighed anew: what it shows, stretched.

    Parameters
    ----------
    prediction : Prediction
    work : Work
        That weighed them.
    provenance : dict
        Of the new answer.
    """
    low, middle, high = work.quantiles
    factor = middle / prediction.resilver_s.p50
    answer = Quantiles(p10=low, p50=middle, p90=high)
    assert prediction.uncertainty is not None
    uncertainty = prediction.uncertainty.model_copy(
        update={
            "sampling_half_width_s": work.half_width * middle,
            "input_s": answer,
            "effective_members": work.effective,
            "drivers": _drivers(prediction, work, factor),
        }
    )
    without = prediction.bottleneck.without_it_s
    changes: dict[str, object] = {
        name: tuple(_stretched(each, fields, factor) for each in getattr(prediction, name))
        for name, fields in SECONDS.items()
    }
    changes |= {
        "resilver_s": answer,
        "uncertainty": uncertainty,
        "unloaded_s": None if prediction.unloaded_s is None else prediction.unloaded_s * factor,
        "breakdown": {name: seconds * factor for name, seconds in prediction.breakdown.items()},
        "bottleneck": prediction.bottleneck.model_copy(
            update={"without_it_s": None if without is None else without * factor}
        ),
        "warnings": tuple(dict.fromkeys((*prediction.warnings, *wording.notes(work.case)))),
        "stated": stated(work.case.scenario),
        "evidence": wording.records(work.evidence),
        "provenance": provenance,
    }
    return prediction.model_copy(update=changes)


def _drivers(prediction: Prediction, work: Work, factor: float) -> tuple[AnswerPart, ...]:
    """Return what narrows the interval now; what is not sampled keeps its proportion."""
    known = prediction.uncertainty
    kept = [each for each in known.drivers if not each.sampled] if known is not None else []
    return (*work.drivers(), *(_stretched(each, ("low_s", "high_s"), factor) for each in kept))


def _stretched(record: AnswerPart, fields: tuple[str, ...], factor: float) -> AnswerPart:
    """Return a row of the answer with its durations multiplied."""
    changes: dict[str, object] = {}
    for name in fields:
        value = getattr(record, name)
        if isinstance(value, Quantiles):
            changes[name] = Quantiles(p50=value.p50 * factor)
        elif value is not None:
            changes[name] = value * factor
    return record.model_copy(update=changes)
