"""Call kernels that are machine code already, without importing numba, so that a second start is quick.

numba takes longer to load than a prediction takes to compute.  So a kernel that Python calls is kept as an
object file with one function in it, in numba's calling convention (`numba.core.callconv.CPUCallConv`: a
pointer for the result, one for an exception, then the arguments, an array as the seven or more words of its
structure).  LLVM's linker puts it into memory and `ctypes` calls it.  `zsim.base.machine.code` makes them.
"""

from __future__ import annotations

import ctypes
import functools
import json
import operator
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = NDArray[np.generic]

if TYPE_CHECKING:
    from types import ModuleType

    from llvmlite.binding import ExecutionEngine, TargetMachine

__all__ = ["Kinds", "LinkedKernel", "Packed", "kinds_of", "load", "pack", "signature_of", "unpack"]


INTEGER, REAL, TRUTH = "int64", "float64", "bool"
Passed: TypeAlias = (
    "type[ctypes.c_void_p] | type[ctypes.c_int64] | type[ctypes.c_double] | type[ctypes.c_uint8]"
)
WORDS: dict[str, Passed] = {INTEGER: ctypes.c_int64, REAL: ctypes.c_double, TRUTH: ctypes.c_uint8}
PLAIN: dict[type, str] = {
    int: INTEGER, np.int64: INTEGER, float: REAL, np.float64: REAL, bool: TRUTH, np.bool_: TRUTH,
}  # fmt: skip
MADE_OF: dict[str, type[int] | type[float]] = {INTEGER: int, REAL: float, TRUTH: int}
OK, OK_NONE = 0, -2
C_ORDER, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""Bits of `ndarray.flags.num`."""


class Array(NamedTuple):
    """What of an array decides: its elements, its dimensions and those flags."""

    dtype: np.dtype[np.generic]
    dimensions: int
    flags: int

    @property
    def signature(self) -> str:
        """As numba writes it; of structured elements every field is named."""
        inside = ", ".join([":"] * (self.dimensions - 1) + ["::1"])
        element = self.dtype.name if self.dtype.names is None else f"{self.dtype!r}".replace("\n", "")
        return f"{element}[{inside}]"


class Record(NamedTuple):
    """A named tuple of numbers, which compiled code reads by name."""

    of: type
    words: tuple[str, ...]

    @property
    def signature(self) -> str:
        """As for a tuple, after the name of its class."""
        return f"{self.of.__module__}.{self.of.__qualname__}({', '.join(self.words)})"


Kind: TypeAlias = "str | tuple[str, ...] | Array | Record"
Kinds: TypeAlias = "tuple[Kind, ...]"
"""What of the arguments decides which machine code serves them: one entry an argument."""
Word: TypeAlias = "int | float | None"
NATIVE_FLAGS = C_ORDER | ALIGNED | WRITEABLE
_arrays: dict[tuple[np.dtype[np.generic], int], Array] = {}
"""Kinds of arrays met so far: a kernel that is called often asks for the same few."""


def kinds_of(arguments: tuple[object, ...]) -> Kinds | None:
    """Return what of the arguments decides which machine code serves them; None: only numba can.

    Numbers, tuples of numbers (named ones too), and arrays that are contiguous, aligned and may be written.
    """
    found: list[Kind] = []
    for each in arguments:
        kind: Kind | None = PLAIN.get(type(each))
        if kind is None:
            kind = _kind_of_several(each)
            if kind is None:
                return None
        found.append(kind)
    return tuple(found)


def _kind_of_several(argument: object) -> Kind | None:
    """Return the kind of an array or a tuple of numbers, or None of anything else."""
    if type(argument) is np.ndarray:
        if not argument.flags.carray or argument.ndim == 0:
            return None
        key = argument.dtype, argument.ndim
        return _arrays.get(key) or _arrays.setdefault(key, Array(*key, NATIVE_FLAGS))
    if not isinstance(argument, tuple):  # which no array is, of whatever class
        return None
    inside = tuple(PLAIN.get(type(word), "") for word in argument)
    if not all(inside):
        return None
    return inside if type(argument) is tuple else Record(type(argument), inside)


def signature_of(kinds: Kinds) -> str:
    """Return the kinds of all arguments as numba writes a signature."""
    return f"({', '.join(map(_written, kinds))})"


def _written(kind: Kind) -> str:
    if isinstance(kind, Array | Record):
        return kind.signature
    return kind if isinstance(kind, str) else f"Tuple({', '.join(kind)})"


class Packed(NamedTuple):
    """One kernel for one combination of arguments, as it is kept.

    Attributes
    ----------
    symbol : str
        Name of its function in the object file.
    returns : tuple of str
        Kinds of the words that it returns.
    is_tuple : bool
        Whether they are a tuple; otherwise there is one at most.
    code : bytes
        Object file; empty: it needs what only numba can give it.
    """

    symbol: str
    returns: tuple[str, ...]
    is_tuple: bool
    code: bytes


def pack(packed: Packed) -> bytes:
    """Return what is kept on disk."""
    return json.dumps(packed[:3]).encode() + b"\n" + packed.code


def unpack(content: bytes) -> Packed | None:
    """Return what was kept; None if it is something else."""
    head, _, code = content.partition(b"\n")
    try:
        symbol, returns, is_tuple = json.loads(head)
        return Packed(symbol, tuple(returns), bool(is_tuple), code)
    except (ValueError, TypeError):
        return None


_lock = threading.Lock()
_engines: list[ExecutionEngine] = []


@functools.cache
def _linker() -> tuple[ModuleType, TargetMachine]:
    """Return LLVM's binding and the machine at hand."""
    from llvmlite import binding  # noqa: PLC0415 -- a twentieth of a second

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    return binding, machine


def _address(packed: Packed) -> int:
    """Put an object file into memory for as long as the process lives; return where its function is."""
    with _lock:
        binding, machine = _linker()
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        engine.add_object_file(binding.object_file.ObjectFileRef.from_data(packed.code))
        engine.finalize_object()
        _engines.append(engine)
        return int(engine.get_function_address(packed.symbol))


def load(packed: Packed, kinds: Kinds) -> LinkedKernel:
    """Return a kernel that takes arguments of those kinds and runs without Python's lock.

    Raises
    ------
    RuntimeError
        From the kernel: when it fails, for example for want of memory.
    """
    words: list[Passed] = [ctypes.c_void_p, ctypes.c_void_p]
    for kind in kinds:
        if isinstance(kind, Array):
            words += [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2 + [ctypes.c_void_p]
            words += [ctypes.c_int64] * (2 * kind.dimensions)
        else:
            words += [WORDS[each] for each in _words_of(kind)]
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *words)(_address(packed))
    return LinkedKernel(function, tuple(map(_taker, kinds)), _result_type(packed.returns), _giver(packed))


class LinkedKernel(NamedTuple):
    """A kernel in memory.

    Attributes
    ----------
    function : callable
        Takes every word, those for the result and an exception first; returns a status.
    takers : tuple of callable
        Append an argument's words, one an argument.
    result : type
        What it writes its result into.
    given_back : callable
        Reads that.
    """

    function: Callable[..., int]
    takers: tuple[Callable[[list[Word], object], None], ...]
    result: type[ctypes.Structure]
    given_back: Callable[[ctypes.Structure], object]

    def __call__(self, *arguments: object) -> object:
        """Call it."""
        returned, raised = self.result(), ctypes.c_void_p()
        flat: list[Word] = [ctypes.addressof(returned), ctypes.addressof(raised)]
        for take, argument in zip(self.takers, arguments, strict=True):
            take(flat, argument)
        _check(self.function(*flat))
        return self.given_back(returned)

    def on(self, array: Column) -> Callable[..., object]:
        """Return it with its first argument, for calls one after the other in one thread.

        Addresses are of objects that keep what they point to, the array too.
        """
        returned, raised = self.result(), ctypes.c_void_p()
        place = array.ctypes.data_as(ctypes.c_void_p)
        first = (
            ctypes.byref(returned), ctypes.byref(raised),
            None, None, array.size, array.itemsize, place, *array.shape, *array.strides,
        )  # fmt: skip
        function, takers, given_back = self.function, self.takers[1:], self.given_back

        def call(*arguments: object) -> object:
            flat: list[Word] = []
            for take, argument in zip(takers, arguments, strict=True):
                take(flat, argument)
            _check(function(*first, *flat))
            return given_back(returned)

        return call


def _check(status: int) -> None:
    if status not in (OK, OK_NONE):
        raise RuntimeError(f"compiled code failed with status {status}")


def _words_of(kind: str | tuple[str, ...] | Record) -> tuple[str, ...]:
    """Return the numbers that an argument is passed as."""
    if isinstance(kind, Record):
        return kind.words
    return (kind,) if isinstance(kind, str) else kind


def _giver(packed: Packed) -> Callable[[ctypes.Structure], object]:
    """Return what reads the result of a kernel."""
    names = [f"r{number}" for number in range(len(packed.returns))]
    if not names and not packed.is_tuple:
        return lambda returned: None
    if not packed.is_tuple and packed.returns[0] != TRUTH:
        return operator.attrgetter(names[0])
    if not packed.is_tuple:
        return lambda returned: bool(returned.r0)
    made_of = [bool if kind == TRUTH else MADE_OF[kind] for kind in packed.returns]
    return lambda returned: tuple(
        make(getattr(returned, name)) for make, name in zip(made_of, names, strict=True)
    )


def _result_type(returns: tuple[str, ...]) -> type[ctypes.Structure]:
    """Return the structure that a kernel writes its result into; nothing is an address of nothing."""
    fields = [(f"r{number}", WORDS[kind]) for number, kind in enumerate(returns)]
    return type("Result", (ctypes.Structure,), {"_fields_": fields or [("nothing", ctypes.c_void_p)]})


def _taker(kind: Kind) -> Callable[[list[Word], object], None]:
    """Return what appends an argument of a kind, word by word."""
    if isinstance(kind, Array):
        return cast("Callable[[list[Word], object], None]", _take_array)
    if isinstance(kind, str):
        made_of = cast("Callable[[object], int]", MADE_OF[kind])
        return lambda flat, word: flat.append(made_of(word))
    makers = tuple(MADE_OF[each] for each in _words_of(kind))

    def take(flat: list[Word], several: tuple[int, ...]) -> None:
        flat += [make(word) for make, word in zip(makers, several, strict=True)]

    return cast("Callable[[list[Word], object], None]", take)


def _take_array(flat: list[Word], array: Column) -> None:
    # Without an owner: compiled code borrows it.
    flat += (None, None, array.size, array.itemsize, place_of(array), *array.shape, *array.strides)


def place_of(array: Column) -> int:
    """Return the address of an array that is contiguous and may be written."""
    if array.size and array.dtype.names is None:
        # Four times as fast as numpy's own word for it, which makes several objects.
        return ctypes.addressof(_FIRST_BYTE(array.data))
    return int(array.ctypes.data)


_FIRST_BYTE = ctypes.c_char.from_buffer
