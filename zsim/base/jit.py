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
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite.binding import Linkage, parse_assembly  # type: ignore[import-untyped,unused-ignore]
from numba import from_dtype, types
from numba.core import sigutils, typing
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags, compile_extra
from numba.core.runtime import rtsys
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

PACKAGE = Path(__file__).parent
KERNEL_ROOMS = ("drives", "vdevs", "pool", "scan", "engine")

IS_COMPILING = not numba.config.DISABLE_JIT
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy"}

_ONE_AT_A_TIME = threading.RLock()

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
    for room in (".", *KERNEL_ROOMS):
        for path in sorted((PACKAGE / room).glob("*.py" if room != "." else "jit.py")):
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

    What Python calls is compiled to machine code and cached.  What compiled code calls is taken as a part of
    its callers: see `_Part`.  There every integer is taken as 64 bits: one compilation serves literals and
    all widths, where numba would make one for each combination.
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
                self._compiled = self._taken_note_of()
        return self._compiled

    def _taken_note_of(self) -> Any:
        compiled: Any = numba.njit(pipeline_class=_WholeCompiler, **OPTIONS)(self.py_func)
        compiled._cache = _Cache(self.py_func)
        parts = _Parts(compiled)
        compiled.get_call_template, compiled.get_overload = parts.get_call_template, parts.get_overload
        return compiled

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return (self._compiled or self.compiled)(*arguments, **named)

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_


class _Cache(FunctionCache):  # type: ignore[misc,unused-ignore]
    """Kernels on disk, read without what numba loads for compiling: 0.2 s of every run."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def compile_for(function: Any, signature: str) -> None:
    """Compile a kernel for the arguments of `signature`, as the first call from Python would.

    Parameters
    ----------
    function : callable
        Made by `njit`.
    signature : str
        As numba writes it, for example ``(int64[::1], float64)``.
    """
    # The types alone: the cache is searched by the very object that a call looks for.
    arguments, _ = sigutils.normalize_signature(signature)
    function.compiled.compile(arguments)


class _Part(JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """Intermediate code of a kernel that other kernels call.

    numba would optimise it and make machine code of it by itself, and then do both again inside each of its
    callers and of theirs: with calls fifteen deep, most of the time of a first run.  A part is left as it is,
    and what Python calls (`_Whole`) is optimised with all its parts at once.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        pass

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True


class _Whole(JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """Code of a kernel that Python calls, with every part that it needs."""

    def finalize(self) -> None:
        needed: dict[Any, None] = {}
        waiting: list[Any] = list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if library not in needed:
                needed[library] = None
                waiting += library._linking_libraries if isinstance(library, _Part) else ()
        self._linking_libraries: list[Any] = list(needed)
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Optimise after making the parts private: what has one caller is put into it and drops out."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()

    def serialize_using_object_code(self) -> Any:
        """Return what is kept on disk: no code to be linked, only which functions there are."""
        self._ensure_finalized()
        names = [each.name for each in self._final_module.functions if not each.is_declaration]
        stubs = "\n".join(f'define void @"{name}"() {{\n  ret void\n}}' for name in names)
        module = parse_assembly(f'target triple = "{self._final_module.triple}"\n{stubs}')
        return self.name, "object", (self._get_compiled_object(), module.as_bitcode())


class _WholeCompiler(Compiler):  # type: ignore[misc,unused-ignore]
    LIBRARY: Any = _Whole

    def _compile_bytecode(self) -> Any:
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = self.LIBRARY(codegen, name)
        self.state.library.enable_object_caching()
        return super()._compile_bytecode()


class _PartCompiler(_WholeCompiler):
    LIBRARY = _Part


class _Parts:
    """A kernel as compiled code sees it: one part for each combination of argument types."""

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        self.found: dict[tuple[Any, ...], Any] = {}

    def get_call_template(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return how to call it, for numba's type inference; see its `Dispatcher`."""
        arguments = tuple(map(_widened, arguments))
        named = {key: _widened(named[key]) for key in named}
        signature, folded = self.compiled._compiler.fold_argument_types(arguments, named)
        part = self._part(tuple(folded))
        name = self.compiled.py_func.__name__
        template = typing.make_concrete_template(name, key=name, signatures=[part.signature])
        return template, signature, folded, {}

    def get_overload(self, signature: Any) -> Any:
        """Return the key under which numba's target knows the part."""
        arguments, _ = sigutils.normalize_signature(signature)
        return self._part(tuple(arguments)).entry_point

    def _part(self, arguments: tuple[Any, ...]) -> Any:
        if arguments not in self.found:
            target = self.compiled.targetctx
            made = _compiled_part(self.compiled, arguments)._replace(entry_point=object())
            target.insert_user_function(made.entry_point, made.fndesc, [made.library])
            self.found[arguments] = made
        return self.found[arguments]


def _compiled_part(compiled: Any, arguments: tuple[Any, ...]) -> Any:
    flags = Flags()
    compiled.targetdescr.options.parse_as_flags(flags, compiled.targetoptions)
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return compile_extra(
        compiled.typingctx,
        compiled.targetctx,
        compiled.py_func,
        args=arguments,
        return_type=None,
        flags=flags,
        locals={},
        pipeline_class=_PartCompiler,
    )


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


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def word_of(typing_context: Any, table: Any, entry: Any) -> Any:
    """Return an entry of a table of addresses and sizes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _constant_load(builder, arguments[0], arguments[1])

    return types.int64(table, types.int64), generate


def _entry(context: Any, builder: Any, table: Any, entry: int) -> Any:
    return _constant_load(builder, table, context.get_constant(types.intp, entry))


def _constant_load(builder: Any, table: Any, place: Any) -> Any:
    """Load a word that does not change while compiled code runs: once in a function is enough."""
    word = builder.load(builder.gep(table, [place]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _array(context: Any, builder: Any, array_type: Any, address: Any, shape: Any = ()) -> Any:
    array = context.make_array(array_type)(context, builder)
    element = context.get_data_type(array_type.dtype)
    size = context.get_constant(types.intp, context.get_abi_sizeof(element))
    populate_array(
        array,
        data=builder.inttoptr(address, element.as_pointer()),
        shape=list(shape) or [context.get_constant(types.intp, 0)],
        strides=[builder.mul(size, shape[1]), size] if shape else [size],
        itemsize=size,
        meminfo=None,
    )
    return array._getvalue()


def _widened(given: Any) -> Any:
    """Return the type as which compiled code passes an argument on: signed integers as int64."""
    plain = types.unliteral(given)
    return types.int64 if isinstance(plain, types.Integer) and plain.signed else plain
