"""Drives with bad sectors, and drives on slow connections, as a scenario states them."""

from __future__ import annotations

import re
from datetime import timedelta
from numbers import Real
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.units import parse_duration
from zsim.scenario.one_drive.form import OfOneDrive

NO_LIMIT = 0.0


class BadSectors(OfOneDrive):
    """Sectors of a drive that hold data and cannot be read.

    Text form: ``DRIVE:COUNT``, for example ``3:1000``.

    Attributes
    ----------
    drive : int
        As `OfOneDrive` has it.
    count : int
        Physical sectors, such as SMART attribute 197 (Current_Pending_Sector) counts.
    """

    FIELD, SYNTAX = "bad_sectors", "DRIVE:COUNT"
    FORM = re.compile(r"(\d{1,5}):(\d{1,9})", re.ASCII)
    REMEDY = "write 3:1000 for 1000 sectors of drive 3 that cannot be read"

    count: int = Field(ge=1, le=10**9, description="sectors with data on them that cannot be read")

    @classmethod
    def _said(cls, match: re.Match[str]) -> dict[str, object]:
        return {"count": int(match[2])}

    def __str__(self) -> str:
        return f"{self.drive}:{self.count}"


class Attached(OfOneDrive):
    """A drive on a slow connection: a slower link than its own, no command queueing, USB.

    Text form: ``DRIVE:HOW``, for example ``3:sata-1.5g`` or ``3:sata1``: the ways of
    models/sickness/attachments.toml.

    Attributes
    ----------
    drive : int
        As `OfOneDrive` has it.
    how : str
    """

    FIELD, SYNTAX = "attached", "DRIVE:HOW"
    FORM = re.compile(r"(\d{1,5}):([a-z0-9.-]+)", re.ASCII | re.IGNORECASE)
    REMEDY = "write 3:sata-1.5g"

    how: str = Field(description="a way of models/sickness/attachments.toml, such as sata-1.5g")

    @classmethod
    def _said(cls, match: re.Match[str]) -> dict[str, object]:
        return {"how": _way(match[2].lower())}

    @model_validator(mode="after")
    def _is_known(self) -> Attached:
        known = sickness("attachments")
        if self.how not in known:
            also = {name: str(told["aliases"]).partition(" ")[0] for name, told in known.items()}
            names = (f"{name} ({other})" if other else name for name, other in also.items())
            raise self._refusal(self.how, f"one of {', '.join(names)}")
        return self

    def __str__(self) -> str:
        return f"{self.drive}:{self.how}"


def _way(word: str) -> str:
    """Return the name of a way to be attached, which may be said otherwise."""
    known = sickness("attachments")
    return next((name for name, told in known.items() if word in str(told["aliases"]).split()), word)


def sickness(name: str) -> dict[str, dict[str, object]]:
    """Return a file of ``models/sickness``."""
    data = model_data.load_toml(model_data.models_directory() / "sickness" / f"{name}.toml")
    return {key: value for key, value in data.items() if isinstance(value, dict)}


def read_limit(value: object) -> float | None:
    """Return how long drives try to read a bad sector [s]; `NO_LIMIT` of ``none``, None: not stated."""
    if isinstance(value, str) and value.strip().lower() == "none":
        return NO_LIMIT
    if value is None:
        return None
    if not isinstance(value, (str, Real, timedelta)):
        raise InputError("erc", str(value), "it is a time, or none", "write 7s or none")
    return parse_duration(value if isinstance(value, str | timedelta) else float(value), "erc")


RecoveryLimit = Annotated[
    float,
    BeforeValidator(read_limit),
    PlainSerializer(lambda limit: "none" if limit == NO_LIMIT else limit),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}], "examples": ["7s", "none"]}),
]
"""How long a drive tries to read a sector before it gives up [s]; 0: it has no limit of its own."""
