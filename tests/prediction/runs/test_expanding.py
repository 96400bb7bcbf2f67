"""Expansions at the size of a real pool, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.operation.background.expansion import Reflow
from zsim.prediction.api import predict
from zsim.prediction.runs.expanding import starting_txgs
from zsim.scenario.model import Scenario

STATED = {
    "layout": "raidz1x4", "fill": 0.5, "drive": "generic-7200rpm-cmr", "drive_size": "1TB", "load": "none",
    "history": "home-nas", "recordsize": "128K", "release": "openzfs-2.3", "operation": "expand",
}  # fmt: skip


def scenario(**changes: object) -> Scenario:
    return Scenario.from_dict({key: value for key, value in {**STATED, **changes}.items() if value != "none"})


def test_old_drives_are_busy_and_the_new_one_is_not() -> None:
    answer = predict(scenario())
    rows = {row.role: row for row in answer.leaves}
    source, target = rows["source"], rows["target"]
    # A/W read and A/(W+1) written on each old drive, A/(W+1) on the new one.
    assert source.utilisation > 0.9
    assert 0.25 < target.utilisation < 0.6
    assert answer.read_bytes == pytest.approx(0.5 * 4e12, rel=0.03)
    assert answer.written_bytes == pytest.approx(answer.read_bytes, rel=0.02)
    names = [phase.name for phase in answer.phases]
    assert names == ["copying", "verifying scrub"]
    assert answer.operation == "expand"
    assert answer.alternatives == ()


def test_small_records_take_longer() -> None:
    usual, small = predict(scenario()), predict(scenario(recordsize="16K", history="vm-host"))
    assert small.resilver_s.p50 > 1.3 * usual.resilver_s.p50


def test_the_start_grows_with_the_logarithm_of_what_it_has_to_reach() -> None:
    reflow = Reflow(0, np.zeros(0, np.int64), np.zeros(0, np.int64), children=4, ashift=12)
    counts = [starting_txgs(reflow, 1 << 44, 0.5, rate, 5.0) for rate in (50e6, 100e6, 200e6)]
    # Twice the pace: ln 2 / ln 1.25, three txgs more.
    assert [round(after - before) for before, after in itertools.pairwise(counts)] == [3, 3]
    assert starting_txgs(reflow, reflow.scratch_bytes * 2, 0.5, 200e6, 5.0) < 6


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"layout": "mirror2"}, "layout"),
        ({"layout": "draid1:4d:8c:1s"}, "layout"),
        ({"layout": "raidz1x255"}, "layout"),
        ({"release": "openzfs-2.2"}, "operation"),
        ({"replace": 1}, "replace"),
        ({"second_at": 0.5}, "second_at"),
        ({"old_drive": "online"}, "old_drive"),
        ({"layout": "raidz1x4+1", "release": "openzfs-2.2", "operation": "resilver"}, "layout"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        predict(scenario(**changes))
    assert caught.value.field == field
