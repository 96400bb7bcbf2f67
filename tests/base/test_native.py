"""Kernels called as machine code, without numba: the same numbers, and numba stays away."""

from __future__ import annotations

import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.jit import IS_COMPILING, on_table
from zsim.base.machine.native import Packed, kinds_of, pack, signature_of, unpack
from zsim.scan.program import _look_up
from zsim.vdevs import raidz
from zsim.vdevs.dispatch import pieces_of_blocks
from zsim.vdevs.kind import VdevSpec, pieces_of

compiled = pytest.mark.skipif(not IS_COMPILING, reason="numba is switched off")
WARM = """
import sys
from zsim.prediction.api import predict
from zsim.scenario.model import Scenario
stated = {"layout": "raidz2x6", "fill": 0.1, "drive_size": 32 * 10**9, "recordsize": 131072}
predict(Scenario.from_dict(stated))
print("numba" in sys.modules)
"""


@compiled
@given(st.integers(512, 1 << 24), st.integers(9, 14), st.integers(2, 40), st.data())
def test_numbers_come_and_go_as_in_python(
    psize: int, ashift: int, children: int, data: st.DataObject
) -> None:
    parity = data.draw(st.integers(1, min(3, children - 1)))
    offset = data.draw(st.integers(0, 1 << 30)) << ashift
    found = raidz.raidz_map(offset, psize, ashift, children, parity)
    plain = raidz.raidz_map.py_func(offset, psize, ashift, children, parity)  # type: ignore[attr-defined]
    assert found == plain
    assert [type(word) for word in found] == [int] * len(plain)
    numbers = [np.int64(each) for each in (offset, psize, ashift, children, parity)]
    assert raidz.raidz_map(*numbers) == found


@pytest.mark.parametrize("spec", [VdevSpec.raidz(2, 6), VdevSpec.mirror(3), VdevSpec.draid(2, 4, 11, 1)])
@pytest.mark.parametrize("psize", [4096, 131072, 1 << 20])
def test_blocks_in_one_call_are_as_one_by_one(spec: VdevSpec, psize: int) -> None:
    offsets = np.arange(40, dtype=np.int64) * (24 << 20)
    found = pieces_of_blocks(spec, 12, offsets, psize)
    each = [
        (number, *piece)
        for number, at in enumerate(offsets.tolist())
        for piece in pieces_of(spec, at, psize, 12)
    ]
    assert found.tolist() == [list(row) for row in each]


def test_a_table_that_was_handed_over_once_is_read_at_each_call_and_kept() -> None:
    table, wanted = np.array([-1, 0, 1]), np.array([True, False, True])
    above, held = np.zeros(3, np.int64), weakref.ref(table)
    call = on_table(_look_up, table, wanted, above)
    call(wanted, above)
    assert above.tolist() == [-1, 0, 0]
    table[1] = -1
    del table
    call(wanted, above)
    assert above.tolist() == [-1, -1, -1]
    assert held() is not None
    del call
    assert held() is None


def test_what_only_numba_can_pass_on() -> None:
    words = np.zeros(6, np.int64)
    assert kinds_of((words,)) == kinds_of((np.ones(3, np.int64),))
    assert kinds_of((words,)) != kinds_of((words.astype(np.int32),))
    others: tuple[Any, ...] = (words[::2], "text", None, (1, "two"), np.float32(1.0))
    assert [kinds_of((each,)) for each in others] == [None] * len(others)
    words.flags.writeable = False
    assert kinds_of((words,)) is None


def test_signatures_differ_where_machine_code_does() -> None:
    first, second = np.dtype([("a", "i8"), ("b", "f8")]), np.dtype([("a", "i8"), ("b", "i8")])
    arrays = (np.zeros(2, first), np.zeros(2, second), np.zeros(2), np.zeros((1, 2)))
    calls: list[Any] = [*arrays, 1, 1.0, True, (1, 2), (1, 2.0)]
    written = [signature_of(kinds_of((each,)) or ()) for each in calls]
    assert len(set(written)) == len(calls)


def test_what_is_kept_is_read_again() -> None:
    packed = Packed("symbol", ("int64", "bool"), True, b"\x7fELF\n\n")
    assert unpack(pack(packed)) == packed
    assert [unpack(each) for each in (b"", b"{}\n", b"[1, 2]\n", b"\x80\x05.")] == [None] * 4


@compiled
@pytest.mark.slow
def test_a_warm_prediction_does_not_load_numba() -> None:
    def run() -> str:
        return subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=True).stdout

    run()
    assert run().strip() == "False"
