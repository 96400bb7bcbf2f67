"""Single mutations of the source, and whether the part's own tests notice: ``python tests/mutations.py vdevs --count 20``.

A mutation changes one operator, comparison, constant or condition of one file of a part (a room of ``zsim/``).
The tests of that part are run on a copy of the tree with it; a mutation that no test notices survives and is
printed with its line.  The same seed samples the same ones.  Exit code 1 when fewer are noticed than ``--least``.
How they are run: `tests/noticing.py`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from tests.noticing import SPARE_CPU_S, TIMES, Campaign, Place, Test, environment, run_anew, total_s  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
CASE_TESTS = (
    "case", "scenario", "house/test_one_case.py",
    "prediction/inputs/test_worlds.py", "prediction/inputs/test_plane.py", "prediction/inputs/test_unknowns.py",
)  # fmt: skip
ETA_TESTS = (
    "planning/eta", "planning/design/test_rates.py", "planning/test_stale_and_ended.py", "planning/test_pictures.py",
)  # fmt: skip
APART = ("risk", "fleet", "timeline", "eta")
"""Rooms of planning that are parts of their own."""
PLANNING = tuple(
    path.relative_to(ROOT / "zsim").as_posix()
    for path in sorted((ROOT / "zsim" / "planning").iterdir())
    if path.stem not in {*APART, "__init__", "__pycache__"}
)
PLANNING_TESTS = (
    *(
        f"planning/test_{name}.py"
        for name in (
            "columns",
            "drawing",
            "interrupts",
            "plan",
            "progress",
            "sharing",
            "tables",
            "tables_by_hand",
            "workers",
        )
    ),
    "planning/store",
    "planning/design",
    "planning/tune",
)
"""Those of rooms that are parts of their own are theirs."""
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "vdevs": (("vdevs",), ("vdevs",)),
    "scan": (("scan", "operation/memory_limit.py"), ("scan",)),
    "drives": (("drives",), ("drives", "engine/test_sick_drives.py", "engine/test_choosing.py")),
    "pool": (
        (
            "pool/blocks.py",
            "pool/fragmentation.py",
            "pool/packed.py",
            "pool/statistics.py",
            "pool/measured",
            "pool/miniature",
            "pool/recipes",
        ),
        ("pool",),
    ),
    "simulator": (("pool/simulator",), ("pool/kernels", "pool/test_draws.py", "test_plain_kernels.py")),
    "reference": (
        ("engine/reference",),
        (
            "engine/test_reference.py",
            "engine/test_reference_clock.py",
            "engine/test_equality.py",
            "engine/test_equality_releases.py",
            "engine/test_choosing.py",
            "engine/test_sick_drives.py",
            "engine/test_sitting_out.py",
            "test_plain_kernels.py",
        ),
    ),
    "observe": (("observe",), ("observe", "drives/test_fitting.py")),
    "prediction": (("prediction",), ("prediction", "statistical/test_exact_runs.py")),
    "operation": (("operation",), ("operation", "scan/test_rules.py")),
    "risk": (("planning/risk",), ("planning/risk", "planning/test_pictures.py")),
    "fleet": (("planning/fleet",), ("planning/fleet", "planning/test_pictures.py")),
    "timeline": (("planning/timeline",), ("planning/timeline", "planning/test_pictures.py")),
    "eta": (("planning/eta",), ETA_TESTS),
    "planning": (PLANNING, PLANNING_TESTS),
    "scenario": (("scenario",), ("scenario",)),
    "case": (("case",), CASE_TESTS),
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
PLAIN = frozenset({"vdevs", "scan", "drives", "simulator", "observe"})
"""Run with kernels as plain Python, as CI does as well: no compilation, and every index is checked.

The reference engine has no kernels, and is held against the compiled one, which takes a hundredth of the time.
"""
PLAIN_TEST_S, TEST_S = 1.5, 8.0
"""CPU time that one test may take [s]: as plain Python many take a hundred times longer."""


class Mutation(NamedTuple):
    """One change: which file, the line, the number of the node in the walk, and what becomes of it."""

    path: Path
    line: int
    node: int
    words: str


def mutations(path: Path) -> Iterator[Mutation]:
    """Yield every mutation of a file."""
    tree = ast.parse(path.read_text())
    left_out = {id(each) for node in ast.walk(tree) for each in _left_out(node)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in left_out:
            continue
        words = _change(copy.deepcopy(node))
        if words:
            yield Mutation(path, getattr(node, "lineno", 0), number, words)


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is not run (annotations, imports for types) and the sentences of errors."""
    for name in ("annotation", "returns"):
        found = getattr(node, name, None)
        if isinstance(found, ast.AST):
            yield from ast.walk(found)
    if isinstance(node, ast.Raise) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
        yield from ast.walk(node)


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


def mutated_tree(mutation: Mutation) -> ast.Module:
    """Return a file with a mutation; lines keep their numbers."""
    tree = ast.parse(mutation.path.read_text())
    node = next(each for number, each in enumerate(ast.walk(tree)) if number == mutation.node)
    _change(node)
    return ast.fix_missing_locations(tree)


def mutated_function(mutation: Mutation) -> tuple[Place, CodeType] | None:
    """Return the function or method whose body holds a mutation, and its mutated code; none: it is outside of bodies."""
    tree = mutated_tree(mutation)
    node = next(each for number, each in enumerate(ast.walk(tree)) if number == mutation.node)
    holder = next((each for each in _outermost(tree) if _holds(each, node)), None)
    if holder is None:
        return None
    first = min([holder.lineno, *(each.lineno for each in holder.decorator_list)])
    code = next(
        each
        for each in _codes(compile(tree, str(mutation.path), "exec"))
        if each.co_firstlineno == first and each.co_name == holder.name
    )
    return (str(mutation.path), code.co_qualname, first), code


def _outermost(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield functions of a module and methods of its classes, not those inside of others."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each
        elif isinstance(each, ast.stmt):
            yield from _outermost(each)


def _holds(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST) -> bool:
    return any(each is node for statement in function.body for each in ast.walk(statement))


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def sources(part: str, root: Path = ROOT) -> list[Path]:
    """Return the files of a part in a tree."""
    found: list[Path] = []
    for name in PARTS[part][0]:
        path = root / "zsim" / name
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [path for path in found if path.name != "__init__.py"]


class Judge:
    """Tell of each mutation of a sample whether the part's tests notice."""

    def __init__(
        self, part: str, chosen: Sequence[tuple[int, Mutation]], home: Path, budget_s: float
    ) -> None:
        """Take the sample with its numbers, the copy of the tree and the CPU time of tests a mutation may take [s]."""
        self.part, self.chosen, self.home, self.budget_s = part, chosen, home, budget_s
        self.noticed = 0
        self.out = os.fdopen(os.dup(1), "w")

    def __call__(self, campaign: Campaign) -> None:
        """Go through the sample."""
        usable = sum(test.is_usable for test in campaign.tests)
        self.say(
            f"{usable} of {len(campaign.tests)} tests are used; all take {total_s(campaign.tests):.0f} CPU s"
        )
        for number, each in self.chosen:
            began = time.perf_counter()
            found, ran = self.judge(campaign, each)
            self.noticed += bool(found)
            place = f"{each.path.relative_to(self.home)}:{each.line}"
            words = (
                f"noticed {place} {each.words} by {found}"
                if found
                else f"SURVIVES {place} {each.words} ({ran})"
            )
            self.say(f"{number} {words} ({time.perf_counter() - began:.0f} s)")
        self.say(f"{self.noticed} of {len(self.chosen)} noticed")

    def say(self, words: str) -> None:
        """Print a line at once."""
        self.out.write(f"{self.part}: {words}\n")
        self.out.flush()

    def judge(self, campaign: Campaign, mutation: Mutation) -> tuple[str, str]:
        """Return what notices a mutation, or nothing, and what was run."""
        body = mutated_function(mutation)
        is_compiled = self.part not in PLAIN and "njit" in mutation.path.read_text()
        path = str(mutation.path)
        near = [test for test in campaign.tests if any(place[0] == path for place in test.calls)]
        if body and body[0] in campaign.functions and not is_compiled:
            every = campaign.covering(body[0])
            tests = self.within(every)
            found = campaign.notices(*body, tests) if tests else ""
            # What ran at import has done so before it is patched.
            again = near if body[0] in campaign.at_import else []
            anew = again + [test for test in campaign.tests if test.is_spawning and test not in again + tests]
            ran = f"{len(tests)} of {len(every)} tests that call it"
        else:
            found, ran, tests = "", "", []
            anew = near + [test for test in campaign.tests if test not in near]
        anew = self.within(anew)
        if found or not anew:
            return found, ran
        plain = mutation.path.read_text()
        mutation.path.write_text(ast.unparse(mutated_tree(mutation)) + "\n")
        most_s = 4 * SPARE_CPU_S + TIMES * total_s(anew)
        try:
            found = run_anew([test.name for test in anew], self.home, most_s, plain=self.part in PLAIN)
        finally:
            mutation.path.write_text(plain)
        return found, f"{ran + ' and ' if ran else ''}{len(anew)} anew"

    def within(self, tests: Sequence[Test]) -> list[Test]:
        """Return as many tests as the budget allows, those that can be used."""
        found: list[Test] = []
        spent_s, shared = 0.0, set[str]()
        for test in tests:
            more_s = test.cpu_s + sum(s for name, s in test.shared_s.items() if name not in shared)
            if test.is_usable and spent_s + more_s <= self.budget_s:
                found.append(test)
                spent_s += more_s
                shared.update(test.shared_s)
        return found


def run_part(part: str, home: Path, given: argparse.Namespace) -> bool:
    """Sample mutations of a part and print what became of each; return whether enough are noticed."""
    given.noted = given.noted and given.noted.absolute()
    os.chdir(home)
    sys.path[:0] = [str(home)]
    os.environ.update(environment(home, plain=part in PLAIN))
    # Of the copy: the tree may change meanwhile.
    every = [each for path in sources(part, home) for each in mutations(path)]
    if given.at:
        every = [each for each in every if f"{each.path.relative_to(home / 'zsim')}:{each.line}" in given.at]
        given.count = len(every)
    if given.files:
        every = [each for each in every if str(each.path.relative_to(home / "zsim")) in given.files]
    chosen = random.Random(f"{given.seed}:{part}").sample(every, min(given.count, len(every)))
    numbered = [each for each in enumerate(chosen) if not given.only or each[0] in given.only]
    judge = Judge(part, numbered, home, given.budget)
    judge.say(f"{len(chosen)} of {len(every)} mutations, seed {given.seed}")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    modules = [".".join(path.relative_to(home).with_suffix("").parts) for path in sources(part, home)]
    names = [each for each in given.tests or PARTS[part][1] if (home / "tests" / each).exists()]
    most_s = PLAIN_TEST_S if part in PLAIN else TEST_S
    Campaign(home, modules, most_s, judge, given.noted).run(names)
    return judge.noticed >= given.least * len(numbered)


def main() -> int:
    """Run each part in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "all"])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.85)
    parser.add_argument(
        "--budget", type=float, default=30.0, help="CPU time of tests that one mutation may take [s]"
    )
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the sample that are run")
    parser.add_argument(
        "--noted", type=Path, help="file in which it is kept what tests call and take, for the next time"
    )
    parser.add_argument(
        "--at", nargs="*", help="all mutations of these lines instead of a sample: vdevs/draid.py:64"
    )
    parser.add_argument("--files", nargs="*", help="sample only these files of the part: vdevs/draid.py")
    parser.add_argument("--tests", nargs="*", help="files of tests in place of all of the part's")
    given = parser.parse_args()
    for each in given.tests or ():
        if not (ROOT / "tests" / each).exists():
            parser.error(f"there is no tests/{each}")
    short = False
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory).resolve() / "tree"
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
        for part in PARTS if "all" in given.parts else given.parts:
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    code = int(not run_part(part, home, given))
                finally:
                    sys.stderr.flush()
                    os._exit(code)
            short = os.waitpid(child, 0)[1] != 0 or short
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
