"""The processor at hand: what tells one from another, and what it can do.

LLVM knows both, but Linux tells them without it: to load LLVM takes a twentieth of a second.
"""

from __future__ import annotations

import functools
from pathlib import Path

TOLD_BY = Path("/proc/cpuinfo")
BLOCK_BYTES = 8192
"""More than is said of one processor: it is not asked how fast each of many runs at the moment."""
DECIDE = ("vendor_id", "cpu family", "model", "stepping", "CPU implementer", "CPU part", "CPU variant")
ABILITIES = ("flags", "Features")
OF_LLVM = {"abm": "lzcnt", "asimd": "neon", "bmi1": "bmi", "sse4_1": "sse4.1", "sse4_2": "sse4.2"}
"""Names of what processors can do that Linux has other ones for."""


def processor() -> str:
    """Return what decides of the processor which machine code is made for it."""
    told = _told()
    if told:
        return "; ".join(f"{name} {told[name]}" for name in (*DECIDE, *ABILITIES) if name in told)
    from llvmlite.binding import get_host_cpu_name  # noqa: PLC0415 -- loaded where it has to be

    return str(get_host_cpu_name())


def features() -> set[str]:
    """Return what the processor can do, as LLVM names it; other names are Linux' own."""
    told = _told()
    if told:
        return {OF_LLVM.get(each, each) for name in ABILITIES for each in told.get(name, "").split()}
    from llvmlite.binding import get_host_cpu_features  # noqa: PLC0415

    return {name for name, has in get_host_cpu_features().items() if has}


@functools.cache
def _told() -> dict[str, str]:
    """Return what Linux says of the first processor; nothing where it does not say what that can do."""
    try:
        with TOLD_BY.open("rb", buffering=0) as stream:
            text = stream.read(BLOCK_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    lines = [line.partition(":") for line in text.partition("\n\n")[0].splitlines()]
    told = {name.strip(): value.strip() for name, _, value in lines}
    return told if any(told.get(name) for name in ABILITIES) else {}
