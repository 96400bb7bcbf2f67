"""Which command lists the drives of a host, judged by the device names of the pool."""

from __future__ import annotations

import re
from collections.abc import Iterable

SOLARIS_NAME = re.compile(r"c\d{1,4}(?:t[0-9A-F]{1,32})?d\d{1,4}(?:s\d{1,2})?", re.ASCII)
FREEBSD_NAME = re.compile(
    r"(?:/dev/)?(?:(?:ada|da|ad|nvd|nda|mfid|mfisyspd)\d|gpt/|gptid/|label/|diskid/).{0,200}", re.ASCII
)
_PARTUUID = re.compile(
    r"(?:/dev/disk/by-partuuid/)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f-]{17}", re.ASCII
)
MACOS_NAME = re.compile(r"(?:/dev/)?(?:disk\d{1,4}(?:s\d{1,3})?|media-[\w-]{8,60}|PCI0@.{1,200})", re.ASCII)
LINUX = "lsblk -o NAME,MODEL,SERIAL,SIZE,ROTA,LOG-SEC,PHY-SEC"


def drives_command(names: Iterable[str]) -> str:
    """Return the command whose output leads from the names of a pool's drives to their models.

    Parameters
    ----------
    names : iterable of str
        As zpool prints them.
    """
    known = list(names)
    ways = (
        (SOLARIS_NAME, "iostat -En"),
        (MACOS_NAME, "diskutil info -all"),
        (FREEBSD_NAME, "geom disk list; glabel status"),
        (_PARTUUID, f"{LINUX},PARTUUID"),
    )
    return next((command for form, command in ways if any(map(form.fullmatch, known))), LINUX)
