"""Frozen records with slots behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest

from zsim.base import records


@records.dataclass(frozen=True, slots=True)
class Ours:
    """A record with all that a field may have."""

    first: int
    second: float = math.nan
    third: list[int] = field(default_factory=list)
    aside: str = field(default="", compare=False, repr=False)
    named: int = field(default=3, kw_only=True)

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError(self.first)


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """The same."""

    first: int
    second: float = math.nan
    third: list[int] = field(default_factory=list)
    aside: str = field(default="", compare=False, repr=False)
    named: int = field(default=3, kw_only=True)

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError(self.first)


@records.dataclass(frozen=True, slots=True)
class Longer(Ours):
    """One more field."""

    last: tuple[int, ...] = ()


@records.dataclass(frozen=True, slots=True, eq=False)
class Itself:
    """Equal to itself alone."""

    only: int


@records.dataclass(frozen=True, slots=True)
class WithHash:
    """A class with a method of its own."""

    only: tuple[int, ...]

    def __hash__(self) -> int:
        return 7


MADE: list[Callable[..., Ours]] = [Ours, Standard]  # type: ignore[list-item]


def shown(record: object) -> str:
    return repr(record).replace("Standard", "Ours")


@pytest.mark.parametrize("words", [(1,), (1, 2.0), (1, 2.0, [3]), (1, 2.0, [3], "four")])
def test_fields_text_and_equality_are_those_of_the_standard(words: tuple[object, ...]) -> None:
    ours, standard = (make(*words, named=5) for make in MADE)
    assert shown(ours) == shown(standard)
    assert [getattr(ours, each.name) for each in fields(ours)] == dataclasses.astuple(
        ours, tuple_factory=list
    )
    for make in MADE:
        assert make(*words) == make(*words)
        assert make(*words) != make(2, *words[1:])
        assert make(1, 2.0, [3], "aside") == make(1, 2.0, [3])
    assert ours != standard
    assert Ours.__match_args__ == Standard.__match_args__


def test_hashes_are_of_the_same_values() -> None:
    ours, standard = (make(1, 2.0, (), "aside") for make in MADE)
    assert hash(ours) == hash(standard)
    assert hash(WithHash((1, 2))) == 7
    assert WithHash((1,)) == WithHash((1,))
    one = Itself(1)
    assert one == one  # noqa: PLR0124
    assert one != Itself(1)


def test_each_has_a_default_of_its_own() -> None:
    assert Ours(1).third is not Ours(1).third


def test_nothing_is_set_or_deleted_and_no_word_is_unknown() -> None:
    record = Ours(1)
    with pytest.raises(FrozenInstanceError, match="first"):
        record.first = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="first"):
        del record.first
    with pytest.raises(FrozenInstanceError):
        record.other = 2  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="other"):
        Ours(1, other=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="first"):
        Ours()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="-1"):
        replace(record, first=-1)


def test_copies_and_what_was_pickled_are_equal() -> None:
    record = Longer(1, 2.0, [3], "four", (5, 6), named=7)
    for again in (
        pickle.loads(pickle.dumps(record)),
        copy.copy(record),
        copy.deepcopy(record),
        replace(record),
    ):
        assert again == record
        assert again.aside == "four"
        assert again.third == [3]
    assert replace(record, last=()) == Longer(1, 2.0, [3], "four", named=7)
    assert not hasattr(record, "__dict__")


def test_other_classes_are_made_by_the_standard_one() -> None:
    @records.dataclass
    class Plain:
        only: int = 0

    plain = Plain()
    plain.only = 2
    assert plain == Plain(2)
