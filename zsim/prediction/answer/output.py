"""What all answers have in common: printing, and storing as JSON and as a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.files import replace_file
from zsim.prediction.answer.frames import Rows, data_frame
from zsim.prediction.answer.tables import TEXT_WIDTH, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from rich.console import RenderableType

    from zsim.prediction.answer.drawing import Picture


class SavedAnswer:
    """An answer that is stored as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        raise NotImplementedError

    def to_json(self, indent: int | None = 2) -> str:
        """Return the answer as JSON text, as ``--json`` prints it."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the answer as JSON; the file appears whole or not at all."""
        replace_file(path, self.to_json() + "\n")


class PrintedAnswer:
    """An answer that reads the same on a terminal and as plain text."""

    __slots__ = ()

    def __rich__(self) -> RenderableType:
        """Return the answer as a rich renderable."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the answer in words, without colour."""
        return plain(self.__rich__(), TEXT_WIDTH)


class FramedAnswer:
    """An answer with rows, for pandas."""

    __slots__ = ()

    def _frame_rows(self) -> Rows:
        """Return the rows, by the names of their columns."""
        raise NotImplementedError

    def to_frame(self) -> DataFrame:
        """Return the rows of the answer as a pandas data frame; pandas must be installed."""
        return data_frame(self._frame_rows())

    def to_pandas(self) -> DataFrame:
        """Return the same as `to_frame`."""
        return self.to_frame()


class DrawnAnswer:
    """An answer that has a picture."""

    __slots__ = ()

    def plot(self, *, dark: bool = False) -> Figure:
        """Return the picture of the answer, as a matplotlib figure that a notebook shows.

        Parameters
        ----------
        dark : bool
            Light ink on a dark ground.
        """
        from zsim.prediction.answer.drawing import themed

        return themed(self._figure(), dark)

    def _figure(self) -> Picture:
        """Return the picture in dark ink."""
        raise NotImplementedError

    def save_plot(self, path: str | Path, *, dark: bool = False) -> None:
        """Write the figure of `plot`; the ending (.svg, .png or .pdf) decides the format.

        Raises
        ------
        InputError
            If the ending is none of these, or the directory does not exist.
        """
        from zsim.prediction.answer.drawing import save

        save(self.plot(dark=dark), path)
