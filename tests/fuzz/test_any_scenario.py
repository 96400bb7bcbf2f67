"""Valid scenarios of every kind end in an answer or a sentence, never in a fault."""

from __future__ import annotations

from typing import Any

import pytest

import zsim
from tests.fuzz.scenarios import scenario
from zsim.base.errors import ZsimError

EMPTY = (8, 12, 22, 27, 39, 40, 42, 44, 69, 87)
"""Numbers of `scenario` with a fill below 2 % that ended in a fault."""
SPARSE_DRAID = ({"layout": "draid1:8d:24c:1s", "drive_size": "4TB", "fill": 0.5, "target": "new-drive"},)
NARROW = ({"layout": "mirror2", "drive_size": "1GB", "fill": 0.9},)


def answered(fields: dict[str, Any]) -> None:
    try:
        answer = zsim.predict(zsim.Scenario.from_dict(fields))
    except ZsimError as error:
        assert len(str(error)) > 40
        assert error.exit_code == 2
    else:
        known = answer.resilver_s
        assert known.p10 is not None
        assert known.p90 is not None
        assert 0.0 < known.p10 <= known.p50 <= known.p90 < 1e9


@pytest.mark.parametrize("fields", [scenario(8), scenario(40), *SPARSE_DRAID, *NARROW])
def test_what_has_ended_in_a_fault_is_answered(fields: dict[str, Any]) -> None:
    answered(fields)


@pytest.mark.slow
@pytest.mark.parametrize("number", [*EMPTY, 13, 32, 36, 77, *range(200, 212)])
def test_any_valid_scenario_is_answered_or_refused(number: int) -> None:
    answered(scenario(number))


def test_the_same_number_gives_the_same_scenario() -> None:
    assert scenario(3) == scenario(3)
    assert len({str(scenario(number)) for number in range(100)}) == 100
