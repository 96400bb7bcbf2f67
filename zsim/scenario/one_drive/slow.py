"""Drives that answer more slowly than their model, as a scenario states them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from zsim.base.errors import shown
from zsim.base.units import Duration, format_duration, parse_duration
from zsim.scenario.field_types import Fraction, Seconds
from zsim.scenario.one_drive.form import OfOneDrive

_FACTOR = re.compile(r"x?(\d{1,4}(?:\.\d{1,4})?)|(\d{1,4}(?:\.\d{1,4})?)x", re.ASCII)
_STUTTER = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)\s*%\s*@\s*(.+)", re.ASCII)
_SPELL = re.compile(r"(on|off)=(.+)", re.ASCII)


class SlowDrive(OfOneDrive):
    """A drive that is slower than its model says: always, for periods, or now and then.

    Text form: ``DRIVE:xFACTOR``, ``DRIVE:SHARE%@TIME`` or both, for example ``3:x2.5`` or ``3:1%@200ms``;
    ``on=`` and ``off=`` behind a factor are the mean lengths of the slow spells and of the time between them.

    Attributes
    ----------
    drive : int
        As `OfOneDrive` has it.
    factor : float
        On every service time (`zsim.drives.models.slowed`), or on those within a slow spell.
    stutter_share : float
        Share of the reads that take `stutter_s`.
    stutter_s : float
        [s]
    on_s, off_s : float or None
        Mean lengths of the slow spells, and of the time between; None: it is slow throughout [s].
    """

    FIELD, SYNTAX = "slow", "DRIVE:xFACTOR"
    FORM = re.compile(r"(\d{1,5}):(.+)", re.ASCII)
    REMEDY = (
        "write 3:x2.5 for drive 3 that takes two and a half times as long, 3:1%@200ms for one of which "
        "1 % of the reads take 200 ms, 3:x5,on=2h,off=20h for one that is slow for spells"
    )

    factor: float = Field(1.0, ge=1, le=1000, description="how many times as long each service takes")
    stutter_share: Fraction = Field(0.0, ge=0, le=1, description="share of the reads that take stutter_s")
    stutter_s: Seconds = Field(0.0, ge=0, le=3600, description="how long those reads take")
    on_s: Seconds | None = Field(None, gt=0, description="mean length of a slow spell; always if not given")
    off_s: Seconds | None = Field(None, gt=0, description="mean time between slow spells")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            drive: int,
            factor: float = 1.0,
            stutter_share: float | str = 0.0,
            stutter_s: Duration = 0.0,
            on_s: Duration | None = None,
            off_s: Duration | None = None,
        ) -> None: ...

    @classmethod
    def _said(cls, match: re.Match[str]) -> dict[str, object]:
        data: dict[str, object] = {}
        for item in match[2].split(","):
            data |= cls._item(match.string, item.strip())
        return data

    @classmethod
    def _item(cls, whole: str, text: str) -> dict[str, object]:
        """Read one part of what is said of a drive."""
        factor, stutter, spell = _FACTOR.fullmatch(text), _STUTTER.fullmatch(text), _SPELL.fullmatch(text)
        if factor is not None:
            return {"factor": float(factor[1] or factor[2])}
        if stutter is not None:
            long_s = parse_duration(stutter[2], cls.FIELD)
            return {"stutter_share": float(stutter[1]) / 100.0, "stutter_s": long_s}
        if spell is not None:
            return {f"{spell[1]}_s": parse_duration(spell[2], cls.FIELD)}
        raise cls._refusal(whole, f"{shown(text)} is not xFACTOR, SHARE%@TIME, on= or off=")

    @model_validator(mode="after")
    def _is_slow(self) -> SlowDrive:
        has_spells = self.on_s is not None or self.off_s is not None
        if has_spells and (self.on_s is None or self.off_s is None or self.factor == 1.0):
            raise self._refusal(str(self), "spells have on=, off= and a factor")
        if self.stutter_share > 0.0 and self.stutter_s <= 0.0:
            raise self._refusal(str(self), "a share of the reads needs how long they take")
        return self

    @property
    def constant(self) -> float | None:
        """The factor that holds throughout; None where there is none."""
        return None if self.on_s is not None or self.factor == 1.0 else self.factor

    @property
    def words(self) -> str:
        """How it stands in the answer beside the name of its model."""
        parts = []
        if self.factor > 1.0:
            parts.append(f"{self.factor:g}x slower{'' if self.on_s is None else ' at times'}")
        if self.stutter_share > 0.0:
            parts.append(f"{100 * self.stutter_share:g} % of reads take {format_duration(self.stutter_s)}")
        return ", ".join(parts)

    def __str__(self) -> str:
        parts = []
        if self.factor > 1.0 or self.stutter_share == 0.0:
            parts.append(f"x{self.factor:g}")
        if self.stutter_share > 0.0:
            parts.append(f"{100 * self.stutter_share:g}%@{_exact(self.stutter_s)}")
        if self.on_s is not None and self.off_s is not None:
            parts += [f"on={_exact(self.on_s)}", f"off={_exact(self.off_s)}"]
        return f"{self.drive}:{','.join(parts)}"


def _exact(seconds: float) -> str:
    """Return a time as it is read back, not rounded for a person."""
    return f"{1e3 * seconds:g}ms" if seconds < 1.0 else f"{seconds:g}s"
