"""Compile the kernels of the data plane in a second process, while the first lays out the pool.

Most of a first run ever is compilation, and numba compiles on one core.  What the second process makes is on
disk when the first needs it; if it fails, the first compiles for itself.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from zsim.base.jit import IS_COMPILING, compile_for, kernels_are_cached, of_this_machine
from zsim.base.machine.processes import available_cores, can_start_others, is_first, worker_environment
from zsim.engine.compiled import kernel

PROGRAM = "from zsim.engine.compiled.warm import compile_kernels; compile_kernels()"
_begun: list[subprocess.Popen[bytes]] = []


def compile_kernels() -> None:
    """Compile what `zsim.engine.compiled.plane` calls, as it calls it."""
    table = np.zeros(1, np.int64)
    compile_for(kernel.advance, table, 0.0, 0)
    compile_for(kernel.flush_caches, table)
    compile_for(kernel.start_clients, table)
    compile_for(kernel.set_clients, table, 0, 0)


def begin_compiling() -> None:
    """Start the second process, unless something is compiled already or there is no core for it."""
    if _begun or kernels_are_cached() or not _may_start():
        return
    of_this_machine().prepare()
    _begun.append(
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=worker_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    )


def finish_compiling() -> None:
    """Wait until the second process is done, if there was one."""
    for process in _begun:
        process.wait()


def _may_start() -> bool:
    """Tell whether a second process would help: there is a core for it, and this is the first."""
    return IS_COMPILING and can_start_others() and available_cores() > 1 and is_first()
