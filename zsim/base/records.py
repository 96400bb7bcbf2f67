"""`dataclass`, of which frozen classes with slots are made in a third of the time.

For each of them the standard one writes six methods and compiles them, 0.5 ms, and a prediction has 140: a
fifteenth of a warm one.  Here that is done for `__init__` alone; the other methods are shared by all of these
classes, or are closures over the names of fields.  All other classes are left to the standard one.
"""

from __future__ import annotations

import dataclasses
import operator
import reprlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import Field, dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, repr=True, **options):
        """Return a class with the methods of a record, or what makes one: see `dataclasses.dataclass`."""
        if cls is None:
            return lambda each: dataclass(each, frozen=frozen, slots=slots, eq=eq, repr=repr, **options)
        if not (frozen and slots):
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, eq=eq, repr=repr, **options)
        made = dataclasses.dataclass(cls, init=False, eq=False, repr=False, slots=True, **options)
        return _as_record(made, eq=eq, shown=repr)


def _as_record(made: type, *, eq: bool, shown: bool) -> type:
    """Give a class with fields the methods of a frozen record, but for those that it has."""
    fields = dataclasses.fields(made)
    methods: dict[str, object] = {"__setattr__": _set, "__delattr__": _delete, "__setstate__": _set_state}
    methods |= {"__init__": _init_of(made, fields), "__getstate__": _state}
    if eq:
        values = _values_of([each.name for each in fields if each.compare])
        methods |= {"__eq__": _eq_of(values), "__hash__": lambda self: hash(values(self))}
    if shown:
        methods["__repr__"] = _shown
    for name, method in methods.items():
        if name not in made.__dict__:
            setattr(made, name, method)
    return made


def _init_of(made: type, fields: tuple[Field[object], ...]) -> object:
    """Write and compile `__init__`, which sets the slots themselves: nothing else may."""
    known: dict[str, object] = {"_LEFT_OUT": dataclasses.MISSING}
    takes: dict[bool, list[str]] = {False: [], True: []}
    does = []
    for each in fields:
        name, value, default = each.name, each.name, ""
        known[f"_set_{name}"] = getattr(made, name).__set__
        if each.default is not dataclasses.MISSING:
            known[f"_default_{name}"], default = each.default, f"=_default_{name}"
        elif each.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"], default = each.default_factory, "=_LEFT_OUT"
            value = f"_make_{name}() if {name} is _LEFT_OUT else {name}"
        takes[bool(each.kw_only)].append(f"{name}{default}")
        does.append(f" _set_{name}(self, {value})\n")
    words = ["self", *takes[False], *(["*", *takes[True]] if takes[True] else [])]
    after = " self.__post_init__()\n" if hasattr(made, "__post_init__") else ""
    exec(f"def __init__({', '.join(words)}):\n{''.join(does) or ' pass'}{after}", known)
    return known["__init__"]


def _values_of(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """Return what gives the values of those fields: a tuple, of which the same is equal whatever it is."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _eq_of(values: Callable[[object], tuple[object, ...]]) -> Callable[[object, object], bool]:
    def is_equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return is_equal


@reprlib.recursive_repr()
def _shown(self: object) -> str:
    fields = dataclasses.fields(self)  # type: ignore[arg-type]
    values = [f"{each.name}={getattr(self, each.name)!r}" for each in fields if each.repr]
    return f"{type(self).__qualname__}({', '.join(values)})"


def _set(self: object, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    """Return what is pickled: the values of all fields."""
    return [getattr(self, each.name) for each in dataclasses.fields(self)]  # type: ignore[arg-type]


def _set_state(self: object, state: list[object]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):  # type: ignore[arg-type]
        object.__setattr__(self, each.name, value)
