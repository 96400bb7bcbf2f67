"""The one door to numba: compiled kernels with a cache that edits cannot make stale.

numba's own on-disk cache looks only at the file of the outermost function, so an edit in another
kernel file would silently be ignored.  Here the cache directory carries a hash of *all* kernel sources.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types

PACKAGE = Path(__file__).parent
KERNEL_ROOMS = ("drives", "vdevs", "pool", "scan", "engine")

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def kernel_source_hash() -> str:
    """Return the hash of every source file that may hold compiled code.

    Returns
    -------
    str
        First 16 hexadecimal digits of the SHA-256 over the kernel rooms' files, in name order.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for room in KERNEL_ROOMS:
        for path in sorted((PACKAGE / room).glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return the directory of the compiled kernels (``ZSIM_CACHE_DIR`` overrides its parent)."""
    root = os.environ.get("ZSIM_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    base = Path(root) if root else Path.home() / ".cache"
    return base / "zsim" / f"kernels-{kernel_source_hash()}"


def kernels_are_cached() -> bool:
    """Tell whether some kernel of the present sources was compiled before on this machine."""
    return any(cache_directory().rglob("*.nbc"))


if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_directory())


def njit(function: F) -> F:
    """Compile `function` with the project's one set of options (strict floats, cached, no GIL).

    Called from compiled code, it takes every integer as 64 bits: one compilation serves literals and all
    widths, where numba would make one for each combination.
    """
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function)
    resolve = getattr(compiled, "get_call_template", None)
    if resolve is not None:  # absent when numba is switched off

        def resolve_widened(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
            return resolve(tuple(map(_widened, arguments)), {key: _widened(named[key]) for key in named})

        compiled.get_call_template = resolve_widened
    return cast("F", compiled)


def _widened(given: Any) -> Any:
    """Return the type as which compiled code passes an argument on: signed integers as int64."""
    plain = types.unliteral(given)
    return types.int64 if isinstance(plain, types.Integer) and plain.signed else plain
