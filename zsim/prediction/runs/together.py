"""Several simulations at once, in threads: compiled code runs without Python's lock."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from zsim.base.constants import whole_constant
from zsim.base.machine.kernel_cache import WORKER
from zsim.base.machine.stopping import stop_asked, stopped_by

MOST_THREADS = whole_constant("work.most_threads")
"""More would wait for Python's lock, and each needs memory of its own."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def together(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the result of `work` for each item, in the order of the items, with several under way.

    The results are those of one after the other, if `work` changes nothing that is shared.  When the caller
    stops, as on Ctrl-C, what has not begun is dropped and what has stops at its next decision.
    """
    # One of several processes has a core to itself.
    alone = WORKER not in os.environ and multiprocessing.parent_process() is None
    threads = min(MOST_THREADS, os.cpu_count() or 1) if alone else 1
    if threads == 1:
        yield from map(work, items)
        return
    left, around = threading.Event(), stop_asked()

    def waited_for(item: Item) -> Result:
        with stopped_by(lambda: left.is_set() or (around is not None and around())):
            return work(item)

    with ThreadPoolExecutor(threads) as pool:
        under_way = [pool.submit(waited_for, item) for item in items]
        try:
            for future in under_way:
                yield future.result()
        finally:
            left.set()
            for future in under_way:
                future.cancel()
