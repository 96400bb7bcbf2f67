"""Every I/O: the pool in tiles, each as large as memory bears, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from zsim.predict.ensemble import Member
from zsim.predict.member import run_member
from zsim.predict.population import miniature
from zsim.scenario.resolve import ResolvedScenario

TILE_BLOCKS = 150_000


def exact_time(resolved: ResolvedScenario, progress: Callable[[float, str], None]) -> float:
    """Return the duration with every I/O of the pool simulated [s].

    The pool is a sequence of tiles, each a population of its own over all the pool's metaslabs; a tile's
    time counts as often as it must to make up the pool's bytes, the last one in part.
    """
    done, total, number = 0.0, 0.0, 0
    while done < 1.0:
        seeded = replace(resolved, seed=resolved.seed + number)
        pool = miniature(seeded, Member(), blocks=TILE_BLOCKS)
        result = run_member(seeded, Member(), pool=pool)
        share = min(1.0 / pool.scale, 1.0 - done)
        total += result.time_s * share
        done += share
        number += 1
        progress(done, "every I/O")
        if share <= 0.0:
            break
    return total
