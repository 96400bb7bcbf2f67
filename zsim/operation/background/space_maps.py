"""Space maps that a rebuild reads: first those the attach allocates by, then that of each metaslab."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.engine.model import VdevModel
from zsim.operation.cursors import best_places
from zsim.operation.setup import RunSetup
from zsim.operation.txg import SYNC_READ_CLASS, Cursor, vdev_asize
from zsim.vdevs.dispatch import pieces_of_blocks
from zsim.vdevs.kind import kind_of

Integers = NDArray[np.int64]

# Blocks of space maps beside a log of them (metaslab.c:zfs_metaslab_sm_blksz_with_log) [bytes].
SPACE_MAP_BLOCK = 1 << 17
# Metaslabs that the end of a txg loads, the best of those nothing was allocated from (metaslab.c:
# metaslab_preload_limit; seen: all 4, 6, 6 and 5 that were left, 8 of 16).
PRELOADED = 10
# Allocators whose metaslabs are loaded before the task that starts a rebuild runs, where allocators take
# turns (seen in six runs of 2.3.9; without turns all are: 2.1.5).
LOADED_BEFORE = 2


class SpaceMaps:
    """Which metaslabs of the vdev that is rebuilt have their space map in memory, and reads of the others.

    A pool in use has those it allocates from; after an import the txg of the attach reads them one after the
    other, since each allocation waits for its own (metaslab.c:metaslab_activate, metaslab_load).

    Parameters
    ----------
    setup : RunSetup
    number : int
        Of the top-level vdev.
    """

    def __init__(self, setup: RunSetup, number: int) -> None:
        self.vdev: VdevModel = setup.model.vdevs[number]
        shift = setup.metaslab_shift_of(self.vdev)
        allocators = setup.first_cursors()
        self._places = _places(setup, number, [each for cursors in allocators for each in cursors])
        asize = vdev_asize(setup.model, self.vdev)
        best = best_places(setup.blocks, number, asize, 1 << shift) >> shift
        used = [
            list(dict.fromkeys(offset >> shift for where, offset in cursors if where == number))
            for cursors in allocators
        ]
        self.allocating = list(dict.fromkeys(metaslab for each in used for metaslab in each))
        self.preloaded = [each for each in best.tolist() if each not in self.allocating][:PRELOADED]
        turns = setup.imported and setup.txg_rules.rotates
        before = used[:LOADED_BEFORE] if turns else used
        self.loaded = {metaslab for each in before for metaslab in each}
        if not setup.imported:
            self.loaded.update(self.preloaded)

    def reads(self, metaslabs: list[int]) -> list[Integers]:
        """Return the reads of the space maps that are not in memory, and take them as read.

        Returns
        -------
        list of ndarray of int, shape (children, 5)
            Leaf, class, 0 for a read, offset and length [bytes] of each child read, map by map.
        """
        missing = [metaslab for metaslab in metaslabs if metaslab not in self.loaded]
        self.loaded.update(missing)
        return [self._read(*self._places[metaslab % len(self._places)]) for metaslab in missing]

    def _read(self, offset: int, size: int) -> Integers:
        vdev = self.vdev
        pieces = pieces_of_blocks(vdev, vdev.ashift, np.array([offset]), size)[:, 1:].tolist()
        readable = [piece for piece in pieces if vdev.read_leaf[piece[0]] >= 0]
        if kind_of(vdev.kind).is_replicated:
            readable = [readable[offset // SPACE_MAP_BLOCK % len(readable)]]
        elif len(readable) == len(pieces):
            readable = readable[vdev.parity :]
        rows = [(vdev.read_leaf[child], SYNC_READ_CLASS, 0, at, size) for child, at, size in readable]
        return np.array(rows, np.int64)


def _places(setup: RunSetup, number: int, cursors: list[Cursor]) -> list[tuple[int, int]]:
    """Return where space maps lie on a top-level vdev, and how large they are there [bytes].

    They are the MOS blocks of their size; where none is listed they lie where the MOS is written.
    """
    blocks, copies = setup.blocks, [(offset, 1 << setup.model.vdevs[number].ashift) for _, offset in cursors]
    rows = np.flatnonzero(
        (blocks.objset == 0)
        & (blocks.level == 0)
        & (blocks.lsize == SPACE_MAP_BLOCK)
        & (blocks.dva_vdev[:, 0] == number)
    )
    if len(rows) == 0:
        return copies
    return list(zip(blocks.dva_offset[rows, 0].tolist(), blocks.psize[rows].tolist(), strict=True))
