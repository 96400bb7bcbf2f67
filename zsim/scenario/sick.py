"""Drives with bad sectors, and drives attached worse than they could be, as a scenario states them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.units import format_duration, parse_duration

_BAD = re.compile(r"(\d{1,5}):(\d{1,9})", re.ASCII)
_ATTACHED = re.compile(r"(\d{1,5}):([a-z0-9.-]+)", re.ASCII)
BAD_REMEDY = "write 3:1000 for 1000 sectors of drive 3 that cannot be read"
NO_LIMIT = 0.0


class BadSectors(BaseModel):
    """Sectors of a drive that hold data and cannot be read.

    Text form: ``DRIVE:COUNT``, for example ``3:1000``.

    Attributes
    ----------
    drive : int
        Counted from 0 in the order of the layout.
    count : int
        Physical sectors, such as SMART attribute 197 (Current_Pending_Sector) counts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    drive: int = Field(ge=0, description="drive, counted from 0 in the order of the layout")
    count: int = Field(ge=1, le=10**9, description="sectors with data on them that cannot be read")

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        match = _BAD.fullmatch(value.strip())
        if match is None:
            raise InputError("bad_sectors", value, "it is not DRIVE:COUNT", BAD_REMEDY)
        return {"drive": int(match[1]), "count": int(match[2])}

    def __str__(self) -> str:
        return f"{self.drive}:{self.count}"


class Attached(BaseModel):
    """A drive attached worse than its model: a slower link, no command queueing, USB.

    Text form: ``DRIVE:HOW``, for example ``3:sata-1.5g`` or ``3:sata1``: the ways of
    models/sickness/attachments.toml.

    Attributes
    ----------
    drive : int
        Counted from 0 in the order of the layout.
    how : str
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    drive: int = Field(ge=0, description="drive, counted from 0 in the order of the layout")
    how: str = Field(description="a way of models/sickness/attachments.toml, such as sata-1.5g")

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        match = _ATTACHED.fullmatch(value.strip().lower())
        if match is None:
            raise InputError("attached", value, "it is not DRIVE:HOW", "write 3:sata-1.5g")
        return {"drive": int(match[1]), "how": _way(match[2])}

    @model_validator(mode="after")
    def _is_known(self) -> Attached:
        known = sickness("attachments")
        if self.how not in known:
            raise InputError("attached", self.how, f"one of {', '.join(known)}", "write 3:sata-1.5g")
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


def _read_limit(value: object) -> object:
    if isinstance(value, str) and value.strip().lower() == "none":
        return NO_LIMIT
    if value is None:
        return None
    if not isinstance(value, (str, int, float)):
        raise InputError("erc", str(value), "it is a time, or none", "write 7s or none")
    return parse_duration(value, "erc")


RecoveryLimit = Annotated[
    float,
    BeforeValidator(_read_limit),
    PlainSerializer(lambda limit: "none" if limit == NO_LIMIT else limit),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}], "examples": ["7s", "none"]}),
]
"""How long a drive tries to read a sector before it gives up [s]; 0: it has no limit of its own."""


def limit_words(limit: float) -> str:
    """Return a recovery limit as a person reads it."""
    return "none" if limit == NO_LIMIT else format_duration(limit)
