"""One kernel that Python calls, with all the kernels that it calls, as LLVM's code."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

from zsim.base.machine.direct.source import Made, Source, source_of
from zsim.base.machine.direct.translator import translated
from zsim.base.machine.direct.values import ArrayType, Type, UntranslatableError, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Unit:
    """LLVM's code of kernels that call each other."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.needed: set[str] = set()
        self._made: dict[tuple[FunctionType, tuple[Type, ...]], Made | None] = {}
        self._sources: dict[FunctionType, Source] = {}
        self._arrays: list[NDArray[np.generic]] = []

    def source_of(self, function: FunctionType) -> Source:
        """Return the text of a kernel."""
        if function not in self._sources:
            self._sources[function] = source_of(function)
        return self._sources[function]

    def function(self, function: FunctionType, arguments: tuple[Type, ...]) -> Made:
        """Return the code of a kernel for arguments of some types, which is made at the first call.

        Raises
        ------
        UntranslatableError
            If it holds what is not known here, or calls itself.
        """
        key = (function, arguments)
        if key not in self._made:
            self._made[key] = None
            number = len(self._made)
            translator = translated(self, self.source_of(function), arguments)
            symbol = f'"zsim.{function.__module__}.{function.__qualname__}.{number}"'
            made = Made(symbol, translator.returned, translator.may_fail)
            parameters = ", ".join(f"{leaf} {name}" for leaf, name in translator.parameters)
            body = translator.ended(made)
            self.needed |= translator.writer.needed
            self.texts.append(
                f"define internal {made.result} @{symbol}({parameters}) nounwind {{\n{body}\n}}"
            )
            self._made[key] = made
        found = self._made[key]
        if found is None:
            raise UntranslatableError(f"{function.__qualname__}, which calls itself")
        return found

    def array(self, values: NDArray[np.generic]) -> Value:
        """Return an array of a module, whose values are frozen when the kernel is compiled."""
        if not values.flags.c_contiguous or values.dtype.kind not in "biuf":
            raise UntranslatableError(f"an array of {values.dtype}")
        symbol = f"@zsim.array.{len(self._arrays)}"
        self._arrays.append(values)
        content = "".join(f"\\{byte:02X}" for byte in values.tobytes())
        self.texts.append(
            f'{symbol} = private unnamed_addr constant [{values.nbytes} x i8] c"{content}", align 16'
        )
        return Value(ArrayType(values.dtype, values.ndim), (symbol, *map(str, values.shape)))

    @property
    def text(self) -> str:
        """All of the code."""
        return "\n".join([*sorted(self.needed), *self.texts, "!0 = !{}"])
