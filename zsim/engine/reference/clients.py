"""Foreground clients of the reference engine: each requests, waits, pauses, and repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from zsim.drives.physics.draws import evenly
from zsim.engine.codes import ASYNC_READ, FLAG_NORMAL, PAUSES, PLACES, SYNC_READ, SYNC_WRITE
from zsim.engine.leaf_rules import wait_bin
from zsim.engine.model import ClientModel
from zsim.engine.reference.clock import Signal, Steps
from zsim.engine.reference.scan import Metadata
from zsim.engine.reference.state import Child, Item, Shared
from zsim.engine.reference.vdev import VdevProcess
from zsim.vdevs.kind import LOG


@dataclass(slots=True)
class Place:
    """Where among its items a file is read on, by one client or by several that take turns."""

    item: int


class Client:
    """A foreground client.

    Parameters
    ----------
    shared : Shared
    slot : int
        Place of its thinking in the order of events.
    model : ClientModel
        What it does.
    number : int
        Which of its group.
    items : sequence of Item
        What it reads or writes.
    place : Place
        Where among them it begins, unless it reads at random; clients that read one file have the same.
    vdevs : sequence of VdevProcess
    metadata : Metadata
        What there is in memory of it.
    waits : ndarray of int64, shape (LATENCY_BINS,)
        How often clients of its kind waited how long.
    """

    def __init__(
        self,
        shared: Shared,
        slot: int,
        model: ClientModel,
        number: int,
        items: Sequence[Item],
        place: Place,
        vdevs: Sequence[VdevProcess],
        metadata: Metadata,
        waits: NDArray[np.int64],
    ) -> None:
        self.metadata = metadata
        self.shared, self.model, self.items, self.vdevs = shared, model, items, vdevs
        self.place, self.waits = place, waits
        self.answered, self.latency = 0, 0.0
        self.count = number
        self.left = 0
        self.off = False
        self.slot = slot
        self.begun, self.answer = Signal(shared.clock), Signal(shared.clock)
        shared.clock.process(self.session())

    def session(self) -> Steps:
        """Process: think, ask, wait for the answer and count it."""
        yield self.begun.wait()
        while True:
            yield self.shared.clock.at(self.shared.now + self._think_s(), self.slot)
            if self.off:
                yield self.begun.wait()
                continue
            started = self.shared.now
            self._ask()
            yield self.answer.wait()
            self.shared.client_reads += 1
            self.shared.client_latency += self.shared.now - started
            self.answered += 1
            self.latency += self.shared.now - started
            self.waits[wait_bin(self.shared.now - started)] += 1

    def _think_s(self) -> float:
        """Return how long it thinks next: an exponential time [s]."""
        think = -log(evenly(self.model.seed, PAUSES, self.count)) * self.model.think_s
        self.count += self.model.count
        return think

    def _ask(self) -> None:
        if self.model.kind == "random-read":
            first = int(evenly(self.model.seed, PLACES, self.count) * len(self.items))
        else:
            first, place = self.place.item, self.place
            place.item = (first + self.model.blocks) % len(self.items)
        wanted = [self.items[(first + block) % len(self.items)] for block in range(self.model.blocks)]
        self._ask_for(wanted)

    def _ask_for(self, wanted: list[Item]) -> None:
        """Ask for blocks, or first for metadata that leads to them (dbuf.c:dbuf_findbp).

        What goes to a separate intent log no scan gives way to (0.7 zio.c:zio_vdev_io_start, spa_last_io).
        """
        if self.vdevs[wanted[0].vdev].model.alloc_class != LOG:
            self.shared.last_client = self.shared.now
        missing = None if self.model.kind == "sync-write" else self.metadata.missing_above(wanted)
        if missing is not None:
            self.metadata.demand(missing, self.slot, lambda: self._ask_for(wanted))
            return
        self.left = 0
        for item in wanted:
            vdev = self.vdevs[item.vdev]
            if self.model.kind == "sync-write":
                ask, klass = vdev.plain_write, SYNC_WRITE
            else:
                reads_ahead = self.model.kind == "sequential-read"
                ask, klass = vdev.plain_read, ASYNC_READ if reads_ahead else SYNC_READ
            self.left += ask(item.offset, item.psize, item.columns, klass, FLAG_NORMAL, self._done)

    def _done(self, child: Child) -> None:
        self.left -= 1
        if self.left == 0:
            self.answer.give()
