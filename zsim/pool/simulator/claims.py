"""Third copies of the MOS in a miniature, compiled; they decide which metaslabs are skipped.

Where all copies are on one vdev, the third goes to a metaslab that no allocator has.  If that was empty, its
largest free segment is smaller from then on, and the next allocator in need of a metaslab passes it over,
until all that are empty are taken or the last such block in it is freed.  A miniature writes its MOS as often
for its bytes as the real pool, which is too seldom for its small metaslabs; so what counts for this choice is
written apart from the rest of it, as often for the share of a metaslab.
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.simulator.memory import SLABS, now_of, rules_of, slabs_of, slots_of
from zsim.pool.simulator.metaslabs import allocate_in_group, current_slab, log_free, units_needed
from zsim.pool.simulator.placing import mix
from zsim.pool.simulator.segments import take_units
from zsim.pool.simulator.weights import CLAIM, PRIMARY, SECONDARY

NEARLY_EMPTY = 6  # less than 2**-6 of a metaslab is taken
THIRD = 2


@njit
def is_nearly_empty(pool: I64, slab: int) -> bool:
    """Tell whether hardly anything is in a metaslab, so that a sector more changes what it counts.

    In another one it would change no choice, but take room that a miniature has less of.
    """
    home = slabs_of(pool)[slab]
    return bool(home.units - home.free <= home.units >> NEARLY_EMPTY)


@njit
def has_nearly_empty(pool: I64) -> bool:
    """Tell whether any metaslab of the pool is nearly empty; looked up once a txg."""
    now = now_of(pool)[0]
    if now.looked_txg != rules_of(pool)[0].txg:
        now.looked_txg = rules_of(pool)[0].txg
        now.nearly_empty = 0
        for slab in range(pool[SLABS]):
            if is_nearly_empty(pool, slab):
                now.nearly_empty = 1
                break
    return bool(now.nearly_empty)


@njit
def change_hosts(pool: I64, number: int, allocator: int) -> None:
    """Note that the metaslabs of the first two copies change, which are not written here.

    A block of the log is freed when its metaslab has long been full: the space map of that is written once
    more, and its own third copy moves away.
    """
    now = now_of(pool)[0]
    block = slots_of(pool)[now.claims_first + number]
    for copy in range(THIRD):
        if block.copies > 0:
            slabs_of(pool)[block.slab[copy]].unmapped = 1
        slab = current_slab(pool, now.zero, PRIMARY if copy == 0 else SECONDARY, allocator)
        if slab < 0:
            slab = slots_of(pool)[now.mos_first].slab[copy]
        block.slab[copy] = slab
        slabs_of(pool)[slab].unmapped = 1
    block.copies = THIRD


@njit
def claim(pool: I64, number: int) -> None:
    """Rewrite the third copy of a block of the MOS.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    number : int
        Which of those that the miniature keeps, see `renew_claims`.

    Notes
    -----
    It stays only where little else is, see `is_nearly_empty`.
    """
    now = now_of(pool)[0]
    block = slots_of(pool)[now.claims_first + number]
    units = units_needed(pool, now.zero, now.sector)
    if block.psize > 0:
        log_free(pool, block.slab[THIRD], block.start[THIRD], units)
        block.psize = 0
    allocator = mix(number) % rules_of(pool)[0].allocators
    change_hosts(pool, number, allocator)
    slab, start = now.claimed, -1
    if slabs_of(pool)[slab].role == CLAIM:
        start = take_units(pool, slab, units)
    if start < 0:
        distance = rules_of(pool)[0].distance
        slab, start = allocate_in_group(pool, now.zero, units, THIRD, block.slab, allocator, distance)
    if start < 0:
        return
    now.claimed = slab
    if is_nearly_empty(pool, slab):
        block.slab[THIRD], block.start[THIRD] = slab, start
        block.psize = now.sector
    else:
        log_free(pool, slab, start, units)


@njit
def next_unmapped(pool: I64) -> int:
    """Return the next metaslab whose space map is older than its last change, -1 if there is none."""
    now = now_of(pool)[0]
    for _ in range(pool[SLABS]):
        slab = now.claim_map
        now.claim_map = (slab + 1) % pool[SLABS]
        if slabs_of(pool)[slab].unmapped:
            return int(slab)
    return -1


@njit
def claim_map(pool: I64, slab: int) -> None:
    """Rewrite the third copy of the space map of a metaslab."""
    slabs_of(pool)[slab].unmapped = 0
    claim(pool, 1 + pool[SLABS] + slab)


@njit
def renew_claims(pool: I64, placed: int) -> None:
    """Count placed bytes; where a real txg would have ended, write the third copies of its MOS.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    placed : int
        Of data [bytes].

    Notes
    -----
    In each txg: what is written in all of them (kept as one block), the next block of the space map log, that
    lives for as many txgs as there are metaslabs, and the space map of the next metaslab that has changed;
    without a log (to 0.8) those of all that have changed.  OpenZFS metaslab.c:metaslab_sync,
    spa_log_spacemap.c:spa_flush_metaslabs.
    """
    now = now_of(pool)[0]
    if now.claim_bytes == 0:
        return
    now.unclaimed += placed
    if now.unclaimed < now.claim_bytes or slots_of(pool)[now.mos_first].copies < THIRD:
        return
    now.unclaimed = 0
    if not has_nearly_empty(pool):
        return
    claim(pool, 0)
    if not now.log_space_maps:
        for slab in range(pool[SLABS]):
            if slabs_of(pool)[slab].unmapped:
                claim_map(pool, slab)
        return
    claim(pool, 1 + now.claim_log)
    now.claim_log = (now.claim_log + 1) % pool[SLABS]
    slab = next_unmapped(pool)
    if slab >= 0:
        claim_map(pool, slab)
