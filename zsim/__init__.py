"""zsim: how long until a ZFS pool is whole again, why, how sure that is, and what would change it.

::

    Scenario ──> Pool population ──> Scan order ──> Vdev map ──> Engine ──> Prediction ──> Report / Plan
    what is      which blocks lie    which block    which child   queues,    hours, why,    tables, plots,
    asked        where, born when    comes next     I/Os it is    drives,    how sure       HTML, sweeps,
                                                                  links, time               ETA, risk

Each box is one room (a package): `zsim.scenario`, `zsim.pool`, `zsim.scan`, `zsim.vdevs` and `zsim.drives`,
`zsim.engine`, `zsim.prediction`, `zsim.planning` and `zsim.report`; a room imports only from rooms to its left.

>>> import zsim
>>> scenario = zsim.Scenario(layout="raidz2x6", fill=0.62)

``zsim.predict(scenario)`` then gives a `Prediction`.  Names are imported when they are first used.
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zsim.base.errors import InputError as InputError
    from zsim.base.errors import NotSimulatedYet as NotSimulatedYet
    from zsim.base.errors import ZsimError as ZsimError
    from zsim.scenario.layout import Layout as Layout
    from zsim.scenario.model import Scenario as Scenario

_EXPORTS = {
    "InputError": "zsim.base.errors",
    "Layout": "zsim.scenario.layout",
    "NotSimulatedYet": "zsim.base.errors",
    "Prediction": "zsim.prediction.answer.prediction",
    "Quantiles": "zsim.prediction.answer.prediction",
    "Scenario": "zsim.scenario.model",
    "ZsimError": "zsim.base.errors",
    "compare": "zsim.planning.api",
    "Fleet": "zsim.planning.fleet.spec",
    "fleet": "zsim.planning.fleet.api",
    "load_drive": "zsim.drives.catalogue",
    "load_release": "zsim.scenario.releases.profile",
    "plan_layouts": "zsim.planning.design.search",
    "predict": "zsim.prediction.api",
    "resolve": "zsim.scenario.resolve",
    "risk": "zsim.planning.risk.api",
    "RiskInputs": "zsim.planning.risk.question",
    "sweep": "zsim.planning.api",
    "validate": "zsim.validation.api",
}
"""Public name to the module that defines it; a module that is not there yet defines nothing."""

_CALLABLE_ROOMS = frozenset({"predict", "validate"})


class _Room(ModuleType):
    """A room that is also the function of its name: ``zsim.predict(...)`` and ``zsim.prediction.answer.prediction``."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    @functools.cached_property
    def __wrapped__(self) -> Any:
        """The function, where `inspect.signature` looks for it."""
        name = self.__name__.rpartition(".")[2]
        if not _exists(_EXPORTS[name]):
            raise AttributeError(f"zsim.{name} is not there yet")
        return getattr(importlib.import_module(_EXPORTS[name]), name)


class _House(ModuleType):
    """The package itself: makes the rooms of `_CALLABLE_ROOMS` callable when they are imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _CALLABLE_ROOMS and type(value) is ModuleType:
            value.__class__ = _Room
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _House


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _CALLABLE_ROOMS and _exists(_EXPORTS[name]):
        return importlib.import_module(f"zsim.{name}")
    if name in _EXPORTS and _exists(_EXPORTS[name]):
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'zsim' has no attribute {name!r}")


def __dir__() -> list[str]:
    public = {name for name, module in _EXPORTS.items() if _exists(module)}
    return sorted({*public, *globals(), "__version__"})


def _exists(module: str) -> bool:
    """Tell whether a module is there, without running it."""
    from importlib.util import find_spec  # noqa: PLC0415 - only when a name is asked for

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _version() -> str:
    from importlib import metadata  # noqa: PLC0415 - costs more than the rest of this file

    try:
        return metadata.version("zsim")
    except metadata.PackageNotFoundError:  # run from a checkout that was never installed
        return "0+unknown"
