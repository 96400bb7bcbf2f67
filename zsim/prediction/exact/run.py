"""Simulate every I/O of a pool: its tiles in one run, in memory that does not grow with the pool.

A pool no larger than a tile is run as it is.  Of a larger one only a few tiles are in the plane at a time;
their items and operations stand in rings that are filled on while the scan goes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from zsim.base.constants import whole_constant
from zsim.base.errors import NotSimulatedYet
from zsim.base.machine.at_rest import give_back
from zsim.case.case import ENOUGH_MEMORY, Case
from zsim.operation.result import seconds_of
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.prediction.exact.bad_sectors import bad_sectors_of, lost_time
from zsim.prediction.exact.hours import by_the_hour
from zsim.prediction.exact.legacy import LegacyTiles
from zsim.prediction.exact.sorted import SortedTiles
from zsim.prediction.exact.tiles import Tiling
from zsim.prediction.inputs.bad_places import with_bad_sectors
from zsim.prediction.inputs.bad_sectors import LostTime, ReadErrors
from zsim.prediction.inputs.clients import has_hours
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import WHOLE_BLOCKS
from zsim.prediction.runs.member import MemberResult, second_of, whole_setup
from zsim.scenario.releases.profile import COPIES

Progress = Callable[[float, str], None]
TILE_BLOCKS, POPULATIONS = whole_constant("exact.tile_blocks"), whole_constant("exact.populations")


class ExactRun:
    """The exact run of a scenario, which can be interrupted and still say what it knows.

    Parameters
    ----------
    resolved : Case
    progress : callable
        Called with the share done, 0 to 1, and what is being done.
    blocks : int
        Of a tile.
    populations : int
        Different populations in a pool of several tiles.
    whole : int
        A pool of so many blocks, or of no more than a tile has, is run as it is.

    Raises
    ------
    NotSimulatedYet
        For what only samples can do so far.
    """

    def __init__(
        self,
        resolved: Case,
        progress: Progress,
        *,
        blocks: int = TILE_BLOCKS,
        populations: int = POPULATIONS,
        whole: int = WHOLE_BLOCKS,
    ) -> None:
        self.progress = progress
        give_back()  # what the worlds before left free, and what the layout of the populations does
        self.tiling = Tiling(resolved, blocks, populations, whole)
        give_back()
        self.bad = bad_sectors_of(resolved, self.tiling)
        places = {leaf: [each.place for each in bad] for leaf, (bad, _) in self.bad.items()}
        self.model = with_bad_sectors(resolved, plane_model(resolved), places, may_fault=True)
        self.resolved = resolved
        self.setup = whole_setup(resolved, self.tiling.table(0, first=True), self.model)
        if resolved.scan_memory is None:
            self.setup = replace(self.setup, memory=ENOUGH_MEMORY)
        self.run = self._run()
        self._known = 0.0, 0.0

    def _run(self) -> Run:
        run = self._run_of_work()
        if has_hours(self.resolved):
            run.pool.happen(by_the_hour(run.pool, self.resolved))
        return run

    def _run_of_work(self) -> Run:
        resolved = self.resolved
        if self.tiling.single:
            return Run(self.setup, self._report)
        if resolved.engine == "reference":
            raise NotSimulatedYet(
                "engine", "reference", "exact runs of pools this large", "use the compiled engine"
            )
        if resolved.operation in COPIES:
            raise NotSimulatedYet(
                "operation", resolved.operation, "exact runs of pools this large", "leave --exact out"
            )
        kind = LegacyTiles if resolved.release.order == "legacy" else SortedTiles
        return Run(self.setup, self._report, work=kind(self.tiling, self.setup))

    def _report(self, now: float, share: float) -> None:
        self.progress(min(1.0, share), "every I/O")

    def execute(self) -> MemberResult:
        """Run to the end; for a second replacement first without it, since it is said when by its share."""
        if self.resolved.second_at is not None:
            alone = self._finished().end if self.resolved.second_at else 0.0
            self.setup = replace(self.setup, second=second_of(self.resolved, alone))
            self.run = self._run()
        found = self._found = member_result(self._finished(), self.setup)
        self.tiling.release()
        return found

    def lost(self, known: Mapping[int, ReadErrors]) -> tuple[LostTime, ...]:
        """Return what bad sectors have cost; `known`: what one does to the scan, by leaf."""
        blocks = {leaf: count for leaf, (_, count) in self.bad.items()}
        return lost_time(self.resolved, self._found.run.health, blocks, known)

    def _finished(self) -> RunResult:
        result = self.run.execute()
        self._known = self.run.elapsed, 1.0
        self.run.release()
        return result

    def estimate(self) -> float | None:
        """Return the duration that the part done so far points to.

        Returns
        -------
        float or None
            Time so far over the share issued [s]; None before there is any.
        """
        elapsed, share = self._known if self.run.plane is None else (self.run.elapsed, self.run.share())
        return elapsed / share if share > 0.0 else None


def member_result(run: RunResult, setup: RunSetup) -> MemberResult:
    """Return an exact run as the one member of its ensemble.

    Returns
    -------
    MemberResult
        Nothing is scaled: its scale is 1, and the ends of txgs are what the phases leave of the duration [s].
    """
    visit = seconds_of(run.phases, "visit")
    # What follows a metadata phase is issued, or copied by address: it goes by the name of its operation.
    issue = math.fsum(end - begin for name, begin, end in run.phases if name != "visit")
    return MemberResult(run.end, visit, issue, run.end - visit - issue, 1.0, run, setup.model)
