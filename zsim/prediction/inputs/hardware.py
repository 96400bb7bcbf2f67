"""From a case to the leaves, links and vdevs of the engine."""

from __future__ import annotations

import math
from dataclasses import replace

from zsim.base.constants import constant, whole_constant
from zsim.base.errors import InputError, NotSimulatedYet
from zsim.base.units import format_both, format_bytes, format_fraction
from zsim.case.case import Case
from zsim.case.member import Factors
from zsim.case.resolve import is_sata_flash
from zsim.case.worlds import usual_record
from zsim.drives.models.model import DriveModel
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.model import (
    NOT_REPAIRED,
    TO_SPARE,
    LeafModel,
    LinkModel,
    PlaneModel,
    ScanRules,
    VdevModel,
)
from zsim.operation.rules import queue_rules, scan_rules
from zsim.prediction.inputs.clients import client_groups, request_bytes, writer
from zsim.prediction.inputs.sick import health_of, name_of, numbers_of
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.capacity import free_to_remove
from zsim.vdevs.kind import kind_of

PHASE_STEP = 0.381966
# Cached writes weighed for the next one; more of them change nothing in a stream that is nearly sorted.
MOST_SORTED = whole_constant("clients.most_sorted")
HOPELESS = constant("clients.hopeless")
"""Loads of so many times what the drives can do have no steady state, however well requests are merged."""
# Advanced Format: IDEMA's date for all new drives was January 2011, when 2 TB was common.
NATIVE_512_BELOW = whole_constant("worlds.native_512_below")


def physical_sector(model: DriveModel, numbers: DriveParameters) -> int:
    """Return the physical sector of a drive [bytes].

    A generic disk below 2 TB is taken as one from before 2011, when vendors changed to 4 KiB sectors.
    """
    if model.is_generic and model.kind == "mechanical" and model.capacity_bytes < NATIVE_512_BELOW:
        return 512
    return numbers.physical_sector_bytes


def drive_parameters(
    model: DriveModel, factors: Factors, *, write_cache: bool, rate: float = 1.0
) -> DriveParameters:
    """Return the engine's numbers of drives of one model; `in_phase` gives those of a single one."""
    numbers = model.parameters(
        outer_rate=factors.outer_rate * rate,
        inner_ratio=factors.inner_ratio,
        seek=factors.seek,
        overhead=factors.overhead,
    )
    return replace(
        numbers,
        write_cache_bytes=numbers.write_cache_bytes if write_cache else 0,
        flush_each_txg=write_cache,
        queue_depth=max(numbers.queue_depth, cached_extents(model)) if write_cache else numbers.queue_depth,
        physical_sector_bytes=physical_sector(model, numbers),
    )


def in_phase(numbers: DriveParameters, leaf: int) -> DriveParameters:
    """Return the numbers of one drive: no two drives are at the same angle."""
    return replace(numbers, phase_revolutions=PHASE_STEP * leaf % 1.0)


def cached_extents(model: DriveModel) -> int:
    """Return how many cached writes the firmware sorts; 0 where it is not known."""
    quantity = model.quantities.get("cached_extents")
    return 0 if quantity is None else min(MOST_SORTED, int(quantity.si))


def plane_model(case: Case) -> PlaneModel:
    """Return the data plane of a case in its world: leaves of the layout first, then the new drives."""
    factors, cached = case.member.factors, case.write_cache
    links, link_of = shared_links(case)
    new_drives = 0 if spares(case) else case.replace + (case.second_at is not None)
    sources = [case.drive_model(n) for n, vdev in enumerate(case.layout.vdevs) for _ in range(vdev.children)]
    sources = [case.exchanged_model(leaf) or model for leaf, model in enumerate(sources)]
    kinds = {(model.name, model.capacity_bytes): model for model in sources}
    made = {key: drive_parameters(model, factors, write_cache=cached) for key, model in kinds.items()}
    target = drive_parameters(case.new_drive, factors, write_cache=cached, rate=factors.new_rate)
    leaves = [
        LeafModel(
            drive=numbers_of(case, leaf, in_phase(made[source.name, source.capacity_bytes], leaf)),
            link=link_of.get(leaf, -1),
            role="target" if leaf in written_in_place(case) else "source",
            name=name_of(case, leaf, source),
            health=health_of(case, leaf),
        )
        for leaf, source in enumerate(sources)
    ]
    leaves += [
        LeafModel(
            drive=numbers_of(case, leaf, in_phase(target, leaf)),
            link=link_of.get(leaf, -1),
            role="target",
            name=name_of(case, leaf, case.new_drive),
            health=health_of(case, leaf),
        )
        for leaf in range(case.leaves, case.leaves + new_drives)
    ]
    return PlaneModel(
        leaves=tuple(leaves),
        vdevs=vdev_models(case),
        links=links,
        queue=queue_rules(case.release),
        scan=_scan_rules(case),
        clients=client_groups(case, case.seed),
        writer=writer(case),
    )


def under(model: PlaneModel, case: Case) -> PlaneModel:
    """Return a plane under a case's release, operation and load, on the same drives.

    Parameters
    ----------
    model : PlaneModel
        Of the same case, with another release, operation or load.
    case : Case
    """
    return replace(
        model,
        vdevs=vdev_models(case),
        queue=queue_rules(case.release),
        scan=_scan_rules(case),
        clients=client_groups(case, case.seed),
        writer=writer(case),
    )


def written_in_place(case: Case) -> frozenset[int]:
    """Return the leaves of the layout that are written: overwritten ones, or what a removal copies to."""
    if case.operation == "remove":
        return frozenset(range(case.layout.vdevs[0].children, case.leaves))
    return frozenset(overwritten(case))


def overwritten(case: Case) -> tuple[int, ...]:
    """Return the leaves that a scrub repairs in place, because something else was written over them."""
    return (0,) if case.old_drive == "overwritten" else ()


def _scan_rules(case: Case) -> ScanRules:
    """Return the rules of the scan; a scrub that finds a drive overwritten repairs like a resilver.

    It has read every column, parity included, so nothing is read again (vdev_raidz.c:vdev_raidz_io_done).
    """
    rules = scan_rules(case.release, case.operation)
    return replace(rules, scrub=False) if overwritten(case) else rules


def spares(case: Case) -> bool:
    """Tell whether the data goes to a distributed spare of the damaged dRAID, not to a drive."""
    return case.target == "distributed-spare" and case.replace > 0


def shares_host(case: Case) -> bool:
    """Tell whether the drives are SATA solid-state drives of which nobody says what they plug into."""
    return case.host is not None and is_sata_flash(case.drive)


def shared_link(model: PlaneModel, leaf: int) -> int:
    """Return the link that a leaf shares with others, -1 where it has a port of its own."""
    return model.leaves[leaf].link


def on_own_ports(model: PlaneModel) -> PlaneModel:
    """Return the model without its shared links."""
    return replace(model, leaves=tuple(replace(leaf, link=-1) for leaf in model.leaves), links=())


def refuse_what_is_missing(case: Case) -> None:
    """Refuse, in one sentence, what the scenario may state but the engine cannot do yet.

    Raises
    ------
    NotSimulatedYet
    """
    if spares(case) and case.replace > 1:
        raise NotSimulatedYet(
            "replace",
            case.replace,
            "one drive into a distributed spare at a time",
            "take target new-drive",
        )
    replicated = kind_of(case.layout.vdevs[0].kind).is_replicated
    if case.operation == "rebuild" and case.replace > 1 and replicated:
        raise NotSimulatedYet("replace", case.replace, "one drive of a mirror is rebuilt at a time", "")
    if case.operation == "remove":
        _refuse_removal(case)
    for each in case.scenario.exchanged or ():
        if each.size is not None and each.size < case.drive_size:
            allowed = f"ZFS takes no replacement smaller than the {format_both(case.drive_size)} it replaces"
            raise InputError("exchanged", str(each), allowed, "give a larger drive")
    writer(case)
    _refuse_what_no_drive_serves(case)


def _refuse_removal(case: Case) -> None:
    """Refuse to remove a vdev that has more space than is free."""
    needed = free_to_remove(case.layout, case.drive_size, case.release)
    free = case.pool_size - case.alloc
    if free < needed:
        allowed = (
            f"zpool remove wants as much space free as {case.layout.vdevs[0]} has in all, whatever is on it: "
            f"{format_bytes(needed)} with what ZFS keeps, {format_bytes(free)} are"
        )
        raise InputError(
            "fill", format_fraction(case.fill), allowed, "state how full it is, or add a vdev first"
        )


def _refuse_what_no_drive_serves(case: Case) -> None:
    """Refuse loads far beyond what the drives together can read or write: their queue grows without end.

    No drive moves more than its outermost tracks pass under the head, and no disk is at another place sooner
    than after half a revolution on average.
    """
    numbers = case.drive.parameters()
    most_bytes = HOPELESS * case.leaves * max(numbers.zone_rates)
    each_s = numbers.revolution_s / 2.0
    most_reads = HOPELESS * case.leaves / each_s if each_s > 0.0 else math.inf
    for load in case.load:
        if load.rate is None:
            continue
        record = usual_record(case)
        size = max(request_bytes(load, case), record if load.kind == "random-read" else 0)
        most = most_bytes / size
        if load.kind == "random-read":
            most = min(most, most_reads / math.ceil(size / record))
        if load.rate > most:
            allowed = (
                f"requests of {format_bytes(size)} at this rate are more than {HOPELESS:g} times what "
                f"{case.leaves} such drives can do, {most / HOPELESS:.0f} a second"
            )
            raise InputError("load rate", f"{load.rate:g}", allowed, "give what the pool serves, or threads")


def vdev_models(case: Case) -> tuple[VdevModel, ...]:
    """Return the top-level vdevs; the first one is the damaged one, its first drives are replaced."""
    vdevs, first = [], 0
    for number, spec in enumerate(case.layout.vdevs):
        replaced = case.replace if number == 0 and case.operation != "expand" else 0
        vdevs.append(_vdev(spec, case, first, replaced))
        first += spec.children
    return tuple(vdevs)


def _vdev(spec: VdevSpec, case: Case, first: int, replaced: int) -> VdevModel:
    online, behind = case.old_drive == "online", first + spec.children
    leaves = range(first, behind)
    read = tuple(
        leaf if (leaf - first >= replaced or online) and leaf not in case.sitting else -1 for leaf in leaves
    )
    write = tuple(
        first + child
        if first + child in overwritten(case)
        else NOT_REPAIRED
        if child >= replaced
        else TO_SPARE
        if spares(case)
        else case.leaves + child
        for child in range(spec.children)
    )
    return VdevModel(
        kind=spec.kind,
        parity=spec.parity,
        ashift=case.ashift,
        read_leaf=read,
        write_leaf=write,
        data=spec.data,
        spares=spec.spares or 0,
        sitting_out=frozenset((leaf - first, leaf) for leaf in case.sitting if first <= leaf < behind),
        alloc_class=spec.alloc_class,
        grown=spec.grown,
    )


def shared_links(case: Case) -> tuple[tuple[LinkModel, ...], dict[int, int]]:
    """Return the shared links of a scenario, and which link each leaf plugs into."""
    if case.host is not None and is_sata_flash(case.drive):
        rate = case.host.root.rate * case.member.factors.host
        drives = range(case.leaves + case.replace)
        return (LinkModel(rate=rate, name=case.host.name),), dict.fromkeys(drives, 0)
    links: list[LinkModel] = []
    link_of: dict[int, int] = {}
    for name, enclosure, leaves in case.ports:
        first = len(links)
        links += [
            LinkModel(
                rate=flat.link.rate,
                per_command_s=flat.link.per_command_s,
                command_based=flat.link.command_based,
                parent=first + flat.parent if flat.parent >= 0 else -1,
                name=f"{name}: {flat.link.name}",
            )
            for flat in enclosure.flatten()
        ]
        link_of |= {
            leaf: first + place for leaf, place in zip(leaves, enclosure.attach(len(leaves)), strict=True)
        }
    return tuple(links), link_of
