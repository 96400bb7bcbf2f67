"""Read one number from a prediction by a short expression, as claims of ``case.toml`` name it.

::

    expression = path [ " / " path ]
    path       = key { "." key }            resilver_s.p50, bottleneck.utilisation, written_bytes
               | "leaves[" role "]." key    leaves[target].iops: the mean of the drives of that role
               | "clients[" kind "]." path  clients[random-read].during.p99: of the first clients of that kind
               | "phases[" name "]." key    phases[metadata scan].duration_s: the sum over phases of that name
               | "passes[" n "]." path      passes[1].duration_s: of the n-th pass of a timeline, from 1
               | "passes[" kind "].count"   passes[resilver].count: how many of that kind a timeline has
               | "progress@" time "." key   progress@1h15m.scanned_bytes: between the points of the progress
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zsim.base.errors import InputError
from zsim.base.units import format_duration, parse_duration

Answer = Mapping[str, Any]
"""What ``Prediction.to_dict`` or `follow_plan` gives."""
_LEAVES = re.compile(r"leaves\[([^\]]+)\]\.(\w+)")
_CLIENTS = re.compile(r"clients\[([^\]]+)\]\.(\w+(?:\.\w+)*)")
_PHASES = re.compile(r"phases\[([^\]]+)\]\.(\w+)")
_PASS = re.compile(r"passes\[(\d{1,3})\]\.(\w+(?:\.\w+)*)")
_PASSES = re.compile(r"passes\[([a-z]+)\]\.(count)")
_PROGRESS = re.compile(r"progress@([^.]+)\.(\w+)")


def quantity_of(prediction: Answer, expression: str) -> float | None:
    """Return the number that an expression names.

    Parameters
    ----------
    prediction : Mapping
        What ``Prediction.to_dict`` gives.
    expression : str
        See the module.

    Returns
    -------
    float or None
        None where the prediction does not hold it.

    Raises
    ------
    InputError
        When the expression is none.
    """
    paths = expression.split(" / ")
    if len(paths) > 2:
        raise InputError(
            "quantity", expression, "it has one division at most", "write for instance a.b / c.d"
        )
    numbers = [_number(prediction, path.strip()) for path in paths]
    if any(number is None for number in numbers):
        return None
    if len(numbers) == 1:
        return numbers[0]
    above, below = (number or 0.0 for number in numbers)
    return above / below if below else None


def what_is_missing(predictions: Sequence[Answer], expression: str) -> str:
    """Say why an expression names no number of these predictions, and what they do hold."""
    words = f"the prediction does not hold {expression!r}"
    prediction = next((p for p in predictions if quantity_of(p, expression) is None), None)
    return words if prediction is None else words + _what_it_has(prediction, expression)


def _what_it_has(prediction: Answer, expression: str) -> str:
    """Return what of the kind asked for a prediction holds, as the end of a sentence."""
    if "leaves" in prediction and _LEAVES.search(expression):
        return f"; its drives are {', '.join(sorted({leaf['role'] for leaf in prediction['leaves']}))}"
    if "clients" in prediction and _CLIENTS.search(expression):
        return f"; its clients are {', '.join(c['kind'] for c in prediction['clients']) or 'none'}"
    if "phases" in prediction and _PHASES.search(expression):
        return f"; its phases are {', '.join(phase['name'] for phase in prediction['phases'])}"
    if "passes" in prediction and _PASS.search(expression):
        return f"; its passes are {', '.join(each['kind'] for each in prediction['passes']) or 'none'}"
    if _PROGRESS.search(expression) and prediction.get("progress"):
        return f"; it ends after {format_duration(prediction['progress'][-1]['time_s'])}"
    return ""


def _number(prediction: Answer, path: str) -> float | None:
    if match := _LEAVES.fullmatch(path):
        return _leaf_mean(prediction.get("leaves", ()), match[1], match[2])
    if match := _CLIENTS.fullmatch(path):
        found = (each for each in prediction.get("clients", ()) if each["kind"] == match[1])
        return _number(next(found, {}), match[2])
    if match := _PHASES.fullmatch(path):
        phases = [phase[match[2]] for phase in prediction.get("phases", ()) if phase["name"] == match[1]]
        return math.fsum(phases) if phases else None
    if match := _PASS.fullmatch(path) or _PASSES.fullmatch(path):
        return _of_passes(prediction.get("passes", ()), match[1], match[2])
    if match := _PROGRESS.fullmatch(path):
        return _interpolated(prediction.get("progress", ()), parse_duration(match[1]), match[2])
    if not re.fullmatch(r"\w+(\.\w+)*", path):
        remedy = "write for instance resilver_s.p50 or leaves[target].iops"
        raise InputError("quantity", path, "it names no part of a prediction", remedy)
    node: Any = prediction
    for key in path.split("."):
        node = node.get(key) if isinstance(node, Mapping) else None
    return float(node) if isinstance(node, int | float) else None


def _of_passes(passes: Sequence[Answer], which: str, path: str) -> float | None:
    """Return a number of the n-th pass, counted from 1, or how many passes are of a kind."""
    if not which.isdigit():
        return float(sum(each["kind"] == which for each in passes)) if passes else None
    return _number(passes[int(which) - 1], path) if 0 < int(which) <= len(passes) else None


def _leaf_mean(leaves: Sequence[Answer], role: str, key: str) -> float | None:
    """Return the mean over the drives of one role (or name), each row counted as often as it has drives."""
    rows = [leaf for leaf in leaves if role in (leaf["role"], leaf.get("name")) and leaf.get(key) is not None]
    if not rows:
        return None
    counts = [leaf.get("count", 1) for leaf in rows]
    return math.fsum(c * leaf[key] for c, leaf in zip(counts, rows, strict=True)) / math.fsum(counts)


def _interpolated(points: Sequence[Answer], time: float, key: str) -> float | None:
    known = [(point["time_s"], point[key]) for point in points if point.get(key) is not None]
    if len(known) < 2 or not known[0][0] <= time <= known[-1][0]:
        return None
    times, values = zip(*known, strict=True)
    return float(np.interp(time, times, values))
