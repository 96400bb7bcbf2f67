"""A store without a file; its methods are those of every store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zsim.planning.rows import Row


class MemoryStore:
    """Answers by key, kept nowhere else."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def known(self, keys: Sequence[str]) -> dict[str, Row]:
        """Return the answers that are there, by key."""
        return {key: self._rows[key] for key in keys if key in self._rows}

    def missing(self, keys: Sequence[str]) -> list[str]:
        """Return the keys without an answer, in their order."""
        return [key for key in keys if key not in self._rows]

    def add(self, key: str, sources: str, stated: Mapping[str, object], answer: Mapping[str, object]) -> None:
        """Keep one answer.

        Parameters
        ----------
        key : str
            See `zsim.planning.store.keys.key_of`.
        sources : str
            Hash of what made the answer, which is part of the key.
        stated : Mapping
            The scenario, as `Scenario.stated` gives it.
        answer : Mapping
            Columns of its row.
        """
        self._rows[key] = dict(answer)
