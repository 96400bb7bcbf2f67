"""The inputs of a risk: each stated or assumed, with its spread."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from zsim.base.constants import Z90
from zsim.base.errors import InputError, check_number
from zsim.base.units import DAY, Duration, format_duration, parse_duration, parse_fraction
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, CorrelationLaw, Discipline
from zsim.planning.risk.reliability import Spread, fleet_rate, model_of_drive, model_rate, number, source
from zsim.scenario.one_drive.sick import NO_LIMIT

Method = Literal["chain", "simulation"]
METHODS = ("chain", "simulation")
SPARES = ("hot", "shelf", "order")
DISCIPLINES: tuple[Discipline, ...] = ("apart", "restart", "serial")
LAWS: tuple[CorrelationLaw, ...] = ("frailty", "same", "successive")
MONTH = YEAR / 12
OPEN = ("rate", "age_factor", "correlation", "latent", "delay", "hours")
"""Inputs that may not be known for certain."""


class Seconds(float):
    """A duration of which it is known that it is in seconds: one that was read with its unit [s]."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskInputs:
    """What is stated about failures and repairs; None means that a value is assumed.

    Durations may be text (``"30h"``, ``"30d"``; ``scrub="never"``) or a `datetime.timedelta`, shares text
    (``"1.5%"``).  A plain number is seconds; one that is more likely meant as hours, days or years
    (``hours=24``) is refused.

    Attributes
    ----------
    hours : float
        Fixed duration of the repair [s].
    afr : float or str
        Share of the drives that fail in a year, or the name of a drive model with known failures.
    mttf : float
        Instead of `afr`: mean time to failure [s].
    mttr : float
        Instead of `hours`: mean of an exponential law, as in the papers [s].
    correlation : float
        How many times likelier a failure is after one in the same vdev.
    correlation_law : {"frailty", "same", "successive"}
        See `zsim.planning.risk.one_vdev.group.Group`; by default frailty, with `mttr` successive as in the
        papers.
    latent : bool
        Whether latent errors are counted.
    latent_incidence : float
        Share of the drives that get a burst of them in a month.
    scrub : float
        Interval between scrubs [s]; infinite: never.
    detect : float
        From the failure until the repair begins [s].
    spare : {"hot", "shelf", "order"}
        Instead of `detect`: where the new drive comes from.
    age : float
        Age of the drives [s]: for Weibull lifetimes, and for pools that were never scrubbed (there 2.5 years
        are assumed).
    age_factor : float
        Factor on the failure rate for the drives' age.
    shape : float
        Weibull shape of drive lifetimes.
    stress : float
        Factor on the failure rate during a repair (no study has measured it; 1 is the default).
    erc : bool
        Whether drives give up on a bad sector within seconds (error recovery control).
    discipline : {"apart", "restart", "serial"}
        See `zsim.planning.risk.one_vdev.group.Group`; by default as the release does it.
    years : float
        Horizon [years].
    method : {"chain", "simulation"}
    seed : int
    """

    hours: float | None = None
    afr: float | str | None = None
    mttf: float | None = None
    mttr: float | None = None
    correlation: float | None = None
    correlation_law: CorrelationLaw | None = None
    latent: bool = True
    latent_incidence: float | None = None
    scrub: float | None = None
    detect: float | None = None
    spare: str | None = None
    age: float | None = None
    age_factor: float | None = None
    shape: float = 1.0
    stress: float = 1.0
    erc: bool = True
    discipline: Discipline | None = None
    years: float = 5.0
    method: Method | None = None
    seed: int = 1

    if TYPE_CHECKING:  # what may be given; the fields are what it is read as

        def __init__(
            self,
            *,
            hours: Duration | None = None,
            afr: float | str | None = None,
            mttf: Duration | None = None,
            mttr: Duration | None = None,
            correlation: float | None = None,
            correlation_law: CorrelationLaw | None = None,
            latent: bool = True,
            latent_incidence: float | str | None = None,
            scrub: Duration | None = None,
            detect: Duration | None = None,
            spare: str | None = None,
            age: Duration | None = None,
            age_factor: float | None = None,
            shape: float = 1.0,
            stress: float = 1.0,
            erc: bool = True,
            discipline: Discipline | None = None,
            years: float = 5.0,
            method: Method | None = None,
            seed: int = 1,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name, read in _READERS.items():
            object.__setattr__(self, name, read(getattr(self, name), name))
        _exclude(self, "hours", "mttr")
        _exclude(self, "afr", "mttf")
        _exclude(self, "detect", "spare")
        for name, low, high, remedy in _RANGES:
            _check(self, name, low, high, remedy)
        for name, known in _NAMES:
            _known(self, name, known)
        if self.shape != 1.0 and self.method == "chain":
            allowed = "chains have no memory, so lifetimes of shape 1 only"
            raise InputError("shape", self.shape, allowed, "use the method simulation")

    def with_spares(self, spares: int) -> RiskInputs:
        """Return the inputs with a hot spare, where there are any and nobody stated when a repair begins."""
        stated = self.detect is not None or self.spare is not None or self.mttr is not None
        return self if stated or not spares else replace(self, spare="hot")

    @property
    def chosen_law(self) -> CorrelationLaw:
        """The law of correlation stated, or the one that fits."""
        return self.correlation_law or ("frailty" if self.mttr is None else "successive")

    @property
    def chosen_method(self) -> Method:
        """The method stated, or the one that fits."""
        return self.method or ("chain" if self.shape == 1.0 else "simulation")


def _duration(value: object, name: str) -> object:
    """Return a duration in seconds, of one given as text or as a span of time."""
    if isinstance(value, Seconds):
        return value
    if name == "scrub" and (known := interval_named(value)) is not None:
        return Seconds(known)
    if isinstance(value, str | timedelta):
        return Seconds(parse_duration(value, name))
    found = _plain(value, name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return found
    least, factor, unit = MEANT[name]
    if 0 < found < least:
        allowed = f"a plain number is seconds here, and {found:,.12g} s are short for that"
        wanted = f'write {name}="{found * factor:.12g}{unit}", or "{found:.12g}s" if it is so short'
        raise InputError(name, value, allowed, wanted)
    return Seconds(found)


def _share(value: object, name: str) -> object:
    """Return a share, of one given as text; a name is left as it is where one may be given."""
    if isinstance(value, str) and (name != "afr" or value.strip()[:1] in SHARE_BEGINS):
        return parse_fraction(value, name)
    return _plain(value, name)


def _truth(value: object, name: str) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(name, value, "it is true or false", f"write {name}=False")


def _seed(value: object, name: str) -> int:
    check_number(name, value, "write seed=1", whole=True)
    if not isinstance(value, Integral) or not 0 <= int(value) < 2**63:
        raise InputError(name, value, "it is a whole number from 0 to 2**63 - 1", "write seed=1")
    return int(value)


def _plain(value: object, _name: str) -> object:
    """Return numbers of numpy and their like as those of Python, which JSON has."""
    if type(value) in (bool, int, float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


MEANT: dict[str, tuple[float, float, str]] = {
    **dict.fromkeys(("hours", "mttr"), (HOUR, 1.0, "h")),
    "mttf": (YEAR, 1.0, "h"),
    "scrub": (HOUR, 1.0, "d"),
    "detect": (60.0, 1.0, "h"),
    "age": (DAY, 365.0, "d"),
}
"""Below how many seconds a plain number is more likely meant in another unit, and how that is written."""
INTERVALS = {
    **dict.fromkeys(("never", "none", "off"), math.inf),
    "daily": DAY, "weekly": 7 * DAY, "monthly": 30 * DAY, "quarterly": 91 * DAY, "yearly": 365 * DAY,
}  # fmt: skip
"""Of scrubs, in words [s]."""


def interval_named(value: object) -> float | None:
    """Return the interval between scrubs that a word is [s]; None of anything else."""
    return INTERVALS.get(value.strip().lower()) if isinstance(value, str) else None


SHARE_BEGINS = tuple(".-0123456789")
_READERS: dict[str, Callable[[object, str], object]] = {
    **dict.fromkeys(("hours", "mttf", "mttr", "scrub", "detect", "age"), _duration),
    **dict.fromkeys(("afr", "latent_incidence"), _share),
    **dict.fromkeys(("correlation", "age_factor", "shape", "stress", "years"), _plain),
    **dict.fromkeys(("latent", "erc"), _truth),
    "seed": _seed,
}


def with_erc_of(inputs: RiskInputs, limit: float | None) -> RiskInputs:
    """Return inputs without error recovery control where the scenario's drives have none (``erc``)."""
    return replace(inputs, erc=False) if limit == NO_LIMIT and inputs.erc else inputs


_RANGES = (
    ("hours", 1.0, 100 * YEAR, "write for instance --hours 24"),
    ("mttf", HOUR, 1e6 * YEAR, "write hours, such as --mttf 1200000"),
    ("mttr", 1.0, 100 * YEAR, "write hours, such as --mttr 24"),
    ("correlation", 1.0, 1000.0, "1 is independence; 6 was measured"),
    ("latent_incidence", 0.0, 1.0, "write the share of drives hit in a month: 0.27%"),
    ("scrub", HOUR, math.inf, "write for instance --scrub 30d, or --scrub never"),
    ("detect", 0.0, 10 * YEAR, "write for instance --detect 12h"),
    ("age", 0.0, 100 * YEAR, "write years, such as --age 3"),
    ("age_factor", 0.01, 100.0, "1 leaves the rate as it is"),
    ("shape", 0.3, 10.0, "1 is a constant rate; 1.12 was measured of drives"),
    ("stress", 1.0, 100.0, "1 to 3 are in use"),
    ("years", 1e-3, 100.0, "write for instance --years 10"),
)
_NAMES = (
    ("correlation_law", LAWS),
    ("spare", SPARES),
    ("discipline", DISCIPLINES),
    ("method", METHODS),
)


def _check(inputs: RiskInputs, name: str, low: float, high: float, remedy: str) -> None:
    value = getattr(inputs, name)
    check_number(name.replace("_", "-"), value, remedy)
    if value is None or low <= value <= high:
        return
    allowed = f"it lies between {_shown(name, low)} and {_shown(name, high)}"
    raise InputError(name.replace("_", "-"), _shown(name, value), allowed, remedy)


def _shown(name: str, value: float) -> str:
    if name in ("hours", "mttf", "mttr", "scrub", "detect", "age"):
        return "never" if math.isinf(value) else format_duration(value)
    return f"{value:g}"


def _known(inputs: RiskInputs, name: str, known: tuple[str, ...]) -> None:
    value = getattr(inputs, name)
    if value is not None and not (isinstance(value, str) and value in known):
        raise InputError(
            name.replace("_", "-"), value, f"it is one of {', '.join(known)}", f"write {known[0]}"
        )


def _exclude(inputs: RiskInputs, one: str, other: str) -> None:
    if getattr(inputs, one) is not None and getattr(inputs, other) is not None:
        value = getattr(inputs, other)
        shown = _shown(other, value) if isinstance(value, float) else value
        raise InputError(f"--{other}", shown, f"it excludes --{one}", "give only one of them")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknowns:
    """Every input with its spread; SI units.

    Attributes
    ----------
    rate : Spread
        Failures of a drive [1/s].
    age_factor, correlation : Spread
        Factors [1].
    latent : Spread
        Bursts of latent errors on a drive [1/s].
    delay, hours : Spread
        [s]
    removal : float
        Mean time until a scrub removes latent errors [s].
    tripping : float
        Share of affected drives that ZED faults [1].
    notes : dict
        Field to what was assumed, in a sentence.
    """

    rate: Spread
    age_factor: Spread
    correlation: Spread
    latent: Spread
    delay: Spread
    hours: Spread
    removal: float
    tripping: float
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def open(self) -> tuple[str, ...]:
        """Names of the inputs that are not known for certain."""
        return tuple(name for name in OPEN if not getattr(self, name).is_exact)


def unknowns(inputs: RiskInputs, hours: Spread, drive: str | None) -> Unknowns:
    """Return all inputs of a risk.

    Parameters
    ----------
    inputs : RiskInputs
    hours : Spread
        Duration of the repair [s].
    drive : str or None
        Drive of zsim's catalogue, if its name was stated.
    """
    notes: dict[str, str] = {}
    rate, is_model = _rate(inputs, drive, notes)
    return Unknowns(
        rate=rate,
        age_factor=_age_factor(inputs, is_model, notes),
        correlation=_correlation(inputs, notes),
        latent=_latent(inputs, notes),
        delay=_delay(inputs, notes),
        hours=hours,
        removal=_removal(inputs, notes),
        tripping=number("latent", "tripping" if inputs.erc else "tripping_without_erc"),
        notes=notes,
    )


def _rate(inputs: RiskInputs, drive: str | None, notes: dict[str, str]) -> tuple[Spread, bool]:
    """Return the failure rate [1/s], and whether it is that of a model, at whatever age it was counted."""
    if inputs.mttf is not None:
        return Spread.exactly(1.0 / inputs.mttf), False
    if isinstance(inputs.afr, float | int):
        return Spread.exactly(rate_of_share(float(inputs.afr))), False
    model = inputs.afr or (model_of_drive(drive) if drive else None)
    found = fleet_rate() if model is None else model_rate(str(model))
    ends = f"{100 * found.low:.2g} to {100 * found.high:.2g} %"
    notes["afr"] = f"{100 * found.middle:.2g} % of the drives fail in a year ({ends}): {found.source}"
    return found.scaled(1.0 / YEAR), model is not None


def rate_of_share(share: float) -> float:
    """Return the constant rate [1/s] at which a share of the drives fails in a year of 8,766 hours.

    Raises
    ------
    InputError
        When it is not between 0 and 1.
    """
    if not 0.0 < share < 1.0:
        raise InputError(
            "afr", share, "a share of the drives, more than 0 % and less than 100 %", "write 1.5%"
        )
    return -math.log1p(-share) / YEAR


def _age_factor(inputs: RiskInputs, is_model: bool, notes: dict[str, str]) -> Spread:
    if inputs.age_factor is not None:
        return Spread.exactly(inputs.age_factor)
    if not is_model or inputs.shape != 1.0:
        return Spread.exactly(1.0)
    low, high = number("age", "low"), number("age", "high")
    notes["age-factor"] = f"their age makes that {low:g} to {high:g} times as much: {source('age', 'low')}"
    return Spread(1.0, low, high, reach=Z90)


def _correlation(inputs: RiskInputs, notes: dict[str, str]) -> Spread:
    if inputs.correlation is not None:
        return Spread.exactly(inputs.correlation)
    low, middle, high = (number("correlation", name) for name in ("low", "central", "high"))
    words = f"a second failure in the vdev is {middle:g} times likelier than by chance ({low:g} to {high:g})"
    notes["correlation"] = f"{words}: {source('correlation', 'central')}"
    return Spread(middle, low, high, reach=Z90)


def _latent(inputs: RiskInputs, notes: dict[str, str]) -> Spread:
    if not inputs.latent:
        return Spread.exactly(0.0)
    if inputs.latent_incidence is not None:
        return Spread.exactly(inputs.latent_incidence / MONTH)
    low, middle, high = (number("latent", f"incidence{end}") for end in ("_low", "", "_high"))
    words = f"{100 * middle:.2g} % of the drives get latent errors in a month"
    notes["latent-incidence"] = (
        f"{words} ({100 * low:.2g} to {100 * high:.2g} %): {source('latent', 'incidence')}"
    )
    return Spread(middle, low, high).scaled(1.0 / MONTH)


def _delay(inputs: RiskInputs, notes: dict[str, str]) -> Spread:
    if inputs.detect is not None:
        return Spread.exactly(inputs.detect)
    if inputs.mttr is not None and inputs.spare is None:
        return Spread.exactly(0.0)
    spare = inputs.spare or "shelf"
    middle, high = number("delay", spare) * HOUR, number("delay", f"{spare}_p90") * HOUR
    if inputs.spare is None:
        notes["spare"] = "a cold spare is on the shelf"
    notes["detect"] = (
        f"the repair begins {format_duration(middle)} after the failure "
        f"(p90 {format_duration(high)}): {source('delay', spare)}"
    )
    return Spread(middle, middle**2 / high, high)


def _removal(inputs: RiskInputs, notes: dict[str, str]) -> float:
    interval = inputs.scrub
    if interval is None:
        interval = number("scrub", "interval") * DAY
        if inputs.latent:
            notes["scrub"] = f"a scrub every {format_duration(interval)}: {source('scrub', 'interval')}"
    if inputs.latent and math.isinf(interval) and inputs.age is None:
        years = assumed_age(inputs) / YEAR
        notes["age"] = (
            f"never scrubbed in the {years:g} years that the drives are old: {source('age', 'middle')}"
        )
    return interval / 2.0


def assumed_age(inputs: RiskInputs) -> float:
    """Return the age of the drives [s]: stated, or where it decides how many latent errors wait, assumed."""
    if inputs.age is not None:
        return inputs.age
    never = inputs.scrub is not None and math.isinf(inputs.scrub)
    return number("age", "middle") * YEAR if never else 0.0


def as_plain(inputs: RiskInputs) -> dict[str, object]:
    """Return what was stated as plain data for JSON; a scrub that never comes is the text 'never'."""
    found = {name: getattr(inputs, name) for name in inputs.__slots__}
    found = {name: float(value) if isinstance(value, Seconds) else value for name, value in found.items()}
    if inputs.scrub is not None and math.isinf(inputs.scrub):
        found["scrub"] = "never"
    return found
