"""Drives of another model or size than the rest of the pool, as a scenario states them."""

from __future__ import annotations

import re

from pydantic import Field

from zsim.base.units import format_both
from zsim.scenario.field_types import DriveBytes
from zsim.scenario.one_drive.form import OfOneDrive


class ExchangedDrive(OfOneDrive):
    """A drive that has taken the place of one like the others.

    Text form: ``DRIVE:MODEL``, ``DRIVE:MODEL@CAPACITY``, or ``DRIVE:@CAPACITY`` for the model of the rest.
    Only what the old drives held is on it: the vdev does not grow before all are larger.

    Attributes
    ----------
    drive : int
        As `OfOneDrive` has it.
    model : str or None
        Name in the catalogue; None: as the rest.
    size : int or None
        [bytes]; None: as the model has it, of a generic one as the rest.
    """

    FIELD, SYNTAX = "exchanged", "DRIVE:MODEL"
    FORM = re.compile(r"(\d{1,5}):(?!\s*$)([^@]*)(?:@(.+))?", re.ASCII)
    REMEDY = (
        "write 0:mg08aca16 for drive 0 of that model, 0:generic-7200rpm-cmr@8TB or 0:@8TB with a capacity"
    )

    model: str | None = Field(None, min_length=1, description="its model; as the rest if not given")
    size: DriveBytes | None = Field(None, gt=0, description="its capacity")

    @classmethod
    def _said(cls, match: re.Match[str]) -> dict[str, object]:
        return {"model": match[2].strip() or None, "size": match[3]}

    def __str__(self) -> str:
        size = "" if self.size is None else f"@{format_both(self.size).partition(' (')[0].replace(' ', '')}"
        return f"{self.drive}:{self.model or ''}{size}"
