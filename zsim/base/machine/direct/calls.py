"""Translates calls: of other kernels, of the few functions of Python and numpy that kernels use, of views."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from zsim.base.machine.direct.source import Kernel, View
from zsim.base.machine.direct.values import (
    INTEGER,
    NOTHING,
    POINTER,
    REAL,
    SINGLE,
    UNSIGNED,
    ArrayType,
    Fixed,
    NumberType,
    PointerType,
    TupleType,
    Type,
    UntranslatableError,
    Value,
    items_of,
    joined,
    leaves,
    literal,
    several,
)
from zsim.base.machine.direct.writer import UNCHANGING

if TYPE_CHECKING:
    from zsim.base.machine.direct.source import Parts, Source
    from zsim.base.machine.direct.writer import Writer

Given: TypeAlias = "list[Value]"


class Calls:
    """Calls in one kernel; part of `Expressions`."""

    unit: Parts
    source: Source
    writer: Writer
    packs: dict[str, list[Value]]

    def value(self, node: ast.expr) -> Value | Fixed:
        """Return what an expression comes to."""
        raise NotImplementedError

    def plain(self, value: Value | Fixed) -> Value:
        """Return a value; of what is known, the constant."""
        raise NotImplementedError

    def of_Call(self, node: ast.Call) -> Value:
        called = self.value(node.func) if not self._is_method(node.func) else None
        if called is None:
            return self._method(node)
        if not isinstance(called, Fixed):
            raise UntranslatableError(ast.unparse(node))
        if called.value in (np.empty, np.zeros):
            return self._allocated(node)
        given = self._given(node)
        named = {str(each.arg): self.plain(self.value(each.value)) for each in node.keywords}
        function = called.value
        if isinstance(function, Kernel):
            return self._call(function, given, named)
        if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
            names: tuple[str, ...] = function._fields
            return several([*given, *(named[name] for name in names[len(given) :])], names)
        if named:
            raise UntranslatableError(ast.unparse(node))
        if isinstance(function, View):
            return self._view(function, given)
        made = FUNCTIONS.get(function) if callable(function) else None
        if made is None:
            raise UntranslatableError(f"a call of {ast.unparse(node.func)}")
        return made(self.writer, given)

    def _is_method(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in self.source.variables
        )

    def _method(self, node: ast.Call) -> Value:
        raise UntranslatableError(ast.unparse(node))

    def _given(self, node: ast.Call) -> Given:
        found = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                if not isinstance(each.value, ast.Name) or each.value.id not in self.packs:
                    raise UntranslatableError(ast.unparse(node))
                found += self.packs[each.value.id]
            else:
                found.append(self.plain(self.value(each)))
        return found

    def _call(self, kernel: Kernel, given: Given, named: dict[str, Value]) -> Value:
        """Call another kernel, which becomes a part of the same unit."""
        names = self.unit.source_of(kernel.py_func).parameters
        if named:
            given = [*given, *(named[name] for name in names[len(given) : len(given) + len(named)])]
        made = self.unit.function(kernel.py_func, tuple(each.type for each in given))
        typed = [
            f"{leaf} {part}"
            for each in given
            for leaf, part in zip(leaves(each.type), each.parts, strict=True)
        ]
        call = f"call {made.result} @{made.symbol}({', '.join(typed)})"
        if not made.parts:
            self.writer.write(call)
            return Value(NOTHING, ())
        found = self.writer.make(call)
        if len(made.parts) == 1 and not made.may_fail:
            return Value(made.returns, (found,))
        taken = [found]
        if len(made.parts) > 1:
            whole = range(len(made.parts))
            taken = [self.writer.make(f"extractvalue {made.result} {found}, {at}") for at in whole]
        if made.may_fail:
            self.fail_if(taken.pop(0))
        return Value(made.returns, tuple(taken))

    def _allocated(self, node: ast.Call) -> Value:
        """Return a new array, which is given back when the kernel ends."""
        element = node.args[1:] or [each.value for each in node.keywords if each.arg == "dtype"]
        kind = self.value(element[0]) if element else Fixed(np.float64)
        count = self.plain(self.value(node.args[0]))
        if not isinstance(kind, Fixed) or count.type != INTEGER:
            raise UntranslatableError(ast.unparse(node))
        dtype = np.dtype(kind.value)  # type: ignore[call-overload]
        return self.kept(dtype, count.parts[0])

    def kept(self, dtype: np.dtype[np.generic], count: str) -> Value:
        """Return a new array, all 0, that is given back when the kernel ends."""
        raise NotImplementedError

    def fail_if(self, truth: str) -> None:
        """End the kernel, and those that called it, if there was no memory."""
        raise NotImplementedError

    def _view(self, view: View, given: Given) -> Value:
        """Return what stands behind an address or in a table (`zsim.base.jit`)."""
        arguments = view.arguments
        if view.maker == "bare_table":
            return Value(POINTER, given[0].parts[:1])
        if view.maker == "word_reader":
            place = self.writer.converted(given[1], INTEGER).parts[0]
            return Value(INTEGER, (self._word(given[0], place),))
        dtype = np.dtype(arguments[0])  # type: ignore[call-overload]
        if view.maker == "array_in":
            return self._array(dtype, self._word(given[0], str(arguments[1])), ("0",))
        address = self.writer.converted(given[0], INTEGER).parts[0]
        shape = tuple(self.writer.converted(each, INTEGER).parts[0] for each in given[1:])
        return self._array(dtype, address, shape or ("0",))

    def _word(self, table: Value, place: str) -> str:
        if not isinstance(table.type, PointerType | ArrayType):
            raise UntranslatableError("a table that is none")
        return self.writer.load("i64", self.writer.shifted(table.parts[0], place, 8), 8, UNCHANGING)

    def _array(self, dtype: np.dtype[np.generic], address: str, shape: tuple[str, ...]) -> Value:
        pointer = self.writer.make(f"inttoptr i64 {address} to ptr")
        return Value(ArrayType(dtype, len(shape)), (pointer, *shape))


def _cast(kind: NumberType) -> Callable[[Writer, Given], Value]:
    return lambda writer, given: writer.converted(given[0], kind)


def _float(writer: Writer, given: Given) -> Value:
    if given[0].type == SINGLE:
        raise UntranslatableError("a short real made long, which numba keeps short")
    return writer.converted(given[0], REAL)


def _int(writer: Writer, given: Given) -> Value:
    return given[0] if given[0].type == UNSIGNED else writer.converted(given[0], INTEGER)


def _int32(writer: Writer, given: Given) -> Value:
    kind, part = given[0].type, given[0].parts[0]
    if kind in (REAL, SINGLE):
        assert isinstance(kind, NumberType)
        short = writer.make(f"fptosi {kind.llvm} {part} to i32")
    else:
        short = writer.make(f"trunc i64 {writer.converted(given[0], INTEGER).parts[0]} to i32")
    return Value(INTEGER, (writer.make(f"sext i32 {short} to i64"),))


def _abs(writer: Writer, given: Given) -> Value:
    number = given[0]
    if number.type in (REAL, SINGLE):
        return _of_reals("fabs", writer, number)
    number = writer.converted(number, INTEGER)
    opposite = writer.calculated("Sub", literal(0), number)
    return writer.chosen(writer.compared("Lt", number, literal(0)).parts[0], opposite, number)


def _of_reals(name: str, writer: Writer, number: Value) -> Value:
    kind = number.type
    assert isinstance(kind, NumberType)
    suffix = "f64" if kind == REAL else "f32"
    called = writer.call(f"llvm.{name}.{suffix}", kind.llvm, f"{kind.llvm} {number.parts[0]}", kind.llvm)
    return Value(kind, (called,))


def _real(name: str) -> Callable[[Writer, Given], Value]:
    def made(writer: Writer, given: Given) -> Value:
        number = given[0] if given[0].type == SINGLE else writer.converted(given[0], REAL)
        return _of_reals(name, writer, number)

    return made


def _rounded(name: str) -> Callable[[Writer, Given], Value]:
    def made(writer: Writer, given: Given) -> Value:
        return writer.converted(_real(name)(writer, given), INTEGER)

    return made


def _extreme(how: str) -> Callable[[Writer, Given], Value]:
    """Return what finds the least or the greatest, in the order in which Python compares."""

    def made(writer: Writer, given: Given) -> Value:
        found = given[0]
        for each in given[1:]:
            kind: Type = joined(found.type, each.type)
            best, other = writer.converted(found, kind), writer.converted(each, kind)
            found = writer.chosen(writer.compared(how, other, best).parts[0], other, best)
        return found

    return made


def _len(writer: Writer, given: Given) -> Value:
    kind = given[0].type
    if isinstance(kind, TupleType):
        return literal(len(items_of(given[0])))
    if not isinstance(kind, ArrayType):
        raise UntranslatableError(f"the length of {kind}")
    return Value(INTEGER, given[0].parts[1:2])


def _truth(writer: Writer, given: Given) -> Value:
    return writer.truth(given[0])


def _frexp(writer: Writer, given: Given) -> Value:
    room = writer.room("i32")
    number = writer.converted(given[0], REAL).parts[0]
    mantissa = writer.call("frexp", "double", f"double {number}, ptr {room}", "double, ptr")
    exponent = writer.make(f"sext i32 {writer.load('i32', room, 4)} to i64")
    return several([Value(REAL, (mantissa,)), Value(INTEGER, (exponent,))])


FUNCTIONS: dict[object, Callable[[Writer, Given], Value]] = {
    int: _int, float: _float, bool: _truth, abs: _abs, len: _len,
    min: _extreme("Lt"), max: _extreme("Gt"),
    np.int64: _cast(INTEGER), np.uint64: _cast(UNSIGNED), np.float32: _cast(SINGLE), np.int32: _int32,
    np.floor: _real("floor"), math.floor: _rounded("floor"), math.ceil: _rounded("ceil"),
    math.sqrt: _real("sqrt"), math.log: _real("log"), math.frexp: _frexp,
}  # fmt: skip
"""What is known of Python and numpy."""
