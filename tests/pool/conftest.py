"""Pools for the tests of this room: small ones, and lists of real ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from zsim.pool.blocks import BlockTable
from zsim.pool.measured.bps import read_block_list, recipe_from_config
from zsim.pool.recipes.recipe import PoolRecipe

LISTS = Path(__file__).parent / "lists"
NAMES = sorted(path.stem for path in LISTS.glob("*.json"))


@dataclass(frozen=True)
class RealPool:
    """A pool that OpenZFS wrote, and the recipe it was written by."""

    name: str
    recipe: PoolRecipe
    table: BlockTable


def read_pool(name: str) -> RealPool:
    config = json.loads((LISTS / f"{name}.json").read_text(encoding="utf-8"))
    return RealPool(name, recipe_from_config(config), read_block_list(LISTS / f"{name}.csv.zst").table)


@pytest.fixture(params=NAMES)
def real_pool(request: pytest.FixtureRequest) -> RealPool:
    return read_pool(request.param)
