"""What is measured: each in a new process, so that imports, compiled code and memory are its own.

A measurement may be made of another tree than this one (`TREE`), by the programs of this: that is how two
versions are compared.  ``python tests/benchmarks/measuring.py NAME`` runs one of the functions here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve()
TREE = HERE.parents[2]
ENTRY = ("-m", "zsim")
REPEATS = 3


@dataclass(frozen=True)
class Measurement:
    """One process: wall and processor time [s], most memory [bytes].

    If they were counted: a rate [1/s], and of the engine the share of the time that is not the kernel's.
    """

    wall_s: float
    cpu_s: float
    memory_bytes: int
    rate: float | None = None
    around: float | None = None


Job = Callable[[Path], Measurement]
"""One run of one thing, with the package of a tree."""


def of_process(words: list[str], cache: str | None = None, tree: Path = TREE) -> tuple[Measurement, str]:
    """Run Python with arguments and the package of a tree; return what it took, and its standard output."""
    # With -P neither where this stands nor where it was started comes before that tree.
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment |= {} if cache is None else {"ZSIM_CACHE_DIR": cache}
    # A user's Python keeps the byte code of what it imports.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-P", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        out, err = process.stdout.read(), process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    if process.returncode != 0:
        raise RuntimeError(err.decode())
    scale = 1 if sys.platform == "darwin" else 1024
    taken = Measurement(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * scale)
    return taken, out.decode()


def of_command(*words: str) -> Job:
    """Return what runs ``zsim`` with warm caches, once."""
    return lambda tree: of_process([*ENTRY, *words], tree=tree)[0]


def first_run(tree: Path) -> Measurement:
    """Return what the first prediction ever takes, all kernels compiled."""
    with tempfile.TemporaryDirectory() as cache:
        return of_process([*ENTRY, "predict", "--layout", "raidz2x6", "--fill", "0.62"], cache, tree)[0]


def of_function(name: str) -> Job:
    """Return what runs a function here once, which prints its rate or its processor time."""

    def run(tree: Path) -> Measurement:
        taken, out = of_process([str(HERE), name], tree=tree)
        told = json.loads(out)
        return Measurement(
            taken.wall_s,
            told.get("cpu_s", taken.cpu_s),
            taken.memory_bytes,
            told.get("rate"),
            told.get("around"),
        )

    return run


def best(runs: list[Measurement]) -> Measurement:
    """Return the run that took the least processor time, or had the highest rate."""
    return min(runs, key=lambda each: (-(each.rate or 0.0), each.cpu_s))


def measured(job: Job, tree: Path = TREE, repeats: int = REPEATS) -> Measurement:
    """Return the best of a few runs, after one that is not counted."""
    if job is first_run:
        return job(tree)
    job(tree)
    return best([job(tree) for _ in range(repeats)])


def engine(plane: str = "CompiledPlane", blocks: int = 150_000, **stated: object) -> None:
    """Print how many child I/Os a second of processor time one run makes, control plane included."""
    from zsim.case.resolve import resolve
    from zsim.engine.compiled.plane import CompiledPlane
    from zsim.engine.reference.plane import ReferencePlane
    from zsim.operation.run import Run, RunSetup
    from zsim.prediction.inputs.hardware import plane_model
    from zsim.prediction.inputs.population import miniature
    from zsim.scenario.model import Scenario

    scenario = Scenario.from_dict({"layout": "raidz2x6", "fill": 0.62, "drive_size": "4TB", **stated})
    resolved = resolve(scenario)

    def setup(blocks: int) -> RunSetup:
        pool = miniature(resolved, blocks=blocks)
        model = plane_model(resolved)
        return RunSetup(
            model=model,
            blocks=pool.table,
            release=resolved.release,
            memory=resolved.memory,
            seed=resolved.seed,
            plane={"CompiledPlane": CompiledPlane, "ReferencePlane": ReferencePlane}[plane],
        )

    Run(setup(min(blocks, 2_000))).execute()
    inside = [0.0]
    advance = CompiledPlane.advance

    def timed(self: CompiledPlane, until: float, *rest: int) -> int:
        before = time.process_time()
        try:
            return advance(self, until, *rest)
        finally:
            inside[0] += time.process_time() - before

    CompiledPlane.advance = timed  # type: ignore[method-assign,assignment]
    ready = setup(blocks)
    begin = time.process_time()
    # What is prepared for the run counts, what lays out the pool does not.
    children = Run(ready).execute().children
    spent = time.process_time() - begin
    around = 1.0 - inside[0] / spent if plane == "CompiledPlane" else None
    print(json.dumps({"rate": children / spent, "around": around}))


def plain() -> None:
    """Print the rate without write caches."""
    engine(write_cache=False)


def cached() -> None:
    """Print the rate with write caches."""
    engine(write_cache=True)


def legacy() -> None:
    """Print the rate of the legacy scan."""
    engine(write_cache=True, release="openzfs-0.7")


def flash() -> None:
    """Print the rate of solid-state drives."""
    engine(drive="generic-sata-ssd")


def simpy_reference() -> None:
    """Print the rate of the reference engine, one SimPy event an I/O."""
    engine(plane="ReferencePlane", blocks=4_000, write_cache=False)


def population() -> None:
    """Print how many blocks a second are laid out."""
    from zsim.case.resolve import resolve
    from zsim.prediction.inputs.population import miniature
    from zsim.scenario.model import Scenario

    scenario = Scenario.from_dict({"layout": "raidz2x6", "fill": 0.62, "drive_size": "4TB"})
    resolved = resolve(scenario)
    miniature(resolved, blocks=2_000)
    begin = time.process_time()
    blocks = len(miniature(resolved, blocks=150_000).table)
    print(json.dumps({"rate": blocks / (time.process_time() - begin)}))


def _least_of_more(work: Callable[[dict[str, object]], object], *changes: dict[str, object]) -> None:
    """Print the least that a scenario takes after the first in one process."""
    times = []
    for change in ({}, *changes):
        begin = time.process_time()
        work({"layout": "raidz2x6", "fill": 0.62, **change})
        times.append(time.process_time() - begin)
    print(json.dumps({"cpu_s": min(times[1:])}))


def warm() -> None:
    """Print what a prediction takes in a process that has made one of its family."""
    from zsim.prediction.api import predict
    from zsim.scenario.model import Scenario

    fills: list[dict[str, object]] = [{"fill": fill} for fill in (0.5, 0.6, 0.7, 0.8)]
    _least_of_more(lambda stated: predict(Scenario.from_dict(stated)), *fills)


def same_pools() -> None:
    """Print what a prediction takes where the last one had the same blocks."""
    from zsim.prediction.api import predict
    from zsim.scenario.model import Scenario

    # Enough for the records of any of its worlds: scans that are short of memory are other runs.
    hosts: list[dict[str, object]] = [{"memory": terabytes << 40} for terabytes in (4, 6, 8, 12)]
    _least_of_more(lambda stated: predict(Scenario.from_dict(stated)), *hosts)


def sweep_row() -> None:
    """Print what a row of a sweep takes in a process that goes on with the next, begun as its workers are."""
    from zsim.base.machine.lightly import begin_lightly

    begin_lightly()
    from zsim.planning.running import answer
    from zsim.scenario.model import Scenario

    fills: list[dict[str, object]] = [{"fill": fill} for fill in (0.5, 0.6, 0.7, 0.8)]
    _least_of_more(lambda stated: answer(Scenario.from_dict(stated).stated()), *fills)


def simpy_timeouts() -> None:
    """Print how many timeouts SimPy alone makes, the least that an event can be."""
    import simpy

    count = 200_000
    environment = simpy.Environment()

    def ticks() -> Iterator[simpy.Timeout]:
        for _ in range(count):
            yield environment.timeout(1.0)

    environment.process(ticks())
    begin = time.process_time()
    environment.run()
    print(json.dumps({"rate": count / (time.process_time() - begin)}))


def trace_reading() -> None:
    """Print how many requests of a DiskSim trace are read."""
    import numpy as np

    from zsim.observe.traces.disksim_ascii import text_of
    from zsim.observe.traces.reading import read_trace
    from zsim.observe.traces.trace import Trace

    count, generator = 200_000, np.random.default_rng(1)
    arrival = np.cumsum(generator.exponential(0.01, count))
    offset, length = generator.integers(0, 1 << 30, count) * 512, generator.integers(1, 256, count) * 512
    trace = Trace(arrival, offset, length, generator.random(count) < 0.3, np.zeros(count, np.int64), ("0",))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trace"
        path.write_text(text_of(trace))
        read_trace(path)
        begin = time.process_time()
        read_trace(path)
        spent = time.process_time() - begin
    print(json.dumps({"rate": count / spent}))


EXACT = ("predict", "--exact", "--layout", "raidz2x6", "--fill", "0.5", "--drive-size")
PREDICT = ("predict", "--fill", "0.62", "--layout")
JOBS: dict[str, Job] = {
    "help": of_command("--help"),
    "predict": of_command(*PREDICT, "raidz2x6"),
    "predict, 1 TB": of_command(*PREDICT, "raidz2x6", "--drive-size", "170GB"),
    "predict, 50 TB": of_command(*PREDICT, "raidz2x6", "--drive-size", "8.4TB"),
    "predict, 1 PB": of_command(*PREDICT, "8*raidz2x6", "--drive-size", "21TB"),
    "predict, 90 wide": of_command(*PREDICT, "raidz3x90", "--drive-size", "4TB"),
    "predict, draid2:8d:24c": of_command(*PREDICT, "draid2:8d:24c", "--drive-size", "4TB"),
    "predict, draid3:20d:255c": of_command(*PREDICT, "draid3:20d:255c", "--drive-size", "4TB"),
    "predict, 100 vdevs": of_command(*PREDICT, "100*mirror2", "--drive-size", "4TB"),
    "predict, 16M records": of_command(*PREDICT, "raidz2x6", "--recordsize", "16M"),
    "predict, shingled": of_command(*PREDICT, "raidz2x6", "--drive", "generic-5400rpm-smr"),
    "predict, NVMe": of_command(*PREDICT, "raidz2x6", "--drive", "generic-nvme-ssd"),
    "predict, one more in a warm process": of_function("warm"),
    "predict, the same blocks in a warm process": of_function("same_pools"),
    "a row of a sweep": of_function("sweep_row"),
    "first run": first_run,
    "engine, no caches": of_function("plain"),
    "engine, write caches": of_function("cached"),
    "engine, legacy scan": of_function("legacy"),
    "engine, solid-state drives": of_function("flash"),
    "reference engine (SimPy)": of_function("simpy_reference"),
    "SimPy alone, timeouts": of_function("simpy_timeouts"),
    "population": of_function("population"),
    "trace, read by columns": of_function("trace_reading"),
    "exact, 100 GB drives": of_command(*EXACT, "100GB"),
    "exact, 1 TB drives": of_command(*EXACT, "1TB"),
}
"""Name to what runs it once; each leaves nothing behind."""
MEASUREMENTS: dict[str, Callable[[], Measurement]] = {
    name: partial(measured, job) for name, job in JOBS.items()
}
"""Name to what measures it."""

if __name__ == "__main__":
    globals()[sys.argv[1]]()
