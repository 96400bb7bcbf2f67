"""The common form of statements about one drive: its number, a colon, and the value."""

from __future__ import annotations

import re
from typing import ClassVar

from pydantic import ConfigDict, Field, model_validator

from zsim.base.errors import InputError
from zsim.scenario.messages import SaidInOneSentence


class OfOneDrive(SaidInOneSentence):
    """What is said of one drive, in a text form ``DRIVE:WHAT`` or field by field.

    Attributes
    ----------
    drive : int
        Counted from 0 in the order of the layout; replacement drives come after it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    FIELD: ClassVar[str]
    """The field of the scenario, as messages name it."""
    FORM: ClassVar[re.Pattern[str]]
    """Of the text; its first group is the drive."""
    SYNTAX: ClassVar[str]
    """How messages write the form."""
    REMEDY: ClassVar[str]

    drive: int = Field(ge=0, description="drive, counted from 0 in the order of the layout")

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        match = cls.FORM.fullmatch(value.strip())
        if match is None:
            raise cls._refusal(value, f"it is not {cls.SYNTAX}")
        return {"drive": int(match[1]), **cls._said(match)}

    @classmethod
    def _said(cls, match: re.Match[str]) -> dict[str, object]:
        """Return the other fields, of a text that has the form."""
        raise NotImplementedError

    @classmethod
    def _refusal(cls, value: object, reason: str) -> InputError:
        """Return the error with which something that is said is refused."""
        return InputError(cls.FIELD, value, reason, cls.REMEDY)
