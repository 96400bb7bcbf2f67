"""Drives and links laid out in the memory of the compiled engine."""

from __future__ import annotations

from collections.abc import Sequence

from zsim.drives.physics.mechanics import drive_table, zone_table
from zsim.drives.physics.smr import COUNTERS, counters_at_first, smr_bands
from zsim.engine.codes import CLASSES
from zsim.engine.compiled.memory import PlaneMemory
from zsim.engine.model import LeafModel, LinkModel


def shingle_words(leaves: Sequence[LeafModel]) -> int:
    """Return how many numbers the state of all shingled drives takes."""
    return sum(COUNTERS + 4 * smr_bands(leaf.drive) for leaf in leaves)


def load_devices(memory: PlaneMemory, leaves: Sequence[LeafModel], links: Sequence[LinkModel]) -> None:
    """Lay out drives, links and the state in which they begin."""
    memory.drives[:], memory.rates[:] = drive_table([leaf.drive for leaf in leaves])
    memory.zones[:] = zone_table(memory.drives, memory.rates)
    memory.leaves["link"] = [leaf.link for leaf in leaves]
    memory.leaves["last_class"] = CLASSES - 1
    memory.leaves["ahead_since"] = -1.0
    _load_shingles(memory, leaves)
    for number, link in enumerate(links):
        memory.links[number]["rate"] = link.rate
        memory.links[number]["per_command"] = link.per_command_s
        memory.links[number]["command_based"] = link.command_based
        memory.links[number]["parent"] = link.parent
    memory.links["first"] = -1


def _load_shingles(memory: PlaneMemory, leaves: Sequence[LeafModel]) -> None:
    """Lay out the state of every shingled drive (`smr.shingles_at_first`): bands and queue are zeros.

    Those are left as they are: memory that is never touched is never taken.
    """
    first = 0
    for number, leaf in enumerate(leaves):
        bands = smr_bands(leaf.drive)
        if bands == 0:
            continue
        memory.shingle_bounds[number] = first, bands
        memory.shingles[first : first + COUNTERS] = counters_at_first(leaf.drive)
        first += COUNTERS + 4 * bands
