"""The examples in the docstrings are true: every module that has one is tried."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import zsim

PACKAGE = Path(zsim.__file__).parent
MODULES = sorted(
    ".".join(("zsim", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
