"""A field of the scenario is known to type checkers as well."""

from __future__ import annotations

from typing import Literal, get_args, get_origin

import pytest

from zsim.cli.completion import values_of_field
from zsim.scenario.keyword_types import AnyFields
from zsim.scenario.model import Scenario

REMEDY = "name it in zsim/scenario/keyword_types.py"


def choices(annotation: object) -> set[object]:
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return {each for part in get_args(annotation) for each in choices(part)}


def test_every_field_has_a_type_that_takes_text() -> None:
    assert set(AnyFields.__annotations__) == set(Scenario.field_infos()), REMEDY


@pytest.mark.parametrize(
    "name", [name for name, field in Scenario.model_fields.items() if choices(field.annotation)]
)
def test_every_choice_of_a_field_is_one_for_type_checkers_too(name: str) -> None:
    annotation = AnyFields.__annotations__[name]
    text = getattr(annotation, "__forward_arg__", annotation)
    told = {each.strip(" '\"") for each in text.partition("[")[2].partition("]")[0].split(",")}
    assert told == choices(Scenario.model_fields[name].annotation), REMEDY


def test_a_shell_is_offered_the_choices() -> None:
    assert set(values_of_field("operation")) == choices(Scenario.model_fields["operation"].annotation)
