"""Write the LLVM code of one function: instructions, blocks, and conversions between number types."""

from __future__ import annotations

import numpy as np

from zsim.base.machine.direct.values import (
    INTEGER,
    REAL,
    SINGLE,
    TRUTH,
    UNSIGNED,
    ArrayType,
    NumberType,
    TupleType,
    Type,
    UntranslatableError,
    Value,
    in_memory,
    items_of,
    leaves,
    literal,
    number_of,
    several,
)

UNCHANGING = ", !invariant.load !0"
COMPARED = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
INTEGER_MADE = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "LShift": "shl",
    "BitAnd": "and", "BitOr": "or", "BitXor": "xor",
}  # fmt: skip
REAL_MADE = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}


class Writer:
    """Code of one function.

    Attributes
    ----------
    needed : set of str
        Declarations of what it calls outside.
    starts : list of str
        Instructions with which it begins.
    is_over : bool
        Whether the block at hand has ended: nothing more is written until the next begins.
    """

    def __init__(self) -> None:
        self.needed: set[str] = set()
        self.is_over = False
        self.starts: list[str] = []
        self._lines: list[str] = []
        self._rooms: list[str] = []
        self._count = 0

    @property
    def body(self) -> str:
        """All that was written."""
        return "\n".join(["entry:", *self._rooms, *self.starts, *self._lines])

    def name(self) -> str:
        """Return a name that is not in use."""
        self._count += 1
        return f"%v{self._count}"

    def label(self) -> str:
        """Return the name of a block to come."""
        self._count += 1
        return f"b{self._count}"

    def write(self, text: str) -> None:
        """Write an instruction without a result."""
        if not self.is_over:
            self._lines.append(f"  {text}")

    def make(self, text: str) -> str:
        """Write an instruction; return the operand that is its result."""
        name = self.name()
        self.write(f"{name} = {text}")
        return name

    def begin(self, label: str) -> None:
        """Begin a block, after going on to it from the one at hand."""
        self.go(label)
        self._lines.append(f"{label}:")
        self.is_over = False

    def go(self, label: str) -> None:
        """End the block at hand: go to another."""
        self.write(f"br label %{label}")
        self.is_over = True

    def choose(self, truth: str, yes: str, no: str) -> None:
        """End the block at hand: go to one of two."""
        self.write(f"br i1 {truth}, label %{yes}, label %{no}")
        self.is_over = True

    def room(self, llvm: str) -> str:
        """Return the address of room for a variable."""
        name = self.name()
        self._rooms.append(f"  {name} = alloca {llvm}")
        return name

    def load(self, llvm: str, address: str, align: int, tail: str = "") -> str:
        """Return what stands at an address."""
        return self.make(f"load {llvm}, ptr {address}, align {align}{tail}")

    def call(self, name: str, returns: str, arguments: str, declared: str) -> str:
        """Call a function of the C library, or of LLVM's."""
        self.needed.add(f"declare {returns} @{name}({declared})")
        return self.make(f"call {returns} @{name}({arguments})")

    def converted(self, value: Value, kind: Type) -> Value:
        """Return a value as one of another type."""
        if value.type == kind:
            return value
        if isinstance(value.type, TupleType) and isinstance(kind, TupleType):
            pairs = zip(items_of(value), kind.items, strict=True)
            return several([self.converted(*pair) for pair in pairs], kind.names)
        if not isinstance(value.type, NumberType) or not isinstance(kind, NumberType):
            raise UntranslatableError(f"{value.type} as {kind}")
        if kind == TRUTH:
            return self.truth(value)
        return Value(kind, (self._number(value.parts[0], value.type, kind),))

    def _number(self, part: str, given: NumberType, wanted: NumberType) -> str:
        if given.llvm == wanted.llvm:
            return part
        is_real = given in (REAL, SINGLE), wanted in (REAL, SINGLE)
        if all(is_real):
            verb = "fpext" if wanted == REAL else "fptrunc"
        elif is_real[0]:
            verb = "fptosi" if wanted.signed else "fptoui"
        elif is_real[1]:
            verb = "sitofp" if given == INTEGER else "uitofp"
        else:
            verb = "zext"
        return self.make(f"{verb} {given.llvm} {part} to {wanted.llvm}")

    def truth(self, value: Value) -> Value:
        """Return whether a number is anything but 0."""
        if value.type == TRUTH:
            return value
        if not isinstance(value.type, NumberType):
            raise UntranslatableError(f"whether {value.type} holds")
        return self.compared("NotEq", value, self.converted(literal(0), value.type))

    def compared(self, how: str, one: Value, other: Value) -> Value:
        """Return whether two numbers, or two tuples, compare as is asked."""
        if isinstance(one.type, TupleType) and isinstance(other.type, TupleType):
            return self._tuples_compared(how, items_of(one), items_of(other))
        one, other = self._alike(one, other)
        assert isinstance(one.type, NumberType)
        verb = COMPARED[how]
        if one.type in (REAL, SINGLE):
            code = f"fcmp {'une' if verb == 'ne' else 'o' + verb}"
        else:
            sign = "" if verb in ("eq", "ne") else "s" if one.type == INTEGER else "u"
            code = f"icmp {sign}{verb}"
        return Value(TRUTH, (self.make(f"{code} {one.type.llvm} {one.parts[0]}, {other.parts[0]}"),))

    def _tuples_compared(self, how: str, one: list[Value], other: list[Value]) -> Value:
        """Return whether two tuples of one length compare as is asked: by the first items that differ."""
        if len(one) != len(other) or not one:
            raise UntranslatableError("tuples of several lengths compared")
        if how == "NotEq":
            equal = self._tuples_compared("Eq", one, other)
            return Value(TRUTH, (self.make(f"xor i1 {equal.parts[0]}, true"),))
        found = self.compared(how, one[-1], other[-1]).parts[0]
        strict = how.removesuffix("E")
        for left, right in zip(one[-2::-1], other[-2::-1], strict=True):
            equal = self.compared("Eq", left, right)
            found = self.make(f"and i1 {equal.parts[0]}, {found}")
            if how != "Eq":
                differs = self.compared(strict, left, right)
                found = self.make(f"or i1 {differs.parts[0]}, {found}")
        return Value(TRUTH, (found,))

    def _alike(self, one: Value, other: Value) -> tuple[Value, Value]:
        """Return two numbers as numbers of one type, integers of 64 bits at least."""
        kind = arithmetic_type(one.type, other.type)
        return self.converted(one, kind), self.converted(other, kind)

    def calculated(self, how: str, one: Value, other: Value) -> Value:
        """Return what an operator makes of two numbers, as numba calculates."""
        if one.type == other.type == TRUTH and how in ("BitAnd", "BitOr", "BitXor"):
            return Value(TRUTH, (self.make(f"{INTEGER_MADE[how]} i1 {one.parts[0]}, {other.parts[0]}"),))
        one, other = self._alike(one, other)
        if how == "Div" and one.type in (INTEGER, UNSIGNED):
            one, other = self.converted(one, REAL), self.converted(other, REAL)
        kind = one.type
        assert isinstance(kind, NumberType)
        operands = f"{kind.llvm} {one.parts[0]}, {other.parts[0]}"
        if kind in (REAL, SINGLE):
            if how not in REAL_MADE:
                raise UntranslatableError(f"{how} of reals")
            return Value(kind, (self.make(f"{REAL_MADE[how]} {operands}"),))
        if how in ("FloorDiv", "Mod"):
            return Value(kind, (self._divided(kind, one.parts[0], other.parts[0])[how == "Mod"],))
        if how == "RShift":
            return Value(kind, (self.make(f"{'ashr' if kind == INTEGER else 'lshr'} {operands}"),))
        if how == "Pow" and kind == INTEGER:
            return Value(kind, (self.call_power(one.parts[0], other.parts[0]),))
        if how not in INTEGER_MADE:
            raise UntranslatableError(f"{how} of integers")
        return Value(kind, (self.make(f"{INTEGER_MADE[how]} {operands}"),))

    def call_power(self, base: str, exponent: str) -> str:
        """Return a power of integers (`POWER`)."""
        self.needed.add(POWER)
        return self.make(f"call i64 @zsim.power(i64 {base}, i64 {exponent})")

    def _divided(self, kind: NumberType, one: str, other: str) -> tuple[str, str]:
        """Return quotient and remainder of integers, rounded down; by 0 both are 0, as in numpy."""
        is_zero = self.make(f"icmp eq i64 {other}, 0")
        if kind == UNSIGNED:
            by = self.make(f"select i1 {is_zero}, i64 1, i64 {other}")
            quotient, rest = self.make(f"udiv i64 {one}, {by}"), self.make(f"urem i64 {one}, {by}")
        else:
            # What overflows (the least integer by -1) counts as numba counts it: 0 too.
            least = self.make(f"icmp eq i64 {one}, -9223372036854775808")
            minus = self.make(f"icmp eq i64 {other}, -1")
            overflows = self.make(f"and i1 {least}, {minus}")
            is_zero = self.make(f"or i1 {is_zero}, {overflows}")
            by = self.make(f"select i1 {is_zero}, i64 1, i64 {other}")
            down, left = self.make(f"sdiv i64 {one}, {by}"), self.make(f"srem i64 {one}, {by}")
            signs = self.make(f"xor i64 {left}, {by}")
            differ, some = self.make(f"icmp slt i64 {signs}, 0"), self.make(f"icmp ne i64 {left}, 0")
            below = self.make(f"and i1 {differ}, {some}")
            lower, more = self.make(f"sub i64 {down}, 1"), self.make(f"add i64 {left}, {by}")
            quotient = self.make(f"select i1 {below}, i64 {lower}, i64 {down}")
            rest = self.make(f"select i1 {below}, i64 {more}, i64 {left}")
        return (
            self.make(f"select i1 {is_zero}, i64 0, i64 {quotient}"),
            self.make(f"select i1 {is_zero}, i64 0, i64 {rest}"),
        )

    def chosen(self, truth: str, one: Value, other: Value) -> Value:
        """Return one of two values of one type."""
        parts = tuple(
            self.make(f"select i1 {truth}, {leaf} {yes}, {leaf} {no}")
            for leaf, yes, no in zip(leaves(one.type), one.parts, other.parts, strict=True)
        )
        return Value(one.type, parts)

    def read(self, element: np.dtype[np.generic], address: str, align: int | None = None) -> Value:
        """Return a number in an array or a record."""
        llvm, kind = in_memory(element), number_of(element)
        part = self.load(llvm, address, align or element.itemsize)
        if kind == TRUTH:
            part = self.make(f"icmp ne i8 {part}, 0")
        elif kind == INTEGER and llvm != "i64":
            part = self.make(f"{'zext' if element.kind == 'u' else 'sext'} {llvm} {part} to i64")
        return Value(kind, (part,))

    def store(
        self, value: Value, element: np.dtype[np.generic], address: str, align: int | None = None
    ) -> None:
        """Write a number into an array or a record."""
        llvm, part = in_memory(element), self.converted(value, number_of(element)).parts[0]
        if element.kind == "b":
            part = self.make(f"zext i1 {part} to i8")
        elif element.kind in "iu" and llvm != "i64":
            part = self.make(f"trunc i64 {part} to {llvm}")
        self.write(f"store {llvm} {part}, ptr {address}, align {align or element.itemsize}")

    def shifted(self, address: str, count: str, size: int) -> str:
        """Return the address so many elements of a size further on."""
        unit = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}.get(size, f"[{size} x i8]")
        return self.make(f"getelementptr inbounds {unit}, ptr {address}, i64 {count}")

    def row(self, array: Value, place: str) -> Value:
        """Return a row of an array of several dimensions."""
        kind = array.type
        assert isinstance(kind, ArrayType)
        length = array.parts[2]
        for each in array.parts[3:]:
            length = self.make(f"mul i64 {length}, {each}")
        address = self.shifted(array.parts[0], self.make(f"mul i64 {place}, {length}"), kind.element.itemsize)
        return Value(ArrayType(kind.element, kind.dimensions - 1), (address, *array.parts[2:]))


POWER = """define internal i64 @zsim.power(i64 %base, i64 %exponent) {
entry:
  br label %again
again:
  %made = phi i64 [ 1, %entry ], [ %next, %go ]
  %square = phi i64 [ %base, %entry ], [ %squared, %go ]
  %left = phi i64 [ %exponent, %entry ], [ %halved, %go ]
  %over = icmp sle i64 %left, 0
  br i1 %over, label %end, label %go
go:
  %bit = and i64 %left, 1
  %odd = icmp ne i64 %bit, 0
  %product = mul i64 %made, %square
  %next = select i1 %odd, i64 %product, i64 %made
  %squared = mul i64 %square, %square
  %halved = ashr i64 %left, 1
  br label %again
end:
  ret i64 %made
}"""
"""Powers of integers, by squaring."""


def arithmetic_type(one: Type, other: Type) -> NumberType:
    """Return the type in which two numbers are compared or calculated with."""
    if not isinstance(one, NumberType) or not isinstance(other, NumberType):
        raise UntranslatableError(f"{one} with {other}")
    if REAL in (one, other):
        return REAL
    if SINGLE in (one, other):
        return SINGLE if one == other else REAL
    if UNSIGNED in (one, other):
        if one != other:
            raise UntranslatableError("an unsigned integer with another number")
        return UNSIGNED
    return INTEGER
