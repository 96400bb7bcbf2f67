"""What files say about a real pool: its blocks, its free space, its block sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zsim.pool.recipes.recipe import RecordClass, TopLevel
from zsim.pool.recipes.sizes import read_block_sizes
from zsim.scenario.model import Scenario

if TYPE_CHECKING:
    from zsim.pool.measured.block_list import KnownBlocks, Order
    from zsim.pool.measured.free_space import FreeSpace


@dataclass(frozen=True, slots=True)
class BlockList:
    """A list of every block, read as far as it is asked for: it may be longer than memory.

    Attributes
    ----------
    path : str
        As it was stated.
    first : int
        Number in the pool of the top-level vdev that is repaired, the first of the case's.
    """

    path: str
    first: int = 0

    def blocks(self, vdevs: tuple[TopLevel, ...], order: Order = "address") -> KnownBlocks:
        """Return its blocks, of a long list windows of them; see `load_blocks`."""
        from zsim.pool.measured.block_list import load_blocks  # noqa: PLC0415 - needs compiled code

        return load_blocks(self.path, vdevs, order, self.first)


@dataclass(frozen=True, slots=True)
class KnownPool:
    """What is known of a pool; None where no file was given.

    Attributes
    ----------
    block_list : BlockList or None
        Where there is one, the other two say nothing more.
    free_space : FreeSpace or None
        By metaslab.
    records : tuple of RecordClass or None
        Mix of block sizes.
    """

    block_list: BlockList | None = None
    free_space: FreeSpace | None = None
    records: tuple[RecordClass, ...] | None = None


def facts_of(scenario: Scenario) -> KnownPool:
    """Read what the files of a scenario say of its pool.

    Raises
    ------
    InputError
        When one cannot be read.
    """
    if scenario.block_list is not None:
        return KnownPool(block_list=BlockList(scenario.block_list, scenario.repaired_vdev))
    sizes, first = scenario.blocks, scenario.repaired_vdev
    return KnownPool(
        free_space=None if scenario.metaslabs is None else _free_space(scenario.metaslabs).led_by(first),
        records=None if sizes is None else read_block_sizes(sizes, scenario.recordsize),
    )


def _free_space(path: str) -> FreeSpace:
    from zsim.pool.measured.free_space import read_free_space  # noqa: PLC0415 - needs compiled code

    return read_free_space(path)
