"""Progress in notebooks: a line below the cell while a long computation runs."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from zsim.base.errors import check_function
from zsim.base.units import format_percent

Report = Callable[[float, str], None]
"""Called now and then with the share done (0 to 1) and what is being done."""
AFTER_S, EVERY_S = 0.7, 0.25
COMPILING = "compiling the kernels for this machine, once; "


def in_notebook() -> bool:
    """Tell whether this runs in a kernel of Jupyter; imports nothing."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    return hasattr(shell, "kernel")


def reporting(report: Report | None) -> Report:
    """Return the caller's function, or one that does nothing.

    Raises
    ------
    InputError
        When it is no function.
    """
    check_function("on_progress", report)
    # A caller's object may be empty, and so count as false.
    return (lambda share, words: None) if report is None else report


@contextlib.contextmanager
def watched(report: Report | None, what: str) -> Iterator[Report]:
    """Give what a long computation reports to: the caller's function, a bar in a notebook, or nothing.

    Parameters
    ----------
    report : callable or None
        As the caller gave it.
    what : str
        Stands before the bar.
    """
    told = reporting(report)
    if report is None and in_notebook():
        bar = Bar(what)
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield told


class DisplayHandle(Protocol):
    """What a notebook shows, and can show anew."""

    def update(self, shown: object) -> None:
        """Show something else in its place."""


class Bar:
    """A bar of text and HTML that appears once the work has taken a while.

    Parameters
    ----------
    what : str
    display : callable, optional
        As ``IPython.display.display``.
    """

    def __init__(self, what: str, display: Callable[..., DisplayHandle] | None = None) -> None:
        self.what, self._display = what, display
        self._begun = self._drawn = time.monotonic()
        self._handle: DisplayHandle | None = None
        self._compiling = not _kernels_are_cached()

    def __call__(self, share: float, words: str) -> None:
        """Show how far it is."""
        now = time.monotonic()
        waited = now - self._begun if self._handle is None else AFTER_S
        if waited < AFTER_S or (self._handle is not None and now - self._drawn < EVERY_S):
            return
        self._drawn = now
        shown = Shown(min(max(share, 0.0), 1.0), self._said(words))
        if self._handle is None:
            display = self._display or _ipython_display()
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def _said(self, words: str) -> str:
        notice = COMPILING if self._compiling else ""
        return f"{notice}{self.what}: {words}"

    def close(self) -> None:
        """Take it away."""
        if self._handle is not None:
            self._handle.update(Shown(None, ""))


class Shown:
    """What a bar shows at one moment; nothing where the share is None."""

    def __init__(self, share: float | None, words: str) -> None:
        self.share, self.words = share, words

    def __repr__(self) -> str:
        return "" if self.share is None else f"{self.words} {format_percent(self.share)}"

    def _repr_html_(self) -> str:
        if self.share is None:
            return ""
        bar = f'<progress value="{self.share:.3f}" max="1"></progress>'
        return f"{bar} {self.words} {format_percent(self.share)}"


def _ipython_display() -> Callable[..., DisplayHandle]:
    import IPython.display  # noqa: PLC0415 - there only in notebooks

    found: Callable[..., DisplayHandle] = IPython.display.display
    return found


def _kernels_are_cached() -> bool:
    from zsim.base.jit import kernels_are_cached  # noqa: PLC0415 - not where nobody watches

    return kernels_are_cached("kernel.advance")
