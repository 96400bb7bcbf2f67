"""Compile kernels with numba, and cache them so that an edited source never meets an old kernel.

numba's own on-disk cache looks only at the file of the outermost function, so an edit in another
kernel file would silently be ignored.  `zsim.base.machine.kernel_cache` finds kernels by a hash of *all*
their sources.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeAlias, TypeVar

import numba
import numpy as np
from llvmlite.binding import Linkage, parse_assembly  # type: ignore[import-untyped,unused-ignore]
from numba import from_dtype, types
from numba.core import serialize, sigutils, typed_passes, typing, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, Flags, compile_extra
from numba.core.compiler_machinery import CompilerPass, PassManager
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numpy.typing import DTypeLike, NDArray

from zsim.base import plain_views
from zsim.base.machine.kernel_cache import of_this_machine

if TYPE_CHECKING:
    # Neither library has types: these names say what is meant, and nothing is checked against them.
    from llvmlite.binding import ModuleRef  # type: ignore[import-untyped,unused-ignore]
    from llvmlite.ir import IRBuilder, Value  # type: ignore[import-untyped,unused-ignore]
    from numba.core.base import BaseContext
    from numba.core.codegen import CPUCodegen
    from numba.core.cpu import CPUTarget
    from numba.core.typing.templates import ConcreteTemplate, Signature

P = ParamSpec("P")
T = TypeVar("T")
Types: TypeAlias = "tuple[types.Type, ...]"
Intrinsic: TypeAlias = "tuple[Signature, Callable[..., Value]]"
"""What numba calls to make code in the place of a call."""


class Folding(Protocol):
    """What brings the arguments of a call into their places."""

    def fold_argument_types(
        self, arguments: Types, named: Mapping[str, types.Type]
    ) -> tuple[Signature, Types]:
        """Return the signature of a call, and the types of all arguments."""


class Dispatcher(Protocol):
    """What `numba.njit` returns, as far as it is known here."""

    py_func: FunctionType
    targetoptions: Mapping[str, object]
    _compiler: Folding
    typingctx: typing.Context
    targetctx: BaseContext
    targetdescr: CPUTarget
    _cache: _Cache
    _numba_type_: types.Type
    get_call_template: Callable[..., object]
    get_overload: Callable[..., object]

    def compile(self, signature: Types, /) -> object:
        """Compile for arguments of these types."""

    def __call__(self, *arguments: object, **named: object) -> object:
        """Run it."""


IS_COMPILING = not numba.config.DISABLE_JIT
PASSES: tuple[type[CompilerPass], ...] = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.InlineOverloads,
    typed_passes.IRLegalization,
    typed_passes.AnnotateTypes,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
"""From Python's byte code to LLVM's, see `_WholeCompiler.define_pipelines`."""
# Type inference makes thousands of messages that nobody reads: colours in them took half a second.
numba.config.DISABLE_ERROR_MESSAGE_HIGHLIGHTING = 1
OPTIONS: dict[str, bool | str] = {"nogil": True, "fastmath": False, "error_model": "numpy"}


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


def taken_note_of(function: Callable[P, T]) -> Dispatcher:
    """Return what numba makes of a function, its parts and cache being ours."""
    compiled: Dispatcher = numba.njit(pipeline_class=_WholeCompiler, **OPTIONS)(function)
    compiled._cache = _Cache(function)
    parts = _Parts(compiled)
    compiled.get_call_template, compiled.get_overload = parts.get_call_template, parts.get_overload
    return compiled


class _Cache:
    """Kernels on disk, in the place of numba's `Cache`; read without what numba loads for compiling."""

    cache_path = None

    def __init__(self, function: Callable[P, T]) -> None:
        self.function = function
        module = function.__module__.rpartition(".")[2]
        self.name = f"{module}.{function.__qualname__}".replace("<", "").replace(">", "")

    def load_overload(self, signature: Signature, target_context: BaseContext) -> CompileResult | None:
        """Return what was compiled for a signature, or None if that has to be done."""
        rtsys.initialize(target_context)
        content = of_this_machine().read(self._name_of(signature, target_context.codegen()))
        if content is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception:  # whatever is wrong with it, compiling anew puts it right
            return None

    def save_overload(self, signature: Signature, result: CompileResult) -> None:
        """Keep what was compiled, unless it holds addresses of this process."""
        if not result.library.has_dynamic_globals:
            name = self._name_of(signature, result.codegen)
            of_this_machine().write(name, serialize.dumps(result._reduce()))

    def _name_of(self, signature: Signature, codegen: CPUCodegen) -> str:
        cells = tuple(each.cell_contents for each in self.function.__closure__ or ())
        parts = (self.function.__module__, signature, codegen.magic_tuple(), self.function.__code__.co_code)
        digest = hashlib.sha256(repr(parts).encode() + (serialize.dumps(cells) if cells else b""))
        return f"{self.name}-{digest.hexdigest()[:16]}"


class _Part(JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """Intermediate code of a kernel that other kernels call.

    numba would optimise it and make machine code of it by itself, and then do both again inside each of its
    callers and of theirs: with calls fifteen deep, most of the time of a first run.  A part is left as it is,
    and what Python calls (`_Whole`) is optimised with all its parts at once.
    """

    def _optimize_functions(self, ll_module: ModuleRef) -> None:
        pass

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True


class _Whole(JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """Code of a kernel that Python calls, with every part that it needs."""

    def finalize(self) -> None:
        needed: dict[JITCodeLibrary, None] = {}
        waiting: list[JITCodeLibrary] = list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if library not in needed:
                needed[library] = None
                waiting += library._linking_libraries if isinstance(library, _Part) else ()
        self._linking_libraries: list[JITCodeLibrary] = list(needed)
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Optimise after making the parts private: what has one caller is put into it and drops out."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return what is kept on disk: no code to be linked, only which functions there are."""
        self._ensure_finalized()
        names = [each.name for each in self._final_module.functions if not each.is_declaration]
        stubs = "\n".join(f'define void @"{name}"() {{\n  ret void\n}}' for name in names)
        module = parse_assembly(f'target triple = "{self._final_module.triple}"\n{stubs}')
        return self.name, "object", (self._get_compiled_object(), module.as_bitcode())


class _WholeCompiler(Compiler):  # type: ignore[misc,unused-ignore]
    LIBRARY: type[JITCodeLibrary] = _Whole

    def _compile_bytecode(self) -> CompileResult:
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = self.LIBRARY(codegen, name)
        self.state.library.enable_object_caching()
        return super()._compile_bytecode()

    def define_pipelines(self) -> list[PassManager]:
        """Return the one sequence of passes: those of numba's that change something in our kernels.

        The others look for closures, ``with`` blocks, array expressions or calls to be unrolled; that took an
        eighth of a first run, for the same machine code.
        """
        manager = PassManager("zsim")
        for each in PASSES:
            manager.add_pass(each, each.__name__)
        manager.finalize()
        return [manager]


class _PartCompiler(_WholeCompiler):
    LIBRARY = _Part


class _Parts:
    """A kernel as compiled code sees it: one part for each combination of argument types."""

    def __init__(self, compiled: Dispatcher) -> None:
        self.compiled = compiled
        self.found: dict[Types, CompileResult] = {}

    def get_call_template(
        self, arguments: Types, named: Mapping[str, types.Type]
    ) -> tuple[type[ConcreteTemplate], Signature, Types, dict[str, types.Type]]:
        """Return how to call it, for numba's type inference; see its `Dispatcher`."""
        arguments = tuple(map(_widened, arguments))
        named = {key: _widened(named[key]) for key in named}
        signature, folded = self.compiled._compiler.fold_argument_types(arguments, named)
        part = self._part(tuple(folded))
        name = self.compiled.py_func.__name__
        template = typing.make_concrete_template(name, key=name, signatures=[part.signature])
        return template, signature, folded, {}

    def get_overload(self, signature: Signature) -> object:
        """Return the key under which numba's target knows the part."""
        arguments, _ = sigutils.normalize_signature(signature)
        return self._part(tuple(arguments)).entry_point

    def _part(self, arguments: Types) -> CompileResult:
        if arguments not in self.found:
            target = self.compiled.targetctx
            made = _compiled_part(self.compiled, arguments)._replace(entry_point=object())
            target.insert_user_function(made.entry_point, made.fndesc, [made.library])
            self.found[arguments] = made
        return self.found[arguments]


def _compiled_part(compiled: Dispatcher, arguments: Types) -> CompileResult:
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


def array_at(dtype: DTypeLike) -> Callable[..., object]:
    """Return a compiled function from an address to the array of `dtype` that begins there.

    The array has no length of its own and keeps nothing alive.  An intrinsic: the compiler has next to no
    work with it.
    """
    if not IS_COMPILING:
        return functools.partial(plain_views.array_at, dtype)
    array_type = types.Array(from_dtype(np.dtype(dtype)), 1, "C")

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def view(typing_context: typing.Context, address: types.Type) -> Intrinsic:
        def generate(
            context: BaseContext, builder: IRBuilder, signature: Signature, arguments: Sequence[Value]
        ) -> Value:
            return _array(context, builder, array_type, arguments[0])

        return array_type(types.int64), generate

    made: Callable[..., object] = view
    return made


def matrix_at(dtype: DTypeLike) -> Callable[..., object]:
    """Return a compiled function from an address, rows and columns to the matrix that begins there."""
    if not IS_COMPILING:
        return functools.partial(plain_views.matrix_at, dtype)
    array_type = types.Array(from_dtype(np.dtype(dtype)), 2, "C")

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def view(
        typing_context: typing.Context, address: types.Type, rows: types.Type, columns: types.Type
    ) -> Intrinsic:
        def generate(
            context: BaseContext, builder: IRBuilder, signature: Signature, arguments: Sequence[Value]
        ) -> Value:
            return _array(context, builder, array_type, arguments[0], arguments[1:])

        return array_type(types.int64, types.int64, types.int64), generate

    made: Callable[..., object] = view
    return made


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _bare(typing_context: typing.Context, table: types.Type) -> Intrinsic:
    """Return a table of addresses as a plain pointer: at every call, an array's references are counted."""

    def generate(
        context: BaseContext, builder: IRBuilder, signature: Signature, arguments: Sequence[Value]
    ) -> Value:
        return _pointer(context, builder, signature.args[0], arguments[0])

    return types.CPointer(types.int64)(table), generate


def bare_table() -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return a compiled function from a table to the pointer to its entries."""
    return _bare if IS_COMPILING else lambda table: table


def array_in(dtype: DTypeLike, entry: int) -> Callable[..., object]:
    """Return a compiled function from a table of addresses to the array whose address stands at `entry`."""
    if not IS_COMPILING:
        return lambda table: plain_views.array_at(dtype, int(table[entry]))
    array_type = types.Array(from_dtype(np.dtype(dtype)), 1, "C")

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def view(typing_context: typing.Context, table: types.Type) -> Intrinsic:
        def generate(
            context: BaseContext, builder: IRBuilder, signature: Signature, arguments: Sequence[Value]
        ) -> Value:
            table = _pointer(context, builder, signature.args[0], arguments[0])
            address = _constant_load(builder, table, context.get_constant(types.intp, entry))
            return _array(context, builder, array_type, address)

        return array_type(table), generate

    made: Callable[..., object] = view
    return made


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _word_of(typing_context: typing.Context, table: types.Type, entry: types.Type) -> Intrinsic:
    """Return an entry of a table of addresses and sizes."""

    def generate(
        context: BaseContext, builder: IRBuilder, signature: Signature, arguments: Sequence[Value]
    ) -> Value:
        return _constant_load(builder, arguments[0], arguments[1])

    return types.int64(table, types.int64), generate


def word_reader() -> Callable[..., int]:
    """Return a compiled function from a table of addresses and sizes and a number to that entry."""
    return _word_of if IS_COMPILING else lambda table, entry: int(table[entry])


def type_of(function: Callable[..., object]) -> types.Type:
    """Return numba's type of a function that only compiled code calls."""
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(function)


def _pointer(context: BaseContext, builder: IRBuilder, given: types.Type, table: Value) -> Value:
    """Return a table, an array or bare, as a plain pointer."""
    return (
        context.make_array(given)(context, builder, table).data if isinstance(given, types.Array) else table
    )


def _constant_load(builder: IRBuilder, table: Value, place: Value) -> Value:
    """Load a word that does not change while compiled code runs: once in a function is enough."""
    word = builder.load(builder.gep(table, [place]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _array(
    context: BaseContext,
    builder: IRBuilder,
    array_type: types.Array,
    address: Value,
    shape: Sequence[Value] = (),
) -> Value:
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


def _widened(given: types.Type) -> types.Type:
    """Return the type as which compiled code passes an argument on: signed integers as int64."""
    plain = types.unliteral(given)
    return types.int64 if isinstance(plain, types.Integer) and plain.signed else plain
