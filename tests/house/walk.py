"""The walk of a scenario through the code: which room one ``zsim predict`` enters, in which order.

    python -m tests.house.walk [arguments of zsim]

A reader who follows a run opens each file when something of it is called for the first time.  Files of one
room in a row are one stay; a stay in a room that was left before is a return.  What modules do while they are
imported does not count, nor does the ground floor (`zsim.base`), which every room stands on.  Kernels that
are compiled call each other unseen.  A loop over worlds counts once: in its second round no file is new.

A return is of one of two kinds.  Where the room had itself called what was entered last, the call has come
back, and the reader goes on where they were; where another room enters it, the reader must go there again.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from types import FrameType

os.environ.setdefault("OMP_NUM_THREADS", "1")

from zsim.cli.main import main

GROUND = "base"
QUESTION = ("predict", "--layout", "raidz2x6", "--fill", "0.62")


def modules_entered(arguments: tuple[str, ...]) -> list[tuple[str, str, set[str]]]:
    """Return the modules below `zsim` that a command calls into, in the order of their first calls.

    With each what is called, and the rooms that wait for the call to come back.
    """
    entered: dict[str, tuple[str, set[str]]] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_globals.get("__name__", "")
        new = event == "call" and name.startswith("zsim.") and name not in entered
        if new and not _is_imported(frame):
            entered[name] = frame.f_code.co_qualname, _waiting(frame.f_back)

    sys.setprofile(note)
    threading.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(list(arguments))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [(name, first, waiting) for name, (first, waiting) in entered.items()]


def _waiting(frame: FrameType | None) -> set[str]:
    """Return the rooms of all callers."""
    rooms = set()
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("zsim."):
            rooms.add(name.split(".")[1])
        frame = frame.f_back
    return rooms


def _is_imported(frame: FrameType | None) -> bool:
    """Tell whether a call is part of an import."""
    while frame is not None:
        name, code = frame.f_globals.get("__name__", ""), frame.f_code
        if (code.co_name == "<module>" and name.startswith("zsim.")) or "importlib" in code.co_filename:
            return True
        frame = frame.f_back
    return False


def stays(entered: list[tuple[str, str, set[str]]]) -> list[tuple[str, set[str]]]:
    """Return the rooms in the order in which they are entered, each with those that wait at its last call."""
    found: list[tuple[str, set[str]]] = []
    for module, _, waiting in entered:
        room = module.split(".")[1]
        if room == GROUND:
            continue
        if found and found[-1][0] == room:
            found.pop()
        found.append((room, waiting))
    return found


def told(found: list[tuple[str, set[str]]]) -> str:
    """Return the figures of a walk in words."""
    rooms = [room for room, _ in found]
    returns = [place for place, room in enumerate(rooms) if room in rooms[:place]]
    back = sum(rooms[place] in found[place - 1][1] for place in returns)
    return (
        f"{len(rooms)} stays in {len(set(rooms))} rooms, {len(returns)} returns: "
        f"{back} calls come back, {len(returns) - back} rooms are entered again"
    )


if __name__ == "__main__":
    walked = modules_entered(tuple(sys.argv[1:]) or QUESTION)
    for module, first, _ in walked:
        print(f"{module:48} {first}")
    way = stays(walked)
    print(" > ".join(room for room, _ in way))
    print(told(way))
