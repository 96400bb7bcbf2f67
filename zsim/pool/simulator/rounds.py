"""Repeat the ageing steps of a history until the pool has the stated FRAG, in one compiled call."""

from __future__ import annotations

from zsim.base.arrays import F64, I64
from zsim.base.jit import njit
from zsim.pool.simulator.memory import BUCKETS, histogram_of, now_of, slabs_of, vdevs_of
from zsim.pool.simulator.writing import run_step


@njit
def metaslab_frag(pool: I64, slab: int, weights: F64) -> float:
    """Return FRAG of a metaslab [fraction], 0 where nothing is free.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it.
    slab : int
        Its number in the pool.
    weights : ndarray of float64, shape (48,)
        Share of fragmentation that a free segment of 2**i bytes stands for.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_set_fragmentation; `zsim.pool.fragmentation.slab_fragmentation` in numpy.
    """
    free = fragmented = 0.0
    size = 1.0
    for bucket in range(BUCKETS):
        free += histogram_of(pool, slab)[bucket] * size
        fragmented += histogram_of(pool, slab)[bucket] * size * weights[bucket]
        size *= 2.0
    return fragmented / free if free > 0.0 else 0.0


@njit
def pool_frag(pool: I64, weights: F64, sizes: F64, by_space: int) -> float:
    """Return FRAG of a pool [fraction]; 0 of one without vdevs.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it.
    weights : ndarray of float64, shape (vdevs, 48)
        As `metaslab_frag` takes them, for each vdev.
    sizes : ndarray of float64, shape (vdevs,)
        What all metaslabs of each vdev measure [bytes]; 0 of a vdev that does not count.
    by_space : int
        Whether metaslabs count by their free space, as in OpenZFS 2.4.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_group_fragmentation, metaslab_class_fragmentation;
    `zsim.pool.fragmentation.pool_fragmentation` in numpy, which sums in another order (1e-15 apart).
    """
    whole = total = 0.0
    for vdev in range(len(sizes)):
        row = vdevs_of(pool)[vdev]
        mean = shares = 0.0
        for slab in range(row.first, row.first + row.final_count):
            each = slabs_of(pool)[slab]
            share = max(float(each.free * row.unit + each.tail), 1.0) if by_space else 1.0
            shares += share
            # A metaslab that was never allocated from has no FRAG.
            if each.free != each.units:
                mean += share * metaslab_frag(pool, slab, weights[vdev])
        whole += sizes[vdev] * mean / shares
        total += sizes[vdev]
    return whole / total if len(sizes) else 0.0


@njit
def run_rounds(
    pool: I64,
    steps: I64,
    amounts: F64,
    least: int,
    most: int,
    wanted: float,
    weights: F64,
    sizes: F64,
    by_space: int,
    reached: F64,
) -> int:
    """Run steps round by round until the pool has a FRAG; return the rounds that were whole.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it; `failed` is set where it is full, or a plan ends.
    steps : ndarray of int64, shape (steps, 3)
        Operation, shortest and longest run of each step of a round, as `run_step` takes them.
    amounts : ndarray of float64, shape (steps,)
        Amount of each.
    least, most : int
        Rounds that are run whatever FRAG the pool has, and at most.
    wanted : float
        FRAG at which no further round begins [fraction]; none is wanted below 0.
    weights, sizes, by_space
        As `pool_frag` takes them.
    reached : ndarray of float64, shape (3,)
        FRAG before the first round and after the last is written here, and 1 if no further round is to
        follow, 0 if there were `most`.
    """
    now = pool_frag(pool, weights, sizes, by_space)
    reached[0] = reached[1] = now
    reached[2] = 1.0
    done = 0
    while done < most and (done < least or now < wanted):
        for step in range(len(amounts)):
            run_step(pool, steps[step, 0], amounts[step], steps[step, 1], steps[step, 2])
            if now_of(pool)[0].failed != 0:
                return done
        done += 1
        now = pool_frag(pool, weights, sizes, by_space)
        reached[1] = now
    if done < least or now < wanted:
        reached[2] = 0.0
    return done
