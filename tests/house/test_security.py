"""What `docs/explanation/security.md` promises, read off the source: no eval or shell, one door for files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import zsim

PACKAGE = Path(zsim.__file__).parent
NEVER_IMPORTED = frozenset(
    {"marshal", "shelve", "dill", "cloudpickle", "yaml", "socket", "urllib", "http", "ftplib", "telnetlib"}
)
NEVER_CALLED = frozenset(
    {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "subprocess.getoutput"}
)
READS = frozenset({"open", "tomllib.load", "tomllib.loads", "json.load"})
OWN_FILES = {
    "zsim/planning/risk/api.py", "zsim/planning/risk/reliability.py", "zsim/report/page.py",
    "zsim/observe/collect/live.py",
    "zsim/planning/eta/api.py", "zsim/scenario/files.py",
}  # fmt: skip
"""They read files of the package itself, of the kernel (/sys, /proc), or text that they have made."""


def nodes() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if "_data" not in path.parts:
            name = f"zsim/{path.relative_to(PACKAGE).as_posix()}"
            for node in ast.walk(ast.parse(path.read_text())):
                yield name, node


def called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        owner = function.value.id + "." if isinstance(function.value, ast.Name) else "."
        return owner + function.attr
    return function.id if isinstance(function, ast.Name) else ""


def test_nothing_that_runs_what_was_read_is_imported() -> None:
    found = {
        (name, module)
        for name, node in nodes()
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
        )
    }
    assert {pair for pair in found if pair[1].partition(".")[0] in NEVER_IMPORTED} == set()
    # Compiled kernels are the one exception, kept where only their owner writes.
    assert {name for name, module in found if module == "pickle"} <= {
        "zsim/base/machine/compiler.py",
        "zsim/base/machine/kernel_cache.py",
    }


def test_nothing_that_was_read_is_run() -> None:
    calls = [(name, node) for name, node in nodes() if isinstance(node, ast.Call)]
    assert {(name, called(node)) for name, node in calls if called(node) in NEVER_CALLED} == set()
    shells = {name for name, node in calls for each in node.keywords if each.arg == "shell"}
    assert shells == set()


def test_files_are_read_through_one_door() -> None:
    """A new reader that opens files on its own has no limits of size, kind, nesting and unpacking."""
    calls = [(name, called(node)) for name, node in nodes() if isinstance(node, ast.Call)]
    own = {name for name, word in calls if word in READS or word.endswith((".read_text", ".read_bytes"))}
    assert {name for name in own if not name.startswith("zsim/base/")} - OWN_FILES == set()


@pytest.mark.parametrize(
    "name", ["../drives/hd103uj", "../../pyproject", "/etc/passwd", "..", "drives/../hd103uj", "a\x00b"]
)
def test_a_name_cannot_leave_the_models(name: str) -> None:
    from zsim.base import model_data
    from zsim.base.errors import InputError

    for kind in ("drives", "enclosures", "histories", "releases"):
        with pytest.raises(InputError):
            model_data.find(kind, name)  # type: ignore[arg-type]


def test_names_from_input_are_escaped_in_pages() -> None:
    from tests.conftest import sample_prediction
    from zsim.prediction.answer.records import Assumption
    from zsim.report.page import prediction_page

    script = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    plain = sample_prediction()
    leaf = plain.leaves[0].model_copy(update={"name": script, "role": "source"})
    odd = plain.model_copy(update={
        "subject": script, "warnings": (script,), "leaves": (leaf,),
        "assumptions": (Assumption(field="drive", value=script, text=script, why=script),),
        "provenance": {**plain.provenance, "scenario": {"drive": script}},
    })  # fmt: skip
    page = prediction_page(odd)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;" in page
