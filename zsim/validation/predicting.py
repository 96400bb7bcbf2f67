"""The only access of cases to `zsim.prediction` and timelines: fields in, plain numbers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from zsim.base.errors import ZsimError
from zsim.scenario.files import files_named
from zsim.validation.frame import Options

Fields = Mapping[str, Any]
Predictor = Callable[[Fields, Options], Mapping[str, Any]]
"""Takes scenario fields and gives what ``Prediction.to_dict`` does."""


class PredictionFailedError(ZsimError):
    """A prediction ended in a fault of zsim: the claims that need it say so, the others still stand."""


def attempt(predictor: Predictor, fields: Fields, options: Options) -> Mapping[str, Any]:
    """Return a prediction.

    Raises
    ------
    ZsimError
        When the scenario is refused, or the predictor fails in any other way.
    """
    try:
        return predictor(fields, options)
    except ZsimError:
        raise
    except Exception as error:
        raise PredictionFailedError(f"{type(error).__name__}: {error}") from error


def predict_fields(fields: Fields, options: Options) -> Mapping[str, Any]:
    """Return the prediction for a scenario given by its fields, as a plain dictionary.

    Parameters
    ----------
    fields : Mapping
        As in a scenario file: text with units, or numbers in SI units.
    options : Options

    Raises
    ------
    InputError
        When the scenario is refused.
    """
    stated = json.dumps(dict(fields), sort_keys=True)
    return _predicted(stated, tuple(files_named(fields).items()), options.seed)


@cache
def _predicted(fields: str, _files: tuple[tuple[str, str], ...], seed: int) -> Mapping[str, Any]:
    from zsim.prediction.api import predict
    from zsim.scenario.model import Scenario

    return predict(Scenario.from_dict({"seed": seed, **json.loads(fields)})).to_dict()


def follow_plan(plan: Fields, options: Options) -> Mapping[str, Any]:
    """Return the timeline of a plan as a plain dictionary, each pass with its length ``duration_s`` [s].

    Parameters
    ----------
    plan : Mapping
        As in a plan file of ``zsim timeline``.
    options : Options

    Raises
    ------
    InputError
        When the plan is refused.

    Notes
    -----
    A pass lasts from its beginning until it ends or is given up, in the middle world.
    """
    from zsim.planning.timeline.api import timeline

    found = timeline({**plan, "scenario": {"seed": options.seed, **plan["scenario"]}})
    passes = [{**each.to_dict(), "duration_s": _length(each.begins_s, each.ends_s)} for each in found.passes]
    return {**found.to_dict(), "passes": passes}


def _length(begins: float, ends: Mapping[str, float | None]) -> float | None:
    end = ends["p50"]
    return None if end is None else end - begins
