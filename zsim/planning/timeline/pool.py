"""The pool in one world: which pass begins, waits, restarts or continues, by the rules of its release."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import simpy

from zsim.base.units import format_both, format_percent
from zsim.planning.timeline.passes import Passes, PassTimes, facts, unseen
from zsim.planning.timeline.redundancy import Ledger, Slot, Target, TimelineVdev, vdevs_of
from zsim.planning.timeline.rules import Rules, rules_of
from zsim.planning.timeline.scans import HOLD, LOOK, STOP, Pass, PassKind, Steps
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.scenario.parts import format_moment

WEEK = 7 * 86400
MOST_PASSES = 1000
"""A story of more is a loop that nothing ends."""


def _as_drive(new: Mapping[str, object]) -> dict[str, object]:
    """Return what says of a pool what a replacement says of its new drive."""
    names = {"new_drive": "drive", "new_drive_size": "drive_size"}
    found = {names[name]: value for name, value in new.items()}
    # The capacity of a named drive is its own.
    return {"drive_size": None, **found} if "drive" in found else found


def _as_exchanged(drive: int, new: Mapping[str, object]) -> str:
    size = new.get("new_drive_size")
    return f"{drive}:{new.get('new_drive', '')}{'' if size is None else f'@{size}'}"


def sick_drives(scenario: Scenario, vdev: int) -> tuple[int, ...]:
    """Return the drives of a top-level vdev that are slow, badly attached or have bad sectors.

    Only those of the first: that is where the vdev stands that a prediction repairs.
    """
    if vdev > 0:
        return ()
    drives = {each.drive for each in scenario.slow or ()}
    drives |= {each.drive for each in scenario.attached or ()}
    drives |= {each.drive for each in scenario.bad_sectors or ()}
    return tuple(sorted(each for each in drives if each < scenario.pool_layout.vdevs[0].children))


class Pool:
    """A pool and its passes in one world.

    Parameters
    ----------
    environment : simpy.Environment
    world : int
    scenario : Scenario
        The pool, as far as stated, without anything about a replacement.
    passes : Passes
    rules : Rules
    spares : int
        Hot spares.
    """

    def __init__(
        self,
        environment: simpy.Environment,
        world: int,
        scenario: Scenario,
        passes: Passes,
        rules: Rules,
        spares: int = 0,
    ) -> None:
        self.environment, self.world, self.scenario = environment, world, scenario
        self.passes, self.rules, self.spares = passes, rules, spares
        self.vdevs = vdevs_of(scenario.pool_layout)
        self.ledger = Ledger()
        self.scan: Pass | None = None
        self.rebuilds: dict[int, Pass] = {}
        self.copies: dict[int, Pass] = {}
        self.waiting: list[Target] = []
        self.after_rebuild: list[Target] = []
        self.pending = 0
        self.history: list[Pass] = []
        self.story: list[tuple[float, str]] = []
        self.redone = self.asked = 0
        self.unreadable = 0
        self.frees_to_come = self.discards_to_come = 0
        self.notes: list[str] = []
        self.pool_checkpoint = False
        self.endless = self.lost = False
        self.down = False
        self.autoexpand = False
        slots = [slot for vdev in self.vdevs for slot in vdev.slots]
        for each in scenario.exchanged or ():
            stated = {"new_drive": each.model, "new_drive_size": each.size}
            slots[each.drive].new = {name: value for name, value in stated.items() if value is not None}
        self.changed = environment.event()
        self.ledger.note(0.0, self.vdevs)

    # --- what is known of it

    @property
    def now(self) -> float:
        """Time of the story [s]."""
        return float(self.environment.now)

    @property
    def repairing(self) -> Pass | None:
        """The pass that repairs or copies, if one runs: a resilver before rebuilds before copies."""
        scan = self.scan
        if scan is not None:
            return scan
        return next(iter((*self.rebuilds.values(), *self.copies.values())), None)

    @property
    def removing(self) -> bool:
        """Whether a top-level vdev is being removed: no drive is attached or replaced meanwhile."""
        return any(each.kind == "removal" for each in self.copies.values())

    def may_remove(self, vdev: TimelineVdev) -> bool:
        """Tell whether ZFS begins to remove a vdev (vdev_removal.c:spa_vdev_remove_top_check)."""
        others = (
            self.removing
            or self.pool_checkpoint
            or any(slot.spare is not None for each in self.vdevs for slot in each.slots)
        )
        return vdev.is_whole and not (others or any(map(self.is_target, range(len(self.vdevs)))))

    @property
    def quiet(self) -> bool:
        """Whether no pass runs or waits."""
        return self.repairing is None and not (self.waiting or self.after_rebuild or self.pending)

    @property
    def is_whole(self) -> bool:
        """Whether every vdev has its redundancy and no repair runs or waits."""
        repairs = (self.scan is not None and self.scan.kind == "resilver") or self.rebuilds
        waits = self.waiting or self.after_rebuild or self.pending
        return not repairs and not waits and all(vdev.is_whole for vdev in self.vdevs)

    def tell(self, text: str) -> None:
        """Write down what has happened."""
        self.story.append((self.now, text))

    def note(self) -> None:
        """Write down the redundancy left, and wake whoever waits for a change."""
        self.ledger.note(self.now, self.vdevs)
        if not self.lost and any(vdev.left < 0 for vdev in self.vdevs):
            self._lose()
        changed, self.changed = self.changed, self.environment.event()
        changed.succeed()

    def _lose(self) -> None:
        self.lost = True
        name = next(vdev.name for vdev in self.vdevs if vdev.left < 0)
        self.tell(f"{name} has lost more drives than it has redundancy: the pool is suspended, its data lost")
        self.waiting, self.after_rebuild = [], []
        for each in self._running():
            each.interrupt(STOP)

    def _running(self) -> list[Pass]:
        scan = [self.scan] if self.scan is not None else []
        return [*scan, *self.rebuilds.values(), *self.copies.values()]

    def layout(self, vdev: int | None = None, extra: int = 0) -> str:
        """Return the layout now, perhaps with drives more in one mirror."""
        specs = [each.spec for each in self.vdevs if not each.removed]
        if vdev is not None and extra:
            place = self.place_of(vdev)
            specs[place] = type(specs[place]).mirror(specs[place].children + extra)
        return str(Layout(tuple(specs)))

    def place_of(self, vdev: int) -> int:
        """Return which of the vdevs that are still there has this number."""
        return sum(not each.removed for each in self.vdevs[:vdev])

    def scenario_now(self, **changes: object) -> Scenario:
        """Return the scenario with the layout as it is now, and where something of it has hours, the hour."""
        now = {"layout": self.layout(), "vdevs": None, "exchanged": self.exchanged(), **changes}
        if self.scenario.has_hours:
            self.asked += 1
            moment = (self.scenario.begins or 0) + self.passes.moment(self.asked, self.now)
            now["begins"] = format_moment(moment % WEEK)
        return self.scenario.changed(now)

    # --- healing resilvers and scrubs: one scan of the pool at a time

    def resilver(self, targets: Sequence[Target], cause: str) -> None:
        """Have drives resilvered: at once, together with those that run, or after them."""
        scan = self.scan
        if self.lost or not targets:
            return
        if self.rebuilds:
            self.after_rebuild += targets
            self.tell(f"{cause}: refused while a rebuild runs; made when it ends")
        elif scan is None:
            self._begin(list(targets), cause)
        elif scan.kind == "scrub":
            self._cancel_scrub(scan)
            self._begin(list(targets), cause)
        else:
            self._second(scan, list(targets), cause)
        self.note()

    def _cancel_scrub(self, scan: Pass) -> None:
        self._stop(scan)
        self.tell("the running scrub is cancelled and does not continue afterwards")
        self.notes.append("a running scrub is cancelled by a repair, and does not continue afterwards")

    def _second(self, scan: Pass, targets: list[Target], cause: str) -> None:
        """Do what the release does with drives that need a resilver while one runs.

        Even of the next command: ``zpool replace`` returns when the scan has begun (spa_vdev_attach waits for
        the txg in which it does, OpenZFS 0.6.5 to 2.3 spa.c).
        """
        if self.rules.restarts(scan.share):
            self.restart(targets, f"{cause}: the resilver starts over at {format_percent(scan.share)}")
        else:
            self.waiting += targets
            done = format_percent(scan.share)
            self.tell(f"{cause}: waits for its own pass; the running one is {done} done")

    def restart(self, targets: list[Target], cause: str) -> None:
        """Begin the running resilver again, with more drives and those that wait."""
        scan = self.scan
        together = [*(scan.targets if scan is not None else ()), *self.waiting, *targets]
        self.waiting = []
        if scan is not None:
            self.redone += round(scan.share * scan.bytes)
            self._stop(scan)
        if together:
            self._begin(together, cause)

    def _begin(self, targets: list[Target], cause: str) -> None:
        self.tell(cause)
        names = "+".join(dict.fromkeys(self.vdevs[each.vdev].name for each in targets))
        self.scan = self._start("resilver", names, cause, self._times(targets), targets)

    def scrub(self, cause: str) -> None:
        """Scrub the pool, if no other scan runs."""
        self.tell(cause)
        self.scan = self._start("scrub", "pool", cause, self.passes.scrub(self.scenario_now()), [])
        self.note()

    def _times(self, targets: Sequence[Target], kind: PassKind = "resilver") -> PassTimes:
        """Return the times of a pass onto these drives: of the vdev that takes longest, the bytes of all."""
        found = [
            self._vdev_times(self.vdevs[vdev], [each for each in targets if each.vdev == vdev], kind)
            for vdev in dict.fromkeys(each.vdev for each in targets)
        ]
        longest = max(found, key=lambda each: float(each.seconds[self.world]))
        return replace(
            longest,
            read_bytes=sum(each.read_bytes for each in found),
            written_bytes=sum(each.written_bytes for each in found),
        )

    def _vdev_times(self, vdev: TimelineVdev, targets: Sequence[Target], kind: PassKind) -> PassTimes:
        attached = sum(each.slot is None for each in targets)
        known = [vdev.slots[each.slot].serves for each in targets if each.slot is not None]
        places = {each.slot for each in targets if each.slot is not None}
        count = attached + len(places)
        tolerance = vdev.spec.tolerance + attached
        old = "online" if (known and all(known) and not attached) or count > tolerance else "missing"
        new = dict(next((each.new for each in targets if each.new), {}))
        if all(each.kind == "distributed-spare" for each in targets):
            new["target"] = "distributed-spare"
        if away := self._sick_away(vdev):
            new["away"] = away
        exchanged = self.exchanged(vdev, sorted(places)) if not attached else None
        scenario = self.scenario_now(layout=self.layout(vdev.number, attached), exchanged=exchanged)
        wanted = "rebuild" if kind == "rebuild" else "resilver"
        place = self.place_of(vdev.number)
        found = self.passes.resilver(scenario, place, count, old, wanted, **new)  # type: ignore[arg-type]
        share = max(each.share for each in targets)
        return found if share >= 1.0 else found.stretched(share, self.rules.txg_s)

    def _sick_away(self, vdev: TimelineVdev) -> tuple[int, ...]:
        """Return the sick drives of a vdev that are offline: passes do not read them."""
        sick = sick_drives(self.scenario, vdev.number)
        return tuple(number for number in sick if vdev.slots[number].state == "away")

    def _start(self, kind: PassKind, vdev: str, cause: str, times: PassTimes, targets: list[Target]) -> Pass:
        found = Pass(kind, vdev, cause, times, targets, begins=self.now)
        self.history.append(found)
        if len(self.history) > MOST_PASSES:
            self.endless = True
        found.process = self.environment.process(found.run(self.environment, self.world, self._ended))
        return found

    def _stop(self, scan: Pass) -> None:
        """Stop a pass at once; nothing follows from its end."""
        scan.ends = self.now
        scan.interrupt(STOP)
        if self.scan is scan:
            self.scan = None

    # --- ends of passes

    def _ended(self, found: Pass) -> None:
        """Do what follows from the end of a pass."""
        if found is self.scan:
            self.scan = None
            if found.completed and found.kind == "resilver":
                self._scan_ended(found)
            if found.completed:
                self._deferred()
        elif found in self.rebuilds.values():
            self._rebuild_ended(found)
        elif found in self.copies.values():
            self._copy_ended(found)
        self.note()

    def _scan_ended(self, found: Pass) -> None:
        if self.pool_checkpoint and self.rules.choice("pool_checkpoint") == "start-over":
            self._start_over(found, "a pool checkpoint", self.discards_to_come)
        elif self.unreadable and self.rules.choice("unreadable_block") == "start-over":
            self._start_over(found, "an unreadable block", self.frees_to_come)
        else:
            errors = f" with {self.unreadable} errors" if self.unreadable else ""
            self.tell(f"the resilver of {found.vdev} ends{errors}")
            for target in found.targets:
                self._complete(target)

    def _start_over(self, found: Pass, why: str, ends_to_come: int) -> None:
        """Begin a resilver that ended in vain again, unless that would never end."""
        if not ends_to_come or self.endless:
            self.endless = True
            self.notes.append(f"{why} makes the resilver start over again and again, until it is removed")
            self.tell(self.notes[-1])
            return
        self.redone += found.bytes
        self.environment.process(self._later(found.targets, f"{why}: the resilver starts over"))

    def _deferred(self) -> None:
        """Begin the pass of the drives that wait."""
        if not self.waiting or self.lost:
            return
        targets, self.waiting = self.waiting, []
        self.environment.process(self._later(targets, "the deferred resilver begins"))

    def _later(self, targets: list[Target], cause: str) -> Steps:
        """Begin a resilver with the next transaction group."""
        self.pending += 1
        yield self.environment.timeout(self.rules.txg_s)
        self.pending -= 1
        self.resilver(targets, cause)

    def _complete(self, target: Target) -> None:
        """Let a drive that has all its data now serve."""
        vdev = self.vdevs[target.vdev]
        if target.slot is None:
            vdev.widened(1)
            return
        slot = vdev.slots[target.slot]
        if target.kind in ("spare", "distributed-spare"):
            if slot.state != "whole":
                slot.state, slot.spare = "spared", "hot" if target.kind == "spare" else "distributed"
            return
        self._give_back(vdev, slot)
        slot.state = "whole"
        if target.kind == "new-drive" and target.new:
            slot.new = dict(target.new)
            self._grow(vdev)

    def _grow(self, vdev: TimelineVdev) -> None:
        """Let a vdev have the space of its new drives once the last is in (vdev_expand, vdev.c)."""
        kinds = {json.dumps(slot.new, sort_keys=True) for slot in vdev.slots}
        if len(kinds) > 1:
            return
        stated, new = self.scenario_now(), vdev.slots[0].new
        before = facts(stated)
        size = facts(stated.changed(_as_drive(new))).drive_size
        old, new_size = format_both(before.drive_size), format_both(size)
        if size <= before.drive_size or old == new_size:
            return  # makers of drives of one size differ by less than a metaslab or two
        words = "autoexpand" if self.autoexpand else "after zpool online -e: autoexpand is off"
        self.tell(f"{vdev.name} may grow from drives of {old} to {new_size} ({words})")
        alike = {json.dumps(slot.new, sort_keys=True) for each in self.vdevs for slot in each.slots}
        if self.autoexpand and len(alike) == 1 and stated.block_list is None:
            # All of the pool: it is one of such drives from now on, and holds what it held.
            unequal: dict[str, object] = {"vdev_fills": None, "vdev_frags": None}
            changes = {"fill": None, **unequal, "alloc": before.alloc, **_as_drive(new)}
            self.scenario = self.scenario.changed(changes)
            for each in self.vdevs:
                for slot in each.slots:
                    slot.new = {}

    def exchanged(
        self, vdev: TimelineVdev | None = None, first: Sequence[int] = ()
    ) -> tuple[str, ...] | None:
        """Return the drives that are not like the rest, as a scenario has them; None if none are.

        Those of a vdev under repair stand behind the places `first`, which a prediction takes to be replaced.
        """
        found: list[str] = []
        leaf = 0
        for each in (each for each in self.vdevs if not each.removed):
            slots = each.slots
            if each is vdev:
                slots = [slots[place] for place in first]
                slots += [slot for place, slot in enumerate(each.slots) if place not in first]
            found += [_as_exchanged(leaf + place, slot.new) for place, slot in enumerate(slots) if slot.new]
            leaf += len(slots)
        return tuple(found) or None

    def _give_back(self, vdev: TimelineVdev, slot: Slot) -> None:
        if slot.spare is None:
            return
        if slot.spare == "hot":
            self.spares += 1
        else:
            vdev.spares += 1
        self.tell(f"the {slot.spare} spare of {vdev.name} is released")
        slot.spare = None

    # --- sequential rebuilds: one a vdev, several vdevs at a time

    def rebuild(self, target: Target, cause: str) -> None:
        """Rebuild onto a drive sequentially; a rebuild that runs on the vdev begins again with both."""
        running = self.rebuilds.get(target.vdev)
        scan = self.scan
        if scan is not None and scan.kind == "resilver":
            self.tell(f"{cause}: no rebuild is possible while a resilver runs, so it heals")
            self.resilver([target], cause)
            return
        if scan is not None:
            self._cancel_scrub(scan)
        targets = [target]
        if running is not None:
            self.redone += round(running.share * running.bytes)
            targets = [*running.targets, target]
            self.rebuilds.pop(target.vdev)
            self._stop(running)
            cause = f"{cause}: the rebuild starts over"
        self.tell(cause)
        name, times = self.vdevs[target.vdev].name, self._times(targets, "rebuild")
        self.rebuilds[target.vdev] = self._start("rebuild", name, cause, times, targets)
        self.note()

    def _rebuild_ended(self, found: Pass) -> None:
        number = next(each for each, running in self.rebuilds.items() if running is found)
        del self.rebuilds[number]
        if not found.completed:
            return
        self.tell(f"the rebuild of {found.vdev} ends: redundancy is back, nothing is verified yet")
        for target in found.targets:
            self._complete(target)
        if self.rebuilds or self.lost:
            return
        if self.after_rebuild:
            targets, self.after_rebuild = self.after_rebuild, []
            self._begin(targets, "the replacement refused during the rebuild is now made")
        elif self.rules.scrub_after_rebuild and found.times.scrub > 0:
            self.tell("the scrub after the rebuild begins")
            self.scan = self._start("scrub", "pool", "verifies the rebuild", found.times.verifying(), [])

    # --- expansion and removal

    def copy(self, vdev: int, kind: PassKind, times: PassTimes, cause: str) -> None:
        """Expand or remove a vdev."""
        self.tell(cause)
        self.copies[vdev] = self._start(kind, self.vdevs[vdev].name, cause, times, [])
        if kind == "expansion":
            self.environment.process(self._watch_expansion(self.vdevs[vdev], self.copies[vdev]))
        self.note()

    def _watch_expansion(self, vdev: TimelineVdev, found: Pass) -> Steps:
        """Hold an expansion while a drive of its vdev is missing or being replaced."""
        yield self.environment.timeout(0)
        held = False
        while found.ends == math.inf:
            must = not vdev.is_whole or self.is_target(vdev.number)
            if must != held:
                held = must
                self.tell(
                    f"the expansion of {vdev.name} {'pauses: the vdev needs repair' if held else 'goes on'}"
                )
                if held:
                    found.interrupt(HOLD)
                else:
                    found.resume()
            yield self.changed

    def is_target(self, vdev: int, slot: int | None = None) -> bool:
        """Tell whether a drive of a vdev, perhaps the one in a place, is or is to be written by a pass."""
        running = [each for found in self._running() for each in found.targets]
        return any(
            each.vdev == vdev and (slot is None or each.slot == slot)
            for each in (*running, *self.waiting, *self.after_rebuild)
        )

    def moved_up(self, vdev: int, slot: int) -> None:
        """Let those that write behind a place of a mirror which is gone write one place before."""
        targets = [each for found in self._running() for each in found.targets]
        for each in (*targets, *self.waiting, *self.after_rebuild):
            if each.vdev == vdev and each.slot is not None and each.slot > slot:
                each.slot -= 1

    def _copy_ended(self, found: Pass) -> None:
        number = next(each for each, running in self.copies.items() if running is found)
        del self.copies[number]
        if not found.completed:
            return
        vdev = self.vdevs[number]
        self.tell(f"the {found.kind} of {found.vdev} ends")
        name, stated = vdev.name, self.scenario_now()
        if stated.block_list is None:
            # The pool is larger or smaller now, and holds what it held.
            alloc = facts(stated).alloc
            self.scenario = self.scenario.replace(fill=None, vdev_fills=None, vdev_frags=None, alloc=alloc)
        if found.kind == "removal":
            vdev.removed = True
        else:
            vdev.expanded()
            if self.rules.scrub_after_expansion and self.scan is None:
                self.scrub(f"the scrub after the expansion of {name}")

    # --- reboot, changes of pace

    def go_down(self, clean: bool) -> None:
        """Export the pool, or lose power."""
        self.down = True
        self.tell("the pool is exported" if clean else "the host goes down")
        for each in self._running():
            each.interrupt(HOLD)

    def come_up(self) -> None:
        """Import the pool: passes go on from the position on disk."""
        self.down = False
        self.tell("the pool is imported")
        scan = self.scan
        if (
            scan is not None
            and scan.kind == "resilver"
            and self.unreadable
            and self.rules.choice("errors_at_import")
        ):
            self.restart([], "an import finds errors: the resilver starts over")
        for each in self._running():
            lost = each.go_back(self.rules, each.seconds(self.world))
            self.redone += lost
            if lost:
                done = format_percent(each.share)
                self.tell(f"the {each.kind} of {each.vdev} continues from its last position, {done}")
            self.environment.process(self._resume(each))

    def _resume(self, found: Pass) -> Steps:
        wait = self.rules.import_wait_s if found.kind in ("resilver", "scrub") else 0.0
        yield self.environment.timeout(wait)
        waits = found.kind == "expansion" and not self.vdevs[self._number(found)].is_whole
        if not (waits or found.paused or self.down):
            found.resume()

    def _number(self, found: Pass) -> int:
        return next(vdev.number for vdev in self.vdevs if vdev.name == found.vdev)

    def set(self, changes: dict[str, object]) -> None:
        """Change fields of the scenario: what runs goes on at another pace."""
        before = self.scenario
        self.scenario = self.scenario.changed(changes)
        resolved = facts(self.scenario)
        self.rules = rules_of(resolved.release, resolved.release.order)
        self.tell(f"from now on {', '.join(f'{name} = {value}' for name, value in changes.items())}")
        self.retime(before)

    def retime(self, before: Scenario | None = None) -> None:
        """Let what runs go on at the pace that it has from now on; what was set `before` may be different.

        What a running pass has shown it showed under what was set then: it goes on at that pace times what
        the change does to a pass of which nothing was seen.
        """
        now = self.scenario
        for each in self._running():
            if each.kind != "scrub" and not each.targets:
                continue
            if before is None or unseen(before) is before:
                each.retimed(self._times_of(each))
            else:
                self.scenario = unseen(before)
                then = self._times_of(each)
                self.scenario = unseen(now)
                times = self._times_of(each)
                self.scenario = now
                each.retimed(replace(times, seconds=each.times.seconds * (times.middle / then.middle)))
            each.interrupt(LOOK)
        self.note()

    def _times_of(self, each: Pass) -> PassTimes:
        """Return the times of a pass that runs, as it would be from the begin on."""
        if each.kind == "scrub":
            return self.passes.scrub(self.scenario_now())
        return self._times(each.targets, each.kind)
