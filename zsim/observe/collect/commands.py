"""The commands that describe a pool.  All are read-only; only the name of the pool varies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zsim.base.errors import InputError

POOL = "POOL"
"""Stands for the name of the pool in an argument list."""
SHORT_S, LONG_S = 30.0, 120.0
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.: -]{0,254}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CollectedCommand:
    """A command to be run.

    Attributes
    ----------
    file : str
        Where the script keeps its output.
    ways : tuple of tuple of str
        Argument lists; the next one is tried where a release or system does not have the one before.
    limit_s : float
        It is stopped after so many seconds.
    needed : bool
        Whether there is no import without it.
    while_scanning : bool
        Whether it tells something only while a scan runs.
    """

    file: str
    ways: tuple[tuple[str, ...], ...]
    limit_s: float = SHORT_S
    needed: bool = False
    while_scanning: bool = False


COMMANDS: tuple[CollectedCommand, ...] = (
    CollectedCommand("version.txt", (("zfs", "version"), ("uname", "-a"))),
    CollectedCommand(
        "status.txt",
        (("zpool", "status", "-P", POOL), ("zpool", "status", POOL)),
        needed=True,
    ),
    CollectedCommand(
        "list.txt",
        (("zpool", "list", "-vHpP", POOL), ("zpool", "list", "-vHp", POOL), ("zpool", "list", POOL)),
    ),
    CollectedCommand(
        "get.txt", (("zpool", "get", "-Hp", "size,allocated,free,fragmentation,capacity,ashift", POOL),)
    ),
    CollectedCommand(
        "records.txt",
        (
            (
                "zfs", "get", "-rHp", "-t", "filesystem,volume", "-o", "name,property,value",
                "recordsize,volblocksize,usedbydataset,special_small_blocks", POOL,
            ),
            (
                "zfs", "get", "-rHp", "-t", "filesystem,volume", "-o", "name,property,value",
                "recordsize,volblocksize,usedbydataset", POOL,
            ),
        ),
    ),
    CollectedCommand("history.txt", (("zpool", "history", "-i", POOL),), LONG_S),
    CollectedCommand("events.txt", (("zpool", "events", "-v", POOL), ("zpool", "events", POOL)), LONG_S),
    CollectedCommand("config.txt", (("zdb", "-C", POOL),), LONG_S),
    CollectedCommand(
        "drives.txt",
        (
            ("lsblk", "-dbP", "-o", "NAME,MODEL,SERIAL,SIZE,ROTA,LOG-SEC,PHY-SEC"),
            ("geom", "disk", "list"),
            ("iostat", "-En"),
        ),
    ),
    CollectedCommand("names.txt", (("ls", "-lR", "/dev/disk"), ("glabel", "status"))),
    CollectedCommand(
        "iostat.txt",
        (("zpool", "iostat", "-vly", POOL, "15", "1"), ("zpool", "iostat", "-v", POOL, "15", "2")),
        LONG_S,
        while_scanning=True,
    ),
    CollectedCommand(
        "waits.txt", (("zpool", "iostat", "-vwy", POOL, "15", "1"),), LONG_S, while_scanning=True
    ),
    CollectedCommand(
        "sizes.txt", (("zpool", "iostat", "-vry", POOL, "15", "1"),), LONG_S, while_scanning=True
    ),
)  # fmt: skip


def checked_name(pool: str) -> str:
    """Return the name of a pool if ZFS would take it.

    Raises
    ------
    InputError
        For anything else, such as an option.  Source: OpenZFS module/zcommon/zfs_namecheck.c,
        pool_namecheck.
    """
    if not _NAME.fullmatch(pool):
        allowed = "a pool's name begins with a letter and has letters, digits and _ - . : only"
        raise InputError("--pool", pool, allowed, "zpool list prints the names")
    return pool


def arguments(way: tuple[str, ...], pool: str) -> list[str]:
    """Return an argument list with the name of the pool in it."""
    return [pool if word == POOL else word for word in way]
