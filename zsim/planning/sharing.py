"""The order in which scenarios are run, so that those with the same blocks follow one another.

A process keeps the simulated blocks of its last prediction: another load, drive of the same size, host or
tunable is a third less work on them.  An answer does not depend on the order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

ASIDE = frozenset({
    "load", "tunables", "drive", "new_drive", "new_drive_size", "write_cache", "memory", "cpus", "hz",
    "enclosure", "ports", "platform", "attached", "product", "slow", "bad_sectors", "erc", "autosit",
    "second_at", "replace", "begins", "engine", "precision",
})  # fmt: skip
"""Fields that do not decide which blocks are on a pool, if the size of its drives is stated."""

Stated = dict[str, object]


def blocks_named(stated: Mapping[str, object]) -> str:
    """Return what a scenario states of its blocks; where that is equal the blocks are, as a rule."""
    aside = ASIDE if stated.get("drive_size") is not None else ASIDE - {"drive"}
    return json.dumps({name: stated[name] for name in sorted(stated) if name not in aside}, sort_keys=True)


class ScenarioQueue:
    """Scenarios that wait to be answered by several processes.

    Parameters
    ----------
    scenarios : sequence of dict
        As `Scenario.stated` gives them.
    """

    def __init__(self, scenarios: Sequence[Stated]) -> None:
        self._waiting: dict[str, list[tuple[int, Stated]]] = {}
        for place, stated in enumerate(scenarios):
            self._waiting.setdefault(blocks_named(stated), []).append((place, stated))
        self._begun: set[str] = set()

    def next_for(self, last: str | None) -> tuple[str, int, Stated] | None:
        """Return the name of the blocks, the place and the scenario that a process is to answer next.

        Parameters
        ----------
        last : str, optional
            The blocks that the process answered for last.

        Returns
        -------
        tuple or None
            On the same blocks as before; else on the first that nobody has begun with; else one of the most
            that wait for another process.  None when all are given out.
        """
        if not self._waiting:
            return None
        name = last if last in self._waiting else None
        if name is None:
            name = next((each for each in self._waiting if each not in self._begun), None)
        if name is None:
            name = max(self._waiting, key=lambda each: len(self._waiting[each]))
        self._begun.add(name)
        waiting = self._waiting[name]
        place, stated = waiting.pop(0)
        if not waiting:
            del self._waiting[name]
        return name, place, stated
