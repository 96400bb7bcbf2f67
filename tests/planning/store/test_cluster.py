"""The same bits from a dask cluster, one of whose workers is killed in the middle."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zsim.planning.fleet.api import fleet
from zsim.planning.fleet.spec import Fleet
from zsim.planning.store.study import study

distributed = pytest.importorskip("distributed", reason="the extra zsim[cluster] is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # those of the cluster's machinery are not ours

AXES = {
    "width": [4, 5, 6],
    "parity": [1],
    "fill": ["30%", "50%"],
    "drive_size": ["1TB"],
    "history": ["media-server"],
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_study_survives_a_killed_worker_to_the_bit(client: Any, tmp_path: Path) -> None:
    alone = study(tmp_path / "alone.sqlite", AXES, jobs=1)
    killed = threading.Event()

    def kill(share: float, words: str) -> None:
        if not killed.is_set():
            killed.set()
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    together = study(tmp_path / "b.sqlite", AXES, executor=client.get_executor(pure=False), on_progress=kill)
    assert killed.is_set()
    assert together == alone


def test_a_fleet_is_the_same_to_the_bit(client: Any) -> None:
    pools = [{"name": "a", "count": 30, "layout": "2*raidz2x8", "hours": 24}]
    asked = Fleet.from_dict({"years": 5, "trials": 64, "spares": 3, "crews": 1, "pool": pools})
    assert fleet(asked, executor=client.get_executor(pure=False)).to_dict() == fleet(asked).to_dict()
