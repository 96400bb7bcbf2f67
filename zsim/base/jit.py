"""The one door to numba, light to go through: numba itself is loaded when a kernel is first called.

So a module may hold kernels beside what the command line needs at once, such as the kinds of vdevs.
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zsim.base.compiler import (
        OPTIONS,
        PACKAGE,
        array_at,
        array_in,
        bare,
        cache_directory,
        compile_for,
        kernels_are_cached,
        matrix_at,
        of_this_machine,
        word_of,
    )

__all__ = [
    "IS_COMPILING", "OPTIONS", "PACKAGE", "Record", "Table", "View", "address_of", "array_at",
    "array_in", "bare", "cache_directory", "checked", "compile_for", "kernels_are_cached",
    "matrix_at", "njit", "of_this_machine", "word_of",
]  # fmt: skip

COMPILER, PLAIN = "zsim.base.compiler", "zsim.base.plain_views"
IS_COMPILING = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

if not IS_COMPILING:
    # Plain Python is to count as compiled code does: hashes run over, divisions by zero are infinite.
    import numpy as np

    np.seterr(over="ignore", divide="ignore")

_ONE_AT_A_TIME = threading.RLock()

F = TypeVar("F", bound=Callable[..., Any])

# What numba finds the types of: a table of addresses and sizes, a record of an array, an array at an address.
Table = Any
Record = Any
View = Any


def __getattr__(name: str) -> Any:
    """Return what the compiler's module has under a name."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(importlib.import_module(COMPILER), name)


def njit(function: F) -> F:
    """Compile `function` with the project's one set of options (strict floats, cached, no GIL).

    What Python calls is compiled to machine code and cached.  What compiled code calls is taken as a part of
    its callers: see `zsim.base.compiler._Part`.  There every integer is taken as 64 bits: one compilation
    serves literals and all widths, where numba would make one for each combination.
    """
    return cast("F", _Kernel(function)) if IS_COMPILING else function


class _Kernel:
    """A function that may be compiled; numba hears of it when it is called, or compiled code calls it.

    Few of the kernels are called from Python, and numba takes half a millisecond to take note of each.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

        self._compiled: Any = None

    @property
    def compiled(self) -> Any:
        """What numba makes of it."""
        with _ONE_AT_A_TIME:
            if self._compiled is None:
                self._compiled = importlib.import_module(COMPILER).taken_note_of(self.py_func)
        return self._compiled

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return (self._compiled or self.compiled)(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_


def checked(array: NDArray[Any]) -> Any:
    """Return an array of records as a kernel takes it: as it is, or for plain Python with bounds checked."""
    return array if IS_COMPILING else importlib.import_module(PLAIN).Bounded(array)


def address_of(array: NDArray[Any]) -> int:
    """Return the address of an array, for a table."""
    return int(array.ctypes.data) if IS_COMPILING else int(importlib.import_module(PLAIN).lend(array))
