"""Format of a folder with ``drives/NAME.json`` and ``vectors/NAME.SET.csv.zst``: disks request by request.

Every row of a set gives the state of arm and platter when the request began, and when its transfer was done;
the full-geometry drive model serves it from the same state.  Sets in which the drive chooses the order are
also run as a whole, with the model's own scheduler, and compared by the time they take.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.base.reading import opened
from zsim.drives.disksim.track_files import TrackDrive
from zsim.validation.frame import Claim, Options, ValidationCase, judge

MEAN_TOLERANCE = 0.001
DEMERIT_TOLERANCE = 0.005
ELAPSED_TOLERANCE = 0.015
COLUMNS = (
    "i", "arrive_ms", "lbn", "sectors", "op", "start_ms", "cyl0", "head0", "angle0_rev", "media_done_ms",
    "complete_ms",
)  # fmt: skip
SUFFIX = ".csv.zst"


class RequestSet(NamedTuple):
    """The rows of a set, in order of service.

    Attributes
    ----------
    arrival_index, lbn, sectors, cylinder, head : ndarray of int64, shape (n_requests,)
    is_write : ndarray of bool, shape (n_requests,)
    arrival, start, media_done, complete : ndarray of float64, shape (n_requests,)
        [s]
    angle : ndarray of float64, shape (n_requests,)
        [revolutions]
    """

    arrival_index: NDArray[np.int64]
    lbn: NDArray[np.int64]
    sectors: NDArray[np.int64]
    cylinder: NDArray[np.int64]
    head: NDArray[np.int64]
    is_write: NDArray[np.bool_]
    arrival: NDArray[np.float64]
    start: NDArray[np.float64]
    media_done: NDArray[np.float64]
    complete: NDArray[np.float64]
    angle: NDArray[np.float64]

    @property
    def service(self) -> NDArray[np.float64]:
        """Mechanical service time of each request [s]."""
        return self.media_done - self.start


class Discipline(NamedTuple):
    """How a set is run: what its name says.

    Attributes
    ----------
    depth : int
        Requests kept outstanding; 0: they arrive at the times given.
    policy : str
        fcfs, sstf, clook or sptf.
    in_host : bool
        Whether the queue is in the host.
    """

    depth: int
    policy: str
    in_host: bool


def discover(path: Path) -> list[ValidationCase]:
    """Return one case a set of requests; one without its drive is a case with a problem."""
    cases = []
    for file in sorted((path / "vectors").glob(f"*{SUFFIX}")):
        name = file.name.removesuffix(SUFFIX)
        drive = drive_file(path, name)
        case = ValidationCase(
            name, "drive", "disksim", path, key=name, claim="mean", tolerance=MEAN_TOLERANCE
        )
        problem = "" if drive.is_file() else f"drives/{drive.name} is missing"
        cases.append(replace(case, problem=problem))
    return cases


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claims of one set."""
    del options
    from zsim.drives.disksim.track_files import load_track_drive

    drive = load_track_drive(drive_file(case.path, case.key))
    requests = read_set(case.path / "vectors" / f"{case.key}{SUFFIX}")
    check_range(requests, drive.sectors, case.key)
    observed, predicted = requests.service, predicted_services(drive, requests)
    case = replace(case, observed=float(np.mean(observed)))
    claims = [
        judge(case, "mean", float(observed.mean()), float(predicted.mean()), MEAN_TOLERANCE, unit="s"),
        demerit_claim(case, demerit(observed, predicted)),
        judge(case, "p99_difference", p99(observed), p99(predicted), unit="s"),
    ]
    discipline = discipline_of(case.key)
    if discipline is not None:
        elapsed = predicted_elapsed(drive, requests, discipline)
        claims.append(
            judge(case, "elapsed", float(requests.complete.max()), elapsed, ELAPSED_TOLERANCE, unit="s")
        )
    return claims


def drive_file(path: Path, name: str) -> Path:
    """Return the drive of a set: what precedes the first point of its name."""
    return path / "drives" / f"{name.partition('.')[0]}.json"


def discipline_of(name: str) -> Discipline | None:
    """Return how an order-sensitive set is run, None for a set whose order and pace are given.

    Order-sensitive are the sets ``DRIVE.qdN.POLICY.WORK`` (closed loop) and ``DRIVE.open.sptf.RATE``.
    """
    parts = name.split(".")[1:]
    if len(parts) < 3:
        return None
    loop, policy = parts[0], parts[1]
    in_host = policy.endswith("_host")
    policy = policy.removesuffix("_host")
    if policy not in ("fcfs", "sstf", "clook", "sptf"):
        return None
    if loop == "open":
        return Discipline(0, policy, in_host) if policy != "fcfs" else None
    if loop.startswith("qd") and loop[2:].isdigit() and int(loop[2:]) > 1:
        return Discipline(int(loop[2:]), policy, in_host)
    return None


def read_set(file: Path) -> RequestSet:
    """Read a set of requests.

    Raises
    ------
    InputError
        When the file cannot be read to its end, or a column is missing or not a number.
    """
    try:
        with opened(file, "vectors", "copy the file again") as stream:
            reader = csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8", newline=""))
            rows = [[row[name] for name in COLUMNS] for row in reader]
        return request_set(rows)
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        reason = f"it cannot be read ({type(error).__name__}: {error})"
        raise InputError("vectors", file.name, reason, "copy the file again") from error


def request_set(rows: list[list[str]]) -> RequestSet:
    """Return the rows of a set, in the order of `COLUMNS`, as arrays in SI units.

    Raises
    ------
    ValueError
        When there is no row, an entry is not a number or not finite, or an operation is neither R nor W.
    """
    if not rows:
        raise ValueError("it holds no row")
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    if not set(columns["op"]) <= {"R", "W"}:
        raise ValueError("op is R or W")
    numbers = {name: np.array(columns[name], dtype=np.float64) for name in COLUMNS if name != "op"}
    if not all(np.isfinite(each).all() for each in numbers.values()):
        raise ValueError("a number is not finite")
    whole = {name: numbers[name].astype(np.int64) for name in ("i", "lbn", "sectors", "cyl0", "head0")}
    return RequestSet(
        arrival_index=whole["i"],
        lbn=whole["lbn"],
        sectors=whole["sectors"],
        cylinder=whole["cyl0"],
        head=whole["head0"],
        is_write=np.array(columns["op"]) == "W",
        arrival=numbers["arrive_ms"] * 1e-3,
        start=numbers["start_ms"] * 1e-3,
        media_done=numbers["media_done_ms"] * 1e-3,
        complete=numbers["complete_ms"] * 1e-3,
        angle=numbers["angle0_rev"],
    )


def check_range(requests: RequestSet, sectors: int, name: str) -> None:
    """Refuse a request outside the drive."""
    bad = (requests.lbn < 0) | (requests.sectors < 1) | (requests.lbn + requests.sectors > sectors)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        extent = f"lbn {requests.lbn[row]}, {requests.sectors[row]} sectors"
        raise InputError(
            f"{name}: row {row + 1}", extent, f"the drive has {sectors} sectors", "check the drive"
        )


def predicted_services(drive: TrackDrive, requests: RequestSet) -> NDArray[np.float64]:
    """Return the model's service time of each request from its own start state [s]."""
    from zsim.drives.disksim.tracks import serve_each

    out = np.empty((len(requests.lbn), 6))
    serve_each(
        drive.geometry, requests.cylinder, requests.head, requests.angle, requests.lbn, requests.sectors,
        requests.is_write, out,
    )  # fmt: skip
    return np.asarray(out[:, 3:].sum(axis=1))


def predicted_elapsed(drive: TrackDrive, requests: RequestSet, discipline: Discipline) -> float:
    """Return the completion of the last request when the model orders the set itself [s]."""
    from zsim.drives.disksim.track_queue import POLICIES, run_queue

    by_arrival = np.argsort(requests.arrival_index, kind="stable")
    size = len(by_arrival)
    starts, completions = np.empty(size), np.empty(size)
    run_queue(
        drive.geometry, POLICIES[discipline.policy], discipline.depth, discipline.in_host,
        requests.lbn[by_arrival], requests.sectors[by_arrival], requests.is_write[by_arrival],
        requests.arrival[by_arrival], np.array([drive.read_overhead_s, drive.write_overhead_s]),
        np.empty(size, dtype=np.int64), starts, completions,
    )  # fmt: skip
    return float(completions.max())


def p99(times: NDArray[np.float64]) -> float:
    """Return the 99th percentile [s]."""
    return float(np.quantile(times, 0.99))


def demerit(observed: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Return the demerit figure (Ruemmler & Wilkes, IEEE Computer 27(3), 1994) as a fraction of the mean.

    It is the root mean square of the horizontal distance between the two distributions.
    """
    distance = np.sort(predicted) - np.sort(observed)
    return float(np.sqrt(np.mean(distance**2)) / np.mean(observed))


def demerit_claim(case: ValidationCase, fraction: float) -> Claim:
    """Return the claim about a demerit figure: the best is 0, the figure itself is the error."""
    return Claim(
        case=case.name,
        kind=case.kind,
        claim="demerit",
        observed=0.0,
        predicted=fraction,
        error=fraction,
        tolerance=DEMERIT_TOLERANCE,
        verdict="pass" if fraction <= DEMERIT_TOLERANCE else "fail",
        experiment=case.experiment,
        category=case.category,
    )
