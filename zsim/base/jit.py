"""The one door to numba, light to go through: numba itself is loaded when a kernel is first called.

So a module may hold kernels beside what the command line needs at once, such as the kinds of vdevs.
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    import numpy as np
    from numba.core.types import Type
    from numpy.typing import NDArray

    from zsim.base.compiler import (
        OPTIONS,
        PACKAGE,
        Dispatcher,
        array_at,
        array_in,
        bare,
        cache_directory,
        kernels_are_cached,
        matrix_at,
        of_this_machine,
        word_of,
    )

__all__ = [
    "IS_COMPILING", "OPTIONS", "PACKAGE", "address_of", "array_at", "array_in", "bare", "cache_directory",
    "compile_for", "kernels_are_cached", "matrix_at", "njit", "of_this_machine", "word_of",
]  # fmt: skip

COMPILER, PLAIN = "zsim.base.compiler", "zsim.base.plain_views"
IS_COMPILING = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

if not IS_COMPILING:
    # Plain Python is to count as compiled code does: hashes run over, divisions by zero are infinite.
    importlib.import_module("numpy").seterr(over="ignore", divide="ignore")

_ONE_AT_A_TIME = threading.RLock()

F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")
T = TypeVar("T")


def __getattr__(name: str) -> object:
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


class _Kernel(Generic[P, T]):
    """A function that may be compiled; numba hears of it when it is called, or compiled code calls it.

    Few of the kernels are called from Python, and numba takes half a millisecond to take note of each.
    """

    def __init__(self, function: Callable[P, T]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._compiled: Dispatcher | None = None

    @property
    def compiled(self) -> Dispatcher:
        """What numba makes of it."""
        with _ONE_AT_A_TIME:
            if self._compiled is None:
                self._compiled = importlib.import_module(COMPILER).taken_note_of(self.py_func)
        return self._compiled

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        return cast("T", (self._compiled or self.compiled)(*arguments, **named))

    @property
    def _numba_type_(self) -> Type:
        found: Type = self.compiled._numba_type_
        return found


def compile_for(function: Callable[P, T], signature: str) -> None:
    """Compile a kernel for the arguments of `signature`, as the first call from Python would.

    Parameters
    ----------
    function : callable
        Made by `njit`.
    signature : str
        As numba writes it, for example ``(int64[::1], float64)``.
    """
    assert isinstance(function, _Kernel), f"{function} is no kernel"
    importlib.import_module(COMPILER).compile_for(function.compiled, signature)


def address_of(array: NDArray[np.generic]) -> int:
    """Return the address of an array, for a table."""
    return int(array.ctypes.data) if IS_COMPILING else int(importlib.import_module(PLAIN).lend(array))
