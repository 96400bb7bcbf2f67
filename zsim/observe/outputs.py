"""The interface of a reader: for output of zpool, zdb or any other tool about a pool and its host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Reader(Protocol):
    """What the module of an output offers; `zsim.observe.pool_import.given.readers` lists all of them."""

    def recognises(self, text: str) -> bool:
        """Tell whether a text holds the output, whatever stands before and behind it."""
        ...

    def read(self, text: str, name: str) -> Sequence[object]:
        """Read a text that was recognised.

        Parameters
        ----------
        text : str
        name : str
            Of the file, for messages.

        Returns
        -------
        sequence of object
            Facts, each of a plain data class; who needs them asks `PoolFiles.of` for that class.

        Raises
        ------
        InputError
            When it cannot be understood.
        """
        ...


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence about what could not be used."""

    text: str
