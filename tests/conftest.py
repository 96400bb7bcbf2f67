"""Settings that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# What is run again with every kernel as plain Python (NUMBA_DISABLE_JIT=1), see CONTRIBUTING.
PLAIN = (
    "vdevs",
    "scan",
    "drives/test_tracks.py",
    "engine/test_reference.py",
    "test_plain_kernels.py",
)

settings.register_profile("zsim", deadline=None, derandomize=True)  # a first call compiles
settings.load_profile("zsim")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is run with kernels as plain Python."""
    here = Path(__file__).parent
    places = tuple(here / name for name in PLAIN)
    for item in items:
        # Generated scenarios of the engines take long: `test_plain_kernels.py` has a tenth of them.
        generated = hasattr(getattr(item, "obj", None), "hypothesis") and item.path.parent == here / "engine"
        if not generated and any(item.path.is_relative_to(place) for place in places):
            item.add_marker(pytest.mark.plain)
