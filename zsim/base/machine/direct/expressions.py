"""Translates expressions: names, arithmetic, conditions, elements of arrays and fields of records."""

from __future__ import annotations

import ast
import builtins
import inspect
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from zsim.base.machine.direct.calls import Calls
from zsim.base.machine.direct.values import (
    INTEGER,
    TRUTH,
    ArrayType,
    Fixed,
    NumberType,
    PointerType,
    RecordType,
    TupleType,
    Type,
    UntranslatableError,
    Value,
    items_of,
    literal,
    several,
)
from zsim.base.machine.direct.writer import Writer

if TYPE_CHECKING:
    from zsim.base.machine.direct.source import Parts, Source

WORD = np.dtype(np.int64)


class Expressions(Calls):
    """What the expressions of one kernel become; variables are kept by `Translator`."""

    def __init__(self, unit: Parts, source: Source) -> None:
        self.unit, self.source, self.writer = unit, source, Writer()
        self.types: dict[str, Type] = {}
        self.packs: dict[str, list[Value]] = {}

    def assign(self, name: str, value: Value | Fixed) -> None:
        """Give a variable a value."""
        raise NotImplementedError

    def variable(self, name: str) -> Value:
        """Return the value of a variable."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> Value | Fixed:
        """Return what an expression comes to."""
        found = getattr(self, f"of_{type(node).__name__}", None)
        if found is None:
            raise UntranslatableError(f"an expression {ast.unparse(node)}")
        made: Value | Fixed = found(node)
        return made

    def plain(self, value: Value | Fixed) -> Value:
        """Return a value; of what is known, the constant."""
        if isinstance(value, Value):
            return value
        return self.unit.array(value.value) if isinstance(value.value, np.ndarray) else literal(value.value)

    def of_Constant(self, node: ast.Constant) -> Fixed:
        return Fixed(node.value)

    def of_Name(self, node: ast.Name) -> Value | Fixed:
        if node.id in self.source.variables:
            if node.id not in self.types:
                raise UntranslatableError(f"{node.id} before it is set")
            return self.variable(node.id)
        for names in (self.source.around, self.source.names, vars(builtins)):
            if node.id in names:
                return Fixed(names[node.id])
        raise UntranslatableError(f"a name {node.id}")

    def of_Tuple(self, node: ast.Tuple) -> Value:
        return several([self.plain(self.value(each)) for each in node.elts])

    def of_BinOp(self, node: ast.BinOp) -> Value:
        one, other = self.plain(self.value(node.left)), self.plain(self.value(node.right))
        return self.writer.calculated(type(node.op).__name__, one, other)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value | Fixed:
        given = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self._opposite(self.writer.truth(self.plain(given)))
        if not isinstance(node.op, ast.USub):
            raise UntranslatableError(ast.unparse(node))
        if isinstance(given, Fixed) and isinstance(given.value, int | float):
            return Fixed(-given.value)
        number = self.plain(given)
        if number.type in (INTEGER, TRUTH):
            return self.writer.calculated("Sub", literal(0), number)
        if not isinstance(number.type, NumberType):
            raise UntranslatableError(ast.unparse(node))
        return Value(number.type, (self.writer.make(f"fneg {number.type.llvm} {number.parts[0]}"),))

    def _opposite(self, truth: Value) -> Value:
        return Value(TRUTH, (self.writer.make(f"xor i1 {truth.parts[0]}, true"),))

    def of_Compare(self, node: ast.Compare) -> Value:
        if len(node.ops) > 1:
            return self._by_branches(node)
        return self._compared(self.value(node.left), node.ops[0], self.value(node.comparators[0]))

    def _compared(self, one: Value | Fixed, how: ast.cmpop, other: Value | Fixed) -> Value:
        left, right = self.plain(one), self.plain(other)
        if not isinstance(how, ast.In | ast.NotIn):
            return self.writer.compared(type(how).__name__, left, right)
        among = literal(False)
        for each in items_of(right):
            is_same = self.writer.compared("Eq", left, each)
            among = Value(TRUTH, (self.writer.make(f"or i1 {among.parts[0]}, {is_same.parts[0]}"),))
        return self._opposite(among) if isinstance(how, ast.NotIn) else among

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        return self._by_branches(node)

    def _by_branches(self, node: ast.expr) -> Value:
        """Return whether a condition holds of which not all may be looked at."""
        yes, no, after = self.writer.label(), self.writer.label(), self.writer.label()
        self.branch(node, yes, no)
        self.writer.begin(yes)
        self.writer.go(after)
        self.writer.begin(no)
        self.writer.go(after)
        self.writer.begin(after)
        return Value(TRUTH, (self.writer.make(f"phi i1 [ true, %{yes} ], [ false, %{no} ]"),))

    def branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Go to one of two blocks, as a condition holds or not."""
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And)
            for each in node.values[:-1]:
                following = self.writer.label()
                self.branch(each, following if is_and else yes, no if is_and else following)
                self.writer.begin(following)
            self.branch(node.values[-1], yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.branch(node.operand, no, yes)
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            left = self.value(node.left)
            for place, (how, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
                right = self.value(comparator)
                holds = self._compared(left, how, right).parts[0]
                following = yes if place == len(node.ops) - 1 else self.writer.label()
                self.writer.choose(holds, following, no)
                if following != yes:
                    self.writer.begin(following)
                left = right
        else:
            self.writer.choose(self.writer.truth(self.plain(self.value(node))).parts[0], yes, no)

    def of_IfExp(self, node: ast.IfExp) -> Value:
        name = f"if {node.lineno}:{node.col_offset}"
        yes, no, after = self.writer.label(), self.writer.label(), self.writer.label()
        self.branch(node.test, yes, no)
        self.writer.begin(yes)
        self.assign(name, self.value(node.body))
        self.writer.go(after)
        self.writer.begin(no)
        self.assign(name, self.value(node.orelse))
        self.writer.go(after)
        self.writer.begin(after)
        return self.variable(name)

    def of_Attribute(self, node: ast.Attribute) -> Value | Fixed:
        owner = self.value(node.value)
        if isinstance(owner, Fixed):
            if isinstance(owner.value, ModuleType) or inspect.isclass(owner.value):
                return Fixed(getattr(owner.value, node.attr))
            if isinstance(owner.value, np.ndarray) and node.attr in ("size", "shape"):
                return Fixed(getattr(owner.value, node.attr))
            raise UntranslatableError(ast.unparse(node))
        if isinstance(owner.type, TupleType) and node.attr in owner.type.names:
            return items_of(owner)[owner.type.names.index(node.attr)]
        if isinstance(owner.type, ArrayType) and node.attr == "shape":
            return several([Value(INTEGER, (each,)) for each in owner.parts[1:]])
        if isinstance(owner.type, ArrayType) and node.attr == "size" and owner.type.dimensions == 1:
            return Value(INTEGER, (owner.parts[1],))
        if isinstance(owner.type, RecordType):
            return self._field(owner, node.attr)
        raise UntranslatableError(ast.unparse(node))

    def _field(self, owner: Value, name: str) -> Value:
        element, address, align = self._field_place(owner, name)
        if element.subdtype is None:
            return self.writer.read(element, address, align)
        inside, shape = element.subdtype
        return Value(ArrayType(inside, len(shape)), (address, *map(str, shape)))

    def _field_place(self, owner: Value, name: str) -> tuple[np.dtype[np.generic], str, int]:
        """Return what a field is, where it stands, and to what it is aligned."""
        assert isinstance(owner.type, RecordType)
        if owner.type.fields.fields is None or name not in owner.type.fields.fields:
            raise UntranslatableError(f"a field {name}")
        element, offset = owner.type.fields.fields[name][:2]
        address = self.writer.make(f"getelementptr inbounds i8, ptr {owner.parts[0]}, i64 {offset}")
        return element, address, max(1, element.base.itemsize) if owner.type.fields.isalignedstruct else 1

    def of_Subscript(self, node: ast.Subscript) -> Value:
        owner = self.plain(self.value(node.value))
        if isinstance(node.slice, ast.Slice):
            return self._slice(owner, node.slice)
        if isinstance(owner.type, TupleType):
            return self._item(owner, node.slice)
        return self.element(owner, self._places(node.slice))

    def _places(self, node: ast.expr) -> list[Value]:
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        return [self.plain(self.value(each)) for each in nodes]

    def _item(self, owner: Value, node: ast.expr) -> Value:
        """Return one of a tuple, at a place that is written down or computed."""
        items, place = items_of(owner), self.value(node)
        if isinstance(place, Fixed) and isinstance(place.value, int):
            return items[place.value]
        if not items or len({each.type for each in items}) != 1:
            raise UntranslatableError("one of a tuple of several types")
        found = items[-1]
        for number, each in enumerate(items[:-1]):
            is_it = self.writer.compared("Eq", self.plain(place), literal(number))
            found = self.writer.chosen(is_it.parts[0], each, found)
        return found

    def element(self, owner: Value, places: list[Value]) -> Value:
        """Return an element of an array, or a row of it."""
        kind = owner.type
        if isinstance(kind, ArrayType) and len(places) < kind.dimensions:
            for each in places:
                assert isinstance(owner.type, ArrayType)
                owner = self.writer.row(owner, self._from_end(each, owner.parts[1]))
            return owner
        element, address, align = self._element_place(owner, places)
        if element.names is not None:
            return Value(RecordType(element), (address,))
        return self.writer.read(element, address, align)

    def _element_place(
        self, owner: Value, places: list[Value]
    ) -> tuple[np.dtype[np.generic], str, int | None]:
        if isinstance(owner.type, PointerType):
            return WORD, self.writer.shifted(owner.parts[0], self._index(places[0]), 8), None
        if not isinstance(owner.type, ArrayType) or owner.type.dimensions != len(places):
            raise UntranslatableError(f"an element of {owner.type}")
        for each in places[:-1]:
            owner = self.writer.row(owner, self._from_end(each, owner.parts[1]))
        assert isinstance(owner.type, ArrayType)
        element = owner.type.element
        place = self._from_end(places[-1], owner.parts[1])
        return element, self.writer.shifted(owner.parts[0], place, element.itemsize), None

    def _index(self, place: Value) -> str:
        return self.writer.converted(place, INTEGER).parts[0]

    def _from_end(self, place: Value, length: str) -> str:
        """Return a place in an array; a negative one counts from the end, where the array has a length."""
        at = self._index(place)
        if length == "0":
            return at
        if at.lstrip("-").isdigit():
            return at if int(at) >= 0 else self.writer.make(f"add i64 {length}, {at}")
        is_below, other = (
            self.writer.make(f"icmp slt i64 {at}, 0"),
            self.writer.make(f"add i64 {at}, {length}"),
        )
        return self.writer.make(f"select i1 {is_below}, i64 {other}, i64 {at}")

    def place(self, target: ast.expr) -> tuple[np.dtype[np.generic], str, int | None]:
        """Return what an element or a field is that is assigned to, and where it stands."""
        if isinstance(target, ast.Attribute):
            owner = self.plain(self.value(target.value))
            if isinstance(owner.type, RecordType):
                return self._field_place(owner, target.attr)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            owner = self.plain(self.value(target.value))
            return self._element_place(owner, self._places(target.slice))
        raise UntranslatableError(f"to set {ast.unparse(target)}")

    def _slice(self, owner: Value, node: ast.Slice) -> Value:
        if not isinstance(owner.type, ArrayType) or owner.type.dimensions != 1 or node.step is not None:
            raise UntranslatableError("such a slice")
        length = owner.parts[1]
        low = "0" if node.lower is None else self._bound(node.lower, length)
        high = length if node.upper is None else self._bound(node.upper, length)
        count = self.writer.make(f"sub i64 {high}, {low}")
        some = self.writer.make(f"icmp sgt i64 {count}, 0")
        count = self.writer.make(f"select i1 {some}, i64 {count}, i64 0")
        return Value(
            owner.type, (self.writer.shifted(owner.parts[0], low, owner.type.element.itemsize), count)
        )

    def _bound(self, node: ast.expr, length: str) -> str:
        """Return a bound of a slice, counted from the start and inside the array."""
        at = self._from_end(self.plain(self.value(node)), length)
        for verb, limit in (("slt", "0"), ("sgt", length)):
            is_out = self.writer.make(f"icmp {verb} i64 {at}, {limit}")
            at = self.writer.make(f"select i1 {is_out}, i64 {limit}, i64 {at}")
        return at
