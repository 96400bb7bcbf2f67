"""Which numbers of a model file lack a unit or a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from zsim.base.model_data import _problems
from zsim.base.parsed import is_number


def unsourced_numbers(data: Mapping[str, object], free: Iterable[str] = ()) -> list[str]:
    """Return the numbers of a model that lack unit or source, as dotted names.

    Parameters
    ----------
    data : Mapping
        Content of a model file.
    free : iterable of str
        Keys that may be bare numbers (years, versions).
    """
    return list(_unsourced("", data, frozenset(free)))


def _unsourced(dotted: str, node: object, free: frozenset[str]) -> Iterator[str]:
    if isinstance(node, Mapping):
        if "value" in node:
            yield from _problems(dotted, node)
            return
        for key, value in node.items():
            if key not in free:
                yield from _unsourced(f"{dotted}.{key}" if dotted else key, value, free)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _unsourced(f"{dotted}[{index}]", value, free)
    elif is_number(node):
        yield dotted
