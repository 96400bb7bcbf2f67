"""Events during an operation, as data; `zsim.operation.pool` carries them out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When something happens.

    Attributes
    ----------
    at : float
        Time since the scan began [s].
    share : float, optional
        Instead: as soon as so much of what the scan issues is issued, 0 to 1.
    """

    at: float = 0.0
    share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace(When):
    """Another drive is replaced.

    Attributes
    ----------
    child : int
        Leaf that is replaced, as the pool was built.
    leaf : int
        Leaf that is written.
    """

    child: int
    leaf: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(When):
    """The scan stands still for so long [s]."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTunable(When):
    """A tunable is changed (``/sys/module/zfs/parameters``)."""

    name: str
    value: int


Happening = Replace | Pause | SetTunable
