"""Foreground clients: each asks for something, waits for it, thinks, asks again."""

from __future__ import annotations

from math import log

from zsim.base.arrays import Table
from zsim.base.jit import njit
from zsim.drives.physics.draws import mixed
from zsim.engine.codes import FLAG_NORMAL, FOREVER, LATENCY_BINS, SYNC_READ, SYNC_WRITE
from zsim.engine.compiled.memory import (
    OWNER_CLIENT,
    RANDOM_READ,
    SYNC_WRITES,
    client_items_of,
    client_slot,
    clients_of,
    event_times_of,
    general_of,
    waits_of,
)
from zsim.engine.compiled.vdev import read_plainly, write_plainly
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
    The classes are those of OpenZFS zio_priority.h: sync read, and sync write of the intent log
    (zil.c:zil_lwb_write_issue).
    """
    general, client = general_of(table)[0], clients_of(table)[client_number]
    event_times_of(table)[client_slot(table, client_number)] = FOREVER
    if client.off != 0:
        return
    if client.mode == RANDOM_READ:
        pick = int(mixed(client.seed, 2 * client.count) * client.items)
    else:
        pick, client.place = client.place, (client.place + client.blocks) % client.items
    client.started = general.now
    general.last_client = general.now
    client.left = 1 << 20
    asked = 0
    for block in range(client.blocks):
        item_number = client_items_of(table)[client.first + (pick + block) % client.items]
        if client.mode == SYNC_WRITES:
            asked += write_plainly(table, item_number, SYNC_WRITE, OWNER_CLIENT, client_number, FLAG_NORMAL)
        else:
            asked += read_plainly(table, item_number, SYNC_READ, OWNER_CLIENT, client_number, FLAG_NORMAL)
    client.left -= (1 << 20) - asked


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
    The time is ``-log(u) * client.think`` [s], u the next number of the client's own stream (`mixed` of its
    seed and a counter), so that it does not depend on what other clients drew.  Clients that think and wait
    in turn are a closed system: Schroeder, Wierman and Harchol-Balter, NSDI 2006.
    """
    general, client = general_of(table)[0], clients_of(table)[client_number]
    think = -log(mixed(client.seed, 2 * client.count + 1)) * client.think
    client.count += 1
    event_times_of(table)[client_slot(table, client_number)] = general.now + think


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
