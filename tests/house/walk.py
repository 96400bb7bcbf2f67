"""The walk of a scenario through the code: which room one ``zsim predict`` enters, in which order.

    python -m tests.house.walk [arguments of zsim]

A reader who follows a run opens each file when something of it is called for the first time.  Files of one
room in a row are one stay; a stay in a room that was left before is a return.  What modules do while they are
imported does not count, nor does the ground floor (`zsim.base`), which every room stands on.  Kernels that
are compiled call each other unseen.
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


def modules_entered(arguments: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the modules below `zsim` that a command calls into, by their first call, and what is called."""
    entered: dict[str, str] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_globals.get("__name__", "")
        new = event == "call" and name.startswith("zsim.") and name not in entered
        if new and not _is_imported(frame):
            entered[name] = frame.f_code.co_qualname

    sys.setprofile(note)
    threading.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(list(arguments))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(entered.items())


def _is_imported(frame: FrameType | None) -> bool:
    """Tell whether a call is part of an import."""
    while frame is not None:
        name, code = frame.f_globals.get("__name__", ""), frame.f_code
        if (code.co_name == "<module>" and name.startswith("zsim.")) or "importlib" in code.co_filename:
            return True
        frame = frame.f_back
    return False


def stays(modules: list[str]) -> list[str]:
    """Return the rooms in the order in which they are entered."""
    rooms = [each.split(".")[1] for each in modules]
    rooms = [each for each in rooms if each != GROUND]
    return [each for place, each in enumerate(rooms) if place == 0 or rooms[place - 1] != each]


def told(found: list[str]) -> str:
    """Return the figures of a walk in words."""
    rooms = len(set(found))
    return f"{len(found)} stays in {rooms} rooms, {len(found) - rooms} returns"


if __name__ == "__main__":
    walked = modules_entered(tuple(sys.argv[1:]) or QUESTION)
    for module, first in walked:
        print(f"{module:48} {first}")
    way = stays([module for module, _ in walked])
    print(" > ".join(way))
    print(told(way))
