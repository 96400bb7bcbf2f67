"""The source text of the package: kernels are cached by it, and answers state its hash."""

from __future__ import annotations

import functools
import os
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
Sources = dict[str, bytes]
"""Text of modules by their dotted names, in one order on all machines; of a package, of its ``__init__``."""


def package_sources() -> Sources:
    """Return the text of every module of the package."""
    found: Sources = {}
    for folder, inside, names in os.walk(PACKAGE):
        inside[:] = sorted(name for name in inside if name not in ("_data", "__pycache__"))
        dotted = ".".join(("zsim", *Path(folder).relative_to(PACKAGE).parts))
        for name in sorted(names):
            if name.endswith(".py"):
                # Hundreds of files: without a buffer that is half the time.
                with open(f"{folder}/{name}", "rb", buffering=0) as stream:  # noqa: PTH123
                    found[f"{dotted}.{name[:-3]}"] = stream.read()
    return found


@functools.cache
def sources_read() -> Sources:
    """Return the text of every module as this process has read it first, which is what it runs."""
    return package_sources()
