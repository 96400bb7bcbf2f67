"""The answer of `zsim.risk`: stored, printed, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.planning.risk.records import Risk
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import DrawnAnswer, FramedAnswer, PrintedAnswer
from zsim.prediction.answer.sections import fragment, rendered
from zsim.prediction.answer.stored import StoredAnswer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zsim.prediction.answer.drawing import Picture


class RiskAnswer(PrintedAnswer, Risk, StoredAnswer, DrawnAnswer, FramedAnswer):
    """What `zsim.risk` returns; durations in seconds.

    Notes
    -----
    ``window`` begins with a drive's failure and ends with its repair; ``per_year`` and ``years`` begin with a
    healthy pool.
    """

    def rows(self) -> list[dict[str, object]]:
        """Return a row a period and grade: period, grade, p, low, high."""
        return [
            {"period": period, "grade": grade, **getattr(getattr(self, period), grade).model_dump()}
            for period in ("window", "per_year", "years")
            for grade in ("files", "vdev", "pool")
        ]

    def _frame_rows(self) -> Rows:
        return self.rows()

    def _figure(self) -> Picture:
        """Draw the ranges by grade and period, and what moves them."""
        from zsim.planning.risk.drawing import figure

        return figure(self)

    def __repr__(self) -> str:
        from zsim.planning.risk.wording import headline

        return f"<RiskAnswer: {headline(self)}>"

    def __rich__(self) -> RenderableType:
        from zsim.planning.risk.wording import headline, sections

        return rendered(headline(self), sections(self))

    def _repr_html_(self) -> str:
        from zsim.planning.risk.wording import headline, sections

        return fragment(headline(self), sections(self))
