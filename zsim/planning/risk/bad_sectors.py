"""The effect of stated bad sectors on the chances of a repair."""

from __future__ import annotations

from collections.abc import Sequence

from zsim.case.case import Case
from zsim.planning.risk.records import Chance, Grades
from zsim.prediction.inputs.bad_sectors import LostTime, recovery
from zsim.prediction.inputs.fault_rules import fault_rule


def lost_to_errors(case: Case, seconds: float) -> tuple[LostTime, ...]:
    """Return what the bad sectors of each drive cost in a repair of so many seconds; none of a scrub."""
    return () if case.operation == "scrub" else recovery(case, seconds)


def faulted(lost: Sequence[LostTime]) -> int:
    """Return how many drives are faulted for their errors: they count as missing."""
    return sum(each.faulted_s is not None for each in lost)


def with_certain_loss(grades: Grades, lost: Sequence[LostTime]) -> Grades:
    """Return the chances where blocks are known that cannot be rebuilt: some files are lost for certain."""
    if not any(each.blocks for each in lost):
        return grades
    return grades.model_copy(update={"files": Chance(p=1.0, low=1.0, high=1.0)})


def words(case: Case, lost: Sequence[LostTime]) -> tuple[str, ...]:
    """Say which drives are faulted, and what is lost for certain."""
    found, rule = [], fault_rule(case)
    for each in lost:
        drive = case.scenario.drive_of(each.drive)
        if each.faulted_s is not None and rule is not None:
            found.append(
                f"drive {drive} is faulted for its bad sectors as the repair reads them ({rule.words}), and"
                " counts as missing from the beginning"
            )
        if each.blocks:
            found.append(
                f"nothing is left to rebuild the bad sectors of drive {drive} from: up to {each.blocks}"
                " blocks of files are lost for certain (zsim predict says how many)"
            )
    return tuple(found)
