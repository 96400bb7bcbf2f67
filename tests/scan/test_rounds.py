"""The rounds of a sorted scan that is short of memory, by hand and against the same told in numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from zsim.scan.rounds import sweeps_in_rounds
from zsim.scan.sorted import Addresses, ExtentRules, ScanQueue, by_score, scored_extents

EXTENT = 48


def queue_of(offset: Any, asize: Any, vdev: Any = 0, record: Any = 52) -> ScanQueue:
    offset = np.asarray(offset, np.int64)
    rest = (
        np.broadcast_to(np.asarray(each, np.int64), offset.shape).copy() for each in (vdev, asize, record)
    )
    vdev, asize, record = rest
    return ScanQueue(np.arange(len(offset)), np.zeros_like(offset), vdev, offset, asize, record)


def swept(
    queue: ScanQueue, *, strict: bool = False, gap: int = 0, coarse: bool = False, **given: float
) -> Any:
    """Return the sweeps of a scan that visits four entries a second and issues two; one txg a second."""
    known = {"rate": 2.0, "visited": 4.0, "visit_s": 1.0, "slice_s": 0.5, "hard": 1e9, "soft": 0.0}
    reals: Any = tuple((known | {"interval": 1e9} | given).values())
    found = sweeps_in_rounds(
        queue,
        Addresses(queue),
        ExtentRules(max_gap=gap, fill_weight=3, coarse=coarse),
        strict=strict,
        extent_bytes=EXTENT,
        reals=reals,
    )
    return [each.tolist() for each in found]


FAR = np.array([70, 10, 50, 30, 90, 0, 60, 20, 40, 80]) * 1000
"""Ten entries that all stand alone: each takes a record and an extent, 100 bytes."""


def test_with_enough_memory_everything_goes_by_address_in_the_end() -> None:
    assert swept(queue_of(FAR, 1)) == [np.argsort(FAR).tolist()]
    assert swept(queue_of([], 1)) == []
    vdev = [1, 0] * 5
    assert swept(queue_of(FAR, 1, vdev)) == [[5, 1, 7, 3, 9, 8, 2, 6, 0, 4]]


def test_memory_is_looked_at_when_a_txg_ends_and_as_much_as_the_limit_is_too_much() -> None:
    """Of the first four the nearest two go, until 200 bytes are left; of those and four more, four of six."""
    assert swept(queue_of(FAR, 1), hard=400.0, soft=200.0) == [[1, 3], [5, 7, 2, 6], [8, 0, 9, 4]]
    assert swept(queue_of(FAR, 1), hard=401.0, soft=200.0) == [[5, 1, 7, 3, 2, 6], [8, 0, 9, 4]]


def test_a_strict_limit_is_looked_at_with_every_entry() -> None:
    found = swept(queue_of(FAR, 1), hard=300.0, soft=200.0, strict=True)
    assert found[0] == [1], "of 0, 1 and 2 the nearest"
    assert found[1] == [3]


def test_the_entry_of_the_lowest_address_that_still_waits_takes_its_extent() -> None:
    """It is the smallest and goes last: with it and another 200 bytes are held, and one more is too much."""
    queue = queue_of(np.arange(6) * 1000, [1, 8, 8, 8, 8, 8])
    assert swept(queue, hard=300.0, soft=200.0, strict=True) == [[1], [2], [3], [0, 4, 5]]


@pytest.mark.parametrize("first", [(63, 64), (64, 63), (40, 42), (42, 40), (43, 40), (62, 65), (65, 62)])
def test_neighbours_are_one_extent_wherever_they_lie(first: tuple[int, int]) -> None:
    """Two neighbours and one apart take 3 * 52 + 2 * 48 = 252 bytes; so much only the third reaches."""
    rest = [place for place in range(128) if place not in {*first, 10}]
    queue = queue_of(np.array([*first, 10, *rest]) * 1000, 1)
    gap = abs(first[0] - first[1]) * 1000 - 1
    assert swept(queue, gap=gap, hard=200.0, soft=200.0, strict=True)[0] == [2]


def test_the_best_score_goes_first_and_those_of_one_score_by_address() -> None:
    """Two of 8 bytes, then those of 5 and of 4, which are the same coarsely; the fifth is visited later."""
    queue = queue_of([30, 10, 40, 20, 1000], [4, 8, 8, 5, 1])
    assert swept(queue, hard=400.0) == [[1, 2], [3], [0], [4]]
    assert swept(queue, hard=400.0, coarse=True) == [[1, 2], [3, 0], [4]]


def test_neighbours_up_to_the_gap_are_one_extent_that_counts_by_what_is_queued_of_it() -> None:
    """Of 0 to 20 half is queued: 10 + 3 * 50 * 10 // 100 = 25; of 100 to 108 all: 8 + 3 * 8 = 32."""
    queue = queue_of([0, 100, 15, 1000, 5000], [5, 8, 5, 1, 1])
    # Three extents of four entries take 4 * 52 + 3 * 48 = 352 bytes.
    assert swept(queue, gap=10, hard=352.0) == [[1], [0, 2], [3], [4]]
    assert swept(queue, gap=10, hard=353.0) == [[0, 2, 1, 3, 4]]
    assert len(swept(queue, gap=9, hard=353.0)) == 4


def test_whole_txgs_are_issued_and_shares_of_one_carried_on() -> None:
    """Of six one is enough, and 2.5 go in a txg: two, and with the half that is left three."""
    queue = queue_of(np.arange(20) * 1000, 1)
    found = swept(queue, visited=1.0, hard=600.0, soft=599.0, rate=5.0)
    assert [len(each) for each in found] == [2, 3, 2, 3, 2, 3, 5]


def test_runs_are_visited_and_extents_issued_whole() -> None:
    """A txg ends in one tile of many: four of a run are visited for one, and issued where one would do."""
    together = queue_of(np.array([0, 1, 2, 3, 50, 60]) * 1000, 1000)
    assert swept(together, visited=1.0, hard=200.0) == [[0, 1, 2, 3], [4, 5]]
    more = queue_of(np.array([0, 1, 2, 3, 9, 60]) * 1000, 1000)
    assert swept(more, visited=5.0, hard=300.0, soft=330.0) == [[0, 1, 2, 3], [4, 5]]
    apart = queue_of(np.array([0, 3, 6, 9, 50, 60]) * 1000, 1000)
    assert swept(apart, visited=1.0, hard=200.0)[0] == [0, 1]
    elsewhere = queue_of(np.array([0, 1, 2, 3, 50, 60]) * 1000, 1000, [0, 1, 0, 1, 0, 1])
    assert swept(elsewhere, visited=1.0, hard=200.0)[0] != [0, 1, 2, 3]


def test_a_checkpoint_empties_the_queue() -> None:
    """Four a second: after three seconds that are more than two, twelve of twenty."""
    far = np.arange(20)[::-1] * 1000
    assert swept(queue_of(far, 1), interval=2.0) == [list(range(11, -1, -1)), list(range(19, 11, -1))]
    assert swept(queue_of(far, 1), interval=1.9) == [
        list(range(7, -1, -1)), list(range(15, 7, -1)), list(range(19, 15, -1))
    ]  # fmt: skip


class Rounds:
    """The same, told with whole arrays."""

    def __init__(self, queue: ScanQueue, rules: ExtentRules, strict: bool, reals: Any) -> None:
        self.queue, self.rules, self.strict, self.addresses = queue, rules, strict, Addresses(queue)
        self.rate, self.each, self.visit_s, self.slice_s, self.hard, self.soft, self.interval = reals
        self.rows, self.end, self.visited = np.zeros(0, np.int64), 0, 0.0
        self.now = self.checked = self.carried = 0.0
        self.sweeps: list[Any] = []
        gaps = queue.offset[1:] - queue.offset[:-1] - queue.asize[:-1]
        near = (queue.vdev[1:] == queue.vdev[:-1]) & (gaps <= rules.max_gap)
        self.behind = near & (np.diff(self.addresses.rank) == 1)

    def run(self) -> list[Any]:
        while self.end < len(self.queue):
            self.visit()
            if self.end < len(self.queue) and not self.now - self.checked > self.interval:
                self.issue()
            if self.end >= len(self.queue) or self.now - self.checked > self.interval:
                self.sweeps.append(self.addresses.in_order(np.sort(self.rows)))
                self.now += len(self.rows) / self.rate
                self.rows, self.checked = self.rows[:0], self.now
        return [each for each in self.sweeps if len(each)]

    def visit(self) -> None:
        while True:
            self.visited = min(float(len(self.queue)), self.visited + self.each)
            self.now += self.visit_s
            while self.end < int(self.visited):
                behind = self.behind[self.end :]
                end = self.end + 1 + (int(np.argmin(behind)) if not behind.all() else len(behind))
                self.rows, self.end = np.append(self.rows, np.arange(self.end, end)), end
                if self.strict and self.used() >= self.hard:
                    self.visited = float(self.end)
                    break
            late = self.now - self.checked > self.interval
            if self.end >= len(self.queue) or late or self.used() >= self.hard:
                return

    def scored(self) -> tuple[Any, Any, Any]:
        order, extents, scores = self.addresses.in_order(np.sort(self.rows)), [], []
        count = 0
        for vdev in range(3):
            rows = order[self.queue.vdev[order] == vdev]
            if len(rows):
                extent, score = scored_extents(self.queue, rows, self.rules)
                extents.append(extent + count)
                scores.append(score)
                count += len(score)
        return order, np.concatenate(extents), np.concatenate(scores)

    def used(self) -> int:
        records = int(self.queue.record_bytes[self.rows].sum())
        return records + (EXTENT * len(self.scored()[2]) if len(self.rows) else 0)

    def issue(self) -> None:
        order, extent, score = self.scored()
        best = by_score(extent, score)
        freed = np.cumsum(self.queue.record_bytes[order[best]] + EXTENT / np.bincount(extent)[extent[best]])
        least = 1 + int(np.searchsorted(freed, self.used() - self.soft))
        each = self.rate * self.slice_s
        wanted = math.ceil(least / each) * each - least + self.carried
        self.carried = wanted - int(wanted)
        taken = min(len(best), least + int(wanted))
        chosen = best[: np.flatnonzero(extent[best] == extent[best[taken - 1]])[-1] + 1]
        self.sweeps += np.split(order[chosen], np.flatnonzero(np.diff(score[extent[chosen]])) + 1)
        self.rows = np.setdiff1d(order, order[chosen])
        self.now += len(chosen) / self.rate


@pytest.mark.parametrize("seed", range(24))
def test_sweeps_are_those_of_whole_arrays(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 400))
    queue = queue_of(
        random.integers(0, int(10 ** random.uniform(3, 8)), count) * 4096,
        random.integers(1, 33, count) * 4096,
        random.integers(0, 1 + seed % 3, count),
        40 + 12 * random.integers(1, 4, count),
    )
    hard = 10 ** random.uniform(1.5, 4.5)
    reals: Any = (
        10 ** random.uniform(0, 2), 10 ** random.uniform(-1, 2), random.uniform(0.1, 9.0),
        random.uniform(0.1, 5.0),
        hard, hard * random.uniform(0.4, 0.99), 10 ** random.uniform(0, 4),
    )  # fmt: skip
    gap = int(10 ** random.uniform(4, 7))
    rules, strict = ExtentRules(max_gap=gap, fill_weight=3, coarse=seed % 2 == 0), seed % 4 == 1
    found = sweeps_in_rounds(queue, Addresses(queue), rules, strict=strict, extent_bytes=EXTENT, reals=reals)
    expected = Rounds(queue, rules, strict, reals).run()
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
