"""Free memory before something large is allocated."""

from __future__ import annotations

from zsim.base.constants import whole_constant
from zsim.base.machine.at_rest import give_back
from zsim.pool.simulator.draws import forget_numbers

LARGE_BLOCKS = whole_constant("work.room_blocks")
"""Blocks from which on room is made."""


def make_room(blocks: int) -> None:
    """Give back what is at rest if about so many blocks, to be laid out or run on, are many.

    Notes
    -----
    A run takes some 500 bytes a block, in its tables and in its plane.
    """
    if blocks > LARGE_BLOCKS:
        forget_numbers()
        give_back()
