"""Large work goes one at a time, small work beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from zsim.prediction.inputs.alone import MOST_TOGETHER, alone_if_large, one_world

LARGE = MOST_TOGETHER + 1
WAIT_S = 10.0


def begins_beside(blocks: int) -> bool:
    """Tell whether another thread may begin with so many blocks now."""
    begun, ended = threading.Event(), threading.Event()

    def other() -> None:
        with alone_if_large(blocks):
            begun.set()
        ended.set()

    thread = threading.Thread(target=other)
    thread.start()
    found = begun.wait(0.2 if blocks > MOST_TOGETHER else WAIT_S)
    thread_ends.append((thread, ended))
    return found


thread_ends: list[tuple[threading.Thread, threading.Event]] = []


@pytest.fixture(autouse=True)
def _all_end() -> Iterator[None]:
    thread_ends.clear()
    yield
    for thread, ended in thread_ends:
        assert ended.wait(WAIT_S), "whoever waits has its turn"
        thread.join()


def test_two_large_ones_go_one_after_the_other_and_a_small_one_beside_them() -> None:
    with alone_if_large(LARGE):
        assert not begins_beside(LARGE)
        assert begins_beside(MOST_TOGETHER)
        with alone_if_large(LARGE):  # the same thread does not wait for itself
            pass
    with alone_if_large(MOST_TOGETHER):
        assert begins_beside(MOST_TOGETHER)


def test_a_world_stays_alone_from_its_first_large_part_to_its_end() -> None:
    with one_world():
        assert begins_beside(MOST_TOGETHER)
        with alone_if_large(LARGE):
            pass
        assert not begins_beside(LARGE)
    with one_world(), alone_if_large(MOST_TOGETHER):
        pass
    with alone_if_large(LARGE):
        pass
