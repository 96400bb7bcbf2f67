"""What to change first: the time that other hardware, ports or orders save, each tried on one world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from zsim.base.constants import constant, whole_constant
from zsim.base.units import format_duration_roughly
from zsim.engine.model import PlaneModel
from zsim.prediction.answer.records import Advice, Alternative
from zsim.prediction.runs.what_if import Baseline, with_leaves
from zsim.scenario.releases.profile import DEFAULT_RELEASE

WORTH_SAYING = constant("answer.worth_saying")
CACHE_BYTES = whole_constant("answer.cache_bytes")
WRITE_CACHE_ON = "switch the replacement drive's write cache on"


def advice(
    baseline: Baseline, alternatives: tuple[Alternative, ...], without: Mapping[str, float]
) -> tuple[Advice, ...]:
    """Return what to change first, with what it saves; only what saves enough to be worth saying.

    Every drive on a port of its own is what `without_each` has tried as a link that takes no time.
    """
    middle_s, found = baseline.answer_s, _hardware_advice(baseline)
    if "link" in without:
        action, why = "give every drive its own port", "the shared link slows the drives down"
        found.append(Advice(action=action, why=why, saves_s=middle_s - without["link"]))
    for alternative in alternatives:
        if alternative.name == "sorted":
            saved, error_s = middle_s - alternative.resilver_s.p50, alternative.half_width_s
            why = "" if error_s is None else f"known to {format_duration_roughly(error_s)}"
            if saved > (error_s or 0.0):
                action = f"use a release with the sorted scan ({DEFAULT_RELEASE})"
                found.append(Advice(action=action, saves_s=saved, why=why))
    worth = [each for each in found if (each.saves_s or 0.0) > WORTH_SAYING * middle_s]
    return most_saved_first(*worth)


def most_saved_first(*found: Advice) -> tuple[Advice, ...]:
    """Return advice, what saves most first."""
    return tuple(sorted(found, key=lambda each: -(each.saves_s or 0.0)))


def _hardware_advice(baseline: Baseline) -> list[Advice]:
    model = baseline.result.model
    trials: list[tuple[str, str, PlaneModel]] = []
    target = next((leaf.drive for leaf in model.leaves if leaf.role == "target"), None)
    if target is not None and target.kind == "mechanical":
        cached = with_leaves(
            model,
            "target",
            lambda leaf: replace(
                leaf, drive=replace(leaf.drive, write_cache_bytes=CACHE_BYTES, flush_each_txg=True)
            ),
        )
        # Where nobody says how the caches are, they are on in most worlds, whatever the one shown has.
        known = baseline.case.exact or not baseline.case.assumed("write_cache")
        if known and target.write_cache_bytes == 0:
            trials.append(
                (
                    WRITE_CACHE_ON,
                    "its writes then lose fewer rotations",
                    cached,
                )
            )
        if target.physical_sector_bytes > (1 << baseline.case.ashift):
            native = with_leaves(
                model,
                "target",
                lambda leaf: replace(leaf, drive=replace(leaf.drive, physical_sector_bytes=512)),
            )
            why = "with this ashift, writes cover 4 KiB sectors only partly, and each costs a rotation"
            trials.append(("replace with a drive of native 512-byte sectors", why, native))
    return [
        Advice(action=action, why=why, saves_s=baseline.answer_s * (1.0 - baseline.time(model=changed)))
        for action, why, changed in trials
    ]
