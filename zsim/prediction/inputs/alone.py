"""What is large is done by one thread at a time, whatever else runs beside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from zsim.base.constants import whole_constant
from zsim.base.machine.at_rest import give_back

MOST_TOGETHER = whole_constant("work.most_together")
"""Blocks that several threads may lay out, or run on, at once."""
_one = threading.RLock()
_here = threading.local()


@contextmanager
def alone_if_large(blocks: int) -> Iterator[None]:
    """Do what follows alone if it is about so many blocks that two at once would not fit.

    Parameters
    ----------
    blocks : int
        Laid out, or run on.

    Notes
    -----
    A run takes some 500 bytes a block, in its tables and in its plane.  Another thread goes on with what is
    small; the answer is the same, whoever waits.
    """
    if blocks <= MOST_TOGETHER:
        yield
        return
    with _one:
        whole: ExitStack | None = getattr(_here, "whole", None)
        if whole is not None:
            whole.enter_context(_one)
        give_back()
        yield


@contextmanager
def one_world() -> Iterator[None]:
    """Stay alone to the end of what follows, once some of it is large: its blocks are kept so long."""
    with ExitStack() as whole:
        _here.whole = whole
        try:
            yield
        finally:
            _here.whole = None
