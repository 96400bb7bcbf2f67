"""The one door from the cases to `zsim.prediction`: scenario fields in, plain numbers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from zsim.base.errors import ZsimError
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
    return _predicted(json.dumps(dict(fields), sort_keys=True), options.seed)


@cache
def _predicted(fields: str, seed: int) -> Mapping[str, Any]:
    from zsim.prediction.api import predict
    from zsim.scenario.model import Scenario

    return predict(Scenario.from_dict({"seed": seed, **json.loads(fields)})).to_dict()
