"""Vdevs of other allocation classes than normal, and data vdevs that differ from each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from zsim.base.errors import InputError
from zsim.base.units import format_both, format_fraction
from zsim.case.case import ClassVdevs
from zsim.drives.catalogue import Shelf
from zsim.drives.models.model import DriveModel
from zsim.pool.recipes.recipe import Growth, small_blocks
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.kind import NORMAL, SPECIAL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEFAULT_SPECIAL_DRIVE = "generic-sata-ssd"
DEFAULT_SPECIAL_BYTES = 10**12


def class_vdevs(
    scenario: Scenario, layout: Layout, release: ReleaseProfile, drive: DriveModel | None,
    growth: Growth, fill: float, take: Callable[..., object],
) -> ClassVdevs:  # fmt: skip
    """Return what is known of vdevs beyond the layout.

    Parameters
    ----------
    scenario : Scenario
    layout : Layout
        With the vdev under repair first.
    release : ReleaseProfile
    drive : DriveModel or None
        From `class_drive`.
    growth : Growth
        From `growth_of`.
    fill : float
        Allocated / space of the data vdevs.
    take : callable
        Notes an assumption.

    Raises
    ------
    InputError
        When the special vdevs were added to a pool fuller than it is.
    """
    added = scenario.special_added_at
    if added is not None and added >= fill:
        allowed = f"the pool is {format_fraction(fill)} full by now"
        raise InputError("special_added_at", format_fraction(added), allowed, "give a lower share")
    if drive is not None:
        name, size = scenario.special_drive or DEFAULT_SPECIAL_DRIVE, drive.capacity_bytes
        take("special_drive", scenario.special_drive, name, name, "what such vdevs are mostly made of")
        stated = scenario.special_drive_size or scenario.special_drive
        take("special_drive_size", stated, size, format_both(size), "a common size")
    return ClassVdevs(
        drive=drive,
        small=small_blocks(release, scenario.special_small_blocks or 0),
        growth=growth,
    )


def class_drive(scenario: Scenario, layout: Layout, shelf: Shelf) -> DriveModel | None:
    """Return the drives of special, dedup and log vdevs; None where there are no such vdevs."""
    if len(layout.data) == len(layout.vdevs):
        return None
    name, size = scenario.special_drive or DEFAULT_SPECIAL_DRIVE, scenario.special_drive_size
    if size is None:
        size = shelf.named(name).capacity_bytes if scenario.special_drive else DEFAULT_SPECIAL_BYTES
    return shelf.sized(name, size)


def frag_wanted(
    scenario: Scenario, layout: Layout, sizes: Sequence[int], growth: Growth
) -> tuple[float | None, tuple[int, ...]]:
    """Return the FRAG that is stated [fraction], and the places of the vdevs whose it is; none: the pool's.

    Where it is stated of each vdev it is that of the vdev under repair, for what a resilver takes lies there.
    Vdevs that were added later have what comes of being filled: then, and for a scrub, it is the mean of
    those that were there before.
    """
    if scenario.vdev_frags is None:
        return scenario.frag, ()
    data = layout.places_of(NORMAL)
    stated = dict(zip(data, scenario.led_frags, strict=True))
    spaces = dict(zip(data, sizes, strict=True))
    of = tuple(number for number in data if number not in growth.added)
    if scenario.operation != "scrub" and 0 in of:
        return stated[0], (0,)
    return math.fsum(stated[vdev] * spaces[vdev] for vdev in of) / sum(spaces[vdev] for vdev in of), of


def growth_of(scenario: Scenario, layout: Layout, sizes: Sequence[int]) -> Growth:
    """Return which vdevs were added when, by their places in the layout.

    Parameters
    ----------
    scenario : Scenario
    layout : Layout
        With the vdev under repair first.
    sizes : sequence of int
        SIZE of each data vdev [bytes].
    """
    stages: list[tuple[float, tuple[int, ...]]] = []
    wanted: tuple[tuple[int, float], ...] = ()
    data = layout.places_of(NORMAL)
    if scenario.vdev_fills is not None:
        grown = Growth.to_fills(scenario.led_fills, sizes)
        stages = [(fill, tuple(data[number] for number in added)) for fill, added in grown.stages]
        wanted = tuple((data[number], fill) for number, fill in grown.wanted)
    added_at = scenario.special_added_at
    if added_at is not None:
        special = tuple(layout.places_of(SPECIAL))
        first = not stages or added_at < stages[0][0]
        stages.insert(0 if first else len(stages), (added_at, special))
    return Growth(tuple(stages), wanted)
