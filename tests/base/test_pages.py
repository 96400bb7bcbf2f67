"""Tables that take memory for what is written to them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from zsim.base.arrays import LARGE_TABLE, LARGE_ZEROS, NO_RESERVE, sparse_table, sparse_zeros


@pytest.mark.parametrize("rows", [3, LARGE_TABLE // 8])
def test_a_table_can_be_written_and_read(rows: int) -> None:
    table = sparse_table(rows, 2)
    table[:, 0] = np.arange(rows)
    assert table.shape == (rows, 2)
    assert table[rows - 1, 0] == rows - 1


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux does")
def test_the_first_entry_of_each_row_takes_a_page_not_the_table() -> None:
    program = (
        "import resource\nfrom zsim.base.arrays import sparse_table\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "table = sparse_table(4000, 200_000)\ntable[:, 0] = 1\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) << 10 < 4000 * 16 * resource.getpagesize() < 8 * 4000 * 200_000


@pytest.mark.skipif(not NO_RESERVE, reason="a system without the flag")
def test_a_table_larger_than_all_memory_takes_what_is_written() -> None:
    """A nearly empty pool of thousands of metaslabs; it was refused for want of memory."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    table = sparse_table(1000, memory // 4000)
    assert table.nbytes > memory
    table[:, 0] = 7
    assert int(table[:, 0].sum()) == 7000


def test_a_table_that_no_machine_can_hold_is_too_little_memory() -> None:
    with pytest.raises(MemoryError):
        sparse_table(1 << 30, 1 << 28)


@pytest.mark.parametrize("count", [3, LARGE_ZEROS // 16 + 1])
def test_records_of_zeros_are_zeros_of_their_own(count: int) -> None:
    dtype = np.dtype([("a", "i8"), ("b", "f8")])
    records = sparse_zeros((2, count), dtype)
    assert records.shape == (2, count)
    assert records.dtype == dtype
    assert not records["a"].any()
    records["b"][1, -1] = 2.0
    assert not sparse_zeros((2, count), dtype)["b"].any()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of glibc")
def test_a_process_of_ours_gives_large_arrays_back() -> None:
    program = (
        "import numpy as np\nfrom zsim.base.machine.lightly import begin_lightly\nbegin_lightly()\n"
        "held = lambda: int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "several = lambda: [np.ones(5 << 18) for _ in range(12)]\n"
        "several()\nbefore = held()\n"
        "kept = several()\nlast = kept.pop()\ndel kept\nprint(held() - before)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 16 << 20, "12 arrays of 10 MB, of which one is kept"
