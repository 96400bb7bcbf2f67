"""Foreground clients: each sends a request, waits for the answer, pauses, and repeats."""

from __future__ import annotations

from math import log

from zsim.base.arrays import Table
from zsim.base.jit import njit, word_of
from zsim.drives.physics.draws import evenly
from zsim.engine.codes import (
    ASYNC_READ,
    FLAG_NORMAL,
    FOREVER,
    LATENCY_BINS,
    META_IN_FLIGHT,
    META_PRESENT,
    PAUSES,
    PLACES,
    SYNC_READ,
    SYNC_WRITE,
)
from zsim.engine.compiled.events import set_event
from zsim.engine.compiled.memory import (
    ITEM_MASK,
    N_CLIENTS,
    OWNER_CLIENT,
    OWNER_DEMAND,
    RANDOM_READ,
    SEQUENTIAL_READ,
    SYNC_WRITES,
    above_of,
    client_items_of,
    client_slot,
    clients_of,
    general_of,
    items_of,
    vdevs_of,
    waits_of,
)
from zsim.engine.compiled.vdev import read_metadata, read_plainly, write_plainly
from zsim.engine.leaf_rules import wait_bin


@njit
def client_reads(table: Table, client_number: int) -> None:
    """Let a foreground client read random blocks or the next ones, or write the next blocks of the log.

    Parameters
    ----------
    table
        Memory of the plane.
    client_number : int
        Which; one that is off at this hour asks for nothing.

    Notes
    -----
    The classes are those of OpenZFS zio_priority.h: sync read, async read of what is read ahead in a file
    (dmu_zfetch.c:dmu_zfetch_run), and sync write of the intent log (zil.c:zil_lwb_write_issue).
    """
    general, client = general_of(table)[0], clients_of(table)[client_number]
    set_event(table, client_slot(table, client_number), FOREVER)
    if client.off != 0:
        return
    if client.mode == RANDOM_READ:
        client.pick = int(evenly(client.seed, PLACES, client.count) * client.items)
    else:
        leader = clients_of(table)[client.leader]
        client.pick, leader.place = leader.place, (leader.place + client.blocks) % client.items
    client.started = general.now
    client_asks(table, client_number)


@njit
def client_asks(table: Table, client_number: int) -> None:
    """Ask for the blocks of a client's request, or first for metadata that leads to them.

    Parameters
    ----------
    table : Table
        The engine's memory.
    client_number : int

    Notes
    -----
    OpenZFS dbuf.c:dbuf_findbp, dnode.c:dnode_hold_impl: a block is found by the indirect blocks above it and
    the dnode block above these, one after the other.  What goes to a separate intent log no scan of 0.7 or
    before gives way to (zio.c:zio_vdev_io_start, spa_last_io).
    """
    general, client = general_of(table)[0], clients_of(table)[client_number]
    first = client_items_of(table)[client.first + client.pick % client.items]
    if vdevs_of(table)[items_of(table)[first & word_of(table, ITEM_MASK)].vdev].is_log == 0:
        general.last_client = general.now
    client.awaits = missing_above(table, client_number)
    if client.awaits >= 0:
        item = items_of(table)[client.awaits & word_of(table, ITEM_MASK)]
        if item.metadata_state < META_IN_FLIGHT:
            read_metadata(table, client.awaits, SYNC_READ, OWNER_DEMAND, FLAG_NORMAL)
        return
    client.left = 1 << 20
    asked = 0
    for block in range(client.blocks):
        item_number = client_items_of(table)[client.first + (client.pick + block) % client.items]
        if client.mode == SYNC_WRITES:
            asked += write_plainly(table, item_number, SYNC_WRITE, OWNER_CLIENT, client_number, FLAG_NORMAL)
        else:
            klass = ASYNC_READ if client.mode == SEQUENTIAL_READ else SYNC_READ
            asked += read_plainly(table, item_number, klass, OWNER_CLIENT, client_number, FLAG_NORMAL)
    client.left -= (1 << 20) - asked


@njit
def missing_above(table: Table, client_number: int) -> int:
    """Return the uppermost missing metadata block that leads to what a client wants, -1: none."""
    client, items = clients_of(table)[client_number], items_of(table)
    if general_of(table)[0].cold == 0 or client.mode == SYNC_WRITES:
        return -1
    above, missing = above_of(table), -1
    for block in range(client.blocks):
        number = above[client_items_of(table)[client.first + (client.pick + block) % client.items]]
        while number >= 0:
            if items[number & word_of(table, ITEM_MASK)].metadata_state < META_PRESENT:
                missing = number
            number = above[number]
        if missing >= 0:
            return int(missing)
    return -1


@njit
def is_sought(table: Table, item_number: int) -> bool:
    """Tell whether the scan has seen what is above a block, so that its read-ahead wants what is below."""
    above = above_of(table)[item_number]
    if above < 0:
        return True
    return bool(items_of(table)[above & word_of(table, ITEM_MASK)].metadata_state == META_PRESENT)


@njit
def wake_clients(table: Table, item_number: int) -> None:
    """Let the clients that waited for a metadata block go on."""
    for number in range(word_of(table, N_CLIENTS)):
        if clients_of(table)[number].awaits == item_number:
            client_asks(table, number)


@njit
def client_thinks(table: Table, client_number: int) -> None:
    """Let a client think for an exponential time before it reads again.

    Parameters
    ----------
    table : Table
        The engine's memory.
    client_number : int

    Notes
    -----
    The time is ``-log(u) * client.think`` [s], u the next of the client's own numbers in the sequence of its
    group (`evenly`), so that it does not depend on what other clients drew, and so that a population that is
    through in seconds sees clients as busy as a pool in days.  Clients that think and wait in turn are a
    closed system: Schroeder, Wierman and Harchol-Balter, NSDI 2006.
    """
    general, client = general_of(table)[0], clients_of(table)[client_number]
    think = -log(evenly(client.seed, PAUSES, client.count)) * client.think
    client.count += client.among
    set_event(table, client_slot(table, client_number), general.now + think)


@njit
def client_done(table: Table, client_number: int) -> None:
    """Finish a client's request: count how long it took, and let the client think.

    Parameters
    ----------
    table : Table
        The engine's memory.
    client_number : int

    Notes
    -----
    The latency, now less when the request was made [s], is added to the sum of the client and of the plane,
    and counted in the bin of `zsim.engine.leaf_rules.wait_bin` of its group, from which percentiles are
    read.
    """
    general, client = general_of(table)[0], clients_of(table)[client_number]
    client.answered += 1
    client.latency += general.now - client.started
    bins = LATENCY_BINS * client.group + wait_bin(general.now - client.started)
    waits_of(table)[bins] += 1
    general.client_reads += 1
    general.client_latency += general.now - client.started
    client_thinks(table, client_number)
