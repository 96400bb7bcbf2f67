"""The only access to numba; numba itself is imported only when a kernel has to be compiled.

So a module may hold kernels beside what the command line needs at once, such as the kinds of vdevs, and what
was compiled before, or came with the package, runs without numba (`zsim.base.machine.native`).
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    import numpy as np
    from numba.core.types import Type
    from numpy.typing import DTypeLike, NDArray

    from zsim.base.machine.compiler import OPTIONS, Dispatcher
    from zsim.base.machine.kernel_cache import cache_directory, kernels_are_cached, of_this_machine
    from zsim.base.machine.native import Kinds, Packed
    from zsim.base.sources import PACKAGE

__all__ = [
    "IS_COMPILING", "OPTIONS", "PACKAGE", "address_of", "array_at", "array_in", "bare", "cache_directory",
    "compile_for", "kernels_are_cached", "matrix_at", "njit", "of_this_machine", "on_table", "word_of",
]  # fmt: skip

COMPILER, PLAIN = "zsim.base.machine.compiler", "zsim.base.plain_views"
NATIVE, MACHINE_CODE, CACHE, DIRECT = (
    "zsim.base.machine.native",
    "zsim.base.machine.code",
    "zsim.base.machine.kernel_cache",
    "zsim.base.machine.direct.assemble",
)
IS_COMPILING = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

if not IS_COMPILING:
    # Plain Python is to count as compiled code does: hashes run over, divisions by zero are infinite.
    importlib.import_module("numpy").seterr(over="ignore", divide="ignore")

_ONE_AT_A_TIME = threading.RLock()

F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")
T = TypeVar("T")


def __getattr__(name: str) -> object:
    """Return what the module of the cache, or the compiler's, has under a name."""
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(importlib.import_module(CACHE), name, None)
    return getattr(importlib.import_module(COMPILER), name) if found is None else found


class _Intrinsic:
    """A function that only compiled code calls; numba hears of it when it meets it there.

    Parameters
    ----------
    maker : str
        What makes it, in the compiler's module.
    *arguments
        Of the maker.
    """

    def __init__(self, maker: str, *arguments: object) -> None:
        self.maker, self.arguments = maker, arguments

    def __call__(self, *arguments: object) -> object:
        raise TypeError(f"only compiled code calls what {self.maker} makes")

    @functools.cached_property
    def _numba_type_(self) -> Type:
        compiler = importlib.import_module(COMPILER)
        found: Type = compiler.type_of(getattr(compiler, self.maker)(*self.arguments))
        return found


def _intrinsic(maker: str, *arguments: object) -> Callable[..., object]:
    if IS_COMPILING:
        return _Intrinsic(maker, *arguments)
    return cast("Callable[..., object]", getattr(importlib.import_module(COMPILER), maker)(*arguments))


def array_at(dtype: DTypeLike) -> Callable[..., object]:
    """Return a compiled function from an address to the array of `dtype` that begins there."""
    return _intrinsic("array_at", dtype)


def matrix_at(dtype: DTypeLike) -> Callable[..., object]:
    """Return a compiled function from an address, rows and columns to the matrix that begins there."""
    return _intrinsic("matrix_at", dtype)


def array_in(dtype: DTypeLike, entry: int) -> Callable[..., object]:
    """Return a compiled function from a table of addresses to the array whose address stands at `entry`."""
    return _intrinsic("array_in", dtype, entry)


word_of = cast("Callable[..., int]", _intrinsic("word_reader"))
"""From a table of addresses and sizes and a number to that entry; for compiled code."""
bare = cast("Callable[[NDArray[np.int64]], NDArray[np.int64]]", _intrinsic("bare_table"))
"""From a table to the pointer to its entries; for compiled code."""


def njit(function: F) -> F:
    """Compile `function` with the project's one set of options (strict floats, cached, no GIL).

    What Python calls is compiled to machine code and cached.  What compiled code calls is taken as a part of
    its callers (`_Part` of the compiler).  There every integer is taken as 64 bits: one compilation serves
    literals and all widths, where numba would make one for each combination.
    """
    return cast("F", _Kernel(function)) if IS_COMPILING else function


class _Kernel(Generic[P, T]):
    """A function that may be compiled; numba hears of it when it is compiled, or compiled code calls it.

    Machine code is looked up by the kinds of the arguments; what only numba can pass on it takes.
    """

    def __init__(self, function: Callable[P, T]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._compiled: Dispatcher | None = None
        self._native: dict[Kinds, Callable[..., T]] = {}
        # Others are made at run time, or in tests: their text is not among what the cache is keyed by.
        closure = getattr(function, "__closure__", None)
        self.may_be_native = closure is None and function.__module__.startswith("zsim.")

    @property
    def compiled(self) -> Dispatcher:
        """What numba makes of it."""
        with _ONE_AT_A_TIME:
            if self._compiled is None:
                self._compiled = importlib.import_module(COMPILER).taken_note_of(self.py_func)
        return self._compiled

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        if self.may_be_native and not named:
            kinds = _kinds_of()(arguments)
            if kinds is not None:
                return (self._native.get(kinds) or self.native(kinds))(*arguments)
        return cast("T", (self._compiled or self.compiled)(*arguments, **named))

    def native(self, kinds: Kinds) -> Callable[..., T]:
        """Return its machine code for arguments of those kinds, read or compiled."""
        with _ONE_AT_A_TIME:
            if kinds not in self._native:
                packed = self._packed(kinds)
                load = importlib.import_module(NATIVE).load
                found = load(packed, kinds) if packed.code else self.compiled
                self._native[kinds] = cast("Callable[..., T]", found)
        return self._native[kinds]

    def _packed(self, kinds: Kinds) -> Packed:
        """Return what is kept for arguments of those kinds; compile it, and keep it, if nothing is."""
        native, cache = importlib.import_module(NATIVE), importlib.import_module(CACHE).of_this_machine()
        module = self.py_func.__module__
        digest = hashlib.sha256(f"{module} {native.signature_of(kinds)}".encode()).hexdigest()[:16]
        name = f"{module.rpartition('.')[2]}.{self.py_func.__qualname__}-{digest}"
        kept = cache.read(name)
        packed: Packed | None = None if kept is None else native.unpack(kept)
        if packed is None:
            packed = self._made(kinds)
            cache.write(name, native.pack(packed))
        return packed

    def _made(self, kinds: Kinds) -> Packed:
        """Compile it for arguments of those kinds: from its text, or where that holds too much, by numba."""
        direct = importlib.import_module(DIRECT)
        try:
            made = direct.compiled(self.py_func, kinds)
        except direct.UntranslatableError:
            made = importlib.import_module(MACHINE_CODE).compiled(self.compiled, kinds)
        return cast("Packed", made)

    @property
    def _numba_type_(self) -> Type:
        found: Type = self.compiled._numba_type_
        return found


@functools.cache
def _kinds_of() -> Callable[[tuple[object, ...]], Kinds | None]:
    return cast("Callable[[tuple[object, ...]], Kinds | None]", importlib.import_module(NATIVE).kinds_of)


def compile_for(function: Callable[P, T], *arguments: object) -> None:
    """Compile a kernel for arguments such as these, of which only the types are looked at, and keep it.

    Parameters
    ----------
    function : callable
        Made by `njit`.
    *arguments
        Numbers and arrays, as in a call.
    """
    kinds = _kinds_of()(arguments)
    assert isinstance(function, _Kernel), f"{function} is no kernel"
    assert kinds is not None, "numba alone can pass these on"
    function.native(kinds)


def on_table(
    function: Callable[Concatenate[NDArray[np.int64], P], T],
    table: NDArray[np.int64],
    *arguments: P.args,
    **named: P.kwargs,
) -> Callable[P, T]:
    """Return a kernel that is called with the same table again and again; its address is looked up once.

    Parameters
    ----------
    function : callable
        Made by `njit`.
    table : ndarray of int64
        Its first argument.  Calls are made one after the other.
    *arguments, **named
        Others such as it will be called with, of which only the types are looked at; none by name.
    """
    kinds = _kinds_of()((table, *arguments))
    if isinstance(function, _Kernel) and function.may_be_native and kinds is not None:
        found = function.native(kinds)
        if isinstance(found, importlib.import_module(NATIVE).LinkedKernel):
            return cast("Callable[P, T]", found.on(table))
    return functools.partial(function, table)


def address_of(array: NDArray[np.generic]) -> int:
    """Return the address of an array, for a table."""
    return int(array.ctypes.data) if IS_COMPILING else int(importlib.import_module(PLAIN).lend(array))
