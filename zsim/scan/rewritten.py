"""Blocks that a scan does not find where the block list says: rewritten before or during it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import LEVEL_OBJSET, BlockTable


def rewritten_by_start(blocks: BlockTable) -> NDArray[np.bool_]:
    """Tell which blocks are gone when the scan sees the pool: those that the txgs which start it rewrite.

    These are the MOS blocks that every txg rewrites (the youngest of the list), the object directory, object
    1, where dsl_scan.c:dsl_scan_sync_state keeps the scan, and its dnode's block; what replaces them is too
    young.
    """
    mos: NDArray[np.bool_] = blocks.objset == 0
    if not mos.any():
        return mos
    youngest = blocks.birth == blocks.birth[mos].max()
    first_dnodes = (blocks.object == 0) & (blocks.level == 0) & (blocks.blkid == 0)
    result: NDArray[np.bool_] = mos & (youngest | (blocks.object == 1) | first_dnodes)
    return result


def comes_once(blocks: BlockTable) -> NDArray[np.bool_]:
    """Tell which blocks a pool, a file system or a snapshot has one of, however much it holds.

    The MOS, roots, indirect blocks of meta-dnodes, each of which stands for a thousand blocks of dnodes, and
    the first of those.  With copies far apart their I/O takes half a second: nothing in a pool, a tenth of
    what 5,000 blocks take.
    """
    first = (blocks.object == 0) & ((blocks.level != 0) | (blocks.blkid == 0))
    result: NDArray[np.bool_] = (blocks.objset == 0) | (blocks.level == LEVEL_OBJSET) | first
    return result


def rewritten_in_turn(blocks: BlockTable, shifts: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the MOS blocks that the end of each txg from the list of blocks on frees, as long as they last.

    With a log of space maps (2.0 and later) a txg writes out the space map that has waited longest, and drops
    the logs that only it needed: the blocks of the oldest birth, of as many as metaslabs are in use (OpenZFS
    spa_log_spacemap.c:spa_flush_metaslabs, spa_cleanup_old_sm_logs).

    Parameters
    ----------
    blocks : BlockTable
    shifts : sequence of int
        Size of the metaslabs of each top-level vdev [log2(bytes)].

    Returns
    -------
    list of ndarray of int64
        Rows of the table, txg by txg.
    """
    written = (blocks.objset == 0) & (blocks.level == 0) & (blocks.object > 0) & ~rewritten_by_start(blocks)
    if not written.any():
        return []
    used = sum(
        len(np.unique(blocks.dva_offset[blocks.dva_vdev == number] >> shift))
        for number, shift in enumerate(shifts)
    )
    turns = np.unique(blocks.birth[written])[-used:]
    return [np.flatnonzero(written & (blocks.birth == turn)) for turn in turns]
