"""Stop a simulation before its end: each asks at every decision of its control plane."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

Asked = Callable[[], bool]
_here = threading.local()


class Stopped(BaseException):
    """Nobody waits for what is simulated any more; no error, so that nothing takes it for one."""


def _stop_asked() -> Asked | None:
    """Return what tells this thread to stop; None: nothing does."""
    return getattr(_here, "asked", None)


@contextlib.contextmanager
def stopped_by(asked: Asked) -> Iterator[None]:
    """Let what is simulated in this thread stop, with `Stopped`, once `asked` is true.

    Parameters
    ----------
    asked : callable
        What told it to stop before, around this, still does.
    """
    before = _stop_asked()
    _here.asked = asked if before is None else lambda: before() or asked()
    try:
        yield
    finally:
        _here.asked = before


def stop_if_asked() -> None:
    """Raise `Stopped` where nobody waits any more."""
    asked = _stop_asked()
    if asked is not None and asked():
        raise Stopped
