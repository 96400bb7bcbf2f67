"""The common form of all traces: requests with a time, a place and a direction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError, cut
from zsim.base.reading import bounded_lines, opened
from zsim.base.units import YEAR
from zsim.drives.derived import MAX_OFFSET

LONGEST_S = 10 * YEAR
"""From the first request of a trace to the last."""
SECTOR = 512
"""Bytes of the block in which Linux and DiskSim count."""


class Request(NamedTuple):
    """One request of a trace.

    Attributes
    ----------
    arrival : float
        [s]
    device : str
        As the trace calls it.
    is_write : bool
    offset, length : int
        [bytes]
    """

    arrival: float
    device: str
    is_write: bool
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Requests in order of arrival.

    Attributes
    ----------
    arrival : ndarray of float64, shape (n_requests,), or None
        Time since the first request [s]; None where the format tells no times.
    offset, length : ndarray of int64, shape (n_requests,)
        [bytes]
    is_write : ndarray of bool, shape (n_requests,)
    device : ndarray of int64, shape (n_requests,)
        Place of each request's device in `devices`.
    devices : tuple of str
    """

    arrival: NDArray[np.float64] | None
    offset: NDArray[np.int64]
    length: NDArray[np.int64]
    is_write: NDArray[np.bool_]
    device: NDArray[np.int64]
    devices: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def end(self) -> int:
        """Byte behind the last one that is touched."""
        return int((self.offset + self.length).max())

    def of_device(self, name: str | None) -> Trace:
        """Return the requests of one device; with None, of the only one.

        Raises
        ------
        InputError
            When there is no such device, or none is named and there are several.
        """
        known = cut(", ".join(cut(each, 40) for each in self.devices), 200)
        if name is None and len(self.devices) > 1:
            raise InputError("--device", None, f"the trace has several devices: {known}", "name one")
        if name is not None and name not in self.devices:
            raise InputError("--device", name, f"the trace has: {known}", "name one of them")
        chosen = self.devices.index(name) if name is not None else 0
        return self._where(self.device == chosen, (self.devices[chosen],))

    def _where(self, mask: NDArray[np.bool_], devices: tuple[str, ...]) -> Trace:
        arrival = None if self.arrival is None else self.arrival[mask]
        if arrival is not None:
            arrival = arrival - arrival[0]
        device = np.zeros(int(mask.sum()), dtype=np.int64)
        return Trace(arrival, self.offset[mask], self.length[mask], self.is_write[mask], device, devices)

    def requests(self) -> Iterator[Request]:
        """Yield the requests one by one; a trace without times has 0 everywhere."""
        for row in range(len(self)):
            when = 0.0 if self.arrival is None else float(self.arrival[row])
            name = self.devices[int(self.device[row])]
            yield Request(when, name, bool(self.is_write[row]), int(self.offset[row]), int(self.length[row]))


def trace_of(requests: Iterable[Request], source: str, *, timed: bool = True) -> Trace:
    """Gather requests into a trace, in order of arrival.

    Parameters
    ----------
    requests : iterable of Request
    source : str
        Name of the file, for messages.
    timed : bool
        Whether the arrivals mean anything.

    Raises
    ------
    InputError
        When there is no request, or one has an impossible extent or time.
    """
    rows = list(requests)
    if not rows:
        raise InputError("trace", source, "it holds no read or write", "check the format")
    for number, row in enumerate(rows, start=1):
        if (
            row.length <= 0
            or row.offset < 0
            or row.offset + row.length > MAX_OFFSET
            or not math.isfinite(row.arrival)
        ):
            extent = f"{row.length} bytes at {row.offset}"
            reason = "a request has a time, a positive length, and an offset that is not negative"
            raise InputError(f"{source}: request {number}", extent, reason, "check the format")
    names = tuple(dict.fromkeys(row.device for row in rows))
    place = {name: index for index, name in enumerate(names)}
    return ordered(
        np.array([row.arrival for row in rows]),
        np.array([place[row.device] for row in rows], dtype=np.int64),
        names,
        np.array([row.is_write for row in rows], dtype=np.bool_),
        np.array([row.offset for row in rows], dtype=np.int64),
        np.array([row.length for row in rows], dtype=np.int64),
        timed=timed,
    )


def ordered(
    arrival: NDArray[np.float64],
    device: NDArray[np.int64],
    devices: Iterable[str],
    is_write: NDArray[np.bool_],
    offset: NDArray[np.int64],
    length: NDArray[np.int64],
    *,
    timed: bool = True,
) -> Trace:
    """Return a trace in order of arrival; the arguments are its fields, in any order.

    Raises
    ------
    InputError
        When its requests span more than `LONGEST_S`: a wrong time, not a measurement.
    """
    order = np.argsort(arrival, kind="stable") if timed else np.arange(len(arrival))
    since = arrival[order] - arrival[order[0]] if timed else None
    if since is not None and not float(since[-1]) <= LONGEST_S:
        reason = "the requests of a trace span at most ten years"
        raise InputError("trace", f"with {float(since[-1]):.3g} s", reason, "check its times")
    return Trace(since, offset[order], length[order], is_write[order], device[order], tuple(devices))


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are neither empty nor comments; .gz and .zst are unpacked.

    Raises
    ------
    InputError
        When the file cannot be read to its end.
    """
    with opened(path, "trace", "name a trace in text form") as stream:
        try:
            for number, line in enumerate(bounded_lines(stream, path, "trace"), start=1):
                text = line.strip()
                if text and not text.startswith("#"):
                    yield number, text
        except UnicodeDecodeError as error:
            remedy = "name a trace in text form"
            raise InputError("trace", str(path), "it is not UTF-8 text", remedy) from error


def bad_line(path: Path, number: int, text: str, form: str) -> InputError:
    """Return the error for a line that does not have the form of its format."""
    return InputError(f"{path.name}, line {number}", text, f"a line reads: {form}", "check the format")
