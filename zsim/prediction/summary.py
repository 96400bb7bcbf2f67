"""From the members' runs to the answer: quantiles, utilisation, bottleneck, breakdown."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant
from zsim.base.units import format_duration, format_percent
from zsim.case.case import Case
from zsim.drives.derived import seconds_to_write
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.model import TO_SPARE, PlaneModel
from zsim.operation.background.removal import MAPPING_ENTRY
from zsim.operation.result import seconds_of
from zsim.prediction.answer.records import VERIFYING_SCRUB, Bottleneck, Leaf, Phase, ProgressPoint
from zsim.prediction.inputs.hardware import shared_link
from zsim.prediction.inputs.sick import EXCHANGED
from zsim.prediction.runs.member import MemberResult, processor_share
from zsim.vdevs.kind import NORMAL

MAX_POINTS = 40
CAUSE_COLUMNS = {
    "seek": "seek",
    "rotation and gaps": "wait",
    "transfer": "transfer",
    "command overhead": "overhead",
    "rewriting shingled bands": "cleaning",
}
"""What a drive spends time on, and the column of the counters that holds it."""
CAUSE_WORDS = {
    "seek": "seeking",
    "rotation and gaps": "rotational latency",
    "transfer": "moving data",
    "command overhead": "command overhead",
    "rewriting shingled bands": "rewriting shingled bands",
    "metadata phase": "the metadata scan",
    "txg sync": "the ends of txgs",
}
IDLE, IDLE_BEHIND_PROCESSOR = "idle, waiting on siblings", "idle, waiting for the processor"
SOURCE, OTHER_VDEVS, SPECIAL_VDEVS, PROCESSOR = "source", "other vdev", "special vdev", "processor"
NAMES = {
    SOURCE: "the source drives",
    "target": "the replacement drive",
    "link": "the shared link",
    PROCESSOR: "the processor core of a scan thread",
    OTHER_VDEVS: "the drives of the other vdevs",
    SPECIAL_VDEVS: "the drives of the special vdevs",
}
IN_FLIGHT = "the scan keeps a limited number of blocks in flight, and waits for them"
REMAINING = "the remaining drives"
"""Of a dRAID, which are read and written where a distributed spare takes a drive's place."""
STAYING = "the drives of the vdevs that stay"
"""Where what a removed vdev holds is written."""
WORTH_NAMING, SAME = constant("answer.worth_naming"), constant("answer.same_saving")
"""A resource without which less than this share of the time is saved holds nothing up; savings that lie
closer together are the same."""
SATURATED = constant("answer.saturated")


SLOW = "slow"
"""How a row of drives begins that are slower than the others of their role."""


def leaf_rows(result: MemberResult) -> tuple[Leaf, ...]:
    """Return one row a group of drives that take part.

    Returns
    -------
    tuple of Leaf
        Means over the drives of a role, over the run: utilisation [1], rates [bytes/s], requests [1/s], time
        of service [ms], and requests at the drive (Little's law: summed times of response over the duration).
    """
    return tuple(_row(result, role, members) for role, members in _groups(result))


def _groups(result: MemberResult) -> list[tuple[str, list[int]]]:
    """Return the drives that take part, by role: all of a role, then slow ones, then those behind each link.

    Drives of vdevs in which nothing is repaired are no sources, and those of special vdevs stand apart.
    """
    model = result.model
    damaged = {leaf for vdev in model.vdevs if vdev.damaged for leaf in (*vdev.read_leaf, *vdev.write_leaf)}
    groups: list[tuple[str, list[int]]] = []
    special = {
        leaf
        for vdev in model.vdevs
        if vdev.alloc_class != NORMAL
        for leaf in (*vdev.read_leaf, *vdev.write_leaf)
    } - damaged
    for role in (SOURCE, OTHER_VDEVS, SPECIAL_VDEVS, "target"):
        members = [
            number
            for number, leaf in enumerate(model.leaves)
            if _used(result, number) and _role(leaf.role, number, damaged, special) == role
        ]
        groups.append((role, members))
        usual = min((model.leaves[number].name for number in members), key=len, default="")
        slow = sorted({model.leaves[number].name for number in members} - {usual})
        groups += [
            (
                f"{_apart(name, usual)} {role}",
                [number for number in members if model.leaves[number].name == name],
            )
            for name in slow
        ]
        for link in sorted({shared_link(model, number) for number in members} - {-1}):
            behind = [number for number in members if shared_link(model, number) == link]
            if len(behind) < len(members):
                groups.append((f"{role} behind {model.links[link].name}", behind))
    return [(role, members) for role, members in groups if members]


def _apart(name: str, usual: str) -> str:
    """Return why drives of a role have a row of their own: of another model, or slower than the others."""
    return "exchanged" if EXCHANGED in name and EXCHANGED not in usual else SLOW


def _role(role: str, leaf: int, damaged: Collection[int], special: Collection[int]) -> str:
    if leaf in special:
        return SPECIAL_VDEVS
    return OTHER_VDEVS if role == SOURCE and damaged and leaf not in damaged else role


def _group_of(result: MemberResult, leaf: int, apart: bool) -> tuple[str, list[int]]:
    """Return the smallest group that a drive is in: with it, every figure of that drive is its group's.

    A slow drive counts with its peers unless it is to stand `apart`.
    """
    groups = [group for group in _groups(result) if apart or not group[0].startswith(f"{SLOW} ")]
    found = [group for group in groups if leaf in group[1]]
    return min(found, key=lambda group: len(group[1]), default=(result.model.leaves[leaf].role, [leaf]))


def _used(result: MemberResult, leaf: int) -> bool:
    row = result.run.leaves[leaf]
    return bool(row["scan_reads"] + row["scan_writes"] > 0)


def _stand_for(result: MemberResult) -> NDArray[np.float64]:
    """Return of how many drives of the pool each leaf does the work: of many like vdevs a few are simulated.

    A vdev that is repaired stands for itself alone, and so does a special one; what is copied by address is
    simulated on all vdevs that it is copied from and to.
    """
    model, found = result.model, np.ones(len(result.model.leaves))
    if any(name in REPAIRS for name, _, _ in result.run.phases):
        return found
    others = [
        [leaf for leaf in vdev.read_leaf if leaf >= 0]
        for vdev in model.vdevs
        if vdev.alloc_class == NORMAL and not vdev.damaged
    ]
    rows = result.run.leaves
    used = rows["scan_reads"] + rows["scan_writes"] > 0
    run = [leaves for leaves in others if used[leaves].any()]
    for leaves in run:
        found[leaves] = len(others) / len(run)
    return found


def _row(result: MemberResult, role: str, members: Sequence[int]) -> Leaf:
    rows, model = result.run.leaves[list(members)], result.model
    span = result.span_s
    commands = max(1.0, float((rows["reads"] + rows["writes"]).sum()))
    moved = float((rows["read_bytes"] + rows["write_bytes"]).sum())
    count = len(members)
    return Leaf(
        role=role,
        name=min((model.leaves[number].name for number in members), key=len),
        count=max(count, round(float(_stand_for(result)[list(members)].sum()))),
        utilisation=_used_share(model.leaves[members[0]].drive, _sums(result, members), span),
        mean_io_bytes=moved / commands,
        iops=commands / count / span,
        mean_service_ms=1e3 * float(rows["busy"].sum()) / commands,
        queue=float(rows["response"].sum()) / count / span,
        read_rate=float(rows["read_bytes"].mean()) / span,
        write_rate=float(rows["write_bytes"].mean()) / span,
    )


def busiest(result: MemberResult, kind: str | None = None) -> tuple[str, float, int]:
    """Return the kind of resource that is busiest.

    Parameters
    ----------
    result : MemberResult
    kind : str, optional
        Source, target, link or processor: the busiest of these.

    Returns
    -------
    kind : str
    utilisation : float
        Share of the run that one of its servers is busy, at most 1.
    number : int
        A leaf of it, or a link; of a processor the busiest leaf.
    """
    span, model = result.span_s, result.model
    best: tuple[str, float, int] = ("nothing", 0.0, 0)
    for number, leaf in enumerate(model.leaves):
        share = _used_share(leaf.drive, _sums(result, [number]), span) if kind in (None, leaf.role) else 0.0
        if share > best[1]:
            best = (leaf.role, share, number)
    drive = best[2] if kind != PROCESSOR else busiest(result, SOURCE)[2]
    for number, busy in enumerate(result.run.link_busy if kind in (None, "link") else ()):
        if (model.links[number].command_based and busy / span > 0.97 * best[1]) or busy / span > best[1]:
            best = ("link", min(1.0, busy / span), number)
    if kind in (None, PROCESSOR) and processor_share(result) > best[1]:
        best = (PROCESSOR, processor_share(result), drive)
    return best


def limiting(result: MemberResult, without: Mapping[str, float], middle_s: float) -> str | None:
    """Return the kind of resource that holds the operation up; None where no single one does.

    Parameters
    ----------
    result : MemberResult
    without : mapping
        Duration by the kind that is infinitely fast [s].
    middle_s : float
        The answer [s].
    """
    least = min(without.values(), default=middle_s)
    if least > (1.0 - WORTH_NAMING) * middle_s:
        return None
    close = [kind for kind, time in without.items() if time <= least + SAME * middle_s]
    return max(close, key=lambda kind: busiest(result, kind)[1])


def bottleneck(
    result: MemberResult,
    without: Mapping[str, float],
    named: str | None,
    *,
    apart: bool = True,
    waits_for: str = "",
) -> Bottleneck:
    """Return the resource that sets the pace, in words: the kind that `limiting` names.

    How busy it is, is the figure of its row of `leaf_rows`; of a shared link its own.  `apart`: whether a
    slow drive is named alone, which holds up its peers.  `waits_for`: what drives that are not
    saturated wait for, if it is not what the scan has in flight.
    """
    kind, share, number = busiest(result, named)
    if kind == "link":
        name, why = f"the shared link ({result.model.links[number].name})", "the drives behind it take turns"
    elif kind == PROCESSOR:
        name, why = NAMES[PROCESSOR], _threads(result)
    elif kind == "nothing":
        name, why = "nothing", ""
    else:
        role, members = _group_of(result, number, apart)
        row = _row(result, role, members)
        name, why, share = (
            _named(result.model, role, members),
            _where_time_goes(breakdown(result, named, apart=apart)),
            row.utilisation,
        )
        if share < SATURATED:
            why += f"; not saturated: {waits_for or IN_FLIGHT}"
    if named is None:
        return Bottleneck(
            resource=f"no single one: {name} {_are(name)} the busiest",
            utilisation=share,
            why="they wait for each other, or for ZFS (its scan window, its txgs); "
            f"with the most limiting one infinitely fast it takes {format_duration(min(without.values()))}"
            if without
            else "",
        )
    return Bottleneck(resource=name, utilisation=share, why=why, without_it_s=without[named])


def _threads(result: MemberResult) -> str:
    """Return what the threads of a scan do, and how fast."""
    fastest = 1.0 / max(result.model.scan.issue_s, 1e-9)
    here = f"{float(f'{fastest:.2g}'):,.0f}"
    issues = f"one thread issues the blocks of a vdev, at most {here} a second in the pool shown"
    return f"{issues}, and one reads all block pointers"


def _are(name: str) -> str:
    return "are" if "drives" in name.partition(" behind ")[0] else "is"


def _named(model: PlaneModel, role: str, members: Sequence[int]) -> str:
    """Return a group of drives in words: a drive that is repaired in place is no new one."""
    in_place = any(
        leaf in vdev.read_leaf and leaf in vdev.write_leaf for vdev in model.vdevs for leaf in members
    )
    kind, behind, link = role.partition(" behind ")
    apart = next((word for word in (SLOW, "exchanged") if kind.startswith(f"{word} ")), "")
    name = NAMES.get(kind.removeprefix(f"{apart} "), kind)
    several = len(members) > 1
    if kind.endswith("target"):
        used = {leaf for vdev in model.vdevs for leaf in (*vdev.read_leaf, *vdev.write_leaf)}
        stays = not in_place and any(leaf in vdev.read_leaf for vdev in model.vdevs for leaf in members)
        what = "overwritten" if in_place else "added" if used.isdisjoint(members) else "replacement"
        name = f"the {what} drive{'s' if several else ''}" if not stays else STAYING
    elif kind == SOURCE and any(TO_SPARE in vdev.write_leaf for vdev in model.vdevs):
        name = REMAINING
    elif not several and kind.endswith(SOURCE):
        name = "the source drive"
    return (name.replace("the ", f"the {apart} ", 1) if apart else name) + behind + link


def _sums(result: MemberResult, members: Sequence[int]) -> dict[str, float]:
    """Return what the drives of a group spend their time on, as a mean over them [s]."""
    rows = result.run.leaves[list(members)]
    return {name: float(rows[name].mean()) for name in ("busy", *CAUSE_COLUMNS.values())}


def _used_share(drive: DriveParameters, sums: Mapping[str, float], span: float) -> float:
    """Return the share of a run in which a drive is busy [1]: of flash, its servers or its common channel.

    Little's law counts what waits for the channel as in service, and a few commands fill it.
    """
    share = sums["busy"] / span / drive.parallel_commands
    if drive.flash_shares_rate:
        share = max(share, sums["transfer"] / span)
    return min(1.0, share)


def _by_cause(drive: DriveParameters, sums: Mapping[str, float], span: float) -> dict[str, float]:
    """Return the share of a run that a drive spends on each cause [1]; the latencies of flash overlap."""
    if drive.flash_shares_rate:
        moving = min(1.0, sums["transfer"] / span)
        latency = min(sums["overhead"] / span / drive.parallel_commands, 1.0 - moving)
        return {"transfer": moving, "command overhead": latency}
    return {cause: sums[column] / span / drive.parallel_commands for cause, column in CAUSE_COLUMNS.items()}


def _where_time_goes(parts: Mapping[str, float]) -> str:
    """Return what most of the work is, of `breakdown`: the table of causes shows the same share."""
    works = {
        CAUSE_WORDS[cause]: seconds
        for cause, seconds in parts.items()
        if cause not in (IDLE, IDLE_BEHIND_PROCESSOR)
    }
    name, most = max(works.items(), key=lambda item: item[1], default=("", 0.0))
    return f"{format_percent(most / max(math.fsum(works.values()), 1e-9))} of that is {name}"


def breakdown(result: MemberResult, limit: str | None = None, *, apart: bool = True) -> dict[str, float]:
    """Return the answer by cause, of the drives that limit (or are busiest).

    Parameters
    ----------
    result : MemberResult
    limit : str, optional
        Kind of resource that limits, as `limiting` names it.
    apart : bool
        Whether a slow drive is taken alone.

    Returns
    -------
    dict of str to float
        Time by cause, summing to the duration [s]: the issue by the shares of the run that drives of the
        group spend on each cause, idle beside, and metadata phase and txg ends as they are.
    """
    (_, members), issue = _spending(result, limit, apart), result.issue_s
    shares = _by_cause(result.model.leaves[members[0]].drive, _sums(result, members), result.span_s)
    waiting = max(0.0, 1.0 - math.fsum(shares.values()))
    whole = math.fsum(shares.values()) + waiting
    parts = {cause: issue * share / whole for cause, share in shares.items()}
    parts[IDLE_BEHIND_PROCESSOR if limit == PROCESSOR else IDLE] = issue * waiting / whole
    parts["metadata phase"] = result.visit_s
    parts["txg sync"] = result.sync_s
    return {cause: seconds for cause, seconds in parts.items() if seconds > 0.0}


def breakdown_of(result: MemberResult, limit: str | None = None, *, apart: bool = True) -> str:
    """Return in words whose time `breakdown` divides."""
    return _named(result.model, *_spending(result, limit, apart))


def _spending(result: MemberResult, limit: str | None, apart: bool) -> tuple[str, list[int]]:
    kind, _, number = busiest(result, limit)
    return _group_of(result, number if kind != "link" else _target(result.model), apart)


def _target(model: PlaneModel) -> int:
    return next((number for number, leaf in enumerate(model.leaves) if leaf.role == "target"), 0)


REPAIRS = {"rebuild": "sequential rebuild", "expand": "copying", "remove": "copying"}
"""Of operations that copy by address: what their one phase is called."""


def phases(
    result: MemberResult,
    time_s: float | None = None,
    scrub_share: float | None = None,
    counted: MemberResult | None = None,
    limit: str = "",
) -> tuple[Phase, ...]:
    """Return the phases of the operation, each with its share of the txg ends.

    Parameters
    ----------
    result : MemberResult
    time_s : float, optional
        Duration that the phases sum up to; the result's own if not given [s].
    scrub_share : float, optional
        Duration of the scrub that follows, relative to the operation's.
    counted : MemberResult, optional
        A whole run of the same world, that says how the I/Os fall to the phases; `result` if not given.
    limit : str
        What holds the operation up, in words: so in the longest phase.  Of others the busiest is told.
    """
    longest = "visit" if result.visit_s > result.issue_s else "issue"
    active = max(result.visit_s + result.issue_s, 1e-9)
    found, start = [], 0.0
    factor = 1.0 if time_s is None else time_s / max(result.time_s, 1e-9)
    names = {name for name, _, _ in result.run.phases}
    repair = next((words for name, words in REPAIRS.items() if name in names), "repair")
    sums = totals(result)
    for name, kinds, seconds in (
        ("metadata scan", ("visit",), result.visit_s),
        (repair, ("issue", *REPAIRS), result.issue_s),
    ):
        if seconds > 0.0:
            whole = seconds + result.sync_s * seconds / active
            duration = whole * factor
            shares = _of_phase(counted or result, kinds, whole / max(result.time_s, 1e-9))
            found.append(
                Phase(
                    name=name,
                    start_s=start,
                    duration_s=duration,
                    read_bytes=int(sums["read_bytes"] * shares.read),
                    written_bytes=int(sums["written_bytes"] * shares.written),
                    bound_by=limit
                    if limit and longest in kinds
                    else _bound_by(counted or result, kinds[0], shares),
                    busy=shares.busy,
                )
            )
            start += duration
    if scrub_share is not None:
        found.append(Phase(name=VERIFYING_SCRUB, start_s=start, duration_s=start * scrub_share))
    return tuple(found)


def _bound_by(result: MemberResult, phase: str, shares: _Shares) -> str:
    """Return the busiest drives of a phase, or the processor where a thread of the scan is busier."""
    thread_s = dict(zip(("visit", "issue"), result.run.processor_s, strict=True)).get(phase, 0.0)
    thread = thread_s / max(seconds_of(result.run.phases, phase), 1e-9)
    return NAMES[PROCESSOR] if thread > max(shares.busy.values(), default=0.0) else shares.busiest


def mapping_bytes(result: MemberResult) -> int | None:
    """Return the memory that the mapping of a removed vdev takes; None of another operation [bytes].

    Each piece is an entry; it is copied once for each side of the vdev it goes to.
    """
    if not any(name == "remove" for name, _, _ in result.run.phases):
        return None
    others = [vdev.children for vdev in result.model.vdevs[1:]]
    return round(MAPPING_ENTRY * result.run.issued_blocks * len(others) / sum(others) * result.scale)


class _Shares(NamedTuple):
    """A phase's part of what was read and written, how busy drives are by role, and who is the busiest."""

    read: float
    written: float
    busy: dict[str, float]
    busiest: str


def _of_phase(result: MemberResult, kinds: tuple[str, ...], part: float) -> _Shares:
    """Return what falls to a phase that takes so large a part of the time."""
    booked = result.run.by_phase
    here = [booked[kind] for kind in kinds if kind in booked]
    if not here:
        return _Shares(0.0, 0.0, {}, "")
    done = np.sum(here, axis=0)
    every = np.maximum(np.sum(list(booked.values()), axis=(0, 1)), 1e-9)
    read, written = (done.sum(axis=0) / every)[1:]
    span = max(part * result.span_s, 1e-9)
    groups = dict(_groups(result))
    busy = {
        role: min(1.0, float(done[members, 0].mean()) / span * _used_each(result, members))
        for role, members in groups.items()
    }
    busiest_role = max(busy, key=lambda role: busy[role], default="")
    name = _named(result.model, busiest_role, groups[busiest_role]) if busy else ""
    return _Shares(float(read), float(written), busy, name)


def _used_each(result: MemberResult, members: Sequence[int]) -> float:
    """Return how busy a second of service makes drives [1]: one of their servers, more of a full channel."""
    drive, sums, span = result.model.leaves[members[0]].drive, _sums(result, members), result.span_s
    if not drive.flash_shares_rate or sums["busy"] <= 0.0:
        return 1.0 / drive.parallel_commands
    return _used_share(drive, sums, span) * span / sums["busy"]


def totals(result: MemberResult) -> dict[str, int]:
    """Return bytes and I/Os at the size of the real pool."""
    rows, scale, alike = result.run.leaves, result.scale, _stand_for(result)
    commands = rows["reads"] + rows["writes"]
    roles = np.array([leaf.role for leaf in result.model.leaves])
    repaired = roles == "target" if "target" in roles else roles == "source"
    return {
        "resilvered_bytes": int(rows["scan_write_bytes"][repaired].sum() * scale),
        "read_bytes": int((rows["read_bytes"] * alike).sum() * scale),
        "written_bytes": int((rows["write_bytes"] * alike).sum() * scale),
        "io_count": int(result.run.children * scale * (commands * alike).sum() / max(1, commands.sum())),
    }


def transfer_s(result: MemberResult) -> float:
    """Return the least time that moving the data of a scan takes, at the size of the real pool [s].

    What the drive with most to write has to write, sequentially and at the rate of its medium; of a scan that
    writes nothing, what is read.
    """
    rows = result.run.leaves
    moved = rows["scan_write_bytes"] if rows["scan_write_bytes"].any() else rows["scan_read_bytes"]
    return max(
        seconds_to_write(leaf.drive, float(amount) * result.scale)
        for leaf, amount in zip(result.model.leaves, moved, strict=True)
    )


def _metadata_read(result: MemberResult, case: Case) -> float:
    """Return when the rates of zpool status begin anew in a run: all metadata are read [s]; 0 where never."""
    if case.operation not in ("resilver", "scrub") or not case.release.rates_without_metadata:
        return 0.0
    return max((stop for kind, _, stop in result.run.phases if kind == "visit"), default=0.0)


def progress_curve(
    result: MemberResult, case: Case, time_s: float, resilvered: int
) -> tuple[ProgressPoint, ...]:
    """Return the progress over time with what ``zpool status`` would show.

    Sources: facts of `zpool status` by release: to 0.7 the share examined, from 0.8 the share issued; the
    time to go is what is left over the mean rate since the pass began, which from 2.1.12 on begins anew when
    the metadata of a sorted scan are read (dsl_scan.c).
    """
    samples = result.run.progress
    if not samples:
        return ()
    total = max(1, samples[-1].issued_bytes)
    stride = max(1, len(samples) // MAX_POINTS)
    chosen = [*samples[::stride], samples[-1]]
    points, end = [], max(result.run.end, 1e-9)
    read = _metadata_read(result, case)
    before = max((each.issued_bytes / total for each in samples if each.time <= read), default=0.0)
    for sample in chosen:
        share = min(1.0, sample.issued_bytes / total)
        moment = time_s * min(1.0, sample.time / end)
        since, done = (time_s * read / end, share - before) if sample.time > read else (0.0, share)
        points.append(
            ProgressPoint(
                time_s=moment,
                fraction=share,
                scanned_bytes=int(case.alloc * (share if case.release.order == "legacy" else 1.0)),
                issued_bytes=int(case.alloc * share),
                resilvered_bytes=int(resilvered * share),
                zpool_eta_s=(moment - since) * (1.0 - share) / done if done > 0.0 else None,
            )
        )
    if points[-1].time_s < time_s:  # the last txg and what is freed after it are in no sample
        points.append(points[-1].model_copy(update={"time_s": time_s}))
    return tuple(points)
