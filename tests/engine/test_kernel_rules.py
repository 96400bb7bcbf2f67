"""Rules for compiled code, checked on the source of every module (no kernel is compiled here)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import zsim
from zsim.base.jit import OPTIONS

PACKAGE = Path(zsim.__file__).parent
DOOR = PACKAGE / "base" / "machine" / "compiler.py"
MACHINE_CODE = PACKAGE / "base" / "machine" / "code.py"
BEFORE_IT = PACKAGE / "base" / "jit.py"
LONGEST_KERNEL = 120
# What a module may take from numba itself: how to see an address as an array.
ALLOWED_FROM_NUMBA = {"carray", "from_dtype", "types", "intrinsic"}
MUTABLE_LITERALS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MUTABLE_MAKERS = {
    "array", "asarray", "zeros", "ones", "full", "empty", "arange", "linspace", "list", "dict", "set",
}  # fmt: skip

MODULES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text())
    for path in sorted(PACKAGE.rglob("*.py"))
    if path not in (DOOR, MACHINE_CODE, BEFORE_IT) and "_data" not in path.parts
}


def kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the functions that are compiled."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            "njit" in ast.unparse(each) for each in node.decorator_list
        ):
            yield node


WITH_KERNELS = [name for name, tree in MODULES.items() if any(kernels(tree))]


def mutable_globals(tree: ast.Module) -> set[str]:
    """Names bound at module level to something that can change, unless it is made read-only there."""
    found: set[str] = set()
    frozen = {
        node.value.func.value.id
        for node in tree.body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "setflags"
        and isinstance(node.value.func.value, ast.Name)
    }
    for target, value in bindings(tree):
        if is_mutable(value):
            found |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found - frozen


def bindings(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield target and value of every assignment at module level, pairs of tuples one by one."""
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=True)
            else:
                yield target, node.value


def is_mutable(value: ast.expr | None) -> bool:
    if isinstance(value, MUTABLE_LITERALS):
        return True
    if not isinstance(value, ast.Call):
        return False
    maker = value.func.attr if isinstance(value.func, ast.Attribute) else ast.unparse(value.func)
    return maker in MUTABLE_MAKERS


def imported_names(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Return, by local name, the zsim module and the name that a module imports."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("zsim.")
        for alias in node.names
        if node.module is not None
    }


def tree_of(module: str) -> ast.Module | None:
    return MODULES.get(module.removeprefix("zsim.").replace(".", "/") + ".py")


def changeable(tree: ast.Module) -> set[str]:
    """Mutable globals that code in a module can name: its own and imported ones."""
    names = mutable_globals(tree)
    for local, (module, name) in imported_names(tree).items():
        other = tree_of(module)
        if other is not None and name in mutable_globals(other):
            names.add(local)
    return names


def used_globals(kernel: ast.FunctionDef) -> set[str]:
    local = {each.arg for each in ast.walk(kernel.args) if isinstance(each, ast.arg)}
    names = [node for part in kernel.body for node in ast.walk(part) if isinstance(node, ast.Name)]
    local |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - local


def test_there_are_kernels() -> None:
    assert {
        "engine/compiled/kernel.py",
        "engine/compiled/queue.py",
        "drives/physics/mechanics.py",
        "vdevs/raidz.py",
    } <= set(WITH_KERNELS)


@pytest.mark.parametrize("name", MODULES)
def test_numba_is_reached_through_the_one_door(name: str) -> None:
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == "numba" for alias in node.names), f"line {node.lineno}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            assert {alias.name for alias in node.names} <= ALLOWED_FROM_NUMBA, f"line {node.lineno}"


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_every_kernel_is_compiled_with_the_one_set_of_options(name: str) -> None:
    assert imported_names(MODULES[name]).get("njit") == ("zsim.base.jit", "njit")
    for kernel in kernels(MODULES[name]):
        decorators = [ast.unparse(each) for each in kernel.decorator_list]
        assert decorators in (["njit"], []), f"{kernel.name}: {decorators}"


@pytest.mark.parametrize("name", MODULES)
def test_nothing_asks_for_fastmath_or_parallel(name: str) -> None:
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.keyword):
            assert node.arg not in {"fastmath", "parallel"}, f"line {node.value.lineno}"


def test_the_door_has_strict_floats() -> None:
    assert OPTIONS["fastmath"] is False
    named = {node.arg for node in ast.walk(ast.parse(DOOR.read_text())) if isinstance(node, ast.keyword)}
    assert not (named | set(OPTIONS)) & {"parallel", "auto_parallel"}
    assert "fastmath" not in named


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_kernels_draw_no_random_numbers_of_numpy_or_python(name: str) -> None:
    for kernel in kernels(MODULES[name]):
        for node in ast.walk(kernel):
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in {"np.random", "numpy.random"}, f"{kernel.name}"
        assert "random" not in used_globals(kernel), kernel.name


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_kernels_use_no_global_that_can_change(name: str) -> None:
    forbidden = changeable(MODULES[name])
    for kernel in kernels(MODULES[name]):
        assert not used_globals(kernel) & forbidden, kernel.name
        assert not any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(kernel)), kernel.name


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_kernels_are_short(name: str) -> None:
    for kernel in kernels(MODULES[name]):
        length = (kernel.end_lineno or kernel.lineno) - kernel.lineno + 1
        assert length <= LONGEST_KERNEL, f"{kernel.name}: {length} lines"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("A = [1]\nB = (1,)\nC: dict[str, int] = {}\n", {"A", "C"}),
        ("import numpy as np\nA = np.zeros(3)\nB = np.zeros(3)\nB.setflags(write=False)\n", {"A"}),
        ("import numpy as np\nA, B = np.ones(1), 2\nC = np.dtype('i8')\n", {"A"}),
    ],
)
def test_changeable_globals_are_recognised(source: str, names: set[str]) -> None:
    assert mutable_globals(ast.parse(source)) == names
