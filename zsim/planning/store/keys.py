"""Keys of answers: a hash of everything an answer depends on; which machine of several computes it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from zsim.base.errors import InputError
from zsim.base.model_data import models_directory
from zsim.base.provenance import provenance
from zsim.base.reading import content_mark
from zsim.scenario.files import files_named

DIGITS = 32
"""Of the key, hexadecimal: two different questions share one with a chance of 1e-26 among a million."""
MOST_SHARDS = 100_000
_SHARD = re.compile(r"(\d+)/(\d+)", re.ASCII)


def key_of(stated: Mapping[str, object], sources: str, block: tuple[int, int] = (0, 1)) -> str:
    """Return the key of an answer.

    Parameters
    ----------
    stated : Mapping
        The scenario, as `Scenario.stated` gives it: plain data in SI units.
    sources : str
        Hash of the code and of the models that make the answer.
    block : (int, int)
        First seed and how many.

    Returns
    -------
    str
        The first digits of the SHA-256 of the canonical JSON of all three, and of the files that it
        names, as they are now.
    """
    # Of the files that it names, what they hold; where there is none keys are as they were.
    files = sorted(files_named(stated).values())
    parts = [sources, stated, block, *([files] if files else [])]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def sources() -> str:
    """Return the hash of everything but the scenario that a prediction depends on: code, models, version."""
    record = provenance()
    models = [content_mark(path) for path in sorted(models_directory().rglob("*.toml"))]
    text = json.dumps([record[name] for name in ("zsim", "kernels", "code")] + models)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several machines that share the work without talking to each other.

    Attributes
    ----------
    number, count : int
        This one, from 1 on, and how many there are.

    Examples
    --------
    >>> Shard.parse("2/4")
    Shard(number=2, count=4)
    """

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``i/n``.

        Raises
        ------
        InputError
            When it is not two numbers with 1 <= i <= n.
        """
        match = _SHARD.fullmatch(text.strip())
        number, count = (int(each) for each in match.groups()) if match and len(text) < 16 else (0, 0)
        if not 1 <= number <= count <= MOST_SHARDS:
            allowed = f"it is i/n with i from 1 to n, and n at most {MOST_SHARDS}"
            raise InputError("--shard", text, allowed, "write 1/4 on the first of four machines")
        return cls(number, count)

    def has(self, key: str) -> bool:
        """Tell whether this shard finds the answer of a key; of all shards exactly one does."""
        return int(key, 16) % self.count == self.number - 1

    def of(self, keys: Iterable[str]) -> list[str]:
        """Return the keys of this shard, in their order."""
        return [key for key in keys if self.has(key)]
