"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = (
    "zsim",
    "zsim.base.errors",
    "zsim.base.units",
    "zsim.planning.risk.chain",
    "zsim.planning.risk.latent",
    "zsim.planning.risk.solve",
    "zsim.scan.program",
    "zsim.scenario.layout",
    "zsim.scenario.model",
    "zsim.scenario.parts",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
