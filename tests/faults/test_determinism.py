"""Same seed, same bits: in any process, in any number of them, whatever the hash seed and the processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASKED = ("predict", "--layout", "raidz1x4", "--fill", "0.4", "--drive-size", "30GB", "--seed", "5", "--json")
SWEEP = ("sweep", "--width", "3..6", "--parity", "1", "--fill", "50%", "--drive-size", "8GB", "--json")


def answer(*words: str, **environment: str) -> Any:
    """Return what a new process answers, without where it ran."""
    command = [sys.executable, "-m", "zsim", *words]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, check=True
    )
    found = json.loads(done.stdout)
    found.pop("provenance", None)
    return found


def test_hash_seeds_and_threads_change_nothing() -> None:
    first = answer(*ASKED, PYTHONHASHSEED="0")
    assert answer(*ASKED, PYTHONHASHSEED="4242", OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2") == first


SUMS = (
    "functools.reduce(operator.add, items, start)",
    "start + math.fsum(items) if floats else plain(items, start)",
)
"""One number after the other, and with what is lost."""
LOADED = (
    "predict", "--layout", "mirror2", "--fill", "0.3", "--drive-size", "20GB", "--history", "vm-host",
    "--load", "random-read,rate=20,size=64K", "--json",
)  # fmt: skip


def test_how_python_adds_floats_changes_nothing() -> None:
    """`sum` of Python 3.11 rounds after each number, from 3.12 on it keeps what is lost."""
    found = []
    for how in SUMS:
        program = (
            "import builtins, functools, math, operator\n"
            "plain = sum\n"
            "def other(items, start=0):\n"
            "    items = list(items)\n"
            "    floats = any(type(each) is float for each in items)\n"
            f"    return {how}\n"
            "builtins.sum = other\n"
            "from zsim.cli.main import main\n"
            f"main({list(LOADED)})\n"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True)
        found.append(json.loads(done.stdout))
        found[-1].pop("provenance")
    assert found[0] == found[1]


def test_the_number_of_processes_changes_nothing() -> None:
    assert answer(*SWEEP, "--jobs", "1") == answer(*SWEEP, "--jobs", "3")


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["x86-64", "haswell"])
@pytest.mark.skipif(os.uname().machine != "x86_64" if hasattr(os, "uname") else True, reason="names of x86")
def test_older_processors_give_the_same_bits(processor: str, tmp_path: Path) -> None:
    """Compiled as for a processor without AVX-512 (haswell), or without AVX and FMA (x86-64)."""
    forced = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "ZSIM_CACHE_DIR": str(tmp_path)}
    assert answer(*ASKED, **forced) == answer(*ASKED)
