"""Functions of the library refuse arguments of a wrong kind in a sentence, before anything is simulated."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zsim
from zsim.validation import discovery

SCENARIO = {"layout": "mirror2", "fill": 0.3, "drive_size": "8GB"}
HOURS = zsim.RiskInputs(hours="9h")
PASTE = "  pool: tank\n state: ONLINE\n"
FLEET = zsim.Fleet.from_dict({"pool": [{"name": "a", "count": 1, **SCENARIO}]})
PLAN = {"pool": SCENARIO, "events": [{"do": "fail", "drive": 0, "at": 0}]}
NUMBER: Any = 7
WRONG: dict[str, tuple[str, Callable[[], object]]] = {
    "portion": ("portion", lambda: zsim.predict(SCENARIO, portion=np.array([1, 2]))),  # type: ignore[arg-type]
    "predict": ("on_progress", lambda: zsim.predict(SCENARIO, NUMBER)),
    "risk, inputs": ("inputs", lambda: zsim.risk(SCENARIO, True)),  # type: ignore[arg-type]
    "risk, report": ("on_progress", lambda: zsim.risk(SCENARIO, HOURS, NUMBER)),
    "risk, hours": ("hours_of", lambda: zsim.risk(SCENARIO, hours_of=NUMBER)),
    "fleet, report": ("on_progress", lambda: zsim.fleet(FLEET, NUMBER)),
    "fleet, hours": ("hours_of", lambda: zsim.fleet(FLEET, hours_of=NUMBER)),
    "timeline": ("on_progress", lambda: zsim.timeline("replace-one", on_progress=NUMBER)),
    "decide": ("on_progress", lambda: zsim.decide("replace-one", on_progress=NUMBER)),
    "tune": ("on_progress", lambda: zsim.tune(SCENARIO, NUMBER)),
    "eta": ("on_progress", lambda: zsim.eta(PASTE, on_progress=NUMBER)),
    "compare, report": ("on_progress", lambda: zsim.compare("mirror2", fill=0.3, on_progress=NUMBER)),
    "compare, jobs": ("jobs", lambda: zsim.compare("mirror2", fill=0.3, jobs="two")),  # type: ignore[arg-type]
    "plan": ("on_progress", lambda: zsim.plan_layouts(drives=6, on_progress=NUMBER)),
    "sweep, base": ("base", lambda: zsim.sweep(True, fill=0.3)),  # type: ignore[arg-type]
    "sweep, store": ("store", lambda: zsim.sweep(layout="mirror2", store=True)),  # type: ignore[arg-type]
    "sweep, jobs": ("jobs", lambda: zsim.sweep(layout="mirror2", fill=0.3, jobs=True)),
    "sweep, endless": ("sweep", lambda: zsim.sweep(layout="mirror2", seed=itertools.count())),
    "scenario": ("scenario", lambda: zsim.Scenario.from_dict(NUMBER)),
    "scenario, pairs": ("scenario", lambda: zsim.Scenario.from_dict(["layout"])),  # type: ignore[arg-type]
    "scenario, file": ("scenario", lambda: zsim.Scenario.read(NUMBER)),
    "fleet, data": ("fleet", lambda: zsim.Fleet.from_dict(NUMBER)),
    "fleet, file": ("fleet", lambda: zsim.Fleet.read(NUMBER)),
    "risk, number": ("mttr", lambda: zsim.RiskInputs(mttr=np.array([1, 2]))),  # type: ignore[arg-type]
    "risk, truth": ("years", lambda: zsim.RiskInputs(years=True)),
    "risk, no number": ("stress", lambda: zsim.RiskInputs(stress=math.nan)),
    "risk, beyond floats": ("shape", lambda: zsim.RiskInputs(shape=10**400)),
    "risk, name": ("method", lambda: zsim.RiskInputs(method=np.array([1, 2]))),  # type: ignore[arg-type]
    "plan, drives": ("drives", lambda: zsim.plan_layouts(drives=10**400)),
    "plan, usable": ("usable", lambda: zsim.plan_layouts(usable=math.nan)),  # type: ignore[arg-type]
    "plan, price": ("--price", lambda: zsim.plan_layouts(drives=6, price="350")),  # type: ignore[arg-type]
    "plan, wishes": ("require", lambda: zsim.plan_layouts(drives=6, require=None)),  # type: ignore[arg-type]
    "plan, one wish": ("require", lambda: zsim.plan_layouts(drives=6, require="p90 < 1h")),
    "plan, inputs": ("inputs", lambda: zsim.plan_layouts(drives=6, inputs=NUMBER)),
    "plan, sort": ("--sort", lambda: zsim.plan_layouts(drives=6, sort={})),  # type: ignore[arg-type]
    "decide, also": ("also", lambda: zsim.decide("replace-one", also=NUMBER)),
    "decide, reboot": ("reboot", lambda: zsim.decide("replace-one", reboot=NUMBER)),
    "eta, files": ("files", lambda: zsim.eta(PASTE, files="lsblk.txt")),
    "eta, file": ("files", lambda: zsim.eta(PASTE, files=[NUMBER])),
    "plan, wish": ("--require", lambda: zsim.plan_layouts(drives=6, require=[NUMBER])),
    "eta, stated": ("stated", lambda: zsim.eta(PASTE, stated=NUMBER)),
    "compare, drives": ("drives", lambda: zsim.compare("mirror2", fill=0.3, drives="6")),  # type: ignore[arg-type]
    "validate, paths": ("paths", lambda: zsim.validate(paths=NUMBER)),
    "validate, path": ("paths", lambda: zsim.validate(paths=[NUMBER])),
    "validate, jobs": ("jobs", lambda: zsim.validate(["raidz_map_vectors"], jobs="")),  # type: ignore[arg-type]
    "validate, report": ("on_progress", lambda: zsim.validate(["raidz_map_vectors"], on_progress=NUMBER)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_of_a_wrong_kind_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def simulated(*given: object, **named: object) -> None:
        pytest.fail("it was not refused first")

    monkeypatch.setattr("zsim.prediction.work.Work.run", simulated)
    field, call = WRONG[name]
    with pytest.raises(zsim.InputError) as caught:
        call()
    assert caught.value.field == field
    assert str(caught.value).endswith(".")


def test_one_path_may_stand_alone(tmp_path: Path) -> None:
    """Its letters are no paths: "/" would be all of the machine."""
    with pytest.raises(zsim.InputError, match="it holds none of"):
        zsim.validate(paths=str(tmp_path))


def test_a_link_that_may_not_be_followed_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Entry:
        name = "cwd"

        def is_dir(self) -> bool:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", lambda path: [Entry()])
    assert discovery._listing(tmp_path) == (frozenset({"cwd"}), frozenset())
