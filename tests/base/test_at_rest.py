"""Pages of code that are given back: fewer in memory, and the code still runs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding

from zsim.base.machine.at_rest import code_of, constants_of, give_back, give_back_code

LLVM = "llvmlite"
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells of Linux alone")


def resident(first: int) -> int:
    """Return how much of the mapping that begins at an address is in memory [bytes]."""
    lines = iter(Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith(f"{first:x}-"):
            break
    return next(int(each.split()[1]) << 10 for each in lines if each.startswith("Rss:"))


def module_of(number: int) -> str:
    text = f"define i64 @f() {{ ret i64 {number} }}"
    return str(binding.parse_assembly(text).get_function("f"))


@linux
def test_code_that_is_given_back_leaves_memory_and_runs_again() -> None:
    assert "ret i64 7" in module_of(7)
    [(first, size)] = code_of(LLVM)
    before = resident(first)
    give_back_code(LLVM)
    assert resident(first) < before <= size
    assert "ret i64 8" in module_of(8)


def test_of_a_library_that_is_not_loaded_nothing_is_given_back() -> None:
    give_back_code("no library of this name")
    assert code_of("no library of this name") == ()


@linux
def test_data_are_never_given_back() -> None:
    np.zeros(1)
    kept = {
        int(line.split("-")[0], 16)
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        if "r-xp" not in line
    }
    assert kept.isdisjoint(first for first, _ in code_of("numpy") + code_of("umath") + code_of(LLVM))


@linux
def test_constants_are_given_back_but_for_those_that_were_written_to_as_they_were_loaded() -> None:
    assert "ret i64 7" in module_of(7)
    places = dict(constants_of(LLVM))
    written = [
        int(line.split("-")[0], 16)
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        if LLVM in line and "r--p" in line and int(line.split("-")[0], 16) not in places
    ]
    assert places
    assert written, "addresses are put into the tables of every library in C++"
    before = {first: resident(first) for first in (*places, *written)}
    give_back()
    assert sum(map(resident, places)) < sum(before[first] for first in places)
    assert all(resident(first) == before[first] for first in written)
    assert "ret i64 8" in module_of(8)
