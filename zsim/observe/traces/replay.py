"""Run a block trace through a drive model, and summarise both."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from types import ModuleType
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.base.files import replace_file
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.single_drive import DriveRun, run_alone
from zsim.observe.traces.trace import Trace

PERCENTILES = (50, 90, 99, 99.9)


class Figures(TypedDict):
    """The figures of a run, times in seconds."""

    requests: int
    reads: int
    writes: int
    bytes: int
    elapsed_s: float
    requests_per_s: float
    bytes_per_s: float
    utilisation: float
    sequential_share: float
    service_s: dict[str, float]
    response_s: dict[str, float]
    cleaning_s: float
    writes_by_amount: list[dict[str, float]]


@dataclass(frozen=True, slots=True)
class Replay:
    """A trace after its run.

    Attributes
    ----------
    trace : Trace
    run : DriveRun
    """

    trace: Trace
    run: DriveRun

    @property
    def response(self) -> NDArray[np.float64]:
        """Arrival to completion of each request [s]."""
        return self.run.completion - self.run.arrival

    @property
    def utilisation(self) -> float:
        """Share of the time in which the drive served something."""
        begin, end = self.run.start, self.run.start + self.run.service
        order = np.argsort(begin, kind="stable")
        reached = np.maximum.accumulate(np.concatenate([[0.0], end[order]]))
        busy = np.maximum(end[order] - np.maximum(begin[order], reached[:-1]), 0.0)
        # What the write cache answered may be written after the last request is complete.
        return float(busy.sum() / max(self.run.elapsed, end.max()))

    @property
    def sequential_share(self) -> float:
        """Share of requests that begin where the one that arrived before them ended."""
        ends = self.trace.offset[:-1] + self.trace.length[:-1]
        return float(np.mean(self.trace.offset[1:] == ends)) if len(self.trace) > 1 else 0.0

    def summary(self) -> Figures:
        """Return the figures of the run, times in seconds, as ``zsim replay --json`` prints them."""
        return {
            "requests": len(self.trace),
            "reads": int((~self.trace.is_write).sum()),
            "writes": int(self.trace.is_write.sum()),
            "bytes": int(self.trace.length.sum()),
            "elapsed_s": self.run.elapsed,
            "requests_per_s": len(self.trace) / self.run.elapsed,
            "bytes_per_s": float(self.trace.length.sum()) / self.run.elapsed,
            "utilisation": self.utilisation,
            "sequential_share": self.sequential_share,
            "service_s": distribution(self.run.service),
            "response_s": distribution(self.response),
            "cleaning_s": self.run.cleaning,
            "writes_by_amount": self.stretches(),
        }

    def stretches(self, count: int = 10) -> list[dict[str, float]]:
        """Return how the writes went as more and more was written, in so many stretches of equal bytes.

        A shingled drive whose persistent cache is full, and a solid-state drive whose fast region is, show
        in these: the services get longer from one stretch to the next.

        Returns
        -------
        list of dict
            ``written_bytes`` (up to the end of the stretch), ``writes``, ``service_s`` and ``response_s``
            (means) and ``bytes_per_s`` (bytes over the time the drive took for them); empty without writes.
        """
        order = np.argsort(self.run.start, kind="stable")
        order = order[self.trace.is_write[order]]
        written = np.cumsum(self.trace.length[order])
        if len(order) == 0:
            return []
        ends = np.searchsorted(written, written[-1] * np.arange(1, count + 1) / count, side="left") + 1
        found, first = [], 0
        for end in np.unique(np.minimum(ends, len(order))):
            part = order[first:end]
            service = self.run.service[part]
            found.append({
                "written_bytes": int(written[end - 1]),
                "writes": len(part),
                "service_s": float(service.mean()),
                "response_s": float(self.response[part].mean()),
                "bytes_per_s": float(self.trace.length[part].sum() / max(service.sum(), 1e-12)),
            })  # fmt: skip
            first = end
        return found

    def columns(self) -> Mapping[str, NDArray[np.generic]]:
        """Return what became of every request, in order of arrival."""
        return {
            "arrival_s": self.run.arrival,
            "offset": self.trace.offset,
            "length": self.trace.length,
            "is_write": self.trace.is_write,
            "start_s": self.run.start,
            "service_s": self.run.service,
            "completion_s": self.run.completion,
        }

    def save(self, path: str | Path) -> None:
        """Write `columns` as .csv or .parquet.

        Raises
        ------
        InputError
            When the name ends otherwise, or pyarrow is needed and not installed.
        """
        check_output(path)
        replace_file(
            path, _parquet(self.columns()) if Path(path).suffix == ".parquet" else _csv(self.columns())
        )


def replay(trace: Trace, drive: DriveParameters, *, depth: int | None = None) -> Replay:
    """Run the requests of a trace through a drive.

    Parameters
    ----------
    trace : Trace
        Of one device.
    drive : DriveParameters
    depth : int, optional
        Keep so many requests outstanding in place of the trace's times of arrival; a trace without times
        takes 1.

    Raises
    ------
    InputError
        When the trace does not fit on the drive.
    """
    if trace.end > drive.capacity_bytes:
        reason = f"the drive ends at byte {drive.capacity_bytes}"
        raise InputError(
            "trace", f"byte {trace.end}", reason, "name a larger drive, or give a generic one a size"
        )
    arrivals = trace.arrival if depth is None else None
    run = run_alone(drive, trace.offset, trace.length, trace.is_write, depth=depth or 1, arrivals=arrivals)
    return Replay(trace, run)


def distribution(times: NDArray[np.float64]) -> dict[str, float]:
    """Return mean, percentiles and maximum of times [s]."""
    found = {"mean": float(times.mean())}
    found |= {f"p{p:g}": float(np.percentile(times, p)) for p in PERCENTILES}
    return found | {"max": float(times.max())}


def check_output(path: str | Path) -> None:
    """Refuse an output that is neither CSV nor Parquet, before anything is run."""
    suffix = Path(path).suffix
    if suffix not in (".csv", ".parquet"):
        raise InputError("--output", str(path), "the name ends in .csv or .parquet", "name it so")
    if suffix == ".parquet":
        _pyarrow()


def _csv(columns: Mapping[str, NDArray[np.generic]]) -> bytes:
    stream = StringIO()
    stream.write(",".join(columns) + "\n")
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        stream.write(",".join(str(int(v)) if isinstance(v, bool) else repr(v) for v in row) + "\n")
    return stream.getvalue().encode()


def _parquet(columns: Mapping[str, NDArray[np.generic]]) -> bytes:
    arrow, parquet = _pyarrow()
    stream = BytesIO()
    parquet.write_table(arrow.table(dict(columns)), stream)
    return stream.getvalue()


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    """Return the modules of pyarrow, which is an optional dependency."""
    try:
        arrow = importlib.import_module("pyarrow")
    except ImportError as error:
        reason = "Parquet needs pyarrow"
        raise InputError("--output", ".parquet", reason, "install zsim[data], or write .csv") from error
    return arrow, importlib.import_module("pyarrow.parquet")
