"""Several simulations at once, in threads: compiled code runs without Python's lock."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from zsim.base.constants import constant, whole_constant
from zsim.base.machine.kernel_cache import WORKER
from zsim.base.machine.stopping import stop_asked, stopped_by

MOST_THREADS = whole_constant("work.most_threads")
"""More would wait for Python's lock, and each needs memory of its own."""
WORTH_A_THREAD_S = constant("work.worth_a_thread")
"""Of a thread's processor time: shorter ones wait for Python's lock more than they gain."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def together(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the result of `work` for each item, in the order of the items, with several under way.

    What takes little time is done one after the other in this thread, which two threads do no sooner and with
    a sixth more of the processors: as long as no item has taken `WORTH_A_THREAD_S`.  The results are those of
    one after the other, if `work` changes nothing that is shared.  When the caller stops, as on Ctrl-C, what
    has not begun is dropped and what has stops at its next decision.
    """
    # One of several processes has a core to itself.
    alone = WORKER not in os.environ and multiprocessing.parent_process() is None
    threads = min(MOST_THREADS, os.cpu_count() or 1) if alone else 1
    left = iter(items)
    for item in left:
        begun = time.thread_time()
        result = work(item)
        takes_long = time.thread_time() - begun > WORTH_A_THREAD_S
        yield result
        if takes_long and threads > 1:
            yield from _in_threads(work, left, threads)


def _in_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield the result of `work` for each item, so many at a time."""
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
