"""Files and what is piped, as the state of a pool now; drives as its status names them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.errors import InputError
from zsim.cli.common import notice
from zsim.cli.given_files import said_fields

if TYPE_CHECKING:
    from zsim.planning.timeline.state import PastedPool, Place

NUMBERED = re.compile(r"(?:(\d{1,5})\s*:)?\s*(\d{1,5})", re.ASCII)
MOST_NAMED = 24


def pasted_pool(
    sources: Sequence[str], stated: dict[str, object], asked: str, by_default: Collection[str] = ()
) -> PastedPool:
    """Return what files tell of a pool; what is left of a scan that runs is what ``zsim eta`` answers.

    Parameters
    ----------
    sources : sequence of str
        Files; ``-`` is the standard input.
    stated : dict
        Fields that are stated beside them.
    asked : str
        What is asked of the state, for messages.
    by_default : collection of str
        Of the fields stated, those that the files say better.

    Raises
    ------
    InputError
        When they cannot be read, or what runs leaves nothing to ask.
    """
    from zsim.observe.read_pool import is_printed
    from zsim.planning.timeline.state import PastedPool, imported_pool, pool_now, said_pool, told_first
    from zsim.scenario.files import scenario_text
    from zsim.scenario.model import Scenario

    names = [name for name in sources if name != "-"]
    text = scenario_text(Path("-")) if len(names) < len(sources) else None
    if text is not None and not names and not is_printed(text) and (said := said_fields(text, stated)):
        both = said | stated
        return said_pool(both) or PastedPool({"scenario": Scenario.from_dict(both).stated()}, {})
    stated = less_told(stated, by_default, text, names)
    imported = imported_pool(text, names, stated)
    tell_first(told_first(imported))
    return pool_now(imported, text, names, stated, asked)


def tell_first(notes: Sequence[str]) -> None:
    """Say what is not known of a pool, and what of its state a person has to know first."""
    for note in notes:
        notice(f"{note}.")


def less_told(
    stated: dict[str, object],
    by_default: Collection[str],
    text: str | None,
    names: Sequence[str],
    pool: str | None = None,
) -> dict[str, object]:
    """Return stated fields without those of the user's defaults that files, or what was piped, tell."""
    from zsim.observe.pool_import.importing import import_beside
    from zsim.scenario.files import put_aside

    own = {*by_default} & stated.keys()
    if not own:
        return stated
    try:
        told = import_beside(text, names, pool=pool).scenario.stated()
    except InputError:
        return stated  # what is wrong is said where they are read
    default = {name: value for name, value in stated.items() if name in own}
    kept = put_aside(default, told).keys() - told.keys()
    return {name: value for name, value in stated.items() if name not in own or name in kept}


def place_of(text: str, option: str, places: Mapping[str, Place]) -> Place:
    """Return vdev and drive of ``3``, of ``1:3``, or of the name that a status shows.

    Raises
    ------
    InputError
        When it is none of these.
    """
    from zsim.observe.devices.labels import device_of

    if text.strip() in places:
        return places[text.strip()]
    if (match := NUMBERED.fullmatch(text.strip())) is not None:
        return int(match[1] or 0), int(match[2])
    whole = device_of(text.strip())
    alike = {place for name, place in places.items() if whole and device_of(name) == whole}
    if len(alike) == 1:
        return alike.pop()
    if not places:
        allowed = "it is a drive's number, or vdev:drive"
        raise InputError(option, text, allowed, f"write {option} 0 or {option} 1:3")
    known = list(places)
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    raise InputError(option, text, f"the pool has {', '.join(known[:MOST_NAMED])}{more}", "name one of these")
