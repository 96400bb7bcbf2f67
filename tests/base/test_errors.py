"""Errors are one sentence each, and carry what a program needs."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base import errors
from zsim.base.errors import InputError, NotSimulatedYet, ZsimError


def test_a_sentence_names_field_value_reason_and_remedy() -> None:
    error = InputError("fill", "62", "a fraction lies between 0 and 1", "write 62% or 0.62")
    assert str(error) == "fill '62' cannot be used: a fraction lies between 0 and 1; write 62% or 0.62."
    assert (error.field, error.value, error.exit_code) == ("fill", "62", 2)


def test_what_is_missing_is_said_so() -> None:
    assert str(InputError("layout", None, "it must be given", "")) == "layout is missing: it must be given."


def test_what_is_not_simulated_is_not_called_wrong() -> None:
    error = NotSimulatedYet("layout", "draid2:8d:41c:2s", "dRAID is open", "take raidz2x6")
    assert str(error).startswith("layout 'draid2:8d:41c:2s' is not simulated yet: ")
    assert isinstance(error, InputError)
    assert isinstance(error, ZsimError)


@pytest.mark.parametrize("kind", [InputError, NotSimulatedYet])
def test_an_error_survives_pickling_between_processes(kind: type[InputError]) -> None:
    error = kind("fill", 2.0, "too much", "less")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(twin) == str(error)
        assert type(twin) is kind


@given(st.text(min_size=1, max_size=300), st.text(max_size=50), st.text(max_size=50))
def test_any_value_gives_one_line_of_bounded_length(value: str, allowed: str, remedy: str) -> None:
    text = str(InputError("field", value, allowed, remedy))
    assert len(text.splitlines()) == 1
    assert len(text) < 400
    assert text.endswith(".")


def test_of_megabytes_on_one_line_only_what_is_shown_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def counted(sign: str) -> bool:
        nonlocal looked_at
        looked_at += 1
        return False

    monkeypatch.setattr(errors, "is_unsafe", counted)
    told = str(InputError("line 1", "x" * 5_000_000, "it is too long", ""))
    assert len(told) < 300
    assert looked_at < 1000
