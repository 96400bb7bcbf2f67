"""How fast zsim is, by the processor time of a process of its own each: other work counts less.

Left out of the default test command.  ``pytest tests/benchmarks -m benchmark --benchmark-enable`` times them;
``python -m tests.benchmarks.table`` prints the table of the README.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .measuring import MEASUREMENTS, Measurement

pytestmark = pytest.mark.benchmark


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_benchmark(name: str, benchmark: Callable[..., Measurement]) -> None:
    found: list[Measurement] = []
    benchmark.pedantic(lambda: found.append(MEASUREMENTS[name]()), rounds=1)  # type: ignore[attr-defined]
    extra: dict[str, Any] = benchmark.extra_info  # type: ignore[attr-defined]
    extra |= vars(found[0])
    assert found[0].cpu_s > 0.0
