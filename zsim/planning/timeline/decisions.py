"""``zsim.decide``: compare alternatives by the timelines they lead to."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from zsim.base.errors import InputError, NothingToAsk, check_kind
from zsim.base.notebook import reporting
from zsim.base.parsed import Parsed, number_of, table, tables, text, texts
from zsim.base.provenance import SCHEMA_VERSION
from zsim.base.units import format_bytes, format_duration, format_percent
from zsim.planning.timeline.api import AskedPlan, cleaned, read_plan, timeline
from zsim.planning.timeline.passes import F64, Passes, Percentiles, facts, percentiles
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.pool import sick_drives
from zsim.planning.timeline.result import Timeline
from zsim.planning.timeline.rules import Rules, rules_of
from zsim.planning.timeline.wording import outcome, span, stated
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import FramedAnswer, PrintedAnswer
from zsim.prediction.answer.stored import StoredRecord, check_version
from zsim.prediction.answer.tables import Grid, html_table, rich_table
from zsim.scenario.evidence import missing_drives

if TYPE_CHECKING:
    from rich.console import RenderableType


Progress = Callable[[float, str], None]
TIE = 0.02
"""Times that differ by less are the same: what comes next tells alternatives apart."""
LITTLE = 0.1
"""The same of times with some redundancy left: up to a tenth ZFS itself begins a resilver anew because of
another drive (OpenZFS 2.3 zfs_resilver_defer_percent)."""
SURE = 0.9
CHOICE, AT_ONCE = "a choice", "replace all at once"


Ways = dict[str, dict[str, object]]
"""What could be done, by its name: fields of the plan that are then otherwise."""


@dataclass(frozen=True)
class DecisionAlternative:
    """Something that could be done now.

    Attributes
    ----------
    name : str
        What is done.
    found : Timeline
        What it leads to.
    reason : str
        Against the best alternative, or what makes it the best.
    wins : float
        Share of the worlds in which it is whole no later than every other alternative; where nothing is
        repaired, over no later.
    """

    name: str
    found: Timeline
    reason: str = ""
    wins: float = 0.0

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "alternative": self.name,
            "whole_s": self.found.whole_s,
            "over_s": self.found.over_s,
            "exposed_s": {str(left): percentiles(times) for left, times in self.found.exposed.items()},
            "redone_bytes": self.found.redone_bytes,
            "read_bytes": self.found.read_bytes,
            "wins": self.wins,
            "reason": self.reason,
            "timeline": self.found.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Parsed, origin: str) -> Self:
        """Return the alternative of which `to_dict` gave this."""
        found = Timeline.from_dict(table(data, "timeline"), origin)
        wins = number_of(data.get("wins"), "wins")
        return cls(text(data, "alternative"), found, text(data, "reason"), wins)


@dataclass(frozen=True)
class Decision(PrintedAnswer, StoredRecord, FramedAnswer):
    """The alternatives, the best first.

    Attributes
    ----------
    alternatives : tuple of DecisionAlternative
    notes : tuple of str
    """

    alternatives: tuple[DecisionAlternative, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, data: object, origin: str = "answer") -> Self:
        """Return the answer of which `to_dict` gave this; see `LoadedAnswer.from_dict`."""
        known = check_version(data, origin)
        alternatives = [DecisionAlternative.from_dict(each, origin) for each in tables(known, "alternatives")]
        if not alternatives:
            raise InputError(f"{origin}: alternatives", None, "a decision has some", "compute it again")
        return cls(tuple(alternatives), texts(known, "notes"))

    def __repr__(self) -> str:
        return f"<Decision: {self.best.name}: {outcome(self.best.found)}>"

    @property
    def best(self) -> DecisionAlternative:
        """The best alternative."""
        return self.alternatives[0]

    @property
    def headline(self) -> str:
        """The best alternative, and when the pool is whole with it, or its scrub over."""
        return f"Best: {self.best.name}; {outcome(self.best.found)}"

    @property
    def _note_lines(self) -> tuple[str, ...]:
        return tuple(f"{note[:1].upper()}{note[1:]}." for note in self.notes)

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "stated": list(self.best.found.stated),
            "alternatives": [each.to_dict() for each in self.alternatives],
            "notes": list(self.notes),
            "provenance": self.best.found.provenance,
        }

    def _frame_rows(self) -> Rows:
        """Return the alternatives."""
        rows = []
        for each in self.alternatives:
            data = each.to_dict()
            records = ("whole_s", "over_s", "exposed_s")
            exposed = table(data, "exposed_s")
            plain = {name: value for name, value in data.items() if name not in (*records, "timeline")}
            times = {
                f"{kind}_{name}_s": value
                for kind in ("whole", "over")
                for name, value in table(data, f"{kind}_s").items()
            }
            left = {f"left_{left}_s": table(exposed, left)["p50"] for left in exposed}
            rows.append(plain | times | left)
        return rows

    def grid(self) -> Grid:
        """Return the table in print."""
        levels = sorted({left for each in self.alternatives for left in each.found.exposed})
        verifies = _nothing_repaired(self.alternatives)
        head = (
            "alternative",
            f"{'over' if verifies else 'whole'} after (p10 to p90)",
            *(_level_name(left) for left in levels),
            "work lost",
            "reason",
        )
        return Grid(
            head,
            tuple(
                self._row(each, levels, each.found.over_s if verifies else each.found.whole_s)
                for each in self.alternatives
            ),
        )

    @staticmethod
    def _row(each: DecisionAlternative, levels: Sequence[int], times: Percentiles) -> tuple[str, ...]:
        exposed = each.found.exposed
        known = [format_duration(_middle(exposed[left])) if left in exposed else "0 s" for left in levels]
        return (
            each.name,
            span(times),
            *known,
            format_bytes(each.found.redone_bytes),
            each.reason,
        )

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        head = (Text(self.headline, style="bold"), *map(Text, stated(self.best.found)), Text())
        parts: list[RenderableType] = [*head, rich_table(self.grid())]
        return Group(*parts, *map(Text, self._note_lines))

    def _repr_html_(self) -> str:
        asked, told = (
            "".join(f"<p>{html.escape(each)}</p>" for each in lines)
            for lines in (stated(self.best.found), self._note_lines)
        )
        return f"<h2>{html.escape(self.headline)}</h2>{asked}{html_table(self.grid())}{told}"


def decide(
    plan: AskedPlan | None = None,
    *,
    also: Mapping[str, Mapping[str, object]] | None = None,
    replace_too: int | None = None,
    reboot: bool = False,
    on_progress: Progress | None = None,
    **fields: object,
) -> Decision:
    """Compare what an administrator could do now: wait, restart, replace, reboot.

    Parameters
    ----------
    plan : Plan, mapping, str or Path, optional
        The present state, given as to `zsim.timeline`: what ``zpool status`` printed, or the pool
        (``scenario``), the running pass (``running``), and events that will happen in any case (``events``).
    also : mapping of str to mapping, optional
        Further alternatives by name: fields of the plan that differ.
    replace_too : int, optional
        Another drive of the vdev, in service, that is to be replaced: now or when the pass has ended.
    reboot : bool
        Whether the host is to be rebooted: now or when the pass has ended.
    on_progress : callable, optional
        Called with the share done and a few words.
    **fields
        Fields of the plan's scenario and of the plan itself (``running``, ``events``), which replace its own.

    Returns
    -------
    Decision

    Raises
    ------
    InputError
        When there is only one alternative, or one is impossible.

    Notes
    -----
    All alternatives are simulated in the same worlds, and compared world by world.

    Examples
    --------
    >>> found = decide("raidz2x6", drive_size="200GB", fill=0.3, running={"done": 0.35}, reboot=True)
    >>> found.best.name
    'reboot when the pass has ended'
    """
    check_kind("reboot", reboot, (bool,), "it is true or false", "leave it out")
    check_kind("also", also, (Mapping, type(None)), "it maps names to changes of the plan", "give a dict")
    now = _now(read_plan(plan, fields, {"zed": False}), replace_too, reboot)
    report = reporting(on_progress)
    resolved = facts(now.pool)
    rules = rules_of(resolved.release, resolved.release.order)
    known = alternatives(now, rules, replace_too, reboot) | dict(also or {})
    if len(known) < 2:
        raise _nothing_to_choose(now)
    passes = Passes()
    found = []
    for place, (name, changes) in enumerate(known.items()):
        report(place / len(known), name)
        changed = Plan.from_dict({**now.model_dump(mode="json", exclude_unset=True), **changes})
        listen = _part_of(report, place, len(known), name)
        found.append(DecisionAlternative(name, timeline(changed, on_progress=listen, passes=passes)))
    return Decision(ranked(found), tuple(dict.fromkeys(note for each in found for note in each.found.notes)))


def _part_of(report: Progress, number: int, count: int, name: str) -> Progress:
    """Return what reports one of several alternatives as its part of the whole."""
    return lambda share, _words: report((number + share) / count, name)


def _nothing_to_choose(now: Plan) -> InputError:
    """Return why there is one way only."""
    if now.running is None and any(event.do == "replace" for event in now.events):
        allowed = "the missing drives can be replaced in one way only, by a resilver"
        remedy = "zsim predict says how long that takes, and zsim risk how likely loss is until then"
        return NothingToAsk(CHOICE, None, allowed, remedy)
    if now.running is None:
        remedy = "state a running repair (--done 35%), or which drive has failed (--replace-drive 0)"
        return NothingToAsk(CHOICE, None, "no repair is running or waiting", remedy)
    left = f"; {format_duration(now.running.left[1])} are left" if now.running.left is not None else ""
    allowed = f"the {now.running.kind} is running and nothing else is planned: all you can do is wait{left}"
    remedy = (
        "say what else may be done: --reboot (the host is to be rebooted), --replace-too 4 (another drive is"
        " to be replaced), or --load 'backup 100MB/s' (a load that could be stopped)"
    )
    if now.running.kind == "scrub":
        alone = now.pool.pool_layout.vdevs[0].is_disk
        too = "" if alone else "--replace-too 4 (a drive is to be replaced), or "
        remedy = f"say what else may be done: {too}--load 'backup 100MB/s' (a load that could be stopped)"
    return NothingToAsk(CHOICE, None, allowed, remedy)


def _now(plan: Plan, replace_too: int | None, reboot: bool) -> Plan:
    """Return the state now; refuse a question that it leaves without an answer."""
    if reboot and replace_too is not None:
        allowed = "one question at a time: its alternatives must do the same in the end"
        raise InputError("--reboot beside --replace-too", replace_too, allowed, "leave out one of them")
    now = cleaned(plan)
    if (reboot or replace_too is not None) and now.running is None:
        allowed = "the input shows no running pass whose progress is known"
        raise InputError("running", None, allowed, "give --done 35%")
    if reboot and now.running is not None and now.running.kind == "scrub":
        allowed = "only a scrub is running, and the pool is whole: a reboot costs what it has read so far"
        raise NothingToAsk(CHOICE, None, allowed, "zsim eta, given the same, says when it finishes")
    return now


def alternatives(now: Plan, rules: Rules, replace_too: int | None = None, reboot: bool = False) -> Ways:
    """Return what could be done, as fields of the plan set otherwise."""
    events = [event.model_dump(mode="json", exclude_unset=True) for event in now.events]
    found: dict[str, list[dict[str, object]]] = {}
    running = now.running
    vdev = running.vdev if running is not None else _repaired_in(now)
    if replace_too is not None:
        second = {"do": "replace", "vdev": vdev, "drive": replace_too}
        found["replace the other drive now"] = [second]
        found["replace it when the pass has ended"] = [{**second, "when": "quiet"}]
        if rules.choice("zpool_resilver") == "restart" and rules.second_target != "restart":
            found["replace it now and run zpool resilver"] = [second, {"do": "resilver", "after": 60.0}]
    if running is not None and running.waiting and rules.choice("zpool_resilver") == "restart":
        found["restart now (zpool resilver)"] = [{"do": "resilver"}]
    if reboot:
        found["reboot now"] = [{"do": "reboot"}]
        found["reboot when the pass has ended"] = [{"do": "reboot", "when": "quiet"}]
    must = replace_too is not None or reboot
    if now.scenario.get("load") and not must:
        found["stop the load now"] = [{"do": "set", "set": {"load": []}}]
    plans: Ways = {name: {"events": [*events, *added]} for name, added in found.items()}
    for drive in () if must else _may_go_offline(now):
        gone: dict[str, object] = {"do": "offline", "vdev": vdev, "drive": drive}
        back = {**gone, "do": "online", "when": "quiet"}
        # Where nothing runs yet it goes before the repair begins.
        told = [*events, gone, back] if running is not None else [gone, *events, back]
        plans[f"take drive {drive} offline until the pass has ended"] = {"events": told}
    ways, orders = _rebuild_or_resilver(now, rules), _one_after_another(now)
    # A healing resilver replaces all at once.
    ways |= {name: changes for name, changes in orders.items() if not ways or name != AT_ONCE}
    if ways:
        return ways | {name: changes for name, changes in plans.items() if not must}
    wait: Ways = {} if must else {"wait": {}}
    return wait | plans


def _may_go_offline(now: Plan) -> tuple[int, ...]:
    """Return the sick drives of the vdev under repair that it can do without for now."""
    place = now.running.vdev if now.running is not None else _repaired_in(now)
    busy, missing = _under_repair(now, place)
    scrubs = now.running is not None and now.running.kind == "scrub"
    vdev = now.pool.pool_layout.vdevs[place]
    others = {each.leaf for each in missing_drives(now.pool.evidence or (), vdev.children)}
    if not (busy or scrubs) or vdev.tolerance <= missing + len(others):
        return ()
    return tuple(each for each in sick_drives(now.pool, place) if each not in busy | others)


def _under_repair(now: Plan, vdev: int) -> tuple[set[int], int]:
    """Return the drives of a vdev that a pass or a command replaces, and how many of them are missing."""
    running = now.running
    if running is not None and running.kind == "scrub":
        return set(), 0
    if running is not None:
        drives = {*running.drives, *running.waiting}
        return drives, len(drives) if running.old_drive == "missing" else 0
    here = [event for event in now.events if event.vdev == vdev]
    gone = {number for event in here if event.do == "fail" for number in event.numbers}
    return gone | {number for event in here if event.do == "replace" for number in event.numbers}, len(gone)


def _repaired_in(now: Plan) -> int:
    """Return the vdev in which the first replacement is asked for."""
    return next((event.vdev for event in now.events if event.do == "replace"), 0)


def _rebuild_or_resilver(now: Plan, rules: Rules) -> Ways:
    """Return the two ways to repair mirrors or a dRAID, where nothing runs yet."""
    layout = now.pool.pool_layout
    replacing = [place for place, event in enumerate(now.events) if event.do == "replace"]
    if now.running is not None or not replacing or layout.vdevs[0].kind not in rules.rebuilds:
        return {}
    found: Ways = {}
    for name, way in (("healing resilver", False), ("sequential rebuild, then a scrub", True)):
        events = [event.model_dump(mode="json", exclude_unset=True) for event in now.events]
        for place in replacing:
            events[place] = {**events[place], "sequential": way}
        found[name] = {"events": events}
    return found


def _one_after_another(now: Plan) -> Ways:
    """Return the two orders in which several drives that are gone can be replaced, where nothing runs yet.

    Vdev by vdev, the one with the most drives missing first; within one vdev drive by drive.
    """
    events = [event.model_dump(mode="json", exclude_unset=True) for event in now.events]
    replacing = [event for event in now.events if event.do == "replace"]
    if now.running is not None or sum(len(event.numbers) for event in replacing) < 2:
        return {}
    several = len(replacing) > 1
    single = [
        {"do": "replace", "vdev": event.vdev, "drives": list(drives)}
        for event in replacing
        for drives in ([event.numbers] if several else [(each,) for each in event.numbers])
    ]
    rest = [event for event in events if event["do"] != "replace"]
    later = [single[0], *({**each, "when": "quiet"} for each in single[1:])]
    name = "one vdev after the other" if several else "one drive after the other"
    return {AT_ONCE: {"events": events}, f"replace {name}": {"events": [*rest, *later]}}


def ranked(found: Sequence[DecisionAlternative]) -> tuple[DecisionAlternative, ...]:
    """Return the alternatives, the best first, each with its reason.

    The best is the one with the least time without redundancy where these differ, else with the least time in
    which some is missing, else the one that is whole first (where nothing is repaired: over first); what is
    nearly equal is told apart by the work lost.
    """
    verifies = _nothing_repaired(found)
    times = [each.found.over if verifies else each.found.whole for each in found]
    wins = (np.stack(times) <= np.min(times, axis=0) * (1.0 + 1e-9)).mean(axis=1)
    order = _in_order(found, times)
    first = order[0]
    word = "over" if verifies else "whole"
    reasons = {
        p: _reason(found[p], found[first], times[p], times[first], word) for p in order if p != first
    } | {first: "best"}
    return tuple(
        DecisionAlternative(found[p].name, found[p].found, reasons[p], float(wins[p])) for p in order
    )


def _nothing_repaired(found: Sequence[DecisionAlternative]) -> bool:
    """Tell whether the pool stays whole whatever is done: what is compared then is when the scrub is over."""
    return all(each.found.stays_whole for each in found)


def _in_order(found: Sequence[DecisionAlternative], times: Sequence[F64]) -> list[int]:
    """Return the places of the alternatives, the best first."""
    keys = [_criteria(each.found, times[place]) for place, each in enumerate(found)]
    left, order = list(range(len(found))), []
    while left:
        order.append(_best(left, keys))
        left.remove(order[-1])
    return order


def _criteria(found: Timeline, times: F64) -> tuple[tuple[float, float], ...]:
    """Return what is compared, in this order, and by how much each may differ and be the same [1]."""
    lost = 1.0 + round(float(np.mean(~np.isfinite(times))), 2)
    naked = _middle(found.exposed.get(0, np.zeros(1)))
    return (
        (lost, 0.0),
        (max(naked, 60.0), TIE),
        (max(_degraded(found), 60.0), LITTLE),
        (max(_middle(times), 60.0), TIE),
        (float(found.redone_bytes), 0.0),
    )


def _degraded(found: Timeline) -> float:
    """Return for how long some vdev has less than its redundancy [s]."""
    parts = [times for left, times in found.exposed.items() if left >= 0]
    return _middle(np.sum(parts, axis=0)) if parts else 0.0


def _best(places: Sequence[int], keys: Sequence[tuple[tuple[float, float], ...]]) -> int:
    """Return the first of those that no criterion, each among what the ones before it leave, rules out."""
    kept = list(places)
    for which, (_, tie) in enumerate(keys[kept[0]]):
        least = min(keys[place][which][0] for place in kept)
        kept = [place for place in kept if not keys[place][which][0] > least * (1.0 + tie)]
    return kept[0]


def _reason(each: DecisionAlternative, best: DecisionAlternative, own: F64, least: F64, word: str) -> str:
    """Say why an alternative stands where it does."""
    naked = _difference(each, best, 0)
    if naked > 60:
        return f"{format_duration(naked)} longer without redundancy"
    with np.errstate(invalid="ignore"):
        later = own - least
    known = later[np.isfinite(later)]
    if not len(known):
        return f"never {word}"
    middle = _middle(known)
    longer = _degraded(each.found) - _degraded(best.found)
    if longer > 60 and middle <= 0:
        return f"{format_duration(longer)} longer with a drive missing"
    if abs(middle) > TIE * _middle(least):
        sure = float(np.mean(np.sign(known) == np.sign(middle)))
        often = "" if sure >= SURE else f", in {format_percent(sure)} of the simulated pools"
        return f"{word} {format_duration(abs(middle))} {'later' if middle > 0 else 'earlier'}{often}"
    more = each.found.redone_bytes - best.found.redone_bytes
    return f"{format_bytes(more)} more work done twice" if more > 0 else "no relevant difference"


def _difference(each: DecisionAlternative, best: DecisionAlternative, left: int) -> float:
    zero: F64 = np.zeros(1)
    return _middle(each.found.exposed.get(left, zero)) - _middle(best.found.exposed.get(left, zero))


def _middle(values: F64) -> float:
    return float(np.sort(values)[len(values) // 2])


def _level_name(left: int) -> str:
    return {-1: "data lost", 0: "no redundancy for"}.get(left, f"only {left} more may fail for")
