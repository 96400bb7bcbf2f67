"""The prediction: the records of an answer, which can be stored, printed and drawn."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Self, cast

from pydantic import PrivateAttr

from zsim.prediction.answer.brief import as_brief, brief_html, brief_text, short
from zsim.prediction.answer.output import DrawnAnswer
from zsim.prediction.answer.records import Answer
from zsim.prediction.answer.stored import StoredAnswer
from zsim.prediction.answer.tables import TEXT_WIDTH
from zsim.prediction.answer.wording import as_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from zsim.prediction.answer.brief import FirstScreen
    from zsim.prediction.answer.drawing import Picture


DOOR = "zsim.prediction.api"
"""Hands `Held.given` over; opened by name where a prediction was read from a file and none was made."""


class Held:
    """The runs behind a prediction, as long as it lives: neither stored nor compared.

    Attributes
    ----------
    given : callable or None
        Makes the prediction again from it, its runs and evidence; handed over by what makes predictions.
    """

    given: ClassVar[Callable[[Prediction, object, object], Prediction] | None] = None

    def __init__(self, runs: object = None) -> None:
        self.runs = runs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held)

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> tuple[type[Held], tuple[()]]:
        return Held, ()


class Prediction(Answer, StoredAnswer, DrawnAnswer):
    """The return value of `zsim.predict`.

    Notes
    -----
    Durations are in seconds, sizes in bytes, rates in bytes per second.  Byte counts are the sums over all
    leaves at the drives' interfaces; ``resilvered_bytes`` is what ``zpool status`` reports as resilvered.
    `plot` draws the fan of progress, finish times, where the time goes, and drives by phase.
    """

    _held: Held = PrivateAttr(default_factory=Held)

    def given(self, evidence: object) -> Self:
        """Return the prediction once more is known of the pool.

        Parameters
        ----------
        evidence : str, Observation, or several of them
            What the pool has shown, as in a scenario: ``"scrub=25h17m"``,
            ``FinishedScan(kind="scrub", duration="25h17m")``.

        Returns
        -------
        Prediction
            The quantiles are those of a prediction that has this evidence from the beginning.  Its worlds are
            the same, weighed anew: the scans observed are run on them, and those nearest to the new median
            on larger populations.  The world shown in detail stays that of this prediction, its times
            stretched to the new answer.  A prediction read from a file, or with a precision, is made again.

        Raises
        ------
        InputError
            If the evidence cannot be read.
        """
        if Held.given is None:
            importlib.import_module(DOOR)
        assert Held.given is not None
        return cast(Self, Held.given(self, self._held.runs, evidence))

    def __str__(self) -> str:
        """Return the first screen in words, as ``zsim predict`` prints it without colour."""
        return brief_text(self)

    def __repr__(self) -> str:
        return short(self)

    def explain(self, width: int = TEXT_WIDTH) -> str:
        """Return all of the answer in words, as ``zsim predict -v`` prints it.

        Parameters
        ----------
        width : int
            Columns of a line at most.
        """
        return as_text(self, width)

    def __rich__(self) -> FirstScreen:
        """Return the first screen as a rich renderable."""
        return as_brief(self, more="")

    def _repr_html_(self) -> str:
        return brief_html(self)

    def to_frame(self, part: str = "answer") -> DataFrame:
        """Return a part of the answer as a pandas data frame; pandas must be installed.

        Parameters
        ----------
        part : str
            ``"answer"``: one row of what was stated, the quantiles [s], the bottleneck and the bytes;
            ``"progress"``, ``"leaves"``, ``"phases"``, ``"breakdown"``, ``"clients"``, ``"drivers"``,
            ``"evidence"``, ``"assumptions"``: a row each, columns as in the records.

        Raises
        ------
        InputError
            When there is no such part, or pandas is not installed.
        """
        from zsim.prediction.answer.frames import frame

        return frame(self, part)

    def to_pandas(self, part: str = "answer") -> DataFrame:
        """Return the same as `to_frame`."""
        return self.to_frame(part)

    def _figure(self) -> Picture:
        """Draw fan of progress, finish times, where the time goes, drives by phase."""
        from zsim.prediction.answer.panels import figure

        return figure(self)


class PredictionInterrupted(KeyboardInterrupt):
    """Ctrl-C during a prediction; carries what was known by then.

    Attributes
    ----------
    partial : Prediction or None
        The answer so far, with the wider interval that it has; None if there is none yet.
    """

    def __init__(self, partial: Prediction | None = None) -> None:
        super().__init__()
        self.partial = partial
