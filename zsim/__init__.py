"""zsim: how long until a ZFS pool is whole again, why, how sure that is, and what would change it.

::

    Scenario ──> Pool population ──> Scan order ──> Vdev map ──> Engine ──> Prediction ──> Report / Plan
    what is      which blocks lie    which block    which child   queues,    hours, why,    tables, plots,
    asked        where, born when    comes next     I/Os it is    drives,    how sure       HTML, sweeps,
                                                                  links, time               ETA, risk

Each box is one room (a package): `zsim.scenario`, `zsim.pool`, `zsim.scan`, `zsim.vdevs` and `zsim.drives`,
`zsim.engine` and `zsim.operation`, `zsim.prediction`, `zsim.planning` and `zsim.report`; a room imports only
from rooms to its left.

>>> import zsim
>>> scenario = zsim.Scenario(layout="raidz2x6", fill=0.62)

``zsim.predict(scenario)`` then gives a `Prediction`.  Names are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zsim.base.errors import InputError as InputError
    from zsim.base.errors import NotSimulatedYet as NotSimulatedYet
    from zsim.base.errors import ZsimError as ZsimError
    from zsim.case.resolve import resolve as resolve
    from zsim.drives.catalogue import load_drive as load_drive
    from zsim.observe.read_pool import read_pool as read_pool
    from zsim.planning.compare import compare as compare
    from zsim.planning.design.answer import Design as Design
    from zsim.planning.design.one_layout import plan_fill as plan_fill
    from zsim.planning.design.one_layout import plan_width as plan_width
    from zsim.planning.design.one_layout import plan_worth as plan_worth
    from zsim.planning.design.search import plan_layouts as plan_layouts
    from zsim.planning.eta.answer import Eta as Eta
    from zsim.planning.eta.api import eta as eta
    from zsim.planning.fleet.answer import FleetAnswer as FleetAnswer
    from zsim.planning.fleet.api import fleet as fleet
    from zsim.planning.fleet.spec import Fleet as Fleet
    from zsim.planning.risk.answer import RiskAnswer as RiskAnswer
    from zsim.planning.risk.api import risk as risk
    from zsim.planning.risk.question import RiskInputs as RiskInputs
    from zsim.planning.sweep import sweep as sweep
    from zsim.planning.table import Table as Table
    from zsim.planning.timeline.api import timeline as timeline
    from zsim.planning.timeline.decisions import Decision as Decision
    from zsim.planning.timeline.decisions import decide as decide
    from zsim.planning.timeline.plan import Plan as Plan
    from zsim.planning.timeline.result import Timeline as Timeline
    from zsim.planning.tune.api import tune as tune
    from zsim.planning.tune.records import Tuning as Tuning
    from zsim.prediction.answer.prediction import Prediction as Prediction
    from zsim.prediction.answer.records import Quantiles as Quantiles
    from zsim.prediction.api import predict as predict
    from zsim.scenario.evidence import FinishedScan as FinishedScan
    from zsim.scenario.layout import Layout as Layout
    from zsim.scenario.model import Scenario as Scenario
    from zsim.scenario.one_drive.slow import SlowDrive as SlowDrive
    from zsim.scenario.parts import Load as Load
    from zsim.scenario.parts import Port as Port
    from zsim.scenario.releases.profile import load_release as load_release
    from zsim.validation.api import Validation as Validation
    from zsim.validation.api import validate as validate

    __version__: str

_EXPORTS = {
    "compare": "zsim.planning.compare",
    "decide": "zsim.planning.timeline.decisions",
    "Decision": "zsim.planning.timeline.decisions",
    "Design": "zsim.planning.design.answer",
    "eta": "zsim.planning.eta.api",
    "Eta": "zsim.planning.eta.answer",
    "FinishedScan": "zsim.scenario.evidence",
    "Fleet": "zsim.planning.fleet.spec",
    "fleet": "zsim.planning.fleet.api",
    "FleetAnswer": "zsim.planning.fleet.answer",
    "InputError": "zsim.base.errors",
    "Layout": "zsim.scenario.layout",
    "Load": "zsim.scenario.parts",
    "load_drive": "zsim.drives.catalogue",
    "load_release": "zsim.scenario.releases.profile",
    "NotSimulatedYet": "zsim.base.errors",
    "Plan": "zsim.planning.timeline.plan",
    "plan_fill": "zsim.planning.design.one_layout",
    "plan_layouts": "zsim.planning.design.search",
    "plan_width": "zsim.planning.design.one_layout",
    "plan_worth": "zsim.planning.design.one_layout",
    "Port": "zsim.scenario.parts",
    "predict": "zsim.prediction.api",
    "Prediction": "zsim.prediction.answer.prediction",
    "Quantiles": "zsim.prediction.answer.records",
    "read_pool": "zsim.observe.read_pool",
    "resolve": "zsim.case.resolve",
    "risk": "zsim.planning.risk.api",
    "RiskAnswer": "zsim.planning.risk.answer",
    "RiskInputs": "zsim.planning.risk.question",
    "Scenario": "zsim.scenario.model",
    "SlowDrive": "zsim.scenario.one_drive.slow",
    "sweep": "zsim.planning.sweep",
    "Table": "zsim.planning.table",
    "timeline": "zsim.planning.timeline.api",
    "Timeline": "zsim.planning.timeline.result",
    "tune": "zsim.planning.tune.api",
    "Tuning": "zsim.planning.tune.records",
    "validate": "zsim.validation.api",
    "Validation": "zsim.validation.api",
    "ZsimError": "zsim.base.errors",
}
"""Public name to the module that defines it."""


if not TYPE_CHECKING:  # with it, checkers of types would take any misspelt name for an object

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return _version()
        if name in _EXPORTS:
            return getattr(importlib.import_module(_EXPORTS[name]), name)
        raise AttributeError(f"module 'zsim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_EXPORTS, "__doc__", "__name__", "__version__"})


__all__ = [
    "Decision",
    "Design",
    "Eta",
    "FinishedScan",
    "Fleet",
    "FleetAnswer",
    "InputError",
    "Layout",
    "Load",
    "NotSimulatedYet",
    "Plan",
    "Port",
    "Prediction",
    "Quantiles",
    "RiskAnswer",
    "RiskInputs",
    "Scenario",
    "SlowDrive",
    "Table",
    "Timeline",
    "Tuning",
    "Validation",
    "ZsimError",
    "compare",
    "decide",
    "eta",
    "fleet",
    "load_drive",
    "load_release",
    "plan_fill",
    "plan_layouts",
    "plan_width",
    "plan_worth",
    "predict",
    "read_pool",
    "resolve",
    "risk",
    "sweep",
    "timeline",
    "tune",
    "validate",
]


def _version() -> str:
    from importlib import metadata  # noqa: PLC0415 - costs more than the rest of this file

    try:
        return metadata.version("zsim")
    except metadata.PackageNotFoundError:  # run from a checkout that was never installed
        return "0+unknown"
