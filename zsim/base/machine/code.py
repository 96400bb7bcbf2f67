"""Compile kernels to machine code that needs no numba; `zsim.base.machine.native` calls it.

What compiled code asks of numba's runtime (memory for arrays of its own, and little else) is put into the
object file beside it, so that only the C library is left to be found.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llvmlite import ir
from llvmlite.binding import parse_assembly
from numba import from_dtype, types
from numba.core.compiler import Flags, compile_extra

from zsim.base.machine.compiler import _Whole, _WholeCompiler
from zsim.base.machine.native import INTEGER, REAL, TRUTH, Array, Kind, Kinds, Packed, Record

if TYPE_CHECKING:
    from zsim.base.machine.compiler import Dispatcher

OF_THE_C_LIBRARY = frozenset(
    ("memset", "memcpy", "memmove", "malloc", "free", "frexp", "ldexp", "log", "log2", "log10", "log1p",
     "exp", "expm1", "pow", "sqrt", "sqrtf", "sin", "cos", "tan", "atan", "atan2", "fmod", "floor", "ceil")
)  # fmt: skip
"""What an object file may leave to be found."""
HEADER_BYTES = 48
"""numba's `MemInfo`: count, destructor, its argument, data, size, allocator (numba/core/runtime/nrt.cpp)."""
DESTRUCTOR_AT, DATA_AT, SIZE_AT = 16, 24, 32

WORD, HALF, REAL_WORD = ir.IntType(64), ir.IntType(32), ir.DoubleType()
ADDRESS = ir.IntType(8).as_pointer()


class _Alone(_Whole):
    """Code of a kernel with all that it needs."""

    def _optimize_final_module(self) -> None:
        # After the parts: of what is linked in, only what is asked for by then is taken.
        self._final_module.link_in(parse_assembly(_support()))
        super()._optimize_final_module()


class _AloneCompiler(_WholeCompiler):
    LIBRARY = _Alone


def compiled(kernel: Dispatcher, kinds: Kinds) -> Packed:
    """Compile a kernel for arguments of some kinds.

    Parameters
    ----------
    kernel
        As `zsim.base.machine.compiler.taken_note_of` returns it.
    kinds : tuple
        As `zsim.base.machine.native.kinds_of` finds them.

    Returns
    -------
    Packed
        Without code if it needs what the C library has not, or returns anything but numbers.
    """
    flags = Flags()
    kernel.targetdescr.options.parse_as_flags(flags, kernel.targetoptions)
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    was_on = gc.isenabled()
    # What numba makes of a kernel stays: looking for garbage meanwhile takes a tenth of the time.
    gc.disable()
    try:
        result = compile_extra(
            kernel.typingctx,
            kernel.targetctx,
            kernel.py_func,
            args=tuple(map(_type_of, kinds)),
            return_type=None,
            flags=flags,
            locals={},
            pipeline_class=_AloneCompiler,
        )
    finally:
        if was_on:
            gc.enable()
    returned = _words(result.signature.return_type)
    module = result.library._final_module
    wanted = {each.name for each in module.functions if each.is_declaration}
    if returned is None or any(
        name not in OF_THE_C_LIBRARY and not name.startswith("llvm.") for name in wanted
    ):
        return Packed("", (), False, b"")
    is_tuple = isinstance(result.signature.return_type, types.BaseTuple)
    return Packed(result.fndesc.llvm_func_name, returned, is_tuple, result.library._get_compiled_object())


def _type_of(kind: Kind) -> types.Type:
    if isinstance(kind, Array):
        return types.Array(from_dtype(kind.dtype), kind.dimensions, "C")
    plain = {INTEGER: types.int64, REAL: types.float64, TRUTH: types.boolean}
    if isinstance(kind, Record):
        words = [plain[each] for each in kind.words]
        is_uniform = len(set(words)) == 1
        return (
            types.NamedUniTuple(words[0], len(words), kind.of)
            if is_uniform
            else types.NamedTuple(words, kind.of)
        )
    return plain[kind] if isinstance(kind, str) else types.Tuple([plain[each] for each in kind])


def _words(returned: types.Type) -> tuple[str, ...] | None:
    """Return the kinds of what a kernel returns, or None if there is anything else than numbers."""
    if returned == types.none:
        return ()
    parts = tuple(returned) if isinstance(returned, types.BaseTuple) else (returned,)
    kinds = tuple(_word(types.unliteral(each)) for each in parts)
    return None if None in kinds else tuple(str(kind) for kind in kinds)


def _word(returned: types.Type) -> str | None:
    return {types.int64: INTEGER, types.float64: REAL, types.boolean: TRUTH}.get(returned)


@functools.cache
def _support() -> str:
    """Return, as intermediate code, what compiled code calls of numba's runtime.

    Memory of arrays begins with a header; a list's has a destructor, called with its data.
    """
    module = ir.Module("support")
    nothing = ir.VoidType()
    malloc = _declared(module, "malloc", ADDRESS, WORD)
    free = _declared(module, "free", nothing, ADDRESS)
    frexp = _declared(module, "frexp", REAL_WORD, REAL_WORD, HALF.as_pointer())
    allocate, (size, align), builder = _defined(module, "NRT_MemInfo_alloc_aligned", ADDRESS, WORD, HALF)
    _allocate(builder, malloc, size, builder.zext(align, WORD), ir.Constant(ADDRESS, None))
    _, (size,), builder = _defined(module, "NRT_MemInfo_alloc", ADDRESS, WORD)
    builder.ret(builder.call(allocate, [size, HALF(16)]))
    _, (size, destructor), builder = _defined(module, "NRT_MemInfo_new_varsize_dtor", ADDRESS, WORD, ADDRESS)
    _allocate(builder, malloc, size, WORD(16), destructor)
    destroy, (memory,), builder = _defined(module, "NRT_MemInfo_call_dtor", nothing, ADDRESS)
    _release(builder, free, memory)
    _, (memory,), builder = _defined(module, "NRT_incref", nothing, ADDRESS)
    with builder.if_then(builder.icmp_unsigned("!=", memory, ir.Constant(ADDRESS, None))):
        _put(builder, memory, 0, builder.add(_got(builder, memory, 0), WORD(1)))
    builder.ret_void()
    _, (memory,), builder = _defined(module, "NRT_decref", nothing, ADDRESS)
    with builder.if_then(builder.icmp_unsigned("!=", memory, ir.Constant(ADDRESS, None))):
        _put(builder, memory, 0, builder.sub(_got(builder, memory, 0), WORD(1)))
        with builder.if_then(builder.icmp_unsigned("==", _got(builder, memory, 0), WORD(0))):
            builder.call(destroy, [memory])
    builder.ret_void()
    _, (memory,), builder = _defined(module, "NRT_Free", nothing, ADDRESS)
    builder.call(free, [memory])
    builder.ret_void()
    _, (number, exponent), builder = _defined(module, "numba_frexp", REAL_WORD, REAL_WORD, HALF.as_pointer())
    builder.store(HALF(0), exponent)
    builder.ret(builder.call(frexp, [number, exponent]))
    return str(module)


def _declared(module: ir.Module, name: str, returned: ir.Type, *arguments: ir.Type) -> ir.Function:
    return ir.Function(module, ir.FunctionType(returned, arguments), name)


def _defined(
    module: ir.Module, name: str, returned: ir.Type, *arguments: ir.Type
) -> tuple[ir.Function, Sequence[ir.Value], ir.IRBuilder]:
    function = _declared(module, name, returned, *arguments)
    # Of several copies one is kept, and none if nobody calls it.
    function.linkage = "linkonce_odr"
    return function, function.args, ir.IRBuilder(function.append_basic_block())


def _allocate(
    builder: ir.IRBuilder, malloc: ir.Function, size: ir.Value, align: ir.Value, destructor: ir.Value
) -> None:
    """Return memory with its header, or nothing if there is none: numba's code asks."""
    room = builder.add(builder.add(size, WORD(HEADER_BYTES)), align)
    memory = builder.call(malloc, [room])
    is_there = builder.icmp_unsigned("!=", memory, ir.Constant(ADDRESS, None))
    with builder.if_then(is_there):
        begin = builder.add(builder.ptrtoint(memory, WORD), WORD(HEADER_BYTES))
        data = builder.and_(builder.sub(builder.add(begin, align), WORD(1)), builder.neg(align))
        _put(builder, memory, 0, WORD(1))
        _put(builder, memory, 8, WORD(0))
        _put(builder, memory, DESTRUCTOR_AT, builder.ptrtoint(destructor, WORD))
        _put(builder, memory, DATA_AT, data)
        _put(builder, memory, SIZE_AT, size)
        _put(builder, memory, 40, WORD(0))
    builder.ret(memory)


def _release(builder: ir.IRBuilder, free: ir.Function, memory: ir.Value) -> None:
    destructor = _got(builder, memory, DESTRUCTOR_AT)
    with builder.if_then(builder.icmp_unsigned("!=", destructor, WORD(0))):
        call = builder.inttoptr(destructor, ir.FunctionType(ir.VoidType(), [ADDRESS]).as_pointer())
        builder.call(call, [builder.inttoptr(_got(builder, memory, DATA_AT), ADDRESS)])
    builder.call(free, [memory])
    builder.ret_void()


def _place(builder: ir.IRBuilder, memory: ir.Value, at: int) -> ir.Value:
    return builder.inttoptr(builder.add(builder.ptrtoint(memory, WORD), WORD(at)), WORD.as_pointer())


def _put(builder: ir.IRBuilder, memory: ir.Value, at: int, word: ir.Value) -> None:
    builder.store(word, _place(builder, memory, at))


def _got(builder: ir.IRBuilder, memory: ir.Value, at: int) -> ir.Value:
    return builder.load(_place(builder, memory, at))
