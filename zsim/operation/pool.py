"""The pool while an operation runs, and the processes that change it.

Whatever happens is a SimPy process on the environment of the run.  It waits for a time (`SimulatedPool.at`)
or for a share of the scan (`SimulatedPool.at_share`), then calls one of the methods that change something::

    def reboot(pool: SimulatedPool) -> Steps[None]:
        yield from pool.at(3600.0)
        pool.pause()
        yield pool.environment.timeout(600.0)
        pool.resume()

    run = Run(setup)
    run.pool.happen(reboot(run.pool))
    run.execute()

`RunSetup.timeline` holds what happens as data (`zsim.operation.timeline`): `Replace`, `Pause`, `SetTunable`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

import numpy as np
import simpy

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.engine.model import NOT_REPAIRED, PlaneModel
from zsim.operation.control import Plane, ScanControl, Steps
from zsim.operation.ledger import PhaseLedger
from zsim.operation.result import ClientAnswers, ScanSample, Slices
from zsim.operation.rules import queue_rules, scan_rules, txg_rules
from zsim.operation.setup import RunSetup
from zsim.operation.timeline import Happening, Replace, SetTunable, When
from zsim.operation.txg import TxgRules
from zsim.scenario.releases.profile import Operation, ReleaseProfile

TXGS_TO_FINISH = 3
# The txg of an attach, and TXG_CONCURRENT_STATES after it.
TXGS_OF_ATTACH = 4
# How often a process that waits for a share of the scan looks how far it is [s].
LOOK_S = 1.0
Rules = TypeVar("Rules")


class SimulatedPool:
    """What an operation runs on: a data plane under control, its rules, and what is noted of it.

    Parameters
    ----------
    environment : simpy.Environment
    control : ScanControl
    setup : RunSetup
    share : callable
        Tells how much of what the scan issues is issued, 0 to 1.

    Attributes
    ----------
    release : ReleaseProfile
        With the tunables of the moment.
    phases : list of (phase, begin, end)
        Slices of the scan so far [s].
    visit_end : float
        When the last metadata block was visited, on the plane's clock [s].
    visited : ClientAnswers, optional
        What clients were answered by when all metadata were visited.
    """

    def __init__(
        self,
        environment: simpy.Environment,
        control: ScanControl,
        setup: RunSetup,
        share: Callable[[], float],
    ) -> None:
        self.environment, self.control, self.setup, self.share = environment, control, setup, share
        self.release = setup.release
        self.start = float(environment.now)
        self.phases: Slices = []
        self.ledger = PhaseLedger()
        self.progress: list[ScanSample] = []
        self.visited: ClientAnswers | None = None
        self.visit_end = 0.0
        self.on_tunables: list[Callable[[ReleaseProfile], None]] = []
        self.restarted = False
        self._awaited_txgs = 0
        self._beside_writer: list[float] = []
        self._cut = False
        self._attached: dict[int, int] = {}
        self._replaced: set[int] = set()
        self._going: simpy.Event | None = None

    @property
    def plane(self) -> Plane:
        """The data plane."""
        return self.control.plane

    @property
    def model(self) -> PlaneModel:
        """The hardware."""
        return self.setup.model

    @property
    def operation(self) -> Operation:
        """What runs."""
        return self.setup.operation

    @property
    def txg(self) -> TxgRules:
        """When the scan pauses for a txg."""
        return self.control.txg

    @property
    def elapsed(self) -> float:
        """Time since the scan started [s]."""
        return float(self.plane.now - self.start)

    def release_plane(self) -> None:
        """Let go of the data plane, of the environment, and of all that was told what happens here."""
        nothing = cast("Any", None)
        self.share, self.environment = nothing, nothing
        self.on_tunables.clear()
        self.control.release()

    # What processes wait for.

    def happen(self, steps: Steps[object]) -> simpy.Process:
        """Start a process on the environment of the run."""
        return self.environment.process(steps)

    def at(self, seconds: float) -> Steps[None]:
        """Wait until so long after the scan began [s]; return at once if that is over."""
        yield self.environment.timeout(max(0.0, self.start + seconds - self.environment.now))

    def at_share(self, share: float) -> Steps[None]:
        """Wait until so much of what the scan issues is issued, 0 to 1, to the second."""
        while self.share() < share:
            yield self.environment.timeout(LOOK_S)

    def when(self, moment: When) -> Steps[None]:
        """Wait until the time or the share at which something happens."""
        yield from self.at(moment.at) if moment.share is None else self.at_share(moment.share)

    # What may happen.

    def replace(self, child: int, leaf: int) -> None:
        """Attach a new drive, `leaf`, in place of `child` while the scan runs.

        The slice under way ends, and the txgs that the command waits for are short.  Whether the scan starts
        again or a pass of its own follows is decided when that txg is over: to 0.7 it starts again, from 2.3
        if less than zfs_resilver_defer_percent is done (OpenZFS spa.c:spa_vdev_attach,
        dsl_scan.c:dsl_scan_restart_resilver).

        Raises
        ------
        NotSimulatedYet
            In a rebuild.
        """
        if self.operation == "rebuild":
            raise NotSimulatedYet("second replacement", child, "a rebuild has one replacement drive")
        if child in self._replaced:
            return
        self.attach_at_last(child, leaf)
        self._cut = True
        self.plane.cut_short()

    def pause(self) -> None:
        """Let the scan stand still: the slice under way ends, and its txg (dsl_scan.c:dsl_scan_sync)."""
        if self.operation == "rebuild":
            raise NotSimulatedYet("pause", "rebuild", "a scan")
        if self._going is None:
            self._going = self.environment.event()
        self.plane.cut_short()

    def resume(self) -> None:
        """Let a scan that stands still go on."""
        going, self._going = self._going, None
        if going is not None:
            going.succeed()

    def set_tunable(self, name: str, value: int) -> None:
        """Change a tunable of the release.

        Leaf queues and scan follow at once, windows with the next I/O, slices and memory with the next txg.
        What the pool was built with (the sizes of metaslabs, the intent log) stays as it is.

        Raises
        ------
        InputError
            For a tunable that the release does not have.
        """
        if name not in self.release.tunables:
            raise InputError("tunable", name, f"a tunable of {self.release.name}", "see `zsim releases`")
        before, self.release = self.release, self.release.with_tunables({name: value})
        self._apply(before)
        for follow in self.on_tunables:
            follow(self.release)

    def set_writer(self, rate: float) -> None:
        """Let the foreground writer write so much from now on [bytes/s]."""
        self.control.writes.set_writer(rate, self.elapsed)

    def set_clients(self, group: int, *, on: bool) -> None:
        """Let the foreground clients of a kind ask, or ask for nothing, from now on."""
        self.plane.set_clients(group, on=on)

    def _apply(self, before: ReleaseProfile) -> None:
        after, operation = self.release, self.operation
        queue = changed(self.model.queue, queue_rules(before), queue_rules(after))
        scan = changed(self.model.scan, scan_rules(before, operation), scan_rules(after, operation))
        self.plane.set_rules(queue, scan)
        old, new = txg_rules(before, operation), txg_rules(after, operation)
        self.control.txg = changed(self.control.txg, old, new)

    # What the scan asks.

    def txg_ended(self) -> None:
        """Read metadata ahead from now on, where that begins with this txg.

        The prefetch of a dataset's root is dropped while that of the MOS waits (dsl_scan.c:
        scan_prefetch_queue_compare looks at no objset); each txg the traversal asks for it again
        (dsl_scan_visit_rootbp).
        """
        if self.control.txgs == self.setup.prefetch_from:
            rules = replace(self.model.scan, prefetch_recursive=True)
            self.plane.set_rules(self.model.queue, rules)
            self.plane.want_below()

    def standing_still(self) -> Steps[None]:
        """Wait as long as the scan is paused."""
        if self._going is not None:
            yield from self.control.wait(self._going)

    def slice_s(self, seconds: float) -> float:
        """Return how long the scan runs in this txg, `seconds` on an idle pool [s].

        The command that attaches a drive waits for three more txgs (spa.c:spa_vdev_attach,
        TXG_CONCURRENT_STATES), and while someone waits the scan gives way sooner.
        """
        if self.control.txgs < self._awaited_txgs:
            return min(seconds, self.release.txg_slice(self.operation, True))
        allowed = self.control.slice_of(seconds)
        if self.control.writes.writer.rate > 0.0:
            self._beside_writer.append(allowed)
        return allowed

    @property
    def usual_slice_s(self) -> float:
        """How long the scan usually runs in a txg [s]; the first has no data before it."""
        if not self._beside_writer:
            return self.txg.slice_s
        return float(np.mean(self._beside_writer[1:] or self._beside_writer))

    def starts_again(self) -> bool:
        """Tell, once a txg is over, whether a drive attached in it makes the scan start again."""
        if not self._cut:
            return False
        self._cut = False
        self._awaited_txgs = self.control.txgs + TXGS_OF_ATTACH
        rule = self.release.second_target
        early = self.share() < self.release.tunables.get("zfs_resilver_defer_percent", 0) / 100
        self.restarted = rule == "restart" or (rule == "defer-unless-early" and early)
        return self.restarted

    def attach_before(self, child: int, leaf: int, *, waits: bool) -> None:
        """Attach a drive before the scan has issued anything: it is repaired in the same pass."""
        self._repair({child: leaf})
        self._awaited_txgs = TXGS_OF_ATTACH if waits else 0

    def attach_at_last(self, child: int, leaf: int) -> None:
        """Attach a drive for the next pass, unless it is there already."""
        if child not in self._replaced:
            self._replaced.add(child)
            self._attached[child] = leaf

    def book(self, phase: str, begin: float) -> None:
        """Note a slice of the scan that began at `begin` [s] and ends now."""
        now, streams = self.elapsed, len(self.plane.positions())
        self.phases.append((phase, begin, now))
        self.ledger.book(phase, self.plane.leaves)
        issued = sum(int(self.plane.stream(number, "issued_bytes")) for number in range(streams))
        self.progress.append(ScanSample(now, 0, issued, phase))

    def note_visited(self) -> None:
        """Note what clients were answered by now: all metadata are visited."""
        if self.model.client_count and self.visited is None:
            self.visited = ClientAnswers(self.elapsed, self.plane.client_answers, self.plane.waits.copy())

    # Passes.

    def next_pass(self, *, again: Mapping[int, int]) -> Steps[bool]:
        """Get ready for the pass of drives that were attached; return whether there is one.

        Parameters
        ----------
        again : mapping from child to leaf
            Drives that were there before the pass that is over, and get another one all the same.
        """
        attached, self._attached, self._cut = self._attached, {}, False
        if self.restarted:
            self.restarted = False
            self._repair(attached)
            return True
        if not attached and not again:
            return False
        # Three txgs note the end and detach the old drives; the next pass begins in the txg that is open
        # then, which nobody waits for (dsl_scan.c:dsl_scan_restart_resilver).  A command that attaches a
        # drive and still waits holds spa_namespace_lock, and what detaches comes a txg later (2.3.9: 11.4
        # and 6.2 s between the passes of two runs, one with such a command, one without).
        held = self.control.txgs < self._awaited_txgs
        for _ in range(TXGS_TO_FINISH):
            yield from self.control.sync()
        yield from self.control.idle((2.0 if held else 1.0) * self.release.tunables["zfs_txg_timeout"])
        self._repair(attached, repaired=again)
        return True

    def _repair(self, more: Mapping[int, int], *, repaired: Mapping[int, int] | None = None) -> None:
        """Let further leaves be repaired, by the new leaf of each.

        With `repaired` a pass is done: its new leaves hold their data, those of `repaired` too.
        """
        for number, vdev in enumerate(self.model.vdevs):
            read, write = list(vdev.read_leaf), list(vdev.write_leaf)
            children = {leaf: child for child, leaf in enumerate(self._leaves_before(number))}
            if repaired is not None:
                for leaf, new in repaired.items():
                    if leaf in children:
                        read[children[leaf]] = new
                read = [new if new >= 0 else old for old, new in zip(read, write, strict=True)]
                write = [NOT_REPAIRED] * len(write)
            for leaf, new in more.items():
                if leaf in children:
                    write[children[leaf]] = new
            self.plane.set_children(number, read, write)

    def _leaves_before(self, number: int) -> range:
        """Return the leaves of a top-level vdev as the pool was built: leaf numbers run through the vdevs."""
        first = sum(len(vdev.read_leaf) for vdev in self.model.vdevs[:number])
        return range(first, first + len(self.model.vdevs[number].read_leaf))


def changed(rules: Rules, before: Rules, after: Rules) -> Rules:
    """Return rules with what differs between two others."""
    names = [each.name for each in fields(rules)]  # type: ignore[arg-type]
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in names)
    new: dict[str, object] = {name: value for name, old, value in pairs if old != value}
    return replace(rules, **new)  # type: ignore[type-var]


def process_of(pool: SimulatedPool, happening: Happening) -> Steps[None]:
    """Return the process that waits for its time and lets something happen."""
    yield from pool.when(happening)
    if isinstance(happening, Replace):
        pool.replace(happening.child, happening.leaf)
    elif isinstance(happening, SetTunable):
        pool.set_tunable(happening.name, happening.value)
    else:
        pool.pause()
        yield pool.environment.timeout(happening.seconds)
        pool.resume()
