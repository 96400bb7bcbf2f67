"""Tunables and behaviours that change nothing in a prediction, and why (``models/tunables``)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Literal

from zsim.base import model_data
from zsim.base.parsed import table
from zsim.scenario.releases.profile import ReleaseProfile


@functools.cache
def reasons(what: Literal["tunables", "behaviours"]) -> Mapping[str, str]:
    """Return the tunables or the behaviours that have no effect here, with the reason of each."""
    path = model_data.models_directory() / "tunables" / "no-effect.toml"
    data = model_data.load_toml(path)
    return {name: model_data.text_of(data, f"{what}.{name}", path) for name in table(data, what)}


def without_effect(release: ReleaseProfile, tunables: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each tunable that is set in vain.

    Parameters
    ----------
    release : ReleaseProfile
    tunables : iterable of str
        Names as given: module parameters or sysctls.
    """
    known = (release.tunable_name(name) for name in tunables)
    idle = reasons("tunables")
    return tuple(f"{name} is known, but has no effect here: {idle[name]}" for name in known if name in idle)
