"""Drives that answer, but more slowly than their model, as a scenario states them."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, model_validator

from zsim.base.errors import InputError

_FORM = re.compile(r"(\d{1,5}|new):x?(\d{1,4}(?:\.\d{1,4})?)", re.ASCII)
REMEDY = "write 3:x2.5 for drive 3 that takes two and a half times as long"


class SlowDrive(BaseModel):
    """A drive whose every service takes longer than its model says.

    Text form: ``DRIVE:xFACTOR``, for example ``3:x2.5``.

    Attributes
    ----------
    drive : int
        Counted from 0 in the order of the layout; replacement drives come after it.
    factor : float
        On every service time (`zsim.drives.models.slowed`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    drive: int = Field(ge=0, description="drive, counted from 0 in the order of the layout")
    factor: float = Field(ge=1, le=1000, description="how many times as long each service takes")

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        match = _FORM.fullmatch(value.strip())
        if match is None or match[1] == "new":
            raise InputError("slow", value, "it is not DRIVE:xFACTOR", REMEDY)
        return {"drive": int(match[1]), "factor": float(match[2])}

    def __str__(self) -> str:
        return f"{self.drive}:x{self.factor:g}"
