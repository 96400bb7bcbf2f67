"""Machine code of one kernel, with the calling convention that `zsim.base.machine.native` uses."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from zsim.base.machine.direct.source import Made
from zsim.base.machine.direct.unit import Unit
from zsim.base.machine.direct.values import (
    INTEGER,
    REAL,
    TRUTH,
    ArrayType,
    NumberType,
    TupleType,
    Type,
    UntranslatableError,
    leaves,
)
from zsim.base.machine.native import Array, Kinds, Packed, Record

if TYPE_CHECKING:
    from types import FunctionType

    from llvmlite.binding import ModuleRef, TargetMachine

NUMBERS = {"int64": INTEGER, "float64": REAL, "bool": TRUTH}
NAMES = {INTEGER: "int64", REAL: "float64", TRUTH: "bool"}
SYMBOL = "zsim_kernel"
LEAST_LLVM = 20
"""LLVM from which on pointers have no types, and passes are built as they are here."""


def compiled(function: FunctionType, kinds: Kinds) -> Packed:
    """Compile a kernel for arguments of some kinds.

    Parameters
    ----------
    function
        Plain Python.
    kinds : tuple
        As `zsim.base.machine.native.kinds_of` finds them.

    Raises
    ------
    UntranslatableError
        If it holds what is not known here.
    """
    unit = Unit()
    given, parameters = [], ["ptr %result", "ptr %exception"]
    operands: list[str] = []
    for number, kind in enumerate(kinds):
        given.append(_type_of(kind))
        operands += _taken(f"%p{number}", given[-1], parameters)
    made = unit.function(function, tuple(given))
    returns = _words(made.returns)
    begin = [line for line in operands if line.startswith("  ")]
    passed = [line for line in operands if not line.startswith("  ")]
    call = f"call {made.result} @{made.symbol}({', '.join(passed)})"
    body = [*begin, f"  {call}" if made.result == "void" else f"  %made = {call}"]
    body += _given_back(made)
    entry = f"define i32 @{SYMBOL}({', '.join(parameters)}) nounwind {{\n" + "\n".join(body) + "\n}"
    unit.texts.append(entry)
    return Packed(
        SYMBOL, returns, isinstance(made.returns, TupleType) and bool(returns), _machine_code(unit.text)
    )


def _type_of(kind: object) -> Type:
    if isinstance(kind, Array):
        return ArrayType(kind.dtype, kind.dimensions)
    if isinstance(kind, str):
        return NUMBERS[kind]
    if isinstance(kind, Record):
        names: tuple[str, ...] = getattr(kind.of, "_fields", ())
        return TupleType(tuple(NUMBERS[each] for each in kind.words), names)
    assert isinstance(kind, tuple)
    return TupleType(tuple(NUMBERS[each] for each in kind))


def _taken(name: str, kind: Type, parameters: list[str]) -> list[str]:
    """Add the parameters of an argument; return what reads them, and the operands that are passed on."""
    if isinstance(kind, ArrayType):
        shape = [f"{name}.n{axis}" for axis in range(kind.dimensions)]
        strides = [f"{name}.s{axis}" for axis in range(kind.dimensions)]
        parameters += [f"ptr {name}.m", f"ptr {name}.o", f"i64 {name}.c", f"i64 {name}.i", f"ptr {name}.d"]
        parameters += [f"i64 {each}" for each in (*shape, *strides)]
        return [f"ptr {name}.d", *(f"i64 {each}" for each in shape)]
    found = []
    for at, leaf in enumerate(leaves(kind)):
        word = f"{name}.w{at}"
        if leaf == "i1":
            parameters.append(f"i8 {word}")
            found += [f"  {word}.t = icmp ne i8 {word}, 0", f"i1 {word}.t"]
        else:
            parameters.append(f"{leaf} {word}")
            found.append(f"{leaf} {word}")
    return found


def _words(returned: Type) -> tuple[str, ...]:
    """Return the kinds of the numbers that a kernel returns."""
    items = returned.items if isinstance(returned, TupleType) else (returned,)
    if not all(isinstance(each, NumberType) and each in NAMES for each in items):
        raise UntranslatableError(f"{returned} for Python")
    return tuple(NAMES[each] for each in items if isinstance(each, NumberType))


def _given_back(made: Made) -> list[str]:
    """Return the code that writes down what a kernel returns, and its end."""
    parts, lines = made.parts, ["  ret i32 0"]
    names = ["%made"] if len(parts) == 1 else [f"%r{at}" for at in range(len(parts))]
    taken = [
        f"  {name} = extractvalue {made.result} %made, {at}"
        for at, name in enumerate(names)
        if len(parts) > 1
    ]
    if made.may_fail:
        lines = ["  %status = zext i1 %failed to i32", "  ret i32 %status"]
        taken.append(f"  %failed = or i1 {names.pop(0)}, false")
    leaves_kept = leaves(made.returns)
    kept = "{ " + ", ".join("i8" if each == "i1" else each for each in leaves_kept) + " }"
    for at, (leaf, name) in enumerate(zip(leaves_kept, names, strict=True)):
        part = name
        if leaf == "i1":
            part = f"%t{at}"
            taken.append(f"  {part} = zext i1 {name} to i8")
        taken.append(f"  %to{at} = getelementptr inbounds {kept}, ptr %result, i32 0, i32 {at}")
        taken.append(f"  store {'i8' if leaf == 'i1' else leaf} {part}, ptr %to{at}")
    return [*taken, *lines]


@functools.cache
def _machine() -> TargetMachine:
    """Return LLVM's description of the machine at hand, as numba has it."""
    from llvmlite import binding  # noqa: PLC0415 -- a twentieth of a second

    if binding.llvm_version_info[0] < LEAST_LLVM:
        raise UntranslatableError("LLVM of before")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    is_x86 = binding.get_process_triple().startswith("x86")
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
        cpu=os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name(),
        features=features,
        opt=3,
        reloc="static" if is_x86 else "default",
        codemodel="jitdefault",
        jit=True,
    )


def _machine_code(text: str) -> bytes:
    from llvmlite import binding  # noqa: PLC0415

    machine = _machine()
    head = f'target triple = "{binding.get_process_triple()}"\ntarget datalayout = "{machine.target_data}"\n'
    try:
        module: ModuleRef = binding.parse_assembly(head + text)
        module.verify()
    except RuntimeError as error:
        raise UntranslatableError(f"code that LLVM refuses: {error}") from None
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    code: bytes = machine.emit_object(module)
    return code
