"""What a fleet file states: pools, the site they share, and the number of years."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Self

from pydantic import ConfigDict, Field, model_validator

from zsim.base.errors import InputError, check_kind, check_path, is_finite
from zsim.base.model_data import load_toml
from zsim.base.parsed import table
from zsim.base.units import parse_duration, parse_fraction
from zsim.planning.risk.one_vdev.group import HOUR, YEAR
from zsim.planning.risk.question import RiskInputs, Seconds, interval_named, with_erc_of
from zsim.scenario.asked import at_rest
from zsim.scenario.messages import SaidInOneSentence
from zsim.scenario.model import Scenario

OWN_FIELDS = ("name", "count", "hours", "fill_per_year")
RISK_FIELDS = (
    "afr",
    "correlation",
    "latent",
    "latent_incidence",
    "scrub",
    "age",
    "age_factor",
    "shape",
    "erc",
)
DURATIONS = {"lead_time": 86400.0, "visit": HOUR, "detect": HOUR}
"""Fields of a fleet that are durations, and what a plain number of them means [s]."""


class Pools(SaidInOneSentence):
    """Pools that are alike.

    Examples
    --------
    >>> pools = Pools.read({"name": "archive", "count": 40, "layout": "2*raidz2x12", "fill": 0.8})
    >>> pools.scenario.layout.leaves
    24
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str = Field(min_length=1, description="what these pools are called")
    count: int = Field(1, ge=1, le=100_000, description="how many there are")
    hours: float | None = Field(None, gt=0, description="fix the duration of a repair [h]")
    fill_per_year: float = Field(0.0, ge=-1, le=1, description="what the fill grows by in a year: 0.05")
    scenario: Scenario
    inputs: RiskInputs

    @classmethod
    def read(cls, data: Mapping[str, object]) -> Self:
        """Return the pools of one ``[[pool]]`` table: fields of a scenario, of a risk, and its own.

        Raises
        ------
        InputError
            Naming the field that cannot be used.
        """
        if "scenario" in data:
            return cls._of_plain(data)
        own = {name: data[name] for name in OWN_FIELDS if name in data}
        if isinstance(hours := own.get("hours"), str | timedelta):
            own["hours"] = parse_duration(hours, "hours") / HOUR
        stated = {name: data[name] for name in RISK_FIELDS if name in data}
        if not isinstance(stated.get("erc"), bool):
            # As text or number it is the time limit of the scenario, of which ``none`` counts here too.
            stated.pop("erc", None)
        rest = {name: value for name, value in data.items() if name not in own and name not in stated}
        scenario = Scenario.from_dict(at_rest(rest))
        own.setdefault("name", str(scenario.pool_layout))
        return cls._made(own, scenario, with_erc_of(_inputs(_risk(stated)), scenario.erc))

    @classmethod
    def _of_plain(cls, data: Mapping[str, object]) -> Self:
        """Return the pools of what `Fleet.plain` gives of them."""
        own = {name: value for name, value in data.items() if name not in ("scenario", "risk")}
        return cls._made(own, Scenario.from_dict(table(data, "scenario")), _inputs(table(data, "risk")))

    @classmethod
    def _made(cls, own: Mapping[str, object], scenario: Scenario, inputs: RiskInputs) -> Self:
        made: Callable[..., Self] = cls  # it checks what it is given
        return made(**own, scenario=scenario, inputs=inputs)


class Fleet(SaidInOneSentence):
    """A fleet: its pools, and what they share.

    Attributes
    ----------
    years : float
    trials : int
        Histories of the whole fleet; where it is not stated, more are simulated of a fleet that rarely loses
        a drive.
    seed : int
    spares : int or None
        Drives on the shelf; each one used is ordered again. None: always enough.
    lead_time : float
        Until an ordered drive arrives [s].
    crews : int or None
        Repairs that may be begun at a time; None: always enough.
    visit : float
        What a crew needs to replace a drive [s].
    detect : float
        From a failure until somebody knows [s].
    pool : tuple of Pools
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    years: float = Field(5.0, gt=0, le=100, description="how long to look")
    trials: int = Field(2000, ge=1, le=10_000_000, description="histories of the whole fleet")
    seed: int = Field(1, ge=0, lt=2**63, description="seed of everything random")
    spares: int | None = Field(None, ge=0, le=1_000_000, description="drives on the shelf")
    lead_time: float = Field(14 * 86400.0, ge=0, description="until an ordered drive arrives, such as 14d")
    crews: int | None = Field(None, ge=1, le=100_000, description="repairs that may be begun at a time")
    visit: float = Field(HOUR, ge=0, description="what a crew needs for a drive, such as 1h")
    detect: float = Field(HOUR, ge=0, description="from a failure until somebody knows, such as 1h")
    pool: tuple[Pools, ...] = Field(min_length=1, description="tables [[pool]]")

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [each.name for each in self.pool]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError("pool.name", twice, "each [[pool]] has a name of its own", "give another")
        return self

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the fleet of plain data, as a TOML file holds it, or of what `plain` gives.

        In a file numbers of ``lead_time`` are days, of ``visit``, ``detect`` and ``hours`` hours; `plain` and
        the provenance of an answer have all durations but ``hours`` in seconds.

        Raises
        ------
        InputError
            Naming the field that cannot be used.
        """
        check_kind("fleet", data, (Mapping,), "it is a mapping of fields to values", "give a dict")
        pools = data.get("pool")
        if not isinstance(pools, list | tuple) or not all(isinstance(each, Mapping) for each in pools):
            raise InputError(
                "pool", None, "a fleet has tables [[pool]]", "write [[pool]] and a layout below it"
            )
        fields = {name: value for name, value in data.items() if name != "pool"}
        in_seconds = any("scenario" in each for each in pools)
        for name, size in DURATIONS.items():
            if name in fields:
                fields[name] = _duration(fields[name], 1.0 if in_seconds else size, name)
        made: Callable[..., Self] = cls  # it checks what it is given
        return made(**fields, pool=tuple(Pools.read(each) for each in pools))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the fleet of a TOML file; see `from_dict` for what is raised."""
        check_path("fleet", path)
        return cls.from_dict(load_toml(Path(path), "fleet"))

    def changed(self, **changes: object) -> Self:
        """Return the fleet with some fields set otherwise, checked anew."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        made: Callable[..., Self] = type(self)
        return made(**{**fields, **changes})

    def plain(self) -> dict[str, object]:
        """Return what is stated as plain data for JSON, which `from_dict` reads; durations in seconds."""
        from zsim.planning.risk.question import as_plain

        pools = [
            {
                "name": each.name,
                "count": each.count,
                "hours": each.hours,
                "fill_per_year": each.fill_per_year,
                "scenario": each.scenario.stated(),
                "risk": {name: value for name, value in as_plain(each.inputs).items() if value is not None},
            }
            for each in self.pool
        ]
        return {**self.model_dump(mode="json", exclude={"pool"}), "pool": pools}


def _risk(stated: dict[str, object]) -> dict[str, object]:
    """Return fields of a risk as a file has them in SI units."""
    found = dict(stated)
    if isinstance(afr := found.get("afr"), str) and afr[:1].isdigit():
        found["afr"] = parse_fraction(afr, "afr")
    if "latent_incidence" in found:
        found["latent_incidence"] = parse_fraction(str(found["latent_incidence"]), "latent_incidence")
    if "age" in found:
        found["age"] = Seconds(_number(found["age"], "age") * YEAR)
    for name in ("correlation", "age_factor", "shape"):
        if name in found:
            found[name] = _number(found[name], name)
    if "scrub" in found:
        known = interval_named(found["scrub"])
        found["scrub"] = Seconds(_duration(found["scrub"], 86400.0, "scrub") if known is None else known)
    return found


def _inputs(fields: Mapping[str, object]) -> RiskInputs:
    made: Callable[..., RiskInputs] = RiskInputs  # it checks what it is given
    return made(**fields)


def _duration(value: object, size: float, name: str) -> float:
    if not isinstance(value, str | timedelta):
        if is_finite(value):
            return float(value) * size
        raise InputError(name, value, "a duration such as 12h or 14d", "")
    return parse_duration(value, name)


def _number(value: object, name: str) -> float:
    if not is_finite(value):
        raise InputError(name, value, "it is a number", "write it without quotes")
    return float(value)
