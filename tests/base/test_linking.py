"""Object files put into memory here and by LLVM do the same; what is not known here is refused."""

from __future__ import annotations

import ctypes
import functools
import math
import platform
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import binding

from zsim.base.machine.direct.assemble import _machine_code
from zsim.base.machine.linking import UnlinkableError, link
from zsim.base.machine.native import linked_by_llvm
from zsim.base.machine.processor import features, processor

HERE = (sys.platform, platform.machine())
plain = pytest.mark.skipif(HERE != ("linux", "x86_64"), reason="LLVM's linker is used on other systems")
TEXT = """
@table = private constant [4 x double] [double 0.5, double -3.0, double 0x7FF0000000000000, double 1.0e-300]
declare double @log(double)
define private double @grown(double %x) {
  %y = call double @log(double %x)
  ret double %y
}
define double @f(i64 %which, double %x) {
  switch i64 %which, label %other [ i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d ]
a:
  %of_a = call double @grown(double %x)
  ret double %of_a
b:
  %of_b = fdiv double %x, 3.0
  ret double %of_b
c:
  %of_c = fmul double %x, 0x3FD5555555555555
  ret double %of_c
d:
  ret double 7.25
other:
  %index = and i64 %which, 3
  %place = getelementptr [4 x double], ptr @table, i64 0, i64 %index
  %held = load double, ptr %place
  ret double %held
}
"""


def at(address: int) -> ctypes._CFuncPtr:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)(address)


@functools.cache
def linked_both_ways() -> tuple[ctypes._CFuncPtr, ctypes._CFuncPtr]:
    code = _machine_code(TEXT)
    return at(link(code, "f")), at(linked_by_llvm(code, "f"))


@plain
@given(st.integers(-20, 20), st.floats(1e-9, 1e9))
def test_code_linked_here_does_what_llvm_links(which: int, x: float) -> None:
    here, there = linked_both_ways()
    assert here(which, x) == there(which, x)
    assert here(0, x) == math.log(x)
    assert [here(4 + number, x) for number in range(4)] == [0.5, -3.0, math.inf, 1e-300]


@plain
def test_what_is_not_known_is_refused() -> None:
    code = _machine_code(TEXT)
    for broken in (b"", b"MZ" + code, code[:18] + b"\xb7" + code[19:]):
        with pytest.raises(UnlinkableError):
            link(broken, "f")
    with pytest.raises(UnlinkableError):
        link(code, "g")
    with pytest.raises(UnlinkableError):
        link(_machine_code(TEXT.replace("@log", "@no_function_of_any_library")), "f")


@plain
def test_code_that_has_to_lie_near_what_it_calls_is_refused() -> None:
    machine = binding.Target.from_default_triple().create_target_machine(codemodel="small")
    with pytest.raises(UnlinkableError):
        link(machine.emit_object(binding.parse_assembly(TEXT)), "f")


@plain
def test_the_processor_can_do_here_what_llvm_says_it_can() -> None:
    needed = {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2"}
    can = {name for name, has in binding.get_host_cpu_features().items() if has}
    assert features() & needed == can & needed
    assert "flags" in processor()
