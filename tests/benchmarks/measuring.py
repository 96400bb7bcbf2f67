"""What is measured: each in a new process, so that imports, compiled code and memory are its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

ENTRY = "import sys; from zsim.cli.main import main; sys.exit(main())"
REPEATS = 3


@dataclass(frozen=True)
class Measurement:
    """One process: wall and processor time [s], most memory [bytes], and a rate [1/s] if one was counted."""

    wall_s: float
    cpu_s: float
    memory_bytes: int
    rate: float | None = None


def of_process(words: list[str], cache: str | None = None) -> tuple[Measurement, str]:
    """Run Python with arguments; return what it took, and its standard output."""
    environment = dict(os.environ) if cache is None else {**os.environ, "ZSIM_CACHE_DIR": cache}
    # A user's Python keeps the byte code of what it imports.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.monotonic()
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
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


def command(*words: str) -> Measurement:
    """Return the best of a few runs of ``zsim`` with warm caches."""
    of_process(["-c", ENTRY, *words])
    return min((of_process(["-c", ENTRY, *words])[0] for _ in range(REPEATS)), key=lambda each: each.cpu_s)


def first_run() -> Measurement:
    """Return what the first prediction ever takes, all kernels compiled."""
    with tempfile.TemporaryDirectory() as cache:
        return of_process(["-c", ENTRY, "predict", "--layout", "raidz2x6", "--fill", "0.62"], cache)[0]


def counted(function: str) -> Measurement:
    """Return the best of a few runs of a function here that prints its rate and its processor time."""
    program = f"from tests.benchmarks import measuring; measuring.{function}()"
    of_process(["-c", program])
    runs = [of_process(["-c", program]) for _ in range(REPEATS)]
    best = max((json.loads(out)["rate"], taken) for taken, out in runs)
    return Measurement(best[1].wall_s, best[1].cpu_s, best[1].memory_bytes, best[0])


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
    run = Run(setup(blocks))
    begin = time.process_time()
    children = run.execute().children
    print(json.dumps({"rate": children / (time.process_time() - begin)}))


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


EXACT = ("predict", "--exact", "--layout", "raidz2x6", "--fill", "0.5", "--drive-size", "100GB")
PREDICT = ("predict", "--fill", "0.62")
MEASUREMENTS: dict[str, Callable[[], Measurement]] = {
    "help": partial(command, "--help"),
    "predict, 1 TB": partial(command, *PREDICT, "--layout", "raidz2x6", "--drive-size", "170GB"),
    "predict, 50 TB": partial(command, *PREDICT, "--layout", "raidz2x6", "--drive-size", "8.4TB"),
    "predict, 1 PB": partial(command, *PREDICT, "--layout", "8*raidz2x6", "--drive-size", "21TB"),
    "first run": first_run,
    "engine, no caches": partial(counted, "plain"),
    "engine, write caches": partial(counted, "cached"),
    "engine, legacy scan": partial(counted, "legacy"),
    "engine, solid-state drives": partial(counted, "flash"),
    "reference engine (SimPy)": partial(counted, "simpy_reference"),
    "population": partial(counted, "population"),
    "exact, 100 GB drives": partial(command, *EXACT),
}
"""Name to what measures it; each leaves nothing behind."""
