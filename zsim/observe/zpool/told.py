"""What a person writes beside a status about the drive that is resilvered: whether it is new or was away."""

from __future__ import annotations

import re
from typing import Literal

Told = Literal["replaced", "returned", ""]
LONGEST = 20_000
"""Characters of prose that are looked at."""
_DRIVE = r"(?:disks?|drives?|hdds?|ssds?|nvmes?|platten?|festplatten?|laufwerke?|disques?|discos?)\b"
_NEW = re.compile(
    rf"\b(?:replac(?:ed|ing)|swapp(?:ed|ing)(?: out)?|exchang(?:ed|ing)|changed)\b[^.!?\n]{{0,60}}?\b{_DRIVE}"
    rf"|\b(?:new|replacement|neue[nrs]?|nouveau|nuevo)\b[ -](?:[\w.-]{{1,20}}[ -]){{0,4}}?{_DRIVE}"
    rf"|\b{_DRIVE}[^.!?\n]{{0,40}}\b(?:was|were|got|been) (?:replaced|swapped|exchanged)\b"
    rf"|\b(?:getauscht|ausgetauscht|ersetzt|remplac\u00e9|reemplazado)\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:re-?seat(?:ed|ing)|re-?plugg(?:ed|ing)|re-?connect(?:ed|ing)|re-?insert(?:ed|ing)|unplugged|"
    r"cables?|came back|back online|back in|onlined|dropped out|disconnected|wrong (?:disk|drive)|"
    r"power (?:cut|loss|outage|failure)|same (?:disk|drive)|old (?:disk|drive) back)\b",
    re.IGNORECASE,
)
_OF_ZPOOL = re.compile(
    r"^[ \t]{0,12}(?:status|action|see|config|errors|scan|pool|state):[^\n]{0,400}"
    r"(?:\n\t[^\n]{0,400}){0,200}",
    re.MULTILINE,
)
"""Sections of a status, of which further lines begin with a tab."""


def told_of_drive(text: str) -> Told:
    """Return what the words beside the outputs of a text say of the drive that is resilvered.

    Where they speak both of a new drive and of one that was connected again, they tell nothing.
    """
    prose = _OF_ZPOOL.sub("", text[:LONGEST])
    new, back = _NEW.search(prose) is not None, _BACK.search(prose) is not None
    if new == back:
        return ""
    return "replaced" if new else "returned"
