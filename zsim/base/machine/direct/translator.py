"""Translate the source text of one kernel: statements, assignments and control flow."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from zsim.base.machine.direct.expressions import Expressions
from zsim.base.machine.direct.values import (
    INTEGER,
    NOTHING,
    ArrayType,
    Fixed,
    RecordType,
    TupleType,
    Type,
    UntranslatableError,
    Value,
    items_of,
    joined,
    leaves,
)

if TYPE_CHECKING:
    import numpy as np

    from zsim.base.machine.direct.source import Made, Parts, Source

RETURNED = "return"
"""Stands for the result among the names of variables."""
MOST_ROUNDS = 8
Slot: TypeAlias = "tuple[str, ...]"


def translated(unit: Parts, source: Source, arguments: tuple[Type, ...]) -> Translator:
    """Translate a kernel for arguments of some types.

    Its text is gone through again where a type turned out to be another than it seemed: a result that is an
    integer here and a real there is real everywhere.
    """
    types: dict[str, Type] = {}
    for _ in range(MOST_ROUNDS):
        translator = Translator(unit, source, arguments, types)
        translator.translate()
        if translator.is_settled:
            return translator
    raise UntranslatableError("types that do not settle")


class Translator(Expressions):
    """One round through the text of a kernel.

    Parameters
    ----------
    unit : Parts
        What it becomes a part of.
    source : Source
        Of the kernel.
    arguments : tuple of Type
        Types that it is called with.
    types : dict
        Types of its variables as far as they are known; more are entered.

    Attributes
    ----------
    may_fail : bool
        Whether there may be no memory for what it makes.
    is_settled : bool
        Whether all types were what they seemed when they were first met.
    """

    def __init__(
        self, unit: Parts, source: Source, arguments: tuple[Type, ...], types: dict[str, Type]
    ) -> None:
        super().__init__(unit, source)
        self.arguments, self.types = arguments, types
        self.slots: dict[str, Slot] = {}
        self.parameters = [(leaf, f"%a{number}") for number, leaf in enumerate(self._flat())]
        self._loops: list[tuple[str, str]] = []
        self._kept: list[str] = []
        self._end, self._failed = self.writer.label(), self.writer.label()
        self.may_fail, self.is_settled = False, True

    def _flat(self) -> list[str]:
        return [leaf for each in self.arguments for leaf in leaves(each)]

    @property
    def returned(self) -> Type:
        """Type of the result."""
        return self.types.get(RETURNED, NOTHING)

    @property
    def rooms(self) -> list[tuple[str, str]]:
        """LLVM's type and address of each number of the result."""
        return list(zip(leaves(self.returned), self.slots.get(RETURNED, ()), strict=True))

    def translate(self) -> None:
        """Go through the text once."""
        at = 0
        given = []
        for each in self.arguments:
            length = len(leaves(each))
            given.append(Value(each, tuple(name for _, name in self.parameters[at : at + length])))
            at += length
        for name, value in zip(self.source.parameters, given, strict=False):
            self.assign(name, value)
        if self.source.rest is not None:
            self.packs[self.source.rest] = given[len(self.source.parameters) :]
        self.block(self.source.body)
        self.writer.begin(self._end)

    def ended(self, made: Made) -> str:
        """Return the code of the kernel, its end included."""
        writer = self.writer
        self._give_back()
        numbers = [writer.make(f"load {leaf}, ptr {room}") for leaf, room in self.rooms]
        self._return(made, ["false"] * made.may_fail + numbers)
        if made.may_fail:
            writer.begin(self._failed)
            self._give_back()
            self._return(made, ["true"])
        return writer.body

    def _return(self, made: Made, numbers: list[str]) -> None:
        """Write the end of the function: what it returns, as far as there is anything."""
        result = numbers[0] if len(made.parts) == 1 else "undef"
        if len(made.parts) > 1:
            for at, (leaf, number) in enumerate(zip(made.parts, numbers, strict=False)):
                result = self.writer.make(f"insertvalue {made.result} {result}, {leaf} {number}, {at}")
        self.writer.write(f"ret {made.result} {result}" if made.parts else "ret void")
        self.writer.is_over = True

    def _give_back(self) -> None:
        """Free the arrays that were made."""
        for room in self._kept:
            self.writer.needed.add("declare void @free(ptr)")
            pointer = self.writer.make(f"load ptr, ptr {room}")
            self.writer.write(f"call void @free(ptr {pointer})")

    def kept(self, dtype: np.dtype[np.generic], count: str) -> Value:
        """Return a new array that is given back when the kernel ends; one in a loop is not known here."""
        if self._loops:
            raise UntranslatableError("an array that is made in a loop")
        writer = self.writer
        room = writer.room("ptr")
        writer.starts.append(f"  store ptr null, ptr {room}")
        self._kept.append(room)
        size = writer.make(f"mul i64 {count}, {dtype.itemsize}")
        # Of nothing, the C library may return no address.
        some = writer.make(f"or i64 {size}, 1")
        pointer = writer.call("calloc", "ptr", f"i64 1, i64 {some}", "i64, i64")
        writer.write(f"store ptr {pointer}, ptr {room}")
        self.fail_if(writer.make(f"icmp eq ptr {pointer}, null"))
        return Value(ArrayType(dtype, 1), (pointer, count))

    def fail_if(self, truth: str) -> None:
        """End the kernel, and those that called it, if there was no memory."""
        self.may_fail = True
        onward = self.writer.label()
        self.writer.choose(truth, self._failed, onward)
        self.writer.begin(onward)

    def block(self, statements: list[ast.stmt]) -> None:
        """Translate statements one after another, up to one that ends them."""
        for each in statements:
            if self.writer.is_over:
                return
            found: Callable[[ast.stmt], None] | None = getattr(self, f"on_{type(each).__name__}", None)
            if found is None:
                raise UntranslatableError(f"a statement {ast.unparse(each)}")
            found(each)

    def assign(self, name: str, value: Value | Fixed) -> None:
        """Give a variable a value.

        A result, or one of two, has a type that has room for both. A variable has one type: numba takes it
        as several variables where it has two.
        """
        if isinstance(value, Fixed):
            value = self.plain(value)
        known = self.types.get(name)
        kind = value.type if known is None else joined(known, value.type)
        self.is_settled &= known in (None, kind)
        if known not in (None, value.type) and name in self.source.variables:
            raise UntranslatableError(f"{name}, which is {known} here and {value.type} there")
        self.types[name] = kind
        slot = self.slots.get(name)
        if slot is None or len(slot) != len(leaves(kind)):
            slot = self.slots[name] = tuple(self.writer.room(leaf) for leaf in leaves(kind))
        converted = self.writer.converted(value, kind)
        for leaf, part, place in zip(leaves(kind), converted.parts, slot, strict=True):
            self.writer.write(f"store {leaf} {part}, ptr {place}")

    def variable(self, name: str) -> Value:
        """Return the value of a variable."""
        kind, slot = self.types[name], self.slots.get(name)
        if slot is None:  # set further down, in a loop
            slot = self.slots[name] = tuple(self.writer.room(leaf) for leaf in leaves(kind))
        parts = tuple(
            self.writer.make(f"load {leaf}, ptr {place}")
            for leaf, place in zip(leaves(kind), slot, strict=True)
        )
        return Value(kind, parts)

    def on_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def on_Pass(self, node: ast.Pass) -> None:
        """Nothing is to be done."""

    def on_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.put(target, value)

    def on_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.put(node.target, self.value(node.value))

    def put(self, target: ast.expr, value: Value | Fixed) -> None:
        """Assign to a name, an element, a field, or to several of them."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
            return
        value = self.plain(value)
        if isinstance(target, ast.Tuple):
            if not isinstance(value.type, TupleType) or len(value.type.items) != len(target.elts):
                raise UntranslatableError(f"{ast.unparse(target)} from {value.type}")
            for each, item in zip(target.elts, items_of(value), strict=True):
                self.put(each, item)
            return
        element, address, align = self.place(target)
        if isinstance(value.type, RecordType):
            if value.type.fields != element:
                raise UntranslatableError("a record of another kind")
            size = element.itemsize
            self.writer.needed.add("declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)")
            moved = f"ptr {address}, ptr {value.parts[0]}, i64 {size}, i1 false"
            self.writer.write(f"call void @llvm.memmove.p0.p0.i64({moved})")
            return
        self.writer.store(value, element, address, align)

    def on_AugAssign(self, node: ast.AugAssign) -> None:
        how = type(node.op).__name__
        if isinstance(node.target, ast.Name):
            before = self.plain(self.value(ast.Name(node.target.id, ast.Load())))
            self.assign(
                node.target.id, self.writer.calculated(how, before, self.plain(self.value(node.value)))
            )
            return
        element, address, align = self.place(node.target)
        before = self.writer.read(element, address, align)
        made = self.writer.calculated(how, before, self.plain(self.value(node.value)))
        self.writer.store(made, element, address, align)

    def on_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.assign(RETURNED, self.value(node.value))
        self.writer.go(self._end)

    def on_If(self, node: ast.If) -> None:
        yes, no, after = self.writer.label(), self.writer.label(), self.writer.label()
        self.branch(node.test, yes, no)
        self._block_at(yes, node.body, after)
        self._block_at(no, node.orelse, after)
        self.writer.begin(after)

    def _block_at(self, label: str, statements: list[ast.stmt], after: str) -> None:
        self.writer.begin(label)
        self.block(statements)
        self.writer.go(after)

    def on_While(self, node: ast.While) -> None:
        if node.orelse:
            raise UntranslatableError("while ... else")
        test, body, after = self.writer.label(), self.writer.label(), self.writer.label()
        self.writer.begin(test)
        self.branch(node.test, body, after)
        self._loops.append((test, after))
        self._block_at(body, node.body, test)
        self._loops.pop()
        self.writer.begin(after)

    def on_Break(self, node: ast.Break) -> None:
        self.writer.go(self._loops[-1][1])

    def on_Continue(self, node: ast.Continue) -> None:
        self.writer.go(self._loops[-1][0])

    def on_For(self, node: ast.For) -> None:
        if node.orelse:
            raise UntranslatableError("for ... else")
        call = node.iter
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range":
            self._count(node, [self.plain(self.value(each)) for each in call.args])
            return
        array = self.plain(self.value(node.iter))
        if not isinstance(array.type, ArrayType) or array.type.dimensions != 1:
            raise UntranslatableError(f"a loop over {array.type}")
        self._count(node, [Value(INTEGER, (array.parts[1],))], array)

    def _count(self, node: ast.For, bounds: list[Value], array: Value | None = None) -> None:
        """Translate a loop over numbers, or over the elements of an array."""
        writer = self.writer
        numbers = [writer.converted(each, INTEGER).parts[0] for each in bounds]
        first, stop = numbers[:2] if len(numbers) > 1 else ("0", numbers[0])
        step = "1"
        if len(numbers) == 3:
            step = str(self._stated(node.iter))
        place, test, body = writer.room("i64"), writer.label(), writer.label()
        onward, after = writer.label(), writer.label()
        writer.write(f"store i64 {first}, ptr {place}")
        writer.begin(test)
        at = writer.make(f"load i64, ptr {place}")
        more = writer.make(f"icmp {'sgt' if step.startswith('-') else 'slt'} i64 {at}, {stop}")
        writer.choose(more, body, after)
        writer.begin(body)
        counted = Value(INTEGER, (at,))
        self.put(node.target, counted if array is None else self.element(array, [counted]))
        self._loops.append((onward, after))
        self.block(node.body)
        self._loops.pop()
        writer.begin(onward)
        count = writer.make(f"load i64, ptr {place}")
        following = writer.make(f"add nsw i64 {count}, {step}")
        writer.write(f"store i64 {following}, ptr {place}")
        writer.go(test)
        writer.begin(after)

    def _stated(self, call: ast.expr) -> int:
        """Return the step of a range, which has to be known."""
        assert isinstance(call, ast.Call)
        step = self.value(call.args[2])
        if not isinstance(step, Fixed) or not isinstance(step.value, int) or step.value == 0:
            raise UntranslatableError("a range with a step that is computed")
        return step.value
