"""The result of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from zsim.base.arrays import I64, Rows
from zsim.drives.physics.ailing import HEALTH_DTYPE
from zsim.engine.codes import LATENCY_BINS
from zsim.operation.ledger import ByPhase

Slices = list[tuple[str, float, float]]
"""Name of the phase, begin and end [s] of each slice of a scan."""


def seconds_of(slices: Slices, phase: str | None = None) -> float:
    """Return how long the slices of a phase took, or of all phases [s].

    Parameters
    ----------
    slices : Slices
        Phase, begin and end of each [s].
    phase : str, optional

    Returns
    -------
    float
        The ends of txgs between the slices are left out [s].
    """
    return math.fsum(end - begin for name, begin, end in slices if phase in (name, None))


def followed(slices: Slices, end: float) -> list[float]:
    """Return when, for each slice, the next one began, or the run was over at `end` [s]."""
    return [*[begin for _, begin, _ in slices[1:]], end]


@dataclass(slots=True)
class ScanSample:
    """Progress at one moment.

    Attributes
    ----------
    time : float
        [s]
    visited_bytes, issued_bytes : int
        asize of the blocks visited, and psize of those issued [bytes].
    phase : {"visit", "issue"}
    """

    time: float
    visited_bytes: int
    issued_bytes: int
    phase: str


@dataclass(slots=True)
class ClientAnswers:
    """What clients were answered by some moment of a run.

    Attributes
    ----------
    time : float
        Since the first visit [s].
    clients, waits
        See `RunResult`.
    """

    time: float
    clients: list[tuple[int, float]]
    waits: I64


@dataclass(slots=True)
class RunResult:
    """What a run showed.

    Attributes
    ----------
    end : float
        Time from the first visit to the end of the last txg [s].
    first_scan_s : float
        When the first scan I/O was queued [s]; 0 if none was.
    span : float
        From the first scan I/O to the end of the last [s].
    visit : float
        Duration of the metadata phase (legacy: of the traversal) [s].
    idle : float
        With no block of the scan in flight [s].
    txgs : int
    children, events : int
        Child I/Os queued, and events of the data plane.
    client_reads : int
        ClientAnswers in all.
    client_latency_s : float
        Their mean [s].
    records : ndarray of RECORD_DTYPE
        Finished commands, where they are kept.
    issued_blocks, issued_bytes : int
        By all streams of the scan [1, bytes].
    link_busy : tuple of float
        Busy time of each shared link [s].
    processor_s : tuple of (float, float)
        Processor time of the traversal, and of the thread that took longest to issue blocks [s].
    slice_s : float
        How long the scan usually ran in a txg [s].
    phases : Slices
    leaves : ndarray of LEAF_DTYPE
        Counters; `span_leaves` holds those within the scan's span.
    progress : list of ScanSample
    curve : list of (float, int)
        Of a rebuild: moments [s] and the bytes issued by then, over all its metaslabs.
    clients : list of (int, float)
        Of each foreground client: requests answered, and the sum of their latencies [s].
    waits : ndarray of int64, shape (kinds of clients, LATENCY_BINS)
        How often clients of each kind waited how long (`zsim.engine.leaf_rules.wait_bin`).
    visited : ClientAnswers, optional
        By when a sorted scan had visited all metadata.
    by_phase : dict of str to tuple of (float, float, float), one a leaf
        Busy time [s], bytes read and bytes written, see `zsim.operation.ledger`.
    health : ndarray of HEALTH_DTYPE
        Errors of the leaves, and when they were faulted.
    """

    end: float
    first_scan_s: float
    span: float
    visit: float
    idle: float
    txgs: int
    children: int
    events: int
    client_reads: int
    client_latency_s: float
    leaves: Rows
    records: Rows
    issued_blocks: int
    issued_bytes: int
    link_busy: tuple[float, ...] = ()
    processor_s: tuple[float, float] = (0.0, 0.0)
    slice_s: float = 0.0
    phases: Slices = field(default_factory=list)
    progress: list[ScanSample] = field(default_factory=list)
    curve: list[tuple[float, int]] = field(default_factory=list)
    clients: list[tuple[int, float]] = field(default_factory=list)
    waits: I64 = field(default_factory=lambda: np.zeros((0, LATENCY_BINS), np.int64))
    visited: ClientAnswers | None = None
    by_phase: ByPhase = field(default_factory=dict)
    health: Rows = field(default_factory=lambda: np.zeros(0, HEALTH_DTYPE))
