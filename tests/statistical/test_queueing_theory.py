"""The compiled engine against queueing theory: simulated intervals must cover what the formulas say.

The foreground clients of a data plane read from flash drives of one lane, whose service times are uniform,
constant or exponential: some clients, each thinking exponentially, are a closed network; a great many that
think for long are a Poisson stream.  Nothing here is a queue of its own: every request passes mapping, leaf
queue, device and join.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from zsim.drives.models.parameters import DriveParameters
from zsim.engine.compiled.plane import CompiledPlane
from zsim.engine.model import ClientModel, LeafModel, PlaneModel, QueueRules, VdevModel
from zsim.pool.blocks import BlockTable
from zsim.scan.program import scan_items

BATCHES = 20
LONG = 40_000.0
"""Of a batch [s], services taking about one."""
BLOCK = 4096
RATE = float(1 << 20)
MANY = 400
"""Clients that make up a Poisson stream."""
# More than ever wait: ZFS's limit on active I/Os does not hold the drive back, which serves first come first.
WIDE = QueueRules(minimum=(MANY, 10, 1, 2, 1, 1), maximum=(MANY, 10, 3, 2, 3, 3), aggregation_limit=0)


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval from batch means."""

    middle: float
    half: float

    def covers(self, value: float) -> bool:
        """Tell whether a value lies inside, at 99.9 %: there are dozens of tests, and each must pass."""
        wider = float(stats.t.ppf(0.9995, BATCHES - 1) / stats.t.ppf(0.975, BATCHES - 1))
        return abs(self.middle - value) <= wider * self.half


def drive(low_s: float, high_s: float, rate: float = 1e18) -> DriveParameters:
    """Return a drive whose service times are uniform between two values, first come first served."""
    return DriveParameters(
        capacity_bytes=1 << 40,
        kind="flash",
        queue_depth=4096,
        queue_policy="fcfs",
        parallel_commands=1,
        flash_latency_min_s=low_s,
        flash_latency_max_s=high_s,
        flash_read_rate=rate,
        interface_rate=1e18,
        rotating=False,
    )


def blocks(sizes: NDArray[np.int64], *, asize_factor: float = 1.0, vdevs: int = 1) -> BlockTable:
    """Return data blocks far from one another, dealt to the top-level vdevs in turn."""
    count = len(sizes)
    rows = np.arange(count, dtype=np.int64)
    vdev = np.full((count, 3), -1, np.int32)
    vdev[:, 0] = rows % vdevs
    offset, asize = np.zeros((count, 3), np.int64), np.zeros((count, 3), np.int64)
    offset[:, 0], asize[:, 0] = rows * (1 << 28), (sizes * asize_factor).astype(np.int64)
    full = sizes
    return BlockTable(
        objset=np.full(count, 54, np.int64),
        object=rows + 1,
        level=np.zeros(count, np.int16),
        blkid=np.zeros(count, np.int64),
        is_metadata=np.zeros(count, bool),
        birth=np.full(count, 10, np.int64),
        psize=full,
        lsize=full.copy(),
        dva_count=np.ones(count, np.int16),
        dva_vdev=vdev,
        dva_offset=offset,
        dva_asize=asize,
    )


def equal(count: int = 4096, size: int = BLOCK) -> BlockTable:
    """Return blocks of one size."""
    return blocks(np.full(count, size, np.int64))


def exponential(mean_s: float, vdevs: int = 1) -> BlockTable:
    """Return blocks that take a drive of `RATE` an exponential time to transfer."""
    shares = (np.arange(8192) + 0.5) / 8192
    wanted = -np.log(shares) * mean_s * RATE
    sizes = np.maximum(512, np.round(wanted / 512).astype(np.int64) * 512)
    return blocks(np.random.default_rng(3).permutation(sizes), vdevs=vdevs)


def plane(
    leaves: list[DriveParameters],
    vdev: VdevModel | tuple[VdevModel, ...],
    clients: ClientModel,
    table: BlockTable | None = None,
) -> CompiledPlane:
    """Return a data plane on which nothing but clients is at work."""
    vdevs = vdev if isinstance(vdev, tuple) else (vdev,)
    model = PlaneModel(
        leaves=tuple(LeafModel(drive=each) for each in leaves), vdevs=vdevs, queue=WIDE, clients=(clients,)
    )
    table = equal() if table is None else table
    items = scan_items(table, seed=1, wanted=np.ones(len(table), bool))
    return CompiledPlane(model, items, slots=64, client_items=np.arange(len(table)))


def single(klass: DriveParameters) -> tuple[list[DriveParameters], VdevModel]:
    """Return one drive as a pool."""
    return [klass], VdevModel(kind="mirror", parity=0, ashift=12, read_leaf=(0,), write_leaf=(-1,))


def measured(machine: CompiledPlane, batch_s: float) -> tuple[Interval, Interval]:
    """Return response time [s] and throughput [1/s] of the clients, after a warm-up of two batches."""
    machine.start_clients()
    machine.advance(2 * batch_s, 1 << 60)
    responses, rates = [], []
    for batch in range(BATCHES):
        reads, latency = machine.general("client_reads"), machine.general("client_latency")
        machine.advance((3 + batch) * batch_s, 1 << 60)
        done = machine.general("client_reads") - reads
        responses.append((machine.general("client_latency") - latency) / done)
        rates.append(done / batch_s)
    return interval(responses), interval(rates)


def interval(values: list[float]) -> Interval:
    """Return the 95 % interval of the mean of nearly independent values."""
    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Interval(float(np.mean(values)), float(stats.t.ppf(0.975, len(values) - 1)) * spread)


def pollaczek_khinchine(load: float, mean_s: float, squared_variation: float) -> float:
    """Return the response time of M/G/1 [s] (Kleinrock, Queueing Systems I, 1975, equation 5.70)."""
    return mean_s + load * mean_s * (1 + squared_variation) / (2 * (1 - load))


def mean_value_analysis(clients: int, think_s: float, demands_s: list[float]) -> tuple[float, float]:
    """Return response time [s] and throughput of a closed network of exponential servers.

    Reiser and Lavenberg, JACM 27 (1980): exact for first come first served and random routing.
    """
    queues = np.zeros(len(demands_s))
    response = rate = 0.0
    for number in range(1, clients + 1):
        each = np.array(demands_s) * (1 + queues)
        response = float(each.sum())
        rate = number / (think_s + response)
        queues = rate * each
    return response, rate


def finite_share(clients: int, think_s: float, mean_s: float) -> float:
    """Return the wait of a finite population over a Poisson stream's of its rate, for exponential service."""
    response, rate = mean_value_analysis(clients, think_s, [mean_s])
    return (response - mean_s) / (mean_s / (1 - rate * mean_s) - mean_s)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 1.0), (0.0, 2.0), (0.5, 1.5)], ids=["M/D/1", "M/U/1", "M/G/1"]
)
def test_open_queue_is_pollaczek_khinchine(load: float, low: float, high: float) -> None:
    mean, variation = (low + high) / 2, (high - low) ** 2 / 12 / ((low + high) / 2) ** 2
    think = MANY * mean / load - mean
    found, rate = measured(
        plane(*single(drive(low, high)), ClientModel(count=MANY, think_s=think, seed=7)), LONG
    )
    expected = mean + (pollaczek_khinchine(rate.middle * mean, mean, variation) - mean) * finite_share(
        MANY, think, mean
    )
    assert rate.middle == pytest.approx(load / mean, rel=0.02)
    assert found.covers(expected)
    assert found.half < 0.05 * expected


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_open_queue_of_exponential_transfers_is_m_m_1(load: float) -> None:
    table = exponential(1.0)
    mean = float(table.psize.mean()) / RATE
    think = MANY * mean / load - mean
    clients = ClientModel(count=MANY, think_s=think, seed=5)
    found, rate = measured(plane(*single(drive(0.0, 0.0, RATE)), clients, table), LONG)
    open_s = mean / (1 - rate.middle * mean)
    assert found.covers(mean + (open_s - mean) * finite_share(MANY, think, mean))
    assert found.half < 0.05 * open_s


def test_an_interval_of_this_size_would_notice_a_lost_service_time() -> None:
    clients = ClientModel(count=MANY, think_s=MANY / 0.6, seed=7)
    found, _ = measured(plane(*single(drive(1.0, 1.0)), clients), LONG)
    assert not found.covers(pollaczek_khinchine(0.6, 1.0, 0.0) - 0.1)


@pytest.mark.parametrize("clients", [1, 2, 5, 20])
@pytest.mark.parametrize("think_s", [0.5, 8.0])
@pytest.mark.parametrize("vdevs", [1, 3])
def test_closed_network_is_mean_value_analysis(clients: int, think_s: float, vdevs: int) -> None:
    table = exponential(1.0, vdevs)
    shares = [float(table.psize[table.dva_vdev[:, 0] == number].sum()) for number in range(vdevs)]
    demands = [share / len(table) / RATE for share in shares]
    levels = tuple(
        VdevModel(kind="mirror", parity=0, ashift=9, read_leaf=(number,), write_leaf=(-1,))
        for number in range(vdevs)
    )
    machine = plane(
        [drive(0.0, 0.0, RATE)] * vdevs, levels, ClientModel(count=clients, think_s=think_s, seed=11), table
    )
    response, rate = measured(machine, 20_000.0)
    expected_response, expected_rate = mean_value_analysis(clients, think_s, demands)
    assert response.covers(expected_response)
    assert rate.covers(expected_rate)


def forked(spans: list[tuple[float, float]], load: float) -> tuple[Interval, float]:
    """Return the response of reads that three drives of a RAID-Z take part in, and their rate."""
    level = VdevModel(kind="raidz", parity=1, ashift=12, read_leaf=(0, 1, 2, 3), write_leaf=(-1,) * 4)
    # Blocks begin at multiples of the stripe: the same three drives hold the data of all of them.
    table = blocks(np.full(4096, 3 * BLOCK, np.int64), asize_factor=4 / 3)
    clients = ClientModel(count=MANY, think_s=MANY / load, seed=2)
    drives = [drive(*spans[number % len(spans)]) for number in range(4)]
    found, rate = measured(plane(drives, level, clients, table), LONG)
    return found, rate.middle


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_a_join_of_equal_services_waits_like_one_drive(load: float) -> None:
    found, rate = forked([(1.0, 1.0)], load)
    share = finite_share(MANY, MANY / load, 1.0)
    assert found.covers(1.0 + (pollaczek_khinchine(rate, 1.0, 0.0) - 1.0) * share)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_fork_join_lies_between_its_bounds(load: float) -> None:
    """From below the slowest sibling alone; from above Aven, J. Appl. Prob. 22 (1985), whatever depends."""
    spans = [(0.0, 2.0), (0.4, 1.6), (0.9, 1.1)]
    found, rate = forked(spans, load)
    means, variances = [], []
    for low, high in spans:
        second, third = 1 + (high - low) ** 2 / 12, 1 + (high - low) ** 2 / 4
        wait = pollaczek_khinchine(rate, 1.0, second - 1) - 1.0
        means.append(1.0 + wait)
        variances.append(wait**2 + rate * third / (3 * (1 - rate)) + second - 1)
    upper = max(means) + math.sqrt(2 / 3 * sum(variances))
    assert max(means) * 0.98 - found.half <= found.middle <= upper + found.half
