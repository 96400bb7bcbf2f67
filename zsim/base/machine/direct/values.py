"""Types and values in compiled code, as operands of LLVM's code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np


class UntranslatableError(Exception):
    """Something in a kernel that is not known here: numba compiles it."""


@dataclass(frozen=True, slots=True)
class NumberType:
    """A number in a register."""

    llvm: str
    signed: bool = True


@dataclass(frozen=True, slots=True)
class PointerType:
    """A table of addresses and sizes, bare: a pointer to its entries."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A contiguous array: a pointer to its elements, and how many there are along each axis."""

    element: np.dtype[np.generic]
    dimensions: int


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record in an array: a pointer to it."""

    fields: np.dtype[np.generic]


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple; with names, a named one."""

    items: tuple[Type, ...]
    names: tuple[str, ...] = ()


Type: TypeAlias = "NumberType | PointerType | ArrayType | RecordType | TupleType"

INTEGER, UNSIGNED = NumberType("i64"), NumberType("i64", signed=False)
REAL, SINGLE, TRUTH = NumberType("double"), NumberType("float"), NumberType("i1")
POINTER = PointerType()
NOTHING = TupleType(())


class Value(NamedTuple):
    """A value: its type, and one operand for each number or pointer that it is made of."""

    type: Type
    parts: tuple[str, ...]


class Fixed(NamedTuple):
    """An object of Python that is known when a kernel is compiled: a function, a module, a constant."""

    value: object


def leaves(kind: Type) -> tuple[str, ...]:
    """Return LLVM's types of the operands that a value is made of."""
    if isinstance(kind, NumberType):
        return (kind.llvm,)
    if isinstance(kind, ArrayType):
        return ("ptr", *["i64"] * kind.dimensions)
    if isinstance(kind, TupleType):
        return tuple(leaf for each in kind.items for leaf in leaves(each))
    return ("ptr",)


def items_of(value: Value) -> list[Value]:
    """Return what a tuple consists of."""
    assert isinstance(value.type, TupleType)
    found, at = [], 0
    for each in value.type.items:
        length = len(leaves(each))
        found.append(Value(each, value.parts[at : at + length]))
        at += length
    return found


def several(values: list[Value], names: tuple[str, ...] = ()) -> Value:
    """Return a tuple of values."""
    kind = TupleType(tuple(each.type for each in values), names)
    return Value(kind, tuple(part for each in values for part in each.parts))


def joined(one: Type, other: Type) -> Type:
    """Return the type of what has one type here and another there, as numba finds it.

    Raises
    ------
    UntranslatableError
        If there is none.
    """
    if one == other:
        return one
    if isinstance(one, NumberType) and isinstance(other, NumberType):
        if UNSIGNED in (one, other):
            raise UntranslatableError("an unsigned number beside another")
        rank = (TRUTH, INTEGER, SINGLE, REAL)
        highest = max(one, other, key=rank.index)
        return REAL if highest == SINGLE and INTEGER in (one, other) else highest
    if isinstance(one, TupleType) and isinstance(other, TupleType) and len(one.items) == len(other.items):
        items = tuple(joined(*pair) for pair in zip(one.items, other.items, strict=True))
        return TupleType(items, one.names if one.names == other.names else ())
    raise UntranslatableError(f"{one} beside {other}")


def number_of(element: np.dtype[np.generic]) -> NumberType:
    """Return the type of a number that was read from an array.

    Signed integers have 64 bits from then on: whatever is made of them, numba makes of 64 bits too.
    """
    found = {"b": TRUTH, "i": INTEGER, "u": INTEGER}.get(element.kind)
    if element == np.uint64:
        found = UNSIGNED
    if element.kind == "f":
        found = {4: SINGLE, 8: REAL}.get(element.itemsize)
    if found is None:
        raise UntranslatableError(f"an element {element}")
    return found


def in_memory(element: np.dtype[np.generic]) -> str:
    """Return LLVM's type of a number in an array."""
    if element.kind == "f":
        return "float" if element.itemsize == 4 else "double"
    return f"i{8 * element.itemsize}"


def literal(number: object) -> Value:
    """Return a number, or a tuple of numbers, that is known when a kernel is compiled."""
    if isinstance(number, bool | np.bool_):
        return Value(TRUTH, ("true" if number else "false",))
    if isinstance(number, np.uint64):
        return Value(UNSIGNED, (str(int(number)),))
    if isinstance(number, int | np.integer):
        return Value(INTEGER, (str(int(number)),))
    if isinstance(number, float | np.float32):  # numpy's float64 too
        kind = SINGLE if isinstance(number, np.float32) else REAL
        return Value(kind, (f"0x{np.float64(number).view(np.uint64):016X}",))
    if isinstance(number, tuple):
        return several([literal(each) for each in number])
    raise UntranslatableError(f"a constant {number!r}")
