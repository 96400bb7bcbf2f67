"""A field of the scenario is known to type checkers as well."""

from __future__ import annotations

from zsim.scenario.model import Scenario
from zsim.scenario.typed import AnyFields


def test_every_field_has_a_type_that_takes_text() -> None:
    known = set(AnyFields.__annotations__)
    assert known == set(Scenario.model_fields), "name the field in zsim/scenario/typed.py"
