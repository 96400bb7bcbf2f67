"""From a case to the leaves, links and vdevs of the engine."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import fields, replace

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.case.member import Factors
from zsim.case.resolve import is_sata_flash
from zsim.drives.models.links import Enclosure
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
from zsim.operation.rules import queue_rules
from zsim.prediction.inputs.clients import client_groups, writer
from zsim.prediction.inputs.processor import timed_rules
from zsim.prediction.inputs.sick import health_of, name_of, numbers_of
from zsim.scenario.layout import VdevSpec

PHASE_STEP = 0.381966
NUMBERS = tuple(each.name for each in fields(DriveParameters))
_numbers_of = operator.attrgetter(*NUMBERS)
# Cached writes weighed for the next one; more of them change nothing in a stream that is nearly sorted.
MOST_SORTED = whole_constant("clients.most_sorted")
# Of the rate of a datasheet, which is that of data written in one go.
FLASH_READS = constant("worlds.flash_reads")
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
    """Return the engine's numbers of drives of one model.

    Parameters
    ----------
    model : DriveModel
    factors : Factors
        Of the world, on what is not known of the drive [1].
    write_cache : bool
        Without it nothing is kept nor flushed; with it the drive sorts as many writes as its cache has
        extents.
    rate : float
        Further factor on the rate of the outermost tracks, of the replacement drive [1].

    Returns
    -------
    DriveParameters
        In SI; `in_phase` gives those of a single drive.  Flash reads what lies in a pool more slowly than its
        datasheet says: data that were not written together do not lie on its dies in turn.
    """
    numbers = model.parameters(
        outer_rate=factors.outer_rate * rate,
        inner_ratio=factors.inner_ratio,
        seek=factors.seek,
        overhead=factors.overhead,
    )
    reads = FLASH_READS if numbers.kind == "flash" else 1.0
    return replace(
        numbers,
        flash_read_rate=numbers.flash_read_rate * reads,
        write_cache_bytes=numbers.write_cache_bytes if write_cache else 0,
        flush_each_txg=write_cache,
        queue_depth=max(numbers.queue_depth, cached_extents(model)) if write_cache else numbers.queue_depth,
        physical_sector_bytes=physical_sector(model, numbers),
    )


def in_phase(numbers: DriveParameters, leaf: int) -> DriveParameters:
    """Return the numbers of one drive: no two drives are at the same angle.

    Returns
    -------
    DriveParameters
        At time 0 its platter stands at ``PHASE_STEP * leaf`` revolutions, modulo 1: multiples of the golden
        section lie evenly, however many drives there are.
    """
    # `replace` takes fifteen times as long, for each of hundreds of drives in each world.
    turned = object.__new__(DriveParameters)
    for name, value in zip(NUMBERS, _numbers_of(numbers), strict=True):
        object.__setattr__(turned, name, value)
    object.__setattr__(turned, "phase_revolutions", PHASE_STEP * leaf % 1.0)
    return turned


def cached_extents(model: DriveModel) -> int:
    """Return how many cached writes the firmware sorts; 0 where it is not known."""
    quantity = model.quantities.get("cached_extents")
    return 0 if quantity is None else min(MOST_SORTED, int(quantity.si))


def plane_model(case: Case) -> PlaneModel:
    """Return the data plane of a case in its world.

    Returns
    -------
    PlaneModel
        Leaves of the layout first, in its order, then the new drives; links, top-level vdevs, the rules of
        the release, clients and writer.
    """
    factors, cached = case.member.factors, case.write_cache
    clients, writes = client_groups(case, case.seed), writer(case)
    links, link_of = shared_links(case)
    sources = [case.drive_model(n) for n, vdev in enumerate(case.layout.vdevs) for _ in range(vdev.children)]
    sources = [case.exchanged_model(leaf) or model for leaf, model in enumerate(sources)]
    kinds = {(model.name, model.capacity_bytes): model for model in sources}
    made = {key: drive_parameters(model, factors, write_cache=cached) for key, model in kinds.items()}
    target = drive_parameters(case.new_drive, factors, write_cache=cached, rate=factors.new_rate)
    in_place = written_in_place(case)
    leaves = [
        LeafModel(
            drive=numbers_of(case, leaf, in_phase(made[source.name, source.capacity_bytes], leaf)),
            link=link_of.get(leaf, -1),
            role="target" if leaf in in_place else "source",
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
        for leaf in range(case.leaves, case.leaves + case.new_drives)
    ]
    return PlaneModel(
        leaves=tuple(leaves),
        vdevs=vdev_models(case),
        links=links,
        queue=queue_rules(case.release),
        scan=_scan_rules(case),
        clients=clients,
        writer=writes,
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
    """Return the leaves of the layout that are written.

    Returns
    -------
    frozenset of int
        A scrub writes to the one that was overwritten, a removal to all vdevs but the first.
    """
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
    rules = timed_rules(case, case.operation)
    return replace(rules, scrub=False) if overwritten(case) else rules


def shared_link(model: PlaneModel, leaf: int) -> int:
    """Return the link that a leaf shares with others, -1 where it has a port of its own."""
    return model.leaves[leaf].link


def on_own_ports(model: PlaneModel) -> PlaneModel:
    """Return the model without its shared links."""
    return replace(model, leaves=tuple(replace(leaf, link=-1) for leaf in model.leaves), links=())


def vdev_models(case: Case) -> tuple[VdevModel, ...]:
    """Return the top-level vdevs; the first one is the damaged one, its first drives are replaced.

    Returns
    -------
    tuple of VdevModel
        Leaves count through the vdevs, in the order of the layout; a leaf that is missing or sits out is read
        as -1, one that is not repaired written as `NOT_REPAIRED`, distributed spare n as ``TO_SPARE - n``.
    """
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
        else TO_SPARE - child
        if case.onto_spare
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
    """Return the shared links of a scenario, and which link each leaf plugs into.

    Returns
    -------
    links : tuple of LinkModel
        Rates in bytes/s.  SATA solid-state drives share the host's controller where nobody says what they
        plug into; enclosures are trees, a link after its parent.
    link_of : dict of int to int
        Leaves that have a port of their own are left out.
    """
    if case.host is not None and is_sata_flash(case.drive):
        rate = case.host.root.rate * case.member.factors.host
        drives = range(case.leaves + case.replace)
        return (LinkModel(rate=rate, name=case.host.name),), dict.fromkeys(drives, 0)
    links: list[LinkModel] = []
    link_of: dict[int, int] = {}
    for _, enclosure, leaves in case.ports:
        first = len(links)
        links += [
            LinkModel(
                rate=flat.link.rate,
                per_command_s=flat.link.per_command_s,
                command_based=flat.link.command_based,
                parent=first + flat.parent if flat.parent >= 0 else -1,
                name=f"{enclosure.name}: {flat.link.name}",
            )
            for flat in enclosure.flatten()
        ]
        link_of |= {leaf: first + place for leaf, place in _plugged(case, enclosure, leaves).items()}
    return tuple(links), link_of


def _plugged(case: Case, enclosure: Enclosure, leaves: Sequence[int]) -> dict[int, int]:
    """Return the link of each drive behind an enclosure, by its place in `Enclosure.flatten`.

    A drive that replaces a missing one takes its bay, if that is in the enclosure too.
    """
    gone = range(0 if case.old_drive == "online" else case.new_drives)
    taken = {case.leaves + drive: drive for drive in gone if drive in leaves}
    own = [leaf for leaf in leaves if leaf not in taken]
    found = dict(zip(own, enclosure.attach(len(own)), strict=True))
    return found | {new: found[old] for new, old in taken.items() if new in leaves}
