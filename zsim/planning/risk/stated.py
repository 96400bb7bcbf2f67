"""What was stated about failures and repairs, in the words and units of the flags."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields

from zsim.base.units import format_duration, format_fraction
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, weibull_scale
from zsim.planning.risk.question import RiskInputs, assumed_age
from zsim.planning.risk.records import rounded

NOT_TOLD = ("seed",)
INPUTS_OF_REPAIRS = (
    "hours", "mttr", "correlation", "correlation_law", "scrub", "detect", "spare", "stress", "erc",
    "discipline",
)  # fmt: skip
"""Inputs about repairs, or about a second failure."""
CHANGES_NOTHING = "which changes nothing"


def stated_words(inputs: RiskInputs, *, repairs: bool = True) -> tuple[str, ...]:
    """Return what differs from leaving it out, one phrase an input.

    Parameters
    ----------
    inputs : RiskInputs
    repairs : bool
        Whether a drive that fails can be repaired; of plain disks none can.

    Examples
    --------
    >>> stated_words(RiskInputs(hours=86_400.0, afr=0.05, latent=False))
    ('repair 24 h', 'annual failure rate 5 %', 'no latent errors')
    """
    plain = RiskInputs()
    told = (
        (each.name, getattr(inputs, each.name))
        for each in fields(RiskInputs)
        if getattr(inputs, each.name) != getattr(plain, each.name) and each.name not in NOT_TOLD
    )
    return tuple(_WORDS[name](value) + _idle(inputs, name, repairs) for name, value in told)


def idle_words(inputs: RiskInputs, *, repairs: bool = True) -> tuple[str, ...]:
    """Return what is stated and changes nothing beside the rest, with the reason; see `stated_words`.

    Examples
    --------
    >>> idle_words(RiskInputs(age=3 * YEAR))
    ('drives 3 years old (which changes nothing: it counts with a Weibull shape, or without scrubs)',)
    """
    return tuple(words for words in stated_words(inputs, repairs=repairs) if CHANGES_NOTHING in words)


def life_words(inputs: RiskInputs, rate: float, years: float) -> tuple[str, ...]:
    """Return how often drives of their age fail, where that is not the rate that was stated.

    Parameters
    ----------
    inputs : RiskInputs
    rate : float
        Failures of a drive, mean over its life [1/s].
    years : float
        Horizon [years].

    Examples
    --------
    Drives that live for 33 years on average, four years old:

    >>> life_words(RiskInputs(shape=1.5, age=4 * YEAR), 0.03 / YEAR, 5.0)[0].partition(":")[2]
    ' of drives 4 years old 1.4 % fail in the first year, and 1.7 % a year over 5 years'
    """
    if inputs.shape == 1.0:
        return ()
    age = assumed_age(inputs)
    scale = weibull_scale(1.0 / rate, inputs.shape)

    def failing(span: float) -> str:
        spent = ((age + span) / scale) ** inputs.shape - (age / scale) ** inputs.shape
        return f"{rounded(-100 * math.expm1(-spent / (span / YEAR)), 2):g} %"

    old = f"{age / YEAR:g} years old" if age else "that are new"
    return (
        f"with Weibull shape {inputs.shape:g} the failure rate is the mean over a drive's life: of drives"
        f" {old} {failing(YEAR)} fail in the first year, and {failing(years * YEAR)} a year over {years:g}"
        " years",
    )


def _idle(inputs: RiskInputs, name: str, repairs: bool) -> str:
    """Return why an input changes nothing, in brackets; empty where it counts."""
    if not repairs and name in INPUTS_OF_REPAIRS:
        return f" ({CHANGES_NOTHING}: without redundancy the first failure decides)"
    no_scrubs = inputs.latent and inputs.scrub is not None and math.isinf(inputs.scrub)
    idle = {
        "age": (inputs.shape == 1.0 and not no_scrubs, "it counts with a Weibull shape, or without scrubs"),
        "scrub": (not inputs.latent, "scrubs find latent errors, and these are not counted"),
        "latent_incidence": (not inputs.latent, "latent errors are not counted"),
        "correlation_law": (inputs.correlation == 1.0, "failures are independent"),
    }
    is_idle, why = idle.get(name, (False, ""))
    return f" ({CHANGES_NOTHING}: {why})" if is_idle else ""


def _hours(seconds: object) -> str:
    """Return a duration in hours, as --hours and --mttf take it."""
    return f"{rounded(float(str(seconds)) / HOUR, 6):,.12g} h"


def _share(value: object) -> str:
    return value if isinstance(value, str) else format_fraction(float(str(value)))


def _scrub(seconds: object) -> str:
    interval = float(str(seconds))
    return f"a scrub every {format_duration(interval)}" if math.isfinite(interval) else "no scrubs"


_WORDS: Mapping[str, Callable[[object], str]] = {
    "hours": lambda value: f"repair {_hours(value)}",
    "afr": lambda value: f"annual failure rate {_share(value)}",
    "mttf": lambda value: f"mean time to failure {_hours(value)}",
    "mttr": lambda value: f"mean time to repair {_hours(value)}",
    "correlation": lambda value: f"correlation {value:g}",
    "correlation_law": lambda value: f"law of correlation {value}",
    "latent": lambda value: "no latent errors",
    "latent_incidence": lambda value: f"latent errors on {_share(value)} of the drives a month",
    "scrub": _scrub,
    "detect": lambda value: f"repair begins {format_duration(float(str(value)))} after the failure",
    "spare": lambda value: f"spare {value}",
    "age": lambda value: f"drives {float(str(value)) / YEAR:g} years old",
    "age_factor": lambda value: f"age factor {value:g}",
    "shape": lambda value: f"Weibull shape {value:g}",
    "stress": lambda value: f"stress factor {value:g}",
    "erc": lambda value: "no ERC",
    "discipline": lambda value: f"two repairs at once: {value}",
    "years": lambda value: f"{value:g} years",
    "method": lambda value: f"method {value}",
}
