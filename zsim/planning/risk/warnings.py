"""What a user is told beside a risk: defects of the release, and what the chance does not hold."""

from __future__ import annotations

from collections.abc import Mapping

from zsim.base.units import format_duration
from zsim.case.case import Case
from zsim.planning.risk import reliability
from zsim.planning.risk.question import RiskInputs
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.evidence import RunningScan, missing_drives, missing_elsewhere
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.profile import ReleaseProfile, version_numbers
from zsim.vdevs.kind import kind_of


def length_words(hours: Quantiles) -> str:
    """Return how long repairs take, with the range of eight in ten."""
    length = format_duration(hours.p50)
    if hours.p10 is not None and hours.p90 is not None and hours.p10 < hours.p90:
        length += f" ({format_duration(hours.p10)} to {format_duration(hours.p90)})"
    return length


def missing_at_first(case: Case) -> int:
    """Return how many drives of the vdev are missing when the repair begins, replaced by it or not."""
    gone = 0 if case.old_drive == "online" else case.replace
    return gone + len(missing_drives(case.scenario.evidence or (), case.layout.vdevs[0].children))


def is_endless(release: ReleaseProfile) -> bool:
    """Tell whether an unreadable block keeps a resilver of this release from ever being done."""
    early = release.family == "openzfs" and version_numbers(release.version) < (2, 0)
    return early or release.family in ("zol", "freebsd")


def warnings(case: Case, inputs: RiskInputs, told: bool = False) -> tuple[str, ...]:
    """Return what a user should know: defects of the release, and what the chance does not hold."""
    found = list(known_bugs(case))
    if inputs.latent and is_endless(case.release):
        found.append(
            f"{case.release.name} never finishes a resilver that meets an unreadable block: it restarts "
            "until the block's file and snapshots are deleted (fixed in OpenZFS 2.0)"
        )
    found += _missing_drives(case, told)
    runs = any(isinstance(each, RunningScan) for each in case.scenario.evidence or ())
    if runs and not told and case.operation != "scrub" and (inputs.hours is None or inputs.detect is None):
        found.append(
            "a repair is already running, and its chance covers the time from the failure to the end,"
            " including the past: for the rest alone, state --hours (zsim eta gives it) and --detect 0"
        )
    if case.old_drive == "online" and case.operation != "scrub":
        found.append(
            "the replaced drive still works: no redundancy is missing as long as it does, and the first"
            " column counts from the command to the end of the repair; the others are about drives that fail"
        )
    if any(kind_of(vdev.kind).has_distributed_spares for vdev in case.layout.vdevs):
        found.append(
            "of a dRAID, drives count as missing until they are rebuilt onto a distributed spare; "
            "failures beyond the number of spares wait for replacement drives"
        )
    if told and case.release.second_target == "restart" and case.layout.vdevs[0].tolerance > 1:
        found.append(
            f"in {case.release.name} a further failure restarts the resilver, and the plan then takes longer"
            " than is counted here"
        )
    return tuple(found)


def _missing_drives(case: Case, told: bool) -> list[str]:
    """Return what is to be known of drives that are missing beside the first."""
    found = []
    count = missing_at_first(case)
    if count > 1:
        left = case.layout.vdevs[0].tolerance - count
        found.append(
            f"the repair begins with {count} drives of the vdev missing: "
            + (f"{left} more may fail" if left > 0 else "none may fail")
        )
    elsewhere = missing_elsewhere(case.scenario.evidence or (), case.layout.vdevs[0].children)
    if elsewhere and not told:
        names = ", ".join(each.drive for each in elsewhere[:3])
        more = f" and {len(elsewhere) - 3} more" if len(elsewhere) > 3 else ""
        found.append(
            f"{names}{more} of other vdevs {'is' if len(elsewhere) == 1 else 'are'} missing too, which is"
            " not counted: until they are replaced, the pool is likelier to be lost than stated here"
        )
    return found


def unlike(case: Case, inputs: RiskInputs, others: Mapping[VdevSpec, Quantiles]) -> tuple[str, ...]:
    """Return how long vdevs unlike the first one are repaired, or that they are taken as it is."""
    first, *rest = case.layout.stored
    if all(vdev == first or vdev.is_disk for vdev in rest):
        return ()
    if not others:
        stated = inputs.hours is not None or inputs.mttr is not None
        return (f"the vdevs differ: the {'stated repair time' if stated else 'repair time of the first one'}"
                " is used for all",)  # fmt: skip
    told = ", ".join(f"{vdev} in {length_words(hours)}" for vdev, hours in others.items())
    return (f"the vdevs differ; the others are repaired as predicted: {told}",)


def known_bugs(case: Case) -> list[str]:
    """Return the known defects of repairs in a release."""
    release = case.release
    if release.family != "openzfs":
        return []
    kinds = {vdev.kind for vdev in case.layout.vdevs}
    return [
        f"{release.name}: {bug['words']}; fixed in {', '.join(bug['fixed'])} ({bug['source']})"
        for bug in reliability.read("repair-bugs")["bug"]
        if kinds & set(bug["layouts"])
        and case.operation in bug["operations"]
        and not _is_fixed(release.version, bug["fixed"])
    ]


def _is_fixed(version: str, fixed: list[str]) -> bool:
    """Tell whether a patch level has a repair: of its own series, or of an older one."""
    own = version_numbers(version)
    sound = [version_numbers(each) for each in fixed]
    same = [each for each in sound if each[:2] == own[:2]]
    return own >= same[0] if same else own > max(sound)
