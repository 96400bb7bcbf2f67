"""The return value of `zsim.eta`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zsim.base.parsed import Parsed, table
from zsim.planning.eta.records import EtaAnswer
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import DrawnAnswer, FramedAnswer
from zsim.prediction.answer.stored import StoredRecord
from zsim.prediction.answer.tables import escaped

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zsim.prediction.answer.drawing import Picture


class Eta(EtaAnswer, DrawnAnswer, StoredRecord, FramedAnswer):
    """When a running scan is over; its fields are those of `zsim.planning.eta.records.EtaAnswer`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Eta: {str(self).partition(chr(10))[0]}>"

    def __str__(self) -> str:
        """Return the answer in words."""
        from zsim.planning.eta.wording import as_text

        return as_text(self)

    def __rich__(self) -> RenderableType:
        """Return the answer as a rich renderable."""
        from zsim.planning.eta.wording import renderable

        return renderable(self)

    @classmethod
    def _fields_of(cls, data: Parsed) -> Mapping[str, object]:
        zpool = table(data, "zpool")
        told = {name: zpool.get(name) for name in ("remaining_s", "total_s", "why")}
        return {
            **data,
            "parts": data.get("parts_s"),
            **{f"zpool_{name}": value for name, value in told.items()},
            "zpool_prints": zpool.get("printed"),
            "zpool_says_no_minute": zpool.get("says_no_minute", False),
        }

    def _frame_rows(self) -> Rows:
        """Return one row: frames of several statuses, put together, are the course of a scan."""
        left, whole = self.remaining_s, self.total_s
        return [
            {
                "pool": self.pool,
                "at": self.at,
                "phase": self.phase,
                "done": self.done,
                "elapsed_s": self.elapsed_s,
                **{f"remaining_{name}_s": seconds for name, seconds in left.to_dict().items()},
                **{f"total_{name}_s": seconds for name, seconds in whole.to_dict().items()},
                "zpool_remaining_s": self.zpool_remaining_s,
                "pace": self.pace,
            }
        ]

    def _figure(self) -> Picture:
        """Draw what is gone, the interval of the end, and zpool's own."""
        from zsim.planning.eta.drawing import figure

        return figure(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escaped(str(self))}</pre>"
