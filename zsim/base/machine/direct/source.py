"""The source text of a kernel, what its names refer to, and what it is translated to."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from zsim.base.machine.direct.values import Type, UntranslatableError, Value, leaves

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Kernel(Protocol):
    """What `zsim.base.jit.njit` makes."""

    py_func: FunctionType


@runtime_checkable
class View(Protocol):
    """What `zsim.base.jit` has for arrays behind addresses."""

    maker: str
    arguments: tuple[object, ...]


class Source(NamedTuple):
    """The text of a kernel, and what its names stand for.

    Attributes
    ----------
    parameters : tuple of str
    rest : str or None
        What takes further arguments.
    body : list of ast.stmt
    variables : frozenset of str
        Names that it assigns to.
    around : mapping
        What names of functions around it stand for.
    names : mapping
        What names of its module stand for.
    """

    parameters: tuple[str, ...]
    rest: str | None
    body: list[ast.stmt]
    variables: frozenset[str]
    around: Mapping[str, object]
    names: Mapping[str, object]


class Made(NamedTuple):
    """A function of LLVM's code.

    Attributes
    ----------
    symbol : str
        Its name.
    returns : Type
        Of what it returns.
    may_fail : bool
        Whether it returns first of all if there was no memory.
    """

    symbol: str
    returns: Type
    may_fail: bool

    @property
    def result(self) -> str:
        """What it returns, as LLVM writes it: a number, or a structure of several."""
        parts = self.parts
        if not parts:
            return "void"
        return parts[0] if len(parts) == 1 else f"{{ {', '.join(parts)} }}"

    @property
    def parts(self) -> tuple[str, ...]:
        """LLVM's types of the numbers and pointers that it returns."""
        return ("i1",) * self.may_fail + leaves(self.returns)


class Parts(Protocol):
    """Kernels that call each other, each made when the first of the others asks for it."""

    def source_of(self, function: FunctionType) -> Source:
        """Return the text of a kernel."""

    def function(self, function: FunctionType, arguments: tuple[Type, ...]) -> Made:
        """Return the code of a kernel for arguments of some types."""

    def array(self, values: NDArray[np.generic]) -> Value:
        """Return an array of a module, whose values are frozen when the kernel is compiled."""


@functools.cache
def _module(path: str) -> dict[int, ast.FunctionDef]:
    """Return all functions of a file by the lines on which they begin, decorators included."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise UntranslatableError(f"the text of {path}: {error}") from None
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found[min([node.lineno, *(each.lineno for each in node.decorator_list)])] = node
    return found


def source_of(function: FunctionType) -> Source:
    """Return the text of a kernel, from the file that it stands in.

    Raises
    ------
    UntranslatableError
        If it cannot be read, or takes arguments that may be left out.
    """
    code = function.__code__
    node = _module(code.co_filename).get(code.co_firstlineno)
    if node is None or node.name != function.__name__ or code.co_flags & inspect.CO_VARKEYWORDS:
        raise UntranslatableError(f"the text of {function.__qualname__}")
    if function.__defaults__ or function.__kwdefaults__ or code.co_kwonlyargcount:
        raise UntranslatableError("arguments that may be left out")
    cells = [each.cell_contents for each in function.__closure__ or ()]
    return Source(
        code.co_varnames[: code.co_argcount],
        node.args.vararg.arg if node.args.vararg else None,
        node.body,
        frozenset(code.co_varnames),
        dict(zip(code.co_freevars, cells, strict=True)),
        function.__globals__,
    )
