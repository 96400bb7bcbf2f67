"""The one door to numba: compiled kernels with a cache that edits cannot make stale.

numba's own on-disk cache looks only at the file of the outermost function, so an edit in another
kernel file would silently be ignored.  Here the cache directory carries a hash of *all* kernel sources.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite.ir import FunctionType, VoidType  # type: ignore[import-untyped,unused-ignore]
from numba import from_dtype, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

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


def kernels_are_cached(kernel: str = "kernel.advance") -> bool:
    """Tell whether a kernel (``module.function``) of these sources was compiled before on this machine."""
    return any(cache_directory().rglob(f"{kernel}-*.nbc"))


def _without_linear_algebra() -> None:
    """Load numba's array functions without scipy.linalg: 0.15 s and 20 MB for what no kernel uses."""
    name = "scipy.linalg.cython_blas"
    if name in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]
    hidden = {} if "scipy.linalg" in sys.modules else {"scipy.linalg": None}
    sys.modules.update(hidden)  # type: ignore[arg-type]
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        for each in (name, *hidden):
            del sys.modules[each]


_without_linear_algebra()

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


def entry_point(function: Callable[..., Any], signature: str) -> int:
    """Compile `function` with the same options and return its address, for `call_through`.

    Parameters
    ----------
    function : callable
        At module level, undecorated (its compilation is cached under its name).
    signature : str
        As numba writes it, for example ``void(int64, int64)``.
    """
    return int(_callback(function, signature).address)


@functools.cache
def _callback(function: Callable[..., Any], signature: str) -> Any:
    return numba.cfunc(signature, cache=True, nogil=True, fastmath=False, error_model="numpy")(function)


def array_at(dtype: Any) -> Any:
    """Return a compiled function from an address to the array of `dtype` that begins there.

    The array has no length of its own and keeps nothing alive.  An intrinsic: the compiler has next to no
    work with it.
    """
    array_type = types.Array(from_dtype(np.dtype(dtype)), 1, "C")

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def view(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _array(context, builder, array_type, arguments[0])

        return array_type(types.int64), generate

    return view


def matrix_at(dtype: Any) -> Any:
    """Return a compiled function from an address, rows and columns to the matrix that begins there."""
    array_type = types.Array(from_dtype(np.dtype(dtype)), 2, "C")

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def view(typing_context: Any, address: Any, rows: Any, columns: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _array(context, builder, array_type, arguments[0], arguments[1:])

        return array_type(types.int64, types.int64, types.int64), generate

    return view


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def bare(typing_context: Any, table: Any) -> Any:
    """Return a table of addresses as a plain pointer: at every call, an array's references are counted."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(types.int64)(table), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def bare_at(typing_context: Any, address: Any) -> Any:
    """Return the table of addresses that begins at an address, as a plain pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(types.int64)))

    return types.CPointer(types.int64)(types.int64), generate


def array_in(dtype: Any, entry: int) -> Any:
    """Return a compiled function from a table of addresses to the array whose address stands at `entry`."""
    array_type = types.Array(from_dtype(np.dtype(dtype)), 1, "C")

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def view(typing_context: Any, table: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address = _entry(context, builder, arguments[0], entry)
            return _array(context, builder, array_type, address)

        return array_type(table), generate

    return view


def call_through(entry: int, arguments: int) -> Any:
    """Return a compiled function that calls the code whose address stands at `entry` of a table.

    What is called so (`entry_point`, every argument an int64, the table's address first) is compiled once,
    and not once more inside each of its callers and their callers, as numba does with an ordinary call.

    Parameters
    ----------
    entry : int
    arguments : int
        So many follow the table.
    """

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def call(typing_context: Any, table: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            word = context.get_value_type(types.int64)
            address = _entry(context, builder, values[0], entry)
            code = builder.inttoptr(address, FunctionType(VoidType(), [word] * (arguments + 1)).as_pointer())
            words = [builder.extract_value(values[1], place) for place in range(arguments)]
            builder.call(code, [builder.ptrtoint(values[0], word), *words])
            return context.get_dummy_value()

        return types.void(table, types.UniTuple(types.int64, arguments)), generate

    return call


def _entry(context: Any, builder: Any, table: Any, entry: int) -> Any:
    return builder.load(builder.gep(table, [context.get_constant(types.intp, entry)]))


def _array(context: Any, builder: Any, array_type: Any, address: Any, shape: Any = ()) -> Any:
    array = context.make_array(array_type)(context, builder)
    element = context.get_data_type(array_type.dtype)
    size = context.get_constant(types.intp, context.get_abi_sizeof(element))
    populate_array(
        array,
        data=builder.inttoptr(address, element.as_pointer()),
        shape=list(shape) or [context.get_constant(types.intp, 1 << 40)],
        strides=[builder.mul(size, shape[1]), size] if shape else [size],
        itemsize=size,
        meminfo=None,
    )
    return array._getvalue()


def _widened(given: Any) -> Any:
    """Return the type as which compiled code passes an argument on: signed integers as int64."""
    plain = types.unliteral(given)
    return types.int64 if isinstance(plain, types.Integer) and plain.signed else plain
