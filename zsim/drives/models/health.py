"""What can be wrong with a drive: stutters, slow periods, sectors that cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

MOST_FAILURES = 64
"""Errors within one window that a rule can count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveHealth:
    """What is wrong with a drive, beyond being slower throughout (`zsim.drives.models.slowed`).

    Attributes
    ----------
    stutter_share : float
        Share of its reads that take `stutter_s`, whatever they are.
    stutter_s : float
        [s]
    spell_factor : float
        Factor on every service while a slow spell lasts.
    spell_s, between_s : float
        Mean length of the slow spells, and of the time between them, both exponential [s].
    bad_sectors : tuple of int, rising
        Bytes on the drive at which a sector cannot be read until it is written again [bytes].
    recovery_s : float
        How long a read of such a sector takes beyond its service: the drive's own recovery, resets of the
        operating system and, where nothing is left to rebuild from, the second attempt [s].
    fault_after : int
        Reports of errors within `fault_window_s` after which the drive is faulted; 0: never.  A command that
        fails is reported once, one of several I/Os also once for each of them.
    fault_window_s : float
        [s]
    fault_delay_s : float
        From the last of these reports until the drive is faulted and answers at once [s].
    seed : int

    Notes
    -----
    A rule fires once: what follows before the drive is faulted changes nothing (OpenZFS 2.4.4
    cmd/zed/agents/fmd_serd.c:fmd_serd_eng_record).

    Two states with exponential stays are the simplest process with the recurrence that is observed (Hao et
    al., FAST 2016, 3.2: nine of ten slow disks are slow again within a day).
    """

    stutter_share: float = 0.0
    stutter_s: float = 0.0
    spell_factor: float = 1.0
    spell_s: float = 0.0
    between_s: float = 0.0
    bad_sectors: tuple[int, ...] = ()
    recovery_s: float = 0.0
    fault_after: int = 0
    fault_window_s: float = 600.0
    fault_delay_s: float = 0.0
    seed: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return self.stutter_share == 0.0 and self.spell_factor == 1.0 and not self.bad_sectors


SOUND = DriveHealth()
