"""Every surface, and the trial that a number of a seed gives."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz import surfaces as old
from tests.fuzz import wider_surfaces as wider
from tests.fuzz.altered import altered_statuses
from tests.fuzz.exchanged import exchanged_files
from tests.fuzz.surfaces import Trial

SURFACES: tuple[Callable[[random.Random], Trial], ...] = (
    old.flags, old.arguments, old.scenario_files, old.set_values, old.drive_files, old.model_files, old.results, old.stores,
    old.outputs, old.block_lists, old.traces, old.samples, old.cases, old.fleets, old.plans, old.odd_files, old.written,
    old.flags, exchanged_files, wider.near_flags, wider.near_flags, wider.load_files, wider.surroundings, wider.asked_pools,
    wider.rows_of_stores, wider.stories, wider.sets_of_outputs, wider.claims, wider.axes, wider.requirements,
    altered_statuses,
)  # fmt: skip
WHOLE = 0.02
"""So many are run with their predictions."""


LONGEST_WORD = (128 << 10) - 1
"""Linux passes no program a longer argument (MAX_ARG_STRLEN, with the byte that ends it)."""


def trial(seed: int, number: int) -> Trial:
    """Return a trial; the same seed and number give the same one."""
    chance = random.Random(f"{seed}:{number}")
    found = SURFACES[number % len(SURFACES)](chance)
    whole = chance.random() < WHOLE
    if found.words[:1] == ("validate",) and "--cases" not in found.words:
        # Every case that is committed would run, in processes of their own, until it is interrupted.
        found = found._replace(words=(*found.words, "--list"))
    words = tuple(word if not isinstance(word, str) else word[:LONGEST_WORD] for word in found.words)
    return found._replace(words=words, surface=surface_of(number), whole=whole)


def surface_of(number: int) -> str:
    """Return the surface that a trial of this number attacks."""
    return SURFACES[number % len(SURFACES)].__name__
