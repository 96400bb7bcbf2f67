"""Slow and badly attached drives of a case, and their parameters in the engine."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from zsim.base import model_data
from zsim.case.case import Case
from zsim.drives.models.health import SOUND, DriveHealth
from zsim.drives.models.model import DriveModel
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.models.slowed import slowed
from zsim.scenario.one_drive.sick import sickness
from zsim.scenario.one_drive.slow import SlowDrive


def sickness_number(file: str, name: str) -> float:
    """Return a number of a file of ``models/sickness``, in SI units."""
    path = model_data.models_directory() / "sickness" / f"{file}.toml"
    return float(model_data.quantity_of(sickness(file), name, path).value)


def slow_drive(case: Case, leaf: int) -> SlowDrive | None:
    """Return what is said of a drive that is slow, None where nothing is."""
    if not case.scenario.slow:
        return None
    drive = case.scenario.drive_of(leaf)
    return next((each for each in case.scenario.slow if each.drive == drive), None)


def attachment(case: Case, leaf: int) -> str | None:
    """Return how a drive is attached otherwise than its model, None where nobody says so."""
    if not case.scenario.attached:
        return None
    drive = case.scenario.drive_of(leaf)
    return next((each.how for each in case.scenario.attached if each.drive == drive), None)


def slow_leaves(case: Case) -> frozenset[int]:
    """Return the leaves that are stated to be slow, or attached in a slow way."""
    return frozenset(map(case.scenario.leaf_of, _slow_drives(case)))


def _slow_drives(case: Case) -> set[int]:
    stated = case.scenario
    return {each.drive for each in (*(stated.slow or ()), *(stated.attached or ()))}


def without_slow(case: Case, leaves: Collection[int]) -> Case:
    """Return the case with some drives as good as their peers.

    Returns
    -------
    Case
        Nothing is stated of their slowness or their attachment, and they do not sit out; their bad sectors
        stay.
    """
    drives = {case.scenario.drive_of(leaf) for leaf in leaves}
    stated = case.scenario.model_copy(
        update={
            name: tuple(each for each in getattr(case.scenario, name) or () if each.drive not in drives)
            for name in ("slow", "attached")
        }
    )
    return replace(case, scenario=stated, sitting=case.sitting - frozenset(leaves))


def numbers_of(case: Case, leaf: int, sound: DriveParameters) -> DriveParameters:
    """Return the engine's numbers of one drive, as slow and as badly attached as it is stated to be.

    Parameters
    ----------
    case : Case
    leaf : int
    sound : DriveParameters
        Of a drive of its model.

    Returns
    -------
    DriveParameters
        Rates no higher than those of its link; then all times of service longer by the stated factor, where
        that is constant (spells are in `health_of`).
    """
    numbers, slow, how = sound, slow_drive(case, leaf), attachment(case, leaf)
    if how is not None:
        numbers = _attached(numbers, how)
    if slow is not None and slow.constant is not None:
        numbers = slowed(numbers, slow.constant)
    return numbers


def _attached(numbers: DriveParameters, how: str) -> DriveParameters:
    """Return a drive behind a slower link of its own, or without a queue.

    The buffer of the drive decouples its medium from the link, so that a stream runs at the slower of both.
    """
    told = sickness("attachments")[how]
    if "rate" in told:
        rate = sickness_number("attachments", f"{how}.rate")
        numbers = replace(
            numbers,
            zone_rates=tuple(min(each, rate) for each in numbers.zone_rates),
            interface_rate=min(numbers.interface_rate, rate),
            flash_read_rate=min(numbers.flash_read_rate, rate),
            flash_write_rate=min(numbers.flash_write_rate, rate),
            slc_rate_after=min(numbers.slc_rate_after, rate),
        )
    if "queue_depth" in told:
        numbers = replace(numbers, queue_depth=int(sickness_number("attachments", f"{how}.queue_depth")))
    return numbers


def health_of(case: Case, leaf: int) -> DriveHealth:
    """Return what ails a drive beyond constant slowness.

    Spells are made short, in the same proportion: a sample of the run then sees many of them.
    """
    slow = slow_drive(case, leaf)
    if slow is None or (slow.stutter_share == 0.0 and slow.on_s is None):
        return SOUND
    on, off = slow.on_s or 0.0, slow.off_s or 0.0
    short = min(1.0, sickness_number("recovery", "spells.longest_s") / max(on, 1e-9))
    return DriveHealth(
        stutter_share=slow.stutter_share,
        stutter_s=slow.stutter_s,
        spell_factor=slow.factor if slow.on_s is not None else 1.0,
        spell_s=on * short,
        between_s=off * short,
        seed=case.seed + leaf,
    )


EXCHANGED = " (exchanged)"


def name_of(case: Case, leaf: int, model: DriveModel) -> str:
    """Return the name of a drive as the answer shows it: a sick one stands apart from its peers."""
    slow, how = slow_drive(case, leaf), attachment(case, leaf)
    words = [model.name if case.exchanged_model(leaf) is None else f"{model.name}{EXCHANGED}"]
    if slow is not None:
        words.append(slow.words)
    if how is not None:
        words.append(str(sickness("attachments")[how]["text"]))
    return ", ".join(words)


def sick_leaves(case: Case) -> tuple[int, ...]:
    """Return the drives of the pool that are stated to be slow, badly attached, or to have bad sectors."""
    named = _slow_drives(case) | {each.drive for each in case.scenario.bad_sectors or ()}
    return tuple(sorted(case.scenario.leaf_of(drive) for drive in named if drive < case.leaves))
