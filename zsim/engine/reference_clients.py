"""Foreground clients of the reference engine: each reads a random block, thinks, reads again."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from zsim.engine.draws import mixed
from zsim.engine.memory import FLAG_NORMAL, SYNC_READ
from zsim.engine.reference_clock import Alarm, Steps
from zsim.engine.reference_state import Child, Item, Shared
from zsim.engine.reference_vdev import TopLevel


class Client:
    """A foreground reader.

    Parameters
    ----------
    shared : Shared
    slot : int
        Place of its thinking in the order of events.
    think_s : float
        Mean think time [s].
    seed : int
    items : sequence of Item
        What it reads.
    vdevs : sequence of TopLevel
    """

    def __init__(
        self,
        shared: Shared,
        slot: int,
        think_s: float,
        seed: int,
        items: Sequence[Item],
        vdevs: Sequence[TopLevel],
    ) -> None:
        self.shared, self.think_s, self.seed, self.items, self.vdevs = shared, think_s, seed, items, vdevs
        self.count = 0
        self.left = 0
        self.alarm, self.answer = Alarm(shared.clock, slot), Alarm(shared.clock, -1)
        shared.clock.process(self.session())

    def session(self) -> Steps:
        """Process: read, count the answer, think."""
        while True:
            yield self.alarm.ring
            started = self.shared.now
            self._read()
            yield self.answer.ring
            self.shared.client_reads += 1
            self.shared.client_latency += self.shared.now - started
            self.think()

    def think(self) -> None:
        """Think for an exponential time."""
        think = -log(mixed(self.seed, 2 * self.count + 1)) * self.think_s
        self.count += 1
        self.alarm.set(self.shared.now + think)

    def _read(self) -> None:
        item = self.items[int(mixed(self.seed, 2 * self.count) * len(self.items))]
        self.shared.last_client = self.shared.now
        vdev = self.vdevs[item.vdev]
        self.left = vdev.plain_read(item.offset, item.psize, SYNC_READ, FLAG_NORMAL, self._read_done)

    def _read_done(self, child: Child) -> None:
        self.left -= 1
        if self.left == 0:
            self.answer.sound()
