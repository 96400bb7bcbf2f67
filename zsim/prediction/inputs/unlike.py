"""Top-level vdevs that are unlike the others: a scrub is over when the last of them is."""

from __future__ import annotations

from dataclasses import replace

from zsim.base.constants import whole_constant
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.pool.blocks import BlockTable
from zsim.prediction.inputs.sick import attachment, sick_leaves, slow_drive
from zsim.vdevs.kind import NORMAL

MOST_UNLIKE = whole_constant("population.most_unlike")
"""Of a population, at most."""


def scrubs_some(case: Case) -> bool:
    """Tell whether a scrub of all data vdevs is simulated on some of them.

    The tiles of an exact run lie on all vdevs in turn.
    """
    return case.operation == "scrub" and not case.exact


def vdevs_apart(case: Case) -> tuple[int, ...]:
    """Return data vdevs that a population of some must have, for others do not stand for them.

    A scrub reads all vdevs at once, each at its own pace.  A resilver or rebuild reads one.

    Returns
    -------
    tuple of int
        Numbers of those with a sick drive, then of each shape and hardware the one that holds most.
    """
    if not scrubs_some(case) or len(case.layout.data) < 2:
        return ()
    sick, leaf = set(sick_leaves(case)), 0
    shares = dict(zip(case.layout.places_of(NORMAL), case.data_shares, strict=True))
    apart: list[int] = []
    fullest: dict[tuple[object, ...], int] = {}
    for number, vdev in enumerate(case.layout.vdevs):
        leaves = range(leaf, leaf + vdev.children)
        leaf = leaves.stop
        if number not in shares:
            continue
        if not sick.isdisjoint(leaves):
            apart.append(number)
            continue
        alike = vdev, case.drive_model(number).name, *(_drive(case, each) for each in leaves)
        other = fullest.setdefault(alike, number)
        if shares[number] > shares[other]:
            fullest[alike] = number
    return tuple([*apart, *fullest.values()][:MOST_UNLIKE])


def _drive(case: Case, leaf: int) -> tuple[object, ...]:
    """Return what is said of one drive that its model does not say."""
    exchanged, slow = case.exchanged_model(leaf), slow_drive(case, leaf)
    behind = next((port for port in case.ports if leaf in port.leaves), None)
    return (
        None if exchanged is None else (exchanged.name, exchanged.capacity_bytes),
        None if slow is None else slow.words,
        attachment(case, leaf),
        leaf in case.sitting,
        None if behind is None else (behind.enclosure.name, len(behind.leaves)),
    )


def with_links_shared(model: PlaneModel, blocks: BlockTable) -> PlaneModel:
    """Return a plane in which drives have the part of each link that all others behind it leave them.

    Parameters
    ----------
    model : PlaneModel
        Of a pool whose data vdevs are all read.
    blocks : BlockTable
        Those that are simulated, on some of these vdevs.

    Returns
    -------
    PlaneModel
        The drives of vdevs without blocks would take as much of a link as those with: its rate is divided,
        and the cost of a command multiplied, by all drives over those that are simulated.
    """
    data = [number for number, vdev in enumerate(model.vdevs) if vdev.alloc_class == NORMAL]
    lie = set(blocks.dva_vdev[:, 0].tolist())
    if not model.links or lie.issuperset(data):
        return model
    every, simulated = [0] * len(model.links), [0] * len(model.links)
    for number, vdev in enumerate(model.vdevs):
        counts = number in lie or vdev.alloc_class != NORMAL
        for leaf in vdev.read_leaf:
            link = model.leaves[leaf].link if leaf >= 0 else -1
            while link >= 0:
                every[link] += 1
                simulated[link] += counts
                link = model.links[link].parent
    links = tuple(
        replace(link, rate=link.rate * some / all_, per_command_s=link.per_command_s * all_ / some)
        if some
        else link
        for link, all_, some in zip(model.links, every, simulated, strict=True)
    )
    return replace(model, links=links)
