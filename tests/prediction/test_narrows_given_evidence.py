"""What would narrow an interval that evidence has narrowed: no more than the unknowns that are left move."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zsim
from zsim.prediction.api import case_of
from zsim.prediction.inputs.ensemble import draw_members, unknowns
from zsim.prediction.statistics.sensitivity import drivers
from zsim.scenario.model import Scenario


def test_what_no_field_settles_counts_as_wide_as_it_is_shown() -> None:
    case = case_of(Scenario(layout="raidz1x4", fill=0.5))
    inputs = unknowns(case)
    members = draw_members(inputs, 1)
    times = np.exp([0.1 * member.scores[0] for member in members])
    (alone, *_) = drivers(inputs, members, times)
    (within, *_) = drivers(inputs, members, times, shown=1.0)
    assert (within.low_s, within.high_s) == (alone.low_s, alone.high_s)
    assert alone.narrows > 0.5
    variance = 1.0 - (1.0 - within.narrows) ** 2
    assert variance == pytest.approx((math.log(alone.high_s / alone.low_s) / 2.563) ** 2, rel=0.01)


def test_no_field_narrows_an_interval_by_more_than_it_moves_the_answer() -> None:
    """A resilver of the same pool was seen: "history 1 d 3 h to 1 d 3 h, narrows by 62 %" stood there."""
    found = zsim.predict(layout="raidz1x4", drive="st4000vn008", fill=0.72, evidence="resilver=27h")
    answer, uncertainty = found.resilver_s, found.uncertainty
    assert uncertainty is not None
    whole = math.log(answer.p90 / answer.p10)
    for each in uncertainty.drivers:
        share = min(1.0, math.log(each.high_s / each.low_s) / whole)
        assert each.narrows <= 1.0 - math.sqrt(1.0 - share**2) + 0.02, each.field
