"""``zsim warmup``: compile the kernels now."""

from __future__ import annotations

import time

import click

from zsim.cli.common import progress

# Small pools that between them run every kernel: both scan orders, RAID-Z and mirror, both queue designs.
RUNS = (
    {"layout": "raidz2x6", "release": "openzfs-2.3"},
    {"layout": "raidz2x6", "release": "zol-0.7"},
    {"layout": "raidz1x3", "release": "freebsd-9.1"},
    {"layout": "mirror2", "release": "openzfs-2.3"},
)
SMALL = {"fill": 0.05, "drive_size": 32 * 10**9, "seed": 1}


@click.command("warmup")
def command() -> None:
    """Compile the kernels now instead of in the first run.

    They are kept in ~/.cache/zsim (ZSIM_CACHE_DIR or XDG_CACHE_HOME put them elsewhere) until zsim changes.
    """
    from zsim.base.jit import cache_directory
    from zsim.prediction.api import predict
    from zsim.scenario.model import Scenario

    started = time.perf_counter()
    with progress("compiling the kernels") as report:
        for done, run in enumerate(RUNS):
            report(done / len(RUNS), "")
            predict(Scenario.from_dict({**SMALL, **run}))
    place = cache_directory()
    kept = "not kept" if place is None else f"kept in {place}"
    click.echo(f"Kernels ready after {time.perf_counter() - started:.1f} s, {kept}.")
