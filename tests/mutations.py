"""Single mutations of the source, and whether the part's own tests notice: ``python tests/mutations.py vdevs --count 20``.

A mutation changes one operator, comparison, constant or condition of one file of a part (a room of ``zsim/``).
The tests of that part are run on a copy of the tree with it; a mutation that no test notices survives and is
printed with its line.  The same seed samples the same ones.  Exit code 1 when fewer are noticed than ``--least``.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "vdevs": (("vdevs",), ("vdevs",)),
    "scan": (("scan", "operation/memory_limit.py"), ("scan",)),
    "drives": (("drives",), ("drives",)),
    "pool": (("pool",), ("pool",)),
    "reference": (
        ("engine/reference",),
        ("engine/test_reference.py", "engine/test_reference_clock.py", "engine/test_equality.py"),
    ),
    "observe": (("observe",), ("observe",)),
    "prediction": (("prediction",), ("prediction",)),
}
"""Source and tests of each part."""
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
PLAIN = frozenset({"vdevs", "scan"})
"""Their tests run with kernels as plain Python: a mutation of one costs no compilation."""
ALSO_PLAIN = frozenset({"pool", "reference"})
"""Compiled kernels check no index: first the tests of kernels as plain Python, which CI runs as well."""
PLAIN_TESTS = ("test_plain_kernels.py",)
TIMEOUT_S, SPARE_CPU_S, TIMES = 900.0, 20.0, 4.0
"""A run ends after so long [s], or after so many times the CPU time of the plain one and more: a loop without end."""


class Mutation(NamedTuple):
    """One change: which file, the line, the number of the node in the walk, and what becomes of it."""

    path: Path
    line: int
    node: int
    words: str


def mutations(path: Path) -> Iterator[Mutation]:
    """Yield every mutation of a file."""
    tree = ast.parse(path.read_text())
    typing = {id(each) for node in ast.walk(tree) for each in _types_in(node)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in typing:
            continue
        words = _change(copy.deepcopy(node))
        if words:
            yield Mutation(path, getattr(node, "lineno", 0), number, words)


def _types_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in annotations: it is not run."""
    for name in ("annotation", "returns"):
        found = getattr(node, name, None)
        if isinstance(found, ast.AST):
            yield from ast.walk(found)


def _change(node: ast.AST) -> str:  # noqa: PLR0911 - one return a kind
    """Change a node in place; return what was done, nothing where it is not of a kind that is changed."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        old = type(node.ops[0])
        node.ops = [COMPARISONS[old]()]
        return f"{old.__name__} to {COMPARISONS[old].__name__}"
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        if isinstance(node, ast.BinOp) and (_is_text(node.left) or _is_text(node.right)):
            return ""
        old = type(node.op)
        node.op = OPERATORS[old]()
        return f"{old.__name__} to {OPERATORS[old].__name__}"
    if isinstance(node, ast.BoolOp):
        old_name = type(node.op).__name__
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return f"{old_name} to {type(node.op).__name__}"
    if isinstance(node, ast.If):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "condition negated"
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    ):
        old_value = node.value
        node.value = old_value + 1
        return f"{old_value} to {node.value}"
    return ""


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def mutated(mutation: Mutation) -> str:
    """Return the text of the file with a mutation; only the lines of that statement change."""
    tree = ast.parse(mutation.path.read_text())
    node = next(each for number, each in enumerate(ast.walk(tree)) if number == mutation.node)
    _change(node)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def sources(part: str, root: Path = ROOT) -> list[Path]:
    """Return the files of a part in a tree."""
    found: list[Path] = []
    for name in PARTS[part][0]:
        path = root / "zsim" / name
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [path for path in found if path.name != "__init__.py"]


def is_noticed(mutation: Mutation, part: str, home: Path, most_cpu_s: float) -> bool:
    """Run the part's tests on a copy of the tree with a mutation, and tell whether one fails."""
    plain = mutation.path.read_text()
    mutation.path.write_text(mutated(mutation))
    try:
        if part in ALSO_PLAIN and run_tests(PLAIN_TESTS, home, most_cpu_s, plain=True) != 0:
            return True
        return run_tests(PARTS[part][1], home, most_cpu_s, plain=part in PLAIN) != 0
    finally:
        mutation.path.write_text(plain)


def plain_cpu_s(part: str, home: Path) -> float:
    """Run the part's tests on the plain tree; return the CPU time they take [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    if run_tests(PARTS[part][1], home, TIMEOUT_S, plain=part in PLAIN) != 0:
        raise SystemExit(f"{part}: its tests fail without any mutation")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def run_tests(names: Sequence[str], home: Path, most_cpu_s: float, *, plain: bool) -> int:
    """Run tests on a copy of the tree; return the exit code of pytest, 1 if they do not end."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        *(f"tests/{each}" for each in names),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ZSIM_CACHE_DIR": str(home / "cache"),
    }
    environment |= {"NUMBA_DISABLE_JIT": "1"} if plain else {}
    limit = int(most_cpu_s) + 1
    try:
        return subprocess.run(
            command, cwd=home, env=environment, capture_output=True, timeout=TIMEOUT_S, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        ).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1


def main() -> int:
    """Sample mutations of parts and print what became of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all"])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.85)
    given = parser.parse_args()
    parts = list(PARTS) if "all" in given.parts else given.parts
    short = False
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory) / "tree"
        home.mkdir()
        for name in (
            "zsim",
            "tests",
            "models",
            "validation",
            "docs",
            "pyproject.toml",
            "README.md",
            "CHANGELOG.md",
        ):
            copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copied(ROOT / name, home / name)
        for part in parts:
            # Of the copy: the tree may change meanwhile.
            every = [each for path in sources(part, home) for each in mutations(path)]
            chosen = random.Random(f"{given.seed}:{part}").sample(every, min(given.count, len(every)))
            most_cpu_s = SPARE_CPU_S + TIMES * plain_cpu_s(part, home)
            noticed = 0
            for each in chosen:
                began = time.perf_counter()
                found = is_noticed(each, part, home, most_cpu_s)
                noticed += found
                place = f"{each.path.relative_to(home)}:{each.line}"
                words = "noticed" if found else "SURVIVES"
                sys.stdout.write(
                    f"{part}: {words} {place} {each.words} ({time.perf_counter() - began:.0f} s)\n"
                )
                sys.stdout.flush()
            sys.stdout.write(f"{part}: {noticed} of {len(chosen)} noticed, of {len(every)} there are\n")
            short = short or noticed < given.least * len(chosen)
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
