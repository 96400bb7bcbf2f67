"""Scans of flash that give way to clients (to 0.7): many of their pauses, of a run that is through in one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.case.case import Case
from zsim.case.loads import CLIENT_READ_S
from zsim.engine.model import PlaneModel
from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.runs.giving_way import PAUSES, rate_given_way_to, run_giving_way
from zsim.prediction.runs.member import MemberResult
from zsim.prediction.runs.one_tile import run_world
from zsim.scenario.model import Scenario

FAST, SLOW, AS_IT_IS = 10.0, 1000.0, 77.0


def model_of(**fields: Any) -> PlaneModel:
    """Return the data plane of a mirror of flash under 0.6.5 beside five reads a second."""
    stated = {
        "layout": "mirror2", "drive": "860-evo-1tb", "fill": 0.5, "release": "zol-0.6.5",
        "history": "vm-host", "load": [{"kind": "random-read", "rate": 5}],
    }  # fmt: skip
    return plane_model(case_of(Scenario.from_dict(stated | fields)))


def runs(end: float, seen: list[str]) -> Callable[[PlaneModel], MemberResult]:
    """Return a run that takes as long as it is to by how it gives way."""

    def run(model: PlaneModel) -> MemberResult:
        always, never = math.isinf(model.scan.idle_window_s), model.scan.delay_ticks == 0
        seen.append("slow" if always else "fast" if never else "as it is")
        time_s = SLOW if always else FAST if never else AS_IT_IS
        counted: Any = SimpleNamespace(end=end)
        return MemberResult(time_s, 0.1 * time_s, 0.8 * time_s, 0.1 * time_s, 3.0, counted, model)

    return run


def test_a_short_run_is_the_mean_over_pauses_and_what_is_between_them() -> None:
    model, seen = model_of(), list[str]()
    found = run_giving_way(runs(0.1, seen), model)
    share = math.exp(-rate_given_way_to(model) * model.scan.idle_window_s)
    assert 0.2 < share < 0.8
    assert found.time_s == pytest.approx(1.0 / (share / FAST + (1.0 - share) / SLOW))
    assert found.visit_s + found.issue_s + found.sync_s == pytest.approx(found.time_s)
    assert found.scale == 3.0
    assert found.model is model, "what is varied next gives way as the release does"
    assert sorted(seen) == ["as it is", "fast", "slow"]


def test_a_run_of_many_pauses_is_taken_as_it_is() -> None:
    model, seen = model_of(), list[str]()
    rate = rate_given_way_to(model)
    end = 1.01 * PAUSES / (rate * math.exp(-rate * model.scan.idle_window_s))
    assert run_giving_way(runs(end, seen), model).time_s == AS_IT_IS
    assert seen == ["as it is"]


@pytest.mark.parametrize(
    "fields",
    [{"load": []}, {"release": "openzfs-2.3"}, {"drive": "st8000vn004"}],
    ids=["no clients", "no delay", "disks"],
)
def test_a_scan_that_gives_way_to_nobody_is_run_once(fields: dict[str, Any]) -> None:
    seen = list[str]()
    run_giving_way(runs(0.1, seen), model_of(**fields))
    assert len(seen) == 1


def test_clients_that_never_pause_leave_the_scan_no_fast_part() -> None:
    model, seen = model_of(load=[{"kind": "random-read", "rate": 2000}]), list[str]()
    assert run_giving_way(runs(0.1, seen), model).time_s == SLOW
    assert seen == ["as it is", "slow"]


def test_the_rate_is_that_of_the_clients_but_not_of_writes_to_a_log_device() -> None:
    model = model_of()
    assert rate_given_way_to(model) == pytest.approx(5.0, rel=1e-9)
    (group,) = model.clients
    assert rate_given_way_to(replace(model, clients=(group, group))) == pytest.approx(10.0)
    writes = replace(group, kind="sync-write", count=3, think_s=0.3 - CLIENT_READ_S)
    both = replace(model, clients=(group, writes))
    assert rate_given_way_to(both) == pytest.approx(15.0)
    log = replace(model.vdevs[0], alloc_class="log")
    assert rate_given_way_to(replace(both, vdevs=(*both.vdevs, log))) == pytest.approx(5.0)


def test_how_long_it_takes_does_not_depend_on_when_the_first_client_asks() -> None:
    """Of 9,375 blocks, which flash has read in a tenth of a second, seeds took from 0.6 to 6 hours."""
    stated = {
        "layout": "4*mirror2", "drive": "generic-sata-ssd", "fill": 0.75, "release": "zol-0.6.5",
        "history": "vm-host", "load": [{"kind": "random-read", "rate": 4}],
    }  # fmt: skip
    case = case_of(Scenario.from_dict(stated))

    def asking(seed: int) -> float:
        def plane(case: Case) -> PlaneModel:
            model = plane_model(case)
            return replace(model, clients=tuple(replace(each, seed=seed) for each in model.clients))

        return run_world(case, 9_375, plane).time_s

    times = [asking(seed) for seed in range(6)]
    assert max(times) / min(times) < 1.1
