"""One world of a timeline: drives, ZED and the administrator as processes on one SimPy environment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import simpy

from zsim.base.errors import InputError
from zsim.base.units import format_percent
from zsim.planning.timeline.passes import Passes, in_worlds
from zsim.planning.timeline.plan import NEEDS_DRIVE, Event, Plan
from zsim.planning.timeline.pool import Pool, sick_drives
from zsim.planning.timeline.redundancy import Slot, Target, TimelineVdev
from zsim.planning.timeline.rules import Rules
from zsim.planning.timeline.scans import HOLD, LOOK, STOP, Pass, Steps
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.evidence import DriveActivity, gone_drives, missing_elsewhere
from zsim.vdevs.kind import NORMAL, kind_of

ABOUT_A_VDEV = NEEDS_DRIVE | {"attach", "detach", "unreadable-block", "expand", "remove"}
ENDS = {
    "resilver ends": "resilver",
    "rebuild ends": "rebuild",
    "scrub ends": "scrub",
    "expansion ends": "expansion",
    "removal ends": "removal",
}


class Story:
    """A plan carried out in one world.

    Parameters
    ----------
    plan : Plan
    world : int
    passes : Passes
    rules : Rules
    alloc : int
        Bytes allocated in the pool: what churn is held against.
    """

    def __init__(self, plan: Plan, world: int, passes: Passes, rules: Rules, alloc: int) -> None:
        self.plan, self.alloc = plan, alloc
        self.environment = simpy.Environment()
        self.pool = Pool(
            self.environment, world, plan.pool, passes, rules, plan.spares or plan.pool.layout.spares
        )
        self.pool.autoexpand = plan.autoexpand
        for vdev, name in zip(self.pool.vdevs, plan.vdev_names, strict=False):
            vdev.name = name or vdev.name
        self.pool.ledger.marks = [(0.0, vdev.name, vdev.left) for vdev in self.pool.vdevs]
        actions = [event.do for event in plan.events]
        self.pool.frees_to_come = actions.count("free-block")
        self.pool.discards_to_come = actions.count("discard-checkpoint")
        self.happened = 0

    def run(self) -> Pool:
        """Carry it out until nothing is left to happen."""
        self._begin_running()
        before: simpy.Event | None = None
        for event in self.plan.expanded:
            before = self.environment.process(self._in_its_time(event, before))
        self.environment.run()
        return self.pool

    # --- when

    def _in_its_time(self, event: Event, before: simpy.Event | None) -> Steps:
        """Let an event happen when its time has come: a time of its own, or after the one before it."""
        if event.at is not None and event.at.time_s is not None:
            yield self.environment.timeout(event.at.time_s)
        elif before is not None:
            yield before
        if event.at is not None and event.at.share is not None:
            yield from self._until_share(event.at.share)
        if event.when is not None:
            yield from self._until(event.when)
        if event.after:
            yield self.environment.timeout(event.after)
        yield from self._happen(event)

    def _until_share(self, share: float) -> Steps:
        """Wait until a pass runs and so much of it is done; of one that begins anew, of the one after it."""
        pool = self.pool
        reached = self.environment.event()
        while not reached.triggered:
            while pool.repairing is None or pool.repairing.share >= 1.0:
                yield pool.changed
            found = pool.repairing
            if found.share >= share > 0:
                return
            found.watched.append((share, reached))
            yield self.environment.timeout(0)
            found.interrupt(LOOK)
            while not reached.triggered and math.isinf(found.ends):
                yield reached | pool.changed

    def _until(self, condition: str) -> Steps:
        pool = self.pool
        kind = ENDS.get(condition)
        before = self._ended(kind)
        while True:
            if condition == "quiet" and pool.quiet:
                return
            if condition == "whole" and pool.is_whole:
                return
            if (kind or condition == "pass ends") and self._ended(kind) > before:
                return
            yield pool.changed

    def _ended(self, kind: str | None) -> int:
        return sum(each.completed and kind in (None, each.kind) for each in self.pool.history)

    # --- what

    def _happen(self, event: Event) -> Steps:
        while self.pool.down:
            yield self.pool.changed
        self.happened += 1
        if self.pool.lost or self._is_gone(event):
            return
        action: Callable[[Event], Steps | None] = getattr(self, f"_{event.do.replace('-', '_')}")
        steps = action(event)
        if steps is not None:
            yield from steps

    def _is_gone(self, event: Event) -> bool:
        """Tell whether the drives or the vdev of an event were split off or removed."""
        if event.do not in ABOUT_A_VDEV:
            return False
        vdev = self.pool.vdevs[event.vdev]
        gone = vdev.removed or any(number >= len(vdev.slots) for number in event.numbers)
        if gone:
            self.pool.tell(f"{event.do}: its target in {vdev.name} is no longer in the pool")
        return gone

    def _fail(self, event: Event) -> None:
        pool = self.pool
        vdev = pool.vdevs[event.vdev]
        for number in event.numbers:
            slot = vdev.slots[number]
            pool.tell(f"drive {number} of {vdev.name} fails")
            slot.state, slot.spare, slot.since = "gone", None, pool.now
            self._drop_targets(event.vdev, number)
        pool.note()
        for number in event.numbers:
            self.environment.process(self._zed(event.vdev, number))

    def _drop_targets(self, vdev: int, slot: int) -> None:
        """Let the passes go on without a drive that is no longer there."""
        pool = self.pool
        for each in (pool.scan, *pool.rebuilds.values()):
            if each is not None:
                each.targets = [t for t in each.targets if (t.vdev, t.slot) != (vdev, slot)]
        pool.waiting = [t for t in pool.waiting if (t.vdev, t.slot) != (vdev, slot)]

    def _zed(self, number: int, place: int) -> Steps:
        """Put a spare in for a drive that was faulted, as ZED does."""
        yield self.environment.timeout(self.plan.detection)
        pool = self.pool
        vdev, slot = pool.vdevs[number], pool.vdevs[number].slots[place]
        if not self.plan.zed or slot.state != "gone" or pool.lost:
            return
        aside = number in self.plan.special or vdev.spec.alloc_class != NORMAL
        if aside and pool.rules.choice("spare_for_special") == "refused":
            pool.tell(f"{vdev.name} is special or dedup: {pool.rules.text('spare_for_special')}")
            return
        if pool.removing:
            if vdev.spares or pool.spares:
                pool.tell(f"no spare for drive {place} of {vdev.name}: refused while a vdev is removed")
            return
        rebuilds = pool.rules.choice("hot_spare") == "sequential-if-distributed"
        if vdev.spares and not (rebuilds and self._is_refused(True, place, vdev)):
            vdev.spares -= 1
            target = Target(number, place, "distributed-spare")
            cause = f"ZED attaches a distributed spare for drive {place} of {vdev.name}"
            self._repair([target], rebuilds, cause)
        elif pool.spares and not (rebuilds and self._is_refused(False, place, vdev)):
            pool.spares -= 1
            cause = f"ZED attaches a hot spare for drive {place} of {vdev.name}"
            self._repair([Target(number, place, "spare")], False, cause)

    def _is_refused(self, sequential: bool, place: int, vdev: TimelineVdev) -> bool:
        """Tell whether ZFS attaches no spare, as the other kind of repair runs: ZED does not try again."""
        pool = self.pool
        resilvers = pool.scan is not None and pool.scan.kind == "resilver"
        if not (resilvers if sequential else pool.rebuilds):
            return False
        spare, runs = ("distributed", "resilver") if sequential else ("hot", "rebuild")
        pool.tell(
            f"no {spare} spare for drive {place} of {vdev.name}: refused while a {runs} runs, and ZED does"
            " not try again (zpool replace once it has ended)"
        )
        return True

    def _repair(self, targets: list[Target], sequential: bool, cause: str) -> None:
        if sequential and len(targets) == 1:
            self.pool.rebuild(targets[0], cause)
        else:
            self.pool.resilver(targets, cause)

    def _replace(self, event: Event) -> Steps:
        pool = self.pool
        yield from self._may_attach()
        vdev = pool.vdevs[event.vdev]
        new = {n: getattr(event, n) for n in ("new_drive", "new_drive_size") if getattr(event, n) is not None}
        targets = [Target(event.vdev, number, event.to, 1.0, dict(new)) for number in event.numbers]
        self._check_sequential(event)
        plural = "s" if len(targets) > 1 else ""
        numbers = ", ".join(str(number) for number in event.numbers)
        self._repair(targets, event.sequential, f"drive{plural} {numbers} of {vdev.name} replaced")

    def _check_sequential(self, event: Event) -> None:
        kind = self.pool.vdevs[event.vdev].spec.kind
        if event.sequential and kind not in self.pool.rules.rebuilds:
            allowed = f"{self.pool.rules.release} has no sequential rebuild of {kind}"
            raise InputError("sequential", True, allowed, "leave it out")

    def _attach(self, event: Event) -> Steps:
        pool = self.pool
        vdev = pool.vdevs[event.vdev]
        if not kind_of(vdev.spec.kind).is_replicated:
            raise InputError(
                "attach", vdev.name, "drives are attached to mirrors and single drives", "use expand"
            )
        yield from self._may_attach()
        self._check_sequential(event)
        self._repair([Target(event.vdev, None)], event.sequential, f"a drive is attached to {vdev.name}")

    def _may_attach(self) -> Steps:
        """Wait until there is neither a pool checkpoint nor a removal, which forbid attaching."""
        if self.pool.pool_checkpoint:
            self.pool.tell("refused while the pool has a checkpoint; done once that is discarded")
        while self.pool.pool_checkpoint:
            yield self.pool.changed
        if self.pool.removing:
            self.pool.tell(
                "no drive is replaced or attached while a vdev is removed; done when that has ended"
            )
        while self.pool.removing:
            yield self.pool.changed

    def _detach(self, event: Event) -> None:
        pool, vdev = self.pool, self.pool.vdevs[event.vdev]
        # From the last on: those behind one that leaves a mirror move up.
        for number in sorted(event.numbers, reverse=True):
            slot = vdev.slots[number]
            if slot.state == "spared" or pool.is_target(event.vdev, number):
                self._drop_targets(event.vdev, number)
                pool._give_back(vdev, slot)
                if slot.state == "spared":
                    slot.state = "gone"
                pool.tell(f"the replacement of place {number} is detached; the pass goes on without it")
            elif kind_of(vdev.spec.kind).is_replicated and len(vdev.slots) > 1:
                vdev.without(number)
                pool.moved_up(event.vdev, number)
                pool.tell(f"drive {number} of {vdev.name} is detached")
            else:
                pool.tell(f"drive {number} of {vdev.name} cannot be detached: nothing replaces it")
        pool.note()

    def _offline(self, event: Event) -> None:
        for number in event.numbers:
            slot = self.pool.vdevs[event.vdev].slots[number]
            if slot.state == "whole":
                slot.state, slot.since = "away", self.pool.now
            self.pool.tell(f"drive {number} of {self.pool.vdevs[event.vdev].name} goes offline")
        self.pool.notes.append(
            "if another drive fails, zpool online brings the offline one back: it lacks only what was"
            " written in the meantime"
        )
        self._retime_without_sick(event)
        self.pool.note()

    def _retime_without_sick(self, event: Event) -> None:
        """Let passes go on at the pace that they have without, or again with, a sick drive."""
        if set(event.numbers) & set(sick_drives(self.pool.scenario, event.vdev)):
            self.pool.retime()

    def _online(self, event: Event) -> None:
        vdev = self.pool.vdevs[event.vdev]
        for number in event.numbers:
            slot = vdev.slots[number]
            if slot.state != "away":
                continue
            share = self._missed(slot)
            slot.state = "stale" if share > 0 else "whole"
            missed = format_percent(share, 1)
            text = f"drive {number} of {vdev.name} comes back, {missed} of the blocks missed"
            if share > 0:
                self.pool.resilver([Target(event.vdev, number, "returned", share)], text)
            else:
                self.pool.tell(text)
                self.pool.note()
        self._retime_without_sick(event)

    def _missed(self, slot: Slot) -> float:
        """Return the share of the pool written while a drive was away (its DTL holds these txgs)."""
        return min(1.0, self.plan.churn / 86400.0 * (self.pool.now - slot.since) / self.alloc)

    def _unreadable_block(self, event: Event) -> None:
        self.pool.unreadable += 1
        self.pool.tell(f"a block of {self.pool.vdevs[event.vdev].name} cannot be read or rebuilt")

    def _free_block(self, event: Event) -> None:
        self.pool.unreadable = max(0, self.pool.unreadable - 1)
        self.pool.frees_to_come -= 1
        self.pool.tell("the unreadable block is freed: file and snapshots deleted")

    def _reboot(self, event: Event) -> Steps:
        self.pool.go_down(event.clean)
        yield self.environment.timeout(event.takes)
        self.pool.come_up()
        self.pool.note()

    def _scrub(self, event: Event) -> Steps:
        if not self.pool.quiet:
            self.pool.tell("a scrub is refused while another scan runs; begun when it ends")
        while not self.pool.quiet:
            yield self.pool.changed
        self.pool.scrub("a scrub is begun")

    def _pause_scrub(self, event: Event) -> None:
        scan = self._scrub_that_runs("paused")
        if scan is not None:
            scan.paused = True
            scan.interrupt(HOLD)

    def _resume_scrub(self, event: Event) -> None:
        scan = self._scrub_that_runs("resumed")
        if scan is not None:
            scan.paused = False
            scan.resume()

    def _stop_scrub(self, event: Event) -> None:
        scan = self._scrub_that_runs("stopped")
        if scan is not None:
            scan.interrupt(STOP)

    def _scrub_that_runs(self, done: str) -> Pass | None:
        """Return the scrub that is to be paused, resumed or stopped."""
        scan = self.pool.scan
        if scan is None or scan.kind != "scrub":
            self.pool.tell(f"no scrub runs that could be {done}; a resilver cannot be")
            return None
        self.pool.tell(f"the scrub is {done}")
        return scan

    def _resilver(self, event: Event) -> None:
        if self.pool.rules.choice("zpool_resilver") != "restart":
            release = self.pool.rules.release
            raise InputError("events", "resilver", f"{release} has no command zpool resilver", "leave it out")
        scan = self.pool.scan
        if scan is None or scan.kind != "resilver":
            self.pool.tell("zpool resilver: no drive needs one")
            return
        self.pool.restart([], f"zpool resilver: the resilver starts over at {format_percent(scan.share)}")
        self.pool.note()

    def _set(self, event: Event) -> None:
        self.pool.set(event.set)

    def _checkpoint(self, event: Event) -> None:
        self.pool.pool_checkpoint = True
        self.pool.tell("the pool has a checkpoint (zpool checkpoint)")
        self.pool.note()

    def _discard_checkpoint(self, event: Event) -> None:
        self.pool.pool_checkpoint = False
        self.pool.discards_to_come -= 1
        self.pool.tell("the checkpoint is discarded")
        self.pool.note()

    def _expand(self, event: Event) -> Steps:
        pool = self.pool
        vdev = pool.vdevs[event.vdev]
        if not kind_of(vdev.spec.kind).expanded:
            raise InputError(
                "expand", vdev.name, "only RAID-Z is expanded by a drive", "use attach for a mirror"
            )
        if not pool.rules.choice("expansion"):
            raise InputError(
                "expand", vdev.name, f"{pool.rules.release} has no expansion", "take openzfs-2.3"
            )
        yield from self._may_attach()
        times = pool.passes.expansion(pool.scenario_now(), pool.place_of(event.vdev))
        pool.copy(event.vdev, "expansion", times, f"the expansion of {vdev.name} by a drive begins")

    def _remove(self, event: Event) -> Steps:
        pool = self.pool
        vdev = pool.vdevs[event.vdev]
        if not pool.rules.choice("removal"):
            allowed = f"{pool.rules.release} cannot remove a top-level vdev"
            raise InputError("remove", vdev.name, allowed, "take openzfs-0.8 or later, or zfs send")
        there = [each for each in pool.vdevs if not each.removed]
        if len(there) < 2 or not all(kind_of(each.spec.kind).is_replicated for each in there):
            allowed = "a vdev is removed only from a pool of two and more mirrors or single drives"
            raise InputError("remove", vdev.name, allowed, "move the data with zfs send")
        if not pool.may_remove(vdev):
            pool.tell(
                f"the removal of {vdev.name} is refused: a drive is missing or being replaced, or there is a "
                "checkpoint, or another removal; begun when that is over"
            )
        while not pool.may_remove(vdev):
            yield pool.changed
        times = pool.passes.removal(pool.scenario_now(), pool.place_of(event.vdev))
        pool.copy(event.vdev, "removal", times, f"the removal of {vdev.name} begins")

    def _split(self, event: Event) -> Steps:
        if not (self.pool.quiet and self.pool.is_whole):
            self.pool.tell(
                "zpool split is refused while drives are missing or resilvered; done when it is whole"
            )
        while not (self.pool.quiet and self.pool.is_whole):
            yield self.pool.changed
        there = [vdev for vdev in self.pool.vdevs if not vdev.removed]
        for vdev in there:
            if not kind_of(vdev.spec.kind).is_replicated or vdev.spec.is_disk:
                raise InputError(
                    "split", vdev.name, "zpool split takes a drive of each mirror", "use mirrors"
                )
        for vdev in there:
            vdev.widened(-1)
        self.pool.tell("zpool split takes one drive of each mirror away")
        self.pool.note()

    # --- the beginning

    def _begin_running(self) -> None:
        """Begin with a pass that runs already, or with the drives that are missing."""
        running = self.plan.running
        pool, seen = self.pool, self.plan.pool.evidence or ()
        if running is None:
            self._begin_without(gone_drives(seen))
            return
        self._begin_without(missing_elsewhere(seen, len(pool.vdevs[0].slots)))
        slots = pool.vdevs[running.vdev].slots
        pool.vdevs[running.vdev].absent = running.missing
        if running.old_drive == "missing" and running.kind != "scrub":
            for number in (*running.drives, *running.waiting):
                slots[number].state = "gone"
        targets = [Target(running.vdev, number) for number in running.drives]
        for each in running.beside:
            targets += [Target(each.vdev, number) for number in each.drives]
            if each.old_drive == "missing":
                for number in each.drives:
                    pool.vdevs[each.vdev].slots[number].state = "gone"
        if running.kind == "scrub":
            pool.scrub("a scrub runs")
        else:
            done = format_percent(running.done)
            self._repair(targets, running.kind == "rebuild", f"a {running.kind} runs, {done} done")
        found = pool.repairing
        assert found is not None
        found.position = found.times.gone(running.done)
        if running.left is not None:
            low, middle, high = running.left
            left = float(in_worlds(Quantiles(p10=low, p50=middle, p90=high))[pool.world])
            if running.elapsed is not None and left > 0.0:
                found.times = found.times.seen(running.done, running.elapsed / (running.elapsed + left))
                found.position = found.times.gone(running.done)
            found.leaves(left, pool.world)
        pool.waiting += [Target(running.vdev, number) for number in running.waiting]
        pool.note()
        # The story begins here, not with a healthy pool.
        pool.ledger.marks = [(0.0, vdev.name, vdev.left) for vdev in pool.vdevs]

    def _begin_without(self, gone: Sequence[DriveActivity]) -> None:
        """Begin without the drives that a pasted status shows as gone."""
        pool = self.pool
        places = [(vdev, slot) for vdev in pool.vdevs for slot in range(len(vdev.slots))]
        for each in gone:
            if each.leaf is None or each.leaf >= len(places):
                pool.vdevs[0].absent += 1
                pool.tell(f"{each.drive} of {pool.vdevs[0].name} is missing")
                continue
            vdev, number = places[each.leaf]
            vdev.slots[number].state = "gone"
            pool.tell(f"drive {number} of {vdev.name} ({each.drive}) is missing")
        if gone:
            pool.ledger.marks = [(0.0, vdev.name, vdev.left) for vdev in pool.vdevs]
