"""Before and during a long computation: check output files, announce compilation, stop on Ctrl-C."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zsim.base.errors import InputError
from zsim.cli.common import notice

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from distributed import Client

NOTICE_AFTER_S = 1.0
NOTICE = "compiling the simulation kernels for this machine (only once); later runs start at once"


def check_outputs(
    output: str | None, plot: str | None, report: str | None, series: str | None = None
) -> None:
    """Refuse file names that cannot be written before anything is computed."""
    from zsim.base.files import check_ending, check_writable

    for path, endings in (
        (output, (".json",)),
        (plot, (".svg", ".png", ".pdf")),
        (report, (".html", ".htm")),
        (series, (".parquet", ".csv")),
    ):
        if path is not None:
            check_ending(path, endings)
            check_writable(path)


@contextlib.contextmanager
def announced_compilation(kernel: str = "kernel.advance") -> Iterator[None]:
    """Say on stderr that the kernels are being compiled, if they are: not before bad input had its chance."""
    from zsim.base.jit import kernels_are_cached

    if kernels_are_cached(kernel):
        yield
        return
    timer = threading.Timer(NOTICE_AFTER_S, notice, (NOTICE,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def executor_of(jobs: int | None, dask: str | None) -> Iterator[Executor | None]:
    """Give whatever does the work: None for this process, processes, or a dask cluster.

    Raises
    ------
    InputError
        When dask is not installed or its scheduler does not answer.
    """
    if dask is not None:
        with _client(dask) as client:
            yield client.get_executor(pure=False)
    elif jobs is not None and jobs > 1:
        from zsim.base.machine.worker_pool import WorkerPool

        with WorkerPool(jobs) as pool:
            yield pool
    else:
        yield None


def _client(address: str) -> Client:
    import importlib

    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise InputError("--dask", address, "dask is not installed", "install dask[distributed]") from error
    try:
        client: Client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError(
            "--dask", address, "no scheduler answers at that address", "start dask scheduler"
        ) from error
    return client
