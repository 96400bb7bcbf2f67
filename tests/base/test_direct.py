"""Kernels translated from their text: each construct against what Python and numpy make of the same text."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from llvmlite import binding

from zsim.base.jit import IS_COMPILING, njit
from zsim.base.machine import native
from zsim.base.machine.direct import assemble
from zsim.base.machine.direct.values import UntranslatableError
from zsim.base.machine.kernel_cache import of_this_machine

pytestmark = pytest.mark.skipif(not IS_COMPILING, reason="kernels run as plain Python")

RECORD = np.dtype([("small", "i2"), ("real", "f8"), ("many", "i8", 2), ("word", "u8")])
WEIGHTS = np.array([3, 1, 4, 1, 5])
FACTORS = (2, 3, 5)
STEP = 2
INTEGERS = [0, 1, -1, 2, 7, -7, 12, -13, 63, 2**40 + 5, -(2**40) - 9]
REALS = [0.0, 0.25, -0.25, 1.5, -2.75, 3.0, 1e9 + 0.5, -1e9 - 0.5]


class Shape(NamedTuple):
    """A named tuple, as kernels take it."""

    width: int
    factor: float


def translated(function: Callable[..., Any], kinds: Any) -> Callable[..., Any]:
    """Return a kernel translated for such arguments."""
    if binding.llvm_version_info[0] < assemble.LEAST_LLVM:
        pytest.skip("with so old an LLVM numba compiles the kernels")
    return native.load(assemble.compiled(function, kinds), kinds)


def ran(function: Callable[..., Any], *arguments: object) -> Any:
    """Translate a kernel and run it."""
    kinds = native.kinds_of(arguments)
    assert kinds is not None
    return translated(function, kinds)(*arguments)


def same(function: Callable[..., Any], *arguments: object) -> None:
    """Check that a translated kernel returns what it returns as plain Python, bit by bit."""
    found, expected = ran(function, *arguments), function(*arguments)
    several = expected if isinstance(expected, tuple) else (expected,)
    assert [float(x).hex() for x in (found if isinstance(found, tuple) else (found,))] == [
        float(x).hex() for x in several
    ]


def divided(one: int, other: int) -> tuple[int, int]:
    return one // other, one % other


def test_integers_are_divided_downwards_and_by_zero_to_nothing() -> None:
    kinds = ("int64", "int64")
    kernel = translated(divided, kinds)
    for one in INTEGERS:
        for other in INTEGERS:
            assert kernel(one, other) == ((one // other, one % other) if other else (0, 0))
    assert kernel(-(2**63), -1) == (0, 0)


def integers(one: int, other: int) -> tuple[int, int, int, int, int, int, int, int, float]:
    by = (other & 31) + 1
    return (
        one + other, one - other, one * 3, one >> (by & 7), (one & 0xFFFF) << (by & 7),
        one ^ other, one | other, -one, one / by,
    )  # fmt: skip


def conditions(one: int, other: int) -> tuple[bool, bool, bool, bool, int, bool, bool]:
    return (
        one < other <= 12,
        not one or other > 3,
        one == 7 and other != 0,
        (one in FACTORS) | (other not in (1, 2)),
        one if one > other else other,
        (one, other) < (other, 1),
        bool(one),
    )


def extremes(one: int, other: int) -> tuple[int, int, float, int, int]:
    return min(one, other, 5), max(one, other), max(one, 0.5), abs(one), FACTORS[other % 3]


@pytest.mark.parametrize("kernel", [integers, conditions, extremes])
def test_integers_are_as_in_python(kernel: Callable[..., Any]) -> None:
    kinds = ("int64", "int64")
    compiled = translated(kernel, kinds)
    for one in INTEGERS:
        for other in INTEGERS:
            assert compiled(one, other) == kernel(one, other)


def reals(
    one: float, other: float
) -> tuple[float, float, float, float, int, int, int, float, bool, float, int]:
    mantissa, exponent = math.frexp(one)
    return (
        one + other, one * other, one / (abs(other) + 1.0), np.floor(one), int(one), math.ceil(one),
        math.floor(other), min(one, other), one >= other, mantissa, exponent,
    )  # fmt: skip


def roots(one: float) -> tuple[float, float]:
    return math.sqrt(abs(one)), math.log(abs(one) + 1.0)


def test_reals_are_as_in_python() -> None:
    for one in REALS:
        same(roots, one)
        for other in REALS:
            same(reals, one, other)
    nan = float("nan")
    assert ran(extreme_of, nan, 1.0) != ran(extreme_of, nan, 1.0)
    assert ran(extreme_of, 1.0, nan) == 1.0


def extreme_of(one: float, other: float) -> float:
    return max(one, other)


def singles(values: Any, count: int) -> int:
    total, scale = np.float32(0.0), np.float32(1.0 / 3.0)
    for place in range(count):
        share = values[place] * scale
        total = share if share > total else total + np.float32(np.int32(share))
        values[place] = total
    return int(total)


def test_short_reals_stay_short() -> None:
    values = np.array([1.1, 2.2, 300.3, 4.4], np.float32)
    plain = values.copy()
    expected = singles(plain, 4)
    assert ran(singles, values, 4) == expected
    assert values.tobytes() == plain.tobytes()


def hashed(seed: int) -> int:
    value = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return int(np.int64(value >> np.uint64(11)) % 1000 + np.int64(value % np.uint64(7)))


def test_unsigned_numbers_run_over() -> None:
    with np.errstate(over="ignore"):
        for seed in (0, 1, 12345, 2**40):
            same(hashed, seed)


def counted(most: int) -> tuple[int, int, int]:
    total = seen = last = 0
    for place in range(most):
        if place % 3 == 1:
            continue
        if place > 20:
            break
        total += place
        last = place
    while seen < total:
        seen += STEP
    for place in range(most, 0, -1):
        last -= place
    for place in range(1, most, STEP):
        last += place
    return total, seen, last


def test_loops_run_and_end_as_in_python() -> None:
    for most in (0, 1, 2, 10, 40):
        same(counted, most)


def put_row(rows: Any, words: Any, flags: Any, shape: Any) -> tuple[int, int, float]:
    rows[1, 1] = words[0]
    return visited_part(rows[0], words), len(flags), shape.factor


@njit
def visited_part(row: Any, words: Any) -> int:
    row[0] = words[1]
    return len(row)


def test_arrays_are_as_in_numpy() -> None:
    def arguments() -> tuple[Any, ...]:
        return (
            np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(5) * 3, np.array([True, True]),
            Shape(4, 0.5),
        )  # fmt: skip

    for kernel in (put_row, elements):
        there, here = arguments(), arguments()
        assert ran(kernel, *there) == kernel(*here)
        assert [each.tobytes() for each in there[:3]] == [each.tobytes() for each in here[:3]]


def elements(rows: Any, words: Any, flags: Any, shape: Any) -> tuple[int, int, float]:
    total = 0
    for word in words[1:-1]:
        total += word * WEIGHTS[word % WEIGHTS.size]
    rows[0, 2] = len(words)
    own = rows[-1]
    own[0] += rows.shape[1]
    flags[1] = not flags[0]
    words[-1], words[0] = words[0], words[-1]
    part = words[2:100]
    return total + len(part), part.size, shape.factor * shape.width + shape[0]


def copied(records: Any) -> tuple[int, float]:
    first = records[0]
    first.small += 40_000
    first.many[1] = 7
    first.word += np.uint64(3)
    records[1] = first
    records[1].real = first.small
    return first.small, records[1].real


def test_records_are_shared_and_copied() -> None:
    records = np.zeros(3, RECORD)
    assert ran(copied, records) == (40_000 - 2**16, 40_000.0 - 2**16)
    assert records["many"].tolist() == [[0, 7], [0, 7], [0, 0]]
    assert records["word"].tolist() == [3, 3, 0]


def summed(count: int) -> int:
    return filled(count) + filled(0)


@njit
def filled(count: int) -> int:
    found = np.zeros(count, np.int64)
    for place in range(count):
        found[place] += place
    total = 0
    for each in found:
        total += int(each)
    return total


def test_arrays_are_made_and_their_want_is_told() -> None:
    assert ran(summed, 10) == 45
    with pytest.raises(RuntimeError, match="compiled code failed"):
        ran(summed, 1 << 58)


def changing(number: int) -> float:
    found: Any = number
    if number > 2:
        found = found * 0.5
    return float(found)


def endless(number: int) -> int:
    return called_by_itself(number)


@njit
def called_by_itself(number: int) -> int:
    return called_by_itself(number - 1)


def otherwise(number: int) -> int:
    while number > 3:
        number -= 1
        if number == 5:
            break
    else:
        return 7
    return number


def texts(number: int) -> int:
    return len(f"{number}")


def mixed(number: int) -> float:
    return float(np.uint64(number) + 1)


def lengthened(number: int) -> float:
    return float(np.float32(number))


REFUSED = [changing, endless, otherwise, texts, mixed, lengthened, lambda number: number]


@pytest.mark.parametrize("kernel", REFUSED)
def test_what_is_not_known_is_refused(kernel: Callable[..., Any]) -> None:
    with pytest.raises(UntranslatableError):
        assemble.compiled(kernel, ("int64",))  # type: ignore[arg-type]


def test_numba_takes_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "__module__", "zsim.made.here")
    kernel: Any = njit(changing)
    monkeypatch.setattr(of_this_machine(), "read", lambda name: None)
    monkeypatch.setattr(of_this_machine(), "write", lambda *_: None)
    assert kernel(3) == 1.5


@pytest.mark.slow
def test_a_first_prediction_does_not_load_numba(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from zsim.prediction.api import predict\n"
        "from zsim.scenario.model import Scenario\n"
        "predict(Scenario(layout='raidz1x3', fill=0.1, drive_size=10**11))\n"
        "print('numba' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "ZSIM_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "False"
