"""Predictions on the same worlds without a stated burden: its load, its slow drives."""

from __future__ import annotations

from dataclasses import dataclass, field

from zsim.base.constants import whole_constant
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.prediction.inputs.sick import slow_leaves, without_slow
from zsim.prediction.work import Work

MOST_DRIVES = whole_constant("answer.slow_drives_predicted")


@dataclass(frozen=True, slots=True)
class PairedMedians:
    """Medians of the predictions of the same pool, on the same worlds, that a user would get without these.

    Attributes
    ----------
    unloaded_s : float or None
        Without the stated load; None: none is stated [s].
    sound_s : dict of int to float
        With one slow drive, by its leaf, as good as its peers, without the time that bad sectors take [s].
    """

    unloaded_s: float | None = None
    sound_s: dict[int, float] = field(default_factory=dict)


def paired_medians(case: Case) -> PairedMedians:
    """Predict the pool without its load, and with each of its slow drives as good as its peers.

    Returns
    -------
    PairedMedians
        Of the same worlds, drawn from the same seed (common random numbers): the ratio to the answer is that
        of medians, each over all worlds.

    Notes
    -----
    One world tells the ratio of that world alone, which is another one where another drive sets the pace.
    An exact case is one world, of which the ratio is the answer: there is nothing to predict.  Of more slow
    drives than `MOST_DRIVES` nothing is predicted either.
    """
    if case.exact:
        return PairedMedians()
    slow = sorted(slow_leaves(case))
    found = {leaf: without_slow(case, (leaf,)) for leaf in slow} if len(slow) <= MOST_DRIVES else {}
    return PairedMedians(
        unloaded_s=median_s(_without_load(case)) if case.scenario.load else None,
        sound_s={leaf: _run(each).sound_quantiles[1] for leaf, each in found.items()},
    )


LINKS = ("enclosure", "ports", "attached")
"""Fields that put drives behind a shared link."""


def without_links_s(case: Case) -> float | None:
    """Return the median with every drive on its own port [s]; None where nothing states a shared link."""
    if case.exact or not any(getattr(case.scenario, name) for name in LINKS):
        return None
    return median_s(resolve(case.scenario.changed(dict.fromkeys(LINKS))))


def with_write_cache_s(case: Case) -> float | None:
    """Return the median with the drives' write cache on [s]; None where nothing states that it is off."""
    if case.exact or case.scenario.write_cache is not False:
        return None
    return median_s(resolve(case.scenario.changed({"write_cache": True})))


def median_s(case: Case) -> float:
    """Return the median of what `zsim predict` answers of a case.

    Returns
    -------
    float
        [s]
    """
    return quantiles_s(case)[1]


def quantiles_s(case: Case) -> tuple[float, float, float]:
    """Return p10, p50 and p90 of what `zsim predict` answers of a case [s]."""
    return _run(case).quantiles


def _run(case: Case) -> Work:
    work = Work(case, lambda share, what: None, with_clients=False)
    work.run()
    return work


def _without_load(case: Case) -> Case:
    return resolve(case.scenario.changed({"load": ()}))
