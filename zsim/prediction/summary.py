"""From the members' runs to the answer: quantiles, who is busy with what, what would change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from zsim.base.constants import constant
from zsim.base.units import format_duration
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.result import followed
from zsim.prediction.answer.records import VERIFYING_SCRUB, Bottleneck, Leaf, Phase, ProgressPoint
from zsim.prediction.inputs.hardware import shared_link
from zsim.prediction.runs.member import MemberResult

MAX_POINTS = 40
NAMES = {"source": "the source drives", "target": "the replacement drive", "link": "the shared link"}
WORTH_NAMING, SAME = constant("answer.worth_naming"), constant("answer.same_saving")
"""A resource without which less than this share of the time is saved holds nothing up; savings that lie
closer together are the same."""
SATURATED = constant("answer.saturated")


def leaf_rows(result: MemberResult) -> tuple[Leaf, ...]:
    """Return one row a role: sources, slow ones, those behind each shared link, replacement drives."""
    model, groups = result.model, []
    for role in ("source", "target"):
        members = [
            number for number, leaf in enumerate(model.leaves) if leaf.role == role and _used(result, number)
        ]
        groups.append((role, members))
        usual = min((model.leaves[number].name for number in members), key=len, default="")
        slow = sorted({model.leaves[number].name for number in members} - {usual})
        groups += [
            (f"slow {role}", [number for number in members if model.leaves[number].name == name])
            for name in slow
        ]
        for link in sorted({shared_link(model, number) for number in members} - {-1}):
            behind = [number for number in members if shared_link(model, number) == link]
            if len(behind) < len(members):
                groups.append((f"{role} behind {model.links[link].name}", behind))
    return tuple(_row(result, role, members) for role, members in groups if members)


def _used(result: MemberResult, leaf: int) -> bool:
    row = result.run.leaves[leaf]
    return bool(row["scan_reads"] + row["scan_writes"] > 0)


def _row(result: MemberResult, role: str, members: Sequence[int]) -> Leaf:
    rows, model = result.run.leaves[list(members)], result.model
    span = max(result.run.end, 1e-9)
    commands = max(1.0, float((rows["reads"] + rows["writes"]).sum()))
    moved = float((rows["read_bytes"] + rows["write_bytes"]).sum())
    servers = model.leaves[members[0]].drive.parallel_commands
    count = len(members)
    return Leaf(
        role=role,
        name=model.leaves[members[0]].name,
        count=count,
        utilisation=min(1.0, float(rows["busy"].mean()) / span / servers),
        mean_io_bytes=moved / commands,
        iops=commands / count / span,
        mean_service_ms=1e3 * float(rows["busy"].sum()) / commands,
        queue=float(rows["response"].sum()) / count / span,
        read_rate=float(rows["read_bytes"].mean()) / span,
        write_rate=float(rows["write_bytes"].mean()) / span,
    )


def busiest(result: MemberResult, kind: str | None = None) -> tuple[str, float, int]:
    """Return the kind of resource that is busiest, how busy it is, and one leaf (or link) of it.

    With `kind` (source, target or link) the busiest of these.
    """
    span, model = max(result.run.end, 1e-9), result.model
    best: tuple[str, float, int] = ("nothing", 0.0, 0)
    for number, leaf in enumerate(model.leaves):
        share = float(result.run.leaves["busy"][number]) / span / leaf.drive.parallel_commands
        if kind in (None, leaf.role) and share > best[1]:
            best = (leaf.role, min(1.0, share), number)
    for number, busy in enumerate(result.run.link_busy if kind in (None, "link") else ()):
        if (model.links[number].command_based and busy / span > 0.97 * best[1]) or busy / span > best[1]:
            best = ("link", min(1.0, busy / span), number)
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


def bottleneck(result: MemberResult, without: Mapping[str, float], named: str | None) -> Bottleneck:
    """Return the resource that sets the pace, in words: the kind that `limiting` names."""
    kind, share, number = busiest(result, named)
    if named is None:
        return Bottleneck(
            resource=f"no single one: {NAMES.get(kind, 'nothing')} is the busiest",
            utilisation=share,
            why="they wait for each other, or for ZFS (its scan window, its txgs); "
            f"with the one that helps most infinitely fast it takes {format_duration(min(without.values()))}"
            if without
            else "",
        )
    if kind == "link":
        name, why = f"the shared link ({result.model.links[number].name})", "the drives behind it take turns"
    else:
        name, why = _named(result.model, kind, number), _where_time_goes(result, number)
        if share < SATURATED:
            why += "; not saturated: it is waited for, because the window limits the blocks in flight"
    return Bottleneck(resource=name, utilisation=share, why=why, without_it_s=without[named])


def _named(model: PlaneModel, kind: str, leaf: int) -> str:
    """Return the resource in words: a drive that is repaired in place is no new one."""
    in_place = any(leaf in vdev.read_leaf and leaf in vdev.write_leaf for vdev in model.vdevs)
    return "the overwritten drive" if in_place else NAMES[kind]


def _where_time_goes(result: MemberResult, leaf: int) -> str:
    row = result.run.leaves[leaf]
    busy = max(float(row["busy"]), 1e-9)
    parts = {
        "moving data": float(row["transfer"]),
        "seeking": float(row["seek"]),
        "rotational latency": float(row["wait"]),
        "command overhead": float(row["overhead"]),
        "rewriting shingled bands": float(row["cleaning"]),
    }
    name, value = max(parts.items(), key=lambda item: item[1])
    return f"{value / busy:.0%} of that is {name}"


def breakdown(result: MemberResult, limit: str | None = None) -> dict[str, float]:
    """Return the answer by cause, of the busiest drive (of the kind that limits); the parts sum to it [s]."""
    kind, _, number = busiest(result, limit)
    leaf = number if kind != "link" else _target(result.model)
    row, issue = result.run.leaves[leaf], result.issue_s
    span = max(result.run.end, 1e-9)
    servers = result.model.leaves[leaf].drive.parallel_commands
    names = {
        "seek": "seek",
        "rotation and gaps": "wait",
        "transfer": "transfer",
        "command overhead": "overhead",
        "rewriting shingled bands": "cleaning",
    }
    shares = {cause: float(row[name]) / span / servers for cause, name in names.items()}
    waiting = max(0.0, 1.0 - sum(shares.values()))
    whole = sum(shares.values()) + waiting
    parts = {cause: issue * share / whole for cause, share in shares.items()}
    parts["idle, waiting on siblings"] = issue * waiting / whole
    parts["metadata phase"] = result.visit_s
    parts["txg sync"] = result.sync_s
    return {cause: seconds for cause, seconds in parts.items() if seconds > 0.0}


def _target(model: PlaneModel) -> int:
    return next((number for number, leaf in enumerate(model.leaves) if leaf.role == "target"), 0)


def phases(
    result: MemberResult,
    time_s: float | None = None,
    scrub_share: float | None = None,
    counted: MemberResult | None = None,
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
    """
    active = max(result.visit_s + result.issue_s, 1e-9)
    found, start = [], 0.0
    factor = 1.0 if time_s is None else time_s / max(result.time_s, 1e-9)
    repair = "sequential rebuild" if any(name == "rebuild" for name, _, _ in result.run.phases) else "repair"
    sums = totals(result)
    for name, kinds, seconds in (
        ("metadata scan", ("visit",), result.visit_s),
        (repair, ("issue", "rebuild"), result.issue_s),
    ):
        if seconds > 0.0:
            duration = (seconds + result.sync_s * seconds / active) * factor
            shares = _of_phase(counted or result, kinds)
            found.append(
                Phase(
                    name=name,
                    start_s=start,
                    duration_s=duration,
                    read_bytes=int(sums["read_bytes"] * shares.read),
                    written_bytes=int(sums["written_bytes"] * shares.written),
                    bound_by=shares.busiest,
                )
            )
            start += duration
    if scrub_share is not None:
        found.append(Phase(name=VERIFYING_SCRUB, start_s=start, duration_s=start * scrub_share))
    return tuple(found)


class _Shares(NamedTuple):
    """A phase's part of what was read and written, and in words what was busiest in it."""

    read: float
    written: float
    busiest: str


def _of_phase(result: MemberResult, kinds: tuple[str, ...]) -> _Shares:
    booked = result.run.by_phase
    here = [booked[kind] for kind in kinds if kind in booked]
    if not here:
        return _Shares(0.0, 0.0, "")
    done = np.sum(here, axis=0)
    every = np.maximum(np.sum(list(booked.values()), axis=(0, 1)), 1e-9)
    read, written = (done.sum(axis=0) / every)[1:]
    slices = zip(result.run.phases, followed(result.run.phases, result.run.end), strict=True)
    span = sum(end - begin for (name, begin, _), end in slices if name in kinds)
    busy = {
        NAMES[leaf.role]: float(done[number, 0]) / leaf.drive.parallel_commands / max(span, 1e-9)
        for number, leaf in sorted(enumerate(result.model.leaves), key=lambda each: float(done[each[0], 0]))
        if leaf.role in NAMES
    }
    if not busy:
        return _Shares(float(read), float(written), "")
    name, share = max(busy.items(), key=lambda item: item[1])
    return _Shares(float(read), float(written), f"{name}, busy {100 * min(1.0, share):.0f} %")


def totals(result: MemberResult) -> dict[str, int]:
    """Return bytes and I/Os at the size of the real pool."""
    rows, scale = result.run.leaves, result.scale
    roles = np.array([leaf.role for leaf in result.model.leaves])
    repaired = roles == "target" if "target" in roles else roles == "source"
    return {
        "resilvered_bytes": int(rows["scan_write_bytes"][repaired].sum() * scale),
        "read_bytes": int(rows["read_bytes"].sum() * scale),
        "written_bytes": int(rows["write_bytes"].sum() * scale),
        "io_count": int(result.run.children * scale),
    }


def progress_curve(
    result: MemberResult, case: Case, time_s: float, resilvered: int
) -> tuple[ProgressPoint, ...]:
    """Return the progress over time with what ``zpool status`` would show.

    Sources: facts of `zpool status` by release: to 0.7 the share examined, from 0.8 the share issued; the
    time to go is what is left over the mean rate since the pass began.
    """
    samples = result.run.progress
    if not samples:
        return ()
    total = max(1, samples[-1].issued_bytes)
    stride = max(1, len(samples) // MAX_POINTS)
    chosen = [*samples[::stride], samples[-1]]
    points, end = [], max(result.run.end, 1e-9)
    for sample in chosen:
        share = min(1.0, sample.issued_bytes / total)
        moment = time_s * min(1.0, sample.time / end)
        points.append(
            ProgressPoint(
                time_s=moment,
                fraction=share,
                scanned_bytes=int(case.alloc * (share if case.release.order == "legacy" else 1.0)),
                issued_bytes=int(case.alloc * share),
                resilvered_bytes=int(resilvered * share),
                zpool_eta_s=moment * (1.0 - share) / share if share > 0 else None,
            )
        )
    return tuple(points)
