"""From a resolved scenario to the leaves, links and vdevs of the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.base.units import format_bytes
from zsim.drives.catalogue import load_drive
from zsim.drives.models.links import load_enclosure
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
from zsim.prediction.numbers import constant, whole_constant
from zsim.scenario.layout import VdevSpec
from zsim.scenario.resolve import ResolvedScenario
from zsim.vdevs.kind import kind_of

PHASE_STEP = 0.381966
# Cached writes weighed for the next one; more of them change nothing in a stream that is nearly sorted.
MOST_SORTED = whole_constant("clients.most_sorted")
HOST, FASTEST_SATA = "onboard-sata", constant("worlds.fastest_sata")
HOPELESS = constant("clients.hopeless")
"""Loads of so many times what the drives can do have no steady state, however well requests are merged."""
# Advanced Format: IDEMA's date for all new drives was January 2011, when 2 TB was common.
NATIVE_512_BELOW = whole_constant("worlds.native_512_below")


@dataclass(frozen=True, slots=True)
class Factors:
    """How one member of the ensemble differs from the models: factors on their numbers.

    Attributes
    ----------
    outer_rate, inner_ratio, seek, overhead : float
        See `DriveModel.parameters`; of all drives.
    new_rate : float
        Rate of the new drive relative to its model's.
    host : float
        Rate of what SATA solid-state drives of unknown attachment share.
    """

    outer_rate: float = 1.0
    inner_ratio: float = 1.0
    seek: float = 1.0
    overhead: float = 1.0
    new_rate: float = 1.0
    host: float = 1.0


def drive_models(resolved: ResolvedScenario) -> tuple[DriveModel, DriveModel]:
    """Return the models of the pool's drives and of the new one, generic ones scaled to their capacity."""
    year = resolved.release.year
    return (
        sized(resolved.drive, resolved.drive_size, year),
        sized(resolved.new_drive, resolved.new_drive_size, year),
    )


def sized(name: str, capacity: int, year: int) -> DriveModel:
    """Return a drive of the catalogue, a generic one with a capacity and the platters of its time."""
    model = load_drive(name)
    return model.with_capacity(capacity, year) if model.is_generic else model


def physical_sector(model: DriveModel, numbers: DriveParameters) -> int:
    """Return the physical sector of a drive [bytes].

    A generic disk below 2 TB is taken as one from before 2011, when vendors changed to 4 KiB sectors.
    """
    if model.is_generic and model.kind == "mechanical" and model.capacity_bytes < NATIVE_512_BELOW:
        return 512
    return numbers.physical_sector_bytes


def leaf_parameters(
    model: DriveModel, factors: Factors, leaf: int, *, write_cache: bool, rate: float = 1.0
) -> DriveParameters:
    """Return the engine's numbers of one drive."""
    numbers = model.parameters(
        outer_rate=factors.outer_rate * rate,
        inner_ratio=factors.inner_ratio,
        seek=factors.seek,
        overhead=factors.overhead,
    )
    return replace(
        numbers,
        phase_revolutions=PHASE_STEP * leaf % 1.0,
        write_cache_bytes=numbers.write_cache_bytes if write_cache else 0,
        flush_each_txg=write_cache,
        queue_depth=max(numbers.queue_depth, cached_extents(model)) if write_cache else numbers.queue_depth,
        physical_sector_bytes=physical_sector(model, numbers),
    )


def cached_extents(model: DriveModel) -> int:
    """Return how many cached writes the firmware sorts; 0 where it is not known."""
    quantity = model.quantities.get("cached_extents")
    return 0 if quantity is None else min(MOST_SORTED, int(quantity.si))


def plane_model(resolved: ResolvedScenario, factors: Factors, seed: int) -> PlaneModel:
    """Return the data plane of a scenario: leaves of the layout first, then the new drives."""
    refuse_what_is_missing(resolved)
    old, new = drive_models(resolved)
    links, link_of = shared_links(resolved)
    if shares_host(resolved):
        enclosure = load_enclosure(HOST)
        links = (LinkModel(rate=enclosure.root.rate * factors.host, name=HOST),)
        link_of = dict.fromkeys(range(resolved.leaves + resolved.replace), 0)
    count, new_drives = (
        resolved.leaves,
        0 if spares(resolved) else resolved.replace + (resolved.second_at is not None),
    )
    leaves = [
        LeafModel(
            drive=leaf_parameters(old, factors, leaf, write_cache=resolved.write_cache),
            link=link_of.get(leaf, -1),
            role="target" if leaf in overwritten(resolved) else "source",
            name=old.name,
        )
        for leaf in range(count)
    ]
    leaves += [
        LeafModel(
            drive=leaf_parameters(
                new, factors, leaf, write_cache=resolved.write_cache, rate=factors.new_rate
            ),
            link=link_of.get(leaf, -1),
            role="target",
            name=new.name,
        )
        for leaf in range(count, count + new_drives)
    ]
    return PlaneModel(
        leaves=tuple(leaves),
        vdevs=vdev_models(resolved),
        links=links,
        queue=queue_rules(resolved.release),
        scan=_scan_rules(resolved),
        clients=client_groups(resolved, seed),
        writer=writer(resolved),
    )


def overwritten(resolved: ResolvedScenario) -> tuple[int, ...]:
    """Return the leaves that a scrub repairs in place, because something else was written over them."""
    return (0,) if resolved.old_drive == "overwritten" else ()


def _scan_rules(resolved: ResolvedScenario) -> ScanRules:
    """Return the rules of the scan; a scrub that finds a drive overwritten repairs like a resilver.

    It has read every column, parity included, so nothing is read again (vdev_raidz.c:vdev_raidz_io_done).
    """
    rules = scan_rules(resolved.release, resolved.operation)
    return replace(rules, scrub=False) if overwritten(resolved) else rules


def spares(resolved: ResolvedScenario) -> bool:
    """Tell whether the data goes to a distributed spare of the damaged dRAID, not to a drive."""
    return resolved.target == "distributed-spare" and resolved.replace > 0


def shares_host(resolved: ResolvedScenario) -> bool:
    """Tell whether the drives are SATA solid-state drives of which nobody says what they plug into."""
    old, _ = drive_models(resolved)
    sata = old.kind == "flash" and old.parameters().interface_rate < FASTEST_SATA
    return sata and resolved.assumed("ports")


def shared_link(model: PlaneModel, leaf: int) -> int:
    """Return the link that a leaf shares with others, -1 where it has a port of its own."""
    return model.leaves[leaf].link


def on_own_ports(model: PlaneModel) -> PlaneModel:
    """Return the model without its shared links."""
    return replace(model, leaves=tuple(replace(leaf, link=-1) for leaf in model.leaves), links=())


def refuse_what_is_missing(resolved: ResolvedScenario) -> None:
    """Refuse, in one sentence, what the scenario may state but the engine cannot do yet.

    Raises
    ------
    NotSimulatedYet
    """
    if spares(resolved) and resolved.replace > 1:
        raise NotSimulatedYet(
            "replace",
            resolved.replace,
            "one drive into a distributed spare at a time",
            "take target new-drive",
        )
    replicated = kind_of(resolved.layout.vdevs[0].kind).is_replicated
    if resolved.operation == "rebuild" and resolved.replace > 1 and replicated:
        raise NotSimulatedYet("replace", resolved.replace, "one drive of a mirror is rebuilt at a time", "")
    writer(resolved)
    _refuse_what_no_drive_serves(resolved)


def _refuse_what_no_drive_serves(resolved: ResolvedScenario) -> None:
    """Refuse loads far beyond what the drives together can read or write: their queue grows without end.

    No drive moves more than its outermost tracks pass under the head, and no disk is at another place sooner
    than after half a revolution on average.
    """
    numbers = drive_models(resolved)[0].parameters()
    most_bytes = HOPELESS * resolved.leaves * max(numbers.zone_rates)
    each_s = numbers.revolution_s / 2.0
    most_reads = HOPELESS * resolved.leaves / each_s if each_s > 0.0 else math.inf
    for load in resolved.load:
        if load.rate is None:
            continue
        size = max(request_bytes(load, resolved), resolved.recordsize if load.kind == "random-read" else 0)
        most = most_bytes / size
        if load.kind == "random-read":
            most = min(most, most_reads / math.ceil(size / resolved.recordsize))
        if load.rate > most:
            allowed = (
                f"requests of {format_bytes(size)} at this rate are more than {HOPELESS:g} times what "
                f"{resolved.leaves} such drives can do, {most / HOPELESS:.0f} a second"
            )
            raise InputError("load rate", f"{load.rate:g}", allowed, "give what the pool serves, or threads")


def vdev_models(resolved: ResolvedScenario) -> tuple[VdevModel, ...]:
    """Return the top-level vdevs; the first one is the damaged one, its first drives are replaced."""
    vdevs, first = [], 0
    for number, spec in enumerate(resolved.layout.vdevs):
        replaced = resolved.replace if number == 0 else 0
        vdevs.append(_vdev(spec, resolved, first, replaced))
        first += spec.children
    return tuple(vdevs)


def _vdev(spec: VdevSpec, resolved: ResolvedScenario, first: int, replaced: int) -> VdevModel:
    online = resolved.old_drive == "online"
    read = tuple(first + child if child >= replaced or online else -1 for child in range(spec.children))
    write = tuple(
        first + child
        if first + child in overwritten(resolved)
        else NOT_REPAIRED
        if child >= replaced
        else TO_SPARE
        if spares(resolved)
        else resolved.leaves + child
        for child in range(spec.children)
    )
    return VdevModel(
        kind=spec.kind,
        parity=spec.parity,
        ashift=resolved.ashift,
        read_leaf=read,
        write_leaf=write,
        data=spec.data,
        spares=spec.spares or 0,
    )


def shared_links(resolved: ResolvedScenario) -> tuple[tuple[LinkModel, ...], dict[int, int]]:
    """Return the shared links of a scenario, and which link each leaf plugs into."""
    links: list[LinkModel] = []
    link_of: dict[int, int] = {}
    for name, leaves in resolved.ports:
        enclosure = load_enclosure(name)
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
